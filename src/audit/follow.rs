//! What came after each failed turn, along the tree of a session.
//!
//! *Next* is the first assistant message in file order that descends from the failed one; entries without an id (version 1) descend
//! from the entry before them. *Later* is the first successful one in file order that descends from it and has the same
//! provider and model. A session ended on a failure if its last entry descends from a failed turn (or is one) that nothing
//! followed.
//!
//! Only entries below a failure that still waits for its success are remembered, and only so many of them, so that memory
//! does not grow with the file: see [`ENTRIES`], [`FAILURES`] and [`DEPTH`].

use std::collections::{HashMap, VecDeque};

use memchr::memmem::Finder;

use super::entry::{Parent, Place};
use super::report::{Group, Next};

/// Entries below an open failure that are remembered; a branch that leaves from an older one counts as a new root.
const ENTRIES: usize = 1 << 17;

/// Failures that are followed at once; older ones are given up.
const FAILURES: usize = 1 << 15;

/// Open failures on one path that a success is compared with.
const DEPTH: usize = 256;

/// Models with open failures that are looked for in a line before it is parsed.
const NAMES: usize = 8;

/// Milliseconds since 1970.
pub(crate) type Time = Option<i64>;

/// An entry, as far as it matters here.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'a> {
    /// No assistant message.
    Other,
    /// An assistant message that did not fail; `model` is a digest of provider and model.
    Turn { model: u64, outcome: Next, time: Time },
    /// A failed turn that belongs to this group; `name` is the model's.
    Failure { model: u64, name: &'a str, group: usize, time: Time },
}

/// A model with open failures.
struct Model {
    digest: u64,
    /// Finds its name in a line; `None` if JSON could spell the name in several ways.
    finder: Option<Finder<'static>>,
    unsettled: u64,
}

/// A failed turn that is followed.
#[derive(Clone, Copy, Debug)]
struct Failure {
    model: u64,
    group: usize,
    time: Time,
    /// The failure before it on its path.
    before: Option<u64>,
    answered: bool,
    settled: bool,
}

/// Follows one session file.
#[derive(Default)]
pub(crate) struct Follower {
    /// By sequence number, modulo [`FAILURES`].
    failures: Vec<Failure>,
    count: u64,
    unsettled: u64,
    models: Vec<Model>,
    /// Digest of an entry's id to the last failure on the path to it.
    entries: HashMap<u64, u64>,
    order: VecDeque<u64>,
    last: (Option<u64>, Option<u64>),
    /// A line between the last entry and this one could not be read.
    gap: bool,
}

impl Follower {
    /// Forgets the file before.
    pub(crate) fn restart(&mut self) {
        self.failures.clear();
        self.entries.clear();
        self.order.clear();
        self.models.clear();
        (self.count, self.unsettled, self.last, self.gap) = (0, 0, (None, None), false);
    }

    /// Whether no failure is open: then an entry that did not fail need not be told.
    pub(crate) fn is_idle(&self) -> bool {
        self.unsettled == 0
    }

    /// Tells that a line was lost; an entry after it with an unknown parent is taken for its child.
    pub(crate) fn lost_line(&mut self) {
        self.gap = true;
    }

    /// Whether a turn that did not fail can matter to an open failure; if not, it may be told as [`Step::Other`]. It cannot if
    /// no failure is on its path, or if those are answered and none has its model.
    pub(crate) fn concerns(&self, place: Place, line: &[u8]) -> bool {
        let Some(failure) = self.path_of(place).and_then(|number| self.get(number)) else { return false };
        !failure.answered
            || self.models.len() > NAMES
            || self.models.iter().any(|model| model.finder.as_ref().is_none_or(|finder| finder.find(line).is_some()))
    }

    fn get(&self, number: u64) -> Option<Failure> {
        let live = number < self.count && self.count - number <= FAILURES as u64;
        if live { self.failures.get(number as usize % FAILURES).copied() } else { None }
    }

    fn update(&mut self, number: u64, change: impl FnOnce(&mut Failure)) {
        if let Some(failure) = self.failures.get_mut(number as usize % FAILURES) {
            change(failure);
        }
    }

    fn path_of(&self, place: Place) -> Option<u64> {
        match place.parent {
            Parent::Root => None,
            Parent::Before => self.last.1,
            Parent::Id(parent) if self.last.0 == Some(parent) => self.last.1,
            Parent::Id(parent) => self.entries.get(&parent).copied().or(if self.gap { self.last.1 } else { None }),
        }
    }

    /// Takes the next entry of the file and books what it means for the failures before it. Returns the number of a new failure.
    pub(crate) fn step(&mut self, place: Place, step: Step<'_>, groups: &mut [Group]) -> Option<u64> {
        let mut path = self.path_of(place);
        self.gap = false;
        let (model, outcome, time) = match step {
            Step::Other => {
                self.enter(place.id, path);
                return None;
            }
            Step::Turn { model, outcome, time } => (model, outcome, time),
            Step::Failure { model, time, .. } => (model, Next::Failed, time),
        };
        if let Some((number, failure)) = path.and_then(|number| Some((number, self.get(number)?)))
            && !failure.answered
        {
            self.update(number, |failure| failure.answered = true);
            let outcome = if failure.model == model { outcome } else { Next::OtherModel };
            groups[failure.group].book_next(outcome, between(failure.time, time));
        }
        if outcome == Next::Succeeded {
            self.settle(path, model, time, groups);
        }
        while let Some(number) = path {
            match self.get(number) {
                Some(failure) if failure.settled => path = failure.before,
                Some(_) => break,
                None => path = None,
            }
        }
        let mut new = None;
        if let Step::Failure { model, name, group, time } = step {
            let failure = Failure { model, group, time, before: path, answered: false, settled: false };
            new = Some(self.count);
            path = new;
            self.add(failure, name);
        }
        self.enter(place.id, path);
        new
    }

    fn add(&mut self, failure: Failure, name: &str) {
        let slot = self.count as usize % FAILURES;
        match self.failures.get_mut(slot) {
            Some(old) => {
                let old = std::mem::replace(old, failure);
                if !old.settled {
                    self.close(old.model);
                }
            }
            None => self.failures.push(failure),
        }
        self.count += 1;
        self.unsettled += 1;
        if let Some(model) = self.models.iter_mut().find(|model| model.digest == failure.model) {
            model.unsettled += 1;
        } else if self.models.len() <= NAMES {
            // One more than are looked for tells that there are too many.
            let plain = name.bytes().all(|byte| (b' '..=b'~').contains(&byte) && !b"\"\\".contains(&byte));
            let finder = plain.then(|| Finder::new(format!("\"{name}\"").as_bytes()).into_owned());
            self.models.push(Model { digest: failure.model, finder, unsettled: 1 });
        }
    }

    /// Takes a failure of this model off the open ones.
    fn close(&mut self, model: u64) {
        self.unsettled -= 1;
        if self.unsettled == 0 {
            self.models.clear();
        }
        if self.models.len() > NAMES {
            // Not all are known any more, until none is open.
            return;
        }
        if let Some(at) = self.models.iter().position(|known| known.digest == model) {
            self.models[at].unsettled -= 1;
            if self.models[at].unsettled == 0 {
                self.models.swap_remove(at);
            }
        }
    }

    fn settle(&mut self, mut path: Option<u64>, model: u64, time: Time, groups: &mut [Group]) {
        for _ in 0..DEPTH {
            let Some((number, failure)) = path.and_then(|number| Some((number, self.get(number)?))) else { break };
            if failure.model == model && !failure.settled {
                groups[failure.group].book_later(between(failure.time, time));
                self.update(number, |failure| failure.settled = true);
                self.close(model);
            }
            path = failure.before;
        }
    }

    fn enter(&mut self, id: Option<u64>, path: Option<u64>) {
        self.last = (id, path);
        if self.unsettled == 0 {
            self.entries.clear();
            self.order.clear();
            self.last.1 = None;
        } else if let (Some(id), Some(path)) = (id, path) {
            if self.order.len() == ENTRIES
                && let Some(oldest) = self.order.pop_front()
            {
                self.entries.remove(&oldest);
            }
            self.entries.insert(id, path);
            self.order.push_back(id);
        }
    }

    /// The failure that the session ended on, if it did.
    pub(crate) fn ended_on(&self) -> Option<u64> {
        let number = self.last.1?;
        self.get(number).filter(|failure| !failure.answered).map(|_| number)
    }
}

/// Milliseconds from one moment to another; a clock that was set back counts as no time.
fn between(from: Time, to: Time) -> Option<u64> {
    Some(u64::try_from(to? - from?).unwrap_or(0))
}
