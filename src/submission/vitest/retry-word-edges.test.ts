import { describe, expect, it } from "vitest";
import { fauxAssistantMessage } from "../src/providers/faux.ts";
import { isRetryableAssistantError } from "../src/utils/retry.ts";

function isRetryable(errorMessage: string): boolean {
	return isRetryableAssistantError(fauxAssistantMessage("", { stopReason: "error", errorMessage }));
}

describe("word edges of retry patterns", () => {
	it.each([
		"ResourceNotFoundException: Could not resolve the foundation model",
		'404 {"code":"ResourceNotFound","message":"The deployment does not exist"}',
	])("does not read a name as a transient failure: %s", (errorMessage) => {
		expect(isRetryable(errorMessage)).toBe(false);
	});

	it.each(["522", "529"])("matches a bodyless %s from Cloudflare or a provider", (status) => {
		expect(isRetryable(`${status} status code (no body)`)).toBe(true);
	});

	it.each([
		"503: upstream down",
		"groq API error (520): {}",
		"upstream_502",
		"error-code-429",
		"connect ENOTFOUND api.example.com",
		"ENOTFOUND",
	])("still matches: %s", (errorMessage) => {
		expect(isRetryable(errorMessage)).toBe(true);
	});
});
