//! Secrets that only their name gives away: `password: …`, `"x-api-key":"…"`, `Authorization: Basic …`, `token 'hunter2'`.
//!
//! A pattern finds the name; how far the value behind it goes depends on quotes, on the name and on what stands between, so
//! that is read here, forwards only. A value always ends at the latest with the text, hence no part is read twice.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// How far a value without quotes goes, and which values are hidden.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    /// `Authorization`: a scheme, then what may be a list of parameters.
    Scheme,
    /// `Cookie`: the rest of the line.
    Whole,
    /// Words of a person's choice, which may hold spaces: the rest of the line, up to a separator.
    Phrase,
    /// One word, whatever it is.
    Word,
    /// One word, unless it is one of a language: `signature: Field required`.
    Telling,
}

/// Names of credentials that are in use as they stand, also at the end of a longer name (`OPENAI_API_KEY`, `dbPassword`).
const PHRASE: &str = concat!(
    r"pass[-_ ]?(?:words?|wd|phrases?|code)|pwd|secrets?|",
    // In the languages in which relays and their users write.
    r"令牌|密码|密碼|密钥|密鑰|口令|パスワード|비밀번호|암호|(?:passwort|kennwort|contraseña|пароль|mot de passe|senha|wachtwoord|şifre|mật khẩu)(?: ist| es| est| é)?"
);
const WORD: &str = concat!(
    r"(?:api|access|auth|account|secret|private|subscription|encryption|signing|license|admin|master|service|goog)[-_]?key(?:[-_]?id)?|",
    r"secret[-_]?access[-_]?key|(?:access|refresh|auth|id|session|security|bearer|bot|api|csrf|xsrf)[-_]?token|session[-_]?key|",
    r"client[-_]?secret"
);
/// Words that also mean something else.
const TELLING: &str = concat!(
    r"(?:api|access|secret|private|session|account|encryption|signing|license)[ ]key(?:[ ]id)?|secret access key|",
    r"(?:access|refresh|auth|id|session|security|bearer|bot|api)[ ]token|auth|token|credentials?|signature|sig|key"
);

/// A name with what separates it from its value.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = format!(
        concat!(
            r#"(?i)(?P<tuple>\(\s*b?(?:["'][a-z0-9_-]{{0,24}}?)??)?(?:(?P<scheme>authorization)|(?P<whole>(?:set-)?cookie2?)|(?P<phrase>{})|(?P<word>{})|"#,
            r#"(?:^|[^a-z0-9])(?:(?P<short>pass)|(?P<telling>{})))(?P<close>\\*["'`]?\]?)"#,
            r#"(?:\s+(?:is|was|provided|given|header|value))?(?:(?P<link>\s*(?::=|=>|[:=：「])\s*)|(?P<comma>\s*,\s*b?))"#
        ),
        PHRASE, WORD, TELLING
    );
    Regex::new(&pattern).expect("the pattern is compiled by every test of masking")
});

/// A name with white space behind it. What goes before tells whether code is meant.
static SPACED: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = format!(
        concat!(
            r#"(?i)(?:^|[^a-z0-9])(?P<code>(?:unexpected|unknown|unrecognized|missing|duplicate|extra|required|object|property)\s+)?"#,
            r#"(?:(?P<phrase>{})|{}|{})(?:\s+(?:is|was|provided|given|used|value))?\s+[(<]?"#
        ),
        PHRASE, WORD, TELLING
    );
    Regex::new(&pattern).expect("the pattern is compiled by every test of masking")
});

/// Schemes of `Authorization` that stay readable.
const SCHEMES: [&str; 12] = [
    "basic",
    "bearer",
    "digest",
    "token",
    "apikey",
    "api-key",
    "key",
    "negotiate",
    "ntlm",
    "dpop",
    "signature",
    "aws4-hmac-sha256",
];

/// Values that are no secret but the cause of the failure.
const CAUSES: [&str; 20] = [
    "null",
    "undefined",
    "none",
    "nil",
    "true",
    "false",
    "required",
    "missing",
    "invalid",
    "expired",
    "field",
    "must",
    "not",
    "is",
    "field required",
    "not found",
    "not set",
    "is required",
    "is missing",
    "is invalid",
];

/// Whether the bytes begin with a name in brackets as masking writes it; its length.
fn placeholder(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('[')?;
    let length = inside.bytes().take(10).take_while(u8::is_ascii_lowercase).count();
    let name = &inside[..length];
    (inside[length..].starts_with(']') && super::mask::NAMES.contains(&name)).then_some(length + 2)
}

/// The inside of quotes at the start of the text, which may be escaped themselves, up to the quote that closes them or the end.
fn quoted(text: &str) -> Option<Range<usize>> {
    let escapes = text.bytes().take_while(|byte| *byte == b'\\').count();
    let quote = *text.as_bytes().get(escapes)?;
    if !b"\"'`".contains(&quote) {
        return None;
    }
    let (start, mut backslashes) = (escapes + 1, 0);
    for (at, byte) in text.bytes().enumerate().skip(start) {
        let closes = if escapes == 0 { backslashes % 2 == 0 } else { backslashes <= escapes };
        if byte == quote && closes {
            return Some(start..if escapes == 0 { at } else { at - backslashes });
        }
        backslashes = if byte == b'\\' { backslashes + 1 } else { 0 };
    }
    Some(start..text.len())
}

/// A list at the start of the text, with its brackets.
fn list(text: &str) -> Option<Range<usize>> {
    if !text.starts_with('[') || placeholder(text).is_some() {
        return None;
    }
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match (byte, quote) {
            (b'"' | b'\'', None) => quote = Some(byte),
            (b']', None) => return Some(0..at + 1),
            _ if quote == Some(byte) => quote = None,
            _ => {}
        }
    }
    Some(0..text.len())
}

/// Whether another parameter follows the comma: `, Signature=…`.
fn parameter_follows(text: &str) -> bool {
    let rest = text.trim_start_matches([',', ' ', '\t']);
    let name = rest.bytes().take(40).take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'-').count();
    name > 0 && rest[name..].starts_with('=')
}

/// The length of a value without quotes.
fn bare(text: &str, style: Style) -> usize {
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        if let Some(length) = placeholder(&text[at..]) {
            at += length;
            continue;
        }
        let ends = match style {
            Style::Scheme | Style::Whole => match next {
                '\r' | '\n' | '"' => true,
                // A parameter in quotes is part of the value, a quote anywhere else is around it.
                '=' => {
                    if let Some(inside) = quoted(&text[at + 1..]) {
                        at += 1 + inside.end;
                        at += text[at..].bytes().take_while(|byte| *byte == b'\\').count();
                        at += usize::from(at < text.len());
                        continue;
                    }
                    false
                }
                '}' | ']' | ')' => style == Style::Scheme,
                ',' => style == Style::Scheme && !parameter_follows(&text[at..]),
                _ => false,
            },
            Style::Phrase => matches!(next, '\r' | '\n' | '"' | ',' | ';' | '}' | ']'),
            Style::Word => next.is_whitespace() || matches!(next, '"' | ',' | ';' | '}' | ']' | '&'),
            Style::Telling => next.is_whitespace() || "\"'`,;&(){}<>[]\\".contains(next),
        };
        if ends {
            break;
        }
        at += next.len_utf8();
    }
    text[..at].trim_end_matches([' ', '\t', '\\']).len()
}

/// The length of the scheme that starts a value of `Authorization`, with the white space behind it.
fn scheme(text: &str) -> usize {
    let length = text.bytes().take(20).take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'-').count();
    let space = text[length..].bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    let known = SCHEMES.iter().any(|known| text[..length].eq_ignore_ascii_case(known));
    if known && space > 0 { length + space } else { 0 }
}

/// A word of a language says what is wrong; digits, signs and great length are of a secret.
pub(super) fn is_no_word(value: &str) -> bool {
    has_digit(value) || value.len() >= 16 || value.bytes().any(|byte| b"+/=_~$!@#%^*".contains(&byte))
}

pub(super) fn has_digit(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
}

/// The value at the start of `text` that is to be hidden, by bytes.
fn value(text: &str, mut style: Style, link: &str) -> Option<Range<usize>> {
    let plain = |range: &Range<usize>| {
        let value = text[range.clone()].trim();
        value.is_empty() || CAUSES.iter().any(|cause| value.eq_ignore_ascii_case(cause))
    };
    if let Some(mut range) = quoted(text) {
        if style == Style::Scheme {
            range.start += scheme(&text[range.clone()]);
        }
        let hidden = style != Style::Telling || is_secret_word(&text[range.clone()]);
        return (hidden && !plain(&range)).then_some(range);
    }
    if link.contains(['\r', '\n']) {
        // Most likely a heading.
        style = Style::Telling;
    } else if matches!(style, Style::Phrase | Style::Telling) && link.ends_with('=') {
        style = Style::Word;
    }
    if style != Style::Telling
        && let Some(range) = list(text)
    {
        return (!plain(&range)).then_some(range);
    }
    let start = if style == Style::Scheme { scheme(text) } else { 0 };
    let range = match quoted(&text[start..]).filter(|_| start > 0) {
        Some(inside) => start + inside.start..start + inside.end,
        None => start..start + bare(&text[start..], style),
    };
    let hidden = style != Style::Telling || (range.len() >= 4 && is_no_word(&text[range.clone()]));
    (hidden && !plain(&range)).then_some(range)
}

/// In quotes, what is one word without spaces; several are prose.
fn is_secret_word(value: &str) -> bool {
    is_no_word(value) || !value.trim().contains(char::is_whitespace)
}

/// Hides what stands behind a name of a secret and a separator.
pub(super) fn mask_named(text: &str) -> String {
    mask_by(&NAMED, text, |found, rest| {
        let is = |name| found.name(name).is_some();
        let style = match () {
            () if is("scheme") => Style::Scheme,
            () if is("whole") => Style::Whole,
            () if is("phrase") || is("short") => Style::Phrase,
            () if is("word") => Style::Word,
            () => Style::Telling,
        };
        if is("comma") {
            // Pairs as Python writes them.
            let is_pair = is("tuple") && found.name("close").is_some_and(|close| !close.is_empty());
            return (is_pair && quoted(rest).is_some()).then(|| value(rest, style, ",")).flatten();
        }
        value(rest, style, found.name("link").map_or("", |link| link.as_str()))
    })
}

/// Hides what stands behind a name of a secret and white space: in quotes, or with a digit in it.
pub(super) fn mask_spaced(text: &str) -> String {
    mask_by(&SPACED, text, |found, rest| {
        if let Some(range) = quoted(rest) {
            let hidden =
                found.name("code").is_none() && range.len() >= 3 && !rest[range.clone()].contains(['\r', '\n']);
            return hidden.then_some(range);
        }
        let stop = |next: char| next.is_whitespace() || "\"'`,;(){}<>[]\\".contains(next);
        let word = rest[..rest.find(stop).unwrap_or(rest.len())].trim_end_matches(['.', ':', '!', '?']);
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        let is_count =
            digits > 0 && word.len() - digits <= 3 && word[digits..].bytes().all(|byte| byte.is_ascii_alphabetic());
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit() || b".-/%".contains(&byte));
        let hidden = match found.name("phrase") {
            Some(_) => word.len() >= 4,
            None => word.len() >= 4 && !is_count && !is_number,
        };
        (hidden && has_digit(word)).then_some(0..word.len())
    })
}

/// Hides the part of what follows each match that `find` names.
fn mask_by(pattern: &Regex, text: &str, find: impl Fn(&regex::Captures<'_>, &str) -> Option<Range<usize>>) -> String {
    let mut masked = String::with_capacity(text.len());
    let (mut done, mut at) = (0, 0);
    while let Some(found) = pattern.captures_at(text, at) {
        let end = found.get(0).map_or(text.len(), |whole| whole.end());
        // The separator may be what has to stand before the next name.
        at = text[..end].char_indices().next_back().map_or(end, |(last, _)| last);
        if let Some(range) = find(&found, &text[end..]) {
            let name = if found.name("scheme").is_some() { "[token]" } else { "[secret]" };
            masked.push_str(&text[done..end + range.start]);
            masked.push_str(name);
            done = end + range.end;
            at = done;
        }
        if end >= text.len() {
            break;
        }
    }
    masked.push_str(&text[done..]);
    masked
}
