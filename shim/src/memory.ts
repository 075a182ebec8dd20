/**
 * What an endpoint and model accept of replayed thinking, learned from their answers: a pure state machine. It knows no
 * request and no session; `remedies.ts` makes requests of its forms, `repair.ts` keeps what was learned.
 */

/** How earlier thinking is sent. `plain` is what pi made. */
export type Form =
	| "plain"
	/** anthropic-messages: thinking as text, no signatures. */
	| "text"
	/** anthropic-messages: no earlier thinking at all. */
	| "none"
	/** Responses APIs: no reasoning items, and no ids of what belonged to them. */
	| "unlinked"
	/** Google: the documented placeholder on calls without a signature. */
	| "signed"
	/** Google: the placeholder in place of every signature. */
	| "replaced"
	/** Completions: an empty `reasoning_content` where a call has none. */
	| "filled"
	/** Completions, Mistral: reasoning left out. */
	| "omitted"
	/** Completions: sealed reasoning left out, the readable one kept, an empty one where a call has none. */
	| "unsealed";

/** How a request went out. */
export interface Sent {
	form: Form;
	/** Thinking was switched off for it. */
	off: boolean;
}

/** What is known of one endpoint and model. Everything in it only ever grows towards "nothing helps". */
export interface Known {
	form: Form;
	/** Requests inside an open tool turn go with thinking switched off. */
	openTurnsOff: boolean;
	/** The model wants its thinking back: it is never taken out here. */
	wanted: boolean;
	/** Refusals go on without visible reasoning, so they mean something else. */
	refusesAnyway: boolean;
}

export const NOTHING: Readonly<Known> = { form: "plain", openTurnsOff: false, wanted: false, refusesAnyway: false };

/** What an answer says about replayed thinking. */
export type Rejection =
	/** A signature or sealed reasoning cannot be verified, or its item is not there. */
	| "sealed"
	/** A signature is missing. */
	| "unsigned"
	/** An open tool turn must start with thinking. */
	| "order"
	/** The model refused, and its request carried reasoning as visible text. */
	| "refused"
	/** The provider wants reasoning back that is not there. */
	| "wanted";

/** What to do after a rejection. */
export interface Step {
	known: Known;
	/** Whether the next request differs from the one that was rejected, so that another attempt can help. */
	helps: boolean;
	/** Thinking is switched off until this tool turn is over; nothing lasting was learned. */
	offForThisTurn?: true;
}

type Family = "anthropic" | "responses" | "google" | "completions" | "mistral";

const FAMILIES: Readonly<Record<string, Family>> = {
	"anthropic-messages": "anthropic",
	"openai-responses": "responses",
	"azure-openai-responses": "responses",
	"openai-codex-responses": "responses",
	"google-generative-ai": "google",
	"google-vertex": "google",
	"openai-completions": "completions",
	"mistral-conversations": "mistral",
};

/** The family of an API whose requests can be repaired. */
export function familyOf(api: unknown): Family | undefined {
	return FAMILIES[String(api)];
}

/** What mode `always` assumes before any answer: where there is sealed thinking to take out, it is. */
export function assumed(api: unknown): Known {
	const forms: Partial<Record<Family, Form>> = { anthropic: "text", responses: "unlinked" };
	return { ...NOTHING, form: forms[familyOf(api) ?? "google"] ?? "plain" };
}

function afterAnthropic(known: Known, sent: Sent, rejection: Rejection, open: boolean): Step {
	const learn = (change: Partial<Known>): Step => ({ known: { ...known, ...change }, helps: true });
	const stuck: Step = { known, helps: false };
	switch (rejection) {
		case "sealed":
		case "unsigned":
			if (sent.form === "plain") return known.wanted ? stuck : learn({ form: "text" });
			return sent.form === "text" ? learn({ form: "none" }) : stuck;
		case "order":
			if (sent.off) return sent.form === "text" ? learn({ form: "none" }) : stuck;
			// Thinking was raised or a model changed in mid-turn: nothing about this endpoint.
			if (sent.form === "plain" || !open) return { known, helps: true, offForThisTurn: true };
			return learn({ openTurnsOff: true });
		case "refused":
			if (sent.form === "text" && !known.refusesAnyway) return learn({ form: "none" });
			// It was not the visible reasoning: back to the form before, and never again for a refusal.
			if (sent.form === "none" && !known.refusesAnyway)
				return { known: { ...known, form: "text", refusesAnyway: true }, helps: false };
			return stuck;
		case "wanted":
			return sent.form === "plain" ? stuck : learn({ form: "plain", wanted: true });
	}
}

/** Where each rejection leads in the other APIs, by the form that was sent; what is not listed is not to be helped. */
const LADDERS: Readonly<Record<Exclude<Family, "anthropic">, Partial<Record<Rejection, Partial<Record<Form, Form>>>>>> =
	{
		responses: { sealed: { plain: "unlinked" }, unsigned: { plain: "unlinked" }, wanted: { unlinked: "plain" } },
		google: {
			unsigned: { plain: "signed", signed: "replaced" },
			wanted: { plain: "signed", signed: "replaced" },
			sealed: { plain: "replaced", signed: "replaced" },
		},
		completions: {
			wanted: { plain: "filled", omitted: "unsealed" },
			unsigned: { plain: "filled", omitted: "unsealed" },
			sealed: { plain: "omitted", filled: "unsealed" },
		},
		mistral: { sealed: { plain: "omitted" }, wanted: { omitted: "plain" } },
	};

/**
 * What a rejection teaches. `open`: the request continued a tool turn. A form that was left for good is never taken
 * again, so every chain of rejections ends.
 */
export function learn(api: unknown, known: Known, sent: Sent, rejection: Rejection, open: boolean): Step {
	const family = familyOf(api);
	if (!family) return { known, helps: false };
	if (family === "anthropic") return afterAnthropic(known, sent, rejection, open);
	const form = LADDERS[family][rejection]?.[sent.form];
	// The model has been heard both ways: it wants what it refuses.
	if (!form || (known.wanted && form !== known.form)) return { known, helps: false };
	const wanted = known.wanted || form === "plain" || form === "unsealed";
	return { known: { ...known, form, wanted }, helps: true };
}

/** How the next request goes out. `open`: it continues a tool turn; `offForThisTurn` as a step said. */
export function plan(known: Known, open: boolean, offForThisTurn: boolean): Sent {
	// Where no thinking is sent, an open turn cannot start with any.
	return { form: known.form, off: offForThisTurn || (open && (known.openTurnsOff || known.form === "none")) };
}

const FORMS: readonly unknown[] = [
	"plain",
	"text",
	"none",
	"unlinked",
	"signed",
	"replaced",
	"filled",
	"omitted",
	"unsealed",
];

/** Reads what was kept in a session file; undefined where it is not understood. */
export function readKnown(value: unknown): Known | undefined {
	const { form, openTurnsOff, wanted, refusesAnyway } = (value ?? {}) as Partial<Known>;
	if (!FORMS.includes(form)) return undefined;
	return {
		form: form as Form,
		openTurnsOff: openTurnsOff === true,
		wanted: wanted === true,
		refusesAnyway: refusesAnyway === true,
	};
}

/** What is known, in words for the user. */
export function describe(known: Known): string {
	const forms: Record<Form, string> = {
		plain: "thinking is sent as it is",
		text: "earlier thinking is sent as plain text, without signatures",
		none: "earlier thinking is left out",
		unlinked: "earlier reasoning items and their ids are left out",
		signed: "calls without a signature carry Google's placeholder",
		replaced: "all signatures are replaced by Google's placeholder",
		filled: "calls without reasoning carry an empty one",
		omitted: "earlier reasoning is left out",
		unsealed: "sealed reasoning is left out, calls without reasoning carry an empty one",
	};
	const parts = [forms[known.form]];
	if (known.openTurnsOff || known.form === "none") parts.push("thinking is switched off until a tool turn is over");
	if (known.wanted) parts.push("this model wants its thinking back");
	return parts.join("; ");
}
