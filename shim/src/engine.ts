/**
 * The decision, as the Rust reference makes it with every rule and every source of a status (its profile `full`). The
 * data is generated from the reference; tests compare the two on the same messages.
 */

import { readBodyStatus } from "./body.ts";
import { RuleFinder } from "./finder.ts";
import { DATA } from "./rules.generated.ts";

/** Sealed thinking out; items known by id out; a signature in; reasoning back in; an earlier repair taken back. */
export type Repair = "strip" | "unlink" | "sign" | "pass-back" | "undo";

export interface Rule {
	id: string;
	decision: "overflow" | "repair" | "stop" | "wait" | "retry";
	/** The statuses for which it counts; any one suffices. */
	when: readonly (string | number)[];
	/** What a rejected request needs, where that is the decision. */
	repair?: Repair;
	/** JavaScript source for the flag `i`; any one suffices. */
	patterns: readonly string[];
	why: string;
}

export interface RuleData {
	rewritePrefix: string;
	frame: string;
	requestId: string;
	/** A number that the text names as a status; one that stands alone; and one with what says that it is none. */
	namedStatus: string;
	loneStatus: string;
	measured: string;
	transientClientStatuses: readonly number[];
	nonOverflow: readonly string[];
	body: {
		maxStarts: number;
		envelopeKeys: readonly string[];
		statusKeys: readonly string[];
		wordKeys: readonly string[];
		eventKeys: readonly string[];
		events: Readonly<Record<string, number>>;
		grpcNames: Readonly<Record<string, number>>;
		errorTypes: Readonly<Record<string, number>>;
	};
	rules: readonly Rule[];
}

export interface Verdict {
	verdict: "retry" | "repair" | "stop";
	rule: string;
	/** Which repair, where the verdict is one. */
	repair?: Repair;
	status: number | null;
	statusFrom: "message" | "diagnostics" | "text" | "observed" | "body" | null;
}

export const PREFIX = DATA.rewritePrefix;

function asStatus(value: unknown): number | undefined {
	return Number.isInteger(value) && (value as number) >= 400 && (value as number) <= 599
		? (value as number)
		: undefined;
}

const FRAME = new RegExp(DATA.frame, "i");

/** The status in the frame that pi or a wrapper puts around a body, at the very start of the text. */
function frameStatus(text: string): number | undefined {
	const first = text.charCodeAt(0);
	// A body starts with a brace, and no frame with anything that sorts behind it but `|`.
	if (first === 0x7b || first > 0x7c) return undefined;
	const status = FRAME.exec(text)?.[1];
	return status === undefined ? undefined : Number(status);
}

function diagnosticsStatus(diagnostics: unknown): number | undefined {
	if (!Array.isArray(diagnostics)) return undefined;
	for (const entry of diagnostics) {
		const status = asStatus((entry as { details?: { status?: unknown } } | null)?.details?.status);
		if (status !== undefined) return status;
	}
	return undefined;
}

type Status = Pick<Verdict, "status" | "statusFrom">;

function readStatus(message: Record<string, unknown>, text: string, observed: unknown): Status {
	const frame = frameStatus(text);
	const diagnostics = diagnosticsStatus(message.diagnostics);
	const structured = diagnostics ?? asStatus(message.errorStatus);
	// A frame that says something else was written afterwards, by somebody who means it.
	let status = frame ?? structured ?? asStatus(observed);
	let statusFrom: Verdict["statusFrom"] = "observed";
	if (structured !== undefined && status === structured)
		statusFrom = diagnostics === undefined ? "message" : "diagnostics";
	else if (frame !== undefined) statusFrom = "text";
	if (status !== undefined && status !== 400) return { status, statusFrom };
	const { event, number, grpc, kind } = readBodyStatus(text, DATA.body);
	// Relays put 400 on everything; a body that names its upstream's own status is believed.
	const inner = event ?? number;
	if (status === 400)
		return inner === undefined || inner === 400 ? { status, statusFrom } : { status: inner, statusFrom: "body" };
	status = inner ?? grpc ?? kind;
	return status === undefined ? { status: null, statusFrom: null } : { status, statusFrom: "body" };
}

const REQUEST_ID = new RegExp(DATA.requestId, "iy");
/** Where a request id can start; a bracket may stand before it. Only there is the long pattern tried. */
const REQUEST_ID_START =
	/(?<![a-z0-9_])(?:x-|amzn?-|correlation|event|log|ray|req|span|trace|chatcmpl|gen|msg|resp|rs|[0-9a-f]{8})/gi;

/** Replaces each request id by a line break, so that no pattern can read it or reach across it. */
export function cutRequestIds(text: string): string {
	let result = "";
	let end = 0;
	REQUEST_ID_START.lastIndex = 0;
	for (let start = REQUEST_ID_START.exec(text); start; start = REQUEST_ID_START.exec(text)) {
		const { index } = start;
		for (const at of index > end && text.charCodeAt(index - 1) === 0x28 ? [index - 1, index] : [index]) {
			REQUEST_ID.lastIndex = at;
			if (!REQUEST_ID.test(text)) continue;
			result += `${text.slice(end, at)}\n`;
			end = REQUEST_ID.lastIndex;
			REQUEST_ID_START.lastIndex = end;
			break;
		}
	}
	return end === 0 ? text : result + text.slice(end);
}

const NAMED_STATUS = new RegExp(DATA.namedStatus, "i");
const LONE_STATUS = new RegExp(DATA.loneStatus, "i");
const MEASURED = new RegExp(DATA.measured, "gi");

/** Whether a number in the text is named as a status over which another attempt can help. */
function namesStatus(text: string): boolean {
	return NAMED_STATUS.test(text) || (LONE_STATUS.test(text) && LONE_STATUS.test(text.replace(MEASURED, "\n")));
}

const NON_OVERFLOW = DATA.nonOverflow.map((pattern) => new RegExp(pattern, "i"));

const countsFor = new Map<number | null, Uint8Array>();

/** Which rules count for a status: 1 at their index. */
function counts(status: number | null): Uint8Array {
	let known = countsFor.get(status);
	if (!known) {
		const names = ["any", status ?? "no-status", status === null ? "" : status < 500 ? "4xx" : "5xx"];
		known = Uint8Array.from(DATA.rules, ({ when }) => (when.some((name) => names.includes(name)) ? 1 : 0));
		countsFor.set(status, known);
	}
	return known;
}

const OVERFLOWS = Uint8Array.from(DATA.rules, ({ decision }) => (decision === "overflow" ? 1 : 0));

let finder: RuleFinder | undefined;

function decide(text: string, status: number | null): [Verdict["verdict"], string, Repair?] {
	finder ??= new RuleFinder(DATA.rules);
	const cut = cutRequestIds(text);
	const counting = counts(status);
	// pi looks for an overflow in the whole text, so what it finds there is found here too.
	let found = finder.find(text, cut === text ? counting : OVERFLOWS);
	const first = (decision: Rule["decision"]) => found.find((rule) => rule.decision === decision);
	const overflow = first("overflow");
	if (overflow && !NON_OVERFLOW.some((pattern) => pattern.test(text))) return ["stop", overflow.id];
	if (cut !== text) found = finder.find(cut, counting);
	const repair = first("repair");
	if (repair) return ["repair", repair.id, repair.repair];
	// A short wait that the server names shows that a limit is none of the lasting ones.
	const wait = first("wait");
	const stop = found.find((rule) => rule.decision === "stop" && (!wait || rule.when.includes("any")));
	if (stop) return ["stop", stop.id];
	if (status !== null && (status >= 500 || DATA.transientClientStatuses.includes(status)))
		return ["retry", "transient-status"];
	const retry = first("retry");
	if (retry) return ["retry", retry.id];
	if (status !== null) return ["stop", "permanent-status"];
	return namesStatus(cut) ? ["retry", "named-status"] : ["stop", "no-evidence"];
}

/** Judges an assistant message. `observed` is the status seen on the wire, if any. */
export function classify(message: Record<string, unknown>, observed?: unknown): Verdict {
	const { errorMessage, stopReason } = message;
	if ((stopReason ?? "error") !== "error" || typeof errorMessage !== "string" || errorMessage === "")
		return { verdict: "stop", rule: "not-a-failed-turn", status: null, statusFrom: null };
	// pi cuts bodies between the halves of a surrogate pair; the reference reads such a half as U+FFFD.
	const text = errorMessage.toWellFormed?.() ?? errorMessage;
	const status = readStatus(message, text, observed);
	const [verdict, rule, repair] = text.startsWith(PREFIX)
		? (["retry", "already-rewritten"] as const)
		: decide(text, status.status);
	return repair ? { verdict, rule, repair, ...status } : { verdict, rule, ...status };
}
