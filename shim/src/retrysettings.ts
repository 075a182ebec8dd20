/** pi's own retry settings: whether it retries at all, and how long its attempts last. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { agentDir } from "./config.ts";

interface Written {
	enabled?: boolean;
	maxRetries?: number;
	baseDelayMs?: number;
	maxAgentDelayMs?: number;
}

function writtenIn(file: string): Written {
	try {
		return JSON.parse(readFileSync(file, "utf8")).retry ?? {};
	} catch {
		return {};
	}
}

export class RetrySettings {
	readonly #written: Written;

	/** Asked where pi tells them, else read from the files that it merges; `project` only where it is trusted. */
	constructor(pi: ExtensionAPI, project: string | undefined) {
		const settings = (pi as Partial<ExtensionAPI>).getSettings?.();
		this.#written = settings
			? ((settings.retry ?? {}) as Written)
			: {
					...writtenIn(join(agentDir(), "settings.json")),
					...(project ? writtenIn(join(project, ".pi", "settings.json")) : {}),
				};
	}

	/** The setting that switches retries off; undefined where they are on. */
	get off(): string | undefined {
		const { enabled, maxRetries } = this.#written;
		if (enabled === false) return "retry.enabled";
		return maxRetries === 0 ? "retry.maxRetries is 0" : undefined;
	}

	/** How long all attempts of a turn last together, in milliseconds, the answers' own time left out. */
	get patience(): number {
		const { maxRetries = 3, baseDelayMs = 2000, maxAgentDelayMs = 60_000 } = this.#written;
		let patience = 0;
		for (let attempt = 0; attempt < Math.min(maxRetries, 30); attempt++)
			patience += Math.min(baseDelayMs * 2 ** attempt, maxAgentDelayMs);
		return patience;
	}
}
