/**
 * Repairs of requests whose reasoning is sealed, for the APIs other than anthropic-messages. As there, a payload with
 * nothing to change is returned as it was, the same object, and only what changes is copied.
 */

import { isObject, type Json } from "./strip.ts";

/** The list with each entry changed; the same list if none is. `undefined` takes an entry out. */
function mapChanged(list: readonly unknown[], change: (entry: unknown) => unknown): readonly unknown[] {
	let result: unknown[] | undefined;
	for (let index = 0; index < list.length; index++) {
		const changed = change(list[index]);
		if (changed !== list[index]) result ??= list.slice(0, index);
		if (result && changed !== undefined) result.push(changed);
	}
	return result ?? list;
}

/** The payload with the list under `key` changed, or the payload itself. */
function withList(payload: unknown, key: string, change: (entry: unknown) => unknown): unknown {
	if (!isObject(payload) || !Array.isArray(payload[key])) return payload;
	const changed = mapChanged(payload[key], change);
	return changed === payload[key] ? payload : { ...payload, [key]: changed };
}

/** Responses APIs: reasoning items out of `input`, and the ids of the model's items, which belong to them. */
export function unlink(payload: unknown): unknown {
	return withList(payload, "input", (item) => {
		if (!isObject(item)) return item;
		if (item.type === "reasoning") return undefined;
		const isModels = item.role === "assistant" || (typeof item.type === "string" && item.type.endsWith("_call"));
		if (!isModels || !("id" in item)) return item;
		const { id: _id, ...rest } = item;
		return rest;
	});
}

/** Google's documented placeholder for signatures that are not to be had. */
const PLACEHOLDER = "skip_thought_signature_validator";

/** Google: the placeholder on calls that lack a signature, or with `all` in place of every signature of a call. */
export function sign(payload: unknown, all: boolean): unknown {
	return withList(payload, "contents", (content) => {
		if (!isObject(content) || content.role !== "model") return content;
		return withList(content, "parts", (part) => {
			if (!isObject(part)) return part;
			const { thoughtSignature } = part;
			if (isObject(part.functionCall)) {
				const keep = all ? thoughtSignature === PLACEHOLDER : Boolean(thoughtSignature);
				return keep ? part : { ...part, thoughtSignature: PLACEHOLDER };
			}
			if (!all || thoughtSignature === undefined) return part;
			const { thoughtSignature: _wrong, ...rest } = part;
			// What is left of a part that was nothing but a signature says nothing.
			return rest.text === "" ? undefined : rest;
		});
	});
}

/** Mistral's requests pass the hook in their SDK's words. */
function hasCalls({ tool_calls, toolCalls }: Json): boolean {
	const calls = tool_calls ?? toolCalls;
	return Array.isArray(calls) && calls.length > 0;
}

/** Completions: an empty `reasoning_content` on assistant messages with calls that have none. */
export function fill(payload: unknown): unknown {
	return withList(payload, "messages", (message) => {
		if (!isObject(message) || message.role !== "assistant" || !hasCalls(message)) return message;
		return typeof message.reasoning_content === "string" ? message : { ...message, reasoning_content: "" };
	});
}

const REASONING_FIELDS = ["reasoning", "reasoning_content", "reasoning_text", "reasoning_details"];

/** Completions and Mistral: the reasoning of assistant messages left out. */
export function omit(payload: unknown): unknown {
	return withList(payload, "messages", (message) => {
		if (!isObject(message) || message.role !== "assistant") return message;
		let result: Json = message;
		if (REASONING_FIELDS.some((field) => field in message))
			result = Object.fromEntries(Object.entries(message).filter(([key]) => !REASONING_FIELDS.includes(key)));
		const isThinking = (chunk: unknown) => isObject(chunk) && chunk.type === "thinking";
		if (!Array.isArray(message.content) || !message.content.some(isThinking)) return result;
		const content = message.content.filter((chunk) => !isThinking(chunk));
		// A message that was nothing but thinking has no content; with calls that is allowed, without them it goes.
		if (content.length > 0) return { ...result, content };
		return hasCalls(message) ? { ...result, content: "" } : undefined;
	});
}

/** Completions: `reasoning_details` out, and an empty `reasoning_content` on calls that have none. */
export function unseal(payload: unknown): unknown {
	const open = withList(payload, "messages", (message) => {
		if (!isObject(message) || message.role !== "assistant" || !("reasoning_details" in message)) return message;
		const { reasoning_details: _sealed, ...rest } = message;
		return rest;
	});
	return fill(open);
}
