//! The one error of this module and its wording.

use std::fmt;
use std::path::PathBuf;

use super::releases::Name;
use semver::Version;

/// Why a package of pi could not be had, read or understood. Its text is one sentence for a person and says what to do.
#[derive(Clone, Debug)]
pub struct Error(Box<Kind>);

#[derive(Clone, Debug)]
pub(super) enum Kind {
    NotAVersion { text: String },
    UnknownRelease { name: Name, version: Version, newest: Version },
    TooOld { name: Name, version: Version },
    NpmMissing { program: String },
    NpmFailed { spec: String, line: String },
    NpmGaveNothing { spec: String },
    NoNetwork { spec: String, line: String },
    NotInRegistry { spec: String, line: String },
    Integrity { spec: String, expected: String, found: String },
    NoCacheFolder,
    CacheNotWritable { path: PathBuf, reason: String },
    CacheFull { path: PathBuf },
    BadArchive { spec: String, reason: String },
    NotAPackage { path: PathBuf, reason: String },
    OtherPackage { path: PathBuf, expected: Name, found: String },
    NotInstalled { name: Name, from: PathBuf },
    Unreadable { path: PathBuf, reason: String },
    NoPatterns { list: &'static str, reason: String },
    Untranslatable { pattern: String, reason: String },
}

impl Error {
    pub(super) fn new(kind: Kind) -> Self {
        Error(Box::new(kind))
    }

    /// Whether the version is well-formed but not on this build's list of releases.
    pub fn is_unknown_release(&self) -> bool {
        matches!(*self.0, Kind::UnknownRelease { .. })
    }

    /// Whether the release is older than 0.80.3.
    pub fn is_too_old(&self) -> bool {
        matches!(*self.0, Kind::TooOld { .. })
    }

    /// Whether no `node_modules` here or above holds the package, so that fetching it is the next thing to try.
    pub fn is_not_installed(&self) -> bool {
        matches!(*self.0, Kind::NotInstalled { .. })
    }

    /// Whether the source or a pattern in it has a shape that this crate cannot read faithfully.
    pub fn is_unreadable_pattern(&self) -> bool {
        matches!(*self.0, Kind::NoPatterns { .. } | Kind::Untranslatable { .. })
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::NotAVersion { text } => {
                let newest = super::releases::Release::newest(super::releases::Name::PiAi).version();
                write!(f, "{text:?} is no version number; write it in full, as in {newest}")
            }
            Kind::UnknownRelease { name, version, newest } if version > newest => write!(
                f,
                "{name} {version} is newer than the newest release that this build knows, {newest}; use {newest}, or update \
                 pi-retry-forced. An installed {version} can still be patched: `pi-retry-forced patch` where it is installed",
            ),
            Kind::UnknownRelease { name, version, .. } => {
                write!(f, "{name} {version} was never published; `npm view {name} versions` lists the releases")
            }
            Kind::TooOld { name, version } => write!(
                f,
                "{name} {version} is too old to be patched or compared: before 0.80.3 pi decides inside pi-coding-agent's \
                 dist/core/agent-session.js; update pi to 0.80.3 or newer, or use the extension instead",
            ),
            Kind::NpmMissing { program } => {
                write!(f, "cannot run {program}; install Node.js with npm, or name an unpacked package with --from")
            }
            Kind::NpmFailed { spec, line } => {
                write!(f, "npm could not fetch {spec}: {line}; `npm pack {spec}` shows all it has to say")
            }
            Kind::NpmGaveNothing { spec } => {
                write!(
                    f,
                    "npm reported success for {spec} but left no tarball; try `npm pack {spec}` by hand and name the \
                           unpacked folder with --from"
                )
            }
            Kind::NoNetwork { spec, line } => write!(
                f,
                "no network to fetch {spec} over ({line}); check the connection and npm's proxy and registry settings, or \
                 name an unpacked package with --from",
            ),
            Kind::NotInRegistry { spec, line } => write!(
                f,
                "the registry that npm is set up for does not have {spec} ({line}); check `npm config get registry`, or \
                 name an unpacked package with --from",
            ),
            Kind::Integrity { spec, expected, found } => write!(
                f,
                "{spec} is not what was published: expected {expected}, got {found}; nothing of it was used. Check which \
                 registry npm is set up for, and run `npm cache clean --force` before another try",
            ),
            Kind::NoCacheFolder => {
                write!(f, "there is no home folder to keep fetched packages in; set PI_RETRY_FORCED_CACHE to a folder")
            }
            Kind::CacheNotWritable { path, reason } => write!(
                f,
                "cannot write to the cache folder {}: {reason}; set PI_RETRY_FORCED_CACHE to a folder that can be written",
                path.display(),
            ),
            Kind::CacheFull { path } => write!(
                f,
                "no space left for the cache folder {}; free some, or set PI_RETRY_FORCED_CACHE to a folder elsewhere",
                path.display(),
            ),
            Kind::BadArchive { spec, reason } => {
                write!(f, "the tarball of {spec} cannot be unpacked: {reason}; nothing of it was used")
            }
            Kind::NotAPackage { path, reason } => write!(
                f,
                "{} is not the folder of an npm package: {reason}; name the folder that holds its package.json",
                path.display(),
            ),
            Kind::OtherPackage { path, expected, found } => {
                write!(f, "{} holds {found}, not {expected}; name the folder of {expected}", path.display())
            }
            Kind::NotInstalled { name, from } => write!(
                f,
                "{name} is in no node_modules of {} or above; install it there, or name its folder with --from",
                from.display(),
            ),
            Kind::Unreadable { path, reason } => {
                write!(f, "cannot read {}: {reason}; the package is incomplete, reinstall it", path.display(),)
            }
            Kind::NoPatterns { list, reason } => {
                write!(f, "the pattern list {list} cannot be read out of the source: {reason}")
            }
            Kind::Untranslatable { pattern, reason } => {
                write!(f, "the pattern {pattern:?} has no faithful translation: {reason}")
            }
        }
    }
}
