//! From an executable, or a folder, to the pi that it is: through links, and through the scripts that package managers and
//! people put in between.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use super::error::{Kind, Result};
use super::managers::Manager;
use super::pi::{Pi, real};
use super::surroundings::Surroundings;
use super::wrapper;
use crate::upstream::Name;

/// The name under which pi was published before `@earendil-works`.
const FORMER_NAME: &str = "@mariozechner/pi-coding-agent";
/// Links and scripts that may follow each other before they count as a ring.
const HOPS: usize = 16;
/// No wrapper is longer.
const SCRIPT_BYTES: u64 = 64 * 1024;

/// What an executable is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// A pi that runs in node or bun.
    Pi(Pi),
    /// A compiled single binary.
    Binary {
        /// The executable without links.
        path: PathBuf,
        /// The version in the `package.json` beside it, if there is one.
        version: Option<String>,
    },
    /// Something else.
    Other {
        /// What was looked at.
        path: PathBuf,
        /// What it is, for people.
        reason: String,
    },
}

/// The pi that a path leads to: the folder of a package, or an executable.
///
/// # Errors
///
/// If it leads to none, or to one without files that could be patched.
pub fn locate(path: Option<&Path>, surroundings: &Surroundings) -> Result<Pi> {
    let program = match path {
        None => {
            let first = surroundings.executables("pi").into_iter().next().ok_or(Kind::NoPi)?;
            follow(&first, surroundings)
        }
        Some(path) => {
            let path = surroundings.expand(path);
            match path.is_dir() {
                true => return Pi::open(&path),
                false => follow(&path, surroundings),
            }
        }
    };
    match program {
        Program::Pi(pi) => Ok(pi),
        Program::Binary { path, .. } => Err(Kind::Binary { path }.into()),
        Program::Other { path, reason } => Err(Kind::NotPi { path, reason }.into()),
    }
}

/// What an executable is.
pub(super) fn follow(path: &Path, surroundings: &Surroundings) -> Program {
    hop(path, surroundings, HOPS, &mut BTreeSet::from([path.to_owned()]))
}

fn hop(path: &Path, surroundings: &Surroundings, hops: usize, seen: &mut BTreeSet<PathBuf>) -> Program {
    let other = |reason: &str| Program::Other { path: path.to_owned(), reason: reason.to_owned() };
    if hops == 0 {
        return other("its links or wrappers lead in a ring");
    }
    let Ok(kind) = fs::symlink_metadata(path) else { return other("there is no such file") };
    // Through the link's own path first: it shows which install the file belongs to.
    if let Some(folder) = package_of(path) {
        return within(&folder, path, other);
    }
    if kind.is_symlink() {
        let Ok(target) = fs::read_link(path) else { return other("the link cannot be read") };
        if let Some(manager) = Manager::of_link(&target) {
            return manager.start(path, None, surroundings);
        }
        let folder = path.parent().and_then(|folder| fs::canonicalize(folder).ok()).unwrap_or_default();
        return hop(&plain(&folder.join(target)), surroundings, hops - 1, seen);
    }
    if let Ok(real) = real(path)
        && let Some(folder) = package_of(&real)
    {
        return within(&folder, &real, other);
    }
    if !kind.is_file() {
        return other("it is no file");
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(SCRIPT_BYTES).read_to_end(&mut start));
    if let Err(error) = read {
        return other(&format!("it cannot be read ({error})"));
    }
    if is_binary(&start) {
        return binary(path).unwrap_or_else(|| other("it is a program of another kind"));
    }
    let Ok(script) = String::from_utf8(start) else { return other("it is neither a script nor a program") };
    if let Some(manager) = Manager::of_script(&script) {
        return manager.start(path, Some(&script), surroundings);
    }
    let next = wrapper::candidates(&script, path, surroundings);
    // Scripts that name each other lead nowhere new.
    let new = next.into_iter().filter(|next| seen.insert(next.clone())).collect::<Vec<_>>();
    let mut programs = new.iter().map(|next| hop(next, surroundings, hops - 1, seen));
    programs
        .find(|program| !matches!(program, Program::Other { .. }))
        .unwrap_or_else(|| other("it is a script, and no file of pi that it starts can be made out"))
}

fn within(folder: &Path, path: &Path, other: impl Fn(&str) -> Program) -> Program {
    let mut start = [0; 4];
    let magic = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    if magic.is_ok() && is_binary(&start) {
        return binary(path).unwrap_or_else(|| other("it is a program of another kind"));
    }
    match name(folder) {
        Some((name, version)) if name == FORMER_NAME => other(&format!(
            "it is {name} {version}, the package's former name; install {} instead",
            Name::PiCodingAgent
        )),
        _ => match Pi::with_entry(folder, path) {
            Ok(pi) => Program::Pi(pi),
            Err(error) => other(&error.to_string()),
        },
    }
}

/// The package of pi that a file is in, by the nearest `package.json` with a name.
fn package_of(file: &Path) -> Option<PathBuf> {
    let folder = file.ancestors().skip(1).find(|folder| name(folder).is_some())?;
    let is_pi = |folder: &Path| {
        name(folder).is_some_and(|(name, _)| name == Name::PiCodingAgent.as_str() || name == FORMER_NAME)
    };
    if !is_pi(folder) {
        return None;
    }
    // A build of the binary leaves a copy of package.json in `dist`.
    let parent =
        folder.parent().filter(|parent| folder.file_name().is_some_and(|name| name == "dist") && is_pi(parent));
    let folder = parent.unwrap_or(folder);
    // Beside a compiled binary there is a package.json, too, but nothing that node could start.
    folder.join("dist").is_dir().then(|| folder.to_owned())
}

fn name(folder: &Path) -> Option<(String, String)> {
    let manifest: Value = serde_json::from_slice(&fs::read(folder.join("package.json")).ok()?).ok()?;
    Some((manifest["name"].as_str()?.to_owned(), manifest["version"].as_str().unwrap_or_default().to_owned()))
}

/// ELF, Mach-O (both word sizes, and universal), PE.
fn is_binary(start: &[u8]) -> bool {
    const MAGIC: [&[u8]; 5] = [b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ"];
    MAGIC.iter().any(|magic| start.starts_with(magic))
}

/// A compiled pi: it carries a `package.json` beside it, or else its own sources.
fn binary(path: &Path) -> Option<Program> {
    let path = real(path).ok()?;
    let beside = path.parent().and_then(name).filter(|(name, _)| name == Name::PiCodingAgent.as_str());
    let version = beside.map(|(_, version)| version);
    let called_pi =
        path.file_name().is_some_and(|name| name.to_string_lossy().trim_start_matches('.').starts_with("pi"));
    let is_pi = version.is_some() || (called_pi && holds(&path, Name::PiCodingAgent.as_str().as_bytes()));
    is_pi.then_some(Program::Binary { path, version })
}

/// Whether a file holds some bytes; read in pieces, as a binary has 100 MB.
fn holds(path: &Path, bytes: &[u8]) -> bool {
    let Ok(mut file) = File::open(path) else { return false };
    let mut buffer = vec![0; 1 << 20];
    let mut kept = 0;
    loop {
        let Ok(read @ 1..) = file.read(&mut buffer[kept..]) else { return false };
        let end = kept + read;
        if memchr::memmem::find(&buffer[..end], bytes).is_some() {
            return true;
        }
        kept = end.min(bytes.len() - 1);
        buffer.copy_within(end - kept..end, 0);
    }
}

/// A path without `.` and `..`, by its text.
pub(super) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}
