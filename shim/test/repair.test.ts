/**
 * Repairs in real releases of pi, against a pool that keeps the providers' rules. Every scenario says how many requests
 * may be refused; without the extension the session is dead after the first.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FULL, type Pi, type Setup, withPi } from "./pi.ts";
import { Pool, type PoolOptions } from "./pool/pool.ts";

/** What a prompt came to: the last assistant text. */
async function ask(pi: Pi, prompt: string): Promise<string> {
	await pi.prompt(prompt);
	const { data } = await pi.ask({ type: "get_last_assistant_text" });
	return String((data as { text?: unknown } | undefined)?.text);
}

async function finishes(pi: Pi, prompt: string): Promise<void> {
	assert.equal(await ask(pi, prompt), `finished ${prompt}`);
}

interface Scenario extends Partial<Setup> {
	pool?: never;
	relay?: PoolOptions;
}

async function scenario(release: string, { relay, ...setup }: Scenario, body: (pi: Pi, pool: Pool) => Promise<void>) {
	const pool = new Pool({ accounts: ["one", "two"], ...relay });
	await withPi({ release, ...setup, pool }, async (pi) => {
		pi.open();
		await body(pi, pool);
	});
}

for (const release of FULL) {
	describe(`repairs in pi ${release}`, { concurrency: 2 }, () => {
		it("an account switch inside a tool loop costs two refusals, however long the loop", async () => {
			// The third request of the loop goes to the other account, and all after it.
			const relay = { route: (request: number) => (request < 2 ? "one" : "two") };
			await scenario(release, { relay }, async (pi, pool) => {
				await finishes(pi, "steps=12");
				assert.equal(pool.rejected.length, 2);
				await finishes(pi, "steps=3");
				assert.equal(pool.rejected.length, 2, "learned for good");
				const { thinking } = pool.served.filter(({ refusal }) => !refusal).at(-4)?.body ?? {};
				assert.notEqual(
					(thinking as { type?: string }).type,
					"disabled",
					"thinking is on again with a new prompt",
				);
			});
		});

		it("a relay that checks no order costs one", async () => {
			const relay = { rules: { checksOrder: false }, route: (request: number) => (request < 2 ? "one" : "two") };
			await scenario(release, { relay }, async (pi, pool) => {
				await finishes(pi, "steps=6");
				assert.equal(pool.rejected.length, 1);
				assert.ok(pool.served.every(({ body }) => (body.thinking as { type?: string }).type !== "disabled"));
			});
		});

		it("mode always costs at most one", async () => {
			await scenario(release, { env: { PI_RETRY_FORCED_THINKING: "always" } }, async (pi, pool) => {
				await finishes(pi, "steps=4");
				await finishes(pi, "steps=4");
				assert.ok(pool.rejected.length <= 1, `${pool.rejected.length}`);
			});
		});

		it("what was learned survives resume, and no request of another model is changed", async () => {
			await scenario(release, {}, async (pi, pool) => {
				await finishes(pi, "steps=2");
				pool.use("two");
				await finishes(pi, "steps=2");
				assert.equal(pool.rejected.length, 2);
				const before = pool.served.length;
				await pi.ask({ type: "set_model", provider: "relay", modelId: "m2" });
				pool.use("one");
				await ask(pi, "steps=0");
				assert.ok(!pool.served.slice(before).some(({ text }) => text.includes('"disabled"')));
				const [session] = pi.sessionFiles();
				await pi.quit();
				pi.open("--session", session);
				pool.use("two");
				await finishes(pi, "steps=3");
				assert.equal(pool.rejected.filter(({ body }) => body.model === "m").length, 2);
			});
		});

		it("a direct host with the same model id is never touched", async () => {
			const models = [
				{
					id: "m",
					name: "m",
					reasoning: true,
					input: ["text"],
					contextWindow: 200_000,
					maxTokens: 8192,
					cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
				},
			];
			const providers = {
				direct: { baseUrl: "http://direct.test:%PORT%", api: "anthropic-messages", apiKey: "k", models },
			};
			await scenario(release, { providers, config: { directHosts: ["direct.test"] } }, async (pi, pool) => {
				await finishes(pi, "steps=2");
				pool.use("two");
				await finishes(pi, "steps=2");
				const rejected = pool.rejected.length;
				await pi.ask({ type: "new_session" });
				await pi.ask({ type: "set_model", provider: "direct", modelId: "m" });
				const before = pool.served.length;
				await finishes(pi, "steps=4");
				assert.equal(pool.rejected.length, rejected);
				assert.ok(pool.served.slice(before + 1).every(({ text }) => text.includes('"signature":"SEAL')));
			});
		});

		it("visible reasoning that the model refuses costs two", async () => {
			const relay = { rules: { refusesVisibleReasoning: true, checksOrder: false } };
			await scenario(release, { relay }, async (pi, pool) => {
				await finishes(pi, "steps=2");
				pool.use("two");
				await finishes(pi, "steps=2");
				await finishes(pi, "steps=2");
				assert.equal(pool.rejected.length, 2);
			});
		});

		it("a model that wants its thinking back costs at most one in mode always", async () => {
			const relay = { rules: { wantsThinking: true, checksOrder: false } };
			await scenario(release, { relay, env: { PI_RETRY_FORCED_THINKING: "always" } }, async (pi, pool) => {
				await finishes(pi, "steps=3");
				await finishes(pi, "steps=3");
				assert.ok(pool.rejected.length <= 1, `${pool.rejected.length}`);
			});
		});

		it("a turn of nothing but sealed thinking falls away without a trace", async () => {
			await scenario(release, {}, async (pi, pool) => {
				await ask(pi, "empty thinking, only thinking");
				pool.use("two");
				await finishes(pi, "steps=2");
				assert.ok(pool.rejected.length <= 2, `${pool.rejected.length}`);
			});
		});

		for (const status of [429, 500, 502])
			it(`a rejection hidden in a ${status} is repaired as well`, async () => {
				await scenario(
					release,
					{ relay: { rejectionStatus: () => status, rules: { checksOrder: false } } },
					async (pi, pool) => {
						await finishes(pi, "steps=2");
						pool.use("two");
						await finishes(pi, "steps=2");
						assert.equal(pool.rejected.length, 1);
					},
				);
			});

		it("openai-responses: the third request passes, and no later one is refused", async () => {
			await scenario(
				release,
				{ api: "openai-responses", baseUrl: "http://relay.test:%PORT%/v1" },
				async (pi, pool) => {
					await finishes(pi, "steps=2");
					pool.use("two");
					await finishes(pi, "steps=3");
					await finishes(pi, "steps=1");
					assert.equal(pool.rejected.length, 1);
				},
			);
		});

		it("google: a missing signature costs one, a foreign one another", async () => {
			await scenario(release, { api: "google-generative-ai" }, async (pi, pool) => {
				await finishes(pi, "unsigned steps=3");
				assert.equal(pool.rejected.length, 1);
				await finishes(pi, "steps=2");
				pool.use("two");
				await finishes(pi, "steps=2");
				assert.equal(pool.rejected.length, 2);
			});
		});

		it("completions: reasoning that must be passed back costs one", async () => {
			await scenario(release, { api: "openai-completions" }, async (pi, pool) => {
				await finishes(pi, "steps=3");
				await finishes(pi, "steps=2");
				assert.equal(pool.rejected.length, 1);
			});
		});
	});
}
