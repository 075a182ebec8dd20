/**
 * Finds the rules that match a text, among several hundred patterns, in about one pass: every match of a pattern
 * contains one of a few plain words, and only patterns whose word occurs are tried.
 */

import type { Rule } from "./engine.ts";

/** Splits a sequence into its items: an escape, a class, a group or a character, each with its repeat. */
function itemsOf(pattern: string): string[] {
	const items: string[] = [];
	for (let start = 0, end = 0; start < pattern.length; start = end) {
		let depth = 0;
		do {
			const sign = pattern[end];
			if (sign === "[") while (pattern[end] !== "]") end += pattern[end] === "\\" ? 2 : 1;
			depth += sign === "(" ? 1 : sign === ")" ? -1 : 0;
			end += sign === "\\" ? 2 : 1;
		} while (depth > 0);
		if (/[?*+]/.test(pattern[end] ?? "")) end++;
		else if (pattern[end] === "{") end = pattern.indexOf("}", end) + 1;
		items.push(pattern.slice(start, end));
	}
	return items;
}

/** Words that stand in many error texts and so tell little. */
const COMMON =
	/^[ "]?(?:again|available|code|content|errors?|exceeded|failed|invalid|is|limit|messages?|model|no|not|not supported|please|request|required|retry|signature|stream|support|supported|the|thinking|this|type|unknown|upstream|valid)[ _]?$/;

/** Rates a set of words by its weakest; a character outside ASCII is as rare as three letters. */
function rarity(words: readonly string[]): number {
	return Math.min(...words.map((word) => (COMMON.test(word) ? 2 : word.replace(/[^ -~]/g, "###").length)));
}

/** Words of which every match of the pattern contains at least one, in lower case; empty if there are none. */
export function wordsOf(pattern: string): string[] {
	const items = itemsOf(pattern);
	if (items.includes("|")) {
		const branches = [""];
		for (const item of items) {
			if (item === "|") branches.push("");
			else branches[branches.length - 1] += item;
		}
		const words = branches.map(wordsOf);
		return words.every((list) => list.length > 0) ? words.flat() : [];
	}
	let best: string[] = [];
	let run = "";
	const consider = (words: string[]) => {
		if (words.length > 0 && rarity(words) >= 2 && (best.length === 0 || rarity(words) > rarity(best))) best = words;
	};
	const endRun = () => {
		if (run !== "") consider([run.toLowerCase()]);
		run = "";
	};
	for (const item of items) {
		const literal = /^(?:\\([^a-z0-9])|([^\\.^$[(]))$/i.exec(item);
		if (literal) {
			run += literal[1] ?? literal[2];
			continue;
		}
		endRun();
		if (item.startsWith("(?:") && item.endsWith(")")) consider(wordsOf(item.slice(3, -1)));
	}
	endRun();
	return best;
}

interface Candidate {
	/** Absent where the word is the whole pattern. */
	pattern?: RegExp;
	/** Index of the rule. */
	rule: number;
	/** Index of the pattern. */
	index: number;
}

export class RuleFinder {
	readonly #rules: readonly Rule[];
	/** Patterns without a word are tried on every text. */
	readonly #always: Candidate[] = [];
	/** An automaton over the words (Aho-Corasick): the class of each character, the next state, what ends there. */
	readonly #classes = new Map<number, number>();
	readonly #ascii = new Uint8Array(128);
	readonly #width: number;
	readonly #next: Uint16Array;
	readonly #ends: (Candidate[] | undefined)[] = [undefined];

	constructor(rules: readonly Rule[]) {
		this.#rules = rules;
		const words: [word: string, candidate: Candidate][] = [];
		let index = 0;
		rules.forEach(({ patterns }, rule) => {
			for (const source of patterns) {
				const own = wordsOf(source);
				const isWord = own.length === 1 && own[0] === source.toLowerCase();
				const candidate = { pattern: isWord ? undefined : new RegExp(source, "i"), rule, index: index++ };
				if (own.length === 0) this.#always.push(candidate);
				for (const word of own) words.push([word, candidate]);
			}
		});
		let states = 1;
		for (const [word] of words) {
			states += word.length;
			for (let at = 0; at < word.length; at++) {
				const code = word.charCodeAt(at);
				if (!this.#classes.has(code)) this.#classes.set(code, this.#classes.size + 1);
			}
		}
		this.#width = this.#classes.size + 1;
		for (const [code, letter] of this.#classes) {
			if (code >= 128) continue;
			this.#ascii[code] = letter;
			this.#ascii[String.fromCharCode(code).toUpperCase().charCodeAt(0)] = letter;
		}
		this.#next = new Uint16Array(states * this.#width);
		for (const [word, candidate] of words) this.#add(word, candidate);
		this.#link();
	}

	#classOf(code: number): number {
		return code < 128 ? this.#ascii[code] : (this.#classes.get(code) ?? 0);
	}

	#add(word: string, candidate: Candidate): void {
		let state = 0;
		for (let at = 0; at < word.length; at++) {
			const slot = state * this.#width + this.#classOf(word.charCodeAt(at));
			if (this.#next[slot] === 0) {
				this.#next[slot] = this.#ends.length;
				this.#ends.push(undefined);
			}
			state = this.#next[slot];
		}
		this.#ends[state] = [...(this.#ends[state] ?? []), candidate];
	}

	/** Fills in where to go on when a word breaks off: to the longest other word that is under way. */
	#link(): void {
		const width = this.#width;
		const next = this.#next;
		const fallback = new Uint16Array(this.#ends.length);
		const queue = Array.from(next.subarray(0, width)).filter((state) => state !== 0);
		for (const state of queue) {
			const other = fallback[state];
			const ends = this.#ends[other];
			if (ends) this.#ends[state] = [...(this.#ends[state] ?? []), ...ends];
			for (let letter = 0; letter < width; letter++) {
				const child = next[state * width + letter];
				const onward = next[other * width + letter];
				if (child === 0) next[state * width + letter] = onward;
				else {
					fallback[child] = onward;
					queue.push(child);
				}
			}
		}
	}

	/** The matching rules among those that `counts` marks with 1, in their order. */
	find(text: string, counts: Uint8Array): Rule[] {
		const hits: number[] = [];
		const tried: number[] = [];
		const attempt = ({ pattern, rule, index }: Candidate) => {
			if (counts[rule] === 0 || hits.includes(rule) || tried.includes(index)) return;
			if (!pattern || pattern.test(text)) hits.push(rule);
			else tried.push(index);
		};
		this.#always.forEach(attempt);
		const next = this.#next;
		const width = this.#width;
		const ascii = this.#ascii;
		let state = 0;
		for (let at = 0; at < text.length; at++) {
			const code = text.charCodeAt(at);
			state = next[state * width + (code < 128 ? ascii[code] : this.#classOf(code))];
			const ends = this.#ends[state];
			if (ends) ends.forEach(attempt);
		}
		return hits.sort((a, b) => a - b).map((rule) => this.#rules[rule]);
	}
}
