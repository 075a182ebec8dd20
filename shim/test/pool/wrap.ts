/** What relays make of a provider's refusal: their bodies, their ids, and the statuses they hide it behind. */

import type { Random } from "../random.ts";
import type { Json, Refusal, Wrap } from "./rules.ts";

export interface Failure {
	status: number;
	body: Json | string;
	headers?: Record<string, string>;
}

export const WRAPS: Wrap[] = ["plain", "new-api", "masked", "litellm", "hidden-429", "hidden-500", "hidden-502"];

const LETTERS = [..."0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"];

/** An id as new-api writes it: local time, nanoseconds without padding, eight letters or digits. */
export function requestId(random: Random): string {
	const nanoseconds = random.below(1_000_000_000);
	const tail = Array.from({ length: 8 }, () => random.pick(LETTERS)).join("");
	return `202612${10 + random.below(20)}${10 + random.below(14)}${10 + random.below(50)}${10 + random.below(50)}${nanoseconds}${tail}`;
}

/** The provider's own answer. */
function own(refusal: Refusal, api: string): Failure {
	const status = refusal.status ?? 400;
	const { message, code = null } = refusal;
	if (api === "anthropic")
		return { status, body: { type: "error", error: { type: "invalid_request_error", message } } };
	if (api === "google") return { status, body: { error: { code: status, message, status: "INVALID_ARGUMENT" } } };
	return { status, body: { error: { message, type: "invalid_request_error", param: null, code } } };
}

/** The answer that a client sees. */
export function wrapped(refusal: Refusal, api: string, wrap: Wrap, random: Random): Failure {
	const provider = own(refusal, api);
	const inner = JSON.stringify(provider.body);
	const id = `(request id: ${requestId(random)})`;
	const { message } = refusal;
	const type = "upstream_error";
	switch (wrap) {
		case "plain":
			return provider;
		case "new-api":
			return {
				...provider,
				body: { error: { message: `${message} ${id}`, type, param: "", code: refusal.code ?? null } },
			};
		case "masked": {
			const hidden = message.replace(/^messages\.\d+/, "***.***");
			return {
				status: 400,
				body: { error: { message: `upstream rejected the request: ${hidden} ${id}`, type, code: null } },
			};
		}
		case "litellm":
			return {
				status: 400,
				body: {
					error: {
						message: `litellm.BadRequestError: AnthropicException - ${inner}`,
						type: null,
						param: null,
						code: "400",
					},
				},
			};
		case "hidden-429":
			return {
				status: 429,
				body: {
					error: {
						type: "rate_limit_error",
						message: `All accounts exhausted. Last error: HTTP 400: ${inner}`,
					},
				},
			};
		case "hidden-500":
			return { status: 500, body: { error: { message, type: "INTERNAL_SERVER_ERROR", code: null } } };
		case "hidden-502":
			return {
				status: 502,
				body: { type: "error", error: { type, message: `Upstream request failed: ${message}` } },
			};
	}
}
