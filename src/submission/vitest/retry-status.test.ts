import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { stream as streamGoogle } from "../src/api/google-generative-ai.ts";
import { stream as streamOpenAICompletions } from "../src/api/openai-completions.ts";
import { fauxAssistantMessage } from "../src/providers/faux.ts";
import type { AssistantMessage, Model } from "../src/types.ts";
import { isRetryableAssistantError } from "../src/utils/retry.ts";
import { normalizeContext } from "../src/utils/transcript.ts";

function failed(errorMessage: string, errorStatus?: number): AssistantMessage {
	return { ...fauxAssistantMessage("", { stopReason: "error", errorMessage }), errorStatus };
}

describe("retry classification by HTTP status", () => {
	it.each([408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529, 530])(
		"retries %i whatever the text says",
		(status) => {
			expect(isRetryableAssistantError(failed("Something went wrong", status))).toBe(true);
		},
	);

	it.each([401, 403, 404, 422])("does not retry %i for words that name a parameter or an account", (status) => {
		for (const text of ["Unknown parameter: 'timeout'", "account terminated", "limit is 500 tokens"]) {
			expect(isRetryableAssistantError(failed(text, status))).toBe(false);
		}
	});

	it.each([undefined, 400, 429, 503])("keeps limits final under %s", (status) => {
		expect(isRetryableAssistantError(failed("quota exceeded", status))).toBe(false);
	});

	it.each([undefined, 400, 424])("asks the list as ever under %s", (status) => {
		expect(isRetryableAssistantError(failed("Provider returned error", status))).toBe(true);
		expect(isRetryableAssistantError(failed("[503] The request queue is full.", status))).toBe(true);
		expect(isRetryableAssistantError(failed("Unknown parameter: 'effort'", status))).toBe(false);
	});

	it("believes a text that was rewritten afterwards", () => {
		expect(isRetryableAssistantError(failed("503 service unavailable: no such thing", 404))).toBe(true);
	});
});

describe("errorStatus", () => {
	let server: Server | undefined;

	afterEach(() => {
		server?.close();
		server?.closeAllConnections();
		server = undefined;
	});

	async function failingUrl(status: number): Promise<string> {
		server = createServer((request, response) => {
			request.resume();
			response.writeHead(status, { "content-type": "application/json" });
			response.end('{"error":{"message":"Something went wrong"}}');
		});
		await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
		return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	}

	const model = {
		id: "model",
		name: "model",
		provider: "relay",
		reasoning: false,
		input: ["text" as const],
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
		contextWindow: 100_000,
		maxTokens: 1_000,
	};
	const context = normalizeContext({ messages: [{ role: "user", content: "hello", timestamp: 0 }] });
	const options = { apiKey: "key", maxRetries: 0 };

	it("is the status of the provider's failed answer, with the text as it was", async () => {
		const google: Model<"google-generative-ai"> = {
			...model,
			api: "google-generative-ai",
			baseUrl: await failingUrl(522),
		};
		const message = await streamGoogle(google, context, options).result();
		expect(message).toMatchObject({ stopReason: "error", errorStatus: 522 });
		expect(message.errorMessage).toContain("Something went wrong");
		expect(isRetryableAssistantError(message)).toBe(true);
	});

	it("is there for statuses that no retry can help, too", async () => {
		const openai: Model<"openai-completions"> = {
			...model,
			api: "openai-completions",
			baseUrl: await failingUrl(403),
		};
		const message = await streamOpenAICompletions(openai, context, options).result();
		expect(message).toMatchObject({ stopReason: "error", errorStatus: 403 });
		expect(isRetryableAssistantError(message)).toBe(false);
	});
});
