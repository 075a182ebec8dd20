// Starts the pinned node: pi needs 22.19 or newer, and these tests run TypeScript as it stands.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const pinned = `${here}node_modules/node-${process.platform}-${process.arch}/bin/node`;
const node = existsSync(pinned) ? pinned : process.execPath;
const args = ["--import", `${here}hooks.mjs`, ...process.argv.slice(2)];
if (args.includes("--test") && !args.some((arg) => arg.endsWith(".ts")))
	args.push(...readdirSync(here).filter((name) => name.endsWith(".test.ts")));
const { status, error } = spawnSync(node, args, { cwd: here, stdio: "inherit" });
if (error) console.error(`${node}: ${error.message}`);
process.exit(status ?? 1);
