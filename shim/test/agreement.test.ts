/**
 * The extension's engine against the Rust reference, in one process: the whole corpus, then random messages and payloads.
 * `AGREEMENT=20000000 npm test -- agreement.test.ts` is the long run.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { classify, cutRequestIds, PREFIX } from "../src/engine.ts";
import type { Form } from "../src/memory.ts";
import { prepare } from "../src/remedies.ts";
import { recorded } from "./payloads/payloads.ts";
import { Random } from "./random.ts";

interface Native {
	classify(messages: string, profile: string): string;
	cutRequestIds(texts: string[]): string[];
	rewrite(texts: string[]): string[];
	rules(): string;
	prepare(payloads: string, form: string, off: boolean, cannotBeOff: boolean): string;
}

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const COUNT = Number(process.env.AGREEMENT ?? 200_000);
const BATCH = 1_000;

/** Builds the binding and loads a copy, so that a later build never writes into a loaded library. */
function load(): Native {
	const args = ["build", "-p", "pi-retry-forced-native", "--message-format=json-render-diagnostics"];
	const cargo = spawnSync(process.env.CARGO ?? "cargo", args, { cwd: ROOT, encoding: "utf8", maxBuffer: 2 ** 28 });
	assert.equal(cargo.status, 0, `cargo ${args.join(" ")} failed:\n${cargo.stderr}`);
	const library = cargo.stdout
		.split("\n")
		.filter((line) => line.startsWith("{"))
		.map((line) => JSON.parse(line))
		.findLast(({ reason, target }) => reason === "compiler-artifact" && target.name === "pi_retry_forced_native")
		?.filenames.find((name: string) => /\.(?:so|dylib|dll)$/.test(name));
	assert.ok(library, "cargo names the library that it built");
	const folder = mkdtempSync(join(tmpdir(), "pi-retry-forced-native-"));
	after(() => rmSync(folder, { recursive: true, force: true }));
	const copy = join(folder, "native.node");
	copyFileSync(library, copy);
	return createRequire(import.meta.url)(copy);
}

const native = load();
const corpus = join(ROOT, "tests/corpus");
const messages: Record<string, unknown>[] = readdirSync(corpus)
	.filter((name) => name.endsWith(".jsonl"))
	.flatMap((name) => readFileSync(join(corpus, name), "utf8").trim().split("\n"))
	.map((line) => JSON.parse(line));
const rules: { hits: string[]; misses: string[] }[] = JSON.parse(native.rules());
const texts = [
	...messages.map(({ errorMessage }) => errorMessage).filter((text) => typeof text === "string"),
	...rules.flatMap(({ hits, misses }) => [...hits, ...misses]),
];

const FORMS: Form[] = ["plain", "text", "none", "unlinked", "signed", "replaced", "filled", "omitted", "unsealed"];

function compare(batch: Record<string, unknown>[]): void {
	const reference: unknown[] = JSON.parse(native.classify(JSON.stringify(batch), "full"));
	for (const [index, message] of batch.entries()) {
		const own = classify(message, message.status);
		assert.deepEqual({ ...own }, reference[index], `seed case: ${JSON.stringify(message)}`);
	}
}

function comparePayloads(batch: unknown[], form: Form, off: boolean, cannotBeOff: boolean): void {
	// The same object is what "nothing to change" means here.
	const results = batch.map((payload) => {
		const prepared = prepare(payload, { form, off }, cannotBeOff);
		return prepared === payload ? null : prepared;
	});
	const reference = native.prepare(JSON.stringify(batch), form, off, cannotBeOff);
	// Equal texts are equal values; only where they differ is it worth while to look for the place.
	if (JSON.stringify(results) !== reference) assert.deepEqual(results, JSON.parse(reference));
}

describe("the extension and the reference", () => {
	it("agree on the whole corpus and all examples of the rules", () => {
		const statuses = [undefined, 400, 401, 404, 424, 429, 500, 503, 522];
		compare(messages);
		for (const status of statuses) compare(texts.map((errorMessage) => ({ errorMessage, status })));
	});

	it(`agree on ${COUNT} random messages`, () => {
		const random = new Random(20261130);
		const leads = ["", "", "400 ", "400: ", "relay API error (429): ", "Error: 503 ", "status_code=500, ", PREFIX];
		const statuses = [
			undefined,
			undefined,
			400,
			400,
			401,
			404,
			408,
			424,
			429,
			500,
			502,
			529,
			200,
			600,
			503.5,
			"503",
		];
		const verdicts = new Set<string>();
		for (let done = 0; done < COUNT; done += BATCH) {
			const batch = Array.from({ length: BATCH }, () => {
				const text = random.pick(leads) + random.text(texts);
				const message: Record<string, unknown> = { errorMessage: text, status: random.pick(statuses) };
				if (random.below(8) === 0) message.errorStatus = random.pick(statuses);
				if (random.below(8) === 0) message.diagnostics = [{ details: { status: random.pick(statuses) } }];
				if (random.below(16) === 0) message.stopReason = random.pick(["stop", "aborted", "error", ""]);
				return message;
			});
			compare(batch);
			for (const message of batch.slice(0, 50)) verdicts.add(classify(message, message.status).rule);
			const own = batch.map(({ errorMessage }) => (errorMessage as string).toWellFormed());
			assert.deepEqual(own.map(cutRequestIds), native.cutRequestIds(own));
			assert.deepEqual(
				own.map((text) => (text.startsWith(PREFIX) ? text : PREFIX + text)),
				native.rewrite(own),
			);
		}
		assert.ok(verdicts.size > 30, `the messages reach many rules: ${verdicts.size}`);
	});

	it("agree on what a real pi sends with its built-in models", () => {
		for (const form of FORMS)
			for (const off of [false, true])
				for (const cannotBeOff of [false, true])
					comparePayloads(
						recorded.map(({ payload }) => payload),
						form,
						off,
						cannotBeOff,
					);
	});

	it(`agree on ${COUNT} random payloads`, () => {
		const random = new Random(7);
		for (let done = 0; done < COUNT; done += BATCH) {
			const batch = Array.from({ length: BATCH }, () => random.anyPayload());
			for (const form of FORMS) comparePayloads(batch, form, random.below(2) === 1, random.below(4) === 0);
		}
	});
});
