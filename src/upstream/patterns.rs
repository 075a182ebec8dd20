//! The patterns of every supported release as data, and pi's decision made with them.

use std::sync::{LazyLock, OnceLock};

use serde::Deserialize;

use super::error::{Error, Kind};
use super::jsregex::{JsRegex, units};
use super::parse::{OverflowPatterns, RegexLiteral, RetryPatterns};
use super::releases::{Name, Release, require_supported};
use semver::Version;

/// Consecutive releases of pi-ai whose retry patterns are the same.
#[derive(Debug, Deserialize)]
pub struct Era {
    #[serde(rename = "era")]
    name: String,
    releases: Vec<String>,
    #[serde(flatten)]
    patterns: RetryPatterns,
    #[serde(skip)]
    compiled: OnceLock<Result<[JsRegex; 2], Error>>,
}

impl Era {
    /// All eras, oldest first.
    pub fn all() -> &'static [Era] {
        &DATA.retry
    }

    /// The era of a known release of pi-ai; none for an unknown one or one before 0.80.3.
    pub fn of(version: &Version) -> Option<&'static Era> {
        let version = version.to_string();
        Era::all().iter().find(|era| era.releases.contains(&version))
    }

    /// Its name, `E5` to `E17` and on; the four before 0.80.3 had no pattern lists of their own.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The releases of pi-ai in it, oldest first.
    pub fn releases(&self) -> &[String] {
        &self.releases
    }

    /// The pattern strings, as in the package.
    pub fn patterns(&self) -> &RetryPatterns {
        &self.patterns
    }

    fn compiled(&self) -> Result<&[JsRegex; 2], Error> {
        let compile = |list: &[String]| JsRegex::any_of(list.iter().map(|pattern| (pattern.as_str(), "i")));
        let both = || Ok([compile(&self.patterns.non_retryable)?, compile(&self.patterns.retryable)?]);
        self.compiled.get_or_init(both).as_ref().map_err(Clone::clone)
    }
}

/// Consecutive releases of pi-ai whose overflow patterns are the same; they change at other times than an [`Era`].
#[derive(Debug, Deserialize)]
pub struct OverflowEra {
    releases: Vec<String>,
    #[serde(flatten)]
    patterns: OverflowPatterns,
    #[serde(skip)]
    compiled: OnceLock<Result<Overflow, Error>>,
}

#[derive(Debug)]
struct Overflow {
    overflow: JsRegex,
    non_overflow: JsRegex,
    cerebras: Option<JsRegex>,
}

impl OverflowEra {
    /// All of them, oldest first.
    pub fn all() -> &'static [OverflowEra] {
        &DATA.overflow
    }

    /// Those that a known release of pi-ai belongs to; none for an unknown one or one before 0.80.3.
    pub fn of(version: &Version) -> Option<&'static OverflowEra> {
        let version = version.to_string();
        OverflowEra::all().iter().find(|era| era.releases.contains(&version))
    }

    /// The releases of pi-ai in it, oldest first.
    pub fn releases(&self) -> &[String] {
        &self.releases
    }

    /// The regex literals, as in the package.
    pub fn patterns(&self) -> &OverflowPatterns {
        &self.patterns
    }

    fn compiled(&self) -> Result<&Overflow, Error> {
        fn compile<'a>(literals: impl IntoIterator<Item = &'a RegexLiteral>) -> Result<JsRegex, Error> {
            JsRegex::any_of(literals.into_iter().map(|literal| (literal.source.as_str(), literal.flags.as_str())))
        }
        let all = || {
            Ok(Overflow {
                overflow: compile(&self.patterns.overflow)?,
                non_overflow: compile(&self.patterns.non_overflow)?,
                cerebras: self.patterns.cerebras.as_ref().map(|literal| compile([literal])).transpose()?,
            })
        };
        self.compiled.get_or_init(all).as_ref().map_err(Clone::clone)
    }
}

#[derive(Deserialize)]
struct Data {
    retry: Vec<Era>,
    overflow: Vec<OverflowEra>,
}

static DATA: LazyLock<Data> =
    LazyLock::new(|| serde_json::from_str(include_str!("eras.json")).expect("eras.json is checked by a test"));

/// What pi itself decides, version by version: the twin of the shipped JavaScript, without node.
///
/// Cheap to copy and to make: patterns are compiled once per era.
///
/// ```
/// use pi_retry_forced::upstream::PiClassifier;
///
/// let text = "max_tokens must be <= 32,500";
/// assert!(PiClassifier::for_version("1.6.0")?.is_retryable(text));
/// # Ok::<(), pi_retry_forced::upstream::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PiClassifier {
    version: &'static Version,
    retry: &'static [JsRegex; 2],
    overflow: &'static Overflow,
}

impl PiClassifier {
    /// The classifier of one release of pi-ai.
    ///
    /// # Errors
    ///
    /// If the version is none, not known, or before 0.80.3.
    pub fn for_version(version: &str) -> Result<Self, Error> {
        PiClassifier::of(Release::find(Name::PiAi, version)?)
    }

    /// The classifier of the newest known release.
    ///
    /// # Errors
    ///
    /// Only if this crate's own data are broken.
    pub fn newest() -> Result<Self, Error> {
        PiClassifier::of(Release::newest(Name::PiAi))
    }

    /// The classifier of a package with these patterns, which may be on no list. What it calls an overflow is taken from the
    /// newest known release. The patterns are kept for the life of the process.
    ///
    /// # Errors
    ///
    /// If a pattern cannot be given the meaning that JavaScript gives it.
    pub fn with_patterns(version: &Version, patterns: &RetryPatterns) -> Result<Self, Error> {
        let compile = |list: &[String]| JsRegex::any_of(list.iter().map(|pattern| (pattern.as_str(), "i")));
        let retry = [compile(&patterns.non_retryable)?, compile(&patterns.retryable)?];
        let newest = PiClassifier::newest()?;
        Ok(PiClassifier { version: Box::leak(Box::new(version.clone())), retry: Box::leak(Box::new(retry)), ..newest })
    }

    fn of(release: &'static Release) -> Result<Self, Error> {
        let version = release.version();
        require_supported(release.name(), version)?;
        let unknown = || {
            Error::new(Kind::UnknownRelease {
                name: release.name(),
                version: version.clone(),
                newest: Release::newest(release.name()).version().clone(),
            })
        };
        let era = Era::of(version).ok_or_else(unknown)?;
        let overflow = OverflowEra::of(version).ok_or_else(unknown)?;
        Ok(PiClassifier { version, retry: era.compiled()?, overflow: overflow.compiled()? })
    }

    /// The release whose decision this is.
    pub fn version(&self) -> &'static Version {
        self.version
    }

    /// What `isRetryableAssistantError` says to a failed turn with this `errorMessage`.
    pub fn is_retryable(&self, text: &str) -> bool {
        let [non_retryable, retryable] = self.retry;
        let units = units(text);
        // Most texts match neither list, and then one search is enough.
        !text.is_empty() && retryable.is_match_units(&units) && !non_retryable.is_match_units(&units)
    }

    /// What `isContextOverflow` says to a failed turn with this `errorMessage` from this provider, which matters for
    /// `cerebras` only. Its other cases, which look at successful turns, are not asked here.
    pub fn is_context_overflow(&self, text: &str, provider: Option<&str>) -> bool {
        let Overflow { overflow, non_overflow, cerebras } = self.overflow;
        let units = units(text);
        let cerebras = cerebras.as_ref().filter(|_| provider == Some("cerebras"));
        !text.is_empty()
            && !non_overflow.is_match_units(&units)
            && (overflow.is_match_units(&units) || cerebras.is_some_and(|regex| regex.is_match_units(&units)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_supported_release_has_patterns_of_both_kinds_that_compile() {
        for release in Release::all_supported(Name::PiAi) {
            let version = release.version().to_string();
            let classifier = PiClassifier::for_version(&version).unwrap();
            assert_eq!(classifier.version(), release.version());
            assert_eq!(Era::all().iter().filter(|era| era.releases().contains(&version)).count(), 1, "{version}");
            assert_eq!(
                OverflowEra::all().iter().filter(|era| era.releases().contains(&version)).count(),
                1,
                "{version}"
            );
        }
        for era in Era::all() {
            assert!(era.releases().iter().all(|version| Release::find_supported(Name::PiAi, version).is_ok()));
        }
    }

    #[test]
    fn known_decisions_of_known_versions() {
        let retries = |version, text| PiClassifier::for_version(version).unwrap().is_retryable(text);
        let id = "This request is not supported. (request id: 202611290312455008268d9d69EdzNJOg)";
        assert!(retries("1.3.0", id) && !retries("1.4.0", id));
        assert!(!retries("0.80.3", "520 origin error") && retries("0.86.0", "520 origin error"));
        assert!(!retries("1.6.0", "503 billing") && retries("1.6.0", "ResourceNotFoundException"));
        assert!(!retries("1.6.0", ""));
        let overflows =
            |version, text, provider| PiClassifier::for_version(version).unwrap().is_context_overflow(text, provider);
        let empty = "400 status code (no body)";
        assert!(
            overflows("0.85.1", empty, None)
                && !overflows("0.86.0", empty, None)
                && overflows("0.86.0", empty, Some("cerebras"))
        );
        assert!(overflows("1.6.0", "413: too big", None) && !overflows("1.6.0", "rate limit: too many tokens", None));
        assert!(PiClassifier::for_version("0.80.2").unwrap_err().is_too_old());
        assert!(PiClassifier::for_version("9.9.9").unwrap_err().is_unknown_release());
    }
}
