//! The small mail: string literals in upstream's list. Each place must be there exactly once.

use std::collections::BTreeMap;

use super::CLASSIFIER;
use super::error::{Error, Kind};

type Tree = BTreeMap<String, String>;

/// The token list of 1.4.0 and newer, as a pattern.
const TOKENS: &str = "(?<![a-z0-9])(?:429|500|502|503|504|520|524)(?![a-z0-9])";
/// What the first mail makes of it.
const NEW_TOKENS: &str = "(?<![a-z0-9])(?:429|500|502|503|504|520|522|524|529)(?![a-z0-9])";
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

/// Word edges for ENOTFOUND, and two statuses that Cloudflare and Anthropic send besides the known ones.
pub(super) fn edges(tree: &mut Tree) -> Result<(), Error> {
    let text = text(tree, CLASSIFIER)?;
    if text.contains("readFailureStatus") || text.contains("diagnostics") {
        return Err(Kind::AlreadyIn { what: format!("{CLASSIFIER} reads the status already") }.into());
    }
    if !text.contains("(?<![a-z0-9") {
        return Err(Kind::TooOld { what: format!("{CLASSIFIER} has no tokens with word edges") }.into());
    }
    replace(text, CLASSIFIER, &format!("\"{TOKENS}\""), &format!("\"{NEW_TOKENS}\""))?;
    replace(text, CLASSIFIER, &format!("\"{DNS}\""), &format!("\"{NEW_DNS}\""))
}
