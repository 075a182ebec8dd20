/** The extension in real releases of pi: the same scripts of failures with it and without it. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { PREFIX } from "../src/engine.ts";
import { Pi, type Setup, SHIM, withPi } from "./pi.ts";
import { type Answer, type Block, failed, ok, TRANSIENT, transient } from "./relay.ts";
import { FULL, isOld, NEWEST, RELEASES } from "./releases.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const APIS = ["anthropic-messages", "openai-completions", "google-generative-ai"];
const SIGNATURE = "***.***.content.11: Invalid `signature` in `thinking` block";
const rejection = () =>
	failed(400, `upstream rejected the request: ${SIGNATURE} (request id: 20261129120000123456789AbCdEfGh)`);
const ORDER = "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`";

const thinking: Block = { type: "thinking", thinking: "I should read the note.", signature: "SIG-ONE" };
const redacted: Block = { type: "redacted_thinking", data: "SEALED" };
const readNote: Block = { type: "tool_use", name: "read", input: { path: "note.txt" } };
/** A turn that thinks and calls a tool, so that the next request replays its thinking. */
const toolTurn = (): Answer => ({ blocks: [thinking, { type: "text", text: "Reading." }, readNote] });

type Body = Pi["relay"]["asked"][number]["body"];

/** The blocks that replayed assistant turns consist of. */
function replayed(body: Body): Record<string, unknown>[] {
	const blocks: Record<string, unknown>[] = [];
	for (const message of body.messages ?? [])
		if (message.role === "assistant" && Array.isArray(message.content)) blocks.push(...message.content);
	return blocks;
}

const types = (body: Body) => replayed(body).map((block) => block.type);

function assertNoSignature(pi: Pi, index: number): void {
	const { text, body } = pi.relay.asked[index];
	assert.ok(!/SIG-ONE|SEALED|"signature"|redacted_thinking/.test(text), `request ${index} has a signature`);
	for (const message of body.messages ?? []) assert.notEqual(message.content.length, 0);
	const roles = (body.messages ?? []).map((message) => message.role).filter((role) => role !== "system");
	for (const [at, role] of roles.entries()) assert.notEqual(role, roles[at - 1], "roles alternate");
}

/** Runs one prompt and tells what came of it. */
async function once(
	setup: Setup,
): Promise<{ requests: number; out: string; errors: (string | undefined)[]; stderr: string }> {
	let result = { requests: 0, out: "", errors: [] as (string | undefined)[], stderr: "" };
	await withPi(setup, async (pi) => {
		await pi.print();
		const errors = pi.saved().map((message) => message.errorMessage);
		result = { requests: pi.relay.asked.length, out: pi.stdout, errors, stderr: pi.stderr };
	});
	return result;
}

const PERMANENT: [name: string, answer: () => Answer, retriedBy0742?: boolean][] = [
	[
		"a permanent 400",
		() => failed(400, "Unknown parameter: 'reasoning_depth'. (request id: 20261129120000123456789AbCdEfGh)"),
	],
	["a 401", () => failed(401, "invalid x-api-key")],
	["a 404", () => failed(404, "model: no such model")],
	["a 413", () => failed(413, "Request Entity Too Large")],
	["a plan limit in a 429", () => failed(429, "You exceeded your current quota, insufficient_quota"), true],
];

for (const release of RELEASES) {
	const full = FULL.includes(release);

	describe(`pi ${release}`, { concurrency: 3 }, () => {
		for (const api of APIS) {
			it(`${api}: the relay's transient 400 is retried with the extension only`, async () => {
				const script = [transient(), ok("fine")];
				const bare = await once({ release, api, script, extensions: [] });
				assert.equal(bare.requests, 1);
				const { requests, out, errors, stderr } = await once({ release, api, script });
				assert.equal(requests, 2);
				assert.equal(out, "fine\n", "nothing but the result is printed");
				assert.equal(stderr, "");
				assert.equal(errors[0], PREFIX + bare.errors[0], "the original stands whole behind the prefix");
				assert.ok(errors[0]?.includes(TRANSIENT), "the request id too");
			});

			it(`${api}: an unknown 5xx is retried by its status`, async () => {
				const script = [failed(522, "origin did not answer"), ok("fine")];
				// The SDKs of 0.74.2 send again by themselves.
				if (!isOld(release)) assert.equal((await once({ release, api, script, extensions: [] })).requests, 1);
				const { requests, out } = await once({ release, api, script });
				assert.equal(requests, 2);
				assert.equal(out, "fine\n");
			});

			if (api !== "google-generative-ai" || full)
				for (const [name, answer, retriedBy0742] of PERMANENT) {
					if (isOld(release) && retriedBy0742) continue;
					it(`${api}: ${name} is sent once and its text is unchanged`, async () => {
						const bare = await once({ release, api, script: [answer(), ok()], extensions: [] });
						const { requests, errors } = await once({ release, api, script: [answer(), ok()] });
						assert.equal(requests, 1);
						assert.deepEqual(errors, bare.errors);
					});
				}
		}

		it("a rejected signature inside an open tool loop: retried with text in place of thinking", async () => {
			await withPi({ release, script: [toolTurn(), rejection(), ok("fine")] }, async (pi) => {
				await pi.print();
				assert.equal(pi.stdout, "fine\n");
				assert.equal(pi.relay.asked.length, 3);
				assert.ok(pi.relay.asked[1].text.includes("SIG-ONE"), "byte-identical before the first rejection");
				assertNoSignature(pi, 2);
				const [text, second, tool] = replayed(pi.relay.asked[2].body);
				assert.deepEqual(text, { type: "text", text: "I should read the note." });
				assert.equal(second.text, "Reading.");
				assert.deepEqual([tool.type, tool.name, tool.input], ["tool_use", "read", { path: "note.txt" }]);
			});
		});

		it("is installed by `pi install` and works from there", async () => {
			await withPi({ release, script: [transient(), ok("fine")], extensions: [] }, async (pi) => {
				assert.equal(await pi.run(["install", SHIM]), 0, pi.stderr);
				pi.stderr = "";
				await pi.print();
				assert.equal(pi.relay.asked.length, 2);
				assert.equal(pi.stdout, "fine\n");
			});
		});

		it("is installed from the repository's root as well", async () => {
			await withPi({ release, script: [transient(), ok("fine")], extensions: [] }, async (pi) => {
				assert.equal(await pi.run(["install", join(SHIM, "..")]), 0, pi.stderr);
				pi.stderr = "";
				await pi.print();
				assert.equal(pi.relay.asked.length, 2);
				assert.equal(pi.stdout, "fine\n");
			});
		});

		if (!full) return;

		it("further rejections: thinking off, then blocks dropped, then left to pi", async () => {
			const order = failed(400, ORDER);
			const script = [toolTurn(), rejection(), order, order, order, ok()];
			await withPi(
				{ release, script, settings: { retry: { enabled: true, maxRetries: 9, baseDelayMs: 5 } } },
				async (pi) => {
					await pi.print();
					assert.equal(pi.relay.asked.length, 5);
					for (const index of [2, 3, 4]) assertNoSignature(pi, index);
					const modes = pi.relay.asked.slice(2).map(({ body }) => (body.thinking as { type: string }).type);
					assert.deepEqual(modes, ["enabled", "disabled", "disabled"]);
					assert.deepEqual(types(pi.relay.asked[3].body), ["text", "text", "tool_use"]);
					assert.deepEqual(types(pi.relay.asked[4].body), ["text", "tool_use"]);
					const errors = pi
						.saved()
						.map((message) => message.errorMessage)
						.filter(Boolean);
					assert.deepEqual(
						errors.map((text) => text?.startsWith(PREFIX)),
						[true, true, true, false],
					);
				},
			);
		});

		it("the second remedy can succeed", async () => {
			await withPi({ release, script: [toolTurn(), rejection(), failed(502, ORDER), ok("fine")] }, async (pi) => {
				await pi.print();
				assert.equal(pi.relay.asked.length, 4);
				assert.equal(pi.stdout, "fine\n");
			});
		});

		it("a rejection that pi retries by itself is repaired all the same", async () => {
			await withPi({ release, script: [toolTurn(), failed(500, SIGNATURE), ok("fine")] }, async (pi) => {
				await pi.print();
				assert.equal(pi.stdout, "fine\n");
				assertNoSignature(pi, 2);
				assert.ok(!pi.saved().some((message) => message.errorMessage?.startsWith(PREFIX)), "nothing rewritten");
			});
		});

		it("always: stripped from the first replay on", async () => {
			const env = { PI_RETRY_FORCED_THINKING: "always" };
			const blocks = [redacted, thinking, readNote];
			await withPi({ release, env, script: [{ blocks }, ok("fine")] }, async (pi) => {
				await pi.print();
				assert.equal(pi.stdout, "fine\n");
				assertNoSignature(pi, 1);
				assert.deepEqual(types(pi.relay.asked[1].body), ["text", "tool_use"]);
			});
		});

		it("off: never stripped, rejections are still retried", async () => {
			const script = [toolTurn(), rejection(), ok("fine")];
			await withPi({ release, config: { thinking: "off" }, script }, async (pi) => {
				await pi.print();
				assert.equal(pi.relay.asked.length, 3);
				assert.equal(pi.relay.asked[2].text, pi.relay.asked[1].text);
			});
		});

		it("without a rejection every request is byte-identical to one without the extension", async () => {
			const texts: string[][] = [];
			for (const extensions of [[], [SHIM]])
				await withPi(
					{ release, extensions, script: [toolTurn(), failed(503, "busy"), ok("fine")] },
					async (pi) => {
						await pi.print();
						// Ids of calls, times and folders differ from run to run.
						const steady = (text: string) =>
							text
								.replace(/toolu_\w+/g, "toolu")
								.replaceAll(pi.home, "HOME")
								.replace(/[0-9a-f-]{36}/g, "UUID")
								.replace(/\d+ms/g, "0ms");
						texts.push(pi.relay.asked.map(({ text }) => steady(text)));
					},
				);
			assert.equal(texts[0].length, 3);
			assert.deepEqual(texts[1], texts[0]);
		});

		for (const [name, baseUrl, config, requests] of [
			["a direct host is left alone", "http://api.anthropic.com:%PORT%", undefined, 1],
			["loopback is left alone", "http://127.0.0.1:%PORT%", undefined, 1],
			["loopback is a relay if configured", "http://localhost:%PORT%", { proxyHosts: ["localhost"] }, 2],
			["a configured direct host is left alone", "http://relay.test:%PORT%", { directHosts: ["relay.test"] }, 1],
			[
				"a name that only contains a direct host is a relay",
				"http://api.anthropic.com.relay.test:%PORT%",
				undefined,
				2,
			],
		] as const)
			it(name, async () => {
				const result = await once({ release, baseUrl, config, script: [transient(), ok()] });
				assert.equal(result.requests, requests);
				assert.equal(result.errors[0]?.startsWith(PREFIX), requests === 2);
			});

		it("environment variables name hosts, with port", async () => {
			const env = { PI_RETRY_FORCED_PROXY_HOSTS: "127.0.0.1:1, 127.0.0.1" };
			const result = await once({
				release,
				env,
				baseUrl: "http://127.0.0.1:%PORT%",
				script: [transient(), ok()],
			});
			assert.equal(result.requests, 2);
		});

		it("an invalid configuration is ignored as a whole", async () => {
			const config = { directHosts: ["relay.test"], thinking: "sometimes" };
			assert.equal((await once({ release, config, script: [transient(), ok()] })).requests, 2);
			const nonsense = await once({ release, config: "{ nonsense", script: [transient(), ok("fine")] });
			assert.deepEqual([nonsense.requests, nonsense.out, nonsense.stderr], [2, "fine\n", ""]);
		});

		it("a project's configuration counts only if the project is trusted", async () => {
			const projectConfig = { directHosts: ["relay.test"] };
			for (const [trust, requests] of [
				["never", 2],
				["always", 1],
			] as const) {
				const settings = { defaultProjectTrust: trust };
				const result = await once({ release, projectConfig, settings, script: [transient(), ok()] });
				assert.equal(result.requests, requests, `defaultProjectTrust ${trust}`);
			}
		});

		it("own wordings: retry and stop", async () => {
			const config = { retry: ["Mystery Hiccup"], stop: ["no more of this"] };
			assert.equal((await once({ release, config, script: [failed(400, "mystery hiccup"), ok()] })).requests, 2);
			const stop = failed(522, "No more of this");
			assert.equal((await once({ release, config, script: [stop, ok()] })).requests, 1);
		});

		it("the server's veto is respected", async () => {
			const veto = failed(400, TRANSIENT, { "x-should-retry": "false" });
			const { requests, errors } = await once({ release, script: [veto, ok()] });
			assert.equal(requests, 1);
			assert.ok(!errors[0]?.startsWith(PREFIX));
		});

		it("with pi's retry switched off nothing is rewritten", async () => {
			const settings = { retry: { enabled: false } };
			const { requests, errors } = await once({ release, settings, script: [transient(), ok()] });
			assert.equal(requests, 1);
			assert.ok(!errors[0]?.startsWith(PREFIX));
		});

		it("pi's budget holds", async () => {
			const script = Array.from({ length: 9 }, transient);
			assert.equal((await once({ release, script })).requests, 4);
		});

		it("JSON mode prints JSON and nothing else", async () => {
			await withPi({ release, script: [transient(), ok("fine")] }, async (pi) => {
				await pi.run([...pi.modelArgs, "--mode", "json", "go"]);
				for (const line of pi.stdout.trim().split("\n")) JSON.parse(line);
				assert.equal(pi.stderr, "");
				assert.equal(pi.relay.asked.length, 2);
			});
		});

		it("another extension's requests are not taken for the model's answer", async () => {
			const setup = {
				release,
				api: "google-generative-ai",
				// Without a status nothing in this text speaks for another attempt; a 503 would.
				script: [{ status: 400, body: { error: { message: "No way" } } }, ok()],
				extensions: [join(HERE, "extensions", "busy.ts"), SHIM],
			};
			for (const when of ["during", "before", "after"]) {
				await withPi({ ...setup, env: { BUSY_WHEN: when } }, async (pi) => {
					pi.relay.aside = ({ body }) =>
						body.busy ? { status: 503, body: {}, delayMs: when === "during" ? 300 : 0 } : undefined;
					await pi.print();
					assert.equal(pi.relay.asked.length, 1, `a busy extension ${when} the call`);
					assert.ok(!pi.saved()[0].errorMessage?.startsWith(PREFIX));
				});
			}
		});

		it("a resumed session goes on without signatures, another session with them", async () => {
			await withPi({ release, script: [toolTurn(), rejection(), ok(), toolTurn(), ok("fine")] }, async (pi) => {
				await pi.print("one");
				await pi.print("two", "-c");
				assert.equal(pi.relay.asked.length, 5);
				assertNoSignature(pi, 3);
				assertNoSignature(pi, 4);
				pi.relay.script = [toolTurn(), ok()];
				await pi.print("three");
				assert.equal(pi.relay.asked.length, 7);
				assert.ok(pi.relay.asked[6].text.includes("SIG-ONE"));
			});
		});

		it("commands, reload, new session and fork", async () => {
			const setup = {
				release,
				script: [toolTurn(), rejection(), ok()],
				extensions: [SHIM, join(HERE, "extensions", "reload.ts")],
			};
			await withPi(setup, async (pi) => {
				pi.open();
				assert.match(await pi.slash("/thinking-sig"), /auto; requests are sent as they are/);
				assert.match(await pi.slash("/retry-forced"), /no failed turn/);
				assert.match(await pi.slash("/retry-forced add-last retry"), /nothing added/);
				assert.match(await pi.slash("/thinking-sig maybe"), /one of auto, always, off/);
				await pi.prompt("one");
				assert.equal(pi.relay.asked.length, 3);
				assert.ok(
					pi.notices().some((text) => /refused a thinking signature \(400\); trying again/.test(text)),
					"one notification",
				);
				const report = await pi.slash("/retry-forced");
				assert.match(report, /1 failed turn made retryable/);
				assert.ok(report.includes("request id: 20261129120000123456789AbCdEfGh"), "with the original");
				const status = pi.records
					.filter((record) => record.method === "setStatus")
					.map((record) => record.statusText);
				assert.deepEqual(status, ["thinking repaired for this relay"]);

				await pi.slash("/reload-for-test");
				assert.match(await pi.slash("/thinking-sig"), /learned in this session/);
				pi.relay.script = [ok()];
				await pi.prompt("two");
				assertNoSignature(pi, 3);

				// A fork from before the rejection is of the same conversation with the same relay.
				const { data } = (await pi.ask({ type: "get_fork_messages" })) as {
					data: { messages: { entryId: string }[] };
				};
				await pi.ask({ type: "fork", entryId: data.messages[1].entryId });
				assert.match(await pi.slash("/thinking-sig"), /earlier thinking is sent as plain text/);

				await pi.ask({ type: "new_session" });
				// What the relay accepts is known in this process, though this session has learned nothing.
				assert.doesNotMatch(await pi.slash("/thinking-sig"), /learned in this session/);
				pi.relay.script = [toolTurn(), ok()];
				await pi.prompt("three");
				assertNoSignature(pi, pi.relay.asked.length - 1);

				assert.match(await pi.slash("/thinking-sig always"), /always/);
				pi.relay.script = [
					ok(),
					failed(400, "Odd new wording of a relay (request id: 20261129120000123456789AbCdEfGh)"),
				];
				await pi.prompt("four");
				assertNoSignature(pi, pi.relay.asked.length - 1);
				await pi.prompt("five");
				assert.match(await pi.slash("/retry-forced add-last retry"), /Odd new wording of a relay$/);
				assert.deepEqual(pi.read("retry-forced.json"), { retry: ["HTTP 400: Odd new wording of a relay"] });
				pi.relay.script = [failed(400, "Odd new wording of a relay (request id: 1)"), ok()];
				const before = pi.relay.asked.length;
				await pi.prompt("six");
				assert.equal(pi.relay.asked.length, before + 2);
			});
		});

		it("warns once when pi's retry is off or the server's wait is longer than pi's", async () => {
			const off = { release, settings: { retry: { enabled: false } }, script: [transient(), transient()] };
			await withPi(off, async (pi) => {
				pi.open();
				await pi.prompt("one");
				await pi.prompt("two");
				assert.equal(pi.notices().filter((text) => /retry is switched off/.test(text)).length, 1);
			});
			const slow = failed(429, "Slow down", { "retry-after": "120" });
			await withPi({ release, script: [slow, slow, ok()] }, async (pi) => {
				pi.open();
				await pi.prompt("one");
				assert.equal(pi.notices().filter((text) => /asks to wait 120 s/.test(text)).length, 1);
			});
		});

		for (const on of [true, false])
			it(`manual compaction: a transient 400 is ${on ? "retried" : "left alone if switched off"}`, async () => {
				const settings = { compaction: { enabled: true, keepRecentTokens: 1, reserveTokens: 1000 } };
				const script = [ok("first answer"), ok("second answer"), transient(), ok("a summary"), ok("a summary")];
				await withPi({ release, settings, config: { compaction: on }, script }, async (pi) => {
					pi.open();
					await pi.prompt("one");
					await pi.prompt("two");
					const result = await pi.ask({ type: "compact" });
					assert.equal(result.success, on, JSON.stringify(result));
					const rest = pi.relay.script.length;
					assert.ok(on ? rest <= 1 : rest === 2, `${rest} answers left`);
					if (on) assert.match(await pi.slash("/retry-forced"), /during a compaction/);
					// The wrapper is gone: the same failure in a turn reaches message_end with its own status.
					pi.relay.script = [failed(400, "No such thing"), ok()];
					await pi.prompt("three");
					assert.equal(pi.relay.script.length, 1);
				});
			});

		it("automatic compaction: a transient 400 is retried", async () => {
			const settings = { compaction: { enabled: true, keepRecentTokens: 1, reserveTokens: 1000 } };
			const big: Answer = { blocks: [{ type: "text", text: "big" }], inputTokens: 19_500 };
			const script = [ok("first"), big, transient(), ok("a summary"), ok("a summary"), ok("a summary")];
			await withPi({ release, settings, contextWindow: 20_000, script }, async (pi) => {
				pi.open();
				await pi.prompt("one");
				await pi.prompt("two");
				const end = await pi.wait("end of the compaction", (record) => record.type === "compaction_end");
				assert.equal(end.errorMessage, undefined, JSON.stringify(end));
				assert.ok(end.result);
			});
		});
	});
}

const PACKAGES = join(HERE, "node_modules");

/** A copy of a release, beside the original because its dependencies are there. */
function copyOf(release: string): string {
	const source = join(PACKAGES, `pi-${release}`);
	const root = mkdtempSync(join(PACKAGES, "patched-"));
	cpSync(join(source, "dist"), join(root, "dist"), { recursive: true });
	copyFileSync(join(source, "package.json"), join(root, "package.json"));
	symlinkSync(join(source, "node_modules"), join(root, "node_modules"));
	return root;
}

function command(program: string, args: string[], cwd: string): void {
	// git must not see the repository around the copy, or it takes the paths for the repository's.
	const env = { ...process.env, GIT_CEILING_DIRECTORIES: PACKAGES };
	const { status, stderr, error } = spawnSync(program, args, { cwd, env, encoding: "utf8" });
	assert.equal(status, 0, `${program} ${args.join(" ")}: ${error ?? stderr}`);
}

function project(...args: string[]): void {
	command(process.env.CARGO ?? "cargo", ["run", "--quiet", "--", ...args], join(SHIM, ".."));
}

describe("a pi that is patched while it runs", () => {
	// Some of its modules are in memory then, and the others are loaded from the patched files, or from those that came back.
	it("goes on through every API", async () => {
		const packageDir = copyOf(NEWEST);
		// Of the last one the relay knows failures only, and that is enough: its module has to load.
		const apis = ["anthropic-messages", "openai-completions", "google-generative-ai", "openai-responses"];
		const pi = await new Pi({ release: NEWEST, packageDir, extensions: [], script: [] }).prepare();
		try {
			const { baseUrl: root } = (pi.read("models.json") as { providers: { relay: { baseUrl: string } } })
				.providers.relay;
			const model = { id: "m", name: "m", reasoning: false, input: ["text"], contextWindow: 9999, maxTokens: 99 };
			const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
			const providers = apis.map((api) => {
				const baseUrl = api.startsWith("openai")
					? `${root}/v1`
					: api.startsWith("google")
						? `${root}/v1beta`
						: root;
				return [api, { baseUrl, api, apiKey: "k", models: [{ ...model, cost }] }];
			});
			pi.write("models.json", { providers: Object.fromEntries(providers) });
			pi.setup.model = `${apis[0]}/m`;
			pi.open();
			const steps = [
				() => {},
				() => project("apply", "--pi", packageDir),
				() => project("revert", "--pi", packageDir),
				() => project("apply", "--pi", packageDir),
			];
			for (const [index, step] of steps.entries()) {
				step();
				await pi.ask({ type: "set_model", provider: apis[index], modelId: "m" });
				const answers = index < 3;
				pi.relay.script.push(answers ? ok(`answer ${index}`) : failed(401, "no key"));
				await pi.prompt("go");
				const last = pi.saved().at(-1);
				if (answers) assert.equal(last?.errorMessage, undefined, `${apis[index]} after step ${index}`);
				else assert.match(last?.errorMessage ?? "", /no key/);
				if (answers) assert.equal(last?.content.find((block) => block.text)?.text, `answer ${index}`);
			}
		} finally {
			await pi.close();
			rmSync(packageDir, { recursive: true, force: true });
		}
	});
});

describe("a patched pi", { concurrency: 3 }, () => {
	const setup = { release: NEWEST, packageDir: "" };

	before(() => {
		const root = copyOf(NEWEST);
		setup.packageDir = root;
		const patch = ["patch", "--package", "pi-coding-agent", "--from", root, "--out", root, "--no-verify"];
		project(...patch);
		const name = readdirSync(root).find((file) => file.endsWith(".patch")) ?? "";
		// The paths in the patch start with a/node_modules/@earendil-works/pi-coding-agent.
		command("git", ["apply", "-p4", name], root);
	});
	after(() => rmSync(setup.packageDir, { recursive: true, force: true }));

	it("retries by itself, and the extension leaves it alone and says that it can go", async () => {
		const script = [transient(), failed(522, "no"), ok("fine")];
		assert.equal((await once({ ...setup, extensions: [], script })).requests, 3);
		await withPi({ ...setup, script }, async (pi) => {
			pi.open();
			await pi.prompt("go");
			assert.equal(pi.relay.asked.length, 3);
			assert.ok(!pi.saved().some((message) => message.errorMessage?.startsWith(PREFIX)));
			assert.match(await pi.slash("/retry-forced"), /you can remove pi-retry-forced/);
		});
		assert.equal((await once({ ...setup, script: [failed(401, "no key"), ok()] })).requests, 1);
	});

	it("lets the rewrite win over the status in its diagnostics", async () => {
		await withPi(
			{ ...setup, config: { retry: ["mystery hiccup"] }, script: [failed(400, "Mystery hiccup"), ok()] },
			async (pi) => {
				await pi.print();
				assert.equal(pi.relay.asked.length, 2);
				const [first] = pi.saved();
				assert.ok(first.errorMessage?.startsWith(PREFIX));
				assert.deepEqual(
					first.diagnostics?.map(({ details }) => details?.status),
					[400],
				);
			},
		);
	});

	it("has its signatures repaired all the same", async () => {
		await withPi({ ...setup, script: [toolTurn(), rejection(), ok("fine")] }, async (pi) => {
			await pi.print();
			assert.equal(pi.stdout, "fine\n");
			assertNoSignature(pi, 2);
		});
	});
});
