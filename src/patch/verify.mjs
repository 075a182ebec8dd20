// Reads messages, one JSON object a line, and writes one digit each: whether the classifier in argv[2] retries it.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { isRetryableAssistantError } = await import(pathToFileURL(process.argv[2]));
let verdicts = "";
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
	const verdict = isRetryableAssistantError(JSON.parse(line));
	if (typeof verdict !== "boolean") throw new Error(`no boolean for ${line}`);
	verdicts += verdict ? "1" : "0";
}
process.stdout.write(`${verdicts}\n`);
