/** What is published: only what runs and what people read. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { SHIM } from "./pi.ts";

const read = (name: string) => readFileSync(join(SHIM, name), "utf8");

it("packs sources and texts and nothing else", () => {
	const npm = process.platform === "win32" ? "npm.cmd" : "npm";
	const [packed] = JSON.parse(execFileSync(npm, ["pack", "--dry-run", "--json"], { cwd: SHIM, encoding: "utf8" }));
	const sources = readdirSync(join(SHIM, "src")).map((name) => `src/${name}`);
	const files = packed.files.map(({ path }: { path: string }) => path).sort();
	assert.deepEqual(files, ["CHANGELOG.md", "LICENSE", "README.md", "package.json", ...sources].sort());
});

it("is a pi package without dependencies or install scripts", () => {
	const manifest = JSON.parse(read("package.json"));
	assert.ok(manifest.keywords.includes("pi-package"));
	assert.deepEqual(manifest.pi.extensions, ["./src/index.ts"]);
	assert.deepEqual(
		[manifest.dependencies, manifest.optionalDependencies, manifest.devDependencies],
		[undefined, undefined, undefined],
	);
	assert.ok(Object.values(manifest.peerDependencies).every((range) => range === "*"));
	assert.ok(!Object.keys(manifest.scripts).some((name) => /install|prepare|prepublish/.test(name)));
	assert.ok(read("CHANGELOG.md").includes(`## [${manifest.version}]`), "the changelog knows this version");
});

it("names no registry in its lock file", () => {
	assert.ok(!/"resolved"/.test(read("test/package-lock.json")));
});
