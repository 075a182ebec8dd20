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
}
