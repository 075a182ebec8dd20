/** The user's own wordings: what of a failure is kept by `/retry-forced add-last`, and how it is found again. */

import { STATUS_CODES } from "node:http";

/** A longer one would hardly be met again. */
const LONGEST = 200;
const SHORTEST = 8;

/** The part of an error text, its ids cut out, that says what failed: the longest stretch of its message without figures. */
export function wordingOf(text: string): string {
	const message = /"message"\s*:\s*"((?:[^"\\]|\\.)+)"/s.exec(text.slice(0, 20_000))?.[1];
	const bare = message ?? text.slice(0, 20_000).replace(/^[^{"\n]{0,60}?\b[45]\d\d\b[):,]*\s*/, "");
	// Dates, account numbers and other ids differ the next time.
	const parts = bare.split(/\n|\S*\d{2,}\S*|\S*\d\S*\d\S*/).map((part) => part.trim());
	const longest = parts.reduce((best, part) => (part.length > best.length ? part : best), "");
	return longest.length <= LONGEST ? longest : longest.slice(0, LONGEST).replace(/\s+\S*$/, "");
}

const REASONS = new Set(Object.values(STATUS_CODES).map((reason) => reason?.toLowerCase()));

/** Why a failure's wording cannot be kept; undefined where it can. */
export function refusal(text: string, wording: string): string | undefined {
	const bare = wording.toLowerCase().replace(/^[^a-z]+|[^a-z]+$/g, "");
	if (/<!doctype|<html|<head|<body/i.test(text)) return "it is a web page, not an error that a provider wrote";
	if (/status code \(no body|^no body$/.test(bare) || REASONS.has(bare))
		return "its text names nothing but a status, which many different failures share";
	if (!/[a-z]{3}|\p{L}{2}/iu.test(wording) || wording.length < SHORTEST)
		return "its text is too short to tell it from others";
	return undefined;
}

/** As it is kept: with the status it was seen with, so that it counts for that one only. */
export function entryOf(wording: string, status: number | null): string {
	return status === null ? wording : `HTTP ${status}: ${wording}`;
}

/** Whether an entry names a failure; `text` in lower case, its ids cut out. */
export function isNamed(entry: string, text: string, status: number | null): boolean {
	const bound = /^HTTP ([45]\d\d): (.+)$/s.exec(entry);
	if (bound && Number(bound[1]) === status && text.includes(bound[2].toLowerCase())) return true;
	return text.includes(entry.toLowerCase());
}
