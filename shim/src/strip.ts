/**
 * Takes replayed thinking out of an anthropic-messages payload, without touching anything else. Both functions return
 * the payload they were given, the same object, where there is nothing to take out; what they change they copy, and
 * messages without thinking stay the very objects they were.
 *
 * Only `messages[role=assistant].content[]` is looked at. A tool input may well have a key called `signature`.
 */

type Json = Record<string, unknown>;

/** Anthropic refuses text blocks without a visible character; these are the ones that count as none. */
const VISIBLE = /[^\s\u0085\u001c-\u001f]/;

function isObject(value: unknown): value is Json {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isThinking(block: unknown): block is Json {
	return isObject(block) && (block.type === "thinking" || block.type === "redacted_thinking");
}

/** A user turn's content may be a bare string; joined turns need blocks. */
function asBlocks(content: unknown): unknown[] {
	if (Array.isArray(content)) return content;
	return typeof content === "string" && content !== "" ? [{ type: "text", text: content }] : [];
}

function stripMessages(messages: readonly unknown[], keepText: boolean): unknown[] | undefined {
	let result: unknown[] | undefined;
	let dropped = false;
	for (let index = 0; index < messages.length; index++) {
		const message = messages[index];
		let next = message;
		if (isObject(message) && message.role === "assistant" && Array.isArray(message.content)) {
			if (message.content.some(isThinking)) {
				const content: unknown[] = [];
				for (const block of message.content) {
					if (!isThinking(block)) content.push(block);
					else if (
						keepText &&
						block.type === "thinking" &&
						typeof block.thinking === "string" &&
						VISIBLE.test(block.thinking)
					)
						content.push({ type: "text", text: block.thinking });
				}
				result ??= messages.slice(0, index);
				if (content.length === 0) {
					dropped = true;
					continue;
				}
				next = { ...message, content };
			}
		}
		if (!result) continue;
		const previous = result[result.length - 1];
		// Where a whole turn fell away its neighbours have the same role, and roles have to alternate.
		if (dropped && isObject(previous) && isObject(next) && previous.role === next.role)
			result[result.length - 1] = { ...previous, content: [...asBlocks(previous.content), ...asBlocks(next.content)] };
		else result.push(next);
		dropped = false;
	}
	return result;
}

function withMessages(payload: unknown, keepText: boolean): unknown {
	if (!isObject(payload) || !Array.isArray(payload.messages)) return payload;
	const messages = stripMessages(payload.messages, keepText);
	return messages ? { ...payload, messages } : payload;
}

/** Thinking with text becomes a text block in its place; redacted and empty thinking goes. No signature remains. */
export function stripThinking(payload: unknown): unknown {
	return withMessages(payload, true);
}

/** The second remedy: all thinking blocks go, text and all, and thinking is switched off for this request. */
export function dropThinking(payload: unknown): unknown {
	const stripped = withMessages(payload, false);
	if (!isObject(stripped) || !("thinking" in stripped)) return stripped;
	const { thinking: _off, ...rest } = stripped;
	return rest;
}
