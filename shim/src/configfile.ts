/** Writes the configuration file whole or not at all, where it really is, with its mode, and one process at a time. */

import {
	chmodSync,
	closeSync,
	mkdirSync,
	openSync,
	readlinkSync,
	realpathSync,
	renameSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { dirname, resolve } from "node:path";

/** A lock that is older was left by a process that is gone. */
const STALE_MS = 10_000;
const PATIENCE_MS = 5000;
const PAUSE_MS = 10;

/** Where the file is, through symbolic links; through one that leads to nothing yet, where it would be. */
function realPath(file: string): string {
	try {
		return realpathSync(file);
	} catch {
		try {
			return resolve(dirname(file), readlinkSync(file));
		} catch {
			return file;
		}
	}
}

function lock(path: string): void {
	const until = Date.now() + PATIENCE_MS;
	for (;;) {
		try {
			closeSync(openSync(path, "wx"));
			return;
		} catch (error) {
			if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
		}
		try {
			if (Date.now() - statSync(path).mtimeMs > STALE_MS) rmSync(path, { force: true });
		} catch {}
		if (Date.now() > until) throw new Error(`another pi holds ${path}; remove it if none is running`);
		Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
	}
}

/** Replaces a file's content by what `next` makes of it; `next` reads the file while it is locked. */
export function updateFile(file: string, next: () => string): void {
	const real = realPath(file);
	mkdirSync(dirname(real), { recursive: true });
	const held = `${real}.lock`;
	lock(held);
	const scratch = `${real}.${process.pid}.new`;
	try {
		let mode: number | undefined;
		try {
			mode = statSync(real).mode & 0o7777;
		} catch {}
		writeFileSync(scratch, next(), { mode: 0o600 });
		chmodSync(scratch, mode ?? 0o644);
		renameSync(scratch, real);
	} finally {
		rmSync(scratch, { force: true });
		rmSync(held, { force: true });
	}
}
