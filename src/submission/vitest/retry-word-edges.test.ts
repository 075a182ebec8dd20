import { describe, expect, it } from "vitest";
import { fauxAssistantMessage } from "../src/providers/faux.ts";
import { isRetryableAssistantError } from "../src/utils/retry.ts";

function isRetryable(errorMessage: string): boolean {
	return isRetryableAssistantError(fauxAssistantMessage("", { stopReason: "error", errorMessage }));
}

describe("word edges of retry patterns", () => {
	it.each([
		"400 invalid request (request id: req_500_ab)",
		"400 invalid request (request id: 20261129-503-abc)",
		"403 access denied, trace 4f2a_429-7c",
		"ResourceNotFoundException: Could not resolve the foundation model",
		'404 {"code":"ResourceNotFound","message":"The deployment does not exist"}',
	])("does not read an id or a name as a transient failure: %s", (errorMessage) => {
		expect(isRetryable(errorMessage)).toBe(false);
	});

	it.each(["521", "522", "523", "529", "530"])("matches a bodyless %s from Cloudflare or a provider", (status) => {
		expect(isRetryable(`${status} status code (no body)`)).toBe(true);
	});

	it.each(["503: upstream down", "groq API error (520): {}", "connect ENOTFOUND api.example.com", "ENOTFOUND"])(
		"still matches: %s",
		(errorMessage) => {
			expect(isRetryable(errorMessage)).toBe(true);
		},
	);
});
