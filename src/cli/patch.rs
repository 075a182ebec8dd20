//! `patch`: writes the patch of a pi package, ready for patch-package.

use super::{Context, ExitStatus, style};
use crate::Profile;
use crate::patch::{self, Classifier, Kind, PatchSet, patch_package, unified, verify};
use crate::upstream::{Cache, Installed, Name, Package, Release, Step, find_installed};
use anyhow::{Context as _, bail};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Write a patch that makes pi decide by HTTP status
///
/// The package is taken from --from, else from node_modules here or above, else the newest supported release is fetched
/// with your npm, checked against its published digest, and cached. Before anything is written, the patch is applied to a
/// copy and the result is run in node against the reference.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pi-retry-forced patch
  pi-retry-forced patch --release 0.87.1 --out /tmp/patches
  pi-retry-forced patch --package pi-coding-agent

The patch is for patch-package: put it into the patches folder of your project and run `npx patch-package@8`. \
Since 0.84.3 the `pi` command runs a bundle of its own, which a patch of pi-ai does not reach: patch pi-coding-agent \
for it, or see `apply`.

Exit status: 0 written or already there, 2 error; then nothing is written.")]
pub(crate) struct Args {
    /// The package to patch
    #[arg(long, value_enum, default_value = "pi-ai")]
    package: PackageName,
    /// A package folder, unpacked or installed
    #[arg(long, value_name = "DIR", conflicts_with = "release")]
    from: Option<PathBuf>,
    /// Fetch this release instead of looking in node_modules
    #[arg(long, value_name = "VERSION")]
    release: Option<String>,
    /// The folder for the patch file
    #[arg(long, value_name = "DIR", default_value = "patches")]
    out: PathBuf,
    /// Do not run the patched package in node
    #[arg(long)]
    no_verify: bool,
    /// Replace a patch file with other content
    #[arg(long)]
    force: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum PackageName {
    /// The library @earendil-works/pi-ai
    PiAi,
    /// The bundled command of @earendil-works/pi-coding-agent
    PiCodingAgent,
}

impl From<PackageName> for Name {
    fn from(name: PackageName) -> Self {
        match name {
            PackageName::PiAi => Self::PiAi,
            PackageName::PiCodingAgent => Self::PiCodingAgent,
        }
    }
}

/// Where the package came from, and where patch-package will look for it.
struct Found {
    package: Package,
    /// Told to the user.
    origin: String,
    /// Installed below pi-coding-agent's own node_modules.
    nested: bool,
    /// Taken from a folder, where somebody may have edited it.
    local: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<ExitStatus> {
    let progress = Progress::new();
    let mut found = find(args, &progress)?;
    progress.tell("making the patch");
    let target = Classifier::of(Profile::Patch);
    let set = match (patch::make(&found.package, &target), found.package.release()) {
        // The project has the patch already; the published package still shows what it is.
        (Err(error), Some(release)) if args.from.is_none() && matches!(error.kind(), Kind::AlreadyPatched { .. }) => {
            let package = fetch(release, &progress)?;
            found.origin = format!("{}, since {} is patched already", release.spec(), found.origin);
            found.package = package;
            found.local = false;
            patch::make(&found.package, &target)?
        }
        (set, _) => set?,
    };
    let compared = if args.no_verify {
        None
    } else {
        progress.tell("running the patched package in node against the reference");
        let compared = verify::against_reference(&set);
        Some(compared.context("nothing was written (--no-verify skips this check)")?)
    };
    progress.bar.finish_and_clear();
    let folder = &args.out;
    for warning in set.warnings.iter().cloned().chain(edited(&found, &set)).chain(stale(folder, &set)) {
        let warn = style::WARN;
        writeln!(context.err, "{warn}warning:{warn:#} {warning}")?;
    }
    let (file, text) = patch_file(&set, found.nested);
    let path = args.out.join(file);
    let written = write(&path, &text, args.force)?;
    report(args, &found, &set, &path, &text, compared, written, &mut *context.out)?;
    Ok(ExitStatus::Done)
}

fn find(args: &Args, progress: &Progress) -> anyhow::Result<Found> {
    let name = Name::from(args.package);
    if let Some(folder) = &args.from {
        let origin = folder.display().to_string();
        let package = Package::open(folder, name)?;
        let place = std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
        let below = Path::new(Name::PiCodingAgent.as_str()).join("node_modules").join(name.as_str());
        return Ok(Found { package, origin, nested: place.ends_with(below), local: true });
    }
    let release = match &args.release {
        Some(version) => Release::find_supported(name, version)?,
        None => match find_installed(&std::env::current_dir()?, name) {
            Ok(Installed { package, nested, .. }) => {
                let origin = package.root().display().to_string();
                return Ok(Found { package, origin, nested, local: true });
            }
            Err(error) if error.is_not_installed() => Release::newest(name),
            Err(error) => return Err(error.into()),
        },
    };
    let package = fetch(release, progress)?;
    Ok(Found { package, origin: format!("{}, fetched with npm", release.spec()), nested: false, local: false })
}

fn fetch(release: &Release, progress: &Progress) -> anyhow::Result<Package> {
    let package = Cache::user()?.package(release, &mut |step| {
        progress.tell(match step {
            Step::Downloading => "downloading with npm",
            Step::Checking => "checking the digest",
            Step::Unpacking => "unpacking",
        });
    })?;
    Ok(package)
}

/// Which files are not as published, where that can be told without asking the network.
fn edited(found: &Found, set: &PatchSet) -> Option<String> {
    let release = found.package.release().filter(|_| found.local)?;
    let published = Cache::user().ok()?.cached(release)?;
    let files = set.edited_since(&published);
    (!files.is_empty()).then(|| {
        format!("not as published, so the patch fits this copy only and not a fresh install: {}", files.join(", "))
    })
}

/// Patch files of other versions in the same folder: patch-package stops at the first that does not fit.
fn stale(folder: &Path, set: &PatchSet) -> Vec<String> {
    let own = set.file_name();
    let prefix = own.strip_suffix(&format!("{}.patch", set.version)).unwrap_or(&own);
    let names =
        std::fs::read_dir(folder).into_iter().flatten().flatten().filter_map(|e| e.file_name().into_string().ok());
    let mut stale: Vec<String> =
        names.filter(|name| name.starts_with(prefix) && name.ends_with(".patch") && *name != own).collect();
    stale.sort();
    stale
        .into_iter()
        .map(|name| {
            format!("{} is for another version and makes patch-package fail: delete it", folder.join(name).display())
        })
        .collect()
}

/// The file's name and text. patch-package names a package that lies below another one after both.
fn patch_file(set: &PatchSet, nested: bool) -> (String, String) {
    if !nested {
        return (set.file_name(), set.to_patch());
    }
    let outer = Name::PiCodingAgent.as_str();
    let folder = format!("node_modules/{outer}/node_modules/{}/", set.name);
    let name = format!("{}++{}", outer.replace('/', "+"), set.file_name());
    (name, patch_package::render_below(&folder, &set.files))
}

/// Writes beside and renames, so that the file is there whole or not at all. Says whether it was changed.
fn write(path: &Path, text: &str, force: bool) -> anyhow::Result<bool> {
    match std::fs::read(path) {
        Ok(there) if there == text.as_bytes() => return Ok(false),
        Ok(_) if !force => bail!(
            "{} exists and has other content: nothing was written; --force replaces it, --out writes elsewhere",
            path.display()
        ),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => {
            let what = format!(
                "cannot read {}: it is in the way; remove it, or name another folder with --out",
                path.display()
            );
            return Err(error).context(what);
        }
    }
    let cannot = || format!("cannot write {}: choose another folder with --out", path.display());
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).with_context(cannot)?;
    let mut file = tempfile::Builder::new().prefix(".patch-").tempfile_in(folder).with_context(cannot)?;
    file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all()).with_context(cannot)?;
    #[cfg(unix)]
    {
        // Temporary files are the owner's alone; a patch is for everybody who has the project.
        use std::os::unix::fs::PermissionsExt;
        file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644)).with_context(cannot)?;
    }
    file.persist(path).map_err(|e| e.error).with_context(cannot)?;
    Ok(true)
}

#[allow(clippy::too_many_arguments, reason = "all there is to report")]
fn report(
    args: &Args,
    found: &Found,
    set: &PatchSet,
    path: &Path,
    text: &str,
    compared: Option<usize>,
    written: bool,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let (added, removed) = unified::count(text);
    if args.json {
        let value = json!({
            "package": set.name, "version": set.version, "patch": path, "written": written,
            "files": set.files.iter().map(|f| &f.path).collect::<Vec<_>>(), "added": added, "removed": removed,
            "verified": compared, "warnings": set.warnings,
        });
        return writeln!(out, "{value}");
    }
    let (strong, good) = (style::STRONG, style::GOOD);
    writeln!(out, "{strong}{} {}{strong:#} ({})", set.name, set.version, found.origin)?;
    writeln!(out, "  {} files, {added} lines added, {removed} removed", set.files.len())?;
    match compared {
        Some(count) => {
            writeln!(out, "  {good}verified{good:#}: agrees with the reference on {count} messages in node")?
        }
        None => writeln!(out, "  not verified (--no-verify)")?,
    }
    let state = if written { "written" } else { "already up to date" };
    writeln!(out, "  {state}: {}", path.display())?;
    writeln!(
        out,
        "Apply it: in the project that has the package, with the file in its patches folder, npx patch-package@8"
    )
}

/// A spinner that only shows on a terminal and only if there is something to wait for.
struct Progress {
    bar: ProgressBar,
}

impl Progress {
    fn new() -> Self {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Self { bar }
    }

    fn tell(&self, what: &'static str) {
        self.bar.set_message(what);
    }
}
