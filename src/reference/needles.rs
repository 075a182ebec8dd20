//! Which texts a pattern cannot match without: one scan for all of them tells which patterns are worth trying.

use regex_syntax::hir::{Class, Hir, HirKind};
use std::collections::BTreeSet;

/// Sets of texts larger than this are not worth the room in the automaton.
const MAX_SET: usize = 64;

/// Texts in lower case, any one of which every match contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Needles {
    /// Never empty, and none of them is.
    pub(crate) any_of: Vec<String>,
    /// Whether a text that contains one of them is a match, so that nothing is left to try.
    pub(crate) exact: bool,
}

/// The needles of an expression that is written in lower case; `None` where some match has none.
pub(crate) fn needles(hir: &Hir) -> Option<Needles> {
    let known = study(hir);
    let edges = hir.properties().look_set().is_empty();
    if let Some(all) = known.exact.as_ref().filter(|all| is_useful(all)) {
        return Some(Needles { any_of: shortest(all), exact: edges });
    }
    Some(Needles { any_of: shortest(&known.best?), exact: false })
}

/// Without the texts that contain another one of the set: finding that one is enough.
fn shortest(texts: &Texts) -> Vec<String> {
    let contains_other = |text: &&String| texts.iter().any(|other| other != *text && text.contains(other.as_str()));
    texts.iter().filter(|text| !contains_other(text)).cloned().collect()
}

type Texts = BTreeSet<String>;

struct Known {
    /// All texts that the expression matches, if they are few.
    exact: Option<Texts>,
    /// The most telling set of which every match contains a member.
    best: Option<Texts>,
}

fn is_useful(texts: &Texts) -> bool {
    !texts.is_empty() && texts.len() <= MAX_SET && !texts.contains("")
}

/// Words that most error bodies contain tell nothing.
const COMMON: &[&str] = &[
    "\"code\"",
    "are not supported",
    "code",
    "error",
    "failed",
    "invalid",
    "is not supported",
    "message",
    "model",
    "not supported",
    "request",
    "upstream",
    "was not supported",
];

/// Longer is better, common words are worst; among equals, fewer.
fn better(a: Option<Texts>, b: Option<Texts>) -> Option<Texts> {
    let telling = |text: &String| if COMMON.contains(&text.trim()) { 1 } else { text.len().min(12) };
    let weight = |t: &Texts| (t.iter().map(telling).min().unwrap_or(0), std::cmp::Reverse(t.len()));
    match (a.filter(is_useful), b.filter(is_useful)) {
        (Some(a), Some(b)) => Some(if weight(&b) > weight(&a) { b } else { a }),
        (a, b) => a.or(b),
    }
}

fn exactly(text: &str) -> Known {
    Known { exact: Some(Texts::from([text.to_owned()])), best: None }
}

fn study(hir: &Hir) -> Known {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => exactly(""),
        HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
            Ok(text) => exactly(text),
            Err(_) => Known { exact: None, best: None },
        },
        HirKind::Class(class) => Known { exact: members(class), best: None },
        HirKind::Capture(capture) => study(&capture.sub),
        HirKind::Repetition(repetition) => {
            let inner = study(&repetition.sub);
            match (repetition.min, repetition.max) {
                (0, Some(1)) => {
                    let exact = inner.exact.map(|mut all| {
                        all.insert(String::new());
                        all
                    });
                    Known { exact, best: None }
                }
                (0, _) => Known { exact: None, best: None },
                _ => Known { exact: None, best: better(inner.best, inner.exact) },
            }
        }
        HirKind::Concat(parts) => concat(parts),
        HirKind::Alternation(branches) => {
            let known: Vec<Known> = branches.iter().map(study).collect();
            let union = |sets: Option<Vec<Texts>>| {
                sets.map(|sets| sets.into_iter().flatten().collect::<Texts>()).filter(|t| t.len() <= MAX_SET)
            };
            let exact = union(known.iter().map(|k| k.exact.clone()).collect());
            let best = union(known.into_iter().map(|k| better(k.best, k.exact)).collect());
            Known { exact, best }
        }
    }
}

/// Joins neighbours whose texts are all known; where that ends, the run so far is a candidate.
fn concat(parts: &[Hir]) -> Known {
    let mut run = Texts::from([String::new()]);
    let mut whole = true;
    let mut best = None;
    for part in parts {
        let known = study(part);
        match known.exact {
            Some(texts) if run.len() * texts.len() <= MAX_SET => {
                run = run.iter().flat_map(|a| texts.iter().map(move |b| format!("{a}{b}"))).collect();
            }
            exact => {
                whole = false;
                let next = exact.clone().unwrap_or_else(|| Texts::from([String::new()]));
                best = better(best, Some(std::mem::replace(&mut run, next)));
                best = better(best, known.best);
            }
        }
    }
    if whole { Known { exact: Some(run), best } } else { Known { exact: None, best: better(best, Some(run)) } }
}

fn members(class: &Class) -> Option<Texts> {
    let mut texts = Texts::new();
    let ranges: Vec<(u32, u32)> = match class {
        Class::Unicode(class) => class.iter().map(|r| (u32::from(r.start()), u32::from(r.end()))).collect(),
        Class::Bytes(class) => class.iter().map(|r| (u32::from(r.start()), u32::from(r.end()))).collect(),
    };
    for (start, end) in ranges {
        if end - start > 8 || texts.len() > 8 {
            return None;
        }
        for unit in start..=end {
            texts.insert(char::from_u32(unit)?.to_string());
        }
    }
    Some(texts)
}
