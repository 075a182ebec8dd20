/** Makes the request that a plan asks for. `sealed.ts` and `strip.ts` hold what is done to each API's payload. */

import type { Sent } from "./memory.ts";
import { fill, omit, sign, unlink, unseal } from "./sealed.ts";
import { isObject, stripThinking, switchOff } from "./strip.ts";

/** The payload in the planned form; the same object where there is nothing to change. */
export function prepare(payload: unknown, { form, off }: Sent, cannotBeOff = false): unknown {
	const sent = off ? switchOff(payload, cannotBeOff) : payload;
	switch (form) {
		case "plain":
			return sent;
		case "text":
			return stripThinking(sent, true);
		case "none":
			return stripThinking(sent, false);
		case "unlinked":
			return unlink(sent);
		case "signed":
			return sign(sent, false);
		case "replaced":
			return sign(sent, true);
		case "filled":
			return fill(sent);
		case "omitted":
			return omit(sent);
		case "unsealed":
			return unseal(sent);
	}
}

/** The Responses APIs take no smaller limit: pi asks them for this many tokens where it wants one. */
const LEAST_RESPONSE = 16;

/** Requests of one token keep a cache warm and have no turn. */
export function isPing(payload: unknown): boolean {
	if (!isObject(payload)) return false;
	const { max_output_tokens, max_completion_tokens, max_tokens, maxTokens } = payload;
	if (typeof max_output_tokens === "number") return max_output_tokens <= LEAST_RESPONSE;
	const config = payload.config ?? payload.generationConfig;
	const limit = max_completion_tokens ?? max_tokens ?? maxTokens ?? (isObject(config) && config.maxOutputTokens);
	return typeof limit === "number" && limit <= 1;
}
