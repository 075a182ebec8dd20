import { describe, expect, it } from "vitest";
import { fauxAssistantMessage } from "../src/providers/faux.ts";
import type { AssistantMessage } from "../src/types.ts";
import { isRetryableAssistantError } from "../src/utils/retry.ts";

function failed(errorMessage: string, status?: number): AssistantMessage {
	const diagnostics = status === undefined ? undefined : [{ type: "test", timestamp: 0, details: { status } }];
	return { ...fauxAssistantMessage("", { stopReason: "error", errorMessage }), diagnostics };
}

describe("retry classification by HTTP status", () => {
	it.each([408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529, 530])(
		"retries %i whatever the text says",
		(status) => {
			expect(isRetryableAssistantError(failed("Something went wrong", status))).toBe(true);
		},
	);

	it.each([401, 403, 404, 422])("does not retry %i for words that name a parameter or an account", (status) => {
		for (const text of ["Unknown parameter: 'timeout'", "account terminated", "limit is 500 tokens"]) {
			expect(isRetryableAssistantError(failed(text, status))).toBe(false);
		}
	});

	it.each([undefined, 400, 429, 503])("keeps limits final under %s", (status) => {
		expect(isRetryableAssistantError(failed("quota exceeded", status))).toBe(false);
	});

	it.each([undefined, 400, 424])("asks the list as ever under %s", (status) => {
		expect(isRetryableAssistantError(failed("Provider returned error", status))).toBe(true);
		expect(isRetryableAssistantError(failed("[503] The request queue is full.", status))).toBe(true);
		expect(isRetryableAssistantError(failed("Unknown parameter: 'effort'", status))).toBe(false);
	});

	it("believes a text that was rewritten afterwards", () => {
		expect(isRetryableAssistantError(failed("503 service unavailable: no such thing", 404))).toBe(true);
	});

	it("takes a status below 400 for none: the stream broke off after a successful answer", () => {
		expect(isRetryableAssistantError(failed("terminated", 200))).toBe(true);
		expect(isRetryableAssistantError(failed("Something went wrong", 200))).toBe(false);
	});
});
