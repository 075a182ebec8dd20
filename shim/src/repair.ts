/**
 * One session's repairs: which request a rejection was about, what `memory.ts` makes of it, and where that is kept. What
 * one session learned of an endpoint and model holds for every session of this process, and for this one's file.
 */

import {
	assumed,
	describe,
	familyOf,
	type Known,
	learn,
	NOTHING,
	plan,
	type Rejection,
	readKnown,
	type Sent,
} from "./memory.ts";
import { isPing, prepare } from "./remedies.ts";
import { isOpenTurn } from "./strip.ts";

/** A model as pi describes it, as far as repairs need it. */
export interface RepairModel {
	provider?: unknown;
	id?: unknown;
	api?: unknown;
	baseUrl?: unknown;
	thinkingLevelMap?: { off?: unknown };
}

/** Shared by all sessions of this process, whichever copy of this module they loaded. */
const SHARED = Symbol.for("pi-retry-forced.known");
const shared = globalThis as { [SHARED]?: Map<string, Known> };
shared[SHARED] ??= new Map();
const learned = shared[SHARED];

/** An endpoint and model: provider, host with port, model id. The id alone says nothing, relays share them. */
export function keyOf({ provider, baseUrl, id }: RepairModel): string | undefined {
	try {
		return JSON.stringify([String(provider), new URL(String(baseUrl)).host, String(id)]);
	} catch {
		return undefined;
	}
}

function nameOf(key: string): string {
	const [provider, host, id] = JSON.parse(key) as string[];
	return `${provider}/${id} at ${host}`;
}

const PLAIN: Sent = { form: "plain", off: false };

/** A turn's own request. */
interface Turn {
	/** Absent where it went out as it was, without a look at it. */
	key?: string;
	sent: Sent;
	payload: unknown;
}

export class Repair {
	/** What this session knows, in its file or learned in it; the others' knowledge is not shown as its own. */
	readonly #own = new Set<string>();
	/** Called with what is to be kept in the session's file. */
	readonly #keep: (key: string, known: Known) => void;
	#turn?: Turn;
	#inTurn = false;
	#offForThisTurn?: string;

	constructor(keep: (key: string, known: Known) => void) {
		this.#keep = keep;
	}

	/** Takes up what a session's file holds, oldest first. An entry that is not understood is passed over. */
	restore(entries: readonly { key?: unknown; known?: unknown }[]): void {
		const kept = new Map<string, Known>();
		for (const { key, known } of entries) {
			const read = readKnown(known);
			if (read && typeof key === "string") kept.set(key, read);
		}
		for (const [key, known] of kept) {
			this.#own.add(key);
			// Another session of this process may have learned more since.
			if (!learned.has(key)) learned.set(key, known);
		}
	}

	/** Whether anything was ever learned here: until then, requests need no look. */
	get isEmpty(): boolean {
		return learned.size === 0 && this.#offForThisTurn === undefined;
	}

	/** What this session knows, as its file keeps it. */
	kept(): { key: string; known: Known }[] {
		return [...this.#own].flatMap((key) => {
			const known = learned.get(key);
			return known ? [{ key, known }] : [];
		});
	}

	/** Lines for the user about what this session knows. */
	lines(): string[] {
		return [...this.#own].map((key) => `${nameOf(key)}: ${describe(learned.get(key) ?? NOTHING)}`);
	}

	/** The form in which requests to a model go out now. */
	known(model: RepairModel, always: boolean): Known {
		const known = learned.get(keyOf(model) ?? "");
		return known ?? (always ? assumed(model.api) : NOTHING);
	}

	/** A turn's own request comes next. */
	startTurn(): void {
		this.#inTurn = true;
		this.#turn = undefined;
	}

	startPrompt(): void {
		this.#offForThisTurn = undefined;
	}

	/** The payload to send to this model, the same object where nothing is to be changed. */
	request(payload: unknown, model: RepairModel, always: boolean): unknown {
		const key = keyOf(model);
		if (!key || !familyOf(model.api)) return payload;
		const open = isOpenTurn(payload);
		const off = this.#offForThisTurn === key;
		const sent = plan(this.known(model, always), open, off);
		if (this.#begin({ key, sent, payload }) && off && !open) this.#offForThisTurn = undefined;
		return prepare(payload, sent, model.thinkingLevelMap?.off === null);
	}

	/** A request goes out as it is, whatever its model. */
	untouched(payload: unknown): void {
		this.#begin({ sent: PLAIN, payload });
	}

	/** The first request of a turn is its own; what else passes (pings, side calls) moves nothing. */
	#begin(turn: Turn): boolean {
		if (!this.#inTurn || this.#turn || isPing(turn.payload)) return false;
		this.#turn = turn;
		return true;
	}

	/** How the failed turn's request to this model was sent; undefined where that is not known. */
	sentTo(model: RepairModel): Sent | undefined {
		const turn = this.#turn;
		const key = keyOf(model);
		// Whoever did not pass here was not changed; but where something is known it should have been.
		if (!turn) return key !== undefined && learned.has(key) ? undefined : PLAIN;
		return turn.key === undefined || turn.key === key ? turn.sent : undefined;
	}

	/** Learns from a rejection; whether the next request will differ from the rejected one. */
	rejected(model: RepairModel, rejection: Rejection, always: boolean): boolean {
		const key = keyOf(model);
		const sent = this.sentTo(model);
		if (!key || !sent) return false;
		const before = this.known(model, always);
		const step = learn(model.api, before, sent, rejection, isOpenTurn(this.#turn?.payload));
		if (step.offForThisTurn) this.#offForThisTurn = key;
		else if (JSON.stringify(step.known) !== JSON.stringify(before)) {
			learned.set(key, step.known);
			this.#own.add(key);
			this.#keep(key, step.known);
		}
		return step.helps;
	}

	/** The turn is over: nothing of its request is held any longer. */
	endTurn(): void {
		this.#inTurn = false;
		this.#turn = undefined;
	}
}
