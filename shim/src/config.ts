/**
 * The configuration: `retry-forced.json` in pi's agent folder, the same in a trusted project's `.pi`, and environment
 * variables over both. A file with anything wrong in it is reported and ignored as a whole.
 */

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export const MODES = ["auto", "always", "off"] as const;
export type Mode = (typeof MODES)[number];

export interface Config {
	thinking: Mode;
	compaction: boolean;
	proxyHosts: string[];
	directHosts: string[];
	retry: string[];
	stop: string[];
}

const LISTS = ["proxyHosts", "directHosts", "retry", "stop"] as const;

export function isMode(value: unknown): value is Mode {
	return MODES.includes(value as Mode);
}

/** pi's agent folder, found the way pi finds it. */
export function agentDir(): string {
	const dir = process.env.PI_CODING_AGENT_DIR;
	if (!dir) return join(homedir(), ".pi", "agent");
	return dir === "~" || dir.startsWith("~/") ? join(homedir(), dir.slice(1)) : dir;
}

export function userFile(): string {
	return join(agentDir(), "retry-forced.json");
}

/** A host with an optional port, as compared: lower case, no trailing dot, IPv6 in brackets. */
function parseHost(entry: string): { hostname: string; port: string } | undefined {
	try {
		const text = entry.trim();
		const url = new URL(`http://${/^[^[\]]*:[^[\]]*:/.test(text) ? `[${text}]` : text}`);
		if (url.pathname !== "/" || url.search || url.hash || url.username || url.password) return undefined;
		// The URL parser drops port 80 as the default; here it was written on purpose.
		return { hostname: url.hostname.replace(/\.$/, ""), port: /:0*80$/.test(text) ? "80" : url.port };
	} catch {
		return undefined;
	}
}

function names(entries: readonly string[], hostname: string, port: string): boolean {
	return entries.some((entry) => {
		const host = parseHost(entry);
		return host?.hostname === hostname && (host.port === "" || host.port === port);
	});
}

const DIRECT = ["api.anthropic.com", "api.openai.com"];

function isLoopback(hostname: string): boolean {
	return (
		hostname === "localhost" ||
		hostname.endsWith(".localhost") ||
		/^127\.\d+\.\d+\.\d+$/.test(hostname) ||
		hostname === "0.0.0.0" ||
		/^\[(?:::1?|::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4})\]$/.test(hostname)
	);
}

/** Whether this base URL is a relay's: anything but the vendors' own hosts and this machine, unless configured. */
export function isProxied(baseUrl: unknown, config: Config): boolean {
	let url: URL;
	try {
		url = new URL(String(baseUrl));
	} catch {
		return false;
	}
	const hostname = url.hostname.replace(/\.$/, "");
	const port = url.port || (url.protocol === "https:" ? "443" : "80");
	if (names(config.directHosts, hostname, port)) return false;
	if (names(config.proxyHosts, hostname, port)) return true;
	return hostname !== "" && !DIRECT.includes(hostname) && !isLoopback(hostname);
}

function problemIn(value: unknown): string | undefined {
	if (typeof value !== "object" || value === null || Array.isArray(value)) return "is no JSON object";
	for (const [key, entry] of Object.entries(value)) {
		if (key === "thinking") {
			if (!isMode(entry)) return `"thinking" must be one of ${MODES.join(", ")}`;
		} else if (key === "compaction") {
			if (typeof entry !== "boolean") return '"compaction" must be true or false';
		} else if ((LISTS as readonly string[]).includes(key)) {
			if (!Array.isArray(entry) || !entry.every((item) => typeof item === "string" && item.trim() !== ""))
				return `"${key}" must be a list of non-empty texts`;
			const wrong = key.endsWith("Hosts") ? entry.find((item) => !parseHost(item)) : undefined;
			if (wrong !== undefined) return `"${key}" has "${wrong}", which is no host`;
		} else return `does not know "${key}"`;
	}
	return undefined;
}

/** Reads a file: undefined where there is none, a problem where it cannot be used. */
function readFile(file: string): { value?: Partial<Config>; problem?: string } {
	let text: string;
	try {
		text = readFileSync(file, "utf8");
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === "ENOENT" ? {} : { problem: `${file} cannot be read` };
	}
	try {
		const value = JSON.parse(text.replace(/^\uFEFF/, ""));
		const problem = problemIn(value);
		return problem ? { problem: `${file} ${problem}` } : { value };
	} catch {
		return { problem: `${file} is no valid JSON` };
	}
}

/** Reads everything anew. `projectDir` only if the host calls the project trusted. */
export function loadConfig(projectDir: string | undefined): { config: Config; problems: string[] } {
	const config: Config = { thinking: "auto", compaction: true, proxyHosts: [], directHosts: [], retry: [], stop: [] };
	const problems: string[] = [];
	const files = [userFile()];
	if (projectDir) files.push(join(projectDir, ".pi", "retry-forced.json"));
	for (const file of files) {
		const { value, problem } = readFile(file);
		if (problem) problems.push(`${problem}; the file is ignored`);
		if (!value) continue;
		config.thinking = value.thinking ?? config.thinking;
		config.compaction = value.compaction ?? config.compaction;
		for (const list of LISTS) config[list].push(...(value[list] ?? []));
	}
	const mode = process.env.PI_RETRY_FORCED_THINKING?.trim().toLowerCase();
	if (isMode(mode)) config.thinking = mode;
	else if (mode) problems.push(`PI_RETRY_FORCED_THINKING must be one of ${MODES.join(", ")}; it is ignored`);
	for (const [list, name] of [
		["proxyHosts", "PI_RETRY_FORCED_PROXY_HOSTS"],
		["directHosts", "PI_RETRY_FORCED_DIRECT_HOSTS"],
	] as const) {
		const hosts = process.env[name]?.split(",").filter((host) => host.trim() !== "");
		if (!hosts) continue;
		const wrong = hosts.find((host) => !parseHost(host));
		if (wrong === undefined) config[list] = hosts;
		else problems.push(`${name} has "${wrong.trim()}", which is no host; it is ignored`);
	}
	return { config, problems };
}

/** Adds a wording to the user's file. Throws with a message for the user if the file is not fit for it. */
export function addWording(list: "retry" | "stop", wording: string): void {
	const file = userFile();
	const { value = {}, problem } = readFile(file);
	if (problem) throw new Error(problem);
	const other = list === "retry" ? "stop" : "retry";
	const without = (entries: string[] | undefined) => (entries ?? []).filter((entry) => entry !== wording);
	const next: Partial<Config> = { ...value, [list]: [...without(value[list]), wording] };
	if (value[other]) next[other] = without(value[other]);
	const scratch = `${file}.${process.pid}.new`;
	writeFileSync(scratch, `${JSON.stringify(next, null, "\t")}\n`);
	renameSync(scratch, file);
}
