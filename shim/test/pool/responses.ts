/** The Responses API without storage: what it refuses, and its streamed answer. */

import { type Desk, type Dialect, type Json, list, type Refusal, refuse, textOf } from "./rules.ts";

const PREFIX: Record<string, string> = { reasoning: "rs", function_call: "fc", message: "msg" };
const isPlain = (item: Json) => item.type === undefined || item.type === "message";

function checkItem(item: Json, at: number, input: Json[], desk: Desk): Refusal | undefined {
	const { rules, vault, account } = desk;
	const id = item.id === undefined || item.id === null ? undefined : String(item.id);
	const prefix = PREFIX[String(item.type)];
	if (id !== undefined && prefix && !id.startsWith(prefix))
		return refuse("item-id", `Invalid 'input[${at}].id': '${id}'. Expected an ID that begins with '${prefix}'.`, {
			code: "invalid_value",
		});
	if (id !== undefined && input.findIndex((other) => other.id === id) !== at)
		return refuse(
			"duplicate",
			`Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
		);
	if (item.type === "reasoning") {
		const sealed = item.encrypted_content;
		if (sealed === undefined || sealed === null)
			return refuse(
				"item-missing",
				`Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
				{ status: 404 },
			);
		if (!vault.accepts(rules, sealed, account))
			return foreign(id, String(sealed), vault.seal(sealed) !== undefined);
		const next = input[at + 1];
		if (next === undefined || next.type === "function_call_output" || (isPlain(next) && next.role !== "assistant"))
			return refuse(
				"reasoning-alone",
				`Item '${id}' of type 'reasoning' was provided without its required following item.`,
			);
	}
	const owner = id === undefined ? undefined : desk.vault.owners.get(id);
	if (owner !== undefined && !input.some((other) => other.id === owner))
		return refuse(
			"item-alone",
			`Item '${id}' of type '${item.type}' was provided without its required 'reasoning' item: '${owner}'.`,
		);
	const hasKin = (type: string) => input.some((other) => other.type === type && other.call_id === item.call_id);
	if (item.type === "function_call" && !hasKin("function_call_output"))
		return refuse("tool-pair", `No tool output found for function call ${item.call_id}.`);
	if (item.type === "function_call_output" && !hasKin("function_call"))
		return refuse("tool-pair", `No tool call found for function call output with call_id ${item.call_id}.`);
	return undefined;
}

/** Two providers' words for a seal that is not theirs; the sealed text decides which, so that it stays the same. */
function foreign(id: string | undefined, sealed: string, isKnown: boolean): Refusal {
	const code = "invalid_encrypted_content";
	if (isKnown && sealed.charCodeAt(9) % 3 === 0)
		return refuse(
			"item-missing",
			`Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
			{ status: 404 },
		);
	return refuse(
		"signature",
		`The encrypted content ${sealed.slice(0, 4)}...${sealed.slice(-4)} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
		{ code },
	);
}

export const responses: Dialect = {
	check(body, desk) {
		const input = list(body.input);
		if (input.length === 0)
			return refuse("no-messages", "One of 'input' or 'previous_response_id' must be provided.");
		for (const [at, item] of input.entries()) {
			const refusal = checkItem(item, at, input, desk);
			if (refusal) return refusal;
		}
		return undefined;
	},

	situation(body) {
		const input = list(body.input);
		const at = input.findLastIndex((item) => item.role === "user");
		// Codex gives its tools as an item.
		const given = input.filter((item) => item.type === "additional_tools").flatMap((item) => list(item.tools));
		return {
			prompt: textOf(input[at]?.content),
			done: input.slice(at + 1).filter((item) => item.type === "function_call_output").length,
			tools: [...list(body.tools), ...given].map((tool) => String(tool.name)),
			thinking: ((body.reasoning as Json | undefined)?.effort ?? "none") !== "none",
		};
	},

	answer(body, said, desk) {
		const { vault, account } = desk;
		const items: Json[] = [];
		const reasoning = said.thinking.length > 0 ? vault.id("rs_") : undefined;
		if (reasoning) {
			const text = said.thinking.join("\n\n");
			const summary = said.redacted ? [] : [{ type: "summary_text", text }];
			items.push({
				id: reasoning,
				type: "reasoning",
				summary,
				encrypted_content: vault.issue(account, text, ""),
			});
		}
		if (said.text !== "") {
			const content = [{ type: "output_text", text: said.text, annotations: [] }];
			items.push({ id: vault.id("msg_"), type: "message", role: "assistant", status: "completed", content });
		}
		for (const call of said.calls)
			items.push({
				id: vault.id("fc_"),
				type: "function_call",
				call_id: vault.id("call_"),
				name: call.name,
				arguments: JSON.stringify(call.input),
				status: "completed",
			});
		const [first] = items.filter((item) => item.type !== "reasoning");
		if (reasoning && first) vault.owners.set(String(first.id), reasoning);
		const id = vault.id("resp_");
		const made: Json[] = [{ type: "response.created", response: { id, status: "in_progress", output: [] } }];
		for (const [index, item] of items.entries()) {
			made.push({ type: "response.output_item.added", output_index: index, item: begun(item) });
			if (item.type === "message") {
				const delta = said.text;
				made.push({
					type: "response.output_text.delta",
					output_index: index,
					content_index: 0,
					item_id: item.id,
					delta,
				});
			}
			if (item.type === "function_call")
				made.push({
					type: "response.function_call_arguments.done",
					output_index: index,
					item_id: item.id,
					arguments: item.arguments,
				});
			made.push({ type: "response.output_item.done", output_index: index, item });
		}
		const tokens = Math.ceil(JSON.stringify(body).length / 4);
		const usage = { input_tokens: tokens, output_tokens: 20, total_tokens: tokens + 20 };
		made.push({ type: "response.completed", response: { id, status: "completed", output: items, usage } });
		return made.map((data) => ({ event: String(data.type), data }));
	},
};

function begun(item: Json): Json {
	if (item.type === "function_call") return { ...item, arguments: "", status: "in_progress" };
	if (item.type === "message") return { ...item, content: [], status: "in_progress" };
	return { ...item, summary: [] };
}
