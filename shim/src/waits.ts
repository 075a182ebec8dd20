/** The server's own wait: a retry after an answer that named a short one is held until it is over. */

/** What an error text asks to wait, in milliseconds. */
export function namedWait(text: string): number | undefined {
	const named =
		/(?:(?:retry|try again)["']?\s*(?:after|in|delay["']?\s*:)|\bwait(?: for)?)\s*["']?(\d{1,6}(?:\.\d{1,9})?)\s*(ms|s\b|sec|m(?:in|\b))/i.exec(
			text,
		);
	if (!named) return undefined;
	const unit = named[2].toLowerCase();
	return Number(named[1]) * (unit === "ms" ? 1 : unit.startsWith("m") ? 60_000 : 1000);
}

/** Resolves after that time or as soon as the signal aborts, and leaves neither timer nor listener behind. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		if (signal.aborted) return resolve();
		const done = () => {
			clearTimeout(timer);
			signal.removeEventListener("abort", done);
			resolve();
		};
		const timer = setTimeout(done, ms);
		signal.addEventListener("abort", done);
	});
}
