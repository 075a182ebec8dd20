//! Evidence that the defect is real, what the change does, and that nothing else moves: a report whose every number can be made again.
//!
//! [`Report::new`] computes: the [chances](Automata) that a request id alone turns a verdict, exactly and by [drawing](sample())
//! ids; the verdicts of pi-ai's own provider modules on every status, from [runs] before and after the change; the
//! recorded failures as judged by each release and by the reference ([`corpus`]); and what stays as it is ([`untouched`]).
//! The same options give the same report, byte for byte, on every machine.

mod chance;
pub mod corpus;
mod figures;
mod format;
mod json;
mod markdown;
mod random;
pub mod runs;
mod sample;
mod tables;
pub mod untouched;

use std::collections::BTreeMap;

use crate::upstream::{Era, Name, PiClassifier, Release};
use crate::{Failure, Profile, classify};

pub use chance::{Around, Automata, ChanceError, RELAY_FAILURE};
pub use format::IdFormat;
pub use random::Random;
pub use sample::{Sample, sample};

use corpus::Corpus;
use runs::Record;

/// What a report shall cover.
#[derive(Clone, Debug)]
pub struct Options {
    /// Releases of pi-ai, oldest first; see [`default_releases`].
    pub releases: Vec<&'static Release>,
    /// How many ids are drawn of each format.
    pub samples: u64,
    /// How many of each format are put to the reference.
    pub reference_samples: u64,
    /// Names the random streams.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { releases: default_releases(), samples: 200_000, reference_samples: 2_000, seed: 1 }
    }
}

impl Options {
    /// How many ids are drawn in all.
    pub fn drawn(&self) -> u64 {
        (self.samples + self.reference_samples) * IdFormat::all().len() as u64
    }
}

/// The first and the last release of each era.
pub fn default_releases() -> Vec<&'static Release> {
    let ends = |era: &Era| {
        let releases =
            Release::all_supported(Name::PiAi).iter().filter(|r| r.era().is_some_and(|e| e.name() == era.name()));
        let releases: Vec<_> = releases.collect();
        let (first, last) = (releases.first().copied(), releases.last().copied());
        first.into_iter().chain(last.filter(|_| releases.len() > 1)).collect::<Vec<_>>()
    };
    Era::all().iter().flat_map(ends).collect()
}

/// Consecutive releases with the same chances.
pub struct Group {
    /// Their versions.
    pub releases: Vec<String>,
    /// The digit tokens of their lists, as written there.
    pub tokens: String,
    /// The exact chance of each format that the id alone turns the verdict, in the order of [`Report::formats`].
    pub exact: Vec<f64>,
    /// The same by drawing ids.
    pub sampled: Vec<Sample>,
}

/// Everything that the report says.
pub struct Report {
    /// What was asked for.
    pub options: Options,
    /// The id formats.
    pub formats: Vec<IdFormat>,
    /// Chances, by groups of releases, oldest first.
    pub groups: Vec<Group>,
    /// Ids that turn the verdict of the reference, by profile and format.
    pub reference: Vec<(Profile, Vec<Sample>)>,
    /// The collections of recorded failures.
    pub corpora: Vec<Corpus>,
    /// The classifier of each release.
    pub classifiers: Vec<PiClassifier>,
    /// The classifier of the newest of them, which the change is compared with.
    pub newest: PiClassifier,
    /// Runs before and after the change, by release.
    pub runs: BTreeMap<String, Record>,
}

/// Differences below this, of one, are words that random letters spell.
const SPELLED: f64 = 1e-6;

impl Report {
    /// Computes it. `progress` is told of ids drawn; [`Options::drawn`] says how many there are.
    ///
    /// # Errors
    /// If no release is named, one has no classifier that is known, or the crate's own data are damaged.
    pub fn new(
        options: Options,
        runs: BTreeMap<String, Record>,
        progress: &(dyn Fn(u64) + Sync),
    ) -> anyhow::Result<Self> {
        for release in &options.releases {
            release.require_supported()?;
        }
        let version = |release: &&Release| release.version().to_string();
        let versions: Vec<String> = options.releases.iter().map(version).collect();
        let classifiers = corpus::classifiers(&versions)?;
        let newest = *classifiers.last().ok_or_else(|| anyhow::anyhow!("no release is named"))?;
        let formats = IdFormat::all();
        let mut groups = exact(&options.releases, &formats)?;
        let reference = draw(&options, &formats, &mut groups, progress)?;
        Ok(Self { options, formats, groups, reference, corpora: corpus::all()?, classifiers, newest, runs })
    }

    /// The files of the report: name and content.
    ///
    /// # Errors
    /// If a figure cannot be drawn.
    pub fn files(&self) -> anyhow::Result<Vec<(&'static str, String)>> {
        let mut files = vec![("report.md", markdown::write(self)), ("report.json", json::write(self))];
        files.extend(figures::draw(self)?);
        Ok(files)
    }
}

fn exact(releases: &[&'static Release], formats: &[IdFormat]) -> anyhow::Result<Vec<Group>> {
    // One computation for each era, all eras at once.
    let mut eras: Vec<&'static Era> = Vec::new();
    for era in releases.iter().filter_map(|release| release.era()) {
        if !eras.iter().any(|known| known.name() == era.name()) {
            eras.push(era);
        }
    }
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        while let Some(era) = eras.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
            let chances = Automata::new(era.patterns()).map(|automata| {
                formats.iter().map(|format| automata.retried(&RELAY_FAILURE, format)).collect::<Vec<f64>>()
            });
            found.push((era.name(), chances));
        }
        found
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from).min(eras.len());
    let mut chances = BTreeMap::new();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            for (era, found) in worker.join().expect("an automaton does not panic") {
                chances.insert(era, found?);
            }
        }
        Ok::<_, ChanceError>(())
    })?;
    let mut groups: Vec<Group> = Vec::new();
    for release in releases {
        let Some(era) = release.era() else { continue };
        let (exact, tokens) = (chances[era.name()].clone(), tokens(era));
        let version = release.version().to_string();
        let same = |group: &&mut Group| group.exact.iter().zip(&exact).all(|(a, b)| (a - b).abs() < SPELLED);
        match groups.last_mut().filter(same) {
            Some(group) => group.releases.push(version),
            None => groups.push(Group { releases: vec![version], tokens, exact, sampled: Vec::new() }),
        }
    }
    Ok(groups)
}

/// The patterns of an era that are about digits of a status.
fn tokens(era: &Era) -> String {
    let about = |pattern: &&String| pattern.contains("503") || pattern.len() == 3 && pattern.parse::<u16>().is_ok();
    era.patterns().retryable.iter().filter(about).map(String::as_str).collect::<Vec<_>>().join(" ")
}

fn draw(
    options: &Options,
    formats: &[IdFormat],
    groups: &mut [Group],
    progress: &(dyn Fn(u64) + Sync),
) -> anyhow::Result<Vec<(Profile, Vec<Sample>)>> {
    type Turned = Box<dyn Fn(&str) -> bool + Sync>;
    let empty = RELAY_FAILURE.text("");
    let mut judges: Vec<Turned> = Vec::new();
    for group in groups.iter() {
        let pi = PiClassifier::for_version(&group.releases[0])?;
        let without = pi.is_retryable(&empty);
        judges.push(Box::new(move |text| pi.is_retryable(text) != without));
    }
    for format in formats {
        let samples = sample(&RELAY_FAILURE, format, &judges, (options.samples, options.seed), progress);
        for (group, found) in groups.iter_mut().zip(samples) {
            group.sampled.push(found);
        }
    }
    let judges: Vec<Turned> = Profile::ALL
        .into_iter()
        .map(|profile| -> Turned {
            let decision = move |text: &str| classify(&Failure::from_text(text), profile).decision;
            // With an id that nobody could take for anything; the relay's rule wants one.
            let usual = decision(&RELAY_FAILURE.text("A"));
            Box::new(move |text| decision(text) != usual)
        })
        .collect();
    let mut reference: Vec<_> = Profile::ALL.map(|profile| (profile, Vec::new())).to_vec();
    for format in formats {
        let drawn = (options.reference_samples, options.seed);
        let samples = sample(&RELAY_FAILURE, format, &judges, drawn, progress);
        for ((_, list), found) in reference.iter_mut().zip(samples) {
            list.push(found);
        }
    }
    Ok(reference)
}
