//! Patches an installed pi.
//!
//! A run first records what it is about to do, keeps the originals and writes all new files beside the old ones; only then it
//! renames them, one by one. A file comes after the files that it imports from, so that no import is without its export in
//! between. Whatever ends the run, pi works, and the record tells the next run where it was.

use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use super::error::{Error, Kind, Result};
use super::pi::Target;
use super::record::{Entry, Lock, Phase, Record, originals};
use super::recover::Known;
use super::replace;
use super::revert::put_back;
use super::state::{By, State, digest, digest_of, inspect};
use crate::Profile;
use crate::patch::{self, Classifier, PatchSet, verify};
use crate::upstream::{Cache, Step};

/// How [`apply`] goes about it.
#[derive(Default)]
pub struct Options<'a> {
    /// Run the patched classifier in node and compare it with the reference before anything is written.
    pub verify: bool,
    /// Patch files that are not as published.
    pub edited: bool,
    /// Patch files that other installs may use too.
    pub shared: bool,
    /// Where published packages are kept. With `None` nothing is compared.
    pub cache: Option<&'a Cache>,
    /// Fetch the published package if the cache does not have it.
    pub fetch: bool,
}

/// What [`apply`] would do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The files that change.
    pub set: PatchSet,
    /// Their order, as indices into the set.
    order: Vec<usize>,
    /// What a user should know, a sentence each.
    pub warnings: Vec<String>,
}

/// What [`apply`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// It patched.
    Now {
        /// The files, in the order in which they were replaced.
        files: Vec<String>,
        /// What a user should know, a sentence each.
        warnings: Vec<String>,
        /// Whether an unfinished run, or the patch of another version, was taken back first.
        took_back: bool,
    },
    /// Nothing was to do.
    Already(By),
    /// It was patched already. Its record was missing or damaged, and was written again from the kept originals.
    Recorded,
}

/// What would be done to an unpatched package. Nothing is written.
///
/// # Errors
///
/// If it cannot be patched, is not as published, or the patched classifier differs from the reference.
pub fn plan(target: &Target, options: &Options<'_>) -> Result<Plan> {
    check(target, options)?;
    let package = &target.package;
    let set = patch::make(package, &Classifier::of(Profile::Patch))?;
    let mut warnings: Vec<String> = set.warnings.iter().map(ToString::to_string).collect();
    if let (Some(cache), Some(release)) = (options.cache, package.release()) {
        let published = match (cache.cached(release), options.fetch) {
            (Some(package), _) => Ok(package),
            (None, true) => cache.package(release, &mut |_: Step| {}).map_err(|error| error.to_string()),
            (None, false) => Err("it is not in the cache".to_owned()),
        };
        match published.map(|published| set.edited_since(&published)) {
            Ok(files) if files.is_empty() => {}
            Ok(files) if options.edited => {
                warnings.push(format!("not as published, and patched as found: {}", files.join(", ")));
            }
            Ok(files) => {
                let root = package.root().to_owned();
                return Err(Kind::Edited { root, files, release: release.spec() }.into());
            }
            Err(why) => warnings.push(format!("not compared with the published {}: {why}", release.spec())),
        }
    }
    for file in &set.files {
        let place = package.root().join(&file.path);
        let folder = place.parent().and_then(|folder| folder.canonicalize().ok()).unwrap_or_default();
        if !folder.starts_with(package.root()) {
            return Err(Kind::Shared { link: place, root: folder }.into());
        }
    }
    if options.verify {
        verify::against_reference(&set)?;
    }
    Ok(Plan { order: order(&set), set, warnings })
}

/// Patches a package, or finishes what an earlier run began. `watch` hears of each change to the disk before it is made,
/// and may end the run by an error, which leaves everything as it is at that moment; `waiting` is called when another run
/// is at work on the same package.
///
/// # Errors
///
/// As [`plan`], and if a file cannot be written. If nothing has been replaced by then, nothing is left behind.
pub fn apply(
    target: &Target,
    options: &Options<'_>,
    watch: &mut dyn FnMut(&str) -> io::Result<()>,
    waiting: &mut dyn FnMut(),
) -> Result<Applied> {
    check(target, options)?;
    let root = target.package.root();
    let lock = Lock::take(root, waiting)?;
    let result = locked(target, options, watch);
    // A run that `watch` ended leaves all as it is, as a killed one would.
    if !matches!(result.as_ref().map_err(Error::kind), Err(Kind::Stopped { .. })) {
        lock.give_back();
    }
    result
}

/// What needs no look at the files.
fn check(target: &Target, options: &Options<'_>) -> Result<()> {
    target.package.require_supported()?;
    match &target.shared {
        Some(link) if !options.shared => {
            Err(Kind::Shared { link: link.clone(), root: target.package.root().to_owned() }.into())
        }
        _ => Ok(()),
    }
}

fn locked(target: &Target, options: &Options<'_>, watch: &mut dyn FnMut(&str) -> io::Result<()>) -> Result<Applied> {
    let root = target.package.root();
    let mut took_back = false;
    let (record, recorded) = match Known::of(target)? {
        Known::Nothing => (None, false),
        Known::Leftovers => {
            Record::discard(root)?;
            (None, false)
        }
        Known::Recorded(record) => (Some(record), true),
        Known::WorkedOut(record) => (Some(record), false),
    };
    if let Some(record) = record {
        let count = record.count(root);
        let whole = record.phase == Phase::Applied && count.patched == record.files.len();
        if whole && record.rules == rules() && record.version == target.package.version().to_string() {
            if recorded {
                return Ok(Applied::Already(By::Apply));
            }
            record.save(root)?;
            return Ok(Applied::Recorded);
        }
        took_back = put_back(target, record, watch)?.is_some();
    }
    let plan = match plan(target, options) {
        Ok(plan) => plan,
        Err(error) if matches!(error.kind(), Kind::Patch(error) if already_patched(error)) => {
            return match inspect(target, options.cache)?.state {
                State::Patched { by: By::PatchFile } => Ok(Applied::Already(By::PatchFile)),
                _ => Err(Kind::PatchedOtherwise { root: root.to_owned() }.into()),
            };
        }
        Err(error) => return Err(error),
    };
    let files = plan.order.iter().map(|index| &plan.set.files[*index]);
    let mut record = Record::new(&target.package, rules(), entries(&plan.set));
    let mut step = |what: String| watch(&what).map_err(|_| Error::from(Kind::Stopped { step: what }));

    let mut prepare = || -> Result<()> {
        step("record what will be done".to_owned())?;
        record.save(root)?;
        for file in files.clone() {
            step(format!("keep the original of {}", file.path))?;
            Record::keep(root, &file.path, file.old.as_bytes())?;
            step(format!("write the new {} beside it", file.path))?;
            replace::stage(&root.join(&file.path), file.new.as_bytes())?;
        }
        step("record that all is prepared".to_owned())?;
        record.phase = Phase::Applying;
        record.save(root)
    };
    if let Err(error) = prepare() {
        if !matches!(error.kind(), Kind::Stopped { .. }) {
            // Nothing is replaced yet: leave no trace, such as on a full disk.
            plan.set.files.iter().for_each(|file| replace::unstage(&root.join(&file.path)));
            let _ = Record::discard(root);
        }
        return Err(error);
    }
    for entry in &record.files {
        let place = root.join(&entry.path);
        step(format!("replace {}", entry.path))?;
        if digest_of(&place).as_ref() != Some(&entry.original) {
            let (root, originals) = (root.to_owned(), originals(root));
            return Err(Kind::ChangedSince { root, files: vec![entry.path.clone()], originals }.into());
        }
        replace::commit(&place)?;
    }
    step("record that all is done".to_owned())?;
    record.phase = Phase::Applied;
    record.save(root)?;
    let files = record.files.into_iter().map(|entry| entry.path).collect();
    Ok(Applied::Now { files, warnings: plan.warnings, took_back })
}

/// The digest of the decision that a patch of this version carries.
pub(super) fn rules() -> String {
    digest(format!("{:?}", Classifier::of(Profile::Patch)).as_bytes())
}

/// What a record says of the files of a set, in the order in which they are replaced.
pub(super) fn entries(set: &PatchSet) -> Vec<Entry> {
    let entry = |file: &patch::Changed| Entry {
        path: file.path.clone(),
        original: digest(file.old.as_bytes()),
        patched: digest(file.new.as_bytes()),
    };
    order(set).into_iter().map(|index| entry(&set.files[index])).collect()
}

fn already_patched(error: &patch::Error) -> bool {
    matches!(error.kind(), patch::Kind::AlreadyPatched { .. })
}

/// The relative modules that a module imports from when it is loaded.
static IMPORTED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"(?:\bfrom|\bimport)\s*"(\.{1,2}/[^"\n]+)""#).expect("a valid pattern"));

/// The files of a set in an order in which each comes after those that it imports from.
fn order(set: &PatchSet) -> Vec<usize> {
    fn visit(set: &PatchSet, index: usize, seen: &mut BTreeSet<usize>, order: &mut Vec<usize>) {
        if !seen.insert(index) {
            return;
        }
        let file = &set.files[index];
        let folder = Path::new(&file.path).parent().unwrap_or(Path::new(""));
        for found in IMPORTED.captures_iter(&file.new) {
            let path = joined(folder, &found[1]);
            if let Some(next) = set.files.iter().position(|file| Path::new(&file.path) == path) {
                visit(set, next, seen, order);
            }
        }
        order.push(index);
    }
    let (mut seen, mut order) = (BTreeSet::new(), Vec::new());
    (0..set.files.len()).for_each(|index| visit(set, index, &mut seen, &mut order));
    order
}

fn joined(folder: &Path, specifier: &str) -> PathBuf {
    let mut path = folder.to_owned();
    for part in Path::new(specifier).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::Normal(part) => path.push(part),
            _ => {}
        }
    }
    path
}
