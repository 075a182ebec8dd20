//! Markdown tables, and the words that occur in more than one place.

use super::Group;
use super::runs::Record;

/// A Markdown table; cells are escaped.
pub(super) fn table(head: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.iter().map(|c| cell(c)).collect::<Vec<_>>().join(" | "));
    let rule: Vec<String> =
        head.iter().enumerate().map(|(index, _)| if index == 0 { "---" } else { "---:" }.to_owned()).collect();
    let rule = format!("| {} |\n", rule.join(" | "));
    line(head) + &rule + &rows.iter().map(|row| line(row)).collect::<String>()
}

/// A table all of whose columns are text.
pub(super) fn prose_table(head: &[&str], rows: &[Vec<String>]) -> String {
    let head: Vec<String> = head.iter().map(|&h| h.to_owned()).collect();
    table(&head, rows).replacen("---:", "---", head.len())
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// Inline code that may hold backticks and bars.
pub(super) fn code(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

/// The start of a text, in code.
pub(super) fn excerpt(text: &str) -> String {
    const LENGTH: usize = 110;
    let start: String = text.chars().take(LENGTH).collect();
    code(&if start.len() < text.len() { format!("{start}…") } else { start })
}

/// A share as percent with three places; what is too small for them but not nothing says so.
pub(super) fn percent(share: f64) -> String {
    match share * 100.0 {
        0.0 => "0".to_owned(),
        small if small < 0.0005 => format!("{small:.0e}"),
        percent => format!("{percent:.3}"),
    }
}

/// The releases of a group, as `first to last`.
pub(super) fn range(group: &Group) -> String {
    match (group.releases.first(), group.releases.last()) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (Some(only), _) => only.clone(),
        (None, _) => String::new(),
    }
}

/// What became of a verdict: `retry` and `stop` as before, or the change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Retry,
    Stop,
    NowRetry,
    NowStop,
}

impl Turn {
    pub(super) fn of(before: char, after: char) -> Self {
        match (before, after) {
            ('r', 'r') => Self::Retry,
            ('r', _) => Self::NowStop,
            (_, 'r') => Self::NowRetry,
            _ => Self::Stop,
        }
    }

    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Stop => "·",
            Self::NowRetry => "**+retry**",
            Self::NowStop => "**+stop**",
        }
    }
}

/// The turns of one API on one body, by status.
pub(super) fn turns(record: &Record, api: &str, body: &str, patch: bool) -> Vec<Turn> {
    let Some(verdicts) = record.verdicts.get(api).and_then(|bodies| bodies.get(body)) else { return Vec::new() };
    let after = if patch { &verdicts.patch } else { &verdicts.upstream };
    verdicts.before.chars().zip(after.chars()).map(|(before, after)| Turn::of(before, after)).collect()
}
