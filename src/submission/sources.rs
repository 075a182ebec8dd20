//! Where the sources come from: the source maps of a published package, or a checkout.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::error::{Error, Kind};
use crate::patch::{Dialect, Language, Source, from_source_maps};
use crate::upstream::{Name, Package};

/// The package's folder in upstream's repository.
pub const FOLDER: &str = "packages/ai";

/// The sources in a published package's maps.
///
/// # Errors
/// If a map is missing or damaged.
pub fn from_package(package: &Package) -> Result<Vec<Source>, Error> {
    Ok(from_source_maps(package.root())?)
}

/// The package and its sources in a checkout of upstream's repository, which must be clean.
///
/// # Errors
/// If the folder is something else, has uncommitted changes, or git cannot tell.
pub fn from_checkout(root: &Path) -> Result<(Package, Vec<Source>), Error> {
    let not = |why: String| Error::from(Kind::NotACheckout { path: root.to_owned(), why });
    if !root.is_dir() {
        return Err(not("there is no such folder".to_owned()));
    }
    let folder = root.join(FOLDER);
    if !folder.join(super::CLASSIFIER).is_file() {
        return Err(not(format!("it has no {FOLDER}/{}", super::CLASSIFIER)));
    }
    let package = Package::open(&folder, Name::PiAi).map_err(|error| not(error.to_string()))?;
    clean(root)?;
    let mut sources = Vec::new();
    collect(&folder, &folder.join("src"), &mut sources)?;
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok((package, sources))
}

fn clean(root: &Path) -> Result<(), Error> {
    let output = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(["status", "--porcelain", "--untracked-files=no"])
        .output()
        .map_err(|error| Kind::Git { why: format!("it cannot be run ({error})") })?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        if errors.contains("not a git repository") {
            return Err(Kind::NotACheckout { path: root.to_owned(), why: "it is no git repository".to_owned() }.into());
        }
        return Err(Kind::Git { why: errors.trim().to_owned() }.into());
    }
    match String::from_utf8_lossy(&output.stdout).lines().next() {
        Some(line) => Err(Kind::Dirty { path: root.to_owned(), file: line.get(3..).unwrap_or(line).to_owned() }.into()),
        None => Ok(()),
    }
}

fn collect(package: &Path, folder: &Path, sources: &mut Vec<Source>) -> Result<(), Error> {
    let fail = |source| Kind::Io { path: folder.to_owned(), source };
    for entry in fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.is_dir() {
            collect(package, &path, sources)?;
        } else if path.extension().is_some_and(|extension| extension == "ts") {
            let text = fs::read_to_string(&path).map_err(|source| Kind::Io { path: path.clone(), source })?;
            let inside = path.strip_prefix(package).unwrap_or(&path);
            let path = inside.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
            sources.push(Source { path, text, language: Language::TypeScript, dialect: Dialect::Written });
        }
    }
    Ok(())
}
