/** An extension that talks to the model's own endpoint, before, during or after the model's call. */

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function (pi: ExtensionAPI) {
	const send = (baseUrl: string | undefined) =>
		fetch(`${baseUrl}/models/m:streamGenerateContent?alt=sse`, {
			method: "POST",
			headers: { "content-type": "application/json" },
			body: JSON.stringify({ busy: true }),
		});
	pi.on("before_provider_request", async (_event, ctx) => {
		if (process.env.BUSY_WHEN === "before") await (await send(ctx.model?.baseUrl)).text();
		if (process.env.BUSY_WHEN === "during") {
			void send(ctx.model?.baseUrl).catch(() => {});
			await new Promise((resolve) => setTimeout(resolve, 50));
		}
	});
	pi.on("message_end", async (event, ctx) => {
		if (process.env.BUSY_WHEN === "after" && event.message.role === "assistant")
			await (await send(ctx.model?.baseUrl)).text();
	});
}
