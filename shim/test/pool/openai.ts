/** OpenAI's rules for Responses requests, and those of a thinking completions endpoint (DeepSeek and kin). */

import { isSealedBy, type Json, listOf, type Progress, type Refusal, seal, stepsIn } from "./seal.ts";

let counter = 0;

function textOf(item: Json): string {
	return typeof item.content === "string"
		? item.content
		: listOf(item.content)
				.map(({ text }) => text)
				.join("");
}

export class Responses {
	check(body: Json, account: string): Refusal | undefined {
		const input = listOf(body.input);
		const reasoning = new Set<unknown>();
		for (const [index, item] of input.entries()) {
			if (item.type === "reasoning") {
				reasoning.add(item.id);
				const { id, encrypted_content: sealed } = item;
				if (!isSealedBy(account, sealed, String(id)))
					return {
						message: `The encrypted content for item ${id} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
						code: "invalid_encrypted_content",
					};
				const next = input[index + 1];
				if (!next || (next.type !== "function_call" && next.type !== "message" && next.type !== "reasoning"))
					return {
						message: `Item '${id}' of type 'reasoning' was provided without its required following item.`,
					};
			}
			// An item keeps the number of the reasoning that it belongs to.
			const owner = /^(?:fc|msg)_(\d+)$/.exec(String(item.id))?.[1];
			if (owner && !reasoning.has(`rs_${owner}`))
				return {
					message: `Item '${item.id}' of type '${item.type}' was provided without its required 'reasoning' item: 'rs_${owner}'.`,
				};
			if (
				item.type === "function_call" &&
				!input.some((other) => other.type === "function_call_output" && other.call_id === item.call_id)
			)
				return { message: `No tool output found for function call ${item.call_id}.` };
		}
		return undefined;
	}

	progress(body: Json): Progress {
		const input = listOf(body.input);
		const start = input.findLastIndex(({ role }) => role === "user");
		const prompt = start < 0 ? "" : textOf(input[start]);
		return {
			prompt,
			wanted: stepsIn(prompt),
			done: input.slice(start + 1).filter(({ type }) => type === "function_call").length,
		};
	}

	answer(_body: Json, account: string, { prompt, wanted, done }: Progress): Json[] {
		const number = ++counter;
		const reasoning = {
			type: "reasoning",
			id: `rs_${number}`,
			summary: [{ type: "summary_text", text: "thinking" }],
			encrypted_content: seal(account, `rs_${number}`),
		};
		const item =
			done < wanted
				? {
						type: "function_call",
						id: `fc_${number}`,
						call_id: `call_${number}`,
						name: "read",
						arguments: '{"path":"note.txt"}',
						status: "completed",
					}
				: {
						type: "message",
						id: `msg_${number}`,
						role: "assistant",
						status: "completed",
						content: [{ type: "output_text", text: `finished ${prompt}`, annotations: [] }],
					};
		const output = [reasoning, item];
		const response = {
			id: `resp_${number}`,
			status: "completed",
			output,
			usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
		};
		return [
			{ type: "response.created", response: { ...response, status: "in_progress", output: [] } },
			...output.flatMap((entry, index) => [
				{ type: "response.output_item.added", output_index: index, item: entry },
				{ type: "response.output_item.done", output_index: index, item: entry },
			]),
			{ type: "response.completed", response },
		];
	}
}

export class Completions {
	check(body: Json): Refusal | undefined {
		for (const message of listOf(body.messages))
			if (
				message.role === "assistant" &&
				listOf(message.tool_calls).length > 0 &&
				typeof message.reasoning_content !== "string"
			)
				return { message: "The `reasoning_content` in the thinking mode must be passed back to the API." };
		return undefined;
	}

	progress(body: Json): Progress {
		const messages = listOf(body.messages);
		const start = messages.findLastIndex(({ role }) => role === "user");
		const prompt = start < 0 ? "" : textOf(messages[start]);
		return {
			prompt,
			wanted: stepsIn(prompt),
			done: messages.slice(start + 1).filter(({ role }) => role === "assistant").length,
		};
	}

	answer(body: Json, _account: string, { prompt, wanted, done }: Progress): Json[] {
		const base = { id: "c1", object: "chat.completion.chunk", created: 1, model: body.model };
		const call = {
			index: 0,
			id: `call_${++counter}`,
			type: "function",
			function: { name: "read", arguments: '{"path":"note.txt"}' },
		};
		const delta =
			done < wanted
				? { role: "assistant", content: "", tool_calls: [call] }
				: { role: "assistant", content: `finished ${prompt}` };
		const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
		return [
			{ ...base, choices: [{ index: 0, delta, finish_reason: null }] },
			{
				...base,
				choices: [{ index: 0, delta: {}, finish_reason: done < wanted ? "tool_calls" : "stop" }],
				usage,
			},
		];
	}
}
