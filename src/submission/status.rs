//! The status mail: the change that [`crate::patch`] makes in the sources, profile `upstream`, in the form that a reader of these files
//! would have chosen. The generator decides what goes where; here its function and its one long expression are written out.

use std::collections::{BTreeMap, BTreeSet};

use super::edits::{NEW_TOKENS, relay_rules, replace, text};
use super::error::{Error, Kind};
use super::{CLASSIFIER, ERROR_BODY, as_sources};
use crate::patch::{self, Classifier};
use crate::reference::classify::{Profile, TRANSIENT_CLIENT_STATUSES};
use crate::reference::failure::PI_FRAME;
use crate::reference::rules::{RuleDecision, When};
use crate::upstream::Package;

type Tree = BTreeMap<String, String>;

/// What the second mail's classifier shall decide: the profile `upstream`, without the wording that the third mail brings.
pub fn target() -> Classifier {
    let mut target = Classifier::of(Profile::Upstream);
    let later: BTreeSet<&str> = relay_rules().flat_map(|rule| &rule.patterns).map(|pattern| pattern.js()).collect();
    for group in &mut target.groups {
        group.patterns.retain(|pattern| !later.contains(pattern.js.as_str()));
    }
    target.groups.retain(|group| !group.patterns.is_empty());
    target.superseded.insert(NEW_TOKENS.to_owned(), None);
    target
}

pub(super) fn edit(package: &Package, tree: &mut Tree) -> Result<(), Error> {
    let target = target();
    check(&target)?;
    let set = patch::make_in_sources(package, &as_sources(tree), &target)?;
    for file in set.files {
        tree.insert(file.path, file.new);
    }
    classifier(text(tree, CLASSIFIER)?)?;
    error_body(text(tree, ERROR_BODY)?)
}

/// The function below is written for these groups and no others.
fn check(target: &Classifier) -> Result<(), Error> {
    let known: [(RuleDecision, &[When]); 3] = [
        (RuleDecision::Stop, &[When::NoStatus, When::ClientError]),
        (RuleDecision::Retry, &[When::NoStatus, When::Status(400)]),
        (RuleDecision::Retry, &[When::NoStatus]),
    ];
    for group in &target.groups {
        let same = |(decision, when): &(RuleDecision, &[When])| {
            *decision == group.decision && group.when == when.iter().copied().collect::<BTreeSet<When>>()
        };
        if !known.iter().any(same) {
            let what = format!("the profile upstream has a group for {:?} that the mail has no line for", group.when);
            return Err(Kind::Data { what }.into());
        }
    }
    // It is written as a literal.
    if PI_FRAME.js().contains('/') {
        return Err(Kind::Data { what: "the text frame has a slash".to_owned() }.into());
    }
    Ok(())
}

const COPY: &str = "\tconst errorMessage = message.errorMessage;\n";

fn classifier(text: &mut String) -> Result<(), Error> {
    // The expression moves beside the code that writes such texts.
    let start = "\n// The status where a provider's text starts with it, for messages that carry none.\n";
    cut(text, start, "/i;\n", "")?;
    // One line is enough to say it.
    let headline = "\n// Wording that counts only without an HTTP status";
    cut(
        text,
        headline,
        "\nconst ",
        "\n// Count only without an HTTP status: in a failed answer such words name a parameter or an account.\nconst ",
    )?;
    let transient = TRANSIENT_CLIENT_STATUSES.map(|status| status.to_string()).join(", ");
    let body = format!(
        "\t// The HTTP status decides; the text is asked where there is none, and about the few failures sent as 400.\n\
         \tconst status = readErrorStatus(message);\n\
         \tconst limited = NON_RETRYABLE_PROVIDER_LIMIT_ERROR_PATTERN.test(errorMessage);\n\
         \tif (limited && (status === undefined || status < 500)) return false;\n\
         \tif (status !== undefined && (status >= 500 || [{transient}].includes(status))) return true;\n\
         \tif ((status === undefined || status === 400) && RETRYABLE_PROVIDER_ERROR_PATTERN.test(errorMessage)) return true;\n\
         \treturn status === undefined && RETRYABLE_TRANSPORT_ERROR_PATTERN.test(errorMessage);\n}}\n"
    );
    cut(text, COPY, "\n}\n", &format!("{COPY}{body}"))?;
    let import = "import type { AssistantMessage } from \"../types.ts\";\n";
    replace(text, CLASSIFIER, import, &format!("{import}import {{ readErrorStatus }} from \"./error-body.ts\";\n"))
}

/// Replaces everything from one text to the next other, both of them too.
fn cut(text: &mut String, from: &str, to: &str, new: &str) -> Result<(), Error> {
    let fail = |what: &str, found| {
        let what = format!("`{}`", what.trim());
        Error::from(Kind::Place { file: CLASSIFIER, what, found })
    };
    let found = text.matches(from).count();
    let start = text.find(from).filter(|_| found == 1).ok_or_else(|| fail(from, found))?;
    let behind = start + from.len();
    let end = text[behind..].find(to).map(|at| behind + at + to.len()).ok_or_else(|| fail(to, 0))?;
    text.replace_range(start..end, new);
    Ok(())
}

fn error_body(text: &mut String) -> Result<(), Error> {
    let frame = PI_FRAME.js();
    let reader = format!(
        "\n// \"400 {{...}}\", \"400: {{...}}\", \"Mistral API error (400): ...\", \"Unknown: 400: ...\" (Bedrock)\n\
         const ERROR_STATUS_PATTERN = /{frame}/i;\n\
         \n/**\n * The HTTP status (400 to 599) of a failed answer: from the message, else from the start of its text.\n \
         * Numbers anywhere else in a text are ids, limits, or names.\n */\n\
         export function readErrorStatus(message: {{ errorStatus?: number; errorMessage?: string }}): number | undefined {{\n\
         \tconst written = ERROR_STATUS_PATTERN.exec(message.errorMessage ?? \"\")?.[1];\n\
         \treturn [message.errorStatus, Number(written)].find(\n\
         \t\t(status) => status !== undefined && Number.isInteger(status) && status >= 400 && status <= 599,\n\
         \t);\n}}\n"
    );
    let helper = "output.errorStatus = status;\n}\n";
    replace(text, ERROR_BODY, helper, &format!("{helper}{reader}"))
}
