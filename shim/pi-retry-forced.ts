/** The entry under the extension's own name, by which pi lists it. */
export { default } from "./src/index.ts";
