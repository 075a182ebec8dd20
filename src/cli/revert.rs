//! `revert`: takes back what `apply` did.

use super::apply::{advise, target, waiting};
use super::{Context, ExitStatus, style};
use crate::installed::{self, Reverted};
use std::io::Write;
use std::path::PathBuf;

/// Take back what `apply` did to an installed pi
///
/// Puts the kept originals back, byte for byte, and removes the folder .pi-retry-forced. A pi that was updated since is left alone.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pi-retry-forced revert
  pi-retry-forced revert --dry-run | less
  pi-retry-forced revert --pi ~/.npm-global/lib/node_modules/@earendil-works/pi-coding-agent

Exit status: 0 done, or nothing was to do, 2 error.")]
pub(crate) struct Args {
    /// Folder of a pi-coding-agent package, or its executable [default: the pi on the PATH]
    #[arg(long, value_name = "PATH")]
    pi: Option<PathBuf>,
    /// Show the diff and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<ExitStatus> {
    let target = target(args.pi.as_deref())?;
    let root = target.package.root().display();
    if args.dry_run {
        let diff = installed::planned_revert(&target)?;
        if diff.is_empty() {
            writeln!(context.out, "Nothing to do: {root} is not patched by apply.")?;
        }
        context.out.write_all(diff.as_bytes())?;
        return Ok(ExitStatus::Done);
    }
    let mut waits = false;
    let result = installed::revert(&target, &mut |_| Ok(()), &mut || waiting(&mut waits, &mut *context.err));
    let (good, out) = (style::GOOD, &mut *context.out);
    match result.map_err(|error| advise(error, "revert", args.pi.as_deref()))? {
        Reverted::Now { files } => {
            writeln!(out, "{good}Reverted{good:#} {root}")?;
            for file in files {
                writeln!(out, "  {file}")?;
            }
            writeln!(out, "Restart every pi that is running.")?;
        }
        Reverted::Updated { from, to } => writeln!(
            out,
            "Nothing to take back: {root} was updated from {from} to {to} since. Its files are as they were; the record of {from} \
             was removed."
        )?,
        Reverted::Nothing => writeln!(out, "Nothing to do: {root} is not patched by apply.")?,
    }
    Ok(ExitStatus::Done)
}
