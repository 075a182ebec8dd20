/** The memory over every sequence of answers: it always ends, and nothing is tried twice for the same answer. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assumed, type Known, learn, NOTHING, plan, type Rejection, readKnown } from "../src/memory.ts";

const APIS = [
	"anthropic-messages",
	"openai-responses",
	"azure-openai-responses",
	"openai-codex-responses",
	"google-generative-ai",
	"google-vertex",
	"openai-completions",
	"mistral-conversations",
];
const REJECTIONS: Rejection[] = ["sealed", "unsigned", "order", "refused", "wanted"];
/** Answers to one attempt; undefined is an accepted one. */
const ANSWERS = [undefined, ...REJECTIONS];
const MOST_ATTEMPTS = 5;

interface State {
	known: Known;
	off: boolean;
}

/** One attempt of a turn: what was sent and whether another one follows. */
function attempt(api: string, state: State, rejection: Rejection, open: boolean) {
	const sent = plan(state.known, open, state.off);
	const step = learn(api, state.known, sent, rejection, open);
	return { sent, step, next: { known: step.known, off: state.off || step.offForThisTurn === true } };
}

/** Follows every sequence of rejections of one turn to its end. */
function follow(
	api: string,
	state: State,
	open: boolean,
	tried: string[],
	visit: (state: State, tried: string[]) => void,
) {
	for (const rejection of REJECTIONS) {
		const { sent, step, next } = attempt(api, state, rejection, open);
		const now = `${rejection} to ${sent.form}${sent.off ? " without thinking" : ""}`;
		if (!step.helps) {
			visit(next, [...tried, now]);
			continue;
		}
		assert.ok(!tried.includes(now), `${api}: tried twice: ${[...tried, now].join(", ")}`);
		assert.notDeepEqual(plan(next.known, open, next.off), sent, `${api}: ${now} is answered with the same request`);
		const attempts = [...tried, now];
		assert.ok(attempts.length < MOST_ATTEMPTS, `${api}: ${attempts.join(", ")}`);
		follow(api, next, open, attempts, visit);
	}
}

describe("the memory", () => {
	for (const api of APIS)
		for (const start of [NOTHING, assumed(api)])
			it(`${api}, from ${start.form}: every sequence of rejections in a turn ends, nothing twice`, () => {
				for (const open of [true, false])
					follow(api, { known: start, off: false }, open, [], (state) => {
						// The next turn starts where this one ended: what it rejects again is left to pi or taken further.
						follow(api, { known: state.known, off: false }, open, [], () => {});
					});
			});

	it("learns a bounded number of things over a whole session of turns", () => {
		for (const api of APIS) {
			// All sessions of six answers, each answer in an open or a new turn.
			const visit = (state: State, depth: number, learned: number): void => {
				assert.ok(learned <= 5, `${api} learned ${learned} times`);
				if (depth === 0) return;
				for (const answer of ANSWERS)
					for (const open of [true, false]) {
						if (answer === undefined) {
							visit({ known: state.known, off: open && state.off }, depth - 1, learned);
							continue;
						}
						const { next } = attempt(api, state, answer, open);
						const changed = JSON.stringify(next.known) !== JSON.stringify(state.known);
						visit(next, depth - 1, learned + (changed ? 1 : 0));
					}
			};
			visit({ known: NOTHING, off: false }, 5, 0);
		}
	});

	it("follows the table for anthropic-messages", () => {
		const api = "anthropic-messages";
		const after = (...rejections: Rejection[]) =>
			rejections.reduce((state, rejection) => attempt(api, state, rejection, true).next, {
				known: NOTHING as Known,
				off: false,
			});
		assert.deepEqual(after("sealed").known, { ...NOTHING, form: "text" });
		assert.deepEqual(after("order"), { known: NOTHING, off: true }, "a setting changed: nothing is learned");
		assert.deepEqual(after("sealed", "order").known, { ...NOTHING, form: "text", openTurnsOff: true });
		assert.deepEqual(plan(after("sealed", "order").known, true, false), { form: "text", off: true });
		assert.deepEqual(plan(after("sealed", "order").known, false, false), { form: "text", off: false });
		assert.equal(after("sealed", "refused").known.form, "none");
		assert.deepEqual(after("sealed", "wanted").known, { ...NOTHING, wanted: true });
		assert.equal(after("sealed", "wanted", "sealed").known.form, "plain", "wanted and refused: nothing helps");
	});

	it("follows the table for the other APIs", () => {
		const form = (api: string, ...rejections: Rejection[]) =>
			rejections.reduce((state, rejection) => attempt(api, state, rejection, false).next, {
				known: NOTHING as Known,
				off: false,
			}).known.form;
		assert.equal(form("openai-responses", "sealed"), "unlinked");
		assert.equal(form("openai-responses", "sealed", "wanted"), "plain");
		assert.equal(form("google-vertex", "unsigned"), "signed");
		assert.equal(form("google-vertex", "unsigned", "sealed"), "replaced");
		assert.equal(form("google-generative-ai", "sealed"), "replaced");
		assert.equal(form("openai-completions", "wanted"), "filled");
		assert.equal(form("openai-completions", "sealed"), "omitted");
		assert.equal(form("bedrock-converse-stream", "sealed"), "plain");
	});

	it("reads back what it wrote and nothing else", () => {
		const known: Known = { form: "text", openTurnsOff: true, wanted: false, refusesAnyway: true };
		assert.deepEqual(readKnown(JSON.parse(JSON.stringify(known))), known);
		for (const value of [undefined, null, 1, "text", {}, { form: "shaken" }])
			assert.equal(readKnown(value), undefined);
	});
});
