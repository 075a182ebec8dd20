/** Makes the figure and the tables of README.md from record.json: `node run.mjs survival/render.ts`. */

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Arm, Result, Setting } from "./session.ts";

/** What came of an arm's sessions: numbers of sessions, and sums over all of them. */
export interface Summary {
	unattended: number;
	finished: number;
	lost: number;
	requests: number;
	failed: number;
	inVain: number;
	refused: number;
	waited: number;
	permanent: number;
}

export interface Cell {
	relay: string;
	settings: Setting;
	seed: number;
	sessions: number;
	turns: number;
	release: string;
	arms: Partial<Record<Arm, Summary>>;
}

export interface Recorded {
	cells: Cell[];
}

export function summary(results: Result[]): Summary {
	const sum = (value: (result: Result) => number) => results.reduce((total, result) => total + value(result), 0);
	return {
		unattended: sum(({ unattended }) => Number(unattended)),
		finished: sum(({ finished }) => Number(finished)),
		lost: sum(({ lost }) => lost),
		requests: sum(({ requests }) => requests),
		failed: sum(({ failed }) => failed),
		inVain: sum(({ inVain }) => inVain),
		refused: sum(({ refused }) => refused),
		waited: Math.round(sum(({ waited }) => waited)),
		permanent: sum(({ permanent }) => Number(permanent)),
	};
}

const NAMES: Record<Arm, string> = { alone: "pi alone", patched: "pi patched", extension: "pi with the extension" };
const COLOURS: Record<Arm, string> = { alone: "#9aa5b1", patched: "#5b8def", extension: "#2f9e6e" };
const SETTING_NAMES: Record<Setting, string> = {
	default: "pi's default: 3 retries, 14 s in all",
	patient: "maxRetries 6: 122 s in all",
};
const ARMS = Object.keys(NAMES) as Arm[];

/** All seeds of a relay and a setting together. */
function joined(
	record: Recorded,
	relay: string,
	settings: Setting,
): { n: number; arms: Record<Arm, Summary> } | undefined {
	const cells = record.cells.filter((cell) => cell.relay === relay && cell.settings === settings);
	if (cells.length === 0) return undefined;
	const arms = Object.fromEntries(
		ARMS.map((arm) => {
			const total = summary([]);
			for (const cell of cells)
				for (const key of Object.keys(total) as (keyof Summary)[]) total[key] += cell.arms[arm]?.[key] ?? 0;
			return [arm, total];
		}),
	) as Record<Arm, Summary>;
	return { n: cells.reduce((total, cell) => total + cell.sessions, 0), arms };
}

const relaysOf = (record: Recorded) => [...new Set(record.cells.map(({ relay }) => relay))];
const settingsOf = (record: Recorded) => [...new Set(record.cells.map(({ settings }) => settings))];

export function tables(record: Recorded): string {
	let text = "";
	for (const settings of settingsOf(record)) {
		text += `\n${SETTING_NAMES[settings]}, two columns of sessions and then means for each session:\n\n`;
		text +=
			"| relay | | sessions with no turn lost | sessions finished | turns lost | requests | failed | retries in vain | waited, s |\n";
		text += "|---|---|--:|--:|--:|--:|--:|--:|--:|\n";
		for (const relay of relaysOf(record)) {
			const group = joined(record, relay, settings);
			if (!group) continue;
			const { n } = group;
			for (const arm of ARMS) {
				const of = group.arms[arm];
				const mean = (value: number, digits = 1) => (value / n).toFixed(digits);
				text += `| ${relay} | ${NAMES[arm]} | ${of.unattended} of ${n} | ${of.finished} of ${n} | ${mean(of.lost, 2)} | ${mean(of.requests)} | ${mean(of.failed)} | ${mean(of.inVain)} | ${mean(of.waited, 0)} |\n`;
			}
		}
	}
	const seeds = [...new Set(record.cells.map(({ seed }) => seed))].join(", ");
	const [first] = record.cells;
	const permanent = relaysOf(record)
		.map((relay) => {
			const group = settingsOf(record).map((settings) => joined(record, relay, settings));
			return `${relay} ${Math.max(...group.map((one) => one?.arms.extension.permanent ?? 0))}`;
		})
		.join(", ");
	if (first)
		text += `\npi ${first.release}, ${first.turns} turns a session, seeds ${seeds}. Sessions of the extension's arm that met a condition which nothing mends, in either setting at most: ${permanent}.\n`;
	return text;
}

export function figure(record: Recorded): string {
	const relays = relaysOf(record);
	const settings = settingsOf(record);
	const [width, panel, top, high] = [760, 360, 74, 200];
	const parts: string[] = [];
	const say = (x: number, y: number, text: string, more = "") =>
		parts.push(`<text x="${x}" y="${y}" ${more}>${text.replaceAll("&", "&amp;")}</text>`);
	say(
		20,
		24,
		"Sessions of 30 tool-using turns: no turn lost (full, number); finished with the user's help (pale)",
		'font-size="15" font-weight="600"',
	);
	for (const [index, arm] of ARMS.entries()) {
		parts.push(`<rect x="${20 + index * 150}" y="36" width="12" height="12" fill="${COLOURS[arm]}"/>`);
		say(38 + index * 150, 46, NAMES[arm]);
	}
	for (const [at, setting] of settings.entries()) {
		const left = 20 + at * panel;
		say(left + 20, top, SETTING_NAMES[setting], 'font-weight="600"');
		const base = top + 26 + high;
		for (const share of [0, 50, 100]) {
			const y = base - (share / 100) * high;
			parts.push(`<line x1="${left + 20}" x2="${left + 330}" y1="${y}" y2="${y}" stroke="#d5dae0"/>`);
			say(left + 16, y + 4, String(share), 'text-anchor="end" fill="#66707a"');
		}
		for (const [index, relay] of relays.entries()) {
			const group = joined(record, relay, setting);
			if (!group) continue;
			const x = left + 34 + index * 100;
			for (const [number, arm] of ARMS.entries()) {
				const { unattended, finished } = group.arms[arm];
				for (const [count, opacity] of [
					[finished, 0.35],
					[unattended, 1],
				]) {
					const tall = (count / group.n) * high;
					parts.push(
						`<rect x="${x + number * 28}" y="${(base - tall).toFixed(1)}" width="24" height="${tall.toFixed(1)}" fill="${COLOURS[arm]}" fill-opacity="${opacity}"/>`,
					);
				}
				const top = Math.round(base - (unattended / group.n) * high) - 4;
				say(x + number * 28 + 12, top, `${Math.round((unattended / group.n) * 100)}`, 'text-anchor="middle"');
			}
			say(x + 40, base + 18, `${relay}, n = ${group.n}`, 'text-anchor="middle"');
		}
	}
	say(
		20,
		338,
		"Percent. Real pi against a relay on this machine whose failures follow a written model: shim/test/survival/README.md.",
		'fill="#66707a"',
	);
	return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} 352" width="${width}" height="352" font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#1f2933">\n<title>Sessions in which no turn was lost, in percent, by relay and way of running pi</title>\n<!-- Generated by survival/render.ts from record.json. -->\n<rect width="100%" height="100%" fill="#fff"/>\n${parts.join("\n")}\n</svg>\n`;
}

const FILE = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const [BEGIN, END] = ["<!-- begin: made by render.ts -->", "<!-- end -->"];

/** README.md with its tables as the record has them. */
export function readme(record: Recorded): string {
	const text = readFileSync(FILE("README.md"), "utf8");
	return `${text.slice(0, text.indexOf(BEGIN) + BEGIN.length)}\n${tables(record)}\n${text.slice(text.indexOf(END))}`;
}

export function render(record: Recorded): void {
	writeFileSync(FILE("README.md"), readme(record));
	writeFileSync(FILE("survival.svg"), figure(record));
}

export const recorded = (): Recorded => JSON.parse(readFileSync(FILE("record.json"), "utf8"));

if (process.argv[1] === fileURLToPath(import.meta.url)) render(recorded());
