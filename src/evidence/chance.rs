//! How often an id alone turns pi's verdict, without drawing a single one.
//!
//! A release's two pattern lists become two deterministic automata over bytes. The automata read the text around the id and
//! the id itself; of the id only the distribution is known, so what is carried along is the chance of each pair of
//! automaton states. What neighbours a token, be it a letter of the id or the bracket behind it, is read like any other
//! byte: the word edges of the newer patterns need no care of their own. The result is exact up to floating-point rounding.

use std::collections::BTreeMap;

use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;
use regex_automata::util::syntax;
use regex_automata::{Anchored, MatchKind};

use super::format::{IdFormat, Part};
use crate::upstream::{Error, JsRegex, RetryPatterns};

/// A text with a hole for the id.
#[derive(Clone, Copy, Debug)]
pub struct Around {
    /// What stands before the id.
    pub before: &'static str,
    /// What stands behind it.
    pub after: &'static str,
}

/// The relay failure of the first report; nothing in it but the id can match anything.
pub const RELAY_FAILURE: Around = Around {
    before: r#"400 {"error":{"message":"This request is not supported. (request id: "#,
    after: r#")","type":"invalid_request_error"},"type":"error"}"#,
};

impl Around {
    /// The whole text.
    pub fn text(&self, id: &str) -> String {
        format!("{}{id}{}", self.before, self.after)
    }
}

/// The automata of one release's patterns.
pub struct Automata {
    stop: Search,
    retry: Search,
}

/// One list: whether any of its patterns occurs in what was read.
struct Search {
    dfa: dense::DFA<Vec<u32>>,
    start: StateID,
}

/// Where a search stands; the first match settles it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Reading(StateID),
    Matched,
}

type Chances = BTreeMap<(Place, Place), f64>;

impl Automata {
    /// Builds them.
    ///
    /// # Errors
    /// If a pattern cannot be translated, or the automaton outgrows its bound.
    pub fn new(patterns: &RetryPatterns) -> Result<Self, ChanceError> {
        Ok(Self { stop: Search::new(&patterns.non_retryable)?, retry: Search::new(&patterns.retryable)? })
    }

    /// The chance that a failed turn with this text is retried, over all ids of the format.
    pub fn retried(&self, around: &Around, format: &IdFormat) -> f64 {
        let mut chances = Chances::from([((Place::Reading(self.stop.start), Place::Reading(self.retry.start)), 1.0)]);
        chances = self.text(chances, around.before);
        for part in &format.parts {
            chances = self.part(chances, part);
        }
        chances = self.text(chances, around.after);
        let retried = |place: &(Place, Place)| !self.stop.matches(place.0) && self.retry.matches(place.1);
        chances.iter().filter(|(place, _)| retried(place)).fold(0.0, |sum, (_, chance)| sum + chance)
    }

    fn part(&self, chances: Chances, part: &Part) -> Chances {
        match part {
            Part::Text(text) => self.text(chances, text),
            Part::Uniform(alphabet, length) => (0..*length).fold(chances, |chances, _| self.any(&chances, alphabet)),
            Part::OneOf(texts) => {
                let share = 1.0 / texts.len() as f64;
                self.sum(texts.iter().map(|text| (share, self.text(chances.clone(), text))))
            }
            Part::Number(digits) => {
                // One case for each length. One digit may be a zero, more start with another one.
                let all = 10_f64.powi(i32::try_from(*digits).expect("few digits"));
                self.sum((1..=*digits).map(|length| {
                    let first: &[u8] = if length == 1 { b"0123456789" } else { b"123456789" };
                    let rest = length - 1;
                    let numbers = first.len() as f64 * 10_f64.powi(i32::try_from(rest).expect("few digits"));
                    let start = self.any(&chances, first);
                    (numbers / all, (0..rest).fold(start, |chances, _| self.any(&chances, b"0123456789")))
                }))
            }
        }
    }

    fn text(&self, chances: Chances, text: &str) -> Chances {
        text.bytes().fold(chances, |chances, byte| self.any(&chances, &[byte]))
    }

    /// One byte, each of these with the same chance. Bytes that both automata treat alike are tried once.
    fn any(&self, chances: &Chances, alphabet: &[u8]) -> Chances {
        let mut classes: BTreeMap<(u8, u8), (u8, u32)> = BTreeMap::new();
        for byte in alphabet {
            let class = (self.stop.dfa.byte_classes().get(*byte), self.retry.dfa.byte_classes().get(*byte));
            classes.entry(class).or_insert((*byte, 0)).1 += 1;
        }
        let classes: Vec<(u8, f64)> =
            classes.into_values().map(|(byte, members)| (byte, f64::from(members) / alphabet.len() as f64)).collect();
        let mut next = Chances::new();
        for ((stop, retry), chance) in chances {
            for (byte, share) in &classes {
                let place = (self.stop.step(*stop, *byte), self.retry.step(*retry, *byte));
                *next.entry(place).or_default() += chance * share;
            }
        }
        next
    }

    fn sum(&self, cases: impl Iterator<Item = (f64, Chances)>) -> Chances {
        let mut total = Chances::new();
        for (weight, chances) in cases {
            for (place, chance) in chances {
                *total.entry(place).or_default() += weight * chance;
            }
        }
        total
    }
}

/// Bytes that an automaton may take; the largest list of a known release needs a tenth of it.
const SIZE: usize = 256 << 20;

impl Search {
    fn new(patterns: &[String]) -> Result<Self, ChanceError> {
        let joined = JsRegex::any_of(patterns.iter().map(|pattern| (pattern.as_str(), "i")))?;
        let dfa = dense::Builder::new()
            .configure(
                dense::Config::new()
                    .start_kind(StartKind::Unanchored)
                    .match_kind(MatchKind::LeftmostFirst)
                    .determinize_size_limit(Some(SIZE))
                    .dfa_size_limit(Some(SIZE)),
            )
            .syntax(syntax::Config::new().utf8(false))
            .thompson(thompson::Config::new().utf8(false))
            .build(joined.translation())
            .map_err(|error| ChanceError::Automaton(error.to_string()))?;
        let start = dfa
            .start_state(&start::Config::new().anchored(Anchored::No))
            .map_err(|error| ChanceError::Automaton(error.to_string()))?;
        Ok(Self { dfa, start })
    }

    fn step(&self, place: Place, byte: u8) -> Place {
        let Place::Reading(state) = place else { return Place::Matched };
        let next = self.dfa.next_state(state, byte);
        // A match shows one byte late; nothing but the fact counts here.
        if self.dfa.is_match_state(next) { Place::Matched } else { Place::Reading(next) }
    }

    fn matches(&self, place: Place) -> bool {
        match place {
            Place::Matched => true,
            Place::Reading(state) => self.dfa.is_match_state(self.dfa.next_eoi_state(state)),
        }
    }
}

/// Why there are no automata.
#[derive(Debug)]
pub enum ChanceError {
    /// A pattern has no faithful translation.
    Pattern(Error),
    /// The automaton could not be built.
    Automaton(String),
}

impl From<Error> for ChanceError {
    fn from(error: Error) -> Self {
        Self::Pattern(error)
    }
}

impl std::fmt::Display for ChanceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pattern(error) => error.fmt(f),
            Self::Automaton(why) => write!(f, "the automaton of a pattern list cannot be built: {why}"),
        }
    }
}

impl std::error::Error for ChanceError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::{Era, parse_version};

    fn chance(version: &str, format: &str) -> f64 {
        let era = Era::of(&parse_version(version).unwrap()).unwrap();
        let format = IdFormat::all().into_iter().find(|f| f.name == format).unwrap();
        Automata::new(era.patterns()).unwrap().retried(&RELAY_FAILURE, &format) * 100.0
    }

    /// The figures that others computed with an automaton of their own, for five, six and seven bare tokens.
    #[test]
    fn uniform_ids_have_the_known_chances() {
        for (version, digits, hex, base62) in
            [("0.80.3", 14.062, 3.604, 0.063), ("0.84.1", 16.645, 4.309, 0.075), ("1.3.0", 19.187, 5.013, 0.088)]
        {
            for (format, known) in [("32 digits", digits), ("32 hex", hex), ("32 base62", base62)] {
                let found = chance(version, format);
                assert!((found - known).abs() < 0.0005, "{version} {format}: {found}");
            }
        }
    }

    /// Once the tokens have edges, only an id that brings edges of its own can be taken for a status.
    #[test]
    fn edges_leave_ids_with_separators() {
        for format in ["32 digits", "32 hex", "one-api", "UUID v4"] {
            assert_eq!(chance("1.6.0", format), 0.0, "{format}");
        }
        // Letters can still spell "timeout".
        let spelled = 26.0 * (2.0 / 62.0_f64).powi(7) * 100.0;
        assert!((chance("1.6.0", "32 base62") / spelled - 1.0).abs() < 0.01);
        for format in ["req_NNN_xx", "date-NNN-abc"] {
            // Seven of a thousand numbers.
            assert!((chance("1.6.0", format) - 0.7).abs() < 1e-9, "{format}");
        }
        assert!(chance("1.6.0", "22 base64url") > 0.0);
    }

    /// Two digits, all of them tried.
    #[test]
    fn a_small_format_agrees_with_trying_everything() {
        let patterns = RetryPatterns {
            non_retryable: vec!["77".to_owned()],
            retryable: vec!["(?<![a-z0-9])(?:5|7)".to_owned(), "1\\b".to_owned()],
        };
        let around = Around { before: "id-", after: "." };
        let format = IdFormat { name: "", made_by: "", parts: vec![Part::Number(2)] };
        let retried = |text: &str| {
            let any = |list: &[String]| JsRegex::any_of(list.iter().map(|p| (p.as_str(), "i"))).unwrap().is_match(text);
            !any(&patterns.non_retryable) && any(&patterns.retryable)
        };
        let count = (0..100).filter(|number| retried(&around.text(&number.to_string()))).count();
        let exact = Automata::new(&patterns).unwrap().retried(&around, &format);
        assert!(count > 20 && (exact - count as f64 / 100.0).abs() < 1e-12, "{exact} {count}");
    }
}
