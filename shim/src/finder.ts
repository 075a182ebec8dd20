/**
 * Finds the rules that match a text, among several hundred patterns, in one pass: every match of a pattern contains one
 * of a few plain words, and only patterns whose word occurs are tried. The words come from the reference.
 */

import type { Rule } from "./engine.ts";
import { NEEDLES } from "./needles.generated.ts";

interface Candidate {
	/** Absent where the word is the whole pattern. */
	pattern?: RegExp;
	/** Index of the rule. */
	rule: number;
	/** Index of the pattern. */
	index: number;
}

interface Word extends Candidate {
	word: string;
	/** Where its rarest four characters start; it is filed under them. */
	offset: number;
	next?: Word;
}

const SLOT_BITS = 16;

/** Where four characters, given as one byte each, are filed. */
function slot(four: number): number {
	return Math.imul(four, 0x9e3779b1) >>> (32 - SLOT_BITS);
}

export class RuleFinder {
	readonly #rules: readonly Rule[];
	/** Patterns without words are tried on every text, those with words outside ASCII on every such text. */
	readonly #always: Candidate[] = [];
	readonly #wide: Candidate[] = [];
	readonly #taken = new Uint8Array(1 << SLOT_BITS);
	readonly #words = new Map<number, Word>();

	constructor(rules: readonly Rule[], needles: typeof NEEDLES = NEEDLES) {
		this.#rules = rules;
		let index = 0;
		for (const [rule, { patterns }] of rules.entries()) {
			for (const source of patterns) {
				const [isMatch, ...words] = needles[index] ?? [];
				const candidate = { pattern: isMatch ? undefined : new RegExp(source, "i"), rule, index: index++ };
				if (words.length === 0) this.#always.push(candidate);
				else if (/[^ -~]/.test(words.join("")))
					this.#wide.push({ ...candidate, pattern: new RegExp(source, "i") });
				else
					for (let at = 0; at < words.length; at += 2)
						this.#file({ ...candidate, word: String(words[at]), offset: Number(words[at + 1]) });
			}
		}
	}

	#file(word: Word): void {
		let four = 0;
		for (let at = word.offset; at < word.offset + 4; at++) four = (four << 8) | word.word.charCodeAt(at);
		const key = slot(four);
		this.#taken[key] = 1;
		word.next = this.#words.get(key);
		this.#words.set(key, word);
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
		if (/[^\0-\x7f]/.test(text)) this.#wide.forEach(attempt);
		// Letters outside ASCII keep their case, as they do in a pattern without the flag `u`.
		const lower = text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
		let four = 0;
		for (let at = 0; at < lower.length; at++) {
			four = (four << 8) | (lower.charCodeAt(at) & 0xff);
			const key = slot(four);
			if (this.#taken[key] === 0) continue;
			for (let word = this.#words.get(key); word; word = word.next)
				if (lower.startsWith(word.word, at - 3 - word.offset) && at - 3 >= word.offset) attempt(word);
		}
		return hits.sort((a, b) => a - b).map((rule) => this.#rules[rule]);
	}
}
