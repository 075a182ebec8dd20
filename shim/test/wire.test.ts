/** The status seen on the wire, with real requests. */

import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, beforeEach, describe, it } from "node:test";
import { CompactionGuard } from "../src/compaction.ts";
import { Wire } from "../src/wire.ts";

let handle: (request: IncomingMessage, response: ServerResponse) => void;
const server = createServer((request, response) => handle(request, response));
const wire = new Wire();
let root = "";
const model = () => ({ baseUrl: `${root}/v1`, api: "openai-completions" });
const post = (path = "/v1/chat/completions", init: RequestInit = {}) =>
	fetch(root + path, { method: "POST", body: "{}", ...init }).then(
		(response) => response.text(),
		() => "",
	);
const answers = (...statuses: number[]) => {
	handle = (_request, response) => void response.writeHead(statuses.shift() ?? 418).end("{}");
};

before(async () => {
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
	wire.start();
});
after(() => {
	wire.stop();
	server.closeAllConnections();
	server.close();
});
beforeEach(() => wire.mark());

describe("the wire", () => {
	it("tells the answer to the model's call", async () => {
		handle = (_request, response) =>
			void response.writeHead(429, { "retry-after": "7", "X-Should-Retry": "false" }).end();
		await post();
		assert.deepEqual(wire.answer(model()), { status: 429, shouldRetry: false, retryAfterMs: 7000 });
	});

	it("reads retry-after-ms and dates", async () => {
		handle = (_request, response) => void response.writeHead(429, { "retry-after-ms": "250" }).end();
		await post();
		assert.equal(wire.answer(model())?.retryAfterMs, 250);
		wire.mark();
		const date = new Date(Date.now() + 90_000).toUTCString();
		handle = (_request, response) => void response.writeHead(503, { "retry-after": date }).end();
		await post();
		const wait = wire.answer(model())?.retryAfterMs ?? 0;
		assert.ok(wait > 60_000 && wait <= 90_000);
	});

	it("forgets an earlier call", async () => {
		answers(500);
		await post();
		wire.mark();
		assert.equal(wire.answer(model()), undefined);
	});

	it("takes the last answer where an SDK tries again", async () => {
		answers(500, 503, 400);
		await post();
		await post();
		await post();
		assert.equal(wire.answer(model())?.status, 400);
	});

	it("knows nothing after an answer that ends a call", async () => {
		answers(400, 500);
		await post();
		await post();
		assert.equal(wire.answer(model()), undefined);
	});

	it("knows nothing if the last request got no answer", async () => {
		answers(500);
		await post();
		handle = (request) => void request.socket.resetAndDestroy();
		await post();
		assert.equal(wire.answer(model()), undefined);
	});

	it("knows nothing while another request to the same place is under way", async () => {
		handle = (request, response) => {
			const slow = request.headers["x-slow"] === "1";
			setTimeout(() => response.writeHead(slow ? 503 : 400).end(), slow ? 150 : 20);
		};
		const other = post(undefined, { headers: { "x-slow": "1" } });
		await post();
		assert.equal(wire.answer(model()), undefined);
		await other;
	});

	it("looks past other paths, hosts and methods", async () => {
		handle = (request, response) => {
			const own = request.method === "POST" && request.url === "/v1/chat/completions?x=1";
			response.writeHead(own ? 522 : 500).end();
		};
		await post("/v1/chat/completions?x=1");
		await post("/v1/models");
		await post("/v1evil/chat/completions");
		await post("/v1/chat/completions", { method: "GET", body: undefined });
		await fetch(`${root.replace("127.0.0.1", "localhost")}/v1/chat/completions`, {
			method: "POST",
			body: "{}",
		}).catch(() => {});
		assert.equal(wire.answer(model())?.status, 522);
	});

	it("takes a redirect for no failure", async () => {
		handle = (request, response) => {
			if (request.url?.startsWith("/v1/")) response.writeHead(307, { location: "/elsewhere" }).end();
			else response.writeHead(500).end();
		};
		await post();
		assert.equal(wire.answer(model())?.status, 307);
	});

	it("does not mind nonsense", () => {
		for (const baseUrl of [undefined, null, 3, "", "nonsense", {}])
			assert.equal(wire.answer({ baseUrl }), undefined);
	});
});

const SUMMARY = JSON.stringify({ system: "You are a context summarization assistant." });

describe("the guard of a compaction", () => {
	const guard = new CompactionGuard();
	const call = async (path = "/v1/chat/completions") => {
		const response = await fetch(root + path, { method: "POST", body: SUMMARY });
		return [response.status, await response.text()];
	};

	it("hands a failure on as 503 with the same body, for its time only", async () => {
		const original = globalThis.fetch;
		handle = (_request, response) => void response.writeHead(400).end("a body");
		guard.start([model()], (status, body) => status === 400 && body === "a body");
		assert.deepEqual(await call(), [503, "a body"]);
		assert.deepEqual(await call("/v1/other"), [400, "a body"]);
		guard.stop();
		assert.equal(globalThis.fetch, original);
		assert.deepEqual(await call(), [400, "a body"]);
	});

	it("passes on what it is not to convert, untouched", async () => {
		handle = (_request, response) => void response.writeHead(400, { "x-mark": "1" }).end("other");
		guard.start([model()], () => false);
		const response = await fetch(`${root}/v1/chat/completions`, { method: "POST", body: SUMMARY });
		assert.deepEqual(
			[response.status, response.headers.get("x-mark"), response.url],
			[400, "1", `${root}/v1/chat/completions`],
		);
		assert.equal(await response.text(), "other");
		guard.stop();
	});

	it("never waits for a stream, be it good or failed", async () => {
		let open: ServerResponse | undefined;
		for (const status of [200, 400]) {
			handle = (_request, response) => {
				open = response.writeHead(status, { "content-type": "text/event-stream" });
				open.write("data: 1\n\n");
			};
			guard.start([model()], () => true);
			const response = await fetch(`${root}/v1/chat/completions`, { method: "POST", body: SUMMARY });
			assert.equal(response.status, status);
			guard.stop();
			open?.end();
			await response.text();
		}
	});

	it("respects a wrapper that came after it, and stops acting inside", async () => {
		const original = globalThis.fetch;
		handle = (_request, response) => void response.writeHead(400).end("a body");
		guard.start([model()], () => true);
		const inner = globalThis.fetch;
		const other: typeof fetch = (...args) => inner(...args);
		globalThis.fetch = other;
		guard.stop();
		assert.equal(globalThis.fetch, other);
		assert.deepEqual(await call(), [400, "a body"]);
		globalThis.fetch = original;
	});

	it("passes a failing decision over", async () => {
		handle = (_request, response) => void response.writeHead(400).end("a body");
		guard.start([model()], () => {
			throw new Error("no");
		});
		assert.deepEqual(await call(), [400, "a body"]);
		guard.stop();
	});

	it("touches no turn of another session, and overlapping compactions leave nothing behind", async () => {
		const original = globalThis.fetch;
		handle = (_request, response) => void response.writeHead(400).end("a body");
		const others = Array.from({ length: 20 }, () => new CompactionGuard());
		for (const other of others) other.start([model()], () => true);
		const turn = await fetch(`${root}/v1/chat/completions`, { method: "POST", body: "{}" });
		assert.deepEqual([turn.status, await turn.text()], [400, "a body"]);
		others[0].stop();
		assert.deepEqual(await call(), [503, "a body"]);
		for (const other of others) other.stop();
		assert.equal(globalThis.fetch, original);
	});
});
