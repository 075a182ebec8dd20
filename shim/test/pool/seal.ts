/** Seals of a pool's accounts: what one account issued, no other accepts. */

import { createHash } from "node:crypto";

const DIGEST = 24;

function digest(account: string, content: string): string {
	return createHash("sha256").update(`${account}\n${content}`).digest("hex").slice(0, DIGEST);
}

/** A seal of this account over a content. */
export function seal(account: string, content: string): string {
	// pi replays only what is base64.
	return `SEAL${digest(account, content)}`;
}

/** Whether this account issued this seal for this content. */
export function isSealedBy(account: string, value: unknown, content: string): boolean {
	return value === seal(account, content);
}

export type Json = Record<string, unknown>;

export function isObject(value: unknown): value is Json {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function listOf(value: unknown): Json[] {
	return Array.isArray(value) ? value.filter(isObject) : [];
}

/** What a provider refuses a request with; a refusal is an answer, not a failure. */
export interface Refusal {
	message: string;
	code?: string;
	/** The model's own refusal, in a successful answer. */
	byModel?: boolean;
}

/** What the model does next: so many tool steps for the last prompt were done, so many are wanted. */
export interface Progress {
	prompt: string;
	wanted: number;
	done: number;
}

/** How many tool steps a prompt asks for: `steps=3`. */
export function stepsIn(prompt: string): number {
	return Number(/steps=(\d+)/.exec(prompt)?.[1] ?? 0);
}
