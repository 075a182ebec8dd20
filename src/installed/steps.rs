//! What a person does with a written patch file in a project, and how it is taken back.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};

use super::diagnose::quoted;
use super::project::Project;
use crate::patch::Format;

/// The way from a patch file to a patched package, and back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Steps {
    /// The folder in which to do it.
    pub folder: PathBuf,
    /// The file of the project in which the patch has to be named first; none for patch-package.
    pub file: Option<PathBuf>,
    /// What to put there.
    pub add: Option<String>,
    /// The command that applies it.
    pub command: String,
    /// How to take it back.
    pub back: String,
}

/// The first pnpm that reads `patchedDependencies` in `pnpm-workspace.yaml`.
const PNPM_WORKSPACE: (u32, u32) = (10, 5);
/// The first that reads it nowhere else.
const PNPM_WORKSPACE_ONLY: u32 = 11;

impl Project {
    /// The steps for a patch file that was written in this form.
    pub fn steps(&self, format: Format, package: &str, version: &str, patch: &Path) -> Steps {
        let patch = std::path::absolute(patch).unwrap_or_else(|_| patch.to_owned());
        let inside = patch.strip_prefix(&self.root).unwrap_or(&patch);
        let place = inside.to_string_lossy().replace('\\', "/");
        let entry = json!({ format!("{package}@{version}"): place });
        let manifest = self.root.join("package.json");
        let steps = |file: PathBuf, add: String, command: &str| Steps {
            back: format!("take that out of {} again, then `{command}`", file.display()),
            folder: self.root.clone(),
            file: Some(file),
            add: Some(add),
            command: command.to_owned(),
        };
        match format {
            Format::PatchPackage => {
                // patch-package takes its folder by a path from where it runs.
                let other = inside.parent().filter(|folder| *folder != Path::new("patches"));
                let command = match other {
                    Some(folder) => format!("npx patch-package@8 --patch-dir {}", quoted(folder)),
                    None => "npx patch-package@8".to_owned(),
                };
                let back = format!("`{command} --reverse`, then delete the file");
                Steps { folder: self.root.clone(), file: None, add: None, command, back }
            }
            Format::Pnpm => {
                const COMMAND: &str = "pnpm install --no-frozen-lockfile";
                if self.names_patches_in_manifest() {
                    return steps(manifest, text(&json!({ "pnpm": { "patchedDependencies": entry } })), COMMAND);
                }
                let add = format!("patchedDependencies:\n  \"{package}@{version}\": {}", Value::from(place));
                steps(self.root.join("pnpm-workspace.yaml"), add, COMMAND)
            }
            Format::Bun => steps(manifest, text(&json!({ "patchedDependencies": entry })), "bun install"),
            Format::Yarn => {
                let source = format!("patch:{package}@npm%3A{version}#~/{place}");
                let lock = fs::read_to_string(self.root.join("yarn.lock")).unwrap_or_default();
                let mut asked = descriptors(&lock, package, version);
                if asked.is_empty() {
                    asked.push(format!("{package}@npm:{version}"));
                }
                let resolutions: serde_json::Map<_, _> =
                    asked.into_iter().map(|asked| (asked, source.clone().into())).collect();
                steps(manifest, text(&json!({ "resolutions": resolutions })), "yarn install --no-immutable")
            }
        }
    }

    fn names_patches_in_manifest(&self) -> bool {
        let mut numbers = self.version.as_deref().unwrap_or_default().split('.').map(|part| part.parse::<u32>().ok());
        let (Some(Some(major)), Some(Some(minor))) = (numbers.next(), numbers.next()) else { return false };
        let named = || {
            let manifest = fs::read(self.root.join("package.json")).ok();
            let manifest: Option<Value> = manifest.and_then(|text| serde_json::from_slice(&text).ok());
            manifest.is_some_and(|manifest| manifest["pnpm"]["patchedDependencies"].is_object())
        };
        (major, minor) < PNPM_WORKSPACE || (major < PNPM_WORKSPACE_ONLY && named())
    }
}

fn text(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// How the packages of a project ask for a version of a package, by the keys of its `yarn.lock`.
fn descriptors(lock: &str, package: &str, version: &str) -> Vec<String> {
    let mut keys = Vec::new();
    let mut found = Vec::new();
    for line in lock.lines() {
        if let Some(line) = line.strip_suffix(':').filter(|line| !line.starts_with([' ', '#'])) {
            keys = line.trim_matches('"').split(", ").map(str::to_owned).collect();
        } else if line.strip_prefix("  version: ").is_some_and(|found| found.trim_matches('"') == version) {
            found.append(&mut keys);
        }
    }
    found.retain(|key| key.strip_prefix(package).is_some_and(|rest| rest.starts_with("@npm:")));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::installed::Manager;

    #[test]
    fn yarn_asks_for_a_version_in_several_ways() {
        let lock = "__metadata:\n  version: 8\n\n\"a@npm:1.0.0, a@npm:^1.0.0\":\n  version: 1.0.0\n\n\"a@npm:2\":\n  version: 2.0.0\n\n\
                    \"ab@npm:1.0.0\":\n  version: 1.0.0\n\n\"a@patch:a@npm%3A1.0.0#~/x.patch\":\n  version: 1.0.0\n";
        assert_eq!(descriptors(lock, "a", "1.0.0"), ["a@npm:1.0.0", "a@npm:^1.0.0"]);
        assert_eq!(descriptors(lock, "a", "2.0.0"), ["a@npm:2"]);
    }

    #[test]
    fn pnpm_reads_its_patches_where_its_version_does() {
        let root = PathBuf::from("/p");
        let at = |version: Option<&str>| {
            let project = Project {
                root: root.clone(),
                manager: Some(Manager::Pnpm),
                version: version.map(str::to_owned),
                outer: Vec::new(),
            };
            let steps = project.steps(Format::Pnpm, "@s/a", "1.0.0", Path::new("/p/patches/@s__a@1.0.0.patch"));
            let file = steps.file.unwrap().file_name().unwrap().to_string_lossy().into_owned();
            (file, steps.add.unwrap())
        };
        let yaml = "patchedDependencies:\n  \"@s/a@1.0.0\": \"patches/@s__a@1.0.0.patch\"";
        for version in [None, Some("12.23.0"), Some("10.34.9")] {
            assert_eq!(at(version), ("pnpm-workspace.yaml".to_owned(), yaml.to_owned()));
        }
        assert_eq!(at(Some("9.15.0")).0, "package.json");
    }
}
