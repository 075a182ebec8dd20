import { describe, expect, it } from "vitest";
import { fauxAssistantMessage } from "../src/providers/faux.ts";
import { isRetryableAssistantError } from "../src/utils/retry.ts";

function isRetryable(errorMessage: string): boolean {
	return isRetryableAssistantError(fauxAssistantMessage("", { stopReason: "error", errorMessage }));
}

describe("refusals that relays send at random", () => {
	it.each([
		'400 {"error":{"message":"This request is not supported. (request id: 2026112911181134177611118268d9d69EdzNJOg)","type":"invalid_request_error"},"type":"error"}',
		'400: {"message":"This request is not supported. (request id: 2026112911181134177611118268d9d69EdzNJOg) (request id: 2026112911181091177611118268d9d6AqNdevgF)","code":null}',
		"400 This request is not supported.",
	])("retries: %s", (errorMessage) => {
		expect(isRetryable(errorMessage)).toBe(true);
	});

	it.each([
		'400 {"error":{"message":"This request is not supported with this model."}}',
		'401 {"error":{"message":"This request is not supported. (request id: 2026112911181134177611118268d9d69EdzNJOg)"}}',
	])("does not retry: %s", (errorMessage) => {
		expect(isRetryable(errorMessage)).toBe(false);
	});
});
