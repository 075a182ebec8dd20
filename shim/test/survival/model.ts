/**
 * The written model of what goes wrong at a relay, in the session's own time (seconds), made beforehand from a seed.
 * The three arms of a comparison meet the same troubles at the same times. README.md beside this file says where the
 * values come from; they are assumptions, and this is the one place that has them.
 */

import type { Interruption } from "../pool/pool.ts";
import type { Rules } from "../pool/rules.ts";
import { requestId } from "../pool/wrap.ts";
import { Random } from "../random.ts";

export interface Harshness {
	/** Troubles of each kind in an hour of a session, and their mean length in seconds (exponential; 0: one request). */
	refusals: { perHour: number; seconds: number };
	bursts: { perHour: number; seconds: number };
	cuts: { perHour: number; seconds: number };
	/** Switches to another account in an hour, apart from those that trouble brings. */
	switchesPerHour: number;
	/** Chance that the relay routes to another account after a burst. */
	switchAfterBurst: number;
	/** Conditions that nothing mends, in an hour. */
	permanentPerHour: number;
	accounts: number;
	rules: Partial<Rules>;
}

export const HARSHNESS: Record<string, Harshness> = {
	mild: {
		refusals: { perHour: 2, seconds: 5 },
		bursts: { perHour: 2, seconds: 10 },
		cuts: { perHour: 1, seconds: 0 },
		switchesPerHour: 0.5,
		switchAfterBurst: 0.1,
		permanentPerHour: 0.02,
		accounts: 2,
		rules: { openTurn: false, wrap: "masked" },
	},
	middle: {
		refusals: { perHour: 4, seconds: 15 },
		bursts: { perHour: 4, seconds: 20 },
		cuts: { perHour: 2, seconds: 0 },
		switchesPerHour: 1,
		switchAfterBurst: 0.3,
		permanentPerHour: 0.05,
		accounts: 3,
		rules: { wrap: "random" },
	},
	harsh: {
		refusals: { perHour: 8, seconds: 30 },
		bursts: { perHour: 8, seconds: 60 },
		cuts: { perHour: 4, seconds: 0 },
		switchesPerHour: 3,
		switchAfterBurst: 0.5,
		permanentPerHour: 0.1,
		accounts: 5,
		rules: { wrap: "random" },
	},
};

/** Seconds that a session spends on an answer, on a failed one, and that its user takes between turns. */
export const SPENT = { answer: 10, failure: 1, user: 20, afterLoss: 120 };

/** How a trouble shows itself. */
type Shape = (random: Random) => Interruption;
const error = (status: number, body: unknown): Shape => {
	return (random) => ({
		status,
		body:
			typeof body === "string"
				? body.replace("%ID%", requestId(random))
				: JSON.parse(JSON.stringify(body).replace("%ID%", requestId(random))),
	});
};
const oneApi = (status: number, message: string, type = "upstream_error") =>
	error(status, { error: { message: `${message} (request id: %ID%)`, type, param: "", code: null } });

/** The transient refusal of the seed's relay. */
const REFUSAL = oneApi(400, "This request is not supported.");
/** Overload and gateway failures: half of them in words that pi knows, half in none. */
const BURSTS: Shape[] = [
	error(529, { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
	oneApi(503, "No available accounts"),
	oneApi(500, "Internal server error"),
	oneApi(502, "Upstream request failed"),
	error(529, ""),
	error(522, ""),
	error(530, "origin unreachable"),
	oneApi(429, "当前分组上游负载已饱和，请稍后再试", "one_api_error"),
	oneApi(408, "upstream did not answer in time"),
	oneApi(400, "Provider returned error"),
];
const CUTS: Shape[] = [() => ({ reset: true }), () => ({ cut: true })];
const PERMANENT: Shape[] = [
	oneApi(401, "Invalid API key"),
	oneApi(429, "You exceeded your current quota, please check your plan and billing details", "insufficient_quota"),
	oneApi(403, "This token has no access to the model"),
	error(502, {
		type: "error",
		error: { type: "upstream_error", message: "Upstream authentication failed, please contact administrator" },
	}),
];

interface Trouble {
	from: number;
	until: number;
	shape: Shape;
}

const HOURS = 4;

/** The troubles of one session. */
export class Timeline {
	readonly #troubles: Trouble[] = [];
	readonly #switches: number[] = [];
	readonly #shapes: Random;
	/** When a condition begins that nothing mends; Infinity if never. */
	readonly permanentFrom: number = Infinity;

	constructor(harshness: Harshness, seed: number) {
		const random = new Random(seed);
		this.#shapes = new Random(seed + 1);
		const unit = () => (random.below(1e9) + 1) / (1e9 + 1);
		const arrivals = (perHour: number) => {
			const times: number[] = [];
			if (perHour > 0)
				for (let at = 0; ; ) {
					at += (-Math.log(unit()) * 3600) / perHour;
					if (at > HOURS * 3600) break;
					times.push(at);
				}
			return times;
		};
		const add = (kind: { perHour: number; seconds: number }, shapes: Shape[]) =>
			arrivals(kind.perHour).map((from) => {
				const until = from - Math.log(unit()) * kind.seconds;
				this.#troubles.push({ from, until, shape: random.pick(shapes) });
				return until;
			});
		add(harshness.refusals, [REFUSAL]);
		const ends = add(harshness.bursts, BURSTS);
		add(harshness.cuts, CUTS);
		this.#switches.push(...arrivals(harshness.switchesPerHour));
		for (const end of ends) if (unit() < harshness.switchAfterBurst) this.#switches.push(end);
		this.#switches.sort((a, b) => a - b);
		const [permanent] = arrivals(harshness.permanentPerHour);
		if (permanent !== undefined) {
			this.permanentFrom = permanent;
			this.#troubles.unshift({ from: permanent, until: Infinity, shape: random.pick(PERMANENT) });
		}
	}

	/** How many switches fell due up to now; each is told once. */
	switches(now: number): number {
		let due = 0;
		while ((this.#switches[0] ?? Infinity) <= now) {
			this.#switches.shift();
			due++;
		}
		return due;
	}

	/** What a request meets now. A trouble of no length hits the first request after its time. */
	meet(now: number): Interruption | undefined {
		const at = this.#troubles.findIndex(({ from, until }) => from <= now && (now < until || from === until));
		if (at < 0) return undefined;
		const trouble = this.#troubles[at];
		if (trouble.from === trouble.until) this.#troubles.splice(at, 1);
		return trouble.shape(this.#shapes);
	}
}

/**
 * The mean length of exponential refusals that fits what was observed: the next attempt with the same provider and model
 * succeeded 7 of 9 times, at gaps of 13 s to 250 s, on one machine with one relay. The gaps are taken as spread evenly
 * over their logarithm; shorter refusals between other troubles fit as well, since nobody measured below 13 s.
 */
export function fittingSeconds(share = 7 / 9, from = 13, to = 250): number {
	const over = (seconds: number) => {
		let sum = 0;
		for (let step = 0; step < 1000; step++)
			sum += 1 - Math.exp(-(from * (to / from) ** ((step + 0.5) / 1000)) / seconds);
		return sum / 1000;
	};
	let [low, high] = [1, 1000];
	for (let step = 0; step < 60; step++) {
		const middle = (low + high) / 2;
		if (over(middle) > share) low = middle;
		else high = middle;
	}
	return low;
}
