//! `apply`: patches an installed pi in place.

use super::doctor::no_way_back;
use super::{Context, ExitStatus, style};
use crate::installed::{
    self, Applied, By, Error, Inspection, Kind, Options, Originals, State, Surroundings, Target, locate, quoted,
};
use crate::upstream::{Cache, Name};
use anyhow::Context as _;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Patch an installed pi, so that it decides by status
///
/// Changes the bundle of a pi from 0.84.3 on, and the pi-ai that an older one loads. The originals are kept in the folder
/// .pi-retry-forced of the changed package; `revert` puts them back. A run that is killed leaves a pi that works; run either
/// command again.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pi-retry-forced apply
  pi-retry-forced apply --dry-run | less
  pi-retry-forced apply --pi ~/.npm-global/lib/node_modules/@earendil-works/pi-coding-agent

Exit status: 0 done, or nothing was to do, 2 error.")]
pub(crate) struct Args {
    /// Folder of a pi-coding-agent package, or its executable [default: the pi on the PATH]
    #[arg(long, value_name = "PATH")]
    pi: Option<PathBuf>,
    /// Show the diff and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not run the patched classifier in node before it is written
    #[arg(long)]
    no_verify: bool,
    /// Patch files that are not as published
    #[arg(long)]
    edited: bool,
    /// Patch files that other installs use too
    #[arg(long)]
    shared: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<ExitStatus> {
    let target = target(args.pi.as_deref())?;
    let cache = Cache::user().ok();
    let options = Options {
        verify: !args.no_verify,
        edited: args.edited,
        shared: args.shared,
        cache: cache.as_ref(),
        fetch: true,
    };
    if args.no_verify {
        warn(context, "the patched classifier is not run in node before it is written")?;
    }
    if let (Some(cache), Some(release)) = (&cache, target.package.release())
        && cache.cached(release).is_none()
    {
        writeln!(context.err, "Fetching the published {} with npm, to compare.", release.spec())?;
    }
    if args.dry_run {
        return dry_run(args, &target, &options, context);
    }
    let mut waits = false;
    let result = installed::apply(&target, &options, &mut |_| Ok(()), &mut || {
        waiting(&mut waits, &mut *context.err);
    });
    let applied = result.map_err(|error| advise(error, "apply", args.pi.as_deref()))?;
    let root = target.package.root().display();
    match applied {
        Applied::Now { files, warnings, took_back } => {
            for warning in warnings {
                warn(context, &warning)?;
            }
            let (good, out) = (style::GOOD, &mut *context.out);
            if took_back {
                writeln!(out, "An earlier run was taken back first.")?;
            }
            writeln!(out, "{good}Patched{good:#} {root}")?;
            writeln!(out, "  {} {}, {} files", target.package.name(), target.package.version(), files.len())?;
            for file in files {
                writeln!(out, "  {file}")?;
            }
            writeln!(
                out,
                "Restart every pi that is running. `pi-retry-forced revert` takes it back; an update of pi does, too."
            )?;
        }
        Applied::Already(by) => already(by, &installed::inspect(&target, None)?, args, &target, context)?,
        Applied::Recorded => writeln!(
            context.out,
            "{root} is patched already. Its record was missing or damaged; it was written again from the originals in \
             {}, so `pi-retry-forced revert` works again.",
            installed::FOLDER
        )?,
    }
    Ok(ExitStatus::Done)
}

/// Says that nothing is to do, and what else a user should know then.
fn already(
    by: By,
    inspection: &Inspection,
    args: &Args,
    target: &Target,
    context: &mut Context,
) -> std::io::Result<()> {
    let root = target.package.root().display();
    match by {
        By::Apply => writeln!(context.out, "Nothing to do: {root} is patched already.")?,
        By::PatchFile | By::OtherVersion => writeln!(
            context.out,
            "Nothing to do: {root} is patched already, by a patch file. The tool that did it takes it back."
        )?,
    }
    match &inspection.originals {
        Originals::Lost { files } => warn(context, &no_way_back(files))?,
        Originals::Unrecorded => warn(
            context,
            "its record is missing or damaged, but the originals are kept in .pi-retry-forced: `apply` writes the record again, \
             and `revert` works from them, too",
        )?,
        Originals::Kept | Originals::None => {}
    }
    match args.edited {
        true => warn(context, "--edited had no effect: what is patched already is not patched again, edited or not"),
        false => Ok(()),
    }
}

fn dry_run(args: &Args, target: &Target, options: &Options<'_>, context: &mut Context) -> anyhow::Result<ExitStatus> {
    let inspection = installed::inspect(target, options.cache)?;
    match inspection.state {
        State::Patched { by: by @ (By::Apply | By::PatchFile) } => {
            already(by, &inspection, args, target, context)?;
            return Ok(ExitStatus::Done);
        }
        State::Interrupted { patched, of } => {
            writeln!(
                context.out,
                "An earlier run ended after {patched} of {of} files. It would be taken back and done again; `revert --dry-run` shows \
                 the way back."
            )?;
            return Ok(ExitStatus::Done);
        }
        _ => {}
    }
    let plan = installed::plan(target, options)?;
    for warning in &plan.warnings {
        warn(context, warning)?;
    }
    context.out.write_all(plan.set.to_patch().as_bytes())?;
    Ok(ExitStatus::Done)
}

/// The package to change for a pi that a user names.
pub(super) fn target(pi: Option<&Path>) -> anyhow::Result<Target> {
    let surroundings = Surroundings::of_process().context("cannot see the current folder")?;
    if let Some(path) = pi
        && crate::upstream::Package::open(surroundings.folder.join(path), Name::PiAi).is_ok()
    {
        anyhow::bail!(
            "{} is pi-ai, a library: in the project that uses it, run `pi-retry-forced patch` and then what it tells to do (with npm, `npx patch-package@8`)",
            path.display()
        );
    }
    Ok(locate(pi, &surroundings)?.target()?)
}

/// The error, and where the right to write is missing, the command that would have it.
pub(super) fn advise(error: Error, command: &str, pi: Option<&Path>) -> anyhow::Error {
    let Kind::NotWritable { source, .. } = error.kind() else { return error.into() };
    if source.kind() == std::io::ErrorKind::ReadOnlyFilesystem {
        return anyhow::anyhow!(
            "{error}; it cannot be patched there. Install the extension instead: `pi install ./shim`"
        );
    }
    let program = std::env::current_exe().map_or_else(|_| "pi-retry-forced".to_owned(), |path| quoted(&path));
    // Under sudo the PATH is another one, so the pi is named in full.
    let pi = pi.map(Path::to_owned).or_else(|| {
        let surroundings = Surroundings::of_process().ok()?;
        locate(None, &surroundings).ok().map(|pi| pi.root)
    });
    let pi = pi.map(|pi| std::path::absolute(&pi).unwrap_or(pi)).map(|pi| format!(" --pi {}", quoted(&pi)));
    let line = format!("{program} {command}{}", pi.unwrap_or_default());
    match cfg!(windows) {
        true => anyhow::anyhow!("{error}; in a terminal that was started as administrator, run: {line}"),
        false => anyhow::anyhow!("{error}; run: sudo {line}"),
    }
}

pub(super) fn waiting(told: &mut bool, err: &mut dyn Write) {
    if !std::mem::replace(told, true) {
        // Only a remark; the wait goes on without it.
        let _ = writeln!(err, "Another run is at work on this pi; waiting for it.");
    }
}

fn warn(context: &mut Context, text: &str) -> std::io::Result<()> {
    let warn = style::WARN;
    writeln!(context.err, "{warn}warning:{warn:#} {text}")
}
