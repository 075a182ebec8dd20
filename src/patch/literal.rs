//! String literals and regular expressions as JavaScript writes them.

/// The value of a string literal's inside; nothing if an escape is unknown.
pub(super) fn unescape(source: &str) -> Option<String> {
    let mut value = String::with_capacity(source.len());
    let mut chars = source.chars();
    while let Some(char) = chars.next() {
        if char != '\\' {
            value.push(char);
            continue;
        }
        match chars.next()? {
            'n' => value.push('\n'),
            'r' => value.push('\r'),
            't' => value.push('\t'),
            'x' => value.push(hex(&mut chars, 2)?),
            'u' => value.push(hex(&mut chars, 4)?),
            other if other.is_ascii_alphanumeric() => return None,
            other => value.push(other),
        }
    }
    Some(value)
}

fn hex(chars: &mut std::str::Chars<'_>, digits: usize) -> Option<char> {
    let text: String = chars.by_ref().take(digits).collect();
    (text.len() == digits).then(|| u32::from_str_radix(&text, 16).ok()).flatten().and_then(char::from_u32)
}

/// A string literal: double quotes, but single ones where that saves escapes, as upstream's formatter does.
pub(super) fn quote(value: &str) -> String {
    let quote = if value.matches('"').count() > value.matches('\'').count() { '\'' } else { '"' };
    let mut literal = String::with_capacity(value.len() + 2);
    literal.push(quote);
    for char in value.chars() {
        match char {
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\u{2028}' => literal.push_str("\\u2028"),
            '\u{2029}' => literal.push_str("\\u2029"),
            char if char == quote => literal.extend(['\\', char]),
            char => literal.push(char),
        }
    }
    literal.push(quote);
    literal
}

/// A regular expression literal with flag `i`.
pub(super) fn regex(source: &str) -> String {
    let mut literal = String::from("/");
    let mut class = false;
    let mut chars = source.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => {
                literal.push('\\');
                literal.extend(chars.next());
                continue;
            }
            // A slash ends the literal, but not within a class.
            '/' if !class => literal.push('\\'),
            '[' => class = true,
            ']' => class = false,
            _ => {}
        }
        literal.push(char);
    }
    literal + "/i"
}

#[cfg(test)]
mod tests {
    use super::{quote, regex, unescape};

    #[test]
    fn literals() {
        for value in ["plain", r#""code"\s*:"#, "it's", "both ' and \"", "\u{2028}\n", "ende ü"] {
            let literal = quote(value);
            assert_eq!(unescape(&literal[1..literal.len() - 1]).as_deref(), Some(value));
        }
        assert_eq!(quote(r#"a"b"#), r#"'a"b'"#);
        assert_eq!(quote(r#"a"b'"#), r#""a\"b'""#);
        assert_eq!(quote(r#"a"b'""#), r#"'a"b\'"'"#);
        assert_eq!(unescape(r"\x41\u00e9\q"), None);
        assert_eq!(unescape(r"\x41\u00e9\/").as_deref(), Some("Aé/"));
    }

    #[test]
    fn regular_expressions() {
        assert_eq!(regex("http/?2 \\/ [/\\]/] /"), "/http\\/?2 \\/ [/\\]/] \\//i");
    }
}
