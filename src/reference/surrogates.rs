//! JSON as pi writes it: JavaScript strings may hold half a surrogate pair, which no Rust string can.

use std::borrow::Cow;

/// Replaces each escape of a lone surrogate (`\ud83d` without its other half) by `\ufffd`, in place and length.
/// pi's own truncation of error texts produces such escapes. Bytes without any are returned as they are.
pub fn replace_lone_surrogates(json: &[u8]) -> Cow<'_, [u8]> {
    let mut fixed: Option<Vec<u8>> = None;
    let mut from = 0;
    while let Some(found) = json.get(from..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        let at = from + found;
        from = at + 2;
        let Some(unit) = escaped_unit(json, at) else { continue };
        from = at + 6;
        match unit {
            0xD800..=0xDBFF if matches!(escaped_unit(json, at + 6), Some(0xDC00..=0xDFFF)) => from = at + 12,
            0xD800..=0xDFFF => {
                fixed.get_or_insert_with(|| json.to_vec())[at + 2..at + 6].copy_from_slice(b"fffd");
            }
            _ => {}
        }
    }
    fixed.map_or(Cow::Borrowed(json), Cow::Owned)
}

/// The UTF-16 unit of the escape `\uXXXX` at this place, if there is one.
fn escaped_unit(json: &[u8], at: usize) -> Option<u16> {
    let escape = json.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(escape).ok().filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::replace_lone_surrogates;

    fn fixed(json: &str) -> String {
        String::from_utf8(replace_lone_surrogates(json.as_bytes()).into_owned()).expect("still UTF-8")
    }

    #[test]
    fn only_lone_halves_are_replaced() {
        assert_eq!(fixed(r#""\ud83d\ude00 whole""#), r#""\ud83d\ude00 whole""#);
        assert_eq!(fixed(r#""cut \ud83d""#), r#""cut \ufffd""#);
        assert_eq!(fixed(r#""\ude00\ud83d\ud83d\ude00""#), r#""\ufffd\ufffd\ud83d\ude00""#);
        assert_eq!(fixed(r#""an escaped backslash \\ud83d""#), r#""an escaped backslash \\ud83d""#);
        assert_eq!(fixed(r#""\uD83D"#), r#""\ufffd"#);
        assert_eq!(fixed("\"\\"), "\"\\");
    }
}
