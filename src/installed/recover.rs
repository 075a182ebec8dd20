//! The record of a package, and what can be known without it.
//!
//! The originals alone prove what `apply` did: if the patch that this version makes of them is what is installed, then
//! putting them back is what the record would have asked for.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use tempfile::TempDir;

use super::apply::{entries, rules};
use super::error::{Kind, Result};
use super::pi::Target;
use super::record::{FOLDER, Phase, Record, originals};
use super::state::digest_of;
use crate::Profile;
use crate::patch::{self, Classifier};
use crate::upstream::{Name, Package};

/// What is known of an earlier `apply`.
pub(super) enum Known {
    /// Nothing is there.
    Nothing,
    /// Originals or a damaged record are there, but the package is not patched.
    Leftovers,
    /// The record.
    Recorded(Record),
    /// The record was missing or damaged, and is worked out from the originals. It is not on the disk.
    WorkedOut(Record),
}

impl Known {
    /// # Errors
    ///
    /// If the record is missing or damaged, originals are there, and what is installed is not this version's patch of them.
    pub(super) fn of(target: &Target) -> Result<Self> {
        let root = target.package.root();
        let error = match Record::load(root) {
            Ok(Some(record)) => return Ok(Known::Recorded(record)),
            Ok(None) if kept(root).is_empty() => {
                let folder = originals(root);
                return Ok(if folder.exists() { Known::Leftovers } else { Known::Nothing });
            }
            Ok(None) => Kind::BadRecord {
                path: Record::path(root),
                originals: Some(originals(root)),
                reason: "there is no such file".to_owned(),
            }
            .into(),
            Err(error) => error,
        };
        if let Some(record) = work_out(target) {
            return Ok(Known::WorkedOut(record));
        }
        let unpatched = target.package.require_supported().is_err()
            || patch::make(&target.package, &Classifier::of(Profile::Patch)).is_ok();
        if unpatched { Ok(Known::Leftovers) } else { Err(error) }
    }
}

/// The paths of the kept originals, relative to the package, with forward slashes.
pub(super) fn kept(root: &Path) -> BTreeSet<String> {
    let top = originals(root);
    let (mut found, mut folders) = (BTreeSet::new(), vec![top.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(path) = path.strip_prefix(&top) {
                let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
                found.insert(parts.join("/"));
            }
        }
    }
    found
}

fn work_out(target: &Target) -> Option<Record> {
    let root = target.package.root();
    let kept = kept(root);
    if kept.is_empty() {
        return None;
    }
    let folder = TempDir::new().ok()?;
    let code = match target.package.name() {
        Name::PiAi => "dist",
        Name::PiCodingAgent => "dist/bundle",
    };
    fs::copy(root.join("package.json"), folder.path().join("package.json")).ok()?;
    copy(&root.join(code), &folder.path().join(code)).ok()?;
    for path in &kept {
        let place = folder.path().join(path);
        fs::create_dir_all(place.parent()?).ok()?;
        fs::copy(originals(root).join(path), place).ok()?;
    }
    let package = Package::open(folder.path(), target.package.name()).ok()?;
    let set = patch::make(&package, &Classifier::of(Profile::Patch)).ok()?;
    let mut record = Record::new(&package, rules(), entries(&set));
    record.phase = Phase::Applied;
    let same_files = record.files.iter().map(|entry| entry.path.clone()).collect::<BTreeSet<_>>() == kept;
    (same_files && record.count(root).other.is_empty()).then_some(record)
}

/// Copies what a patch is made from.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &target)?;
        } else if path.extension().is_none_or(|ending| ending != "map") {
            fs::copy(&path, target)?;
        }
    }
    Ok(())
}

/// The originals of a record that are missing or not the originals.
pub(super) fn lost(record: &Record, root: &Path) -> Vec<String> {
    let lost =
        |entry: &&super::record::Entry| digest_of(&originals(root).join(&entry.path)).as_ref() != Some(&entry.original);
    record.files.iter().filter(lost).map(|entry| format!("{FOLDER}/originals/{}", entry.path)).collect()
}
