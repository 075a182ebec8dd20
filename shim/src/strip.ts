/**
 * Takes replayed thinking out of an anthropic-messages payload, without touching anything else. Both functions return
 * the payload they were given, the same object, where there is nothing to take out; what they change they copy, and
 * messages without thinking stay the very objects they were.
 *
 * Only `messages[role=assistant].content[]` is looked at. A tool input may well have a key called `signature`.
 */

type Json = Record<string, unknown>;

function isObject(value: unknown): value is Json {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isThinking(block: unknown): block is Json {
	return isObject(block) && (block.type === "thinking" || block.type === "redacted_thinking");
}

/** Text blocks without a visible character are refused. */
function isBlank(text: string): boolean {
	return !/\S/.test(text);
}

function stripBlock(block: unknown, keepText: boolean): unknown[] {
	if (!isThinking(block)) return [block];
	const { type, thinking } = block;
	const keep = keepText && type === "thinking" && typeof thinking === "string" && !isBlank(thinking);
	return keep ? [{ type: "text", text: thinking }] : [];
}

/** A turn's content may be a bare string; joined turns need blocks. */
function asBlocks(content: unknown): unknown[] | undefined {
	if (Array.isArray(content)) return content;
	if (typeof content !== "string") return undefined;
	return content === "" ? [] : [{ type: "text", text: content }];
}

/** Two turns as one, if they have the same role. */
function join(first: unknown, second: unknown): Json | undefined {
	if (!isObject(first) || !isObject(second) || first.role !== second.role) return undefined;
	const before = asBlocks(first.content);
	const after = asBlocks(second.content);
	return before && after && { ...first, content: [...before, ...after] };
}

function stripMessages(messages: readonly unknown[], keepText: boolean): unknown[] | undefined {
	let result: unknown[] | undefined;
	let dropped = false;
	for (let index = 0; index < messages.length; index++) {
		let message = messages[index];
		if (isObject(message) && message.role === "assistant" && Array.isArray(message.content)) {
			if (message.content.some(isThinking)) {
				const content = message.content.flatMap((block) => stripBlock(block, keepText));
				result ??= messages.slice(0, index);
				if (content.length === 0) {
					dropped = true;
					continue;
				}
				message = { ...message, content };
			}
		}
		if (!result) continue;
		// Where a whole turn fell away its neighbours have the same role, and roles have to alternate.
		const joined = dropped ? join(result[result.length - 1], message) : undefined;
		if (joined) result[result.length - 1] = joined;
		else result.push(message);
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
