//! Reads one session file after the other and books what it finds.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Take};
use std::path::Path;

use memchr::memmem::Finder;
use serde_json::Value;

use super::entry::{self, Author, Entry};
use super::follow::{Follower, Step};
use super::judge::{Judge, PiSays};
use super::lines::Lines;
use super::report::{Ended, Example, Group, LISTED, Next, PiCount, Totals, Warning};
use super::time;
use crate::{Decision, REWRITE_PREFIX as PREFIX};

/// Failures whose text is remembered in case that the session ended on one of them.
const REMEMBERED: usize = 32;

/// What is kept of an error text for display, in bytes.
const TEXT_KEPT: usize = 8 << 10;

/// What is said of a file with neither a header nor a message.
const NO_SESSION: &str = "no session file: it has no session header and no message";

/// Bytes between two reports of progress.
const PROGRESS: u64 = 4 << 20;

/// Where a worker reads from: an open file up to the length it had when it was opened.
type Source = Take<Box<dyn Read + Send>>;

/// What one worker found.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) totals: Totals,
    pub(crate) groups: BTreeMap<(String, String), Group>,
    pub(crate) ended: Vec<Ended>,
    pub(crate) warnings: Vec<(usize, Warning)>,
}

/// Reads files, one at a time, with the same buffers.
pub(crate) struct Walker<'a> {
    judge: &'a dyn Judge,
    /// Names of all files that are read: copies of their failures in forked sessions are not counted again.
    names: &'a HashSet<OsString>,
    progress: &'a (dyn Fn(u64) + Sync),
    stop_reason: Finder<'static>,
    lines: Lines<Source>,
    follower: Follower,
    totals: Totals,
    groups: Vec<Group>,
    /// By rule, a line feed and the provider.
    numbers: HashMap<String, usize>,
    recent: VecDeque<(u64, usize, Ended)>,
    ended: Vec<Ended>,
    warnings: Vec<(usize, Warning)>,
    key: String,
    answers: Vec<PiSays>,
}

/// What is known of the file at hand.
struct Session {
    number: usize,
    line: u64,
    any_entry: bool,
    /// A header or a message was seen, or a line that may have been one.
    is_session: bool,
    /// Entries up to this time were copied from a session that is read, too.
    copied_until: Option<i64>,
}

impl<'a> Walker<'a> {
    pub(crate) fn new(judge: &'a dyn Judge, names: &'a HashSet<OsString>, progress: &'a (dyn Fn(u64) + Sync)) -> Self {
        let nothing: Box<dyn Read + Send> = Box::new(io::empty());
        Walker {
            judge,
            names,
            progress,
            stop_reason: entry::stop_reason_finder(),
            lines: Lines::new(nothing.take(0)),
            follower: Follower::default(),
            totals: Totals::default(),
            groups: Vec::new(),
            numbers: HashMap::new(),
            recent: VecDeque::new(),
            ended: Vec::new(),
            warnings: Vec::new(),
            key: String::new(),
            answers: Vec::new(),
        }
    }

    /// Reads a file; trouble becomes a warning.
    pub(crate) fn read_file(&mut self, number: usize, path: &Path, name: &Path) {
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
        let outcome = opened.and_then(|(length, file)| self.read(number, Box::new(file), length));
        match outcome {
            Ok(odd) => {
                self.totals.files += 1;
                self.warnings.extend(odd.map(|odd| (number, Warning::new(name, &io::Error::other(odd)))));
            }
            Err(error) => {
                self.totals.unreadable += 1;
                self.warnings.push((number, Warning::new(name, &error)));
            }
        }
    }

    /// Reads a session of at most this length: what is written to it meanwhile is left for the next audit. What is odd about
    /// the whole file is returned.
    fn read(&mut self, number: usize, source: Box<dyn Read + Send>, length: u64) -> io::Result<Option<&'static str>> {
        self.lines.restart(source.take(length));
        self.follower.restart();
        self.recent.clear();
        let mut session = Session { number, line: 0, any_entry: false, is_session: false, copied_until: None };
        let mut reported = 0;
        // Taken out for the loop, as a line borrows the reader while the rest of `self` is changed.
        let nothing: Box<dyn Read + Send> = Box::new(io::empty());
        let mut lines = std::mem::replace(&mut self.lines, Lines::idle(nothing.take(0)));
        let outcome = loop {
            match lines.next() {
                Ok(Some(line)) => {
                    session.line += 1;
                    self.line(&mut session, line.bytes, line.ended, line.too_long);
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
            reported += lines.take_progress();
            if reported >= PROGRESS {
                self.totals.bytes += reported;
                (self.progress)(std::mem::take(&mut reported));
            }
        };
        reported += lines.take_progress();
        self.totals.bytes += reported;
        (self.progress)(reported);
        self.lines = lines;
        self.finish();
        outcome?;
        if session.is_session { Ok(None) } else { Ok(Some(NO_SESSION)) }
    }

    fn line(&mut self, session: &mut Session, bytes: &[u8], ended: bool, too_long: bool) {
        // Some editors put a mark at the start of a file.
        let bytes = if session.line == 1 { bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes) } else { bytes };
        let bytes = trim(bytes);
        let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return };
        self.totals.lines += 1;
        if too_long {
            self.totals.too_long += 1;
            session.is_session = true;
            return self.follower.lost_line();
        }
        let looks_whole = *first == b'{' && *last == b'}';
        let head = if looks_whole && ended { entry::head(bytes) } else { None };
        session.is_session |= head.as_ref().is_some_and(|head| head.header || head.message);
        if let Some(head) = head.filter(|head| session.any_entry && !head.header) {
            let turn = head.author == Author::Model;
            let open = !self.follower.is_idle();
            let failed = turn && entry::may_have_failed(bytes, &self.stop_reason);
            let concerns = |place| turn && self.follower.concerns(place, bytes);
            let matters = failed || (open && head.place.is_none_or(concerns));
            if !matters {
                self.totals.turns += u64::from(turn);
                self.totals.unknown_types += u64::from(!head.known_kind);
                if let Some(place) = head.place.filter(|_| open) {
                    self.follower.step(place, Step::Other, &mut self.groups);
                }
                return;
            }
        }
        match looks_whole.then(|| entry::parse(bytes)).flatten() {
            Some(entry) => self.entry(session, entry),
            None => {
                if ended {
                    self.totals.damaged += 1;
                } else {
                    self.totals.half_written += 1;
                }
                self.follower.lost_line();
            }
        }
    }

    fn entry(&mut self, session: &mut Session, entry: Entry) {
        let header = entry.kind.as_deref() == Some("session");
        session.is_session |= header || entry.kind.as_deref() == Some("message");
        if !session.any_entry {
            session.any_entry = true;
            if header {
                // The first versions did not write one.
                let version = entry.version.unwrap_or(1);
                self.totals.versions[match version {
                    1..=3 => version as usize - 1,
                    _ => 3,
                }] += 1;
                let parent = entry.parent_session.as_deref().and_then(|path| path.rsplit(['/', '\\']).next());
                if parent.is_some_and(|name| self.names.contains(OsStr::new(name))) {
                    session.copied_until = entry.timestamp.as_deref().and_then(time::parse);
                }
            } else {
                self.totals.without_header += 1;
            }
        }
        if header {
            return;
        }
        self.totals.unknown_types += u64::from(!entry.kind.as_deref().is_some_and(entry::is_known));
        if !entry.is_turn() {
            self.follower.step(entry.place, Step::Other, &mut self.groups);
            return;
        }
        self.totals.turns += 1;
        let clock = entry.timestamp.as_deref().and_then(time::parse).or_else(|| {
            let millis = entry.message.as_ref()?.get("timestamp")?;
            millis.as_i64().or_else(|| Some(millis.as_f64()? as i64))
        });
        let model = {
            let (provider, model) =
                (entry.text("provider").unwrap_or_default(), entry.text("model").unwrap_or_default());
            entry::digest(format!("{provider}\n{model}").as_bytes())
        };
        let outcome = match entry.text("stopReason") {
            Some("error") => {
                if entry.text("errorMessage").is_some_and(|text| !text.is_empty()) {
                    return self.failure(session, entry, model, clock);
                }
                self.totals.failed_without_text += 1;
                Next::Failed
            }
            Some("aborted") => Next::Aborted,
            _ => Next::Succeeded,
        };
        self.follower.step(entry.place, Step::Turn { model, outcome, time: clock }, &mut self.groups);
    }

    fn failure(&mut self, session: &Session, mut entry: Entry, model: u64, clock: Option<i64>) {
        if session.copied_until.is_some_and(|until| clock.is_some_and(|clock| clock <= until)) {
            self.totals.copied += 1;
            return;
        }
        self.totals.failed += 1;
        let Some(message) = entry.message.as_mut() else { return };
        let mut text = match message.get_mut("errorMessage") {
            Some(Value::String(text)) => std::mem::take(text),
            _ => return,
        };
        if text.starts_with(PREFIX) {
            self.totals.rewritten += 1;
            while text.starts_with(PREFIX) {
                text.drain(..PREFIX.len());
            }
            // The rewrite set this field, too.
            if message.get("errorStatus").and_then(Value::as_u64) == Some(503) {
                message.remove("errorStatus");
            }
        }
        message.insert("errorMessage".into(), Value::String(text));
        let ruling = self.judge.reference(message);
        let text = entry.text("errorMessage").unwrap_or_default();
        self.answers.clear();
        self.judge.pi(text, entry.text("provider"), &mut self.answers);
        let provider = entry.text("provider").unwrap_or("unknown");

        self.key.clear();
        self.key.extend([ruling.rule, "\n", provider]);
        let number = match self.numbers.get(&self.key) {
            Some(number) => *number,
            None => {
                self.groups.push(Group { pi: vec![PiCount::default(); self.answers.len()], ..Group::default() });
                self.numbers.insert(self.key.clone(), self.groups.len() - 1);
                self.groups.len() - 1
            }
        };
        let example = || Example { file: session.number, line: session.line, text: beginning(text).to_owned() };
        let group = &mut self.groups[number];
        group.failed += 1;
        match ruling.decision {
            Decision::Retry => group.retry += 1,
            Decision::Repair => group.repair += 1,
            Decision::Stop => group.stop += 1,
        }
        for (count, answer) in group.pi.iter_mut().zip(&self.answers) {
            match answer {
                PiSays::Retries => {
                    count.retries += 1;
                    count.wasted += u64::from(ruling.decision != Decision::Retry);
                }
                PiSays::Compacts => count.compacts += 1,
                PiSays::GivesUp => count.missed += u64::from(ruling.decision != Decision::Stop),
            }
        }
        *group.statuses.entry(ruling.status).or_default() += 1;
        let is_first = group.example.as_ref().is_none_or(|old| session.number < old.file);
        if is_first {
            group.example = Some(example());
        }
        let name = entry.text("model").unwrap_or_default();
        let step = Step::Failure { model, name, group: number, time: clock };
        let Some(failure) = self.follower.step(entry.place, step, &mut self.groups) else { return };
        if ruling.decision == Decision::Stop {
            return;
        }
        if self.recent.len() == REMEMBERED {
            self.recent.pop_front();
        }
        let ended = Ended {
            failure: example(),
            rule: ruling.rule.to_owned(),
            provider: provider.to_owned(),
            model: entry.text("model").unwrap_or("unknown").to_owned(),
            decision: ruling.decision,
            timestamp: entry.timestamp.clone().unwrap_or_default(),
            pi: self.answers.clone(),
        };
        self.recent.push_back((failure, number, ended));
    }

    /// Books the end of a file.
    fn finish(&mut self) {
        let Some(failure) = self.follower.ended_on() else { return };
        let Some((_, group, ended)) = self.recent.drain(..).find(|(number, ..)| *number == failure) else { return };
        self.groups[group].ended += 1;
        self.totals.ended += 1;
        // A worker takes files in order, so what it drops comes after what it keeps.
        if self.ended.len() < LISTED {
            self.ended.push(ended);
        }
    }

    pub(crate) fn into_findings(self) -> Findings {
        let mut groups = self.groups.into_iter().map(Some).collect::<Vec<_>>();
        let named = self.numbers.into_iter().filter_map(|(key, number)| {
            let (rule, provider) = key.split_once('\n')?;
            Some(((rule.to_owned(), provider.to_owned()), groups.get_mut(number)?.take()?))
        });
        let groups = named.collect();
        Findings { totals: self.totals, groups, ended: self.ended, warnings: self.warnings }
    }
}

/// Takes white space off both ends.
fn trim(bytes: &[u8]) -> &[u8] {
    let is_text = |byte: &u8| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let from = bytes.iter().position(is_text).unwrap_or(bytes.len());
    let to = bytes.iter().rposition(is_text).map_or(from, |at| at + 1);
    &bytes[from..to]
}

/// The beginning of a text, for display.
fn beginning(text: &str) -> &str {
    let mut to = text.len().min(TEXT_KEPT);
    while !text.is_char_boundary(to) {
        to -= 1;
    }
    &text[..to]
}
