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
//! | `\N` | one character outside ASCII |
//! | `\<` `\>` | an edge: no ASCII letter, digit or `_` before, or after |
//! | `(?![0-9])` | last in the pattern: no digit follows |
//! | `(?<![a-z0-9])` `(?![a-z0-9])` | first and last in the pattern: no ASCII letter or digit before, or after |
//! | `^` `$` | start and end of the text |
//! | `(?:…)` `\|` `?` `*` `+` `{m,n}` | as usual; a group takes `?` and `{m,n}` only, so that matching stays linear |
//!
//! The edges may also be written out as upstream writes them, `(?<![a-z0-9_])` and `(?![a-z0-9_])`.

use crate::reference::needles::{Needles, needles};
use regex::Regex;
use std::fmt;
use std::sync::OnceLock;

/// What JavaScript's `.` stands for, as a class of whole characters: a character outside the BMP is two units there.
const DOT: &str = r"(?u-i:[^\n\r\x{2028}\x{2029}\x{10000}-\x{10FFFF}])";
const NOT_ASCII: &str = r"(?u-i:[^\x00-\x7F])";
const JS_NOT_ASCII: &str = r"[^\0-\x7f]";
const QUOTE: &str = r#"[`"'\\]"#;
/// [`DOT`] in JavaScript, where a bounded repeat counts its members.
const JS_DOT: &str = r"[^\n\r\u2028\u2029\ud800-\udfff]";
const SPACE: &str = r"(?u-i:[\t\n\x0B\x0C\r\x{FEFF}\x{2028}\x{2029}\p{Zs}])";
const NOT_SPACE: &str = r"(?u-i:[^\t\n\x0B\x0C\r\x{FEFF}\x{2028}\x{2029}\p{Zs}])";
const EDGE_BEFORE: &str = "(?<![a-z0-9_])";
const EDGE_AFTER: &str = "(?![a-z0-9_])";
const NO_DIGIT_AFTER: &str = "(?![0-9])";
/// pi's own edges around its number tokens.
const NO_ALNUM_BEFORE: &str = "(?<![a-z0-9])";
const NO_ALNUM_AFTER: &str = "(?![a-z0-9])";

/// A pattern in the subset of this module, compiled for both engines.
#[derive(Clone, Debug)]
pub struct Pattern {
    written: String,
    js: String,
    /// The expression in Rust's syntax; compiled when first needed, since most runs need few of them.
    source: String,
    rust: OnceLock<Regex>,
    needles: Option<Needles>,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// When it uses anything outside the subset; the error names the pattern and the place.
    pub fn new(written: &str) -> Result<Self, PatternError> {
        let translated = translate(written)?;
        // Letter case is the scan's business: one text for each literal is enough.
        let mut parser = regex_syntax::ParserBuilder::new().utf8(false).unicode(false).build();
        let lower = parser.parse(&translated.rust.to_ascii_lowercase());
        let lower = lower.map_err(|e| PatternError::new(written, 0, e.to_string()))?;
        Ok(Self {
            written: written.to_owned(),
            js: translated.js,
            source: format!("(?i-u){}", translated.rust),
            rust: OnceLock::new(),
            needles: needles(&lower),
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
        self.regex().is_match(text)
    }

    /// The compiled expression; group 1 exists where the pattern captures.
    pub(crate) fn regex(&self) -> &Regex {
        self.rust.get_or_init(|| Regex::new(&self.source).expect("parsed when the pattern was made"))
    }

    /// Texts that a match cannot be without.
    pub(crate) fn needles(&self) -> Option<&Needles> {
        self.needles.as_ref()
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

    /// Where in the pattern, in bytes from its start.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "pattern `{}`, character {}: {}",
            self.pattern,
            self.pattern[..self.at].chars().count() + 1,
            self.what
        )
    }
}

impl std::error::Error for PatternError {}

struct Translated {
    rust: String,
    js: String,
}

struct Translator<'a> {
    written: &'a str,
    rest: &'a str,
    rust: String,
    js: String,
    /// How many groups are open.
    depth: usize,
}

fn translate(written: &str) -> Result<Translated, PatternError> {
    let mut t = Translator { written, rest: written, rust: String::new(), js: String::new(), depth: 0 };
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
            r"\N" => t.js.push_str(JS_NOT_ASCII),
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
    Ok(Translated { rust: t.rust, js: t.js })
}

/// What to write instead of an escape that engines read differently, or that the subset has not.
fn instead_of(escape: char) -> String {
    let instead = match escape {
        'd' => "`[0-9]`",
        'w' => "`[a-z0-9_]`",
        'b' => "`\\<` for the start of a word or `\\>` for its end",
        'D' | 'W' => "a class of what may stand there",
        'B' => "the letters that stand there",
        '0'..='9' => "the text again: there are no back-references",
        't' | 'r' | 'v' | 'f' => "`\\s`",
        'u' | 'x' | 'p' | 'P' => "the character itself, or `\\N` for one outside ASCII",
        _ => "the letter without the backslash",
    };
    format!("there is no escape `\\{escape}`; write {instead}")
}

impl Translator<'_> {
    fn error(&self, what: impl Into<String>) -> PatternError {
        PatternError::new(self.written, self.written.len() - self.rest.len(), what)
    }

    /// An error about the character that was taken last.
    fn before(&self, taken: char, what: impl Into<String>) -> PatternError {
        PatternError::new(self.written, self.written.len() - self.rest.len() - taken.len_utf8(), what)
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

    fn item(&mut self) -> Result<(), PatternError> {
        if self.take(EDGE_BEFORE) || self.take(r"\<") {
            self.rust.push_str(r"\b{start-half}");
        } else if self.take(EDGE_AFTER) || self.take(r"\>") {
            self.rust.push_str(r"\b{end-half}");
        } else if self.take(NO_DIGIT_AFTER) {
            if !self.rest.is_empty() {
                return Err(self.error("`(?![0-9])` must end the pattern"));
            }
            self.rust.push_str(r"(?u-i:[^0-9]|$)");
        } else if self.rest.len() == self.written.len() && self.take(NO_ALNUM_BEFORE) {
            self.rust.push_str("(?u-i:^|[^A-Za-z0-9])");
        } else if self.take(NO_ALNUM_AFTER) {
            if !self.rest.is_empty() {
                return Err(self.error("`(?![a-z0-9])` must end the pattern"));
            }
            self.rust.push_str("(?u-i:[^A-Za-z0-9]|$)");
        } else if self.take("(?:") {
            self.rust.push_str("(?:");
            self.depth += 1;
        } else if self.take("([45][0-9]{2})") {
            // The one thing that is ever captured: a status.
            self.rust.push_str("([45][0-9]{2})");
        } else if self.take(")") {
            if self.depth == 0 {
                return Err(self.error("`)` without a group"));
            }
            self.depth -= 1;
            self.rust.push(')');
            if self.rest.starts_with(['*', '+']) {
                return Err(self.error("a group may be repeated with `?` or `{m,n}` only"));
            }
            self.quantifier()?;
        } else if self.take("|") {
            self.rust.push('|');
        } else if self.take("^") {
            self.rust.push('^');
        } else if self.take("$") {
            self.rust.push('$');
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
                '^' if i == 0 => {
                    return Err(self.error("a class may not be negated; name what may stand there, or write `.{0,20}`"));
                }
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
        self.rust.push_str(&class);
        self.rest = &self.rest[end + 1..];
        Ok(())
    }

    fn character(&mut self) -> Result<(), PatternError> {
        let Some(c) = self.rest.chars().next() else { return Ok(()) };
        self.rest = &self.rest[c.len_utf8()..];
        match c {
            '.' => self.rust.push_str(DOT),
            '\\' => {
                let Some(e) = self.rest.chars().next() else { return Err(self.error("a lone `\\`")) };
                self.rest = &self.rest[e.len_utf8()..];
                match e {
                    's' => self.rust.push_str(SPACE),
                    'S' => self.rust.push_str(NOT_SPACE),
                    'q' => self.rust.push_str(QUOTE),
                    'N' => self.rust.push_str(NOT_ASCII),
                    'n' => self.rust.push_str(r"\n"),
                    _ if e.is_ascii_punctuation() => return self.literal(e),
                    _ => return Err(self.before(e, instead_of(e))),
                }
            }
            '(' if self.rest.starts_with("?<") || self.rest.starts_with("?=") || self.rest.starts_with("?!") => {
                return Err(self.before(
                    c,
                    "the only look-around is an edge: write `\\<` or `\\>` for the start or end of a word",
                ));
            }
            '(' => return Err(self.before(c, "write a group as `(?:…)`, and `\\(` for the sign itself")),
            '*' | '+' | '?' | '{' | '}' | ']' => {
                return Err(self.before(c, format!("`{c}` is out of place; write `\\{c}` for the sign itself")));
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
        self.quantifier()
    }

    fn quantifier(&mut self) -> Result<(), PatternError> {
        if let Some(c) = self.rest.chars().next().filter(|c| matches!(c, '?' | '*' | '+')) {
            self.rest = &self.rest[1..];
            self.rust.push(c);
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
            self.rust.push_str(&quantifier);
        } else {
            return Ok(());
        }
        if self.rest.starts_with(['?', '+', '*', '{']) {
            return Err(self.error("one repeat after another"));
        }
        Ok(())
    }
}
