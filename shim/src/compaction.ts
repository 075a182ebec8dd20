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

export class CompactionGuard {
	#remove?: () => void;

	/** Puts the wrapper in. `convert` decides over a failed answer, given its status and body. */
	start(model: Endpoint, convert: (status: number, body: string) => boolean): void {
		this.stop();
		const original = globalThis.fetch;
		let active = true;
		const wrapper: Fetch = async (input, init) => {
			const response = await original(input, init);
			try {
				const { status, headers } = response;
				if (!active || status < 400 || KNOWN_TO_PI.includes(status) || !isShortBody(headers)) return response;
				const url = new URL(input instanceof Object && "url" in input ? input.url : String(input));
				if (headers.get("x-should-retry") === "false" || !isSentTo(model, url.origin, url.pathname))
					return response;
				const body = await response.clone().text();
				if (!convert(status, body)) return response;
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
		this.#remove = () => {
			active = false;
			// If another extension has wrapped it since, only that one may take itself out; this one just stops acting.
			if (globalThis.fetch === wrapper) globalThis.fetch = original;
		};
	}

	stop(): void {
		this.#remove?.();
		this.#remove = undefined;
	}
}
