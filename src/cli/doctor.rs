//! `doctor`: every pi of this machine, and what to do about it.

use super::{Context, ExitStatus, style};
use crate::installed::{By, Diagnosis, Finding, Inspection, Originals, Settings, State, Surroundings, diagnose};
use crate::upstream::Cache;
use anyhow::Context as _;
use std::io::Write;

/// Find every pi here, say what decides in it, and what to do
///
/// Looks along the PATH (through links and wrappers), in the global folders of npm, pnpm, yarn and bun and of version managers, and
/// in node_modules here and above. Changes nothing and fetches nothing.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pi-retry-forced doctor
  pi-retry-forced doctor --json | jq '.findings[] | select(.todo) | .advice'

Exit status: 0 nothing is left to do (or there is no pi), 1 something is, 2 error.")]
pub(crate) struct Args {
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<ExitStatus> {
    let surroundings = Surroundings::of_process().context("cannot see the current folder")?;
    let diagnosis = diagnose(&surroundings, Cache::user().ok().as_ref());
    let out = &mut *context.out;
    if args.json {
        serde_json::to_writer_pretty(&mut *out, &diagnosis).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        write(&diagnosis, out)?;
    }
    let todo = diagnosis.findings.iter().any(|finding| finding.todo);
    Ok(if todo { ExitStatus::No } else { ExitStatus::Done })
}

fn write(diagnosis: &Diagnosis, out: &mut dyn Write) -> std::io::Result<()> {
    for finding in &diagnosis.findings {
        paragraph(finding, diagnosis.settings.as_ref(), out)?;
        writeln!(out)?;
    }
    if !diagnosis.findings.iter().any(|finding| finding.kind != "other") {
        let (none, path) = match diagnosis.findings.is_empty() {
            true => ("No pi found", " not on the PATH,"),
            false => ("Nothing else found", ""),
        };
        writeln!(
            out,
            "{none}:{path} not in a global folder of npm, pnpm, yarn or bun, not in node_modules here or above. If there is one \
             elsewhere, `pi-retry-forced apply --pi FOLDER` takes its folder."
        )?;
    }
    for problem in diagnosis.settings.iter().flat_map(|settings| &settings.problems) {
        let warn = style::WARN;
        writeln!(out, "{warn}warning:{warn:#} {problem}")?;
    }
    Ok(())
}

fn paragraph(finding: &Finding, settings: Option<&Settings>, out: &mut dyn Write) -> std::io::Result<()> {
    let (strong, faint) = (style::STRONG, style::FAINT);
    let name = match finding.kind {
        "library" => "pi-ai",
        _ => "pi",
    };
    let release = finding.release.as_deref().unwrap_or(if finding.kind == "other" { "?" } else { "(version unknown)" });
    writeln!(out, "{strong}{name} {release}{strong:#}  {}", finding.path.display())?;
    let mut line = |name: &str, text: &str| writeln!(out, "  {faint}{name:9}{faint:#}  {text}");
    line("found", &finding.places.join("; "))?;
    if finding.kind == "other" {
        line("is", finding.problem.as_deref().unwrap_or_default())?;
        return line("to do", &finding.advice);
    }
    let mut about = vec![
        match finding.kind {
            "library" => "for programs that import it",
            "binary" => "compiled single binary",
            _ if finding.bundled => "bundled: never loads pi-ai from node_modules",
            _ => "not bundled: loads pi-ai from node_modules",
        }
        .to_owned(),
    ];
    about.extend(finding.era.map(|era| format!("era {era}")));
    about.extend(
        (finding.release.is_some() && !finding.known && finding.kind != "binary")
            .then(|| "a release that this version does not know".to_owned()),
    );
    about.extend(finding.shared.as_ref().map(|link| format!("reached by {}, outside of this install", link.display())));
    line("is", &about.join("; "))?;
    if let (Some(package), Some(file)) = (&finding.decided_by, &finding.file) {
        line("decides", &format!("{package}: {}", file.display()))?;
    }
    if let Some(inspection) = &finding.patch {
        line("patched", &patched(inspection))?;
    }
    if let Some(shim) = finding.shim {
        let named =
            settings.and_then(|settings| settings.shims.iter().find(|shim| shim.enabled).or(settings.shims.first()));
        let named = named.map(|shim| {
            let version = shim.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
            format!(" ({}{version}, by {})", shim.source, shim.from.display())
        });
        let is = match (shim.installed, shim.enabled) {
            (_, true) => "enabled",
            (true, false) => "installed, but disabled",
            (false, false) if named.is_some() => "listed, but not there",
            (false, false) => "not installed",
        };
        line("extension", &format!("{is}{}", named.unwrap_or_default()))?;
    }
    if let Some(settings) = settings.filter(|_| finding.retry.is_some()) {
        let retry = &settings.retry;
        let from = retry.file.as_ref().map_or("by default".to_owned(), |file| format!("by {}", file.display()));
        match retry.is_on() {
            true => line("retry", &format!("on, {} attempts, {from}", retry.max_retries))?,
            false => line("retry", &format!("off ({}), {from}", retry.switch()))?,
        }
    }
    for file in &finding.stale_patches {
        line("stale", &format!("{} is for another version; with it patch-package fails", file.display()))?;
    }
    if let Some(problem) = &finding.problem {
        line("problem", problem)?;
    }
    let mark = if finding.todo { style::WARN } else { style::GOOD };
    line("to do", &format!("{mark}{}{mark:#}", finding.advice))
}

/// What lost originals mean.
pub(super) fn no_way_back(files: &[String]) -> String {
    let (which, are) = match files {
        [file] => (file.clone(), "is"),
        [file, rest @ ..] => (format!("{file} and {} more", rest.len()), "are"),
        [] => (String::new(), "are"),
    };
    format!("`revert` is not possible, as {which} {are} missing or changed: reinstalling pi is the way back")
}

fn patched(inspection: &Inspection) -> String {
    let compared =
        if inspection.compared { "" } else { ", by its structure; the published package is not in the cache" };
    let text = match &inspection.state {
        State::Unpatched if inspection.compared => "no, as published".to_owned(),
        State::Unpatched => format!("no{compared}"),
        State::Patched { by: By::Apply } => "yes, by apply".to_owned(),
        State::Patched { by: By::PatchFile } => format!("yes, by a patch file{compared}"),
        State::Patched { by: By::OtherVersion } => {
            "yes, by a patch of another version, or with edits on top".to_owned()
        }
        State::Interrupted { patched, of } => format!("half: a run ended after {patched} of {of} files; pi works"),
        State::Edited { files } if files.is_empty() => "edited by hand".to_owned(),
        State::Edited { files } => format!("edited by hand: {}", files.join(", ")),
        State::Unrecognised { reason } => format!("cannot tell: {reason}"),
        State::TooOld => "no, and too old for it".to_owned(),
    };
    match &inspection.originals {
        _ if inspection.stale_record => {
            format!("{text} (remains of an earlier apply are there; `revert` or `apply` removes them)")
        }
        Originals::Unrecorded => {
            format!("{text}; its record is missing or damaged, but the originals are kept in .pi-retry-forced")
        }
        Originals::Lost { files } => format!("{text}; {}", no_way_back(files)),
        Originals::Kept | Originals::None => text,
    }
}
