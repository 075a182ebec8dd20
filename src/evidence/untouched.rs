//! What the change leaves alone: messages without a status. Whatever is judged otherwise there is in this list, with its reason.

use std::collections::BTreeMap;

use super::corpus::Corpus;
use crate::reference::rules::{self, Rule, RuleDecision};
use crate::upstream::{Era, PiClassifier};
use crate::{Decision, Failure, Profile, classify};

/// A pattern of the newest release that the profile `upstream` has not, or the other way round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternChange {
    /// As JavaScript has it.
    pub pattern: String,
    /// `retry` or `stop`: the list it is in.
    pub list: &'static str,
    /// Whether the change brings it; otherwise the change drops it.
    pub added: bool,
    /// Why; nothing if nobody knows, which fails a test.
    pub reason: Option<&'static str>,
}

const TOKENS: &str = "the same tokens and edges, with 522 and 529, which Cloudflare and Anthropic send";
const WHOLE_WORD: &str = "a word of its own: `ResourceNotFoundException` contains ENOTFOUND too";
const PLAN: &str =
    "Codex words every 429 like this: with the status at hand it would be retried, and it is a plan's limit";
const SPELLING: &str = "the same in the spelling that both engines of this project understand";

fn reason(pattern: &str) -> Option<&'static str> {
    let bare: String = pattern.chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    match pattern {
        _ if pattern.contains("ENOTFOUND") && bare.ends_with("ENOTFOUND") || pattern.contains(")ENOTFOUND(") => {
            Some(WHOLE_WORD)
        }
        _ if pattern.contains("ChatGPT") => Some(PLAN),
        _ if pattern.contains("429") && pattern.contains("503") => Some(TOKENS),
        _ if pattern.contains("unavailable") || pattern.contains("returned") => Some(SPELLING),
        _ => None,
    }
}

/// How the lists of the profile `upstream`, for messages without a status, differ from the newest release's.
pub fn pattern_changes(era: &Era) -> Vec<PatternChange> {
    let ours = |stop: bool| -> Vec<&str> {
        rules::all()
            .iter()
            .filter(|rule| Profile::Upstream.has(rule.tier) && rule.counts(None))
            .filter(|rule| match rule.decision {
                RuleDecision::Stop | RuleDecision::Overflow => stop,
                RuleDecision::Retry => !stop,
                RuleDecision::Repair | RuleDecision::Wait => false,
            })
            .flat_map(|rule| rule.patterns.iter().map(|pattern| pattern.js()))
            .collect()
    };
    let mut changes = Vec::new();
    for (list, theirs, ours) in
        [("retry", &era.patterns().retryable, ours(false)), ("stop", &era.patterns().non_retryable, ours(true))]
    {
        let change =
            |pattern: &str, added| PatternChange { pattern: pattern.to_owned(), list, added, reason: reason(pattern) };
        changes.extend(theirs.iter().filter(|p| !ours.contains(&p.as_str())).map(|p| change(p, false)));
        changes.extend(ours.iter().filter(|p| !theirs.iter().any(|t| t == *p)).map(|p| change(p, true)));
    }
    changes
}

/// A rule of the relay's tier that decides messages without a status otherwise than the newest release does.
pub struct RuleChange {
    /// The rule.
    pub rule: &'static Rule,
    /// A text without a status that it decides.
    pub example: &'static str,
    /// What the release does with that text.
    pub pi_retries: bool,
}

/// The rules that the npm patch adds for messages without a status, where they change anything.
pub fn rule_changes(pi: PiClassifier) -> Vec<RuleChange> {
    let added = rules::all().iter().filter(|rule| !Profile::Upstream.has(rule.tier) && Profile::Patch.has(rule.tier));
    let change = |rule: &'static Rule| {
        // Its own examples, and what each has behind a status.
        let texts = rule.hits.iter().flat_map(|hit| [hit.as_str(), without_status(hit)]);
        texts.into_iter().find_map(|text| {
            let verdict = classify(&Failure::from_text(text), Profile::Patch);
            let pi_retries = pi.is_retryable(text);
            let changes = verdict.rule == rule.id
                && verdict.status.is_none()
                && (verdict.decision == Decision::Retry) != pi_retries;
            changes.then_some(RuleChange { rule, example: text, pi_retries })
        })
    };
    added.filter(|rule| rule.counts(None)).filter_map(change).collect()
}

fn without_status(text: &str) -> &str {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    if text.len() - rest.len() == 3 { rest.trim_start_matches([':', ' ']) } else { text }
}

/// Messages of the corpus in which no status is to be seen, as text alone.
pub struct Silent<'a> {
    /// How many there are.
    pub messages: usize,
    /// Those that the newest release and the profile decide differently, by the rule that decides.
    pub different: BTreeMap<&'static str, Vec<&'a str>>,
}

/// Compares the newest release with a profile on the texts of the corpus in which the profile reads no status.
pub fn silent(corpora: &[Corpus], pi: PiClassifier, profile: Profile) -> Silent<'_> {
    let mut silent = Silent { messages: 0, different: BTreeMap::new() };
    let mut seen = std::collections::BTreeSet::new();
    for row in corpora.iter().flat_map(|corpus| &corpus.rows) {
        let text = row.text();
        let verdict = classify(&Failure::from_text(text), profile);
        if verdict.status.is_some() || !seen.insert(text) {
            continue;
        }
        silent.messages += 1;
        if (verdict.decision == Decision::Retry) != pi.is_retryable(text) {
            silent.different.entry(verdict.rule).or_default().push(text);
        }
    }
    silent
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::corpus;

    #[test]
    fn every_changed_pattern_has_a_reason_and_explains_every_changed_verdict() {
        let pi = PiClassifier::newest().unwrap();
        let era = Era::of(pi.version()).unwrap();
        let changes = pattern_changes(era);
        assert!(!changes.is_empty() && changes.iter().all(|change| change.reason.is_some()), "{changes:#?}");
        let changed = changes.iter().map(|change| (change.pattern.as_str(), "i"));
        let changed = crate::upstream::JsRegex::any_of(changed).unwrap();
        let corpora = corpus::all().unwrap();
        let silent = silent(&corpora, pi, Profile::Upstream);
        assert!(silent.messages > 100);
        for text in silent.different.values().flatten() {
            assert!(changed.is_match(text), "{text}");
        }
    }

    #[test]
    fn rules_of_relays_change_something() {
        let changes = rule_changes(PiClassifier::newest().unwrap());
        assert!(changes.len() > 5);
        for RuleChange { rule, example, pi_retries } in changes {
            assert_eq!(pi_retries, rule.decision != RuleDecision::Retry, "{}: {example}", rule.id);
        }
    }
}
