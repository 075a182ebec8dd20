//! Takes back what `apply` did.

use std::fs;
use std::io;

use super::error::{Error, Kind, Result};
use super::pi::Target;
use super::record::{Lock, Phase, Record, originals};
use super::recover::Known;
use super::replace;
use super::state::{State, digest_of, inspect};
use crate::patch::{Changed, Dialect, patch_package};

/// What [`revert`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reverted {
    /// The originals are back.
    Now {
        /// The files that were put back.
        files: Vec<String>,
    },
    /// pi was updated since; the record of the former release was removed, and no file of the new one touched.
    Updated {
        /// The release that was patched.
        from: String,
        /// The one that is there.
        to: String,
    },
    /// Nothing was to do.
    Nothing,
}

/// Puts the originals back. `watch` and `waiting` as in [`apply`](super::apply).
///
/// # Errors
///
/// If the package is patched without a record or originals from which that could be worked out, if a patched file was changed since, if an original is lost, or if a file
/// cannot be written.
pub fn revert(
    target: &Target,
    watch: &mut dyn FnMut(&str) -> io::Result<()>,
    waiting: &mut dyn FnMut(),
) -> Result<Reverted> {
    let root = target.package.root();
    if !root.join(super::FOLDER).exists() {
        return unrecorded(target);
    }
    let lock = Lock::take(root, waiting)?;
    let result = Known::of(target).and_then(|known| match known {
        Known::Nothing => unrecorded(target),
        Known::Leftovers => Record::discard(root).and_then(|()| unrecorded(target)),
        Known::Recorded(record) | Known::WorkedOut(record) => locked(target, record, watch),
    });
    if !matches!(result.as_ref().map_err(Error::kind), Err(Kind::Stopped { .. })) {
        lock.give_back();
    }
    result
}

fn unrecorded(target: &Target) -> Result<Reverted> {
    match inspect(target, None)?.state {
        State::Patched { .. } => Err(Kind::PatchedOtherwise { root: target.package.root().to_owned() }.into()),
        _ => Ok(Reverted::Nothing),
    }
}

fn locked(target: &Target, record: Record, watch: &mut dyn FnMut(&str) -> io::Result<()>) -> Result<Reverted> {
    let (from, to) = (record.version.clone(), target.package.version().to_string());
    Ok(match put_back(target, record, watch)? {
        Some(files) => Reverted::Now { files },
        None if from != to => Reverted::Updated { from, to },
        None => Reverted::Nothing,
    })
}

/// Puts back what is still as `apply` left it, in the reverse order, and removes the record. Gives the files, or none if there
/// was no such file.
pub(super) fn put_back(
    target: &Target,
    mut record: Record,
    watch: &mut dyn FnMut(&str) -> io::Result<()>,
) -> Result<Option<Vec<String>>> {
    let root = target.package.root();
    let mut step = |what: String| watch(&what).map_err(|_| Error::from(Kind::Stopped { step: what }));
    let count = record.count(root);
    // Of another release only what nobody touched since is put back: files that it left behind.
    if record.version == target.package.version().to_string() && !count.other.is_empty() {
        let (root, originals) = (root.to_owned(), originals(root));
        return Err(Kind::ChangedSince { root, files: count.other, originals }.into());
    }
    let is_patched =
        |entry: &&super::record::Entry| digest_of(&root.join(&entry.path)).as_ref() == Some(&entry.patched);
    let patched: Vec<_> = record.files.iter().rev().filter(is_patched).cloned().collect();
    record.files.iter().for_each(|entry| replace::unstage(&root.join(&entry.path)));
    if !patched.is_empty() {
        // All of them are read before the first is written: half a way back helps nobody.
        let bytes: Vec<_> = patched.iter().map(|entry| record.original(root, entry)).collect::<Result<_>>()?;
        step("record that it is being taken back".to_owned())?;
        record.phase = Phase::Reverting;
        record.save(root)?;
        for (entry, bytes) in patched.iter().zip(bytes) {
            let place = root.join(&entry.path);
            step(format!("write the original {} beside it", entry.path))?;
            replace::stage(&place, &bytes)?;
            step(format!("put back {}", entry.path))?;
            replace::commit(&place)?;
        }
    }
    step("remove the record".to_owned())?;
    Record::discard(root)?;
    Ok((!patched.is_empty()).then(|| patched.into_iter().map(|entry| entry.path).collect()))
}

/// The diff of what [`revert`] would put back; empty if that is nothing.
///
/// # Errors
///
/// As [`revert`], but for writing.
pub fn planned_revert(target: &Target) -> Result<String> {
    let root = target.package.root();
    let (Known::Recorded(record) | Known::WorkedOut(record)) = Known::of(target)? else {
        return unrecorded(target).map(|_| String::new());
    };
    let dialect = if target.bundled { Dialect::Minified } else { Dialect::Compiled };
    let mut files = Vec::new();
    for entry in &record.files {
        let place = root.join(&entry.path);
        if digest_of(&place).as_ref() == Some(&entry.patched) {
            let old = fs::read_to_string(&place).map_err(|source| Kind::Io { path: place, source })?;
            let new = String::from_utf8_lossy(&record.original(root, entry)?).into_owned();
            files.push(Changed { path: entry.path.clone(), old, new, dialect });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    // The same paths as in the diff of `apply`.
    Ok(patch_package::render_below(&format!("node_modules/{}/", target.package.name()), &files))
}
