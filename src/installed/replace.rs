//! Replaces files: the new one is written beside the old one and renamed over it, so that at every moment one of the two is
//! there whole, and other names of the old one (pnpm's store, a link) keep what they had.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::error::{Kind, Result};

/// The ending of a new file until it is renamed.
const ENDING: &str = "pi-retry-forced";

/// Where a new file waits for its rename.
fn beside(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(ENDING);
    file.with_file_name(name)
}

/// Writes the bytes that are to replace a file beside it, with the rights and the owner of the old one.
pub(super) fn stage(file: &Path, bytes: &[u8]) -> Result<()> {
    let new = beside(file);
    let write = || -> io::Result<()> {
        // A remainder of a run that was killed may have other rights, or be a link.
        if let Err(error) = fs::remove_file(&new)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        let mut written = File::create_new(&new)?;
        written.write_all(bytes)?;
        if let Ok(old) = fs::symlink_metadata(file) {
            written.set_permissions(old.permissions())?;
            own(&new, &old);
        }
        written.sync_all()
    };
    write().map_err(|error| {
        let _ = fs::remove_file(&new);
        Kind::writing(new.clone(), error)
    })
}

/// Puts what was staged in the place of the old file.
pub(super) fn commit(file: &Path) -> Result<()> {
    fs::rename(beside(file), file).map_err(|source| Kind::writing(file, source))?;
    sync_folder(file);
    Ok(())
}

/// Both in one.
pub(super) fn write_new(file: &Path, bytes: &[u8]) -> Result<()> {
    stage(file, bytes)?;
    commit(file)
}

/// Removes what was staged and never used.
pub(super) fn unstage(file: &Path) {
    let _ = fs::remove_file(beside(file));
}

#[cfg(unix)]
fn own(new: &Path, old: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt as _, chown};
    // Only root can, and only root needs to.
    let _ = chown(new, Some(old.uid()), Some(old.gid()));
}

#[cfg(not(unix))]
fn own(_new: &Path, _old: &fs::Metadata) {}

/// Makes a rename last through a power failure, where the system can.
fn sync_folder(file: &Path) {
    if let Some(folder) = file.parent().filter(|_| cfg!(unix)) {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}
