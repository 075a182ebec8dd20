//! Everything that can go wrong while a patch is made, with its wording in one place.

use std::fmt;
use std::path::PathBuf;

/// Why no patch was made. Nothing has been written when one of these is returned.
#[derive(Debug)]
pub struct Error(Box<Kind>);

impl Error {
    /// The cause, for callers that choose another advice or exit status by it.
    pub fn kind(&self) -> &Kind {
        &self.0
    }
}

impl From<Kind> for Error {
    fn from(kind: Kind) -> Self {
        Self(Box::new(kind))
    }
}

/// The kinds of [`Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Kind {
    /// A file or folder could not be read or written.
    Io {
        /// What was touched.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is no package that can be patched.
    Package(crate::upstream::Error),
    /// A folder of the package is missing.
    Incomplete {
        /// The package's folder.
        path: PathBuf,
        /// What is missing there.
        folder: &'static str,
    },
    /// A release of the command without a bundle: it loads pi-ai, so pi-ai's patch serves it.
    NotBundled {
        /// Its version.
        version: String,
    },
    /// An edit did not find its place exactly once.
    Place {
        /// The edit, as the documentation names it.
        edit: String,
        /// The file that was searched, relative to the package; a folder when no file qualified.
        file: String,
        /// How many places were found, or what was met instead.
        found: String,
    },
    /// The status is carried already.
    AlreadyPatched {
        /// The file that shows it.
        file: String,
        /// Who did it, as far as the names tell.
        by: String,
    },
    /// A map holds no TypeScript, or one that cannot be read.
    SourceMap {
        /// The map.
        file: String,
        /// What is wrong with it.
        why: String,
    },
    /// The patched package could not be run in node.
    Node {
        /// What was tried.
        what: String,
        /// What happened instead.
        why: String,
    },
    /// The patched package decides otherwise than the reference.
    Differs {
        /// The file that was run.
        file: String,
        /// How many messages of how many.
        count: (usize, usize),
        /// The first such message, as JSON.
        message: String,
        /// Whether the patched package retries it.
        patched: bool,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            Kind::Io { path, source } => write!(f, "{}: {source}", path.display()),
            Kind::Package(error) => error.fmt(f),
            Kind::Incomplete { path, folder } => {
                write!(f, "{} has no folder {folder}; reinstall the package", path.display())
            }
            Kind::NotBundled { version } => write!(
                f,
                "pi-coding-agent {version} has no bundle and loads pi-ai from node_modules: patch @earendil-works/pi-ai instead"
            ),
            Kind::Place { edit, file, found } => write!(
                f,
                "{file}: the edit \"{edit}\" {found}; nothing was written. The file was edited by hand, or this release is \
                 laid out in a way that this version does not know: reinstall the package, or update pi-retry-forced; \
                 the extension works without a patch"
            ),
            Kind::AlreadyPatched { file, by } => {
                write!(
                    f,
                    "{file} is patched already by {by}; start from the published package: `npx patch-package@8 --reverse` \
                     or `npm ci` brings it back"
                )
            }
            Kind::SourceMap { file, why } => write!(f, "{file}: {why}"),
            Kind::Node { what, why } => write!(f, "{what}: {why}"),
            Kind::Differs { file, count: (count, total), message, patched } => write!(
                f,
                "{file}, patched, decides otherwise than the reference on {count} of {total} messages; the first one, {}: {message}",
                if *patched { "retried by it" } else { "stopped by it" }
            ),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self.kind() {
            Kind::Io { source, .. } => Some(source),
            Kind::Package(error) => Some(error),
            _ => None,
        }
    }
}

/// The result of everything in this module.
pub type Result<T, E = Error> = std::result::Result<T, E>;
