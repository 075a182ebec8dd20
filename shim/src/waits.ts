/** The server's own wait: a retry after an answer that named a short one is held until it is over. */

/** What an error text asks to wait, in milliseconds. */
export function namedWait(text: string): number | undefined {
	const named = /(?:retry|try again)["']?\s*(?:after|in|delay["']?\s*:)\s*["']?(\d{1,6}(?:\.\d{1,9})?)\s*(m?s)/i.exec(
		text,
	);
	return named ? Number(named[1]) * (named[2].toLowerCase() === "ms" ? 1 : 1000) : undefined;
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
