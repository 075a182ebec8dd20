//! The two small mails: string literals in upstream's lists, and one list more. Each place must be there exactly once.

use std::collections::BTreeMap;

use super::CLASSIFIER;
use super::error::{Error, Kind};
use crate::reference::rules::{self, Rule};

type Tree = BTreeMap<String, String>;

/// The rules whose wording the third mail adds.
pub const RELAY_RULES: [&str; 1] = ["relay-request-not-supported"];

/// The token list of 1.4.0 and newer, as a pattern.
const TOKENS: &str = "(?<![a-z0-9])(?:429|500|502|503|504|520|524)(?![a-z0-9])";
/// What the first mail makes of it.
pub(super) const NEW_TOKENS: &str = "(?<![a-z0-9_-])(?:429|500|502|503|504|520|521|522|523|524|529|530)(?![a-z0-9_-])";
const DNS: &str = "ENOTFOUND";
const NEW_DNS: &str = "(?<![a-z0-9_])ENOTFOUND(?![a-z0-9_])";

/// The text of a file of the tree.
pub(super) fn text<'t>(tree: &'t mut Tree, path: &'static str) -> Result<&'t mut String, Error> {
    let what = || Kind::Place { file: path, what: "the file".to_owned(), found: 0 };
    tree.get_mut(path).ok_or_else(|| what().into())
}

/// Replaces what must be there exactly once.
pub(super) fn replace(text: &mut String, file: &'static str, old: &str, new: &str) -> Result<(), Error> {
    let found = text.matches(old).count();
    if found != 1 {
        let what = format!("`{}`", old.trim().lines().next().unwrap_or_default());
        return Err(Kind::Place { file, what, found }.into());
    }
    *text = text.replacen(old, new, 1);
    Ok(())
}

/// Word edges, and the statuses that Cloudflare and providers send besides the known ones.
pub(super) fn edges(tree: &mut Tree) -> Result<(), Error> {
    let text = text(tree, CLASSIFIER)?;
    if text.contains("errorStatus") || text.contains("readErrorStatus") {
        return Err(Kind::AlreadyIn { what: format!("{CLASSIFIER} reads the status already") }.into());
    }
    if !text.contains("(?<![a-z0-9") {
        return Err(Kind::TooOld { what: format!("{CLASSIFIER} has no tokens with word edges") }.into());
    }
    replace(text, CLASSIFIER, &format!("\"{TOKENS}\""), &format!("\"{NEW_TOKENS}\""))?;
    replace(text, CLASSIFIER, &format!("\"{DNS}\""), &format!("\"{NEW_DNS}\""))
}

/// The rules of the third mail.
pub(super) fn relay_rules() -> impl Iterator<Item = &'static Rule> {
    RELAY_RULES.iter().filter_map(|id| rules::by_id(id))
}

/// The relay's wording, for HTTP 400 only.
pub(super) fn relay(tree: &mut Tree) -> Result<(), Error> {
    let text = text(tree, CLASSIFIER)?;
    let patterns: String = relay_rules()
        .flat_map(|rule| &rule.patterns)
        .map(|pattern| Ok(format!("\t{},\n", quote(pattern.js())?)))
        .collect::<Result<String, Error>>()?;
    let list = format!(
        "\nconst TRANSIENT_400_ERROR_PATTERN = buildProviderErrorPattern([\n\
         \t// new-api relays refuse a sound request at random, e.g. \"This request is not supported. (request id: ...)\". The\n\
         \t// same request succeeds when sent again. With more words, e.g. \"... with this model\", it is final.\n\
         {patterns}]);\n"
    );
    replace(text, CLASSIFIER, "\n/**\n * Retry policy:", &format!("{list}\n/**\n * Retry policy:"))?;
    let last = "\treturn status === undefined && RETRYABLE_TRANSPORT_ERROR_PATTERN.test(errorMessage);\n";
    let test = "\tif (status === 400 && TRANSIENT_400_ERROR_PATTERN.test(errorMessage)) return true;\n";
    replace(text, CLASSIFIER, last, &format!("{test}{last}"))
}

/// A string literal as upstream's formatter wants it: double quotes, but single ones where that saves escapes.
fn quote(value: &str) -> Result<String, Error> {
    let quote = if value.matches('"').count() > value.matches('\'').count() { '\'' } else { '"' };
    let mut literal = String::from(quote);
    for char in value.chars() {
        match char {
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            char if char == quote => literal.extend(['\\', char]),
            char if char.is_control() => {
                return Err(Kind::Data { what: format!("a pattern has a control character: {value}") }.into());
            }
            char => literal.push(char),
        }
    }
    literal.push(quote);
    Ok(literal)
}
