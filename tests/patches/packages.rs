//! Published packages, fetched once with the user's npm and kept in the user's cache; tests work on copies.

use std::fs;
use std::path::Path;

use pi_retry_forced::upstream::{Cache, Name, Package, Release};

/// One release of pi-ai for each era of its patterns, oldest first.
pub(crate) const ERAS: [(&str, &str); 13] = [
    ("E5", "0.80.3"),
    ("E6", "0.80.7"),
    ("E7", "0.81.1"),
    ("E8", "0.82.0"),
    ("E9", "0.85.1"),
    ("E10", "0.87.1"),
    ("E11", "0.99.1"),
    ("E12", "1.0.3"),
    ("E13", "1.3.0"),
    ("E14", "1.4.0"),
    ("E15", "1.5.0"),
    ("E16", "1.5.2"),
    ("E17", "1.6.0"),
];

/// The bundled commands whose chunks have different shapes.
pub(crate) const BUNDLES: [&str; 4] = ["0.84.3", "0.87.1", "1.3.0", "1.6.0"];

pub(crate) fn fetch(name: Name, version: &str) -> Package {
    let release = Release::find(name, version).expect("a known release");
    Cache::user().expect("a cache").package(release, &mut |_| {}).expect("the package")
}

pub(crate) fn pi_ai(version: &str) -> Package {
    fetch(Name::PiAi, version)
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
