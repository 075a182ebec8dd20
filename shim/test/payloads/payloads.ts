/** What `record.ts` wrote. */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Json } from "../pool/rules.ts";

export interface Recorded {
	/** The release that sent it. */
	pi: string;
	api: string;
	provider: string;
	model: string;
	payload: Json;
}

export const FILE = fileURLToPath(new URL("payloads.jsonl", import.meta.url));

export const recorded: Recorded[] = readFileSync(FILE, "utf8")
	.trim()
	.split("\n")
	.map((line) => JSON.parse(line));
