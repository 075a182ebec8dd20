//! Everything that can go wrong while a submission is made, with its wording in one place.

use std::fmt;
use std::path::PathBuf;

/// Why there is no submission. Nothing has been written when one of these is returned.
#[derive(Debug)]
pub struct Error(Box<Kind>);

impl Error {
    /// The cause.
    pub fn kind(&self) -> &Kind {
        &self.0
    }
}

impl From<Kind> for Error {
    fn from(kind: Kind) -> Self {
        Self(Box::new(kind))
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
    /// The patch generator refused.
    Patch(crate::patch::Error),
    /// A file or folder could not be read.
    Io {
        /// What was touched.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The folder is no checkout of pi.
    NotACheckout {
        /// The folder.
        path: PathBuf,
        /// What shows it.
        why: String,
    },
    /// The checkout has changes of its own.
    Dirty {
        /// The folder.
        path: PathBuf,
        /// The first changed file, as git names it.
        file: String,
    },
    /// git is missing or failed.
    Git {
        /// What happened.
        why: String,
    },
    /// The change, or one that takes its place, is in the sources already.
    AlreadyIn {
        /// What shows it.
        what: String,
    },
    /// The sources are older than the change needs.
    TooOld {
        /// What they lack.
        what: String,
    },
    /// A place for an edit was not found exactly once.
    Place {
        /// The file.
        file: &'static str,
        /// What was looked for.
        what: String,
        /// How often it is there.
        found: usize,
    },
    /// The crate's own data have a shape that the submission does not know to write.
    Data {
        /// What is new.
        what: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            Kind::Patch(error) => error.fmt(f),
            Kind::Io { path, source } => write!(f, "{}: {source}", path.display()),
            Kind::NotACheckout { path, why } => write!(
                f,
                "{} is no checkout of pi: {why}; name the root of a clone of earendil-works/pi with --checkout",
                path.display()
            ),
            Kind::Dirty { path, file } => write!(
                f,
                "{} has changes that are not committed, {file} for one; commit them or take a clean clone",
                path.display()
            ),
            Kind::Git { why } => write!(f, "git cannot tell whether the checkout is clean: {why}"),
            Kind::AlreadyIn { what } => write!(f, "{what}: there is nothing left to submit"),
            Kind::TooOld { what } => write!(f, "{what}; the submission is for 1.4.0 and newer"),
            Kind::Place { file, what, found } => write!(
                f,
                "{file}: {what} is there {found} times instead of once; nothing was written. The sources are laid out in a way \
                 that this version does not know"
            ),
            Kind::Data { what } => write!(f, "the submission cannot be written: {what}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self.kind() {
            Kind::Patch(error) => Some(error),
            Kind::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
