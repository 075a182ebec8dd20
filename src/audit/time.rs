//! The time of an entry: ISO 8601 as `Date.prototype.toISOString` writes it, and its usual relatives.

/// Milliseconds since 1970 (UTC) of a text such as `2026-09-20T06:42:23.017Z`; without a zone it is read as UTC.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let fixed = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
    if !fixed.iter().all(|(at, mark)| bytes.get(*at) == Some(mark)) || !matches!(bytes[10], b'T' | b't' | b' ') {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    let mut rest = &text[19..];
    let mut millis = 0;
    if let Some(fraction) = rest.strip_prefix('.') {
        let length = fraction.bytes().take_while(u8::is_ascii_digit).count();
        let digits = fraction.bytes().chain(std::iter::repeat(b'0'));
        millis = digits.take(length.min(3)).fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'));
        millis *= [1000, 100, 10, 1][length.min(3)];
        rest = &fraction[length..];
    }
    let offset = match rest.as_bytes() {
        [] | [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), zone @ ..] => {
            let digits: Vec<i64> =
                zone.iter().filter(|byte| **byte != b':').map(|byte| i64::from(*byte) - 48).collect();
            let [a, b, c, d] = digits[..] else { return None };
            if digits.iter().any(|digit| !(0..=9).contains(digit)) {
                return None;
            }
            let minutes = (a * 10 + b) * 60 + c * 10 + d;
            if *sign == b'+' { minutes } else { -minutes }
        }
        _ => return None,
    };
    // Days since 1970 with years that begin in March, so that the leap day is the last one.
    let shifted = if month <= 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let year_of_era = shifted.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468;
    Some((((days * 24 + hour) * 60 + minute - offset) * 60 + second) * 1000 + millis)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn times_are_milliseconds_since_1970() {
        // Values from `Date.parse` in node.
        for (text, millis) in [
            ("1970-01-01T00:00:00.000Z", 0),
            ("2024-12-03T14:00:02.000Z", 1_733_234_402_000),
            ("2024-02-29T23:59:59.999Z", 1_709_251_199_999),
            ("2026-09-20T06:42:23.5Z", 1_789_886_543_500),
            ("2026-09-20T08:42:23.5172+02:00", 1_789_886_543_517),
            ("2000-03-01T00:00:00Z", 951_868_800_000),
        ] {
            assert_eq!(parse(text), Some(millis), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in
            ["", "yesterday", "2026-13-01T00:00:00Z", "2026-01-01", "2026-01-01T00:00:00+1", "2026‐01-01T00:00:00Z"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
