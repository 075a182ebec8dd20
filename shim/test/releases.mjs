// The releases of pi that these tests start, from the project's list.
import { readFileSync } from "node:fs";
import { parse } from "smol-toml";

const list = parse(readFileSync(new URL("../../src/upstream/releases.toml", import.meta.url), "utf8")).release;
/** @param {string} part */
const playing = (part) => list.filter(({ parts }) => parts?.includes(part)).map(({ version }) => version);

/** @type {string[]} Oldest first. */
export const RELEASES = playing("shim");
/** @type {string[]} These run every case, the others the main ones. */
export const FULL = playing("full");
/** @type {string} */
export const NEWEST = list.at(-1).version;
/** Before 0.80 pi decides in a place of its own, and its SDKs send again by themselves. @param {string} release */
export const isOld = (release) => release.startsWith("0.7");
