//! `audit`: what failed in pi's sessions, what was decided, and what came next.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{Context, ExitStatus, style};
use crate::audit::{Audit, PathError, Reference, Report, Show, default_folder, json, table};

/// A shorter audit shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// Warnings that are printed; more are only counted.
const WARNINGS: usize = 20;

/// Show from pi's session files which turns failed, what pi decided, and what came next
///
/// Reads session files (formats 1 to 3) and groups failed turns by the rule that decides on them and by provider: what pi
/// decides, what the reference decides, whether the next turn of the same provider and model succeeded and after how long,
/// and which sessions ended on a failure that another attempt could have cured.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pi-retry-forced audit
  pi-retry-forced audit ~/.pi/agent/sessions/--home-me-project-- --against 1.6.0,0.87.1
  pi-retry-forced audit old-session.jsonl --json > audit.json

Without a path, pi's own session folder is read: PI_CODING_AGENT_SESSION_DIR, or the setting sessionDir, or \
sessions below PI_CODING_AGENT_DIR, or ~/.pi/agent/sessions. Files are only read. Lines that are damaged are counted \
and passed over.

Exit status: 0 done, 2 error.")]
pub(crate) struct Args {
    /// Session files, or folders to search for .jsonl files
    paths: Vec<PathBuf>,
    /// Versions of pi-ai to compare with [default: the newest known]
    #[arg(long, value_name = "VERSION", value_delimiter = ',')]
    against: Vec<String>,
    /// Print one JSON object; times are in milliseconds
    #[arg(long)]
    json: bool,
    /// Show texts and paths as they are, instead of masking ids, keys, tokens, addresses and paths
    #[arg(long, visible_alias = "unmasked")]
    show_texts: bool,
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitStatus> {
    let judge = Reference::against(&args.against)?;
    let found = find(&args.paths)?;
    let Some(audit) = found.filter(|audit| !audit.is_empty() || !args.paths.is_empty()) else {
        writeln!(context.out, "pi has no sessions here yet, so there is nothing to say")?;
        return Ok(ExitStatus::Done);
    };
    if audit.is_empty() {
        bail!("no session files (.jsonl) found: pass a session file, or the folder that holds them");
    }
    let bar = Progress::new(audit.bytes());
    let report = audit.run(&judge, &|bytes| bar.advance(bytes));
    bar.bar.finish_and_clear();
    let show = Show { unmasked: args.show_texts };
    warn(&report, show, &mut *context.err)?;
    let versions: u64 = report.totals.versions.iter().sum();
    if versions == 0 && report.totals.turns == 0 && report.totals.failed == 0 {
        bail!("none of the {} files could be read as a session of pi; each is told above", report.paths.len());
    }
    if args.json { json(&report, show, &mut *context.out) } else { table(&report, show, &mut *context.out) }?;
    Ok(ExitStatus::Done)
}

/// The files; none if pi has not made the folder that it would keep them in.
fn find(paths: &[PathBuf]) -> anyhow::Result<Option<Audit>> {
    if !paths.is_empty() {
        return Audit::find(paths).map(Some).map_err(|error| anyhow!("{error}; {}", advice(&error)));
    }
    let home = std::env::home_dir();
    let folder = default_folder(&|name| std::env::var_os(name), home.as_deref());
    let Some(folder) = folder else {
        bail!("pi's session folder cannot be found without a home folder: pass it as an argument");
    };
    let names = ["PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR"];
    if !folder.exists() && names.iter().all(|name| std::env::var_os(name).is_none()) {
        return Ok(None);
    }
    Audit::find(&[&folder]).map(Some).map_err(|error| {
        anyhow!("{error}; this is where pi would keep its sessions: if it keeps them elsewhere, pass that folder as an argument")
    })
}

fn advice(error: &PathError) -> &'static str {
    match error.cause.kind() {
        std::io::ErrorKind::NotFound => "check the path",
        std::io::ErrorKind::PermissionDenied => "run this as the user who owns the sessions, or make them readable",
        _ => "pass a session file, or a folder that holds session files",
    }
}

fn warn(report: &Report, show: Show, err: &mut dyn Write) -> std::io::Result<()> {
    let warn = style::WARN;
    for warning in report.warnings.iter().take(WARNINGS) {
        writeln!(err, "{warn}warning:{warn:#} {}", show.warning(warning))?;
    }
    match report.warnings.len().saturating_sub(WARNINGS) {
        0 => Ok(()),
        more => writeln!(err, "{warn}warning:{warn:#} {more} more files or folders like these"),
    }
}

/// A bar on standard error, if that is a terminal, and only once the audit has taken a while.
struct Progress {
    bar: ProgressBar,
    start: Instant,
    shown: std::sync::Once,
}

impl Progress {
    fn new(bytes: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::hidden());
        let template = "{wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Progress { bar, start: Instant::now(), shown: std::sync::Once::new() }
    }

    fn advance(&self, bytes: u64) {
        if self.start.elapsed() >= PATIENCE && std::io::stderr().is_terminal() {
            self.shown.call_once(|| self.bar.set_draw_target(ProgressDrawTarget::stderr()));
        }
        self.bar.inc(bytes);
    }
}
