/**
 * One long session with everything that a user may do between turns: other models and relays, other thinking levels,
 * fork, reload, resume, compaction, pauses, while pi keeps caches warm and the accounts behind two relays switch at random. Prints each
 * turn that was lost and what was refused:
 *
 *   node run.mjs survival/long.ts --turns 200 --seed 1
 */

import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Pi, SHIM } from "../pi.ts";
import { type Rules, startPool } from "../pool/pool.ts";
import { Random } from "../random.ts";
import { RELEASE } from "./session.ts";

const MODELS = ["claude-a", "claude-managed", "gpt-a", "gemini-3-pro", "deepseek-a"];

export interface LongPlan {
	turns: number;
	seed: number;
	release?: string;
	/** Models of the relays that the session moves between. */
	models?: string[];
	extensions?: string[];
	/** Rules of the relays that differ from the usual ones here. */
	rules?: Partial<Rules>;
	/** One request in so many is the first of another account; 40 if absent. */
	every?: number;
}

export interface LongResult {
	/** What was lost: turn, model, and the last error. */
	lost: string[];
	requests: number;
	switches: number;
	/** Requests that only kept a cache warm. */
	pings: number;
	/** Refused requests of turns by endpoint and model, with the rules that refused them. */
	refused: Record<string, Record<string, number>>;
	/** The most requests of one turn that were refused. */
	worst: number;
}

export async function long(plan: LongPlan): Promise<LongResult> {
	const random = new Random(plan.seed);
	const models = plan.models ?? MODELS;
	const result: LongResult = { lost: [], requests: 0, switches: 0, pings: 0, refused: {}, worst: 0 };
	const pool = await startPool({
		seed: plan.seed,
		accounts: 3,
		rules: { alternation: false, wrap: "random", ...plan.rules },
		interrupt: ({ endpoint, isPing }) => {
			if (isPing) result.pings++;
			if (endpoint === "direct" || random.below(plan.every ?? 40) > 0) return undefined;
			result.switches++;
			pool.switchAccount(undefined, endpoint);
			return undefined;
		},
	});
	const rejections = () => pool.rejections.filter(({ isPing }) => !isPing);
	const reload = fileURLToPath(new URL("../extensions/reload.ts", import.meta.url));
	const pi = await new Pi({
		release: plan.release ?? RELEASE,
		providers: pool.providers({ pings: true }),
		settings: { retry: { enabled: true, maxRetries: 3, baseDelayMs: 5 }, cacheWarming: "idle" },
		model: `relay/${models[0]}`,
		extensions: [...(plan.extensions ?? [SHIM]), reload],
	}).prepare();
	let at = `relay/${models[0]}`;
	const acts: [share: number, act: () => Promise<unknown>][] = [
		[
			12,
			async () => {
				const provider = random.pick(["relay", "relay", "two", "direct"]);
				const modelId = random.pick(models);
				at = `${provider}/${modelId}`;
				return pi.ask({ type: "set_model", provider, modelId });
			},
		],
		[6, () => pi.ask({ type: "set_thinking_level", level: random.pick(["off", "low", "high"]) })],
		[25, () => new Promise((resolve) => setTimeout(resolve, 80))],
		[3, () => pi.slash("/reload-for-test")],
		[2, () => pi.ask({ type: "compact" })],
		[
			2,
			async () => {
				await pi.quit();
				pi.open("--continue");
				const [provider, modelId] = at.split("/");
				return pi.ask({ type: "set_model", provider, modelId });
			},
		],
		[
			3,
			async () => {
				const { data } = (await pi.ask({ type: "get_fork_messages" })) as {
					data: { messages: { entryId: string }[] };
				};
				const { messages } = data;
				if (messages.length > 2) await pi.ask({ type: "fork", entryId: messages[messages.length - 1].entryId });
			},
		],
	];
	try {
		pi.open();
		for (let turn = 1; turn <= plan.turns; turn++) {
			for (const [share, act] of acts) if (random.below(100) < share) await act();
			const [from, before] = [pi.records.length, rejections().length];
			await pi.prompt(`Turn ${turn}: go on.`);
			const last = pi.records
				.slice(from)
				.findLast(
					(record) =>
						record.type === "message_end" && (record.message as { role?: string }).role === "assistant",
				);
			const message = last?.message as { stopReason?: string; errorMessage?: string } | undefined;
			const refused = rejections().slice(before);
			result.worst = Math.max(result.worst, refused.length);
			if (message?.stopReason !== "stop")
				result.lost.push(
					`turn ${turn}, ${at}: ${message?.errorMessage?.slice(0, 300)} (refused: ${refused.map((one) => one.result).join(", ")})`,
				);
		}
	} finally {
		for (const { endpoint, model, result: rule } of rejections()) {
			const key = `${endpoint} ${model}`;
			const rules = result.refused[key] ?? {};
			result.refused[key] = { ...rules, [rule]: (rules[rule] ?? 0) + 1 };
		}
		result.requests = pool.counts().requests;
		await pi.close();
		pool.close();
	}
	return result;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const { values } = parseArgs({
		options: {
			turns: { type: "string", default: "200" },
			seed: { type: "string", default: "1" },
			release: { type: "string", default: RELEASE },
			models: { type: "string", default: MODELS.join() },
			without: { type: "boolean", default: false },
		},
	});
	const plan = {
		turns: Number(values.turns),
		seed: Number(values.seed),
		release: values.release,
		models: values.models.split(","),
	};
	console.log(JSON.stringify(await long({ ...plan, ...(values.without ? { extensions: [] } : {}) }), null, "\t"));
}
