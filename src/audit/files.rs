//! Which files are read: pi's session folder, or what was named.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::{fs, io};

use flate2::read::MultiGzDecoder;

use super::report::Warning;

/// Environment variable for pi's agent folder (pi's `config.ts`).
pub(crate) const AGENT_DIR: &str = "PI_CODING_AGENT_DIR";

/// Environment variable for pi's session folder; stronger than the setting.
pub(crate) const SESSION_DIR: &str = "PI_CODING_AGENT_SESSION_DIR";

/// The folder where pi keeps its sessions, found as pi finds it: `PI_CODING_AGENT_SESSION_DIR`, else `sessionDir` of the
/// agent folder's `settings.json`, else `sessions` in the agent folder (`PI_CODING_AGENT_DIR`, else `~/.pi/agent`). `None` without a home folder.
pub fn default_folder(environment: &dyn Fn(&str) -> Option<OsString>, home: Option<&Path>) -> Option<PathBuf> {
    let set = |name: &str| environment(name).filter(|value| !value.is_empty()).map(|value| expand(&value, home));
    if let Some(folder) = set(SESSION_DIR) {
        return Some(folder);
    }
    let agent = match set(AGENT_DIR) {
        Some(folder) => folder,
        None => home?.join(".pi").join("agent"),
    };
    let settings = fs::read(agent.join("settings.json")).ok();
    let settings: Option<serde_json::Value> = settings.and_then(|text| serde_json::from_slice(&text).ok());
    let named =
        settings.as_ref().and_then(|settings| settings.get("sessionDir")?.as_str()).filter(|name| !name.is_empty());
    Some(named.map_or_else(|| agent.join("sessions"), |name| expand(&OsString::from(name), home)))
}

/// Replaces a leading `~`, as pi does.
fn expand(path: &OsString, home: Option<&Path>) -> PathBuf {
    let path = Path::new(path);
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

/// A file to read.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// What is read.
    pub(crate) path: PathBuf,
    /// What it is called.
    pub(crate) name: PathBuf,
    /// Its length when it was found, in bytes.
    pub(crate) length: u64,
}

/// Collects files from what was named, each once.
#[derive(Default)]
pub(crate) struct Search {
    pub(crate) files: Vec<Found>,
    pub(crate) warnings: Vec<Warning>,
    seen: HashSet<PathBuf>,
    /// Copies of what can be read once only, or is packed; they go with the search.
    pub(super) copies: Option<tempfile::TempDir>,
}

/// Whether a file of a folder is a session by its name.
fn is_session(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.ends_with(".jsonl") || name.ends_with(".jsonl.gz")
}

impl Search {
    /// Adds a named file, whatever it is called, or the `.jsonl` files of a named folder and the folders below. Symbolic links
    /// are followed, and a folder or file that was seen already is passed over, so that loops end.
    ///
    /// `-` is standard input. Pipes are copied before they are read, and what gzip packed is unpacked.
    pub(crate) fn add(&mut self, path: &Path) -> io::Result<()> {
        if path.as_os_str() == "-" {
            return self.copy(Path::new("standard input"), &mut io::stdin().lock());
        }
        let meta = fs::metadata(path)?;
        if meta.is_dir() {
            let entries = fs::read_dir(path)?;
            if self.is_new(path) {
                self.list(entries, path);
            }
            return Ok(());
        }
        if !meta.is_file() {
            return self.copy(path, &mut fs::File::open(path)?);
        }
        // Opened at least to learn whether it can be.
        let file = fs::File::open(path)?;
        if self.is_new(path) {
            self.found(path, &meta, file)?;
        }
        Ok(())
    }

    fn found(&mut self, path: &Path, meta: &fs::Metadata, mut file: fs::File) -> io::Result<()> {
        let mut magic = [0; 2];
        if file.read_exact(&mut magic).is_ok() && magic == [0x1f, 0x8b] {
            file.rewind()?;
            return self.copy(path, &mut MultiGzDecoder::new(file));
        }
        self.files.push(Found { path: path.to_owned(), name: path.to_owned(), length: meta.len() });
        Ok(())
    }

    /// Keeps what is read from `from` in a file of its own.
    fn copy(&mut self, name: &Path, from: &mut dyn io::Read) -> io::Result<()> {
        let folder = match &mut self.copies {
            Some(folder) => folder,
            none => none.insert(tempfile::tempdir()?),
        };
        let path = folder.path().join(format!("{}.jsonl", self.files.len()));
        let length = io::copy(from, &mut fs::File::create(&path)?)?;
        self.files.push(Found { path, name: name.to_owned(), length });
        Ok(())
    }

    fn is_new(&mut self, path: &Path) -> bool {
        self.seen.insert(fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()))
    }

    fn list(&mut self, entries: fs::ReadDir, folder: &Path) {
        let mut paths = Vec::new();
        for entry in entries {
            match entry {
                Ok(entry) => paths.push(entry.path()),
                Err(error) => self.warnings.push(Warning::new(folder, &error)),
            }
        }
        paths.sort();
        for path in paths {
            let meta = match fs::metadata(&path) {
                Ok(meta) => meta,
                // A link to nowhere, a link to itself, or a file that was removed meanwhile.
                Err(error) => {
                    if is_session(&path) {
                        self.warnings.push(Warning::new(&path, &error));
                    }
                    continue;
                }
            };
            if meta.is_dir() {
                if self.is_new(&path) {
                    match fs::read_dir(&path) {
                        Ok(entries) => self.list(entries, &path),
                        Err(error) => self.warnings.push(Warning::new(&path, &error)),
                    }
                }
            } else if meta.is_file() && is_session(&path) && self.is_new(&path) {
                let packed = path.extension().is_some_and(|extension| extension == "gz");
                let unpacked = if packed {
                    fs::File::open(&path).and_then(|file| self.found(&path, &meta, file))
                } else {
                    self.files.push(Found { name: path.clone(), path: path.clone(), length: meta.len() });
                    Ok(())
                };
                if let Err(error) = unpacked {
                    self.warnings.push(Warning::new(&path, &error));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_folder_is_found_as_pi_finds_it() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let agent = home.path().join("elsewhere");
        fs::create_dir(&agent).expect("can be made");
        let find = |variables: &[(&str, &str)]| {
            let get =
                |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
            default_folder(&get, Some(home.path()))
        };
        assert_eq!(find(&[]), Some(home.path().join(".pi/agent/sessions")));
        assert_eq!(find(&[(AGENT_DIR, "")]), Some(home.path().join(".pi/agent/sessions")));
        assert_eq!(find(&[(AGENT_DIR, "~/elsewhere")]), Some(agent.join("sessions")));
        fs::write(agent.join("settings.json"), r#"{"sessionDir":"~/mine"}"#).expect("can be written");
        assert_eq!(find(&[(AGENT_DIR, "~/elsewhere")]), Some(home.path().join("mine")));
        assert_eq!(find(&[(AGENT_DIR, "~/elsewhere"), (SESSION_DIR, "/s")]), Some(PathBuf::from("/s")));
        assert_eq!(default_folder(&|_| None, None), None);
    }
}
