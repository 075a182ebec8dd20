//! What pi puts before a failure when it shows or keeps one: no part of the failure.

/// pi's words before a failure of a summary.
const WORDS: [&str; 5] = [
    "Compaction failed: ",
    "Auto-compaction failed: ",
    "Summarization failed: ",
    "Turn prefix summarization failed: ",
    "Branch summary failed: ",
];

/// What follows one of pi's phrases before a failure, in any letter case; nothing if the text starts with none, or nothing
/// follows.
///
/// ```
/// use pi_retry_forced::after_pis_words;
///
/// assert_eq!(after_pis_words("Retry failed after 3 attempts: 529"), Some("529"));
/// assert_eq!(after_pis_words("Summarization failed: 529"), Some("529"));
/// assert_eq!(after_pis_words("529"), None);
/// ```
pub fn after_pis_words(text: &str) -> Option<&str> {
    after_attempts(text).or_else(|| WORDS.iter().find_map(|words| after(text, words)))
}

/// What follows these words, in any letter case.
pub(crate) fn after<'t>(text: &'t str, words: &str) -> Option<&'t str> {
    let head = text.get(..words.len())?;
    head.eq_ignore_ascii_case(words).then(|| &text[words.len()..]).filter(|rest| !rest.trim().is_empty())
}

/// What follows `Retry failed after 3 attempts: `.
fn after_attempts(text: &str) -> Option<&str> {
    let rest = after(text, "Retry failed after ")?;
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    after(rest, " attempts: ").or_else(|| after(rest, " attempt: "))
}
