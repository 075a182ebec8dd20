/**
 * What the running pi itself would decide. Its own functions are asked, so that nothing is changed which it gets right;
 * where it does not export them (0.74.2 has no `isRetryableAssistantError`) the answers are unknown.
 */

export interface FailedMessage {
	role: "assistant";
	stopReason: string;
	errorMessage: string;
	errorStatus?: unknown;
	[key: string]: unknown;
}

/** pi's overflow check takes quadratic time on long text, and its wordings stand at either end. */
const OVERFLOW_END = 8 * 1024;

function ends(text: string): string {
	return `${text.slice(0, OVERFLOW_END)}\n${text.slice(-OVERFLOW_END)}`;
}

/** pi's overflow check leaves such texts alone; under our prefix it would no longer see them. */
const HIDDEN_BY_PREFIX = /^(?:throttling error|service unavailable):/i;

export class Host {
	#isRetryable?: (message: never) => boolean;
	#isOverflow?: (message: never, contextWindow?: number) => boolean;
	#version = "";
	#learned?: boolean;

	/** Takes pi's functions; hosts have them in memory. A host without these modules cannot be asked. */
	async load(): Promise<void> {
		const [agent, ai] = (await Promise.all([
			import("@earendil-works/pi-coding-agent").catch(() => ({})),
			import("@earendil-works/pi-ai").catch(() => ({})),
		])) as Record<string, unknown>[];
		this.#version = String(agent.VERSION);
		const { isRetryableAssistantError, isContextOverflow } = ai;
		if (typeof isRetryableAssistantError === "function") this.#isRetryable = isRetryableAssistantError as never;
		if (typeof isContextOverflow === "function") this.#isOverflow = isContextOverflow as never;
	}

	/** Whether pi would retry this text by itself; undefined where it cannot be asked. */
	retries(message: FailedMessage): boolean | undefined {
		return this.#isRetryable?.(message as never);
	}

	/** Whether pi takes this text for an overflow: then it compacts instead of retrying. */
	overflows(message: FailedMessage): boolean {
		const { errorMessage } = message;
		if (!this.#isOverflow) return false;
		const shortened = errorMessage.length > 2 * OVERFLOW_END;
		return this.#isOverflow((shortened ? { ...message, errorMessage: ends(errorMessage) } : message) as never, 0);
	}

	/** Whether pi would retry a rewritten message, given that the original is no overflow. */
	accepts(rewritten: FailedMessage, original: string): boolean {
		if (this.retries(rewritten) === false) return false;
		return !HIDDEN_BY_PREFIX.test(original) || !this.overflows(rewritten);
	}

	/** Whether this pi tells how a compaction ended in every case, and retries its calls: both came with 0.84.3. */
	get endsCompaction(): boolean {
		const [major, minor, patch] = this.#version.split(/[.-]/).map(Number);
		return major > 0 || minor > 84 || (minor === 84 && patch >= 3);
	}

	/**
	 * Whether this pi decides by status: a status that no word list knows is retried, a transient word under a status
	 * that ends the matter is not, and a relay's transient 400 is known.
	 */
	get learned(): boolean {
		if (this.#isRetryable && this.#learned === undefined) {
			const says = (status: number, errorMessage: string) => {
				const diagnostics = [{ type: "provider_response_failure", timestamp: 0, details: { status } }];
				return this.retries({ role: "assistant", stopReason: "error", errorMessage, diagnostics }) === true;
			};
			this.#learned =
				says(522, '522 {"error":{"message":"no"}}') &&
				!says(400, '400 {"error":{"message":"Unknown parameter: timeout"}}') &&
				says(400, '400 {"error":{"message":"This request is not supported."}}');
		}
		return this.#learned ?? false;
	}
}
