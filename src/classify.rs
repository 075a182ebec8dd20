//! The order of decision: one engine, three profiles.

use crate::failure::{Failure, cut_request_ids, is_rewritten};
use crate::matcher::Pattern;
use crate::rules::{self, Rule, RuleDecision, Tier};
use crate::scan::{MIN_NEEDLE, Scanner};
use crate::verdict::{Decision, Verdict};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Which sources of a status are read and which rules count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Profile {
    /// What the submission to upstream decides: what pi knows, asked after the status.
    Upstream,
    /// What the npm patch decides: the same, and the relays' wordings.
    Patch,
    /// What the shim, `classify` and `audit` decide: every source of a status, every rule, request ids cut out first.
    Full,
}

impl Profile {
    /// All profiles.
    pub const ALL: [Self; 3] = [Self::Upstream, Self::Patch, Self::Full];

    /// The name used on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Upstream => "upstream",
            Self::Patch => "patch",
            Self::Full => "full",
        }
    }

    /// Whether rules of this tier belong to the profile.
    pub fn has(self, tier: Tier) -> bool {
        match self {
            Self::Upstream => tier == Tier::Upstream,
            Self::Patch => tier != Tier::Full,
            Self::Full => true,
        }
    }

    fn engine(self) -> &'static Engine {
        static ENGINES: LazyLock<[Engine; 3]> = LazyLock::new(|| Profile::ALL.map(Engine::new));
        &ENGINES[self as usize]
    }
}

/// Statuses below 500 that a second try of the same request can cure.
pub const TRANSIENT_CLIENT_STATUSES: [u16; 4] = [408, 409, 425, 429];

/// Whether a status alone says that the same request deserves another attempt: 408, 409, 425, 429 or at least 500.
pub fn is_transient_status(status: u16) -> bool {
    status >= 500 || TRANSIENT_CLIENT_STATUSES.contains(&status)
}

/// Decides whether a failed turn deserves another attempt.
///
/// Never panics and takes time linear in the length of the text.
///
/// ```
/// use pi_retry_forced::{Decision, Failure, Profile, classify};
///
/// let relay = Failure::from_text(r#"400 {"error":{"message":"This request is not supported. (request id: 2026112911181134177611118268d9d69EdzNJOg)"}}"#);
/// assert_eq!(classify(&relay, Profile::Full).decision, Decision::Retry);
///
/// let parameter = Failure::from_text(r#"400: {"message":"Unknown parameter: 'timeout'"}"#);
/// assert_eq!(classify(&parameter, Profile::Full).decision, Decision::Stop);
/// ```
pub fn classify(failure: &Failure, profile: Profile) -> Verdict {
    let Some(text) = failure.failed_text() else {
        return Verdict { decision: Decision::Stop, rule: "not-a-failed-turn", status: None, status_from: None };
    };
    let found = match profile {
        Profile::Full => failure.any_status(text),
        Profile::Upstream | Profile::Patch => failure.framed_status(text),
    };
    let status = found.map(|(status, _)| status);
    let (decision, rule) = if profile != Profile::Upstream && is_rewritten(text) {
        (Decision::Retry, "already-rewritten")
    } else {
        profile.engine().decide(text, status, profile == Profile::Full)
    };
    Verdict { decision, rule, status, status_from: found.map(|(_, source)| source) }
}

/// A profile's rules, ready to be looked for in one pass over the text.
struct Engine {
    rules: Vec<&'static Rule>,
    /// Patterns with the index of their rule.
    patterns: Vec<(&'static Pattern, usize)>,
    /// One scan finds the needles of all patterns.
    needles: Scanner,
    /// For each needle the index of its pattern, and whether finding it is matching.
    found: Vec<(u16, bool)>,
    /// Patterns without needles, or with very short ones, are tried on every text.
    unprompted: Vec<u16>,
    /// What pi itself takes out of its overflow list; see [`NON_OVERFLOW`].
    non_overflow: Vec<Pattern>,
}

/// Texts that pi never calls an overflow, whatever else they say: throttling that speaks of tokens.
pub const NON_OVERFLOW: &[&str] = &["^(?:throttling error|service unavailable):", "rate limit", "too many requests"];

impl Engine {
    fn new(profile: Profile) -> Self {
        let rules: Vec<&Rule> = rules::all().iter().filter(|r| profile.has(r.tier)).collect();
        let patterns: Vec<_> =
            rules.iter().enumerate().flat_map(|(i, r)| r.patterns.iter().map(move |p| (p, i))).collect();
        assert!(patterns.len() <= Hits::ROOM, "more patterns than the set of hits has room for");
        let (mut texts, mut found, mut unprompted) = (Vec::new(), Vec::new(), Vec::new());
        for (index, (pattern, _)) in (0_u16..).zip(&patterns) {
            match pattern.needles() {
                Some(needles) if needles.any_of.iter().all(|n| n.len() >= MIN_NEEDLE) => {
                    found.extend(needles.any_of.iter().map(|_| (index, needles.exact)));
                    texts.extend(needles.any_of.iter().map(String::as_str));
                }
                _ => unprompted.push(index),
            }
        }
        let needles = Scanner::new(texts);
        let non_overflow = NON_OVERFLOW.iter().map(|p| Pattern::new(p).expect("in the subset")).collect();
        Self { rules, patterns, needles, found, unprompted, non_overflow }
    }

    fn decide(&self, text: &str, status: Option<u16>, cut_ids: bool) -> (Decision, &'static str) {
        let whole = self.hits(text);
        // pi looks for an overflow in the whole text, so what it finds there is found here too.
        if let Some(rule) = whole.iter().map(|i| self.rules[i]).find(|r| r.decision == RuleDecision::Overflow)
            && !self.non_overflow.iter().any(|p| p.is_match(text))
        {
            return (Decision::Stop, &rule.id);
        }
        let hits = match cut_ids.then(|| cut_request_ids(text)) {
            Some(Cow::Owned(cut)) => self.hits(&cut),
            _ => whole,
        };
        let of = |decision: RuleDecision| {
            hits.iter().map(|i| self.rules[i]).filter(move |r| r.decision == decision && r.counts(status))
        };
        if let Some(rule) = of(RuleDecision::Repair).next() {
            return (Decision::Repair, &rule.id);
        }
        let unconditional = |r: &&Rule| r.when.contains(&rules::When::Any);
        let short_wait = of(RuleDecision::Wait).next();
        if let Some(rule) = of(RuleDecision::Stop).find(|r| short_wait.is_none() || unconditional(r)) {
            return (Decision::Stop, &rule.id);
        }
        if status.is_some_and(is_transient_status) {
            return (Decision::Retry, "transient-status");
        }
        match (of(RuleDecision::Retry).next(), status) {
            (Some(rule), _) => (Decision::Retry, &rule.id),
            (None, Some(_)) => (Decision::Stop, "permanent-status"),
            (None, None) => (Decision::Stop, "no-evidence"),
        }
    }

    /// The rules that match the text, by index.
    fn hits(&self, text: &str) -> Hits {
        let mut hits = Hits::default();
        // A pattern that is more than its needles is tried once, however often they occur.
        let mut tried = Hits::default();
        let mut look = |index: u16, exact: bool| {
            let (pattern, rule) = self.patterns[usize::from(index)];
            if hits.contains(rule) || tried.contains(index.into()) {
                return;
            }
            if exact || pattern.is_match(text) {
                hits.insert(rule);
            } else {
                tried.insert(index.into());
            }
        };
        for index in &self.unprompted {
            look(*index, false);
        }
        self.needles.scan(text.as_bytes(), |needle| {
            let (index, exact) = self.found[needle];
            look(index, exact);
        });
        hits
    }
}

/// A small set of indices.
#[derive(Default)]
struct Hits {
    words: [u64; Hits::WORDS],
}

impl Hits {
    const WORDS: usize = 16;
    /// How many rules or patterns a profile may have.
    const ROOM: usize = Self::WORDS * 64;

    fn insert(&mut self, index: usize) {
        self.words[index / 64] |= 1 << (index % 64);
    }

    fn contains(&self, index: usize) -> bool {
        self.words[index / 64] & (1 << (index % 64)) != 0
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        (0..Self::ROOM).step_by(64).zip(self.words).flat_map(|(base, word)| {
            std::iter::successors(Some(word), |w| Some(w & w.wrapping_sub(1)))
                .take_while(|w| *w != 0)
                .map(move |w| base + w.trailing_zeros() as usize)
        })
    }
}
