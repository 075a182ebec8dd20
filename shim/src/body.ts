/**
 * The JSON body's own word about its status. Bodies arrive cut off in the middle, inside other text, or written as
 * Python prints them, so this walks the structure as far as it goes and looks at a few keys of the envelope. What
 * stands inside a string, or below any other key, belongs to somebody's request and says nothing.
 */

import type { RuleData } from "./engine.ts";

export interface BodyStatus {
	/** The event that an AWS event stream names, whatever number stands beside it. */
	event?: number;
	/** The first `code`, `status`, … that is a number from 400 to 599. */
	number?: number;
	/** The first gRPC status name. */
	grpc?: number;
	/** The first error type of Anthropic's list. */
	kind?: number;
}

const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const BACKSLASH = 0x5c;

function isSpace(code: number): boolean {
	return code === 0x20 || (code >= 0x09 && code <= 0x0d && code !== 0x0b && code !== 0x0c);
}

const SCALAR = /[0-9+.a-z-]*/iy;

function skipSpace(text: string, from: number): number {
	let at = from;
	while (isSpace(text.charCodeAt(at))) at++;
	return at;
}

/** Reads the first body in a text. Where the structure breaks off, what was seen so far counts. */
export function readBodyStatus(text: string, words: RuleData["body"]): BodyStatus {
	let start = text.indexOf("{");
	for (let tries = 0; start >= 0 && tries < words.maxStarts; tries++) {
		// An object starts with a quoted key; `{org}` does not.
		const quote = text.charCodeAt(skipSpace(text, start + 1));
		if (quote === QUOTE || quote === APOSTROPHE) return walk(text, start + 1, words);
		start = text.indexOf("{", start + 1);
	}
	return {};
}

function walk(text: string, from: number, words: RuleData["body"]): BodyStatus {
	const found: BodyStatus = {};
	// How deep we are, and up to which depth the containers are the envelope.
	let depth = 1;
	let envelope = 1;
	let key = "";
	let at = from;
	while (at < text.length) {
		const code = text.charCodeAt(at);
		if (code === 0x7b || code === 0x5b) {
			const inside = envelope === depth && (key === "" || words.envelopeKeys.includes(key));
			depth++;
			if (inside) envelope = depth;
			key = "";
			at++;
		} else if (code === 0x7d || code === 0x5d) {
			if (--depth === 0) break;
			envelope = Math.min(envelope, depth);
			key = "";
			at++;
		} else if (code === QUOTE || code === APOSTROPHE) {
			let end = at + 1;
			while (end < text.length && text.charCodeAt(end) !== code)
				end += text.charCodeAt(end) === BACKSLASH ? 2 : 1;
			if (end >= text.length) break;
			const string = text.slice(at + 1, end);
			at = end + 1;
			const next = skipSpace(text, at);
			if (text.charCodeAt(next) === 0x3a) {
				at = next + 1;
				key = string;
			} else {
				if (envelope === depth && words.eventKeys.includes(key)) {
					const event = string.toLowerCase();
					if (Object.hasOwn(words.events, event)) found.event ??= words.events[event];
				}
				if (envelope === depth && words.wordKeys.includes(key)) {
					if (Object.hasOwn(words.grpcNames, string)) found.grpc ??= words.grpcNames[string];
					if (Object.hasOwn(words.errorTypes, string)) found.kind ??= words.errorTypes[string];
				}
				key = "";
			}
		} else if ((code >= 0x30 && code <= 0x39) || code === 0x2d) {
			SCALAR.lastIndex = at;
			const scalar = SCALAR.exec(text)?.[0] ?? "";
			if (envelope === depth && words.statusKeys.includes(key) && /^[45][0-9][0-9]$/.test(scalar))
				found.number ??= Number(scalar);
			key = "";
			at += scalar.length;
		} else at++;
	}
	return found;
}
