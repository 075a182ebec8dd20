/** 100,000 random and hostile events: no handler throws, and nothing changes that is not to change. */

import assert from "node:assert/strict";
import { it } from "node:test";
import { PREFIX } from "../src/engine.ts";
import { FakePi, MODEL } from "./fake.ts";
import { Random } from "./random.ts";

const EVENTS = 100_000;
const TEXTS = [
	'400 {"error":{"message":"This request is not supported. (request id: 20261129120000123456789AbCdEfGh)"}}',
	"400 upstream rejected the request: messages.1.content.0: Invalid `signature` in `thinking` block",
	"429 insufficient_quota",
	"read ECONNRESET",
	"522 status code (no body)",
	"",
];

const random = new Random(5);

function hostile(): unknown {
	return random.pick<() => unknown>([
		() => undefined,
		() => null,
		() => Number.NaN,
		() => random.text(TEXTS),
		() => Symbol("s"),
		() => [],
		() => ({}),
		() => () => {},
		() => Object.create(null),
		() => {
			throw new Error("never mind");
		},
		() => new Proxy({}, { get: () => hostile(), ownKeys: () => [], has: () => true }),
		() => ({
			get role() {
				throw new Error("a getter");
			},
		}),
	])();
}

function value(): unknown {
	try {
		return hostile();
	} catch {
		return new Proxy(
			{},
			{
				get: () => {
					throw new Error("a trap");
				},
			},
		);
	}
}

function message(): Record<string, unknown> {
	const made: Record<string, unknown> = {
		role: random.pick(["assistant", "assistant", "assistant", "user", value()]),
		stopReason: random.pick(["error", "error", "stop", "aborted", value()]),
		errorMessage: random.pick<unknown>([random.text(TEXTS), random.pick(TEXTS), value()]),
		provider: "relay",
		model: random.pick<unknown>(["m", value()]),
		api: random.pick<unknown>([MODEL.api, value()]),
	};
	if (random.below(3) === 0) made.errorStatus = value();
	if (random.below(3) === 0) made.diagnostics = random.pick<unknown>([value(), [value(), { details: value() }]]);
	return made;
}

it(`survives ${EVENTS} events`, async () => {
	let pi = await new FakePi().start();
	let rejected = false;
	const counts = { converted: 0, stripped: 0 };
	for (let round = 0; round < EVENTS; round++) {
		if (round % 500 === 0) {
			pi = await new FakePi().start();
			rejected = false;
		}
		pi.ctx.model = random.below(20) ? MODEL : (value() as Record<string, unknown>);
		const kind = random.below(10);
		if (kind < 5) {
			const given = message();
			const before = { ...given };
			const result = (await pi.fire("message_end", { message: given })) as
				| { message: Record<string, unknown> }
				| undefined;
			assert.deepEqual(Object.keys(given), Object.keys(before));
			for (const key of Object.keys(given))
				assert.ok(Object.is(given[key], before[key]), "the given message is left as it was");
			rejected ||= pi.entries.length > 0;
			if (!result) continue;
			counts.converted++;
			assert.equal(given.stopReason, "error");
			assert.equal(given.role, "assistant");
			assert.equal(result.message.errorMessage, PREFIX + given.errorMessage);
		} else if (kind < 8) {
			const payload = random.below(3) ? random.payload() : value();
			if ((await pi.fire("before_provider_request", { payload })) === undefined) continue;
			counts.stripped++;
			assert.ok(rejected, "no payload changes before a rejection");
		} else if (kind < 9) {
			await pi.fire("message_end", random.below(2) ? value() : { message: value() });
		} else {
			const name = random.pick([
				"session_start",
				"before_agent_start",
				"turn_start",
				"session_compact",
				"session_compact_failed",
			]);
			await pi.fire(name, value());
			rejected ||= pi.entries.length > 0;
		}
	}
	assert.ok(counts.converted > 1000 && counts.stripped > 1000, JSON.stringify(counts));
});
