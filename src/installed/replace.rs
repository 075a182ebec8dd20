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
    stage_like(file, bytes, file)
}

/// The same with the rights and the owner of another file, where there is no old one.
fn stage_like(file: &Path, bytes: &[u8], model: &Path) -> Result<()> {
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
        if let Ok(old) = fs::symlink_metadata(file).or_else(|_| fs::metadata(model)) {
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

/// Both in one, for a file that may be new: it belongs to whom the model belongs, with the model's rights.
pub(super) fn write_like(file: &Path, bytes: &[u8], model: &Path) -> Result<()> {
    stage_like(file, bytes, model)?;
    commit(file)
}

/// Makes a folder, if it is not there, that belongs to whom the model belongs, with the model's rights: what root makes in a user's
/// install, or a user with a strict umask in a shared one, must not be in the others' way.
pub(super) fn folder_like(folder: &Path, model: &Path) -> io::Result<()> {
    fs::create_dir(folder)?;
    if let Ok(model) = fs::metadata(model) {
        own(folder, &model);
        fs::set_permissions(folder, model.permissions())?;
    }
    Ok(())
}

/// Gives a file the rights and the owner of another one, as far as that is allowed.
pub(super) fn like(file: &Path, model: &Path) {
    if let Ok(model) = fs::metadata(model) {
        own(file, &model);
        let _ = fs::set_permissions(file, model.permissions());
    }
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
