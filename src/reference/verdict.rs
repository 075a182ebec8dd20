//! The answer: a decision, the rule that made it, and the status it was made on.

use crate::reference::failure::StatusSource;
use crate::reference::rules::Remedy;

/// What should happen after a failed turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// The same request deserves another attempt.
    Retry,
    /// Another attempt can only work once replayed thinking is out of the request.
    Repair,
    /// Another attempt cannot help, or it is compaction's business.
    Stop,
}

impl Decision {
    /// The name used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Repair => "repair",
            Self::Stop => "stop",
        }
    }
}

/// A decision and its grounds. Decision and rule are stable: they appear in reports and tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What to do.
    pub decision: Decision,
    /// The id of the rule that decided: one of the rule files, or one of [`BUILT_IN_RULES`].
    pub rule: &'static str,
    /// Which repair, where the decision is one.
    pub remedy: Option<Remedy>,
    /// The HTTP status (400 to 599) that was used, if one was known.
    pub status: Option<u16>,
    /// Where that status came from.
    pub status_from: Option<StatusSource>,
}

/// The rules that are the order of decision itself rather than wordings, with what they say.
pub const BUILT_IN_RULES: &[(&str, Decision, &str)] = &[
    ("already-rewritten", Decision::Retry, "the text starts with our own 503 prefix"),
    ("not-a-failed-turn", Decision::Stop, "the stop reason is not `error`, or there is no text"),
    ("transient-status", Decision::Retry, "HTTP 408, 409, 425, 429 or at least 500, and nothing permanent in the text"),
    (
        "named-status",
        Decision::Retry,
        "no status is known, but the text names one itself: 408, 409, 425, 429 or at least 500",
    ),
    ("permanent-status", Decision::Stop, "another failed answer, and no rule made for that status calls it transient"),
    ("no-evidence", Decision::Stop, "no status, and nothing known says that another attempt would help"),
];
