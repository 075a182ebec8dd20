/** What the extension promises, one test a promise, against a stand-in for pi with the classifier of 1.6.0. */

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { cutRequestIds, PREFIX } from "../src/engine.ts";
import { DATA } from "../src/rules.generated.ts";
import { namedWait } from "../src/waits.ts";
import { wordingOf } from "../src/wording.ts";
import { FakePi, MODEL } from "./fake.ts";

const TRANSIENT =
	'400 {"error":{"message":"This request is not supported. (request id: 20261129120000123456789AbCdEfGh)"}}';
const REJECTED = "400 upstream rejected the request: ***.***.content.11: Invalid `signature` in `thinking` block";

const payload = () => ({
	model: "m",
	thinking: { type: "enabled", budget_tokens: 1024 },
	messages: [
		{ role: "user", content: "go" },
		{
			role: "assistant",
			content: [
				{ type: "thinking", thinking: " why ", signature: "S" },
				{ type: "redacted_thinking", data: "R" },
				{ type: "thinking", thinking: "  ", signature: "S" },
				{ type: "tool_use", id: "a", name: "x", input: { signature: "kept", thinking: "kept" } },
				{ type: "text", text: "between" },
				{ type: "tool_use", id: "b", name: "y", input: {} },
			],
		},
		{ role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "ok" }] },
	],
});

describe("the rewrite", () => {
	it("puts 503 before the whole original, request id included", async () => {
		const pi = await new FakePi().start();
		assert.equal(await pi.fail(TRANSIENT), PREFIX + TRANSIENT);
		assert.equal(PREFIX, "503 service unavailable (retry-forced): ");
		assert.equal(PREFIX, DATA.rewritePrefix);
	});

	it("leaves permanent conditions untouched", async () => {
		const pi = await new FakePi().start();
		for (const text of [
			'400 {"error":{"message":"The model gpt-9 does not exist"}}',
			'401 {"error":{"message":"invalid x-api-key"}}',
			'403 {"error":{"message":"Your account does not have permission"}}',
			'400 {"error":{"message":"Blocked by content policy"}}',
			'400 {"error":{"message":"Your credit balance is too low"}}',
			'400 {"error":{"message":"Unsupported parameter: \'top_k\'"}}',
		])
			assert.equal(await pi.fail(text), text);
		const permanent = DATA.rules.filter((rule) => rule.decision === "stop");
		assert.ok(permanent.length > 10 && permanent.every((rule) => rule.why !== ""), "a list that users can read");
	});

	it("never touches a successful or aborted turn, or another role", async () => {
		const pi = await new FakePi().start();
		for (const message of [
			{ stopReason: "stop", errorMessage: TRANSIENT },
			{ stopReason: "aborted", errorMessage: TRANSIENT },
			{ stopReason: "error", errorMessage: "" },
			{ stopReason: "error" },
			{ role: "user", stopReason: "error", errorMessage: TRANSIENT },
			{ role: "toolResult", stopReason: "error", errorMessage: TRANSIENT },
		])
			assert.equal(await pi.end(message), "errorMessage" in message ? message.errorMessage : undefined);
	});

	it("is made for proxies only: host names compared, not substrings", async () => {
		for (const [baseUrl, proxied] of [
			["https://api.anthropic.com", false],
			["https://API.OpenAI.com./v1", false],
			["http://localhost:8317", false],
			["http://127.1.2.3", false],
			["http://[::1]:80", false],
			["http://[::ffff:127.0.0.1]", false],
			["http://dev.localhost", false],
			["not a url", false],
			["", false],
			[undefined, false],
			["https://api.anthropic.com.example", true],
			["https://relay.example/api.openai.com", true],
			["https://myapi.openai.com", true],
			["http://10.0.0.1", true],
		] as const) {
			const pi = await new FakePi({ ...MODEL, baseUrl }).start();
			assert.equal(await pi.fail(TRANSIENT), proxied ? PREFIX + TRANSIENT : TRANSIENT, String(baseUrl));
		}
	});

	it("returns a whole message of the same role, and leaves the given one as it was", async () => {
		const pi = await new FakePi().start();
		const message = Object.freeze({
			role: "assistant",
			provider: "relay",
			model: "m",
			api: MODEL.api,
			stopReason: "error",
			errorMessage: TRANSIENT,
			usage: { input: 1 },
		});
		const result = await pi.fire("message_end", { type: "message_end", message });
		assert.deepEqual(result, { message: { ...message, errorMessage: PREFIX + TRANSIENT } });
	});

	it("sets errorStatus where a fork has set it, and only there", async () => {
		const pi = await new FakePi().start();
		const message = {
			role: "assistant",
			provider: "relay",
			model: "m",
			api: MODEL.api,
			stopReason: "error",
			errorMessage: TRANSIENT,
		};
		const forked = (await pi.fire("message_end", { message: { ...message, errorStatus: 400 } })) as {
			message: object;
		};
		assert.equal((forked.message as { errorStatus: number }).errorStatus, 503);
		const plain = (await pi.fire("message_end", { message })) as { message: object };
		assert.ok(!("errorStatus" in plain.message));
	});

	it("is not repeated", async () => {
		const pi = await new FakePi().start();
		assert.equal(await pi.fail(PREFIX + TRANSIENT), PREFIX + TRANSIENT);
	});

	it("is not made for what pi retries anyway, nor for what it would refuse, nor for an overflow", async () => {
		const pi = await new FakePi().start();
		for (const text of [
			"529 overloaded",
			'522 {"error":{"message":"the billing service did not answer"}}',
			'413 {"error":{"type":"request_too_large"}}',
		])
			assert.equal(await pi.fail(text), text);
		const report = await pi.command("retry-forced");
		assert.match(report, /1 failed turn left alone, pi retries them by itself/);
		assert.match(report, /pi's own list of limits/);
	});
});

describe("the repair", () => {
	it("retries a rejection and strips the next request, reasoning kept", async () => {
		const pi = await new FakePi().start();
		const sent = payload();
		assert.equal(await pi.send(sent), sent, "the same object before the first rejection");
		assert.equal(await pi.fail(REJECTED), PREFIX + REJECTED);
		const stripped = (await pi.send(sent)) as ReturnType<typeof payload>;
		assert.deepEqual(stripped.messages[1].content, [
			{ type: "text", text: " why " },
			{ type: "tool_use", id: "a", name: "x", input: { signature: "kept", thinking: "kept" } },
			{ type: "text", text: "between" },
			{ type: "tool_use", id: "b", name: "y", input: {} },
		]);
		assert.equal(stripped.messages[0], sent.messages[0], "untouched messages are not copied");
		assert.deepEqual(sent, payload(), "the given payload is left as it was");
		assert.equal(pi.status, "thinking repaired for this relay");
		assert.match(
			pi.notices[0],
			/the relay refused a thinking signature \(400\); trying again: earlier thinking is sent as plain text/,
		);
	});

	it("is kept in the session's entries and shared by the sessions of the process", async () => {
		const pi = await new FakePi().start();
		await pi.send(payload());
		await pi.fail(REJECTED);
		await pi.start("reload");
		assert.notDeepEqual(await pi.send(payload()), payload());
		const other = await new FakePi(undefined, true).start();
		assert.notDeepEqual(await other.send(payload()), payload());
		const resumed = new FakePi();
		resumed.entries.push(...pi.entries);
		await resumed.start("resume");
		assert.notDeepEqual(await resumed.send(payload()), payload());
		assert.match(await resumed.command("thinking-sig"), /learned in this session:\n {2}relay\/m at relay.example/);
		const fresh = await new FakePi().start();
		assert.deepEqual(await fresh.send(payload()), payload());
		assert.equal(fresh.status, undefined);
	});

	it("strips for the endpoint and model that rejected, and for no other", async () => {
		const pi = await new FakePi().start();
		await pi.send(payload());
		await pi.fail(REJECTED);
		for (const other of [
			{ ...MODEL, id: "m2" },
			{ ...MODEL, baseUrl: "https://relay.example:8443/v1" },
			{ ...MODEL, provider: "direct", baseUrl: "https://api.anthropic.com" },
		]) {
			pi.ctx.model = other;
			assert.deepEqual(await pi.send(payload()), payload(), JSON.stringify(other));
		}
	});

	it("is not moved by requests that have no turn", async () => {
		const pi = await new FakePi().start();
		await pi.send(payload());
		await pi.fail(REJECTED);
		const stripped = await pi.send(payload());
		const ping = { ...payload(), max_tokens: 1 };
		assert.deepEqual(
			await pi.ping(ping),
			{ ...(stripped as object), max_tokens: 1 },
			"the same cache is kept warm",
		);
		await pi.end({ stopReason: "stop", content: [] });
		await pi.ping(payload());
		const entries = pi.entries.length;
		await pi.send(payload());
		await pi.end({ stopReason: "stop", content: [] });
		assert.equal(pi.entries.length, entries);
	});

	it("always strips from the start, off never, and both by command", async () => {
		const pi = await new FakePi().start();
		assert.match(await pi.command("thinking-sig", "always"), /^thinking-sig: always/);
		assert.notDeepEqual(await pi.send(payload()), payload());
		assert.match(await pi.command("thinking-sig", " OFF "), /^thinking-sig: off/);
		assert.equal(await pi.fail(REJECTED), PREFIX + REJECTED, "rejections are still retried");
		assert.deepEqual(await pi.send(payload()), payload());
		assert.match(await pi.command("thinking-sig"), /^thinking-sig: off; requests are sent as they are/);
		assert.match(await pi.command("thinking-sig", "maybe"), /one of auto, always, off/);
	});

	it("completes its arguments", () => {
		const complete = new FakePi().commands.get("thinking-sig")?.getArgumentCompletions;
		assert.deepEqual(
			complete?.("a")?.map(({ value }) => value),
			["auto", "always"],
		);
		assert.equal(complete?.("x"), null);
	});

	it("goes on to the next remedy once, then leaves the failure to pi", async () => {
		const pi = await new FakePi().start();
		const types = (sent: unknown) =>
			(sent as { messages: { content: { type: string }[] }[] }).messages[1].content.map(({ type }) => type);
		await pi.send(payload());
		await pi.fail(REJECTED);
		assert.deepEqual(types(await pi.send(payload())), ["text", "tool_use", "text", "tool_use"]);
		assert.equal(await pi.fail(REJECTED), PREFIX + REJECTED);
		assert.deepEqual(types(await pi.send(payload())), ["tool_use", "text", "tool_use"]);
		assert.equal(await pi.fail(REJECTED), REJECTED);
		assert.match(await pi.command("retry-forced"), /nothing \(more\) can be taken out/);
		await pi.fire("before_agent_start", {});
		assert.deepEqual(types(await pi.send(payload())), ["tool_use", "text", "tool_use"], "learned for good");
	});

	it("reads a refusal of visible reasoning in what pi hands on of it", async () => {
		const pi = await new FakePi().start();
		const refusal = "The model refused to complete the request";
		await pi.send(payload());
		assert.equal(await pi.fail(refusal), refusal, "a refusal of a request without visible reasoning is one");
		await pi.send(payload());
		await pi.fail(REJECTED);
		await pi.send(payload());
		assert.equal(await pi.fail(refusal), PREFIX + refusal);
		await pi.send(payload());
		assert.equal(await pi.fail(refusal), refusal);
		await pi.send(payload());
		assert.equal(await pi.fail(refusal), refusal, "never again for a refusal");
	});

	it("reaches the physical model behind a virtual one", async () => {
		const pi = await new FakePi({ provider: "router", id: "auto", api: "virtual", baseUrl: "" }).start();
		pi.ctx.modelRegistry = { find: () => MODEL, getAvailable: () => [MODEL] };
		assert.equal(await pi.fail(REJECTED, { api: MODEL.api }), PREFIX + REJECTED);
		const called = { ...payload(), model: "m" };
		assert.notDeepEqual(await pi.send(called), called);
		assert.deepEqual(await pi.send({ ...payload(), model: "another" }), { ...payload(), model: "another" });
		const direct = { ...MODEL, provider: "anthropic", baseUrl: "https://api.anthropic.com" };
		pi.ctx.modelRegistry.getAvailable = () => [MODEL, direct];
		assert.deepEqual(await pi.send(called), called, "a direct host has a model of that name too");
	});

	it("never strips what demands its reasoning back", async () => {
		const pi = await new FakePi().start();
		await pi.command("thinking-sig", "always");
		const demand = "400 The `reasoning_content` in the thinking mode must be passed back to the API.";
		await pi.send(payload());
		assert.equal(await pi.fail(demand), PREFIX + demand);
		assert.deepEqual(await pi.send(payload()), payload());
		assert.equal(await pi.fail(demand), demand, "it was there: nothing of ours would help");
	});

	it("is not mistaken by other signatures", async () => {
		const pi = await new FakePi().start();
		for (const text of ["401 JWT: invalid signature", "403 InvalidSignatureException: Signature expired"])
			assert.equal(await pi.fail(text), text);
		assert.deepEqual(await pi.send(payload()), payload());
	});
});

describe("the environment variable", () => {
	before(() => {
		process.env.PI_RETRY_FORCED_THINKING = "always";
	});
	after(() => {
		delete process.env.PI_RETRY_FORCED_THINKING;
	});

	it("PI_RETRY_FORCED_THINKING sets the mode", async () => {
		const pi = await new FakePi().start();
		assert.notDeepEqual(await pi.send(payload()), payload());
	});

	it("a wrong value is reported and ignored", async () => {
		process.env.PI_RETRY_FORCED_THINKING = "sometimes";
		const pi = await new FakePi().start();
		assert.match(pi.notices[0], /PI_RETRY_FORCED_THINKING/);
		assert.deepEqual(await pi.send(payload()), payload());
	});
});

describe("/retry-forced", () => {
	it("reports what was converted with the original text", async () => {
		const pi = await new FakePi().start();
		assert.match(await pi.command("retry-forced"), /no failed turn in this session/);
		await pi.fail(TRANSIENT);
		const report = await pi.command("retry-forced");
		assert.ok(report.includes(`  ${TRANSIENT}`));
		assert.match(report, /HTTP 400 \(text\)/);
		assert.match(report, /1 failed turn made retryable/);
		assert.equal(pi.notices.filter((text) => /was made retryable/.test(text)).length, 1);
	});

	it("keeps both ends of an endless original", async () => {
		const pi = await new FakePi().start();
		await pi.fail(
			`400 This request is not supported. ${" ".repeat(1_000_000)}(request id: 20261129120000123456789AbCdEfGh)`,
		);
		await pi.fail(`522 ${"x".repeat(1_000_000)} (request id: the-end)`);
		const report = await pi.command("retry-forced");
		assert.ok(report.length < 50_000 && report.includes("the-end"));
	});

	it("finds the wording of an error", () => {
		const own = (text: string) => wordingOf(cutRequestIds(text));
		assert.equal(
			own('400 {"error":{"message":"Odd \\"thing\\" (request id: 20261129120000123456789AbCdEfGh)","code":1}}'),
			'Odd \\"thing\\"',
		);
		assert.equal(own("400 Odd thing"), "Odd thing");
		assert.equal(own("Odd thing, request_id: abc123"), "Odd thing,");
		assert.equal(own("relay API error (400): Odd thing"), "Odd thing");
	});
});

it("says nothing where nobody reads", async () => {
	const pi = new FakePi();
	pi.ctx.hasUI = false;
	await pi.start();
	await pi.fail(TRANSIENT);
	await pi.fail(REJECTED);
	assert.deepEqual([pi.notices, pi.status], [[], undefined]);
});

it("reads the server's wait in the ways that servers write it", () => {
	for (const [text, ms] of [
		["Please retry in 55s", 55_000],
		['"retryDelay": "7.5s"', 7_500],
		["Please upgrade your plan or wait 6 seconds", 6_000],
		["try again after 2 minutes", 120_000],
		["retry after 300ms", 300],
		["retry 3 times", undefined],
		["waiting 5 requests", undefined],
		["nothing named", undefined],
	] as const)
		assert.equal(namedWait(text), ms, text);
});
