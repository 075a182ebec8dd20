//! Published packages, fetched once with the user's npm and kept in the user's cache; tests work on copies.

use std::fs;
use std::path::Path;

use pi_retry_forced::upstream::{Cache, Name, Package, Part, Release};

/// One pi-ai for each era of its patterns, oldest first.
pub(crate) fn eras() -> impl Iterator<Item = Package> {
    Release::playing(Name::PiAi, Part::Era).map(fetch)
}

/// Bundled commands whose chunks have different shapes, oldest first.
pub(crate) fn bundles() -> impl Iterator<Item = Package> {
    Release::playing(Name::PiCodingAgent, Part::Bundle).map(fetch)
}

pub(crate) fn newest(name: Name) -> Package {
    fetch(Release::newest(name))
}

fn fetch(release: &Release) -> Package {
    Cache::user().expect("a cache").package(release, &mut |_| {}).expect("the package")
}

/// Copies a package's files, those that a program runs.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder to read") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("its kind").is_dir() {
            copy(&entry.path(), &target);
        } else if entry.path().extension().is_none_or(|extension| extension != "map") {
            fs::copy(entry.path(), target).expect("a copied file");
        }
    }
}
