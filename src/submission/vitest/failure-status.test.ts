import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { stream as streamGoogle } from "../src/api/google-generative-ai.ts";
import { stream as streamOpenAICompletions } from "../src/api/openai-completions.ts";
import type { Model } from "../src/types.ts";
import { normalizeContext } from "../src/utils/transcript.ts";

describe("the HTTP status of a failed answer", () => {
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

	it("is kept in diagnostics, and the text stays as it was", async () => {
		const google: Model<"google-generative-ai"> = {
			...model,
			api: "google-generative-ai",
			baseUrl: await failingUrl(522),
		};
		const message = await streamGoogle(google, context, options).result();
		expect(message.stopReason).toBe("error");
		expect(message.diagnostics).toEqual([
			{ type: "provider_response_failure", timestamp: expect.any(Number), details: { status: 522 } },
		]);
		expect(message.errorMessage).toContain("Something went wrong");
	});

	it.each([403, 429])("is kept for %i, whatever a retry could do", async (status) => {
		const openai: Model<"openai-completions"> = {
			...model,
			api: "openai-completions",
			baseUrl: await failingUrl(status),
		};
		const message = await streamOpenAICompletions(openai, context, options).result();
		expect(message.diagnostics?.map((diagnostic) => diagnostic.details?.status)).toEqual([status]);
	});

	it("is not there where no answer arrived, or where the user aborted", async () => {
		const openai: Model<"openai-completions"> = {
			...model,
			api: "openai-completions",
			baseUrl: await failingUrl(500),
		};
		const aborted = await streamOpenAICompletions(openai, context, {
			...options,
			signal: AbortSignal.abort(),
		}).result();
		expect(aborted.stopReason).toBe("aborted");
		expect(aborted.diagnostics).toBeUndefined();
		server?.close();
		server?.closeAllConnections();
		const refused = await streamOpenAICompletions(openai, context, options).result();
		expect(refused.stopReason).toBe("error");
		expect(refused.diagnostics).toBeUndefined();
	});
});
