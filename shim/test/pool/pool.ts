/**
 * A pool of accounts behind relays on 127.0.0.1, for sessions of the real pi.
 *
 * It keeps the providers' rules over whatever is sent: seals (signatures, encrypted reasoning, thought signatures) are
 * accepted by the account that issued them, and requests must have the grammar of their API. What it answers to a good
 * request is a turn of a model that works with pi's own tools. Nothing is scripted; `interrupt` may add failures.
 *
 * Names stand for endpoints: `relay.test` and `relay-two.test` are relays with accounts of their own, `api.anthropic.com`
 * and `api.openai.com` are the direct host, which has one account and never switches.
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { zstdDecompressSync } from "node:zlib";
import { Random } from "../random.ts";
import { anthropic } from "./anthropic.ts";
import { completions } from "./completions.ts";
import { google } from "./google.ts";
import { responses } from "./responses.ts";
import { type Dialect, type Json, RULES, type Rules, type Said, think, Vault } from "./rules.ts";
import { type Failure, WRAPS, wrapped } from "./wrap.ts";

export { RULES, type Rules, type Wrap } from "./rules.ts";

export type Interruption = Failure | { reset: true } | { cut: true };

export interface PoolOptions {
	seed?: number;
	/** Accounts of each relay; 2 if absent. */
	accounts?: number;
	/** Chance from 0 to 1 that a request of a relay goes to another account from there on. */
	switchChance?: number;
	/** For all endpoints; `byEndpoint` is stronger. */
	rules?: Partial<Rules>;
	byEndpoint?: Record<string, Partial<Rules>>;
	/** Asked before the rules; what it returns is the answer. It may switch the account. */
	interrupt?: (asked: PoolAsked) => Interruption | undefined;
	/** Told of each request, once its result is known. */
	done?: (outcome: Outcome) => void;
}

export interface PoolAsked {
	endpoint: string;
	api: string;
	model: string;
	account: string;
	body: Json;
	text: string;
	/** Whether the request is one of a turn; summaries have no tools. */
	hasTools: boolean;
	/** Whether it only keeps a cache warm: no turn asks for so little. */
	isPing: boolean;
}

export interface Outcome {
	endpoint: string;
	api: string;
	model: string;
	account: string;
	isPing: boolean;
	/** `served`, `interrupted`, or the rule that refused. */
	result: string;
	message?: string;
	status: number;
}

export interface Counts {
	requests: number;
	served: number;
	/** Refused by a rule of the API. */
	rejected: number;
	/** Failed by `interrupt`. */
	interrupted: number;
}

const DIALECTS: Record<string, Dialect> = { anthropic, responses, google, completions };
const DIRECT = ["api.anthropic.com", "api.openai.com"];
const NONE: Counts = { requests: 0, served: 0, rejected: 0, interrupted: 0 };

function apiOf(path: string): string | undefined {
	if (path.includes("/messages")) return "anthropic";
	if (path.includes("/chat/completions")) return "completions";
	if (path.includes("/responses")) return "responses";
	return path.includes("GenerateContent") || path.includes("generateContent") ? "google" : undefined;
}

/** How many tokens a request allows, in the words of its API. */
function limitOf(body: Json): number | undefined {
	const { maxOutputTokens } = (body.generationConfig ?? {}) as Json;
	const limit = body.max_tokens ?? body.max_completion_tokens ?? body.max_output_tokens ?? maxOutputTokens;
	return typeof limit === "number" ? limit : undefined;
}

export class Pool {
	readonly #options: PoolOptions;
	readonly #random: Random;
	readonly #vault: Vault;
	readonly #account = new Map<string, number>();
	/** Conversations that a direct Anthropic host holds, by the id of their last reply. */
	readonly #threads = new Map<string, Json>();
	readonly outcomes: Outcome[] = [];
	/** The bodies asked for last, at most a hundred. */
	readonly asked: PoolAsked[] = [];
	#server = createServer((request, response) => {
		this.#serve(request, response).catch((error) => response.destroy(error));
	});

	constructor(options: PoolOptions) {
		this.#options = options;
		this.#random = new Random(options.seed ?? 1);
		this.#vault = new Vault(new Random((options.seed ?? 1) + 1));
	}

	async start(): Promise<this> {
		await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
		return this;
	}

	get port(): number {
		return (this.#server.address() as AddressInfo).port;
	}

	/** Where a relay or the direct host is, without a path. */
	url(endpoint = "relay.test"): string {
		return `http://${endpoint}:${this.port}`;
	}

	/** Sends what comes from now on to another account of a relay: the next one, or the one that is named by number. */
	switchAccount(to?: number, endpoint = "relay.test"): void {
		const count = this.#options.accounts ?? 2;
		this.#account.set(endpoint, (to ?? (this.#account.get(endpoint) ?? 0) + 1) % count);
	}

	/** What was counted, of all requests or of those that `only` chooses. */
	counts(only: (outcome: Outcome) => boolean = () => true): Counts {
		const counts = { ...NONE };
		for (const outcome of this.outcomes.filter(only)) {
			counts.requests++;
			if (outcome.result === "served") counts.served++;
			else if (outcome.result === "interrupted") counts.interrupted++;
			else counts.rejected++;
		}
		return counts;
	}

	get rejections(): Outcome[] {
		return this.outcomes.filter(({ result }) => result !== "served" && result !== "interrupted");
	}

	/**
	 * The `providers` of a models.json that leads here: `relay`, `two` and `direct`, with a model or two of each API. With
	 * `pings`, their caches last and cost so that pi with `cacheWarming: "idle"` keeps them warm at once.
	 */
	providers({ pings = false } = {}): Json {
		return Object.fromEntries(
			(
				[
					["relay", "relay.test", "relay.test"],
					["two", "relay-two.test", "relay-two.test"],
					["direct", "api.anthropic.com", "api.openai.com"],
				] as const
			).map(([name, host, openai]) => [
				name,
				provider(this.url(host), this.url(openai), name === "direct", pings),
			]),
		);
	}

	close(): void {
		this.#server.closeAllConnections();
		this.#server.close();
	}

	rulesOf(endpoint: string): Rules {
		return { ...RULES, ...this.#options.rules, ...this.#options.byEndpoint?.[endpoint] };
	}

	async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk as Buffer);
		const sent = Buffer.concat(chunks);
		// Codex packs what it sends.
		const text = String(request.headers["content-encoding"] === "zstd" ? zstdDecompressSync(sent) : sent);
		const path = request.url ?? "";
		const api = apiOf(path);
		if (request.method !== "POST" || !api) return void response.writeHead(404).end();
		const host = (request.headers.host ?? "").replace(/:\d+$/, "");
		const endpoint = DIRECT.includes(host) ? "direct" : host;
		const body = JSON.parse(text) as Json;
		const model = String(body.model ?? /models\/([^:/?]+)/.exec(path)?.[1]);
		const chance = this.#options.switchChance ?? 0;
		if (endpoint !== "direct" && this.#random.below(1e6) < chance * 1e6) this.switchAccount(undefined, endpoint);
		const current = () => `${endpoint}#${endpoint === "direct" ? 0 : (this.#account.get(endpoint) ?? 0)}`;
		let account = current();
		const isPing = (limitOf(body) ?? Number.POSITIVE_INFINITY) <= 16;
		const asked = { endpoint, api, model, account, body, text, hasTools: Array.isArray(body.tools), isPing };
		this.asked.push(asked);
		if (this.asked.length > 100) this.asked.shift();
		const count = (result: string, status: number, message?: string) => {
			const outcome = { endpoint, api, model, account, isPing, result, message, status };
			this.outcomes.push(outcome);
			this.#options.done?.(outcome);
		};

		const interruption = this.#options.interrupt?.(asked);
		account = current();
		if (interruption && "reset" in interruption) {
			count("interrupted", 0);
			return void request.socket.resetAndDestroy();
		}
		if (interruption && "status" in interruption) {
			count("interrupted", interruption.status);
			return send(response, interruption);
		}
		const whole = this.#thread(body, endpoint);
		if ("error" in whole) {
			count(String(whole.rule), 400);
			return send(response, { status: 400, body: whole });
		}
		const desk = { account: `${account}/${model}`, rules: this.rulesOf(endpoint), vault: this.#vault };
		const dialect = DIALECTS[api];
		const refusal = dialect.check(whole, desk);
		if (refusal) {
			const wrap = desk.rules.wrap === "random" ? this.#random.pick(WRAPS) : desk.rules.wrap;
			const failure = wrapped(refusal, api, endpoint === "direct" ? "plain" : wrap, this.#random);
			count(refusal.rule, failure.status, refusal.message);
			return send(response, failure);
		}
		// What a ping is answered is thrown away: the turns are the same whether or not one came between them.
		const vault = isPing ? new Vault(new Random(1)) : this.#vault;
		const said: Said = think(dialect.situation(whole), vault, this.#options.seed ?? 1);
		const events = dialect.answer(whole, said, { ...desk, vault });
		if (body.thread !== undefined) this.#keep(whole, events);
		count(interruption ? "interrupted" : "served", 200);
		stream(response, api, interruption ? events.slice(0, Math.ceil(events.length / 2)) : events);
		if (interruption) response.destroy();
		else response.end();
	}

	/** Message threads of Anthropic's own host: the conversation so far is kept there, and only what is new is sent. */
	#thread(body: Json, endpoint: string): Json {
		const thread = body.thread as Json | undefined;
		if (thread === undefined) return body;
		const error = (rule: string, message: string, details?: Json) => ({
			rule,
			type: "error",
			error: { type: "invalid_request_error", message, details },
		});
		if (endpoint !== "direct") return error("thread", "thread: Extra inputs are not permitted");
		if (thread.type !== "continue") return body;
		const kept = this.#threads.get(String(thread.previous_message_id));
		if (!kept) return error("thread", "thread not found", { error_code: "thread_not_found" });
		return { ...kept, ...body, messages: [...(kept.messages as Json[]), ...(body.messages as Json[])] };
	}

	#keep(body: Json, events: { data: Json }[]): void {
		const blocks: Json[] = [];
		let id = "";
		for (const { data } of events) {
			if (data.type === "message_start") id = String((data.message as Json).id);
			const block = blocks[data.index as number];
			if (data.type === "content_block_start") blocks.push({ ...(data.content_block as Json) });
			if (data.type !== "content_block_delta") continue;
			const delta = data.delta as Json;
			if (delta.type === "text_delta") block.text = delta.text;
			if (delta.type === "thinking_delta") block.thinking = delta.thinking;
			if (delta.type === "signature_delta") block.signature = delta.signature;
			if (delta.type === "input_json_delta") block.input = JSON.parse(String(delta.partial_json));
		}
		const { system, tools } = body;
		this.#threads.set(id, {
			system,
			tools,
			messages: [...(body.messages as Json[]), { role: "assistant", content: blocks }],
		});
	}
}

function send(response: ServerResponse, failure: Failure): void {
	const body = typeof failure.body === "string" ? failure.body : JSON.stringify(failure.body);
	response.writeHead(failure.status, { "content-type": "application/json", ...failure.headers }).end(body);
}

function stream(response: ServerResponse, api: string, events: { event: string; data: Json }[]): void {
	response.writeHead(200, { "content-type": "text/event-stream" });
	for (const { event, data } of events)
		response.write(`${event === "" ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`);
	if (api === "completions") response.write("data: [DONE]\n\n");
}

const PLAIN = {
	reasoning: true,
	input: ["text"],
	cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
	contextWindow: 900_000,
	maxTokens: 16_000,
};

/** pi asks again ten seconds before a cache is cold, where that is cheaper than to fill it anew. */
const PINGED = {
	promptCache: { short: 10.05, long: 10.05 },
	cost: { input: 10_000, output: 1, cacheRead: 1, cacheWrite: 100_000 },
};

function provider(base: string, openai: string, isDirect: boolean, pings: boolean): Json {
	// pi knows DeepSeek's own host and sends an empty reasoning there; behind a relay it does not.
	const deepseek = {
		thinkingFormat: "deepseek",
		...(isDirect && { requiresReasoningContentOnAssistantMessages: true }),
	};
	const managed = { forceAdaptiveThinking: true, supportsMidConvoEffort: true };
	const models: Json[] = [
		{ id: "claude-a", api: "anthropic-messages", baseUrl: base },
		{ id: "claude-b", api: "anthropic-messages", baseUrl: base },
		{ id: "claude-managed", api: "anthropic-messages", baseUrl: base, compat: managed },
		{ id: "gpt-a", api: "openai-responses", baseUrl: `${openai}/v1` },
		{ id: "gemini-3-pro", api: "google-generative-ai", baseUrl: `${base}/v1beta` },
		{ id: "deepseek-a", api: "openai-completions", baseUrl: `${base}/v1`, compat: deepseek },
	];
	return {
		baseUrl: base,
		api: "anthropic-messages",
		apiKey: "k",
		models: models.map((model) => ({ ...PLAIN, ...(pings && PINGED), name: model.id, ...model })),
	};
}

/** Starts a pool. `close()` it at the end. */
export function startPool(options: PoolOptions = {}): Promise<Pool> {
	return new Pool(options).start();
}
