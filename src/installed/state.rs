//! Whether a package is patched, and by what.

use std::fs;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::error::Result;
use super::pi::Target;
use super::record::Phase;
use super::recover::{Known, lost};
use crate::Profile;
use crate::patch::{self, Classifier, PatchSet};
use crate::upstream::{Cache, Package};

/// What a package is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum State {
    /// As published, as far as the patch is concerned.
    Unpatched,
    /// Patched.
    Patched {
        /// By what.
        by: By,
    },
    /// A run of `apply` or `revert` ended in the middle; pi works, and either command finishes or undoes it.
    Interrupted {
        /// How many files are patched.
        patched: usize,
        /// Of how many.
        of: usize,
    },
    /// Changed by hand or by another tool.
    Edited {
        /// The files, relative to the package; empty if that cannot be told without the published package.
        files: Vec<String>,
    },
    /// Laid out in a way that this version does not know.
    Unrecognised {
        /// Which edit did not find its place.
        reason: String,
    },
    /// Older than 0.80.3: nothing here can be patched.
    TooOld,
}

/// What patched a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// `pi-retry-forced apply`, which can take it back.
    Apply,
    /// The same change without a record of `apply`, so by patch-package or a like tool.
    PatchFile,
    /// A patch of ours with other rules than this version's, or with edits on top.
    OtherVersion,
}

/// What is known of a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Inspection {
    /// What it is.
    pub state: State,
    /// Whether its files were compared with the published ones; else the structure alone spoke.
    pub compared: bool,
    /// Whether there is a record of an `apply` that belongs to other files, such as those before an update.
    #[serde(rename = "staleRecord")]
    pub stale_record: bool,
    /// Whether `revert` could put the originals back.
    pub originals: Originals,
}

/// What is known of the originals that `apply` keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "are")]
pub enum Originals {
    /// There is no need for any.
    None,
    /// All are there.
    Kept,
    /// All are there; the record of them is missing or damaged, but can be worked out from them.
    Unrecorded,
    /// Some are missing or were changed, so there is no way back but to reinstall.
    Lost {
        /// They, relative to the package.
        files: Vec<String>,
    },
}

/// Looks at a package. The published one is taken from the cache if it is there; nothing is fetched.
///
/// # Errors
///
/// If the record of an `apply` is missing or damaged and cannot be worked out from the originals.
pub fn inspect(target: &Target, cache: Option<&Cache>) -> Result<Inspection> {
    let package = &target.package;
    let mut originals = Originals::None;
    if package.require_supported().is_err() {
        return Ok(Inspection { state: State::TooOld, compared: false, stale_record: false, originals });
    }
    let mut stale = false;
    let known = Known::of(target)?;
    let recorded = !matches!(known, Known::WorkedOut(_));
    if let Known::Leftovers = known {
        stale = true;
    } else if let Known::Recorded(record) | Known::WorkedOut(record) = known {
        let lost = lost(&record, package.root());
        originals = match recorded {
            _ if !lost.is_empty() => Originals::Lost { files: lost },
            true => Originals::Kept,
            false => Originals::Unrecorded,
        };
        let said = |state, originals| Ok(Inspection { state, compared: true, stale_record: false, originals });
        let count = record.count(package.root());
        let (patched, of) = (count.patched, record.files.len());
        if record.version != package.version().to_string() || patched + count.original == 0 {
            stale = true;
        } else if !count.other.is_empty() {
            return said(State::Edited { files: count.other }, originals);
        } else if patched == of && record.phase == Phase::Applied {
            return said(State::Patched { by: By::Apply }, originals);
        } else if record.phase != Phase::Applied || patched > 0 {
            return said(State::Interrupted { patched, of }, originals);
        } else {
            stale = true;
        }
    }
    let published = published(package, cache);
    let (state, compared) = by_structure(package, published.as_ref());
    Ok(Inspection { state, compared, stale_record: stale, originals: Originals::None })
}

/// The published package that an installed one should equal, if the cache has it.
fn published(package: &Package, cache: Option<&Cache>) -> Option<Package> {
    cache?.cached(package.release()?)
}

fn by_structure(package: &Package, published: Option<&Package>) -> (State, bool) {
    let ours = Classifier::of(Profile::Patch);
    match patch::make(package, &ours) {
        Ok(set) => {
            let (files, compared) = match published {
                Some(published) => (set.edited_since(published), true),
                // All patterns of a known release are known: a warning is about something added by hand.
                None if package.release().is_some() && !set.warnings.is_empty() => {
                    (vec![set.classifier.clone()], false)
                }
                None => (Vec::new(), false),
            };
            (if files.is_empty() { State::Unpatched } else { State::Edited { files } }, compared)
        }
        Err(error) => {
            let set = published.and_then(|published| patch::make(published, &ours).ok());
            let compared = set.is_some();
            if matches!(error.kind(), patch::Kind::AlreadyPatched { .. }) {
                let is_ours = |set: &PatchSet| {
                    let new = |file: &patch::Changed| package.read(&file.path).is_ok_and(|text| text == file.new);
                    set.files.iter().all(new)
                };
                let by = if set.as_ref().is_none_or(is_ours) { By::PatchFile } else { By::OtherVersion };
                return (State::Patched { by }, compared);
            }
            let files = set.map(|set| {
                let other = |file: &&patch::Changed| package.read(&file.path).map_or(true, |text| text != file.old);
                set.files.iter().filter(other).map(|file| file.path.clone()).collect::<Vec<_>>()
            });
            match files {
                Some(files) if !files.is_empty() => (State::Edited { files }, true),
                _ => (State::Unrecognised { reason: error.to_string() }, compared),
            }
        }
    }
}

/// The SHA-256 of some bytes, in hexadecimal.
pub(super) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The digest of a file; none if it cannot be read.
pub(super) fn digest_of(file: &std::path::Path) -> Option<String> {
    fs::read(file).ok().map(|bytes| digest(&bytes))
}
