/** Makes the request that a plan asks for. `sealed.ts` and `strip.ts` hold what is done to each API's payload. */

import type { Sent } from "./memory.ts";
import { fill, omit, sign, unlink } from "./sealed.ts";
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
	}
}

/** Requests of one token keep a cache warm and have no turn. */
export function isPing(payload: unknown): boolean {
	if (!isObject(payload)) return false;
	const config = isObject(payload.config) ? payload.config : {};
	const limit =
		payload.max_tokens ?? payload.max_completion_tokens ?? payload.max_output_tokens ?? config.maxOutputTokens;
	return typeof limit === "number" && limit <= 1;
}
