// Times `pi-retry-forced audit` against node reading line by line, on sessions made up here, and compares their counts.
//
//   cargo build --release && node tests/bench/audit.mjs [MEGABYTES, default 1024] [FILES, default 40]
//
// Both read everything once before they are timed, so that the disk has no part in it. Each is run three times in turn; the
// best time counts. What node does is what a script would: readline, JSON.parse, one table by provider.
import { spawn } from "node:child_process";
import { closeSync, createReadStream, mkdtempSync, openSync, readFileSync, readdirSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const self = fileURLToPath(import.meta.url);
const binary = process.env.AUDIT_BINARY ?? join(self, "../../../target/release/pi-retry-forced");

// A generator with a seed, so that every run reads the same.
let state = 1;
const random = (n) => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) % n;
const pick = (list) => list[random(list.length)];
const WORDS = "const let return if (error) await \"read\" the file\n\tand then \\ patch src/index.ts: 200 lines, ünïcode … ok".split(" ");
const prose = (length) => {
	let text = "";
	while (text.length < length) text += `${pick(WORDS)} `;
	return text;
};
const ERRORS = [
	'400 {"error":{"message":"This request is not supported. (request id: 2026112911181134177611118268d9d69EdzNJOg)"}}',
	'529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
	'429 {"error":{"type":"usage_limit_reached","message":"The usage limit has been reached"}}',
	"400 messages.3.content.0: Invalid `signature` in `thinking` block",
	"Connection error.: read ECONNRESET",
];

function write(folder, megabytes, files) {
	const blocks = Array.from({ length: 64 }, () => prose(6000));
	const image = "iVBORw0KGgoAAAANSUhEUgAA".repeat(30_000);
	const limit = (megabytes * 1e6) / files;
	for (let number = 0; number < files; number++) {
		const fd = openSync(join(folder, `2026-01-01T00-00-00-000Z_${String(number).padStart(4, "0")}.jsonl`), "w");
		let written = 0;
		let count = 0;
		let parentId = null;
		let clock = Date.UTC(2026, 0, 1);
		const line = (value) => { written += writeSync(fd, `${JSON.stringify(value)}\n`); };
		const message = (message) => {
			clock += 1000 + random(20_000);
			const id = (++count).toString(16).padStart(8, "0");
			line({ type: "message", id, parentId, timestamp: new Date(clock).toISOString(), message: { ...message, timestamp: clock } });
			parentId = id;
		};
		const turn = (content, stopReason, more) => message({
			role: "assistant", content, api: "anthropic-messages", provider: `relay-${number % 3}`, model: "claude-opus-4-5",
			usage: { input: 12, output: 345, cacheRead: 6789, cacheWrite: 10, totalTokens: 7156, cost: { input: 0.1, output: 0.2, total: 0.3 } },
			stopReason, ...more,
		});
		line({ type: "session", version: 3, id: `session-${number}`, timestamp: new Date(clock).toISOString(), cwd: "/home/me/project" });
		while (written < limit) {
			message({ role: "user", content: [{ type: "text", text: prose(200) }] });
			for (let step = 0; step < 8; step++) {
				while (random(60) === 0) turn([], "error", { errorMessage: pick(ERRORS) });
				turn([
					{ type: "thinking", thinking: pick(blocks).slice(0, random(3000)), thinkingSignature: "c2lnbmF0dXJl".repeat(40) },
					{ type: "toolCall", id: `call_${count}`, name: "bash", arguments: { command: pick(blocks).slice(0, random(1000)) } },
				], "toolUse");
				const content = [{ type: "text", text: pick(blocks).slice(0, random(6000)) + pick(blocks).slice(0, random(6000)) }];
				if (random(100) === 0) content.push({ type: "image", mimeType: "image/png", data: image });
				message({ role: "toolResult", toolCallId: `call_${count}`, toolName: "bash", content, isError: false });
			}
			turn([{ type: "text", text: prose(600) }], "stop");
		}
		closeSync(fd);
	}
}

async function readWithNode(folder) {
	const table = {};
	for (const file of readdirSync(folder)) {
		let open = [];
		for await (const line of createInterface({ input: createReadStream(join(folder, file)), crlfDelay: Infinity })) {
			let entry;
			try {
				entry = JSON.parse(line);
			} catch {
				continue;
			}
			const message = entry.message;
			if (entry.type !== "message" || message?.role !== "assistant") continue;
			const time = Date.parse(entry.timestamp);
			const failed = message.stopReason === "error" && message.errorMessage;
			for (const failure of open) {
				if (!failure.answered && !failed) failure.row.gaps.push(time - failure.time);
				failure.answered = true;
			}
			if (!failed) {
				open = [];
				continue;
			}
			const row = (table[message.provider] ??= { failed: 0, transient: 0, gaps: [] });
			row.failed++;
			if (/^(?:408|409|425|429|5\d\d)\b|ECONNRESET/.test(message.errorMessage)) row.transient++;
			open.push({ row, time, answered: false });
		}
	}
	for (const row of Object.values(table)) {
		row.gaps.sort((a, b) => a - b);
		row.median = row.gaps[row.gaps.length >> 1];
		row.succeeded = row.gaps.length;
		delete row.gaps;
	}
	console.log(JSON.stringify(table));
}

// Runs a program; resolves to its output, seconds, and peak memory in megabytes (Linux only).
function run(program, args) {
	return new Promise((resolve, reject) => {
		const start = process.hrtime.bigint();
		const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
		let output = "";
		let peak = 0;
		const look = () => {
			try {
				peak = Math.max(peak, Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1] ?? 0) / 1024);
			} catch {}
		};
		const timer = setInterval(look, 5);
		child.stdout.on("data", (data) => { output += data; });
		child.on("error", reject);
		child.on("close", (status) => {
			clearInterval(timer);
			const seconds = Number(process.hrtime.bigint() - start) / 1e9;
			status === 0 ? resolve({ output, seconds, peak }) : reject(new Error(`${program} ended with ${status}`));
		});
	});
}

if (process.argv[2] === "--read") {
	await readWithNode(process.argv[3]);
} else {
	const [megabytes, files] = [Number(process.argv[2] ?? 1024), Number(process.argv[3] ?? 40)];
	const folder = mkdtempSync(join(tmpdir(), "audit-bench-"));
	try {
		write(folder, megabytes, files);
		const best = {};
		for (let round = 0; round < 4; round++) {
			for (const [name, program, args] of [
				["node", process.execPath, [self, "--read", folder]],
				["audit", binary, ["audit", "--json", folder]],
			]) {
				const result = await run(program, args);
				if (round === 0) continue;
				if (!best[name] || result.seconds < best[name].seconds) best[name] = { ...result, peak: Math.max(result.peak, best[name]?.peak ?? 0) };
			}
		}
		const rows = JSON.parse(best.node.output);
		const report = JSON.parse(best.audit.output);
		for (const [provider, row] of Object.entries(rows)) {
			const groups = report.groups.filter((group) => group.provider === provider);
			const sum = (field) => groups.reduce((total, group) => total + field(group), 0);
			const [failed, succeeded] = [sum((group) => group.failed), sum((group) => group.next.succeeded)];
			if (failed !== row.failed || succeeded !== row.succeeded) {
				throw new Error(`${provider}: node counts ${row.failed} and ${row.succeeded}, the audit ${failed} and ${succeeded}`);
			}
		}
		for (const [name, { seconds, peak }] of Object.entries(best)) {
			console.log(`${name.padEnd(6)} ${seconds.toFixed(3)} s  ${(report.totals.bytes / 1e6 / seconds).toFixed(0)} MB/s  peak ${peak.toFixed(0)} MB`);
		}
		console.log(`${report.totals.failed} failed turns in ${(report.totals.bytes / 1e6).toFixed(0)} MB; node / audit = ${(best.node.seconds / best.audit.seconds).toFixed(1)}`);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}
