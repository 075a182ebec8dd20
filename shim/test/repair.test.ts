/**
 * Repairs in real releases of pi, against a pool that keeps the providers' rules. Every scenario says how many requests
 * may be refused; without the extension the session is dead after the first.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Pi, type Setup } from "./pi.ts";
import { type Pool, type PoolOptions, startPool } from "./pool/pool.ts";
import type { Json } from "./pool/rules.ts";
import { Random } from "./random.ts";
import { FULL, NEWEST, RELEASES } from "./releases.mjs";

/** What happens around a failed prompt, which Anthropic joins; rejections come as relays send them. */
const RULES = { alternation: false, wrap: "new-api" } as const;
const WRAPS = ["plain", "masked", "litellm", "hidden-429", "hidden-500", "hidden-502"] as const;
const RETRY = { retry: { enabled: true, maxRetries: 3, baseDelayMs: 5 } };

interface Scenario extends Partial<Setup> {
	pool?: PoolOptions;
	pings?: boolean;
}

async function scenario({ pool: options, pings, ...setup }: Scenario, body: (pi: Pi, pool: Pool) => Promise<void>) {
	const pool = await startPool({ seed: 5, ...options, rules: { ...RULES, ...options?.rules } });
	const model = "relay/claude-a";
	const pi = await new Pi({
		release: NEWEST,
		providers: pool.providers({ pings }),
		model,
		settings: RETRY,
		...setup,
	}).prepare();
	try {
		pi.open();
		await body(pi, pool);
	} finally {
		await pi.close();
		pool.close();
	}
}

/** Prompts for so many tool steps and checks that the model came to its end. */
async function work(pi: Pi, steps: number): Promise<void> {
	await pi.prompt(`Work with [tools ${steps}], please.`);
	const { data } = await pi.ask({ type: "get_last_assistant_text" });
	assert.match(String((data as Json | undefined)?.text), /^Done with /, "the turn ends well");
}

/** A request without what differs from run to run whatever is installed. */
function scrubbed(text: string, home: string): string {
	const still = text.replaceAll(home, "").replace(/\d{4}-\d\d-\d\dT[^"\\]*/g, "");
	return still.replace(/"(?:session_id|user_id|prompt_cache_key)":"[^"]*"/g, "");
}

const thinkingOf = ({ body }: Pool["asked"][number]) => (body.thinking as Json | undefined)?.type;

for (const release of RELEASES) {
	describe(`repairs in pi ${release}`, { concurrency: 2 }, () => {
		it("an account switch inside a tool loop costs two refusals, however long the loop", async () => {
			let asked = 0;
			const pool: PoolOptions = { interrupt: () => void (++asked === 3 && at?.switchAccount()) };
			let at: Pool | undefined;
			await scenario({ release, pool }, async (pi, pool) => {
				at = pool;
				await work(pi, 12);
				assert.ok(pool.rejections.length <= 2, JSON.stringify(pool.rejections));
				const before = pool.rejections.length;
				await work(pi, 3);
				assert.equal(pool.rejections.length, before, "learned for good");
				assert.notEqual(
					thinkingOf(pool.asked[pool.asked.length - 4]),
					"disabled",
					"on again with a new prompt",
				);
			});
		});

		it("a relay that takes text in an open tool turn costs one, and thinking stays on", async () => {
			await scenario({ release, pool: { rules: { openTurn: false } } }, async (pi, pool) => {
				await work(pi, 2);
				pool.switchAccount();
				await work(pi, 6);
				assert.equal(pool.rejections.length, 1);
				assert.ok(pool.asked.every((asked) => thinkingOf(asked) !== "disabled"));
			});
		});

		it("maxRetries 1 is enough where one remedy is", async () => {
			const settings = { retry: { enabled: true, maxRetries: 1, baseDelayMs: 5 } };
			await scenario({ release, settings }, async (pi, pool) => {
				await work(pi, 2);
				pool.switchAccount();
				await work(pi, 0);
				await work(pi, 3);
				await work(pi, 3);
				assert.equal(pool.rejections.length, 2);
			});
		});

		it("mode always costs at most one", async () => {
			await scenario({ release, env: { PI_RETRY_FORCED_THINKING: "always" } }, async (pi, pool) => {
				await work(pi, 4);
				pool.switchAccount();
				await work(pi, 4);
				assert.ok(pool.rejections.length <= 1, JSON.stringify(pool.rejections));
			});
		});

		it("thinking switched on while a tool runs costs at most one, and nothing is learned from it", async () => {
			await scenario({ release, thinking: "off" }, async (pi, pool) => {
				await work(pi, 1);
				const from = pi.records.length;
				const prompted = pi.prompt("Work with [tools 6], please.");
				await pi.wait("a tool call", (record) => record.type === "tool_execution_start", from);
				await pi.ask({ type: "set_thinking_level", level: "low" });
				await prompted;
				assert.ok(pool.rejections.length <= 1, JSON.stringify(pool.rejections));
				await work(pi, 2);
				assert.ok(pool.rejections.length <= 1);
				assert.match(pool.asked.at(-1)?.text ?? "", /"signature"/, "thinking is sent as it is");
			});
		});

		it("what was learned survives resume, and no request of another model is changed", async () => {
			await scenario({ release }, async (pi, pool) => {
				await work(pi, 2);
				pool.switchAccount();
				await work(pi, 2);
				const { length } = pool.rejections;
				await pi.ask({ type: "new_session" });
				await pi.ask({ type: "set_model", provider: "relay", modelId: "claude-b" });
				await work(pi, 2);
				assert.match(pool.asked.at(-1)?.text ?? "", /"signature"/);
				await pi.quit();
				pi.open("--session", pi.sessionFiles()[0]);
				await pi.ask({ type: "set_model", provider: "relay", modelId: "claude-a" });
				await work(pi, 3);
				assert.equal(pool.rejections.length, length);
			});
		});

		for (const saved of [true, false])
			it(`what was learned and chosen goes into a fork from before it, ${saved ? "and is kept there" : "unsaved"}`, async () => {
				await scenario({ release, args: saved ? [] : ["--no-session"] }, async (pi, pool) => {
					await work(pi, 2);
					pool.switchAccount();
					await work(pi, 2);
					await pi.ask({ type: "set_model", provider: "relay", modelId: "claude-b" });
					await pi.slash("/thinking-sig off");
					const { length } = pool.rejections;
					const messages = ((await pi.ask({ type: "get_fork_messages" })).data as Json).messages as Json[];
					for (const { entryId } of messages.slice(0, 2).reverse()) {
						await pi.ask({ type: "fork", entryId });
						assert.match(
							await pi.slash("/thinking-sig"),
							/: off; .*\nlearned.*\n.*claude-a at .* as plain text/,
						);
					}
					if (saved) {
						await work(pi, 0);
						await pi.quit();
						pi.open("--continue");
						assert.match(
							await pi.slash("/thinking-sig"),
							/: off; .*\nlearned.*\n.*claude-a at .* as plain text/,
						);
					}
					await pi.slash("/thinking-sig auto");
					await pi.ask({ type: "set_model", provider: "relay", modelId: "claude-a" });
					await work(pi, 2);
					assert.equal(pool.rejections.length, length);
				});
			});

		it("a direct host with the same model id is never touched", async () => {
			await scenario({ release }, async (pi, pool) => {
				await work(pi, 2);
				pool.switchAccount();
				await work(pi, 2);
				await pi.ask({ type: "new_session" });
				await pi.ask({ type: "set_model", provider: "direct", modelId: "claude-a" });
				await work(pi, 4);
				assert.deepEqual(pool.counts(({ endpoint }) => endpoint === "direct").rejected, 0);
				const direct = pool.asked.filter(({ endpoint }) => endpoint === "direct");
				assert.ok(direct.length >= 4 && direct.every((asked) => thinkingOf(asked) !== "disabled"));
			});
		});

		it("visible reasoning that the model refuses costs two", async () => {
			await scenario(
				{ release, pool: { rules: { refuseVisibleReasoning: true, openTurn: false } } },
				async (pi, pool) => {
					await work(pi, 2);
					pool.switchAccount();
					await work(pi, 2);
					await work(pi, 2);
					const refused = pi
						.saved()
						.filter(({ errorMessage }) => /refused|reasoning|unknown error/.test(errorMessage ?? ""));
					// One is the signature's; the refusal itself is an answer to the pool.
					assert.deepEqual([pool.rejections.length, refused.length], [1, 1], JSON.stringify(refused));
				},
			);
		});

		it("a model of managed effort goes on behind another account", async () => {
			await scenario({ release, model: "relay/claude-managed" }, async (pi, pool) => {
				for (let round = 0; round < 4; round++) {
					await work(pi, 2);
					pool.switchAccount();
				}
				assert.ok(pool.rejections.length <= 2, JSON.stringify(pool.rejections));
			});
		});

		// How a relay words it is the rules' concern, and theirs is the same in every release.
		for (const wrap of FULL.includes(release) ? WRAPS : [])
			it(`a rejection in the form ${wrap} is repaired as well`, async () => {
				await scenario({ release, pool: { rules: { wrap, openTurn: false } } }, async (pi, pool) => {
					await work(pi, 2);
					pool.switchAccount();
					await work(pi, 2);
					assert.equal(pool.rejections.length, 1);
				});
			});

		for (const model of ["gpt-a", "gemini-3-pro"])
			it(`${model}: the third request passes, and no later one is refused`, async () => {
				await scenario({ release, model: `relay/${model}` }, async (pi, pool) => {
					await work(pi, 2);
					pool.switchAccount();
					await work(pi, 3);
					await work(pi, 1);
					assert.equal(pool.rejections.length, 1, JSON.stringify(pool.rejections));
				});
			});

		it("requests of a session without a rejection are the same bytes with the extension and without", async () => {
			const bodies = async (extensions?: string[]) => {
				let texts: string[] = [];
				await scenario({ release, extensions }, async (pi, pool) => {
					await work(pi, 3);
					await work(pi, 1);
					texts = pool.asked.map(({ text }) => scrubbed(text, pi.home));
				});
				return texts;
			};
			assert.deepEqual(await bodies(), await bodies([]));
		});
	});
}

describe("requests that keep a cache warm", { concurrency: 2 }, () => {
	const MODELS = ["claude-managed", "gpt-a", "gemini-3-pro", "deepseek-a"];
	const settings = { ...RETRY, cacheWarming: "idle" };
	const warm = (model: string, body: (pi: Pi, pool: Pool) => Promise<void>, more: Scenario = {}) =>
		scenario({ ...more, model: `relay/${model}`, settings, pings: true }, body);
	/** Waits for the next ping's outcome; pi sends one 50 ms after a request. */
	async function pinged(pool: Pool): Promise<Pool["outcomes"][number]> {
		const from = pool.outcomes.length;
		for (let waited = 0; waited < 10_000; waited += 20) {
			const ping = pool.outcomes.slice(from).find(({ isPing }) => isPing);
			if (ping) return ping;
			await new Promise((resolve) => setTimeout(resolve, 20));
		}
		throw new Error("no ping came");
	}

	for (const model of MODELS) {
		it(`${model}: a refused one teaches nothing, and a turn's rejection repairs them too`, async () => {
			await warm(model, async (pi, pool) => {
				await work(pi, 2);
				await pinged(pool);
				pool.switchAccount();
				const refused = await pinged(pool);
				const before = await pi.slash("/thinking-sig");
				assert.match(before, /: auto; requests are sent as they are$/);
				assert.equal(pi.entries().filter(({ type }) => type === "custom").length, 0);
				const turns = () => pool.rejections.filter(({ isPing }) => !isPing).length;
				await work(pi, 2);
				// An account that takes any seal refused neither of them.
				assert.equal(turns() > 0, refused.result !== "served", JSON.stringify(pool.rejections));
				assert.ok(turns() <= 2, JSON.stringify(pool.rejections));
				assert.equal((await pinged(pool)).result, "served");
			});
		});

		it(`${model}: without a rejection they are the same bytes with the extension and without`, async () => {
			const bodies = async (extensions?: string[]) => {
				const texts: string[] = [];
				await warm(
					model,
					async (pi, pool) => {
						for (const steps of [2, 0]) {
							await work(pi, steps);
							await pinged(pool);
							texts.push(pool.asked.findLast(({ isPing }) => isPing)?.text ?? "");
						}
						texts.push(...pool.asked.filter(({ isPing }) => !isPing).map(({ text }) => text));
						for (const [index, text] of texts.entries()) texts[index] = scrubbed(text, pi.home);
					},
					{ extensions },
				);
				return texts;
			};
			assert.deepEqual(await bodies(), await bodies([]));
		});
	}
});

/** A longer one by hand: `TURNS=200`. */
const TURNS = Number(process.env.TURNS ?? 24);

it(`a session of ${TURNS} turns over three models, two relays and a direct host, accounts switching at random`, async () => {
	const random = new Random(Number(process.env.SEED ?? 11));
	const rules = { ...RULES, wrap: "random" } as const;
	await scenario({ pool: { accounts: 3, switchChance: 0.1, seed: random.below(1e6), rules } }, async (pi, pool) => {
		for (let turn = 0; turn < TURNS; turn++) {
			if (random.below(4) === 0) {
				const provider = random.pick(["relay", "two", "direct"]);
				await pi.ask({ type: "set_model", provider, modelId: random.pick(["claude-a", "claude-b", "gpt-a"]) });
			}
			await work(pi, random.below(5));
		}
		const rejected = new Map<string, number>();
		for (const { endpoint, model } of pool.rejections)
			rejected.set(`${endpoint} ${model}`, (rejected.get(`${endpoint} ${model}`) ?? 0) + 1);
		console.log(`${TURNS} turns, ${pool.counts().requests} requests, refused: ${JSON.stringify([...rejected])}`);
		assert.ok(rejected.size > 0, "the accounts were switched and it was felt");
		for (const [where, count] of rejected) assert.ok(count <= 4, `${where}: ${count}`);
		assert.equal(pool.counts(({ endpoint }) => endpoint === "direct").rejected, 0);
	});
});
