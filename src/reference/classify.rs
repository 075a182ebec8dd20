//! The order of decision: one engine, three profiles.

use crate::reference::failure::{Failure, cut_request_ids, is_rewritten};
use crate::reference::matcher::Pattern;
use crate::reference::number;
use crate::reference::rules::{self, Rule, RuleDecision, Tier, When};
use crate::reference::scan::{MIN_NEEDLE, Scanner};
use crate::reference::verdict::{Decision, Verdict};
use std::borrow::Cow;
use std::sync::OnceLock;

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
            Self::Upstream => matches!(tier, Tier::Upstream | Tier::Token),
            Self::Patch => tier != Tier::Full,
            Self::Full => tier != Tier::Token,
        }
    }

    fn engine(self) -> &'static Engine {
        static ENGINES: [OnceLock<Engine>; 3] = [const { OnceLock::new() }; 3];
        ENGINES[self as usize].get_or_init(|| Engine::new(self))
    }
}

/// Statuses below 500 that a second try of the same request can cure.
pub const TRANSIENT_CLIENT_STATUSES: [u16; 4] = [408, 409, 425, 429];

/// Statuses that say too little for pi's own list to be passed over: relays put 400 on everything, and Bedrock's 424 means
/// that the model behind it failed.
pub const UNTELLING_STATUSES: [u16; 2] = [400, 424];

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
        return Verdict {
            decision: Decision::Stop,
            rule: "not-a-failed-turn",
            remedy: None,
            status: None,
            status_from: None,
        };
    };
    let found = match profile {
        Profile::Full => failure.any_status(text),
        Profile::Patch => failure.framed_status(text),
        Profile::Upstream => failure.structured_status(text),
    };
    let status = found.map(|(status, _)| status);
    let engine = profile.engine();
    let (decision, rule) = match profile {
        Profile::Upstream => engine.decide_as_pi(text, status),
        _ if is_rewritten(text) => (Decision::Retry, "already-rewritten"),
        Profile::Patch | Profile::Full => engine.decide(text, status, profile),
    };
    let remedy = if decision == Decision::Repair { rules::by_id(rule).and_then(|rule| rule.remedy) } else { None };
    Verdict { decision, rule, remedy, status, status_from: found.map(|(_, source)| source) }
}

/// A profile's rules, ready to be looked for in one pass over the text.
struct Engine {
    rules: Vec<&'static Rule>,
    /// Most texts have no id, and one look for everything does.
    all: Finder,
    /// What pi calls an overflow it finds in the whole text, so these are looked for before ids are cut out.
    overflow: Finder,
    /// And the others in what is left.
    others: Finder,
    /// What pi itself takes out of its overflow list; see [`NON_OVERFLOW`].
    non_overflow: Vec<Pattern>,
}

/// Texts that pi never calls an overflow, whatever else they say: throttling that speaks of tokens.
pub const NON_OVERFLOW: &[&str] = &["^(?:throttling error|service unavailable):", "rate limit", "too many requests"];

impl Engine {
    fn new(profile: Profile) -> Self {
        let rules: Vec<&Rule> = rules::all().iter().filter(|r| profile.has(r.tier)).collect();
        let is_overflow = |rule: &Rule| rule.decision == RuleDecision::Overflow;
        let overflow = Finder::new(&rules, is_overflow);
        let others = Finder::new(&rules, |rule| !is_overflow(rule));
        let non_overflow = NON_OVERFLOW.iter().map(|p| Pattern::new(p).expect("in the subset")).collect();
        let all = Finder::new(&rules, |_| true);
        Self { rules, all, overflow, others, non_overflow }
    }

    /// pi's own order, with one thing before it: limits stop, then a known status decides, and where there is none (or
    /// one that says too little) pi's whole list is asked as ever. For which statuses a rule counts elsewhere is no matter
    /// here.
    fn decide_as_pi(&self, text: &str, status: Option<u16>) -> (Decision, &'static str) {
        let decides = status.filter(|status| !UNTELLING_STATUSES.contains(status));
        let first = self.all.first(text, |rule| decides.is_none() || self.rules[rule].decision == RuleDecision::Stop);
        let id = |rule: usize| self.rules[rule].id.as_str();
        if let Some(rule) = first.get(Kind::Stop).into_iter().chain(first.get(Kind::StopIf)).min() {
            return (Decision::Stop, id(rule));
        }
        match (decides, first.get(Kind::Retry)) {
            (Some(status), _) if is_transient_status(status) => (Decision::Retry, "transient-status"),
            (Some(_), _) => (Decision::Stop, "permanent-status"),
            (None, Some(rule)) => (Decision::Retry, id(rule)),
            (None, None) if status.is_some() => (Decision::Stop, "permanent-status"),
            (None, None) => (Decision::Stop, "no-evidence"),
        }
    }

    fn decide(&self, text: &str, status: Option<u16>, profile: Profile) -> (Decision, &'static str) {
        let full = profile == Profile::Full;
        let transient = status.is_some_and(is_transient_status);
        // A transient status is a reason of its own.
        let counts = |rule: usize| {
            let rule = self.rules[rule];
            rule.counts(status) && !(transient && rule.decision == RuleDecision::Retry)
        };
        let cut = if full { cut_request_ids(text) } else { Cow::Borrowed(text) };
        let (overflow, first) = match &cut {
            Cow::Borrowed(_) => {
                let first = self.all.first(text, counts);
                (first.get(Kind::Overflow), first)
            }
            Cow::Owned(cut) => (self.overflow.first(text, counts).get(Kind::Overflow), self.others.first(cut, counts)),
        };
        if let Some(rule) = overflow
            && !self.non_overflow.iter().any(|p| p.is_match(text))
        {
            return (Decision::Stop, &self.rules[rule].id);
        }
        let id = |rule: usize| self.rules[rule].id.as_str();
        if let Some(rule) = first.get(Kind::Repair) {
            return (Decision::Repair, id(rule));
        }
        let conditional = first.get(Kind::StopIf).filter(|_| first.get(Kind::Wait).is_none());
        if let Some(rule) = first.get(Kind::Stop).into_iter().chain(conditional).min() {
            return (Decision::Stop, id(rule));
        }
        match (first.get(Kind::Retry), status) {
            _ if transient => (Decision::Retry, "transient-status"),
            (Some(rule), _) => (Decision::Retry, id(rule)),
            (None, Some(_)) => (Decision::Stop, "permanent-status"),
            (None, None) if full && number::names_status(&cut) => (Decision::Retry, "named-status"),
            (None, None) => (Decision::Stop, "no-evidence"),
        }
    }
}

/// What the order of decision tells apart.
#[derive(Clone, Copy)]
enum Kind {
    Overflow,
    Repair,
    /// A permanent condition whatever the status.
    Stop,
    /// A permanent condition for some statuses, which a short wait outweighs.
    StopIf,
    Wait,
    Retry,
}

impl Kind {
    fn of(rule: &Rule) -> Self {
        match rule.decision {
            RuleDecision::Overflow => Self::Overflow,
            RuleDecision::Repair => Self::Repair,
            RuleDecision::Stop if rule.when.contains(&When::Any) => Self::Stop,
            RuleDecision::Stop => Self::StopIf,
            RuleDecision::Wait => Self::Wait,
            RuleDecision::Retry => Self::Retry,
        }
    }
}

/// Of each kind the first rule that matches.
struct First([u16; 6]);

impl First {
    const NONE: u16 = u16::MAX;

    fn get(&self, kind: Kind) -> Option<usize> {
        Some(self.0[kind as usize]).filter(|rule| *rule != Self::NONE).map(usize::from)
    }
}

/// Patterns, and one scan that tells which of them are worth trying.
struct Finder {
    patterns: Vec<Entry>,
    needles: Scanner,
    /// For each needle the index of its pattern, and whether finding it is matching.
    found: Vec<(u16, bool)>,
    /// Patterns without needles, or with very short ones, are tried on every text.
    unprompted: Vec<u16>,
}

struct Entry {
    pattern: &'static Pattern,
    rule: u16,
    kind: Kind,
}

impl Finder {
    /// The patterns of the rules that are wanted; their indices are those of the whole list.
    fn new(rules: &[&'static Rule], wanted: impl Fn(&Rule) -> bool) -> Self {
        let mut patterns = Vec::new();
        let (mut texts, mut found, mut unprompted) = (Vec::new(), Vec::new(), Vec::new());
        for (rule_index, rule) in (0_u16..).zip(rules).filter(|(_, rule)| wanted(rule)) {
            for pattern in &rule.patterns {
                let index = u16::try_from(patterns.len()).expect("fewer patterns than u16 counts");
                patterns.push(Entry { pattern, rule: rule_index, kind: Kind::of(rule) });
                match pattern.needles() {
                    Some(needles) if needles.any_of.iter().all(|n| n.len() >= MIN_NEEDLE) => {
                        found.extend(needles.any_of.iter().map(|_| (index, needles.exact)));
                        texts.extend(needles.any_of.iter().map(String::as_str));
                    }
                    _ => unprompted.push(index),
                }
            }
        }
        assert!(patterns.len() <= Tried::ROOM, "more patterns than there is room for");
        Self { patterns, needles: Scanner::new(texts), found, unprompted }
    }

    /// The first rule of each kind that counts and matches.
    fn first(&self, text: &str, counts: impl Fn(usize) -> bool) -> First {
        let mut first = First([First::NONE; 6]);
        // A pattern that is more than its needles is tried once, however often they occur.
        let mut tried = Tried::default();
        let mut look = |index: u16, exact: bool| {
            let &Entry { pattern, rule, kind } = &self.patterns[usize::from(index)];
            let best = &mut first.0[kind as usize];
            if rule < *best
                && counts(usize::from(rule))
                && (exact || (tried.insert(index.into()) && pattern.is_match(text)))
            {
                *best = rule;
            }
        };
        for index in &self.unprompted {
            look(*index, false);
        }
        self.needles.scan(text.as_bytes(), |needle| {
            let (index, exact) = self.found[needle];
            look(index, exact);
        });
        first
    }
}

/// Which patterns were tried.
#[derive(Default)]
struct Tried([u64; Tried::ROOM / 64]);

impl Tried {
    const ROOM: usize = 1024;

    /// Whether this is the first time.
    fn insert(&mut self, index: usize) -> bool {
        let (word, bit) = (&mut self.0[index / 64], 1 << (index % 64));
        let first = *word & bit == 0;
        *word |= bit;
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

    /// All finders of all profiles.
    fn finders() -> impl Iterator<Item = (&'static Engine, &'static Finder)> {
        Profile::ALL.into_iter().map(Profile::engine).flat_map(|engine| {
            [&engine.all, &engine.overflow, &engine.others].into_iter().map(move |finder| (engine, finder))
        })
    }

    /// Parts of what rules look for, cut anywhere, in any letter case.
    fn part() -> impl Strategy<Value = String> {
        let examples = rules::all().iter().flat_map(|rule| rule.hits.iter().chain(&rule.misses)).cloned();
        let needles = rules::all().iter().flat_map(|rule| &rule.patterns).filter_map(Pattern::needles);
        let texts: Vec<String> = examples.chain(needles.flat_map(|needles| needles.any_of.clone())).collect();
        (select(texts), any::<[Index; 2]>(), 0..4_u8).prop_map(|(text, [start, length], case)| {
            let chars: Vec<char> = text.chars().collect();
            // Mostly whole.
            let (start, length) =
                if case < 2 { (0, chars.len()) } else { (start.index(chars.len()), length.index(chars.len()) + 1) };
            let part: String = chars[start..].iter().take(length).collect();
            if case % 2 == 1 { part.to_uppercase() } else { part }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

        /// Law 16: the scan for needles hides no match.
        #[test]
        fn a_shortcut_never_hides_a_match(parts in proptest::collection::vec(part(), 1..4), joint in select(vec!["", " ", ": ", "\n"]),
                                          counted in any::<u64>()) {
            let text = parts.join(joint);
            for (engine, finder) in finders() {
                let counts = |rule: usize| counted == 0 || (counted >> (rule % 64)) & 1 == 1;
                let mut wanted = First([First::NONE; 6]);
                for entry in &finder.patterns {
                    let best = &mut wanted.0[entry.kind as usize];
                    if entry.rule < *best && counts(usize::from(entry.rule)) && entry.pattern.is_match(&text) {
                        *best = entry.rule;
                    }
                }
                let id = |rule: &u16| engine.rules.get(usize::from(*rule)).map(|rule| rule.id.as_str());
                let ids = |first: &First| first.0.iter().map(id).collect::<Vec<_>>();
                prop_assert_eq!(ids(&finder.first(&text, counts)), ids(&wanted), "{:?}", text);
            }
        }
    }
}
