/** The remedies on what a real pi sends with its built-in models, judged by rules of the providers that know no account. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { familyOf, learn, NOTHING, plan, type Rejection, type Sent } from "../src/memory.ts";
import { isPing, prepare } from "../src/remedies.ts";
import { isOpenTurn } from "../src/strip.ts";
import { type Recorded, recorded } from "./payloads/payloads.ts";
import { anthropic } from "./pool/anthropic.ts";
import { completions } from "./pool/completions.ts";
import { google } from "./pool/google.ts";
import { responses } from "./pool/responses.ts";
import { type Dialect, type Json, list, type Refusal, RULES, Vault } from "./pool/rules.ts";
import { Random } from "./random.ts";
import { NEWEST } from "./releases.mjs";

const DIALECTS: Record<string, Dialect> = { anthropic, responses, google, completions };

/** What an account says that issued none of the seals. */
function judge({ api }: Recorded, body: Json): Refusal | undefined {
	const dialect = DIALECTS[familyOf(api) ?? ""];
	const rules = { ...RULES, alternation: false };
	return dialect.check(body, { account: "another", rules, vault: new Vault(new Random(1)) });
}

const MEANS: Record<string, Rejection> = {
	signature: "sealed",
	"item-missing": "sealed",
	"expected-thinking": "order",
	"pass-back": "wanted",
};

/** Sends a request as the memory plans it until it is accepted; the rules that refused it on the way. */
function untilAccepted(request: Recorded): { refused: string[]; sent: Sent; body: Json } {
	let known = { ...NOTHING };
	let off = false;
	const open = isOpenTurn(request.payload);
	const refused: string[] = [];
	for (;;) {
		const sent = plan(known, open, off);
		const body = prepare(request.payload, sent) as Json;
		const refusal = judge(request, body);
		if (!refusal) return { refused, sent, body };
		refused.push(refusal.rule);
		const step = learn(request.api, known, sent, MEANS[refusal.rule], open);
		assert.ok(step.helps, `${request.provider}/${request.model}: ${refused.join(", ")}: ${refusal.message}`);
		known = step.known;
		off ||= step.offForThisTurn === true;
	}
}

describe("payloads of built-in models", () => {
	it("are of the newest release, and of every API that is repaired", () => {
		assert.deepEqual([...new Set(recorded.map(({ pi }) => pi))], [NEWEST]);
		assert.deepEqual([...new Set(recorded.map(({ api }) => api))].sort(), [
			"anthropic-messages",
			"azure-openai-responses",
			"google-generative-ai",
			"google-vertex",
			"mistral-conversations",
			"openai-codex-responses",
			"openai-completions",
			"openai-responses",
		]);
		assert.ok(recorded.every(({ payload }) => !isPing(payload)));
	});

	for (const request of recorded.filter(({ api }) => api !== "mistral-conversations"))
		it(`${request.provider}/${request.model}, ${isOpenTurn(request.payload) ? "open turn" : "turn"} of ${JSON.stringify(request.payload).length} bytes: another account takes it after at most two refusals`, () => {
			const { refused, body } = untilAccepted(request);
			// DeepSeek seals nothing.
			if (request.provider === "deepseek") assert.deepEqual(refused, []);
			else assert.ok(refused.length === 1 || refused.length === 2, refused.join());
			const touched = ["messages", "input", "contents", "thinking", "output_config"];
			for (const key of Object.keys(request.payload))
				if (!touched.includes(key)) assert.deepEqual(body[key], request.payload[key], key);
		});

	it("DeepSeek's without the reasoning that it wants back are filled", () => {
		for (const request of recorded.filter(({ provider }) => provider === "deepseek")) {
			const without = prepare(request.payload, { form: "omitted", off: false }) as Json;
			const { refused, sent } = untilAccepted({ ...request, payload: without });
			assert.deepEqual([refused, sent.form], [["pass-back"], "filled"]);
		}
	});

	it("Mistral's lose their thinking and no message with calls", () => {
		for (const { payload } of recorded.filter(({ api }) => api === "mistral-conversations")) {
			const omitted = prepare(payload, { form: "omitted", off: false }) as Json;
			assert.doesNotMatch(JSON.stringify(omitted), /"thinking"/);
			const callIds = (body: Json) =>
				list(body.messages).flatMap((message) => list(message.toolCalls).map(({ id }) => id));
			assert.ok(callIds(payload).length > 0);
			assert.deepEqual(callIds(omitted), callIds(payload));
			assert.equal(list(omitted.messages).length, list(payload.messages).length);
		}
	});
});
