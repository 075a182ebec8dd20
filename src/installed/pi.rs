//! One pi that runs in node, and the package that decides for it.

use std::fs;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::error::{Kind, Result};
use crate::upstream::{Name, Package};

/// A pi-coding-agent package, and the file of it that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pi {
    /// The package, in the folder through which it was reached, which may be a link.
    pub package: Package,
    /// Its folder without links.
    pub root: PathBuf,
    /// The file that node starts, relative to the package, with forward slashes.
    pub entry: String,
}

/// The package that decides for a pi.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The package, in its folder without links.
    pub package: Package,
    /// Whether it is pi's own bundle; else it is the pi-ai that pi loads.
    pub bundled: bool,
    /// The link through which it was reached, if it lies outside of the install that the link belongs to.
    pub shared: Option<PathBuf>,
}

impl Pi {
    /// Opens the folder of a pi-coding-agent package; the executable is the one that its `package.json` names.
    ///
    /// # Errors
    ///
    /// If it is no such folder.
    pub fn open(folder: &Path) -> Result<Self> {
        let package = Package::open(folder, Name::PiCodingAgent)?;
        let manifest: Value = serde_json::from_str(&package.read("package.json")?).unwrap_or_default();
        let entry = manifest["bin"]["pi"].as_str().or_else(|| manifest["bin"].as_str()).unwrap_or("dist/cli.js");
        let entry = entry.trim_start_matches("./").to_owned();
        Ok(Pi { root: real(folder)?, package, entry })
    }

    /// The same, for an executable inside of the package, which need not be the usual one.
    pub(super) fn with_entry(folder: &Path, file: &Path) -> Result<Self> {
        let mut pi = Pi::open(folder)?;
        if let Ok(inside) = real(file)?.strip_prefix(&pi.root) {
            pi.entry = inside.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
        }
        Ok(pi)
    }

    /// Whether it runs from the bundle, and so never loads pi-ai from a `node_modules`.
    pub fn is_bundled(&self) -> bool {
        self.entry.starts_with("dist/bundle/")
    }

    /// The package that decides whether this pi retries.
    ///
    /// # Errors
    ///
    /// If it is pi-ai, and that is not installed.
    pub fn target(&self) -> Result<Target> {
        let agent_shared = shared(self.package.root(), &self.root);
        if self.is_bundled() || self.package.require_supported().is_err() {
            let package = Package::open(&self.root, Name::PiCodingAgent)?;
            return Ok(Target { package, bundled: self.is_bundled(), shared: agent_shared });
        }
        // As node resolves an import: from the file's real folder upwards.
        let from = self.root.join(&self.entry);
        let folders = from.ancestors().skip(1).filter(|folder| folder.file_name().is_none_or(|n| n != "node_modules"));
        let found = folders.map(|folder| folder.join("node_modules").join(Name::PiAi.as_str())).find(|at| at.is_dir());
        let link = found.ok_or_else(|| Kind::NoLibrary { agent: self.root.clone() })?;
        let root = real(&link)?;
        let shared = agent_shared.or_else(|| shared(&link, &root));
        Ok(Target { package: Package::open(root, Name::PiAi)?, bundled: false, shared })
    }
}

impl Target {
    /// The file of it that holds the classifier, relative to the package; none if there is no such file.
    pub fn classifier(&self) -> Option<String> {
        if self.package.name() == Name::PiAi {
            let path = "dist/utils/retry.js";
            return self.package.root().join(path).is_file().then(|| path.to_owned());
        }
        if !self.bundled {
            let path = "dist/core/agent-session.js";
            return self.package.root().join(path).is_file().then(|| path.to_owned());
        }
        for folder in ["dist/bundle/chunks", "dist/bundle"] {
            let mut files: Vec<_> =
                fs::read_dir(self.package.root().join(folder)).into_iter().flatten().flatten().collect();
            files.sort_by_key(fs::DirEntry::file_name);
            for file in files {
                let name = file.file_name().to_string_lossy().into_owned();
                let holds =
                    |text: Vec<u8>| memchr::memmem::find(&text, b"function isRetryableAssistantError(").is_some();
                if name.ends_with(".js") && fs::read(file.path()).is_ok_and(holds) {
                    return Some(format!("{folder}/{name}"));
                }
            }
        }
        None
    }
}

/// The link, if the folder that it leads to is none of the install that the link is in.
fn shared(link: &Path, root: &Path) -> Option<PathBuf> {
    // pnpm's global virtual store holds one copy of a package for all projects.
    let text = root.to_string_lossy().replace('\\', "/");
    let in_store = text.split("/store/v").skip(1).any(|rest| {
        rest.split_once('/').is_some_and(|(version, rest)| {
            version.bytes().all(|digit| digit.is_ascii_digit()) && rest.starts_with("links/")
        })
    });
    // The install: the folder with the outermost `node_modules`, which may itself be a link.
    let elsewhere = modules(link).is_some_and(|modules| {
        let install = modules.parent().map(Path::to_owned);
        let folders = [Some(modules), install].into_iter().flatten();
        !folders.map(|folder| fs::canonicalize(&folder).unwrap_or(folder)).any(|folder| root.starts_with(folder))
    });
    (in_store || elsewhere).then(|| link.to_owned())
}

/// A path up to its outermost `node_modules` or virtual store.
fn modules(path: &Path) -> Option<PathBuf> {
    let mut modules = PathBuf::new();
    for part in path.components() {
        modules.push(part);
        if let Component::Normal(name) = part
            && ["node_modules", ".pnpm", ".bun"].iter().any(|folder| name == *folder)
        {
            return Some(modules);
        }
    }
    None
}

/// A path without links.
pub(super) fn real(path: &Path) -> Result<PathBuf> {
    fs::canonicalize(path).map_err(|source| Kind::Io { path: path.to_owned(), source }.into())
}
