//! What `apply` did to a package, kept in a folder inside of it.
//!
//! The folder goes where the package goes: an update by any package manager replaces the package's folder and the record
//! with it, so that originals of one release never meet the files of another. It holds `record.json`, written before the
//! first change and after each phase, the originals below `originals/`, and the lock file of the run at work.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::{Kind, Result};
use super::replace;
use super::state::{digest, digest_of};

/// The folder's name, below the package.
pub const FOLDER: &str = ".pi-retry-forced";
const FILE: &str = "record.json";
const ORIGINALS: &str = "originals";
const LOCK: &str = "lock";
const FORMAT: u32 = 1;

/// How far a run came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Phase {
    /// Originals are being kept and new files written beside the old ones; nothing has changed yet.
    Preparing,
    /// Files are being replaced.
    Applying,
    /// All are.
    Applied,
    /// Originals are being put back.
    Reverting,
}

/// One file that changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Relative to the package, with forward slashes.
    pub(super) path: String,
    /// SHA-256 of the original.
    pub(super) original: String,
    /// SHA-256 of what replaces it.
    pub(super) patched: String,
}

/// The record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    format: u32,
    /// Version of this crate.
    pub(super) tool: String,
    /// Digest of the decision that the patch carries.
    pub(super) rules: String,
    /// The package's name.
    pub(super) package: String,
    /// Its version.
    pub(super) version: String,
    pub(super) phase: Phase,
    /// In the order in which they are replaced.
    pub(super) files: Vec<Entry>,
}

/// How the files of a record are now.
#[derive(Debug, Default)]
pub(super) struct Count {
    pub(super) original: usize,
    pub(super) patched: usize,
    /// Neither, or gone.
    pub(super) other: Vec<String>,
}

impl Record {
    pub(super) fn new(package: &crate::upstream::Package, rules: String, files: Vec<Entry>) -> Self {
        Record {
            format: FORMAT,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            rules,
            package: package.name().as_str().to_owned(),
            version: package.version().to_string(),
            phase: Phase::Preparing,
            files,
        }
    }

    /// Where a package's record is.
    pub(super) fn path(root: &Path) -> PathBuf {
        root.join(FOLDER).join(FILE)
    }

    /// The record of a package, if there is one.
    pub(super) fn load(root: &Path) -> Result<Option<Self>> {
        let path = Self::path(root);
        let originals = Some(originals(root)).filter(|_| !super::recover::kept(root).is_empty());
        let bad = |reason: String| Kind::BadRecord { path: path.clone(), originals: originals.clone(), reason };
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            Err(error) => return Err(bad(error.to_string()).into()),
        };
        let record: Record = serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))?;
        let inside = |entry: &Entry| {
            let path = Path::new(&entry.path);
            path.components().all(|part| matches!(part, std::path::Component::Normal(_)))
        };
        if record.format != FORMAT {
            return Err(bad(format!("another version of pi-retry-forced wrote it (format {})", record.format)).into());
        }
        if !record.files.iter().all(inside) {
            return Err(bad("it names files outside of the package".to_owned()).into());
        }
        Ok(Some(record))
    }

    /// Writes it, whole or not at all.
    pub(super) fn save(&self, root: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| Kind::Io { path: Self::path(root), source: error.into() })?;
        replace::write_like(&Self::path(root), (text + "\n").as_bytes(), &root.join("package.json"))
    }

    /// Compares the files with it.
    pub(super) fn count(&self, root: &Path) -> Count {
        let mut count = Count::default();
        for entry in &self.files {
            match digest_of(&root.join(&entry.path)) {
                Some(found) if found == entry.original => count.original += 1,
                Some(found) if found == entry.patched => count.patched += 1,
                _ => count.other.push(entry.path.clone()),
            }
        }
        count
    }

    /// Keeps an original.
    pub(super) fn keep(root: &Path, path: &str, bytes: &[u8]) -> Result<()> {
        let file = originals(root).join(path);
        let mut missing: Vec<&Path> = file.ancestors().skip(1).take_while(|folder| !folder.exists()).collect();
        missing.reverse();
        for folder in missing {
            match replace::folder_like(folder, root) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(Kind::writing(folder, error)),
                _ => {}
            }
        }
        replace::write_like(&file, bytes, &root.join(path))
    }

    /// A kept original, checked.
    pub(super) fn original(&self, root: &Path, entry: &Entry) -> Result<Vec<u8>> {
        let path = originals(root).join(&entry.path);
        let bytes = match fs::read(&path) {
            // Not damaged: somebody else's.
            Err(source) if source.kind() == ErrorKind::PermissionDenied => return Err(Kind::Io { path, source }.into()),
            read => read.ok().filter(|bytes| digest(bytes) == entry.original),
        };
        bytes.ok_or_else(|| Kind::BadOriginal { path, release: format!("{}@{}", self.package, self.version) }.into())
    }

    /// Removes the record and the originals, the record first: without it the rest means nothing.
    pub(super) fn discard(root: &Path) -> Result<()> {
        let folder = root.join(FOLDER);
        let gone = |path: PathBuf, result: std::io::Result<()>| match result {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(Kind::writing(path, error)),
            _ => Ok(()),
        };
        let record = folder.join(FILE);
        gone(record.clone(), fs::remove_file(&record))?;
        let originals = originals(root);
        gone(originals.clone(), fs::remove_dir_all(&originals))
    }
}

/// Where a package's originals are.
pub(super) fn originals(root: &Path) -> PathBuf {
    root.join(FOLDER).join(ORIGINALS)
}

/// The right to change a package, until it is dropped. It ends with the process at the latest.
pub(super) struct Lock {
    root: PathBuf,
    _file: File,
}

impl Lock {
    /// Takes the lock of a package, and makes its folder. Waits while another run has it; `waiting` is told first.
    pub(super) fn take(root: &Path, waiting: &mut dyn FnMut()) -> Result<Self> {
        let folder = root.join(FOLDER);
        let path = folder.join(LOCK);
        loop {
            match replace::folder_like(&folder, root) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(Kind::writing(folder, error)),
                _ => {}
            }
            let open = File::options().create(true).truncate(false).write(true).open(&path);
            let file = match open {
                Ok(file) => {
                    replace::like(&path, &root.join("package.json"));
                    file
                }
                // The run that had the lock has just removed the folder.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(Kind::writing(path, error)),
            };
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => {
                    waiting();
                    // Where the file system knows no locks, the renames alone still keep each file whole.
                    let _ = file.lock();
                }
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
            // The run that had the lock may have removed the file; a lock on what is gone protects nothing.
            if is_at(&file, &path) {
                return Ok(Lock { root: root.to_owned(), _file: file });
            }
        }
    }

    /// Gives it back, and removes the folder if neither a record nor an original is in it.
    pub(super) fn give_back(self) {
        let folder = self.root.join(FOLDER);
        if !folder.join(FILE).exists() && !originals(&self.root).exists() {
            // What cannot be removed does no harm: the next run uses it.
            let _ = fs::remove_file(folder.join(LOCK));
            let _ = fs::remove_dir(&folder);
        }
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let id = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    matches!((file.metadata().map(id), fs::metadata(path).map(id)), (Ok(held), Ok(there)) if held == there)
}

#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    // A file that is open cannot be removed here.
    path.exists()
}
