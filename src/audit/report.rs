//! What an audit found: counters by family and provider, and the sessions that ended on a failure that another attempt can cure.

use std::collections::BTreeMap;

use super::gaps::Gaps;
use super::judge::PiSays;
use crate::Decision;

pub use super::gaps::Spread;

/// Ended sessions that are listed; more are only counted.
pub const LISTED: usize = 1000;

/// What became of the turn after a failed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Succeeded,
    Failed,
    Aborted,
    OtherModel,
}

/// What a release of pi decided on the failures of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PiCount {
    /// It tried again.
    pub retries: u64,
    /// It took them for a context overflow.
    pub compacts: u64,
    /// It gave up, where the reference would retry or repair.
    pub missed: u64,
    /// It tried again, where the reference would not send the same again (stop or repair).
    pub wasted: u64,
}

/// Where a failed turn stands, and its text as it was (without our prefix, shortened to 8 KiB).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Number of the file in [`Report::paths`].
    pub file: usize,
    /// Line in it, from 1.
    pub line: u64,
    /// The error text; not masked.
    pub text: String,
}

/// The failures of one rule and one provider.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Failed turns.
    pub failed: u64,
    /// By release, in the order of [`Report::against`].
    pub pi: Vec<PiCount>,
    /// Failures that the reference retries, repairs and stops.
    pub retry: u64,
    /// See `retry`.
    pub repair: u64,
    /// See `retry`.
    pub stop: u64,
    /// Failures whose next turn, with the same model, succeeded.
    pub next_succeeded: u64,
    /// Failures whose next turn, with the same model, failed.
    pub next_failed: u64,
    /// Failures whose next turn, with the same model, was aborted.
    pub next_aborted: u64,
    /// Failures after which another model was used.
    pub next_other_model: u64,
    /// Failures after which, sooner or later, a turn with the same model succeeded.
    pub later_succeeded: u64,
    /// Sessions that ended on a failure of this group that another attempt can cure, by the reference.
    pub ended: u64,
    /// Failures by HTTP status; `None`: none is known.
    pub statuses: BTreeMap<Option<u16>, u64>,
    /// The first of them, in order of files.
    pub example: Option<Example>,
    pub(crate) next_gaps: Gaps,
    pub(crate) later_gaps: Gaps,
}

impl Group {
    /// Failures that no turn followed.
    pub fn next_none(&self) -> u64 {
        self.failed - self.next_succeeded - self.next_failed - self.next_aborted - self.next_other_model
    }

    /// Times from a failure to its next turn, where that had the same model and succeeded.
    pub fn next_spread(&self) -> Option<Spread> {
        self.next_gaps.spread()
    }

    /// Times from a failure to the first success with the same model.
    pub fn later_spread(&self) -> Option<Spread> {
        self.later_gaps.spread()
    }

    pub(crate) fn book_next(&mut self, outcome: Next, gap: Option<u64>) {
        match outcome {
            Next::Succeeded => {
                self.next_succeeded += 1;
                gap.into_iter().for_each(|gap| self.next_gaps.add(gap));
            }
            Next::Failed => self.next_failed += 1,
            Next::Aborted => self.next_aborted += 1,
            Next::OtherModel => self.next_other_model += 1,
        }
    }

    pub(crate) fn book_later(&mut self, gap: Option<u64>) {
        self.later_succeeded += 1;
        gap.into_iter().for_each(|gap| self.later_gaps.add(gap));
    }

    pub(crate) fn merge(&mut self, other: Group) {
        self.failed += other.failed;
        self.pi.resize(self.pi.len().max(other.pi.len()), PiCount::default());
        for (mine, its) in self.pi.iter_mut().zip(&other.pi) {
            mine.retries += its.retries;
            mine.compacts += its.compacts;
            mine.missed += its.missed;
            mine.wasted += its.wasted;
        }
        self.retry += other.retry;
        self.repair += other.repair;
        self.stop += other.stop;
        self.next_succeeded += other.next_succeeded;
        self.next_failed += other.next_failed;
        self.next_aborted += other.next_aborted;
        self.next_other_model += other.next_other_model;
        self.later_succeeded += other.later_succeeded;
        self.ended += other.ended;
        for (status, count) in other.statuses {
            *self.statuses.entry(status).or_default() += count;
        }
        let first = |example: &Example| (example.file, example.line);
        self.example = [self.example.take(), other.example].into_iter().flatten().min_by_key(first);
        self.next_gaps.merge(other.next_gaps);
        self.later_gaps.merge(other.later_gaps);
    }
}

/// A session that ended on a failure that another attempt could have cured.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The failure.
    pub failure: Example,
    /// Rule that decided.
    pub rule: String,
    /// Provider of the turn.
    pub provider: String,
    /// Model of the turn.
    pub model: String,
    /// Retry or repair.
    pub decision: Decision,
    /// Time of the entry as it stands in the file.
    pub timestamp: String,
    /// What pi says, by release in the order of [`Report::against`]. Where it retries, its attempts were used up.
    pub pi: Vec<PiSays>,
}

/// Counters of what was read and what was passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Files read.
    pub files: u64,
    /// Files that could not be opened or read to their end, and folders that could not be listed.
    pub unreadable: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Files whose first entry is no session header.
    pub without_header: u64,
    /// Files by version of their header: 1, 2, 3, any other.
    pub versions: [u64; 4],
    /// Lines that are not blank.
    pub lines: u64,
    /// Lines that are no JSON object. Lines that do not matter are only looked at from both ends.
    pub damaged: u64,
    /// Last lines without a line feed that are no JSON object.
    pub half_written: u64,
    /// Lines that stayed too long when shortened.
    pub too_long: u64,
    /// Entries of a type that pi 1.6.0 does not write.
    pub unknown_types: u64,
    /// Assistant messages.
    pub turns: u64,
    /// Failed turns (copies in forked sessions are not among them).
    pub failed: u64,
    /// Turns that failed without a text; they are not judged.
    pub failed_without_text: u64,
    /// Failed turns that a forked session copied from one that was read, too.
    pub copied: u64,
    /// Failed turns whose text carried our prefix.
    pub rewritten: u64,
    /// Sessions that ended on a failure that another attempt can cure.
    pub ended: u64,
}

impl Totals {
    pub(crate) fn merge(&mut self, other: &Totals) {
        let Totals { versions, .. } = other;
        for (mine, its) in self.versions.iter_mut().zip(versions) {
            *mine += its;
        }
        self.files += other.files;
        self.unreadable += other.unreadable;
        self.bytes += other.bytes;
        self.without_header += other.without_header;
        self.lines += other.lines;
        self.damaged += other.damaged;
        self.half_written += other.half_written;
        self.too_long += other.too_long;
        self.unknown_types += other.unknown_types;
        self.turns += other.turns;
        self.failed += other.failed;
        self.failed_without_text += other.failed_without_text;
        self.copied += other.copied;
        self.rewritten += other.rewritten;
        self.ended += other.ended;
    }
}

/// A file or folder that could not be read, or is no session.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Warning {
    /// Which.
    pub path: std::path::PathBuf,
    /// Why.
    pub cause: String,
}

impl Warning {
    pub(crate) fn new(path: &std::path::Path, cause: &std::io::Error) -> Self {
        Warning { path: path.to_owned(), cause: cause.to_string() }
    }
}

/// The result of an audit.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Releases of pi that were asked.
    pub against: Vec<String>,
    /// Files that were read, in order.
    pub paths: Vec<std::path::PathBuf>,
    /// Counters.
    pub totals: Totals,
    /// By rule and provider.
    pub groups: BTreeMap<(String, String), Group>,
    /// Sessions that ended on a failure that another attempt can cure, in order of files, at most [`LISTED`].
    pub ended: Vec<Ended>,
    /// What could not be read, and why.
    pub warnings: Vec<Warning>,
}
