/** Answers without any content, which pi takes for a success. Loaded only where `"empty"` is on. */

import type { FailedMessage } from "./host.ts";

/** What to call an answer that holds neither visible text nor a tool call; undefined for any other. */
export function emptyAnswer(message: FailedMessage): string | undefined {
	if (!Array.isArray(message.content)) return undefined;
	const blocks = message.content as { type?: unknown; text?: unknown }[];
	const isEmpty = blocks.every(
		({ type, text }) => type === "thinking" || (type === "text" && !/\S/.test(String(text))),
	);
	return isEmpty
		? `empty answer: the turn ended with "${message.stopReason}" and neither text nor tool call`
		: undefined;
}

/** Whether the turn answered tool results: after those an empty answer can be meant. */
export function isAfterToolResults(entries: readonly { type: string; message?: unknown }[]): boolean {
	for (let at = entries.length - 1; at >= 0; at--) {
		const { role, stopReason } = (entries[at].message ?? {}) as { role?: unknown; stopReason?: unknown };
		if (entries[at].type !== "message" || (role === "assistant" && stopReason === "error")) continue;
		return role === "toolResult";
	}
	return false;
}
