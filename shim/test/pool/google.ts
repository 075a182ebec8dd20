/** The Gemini API with thought signatures: what it refuses, and its streamed answer. */

import { type Dialect, type Json, list, refuse, textOf } from "./rules.ts";

/** Google's documented stand-in for a signature that a client does not have. */
const PLACEHOLDERS = ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

const partsOf = (content: Json) => list(content.parts);
const hasCall = (content: Json) => partsOf(content).some((part) => part.functionCall !== undefined);
const hasResponse = (content: Json) => partsOf(content).some((part) => part.functionResponse !== undefined);
const promptAt = (contents: Json[]) =>
	contents.findLastIndex((content) => content.role === "user" && !hasResponse(content));

export const google: Dialect = {
	check(body, { rules, vault, account }) {
		const contents = list(body.contents);
		if (contents.length === 0)
			return refuse("no-messages", "* GenerateContentRequest.contents: contents is not specified");
		const start = promptAt(contents);
		for (const [at, content] of contents.entries()) {
			const parts = partsOf(content);
			if (parts.length === 0)
				return refuse(
					"empty-content",
					`* GenerateContentRequest.contents[${at}].parts: contents.parts must not be empty.`,
				);
			const before = contents[at - 1];
			const calls = parts.filter((part) => part.functionCall !== undefined);
			if (calls.length > 0 && before?.role !== "user")
				return refuse(
					"tool-order",
					"Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
				);
			if (calls.length > 0 || (before && hasCall(before))) {
				const other = calls.length > 0 ? contents[at + 1] : content;
				const wanted = (calls.length > 0 ? content : before) as Json;
				const count = (which: Json | undefined, key: string) =>
					which ? partsOf(which).filter((part) => part[key] !== undefined).length : 0;
				if (count(other, "functionResponse") !== count(wanted, "functionCall"))
					return refuse(
						"tool-pair",
						"Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
					);
			}
			for (const part of parts) {
				const seal = part.thoughtSignature;
				if (seal === undefined || PLACEHOLDERS.includes(String(seal))) continue;
				if (!vault.accepts(rules, seal, account))
					return refuse(
						"signature",
						String(seal).charCodeAt(9) % 2
							? "Thought signature is not valid"
							: "Corrupted thought signature.",
					);
			}
			// Only the first call of each step in the turn that is under way must have one.
			const [first] = calls;
			if (rules.seals && at > start && first && first.thoughtSignature === undefined)
				return refuse(
					"signature-missing",
					`Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${(first.functionCall as Json).name}\` , position ${at + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`,
				);
		}
		return undefined;
	},

	situation(body) {
		const contents = list(body.contents);
		const start = promptAt(contents);
		const config = (body.generationConfig as Json | undefined)?.thinkingConfig as Json | undefined;
		return {
			prompt: textOf(contents[start]?.parts),
			done: contents
				.slice(start + 1)
				.flatMap(partsOf)
				.filter((part) => part.functionResponse !== undefined).length,
			tools: list(body.tools)
				.flatMap((tool) => list(tool.functionDeclarations))
				.map((tool) => String(tool.name)),
			thinking: config !== undefined && config.thinkingBudget !== 0,
		};
	},

	answer(body, said, { vault, account }) {
		const parts: Json[] = said.thinking.map((text) => ({ thought: true, text }));
		if (said.text !== "") parts.push({ text: said.text });
		for (const call of said.calls)
			parts.push({ functionCall: { id: vault.id("call_"), name: call.name, args: call.input } });
		const signed = parts.find((part) => part.functionCall !== undefined) ?? parts.at(-1);
		if (signed) signed.thoughtSignature = vault.issue(account, said.thinking.join("\n"), "");
		const tokens = Math.ceil(JSON.stringify(body).length / 4);
		const usageMetadata = { promptTokenCount: tokens, candidatesTokenCount: 20, totalTokenCount: tokens + 20 };
		const chunk = (some: Json[], more: Json) => ({
			event: "",
			data: { candidates: [{ content: { role: "model", parts: some }, index: 0, ...more }], usageMetadata },
		});
		return [...parts.map((part) => chunk([part], {})), chunk([{ text: "" }], { finishReason: "STOP" })];
	},
};
