/**
 * Compaction calls the model past every hook that could rewrite its failure, but it goes through `fetch`. While one
 * runs, a failed answer from the model's own endpoint that deserves another attempt, and that pi would give up on, is
 * handed to pi as a 503 with the same body; pi's own retry of summaries does the rest.
 */

import { type Endpoint, isSentTo } from "./wire.ts";

type Fetch = typeof globalThis.fetch;

/** Statuses that every pi which retries summaries retries by their number. */
const KNOWN_TO_PI = [429, 500, 502, 503, 504];
/** A failure's body is short. What is longer, or streams, is nobody's business. */
const LONGEST_BODY = 256 * 1024;

function isShortBody(headers: Headers): boolean {
	return (
		Number(headers.get("content-length") ?? 0) <= LONGEST_BODY &&
		!headers.get("content-type")?.includes("event-stream")
	);
}

/** How every pi that this works in begins the instructions of a summary: no turn of any session sends that. */
const SUMMARY = "You are a context summarization assistant";

/** Whether a call asks for a summary. A body that cannot be read without taking it away is not looked at. */
function isSummary(init: RequestInit | undefined): boolean {
	return typeof init?.body !== "string" || init.body.includes(SUMMARY);
}

interface Guard {
	/** Where a summary's call can go: one model, or where that is virtual any relay's. */
	models: readonly Endpoint[];
	convert: (status: number, body: string) => boolean;
}

/**
 * One wrapper for all sessions of this process, there only while one of them compacts. Each session loads a copy of this
 * module, so what they share stands outside of it.
 */
const SHARED = Symbol.for("pi-retry-forced.guards");
const process = globalThis as { [SHARED]?: { guards: Set<Guard>; remove?: () => void } };
process[SHARED] ??= { guards: new Set() };
const shared = process[SHARED];
const { guards } = shared;

function wrap(): void {
	const original = globalThis.fetch;
	const wrapper: Fetch = async (input, init) => {
		const response = await original(input, init);
		try {
			const { status, headers } = response;
			if (guards.size === 0 || status < 400 || KNOWN_TO_PI.includes(status) || !isShortBody(headers))
				return response;
			if (headers.get("x-should-retry") === "false" || !isSummary(init)) return response;
			const url = new URL(input instanceof Object && "url" in input ? input.url : String(input));
			const guard = [...guards].find(({ models }) =>
				models.some((model) => isSentTo(model, url.origin, url.pathname)),
			);
			if (!guard) return response;
			const body = await response.clone().text();
			if (!guard.convert(status, body)) return response;
			const sent = new Headers(headers);
			// The body is unpacked by now.
			sent.delete("content-encoding");
			sent.delete("content-length");
			return new Response(body, { status: 503, statusText: "Service Unavailable", headers: sent });
		} catch {
			return response;
		}
	};
	globalThis.fetch = wrapper;
	shared.remove = () => {
		// If another extension has wrapped it since, only that one may take itself out; this one just stops acting.
		if (globalThis.fetch === wrapper) globalThis.fetch = original;
	};
}

export class CompactionGuard {
	#guard?: Guard;

	/** Puts the wrapper in. `convert` decides over a failed answer, given its status and body. */
	start(models: readonly Endpoint[], convert: (status: number, body: string) => boolean): void {
		this.stop();
		this.#guard = { models, convert };
		if (guards.size === 0) wrap();
		guards.add(this.#guard);
	}

	stop(): void {
		if (!this.#guard || !guards.delete(this.#guard)) return;
		this.#guard = undefined;
		if (guards.size > 0) return;
		shared.remove?.();
		shared.remove = undefined;
	}
}
