/**
 * pi-retry-forced: makes pi retry the failed turns that it wrongly gives up on, and takes thinking signatures that a
 * relay rejected out of the next request. No handler ever throws: whatever goes wrong in here, the message or payload
 * passes unchanged, and `/retry-forced` says so.
 */

import type { ExtensionAPI, ExtensionCommandContext, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { addEntry, isMode, MODES, userFile } from "./config.ts";
import type { FailedMessage } from "./host.ts";
import { Shim } from "./shim.ts";
import { entryOf, refusal, wordingOf } from "./wording.ts";

function completions(words: readonly string[]) {
	return (prefix: string) => {
		const items = words
			.filter((word) => word.startsWith(prefix.trimStart()))
			.map((value) => ({ value, label: value }));
		return items.length > 0 ? items : null;
	};
}

export default function retryForced(pi: ExtensionAPI): void {
	const shim = new Shim(pi);

	const note = (error: unknown): undefined => {
		try {
			shim.report.problem(
				`something went wrong inside (${error instanceof Error ? error.message : typeof error})`,
			);
		} catch {}
		return undefined;
	};
	/** Runs a handler's body; a failure of its own changes nothing for pi. */
	function quietly<T>(run: () => T): T | Promise<Awaited<T> | undefined> | undefined {
		try {
			const result = run();
			return result instanceof Promise ? result.catch(note) : result;
		} catch (error) {
			return note(error);
		}
	}

	pi.on("session_start", (event, ctx) => void quietly(() => shim.startSession(event, ctx)));
	pi.on("session_shutdown", (event, ctx) => void quietly(() => shim.endSession(event, ctx)));
	pi.on("before_agent_start", async (_event, ctx) => void (await quietly(() => shim.startPrompt(ctx))));
	pi.on("before_provider_request", (event, ctx) => quietly(() => shim.beforeRequest(event.payload, ctx)));
	pi.on("message_end", (event, ctx) => {
		return quietly(() => {
			const message = event.message as unknown as FailedMessage;
			if (message.role !== "assistant") return undefined;
			if (message.stopReason !== "error") {
				const ended = shim.ended(message, ctx);
				return ended instanceof Promise
					? ended.then((failed) => failed && { message: failed as never })
					: undefined;
			}
			if (typeof message.errorMessage !== "string" || message.errorMessage === "") return undefined;
			const loading = shim.load();
			const answer = () => {
				const rewritten = shim.failed(message, ctx);
				shim.endTurn();
				return rewritten && { message: rewritten as never };
			};
			return loading ? loading.then(answer) : answer();
		});
	});

	pi.on("session_before_compact", async (_event, ctx) => void (await quietly(() => shim.startCompaction(ctx))));
	const endCompaction = () => void quietly(() => shim.guard.stop());
	pi.on("session_compact", endCompaction);
	pi.on("session_compact_failed", endCompaction);
	pi.on("turn_start", () => {
		// A compaction never reaches into a turn; should its end have gone unseen, this is the last moment.
		endCompaction();
		void quietly(() => shim.startTurn());
	});

	pi.registerCommand("thinking-sig", {
		description: "How replayed thinking signatures are sent: auto, always (stripped) or off (never stripped)",
		getArgumentCompletions: completions(MODES),
		handler: async (args, ctx) => {
			const wanted = args.trim().toLowerCase();
			if (isMode(wanted)) shim.choose(wanted, ctx);
			else if (wanted !== "")
				return ctx.ui.notify(`thinking-sig: one of ${MODES.join(", ")}, not "${wanted}"`, "error");
			ctx.ui.notify(thinkingState(shim, ctx), "info");
		},
	});

	pi.registerCommand("retry-forced", {
		description:
			"What was made retryable, and did it help; add-last retry|stop keeps a wording, relay an endpoint on this machine",
		getArgumentCompletions: completions(["add-last retry", "add-last stop", "relay"]),
		handler: async (args, ctx) => {
			const words = args.trim().split(/\s+/);
			if (words[0] === "") return ctx.ui.notify(await fullReport(shim, ctx), "info");
			if (words.length === 2 && words[0] === "add-last" && (words[1] === "retry" || words[1] === "stop"))
				return addLast(shim, words[1], ctx);
			if (words.length === 1 && words[0] === "relay") return treatAsRelay(shim, ctx);
			ctx.ui.notify("retry-forced: no argument for the report, or add-last retry, add-last stop, relay", "error");
		},
	});
}

function thinkingState(shim: Shim, ctx: ExtensionContext): string {
	const doing = shim.repairing(ctx.model) ?? "requests are sent as they are";
	const lines = [`thinking-sig: ${shim.mode}; ${doing}`];
	const known = shim.repair.lines();
	if (known.length > 0) lines.push("learned in this session:", ...known.map((line) => `  ${line}`));
	return lines.join("\n");
}

async function fullReport(shim: Shim, ctx: ExtensionContext): Promise<string> {
	await shim.load();
	const baseUrl = ctx.model?.baseUrl;
	const lines = [`retry-forced: ${shim.report.lines().join("\n")}`, "", thinkingState(shim, ctx)];
	const { provider, id } = ctx.model ?? {};
	const isDirect = baseUrl && !shim.isProxied(baseUrl);
	const endpoint = baseUrl || (id ? `chosen for each request by ${provider}/${id}` : "none");
	lines.push(`endpoint: ${endpoint}${isDirect ? " (no relay: left alone; /retry-forced relay changes that)" : ""}`);
	if (shim.host.learned)
		lines.push(
			"This pi decides by status itself: unless signatures are rejected here, you can remove pi-retry-forced.",
		);
	return lines.join("\n");
}

async function addLast(shim: Shim, list: "retry" | "stop", ctx: ExtensionCommandContext): Promise<void> {
	const { cutRequestIds } = await import("./engine.ts");
	const { last } = shim.report;
	const wording = last === undefined ? "" : wordingOf(cutRequestIds(last.text));
	const why = last === undefined ? "no failed turn in this session" : refusal(last.text, wording);
	if (last === undefined || why !== undefined) {
		ctx.ui.notify(`retry-forced: nothing added: ${why}`, "warning");
		return;
	}
	change(shim, list, entryOf(wording, last.status), ctx);
}

/** From now on the endpoint of this machine that failed, or else the selected model's, is treated as a relay. */
function treatAsRelay(shim: Shim, ctx: ExtensionCommandContext): void {
	const baseUrl = shim.leftAlone ?? ctx.model?.baseUrl;
	if (!baseUrl || !URL.canParse(baseUrl)) {
		ctx.ui.notify("retry-forced: nothing added: no model with an endpoint is selected", "warning");
	} else if (shim.isProxied(baseUrl)) {
		ctx.ui.notify(`retry-forced: ${new URL(baseUrl).host} is treated as a relay already`, "info");
	} else {
		change(shim, "proxyHosts", new URL(baseUrl).host, ctx);
		if (!shim.isProxied(baseUrl))
			ctx.ui.notify("retry-forced: it is still left alone: directHosts or the environment says so", "warning");
	}
}

function change(shim: Shim, list: "retry" | "stop" | "proxyHosts", entry: string, ctx: ExtensionCommandContext): void {
	try {
		addEntry(list, entry);
		shim.reload(ctx);
		ctx.ui.notify(`retry-forced: added to "${list}" in ${userFile()}: ${entry}`, "info");
	} catch (error) {
		ctx.ui.notify(`retry-forced: nothing added: ${error instanceof Error ? error.message : error}`, "error");
	}
}
