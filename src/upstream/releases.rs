//! Every release of pi's packages that was published, with the digest npm gives for it and the parts it plays in this project.

use std::fmt;
use std::sync::LazyLock;

use semver::Version;
use serde::Deserialize;

use super::error::{Error, Kind};
use super::patterns::Era;

/// The first release whose pi-ai holds the classifier; before it, it was a private method of pi-coding-agent.
const FIRST_SUPPORTED: Version = Version::new(0, 80, 3);

/// The packages that carry pi's classifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Name {
    /// The library, `@earendil-works/pi-ai`.
    PiAi,
    /// The `pi` command, `@earendil-works/pi-coding-agent`, which from 0.84.3 on bundles its own copy of the library.
    PiCodingAgent,
}

impl Name {
    /// Both packages.
    pub const ALL: [Name; 2] = [Name::PiAi, Name::PiCodingAgent];

    /// The full npm name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Name::PiAi => "@earendil-works/pi-ai",
            Name::PiCodingAgent => "@earendil-works/pi-coding-agent",
        }
    }

    /// The name without its scope, for messages and file names.
    pub const fn short(self) -> &'static str {
        match self {
            Name::PiAi => "pi-ai",
            Name::PiCodingAgent => "pi-coding-agent",
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a release is used for beside being patchable; the list says which plays what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Stands for the releases that have its patterns.
    Era,
    /// Its bundled command is patched and compared.
    Bundle,
    /// Its verdicts are recorded for the evidence.
    Report,
    /// The extension's tests start this pi.
    Shim,
    /// And run every scenario in it.
    Full,
}

/// One published version of one package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    name: Name,
    version: Version,
    integrity: String,
    parts: Vec<Part>,
}

impl Release {
    /// Every known release of a package, oldest first, the unsupported ones included.
    pub fn all(name: Name) -> &'static [Release] {
        match name {
            Name::PiAi => &RELEASES[0],
            Name::PiCodingAgent => &RELEASES[1],
        }
    }

    /// The releases of a package that hold a classifier in a place that can be patched, oldest first.
    pub fn all_supported(name: Name) -> &'static [Release] {
        let all = Release::all(name);
        &all[all.partition_point(|release| !release.supported())..]
    }

    /// The newest known release.
    pub fn newest(name: Name) -> &'static Release {
        Release::all(name).last().expect("the list is data of this crate, and a test sees that it is not empty")
    }

    /// The release with exactly this version.
    ///
    /// # Errors
    ///
    /// If the text is no version, or no such release is known.
    pub fn find(name: Name, version: &str) -> Result<&'static Release, Error> {
        let version = parse_version(version.trim())?;
        let all = Release::all(name);
        all.binary_search_by(|release| release.version.cmp(&version)).map(|at| &all[at]).map_err(|_| {
            let newest = Release::newest(name).version.clone();
            Error::new(Kind::UnknownRelease { name, version, newest })
        })
    }

    /// The release with exactly this version, if its classifier is where this crate can reach it.
    ///
    /// # Errors
    ///
    /// As [`Release::find`], and if the release is older than 0.80.3.
    pub fn find_supported(name: Name, version: &str) -> Result<&'static Release, Error> {
        let release = Release::find(name, version)?;
        release.require_supported()?;
        Ok(release)
    }

    /// A release that is not on the list, by what npm says of it.
    pub fn unlisted(name: Name, version: Version, integrity: String) -> Self {
        Release { name, version, integrity, parts: Vec::new() }
    }

    /// Which package this is a release of.
    pub fn name(&self) -> Name {
        self.name
    }

    /// The version number.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// The digest that npm publishes for the tarball: `sha512-` and base64.
    pub fn integrity(&self) -> &str {
        &self.integrity
    }

    /// Whether it plays this part.
    pub fn plays(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }

    /// The releases of a package that play this part, oldest first.
    pub fn playing(name: Name, part: Part) -> impl Iterator<Item = &'static Release> {
        Release::all(name).iter().filter(move |release| release.plays(part))
    }

    /// What npm takes as an exact package argument: `name@version`.
    pub fn spec(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }

    /// Whether the classifier is where this crate can reach it: from 0.80.3 on.
    pub fn supported(&self) -> bool {
        is_supported(&self.version)
    }

    /// An error with advice, unless [`supported`](Release::supported).
    ///
    /// # Errors
    ///
    /// If the release is older than 0.80.3.
    pub fn require_supported(&self) -> Result<(), Error> {
        require_supported(self.name, &self.version)
    }

    /// The patterns that decide in this release; none for an unsupported one. Both packages are published
    /// together, so a pi-coding-agent has the patterns of the pi-ai of its own number.
    pub fn era(&self) -> Option<&'static Era> {
        Era::of(&self.version)
    }
}

pub(super) fn is_supported(version: &Version) -> bool {
    *version >= FIRST_SUPPORTED
}

pub(super) fn require_supported(name: Name, version: &Version) -> Result<(), Error> {
    if is_supported(version) {
        return Ok(());
    }
    Err(Error::new(Kind::TooOld { name, version: version.clone() }))
}

/// Reads a release number, `major.minor.patch` with an optional pre-release tag.
///
/// # Errors
///
/// If the text is none, or carries build metadata, which npm drops.
pub fn parse_version(text: &str) -> Result<Version, Error> {
    let version = Version::parse(text).ok().filter(|version| version.build.is_empty());
    version.ok_or_else(|| Error::new(Kind::NotAVersion { text: text.to_owned() }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    release: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Entry {
    version: Version,
    pi_ai: Option<String>,
    pi_coding_agent: Option<String>,
    #[serde(default)]
    parts: Vec<Part>,
}

static RELEASES: LazyLock<[Vec<Release>; 2]> = LazyLock::new(|| {
    let list: List = toml::from_str(include_str!("releases.toml")).expect("releases.toml is checked by a test");
    Name::ALL.map(|name| {
        let of = |entry: &Entry| {
            let digest = match name {
                Name::PiAi => entry.pi_ai.clone(),
                Name::PiCodingAgent => entry.pi_coding_agent.clone(),
            };
            let release =
                |integrity| Release { name, version: entry.version.clone(), integrity, parts: entry.parts.clone() };
            digest.map(release)
        };
        list.release.iter().filter_map(of).collect()
    })
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_complete_and_ordered() {
        for name in Name::ALL {
            let all = Release::all(name);
            assert!(all.len() >= 44, "{name}: {}", all.len());
            assert!(all.windows(2).all(|pair| pair[0].version < pair[1].version), "{name}");
            for release in all {
                let digest = release.integrity.strip_prefix("sha512-").expect("npm's digests are SHA-512");
                assert_eq!(digest.len(), 88, "{}", release.spec());
                assert_eq!(release.supported(), release.era().is_some(), "{}", release.spec());
            }
        }
        assert_eq!(Release::newest(Name::PiAi).version, Release::newest(Name::PiCodingAgent).version);
        assert_eq!(Release::all_supported(Name::PiAi)[0].spec(), "@earendil-works/pi-ai@0.80.3");
    }

    #[test]
    fn each_era_has_one_release_that_stands_for_it_and_the_newest_plays_every_part() {
        let standing: Vec<&str> = Release::playing(Name::PiAi, Part::Era).map(|of| of.era().unwrap().name()).collect();
        assert_eq!(standing, Era::all().iter().map(Era::name).collect::<Vec<_>>());
        for part in [Part::Era, Part::Bundle, Part::Report, Part::Shim, Part::Full] {
            assert!(Release::newest(Name::PiCodingAgent).plays(part), "{part:?}");
        }
        for release in Release::playing(Name::PiAi, Part::Report) {
            assert!(release.supported(), "{} cannot be recorded", release.spec());
        }
    }

    #[test]
    fn versions_are_ordered_as_npm_orders_them_and_nothing_else_is_one() {
        let version = |text: &str| parse_version(text).unwrap();
        let sorted =
            ["0.74.2", "0.80.7", "0.80.10", "0.99.1", "1.0.0-alpha", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0", "1.0.3"];
        assert!(sorted.windows(2).all(|pair| version(pair[0]) < version(pair[1])));
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
            assert!(parse_version(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn every_refusal_says_what_to_do() {
        let wording = |version| Release::find_supported(Name::PiAi, version).unwrap_err().to_string();
        insta::assert_snapshot!(wording("0.80.2"), @"@earendil-works/pi-ai 0.80.2 is too old to be patched or compared: before 0.80.3 pi decides inside pi-coding-agent's dist/core/agent-session.js; update pi to 0.80.3 or newer, or use the extension instead");
        insta::assert_snapshot!(wording("1.2.0"), @"@earendil-works/pi-ai 1.2.0 was never published; `npm view @earendil-works/pi-ai versions` lists the releases");
        let newest = Release::newest(Name::PiAi).version.to_string();
        let wording = |version| wording(version).replace(&newest, "NEWEST");
        insta::assert_snapshot!(wording("77.0.0"), @"@earendil-works/pi-ai 77.0.0 is newer than the newest release that this build knows, NEWEST; use NEWEST, or update pi-retry-forced. An installed 77.0.0 can still be patched: `pi-retry-forced patch` where it is installed");
        insta::assert_snapshot!(wording("latest"), @r#""latest" is no version number; write it in full, as in NEWEST"#);
    }
}
