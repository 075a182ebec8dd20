//! The two mails about the status: it is kept in `diagnostics`, by the edits of [`crate::patch`] and without a change of
//! behaviour; then the classifier asks it. Upstream's pattern list stays whole and where it is.

use std::collections::BTreeMap;

use super::edits::{replace, text};
use super::error::Error;
use super::{CLASSIFIER, ERROR_BODY, as_sources};
use crate::patch::{self, Classifier};
use crate::reference::classify::{Profile, TRANSIENT_CLIENT_STATUSES, UNTELLING_STATUSES};
use crate::reference::failure::PI_FRAME;
use crate::upstream::Package;

type Tree = BTreeMap<String, String>;

/// The status of a failed answer in `diagnostics`, for the providers that lack it.
pub(super) fn kept(package: &Package, tree: &mut Tree) -> Result<(), Error> {
    let set = patch::make_in_sources(package, &as_sources(tree), &Classifier::of(Profile::Upstream))?;
    for file in set.files.into_iter().filter(|file| file.path != CLASSIFIER) {
        tree.insert(file.path, file.new);
    }
    Ok(())
}

/// The classifier asks it.
pub(super) fn asked(_: &Package, tree: &mut Tree) -> Result<(), Error> {
    classifier(text(tree, CLASSIFIER)?)?;
    error_body(text(tree, ERROR_BODY)?)
}

fn classifier(text: &mut String) -> Result<(), Error> {
    let transient = TRANSIENT_CLIENT_STATUSES.map(|status| status.to_string()).join(", ");
    let untelling = UNTELLING_STATUSES.map(|status| format!("status !== {status}")).join(" && ");
    let last = "\treturn RETRYABLE_PROVIDER_ERROR_PATTERN.test(errorMessage);\n";
    let asked = format!(
        "\t// A known HTTP status decides. 400 and 424 say too little: there the text is asked, as where there is no status.\n\
         \tconst status = readFailureStatus(message);\n\
         \tif (status !== undefined && {untelling}) {{\n\
         \t\treturn status >= 500 || [{transient}].includes(status);\n\t}}\n{last}"
    );
    replace(text, CLASSIFIER, last, &asked)?;
    // With the status at hand, Codex's word for a plan's limit would be a rate.
    let limits = "const NON_RETRYABLE_PROVIDER_LIMIT_ERROR_PATTERN = buildProviderErrorPattern([\n";
    let plan = "\t// Codex words every 429 with an error object like this, e.g. \"You have hit your ChatGPT usage limit (plus plan).\"\n\
                \t\"hit your ChatGPT usage limit\",\n\n";
    replace(text, CLASSIFIER, limits, &format!("{limits}{plan}"))?;
    let import = "import type { AssistantMessage } from \"../types.ts\";\n";
    replace(text, CLASSIFIER, import, &format!("{import}import {{ readFailureStatus }} from \"./error-body.ts\";\n"))
}

fn error_body(text: &mut String) -> Result<(), Error> {
    let frame = PI_FRAME.js();
    let reader = format!(
        "// \"400 {{...}}\", \"400: {{...}}\", \"Mistral API error (400): ...\", \"Unknown: 400: ...\" (Bedrock)\n\
         const FAILURE_STATUS_PATTERN = /{frame}/i;\n\
         \nconst isFailureStatus = (status: unknown): status is number =>\n\
         \tNumber.isInteger(status) && Number(status) >= 400 && Number(status) <= 599;\n\
         \n/**\n * The HTTP status (400 to 599) of a failed answer, if a diagnostic carries one. A text that starts with another one\n \
         * was rewritten afterwards, and that one counts.\n */\n\
         export function readFailureStatus(message: {{\n\tdiagnostics?: AssistantMessageDiagnostic[];\n\
         \terrorMessage?: string;\n}}): number | undefined {{\n\
         \tconst known = message.diagnostics?.map((diagnostic) => diagnostic.details?.status).find(isFailureStatus);\n\
         \tif (known === undefined) return undefined;\n\
         \tconst written = Number(FAILURE_STATUS_PATTERN.exec(message.errorMessage ?? \"\")?.[1]);\n\
         \treturn isFailureStatus(written) ? written : known;\n}}\n\n"
    );
    // Behind the helper that keeps it.
    let next = "/**\n * Probe the raw body reason";
    replace(text, ERROR_BODY, next, &format!("{reader}{next}"))
}
