/** The engine over the generated rules, the finder's shortcut, and the strip's laws. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import randexp from "randexp";
import { classify, cutRequestIds } from "../src/engine.ts";
import { RuleFinder } from "../src/finder.ts";
import { DATA } from "../src/rules.generated.ts";
import { stripThinking } from "../src/strip.ts";
import { Random } from "./random.ts";

const CORPUS = new URL("../../tests/corpus/", import.meta.url);
const lines = (name: string): Record<string, unknown>[] => {
	const file = new URL(name, CORPUS);
	assert.ok(existsSync(file), `${name} is part of the repository`);
	return readFileSync(file, "utf8")
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line));
};
const errors = lines("errors.jsonl") as { errorMessage: string; verdict: string[] }[];
const strings = lines("pi_ai_strings.jsonl");
const texts = [...errors, ...strings]
	.map(({ errorMessage }) => errorMessage)
	.filter((text) => typeof text === "string");

/** Texts that an expression's own grammar makes. Edges say what stands around, and make nothing. */
function madeBy(source: string, seed: number): () => string {
	// Its types say `export default` and its module hands over the class itself.
	const RandExp = randexp as unknown as typeof randexp.default;
	const made = new RandExp(source.replace(/\(\?<?!\[[^\]]*\]\)/g, ""), "i");
	const random = new Random(seed);
	made.randInt = (from, to) => from + random.below(to - from + 1);
	made.max = 6;
	return () => made.gen();
}

describe("the engine", () => {
	it("decides every text of the corpus acceptably", () => {
		for (const { errorMessage, verdict } of errors) {
			const own = classify({ errorMessage });
			assert.ok(verdict.includes(own.verdict), `${own.verdict} by ${own.rule}: ${errorMessage}`);
		}
	});

	it("decides by the status that was seen where the text has none", () => {
		const message = { errorMessage: '{"error":{"message":"no"}}' };
		assert.deepEqual(classify(message, 522), {
			verdict: "retry",
			rule: "transient-status",
			status: 522,
			statusFrom: "observed",
		});
		assert.equal(classify(message, 418).verdict, "stop");
		for (const nonsense of [200, 600, 404.5, "503", null, Number.NaN, {}])
			assert.equal(classify(message, nonsense).status, null);
	});

	it("reads the sources of a status in their order", () => {
		const all = {
			errorMessage: '404 {"error":{"code":502}}',
			errorStatus: 401,
			diagnostics: [null, { details: null }, { details: { status: 200 } }, { details: { status: 403 } }],
		};
		const read = (message: Record<string, unknown>, observed?: number) => {
			const { status, statusFrom } = classify(message, observed);
			return [status, statusFrom];
		};
		// A frame that says something else than the message was written afterwards, and is meant.
		assert.deepEqual(read(all), [404, "text"]);
		assert.deepEqual(read({ ...all, errorMessage: "403 no" }), [403, "diagnostics"]);
		const errorMessage = '{"error":{"code":502}}';
		assert.deepEqual(read({ ...all, errorMessage }, 500), [403, "diagnostics"]);
		assert.deepEqual(read({ errorMessage, errorStatus: 401 }, 500), [401, "message"]);
		assert.deepEqual(read({ errorMessage: all.errorMessage }, 500), [404, "text"]);
		assert.deepEqual(read({ errorMessage }, 500), [500, "observed"]);
		assert.deepEqual(read({ errorMessage }), [502, "body"]);
		const inner = classify({ errorMessage: '400 {"error":{"code":502}}' });
		assert.deepEqual([inner.status, inner.statusFrom], [502, "body"]);
		const named = classify({ errorMessage: '{"error":{"status":"UNAVAILABLE"}}' });
		assert.deepEqual([named.status, named.statusFrom], [503, "body"]);
	});

	it("is not moved by a request id", () => {
		const random = new Random(1);
		for (let round = 0; round < 20_000; round++) {
			const id = Array.from({ length: 32 }, () => random.below(10)).join("");
			const text = `400 {"error":{"message":"No such parameter (request id: ${id})"}}`;
			assert.equal(classify({ errorMessage: text }).verdict, "stop", text);
		}
	});

	it("cuts ids exactly where the reference's one expression matches", () => {
		const whole = new RegExp(DATA.requestId, "gi");
		const random = new Random(2);
		for (const text of [...texts, ...Array.from({ length: 20_000 }, () => random.text(texts))])
			assert.equal(cutRequestIds(text), text.replace(whole, "\n"));
	});

	it("cuts ids of every form in the list, a new one too", () => {
		const whole = new RegExp(DATA.requestId, "gi");
		const made = madeBy(DATA.requestId, 5);
		let cut = 0;
		for (let round = 0; round < 5000; round++) {
			const text = `x (${made()}) y`;
			assert.equal(cutRequestIds(text), text.replace(whole, "\n"));
			cut += Number(cutRequestIds(text) !== text);
		}
		assert.ok(cut > 4500, `${cut} of 5000 texts hold an id`);
	});

	it("finds every pattern by its words in texts that its own grammar makes", () => {
		const finder = new RuleFinder(DATA.rules);
		const all = new Uint8Array(DATA.rules.length).fill(1);
		let matched = 0;
		let tried = 0;
		for (const { id, patterns } of DATA.rules)
			for (const source of patterns) {
				const made = madeBy(source, 7);
				const pattern = new RegExp(source, "i");
				for (let round = 0; round < 5; round++) {
					const text = made();
					tried++;
					if (!pattern.test(text)) continue;
					matched++;
					assert.ok(
						finder.find(text, all).some((rule) => rule.id === id),
						`${id}: ${text}`,
					);
				}
			}
		assert.ok(matched > tried / 2, `${matched} of ${tried}`);
	});

	it("finds by words exactly the rules whose patterns match", () => {
		const finder = new RuleFinder(DATA.rules);
		const every = new Uint8Array(DATA.rules.length).fill(1);
		const patterns = DATA.rules.map((rule) => rule.patterns.map((source) => new RegExp(source, "i")));
		const random = new Random(3);
		for (const text of [...texts, ...Array.from({ length: 3_000 }, () => random.text(texts))]) {
			const expected = DATA.rules.filter((_, index) => patterns[index].some((pattern) => pattern.test(text)));
			assert.deepEqual(finder.find(text, every), expected, text);
		}
	});
});

describe("the strip", () => {
	const thinking = (text: unknown) => ({ type: "thinking", thinking: text, signature: "S" });
	const strip = (messages: unknown) => stripThinking({ messages }, true) as { messages: unknown };

	it("returns a payload without thinking as it was", () => {
		for (const payload of [
			null,
			7,
			[],
			{},
			{ messages: 1 },
			{ messages: [] },
			{ messages: [null, 1, [], { role: "assistant" }, { role: "assistant", content: "thinking" }] },
			{ messages: [{ role: "user", content: [thinking("mine")] }] },
			{ messages: [{ role: "assistant", content: [] }] },
		]) {
			assert.equal(stripThinking(payload, true), payload);
			assert.equal(stripThinking(payload, false), payload);
		}
	});

	it("joins the neighbours of a turn that falls away", () => {
		const empty = { role: "assistant", content: [thinking(" \n"), { type: "redacted_thinking", data: "R" }] };
		const user = (content: unknown) => ({ role: "user", content });
		assert.deepEqual(strip([user("a"), empty, empty, user([{ type: "text", text: "b" }]), user("c")]).messages, [
			user([
				{ type: "text", text: "a" },
				{ type: "text", text: "b" },
			]),
			user("c"),
		]);
		assert.deepEqual(strip([empty, user("a"), empty]).messages, [user("a")]);
	});

	it("holds its laws on random payloads", () => {
		const random = new Random(4);
		for (let round = 0; round < 20_000; round++) {
			const payload = random.payload();
			const before = JSON.stringify(payload);
			for (const keepText of [true, false]) {
				const remedy = (from: unknown) => stripThinking(from, keepText);
				const once = remedy(payload) as ReturnType<Random["payload"]>;
				assert.equal(JSON.stringify(payload), before);
				assert.equal(remedy(once), once, "twice is once");
				const blocks = once.messages
					.filter(({ role }) => role === "assistant")
					.flatMap(({ content }) => content) as { type: string }[];
				assert.ok(!blocks.some(({ type }) => type === "thinking" || type === "redacted_thinking"));
				const kept = (from: typeof payload) =>
					from.messages
						.flatMap(({ content }) => content as { type: string }[])
						.filter(({ type }) => type === "tool_use" || type === "tool_result");
				assert.deepEqual(kept(once), kept(payload), "tools keep order and content");
				assert.ok(once.messages.every(({ content }) => content.length > 0));
			}
		}
	});
});
