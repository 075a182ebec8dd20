/** Chat completions as DeepSeek and its kin serve them: what is refused, and the streamed answer. */

import { type Dialect, type Json, list, refuse, textOf } from "./rules.ts";

const callsOf = (message: Json) => list(message.tool_calls);
const isThinking = (body: Json) => (body.thinking as Json | undefined)?.type !== "disabled";
const MISSING = "The `reasoning_content` in the thinking mode must be passed back to the API.";

export const completions: Dialect = {
	check(body, { rules, vault, account }) {
		const messages = list(body.messages);
		if (messages.length === 0) return refuse("no-messages", "Empty input messages");
		for (const [at, message] of messages.entries()) {
			if (message.role === "assistant") {
				const ids = callsOf(message).map((call) => call.id);
				if (ids.length === 0 && textOf(message.content).trim() === "")
					return refuse("empty-content", "Invalid assistant message: content or tool_calls must be set");
				const answers: unknown[] = [];
				for (let next = at + 1; messages[next]?.role === "tool"; next++)
					answers.push(messages[next].tool_call_id);
				const open = ids.filter((id) => !answers.includes(id));
				if (open.length > 0)
					return refuse(
						"tool-pair",
						`An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(", ")}`,
					);
				if (
					rules.passBack &&
					ids.length > 0 &&
					isThinking(body) &&
					typeof message.reasoning_content !== "string"
				)
					return refuse("pass-back", MISSING, { code: "invalid_request_error" });
				for (const detail of list(message.reasoning_details))
					if (detail.type === "reasoning.encrypted" && !vault.accepts(rules, detail.data, account))
						return refuse(
							"signature",
							`messages.${at}.reasoning_details: reasoning \`encrypted_content\` was not issued to this caller`,
						);
			}
			if (message.role === "tool") {
				let owner = at - 1;
				while (messages[owner]?.role === "tool") owner--;
				const isAsked = callsOf(messages[owner] ?? {}).some((call) => call.id === message.tool_call_id);
				if (!isAsked)
					return refuse(
						"tool-pair",
						"Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
					);
			}
			if (message.role === "user" && textOf(message.content).trim() === "")
				return refuse("blank-text", `messages[${at}].content: must not be blank`);
		}
		return undefined;
	},

	situation(body) {
		const messages = list(body.messages);
		const at = messages.findLastIndex((message) => message.role === "user");
		return {
			prompt: textOf(messages[at]?.content),
			done: messages.slice(at + 1).filter((message) => message.role === "tool").length,
			tools: list(body.tools).map((tool) => String((tool.function as Json | undefined)?.name)),
			thinking: isThinking(body),
		};
	},

	answer(body, said, { vault, account, rules }) {
		const base = { id: vault.id("chatcmpl-"), object: "chat.completion.chunk", created: 1, model: body.model };
		const chunk = (delta: Json, finish: string | null, more: Json = {}) => ({
			event: "",
			data: { ...base, choices: [{ index: 0, delta, finish_reason: finish }], ...more },
		});
		const made = [chunk({ role: "assistant", content: "" }, null)];
		const reasoning = said.thinking.join("\n");
		if (reasoning !== "" && rules.reasoningDetails) {
			const data = vault.issue(account, reasoning, "");
			made.push(
				chunk(
					{
						reasoning,
						reasoning_details: [
							{
								type: "reasoning.encrypted",
								data,
								id: vault.id("rs_"),
								format: "openai-responses-v1",
								index: 0,
							},
						],
					},
					null,
				),
			);
		} else if (reasoning !== "" && rules.thinkingChunks) {
			const thinking = { type: "thinking", thinking: [{ type: "text", text: reasoning }] };
			made.push(chunk({ content: [thinking] }, null));
		} else if (reasoning !== "") made.push(chunk({ reasoning_content: reasoning }, null));
		if (said.text !== "") made.push(chunk({ content: said.text }, null));
		for (const [index, call] of said.calls.entries()) {
			const called = { name: call.name, arguments: JSON.stringify(call.input) };
			made.push(
				chunk({ tool_calls: [{ index, id: vault.id("call_"), type: "function", function: called }] }, null),
			);
		}
		const tokens = Math.ceil(JSON.stringify(body).length / 4);
		const usage = { prompt_tokens: tokens, completion_tokens: 20, total_tokens: tokens + 20 };
		made.push(chunk({}, said.calls.length > 0 ? "tool_calls" : "stop", { usage }));
		return made;
	},
};
