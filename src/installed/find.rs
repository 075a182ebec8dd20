//! Every pi of a machine that matters to the user who asks: commands, and the libraries that programs import.

use std::fs;
use std::path::{Path, PathBuf};

use super::executable::{Program, follow};
use super::folders::{global, subfolders};
use super::pi::Pi;
use super::surroundings::Surroundings;
use crate::upstream::{Name, Package};

/// How the place of the pi that the commands take by themselves begins.
pub(super) const FIRST: &str = "pi on the PATH";

/// Something that was found, and where.
#[derive(Clone, Debug)]
pub struct Sighting {
    /// What it is.
    pub what: Seen,
    /// The places, the most telling first: `pi on the PATH: /usr/bin/pi`.
    pub places: Vec<String>,
}

/// What was found.
#[derive(Clone, Debug)]
pub enum Seen {
    /// A command, or something else of that name.
    Program(Program),
    /// A pi-ai that programs import, in its folder without links, and the path by which a project reaches it.
    Library(Package, PathBuf),
}

impl Seen {
    /// What makes two sightings the same.
    fn key(&self) -> (PathBuf, bool) {
        match self {
            Seen::Program(Program::Pi(pi)) => (pi.root.clone(), pi.is_bundled()),
            Seen::Program(Program::Binary { path, .. } | Program::Other { path, .. }) => (path.clone(), false),
            Seen::Library(package, _) => (package.root().to_owned(), false),
        }
    }
}

/// All of them: the commands on the search path in its order, the global folders, the project's `node_modules` from here upwards.
pub fn find_all(surroundings: &Surroundings) -> Vec<Sighting> {
    let mut found = Sightings(Vec::new());
    for (index, file) in surroundings.executables("pi").into_iter().enumerate() {
        let which = if index == 0 { FIRST } else { "later on the PATH" };
        found.add(Seen::Program(follow(&file, surroundings)), format!("{which}: {}", file.display()));
    }
    for (who, modules) in global(surroundings) {
        found.add_agents(&modules, &format!("global packages of {who}"));
    }
    for folder in surroundings.folder.ancestors() {
        let modules = folder.join("node_modules");
        if modules.is_dir() {
            found.add_agents(&modules, &format!("project {}", folder.display()));
            found.add_libraries(&modules, &format!("project {}", folder.display()));
        }
    }
    found.0
}

struct Sightings(Vec<Sighting>);

impl Sightings {
    fn add(&mut self, what: Seen, place: String) {
        let key = what.key();
        match self.0.iter_mut().find(|seen| seen.what.key() == key) {
            Some(seen) => seen.places.extend(Some(place).filter(|place| !seen.places.contains(place))),
            None => self.0.push(Sighting { what, places: vec![place] }),
        }
    }

    fn add_agents(&mut self, modules: &Path, place: &str) {
        for folder in copies(modules, Name::PiCodingAgent) {
            let program = match Pi::open(&folder) {
                Ok(pi) => Program::Pi(pi),
                Err(error) => Program::Other { path: folder, reason: error.to_string() },
            };
            self.add(Seen::Program(program), place.to_owned());
        }
    }

    fn add_libraries(&mut self, modules: &Path, place: &str) {
        for folder in copies(modules, Name::PiAi) {
            let Ok(root) = fs::canonicalize(&folder) else { continue };
            let seen = match Package::open(root, Name::PiAi) {
                Ok(package) => Seen::Library(package, folder),
                Err(error) => Seen::Program(Program::Other { path: folder, reason: error.to_string() }),
            };
            self.add(seen, place.to_owned());
        }
    }
}

/// Packages below each other that are looked into.
const DEPTH: usize = 4;

/// The copies of a package in a `node_modules`: for everybody, nested below other packages, and in pnpm's and bun's virtual stores.
fn copies(modules: &Path, name: Name) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    nested(modules, name, DEPTH, &mut folders);
    let stored = format!("@earendil-works+{}@", name.short());
    for store in [".pnpm", ".bun"] {
        let packages = subfolders(Some(&modules.join(store))).into_iter();
        let packages = packages.filter(|at| at.file_name().is_some_and(|at| at.to_string_lossy().starts_with(&stored)));
        folders.extend(packages.map(|at| at.join("node_modules").join(name.as_str())).filter(|at| at.is_dir()));
    }
    folders
}

fn nested(modules: &Path, name: Name, depth: usize, found: &mut Vec<PathBuf>) {
    let own = modules.join(name.as_str());
    if own.is_dir() {
        found.push(own);
    }
    if depth == 0 {
        return;
    }
    let named = |at: &PathBuf, sign: char| at.file_name().is_some_and(|name| name.to_string_lossy().starts_with(sign));
    for entry in subfolders(Some(modules)).into_iter().filter(|entry| !named(entry, '.')) {
        let packages = if named(&entry, '@') { subfolders(Some(&entry)) } else { vec![entry] };
        for below in packages.into_iter().map(|package| package.join("node_modules")).filter(|below| below.is_dir()) {
            nested(&below, name, depth - 1, found);
        }
    }
}
