/** The extension day by day, in real releases of pi: what it leaves alone, whether it helped, waits and switches. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
	chmodSync,
	lstatSync,
	mkdtempSync,
	readFileSync,
	realpathSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { loadConfig } from "../src/config.ts";
import { PREFIX } from "../src/engine.ts";
import { entryOf, isNamed, refusal, wordingOf } from "../src/wording.ts";
import { withPi } from "./pi.ts";
import { failed, ok, transient } from "./relay.ts";
import { FULL } from "./releases.mjs";

const LOCAL = "http://127.0.0.1:%PORT%";
const EMPTY = { blocks: [] };

for (const release of FULL)
	describe(`pi ${release}`, { concurrency: 2 }, () => {
		it("an endpoint on this machine that is left alone says so, and a command changes it at once", async () => {
			const script = [failed(522, "origin"), failed(522, "origin"), ok("fine")];
			await withPi({ release, baseUrl: LOCAL, script }, async (pi) => {
				pi.open();
				await pi.prompt("one");
				assert.equal(pi.relay.asked.length, 1);
				const said = pi
					.notices()
					.filter((text) => /left alone: 127\.0\.0\.1:\d+ counts as this machine/.test(text));
				assert.equal(said.length, 1);
				assert.match(await pi.slash("/retry-forced"), /1 failed turn left alone, the endpoint counts as/);
				assert.match(await pi.slash("/retry-forced relay"), /added to "proxyHosts"/);
				assert.deepEqual(pi.read("retry-forced.json"), { proxyHosts: [`127.0.0.1:${pi.relay.port}`] });
				await pi.prompt("two");
				assert.equal(pi.relay.asked.length, 3);
			});
		});

		it("tells what came of the next attempts", async () => {
			await withPi({ release, script: [transient(), transient(), ok("fine")] }, async (pi) => {
				pi.open();
				await pi.prompt("one");
				const report = await pi.slash("/retry-forced");
				assert.match(report.split("\n")[0], /next attempts: 1 succeeded, 1 failed again, 0 not made/);
			});
		});

		it("waits as long as the server asks, once, and Escape ends the wait", async () => {
			const slow = failed(429, "Slow down", { "retry-after": "2" });
			await withPi({ release, script: [slow, ok("fine")] }, async (pi) => {
				await pi.print();
				assert.equal(pi.relay.asked.length, 2);
			});
			const long = failed(429, "Slow down", { "retry-after": "50" });
			await withPi({ release, script: [long, ok("fine")] }, async (pi) => {
				pi.open();
				const from = pi.records.length;
				await pi.ask({ type: "prompt", message: "go" });
				await pi.wait("wait", (record) => /asks to wait/.test(String(record.statusText)), from);
				await pi.ask({ type: "abort" });
				await pi.wait("end", (record) => record.type === "agent_settled", from);
				assert.equal(pi.relay.asked.length, 1);
			});
		});

		it("does not wait where the user says so", async () => {
			const slow = failed(429, "Slow down", { "retry-after": "50" });
			await withPi({ release, config: { wait: "0s" }, script: [slow, ok("fine")] }, async (pi) => {
				pi.open();
				await pi.prompt("go");
				assert.equal(pi.relay.asked.length, 2);
				assert.ok(!pi.records.some((record) => /asks to wait/.test(String(record.statusText))));
			});
		});

		for (const on of [true, false])
			it(`useless retries are ${on ? "stopped" : "left to pi by default"}`, async () => {
				const script = Array.from({ length: 5 }, () => failed(503, "Invalid API key"));
				await withPi({ release, config: { stopUseless: on }, script }, async (pi) => {
					await pi.print();
					assert.equal(pi.relay.asked.length, on ? 1 : 4);
					const text = pi.saved()[0].errorMessage ?? "";
					assert.equal(text.startsWith("not retried (retry-forced, insufficient_quota): "), on);
				});
			});

		it("empty answers: tried again at most twice, off by default, never after tool results", async () => {
			for (const [empty, requests] of [
				[true, 3],
				[false, 1],
			] as const)
				await withPi({ release, config: { empty }, script: [EMPTY, EMPTY, EMPTY, EMPTY] }, async (pi) => {
					await pi.print();
					assert.equal(pi.relay.asked.length, requests);
				});
			const tool = { blocks: [{ type: "tool_use" as const, name: "read", input: { path: "note.txt" } }] };
			await withPi({ release, config: { empty: true }, script: [tool, EMPTY, ok()] }, async (pi) => {
				await pi.print();
				assert.equal(pi.relay.asked.length, 2);
			});
		});

		it("maxRetries 0 counts as switched off", async () => {
			const settings = { retry: { enabled: true, maxRetries: 0 } };
			await withPi({ release, settings, script: [transient(), ok()] }, async (pi) => {
				await pi.print();
				assert.equal(pi.relay.asked.length, 1);
				assert.ok(!pi.saved()[0].errorMessage?.startsWith(PREFIX));
			});
		});

		it("a failed compaction is left alone while pi's retry is off", async () => {
			const settings = {
				retry: { enabled: false },
				compaction: { enabled: true, keepRecentTokens: 1, reserveTokens: 1000 },
			};
			await withPi({ release, settings, script: [ok("a"), ok("b"), transient(), ok()] }, async (pi) => {
				pi.open();
				await pi.prompt("one");
				await pi.prompt("two");
				const result = await pi.ask({ type: "compact" });
				assert.equal(result.success, false);
				assert.ok(!/503/.test(JSON.stringify(result)), JSON.stringify(result));
				assert.ok(!pi.notices().some((text) => /made retryable/.test(text)));
			});
		});

		it("a project's file cannot multiply requests unless the user's own file names the project", async () => {
			const settings = { defaultProjectTrust: "always" };
			const setup = { release, settings, script: [failed(400, "No such thing"), ok()] };
			await withPi({ ...setup, projectConfig: { retry: ["no such thing"] } }, async (pi) => {
				await pi.print();
				assert.equal(pi.relay.asked.length, 1);
			});
			await withPi({ ...setup, projectConfig: { retry: ["no such thing"] } }, async (pi) => {
				pi.write("retry-forced.json", { projects: [realpathSync(pi.project)] });
				await pi.print();
				assert.equal(pi.relay.asked.length, 2);
			});
		});
	});

describe("own wordings", () => {
	it("name something, hold no figures, and count for their status", () => {
		for (const text of [
			"400 status code (no body)",
			"Mistral API error (400): Bad Request",
			"502 Bad Gateway",
			"<!DOCTYPE html><html><body>an odd long page</body></html>",
			"400 {}",
		])
			assert.ok(refusal(text, wordingOf(text)), text);
		const wording = wordingOf("400 Account 12345-AB was paused by the operator on 2026-12-01 at noon");
		assert.equal(wording, "was paused by the operator on");
		assert.equal(refusal("x", wording), undefined);
		assert.ok(wordingOf(`400 ${"many words ".repeat(30_000)}`).length <= 200);
		const entry = entryOf("Odd thing", 400);
		assert.ok(isNamed(entry, "an odd thing", 400));
		assert.ok(!isNamed(entry, "an odd thing", 401));
	});
});

describe("the configuration file", () => {
	const folder = () => mkdtempSync(join(tmpdir(), "pi-retry-forced-file-"));
	const config = fileURLToPath(new URL("../src/config.ts", import.meta.url));
	const add = (dir: string, name: string, count: number) => {
		const code = `import { addEntry } from ${JSON.stringify(config)};
			for (let i = 0; i < ${count}; i++) addEntry("retry", ${JSON.stringify(name)} + " " + i);`;
		const env = { ...process.env, PI_CODING_AGENT_DIR: dir };
		const child = spawn(process.execPath, ["--input-type=module", "-e", code], { env, stdio: "inherit" });
		return new Promise<number | null>((resolve) => child.once("close", resolve));
	};

	it("keeps link and mode, and loses nothing that several processes add", async () => {
		const dir = folder();
		const real = join(folder(), "real.json");
		writeFileSync(real, '{"thinking":"off"}');
		chmodSync(real, 0o600);
		symlinkSync(real, join(dir, "retry-forced.json"));
		const codes = await Promise.all(["one", "two", "three"].map((name) => add(dir, name, 30)));
		assert.deepEqual(codes, [0, 0, 0]);
		assert.ok(lstatSync(join(dir, "retry-forced.json")).isSymbolicLink());
		assert.equal(statSync(real).mode & 0o777, 0o600);
		const written = JSON.parse(readFileSync(real, "utf8"));
		assert.equal(written.thinking, "off");
		assert.equal(new Set(written.retry).size, 90);
	});

	it("takes a star for all hosts below a name, and nowhere else", () => {
		const dir = folder();
		process.env.PI_CODING_AGENT_DIR = dir;
		writeFileSync(join(dir, "retry-forced.json"), '{"directHosts":["relay.*.example"]}');
		assert.match(loadConfig(undefined).problems[0], /no host/);
		writeFileSync(join(dir, "retry-forced.json"), '{"directHosts":["*.example.com"]}');
		assert.deepEqual(loadConfig(undefined).problems, []);
	});
});
