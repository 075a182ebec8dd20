//! Reads the scripts that start pi: those that npm and pnpm write for sh, cmd and PowerShell, and what people write by hand.
//!
//! Nothing is run. Words of the script that become absolute paths, once the few things that such scripts use are filled in
//! (their own folder, variables set above, the home folder), are candidates for what it starts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::executable::plain;
use super::surroundings::Surroundings;

static ASSIGNMENT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\$?([A-Za-z_][A-Za-z0-9_]*)=(.*)$").expect("a valid pattern"));
static VARIABLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"%~?(\w+)%?|\$\{(?:env:)?(\w+)(?::?-([^}]*))?\}|\$(?:env:)?([A-Za-z_]\w*|0)").expect("a valid pattern")
});
/// What follows the folder inside of `$(cd "$(dirname "$0")/.." && pwd)`.
static SUFFIX: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"dirname[^)`]*[)`]*"?((?:/[A-Za-z0-9@._-]+)+)"#).expect("a valid pattern"));

/// The existing files that a script may start, in the order in which it names them.
pub(super) fn candidates(script: &str, path: &Path, surroundings: &Surroundings) -> Vec<PathBuf> {
    let folder = path.parent().unwrap_or(path).to_owned();
    let mut scope = Scope { folder, path, surroundings, variables: BTreeMap::new() };
    let mut found = Vec::new();
    for line in script.lines() {
        let line = line.trim().trim_start_matches('@');
        let start = line.split_whitespace().next().unwrap_or_default();
        if line.starts_with('#') || line.starts_with("::") || start.eq_ignore_ascii_case("rem") {
            continue;
        }
        for word in words(line) {
            if let Some(assignment) = ASSIGNMENT.captures(&word) {
                let value = scope.fill(&assignment[2]);
                scope.variables.insert(assignment[1].to_owned(), value);
                continue;
            }
            let Some(text) = scope.fill(&word) else { continue };
            let text = if text.contains('\\') { text.replace('\\', "/") } else { text };
            let file = plain(Path::new(&text));
            if file.is_absolute() && file != path && file.is_file() && !found.contains(&file) {
                found.push(file);
            }
        }
    }
    found
}

struct Scope<'a> {
    folder: PathBuf,
    path: &'a Path,
    surroundings: &'a Surroundings,
    /// What the script has set so far; none where it cannot be known without running it.
    variables: BTreeMap<String, Option<String>>,
}

impl Scope<'_> {
    /// A word with everything in it filled in; none if something is not known.
    fn fill(&self, word: &str) -> Option<String> {
        let word = self.fill_commands(word)?;
        let mut unknown = false;
        let text = VARIABLE.replace_all(&word, |found: &Captures<'_>| {
            let name = found.get(1).or(found.get(2)).or(found.get(4)).map_or("", |name| name.as_str());
            let default = found.get(3).map(|default| default.as_str().to_owned());
            self.variable(name).or(default).unwrap_or_else(|| {
                unknown = true;
                String::new()
            })
        });
        let text = match (text.strip_prefix("~/"), &self.surroundings.home) {
            (Some(rest), Some(home)) => home.join(rest).to_string_lossy().into_owned(),
            _ => text.into_owned(),
        };
        (!unknown).then_some(text)
    }

    fn variable(&self, name: &str) -> Option<String> {
        let folder = || Some(self.folder.to_string_lossy().into_owned());
        match (name, self.variables.get(name)) {
            // PowerShell's is set by a command of several words.
            ("basedir", Some(Some(value))) if !value.contains(['/', '\\']) => folder(),
            (_, Some(Some(value))) => Some(value.clone()),
            // `%~dp0` and `%dp0%` end in a separator; one too many does not matter.
            ("dp0" | "basedir" | "PSScriptRoot", _) => folder().map(|folder| folder + "/"),
            ("0", _) => Some(self.path.to_string_lossy().into_owned()),
            (_, Some(None)) => None,
            ("HOME" | "USERPROFILE", None) => self.surroundings.home.as_ref().map(|home| home.to_string_lossy().into()),
            (name, None) => self.surroundings.variable(name).map(|value| value.to_string_lossy().into_owned()),
        }
    }

    /// `$(…)` and backticks: the script's folder if that is what it asks for.
    fn fill_commands(&self, word: &str) -> Option<String> {
        let mut text = String::new();
        let mut rest = word;
        while let Some(start) = rest.find("$(").or_else(|| rest.find('`')) {
            text += &rest[..start];
            let length = command_length(&rest[start..])?;
            let command = &rest[start..start + length];
            if !command.contains("dirname") {
                return None;
            }
            let resolved = command.contains("readlink") || command.contains("realpath");
            let real = resolved.then(|| fs::canonicalize(self.path).ok()).flatten();
            let folder = real.as_deref().and_then(Path::parent).unwrap_or(&self.folder);
            let suffix = SUFFIX.captures(command).map(|found| found[1].to_owned()).unwrap_or_default();
            text += &format!("{}{suffix}", folder.to_string_lossy());
            rest = &rest[start + length..];
        }
        Some(text + rest)
    }
}

/// The bytes that `$(…)` or a pair of backticks takes at the start of a text.
fn command_length(text: &str) -> Option<usize> {
    if let Some(rest) = text.strip_prefix('`') {
        return rest.find('`').map(|end| end + 2);
    }
    let mut depth = 0;
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth == 1 => return Some(at + 1),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The words of a line without their quotes; a command substitution stays in one piece.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut at = 0;
    while let Some(character) = line[at..].chars().next() {
        let rest = &line[at..];
        if quote != Some('\'')
            && (rest.starts_with("$(") || rest.starts_with('`'))
            && let Some(length) = command_length(rest)
        {
            word += &rest[..length];
            at += length;
            continue;
        }
        at += character.len_utf8();
        match character {
            '"' | '\'' if quote == Some(character) => quote = None,
            '"' | '\'' if quote.is_none() => quote = Some(character),
            ' ' | '\t' | ';' | '|' | '&' | '(' | ')' | '<' | '>' if quote.is_none() => {
                words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
            }
            _ => word.push(character),
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}
