//! `evidence`: writes the report.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{Context, ExitStatus, style};
use crate::evidence::runs::{self, Record};
use crate::evidence::{Options, Report, default_releases};
use crate::upstream::{Name, Release};

/// Shorter work shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// Write a report of how often pi's retry verdict is wrong, why, and what the change does
///
/// Markdown with figures (SVG), and all numbers as JSON: how often a request id alone turns the verdict, exactly and by drawing
/// ids; what pi-ai makes of every status in ten APIs, before and after the change; recorded failures by release and by profile of
/// the reference; and what the change leaves alone. The same options give the same files.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pi-retry-forced evidence --out report
  pi-retry-forced evidence --out report --releases 0.87.1,1.6.0 --samples 1000000
  pi-retry-forced evidence --out report --run

Without --run the runs of pi-ai are those recorded with this version, and no network is needed.

Exit status: 0 written, 2 error; then nothing is written.")]
pub(crate) struct Args {
    /// The folder for the report; it is made
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Releases of pi-ai to cover [default: the first and last of each era]
    #[arg(long, value_name = "VERSION", value_delimiter = ',')]
    releases: Vec<String>,
    /// Ids to draw of each format
    #[arg(long, value_name = "NUMBER", default_value_t = Options::default().samples, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    samples: u64,
    /// Another stream of random ids
    #[arg(long, value_name = "NUMBER", default_value_t = Options::default().seed)]
    seed: u64,
    /// Run pi-ai again, which npm installs, instead of using the recorded runs
    #[arg(long)]
    run: bool,
    /// Replace the report that is there
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<ExitStatus> {
    let releases = releases(&args.releases)?;
    check(&args.out, args.force)?;
    let runs = if args.run { run_anew(&args.releases, context)? } else { recorded(&args.releases)? };
    let options = Options { releases, samples: args.samples, seed: args.seed, ..Options::default() };

    let bar = ProgressBar::with_draw_target(Some(options.drawn()), ProgressDrawTarget::hidden());
    if let Ok(style) = ProgressStyle::with_template("drawing ids {bar:40} {percent:>3} %, {eta} left") {
        bar.set_style(style);
    }
    let started = Instant::now();
    let terminal = std::io::stderr().is_terminal();
    let report = Report::new(options, runs, &|count| {
        if terminal && bar.is_hidden() && started.elapsed() > PATIENCE {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        bar.inc(count);
    });
    bar.finish_and_clear();
    let report = report?;
    let files = report.files()?;
    write(&args.out, &files)?;
    summary(&report, &args.out, &files, &mut *context.out)?;
    Ok(ExitStatus::Done)
}

fn releases(named: &[String]) -> anyhow::Result<Vec<&'static Release>> {
    if named.is_empty() {
        return Ok(default_releases());
    }
    let mut releases = Vec::new();
    for version in named {
        let release = Release::find_supported(Name::PiAi, version)?;
        if !releases.contains(&release) {
            releases.push(release);
        }
    }
    releases.sort_by(|a, b| a.version().cmp(b.version()));
    Ok(releases)
}

/// The recorded runs of the named releases.
fn recorded(named: &[String]) -> anyhow::Result<BTreeMap<String, Record>> {
    let mut runs = runs::recorded()?;
    runs.retain(|version, _| named.is_empty() || named.iter().any(|name| name.trim() == version));
    Ok(runs)
}

fn run_anew(named: &[String], context: &mut Context) -> anyhow::Result<BTreeMap<String, Record>> {
    let releases: Vec<&Release> = if named.is_empty() {
        runs::releases().collect()
    } else {
        named.iter().map(|name| Release::find_supported(Name::PiAi, name)).collect::<Result<_, _>>()?
    };
    let folder = tempfile::tempdir().context("there is no folder for temporary files")?;
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(100));
    let mut records = BTreeMap::new();
    for release in releases {
        let version = release.version().to_string();
        let tell = |what: &str| bar.set_message(format!("pi-ai {version}: {what}"));
        let record = runs::record(release, folder.path(), &tell).with_context(|| format!("pi-ai {version}"))?;
        records.insert(version, record);
    }
    bar.finish_and_clear();
    if runs::recorded()?.iter().any(|(version, known)| records.get(version).is_some_and(|record| record != known)) {
        let warn = style::WARN;
        writeln!(
            context.err,
            "{warn}warning:{warn:#} these runs differ from those that were recorded with this version"
        )?;
    }
    Ok(records)
}

/// Files of a report, whatever it covers.
const FILES: [&str; 5] = ["report.md", "report.json", "chances.svg", "statuses.svg", "corpus.svg"];

/// Before anything is computed: may the report be written there?
fn check(out: &Path, force: bool) -> anyhow::Result<()> {
    if out.exists() && !out.is_dir() {
        bail!("{} is a file; name a folder with --out", out.display());
    }
    let there: Vec<&str> = FILES.iter().copied().filter(|file| out.join(file).exists()).collect();
    if !there.is_empty() && !force {
        bail!(
            "{} holds {} already: nothing was written; --force replaces the report, --out writes elsewhere",
            out.display(),
            there.join(", ")
        );
    }
    Ok(())
}

fn write(out: &Path, files: &[(&'static str, String)]) -> anyhow::Result<()> {
    let cannot = || format!("cannot write below {}: choose another folder with --out", out.display());
    std::fs::create_dir_all(out).with_context(cannot)?;
    for (name, content) in files {
        std::fs::write(out.join(name), content).with_context(cannot)?;
    }
    Ok(())
}

fn summary(report: &Report, out: &Path, files: &[(&'static str, String)], to: &mut dyn Write) -> std::io::Result<()> {
    let strong = style::STRONG;
    writeln!(to, "{strong}Ids that alone turn the verdict, % (exact){strong:#}")?;
    for group in &report.groups {
        let shown = report.formats.iter().zip(&group.exact).take(4);
        let cells: Vec<String> =
            shown.map(|(format, chance)| format!("{} {:.3}", format.name, chance * 100.0)).collect();
        let (first, last) = (&group.releases[0], &group.releases[group.releases.len() - 1]);
        writeln!(
            to,
            "  {:16} {}",
            if first == last { first.clone() } else { format!("{first} to {last}") },
            cells.join(", ")
        )?;
    }
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    writeln!(to, "{}: {}", out.display(), names.join(", "))
}
