/** Speed against pi's own functions, as ratios in one run. Not part of the tests: a busy machine proves nothing. */

import { readFileSync } from "node:fs";
import * as pi from "@earendil-works/pi-ai";
import { stripThinking } from "../src/strip.ts";
import { FakePi, MODEL } from "./fake.ts";

const corpus = readFileSync(new URL("../../tests/corpus/errors.jsonl", import.meta.url), "utf8")
	.trim()
	.split("\n");
const messages = corpus
	.map((line) => JSON.parse(line).errorMessage)
	.filter((text) => typeof text === "string")
	.map((errorMessage) => ({
		role: "assistant",
		stopReason: "error",
		provider: "relay",
		model: "m",
		api: MODEL.api,
		content: [],
		usage: {},
		errorMessage,
	}));
const fake = await new FakePi().start();
fake.ctx.hasUI = false;
// The first failure loads rules and pi's functions, once in a session.
await fake.fail("read ECONNRESET");
const end = fake.handlers.get("message_end")?.[0] ?? (() => undefined);
const request = fake.handlers.get("before_provider_request")?.[0] ?? (() => undefined);

/** The best of several rounds, in nanoseconds a call. */
function measure(calls: number, run: () => unknown): number {
	let best = Number.POSITIVE_INFINITY;
	for (let round = 0; round < 15; round++) {
		const start = process.hrtime.bigint();
		for (let call = 0; call < calls; call++) run();
		best = Math.min(best, Number(process.hrtime.bigint() - start) / calls);
	}
	return best;
}

const each = (run: (message: (typeof messages)[number]) => unknown) =>
	measure(50, () => messages.forEach(run)) / messages.length;
const retryable = each((message) => pi.isRetryableAssistantError(message as never));
const decision = each(
	(message) => !pi.isContextOverflow(message as never, 0) && pi.isRetryableAssistantError(message as never),
);
const failed = each((message) => end({ message }, fake.ctx));
const good = { ...messages[0], stopReason: "stop", errorMessage: undefined };
const payload = { model: "m", messages: [{ role: "user", content: "go" }] };
const turn = measure(10_000, () => end({ message: good }, fake.ctx));
const unstripped = measure(10_000, () => request({ payload }, fake.ctx));

const text = "x".repeat(10_000);
const replayed: unknown[] = [];
for (let index = 0; index < 500; index++) {
	replayed.push({ role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: text }] });
	replayed.push({
		role: "assistant",
		content: [
			{ type: "thinking", thinking: text, signature: "S" },
			{ type: "tool_use", id: "a", name: "x", input: {} },
		],
	});
}
const strip = measure(5, () => stripThinking({ messages: replayed }, true));

const report = (what: string, nanoseconds: number, more = "") =>
	console.log(`${what.padEnd(44)} ${(nanoseconds / 1000).toFixed(2).padStart(9)} µs  ${more}`);
report("pi's isRetryableAssistantError, per text", retryable);
report("pi's whole decision (with the overflow check)", decision);
report(
	"failed turn, all that the extension adds",
	failed,
	`${(failed / decision).toFixed(2)} times pi's decision, ${(failed / retryable).toFixed(2)} times the one function`,
);
report("successful turn", turn, "goal: under 2");
report("unstripped request", unstripped, "goal: under 2");
report("strip of 10 MB with 500 thinking blocks", strip, "goal: under 5000");
