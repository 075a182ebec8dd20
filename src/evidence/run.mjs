// Runs the provider modules of the pi-ai in argv[2] against a relay on 127.0.0.1 that fails in every way of argv[3]
// (JSON: [{ name, status, body }], no status: the connection is reset), and writes one JSON line for each failed turn.
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const packageFolder = process.argv[2];
const scenarios = JSON.parse(process.argv[3]);

const APIS = [
	"anthropic-messages",
	"azure-openai-responses",
	"bedrock-converse-stream",
	"google-generative-ai",
	"google-vertex",
	"mistral-conversations",
	"openai-codex-responses",
	"openai-completions",
	"openai-responses",
	"pi-messages",
];

let scenario;
let requests = 0;
const relay = createServer((request, response) => {
	request.resume();
	request.on("end", () => {
		requests++;
		if (scenario.status === undefined) {
			request.socket.resetAndDestroy();
			return;
		}
		response.writeHead(scenario.status, scenario.body ? { "content-type": "application/json" } : {});
		response.end(scenario.body);
	});
});
await new Promise((resolve) => relay.listen(0, "127.0.0.1", resolve));
const baseUrl = `http://127.0.0.1:${relay.address().port}`;

// Codex reads the account out of the token and nothing else.
const claims = { "https://api.openai.com/auth": { chatgpt_account_id: "account" } };
const codexToken = `x.${Buffer.from(JSON.stringify(claims)).toString("base64")}.x`;

const { isRetryableAssistantError } = await import(pathToFileURL(join(packageFolder, "dist/utils/retry.js")));
const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
for (const api of APIS) {
	const module = join(packageFolder, `dist/api/${api}.js`);
	// pi-messages came with 0.80.7.
	if (!existsSync(module)) continue;
	const { stream } = await import(pathToFileURL(module));
	const model = { id: "model", name: "model", api, provider: "relay", baseUrl, reasoning: false, input: ["text"], cost };
	Object.assign(model, { contextWindow: 100_000, maxTokens: 1000 });
	const apiKey = api === "openai-codex-responses" ? codexToken : "key";
	for (scenario of scenarios) {
		const before = requests;
		const context = { messages: [{ role: "user", content: "hello", timestamp: 0 }] };
		const options = { apiKey, maxRetries: 0, transport: "sse", timeoutMs: 20_000 };
		const message = await stream(model, context, options).result();
		const { stopReason, errorMessage, diagnostics } = message;
		const retryable = isRetryableAssistantError(message);
		// The relay's port differs from run to run.
		const text = errorMessage?.replaceAll(baseUrl, "http://relay");
		const result = { api, scenario: scenario.name, requests: requests - before, stopReason, errorMessage: text, diagnostics, retryable };
		process.stdout.write(`${JSON.stringify(result)}\n`);
	}
}
relay.close();
relay.closeAllConnections();
