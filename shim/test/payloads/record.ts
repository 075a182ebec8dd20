/**
 * Records what a real pi sends with its own built-in models of each API, with thinking and tool calls in the history, as
 * an extension sees it: a new prompt, and a turn that is open. Prompts, tools and paths are cut; the answers are a pool's.
 *
 *   node run.mjs payloads/record.ts
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Pi } from "../pi.ts";
import { type Rules, startPool } from "../pool/pool.ts";
import { NEWEST } from "../releases.mjs";
import { FILE } from "./payloads.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));
/** A token that says nothing, in the form that codex reads an account from. */
const TOKEN = `e30.${btoa(JSON.stringify({ "https://api.openai.com/auth": { chatgpt_account_id: "a" } }))}.x`;

interface Recorded {
	provider: string;
	model: string;
	/** Where the API is, below the host. */
	path?: string;
	apiKey?: string;
	rules?: Partial<Rules>;
}

/** A built-in model of each API that is repaired, and two where pi sends different things. */
const MODELS: Recorded[] = [
	{ provider: "anthropic", model: "claude-haiku-4-5" },
	{ provider: "anthropic", model: "claude-opus-5" },
	{ provider: "openai", model: "gpt-5.1", path: "/v1" },
	{ provider: "azure", model: "gpt-5.1", path: "/openai/v1" },
	{ provider: "openai-codex", model: "gpt-6-sol", apiKey: TOKEN },
	{ provider: "google", model: "gemini-3.1-pro-preview", path: "/v1beta" },
	{ provider: "google-vertex", model: "gemini-3.1-pro-preview" },
	{ provider: "deepseek", model: "deepseek-v4-pro", path: "/v1" },
	{
		provider: "openrouter",
		model: "deepseek/deepseek-v4-pro",
		path: "/v1",
		rules: { reasoningDetails: true, passBack: false },
	},
	{
		provider: "mistral",
		model: "magistral-medium-latest",
		rules: { thinkingChunks: true, passBack: false },
	},
];

/** A payload without what is pi's, this machine's or this run's. */
function cut(value: unknown, key = ""): unknown {
	if (typeof value === "string") {
		const isOfThisRun = /cache_?key|session|user_?id/i.test(key);
		return isOfThisRun || key === "description" || value.length > 150 ? "…" : value;
	}
	if (Array.isArray(value)) return (key === "tools" ? value.slice(0, 1) : value).map((entry) => cut(entry));
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, cut(inner, name)]));
}

async function record({ provider, model, path = "", apiKey = "k", rules }: Recorded): Promise<unknown[]> {
	const pool = await startPool({ seed: 3, rules: { alternation: false, ...rules } });
	const pi = await new Pi({
		release: NEWEST,
		providers: { [provider]: { baseUrl: `${pool.url()}${path}`, apiKey } },
		model: `${provider}/${model}`,
		extensions: [join(HERE, "..", "extensions", "record.ts")],
		thinking: "high",
		settings: { retry: { enabled: false }, transport: "sse" },
	}).prepare();
	const file = join(pi.home, "payloads.jsonl");
	pi.setup.env = { PAYLOADS: file };
	try {
		await pi.print("Work with [tools 2], please.");
		await pi.print("Work with [tools 1], please.", "--continue");
		const { requests, served } = pool.counts();
		if (requests < 4 || served < requests)
			throw new Error(`${provider}/${model}: ${served} of ${requests} served: ${pi.stderr}`);
		const payloads = readFileSync(file, "utf8").trim().split("\n");
		return payloads.slice(-2).map((line) => cut({ pi: NEWEST, ...JSON.parse(line) }));
	} finally {
		await pi.close();
		pool.close();
	}
}

const lines: unknown[] = [];
for (const model of MODELS) lines.push(...(await record(model)));
const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
writeFileSync(FILE, text);
console.log(`${lines.length} payloads of ${MODELS.length} built-in models, pi ${NEWEST}`);
