/** The Messages API: what it refuses, and its streamed answer. */

import { type Desk, type Dialect, type Json, list, type Refusal, refuse, textOf } from "./rules.ts";

const isThinking = (block: Json) => block.type === "thinking" || block.type === "redacted_thinking";
const blocksOf = (message: Json): Json[] =>
	typeof message.content === "string" ? [{ type: "text", text: message.content }] : list(message.content);
const isResults = (message: Json | undefined) =>
	message !== undefined && blocksOf(message).some((block) => block.type === "tool_result");
const keysOf = (blocks: Json[]) => [
	...blocks.filter((block) => block.type === "tool_use").map((block) => String(block.id)),
	...blocks.filter((block) => block.type === "text").map((block) => String(block.text)),
];
const conversationOf = (body: Json) => textOf(list(body.messages)[0]?.content);

function checkShape(messages: Json[], desk: Desk): Refusal | undefined {
	if (messages.length === 0) return refuse("no-messages", "messages: at least one message is required");
	let before: unknown;
	for (const [at, message] of messages.entries()) {
		const next = messages[at + 1];
		if (message.role === "system") {
			if (next !== undefined && next.role !== "assistant" && next.role !== "system")
				return refuse("system-marker", `messages.${at}: role 'system' must precede an 'assistant' message`);
			if (blocksOf(message).length === 0 && message.output_config === undefined)
				return refuse("empty-content", `messages.${at}: system messages must have content or output_config`);
			continue;
		}
		if (message.role !== "user" && message.role !== "assistant")
			return refuse("role", `messages.${at}.role: Input should be 'user', 'assistant' or 'system'`);
		if (before === undefined && message.role !== "user")
			return refuse("first-role", 'messages: first message must use the "user" role');
		if (desk.rules.alternation && before === message.role)
			return refuse(
				"alternation",
				`messages: roles must alternate between "user" and "assistant", but found multiple "${before}" roles in a row`,
			);
		before = message.role;
		const blocks = blocksOf(message);
		const isLastAssistant = message.role === "assistant" && at === messages.length - 1;
		if (blocks.length === 0 && !isLastAssistant)
			return refuse(
				"empty-content",
				`messages.${at}: all messages must have non-empty content except for the optional final assistant message`,
			);
		for (const [index, block] of blocks.entries()) {
			const place = `messages.${at}.content.${index}`;
			if (block.type === "text") {
				if (typeof block.text !== "string") return refuse("text", `${place}.text.text: Field required`);
				if (block.text === "") return refuse("blank-text", `messages: text content blocks must be non-empty`);
				if (block.text.trim() === "")
					return refuse("blank-text", `messages: text content blocks must contain non-whitespace text`);
			}
			if (isThinking(block) && block.cache_control !== undefined)
				return refuse("cache-control", `${place}.${block.type}.cache_control: Extra inputs are not permitted`);
			if (isThinking(block) && message.role !== "assistant")
				return refuse(
					"thinking-role",
					`${place}: \`${block.type}\` blocks are only allowed in assistant messages`,
				);
		}
		const uses = blocks.filter((block) => block.type === "tool_use").map((block) => block.id);
		if (message.role === "assistant" && uses.length > 0) {
			const following = messages.slice(at + 1).find((other) => other.role !== "system");
			const results = following ? blocksOf(following).map((block) => block.tool_use_id) : [];
			const open = uses.filter((id) => !results.includes(id));
			if (open.length > 0)
				return refuse(
					"tool-pair",
					`messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
				);
			if (next?.role === "system")
				return refuse("tool-pair", `messages.${at + 1}: \`tool_result\` blocks must follow their \`tool_use\``);
		}
		if (message.role === "user") {
			const results = blocks.filter((block) => block.type === "tool_result");
			const asked = blocksOf(messages[at - 1] ?? {}).map((block) => block.id);
			const stray = results.find((block) => !asked.includes(block.tool_use_id));
			if (stray)
				return refuse(
					"tool-pair",
					`messages.${at}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray.tool_use_id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
				);
		}
	}
	return undefined;
}

function checkThinking(body: Json, messages: Json[], desk: Desk): Refusal | undefined {
	const { rules, vault, account } = desk;
	const last = messages.findLastIndex((message) => message.role === "assistant");
	for (const [at, message] of messages.entries()) {
		if (message.role !== "assistant") continue;
		const blocks = blocksOf(message);
		for (const [index, block] of blocks.entries()) {
			const place = `messages.${at}.content.${index}`;
			if (block.type === "thinking") {
				if (block.signature === undefined)
					return refuse("signature-missing", `${place}.thinking.signature: Field required`);
				if (typeof block.signature !== "string")
					return refuse(
						"signature-missing",
						`${place}.thinking.signature.str: Input should be a valid string`,
					);
				if (!vault.accepts(rules, block.signature, account, String(block.thinking)))
					return refuse("signature", `${place}: Invalid \`signature\` in \`thinking\` block`);
				const seal = vault.seal(block.signature);
				if (rules.bound && seal && seal.conversation !== conversationOf(body))
					return refuse(
						"bound",
						`${place}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation and cannot be used here.`,
					);
			}
			if (block.type === "redacted_thinking" && !vault.accepts(rules, block.data, account))
				return refuse("signature", `${place}: Invalid \`data\` in \`redacted_thinking\` block`);
		}
		if (at !== last) continue;
		const sealed = blocks.filter(isThinking);
		const issued = vault.issued(keysOf(blocks));
		if (sealed.length > 0 && issued !== undefined && JSON.stringify(sealed) !== issued)
			return refuse(
				"modified",
				`messages.${at}.content.0: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`,
			);
		const isOpen = isResults(messages.slice(at + 1).find((other) => other.role === "user"));
		const isEnabled = (body.thinking as Json | undefined)?.type === "enabled";
		const first = blocks[0];
		if (rules.openTurn && isOpen && isEnabled && first && !isThinking(first))
			return refuse(
				"expected-thinking",
				`messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first.type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`.`,
			);
	}
	return undefined;
}

export const anthropic: Dialect = {
	check(body, desk) {
		const messages = list(body.messages);
		if (typeof body.max_tokens !== "number") return refuse("max-tokens", "max_tokens: Field required");
		const thinking = body.thinking as Json | undefined;
		if (thinking?.type === "enabled" && !(Number(thinking.budget_tokens) < body.max_tokens))
			return refuse("budget", "`max_tokens` must be greater than `thinking.budget_tokens`");
		if (thinking?.type === "disabled" && messages.some((message) => message.output_config !== undefined))
			return refuse("effort", "output_config: effort cannot change between messages while thinking is disabled");
		return checkShape(messages, desk) ?? checkThinking(body, messages, desk);
	},

	situation(body) {
		const messages = list(body.messages).filter((message) => message.role !== "system");
		const at = messages.findLastIndex((message) => message.role === "user" && !isResults(message));
		const type = (body.thinking as Json | undefined)?.type;
		return {
			prompt: textOf(messages[at]?.content),
			done: messages
				.slice(at + 1)
				.flatMap(blocksOf)
				.filter((block) => block.type === "tool_result").length,
			tools: list(body.tools).map((tool) => String(tool.name)),
			thinking: type === "enabled" || type === "adaptive",
		};
	},

	answer(body, said, desk) {
		const { vault, account, rules } = desk;
		const conversation = conversationOf(body);
		const replayed = list(body.messages).filter((message) => message.role === "assistant");
		const isShown = replayed
			.flatMap(blocksOf)
			.some((block) => block.type === "text" && vault.shows(String(block.text)));
		const refusal = said.refusal ?? (rules.refuseVisibleReasoning && isShown ? "reasoning_extraction" : undefined);
		const blocks: Json[] = [];
		if (refusal === undefined) {
			for (const thinking of said.thinking)
				blocks.push({ type: "thinking", thinking, signature: vault.issue(account, thinking, conversation) });
			if (said.redacted) blocks.push({ type: "redacted_thinking", data: vault.issue(account, "", conversation) });
			if (said.text !== "") blocks.push({ type: "text", text: said.text });
			for (const call of said.calls) blocks.push({ type: "tool_use", id: vault.id("toolu_"), ...call });
			vault.remember(keysOf(blocks), blocks.filter(isThinking));
		}
		return events(body, blocks, refusal, vault.id("msg_"));
	},
};

function events(body: Json, blocks: Json[], refusal: string | undefined, id: string): { event: string; data: Json }[] {
	const usage = { input_tokens: Math.ceil(JSON.stringify(body).length / 4), output_tokens: 1 };
	const message = {
		id,
		type: "message",
		role: "assistant",
		model: body.model,
		content: [],
		stop_reason: null,
		usage,
	};
	const made: Json[] = [{ type: "message_start", message }];
	for (const [index, block] of blocks.entries()) {
		const [start, deltas] = opened(block);
		made.push({ type: "content_block_start", index, content_block: start });
		for (const delta of deltas) made.push({ type: "content_block_delta", index, delta });
		made.push({ type: "content_block_stop", index });
	}
	const isCalling = blocks.some((block) => block.type === "tool_use");
	const delta: Json = { stop_reason: refusal ? "refusal" : isCalling ? "tool_use" : "end_turn" };
	if (refusal) delta.stop_details = { type: "refusal", category: refusal, explanation: null };
	made.push({ type: "message_delta", delta, usage: { output_tokens: 20 } }, { type: "message_stop" });
	return made.map((data) => ({ event: String(data.type), data }));
}

function opened(block: Json): [start: Json, deltas: Json[]] {
	if (block.type === "text") return [{ type: "text", text: "" }, [{ type: "text_delta", text: block.text }]];
	if (block.type === "thinking")
		return [
			{ type: "thinking", thinking: "", signature: "" },
			[
				{ type: "thinking_delta", thinking: block.thinking },
				{ type: "signature_delta", signature: block.signature },
			],
		];
	if (block.type === "tool_use")
		return [{ ...block, input: {} }, [{ type: "input_json_delta", partial_json: JSON.stringify(block.input) }]];
	return [block, []];
}
