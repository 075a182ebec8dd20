/**
 * The configuration: `retry-forced.json` in pi's agent folder, the same in a trusted project's `.pi`, and environment
 * variables over both. A file with anything wrong in it is reported and ignored as a whole.
 */

import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { updateFile } from "./configfile.ts";

export const MODES = ["auto", "always", "off"] as const;
export type Mode = (typeof MODES)[number];

export interface Config {
	thinking: Mode;
	compaction: boolean;
	/** The longest wait of a server's that a retry is held for, in milliseconds. */
	wait: number;
	/** Whether retries that cannot help are stopped. */
	stopUseless: boolean;
	/** Whether answers without any content are tried again. */
	empty: boolean;
	proxyHosts: string[];
	directHosts: string[];
	retry: string[];
	stop: string[];
}

/** What stands in a file. */
type Written = Partial<Omit<Config, "wait">> & { wait?: string; projects?: string[] };

const SWITCHES = ["compaction", "stopUseless", "empty"] as const;
const LISTS = ["proxyHosts", "directHosts", "retry", "stop"] as const;
/** No relay's word is worth more than this. */
const LONGEST_WAIT = 60;

function isSwitch(key: string): key is (typeof SWITCHES)[number] {
	return (SWITCHES as readonly string[]).includes(key);
}

function parseWait(value: unknown): number | undefined {
	const seconds = typeof value === "string" ? Number(/^(\d{1,2})s$/.exec(value)?.[1] ?? Number.NaN) : Number.NaN;
	return seconds <= LONGEST_WAIT ? seconds * 1000 : undefined;
}

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

/** A host with an optional port, as compared: lower case, no trailing dot, IPv6 in brackets; `*.` names all below it. */
function parseHost(entry: string): { hostname: string; port: string; below: boolean } | undefined {
	try {
		const below = entry.trim().startsWith("*.");
		const text = entry.trim().slice(below ? 2 : 0);
		if (text.includes("*")) return undefined;
		const url = new URL(`http://${/^[^[\]]*:[^[\]]*:/.test(text) ? `[${text}]` : text}`);
		if (url.pathname !== "/" || url.search || url.hash || url.username || url.password) return undefined;
		// The URL parser drops port 80 as the default; here it was written on purpose.
		return { hostname: url.hostname.replace(/\.$/, ""), port: /:0*80$/.test(text) ? "80" : url.port, below };
	} catch {
		return undefined;
	}
}

function names(entries: readonly string[], hostname: string, port: string): boolean {
	return entries.some((entry) => {
		const host = parseHost(entry);
		if (!host || (host.port !== "" && host.port !== port)) return false;
		return host.below ? hostname.endsWith(`.${host.hostname}`) : host.hostname === hostname;
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

/** Whether this base URL leads to this machine. */
export function isThisMachine(baseUrl: unknown): boolean {
	try {
		return isLoopback(new URL(String(baseUrl)).hostname.replace(/\.$/, ""));
	} catch {
		return false;
	}
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
		} else if (isSwitch(key)) {
			if (typeof entry !== "boolean") return `"${key}" must be true or false`;
		} else if (key === "wait") {
			if (parseWait(entry) === undefined) return `"wait" must be a text from "0s" to "${LONGEST_WAIT}s"`;
		} else if (key === "projects" || (LISTS as readonly string[]).includes(key)) {
			if (!Array.isArray(entry) || !entry.every((item) => typeof item === "string" && item.trim() !== ""))
				return `"${key}" must be a list of non-empty texts`;
			const wrong = key.endsWith("Hosts") ? entry.find((item) => !parseHost(item)) : undefined;
			if (wrong !== undefined) return `"${key}" has "${wrong}", which is no host`;
		} else return `does not know "${key}"`;
	}
	return undefined;
}

/** Reads a file: undefined where there is none, a problem where it cannot be used. */
function readFile(file: string): { value?: Written; problem?: string } {
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

/** The keys of a project's file that it may not set: what makes more requests, or changes them, is the user's to say. */
function tooBold(value: Written): string[] {
	return Object.entries(value)
		.filter(([key, entry]) => {
			if (key === "thinking") return entry !== "off";
			if (key === "wait") return false;
			return isSwitch(key) ? entry : key !== "directHosts" && key !== "stop";
		})
		.map(([key]) => key);
}

/**
 * Reads all of it again. `projectDir` only if the host calls the project trusted. A project's file can only make the
 * extension more careful, unless the user's own file names the project; what it does is told either way.
 */
export function loadConfig(projectDir: string | undefined): { config: Config; problems: string[] } {
	const config: Config = {
		thinking: "auto",
		compaction: true,
		wait: LONGEST_WAIT * 1000,
		stopUseless: false,
		empty: false,
		proxyHosts: [],
		directHosts: [],
		retry: [],
		stop: [],
	};
	const problems: string[] = [];
	const take = (value: Written) => {
		config.thinking = value.thinking ?? config.thinking;
		for (const name of SWITCHES) config[name] = value[name] ?? config[name];
		for (const list of LISTS) config[list].push(...(value[list] ?? []));
	};
	const own = readFile(userFile());
	if (own.problem) problems.push(`${own.problem}; the file is ignored`);
	if (own.value) {
		take(own.value);
		config.wait = parseWait(own.value.wait) ?? config.wait;
	}
	if (projectDir) {
		const file = join(projectDir, ".pi", "retry-forced.json");
		const { value, problem } = readFile(file);
		if (problem) problems.push(`${problem}; the file is ignored`);
		if (value && Object.keys(value).length > 0) {
			const isNamed = own.value?.projects?.some((path) => resolve(agentDir(), path) === resolve(projectDir));
			const refused = isNamed ? [] : tooBold(value);
			const rest = Object.fromEntries(Object.entries(value).filter(([key]) => !refused.includes(key))) as Written;
			take(rest);
			const wait = parseWait(rest.wait);
			if (wait !== undefined) config.wait = isNamed ? wait : Math.min(wait, config.wait);
			if (Object.keys(rest).length > 0) problems.push(`${file} sets ${Object.keys(rest).join(", ")} here`);
			if (refused.length > 0)
				problems.push(
					`${file} may not set ${refused.join(", ")}; ${userFile()} can allow it: "projects": ["${projectDir}"]`,
				);
		}
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

/** Adds an entry to a list of the user's file and takes it out of the opposite list. Throws with a message for the user. */
export function addEntry(list: (typeof LISTS)[number], entry: string): void {
	const file = userFile();
	const other = ({ retry: "stop", stop: "retry", proxyHosts: "directHosts", directHosts: "proxyHosts" } as const)[
		list
	];
	updateFile(file, () => {
		const { value = {}, problem } = readFile(file);
		if (problem) throw new Error(problem);
		const without = (entries: string[] | undefined) => (entries ?? []).filter((known) => known !== entry);
		const next: Written = { ...value, [list]: [...without(value[list]), entry] };
		if (value[other]) next[other] = without(value[other]);
		return `${JSON.stringify(next, null, "\t")}\n`;
	});
}
