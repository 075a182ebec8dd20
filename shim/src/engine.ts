/** Provisional: stands in until the reference's rules are generated. */

export interface Verdict {
	verdict: "retry" | "repair" | "stop";
	rule: string;
	status: number | null;
	statusFrom: "message" | "diagnostics" | "text" | "observed" | "body" | null;
}

export interface Options {
	/** The status seen on the wire. */
	observed?: number;
}

const FRAME = /^(?:[A-Za-z ]* API error \()?([45]\d\d)\b/;
const THINKING = /invalid [`"\\]*(?:signature|data)[`"\\]* in [`"\\]*(?:redacted_)?thinking|expected [`"\\]*thinking/i;
const PERMANENT = /model.?not.?found|usage limit|quota|billing|credit balance/i;

export function cutRequestIds(text: string): string {
	return text.replace(/ ?\(request id: [^)]*\)/gi, "\n");
}

export function classify(message: Record<string, unknown>, options: Options = {}): Verdict {
	const raw = message.errorMessage;
	if (message.stopReason !== "error" || typeof raw !== "string" || raw === "")
		return { verdict: "stop", rule: "no-failed-turn", status: null, statusFrom: null };
	const text = cutRequestIds(raw);
	const frame = FRAME.exec(text);
	const valid = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 400 && Number(value) < 600;
	const status = valid(message.errorStatus)
		? message.errorStatus
		: frame
			? Number(frame[1])
			: valid(options.observed)
				? options.observed
				: null;
	const statusFrom = valid(message.errorStatus) ? "message" : frame ? "text" : status ? "observed" : null;
	const as = (verdict: Verdict["verdict"], rule: string): Verdict => ({ verdict, rule, status, statusFrom });
	if (THINKING.test(text)) return as("repair", "thinking-signature");
	if (PERMANENT.test(text)) return as("stop", "permanent");
	if (status === 400 && /this request is not supported\./i.test(text)) return as("retry", "relay-not-supported");
	if (status !== null) return as([408, 409, 425, 429].includes(status) || status >= 500 ? "retry" : "stop", "status");
	return as(/econnreset|terminated|timeout/i.test(text) ? "retry" : "stop", "text");
}
