// Outside pi nobody provides pi's modules; tests get the classifier of 1.6.0 under the names that extensions use.
import { registerHooks } from "node:module";

const utils = new URL("node_modules/pi-1.6.0/node_modules/@earendil-works/pi-ai/dist/utils/", import.meta.url);
const modules = {
	"@earendil-works/pi-ai": `export * from "${utils}retry.js"; export * from "${utils}overflow.js";`,
	"@earendil-works/pi-coding-agent": 'export const VERSION = "1.6.0";',
};

registerHooks({
	resolve(specifier, context, next) {
		const code = modules[specifier];
		return code
			? { url: `data:text/javascript,${encodeURIComponent(code)}`, shortCircuit: true }
			: next(specifier, context);
	},
});
