/** What is published: only what runs and what people read. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { SHIM } from "./pi.ts";

const read = (name: string) => readFileSync(join(SHIM, name), "utf8");

it("packs sources and texts and nothing else", () => {
	const npm = process.platform === "win32" ? "npm.cmd" : "npm";
	const [packed] = JSON.parse(execFileSync(npm, ["pack", "--dry-run", "--json"], { cwd: SHIM, encoding: "utf8" }));
	const sources = readdirSync(join(SHIM, "src")).map((name) => `src/${name}`);
	const files = packed.files.map(({ path }: { path: string }) => path).sort();
	assert.deepEqual(
		files,
		["CHANGELOG.md", "LICENSE", "README.md", "package.json", "pi-retry-forced.ts", ...sources].sort(),
	);
});

it("is a pi package without dependencies or install scripts", () => {
	const manifest = JSON.parse(read("package.json"));
	assert.ok(manifest.keywords.includes("pi-package"));
	assert.deepEqual(manifest.pi.extensions, ["./pi-retry-forced.ts"]);
	assert.deepEqual(
		[manifest.dependencies, manifest.optionalDependencies, manifest.devDependencies],
		[undefined, undefined, undefined],
	);
	assert.ok(Object.values(manifest.peerDependencies).every((range) => range === "*"));
	assert.ok(!Object.keys(manifest.scripts).some((name) => /install|prepare|prepublish/.test(name)));
	assert.ok(read("CHANGELOG.md").includes(`## [${manifest.version}]`), "the changelog knows this version");
});

it("is ready to be published", () => {
	const npm = process.platform === "win32" ? "npm.cmd" : "npm";
	const args = ["publish", "--dry-run", "--json", "--tag", "next"];
	const told = JSON.parse(
		execFileSync(npm, args, { cwd: SHIM, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }),
	);
	// Newer npm tells it below the name.
	const { name, files, unpackedSize } = told["pi-retry-forced"] ?? told;
	assert.equal(name, "pi-retry-forced");
	assert.ok(files.length > 15 && unpackedSize < 400_000, `${files.length} files, ${unpackedSize} bytes`);
});

it("is found from the repository's root too", () => {
	const manifest = JSON.parse(read("../package.json"));
	assert.equal(manifest.private, true);
	assert.deepEqual(Object.keys(manifest).sort(), ["name", "pi", "private", "version"]);
	for (const entry of manifest.pi.extensions) assert.ok(existsSync(join(SHIM, "..", entry)), entry);
});

it("names no registry in its lock file", () => {
	assert.ok(!/"resolved"/.test(read("test/package-lock.json")));
});
