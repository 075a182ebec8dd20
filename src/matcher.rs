//! Patterns that mean the same in JavaScript and in Rust.
//!
//! A rule's pattern is written in a checked subset of JavaScript's regular expressions, always read with the flag `i`
//! and without `u`. What is not in the subset is an error when the rules are loaded, never a guess:
//!
//! | written | meaning |
//! |---|---|
//! | literals | ASCII in any letter case; outside ASCII only characters without case |
//! | `[a-z0-9]` | a class of ASCII characters, not negated |
//! | `.` | one UTF-16 unit that is no line terminator |
//! | `\s` `\S` | JavaScript's white space, and everything else |
//! | `\q` | a quote of some kind, or the backslash before an escaped one |
//! | `\<` `\>` | an edge: no ASCII letter, digit or `_` before, or after |
//! | `(?![0-9])` | last in the pattern: no digit follows |
//! | `^` `$` | start and end of the text |
//! | `(?:…)` `\|` `?` `*` `+` `{m,n}` | as usual; a group takes `?` and `{m,n}` only, so that matching stays linear |
//!
//! The edges may also be written out as upstream writes them, `(?<![a-z0-9_])` and `(?![a-z0-9_])`.

use regex::Regex;
use std::fmt;

/// What JavaScript's `.` stands for, as a class of whole characters: a character outside the BMP is two units there.
const DOT: &str = r"(?u-i:[^\n\r\x{2028}\x{2029}\x{10000}-\x{10FFFF}])";
const QUOTE: &str = r#"[`"'\\]"#;
/// [`DOT`] in JavaScript, where a bounded repeat counts its members.
const JS_DOT: &str = r"[^\n\r\u2028\u2029\ud800-\udfff]";
const SPACE: &str = r"(?u-i:[\t\n\x0B\x0C\r\x{FEFF}\x{2028}\x{2029}\p{Zs}])";
const NOT_SPACE: &str = r"(?u-i:[^\t\n\x0B\x0C\r\x{FEFF}\x{2028}\x{2029}\p{Zs}])";
const EDGE_BEFORE: &str = "(?<![a-z0-9_])";
const EDGE_AFTER: &str = "(?![a-z0-9_])";
const NO_DIGIT_AFTER: &str = "(?![0-9])";

/// A pattern in the subset of this module, compiled for both engines.
#[derive(Clone, Debug)]
pub struct Pattern {
    written: String,
    js: String,
    rust: Regex,
    /// The longest text, in lower case, that every match contains; empty if there is none.
    needle: String,
    /// Whether the needle is the whole pattern, so that finding it is matching.
    literal: bool,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// When it uses anything outside the subset; the error names the pattern and the place.
    pub fn new(written: &str) -> Result<Self, PatternError> {
        let translated = translate(written)?;
        let rust = Regex::new(&translated.rust).map_err(|e| PatternError::new(written, 0, e.to_string()))?;
        Ok(Self {
            written: written.to_owned(),
            js: translated.js,
            rust,
            literal: translated.literal,
            needle: translated.needle,
        })
    }

    /// The pattern as JavaScript source, for the flag `i`.
    pub fn js(&self) -> &str {
        &self.js
    }

    /// The pattern as its author wrote it.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Whether the text contains a match.
    pub fn is_match(&self, text: &str) -> bool {
        self.rust.is_match(text)
    }

    /// The compiled expression; group 1 exists where the pattern captures.
    pub(crate) fn regex(&self) -> &Regex {
        &self.rust
    }

    pub(crate) fn needle(&self) -> &str {
        &self.needle
    }

    pub(crate) fn is_literal(&self) -> bool {
        self.literal
    }
}

/// A pattern that the subset does not allow.
#[derive(Clone, Debug)]
pub struct PatternError {
    pattern: String,
    at: usize,
    what: String,
}

impl PatternError {
    fn new(pattern: &str, at: usize, what: impl Into<String>) -> Self {
        Self { pattern: pattern.to_owned(), at, what: what.into() }
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pattern `{}`, character {}: {}", self.pattern, self.at + 1, self.what)
    }
}

impl std::error::Error for PatternError {}

struct Translated {
    rust: String,
    js: String,
    needle: String,
    literal: bool,
}

/// Builds the Rust expression and, on the way, the longest literal that stands outside groups and repeats.
struct Translator<'a> {
    written: &'a str,
    rest: &'a str,
    rust: String,
    js: String,
    /// How many groups are open.
    depth: usize,
    /// The literal that is being read.
    run: String,
    needle: String,
    literal: bool,
    alternatives: bool,
}

fn translate(written: &str) -> Result<Translated, PatternError> {
    let mut t = Translator {
        written,
        rest: written,
        rust: String::from("(?i-u)"),
        js: String::new(),
        depth: 0,
        run: String::new(),
        needle: String::new(),
        literal: true,
        alternatives: false,
    };
    while !t.rest.is_empty() {
        let before = t.rest;
        t.item()?;
        match &before[..before.len() - t.rest.len()] {
            r"\<" => t.js.push_str(EDGE_BEFORE),
            r"\>" => t.js.push_str(EDGE_AFTER),
            quotes if quotes.starts_with(r"\q") => {
                t.js.push_str(QUOTE);
                t.js.push_str(&quotes[2..]);
            }
            // JavaScript counts an astral character as two; leaving it out makes the bounds mean the same.
            dots if dots.starts_with(".{") => {
                t.js.push_str(JS_DOT);
                t.js.push_str(&dots[1..]);
            }
            item => t.js.push_str(item),
        }
    }
    if t.depth > 0 {
        return Err(t.error("a group is not closed"));
    }
    t.end_run();
    if t.alternatives {
        t.needle.clear();
    }
    let literal = t.literal && !t.needle.is_empty();
    Ok(Translated { rust: t.rust, js: t.js, needle: t.needle, literal })
}

impl Translator<'_> {
    fn error(&self, what: impl Into<String>) -> PatternError {
        PatternError::new(self.written, self.written.len() - self.rest.len(), what)
    }

    fn end_run(&mut self) {
        if self.run.len() > self.needle.len() {
            self.needle.clone_from(&self.run);
        }
        self.run.clear();
    }

    fn take(&mut self, prefix: &str) -> bool {
        match self.rest.strip_prefix(prefix) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Anything but a plain character: the pattern is more than a literal from here on.
    fn complex(&mut self, rust: &str) {
        self.literal = false;
        self.end_run();
        self.rust.push_str(rust);
    }

    fn item(&mut self) -> Result<(), PatternError> {
        if self.take(EDGE_BEFORE) || self.take(r"\<") {
            self.complex(r"\b{start-half}");
        } else if self.take(EDGE_AFTER) || self.take(r"\>") {
            self.complex(r"\b{end-half}");
        } else if self.take(NO_DIGIT_AFTER) {
            if !self.rest.is_empty() {
                return Err(self.error("`(?![0-9])` must end the pattern"));
            }
            self.complex(r"(?u-i:[^0-9]|$)");
        } else if self.take("(?:") {
            self.complex("(?:");
            self.depth += 1;
        } else if self.take("([45][0-9]{2})") {
            // The one thing that is ever captured: a status.
            self.complex("([45][0-9]{2})");
        } else if self.take(")") {
            if self.depth == 0 {
                return Err(self.error("`)` without a group"));
            }
            self.depth -= 1;
            self.complex(")");
            if self.rest.starts_with(['*', '+']) {
                return Err(self.error("a group may be repeated with `?` or `{m,n}` only"));
            }
            self.quantifier()?;
        } else if self.take("|") {
            self.alternatives |= self.depth == 0;
            self.complex("|");
        } else if self.take("^") {
            self.complex("^");
        } else if self.take("$") {
            self.complex("$");
        } else if self.take("[") {
            self.class()?;
            self.quantifier()?;
        } else {
            self.character()?;
        }
        Ok(())
    }

    fn class(&mut self) -> Result<(), PatternError> {
        let mut end = None;
        let mut escaped = false;
        for (i, c) in self.rest.char_indices() {
            match c {
                _ if !c.is_ascii() => return Err(self.error("a class holds ASCII only")),
                '^' if i == 0 => return Err(self.error("a class may not be negated")),
                '[' if !escaped => return Err(self.error("write `\\[` inside a class")),
                '&' | '~' if self.rest[i + 1..].starts_with(c) => return Err(self.error("a doubled sign in a class")),
                ']' if !escaped => {
                    end = Some(i);
                    break;
                }
                _ => {}
            }
            if escaped && c.is_ascii_alphanumeric() && !matches!(c, 'n' | 'r' | 't') {
                return Err(self.error("no such escape inside a class"));
            }
            escaped = c == '\\' && !escaped;
        }
        let end = end.ok_or_else(|| self.error("a class is not closed"))?;
        let class = format!("[{}]", &self.rest[..end]);
        self.complex(&class);
        self.rest = &self.rest[end + 1..];
        Ok(())
    }

    fn character(&mut self) -> Result<(), PatternError> {
        let Some(c) = self.rest.chars().next() else { return Ok(()) };
        self.rest = &self.rest[c.len_utf8()..];
        match c {
            '.' => self.complex(DOT),
            '\\' => {
                let Some(e) = self.rest.chars().next() else { return Err(self.error("a lone `\\`")) };
                self.rest = &self.rest[e.len_utf8()..];
                match e {
                    's' => self.complex(SPACE),
                    'S' => self.complex(NOT_SPACE),
                    'q' => self.complex(QUOTE),
                    'n' => self.complex(r"\n"),
                    _ if e.is_ascii_punctuation() => return self.literal(e),
                    _ => return Err(self.error(format!("no such escape: `\\{e}`"))),
                }
            }
            '*' | '+' | '?' | '{' | '}' | ']' | '(' => {
                return Err(self.error(format!("`{c}` is out of place; write `\\{c}` for the sign itself")));
            }
            _ => return self.literal(c),
        }
        self.quantifier()
    }

    fn literal(&mut self, c: char) -> Result<(), PatternError> {
        if c.is_lowercase() != c.is_uppercase() && !c.is_ascii() {
            return Err(self.error(format!("`{c}` has letter case and is not ASCII")));
        }
        let escaped = if c.is_ascii() { regex::escape(&c.to_string()) } else { format!("(?u-i:{c})") };
        self.rust.push_str(&escaped);
        if self.rest.starts_with(['?', '*', '+', '{']) {
            self.literal = false;
            self.end_run();
            return self.quantifier();
        }
        if self.depth == 0 {
            self.run.push(c.to_ascii_lowercase());
        }
        Ok(())
    }

    fn quantifier(&mut self) -> Result<(), PatternError> {
        if let Some(c) = self.rest.chars().next().filter(|c| matches!(c, '?' | '*' | '+')) {
            self.rest = &self.rest[1..];
            self.complex(&c.to_string());
        } else if self.rest.starts_with('{') {
            let end = self.rest.find('}').ok_or_else(|| self.error("`{` is not closed"))?;
            let bounds = &self.rest[1..end];
            let numbers: Vec<&str> = bounds.split(',').collect();
            let fine = numbers.len() <= 2 && numbers.iter().all(|n| n.parse::<u8>().is_ok());
            if !fine {
                return Err(self.error("bounds are `{n}` or `{m,n}`, up to 255"));
            }
            let quantifier = format!("{{{bounds}}}");
            self.rest = &self.rest[end + 1..];
            self.complex(&quantifier);
        } else {
            return Ok(());
        }
        if self.rest.starts_with(['?', '+', '*', '{']) {
            return Err(self.error("one repeat after another"));
        }
        Ok(())
    }
}
