//! Compiles JavaScript patterns to the `regex` crate without changing what they match.
//!
//! The two languages differ where it is hard to see: with the flag `i`, Rust folds U+017F to `s` and U+212A to `k`, `.`
//! and `\S` exclude other characters, JavaScript counts UTF-16 units, and the crate has no look-around. So a pattern is
//! parsed here and written again as a regex over bytes: each element matches one UTF-16 unit. Characters outside the
//! basic plane, two units to JavaScript, are searched as the two surrogates that they are ([`units`]). Look-around of
//! one unit at the edge of a pattern becomes that unit or the end of the text: for the question *is there a match*,
//! the only one asked here, that is the same. What cannot be written so is an error.

use std::borrow::Cow;
use std::fmt::Write as _;

use regex::bytes::{Regex, RegexBuilder};

use super::error::{Error, Kind};
use super::jssyntax::{Node, Set, parse};

/// A compiled JavaScript pattern, or several joined by `|`, that answers whether a text contains a match.
#[derive(Clone, Debug)]
pub struct JsRegex {
    regex: Regex,
}

impl JsRegex {
    /// Compiles what `new RegExp(pattern, flags)` would.
    ///
    /// # Errors
    ///
    /// If the pattern is no valid one, has a flag other than `i`, or cannot be translated faithfully.
    pub fn new(pattern: &str, flags: &str) -> Result<Self, Error> {
        JsRegex::any_of([(pattern, flags)])
    }

    /// Compiles pairs of pattern and flags to one search for any of them.
    ///
    /// # Errors
    ///
    /// As [`JsRegex::new`], for the first pattern that cannot be translated.
    pub fn any_of<'a>(patterns: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, Error> {
        let mut joined = String::new();
        for (at, (pattern, flags)) in patterns.into_iter().enumerate() {
            let refuse = |reason: &str| {
                Error::new(Kind::Untranslatable { pattern: pattern.to_owned(), reason: reason.to_owned() })
            };
            let ignore_case = match flags {
                "" => false,
                "i" => true,
                _ => return Err(refuse("only the flag i is understood")),
            };
            let node = parse(pattern, ignore_case).map_err(|reason| refuse(&reason))?;
            if at > 0 {
                joined.push('|');
            }
            write_node(&mut joined, &node, true, true).map_err(refuse)?;
        }
        let regex = RegexBuilder::new(&joined).size_limit(32 << 20).build().map_err(|error| {
            let reason = error.to_string().lines().last().unwrap_or_default().to_owned();
            Error::new(Kind::Untranslatable { pattern: joined.clone(), reason })
        })?;
        Ok(JsRegex { regex })
    }

    /// What `.test(text)` answers.
    pub fn is_match(&self, text: &str) -> bool {
        self.is_match_units(&units(text))
    }

    /// The translation: a pattern over bytes for the `regex` crate's syntax, without Unicode's own case folding.
    pub(crate) fn translation(&self) -> &str {
        self.regex.as_str()
    }

    pub(super) fn is_match_units(&self, units: &[u8]) -> bool {
        self.regex.is_match(units)
    }
}

/// The text as the translated patterns read it: UTF-8, but with each character outside the basic plane as its two
/// surrogates of three bytes each. Most texts have none and are borrowed.
pub(super) fn units(text: &str) -> Cow<'_, [u8]> {
    // Asked first because it is fast: nearly every text is ASCII.
    let first = if text.is_ascii() { None } else { text.bytes().position(|byte| byte >= 0xF0) };
    let Some(first) = first else {
        return Cow::Borrowed(text.as_bytes());
    };
    let mut bytes = Vec::with_capacity(text.len() + text.len() / 2);
    let (plain, rest) = text.split_at(first);
    bytes.extend_from_slice(plain.as_bytes());
    for character in rest.chars() {
        let mut buffer = [0; 2];
        match character.encode_utf16(&mut buffer) {
            [high, low] => [*high, *low].into_iter().for_each(|unit| {
                bytes.extend([0xE0 | (unit >> 12) as u8, 0x80 | (unit >> 6 & 0x3F) as u8, 0x80 | (unit & 0x3F) as u8]);
            }),
            _ => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(bytes)
}

/// Writes a node in the syntax of the `regex` crate. `left` and `right` say that nothing of the pattern comes before
/// or after the node, so that a neighbour may be consumed in place of looking at it.
fn write_node(out: &mut String, node: &Node, left: bool, right: bool) -> Result<(), &'static str> {
    match node {
        Node::Start => out.push_str("\\A"),
        Node::End => out.push_str("\\z"),
        // A word edge has an ASCII byte at its side, so that it never lies inside the bytes of a unit.
        Node::WordEdge => out.push_str("(?-u:\\b)"),
        Node::One(set) => write_set(out, *set),
        Node::Sequence(nodes) => {
            for (at, node) in nodes.iter().enumerate() {
                write_node(out, node, left && at == 0, right && at + 1 == nodes.len())?;
            }
        }
        Node::Either(nodes) => {
            out.push_str("(?:");
            for (at, node) in nodes.iter().enumerate() {
                if at > 0 {
                    out.push('|');
                }
                write_node(out, node, left, right)?;
            }
            out.push(')');
        }
        Node::Repeat { node, min, max } => {
            out.push_str("(?:");
            write_node(out, node, false, false)?;
            match max {
                Some(max) => write!(out, "){{{min},{max}}}"),
                None => write!(out, "){{{min},}}"),
            }
            .map_err(|_| "it cannot be written down")?;
        }
        Node::Look { behind, negated, set, or_end } => {
            if !(if *behind { left } else { right }) {
                return Err("look-around is understood only at the edge of the pattern");
            }
            let end = if *behind { "\\A" } else { "\\z" };
            out.push_str("(?:");
            if *or_end != *negated {
                out.push_str(end);
                out.push('|');
            }
            write_set(out, if *negated { set.complement() } else { *set });
            out.push(')');
        }
    }
    Ok(())
}

/// Code points of JavaScript's `\s` outside ASCII, without the two line separators.
const SPACES: [(u32, u32); 7] = [
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
];

/// The rest of the basic plane outside ASCII, surrogates excepted: those are no characters to the `regex` crate.
const REST: [(u32, u32); 10] = [
    (0x80, 0x9F),
    (0xA1, 0x167F),
    (0x1681, 0x1FFF),
    (0x200B, 0x2027),
    (0x202A, 0x202E),
    (0x2030, 0x205E),
    (0x2060, 0x2FFF),
    (0x3001, 0xD7FF),
    (0xE000, 0xFEFE),
    (0xFF00, 0xFFFF),
];

fn write_set(out: &mut String, set: Set) {
    if set.is_ascii() {
        return write_bytes(out, set);
    }
    out.push_str("(?:(?u:[");
    let mut ranges: Vec<(u32, u32)> = set.ascii_ranges().map(|(from, to)| (from.into(), to.into())).collect();
    if set.spaces {
        ranges.extend(SPACES);
    }
    if set.line_ends {
        ranges.push((0x2028, 0x2029));
    }
    if set.rest {
        ranges.extend(REST);
    }
    for (from, to) in ranges {
        let _ = write!(out, "\\x{{{from:X}}}-\\x{{{to:X}}}");
    }
    out.push_str("])");
    if set.rest {
        out.push_str("|(?-u:\\xED[\\xA0-\\xBF][\\x80-\\xBF])");
    }
    out.push(')');
}

fn write_bytes(out: &mut String, set: Set) {
    out.push_str("(?-u:[");
    let mut any = false;
    for (from, to) in set.ascii_ranges() {
        any = true;
        let _ = write!(out, "\\x{from:02X}-\\x{to:02X}");
    }
    if !any {
        // The empty set: no byte of the texts searched here is 0xFF.
        out.push_str("\\xFF");
    }
    out.push_str("])");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(pattern: &str, text: &str) -> bool {
        JsRegex::new(pattern, "i").unwrap().is_match(text)
    }

    #[test]
    fn letters_fold_within_ascii_only() {
        assert!(test("reset k", "RESET K"));
        assert!(!test("reset", "re\u{17F}et"));
        assert!(!test("k", "\u{212A}"));
        assert!(!test("\\w", "\u{17F}\u{212A}"));
        assert!(test("[^a-z]", "\u{17F}"));
        assert!(!JsRegex::new("reset", "").unwrap().is_match("RESET"));
    }

    #[test]
    fn a_dot_is_one_unit_of_a_line() {
        for (between, matches) in [
            ("", true),
            ("-", true),
            ("é", true),
            ("\u{FEFF}", true),
            ("\n", false),
            ("\r", false),
            ("\u{2028}", false),
            ("\u{2029}", false),
            ("😀", false),
        ] {
            assert_eq!(test("rate.?limit", &format!("rate{between}limit")), matches, "{between:?}");
        }
        assert!(test("rate.{2}limit", "rate😀limit"));
        assert!(test("a.*b", "a😀é😀b"));
        assert!(test("a\\S+b", "a😀b"));
        assert!(!test("a\\S+b", "a\u{2028}b") && !test("a\\S+b", "a\u{FEFF}b") && test("a\\S+b", "a\u{180E}b"));
    }

    #[test]
    fn look_around_at_the_edges_tries_every_place() {
        let token = "(?<![a-z0-9])(?:429|500)(?![a-z0-9])";
        for (text, matches) in [
            ("500", true),
            ("x500 500", true),
            ("5005 500", true),
            ("a500", false),
            ("500Z", false),
            ("_500_", true),
            ("é500\u{17F}", true),
            ("😀500😀", true),
            ("429500", false),
        ] {
            assert_eq!(test(token, text), matches, "{text:?}");
        }
        assert!(test("1308(?![0-9])", "13080 1308") && !test("1308(?![0-9])", "13080"));
        assert!(test("a(?=\\s|$)", "ba") && test("a(?=\\s|$)", "a\u{2028}") && !test("a(?=\\s|$)", "ab"));
        assert!(!test("(?<!a)(?!a)", "aéa") && test("(?<!a)(?!a)", "aééa"));
        assert!(test("a(?!\\s|$)", "ab") && !test("a(?!\\s|$)", "a"));
    }

    #[test]
    fn what_has_no_faithful_translation_is_refused() {
        for pattern in [
            "(a)\\1",
            "a(?!b)c",
            "a(?<!b)c",
            "(?:(?!b)c)+",
            "(?!bc)",
            "é",
            "[é]",
            "\\u00e9",
            "\\p{L}",
            "[\\w-x]",
            "[]",
            "[^]",
            "(?<name>a)",
            "\\cA",
            "\\07",
            "(",
            ")",
            "a**",
            "a+{2}",
            "*",
            "[b-a]",
            "\\",
            "a{2,1}",
            "(?i:a)",
            "\\B",
        ] {
            let error = JsRegex::new(pattern, "i").expect_err(pattern);
            assert!(error.is_unreadable_pattern(), "{error}");
        }
        assert!(JsRegex::new("a", "iu").is_err());
    }

    #[test]
    fn braces_and_brackets_that_open_nothing_are_literal() {
        assert!(test("{\"a\"}]", "{\"A\"}]") && test("a{,2}", "a{,2}") && test("a{2}", "aa") && !test("a{2}", "a{2}"));
    }
}
