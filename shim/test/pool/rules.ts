/** What the parts of the pool share: rules, refusals, seals, and what the model wants to say. */

import { Random } from "../random.ts";

export type Json = Record<string, unknown>;

/** Which rules an endpoint keeps. All of them hold whatever is sent; none is a script. */
export interface Rules {
	/** Seals are accepted by the account that issued them and by no other. False: any seal passes, as on many relays. */
	seals: boolean;
	/** With `thinking: enabled`, an open tool turn starts with thinking (Anthropic). Some relays take text there. */
	openTurn: boolean;
	/** Roles alternate. Anthropic itself joins two user turns in a row; Bedrock and many relays refuse them. */
	alternation: boolean;
	/** Thinking that was turned into visible text is answered with a refusal (`reasoning_extraction`). */
	refuseVisibleReasoning: boolean;
	/** A seal holds only in the conversation (first user message) that it was issued in. */
	bound: boolean;
	/** A completions model wants `reasoning_content` back on assistant messages with tool calls. */
	passBack: boolean;
	/** A completions endpoint seals its reasoning as OpenRouter does, in `reasoning_details`. */
	reasoningDetails: boolean;
	/** A completions model sends its reasoning as chunks of its content, as Mistral does. */
	thinkingChunks: boolean;
	/** How refusals reach the client. */
	wrap: Wrap | "random";
}

/** The provider's own answer, or what a relay makes of it; the last three hide a 400 behind another status. */
export type Wrap = "plain" | "new-api" | "masked" | "litellm" | "hidden-429" | "hidden-500" | "hidden-502";

export const RULES: Rules = {
	seals: true,
	openTurn: true,
	alternation: true,
	refuseVisibleReasoning: false,
	bound: false,
	passBack: true,
	reasoningDetails: false,
	thinkingChunks: false,
	wrap: "new-api",
};

export interface Refusal {
	/** A stable name for tests and counts. */
	rule: string;
	message: string;
	/** The provider's own status; 400 if absent. */
	status?: number;
	code?: string;
}

export const refuse = (rule: string, message: string, more: Partial<Refusal> = {}): Refusal => ({
	rule,
	message,
	...more,
});

/** A seal as issued: by whom, over which text, in which conversation. */
export interface Seal {
	account: string;
	text: string;
	conversation: string;
}

/** All seals of a pool, and which messages they belong to. */
export class Vault {
	readonly #seals = new Map<string, Seal>();
	/** Thinking of each issued message, by the id of its calls or by its text. */
	readonly #thinking = new Map<string, string>();
	readonly #visible = new Set<string>();
	readonly random: Random;
	/** Which reasoning item of the Responses API an item was issued after, by the item's id. */
	readonly owners = new Map<string, string>();
	#serial = 0;

	constructor(random: Random) {
		this.random = random;
	}

	serial(): number {
		return ++this.#serial;
	}

	/** An id of letters and digits that no other item has. */
	id(prefix: string): string {
		const letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
		let id = `${prefix}${this.serial().toString(36)}`;
		while (id.length < prefix.length + 22) id += this.random.pick([...letters]);
		return id;
	}

	issue(account: string, text: string, conversation: string): string {
		const bytes = Buffer.from(Array.from({ length: 45 }, () => this.random.below(256)));
		bytes.writeUInt32BE(this.serial());
		const name = bytes.toString("base64");
		this.#seals.set(name, { account, text, conversation });
		if (text.trim() !== "") this.#visible.add(text.trim());
		return name;
	}

	seal(name: unknown): Seal | undefined {
		return typeof name === "string" ? this.#seals.get(name) : undefined;
	}

	accepts(rules: Rules, name: unknown, account: string, text?: string): boolean {
		const seal = this.seal(name);
		if (!rules.seals) return true;
		return seal !== undefined && seal.account === account && (text === undefined || seal.text === text);
	}

	remember(keys: string[], thinking: unknown[]): void {
		for (const key of keys) this.#thinking.set(key, JSON.stringify(thinking));
	}

	issued(keys: string[]): string | undefined {
		for (const key of keys) if (this.#thinking.has(key)) return this.#thinking.get(key);
		return undefined;
	}

	/** Whether a text shows reasoning that was issued as thinking. */
	shows(text: string): boolean {
		return text.trim() !== "" && this.#visible.has(text.trim());
	}
}

/** What an account knows about the request that it answers. */
export interface Desk {
	account: string;
	rules: Rules;
	vault: Vault;
}

/** What the model says: thinking first, then text, then calls. */
export interface Said {
	thinking: string[];
	redacted: boolean;
	text: string;
	calls: { name: string; input: Json }[];
	/** Set instead of all else where the model declines. */
	refusal?: string;
}

/** What the model has before it. */
export interface Situation {
	prompt: string;
	/** Tool results since the prompt. */
	done: number;
	tools: string[];
	thinking: boolean;
}

/** An API: its rules over a request, the situation of the model, and the stream of its answer. */
export interface Dialect {
	check(body: Json, desk: Desk): Refusal | undefined;
	situation(body: Json): Situation;
	/** The answer as `[event name or "", JSON]`; the first part holds thinking only. */
	answer(body: Json, said: Said, desk: Desk): { event: string; data: Json }[];
}

export const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);
export const textOf = (content: unknown): string =>
	typeof content === "string"
		? content
		: list(content)
				.map((part) => (typeof part.text === "string" ? part.text : ""))
				.join("\n");

/** A number from a text, the same each time it is asked for. */
export function hash(text: string): number {
	let value = 0x811c9dc5;
	for (const char of text) value = Math.imul(value ^ (char.codePointAt(0) ?? 0), 0x01000193);
	return value >>> 0;
}

/** What the model says in a situation: `[tools N]` in the prompt asks for N steps, else one to three. */
export function think(situation: Situation, vault: Vault, seed: number): Said {
	const asked = /\[tools (\d+)\]/.exec(situation.prompt);
	const random = new Random(hash(`${seed} ${situation.prompt} ${situation.done}`));
	const usable = situation.tools.filter((name) => name === "read" || name === "bash");
	const steps = usable.length === 0 ? 0 : asked ? Number(asked[1]) : 1 + (hash(situation.prompt) % 3);
	const at = `step ${situation.done + 1} of ${steps + 1}, number ${vault.serial()}`;
	const thinking = situation.thinking ? [`I consider ${at}.`] : [];
	if (thinking.length > 0 && random.below(4) === 0) thinking.push(`Then again, ${at}.`);
	const redacted = situation.thinking && random.below(5) === 0;
	if (situation.done >= steps) return { thinking, redacted, text: `Done with ${at}.`, calls: [] };
	const call = () => {
		const name = random.pick(usable);
		return { name, input: name === "read" ? { path: "note.txt" } : { command: "echo step" } };
	};
	const calls = random.below(4) === 0 && situation.done + 2 <= steps ? [call(), call()] : [call()];
	return { thinking, redacted, text: random.below(2) ? `Working at ${at}.` : "", calls };
}
