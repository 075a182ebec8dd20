//! The project that an installed package belongs to, and the package manager that put it there: that decides in which form
//! a patch is kept, where its file goes, and whether the package's files are this project's alone.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use crate::patch::Format;

/// A package manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Manager {
    /// npm: each project has files of its own.
    Npm,
    /// yarn 1: likewise.
    YarnClassic,
    /// pnpm: files are hard links into one store.
    Pnpm,
    /// bun: files are hard links into one cache.
    Bun,
    /// yarn from 2 on: archives of one cache, or files of any of the above kinds.
    Yarn,
}

impl Manager {
    /// Its name, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::YarnClassic => "yarn 1",
            Self::Pnpm => "pnpm",
            Self::Bun => "bun",
            Self::Yarn => "yarn",
        }
    }

    /// The form in which its projects keep patches.
    pub fn format(self) -> Format {
        match self {
            Self::Npm | Self::YarnClassic => Format::PatchPackage,
            Self::Pnpm => Format::Pnpm,
            Self::Bun => Format::Bun,
            Self::Yarn => Format::Yarn,
        }
    }
}

/// A project, seen from a package that is installed in it or from a folder in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Where its patches are applied: patch-package runs here, or the manager's own file is here.
    pub root: PathBuf,
    /// Who installs; none if nothing tells.
    pub manager: Option<Manager>,
    /// The manager's version, where it left one.
    pub version: Option<String>,
    /// The packages below each other that lead from `root` to the installed one, without that one's own name.
    pub outer: Vec<String>,
}

impl Project {
    /// The project of an installed package, by the path through which it is reached.
    pub fn of_package(package: &Path) -> Self {
        let package = std::path::absolute(package).unwrap_or_else(|_| package.to_owned());
        let (start, outer) = holder(&package);
        let mut project = Self::above(&start, &|_| false);
        if project.format() != Format::PatchPackage {
            return Self { outer: Vec::new(), ..project };
        }
        // patch-package looks into the `node_modules` of the folder that it runs in. npm links the members of a workspace
        // there, under their names.
        match member(&project.root, &start) {
            Some(name) => project.outer = std::iter::once(name).chain(outer).collect(),
            None => (project.root, project.outer) = (start, outer),
        }
        project
    }

    /// The project that a folder is in: the nearest one upwards, inside of its repository, in which a package manager left its
    /// marks; else the folder.
    pub fn of_folder(folder: &Path) -> Self {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        Self::above(&folder, &|at| at.join(".git").exists())
    }

    fn above(folder: &Path, ends: &dyn Fn(&Path) -> bool) -> Self {
        for at in folder.ancestors() {
            if let Some(manager) = manager(at) {
                return Self {
                    root: at.to_owned(),
                    manager: Some(manager),
                    version: version(at, manager),
                    outer: vec![],
                };
            }
            if ends(at) {
                break;
            }
        }
        Self { root: folder.to_owned(), manager: None, version: None, outer: vec![] }
    }

    /// The form in which a patch has to be kept here.
    pub fn format(&self) -> Format {
        self.manager.map_or(Format::PatchPackage, Manager::format)
    }
}

/// The folder whose `node_modules` holds a package, and the packages in between where that one is nested.
fn holder(package: &Path) -> (PathBuf, Vec<String>) {
    let mut outer = Vec::new();
    let mut at = package;
    while let Some((modules, _)) = installed_in(at) {
        let Some(owner) = modules.parent() else { break };
        match installed_in(owner) {
            Some((_, name)) => {
                outer.insert(0, name);
                at = owner;
            }
            None => return (owner.to_owned(), outer),
        }
    }
    (package.to_owned(), Vec::new())
}

/// The `node_modules` that a package's folder is directly in, and its name there.
fn installed_in(package: &Path) -> Option<(&Path, String)> {
    let name = package.file_name()?.to_string_lossy();
    let above = package.parent()?;
    if above.ends_with("node_modules") {
        return Some((above, name.into_owned()));
    }
    let scope = above.file_name()?.to_string_lossy();
    let modules = above.parent().filter(|modules| modules.ends_with("node_modules"))?;
    scope.starts_with('@').then(|| (modules, format!("{scope}/{name}")))
}

/// The name under which a workspace's root links the folder of a member.
fn member(root: &Path, folder: &Path) -> Option<String> {
    if root == folder {
        return None;
    }
    let folder = fs::canonicalize(folder).ok()?;
    let modules = root.join("node_modules");
    let entries =
        |at: &Path| fs::read_dir(at).into_iter().flatten().flatten().map(|entry| entry.path()).collect::<Vec<_>>();
    let scopes =
        entries(&modules).into_iter().filter(|at| at.file_name().is_some_and(|n| n.to_string_lossy().starts_with('@')));
    let links = entries(&modules).into_iter().chain(scopes.flat_map(|scope| entries(&scope)));
    let link = links.into_iter().find(|at| at.is_symlink() && fs::canonicalize(at).is_ok_and(|real| real == folder))?;
    let name = link.strip_prefix(&modules).ok()?;
    Some(name.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/"))
}

/// The manager that left marks in a folder: what it wrote into `node_modules` says more than a lock file, which another one may
/// have left behind, and that more than a word in `package.json`.
fn manager(folder: &Path) -> Option<Manager> {
    let modules = folder.join("node_modules");
    let lock = lock(folder);
    let mark = [
        (".modules.yaml", Manager::Pnpm),
        (".yarn-state.yml", Manager::Yarn),
        (".bun", Manager::Bun),
        (".yarn-integrity", Manager::YarnClassic),
        (".package-lock.json", Manager::Npm),
    ];
    let mark = mark.into_iter().find(|(name, _)| modules.join(name).exists()).map(|(_, manager)| manager);
    let copies = |manager: &Manager| manager.format() == Format::PatchPackage;
    match (mark, lock) {
        // bun leaves no mark of its own in a flat `node_modules`, nor does it remove another's.
        (Some(mark), Some(lock)) if copies(&mark) && !copies(&lock) && !has_lock(folder, mark) => Some(lock),
        (Some(mark), _) => Some(mark),
        (None, Some(lock)) => Some(lock),
        (None, None) => declared(folder),
    }
}

fn has_lock(folder: &Path, manager: Manager) -> bool {
    let names: &[&str] = match manager {
        Manager::Npm => &["package-lock.json", "npm-shrinkwrap.json"],
        Manager::Pnpm => &["pnpm-lock.yaml"],
        Manager::Bun => &["bun.lock", "bun.lockb"],
        Manager::Yarn | Manager::YarnClassic => &["yarn.lock"],
    };
    names.iter().any(|name| folder.join(name).is_file())
}

/// By lock file. Where there are several, one whose manager shares files counts: its form of a patch harms nobody, while that for
/// the others may.
fn lock(folder: &Path) -> Option<Manager> {
    if [".pnp.cjs", ".pnp.js"].iter().any(|file| folder.join(file).is_file()) {
        return Some(Manager::Yarn);
    }
    if let Some(manager) = [Manager::Pnpm, Manager::Bun].into_iter().find(|manager| has_lock(folder, *manager)) {
        return Some(manager);
    }
    if let Ok(text) = fs::read_to_string(folder.join("yarn.lock")) {
        let classic = text.contains("# yarn lockfile v1");
        return Some(if classic { Manager::YarnClassic } else { Manager::Yarn });
    }
    has_lock(folder, Manager::Npm).then_some(Manager::Npm)
}

/// By the field `packageManager`, as in `"pnpm@10.34.9"`.
fn declared(folder: &Path) -> Option<Manager> {
    let manifest: Value = serde_json::from_slice(&fs::read(folder.join("package.json")).ok()?).ok()?;
    let (name, version) = manifest["packageManager"].as_str()?.split_once('@')?;
    match name {
        "npm" => Some(Manager::Npm),
        "pnpm" => Some(Manager::Pnpm),
        "bun" => Some(Manager::Bun),
        "yarn" if version.starts_with("1.") => Some(Manager::YarnClassic),
        "yarn" => Some(Manager::Yarn),
        _ => None,
    }
}

/// pnpm says in `node_modules/.modules.yaml` which version of it installed; else `packageManager` may.
fn version(folder: &Path, manager: Manager) -> Option<String> {
    if manager != Manager::Pnpm {
        return None;
    }
    let marks = fs::read_to_string(folder.join("node_modules/.modules.yaml")).unwrap_or_default();
    let manifest: Value =
        fs::read(folder.join("package.json")).ok().and_then(|text| serde_json::from_slice(&text).ok())?;
    let declared = manifest["packageManager"].as_str().unwrap_or_default();
    [marks.as_str(), declared].iter().find_map(|text| {
        let version = &text[text.find("pnpm@")? + "pnpm@".len()..];
        let end = version.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(version.len());
        (end > 0).then(|| version[..end].to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_packages_are_named_from_the_outside() {
        let of = |path: &str| holder(Path::new(path));
        assert_eq!(of("/p/node_modules/@s/a"), ("/p".into(), vec![]));
        assert_eq!(of("/p/node_modules/@s/b/node_modules/@s/a"), ("/p".into(), vec!["@s/b".to_owned()]));
        let nested = of("/p/node_modules/c/node_modules/@s/b/node_modules/a");
        assert_eq!(nested, ("/p".into(), vec!["c".to_owned(), "@s/b".to_owned()]));
        // A project inside of another one's `node_modules` is none of its packages.
        assert_eq!(of("/x/node_modules/.cache/p/node_modules/a"), ("/x/node_modules/.cache/p".into(), vec![]));
        assert_eq!(of("/p/a"), ("/p/a".into(), vec![]));
    }

    #[test]
    fn managers_are_told_by_their_marks() {
        let folder = tempfile::tempdir().unwrap();
        let mut root = 0;
        let mut is = |files: &[(&str, &str)]| {
            root += 1;
            let top = folder.path().join(root.to_string());
            for (file, text) in files {
                let file = top.join(file);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, text).unwrap();
            }
            Project::of_folder(&top.join("packages/a")).manager
        };
        assert_eq!(is(&[("package.json", "{}")]), None);
        assert_eq!(is(&[("package-lock.json", "{}")]), Some(Manager::Npm));
        assert_eq!(is(&[("pnpm-lock.yaml", "")]), Some(Manager::Pnpm));
        assert_eq!(is(&[("bun.lock", "")]), Some(Manager::Bun));
        assert_eq!(is(&[("yarn.lock", "# yarn lockfile v1\n")]), Some(Manager::YarnClassic));
        assert_eq!(is(&[("yarn.lock", "__metadata:\n")]), Some(Manager::Yarn));
        assert_eq!(is(&[("package.json", r#"{"packageManager":"pnpm@9.1.0"}"#)]), Some(Manager::Pnpm));
        // What is installed says more than a lock file of another manager.
        assert_eq!(is(&[("package-lock.json", "{}"), ("node_modules/.modules.yaml", "")]), Some(Manager::Pnpm));
        let moved = [("package-lock.json", "{}"), ("pnpm-lock.yaml", ""), ("node_modules/.package-lock.json", "")];
        assert_eq!(is(&moved), Some(Manager::Npm));
        assert_eq!(is(&[("bun.lock", ""), ("node_modules/.package-lock.json", "")]), Some(Manager::Bun));
        assert_eq!(is(&[("bun.lock", ""), ("package-lock.json", "{}")]), Some(Manager::Bun));
    }
}
