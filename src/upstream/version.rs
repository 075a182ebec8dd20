//! Version numbers, ordered as npm orders them.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::error::{Error, Kind};

/// A release number, `major.minor.patch` with an optional pre-release tag; build metadata is refused.
///
/// Ordered by precedence: 0.80.10 comes after 0.80.7, and 1.0.0-beta.1 before 1.0.0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    numbers: [u64; 3],
    pre: Option<String>,
}

impl Version {
    /// A plain release, without a pre-release tag.
    pub const fn new(major: u64, minor: u64, patch: u64) -> Self {
        Version { numbers: [major, minor, patch], pre: None }
    }
}

impl FromStr for Version {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refuse = || Error::new(Kind::NotAVersion { text: text.to_owned() });
        let (core, pre) = match text.split_once('-') {
            Some((core, pre)) => (core, Some(pre)),
            None => (text, None),
        };
        if let Some(pre) = pre
            && !pre
                .split('.')
                .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'))
        {
            return Err(refuse());
        }
        let mut numbers = [0; 3];
        let mut parts = core.split('.');
        for number in &mut numbers {
            let part = parts.next().ok_or_else(refuse)?;
            let plain = part.bytes().all(|b| b.is_ascii_digit()) && (part == "0" || !part.starts_with('0'));
            *number = if plain { part.parse().map_err(|_| refuse())? } else { return Err(refuse()) };
        }
        if parts.next().is_some() {
            return Err(refuse());
        }
        Ok(Version { numbers, pre: pre.map(str::to_owned) })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.numbers;
        write!(f, "{major}.{minor}.{patch}")?;
        self.pre.as_ref().map_or(Ok(()), |pre| write!(f, "-{pre}"))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.numbers.cmp(&other.numbers).then_with(|| match (&self.pre, &other.pre) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(a), Some(b)) => compare_tags(a, b),
        })
    }
}

/// Numeric parts by value and before words, a longer tag after its own prefix.
fn compare_tags(a: &str, b: &str) -> Ordering {
    let key = |part: &str| match part.parse::<u64>() {
        Ok(number) => (0, number, String::new()),
        Err(_) => (1, 0, part.to_owned()),
    };
    a.split('.').map(key).cmp(b.split('.').map(key)).then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn orders_as_npm_does() {
        let sorted =
            ["0.74.2", "0.80.7", "0.80.10", "0.99.1", "1.0.0-alpha", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0", "1.0.3"];
        for pair in sorted.windows(2) {
            assert!(version(pair[0]) < version(pair[1]), "{} < {}", pair[0], pair[1]);
        }
        assert!(sorted.iter().all(|text| version(text).to_string() == *text));
    }

    #[test]
    fn refuses_what_is_no_version() {
        for text in [
            "",
            "1",
            "1.2",
            "1.2.3.4",
            "v1.2.3",
            "1.02.3",
            "1.2.x",
            "^1.2.3",
            "1.2.3-",
            "1.2.3-a..b",
            "1.2.3+b",
            " 1.2.3",
        ] {
            assert!(text.parse::<Version>().is_err(), "{text:?}");
        }
    }
}
