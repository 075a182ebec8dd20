/**
 * Plays sessions and records what came of them:
 *
 *   node run.mjs survival/run.ts --relay mild,middle,harsh --settings default,patient --sessions 20 --seed 1
 *
 * Each cell of the record (relay, settings, seed) is replaced. `--arms extension` plays that arm only and keeps the others
 * of a cell with as many sessions; `--out FILE` writes elsewhere; `--jobs N` sets how many sessions run at once (2).
 */

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { HARSHNESS } from "./model.ts";
import { type Cell, type Recorded, render, summary } from "./render.ts";
import { ARMS, type Arm, patchedCopy, play, RELEASE, type Result, SETTINGS, type Setting, TURNS } from "./session.ts";

const { values } = parseArgs({
	options: {
		relay: { type: "string", default: Object.keys(HARSHNESS).join() },
		settings: { type: "string", default: Object.keys(SETTINGS).join() },
		arms: { type: "string", default: ARMS.join() },
		sessions: { type: "string", default: "20" },
		seed: { type: "string", default: "1" },
		jobs: { type: "string", default: "2" },
		out: { type: "string", default: fileURLToPath(new URL("record.json", import.meta.url)) },
	},
});

/** The words of a list, each of them known. */
function chosen<T extends string>(what: string, text: string, known: readonly T[]): T[] {
	return text.split(",").map((word) => {
		const found = known.find((name) => name === word);
		if (found === undefined) throw new Error(`--${what}: ${word} is none of ${known.join(", ")}`);
		return found;
	});
}
function whole(what: string, text: string): number {
	if (!/^[1-9]\d{0,5}$/.test(text)) throw new Error(`--${what}: ${text} is no number from 1 to 999999`);
	return Number(text);
}

const relays = chosen("relay", values.relay, Object.keys(HARSHNESS));
const settings = chosen("settings", values.settings, Object.keys(SETTINGS) as Setting[]);
const arms = chosen("arms", values.arms, ARMS);
const sessions = whole("sessions", values.sessions);
const seed = whole("seed", values.seed);
const jobs = whole("jobs", values.jobs);

const patched = arms.includes("patched") ? await patchedCopy() : undefined;
try {
	for (const relay of relays)
		for (const setting of settings) {
			const results: Partial<Record<Arm, Result[]>> = {};
			const tasks = arms.flatMap((arm) => Array.from({ length: sessions }, (_, number) => ({ arm, number })));
			for (const arm of arms) results[arm] = [];
			await Promise.all(
				Array.from({ length: jobs }, async () => {
					for (let task = tasks.shift(); task; task = tasks.shift()) {
						const { arm, number } = task;
						const plan = {
							relay,
							arm,
							settings: setting,
							seed: seed * 1_000_003 + number,
							patched: patched?.dir,
						};
						(results[arm] as Result[])[number] = await play(plan);
					}
				}),
			);
			const cell: Cell = { relay, settings: setting, seed, sessions, turns: TURNS, release: RELEASE, arms: {} };
			for (const arm of arms) cell.arms[arm] = summary(results[arm] as Result[]);
			console.log(JSON.stringify(cell));
			save(cell);
		}
} finally {
	patched?.remove();
}

function save(cell: Cell): void {
	const record: Recorded = existsSync(values.out) ? JSON.parse(readFileSync(values.out, "utf8")) : { cells: [] };
	const isSame = (other: Cell) =>
		other.relay === cell.relay && other.settings === cell.settings && other.seed === cell.seed;
	const before = record.cells.find(isSame);
	const others = record.cells.filter((other) => !isSame(other));
	const played = before?.sessions === cell.sessions ? { ...before.arms, ...cell.arms } : cell.arms;
	cell.arms = Object.fromEntries(ARMS.filter((arm) => played[arm]).map((arm) => [arm, played[arm]]));
	const order = Object.keys(HARSHNESS);
	record.cells = [...others, cell].sort(
		(a, b) =>
			order.indexOf(a.relay) - order.indexOf(b.relay) || a.settings.localeCompare(b.settings) || a.seed - b.seed,
	);
	const whole = `${values.out}.new`;
	writeFileSync(whole, `${JSON.stringify(record, null, "\t")}\n`);
	renameSync(whole, values.out);
	if (values.out.endsWith("/survival/record.json")) render(record);
}
