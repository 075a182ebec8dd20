/** Writes each request's payload, as the extension would see it, to the file that `PAYLOADS` names. */

import { appendFileSync } from "node:fs";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function record(pi: ExtensionAPI): void {
	pi.on("before_provider_request", ({ payload }, { model }) => {
		const { api, provider, id } = model ?? {};
		appendFileSync(String(process.env.PAYLOADS), `${JSON.stringify({ api, provider, model: id, payload })}\n`);
	});
}
