//! `upstream`: writes the submission.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use super::{Context, ExitStatus, style};
use crate::patch::unified;
use crate::submission::{self, Sender, Submission};
use crate::upstream::{Cache, Name, Release};

/// Write the change as mails for upstream, with facts for an issue and a checklist
///
/// Three mails for `git am`, each useful without the next: word edges, then the status, then a relay's wording. The sources are
/// those in the source maps of the published package, which is fetched with your npm, or those of a clean checkout.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pi-retry-forced upstream --out mails
  pi-retry-forced upstream --out mails --checkout ~/src/pi --issue 12345 --author \"Name <name@example.com>\"

The mails are for 1.4.0 and newer: before that, upstream's list has no word edges to build on.

Exit status: 0 written, 2 error; then nothing is written.")]
pub(crate) struct Args {
    /// The folder for mails and papers; it is made
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// A clone of upstream's repository to make the mails for; it is only read
    #[arg(long, value_name = "DIR", conflicts_with = "release")]
    checkout: Option<PathBuf>,
    /// The release of pi-ai to make the mails for [default: the newest known]
    #[arg(long, value_name = "VERSION")]
    release: Option<String>,
    /// Who sends the mails
    #[arg(long, value_name = "NAME <ADDRESS>", default_value_t = Sender::default().author, value_parser = author)]
    author: String,
    /// The number of the issue that they fix
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    issue: Option<u32>,
    /// Replace files that are there
    #[arg(long)]
    force: bool,
}

/// An author as git takes it.
fn author(text: &str) -> Result<String, String> {
    let parts = text.strip_suffix('>').and_then(|rest| rest.split_once(" <"));
    match parts {
        Some((name, address))
            if !name.trim().is_empty() && address.contains('@') && !text.chars().any(char::is_control) =>
        {
            Ok(text.to_owned())
        }
        _ => Err("write it as Name <address>".to_owned()),
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<ExitStatus> {
    let (package, sources) = match &args.checkout {
        Some(root) => submission::from_checkout(root)?,
        None => {
            let release = match &args.release {
                Some(version) => Release::find_supported(Name::PiAi, version)?,
                None => Release::newest(Name::PiAi),
            };
            let package = Cache::user()?.package(release, &mut |_| {})?;
            let sources = submission::from_package(&package)?;
            (package, sources)
        }
    };
    let issue = args.issue.map_or(Sender::default().issue, |number| number.to_string());
    let sender = Sender { author: args.author.clone(), issue };
    let submission = Submission::new(&package, &sources, &sender)?;
    let files = submission.files();
    write(&args.out, &files, args.force)?;
    report(&submission, &args.out, &files, &mut *context.out)?;
    Ok(ExitStatus::Done)
}

/// Writes all files or, if one is there with other content, none.
fn write(out: &Path, files: &[(String, String)], force: bool) -> anyhow::Result<()> {
    if out.exists() && !out.is_dir() {
        bail!("{} is a file; name a folder with --out", out.display());
    }
    let differs =
        |(name, text): &&(String, String)| std::fs::read(out.join(name)).is_ok_and(|there| there != text.as_bytes());
    // `git am *.eml` would take mails of an earlier run, too.
    let strays: Vec<String> = std::fs::read_dir(out)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".eml") && !files.iter().any(|(file, _)| file == name))
        .collect();
    if let Some(name) = strays.first() {
        bail!(
            "{} holds {name}, which is not of this submission: nothing was written; name another folder with --out",
            out.display()
        );
    }
    if let Some((name, _)) = files.iter().find(differs).filter(|_| !force) {
        bail!(
            "{} exists and has other content: nothing was written; --force replaces it, --out writes elsewhere",
            out.join(name).display()
        );
    }
    let cannot = || format!("cannot write below {}: choose another folder with --out", out.display());
    std::fs::create_dir_all(out).with_context(cannot)?;
    for (name, text) in files {
        std::fs::write(out.join(name), text).with_context(cannot)?;
    }
    Ok(())
}

fn report(submission: &Submission, out: &Path, files: &[(String, String)], to: &mut dyn Write) -> std::io::Result<()> {
    let strong = style::STRONG;
    writeln!(to, "{strong}pi-ai {}{strong:#}, in {}", submission.version, out.display())?;
    for mail in &submission.mails {
        let counts = mail.files.iter().map(|file| unified::count(&file.diff()));
        let (added, removed) = counts.fold((0, 0), |(a, b), (plus, minus)| (a + plus, b + minus));
        writeln!(to, "  {}  {} files, +{added} -{removed}", mail.file_name(), mail.files.len())?;
    }
    let papers = files.iter().filter(|(name, _)| name.ends_with(".md"));
    for (name, _) in papers {
        writeln!(to, "  {name}")?;
    }
    writeln!(to, "Start with CHECKLIST.md: upstream wants an issue first.")
}
