//! Everything that can go wrong with an installed pi, with its wording in one place.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::diagnose::quoted;

/// Why an installed pi could not be found, read or changed. Its text says what to do.
#[derive(Debug)]
pub struct Error(Box<Kind>);

impl Error {
    /// The cause, for callers that choose another advice by it.
    pub fn kind(&self) -> &Kind {
        &self.0
    }
}

impl From<Kind> for Error {
    fn from(kind: Kind) -> Self {
        Self(Box::new(kind))
    }
}

impl From<crate::upstream::Error> for Error {
    fn from(error: crate::upstream::Error) -> Self {
        Kind::Package(error).into()
    }
}

impl From<crate::patch::Error> for Error {
    fn from(error: crate::patch::Error) -> Self {
        Kind::Patch(error).into()
    }
}

/// The kinds of [`Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Kind {
    /// There is no pi on the search path.
    NoPi,
    /// The path that was named leads to no pi.
    NotPi {
        /// The path.
        path: PathBuf,
        /// What is there instead.
        reason: String,
    },
    /// A compiled single binary, in which no file can be patched.
    Binary {
        /// The executable.
        path: PathBuf,
    },
    /// The pi-ai that this pi loads is not there.
    NoLibrary {
        /// The folder of the pi-coding-agent.
        agent: PathBuf,
    },
    /// The package is one that other installs use too.
    Shared {
        /// The package as this pi reaches it.
        link: PathBuf,
        /// Where it really is.
        root: PathBuf,
    },
    /// Files are not as they were published.
    Edited {
        /// The package.
        root: PathBuf,
        /// The files, relative to the package.
        files: Vec<String>,
        /// Their release.
        release: String,
    },
    /// The package is patched, but not by `apply`.
    PatchedOtherwise {
        /// The package.
        root: PathBuf,
    },
    /// Files were changed after they had been patched.
    ChangedSince {
        /// The package.
        root: PathBuf,
        /// The files, relative to the package.
        files: Vec<String>,
        /// Where the originals are kept.
        originals: PathBuf,
    },
    /// The record of an earlier run cannot be used, nor be worked out from the originals.
    BadRecord {
        /// The record.
        path: PathBuf,
        /// Where originals are kept; none if there are none.
        originals: Option<PathBuf>,
        /// What is wrong with it.
        reason: String,
    },
    /// A kept original is missing or damaged.
    BadOriginal {
        /// Where it should be.
        path: PathBuf,
        /// Release to reinstall.
        release: String,
    },
    /// The package may not be written to.
    NotWritable {
        /// What was to be written.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no space left.
    Full {
        /// What was to be written.
        path: PathBuf,
    },
    /// Something else about a file.
    Io {
        /// What was touched.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The caller's `watch` ended the run.
    Stopped {
        /// The step that was not made.
        step: String,
    },
    /// The package cannot be opened.
    Package(crate::upstream::Error),
    /// The patch cannot be made.
    Patch(crate::patch::Error),
}

impl Kind {
    /// A failure to write, by what the system said.
    pub(super) fn writing(path: impl Into<PathBuf>, source: io::Error) -> Error {
        let path = path.into();
        match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Kind::NotWritable { path, source },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Kind::Full { path },
            _ => Kind::Io { path, source },
        }
        .into()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            Kind::NoPi => f.write_str(
                "there is no pi on the PATH; name the folder of a pi-coding-agent package or its executable with --pi",
            ),
            Kind::NotPi { path, reason } => write!(
                f,
                "{} is no pi: {reason}; name the folder of a pi-coding-agent package or its executable",
                path.display()
            ),
            Kind::Binary { path } => write!(
                f,
                "{} is a compiled single binary, which has no file to patch; install the extension instead: `pi install \
                 ./shim` in a checkout of pi-retry-forced",
                path.display()
            ),
            Kind::NoLibrary { agent } => write!(
                f,
                "{} loads pi-ai, but no node_modules from there upwards holds it; reinstall pi",
                agent.display()
            ),
            Kind::Shared { link, root } => write!(
                f,
                "{} is a link to {}, outside of this install: others may use the same files and would be patched too. To do \
                 that, add --shared; to patch only this pi, install it in a folder of its own, as npm does",
                link.display(),
                root.display()
            ),
            Kind::Edited { root, files, release } => write!(
                f,
                "{}: not as published in {release}: {}. Add --edited to patch them as they are, or reinstall pi",
                root.display(),
                files.join(", ")
            ),
            Kind::PatchedOtherwise { root } => write!(
                f,
                "{} is patched, but there is no record of an `apply` here; take it back with the tool that did it, such as \
                 `npx patch-package@8 --reverse`, or reinstall pi",
                root.display()
            ),
            Kind::ChangedSince { root, files, originals } => write!(
                f,
                "{}: changed after they were patched: {}. Nothing was written over; reinstall pi, or put the originals \
                 back by hand from {}",
                root.display(),
                files.join(", "),
                originals.display()
            ),
            Kind::BadRecord { path, originals, reason } => {
                let folder = path.parent().unwrap_or(path);
                let root = folder.parent().unwrap_or(folder);
                write!(f, "the record of an earlier apply is missing or damaged; ")?;
                match originals {
                    Some(originals) => write!(
                        f,
                        "originals are kept in {0}, but what is installed is not what this version makes of them. Nothing was \
                         written; reinstall pi, or put them back by hand: `cp -R {1}/. {2}`, then remove the folder {3}",
                        originals.display(),
                        quoted(originals),
                        quoted(root),
                        folder.display()
                    )?,
                    None => write!(
                        f,
                        "no original is kept, so nothing can be taken back. Remove the folder {} and reinstall pi",
                        root.display()
                    )?,
                }
                write!(f, " ({}: {reason})", path.display())
            }
            Kind::BadOriginal { path, release } => {
                write!(f, "{} is missing or not the original; nothing was written. Reinstall {release}", path.display())
            }
            Kind::NotWritable { path, source } => write!(f, "no permission to write {}: {source}", path.display()),
            Kind::Full { path } => write!(f, "no space left to write {}; free some and run it again", path.display()),
            Kind::Io { path, source } => write!(f, "{}: {source}", path.display()),
            Kind::Stopped { step } => write!(f, "stopped before: {step}"),
            Kind::Package(error) => error.fmt(f),
            Kind::Patch(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self.kind() {
            // Their text is this error's text, and what the system said is part of it.
            Kind::Package(error) => error.source(),
            Kind::Patch(error) => error.source(),
            _ => None,
        }
    }
}

/// The result of everything in this module.
pub type Result<T, E = Error> = std::result::Result<T, E>;
