// Answers questions about failed turns with the functions that a pi-ai package ships.
// usage: node oracle.mjs <package folder>; one JSON object a line in, one out, the first one out says "ready".

import { join } from "node:path";
import { pathToFileURL } from "node:url";

const load = (file) => import(pathToFileURL(join(process.argv[2], "dist", "utils", file)).href);
const { isRetryableAssistantError } = await load("retry.js");
const { isContextOverflow } = await load("overflow.js");
const isValid = ({ pattern, flags }) => {
	try {
		return new RegExp(pattern, flags) instanceof RegExp;
	} catch {
		return false;
	}
};
const questions = {
	retryable: isRetryableAssistantError,
	overflow: isContextOverflow,
	// About JavaScript itself: is this a pattern, and does it match the text?
	valid: isValid,
	matches: (message) => isValid(message) && new RegExp(message.pattern, message.flags).test(message.text),
};

const answer = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
answer("ready");

// Not node:readline: it also ends a line at U+2028, which JSON leaves as it is.
let rest = "";
process.stdin.setEncoding("utf8");
for await (const chunk of process.stdin) {
	const lines = (rest + chunk).split("\n");
	rest = lines.pop();
	for (const line of lines) {
		const { id, question, messages } = JSON.parse(line);
		answer({ id, answers: messages.map((message) => questions[question](message)) });
	}
}
