/** Reloads pi's extensions, as /reload does in the terminal. */

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function (pi: ExtensionAPI) {
	pi.registerCommand("reload-for-test", {
		description: "reload",
		handler: async (_args, ctx) => {
			ctx.ui.notify("reloading", "info");
			await ctx.reload();
		},
	});
}
