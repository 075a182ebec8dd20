//! What a patch that could be made nevertheless wants its user to know.

use std::fmt;

/// A sentence of [`PatchSet::warnings`](super::PatchSet::warnings).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// A list of the release holds a pattern that no rule of the reference has.
    UnknownPattern {
        /// The file of the list.
        file: String,
        /// The pattern's source.
        pattern: String,
        /// The list's name there.
        list: String,
    },
    /// A provider module that is on no list of this version.
    UnknownProvider {
        /// The module.
        file: String,
    },
    /// The release is newer than the list.
    Unlisted {
        /// The package and its version.
        release: String,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::UnknownPattern { file, pattern, list } => {
                write!(f, "{file}: the pattern {pattern:?} of {list} is unknown to the reference; it stays")
            }
            Warning::UnknownProvider { file } => {
                write!(f, "{file}: a provider that this version does not know; patched like the others")
            }
            Warning::Unlisted { release } => {
                write!(f, "{release} is not on this version's list of releases; each edit found its place exactly once")
            }
        }
    }
}
