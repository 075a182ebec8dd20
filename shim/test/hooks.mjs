// Outside pi nobody provides pi's modules; tests get those of the newest under the names that extensions use.
import { registerHooks } from "node:module";
import { NEWEST } from "./releases.mjs";

const utils = new URL(`node_modules/pi-${NEWEST}/node_modules/@earendil-works/pi-ai/dist/utils/`, import.meta.url);
const modules = {
	"@earendil-works/pi-ai": `export * from "${utils}retry.js"; export * from "${utils}overflow.js";`,
	"@earendil-works/pi-coding-agent": `export const VERSION = "${NEWEST}";`,
};

registerHooks({
	resolve(specifier, context, next) {
		const code = modules[specifier];
		return code
			? { url: `data:text/javascript,${encodeURIComponent(code)}`, shortCircuit: true }
			: next(specifier, context);
	},
});
