//! The files that are edited: read from a package's `dist`, from the bundle of the command, or rebuilt from source maps.

use std::fs;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use memchr::memmem;
use serde::Deserialize;

use super::error::{Kind, Result};

/// The grammar that a file is parsed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `.js`
    JavaScript,
    /// `.ts` and `.d.ts`
    TypeScript,
}

/// How inserted text is laid out, so that it blends into its surroundings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// What the TypeScript compiler prints: four spaces, the body of an `if` on its own line.
    Compiled,
    /// What upstream writes: tabs, 120 columns, short bodies beside their `if`.
    Written,
    /// What the bundler prints: no white space, no comments, statements joined by commas.
    Minified,
}

impl Dialect {
    /// One level of indentation.
    pub fn indent(self) -> &'static str {
        match self {
            Self::Compiled => "    ",
            Self::Written => "\t",
            Self::Minified => "",
        }
    }
}

/// One file.
#[derive(Clone, Debug)]
pub struct Source {
    /// Path below the package, with forward slashes.
    pub path: String,
    /// The whole text.
    pub text: String,
    /// Its grammar.
    pub language: Language,
    /// Its layout.
    pub dialect: Dialect,
}

impl Source {
    /// The file's name without its folders.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Whether it holds declarations only.
    pub fn is_declaration(&self) -> bool {
        self.path.ends_with(".d.ts")
    }
}

/// The start of the classifier.
const CLASSIFIER: &str = "function isRetryableAssistantError(";

/// Words of which each file that some edit concerns holds at least one group. Files without are not parsed, which is all that
/// this list does: a bundle has megabytes of other code.
const WORTH_PARSING: &[&[&str]] = &[
    &[CLASSIFIER],
    &["function extractStatus"],
    &["formatProviderError(norm: "],
    &["stopReason", "\"aborted\"", "reason: output.stopReason"],
    &["stopReason", "\"aborted\"", "reason:output.stopReason"],
];

fn occurs(text: &str, words: &[&str]) -> bool {
    words.iter().all(|word| memmem::find(text.as_bytes(), word.as_bytes()).is_some())
}

/// Whether some edit may concern a file.
pub(super) fn worth_parsing(text: &str) -> bool {
    WORTH_PARSING.iter().any(|words| occurs(text, words))
}

/// Files above this size are parsed in part where that suffices.
const LARGE: usize = 1 << 18;

/// The part of a large chunk that has to be parsed for a provider that has the status helper's neighbour in the same chunk:
/// from there to the end, since modules stand behind those that they import. It must parse without an error.
pub(super) fn provider_part(source: &Source) -> Option<Range<usize>> {
    let text = source.text.as_str();
    if source.dialect != Dialect::Minified || text.len() < LARGE || occurs(text, &[CLASSIFIER]) {
        return None;
    }
    let start = text.find("function extractStatus")?;
    let others = ["?\"aborted\":\"error\"", "export{"];
    others.iter().all(|other| text.find(other).is_none_or(|at| at > start)).then_some(start..text.len())
}

/// The part of a large chunk that has to be parsed for the classifier, if no other edit concerns the chunk: from the function
/// before the pattern lists to a little behind the classifier. Megabytes of other code stand around it.
pub(super) fn classifier_part(source: &Source) -> Option<Range<usize>> {
    const BEHIND: usize = 1 << 12;
    let text = source.text.as_str();
    if source.dialect != Dialect::Minified || text.len() < LARGE {
        return None;
    }
    let mut places = memmem::find_iter(text.as_bytes(), CLASSIFIER);
    let (classifier, None) = (places.next()?, places.next()) else { return None };
    let others = WORTH_PARSING.iter().filter(|words| **words != [CLASSIFIER]);
    if others.into_iter().any(|words| occurs(text, words)) {
        return None;
    }
    let lists = memmem::find(text.as_bytes(), b"RETRYABLE_PROVIDER_LIMIT_ERROR_PATTERN=")?;
    let start = memmem::rfind(&text.as_bytes()[..lists], b"function ")?;
    let end = (classifier + BEHIND..).find(|end| text.is_char_boundary((*end).min(text.len())))?;
    (start < classifier).then(|| start..end.min(text.len()))
}

/// Reads the files below `folder` of a package that some edit may concern, sorted by path.
pub(super) fn read(package: &Path, folder: &str, dialect: Dialect) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for path in files(&package.join(folder))? {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let language = match name.rsplit_once('.') {
            Some((_, "js")) => Language::JavaScript,
            Some((stem, "ts")) if stem.ends_with(".d") || dialect == Dialect::Written => Language::TypeScript,
            _ => continue,
        };
        let bytes = fs::read(&path).map_err(|source| Kind::Io { path: path.clone(), source })?;
        // A file that is no UTF-8 is none of pi's own.
        let Ok(text) = String::from_utf8(bytes) else { continue };
        if worth_parsing(&text) {
            sources.push(Source { path: below(package, &path), text, language, dialect });
        }
    }
    Ok(sources)
}

/// The part of a source map that holds what it was made from.
#[derive(Deserialize)]
struct SourceMap {
    #[serde(default)]
    sources: Vec<String>,
    #[serde(default, rename = "sourcesContent")]
    contents: Vec<Option<String>>,
}

/// Rebuilds the TypeScript of a package from the maps beside its `dist/**/*.js`, all files, sorted by path.
pub fn from_source_maps(package: &Path) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for path in files(&package.join("dist"))? {
        if !path.to_string_lossy().ends_with(".js.map") {
            continue;
        }
        let bytes = fs::read(&path).map_err(|source| Kind::Io { path: path.clone(), source })?;
        let fail = |why: String| Kind::SourceMap { file: below(package, &path), why };
        let map: SourceMap = serde_json::from_slice(&bytes).map_err(|error| fail(error.to_string()))?;
        for (name, text) in map.sources.iter().zip(map.contents) {
            let place = normal(&path.parent().unwrap_or(package).join(name));
            let inside =
                place.strip_prefix(normal(package)).map_err(|_| fail(format!("{name} lies outside the package")))?;
            let text = text.ok_or_else(|| fail(format!("{name} has no content")))?;
            let path = inside.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
            sources.push(Source { path, text, language: Language::TypeScript, dialect: Dialect::Written });
        }
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    sources.dedup_by(|a, b| a.path == b.path);
    Ok(sources)
}

/// A path without `.` and `..`, by its text alone.
fn normal(path: &Path) -> PathBuf {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts
}

/// A path relative to the package, with forward slashes.
fn below(package: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(package).unwrap_or(path);
    inside.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// All files below a folder, sorted; packages nested in a `node_modules` are not part of it.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let fail = |source| Kind::Io { path: folder.clone(), source };
        for entry in fs::read_dir(&folder).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let kind = entry.file_type().map_err(fail)?;
            if kind.is_dir() && entry.file_name() != "node_modules" {
                folders.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}
