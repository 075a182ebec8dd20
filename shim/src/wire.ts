/**
 * The HTTP status of the model's own call, seen without touching anything: node publishes what undici (and so `fetch`)
 * sends and receives. Bedrock (node:http), WebSocket transports and Bun are not seen; then the text has to do.
 */

import { subscribe, unsubscribe } from "node:diagnostics_channel";

export interface Answer {
	status: number;
	/** `x-should-retry`, where the server said so. */
	shouldRetry?: boolean;
	/** How long the server asks to wait. */
	retryAfterMs?: number;
}

interface Exchange {
	origin: string;
	path: string;
	opened: number;
	closed: number;
	status?: number;
	headers?: unknown;
}

/** Where each API posts to, below the model's base URL. An API that is not listed may use any path there. */
const PATH_ENDS: Record<string, RegExp> = {
	"anthropic-messages": /\/messages$/,
	"openai-completions": /\/completions$/,
	"openai-responses": /\/responses$/,
	"azure-openai-responses": /\/responses$/,
	"openai-codex-responses": /\/responses$/,
	"google-generative-ai": /:streamGenerateContent$/,
	"google-vertex": /:streamGenerateContent$/,
	"mistral-conversations": /\/(?:completions|conversations)$/,
};

/** What the SDKs send again by themselves: only after such an answer is a second request part of the same call. */
function isFollowedUp(status: number | undefined): boolean {
	if (status === undefined) return true;
	return status >= 500 || status === 408 || status === 409 || status === 429 || (status >= 300 && status < 400);
}

/** undici hands headers over as a flat list of buffers or strings, newer ones also as an object. */
function header(headers: unknown, name: string): string | undefined {
	if (Array.isArray(headers)) {
		for (let index = 0; index + 1 < headers.length; index += 2)
			if (String(headers[index]).toLowerCase() === name) return String(headers[index + 1]);
		return undefined;
	}
	const value = (headers as Record<string, unknown> | undefined)?.[name];
	return value === undefined ? undefined : String(value);
}

function retryAfter(headers: unknown): number | undefined {
	const milliseconds = Number.parseFloat(header(headers, "retry-after-ms") ?? "");
	if (milliseconds >= 0) return milliseconds;
	const value = header(headers, "retry-after");
	if (value === undefined) return undefined;
	const wait = /^[\d.]+$/.test(value) ? Number.parseFloat(value) * 1000 : Date.parse(value) - Date.now();
	return wait >= 0 ? wait : undefined;
}

export interface Endpoint {
	baseUrl?: unknown;
	api?: unknown;
}

let lastBase: { baseUrl: unknown; origin: string; path: string } | undefined;

function base(baseUrl: unknown): { origin: string; path: string } {
	if (lastBase?.baseUrl === baseUrl && lastBase) return lastBase;
	const { origin, pathname } = new URL(String(baseUrl));
	lastBase = { baseUrl, origin, path: `${pathname.replace(/\/+$/, "")}/` };
	return lastBase;
}

/** Whether a request went to this model: same origin, below its base path, and to the path that its API uses. */
export function isSentTo(model: Endpoint, origin: string, path: string): boolean {
	try {
		const { origin: ownOrigin, path: ownPath } = base(model.baseUrl);
		if (origin !== ownOrigin || !path.startsWith(ownPath)) return false;
		return PATH_ENDS[String(model.api)]?.test(path.split("?", 1)[0]) ?? true;
	} catch {
		return false;
	}
}

export class Wire {
	#clock = 0;
	#from = 0;
	#exchanges: Exchange[] = [];
	#byRequest = new WeakMap<object, Exchange>();

	readonly #listeners: [name: string, listener: (message: unknown) => void][] = [
		["undici:request:create", (message) => this.#created(message)],
		["undici:request:headers", (message) => this.#answered(message)],
		["undici:request:trailers", (message) => this.#closed(message)],
		["undici:request:error", (message) => this.#closed(message)],
	];

	start(): void {
		this.stop();
		for (const [name, listener] of this.#listeners) subscribe(name, listener);
	}

	stop(): void {
		for (const [name, listener] of this.#listeners) unsubscribe(name, listener);
		this.#exchanges = [];
	}

	/** A model call begins: what was answered before it cannot be its answer. */
	mark(): void {
		this.#from = ++this.#clock;
		if (this.#exchanges.length > 0)
			this.#exchanges = this.#exchanges.filter((exchange) => exchange.closed === Number.POSITIVE_INFINITY);
	}

	/**
	 * The last answer to this model since `mark`. None if the last request got no answer, or if it is not certain whose
	 * answer it is: another request to the same place was under way, or one came after an answer that ends a call.
	 */
	answer(model: Endpoint): Answer | undefined {
		const own = this.#exchanges.filter(
			({ closed, origin, path }) => closed > this.#from && isSentTo(model, origin, path),
		);
		const last = own.pop();
		if (last?.status === undefined) return undefined;
		let next = last;
		for (const earlier of own.reverse()) {
			if (earlier.closed > next.opened || !isFollowedUp(earlier.status)) return undefined;
			next = earlier;
		}
		const shouldRetry = header(last.headers, "x-should-retry");
		return {
			status: last.status,
			shouldRetry: shouldRetry === "true" ? true : shouldRetry === "false" ? false : undefined,
			retryAfterMs: retryAfter(last.headers),
		};
	}

	#created(message: unknown): void {
		const { request } = message as { request: { origin?: unknown; path?: unknown; method?: unknown } };
		if (request.method !== "POST") return;
		const exchange = {
			origin: String(request.origin),
			path: String(request.path),
			opened: ++this.#clock,
			closed: Number.POSITIVE_INFINITY,
		};
		this.#byRequest.set(request, exchange);
		this.#exchanges.push(exchange);
		// A request that never ends must not pile up.
		if (this.#exchanges.length > 256) this.#exchanges.shift();
	}

	#answered(message: unknown): void {
		const { request, response } = message as {
			request: object;
			response: { statusCode: number; headers?: unknown };
		};
		const exchange = this.#byRequest.get(request);
		if (!exchange) return;
		exchange.status = response.statusCode;
		exchange.headers = response.headers;
		// A failed answer decides the call; only the stream of a good one is still under way.
		if (response.statusCode >= 300) exchange.closed = ++this.#clock;
	}

	#closed(message: unknown): void {
		const exchange = this.#byRequest.get((message as { request: object }).request);
		if (exchange && exchange.closed === Number.POSITIVE_INFINITY) exchange.closed = ++this.#clock;
	}
}
