/** Random texts and payloads from a seed, so that a failure can be repeated. */

const PIECES = [
	"(request id: 20261129120000123456789AbCdEfGh)",
	'"request_id":"req_011CSHoEeqs5C35K2UUqR7Fy"',
	" (request id: ",
	"req-",
	"chatcmpl-abcdefghij0123456789",
	"123e4567-e89b-12d3-a456-426614174000",
	"0123456789abcdef0123456789abcdef",
	"50350250042950450",
	"trace id ",
	"RequestID: x",
	"((request_id=",
	"\u017f\u212a\u2028\ufeff\u{1f600}",
	"\ud83d",
	"\n",
	"{",
	'"',
	"\\",
	"超时",
	"_",
];

export class Random {
	#state: number;

	constructor(seed: number) {
		this.#state = seed;
	}

	/** An integer from 0 to below `limit` (mulberry32). */
	below(limit: number): number {
		this.#state = (this.#state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
	}

	pick<T>(list: readonly T[]): T {
		return list[this.below(list.length)];
	}

	/** Bits of known texts and of ids, glued together. */
	text(known: readonly string[]): string {
		let text = "";
		for (let parts = 1 + this.below(5); parts > 0; parts--) {
			const source = this.pick(known);
			const start = this.below(source.length);
			text += this.below(2) ? this.pick(PIECES) : source.slice(start, start + this.below(60));
		}
		return this.below(4) ? text : text.toUpperCase();
	}

	/** An anthropic-messages payload of alternating turns. */
	payload(): { messages: { role: string; content: unknown[] }[]; thinking?: unknown } {
		const block = (): unknown =>
			this.pick([
				() => ({ type: "thinking", thinking: this.pick(["", " ", "\u00a0", "why", " so\n"]), signature: "S" }),
				() => ({ type: "redacted_thinking", data: "R" }),
				() => ({ type: "text", text: "t" }),
				() => ({
					type: "tool_use",
					id: String(this.below(1e6)),
					name: "x",
					input: { signature: "kept", type: "thinking" },
				}),
			])();
		const messages = Array.from({ length: this.below(7) }, (_, index) =>
			index % 2 === 0
				? {
						role: "user",
						content: [{ type: "tool_result", tool_use_id: String(index), content: "r" }] as unknown[],
					}
				: { role: "assistant", content: Array.from({ length: 1 + this.below(4) }, block) },
		);
		return this.below(2) ? { messages } : { messages, thinking: { type: "enabled" } };
	}

	/** A payload of any API, with what the repairs look for in it and what looks like it. */
	anyPayload(): Record<string, unknown> {
		return this.pick([
			() => this.markedPayload(),
			() => this.responsesPayload(),
			() => this.googlePayload(),
			() => this.completionsPayload(),
		])();
	}

	/** An anthropic-messages payload with effort markers and instructions between its turns. */
	markedPayload(): Record<string, unknown> {
		const { messages, ...rest } = this.payload();
		const marker = () => ({
			role: "system",
			content: [] as unknown[],
			output_config: { effort: this.pick(["low", "high"]) },
		});
		const marked = messages.flatMap((message) => {
			const before: unknown[] = message.role === "assistant" && this.below(3) ? [marker()] : [];
			if (message.role === "assistant" && this.below(6) === 0)
				before.unshift({ role: "system", content: [{ type: "text", text: String(this.below(99)) }] });
			return [...before, message];
		});
		if (this.below(2)) marked.push(marker());
		const config = this.pick([
			{},
			{ output_config: { effort: "low" } },
			{ output_config: { effort: "low", format: 1 } },
		]);
		const thinking = this.pick([
			rest,
			{},
			{ thinking: { type: "disabled" } },
			{ thinking: { type: "adaptive", block_binding: {} } },
		]);
		return { model: "m", ...thinking, messages: marked, ...config };
	}

	responsesPayload(): Record<string, unknown> {
		const item = () =>
			this.pick([
				() => ({ type: "reasoning", id: `rs_${this.below(9)}`, encrypted_content: "E", summary: [] }),
				() => ({ type: "function_call", id: "fc_1", call_id: "c", name: "x", arguments: '{"id":1}' }),
				() => ({ type: "function_call", call_id: "c", name: "x", arguments: "{}" }),
				() => ({ type: "function_call_output", id: "o", call_id: "c", output: "r" }),
				() => ({
					type: "message",
					role: "assistant",
					id: "msg_1",
					content: [{ type: "output_text", text: "t" }],
				}),
				() => ({ role: "user", id: "u", content: "q" }),
				() => null,
			])();
		return { model: "m", input: Array.from({ length: this.below(7) }, item), store: false };
	}

	googlePayload(): Record<string, unknown> {
		const signature = () =>
			this.pick([
				{},
				{ thoughtSignature: "S" },
				{ thoughtSignature: "" },
				{ thoughtSignature: "skip_thought_signature_validator" },
			]);
		const part = () =>
			this.pick([
				() => ({ functionCall: { name: "x", args: { thoughtSignature: "mine" } }, ...signature() }),
				() => ({ text: this.pick(["", "t"]), ...signature() }),
				() => ({ thought: true, text: "why", ...signature() }),
				() => ({ functionResponse: { name: "x", response: {} } }),
				() => 7,
			])();
		const content = () => ({
			role: this.pick(["user", "model"]),
			parts: Array.from({ length: this.below(4) }, part),
		});
		return { model: "m", contents: Array.from({ length: this.below(5) }, content) };
	}

	completionsPayload(): Record<string, unknown> {
		const reasoning = () =>
			this.pick([
				{},
				{ reasoning_content: "why" },
				{ reasoning_content: null },
				{ reasoning_details: [{ id: 1 }] },
				{ reasoning: "r" },
			]);
		const call = { id: "c", function: { name: "x" } };
		const calls = () =>
			this.pick([{}, { tool_calls: [] }, { tool_calls: [call] }, { toolCalls: [call] }, { tool_calls: null }]);
		const content = () =>
			this.pick([
				"t",
				null,
				[{ type: "thinking", thinking: [] }],
				[{ type: "thinking" }, { type: "text", text: "t" }],
			]);
		const message = () => ({
			role: this.pick(["user", "assistant"]),
			content: content(),
			...reasoning(),
			...calls(),
		});
		return { model: "m", messages: Array.from({ length: this.below(5) }, message) };
	}
}
