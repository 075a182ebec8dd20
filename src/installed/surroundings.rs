//! What of the machine counts when pis are looked for. A value, so that tests and callers can stand elsewhere.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// Folders that hold global packages on common systems, wherever npm itself is set up to put them.
const SYSTEM_FOLDERS: [&str; 5] = [
    "/usr/local/lib/node_modules",
    "/usr/lib/node_modules",
    "/opt/homebrew/lib/node_modules",
    "/home/linuxbrew/.linuxbrew/lib/node_modules",
    // yarn's for root.
    "/usr/local/share/.config/yarn/global/node_modules",
];

/// Where somebody stands: folder, home and environment.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The current folder, absolute.
    pub folder: PathBuf,
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// The environment variables.
    pub variables: BTreeMap<String, OsString>,
    /// Further folders of global packages to look into, whether they exist or not.
    pub system_folders: Vec<PathBuf>,
}

impl Surroundings {
    /// Those of this process.
    ///
    /// # Errors
    ///
    /// If there is no current folder.
    pub fn of_process() -> io::Result<Self> {
        let readable = |(name, value): (OsString, OsString)| name.into_string().ok().map(|name| (name, value));
        Ok(Surroundings {
            folder: env::current_dir()?,
            home: etcetera::home_dir().ok(),
            variables: env::vars_os().filter_map(readable).collect(),
            system_folders: SYSTEM_FOLDERS.iter().map(PathBuf::from).collect(),
        })
    }

    /// A variable that is set and not empty.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(name).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// A variable that names a folder; `~` is the home folder.
    pub(super) fn folder_variable(&self, name: &str) -> Option<PathBuf> {
        self.variable(name).map(|value| self.expand(Path::new(value)))
    }

    /// A path with `~` at its start replaced, and made absolute.
    pub(super) fn expand(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), &self.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => self.folder.join(path),
        }
    }

    /// A folder below the home folder.
    pub(super) fn at_home(&self, path: &str) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(path))
    }

    /// The folders of the search path, in order.
    pub(super) fn search_path(&self) -> Vec<PathBuf> {
        let path = self.variable("PATH").or_else(|| self.variable("Path"));
        let folders = path.map(|path| env::split_paths(path).collect::<Vec<_>>()).unwrap_or_default();
        folders.iter().filter(|folder| !folder.as_os_str().is_empty()).map(|folder| self.folder.join(folder)).collect()
    }

    /// Every file of the search path with this name, in order; on Windows with an ending that runs.
    pub(super) fn executables(&self, name: &str) -> Vec<PathBuf> {
        let endings: &[&str] = if cfg!(windows) { &[".exe", ".cmd", ".bat", ".ps1"] } else { &[""] };
        let mut found = Vec::new();
        for folder in self.search_path() {
            let file = endings.iter().map(|ending| folder.join(format!("{name}{ending}"))).find(|file| runs(file));
            found.extend(file.filter(|file| !found.contains(file)));
        }
        found
    }
}

#[cfg(unix)]
fn runs(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn runs(file: &Path) -> bool {
    file.is_file()
}
