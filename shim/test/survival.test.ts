/** The survival run: its model, a short run of it, and that figure and tables are what the record says. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { long } from "./survival/long.ts";
import { fittingSeconds, HARSHNESS, Timeline } from "./survival/model.ts";
import { figure, readme, recorded } from "./survival/render.ts";
import { patchedCopy, play } from "./survival/session.ts";

describe("the model of a relay's failures", () => {
	it("is the same for the same seed, and another for another", () => {
		const shown = (seed: number) => {
			const timeline = new Timeline(HARSHNESS.harsh, seed);
			return JSON.stringify(
				Array.from({ length: 2000 }, (_, step) => [timeline.switches(step), timeline.meet(step)]),
			);
		};
		assert.equal(shown(4), shown(4));
		assert.notEqual(shown(4), shown(5));
	});

	it("has as much trouble as it says", () => {
		// Over many sessions: the share of time in trouble is close to the sum of rate times length.
		const { refusals, bursts } = HARSHNESS.middle;
		const expected = (refusals.perHour * refusals.seconds + bursts.perHour * bursts.seconds) / 3600;
		const quiet = { ...HARSHNESS.middle, cuts: { perHour: 0, seconds: 0 }, permanentPerHour: 0 };
		let met = 0;
		for (let seed = 1; seed <= 100; seed++) {
			const timeline = new Timeline(quiet, seed);
			for (let now = 0; now < 3600; now += 4) if (timeline.meet(now)) met++;
		}
		const share = met / (100 * 900);
		assert.ok(Math.abs(share - expected) < expected / 4, `${share} instead of ${expected}`);
	});

	it("fits the one observation", () => {
		assert.equal(Math.round(fittingSeconds()), HARSHNESS.harsh.refusals.seconds);
	});
});

describe("a short run", { concurrency: 2 }, () => {
	for (const seed of [1, 3])
		it(`middle relay, session ${seed}: lost turns without the extension, none with it`, async () => {
			const plan = { relay: "middle", settings: "default", seed } as const;
			const alone = await play({ ...plan, arm: "alone" });
			assert.ok(alone.lost > 0, JSON.stringify(alone));
			const extension = await play({ ...plan, arm: "extension" });
			assert.equal(extension.lost, 0, JSON.stringify(extension));
			for (const { waited, announced } of [alone, extension]) assert.equal(waited, announced);
		});

	it("a condition that nothing mends ends the session in each arm, and the extension retries it no more than pi", async () => {
		let seed = 1000;
		while (new Timeline(HARSHNESS.harsh, seed).permanentFrom > 120) seed++;
		const plan = { relay: "harsh", settings: "default", seed } as const;
		const [alone, extension] = [await play({ ...plan, arm: "alone" }), await play({ ...plan, arm: "extension" })];
		for (const { permanent, finished } of [alone, extension])
			assert.deepEqual([permanent, finished], [true, false]);
		assert.ok(extension.inVain <= alone.inVain, JSON.stringify([alone, extension]));
	});

	it("the patched pi retries the transient refusal by itself", async () => {
		const { dir, remove } = await patchedCopy();
		try {
			const result = await play({ relay: "middle", settings: "default", seed: 1, arm: "patched", patched: dir });
			assert.equal(result.lost, 0, JSON.stringify(result));
			assert.equal(result.waited, result.announced);
		} finally {
			remove();
		}
	});
});

describe("a long session with the extension", () => {
	it("other models, relays and thinking levels, forks and reloads: no turn is lost, few requests are refused", async () => {
		const { lost, refused, worst, switches } = await long({ turns: 30, seed: 2, every: 10 });
		assert.deepEqual(lost, []);
		assert.ok(switches > 3, "accounts did switch");
		assert.ok(worst > 0 && worst <= 4, `${worst} refused in one turn`);
		for (const [where, rules] of Object.entries(refused)) {
			assert.ok(!where.startsWith("direct"), `${where} refused`);
			const count = Object.values(rules).reduce((sum, one) => sum + one, 0);
			assert.ok(count <= 3, `${where} refused ${JSON.stringify(rules)}`);
		}
	});
});

describe("what is shown", () => {
	const file = (name: string) => readFileSync(new URL(`survival/${name}`, import.meta.url), "utf8");
	it("is made from the record", () => {
		assert.equal(file("survival.svg"), figure(recorded()));
		assert.equal(file("README.md"), readme(recorded()));
	});

	it("compares the arms over the same sessions, with two seeds", () => {
		const { cells } = recorded();
		assert.ok(new Set(cells.map(({ seed }) => seed)).size >= 2);
		for (const cell of cells) assert.deepEqual(Object.keys(cell.arms), ["alone", "patched", "extension"]);
	});
});
