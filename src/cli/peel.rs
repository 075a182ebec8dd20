//! What stands around an error text on pi's screen: quotes, wrapped lines, pi's own words before a failure, our prefix.
//!
//! It is taken off before a verdict and told; the decision itself reads texts as they are.

use crate::REWRITE_PREFIX;
use crate::reference::pis_words::{after, after_pis_words};
use serde_json::Value;

/// A text without its surroundings.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Peeled {
    /// What is left.
    pub(crate) text: String,
    /// What was taken off, in order, in words for a person.
    pub(crate) off: Vec<&'static str>,
}

/// Takes off what a person copies along with an error text.
pub(crate) fn peel(copied: &str) -> Peeled {
    // Line breaks, spaces and a byte order mark around it belong to whatever handed the text over.
    let outside = |c: char| c.is_whitespace() || c == '\u{FEFF}';
    let mut peeled = Peeled { text: copied.trim_matches(outside).to_owned(), off: Vec::new() };
    while let Some((text, what)) = peel_once(&peeled.text) {
        peeled.text = text.trim_matches(outside).to_owned();
        if !peeled.off.contains(&what) {
            peeled.off.push(what);
        }
    }
    peeled
}

fn peel_once(text: &str) -> Option<(String, &'static str)> {
    if let Some(message) = session_message(text) {
        return Some((message, "the session's entry around it"));
    }
    if let Some(rest) = text.strip_prefix("> ").or_else(|| text.strip_prefix("│ ")) {
        return Some((rest.to_owned(), "the mark before it"));
    }
    for quote in ['"', '\'', '`', '“'] {
        let end = if quote == '“' { '”' } else { quote };
        let inner = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(end));
        if let Some(inner) = inner.filter(|inner| !inner.is_empty() && !inner.contains(['\n', quote])) {
            return Some((inner.to_owned(), "the quotes around it"));
        }
    }
    if let Some(rest) = text.strip_prefix(REWRITE_PREFIX).filter(|rest| !rest.is_empty()) {
        return Some((rest.to_owned(), "the extension's prefix"));
    }
    if let Some(rest) = after_pis_words(text) {
        return Some((rest.to_owned(), "pi's words before it"));
    }
    // pi's own "Error: " says nothing; behind it may stand more of pi's words or a frame.
    if let Some(rest) = after(text, "Error: ") {
        return Some((rest.to_owned(), "pi's words before it"));
    }
    unwrap(text).map(|whole| (whole, "line breaks of the screen"))
}

/// The error text of a line of a session file, or of an assistant message.
fn session_message(text: &str) -> Option<String> {
    if !text.starts_with('{') {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    let message = value.get("message").filter(|message| message.is_object()).unwrap_or(&value);
    message.get("errorMessage")?.as_str().map(str::to_owned)
}

/// Wrapped lines as one: a bracket or quote that is open at a line's end goes on in the next line.
fn unwrap(text: &str) -> Option<String> {
    let mut lines = text.lines();
    let first = lines.next()?;
    // A body that is laid out, a page or a list has line breaks of its own.
    if !text.contains('\n') || first.trim_end().ends_with(['{', '[', '>']) {
        return None;
    }
    let mut whole = first.trim_end().to_owned();
    for line in lines {
        let line = line.trim();
        if line.is_empty() {
            return None;
        }
        if !whole.ends_with(['(', '/', '=', '-']) {
            whole.push(' ');
        }
        whole.push_str(line);
    }
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::peel;

    fn text(copied: &str) -> String {
        peel(copied).text
    }

    #[test]
    fn what_stands_around_a_text_is_taken_off() {
        let wrapped = "400 {\"error\":{\"message\":\"This request is not supported. (request id:\n  2026112911181134177611118268d9d69EdzNJOg)\"}}";
        assert_eq!(
            text(wrapped),
            "400 {\"error\":{\"message\":\"This request is not supported. (request id: 2026112911181134177611118268d9d69EdzNJOg)\"}}"
        );
        for copied in [
            "529",
            "\"Error: 529\"",
            "> Error: 529",
            "Error: Retry failed after 3 attempts: 529",
            "Summarization failed: 529",
            "Error: Auto-compaction failed: 529",
            "503 service unavailable (retry-forced): 529",
            "{\"type\":\"message\",\"message\":{\"role\":\"assistant\",\"errorMessage\":\"529\"}}",
            "\u{FEFF} 529 \n",
        ] {
            assert_eq!(text(copied), "529", "{copied}");
        }
    }

    #[test]
    fn what_belongs_to_a_text_stays() {
        for whole in [
            "400: {\n  \"message\": \"no\"\n}",
            "first\n\nsecond",
            "\"a\" and \"b\"",
            "Error: ",
            "{\"error\":{\"message\":\"x\"}}",
        ] {
            assert_eq!(text(whole), whole.trim());
        }
        assert_eq!(peel("Error: \"x\"").off, ["pi's words before it", "the quotes around it"]);
    }
}
