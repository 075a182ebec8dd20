/** One session's behaviour: judging failed turns, rewriting them, stripping requests. `index.ts` connects it to pi. */

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { CompactionGuard } from "./compaction.ts";
import { type Config, isMode, isProxied, isThisMachine, loadConfig, type Mode } from "./config.ts";
import type { Verdict } from "./engine.ts";
import { type FailedMessage, Host } from "./host.ts";
import { describe, type Rejection } from "./memory.ts";
import { isPing } from "./remedies.ts";
import { Repair, type RepairModel } from "./repair.ts";
import { type Outcome, Report } from "./report.ts";
import { RetrySettings } from "./retrysettings.ts";
import { namedWait, pause } from "./waits.ts";
import { type Answer, type Endpoint, Wire } from "./wire.ts";
import { isNamed } from "./wording.ts";

const ENTRY = "retry-forced";

interface Entry {
	key?: unknown;
	known?: unknown;
	thinking?: unknown;
}

/** What a session hands on to its fork, which may branch off before the entries that say so; by session file. */
const HANDED_ON = Symbol.for("pi-retry-forced.handed-on");
const shared = globalThis as { [HANDED_ON]?: Map<string, Entry[]> };
shared[HANDED_ON] ??= new Map();
const handedOn = shared[HANDED_ON];

/** What a verdict says about replayed thinking. */
function rejectionOf({ repair, rule }: Verdict): Rejection {
	if (repair === "sign") return "unsigned";
	if (repair === "pass-back") return "wanted";
	if (repair === "undo" && rule !== "thinking-as-text-refused") return "order";
	return repair === "strip" || repair === "unlink" ? "sealed" : "refused";
}

/** Every pi from 0.80.3 on takes the word in it for a limit that no retry can mend. */
const NOT_RETRIED = "not retried (retry-forced, insufficient_quota): ";

const RETRYING = "a failure that pi gives up on was made retryable; /retry-forced shows the original text";

/** In the words of every pi; old ones had no better for a stop for this reason. */
const REFUSED_BY_MODEL = /refus|declin|reasoning|^An unknown error occurred$/i;

/** Who refused what, for the user. */
const REFUSED: Readonly<Record<Rejection, string>> = {
	sealed: "the relay refused a thinking signature",
	unsigned: "the relay misses a thinking signature",
	order: "the relay wants thinking at the start of the open tool turn",
	refused: "the model refused to go on from its visible reasoning",
	wanted: "the relay wants the model's reasoning back",
};

export class Shim {
	config: Config = loadConfig(undefined).config;
	report = new Report();
	readonly host = new Host();
	/** Engine and rules, loaded when they are needed: sessions without a failure start without them. */
	#engine?: typeof import("./engine.ts");
	#loading?: Promise<void>;
	readonly wire = new Wire();
	readonly guard = new CompactionGuard();
	/** Set by `/thinking-sig`, stronger than file and environment. */
	chosenMode?: Mode;
	repair = new Repair(() => {});
	#shown?: string;
	#said = new Set<string>();
	#trusted = false;
	#retrySettings?: RetrySettings;
	#proxied = new Map<unknown, boolean>();
	/** When the server's own wait is over, and whether a turn's request comes next. */
	#waitUntil = 0;
	#turnBegins = false;
	#emptyAnswers = 0;
	/** The base URL of the last failure that was left alone. */
	leftAlone?: string;

	readonly #pi: ExtensionAPI;

	constructor(pi: ExtensionAPI) {
		this.#pi = pi;
	}

	get mode(): Mode {
		return this.chosenMode ?? this.config.thinking;
	}

	/** What is done to requests for this model now, in words; undefined where they go out as pi made them. */
	repairing(model: RepairModel | undefined): string | undefined {
		if (this.mode === "off" || !model || !this.isProxied(model.baseUrl)) return undefined;
		const known = this.repair.known(model, this.mode === "always");
		return known.form === "plain" ? undefined : describe(known);
	}

	isProxied(baseUrl: unknown): boolean {
		let known = this.#proxied.get(baseUrl);
		if (known === undefined) {
			known = isProxied(baseUrl, this.config);
			this.#proxied.set(baseUrl, known);
		}
		return known;
	}

	/** Says something once in a session, where there is somebody to read it. */
	say(ctx: ExtensionContext, kind: "info" | "warning", key: string, text: string): void {
		if (this.#said.has(key) || !ctx.hasUI) return;
		this.#said.add(key);
		ctx.ui.notify(`retry-forced: ${text}`, kind);
	}

	showStatus(ctx: ExtensionContext): void {
		const text = this.repairing(ctx.model) && "thinking repaired for this relay";
		if (ctx.hasUI && text !== this.#shown) ctx.ui.setStatus(ENTRY, text);
		this.#shown = text;
	}

	reload(ctx: ExtensionContext): void {
		// Absent on hosts that do not know trust: then nothing says that the project is trusted.
		this.#trusted = (ctx as Partial<ExtensionContext>).isProjectTrusted?.() === true;
		const { config, problems } = loadConfig(this.#trusted ? ctx.cwd : undefined);
		this.config = config;
		this.#proxied.clear();
		for (const problem of problems) {
			this.report.problem(problem);
			this.say(ctx, "warning", problem, problem);
		}
	}

	/** A session begins or goes on: nothing of another session stays, what this one saw comes back. */
	startSession(event: { reason?: string; previousSessionFile?: string }, ctx: ExtensionContext): void {
		this.report = new Report();
		this.chosenMode = undefined;
		this.#said.clear();
		this.#retrySettings = undefined;
		this.reload(ctx);
		const kept: Entry[] = [];
		for (const entry of ctx.sessionManager.getEntries())
			if (entry.type === "custom" && entry.customType === ENTRY) kept.push((entry.data ?? {}) as Entry);
		if (event.reason === "fork") {
			const has = new Set(kept.map((entry) => JSON.stringify(entry)));
			for (const entry of handedOn.get(event.previousSessionFile ?? "") ?? []) {
				kept.push(entry);
				if (!has.has(JSON.stringify(entry))) this.#pi.appendEntry(ENTRY, entry);
			}
		}
		for (const { thinking } of kept) if (isMode(thinking)) this.chosenMode = thinking;
		this.repair = new Repair((key, known) => this.#pi.appendEntry(ENTRY, { key, known }));
		this.repair.restore(kept);
		this.showStatus(ctx);
		if (this.isProxied(ctx.model?.baseUrl)) this.#warnIfRetryIsOff(ctx);
	}

	endSession({ reason }: { reason?: string }, ctx: ExtensionContext): void {
		if (reason === "fork") {
			const mode = this.chosenMode === undefined ? [] : [{ thinking: this.chosenMode }];
			handedOn.set(ctx.sessionManager.getSessionFile() ?? "", [...this.repair.kept(), ...mode]);
		}
		this.guard.stop();
		this.wire.stop();
	}

	/** Loads what judging a failure takes; undefined once that is done. */
	load(): Promise<void> | undefined {
		if (this.#engine) return undefined;
		this.#loading ??= Promise.all([import("./engine.ts"), this.host.load()]).then(([engine]) => {
			this.#engine = engine;
		});
		return this.#loading;
	}

	get #loaded(): typeof import("./engine.ts") {
		if (!this.#engine) throw new Error("the rules are not loaded");
		return this.#engine;
	}

	/** A new prompt: what was prepared for a retry is void, settings may have changed. */
	startPrompt(ctx: ExtensionContext): Promise<void> | undefined {
		this.repair.startPrompt();
		this.report.follow("ended");
		this.#waitUntil = 0;
		this.#emptyAnswers = 0;
		this.#retrySettings = undefined;
		// Hosts of before trust was invented (0.79.1) do not wait for a message_end that takes its time.
		return "isProjectTrusted" in ctx ? undefined : this.load();
	}

	choose(mode: Mode, ctx: ExtensionContext): void {
		this.chosenMode = mode;
		this.#pi.appendEntry(ENTRY, { thinking: mode });
		this.showStatus(ctx);
	}

	/** The payload to send instead, or undefined to leave it alone. */
	beforeRequest(payload: unknown, ctx: ExtensionContext): unknown {
		const { signal } = ctx as Partial<ExtensionContext>;
		const begins = this.#turnBegins && !isPing(payload);
		const wait = this.#waitUntil > 0 && begins && signal ? this.#waitUntil - Date.now() : 0;
		if (begins) this.#turnBegins = false;
		if (wait <= 0 || !signal) return this.#prepare(payload, ctx);
		this.#waitUntil = 0;
		if (ctx.hasUI) ctx.ui.setStatus(`${ENTRY}-wait`, `the server asks to wait ${Math.ceil(wait / 1000)} s`);
		return pause(Math.min(wait, this.config.wait), signal).then(() => {
			if (ctx.hasUI) ctx.ui.setStatus(`${ENTRY}-wait`, undefined);
			return this.#prepare(payload, ctx);
		});
	}

	endTurn(): void {
		this.wire.stop();
		this.repair.endTurn();
	}

	startTurn(): void {
		this.#turnBegins = true;
		// Listeners are there while a call is under way only: a session can end without a word.
		this.wire.start();
		this.repair.startTurn();
	}

	#prepare(payload: unknown, ctx: ExtensionContext): unknown {
		this.wire.mark();
		if (this.mode === "off" || (this.mode === "auto" && this.repair.isEmpty)) {
			this.repair.untouched(payload);
			return undefined;
		}
		const model = this.#calledModel(payload, ctx);
		if (!model || !this.isProxied(model.baseUrl)) {
			if (model) this.repair.untouched(payload);
			return undefined;
		}
		const changed = this.repair.request(payload, model, this.mode === "always");
		return changed === payload ? undefined : changed;
	}

	/** The model that a request goes to: the selected one, or where that is virtual the one that the payload names. */
	#calledModel(payload: unknown, ctx: ExtensionContext): RepairModel | undefined {
		const { model: selected } = ctx;
		const { model: id } = (payload ?? {}) as { model?: unknown };
		if (!selected || selected.baseUrl || typeof id !== "string") return selected;
		const called = ctx.modelRegistry.getAvailable().filter((model) => model.id === id && model.baseUrl);
		// Where a direct host has a model of that name too, nothing tells which of them is called.
		return called.every((model) => this.isProxied(model.baseUrl)) ? called[0] : undefined;
	}

	/** The message to put in place of a failed one, or undefined to leave it alone. */
	failed(message: FailedMessage, ctx: ExtensionContext): FailedMessage | undefined {
		const model = this.#modelOf(message, ctx);
		this.report.follow("again");
		if (!model) return undefined;
		const answer = this.wire.answer(model);
		const verdict = this.judge(message, answer?.status);
		if (!this.isProxied(model.baseUrl)) {
			this.#sayLeftAlone(message, verdict, model, ctx);
			return undefined;
		}
		const [outcome, rewritten] = this.#decide(message, verdict, answer, ctx);
		this.report.add(outcome, verdict, `${message.provider}/${message.model}`, message.errorMessage);
		if (verdict.verdict === "retry" && (outcome === "converted" || outcome === "pi-retries"))
			this.#heedWait(message.errorMessage, answer, ctx);
		if (outcome === "unknown")
			this.say(
				ctx,
				"info",
				"unknown",
				"no rule knows this failure; /retry-forced add-last retry would try it again",
			);
		if (outcome === "converted" || (outcome === "pi-retries" && verdict.verdict !== "retry"))
			this.#sayWhy(verdict, model, ctx);
		return rewritten;
	}

	#sayLeftAlone(
		message: FailedMessage,
		verdict: Verdict,
		model: Endpoint & RepairModel,
		ctx: ExtensionContext,
	): void {
		this.report.add("direct", verdict, `${message.provider}/${message.model}`, message.errorMessage);
		if (!isThisMachine(model.baseUrl)) return;
		this.leftAlone = String(model.baseUrl);
		if (verdict.verdict === "stop" || this.host.retries(message) === true) return;
		const { host } = new URL(this.leftAlone);
		const text = `left alone: ${host} counts as this machine; /retry-forced relay treats it as a relay`;
		this.say(ctx, "info", "left-alone", text);
	}

	/** A turn that did not fail: what came of the attempt before it, and whether it is one without any content. */
	ended(
		message: FailedMessage,
		ctx: ExtensionContext,
	): FailedMessage | undefined | Promise<FailedMessage | undefined> {
		this.endTurn();
		if (this.config.empty && (message.stopReason === "stop" || message.stopReason === "toolUse"))
			return Promise.all([import("./empty.ts"), this.load()]).then(([{ emptyAnswer, isAfterToolResults }]) => {
				const text = emptyAnswer(message);
				const model = this.#modelOf(message, ctx);
				const mayTry = text && this.#emptyAnswers < 2 && model && this.isProxied(model.baseUrl);
				if (!mayTry || isAfterToolResults(ctx.sessionManager.getEntries()) || this.#warnIfRetryIsOff(ctx)) {
					this.report.follow("helped");
					return undefined;
				}
				this.#emptyAnswers++;
				const errorMessage = this.#loaded.PREFIX + text;
				const failed = { ...message, stopReason: "error", errorMessage };
				this.report.follow("again");
				const verdict = { verdict: "retry", rule: "empty-answer", status: null, statusFrom: null } as Verdict;
				this.report.add("empty", verdict, `${message.provider}/${message.model}`, text);
				return failed;
			});
		this.report.follow(message.stopReason === "aborted" ? "ended" : "helped");
		return undefined;
	}

	judge(message: Record<string, unknown>, observed: number | undefined): Verdict {
		const { classify, cutRequestIds } = this.#loaded;
		const verdict = classify(message, observed);
		const { retry, stop } = this.config;
		if (retry.length === 0 && stop.length === 0) return verdict;
		const text = cutRequestIds(String(message.errorMessage)).toLowerCase();
		const names = (entries: string[]) => entries.some((entry) => isNamed(entry, text, verdict.status));
		if (names(stop)) return { ...verdict, verdict: "stop", rule: "own-stop" };
		if (verdict.verdict === "stop" && names(retry)) return { ...verdict, verdict: "retry", rule: "own-retry" };
		return verdict;
	}

	#decide(
		message: FailedMessage,
		verdict: Verdict,
		answer: Answer | undefined,
		ctx: ExtensionContext,
	): [Outcome, FailedMessage?] {
		const piRetries = this.host.retries(message) === true;
		if (verdict.verdict === "stop" && !this.#isRefusal(message, verdict, answer, ctx)) {
			if (verdict.rule.startsWith("overflow")) return ["pi-compacts"];
			if (piRetries) return this.#stopUseless(message);
			return [verdict.rule === "no-evidence" || verdict.rule === "permanent-status" ? "unknown" : "permanent"];
		}
		// The relay's word is about the same request; a repaired one is another.
		if (verdict.verdict === "retry" && !piRetries && answer?.shouldRetry === false) return ["vetoed"];
		if (verdict.verdict !== "retry" && !this.#prepareRepair(message, verdict, ctx))
			return [piRetries ? "useless" : "not-repairable"];
		if (piRetries || verdict.rule === "already-rewritten") return ["pi-retries"];
		if (this.host.overflows(message)) return ["pi-compacts"];
		if (this.#warnIfRetryIsOff(ctx)) return ["retry-off"];
		const rewritten: FailedMessage = { ...message, errorMessage: this.#loaded.PREFIX + message.errorMessage };
		// Some fork asks this field before the text; a patched pi lets a text win that was rewritten.
		if ("errorStatus" in message) rewritten.errorStatus = 503;
		if (!this.host.accepts(rewritten, message.errorMessage)) return ["pi-refuses"];
		return ["converted", rewritten];
	}

	/** Where the user wants it, a failure that pi would try in vain is given a text that no pi tries again. */
	#stopUseless(message: FailedMessage): [Outcome, FailedMessage?] {
		if (!this.config.stopUseless || this.host.overflows(message)) return ["useless"];
		const stopped: FailedMessage = { ...message, errorMessage: NOT_RETRIED + message.errorMessage };
		if (this.host.retries(stopped) !== false || this.host.overflows(stopped)) return ["useless"];
		return ["stopped", stopped];
	}

	/** Tells once what is being done, and for each kind of repair once. */
	#sayWhy(verdict: Verdict, model: RepairModel, ctx: ExtensionContext): void {
		if (verdict.verdict === "retry") {
			this.say(ctx, "info", "converted", RETRYING);
			return;
		}
		const status = verdict.status === null ? "" : ` (${verdict.status})`;
		const rejection = rejectionOf(verdict);
		const now = this.repairing(model) ?? "thinking is switched off until this tool turn is over";
		const text = this.mode === "off" ? "trying again unchanged, as /thinking-sig off says" : `trying again: ${now}`;
		this.say(ctx, "info", `repair ${rejection} ${now}`, `${REFUSED[rejection]}${status}; ${text}`);
	}

	/** Whether the next request will differ from the one that was rejected. */
	#prepareRepair(message: FailedMessage, verdict: Verdict, ctx: ExtensionContext): boolean {
		const model = this.#modelOf(message, ctx);
		if (!model) return false;
		if (this.mode === "off") return verdict.verdict === "repair";
		const helps = this.repair.rejected(model, rejectionOf(verdict), this.mode === "always");
		this.showStatus(ctx);
		return helps;
	}

	/**
	 * Whether the model refused a request that carried its reasoning as visible text. pi hands on only that it refused,
	 * in an answer that did not fail.
	 */
	#isRefusal(
		message: FailedMessage,
		{ status }: Verdict,
		answer: Answer | undefined,
		ctx: ExtensionContext,
	): boolean {
		const model = this.#modelOf(message, ctx);
		if (!model || message.api !== "anthropic-messages" || (status ?? answer?.status ?? 200) >= 400) return false;
		const form = this.repair.sentTo(model)?.form;
		return (form === "text" || form === "none") && REFUSED_BY_MODEL.test(message.errorMessage);
	}

	/** The model that the failed call went to; with a virtual model that is not the selected one. */
	#modelOf(message: FailedMessage, ctx: ExtensionContext): (Endpoint & RepairModel) | undefined {
		const { model } = ctx;
		if (model?.id === message.model && model?.provider === message.provider) return model;
		return ctx.modelRegistry?.find(String(message.provider), String(message.model)) ?? model;
	}

	#retry(ctx: ExtensionContext): RetrySettings {
		this.#retrySettings ??= new RetrySettings(this.#pi, this.#trusted ? ctx.cwd : undefined);
		return this.#retrySettings;
	}

	#warnIfRetryIsOff(ctx: ExtensionContext): boolean {
		const { off } = this.#retry(ctx);
		if (!off) return false;
		this.say(ctx, "warning", "retry-off", `pi's own retry is switched off (${off}), so nothing will be retried`);
		return true;
	}

	/** Keeps a short wait of the server's for the next request; a long one is named once. */
	#heedWait(text: string, answer: Answer | undefined, ctx: ExtensionContext): void {
		const wait = answer?.retryAfterMs ?? namedWait(text) ?? 0;
		if (!(wait > 0)) return;
		if (wait <= this.config.wait) {
			this.#waitUntil = Date.now() + wait;
			return;
		}
		const { patience } = this.#retry(ctx);
		if (wait <= patience) return;
		const seconds = (ms: number) => `${Math.round(ms / 1000)} s`;
		const asked = `the server asks to wait ${seconds(wait)}, pi's retries end after ${seconds(patience)}`;
		this.say(ctx, "warning", "wait", `${asked} (retry.baseDelayMs, retry.maxRetries)`);
	}

	/** A compaction begins: its calls pass no hook, so their failures are caught on the way in. */
	async startCompaction(ctx: ExtensionContext): Promise<void> {
		const { model } = ctx;
		if (!this.config.compaction || !model) return;
		// A virtual model has no endpoint of its own; its calls go to one of the relays' models.
		const called: Endpoint[] = model.baseUrl ? [model] : ctx.modelRegistry.getAvailable();
		const models = called.filter(({ baseUrl }) => this.isProxied(baseUrl));
		if (models.length === 0) return;
		await this.load();
		if (!this.host.endsCompaction) return;
		this.guard.start(models, (status, body) => {
			const message = { role: "assistant" as const, stopReason: "error", errorMessage: `${status} ${body}` };
			const verdict = this.judge(message, status);
			if (verdict.verdict !== "retry" || this.host.retries(message) === true) return false;
			if (this.#warnIfRetryIsOff(ctx)) return false;
			this.report.add("summary", verdict, `${model.provider}/${model.id}`, message.errorMessage);
			this.say(ctx, "info", "converted", "a failed compaction call was made retryable");
			return true;
		});
	}
}
