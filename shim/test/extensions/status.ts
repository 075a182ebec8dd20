/** Sets `errorStatus` on failed messages, as a patched pi-ai does. */

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function (pi: ExtensionAPI) {
	pi.on("message_end", (event) => {
		const { message } = event;
		if (message.role !== "assistant" || message.stopReason !== "error") return undefined;
		return { message: { ...message, errorStatus: Number.parseInt(message.errorMessage ?? "", 10) } };
	});
}
