//! An audit of pi's session files: which turns failed, what pi decided, what the reference decides, and what came next.
//!
//! A session file holds one JSON object a line: a header, then entries that form a tree (`id`, `parentId`; version 1 of the
//! format has none, and each entry follows the one before it). Of these, assistant messages with `stopReason: "error"` and a
//! text are judged. Texts that the extension rewrote are judged without its prefix. A forked session begins with copies of
//! its parent's entries; if the parent is read as well, failures among them are counted there only.
//!
//! Files are read as they are: a damaged or half-written line, an entry of an unknown type or a later version is counted and
//! passed over. Memory does not grow with their size: see `lines` and `follow`.

mod entry;
mod files;
mod follow;
mod gaps;
mod judge;
mod lines;
mod mask;
mod render;
mod report;
mod secret;
mod sessions;
mod time;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fmt, io, thread};

pub use files::default_folder;
pub use judge::{Judge, PiSays, Reference};
pub use mask::mask;
pub use render::{Show, json, table};
pub use report::{Ended, Example, Group, LISTED, PiCount, Report, Spread, Totals, Warning};

/// Threads that read files; memory is bounded for each of them.
const THREADS: usize = 2;

/// A path that was named but cannot be read.
#[derive(Debug)]
pub struct PathError {
    /// The path.
    pub path: PathBuf,
    /// What is wrong with it.
    pub cause: io::Error,
}

impl fmt::Display for PathError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "cannot read {}: {}", self.path.display(), self.cause)
    }
}

impl std::error::Error for PathError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

/// The session files below some paths, ready to be read.
pub struct Audit {
    search: files::Search,
}

impl Audit {
    /// Finds the session files: a named file, or every `.jsonl` file in a named folder and below it.
    ///
    /// # Errors
    ///
    /// The first path that does not exist, cannot be opened, or is neither a file nor a folder. What cannot be read further
    /// down becomes a warning of the report.
    pub fn find<P: AsRef<Path>>(paths: &[P]) -> Result<Audit, PathError> {
        let mut search = files::Search::default();
        for path in paths.iter().map(AsRef::as_ref) {
            search.add(path).map_err(|cause| PathError { path: path.to_owned(), cause })?;
        }
        Ok(Audit { search })
    }

    /// How many files were found.
    pub fn len(&self) -> usize {
        self.search.files.len()
    }

    /// Whether none was found.
    pub fn is_empty(&self) -> bool {
        self.search.files.is_empty()
    }

    /// Length of all files together, in bytes.
    pub fn bytes(&self) -> u64 {
        self.search.files.iter().map(|file| file.length).sum()
    }

    /// Reads them. `progress` is told now and then how many bytes more were read; the result does not depend on the threads.
    pub fn run(self, judge: &dyn Judge, progress: &(dyn Fn(u64) + Sync)) -> Report {
        let files::Search { files, warnings, copies: _copies, .. } = self.search;
        let names: HashSet<_> = files.iter().filter_map(|file| Some(file.name.file_name()?.to_owned())).collect();
        let next = AtomicUsize::new(0);
        let all = Mutex::new(Vec::new());
        let work = || {
            let mut walker = sessions::Walker::new(judge, &names, progress);
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(file) = files.get(number) else { break };
                walker.read_file(number, &file.path, &file.name);
            }
            let mut all = all.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            all.push(walker.into_findings());
        };
        thread::scope(|scope| {
            for _ in 1..THREADS.min(files.len()) {
                scope.spawn(work);
            }
            work();
        });

        let mut report = Report { against: judge.releases().to_vec(), warnings, ..Report::default() };
        report.totals.unreadable = report.warnings.len() as u64;
        let mut later_warnings = Vec::new();
        for findings in all.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
            report.totals.merge(&findings.totals);
            for (key, group) in findings.groups {
                report.groups.entry(key).or_default().merge(group);
            }
            report.ended.extend(findings.ended);
            later_warnings.extend(findings.warnings);
        }
        report.ended.sort_by_key(|ended| ended.failure.file);
        report.ended.truncate(LISTED);
        later_warnings.sort();
        report.warnings.extend(later_warnings.into_iter().map(|(_, warning)| warning));
        report.paths = files.into_iter().map(|file| file.name).collect();
        report
    }
}
