/** A relay on 127.0.0.1 that plays a script, one answer a request, and keeps what it was asked. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Block =
	| { type: "text"; text: string }
	| { type: "thinking"; thinking: string; signature: string }
	| { type: "redacted_thinking"; data: string }
	| { type: "tool_use"; name: string; input: Record<string, unknown> };

export type Answer =
	| { status: number; body?: unknown; headers?: Record<string, string>; delayMs?: number }
	| { blocks: Block[]; inputTokens?: number }
	| { reset: true };

export interface Asked {
	path: string;
	body: {
		model?: string;
		thinking?: unknown;
		messages?: { role: string; content: string | Record<string, unknown>[] }[];
		[key: string]: unknown;
	};
	text: string;
}

export const ok = (text = "done"): Answer => ({ blocks: [{ type: "text", text }] });
export const failed = (status: number, message: string, headers?: Record<string, string>): Answer => ({
	status,
	body: { error: { message, type: "upstream_error", param: "", code: null } },
	headers,
});
export const TRANSIENT = "This request is not supported. (request id: 20261129120000123456789AbCdEfGh)";
export const transient = (): Answer => failed(400, TRANSIENT);

function anthropicEvents(blocks: Block[], inputTokens: number): unknown[] {
	const events: unknown[] = [
		{
			type: "message_start",
			message: {
				id: "msg_1",
				type: "message",
				role: "assistant",
				model: "m",
				content: [],
				stop_reason: null,
				usage: { input_tokens: inputTokens, output_tokens: 1 },
			},
		},
	];
	blocks.forEach((block, index) => {
		const start =
			block.type === "text"
				? { type: "text", text: "" }
				: block.type === "thinking"
					? { type: "thinking", thinking: "", signature: "" }
					: block.type === "tool_use"
						? {
								type: "tool_use",
								id: `toolu_${Math.random().toString(36).slice(2)}`,
								name: block.name,
								input: {},
							}
						: block;
		events.push({ type: "content_block_start", index, content_block: start });
		const deltas =
			block.type === "text"
				? [{ type: "text_delta", text: block.text }]
				: block.type === "thinking"
					? [
							{ type: "thinking_delta", thinking: block.thinking },
							{ type: "signature_delta", signature: block.signature },
						]
					: block.type === "tool_use"
						? [{ type: "input_json_delta", partial_json: JSON.stringify(block.input) }]
						: [];
		for (const delta of deltas) events.push({ type: "content_block_delta", index, delta });
		events.push({ type: "content_block_stop", index });
	});
	const stop = blocks.some((block) => block.type === "tool_use") ? "tool_use" : "end_turn";
	events.push({ type: "message_delta", delta: { stop_reason: stop }, usage: { output_tokens: 5 } });
	events.push({ type: "message_stop" });
	return events;
}

function completionChunks(blocks: Block[], inputTokens: number): unknown[] {
	const delta: Record<string, unknown> = { role: "assistant", content: "" };
	for (const block of blocks) {
		if (block.type === "text") delta.content = block.text;
		if (block.type === "tool_use")
			delta.tool_calls = [
				{
					index: 0,
					id: "call_1",
					type: "function",
					function: { name: block.name, arguments: JSON.stringify(block.input) },
				},
			];
	}
	const base = { id: "c1", object: "chat.completion.chunk", created: 1, model: "m" };
	const finish = delta.tool_calls ? "tool_calls" : "stop";
	const usage = { prompt_tokens: inputTokens, completion_tokens: 5, total_tokens: inputTokens + 5 };
	return [
		{ ...base, choices: [{ index: 0, delta, finish_reason: null }] },
		{ ...base, choices: [{ index: 0, delta: {}, finish_reason: finish }], usage },
	];
}

function googleChunks(blocks: Block[], inputTokens: number): unknown[] {
	const parts = blocks.map((block) =>
		block.type === "tool_use"
			? { functionCall: { name: block.name, args: block.input } }
			: { text: block.type === "text" ? block.text : "" },
	);
	const usageMetadata = { promptTokenCount: inputTokens, candidatesTokenCount: 5, totalTokenCount: inputTokens + 5 };
	return [{ candidates: [{ content: { role: "model", parts }, finishReason: "STOP", index: 0 }], usageMetadata }];
}

function play(response: ServerResponse, path: string, blocks: Block[], inputTokens: number): void {
	response.writeHead(200, { "content-type": "text/event-stream" });
	if (path.includes("/messages")) {
		for (const event of anthropicEvents(blocks, inputTokens) as { type: string }[])
			response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
	} else if (path.includes("/completions")) {
		for (const chunk of completionChunks(blocks, inputTokens)) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
		response.write("data: [DONE]\n\n");
	} else {
		for (const chunk of googleChunks(blocks, inputTokens)) response.write(`data: ${JSON.stringify(chunk)}\r\n\r\n`);
	}
	response.end();
}

export class Relay {
	readonly asked: Asked[] = [];
	script: Answer[];
	/** Answers requests that are no part of the script, such as another extension's; they are not kept. */
	aside?: (asked: Asked) => Answer | undefined;
	#server = createServer((request, response) => void this.#serve(request, response));

	constructor(script: Answer[]) {
		this.script = [...script];
	}

	async start(): Promise<this> {
		await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
		return this;
	}

	get port(): number {
		return (this.#server.address() as AddressInfo).port;
	}

	stop(): void {
		this.#server.closeAllConnections();
		this.#server.close();
	}

	async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk as Buffer);
		const text = Buffer.concat(chunks).toString();
		const path = request.url ?? "";
		if (request.method !== "POST") return void response.writeHead(404).end();
		const asked = { path, body: text === "" ? {} : JSON.parse(text), text };
		const aside = this.aside?.(asked);
		if (!aside) this.asked.push(asked);
		// Past the end of the script nothing is forgiven: the test counts requests.
		const answer = aside ?? this.script.shift() ?? failed(418, "the script has ended");
		if ("reset" in answer) return void request.socket.resetAndDestroy();
		if ("blocks" in answer) return play(response, path, answer.blocks, answer.inputTokens ?? 10);
		if (answer.delayMs) await new Promise((resolve) => setTimeout(resolve, answer.delayMs));
		const body = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body ?? "");
		response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
		response.end(answer.body === undefined ? "" : body);
	}
}
