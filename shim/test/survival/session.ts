/** One session of a scripted user in a real pi, against a pool whose troubles follow the model. */

import { execFile } from "node:child_process";
import { copyFileSync, cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Pi, SHIM } from "../pi.ts";
import { startPool } from "../pool/pool.ts";
import { NEWEST } from "../releases.mjs";
import { HARSHNESS, SPENT, Timeline } from "./model.ts";

export const RELEASE = NEWEST;
export const TURNS = 30;
/** pi's waits are this much shorter in a run, and counted at full length. */
const SCALE = 400;
/** A user gives up on a session after this many lost turns in a row. */
const GIVES_UP = 3;
const MODELS = ["claude-a", "claude-a", "gpt-a", "gemini-3-pro"];

export const ARMS = ["alone", "patched", "extension"] as const;
export type Arm = (typeof ARMS)[number];

/** pi's retry settings. `default` are pi's own; `patient` waits for two minutes in six attempts. */
export const SETTINGS = {
	default: { maxRetries: 3, baseDelayMs: 2000, maxAgentDelayMs: 60_000 },
	patient: { maxRetries: 6, baseDelayMs: 2000, maxAgentDelayMs: 60_000 },
} as const;
export type Setting = keyof typeof SETTINGS;

export interface Result {
	/** All turns came to their end, none lost: nobody had to be there. */
	unattended: boolean;
	/** All turns came to their end, the lost ones by being asked for again. */
	finished: boolean;
	/** Prompts that ended with an error. */
	lost: number;
	requests: number;
	/** Requests that failed. */
	failed: number;
	/** Failed requests that were retries. */
	inVain: number;
	/** Failed requests that a rule of the API refused. */
	refused: number;
	/** Seconds of backoff at full scale, as the model's clock counted it. */
	waited: number;
	/** The same, as pi announced it. */
	announced: number;
	/** The session met a condition that nothing mends. */
	permanent: boolean;
	/** What the lost turns said, shortened. */
	errors: string[];
}

export interface Plan {
	relay: string;
	arm: Arm;
	settings: Setting;
	/** Of this session: the same for all arms. */
	seed: number;
	/** The folder of a patched copy, for that arm. */
	patched?: string;
	turns?: number;
}

export async function play(plan: Plan): Promise<Result> {
	const harshness = HARSHNESS[plan.relay];
	const retry = SETTINGS[plan.settings];
	const turns = plan.turns ?? TURNS;
	const timeline = new Timeline(harshness, plan.seed);
	const result: Result = {
		unattended: false,
		finished: false,
		lost: 0,
		requests: 0,
		failed: 0,
		inVain: 0,
		refused: 0,
		waited: 0,
		announced: 0,
		permanent: false,
		errors: [],
	};
	let now = 0;
	/** Failures in a row within this prompt: pi's own count of attempts. */
	let failures = 0;
	const pool = await startPool({
		seed: plan.seed,
		accounts: harshness.accounts,
		rules: { alternation: false, ...harshness.rules },
		interrupt: () => {
			if (failures > 0) {
				const delay = Math.min(retry.baseDelayMs * 2 ** (failures - 1), retry.maxAgentDelayMs) / 1000;
				now += delay;
				result.waited += delay;
			}
			for (let due = timeline.switches(now); due > 0; due--) pool.switchAccount();
			return timeline.meet(now);
		},
		done: ({ result: how }) => {
			result.requests++;
			if (how === "served") {
				failures = 0;
				now += SPENT.answer;
				return;
			}
			result.failed++;
			if (how !== "interrupted") result.refused++;
			if (failures > 0) result.inVain++;
			failures++;
			now += SPENT.failure;
		},
	});
	const scaled = { baseDelayMs: retry.baseDelayMs / SCALE, maxAgentDelayMs: retry.maxAgentDelayMs / SCALE };
	const pi = await new Pi({
		release: RELEASE,
		packageDir: plan.arm === "patched" ? plan.patched : undefined,
		providers: pool.providers(),
		model: `relay/${MODELS[plan.seed % MODELS.length]}`,
		extensions: plan.arm === "extension" ? [SHIM] : [],
		settings: { retry: { enabled: true, maxRetries: retry.maxRetries, ...scaled } },
	}).prepare();
	try {
		pi.open();
		let inARow = 0;
		for (let turn = 1; turn <= turns && inARow < GIVES_UP; ) {
			const from = pi.records.length;
			failures = 0;
			await pi.prompt(`Turn ${turn} of ${turns}${inARow > 0 ? `, asked again (${inARow})` : ""}: go on.`);
			const last = pi.records.slice(from).findLast(isAnswer)?.message as {
				stopReason: string;
				errorMessage?: string;
			};
			for (const record of pi.records.slice(from))
				if (record.type === "auto_retry_start") result.announced += (Number(record.delayMs) * SCALE) / 1000;
			if (last?.stopReason === "stop") {
				turn++;
				inARow = 0;
				now += SPENT.user;
			} else {
				result.lost++;
				inARow++;
				result.errors.push(String(last?.errorMessage ?? last?.stopReason).slice(0, 160));
				now += SPENT.afterLoss;
			}
		}
		result.finished = inARow === 0;
		result.unattended = result.lost === 0;
		result.permanent = timeline.permanentFrom <= now;
	} finally {
		await pi.close();
		pool.close();
	}
	return result;
}

function isAnswer(record: Record<string, unknown>): boolean {
	return record.type === "message_end" && (record.message as { role?: string }).role === "assistant";
}

/**
 * A copy of the release beside the original, patched by this project's own command, and how to remove it. Waits without
 * holding up a pool of this process: the command may have to be built first.
 */
export async function patchedCopy(): Promise<{ dir: string; remove: () => void }> {
	const packages = fileURLToPath(new URL("../node_modules", import.meta.url));
	const source = join(packages, `pi-${RELEASE}`);
	const dir = mkdtempSync(join(packages, "patched-"));
	const remove = () => rmSync(dir, { recursive: true, force: true });
	try {
		cpSync(join(source, "dist"), join(dir, "dist"), { recursive: true });
		copyFileSync(join(source, "package.json"), join(dir, "package.json"));
		symlinkSync(join(source, "node_modules"), join(dir, "node_modules"));
		const args = ["run", "--quiet", "--", "apply", "--pi", dir];
		await promisify(execFile)(process.env.CARGO ?? "cargo", args, { cwd: join(SHIM, "..") });
	} catch (error) {
		remove();
		throw error;
	}
	return { dir, remove };
}
