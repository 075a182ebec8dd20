/** The pool: it refuses each broken payload, and takes what the real pi makes. */

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Pi } from "./pi.ts";
import { type Pool, type PoolOptions, type Rules, startPool } from "./pool/pool.ts";
import type { Json } from "./pool/rules.ts";
import { FULL, isOld, NEWEST, RELEASES } from "./releases.mjs";

const ANTHROPIC = ["claude-a", "claude-managed"];
const MODELS = [...ANTHROPIC, "gpt-a", "gemini-3-pro", "deepseek-a"];
const SOME = [...RELEASES.filter(isOld), ...FULL];
/** It does not say in RPC mode when a turn is over. */

/** Posts a payload as pi would, under the name of a relay. */
async function post(pool: Pool, path: string, body: Json, endpoint = "relay.test"): Promise<string> {
	const { request } = await import("node:http");
	const headers = { host: `${endpoint}:${pool.port}`, "content-type": "application/json" };
	return new Promise((resolve, reject) => {
		const sent = request({ port: pool.port, host: "127.0.0.1", path, method: "POST", headers }, (response) => {
			let text = "";
			response.on("data", (data) => {
				text += data;
			});
			response.on("end", () => resolve(text));
		});
		sent.on("error", reject);
		sent.end(JSON.stringify(body));
	});
}

const PATHS: Record<string, string> = {
	"claude-a": "/v1/messages",
	"claude-managed": "/v1/messages",
	"gpt-a": "/v1/responses",
	"gemini-3-pro": "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
	"deepseek-a": "/v1/chat/completions",
};

/** Runs prompts of a tool-using session in a real pi without the extension. */
async function session(
	release: string,
	model: string,
	options: PoolOptions,
	body: (pi: Pi, pool: Pool) => Promise<void>,
): Promise<void> {
	const pool = await startPool(options);
	const pi = await new Pi({ release, providers: pool.providers(), model, extensions: [] }).prepare();
	try {
		if (!isOld(release)) pi.open();
		await body(pi, pool);
	} finally {
		await pi.close();
		pool.close();
	}
}

describe("the pool takes what the real pi makes", { concurrency: 2 }, () => {
	for (const release of SOME)
		for (const model of MODELS)
			it(`${release}, ${model}: tool turns, all served by the account that sealed them`, async () => {
				await session(release, `relay/${model}`, { seed: 7, accounts: 3 }, async (pi, pool) => {
					for (const [index, steps] of [3, 1, 2].entries()) {
						const prompt = `Work with [tools ${steps}], please.`;
						if (!isOld(release)) await pi.prompt(prompt);
						else await pi.print(prompt, ...(index > 0 ? ["-c"] : []));
					}
					const { requests, served, rejected } = pool.counts();
					assert.deepEqual(pool.rejections, []);
					assert.equal(served, requests);
					assert.equal(rejected, 0);
					assert.ok(requests >= 3 + 4, `${requests} requests`);
					const turns = pi.saved();
					assert.equal(turns.length, requests);
					assert.ok(turns.every((turn) => turn.stopReason === "stop" || turn.stopReason === "toolUse"));
					const sealed = /"signature"|"encrypted_content"|"thoughtSignature"|"reasoning_content"/;
					assert.match(pool.asked.at(-1)?.text ?? "", sealed, "reasoning is replayed");
				});
			});

	it("message threads of the direct host are kept there", async () => {
		await session(NEWEST, "direct/claude-a", { seed: 3 }, async (pi, pool) => {
			await pi.prompt("Work with [tools 2], please.");
			assert.deepEqual(pool.rejections, []);
			const threads = pool.asked.map(({ body }) => (body.thread as Json | undefined)?.type);
			assert.ok(threads.includes("continue"), "pi continues threads");
		});
	});

	for (const model of MODELS.filter((name) => name !== "deepseek-a"))
		it(`${model}: another account refuses the seals, and pi alone is dead for good`, async () => {
			// After a failed prompt pi sends two user turns in a row, which Anthropic joins.
			const rules = { wrap: "plain", alternation: false } as const;
			await session(NEWEST, `relay/${model}`, { seed: 7, rules }, async (pi, pool) => {
				await pi.prompt("Work with [tools 2], please.");
				pool.switchAccount();
				const before = pool.counts();
				for (const text of ["one", "two"]) await pi.prompt(`${text} [tools 1]`);
				assert.equal(pool.counts().served, before.served);
				for (const { result } of pool.rejections) assert.match(result, /^(signature|item-missing)$/);
				assert.ok(pool.counts().rejected >= 2);
			});
		});
});

describe("the pool refuses a broken payload", () => {
	const good = new Map<string, Json>();
	let pool: Pool;
	before(async () => {
		// Seals must be this pool's own, so the payloads are made by sessions against it.
		pool = await startPool({ seed: 5, accounts: 2, rules: { wrap: "plain" } });
		for (const model of MODELS) {
			const pi = await new Pi({
				release: NEWEST,
				providers: pool.providers(),
				model: `relay/${model}`,
				extensions: [],
			}).prepare();
			pi.open();
			await pi.prompt("First [tools 2].");
			await pi.prompt("Second [tools 3].");
			await pi.close();
			// The last request but one in an open tool turn.
			good.set(model, pool.asked.at(-1)?.body as Json);
		}
	});
	after(() => pool.close());

	const blocks = (body: Json, role: string): Json[] =>
		((body.messages ?? body.contents) as Json[])
			.filter((message) => message.role === role)
			.flatMap((message) => (message.content ?? message.parts) as Json[]);
	const messages = (body: Json) => body.messages as Json[];
	const lastAssistant = (body: Json) => messages(body).findLast(({ role }) => role === "assistant") as Json;
	const isThinking = ({ type }: Json) => type === "thinking" || type === "redacted_thinking";
	const input = (body: Json) => body.input as Json[];
	const drop = (list: Json[], which: (item: Json) => boolean) => {
		const at = list.findLastIndex(which);
		assert.ok(at >= 0, "there is something to break");
		return list.splice(at, 1)[0];
	};
	const withType = (list: Json[], type: string) => list.find((item) => item.type === type) as Json;

	type Break = [rule: string, model: string, break_: (body: Json) => void];
	const BREAKS: Break[] = [
		[
			"signature",
			"claude-a",
			(body) => Object.assign(withType(blocks(body, "assistant"), "thinking"), { signature: "AAAA" }),
		],
		[
			"signature",
			"claude-a",
			(body) => Object.assign(withType(blocks(body, "assistant"), "thinking"), { thinking: "other" }),
		],
		["signature-missing", "claude-a", (body) => delete withType(blocks(body, "assistant"), "thinking").signature],
		[
			"expected-thinking",
			"claude-a",
			(body) => {
				for (const message of messages(body))
					if (message.role === "assistant")
						message.content = (message.content as Json[]).filter((block) => !isThinking(block));
			},
		],
		[
			"modified",
			"claude-a",
			(body) =>
				(lastAssistant(body).content as Json[]).unshift({ ...withType(blocks(body, "assistant"), "thinking") }),
		],
		["alternation", "claude-a", (body) => messages(body).splice(1, 0, { role: "user", content: "again" })],
		["first-role", "claude-a", (body) => messages(body).splice(0, 1)],
		[
			"system-marker",
			"claude-managed",
			(body) => messages(body).splice(0, 0, { role: "system", content: [], output_config: {} }),
		],
		["effort", "claude-managed", (body) => Object.assign(body, { thinking: { type: "disabled" } })],
		["tool-pair", "claude-a", (body) => messages(body).splice(-1, 1)],
		["tool-pair", "claude-a", (body) => Object.assign(messages(body).at(-1) as Json, { content: "no result" })],
		["blank-text", "claude-a", (body) => (messages(body)[0].content as Json[]).push({ type: "text", text: " \n" })],
		["empty-content", "claude-a", (body) => Object.assign(messages(body)[0], { content: [] })],
		[
			"cache-control",
			"claude-a",
			(body) => Object.assign(withType(blocks(body, "assistant"), "thinking"), { cache_control: {} }),
		],
		["budget", "claude-a", (body) => Object.assign(body.thinking as Json, { budget_tokens: 1e9 })],
		[
			"signature",
			"gpt-a",
			(body) => Object.assign(withType(input(body), "reasoning"), { encrypted_content: "gAAAAAAAAA" }),
		],
		["item-missing", "gpt-a", (body) => delete withType(input(body), "reasoning").encrypted_content],
		[
			"reasoning-alone",
			"gpt-a",
			(body) => input(body).push({ ...withType(input(body), "reasoning"), id: "rs_new" }),
		],
		["item-alone", "gpt-a", (body) => drop(input(body), ({ type }) => type === "reasoning")],
		["tool-pair", "gpt-a", (body) => drop(input(body), ({ type }) => type === "function_call_output")],
		["duplicate", "gpt-a", (body) => input(body).push({ ...withType(input(body), "function_call") })],
		["item-id", "gpt-a", (body) => Object.assign(withType(input(body), "function_call"), { id: "rs_x" })],
		["signature", "gemini-3-pro", (body) => Object.assign(sealed(body), { thoughtSignature: "AAAA" })],
		["signature-missing", "gemini-3-pro", (body) => delete sealed(body).thoughtSignature],
		["tool-pair", "gemini-3-pro", (body) => drop((body.contents as Json[]).at(-1)?.parts as Json[], () => true)],
		["empty-content", "gemini-3-pro", (body) => Object.assign((body.contents as Json[])[0], { parts: [] })],
		["pass-back", "deepseek-a", (body) => delete lastAssistant(body).reasoning_content],
		["tool-pair", "deepseek-a", (body) => drop(messages(body), ({ role }) => role === "tool")],
		["empty-content", "deepseek-a", (body) => messages(body).push({ role: "assistant", content: "" })],
	];
	const sealed = (body: Json) =>
		blocks(body, "model").findLast((part) => part.functionCall && part.thoughtSignature) as Json;

	for (const [index, [rule, model, broken]] of BREAKS.entries())
		it(`${model}: ${rule} (${index})`, async () => {
			const body = structuredClone(good.get(model) as Json);
			await post(pool, PATHS[model], body);
			assert.equal(pool.outcomes.at(-1)?.result, "served", `unbroken: ${JSON.stringify(pool.outcomes.at(-1))}`);
			broken(body);
			await post(pool, PATHS[model], body);
			assert.equal(pool.outcomes.at(-1)?.result, rule, pool.outcomes.at(-1)?.message);
		});

	it("what a repair may send passes", async () => {
		const served = async (model: string, repair: (body: Json) => void) => {
			const body = structuredClone(good.get(model) as Json);
			repair(body);
			await post(pool, PATHS[model], body);
			assert.equal(pool.outcomes.at(-1)?.result, "served", pool.outcomes.at(-1)?.message);
		};
		await served("claude-a", (body) => {
			delete body.thinking;
			for (const message of messages(body))
				if (message.role === "assistant")
					message.content = (message.content as Json[]).flatMap((block) =>
						block.type === "thinking"
							? [{ type: "text", text: block.thinking }]
							: block.type === "redacted_thinking"
								? []
								: [block],
					);
		});
		await served("gpt-a", (body) => {
			body.input = input(body).filter(({ type }) => type !== "reasoning");
			for (const item of input(body)) delete item.id;
		});
		await served("gemini-3-pro", (body) => {
			for (const part of blocks(body, "model"))
				if (part.thoughtSignature) part.thoughtSignature = "skip_thought_signature_validator";
		});
		await served("deepseek-a", (body) => {
			for (const message of messages(body)) if (message.role === "assistant") message.reasoning_content = "";
		});
	});
});

describe("rules that are off unless asked for", () => {
	const sealedTurn = async (pool: Pool): Promise<Json> => {
		const pi = await new Pi({
			release: NEWEST,
			providers: pool.providers(),
			model: "relay/claude-a",
			extensions: [],
		}).prepare();
		pi.open();
		await pi.prompt("First [tools 2].");
		await pi.prompt("Second [tools 1].");
		await pi.close();
		return structuredClone(pool.asked.at(-1)?.body) as Json;
	};
	const blocksOf = (body: Json) =>
		(body.messages as Json[])
			.filter(({ role }) => role === "assistant")
			.flatMap(({ content }) => content as Json[]);

	it("visible reasoning is answered with a refusal", async () => {
		const pool = await startPool({ rules: { refuseVisibleReasoning: true, openTurn: false } });
		const body = await sealedTurn(pool);
		assert.doesNotMatch(await post(pool, "/v1/messages", body), /refusal/);
		for (const block of blocksOf(body))
			if (block.type === "thinking") {
				Object.assign(block, { type: "text", text: block.thinking });
				delete block.thinking;
				delete block.signature;
			}
		for (const message of body.messages as Json[])
			if (message.role === "assistant")
				message.content = (message.content as Json[]).filter(({ type }) => type !== "redacted_thinking");
		assert.match(await post(pool, "/v1/messages", body), /"stop_reason":"refusal".*reasoning_extraction/);
		pool.close();
	});

	it("a seal holds in its own conversation only", async () => {
		const pool = await startPool({ rules: { bound: true, wrap: "plain" } });
		const body = await sealedTurn(pool);
		await post(pool, "/v1/messages", body);
		assert.equal(pool.outcomes.at(-1)?.result, "served");
		(body.messages as Json[])[0].content = "Another beginning.";
		assert.match(await post(pool, "/v1/messages", body), /bound to a different conversation/);
		pool.close();
	});

	it("completions seal their reasoning in reasoning_details", async () => {
		const rules = { reasoningDetails: true, passBack: false, wrap: "plain" } as const;
		await session(NEWEST, "relay/deepseek-a", { rules }, async (pi, pool) => {
			await pi.prompt("Work with [tools 2], please.");
			assert.equal(pool.counts().rejected, 0);
			assert.match(pool.asked.at(-1)?.text ?? "", /reasoning_details/);
			pool.switchAccount();
			await pi.prompt("And [tools 1] more.");
			assert.equal(pool.rejections.at(-1)?.result, "signature");
		});
	});

	it("accounts switch by chance, the same for the same seed, never on the direct host", async () => {
		const accounts = async (seed: number, endpoint: string) => {
			const pool = await startPool({ seed, accounts: 3, switchChance: 0.3 });
			const body = { model: "claude-a", max_tokens: 9000, messages: [{ role: "user", content: "a" }] };
			for (let request = 0; request < 20; request++) await post(pool, "/v1/messages", body, endpoint);
			pool.close();
			return pool.outcomes.map(({ account }) => account);
		};
		const first = await accounts(4, "relay.test");
		assert.deepEqual(await accounts(4, "relay.test"), first);
		assert.ok(new Set(first).size === 3, first.join());
		assert.equal(new Set(await accounts(4, "api.anthropic.com")).size, 1);
	});
});

describe("refusals as relays hand them on", () => {
	const statuses: [Rules["wrap"], number][] = [
		["plain", 400],
		["new-api", 400],
		["masked", 400],
		["litellm", 400],
		["hidden-429", 429],
		["hidden-500", 500],
		["hidden-502", 502],
	];
	for (const [wrap, status] of statuses)
		it(`${wrap}: status ${status}, with the provider's words in it`, async () => {
			const pool = await startPool({ rules: { wrap } });
			const content = [{ type: "thinking", thinking: "t", signature: "AAAA" }];
			const messages = [
				{ role: "user", content: "a" },
				{ role: "assistant", content },
				{ role: "user", content: "b" },
			];
			const text = await post(pool, "/v1/messages", { model: "claude-a", max_tokens: 9000, messages });
			assert.match(text, /Invalid `signature` in `thinking` block/);
			assert.equal(pool.outcomes[0].status, status);
			pool.close();
		});
});
