// Reads messages as JSON lines from standard input and writes what the classifier in argv[2] says to each: 0 or 1.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { isRetryableAssistantError } = await import(pathToFileURL(process.argv[2]).href);
const lines = readFileSync(0, "utf8").split("\n");
const verdict = (line) => (isRetryableAssistantError(JSON.parse(line)) ? "1" : "0");
process.stdout.write(lines.filter((line) => line !== "").map(verdict).join(""));
