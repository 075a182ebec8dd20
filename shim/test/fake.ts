/** A stand-in for pi: keeps an extension's handlers and commands, and what it told the user. */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import retryForced from "../src/index.ts";

// Nothing of the real user's configuration may count.
process.env.PI_CODING_AGENT_DIR = mkdtempSync(join(tmpdir(), "pi-retry-forced-unit-"));

type Handler = (event: unknown, ctx: unknown) => unknown;
interface Command {
	handler(args: string, ctx: unknown): Promise<void>;
	getArgumentCompletions(prefix: string): { value: string }[] | null;
}

export const MODEL = { provider: "relay", id: "m", api: "anthropic-messages", baseUrl: "https://relay.example/v1" };

const shared = globalThis as { [key: symbol]: Map<string, unknown> | undefined };

export class FakePi {
	readonly handlers = new Map<string, Handler[]>();
	readonly commands = new Map<string, Command>();
	readonly entries: { type: string; customType: string; data: unknown }[] = [];
	readonly notices: string[] = [];
	status: string | undefined;
	settings: Record<string, unknown> = {};
	ctx = {
		hasUI: true,
		cwd: "/nowhere",
		model: MODEL as Record<string, unknown> | undefined,
		modelRegistry: {
			find: (): Record<string, unknown> | undefined => undefined,
			getAvailable: (): Record<string, unknown>[] => [],
		},
		sessionManager: { getEntries: () => this.entries, getSessionFile: () => undefined },
		ui: {
			notify: (text: string) => void this.notices.push(text),
			setStatus: (_key: string, text: string | undefined) => {
				this.status = text;
			},
		},
		isProjectTrusted: () => false,
	};

	/** Starts a process of its own unless it is to share one with the sessions before it. */
	constructor(model?: Record<string, unknown>, isSameProcess = false) {
		if (model) this.ctx.model = model;
		if (!isSameProcess)
			for (const name of ["known", "modes"]) shared[Symbol.for(`pi-retry-forced.${name}`)]?.clear();
		retryForced({
			on: (name: string, handler: Handler) =>
				void this.handlers.set(name, [...(this.handlers.get(name) ?? []), handler]),
			registerCommand: (name: string, command: Command) => void this.commands.set(name, command),
			appendEntry: (customType: string, data: unknown) =>
				void this.entries.push({ type: "custom", customType, data }),
			getSettings: () => this.settings,
		} as never);
	}

	async start(reason = "startup"): Promise<this> {
		await this.fire("session_start", { type: "session_start", reason });
		await this.fire("before_agent_start", {});
		return this;
	}

	async fire(name: string, event: unknown): Promise<unknown> {
		let result: unknown;
		for (const handler of this.handlers.get(name) ?? []) result = (await handler(event, this.ctx)) ?? result;
		return result;
	}

	/** Ends an assistant turn and returns the text that it then has. */
	async end(message: Record<string, unknown>): Promise<string | undefined> {
		const whole: Record<string, unknown> = {
			role: "assistant",
			provider: "relay",
			model: "m",
			api: this.ctx.model?.api,
			...message,
		};
		const result = (await this.fire("message_end", { type: "message_end", message: whole })) as
			| { message: Record<string, unknown> }
			| undefined;
		return (result?.message ?? whole).errorMessage as string | undefined;
	}

	fail(errorMessage: string, more: Record<string, unknown> = {}): Promise<string | undefined> {
		return this.end({ stopReason: "error", errorMessage, content: [], ...more });
	}

	/** A turn's own request: what is sent for it. */
	async send(payload: unknown): Promise<unknown> {
		await this.fire("turn_start", { type: "turn_start" });
		return this.ping(payload);
	}

	/** A request that belongs to no turn. */
	async ping(payload: unknown): Promise<unknown> {
		return (await this.fire("before_provider_request", { type: "before_provider_request", payload })) ?? payload;
	}

	async command(name: string, args = ""): Promise<string> {
		await this.commands.get(name)?.handler(args, this.ctx);
		return this.notices.at(-1) ?? "";
	}
}
