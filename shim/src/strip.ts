/**
 * Takes replayed thinking out of an anthropic-messages payload, without touching anything else. Every function returns
 * the payload it was given, the same object, where there is nothing to change; what it changes it copies, and messages
 * without thinking stay the very objects they were.
 *
 * Only `messages[role=assistant].content[]` is looked at. A tool input may well have a key called `signature`.
 */

export type Json = Record<string, unknown>;

export function isObject(value: unknown): value is Json {
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

/** Two turns as one, if they have the same role. Of fields that both have, the later turn's word counts. */
function join(first: unknown, second: unknown): Json | undefined {
	if (!isObject(first) || !isObject(second) || first.role !== second.role) return undefined;
	const before = asBlocks(first.content);
	const after = asBlocks(second.content);
	return before && after && { ...first, ...second, content: [...before, ...after] };
}

/** A marker that sets the effort of the assistant turn behind it and says nothing else. */
function isMarker(message: unknown): boolean {
	return (
		isObject(message) &&
		message.role === "system" &&
		"output_config" in message &&
		asBlocks(message.content)?.length === 0
	);
}

function isSystem(message: unknown): boolean {
	return isObject(message) && message.role === "system";
}

function stripMessages(messages: readonly unknown[], keepText: boolean): unknown[] | undefined {
	let result: unknown[] | undefined;
	/** Instructions that stood before a turn that fell away; they have to stand before the next one. */
	let homeless: unknown[] = [];
	let dropped = false;
	for (let index = 0; index < messages.length; index++) {
		let message = messages[index];
		const isAssistant = isObject(message) && message.role === "assistant";
		if (isObject(message) && isAssistant && Array.isArray(message.content) && message.content.some(isThinking)) {
			const content = message.content.flatMap((block) => stripBlock(block, keepText));
			result ??= messages.slice(0, index);
			if (content.length === 0) {
				while (isSystem(result.at(-1))) {
					const before = result.pop();
					if (!isMarker(before)) homeless.unshift(before);
				}
				dropped = true;
				continue;
			}
			message = { ...message, content };
		}
		if (!result) continue;
		if (isAssistant || (isSystem(message) && homeless.length > 0)) {
			result.push(...homeless);
			homeless = [];
		}
		// Where a whole turn fell away its neighbours have the same role, and roles have to alternate.
		const joined = dropped ? join(result.at(-1), message) : undefined;
		if (joined) result[result.length - 1] = joined;
		else result.push(message);
		if (!isSystem(message)) dropped = false;
	}
	result?.push(...homeless);
	return result;
}

/** Earlier thinking with text becomes a text block in its place, or goes too; redacted and empty thinking goes. */
export function stripThinking(payload: unknown, keepText: boolean): unknown {
	if (!isObject(payload) || !Array.isArray(payload.messages)) return payload;
	const messages = stripMessages(payload.messages, keepText);
	return messages ? { ...payload, messages } : payload;
}

/** Whether a request continues a tool turn: its last word is a tool's result. */
export function isOpenTurn(payload: unknown): boolean {
	if (!isObject(payload) || !Array.isArray(payload.messages)) return false;
	for (let index = payload.messages.length - 1; index >= 0; index--) {
		const message = payload.messages[index];
		if (!isObject(message) || message.role === "assistant") return false;
		const isResult = (block: unknown) => isObject(block) && block.type === "tool_result";
		if (message.role === "user" && Array.isArray(message.content) && message.content.some(isResult)) return true;
	}
	return false;
}

/**
 * Switches thinking off, as pi itself would send the request: without effort, and `disabled` where the endpoint takes
 * that (`cannotBeOff`: pi leaves the parameter out). A request without thinking, or with it off, stays as it is.
 */
export function switchOff(payload: unknown, cannotBeOff: boolean): unknown {
	if (!isObject(payload)) return payload;
	const { thinking, output_config: config, messages } = payload;
	if (!isObject(thinking) || thinking.type === "disabled") return payload;
	const off: Json = { ...payload, thinking: { type: "disabled" } };
	if (cannotBeOff) delete off.thinking;
	if (isObject(config)) {
		const { effort: _effort, ...others } = config;
		off.output_config = others;
		if (Object.keys(others).length === 0) delete off.output_config;
	}
	if (Array.isArray(messages) && messages.some(isMarker))
		off.messages = messages.filter((message) => !isMarker(message));
	return off;
}
