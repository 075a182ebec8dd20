//! The patch: edits found by structure in the published JavaScript and in the TypeScript it was made from, and their diffs.
//!
//! [`make`] reads a package and answers with the changed files, or with an [`Error`] if a single edit did not find its place
//! exactly once. Nothing is written; [`PatchSet::to_patch`] and [`PatchSet::apply_to`] do what the caller wants with it.

mod classifier;
mod edits;
mod error;
mod format;
mod groups;
mod import;
mod literal;
pub mod mail;
pub mod patch_package;
mod render;
mod source;
mod syntax;
pub mod unified;
pub mod verify;
mod warning;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use error::{Error, Kind, Result};
pub use format::Format;
pub use groups::{Classifier, Group, Pattern};
pub use source::{Dialect, Language, Source, from_source_maps};
pub use warning::Warning;

use edits::{Replacement, misplaced};
use syntax::Parsed;

use crate::upstream::{Name, Package, Version};

/// The first release of the command that runs from a bundle of its own.
const FIRST_BUNDLED: Version = Version::new(0, 84, 3);

/// The provider modules that end an assistant message in a catch block of their own, each by the names that it had.
const APIS: [&[&str]; 9] = [
    &["anthropic-messages"],
    &["azure-openai-responses"],
    &["bedrock-converse-stream"],
    &["google-generative-ai"],
    &["google-vertex"],
    &["mistral-conversations"],
    &["openai-codex-responses"],
    &["openai-completions"],
    &["openai-responses"],
];

/// One file that changes.
#[derive(Clone, Debug)]
pub struct Changed {
    /// Path below the package, with forward slashes.
    pub path: String,
    /// Text before.
    pub old: String,
    /// Text after.
    pub new: String,
    /// Its layout.
    pub dialect: Dialect,
}

/// The changed files of a package.
#[derive(Clone, Debug)]
pub struct PatchSet {
    /// The package's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The files, sorted by path.
    pub files: Vec<Changed>,
    /// What a user should know, a sentence each.
    pub warnings: Vec<Warning>,
    /// The path of the file that holds the classifier.
    pub classifier: String,
}

impl PatchSet {
    /// The patch as patch-package keeps it.
    pub fn to_patch(&self) -> String {
        patch_package::render(self)
    }

    /// The patch file's name.
    pub fn file_name(&self) -> String {
        patch_package::file_name(&self.name, &self.version)
    }

    /// The files that the patch was made from and that are not as in another copy of the package, the published one.
    pub fn edited_since(&self, published: &Package) -> Vec<String> {
        let other = |file: &&Changed| published.read(&file.path).map_or(true, |text| text != file.old);
        self.files.iter().filter(other).map(|file| file.path.clone()).collect()
    }

    /// Writes the new texts into a copy of the package; refuses if a file there is not the one the patch was made from.
    pub fn apply_to(&self, folder: &Path) -> Result<()> {
        for file in &self.files {
            let path = folder.join(&file.path);
            let fail = |source| Kind::Io { path: path.clone(), source };
            if fs::read_to_string(&path).map_err(fail)? != file.old {
                return Err(misplaced("apply", &file.path, "met another text than the patch was made from"));
            }
        }
        for file in &self.files {
            let path = folder.join(&file.path);
            fs::write(&path, &file.new).map_err(|source| Kind::Io { path, source })?;
        }
        Ok(())
    }
}

/// Makes the patch of a published package: pi-ai, or the bundled command.
///
/// # Errors
/// If it is no package that can be patched, or an edit did not find its place exactly once.
pub fn make(package: &Package, target: &Classifier) -> Result<PatchSet> {
    attempt(package, target)?.finish()
}

/// What every edit met in a package, the ones after a failure included.
pub struct Attempt {
    set: PatchSet,
    /// The edits that did not find their place, or that met something else there.
    pub failed: Vec<Error>,
}

impl Attempt {
    /// What a user should know, a sentence each.
    pub fn warnings(&self) -> &[Warning] {
        &self.set.warnings
    }

    /// The patch.
    ///
    /// # Errors
    /// The first edit that failed.
    pub fn finish(self) -> Result<PatchSet> {
        self.failed.into_iter().next().map_or(Ok(self.set), Err)
    }

    /// The result of an edit; a failure is kept and the next edit is tried.
    fn keep<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.failed.push(error)).ok()
    }
}

/// Tries every edit on a published package, for whoever meets a new release.
///
/// # Errors
/// If it is no package that can be patched, or its classifier is not to be found.
pub fn attempt(package: &Package, target: &Classifier) -> Result<Attempt> {
    package.require_supported().map_err(Kind::Package)?;
    let (folder, dialect) = match package.name() {
        Name::PiAi => ("dist", Dialect::Compiled),
        Name::PiCodingAgent => ("dist/bundle", Dialect::Minified),
    };
    if !package.root().join(folder).is_dir() {
        return Err(match package.name() {
            Name::PiCodingAgent if *package.version() < FIRST_BUNDLED => {
                Kind::NotBundled { version: package.version().to_string() }
            }
            _ => Kind::Incomplete { path: package.root().to_owned(), folder },
        }
        .into());
    }
    let sources = source::read(package.root(), folder, dialect)?;
    edit(package, &sources, target)
}

/// Makes the same change in TypeScript sources of pi-ai, which [`from_source_maps`] rebuilds.
///
/// # Errors
/// As [`make`].
pub fn make_in_sources(package: &Package, sources: &[Source], target: &Classifier) -> Result<PatchSet> {
    attempt_in_sources(package, sources, target)?.finish()
}

/// Tries every edit on TypeScript sources of pi-ai.
///
/// # Errors
/// As [`attempt`].
pub fn attempt_in_sources(package: &Package, sources: &[Source], target: &Classifier) -> Result<Attempt> {
    edit(package, sources, target)
}

fn edit(package: &Package, sources: &[Source], target: &Classifier) -> Result<Attempt> {
    let sources: Vec<&Source> = sources.iter().filter(|source| source::worth_parsing(&source.text)).collect();
    let files = parse(&sources);
    let mut replacements: Vec<Vec<Replacement>> = vec![Vec::new(); files.len()];
    let bundle = package.name() == Name::PiCodingAgent;
    let place = if bundle { "dist/bundle" } else { "the package" };

    // The classifier first: it is what a patched or an adapted package is recognised by.
    let mut classifiers = Vec::new();
    for (index, file) in files.iter().enumerate() {
        let edited = match classifier::edit(file, target) {
            // What a part shows is no reason to refuse a file.
            Err(_) | Ok(None) if source::classifier_part(file.source).is_some() => {
                classifier::edit(&Parsed::new(file.source), target)
            }
            edited => edited,
        };
        classifiers.extend(edited?.map(|edited| (index, edited)));
    }
    let (classifier, edited) = edits::only(classifiers, classifier::EDIT, place)?;
    replacements[classifier].extend(edited.replacements);
    let set = PatchSet {
        name: package.name().as_str().to_owned(),
        version: package.version().to_string(),
        files: Vec::new(),
        warnings: edited.warnings,
        classifier: sources[classifier].path.clone(),
    };
    let mut attempt = Attempt { set, failed: Vec::new() };
    if package.release().is_none() {
        let release = format!("{} {}", package.name(), package.version());
        attempt.set.warnings.push(Warning::Unlisted { release });
    }

    let home = if bundle { None } else { attempt.keep(helper(&files, &mut replacements, place)) };
    for (index, before) in calls(&files, &mut replacements, &mut attempt, place) {
        match home {
            Some(home) if home != index => {
                replacements[index].push(import::import(&files[index], files[home].source));
            }
            None if bundle => replacements[index].push(Replacement::insert(before, edits::local_helper())),
            _ => {}
        }
    }
    if !attempt.failed.is_empty() {
        return Ok(attempt);
    }

    let changed = |(source, replacements): (&&Source, Vec<Replacement>)| {
        (!replacements.is_empty()).then(|| Changed {
            path: source.path.clone(),
            old: source.text.clone(),
            new: edits::apply(&source.text, replacements),
            dialect: source.dialect,
        })
    };
    attempt.set.files = sources.iter().zip(replacements).filter_map(changed).collect();
    Ok(attempt)
}

fn parse_one(source: &Source) -> Parsed<'_> {
    if let Some(part) = source::classifier_part(source) {
        return Parsed::part(source, part);
    }
    let provider = source::provider_part(source).map(|part| Parsed::part(source, part));
    provider.filter(|part| !part.root().has_error()).unwrap_or_else(|| Parsed::new(source))
}

/// Parses files, on all processors: parsing is nearly all of the time that a patch takes.
fn parse<'s>(sources: &[&'s Source]) -> Vec<Parsed<'s>> {
    let next = AtomicUsize::new(0);
    let parse_next = || {
        let index = next.fetch_add(1, Ordering::Relaxed);
        sources.get(index).map(|source| (index, parse_one(source)))
    };
    let work = || std::iter::from_fn(parse_next).collect::<Vec<_>>();
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(sources.len());
    let mut files: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("parsing does not panic")).collect()
    });
    files.sort_by_key(|(index, _)| *index);
    files.into_iter().map(|(_, file)| file).collect()
}

/// Puts the helper beside `extractStatus`; gives the file that has it.
fn helper(files: &[Parsed<'_>], replacements: &mut [Vec<Replacement>], place: &str) -> Result<usize> {
    const EDIT: &str = "helper beside extractStatus";
    let mut homes = Vec::new();
    for (index, file) in files.iter().enumerate() {
        homes.extend(edits::helper(file)?.map(|home| (index, home)));
    }
    let (home, found) = edits::only(homes, EDIT, place)?;
    replacements[home].extend(found.replacements);
    let source = files[home].source;
    if source.language == Language::JavaScript {
        let path = format!("{}.d.ts", source.path.trim_end_matches(".js"));
        let index = files.iter().position(|file| file.source.path == path);
        let index =
            index.ok_or_else(|| misplaced(EDIT, &path, "found no such file, or one without formatProviderError"))?;
        let declaration = edits::helper_declaration(&files[index])?;
        replacements[index].push(declaration);
    }
    Ok(home)
}

/// The calls of the helper, and the status that codex throws; gives the files that call it, each with the start of the
/// statement that does.
fn calls(
    files: &[Parsed<'_>],
    replacements: &mut [Vec<Replacement>],
    attempt: &mut Attempt,
    place: &str,
) -> Vec<(usize, usize)> {
    let mut calling = Vec::new();
    let mut thrown = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for (index, file) in files.iter().enumerate() {
        if file.source.is_declaration() {
            continue;
        }
        let calls = edits::calls(file);
        if calls.is_empty() {
            continue;
        }
        if file.mentions(edits::HELPER) {
            attempt
                .failed
                .push(Kind::AlreadyPatched { file: file.source.path.clone(), by: edits::patcher(file) }.into());
        }
        let name = file.source.name();
        let names = |api: &str| name.strip_prefix(api).is_some_and(|rest| rest.starts_with(['.', '-']));
        let api = APIS.iter().flat_map(|names| names.iter()).find(|api| names(api));
        match api {
            Some(api) => seen.push(api),
            None => attempt.set.warnings.push(Warning::UnknownProvider { file: file.source.path.clone() }),
        }
        if edits::keeps_status(file) {
            continue;
        }
        if let Some(call) = attempt.keep(edits::only(calls, "call in the catch block", &file.source.path)) {
            replacements[index].push(call.replacement);
            calling.push((index, call.before));
        }
        thrown.extend(Some(edits::thrown_status(file)).filter(|found| !found.is_empty()).map(|found| (index, found)));
    }
    for names in APIS {
        let found: Vec<_> = seen.iter().filter(|seen| names.contains(seen)).collect();
        attempt.keep(edits::only(found, &format!("call in the catch block of {}", names.join(" or ")), place));
    }
    const THROWN: &str = "status of the error that codex throws";
    let status = edits::only(thrown, THROWN, place).and_then(|(index, status)| match status.len() {
        2 => Ok((index, status)),
        more => {
            let found = format!("found {} places instead of one", more / 2);
            Err(misplaced(THROWN, &files[index].source.path, found))
        }
    });
    if let Some((index, status)) = attempt.keep(status) {
        replacements[index].extend(status);
    }
    calling
}
