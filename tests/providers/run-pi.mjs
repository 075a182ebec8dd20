// Runs the pi in argv[2] (its bundle's cli.js) once for each API and failure, in a fresh home (argv[3]), against a relay on
// 127.0.0.1, and writes one JSON line each: how many requests it sent. argv[4] is JSON: { apis, failures: [{ name, status, body }] }.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const [, , cli, home, plan] = process.argv;
const { apis, failures } = JSON.parse(plan);

let failure;
let requests = 0;
const relay = createServer((request, response) => {
	request.resume();
	request.on("end", () => {
		requests++;
		response.writeHead(failure.status, { "content-type": "application/json" });
		response.end(failure.body);
	});
});
await new Promise((resolve) => relay.listen(0, "127.0.0.1", resolve));
const baseUrl = `http://127.0.0.1:${relay.address().port}`;

const agent = join(home, ".pi/agent");
mkdirSync(agent, { recursive: true });
const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const model = { id: "model", name: "model", reasoning: false, input: ["text"], contextWindow: 100_000, maxTokens: 1000, cost };
const providers = apis.map((api) => [`relay-${api}`, { baseUrl, api, apiKey: "key", models: [model] }]);
writeFileSync(join(agent, "models.json"), JSON.stringify({ providers: Object.fromEntries(providers) }));
writeFileSync(join(agent, "settings.json"), JSON.stringify({ retry: { enabled: true, maxRetries: 2, baseDelayMs: 5 } }));

// One prompt, without a session, without any network use of its own; ended after a minute whatever happens.
async function run(api) {
	const prompt = ["-p", "--no-session", "--provider", `relay-${api}`, "--model", "model", "hello"];
	const env = { PATH: process.env.PATH, HOME: home, PI_OFFLINE: "1" };
	const pi = spawn(process.execPath, [cli, ...prompt], { env, cwd: home, stdio: ["ignore", "pipe", "pipe"] });
	const timer = setTimeout(() => pi.kill(), 60_000);
	let output = "";
	for (const stream of [pi.stdout, pi.stderr]) stream.on("data", (data) => (output += data));
	const code = await new Promise((resolve) => pi.on("close", resolve));
	clearTimeout(timer);
	return { code, output };
}

for (const api of apis) {
	for (failure of failures) {
		requests = 0;
		const { code, output } = await run(api);
		process.stdout.write(`${JSON.stringify({ api, failure: failure.name, requests, code, output: output.slice(0, 500) })}\n`);
	}
}
relay.close();
relay.closeAllConnections();
