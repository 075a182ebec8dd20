//! Patch files of a project that are for another version of an installed package. patch-package fails on the first one that
//! does not fit, and then applies none.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder whose `node_modules` holds a package, directly or nested.
pub(super) fn project(package: &Path) -> Option<&Path> {
    package.ancestors().filter(|at| at.ends_with("node_modules")).last().and_then(Path::parent)
}

/// The patch files beside that `node_modules` that name the package with another version.
pub(super) fn patches(package: &Path, version: &str) -> Vec<PathBuf> {
    let Some((project, name)) = project(package).and_then(|project| Some((project, name(package, project)?))) else {
        return Vec::new();
    };
    let stale = |file: &PathBuf| {
        let file = file.file_name().unwrap_or_default().to_string_lossy();
        let rest = file.strip_suffix(".patch").and_then(|file| file.strip_prefix(&name)?.strip_prefix('+'));
        // After the version a file of a sequence has its number, and one for development only `.dev`.
        let found = rest.map(|rest| rest.trim_end_matches(".dev").split('+').next().unwrap_or_default());
        found.is_some_and(|found| found.starts_with(|first: char| first.is_ascii_digit()) && found != version)
    };
    let files = fs::read_dir(project.join("patches")).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<_> = files.filter(stale).collect();
    files.sort();
    files
}

/// The package as patch-package names it: `@scope+name`, and `outer++inner` for one that lies below another.
fn name(package: &Path, project: &Path) -> Option<String> {
    let path = package.strip_prefix(project).ok()?.to_string_lossy().replace('\\', "/");
    let parts: Vec<_> = path.split("node_modules/").map(|part| part.trim_end_matches('/')).skip(1).collect();
    // In a virtual store the project sees it by its name alone.
    let parts = if parts.first()?.starts_with('.') { &parts[parts.len() - 1..] } else { &parts[..] };
    Some(parts.iter().map(|part| part.replace('/', "+")).collect::<Vec<_>>().join("++"))
}
