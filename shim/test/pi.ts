/** Starts a real pi release in a home of its own, against a relay. */

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Answer, Relay } from "./relay.ts";
import { isOld } from "./releases.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
export const SHIM = fileURLToPath(new URL("..", import.meta.url));
/** No run may take longer: a hanging pi is a failure, not a wait. */
const LIMIT_MS = 60_000;

export interface Setup {
	release: string;
	/** Answers of the relay that plays a script; a session against a pool has none. */
	script?: Answer[];
	/** Instead of the scripted relay's: the providers of models.json, such as a pool's. */
	providers?: Record<string, unknown>;
	/** `provider/id`; the scripted relay's model `m` if absent. */
	model?: string;
	/** The thinking level; `low` if absent. */
	thinking?: string;
	api?: string;
	/** Base URL with %PORT% in it. */
	baseUrl?: string;
	extensions?: string[];
	env?: Record<string, string>;
	settings?: Record<string, unknown>;
	config?: unknown;
	projectConfig?: unknown;
	args?: string[];
	contextWindow?: number;
	/** The folder of the coding agent; the release's own if absent. */
	packageDir?: string;
}

export interface Message {
	role: string;
	stopReason?: string;
	errorMessage?: string;
	diagnostics?: { details?: { status?: number } }[];
	content: { type: string; text?: string }[];
}

const BASE: Record<string, string> = {
	"anthropic-messages": "http://relay.test:%PORT%",
	"openai-completions": "http://relay.test:%PORT%/v1",
	"google-generative-ai": "http://relay.test:%PORT%/v1beta",
};

export class Pi {
	readonly home = mkdtempSync(join(tmpdir(), "pi-retry-forced-"));
	readonly project = join(this.home, "project");
	readonly relay: Relay;
	readonly setup: Setup;
	#child?: ChildProcess;
	#records: Record<string, unknown>[] = [];
	#wakeUp: (() => void)[] = [];
	stdout = "";
	stderr = "";

	constructor(setup: Setup) {
		this.setup = setup;
		this.relay = new Relay(setup.script ?? []);
	}

	get agentDir(): string {
		return join(this.home, ".pi", "agent");
	}

	async prepare(): Promise<this> {
		await this.relay.start();
		const { setup } = this;
		const api = setup.api ?? "anthropic-messages";
		mkdirSync(this.agentDir, { recursive: true });
		mkdirSync(join(this.project, ".pi"), { recursive: true });
		writeFileSync(join(this.project, "note.txt"), "a note\n");
		const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
		const model = {
			reasoning: true,
			input: ["text"],
			cost,
			contextWindow: setup.contextWindow ?? 200_000,
			maxTokens: 8192,
		};
		const provider = {
			baseUrl: (setup.baseUrl ?? BASE[api]).replace("%PORT%", String(this.relay.port)),
			api,
			apiKey: "k",
			models: [
				{ ...model, id: "m", name: "m" },
				{ ...model, id: "m2", name: "m2" },
			],
		};
		this.write("models.json", { providers: setup.providers ?? { relay: provider } });
		const retry = { enabled: true, maxRetries: 3, baseDelayMs: 5 };
		this.write("settings.json", { retry, ...setup.settings });
		if (setup.config !== undefined) this.write("retry-forced.json", setup.config);
		if (setup.projectConfig !== undefined) {
			// Something that pi asks trust for; a project without it counts as trusted.
			writeFileSync(join(this.project, ".pi", "settings.json"), "{}");
			writeFileSync(join(this.project, ".pi", "retry-forced.json"), JSON.stringify(setup.projectConfig));
		}
		return this;
	}

	write(name: string, content: unknown): void {
		writeFileSync(join(this.agentDir, name), typeof content === "string" ? content : JSON.stringify(content));
	}

	read(name: string): unknown {
		return JSON.parse(readFileSync(join(this.agentDir, name), "utf8"));
	}

	command(args: string[]): ChildProcess {
		const dir = this.setup.packageDir ?? join(HERE, "node_modules", `pi-${this.setup.release}`);
		const { bin } = JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));
		return spawn(process.execPath, ["--import", join(HERE, "resolve.mjs"), join(dir, bin.pi), ...args], {
			cwd: this.project,
			env: {
				PATH: process.env.PATH,
				HOME: this.home,
				USERPROFILE: this.home,
				PI_OFFLINE: "1",
				PI_SKIP_VERSION_CHECK: "1",
				NO_COLOR: "1",
				...this.setup.env,
			},
		});
	}

	get modelArgs(): string[] {
		const extensions = (this.setup.extensions ?? [SHIM]).flatMap((path) => ["-e", path]);
		const [, provider, model] = /^([^/]+)\/(.+)$/.exec(this.setup.model ?? "relay/m") ?? [];
		const thinking = this.setup.thinking ?? "low";
		const chosen = ["--provider", provider, "--model", model, "--thinking", thinking];
		return [...chosen, ...extensions, ...(this.setup.args ?? [])];
	}

	/** Runs a command line to its end. */
	async run(args: string[]): Promise<number | null> {
		const child = this.command(args);
		child.stdin?.end();
		this.stdout = "";
		child.stdout?.on("data", (data) => {
			this.stdout += data;
		});
		child.stderr?.on("data", (data) => {
			this.stderr += data;
		});
		const timer = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
		const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
		clearTimeout(timer);
		return code;
	}

	print(prompt = "go", ...args: string[]): Promise<number | null> {
		return this.run([...this.modelArgs, "-p", ...args, prompt]);
	}

	/** Starts RPC mode. */
	open(...args: string[]): void {
		const child = this.command([...this.modelArgs, "--mode", "rpc", ...args]);
		this.#child = child;
		let rest = "";
		child.stdout?.on("data", (data) => {
			rest += data;
			const lines = rest.split("\n");
			rest = lines.pop() ?? "";
			for (const line of lines) if (line.trim() !== "") this.#records.push(JSON.parse(line));
			for (const wake of this.#wakeUp.splice(0)) wake();
		});
		child.stderr?.on("data", (data) => {
			this.stderr += data;
		});
		child.once("close", () => {
			for (const wake of this.#wakeUp.splice(0)) wake();
		});
	}

	get records(): readonly Record<string, unknown>[] {
		return this.#records;
	}

	/** Waits for a record after the first `from` ones. */
	async wait(
		what: string,
		matches: (record: Record<string, unknown>) => boolean,
		from = 0,
	): Promise<Record<string, unknown>> {
		const until = Date.now() + LIMIT_MS;
		for (;;) {
			const found = this.#records.slice(from).find(matches);
			if (found) return found;
			if (Date.now() > until || this.#child?.exitCode !== null)
				throw new Error(
					`no ${what} from pi ${this.setup.release}: ${this.stderr}\n${JSON.stringify(this.#records.slice(from))}`,
				);
			await new Promise<void>((resolve) => {
				const timer = setTimeout(resolve, 500);
				this.#wakeUp.push(() => {
					clearTimeout(timer);
					resolve();
				});
			});
		}
	}

	/** Sends an RPC command and waits for its response. */
	async ask(command: Record<string, unknown>): Promise<Record<string, unknown>> {
		const id = `c${this.#records.length}-${Math.random()}`;
		const from = this.#records.length;
		this.#child?.stdin?.write(`${JSON.stringify({ id, ...command })}\n`);
		return this.wait(`answer to ${command.type}`, (record) => record.type === "response" && record.id === id, from);
	}

	/** Prompts and waits until neither a retry nor a compaction follows. */
	async prompt(message: string): Promise<void> {
		const from = this.#records.length;
		await this.ask({ type: "prompt", message });
		if (!isOld(this.setup.release)) {
			await this.wait("end of the turn", (record) => record.type === "agent_settled", from);
			return;
		}
		// Old releases say when an attempt is over, and not whether another follows: quiet must do.
		for (let seen = -1; seen !== this.#records.length; ) {
			const ends = this.#records.slice(from).filter(({ type }) => type === "agent_end").length;
			const starts = this.#records.slice(from).filter(({ type }) => type === "agent_start").length;
			if (ends === 0 || starts > ends)
				await this.wait("end of the attempt", ({ type }) => type === "agent_end", this.#records.length);
			seen = this.#records.length;
			await new Promise((resolve) => setTimeout(resolve, 150));
		}
	}

	/** Runs a slash command and returns what it told the user. */
	async slash(message: string): Promise<string> {
		const from = this.#records.length;
		await this.ask({ type: "prompt", message });
		const isNotice = (record: Record<string, unknown>) =>
			record.type === "extension_ui_request" && record.method === "notify";
		return String((await this.wait("notice", isNotice, from)).message);
	}

	notices(): string[] {
		return this.#records.filter((record) => record.method === "notify").map((record) => String(record.message));
	}

	/** The files of the sessions that were saved, oldest first. */
	sessionFiles(): string[] {
		const root = join(this.agentDir, "sessions");
		if (!existsSync(root)) return [];
		return readdirSync(root, { recursive: true, encoding: "utf8" })
			.filter((name) => name.endsWith(".jsonl"))
			.map((name) => join(root, name))
			.sort();
	}

	entries(file = this.sessionFiles().at(-1) ?? ""): Record<string, unknown>[] {
		return readFileSync(file, "utf8")
			.trim()
			.split("\n")
			.map((line) => JSON.parse(line));
	}

	/** The assistant messages that were saved. */
	saved(file?: string): Message[] {
		return this.entries(file)
			.filter((entry) => entry.type === "message")
			.map((entry) => entry.message as Message)
			.filter((message) => message.role === "assistant");
	}

	/** Ends the pi of RPC mode. */
	async quit(): Promise<void> {
		const child = this.#child;
		if (!child || child.exitCode !== null) return;
		const closed = new Promise((resolve) => child.once("close", resolve));
		child.stdin?.end();
		const timer = setTimeout(() => child.kill("SIGKILL"), 5000);
		await closed;
		clearTimeout(timer);
	}

	async close(): Promise<void> {
		await this.quit();
		this.relay.stop();
		rmSync(this.home, { recursive: true, force: true });
	}
}

/** Runs `body` with a prepared pi and cleans up whatever happens. */
export async function withPi(setup: Setup, body: (pi: Pi) => Promise<void>): Promise<void> {
	const pi = await new Pi(setup).prepare();
	try {
		await body(pi);
	} finally {
		await pi.close();
	}
}
