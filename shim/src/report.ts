/** What happened to the failed turns of this session, for `/retry-forced`. */

import type { Verdict } from "./engine.ts";

/** What became of a failed turn, in the words of the report. */
export const OUTCOMES = {
	converted: "made retryable",
	summary: "made retryable during a compaction",
	"pi-retries": "left alone, pi retries them by itself",
	useless: "retried by pi although that cannot help; an extension cannot stop it",
	"pi-compacts": "left alone, a context overflow is the business of compaction",
	"pi-refuses": "left alone, pi's own list of limits names the text and a rewrite would not be retried",
	vetoed: "left alone, the server says not to retry",
	"not-repairable": "left alone, a rejection over thinking where nothing (more) can be taken out",
	"retry-off": "left alone, pi's retry is switched off",
	direct: "left alone, the endpoint counts as this machine or as direct",
	stopped: "not retried, another attempt cannot help (stopUseless)",
	empty: "without any content, made retryable (empty)",
	unknown: "left alone, no rule knows them; /retry-forced add-last retry would try such failures again",
	permanent: "left alone, another attempt cannot help",
} as const;
export type Outcome = keyof typeof OUTCOMES;

interface Failure {
	time: number;
	outcome: Outcome;
	verdict: Verdict;
	model: string;
	original: string;
}

/** A long session must not fill memory with bodies; ids stand at the end, so both ends are kept. */
const KEPT_FAILURES = 20;
const KEPT_TEXT = 1200;
/** Of a list, as many are shown. */
const SHOWN_FAILURES = 10;

function shorten(text: string): string {
	if (text.length <= KEPT_TEXT) return text;
	const half = KEPT_TEXT / 2;
	return `${text.slice(0, half)} … (${text.length - KEPT_TEXT} characters left out) … ${text.slice(-half)}`;
}

export class Report {
	readonly counts: Partial<Record<Outcome, number>> = {};
	readonly problems: string[] = [];
	/** Converted ones and others apart, so that the latter never push out the former. */
	readonly #kept: Record<"converted" | "others", Failure[]> = { converted: [], others: [] };
	/** The last failed turn, for `/retry-forced add-last`. */
	last?: { text: string; status: number | null };
	/** What came of the turns that were made retryable. */
	readonly #followed = { helped: 0, again: 0, ended: 0 };
	#pending = false;

	/** The next attempt ended, or none came: `ended`. */
	follow(how: "helped" | "again" | "ended"): void {
		if (!this.#pending) return;
		this.#pending = false;
		this.#followed[how]++;
	}

	add(outcome: Outcome, verdict: Verdict, model: string, original: string): void {
		this.counts[outcome] = (this.counts[outcome] ?? 0) + 1;
		this.last = { text: original, status: verdict.status };
		if (outcome === "converted" || outcome === "empty") this.#pending = true;
		const list = this.#kept[outcome === "converted" || outcome === "summary" ? "converted" : "others"];
		list.push({ time: Date.now(), outcome, verdict, model, original: shorten(original) });
		if (list.length > KEPT_FAILURES) list.shift();
	}

	problem(text: string): void {
		const short = text.slice(0, 300);
		if (!this.problems.includes(short) && this.problems.length < KEPT_FAILURES) this.problems.push(short);
	}

	lines(): string[] {
		const lines: string[] = [];
		const { helped, again, ended } = this.#followed;
		if ((this.counts.converted ?? 0) + (this.counts.empty ?? 0) > 0)
			lines.push(`next attempts: ${helped} succeeded, ${again} failed again, ${ended} not made or aborted`);
		for (const [outcome, text] of Object.entries(OUTCOMES)) {
			const count = this.counts[outcome as Outcome];
			if (count) lines.push(`${count} failed ${count === 1 ? "turn" : "turns"} ${text}`);
		}
		if (lines.length === 0) lines.push("no failed turn in this session");
		const { converted, others } = this.#kept;
		for (const { time, outcome, verdict, model, original } of [
			...converted.slice(-SHOWN_FAILURES),
			...others.slice(-SHOWN_FAILURES),
		].sort((a, b) => a.time - b.time)) {
			const status = verdict.status === null ? "no status" : `HTTP ${verdict.status} (${verdict.statusFrom})`;
			const at = new Date(time).toTimeString().slice(0, 8);
			lines.push("", `${at} ${model}, ${status}: ${OUTCOMES[outcome]}; rule ${verdict.rule}`, `  ${original}`);
		}
		for (const problem of this.problems) lines.push("", `Problem: ${problem}`);
		return lines;
	}
}
