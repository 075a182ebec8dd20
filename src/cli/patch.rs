//! `patch`: writes the patch of a pi package, ready for patch-package.

use super::{Context, ExitStatus, style};
use crate::Profile;
use crate::installed::{Project, Steps};
use crate::patch::{self, Classifier, Format, Kind, PatchSet, unified, verify};
use crate::upstream::{Cache, Installed, Name, Package, Release, Step, find_installed};
use anyhow::{Context as _, bail};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use std::cell::RefCell;
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

The patch is kept in the form of your project's package manager, and the command that applies it is told: patch-package for \
npm and yarn 1; pnpm, bun and yarn from 2 on have a way of their own, since patch-package would write into files that \
they share between projects. \
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
    /// The folder for the patch file [default: patches, in a workspace below its root]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The form of the patch file [default: that of the project's package manager]
    #[arg(long, value_enum)]
    format: Option<FormatName>,
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

#[derive(Clone, Copy, clap::ValueEnum)]
enum FormatName {
    /// patch-package's, for npm and yarn 1
    PatchPackage,
    /// pnpm's patchedDependencies
    Pnpm,
    /// bun's patchedDependencies
    Bun,
    /// The patch: protocol of yarn from 2 on
    Yarn,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::PatchPackage => Self::PatchPackage,
            FormatName::Pnpm => Self::Pnpm,
            FormatName::Bun => Self::Bun,
            FormatName::Yarn => Self::Yarn,
        }
    }
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
    /// The project that it is installed in, or that the patch is made in.
    project: Project,
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
    let format = args.format.map_or_else(|| found.project.format(), Format::from);
    let folder = &match &args.out {
        Some(folder) => folder.clone(),
        None => below_root(&found)?,
    };
    for warning in set
        .warnings
        .iter()
        .map(ToString::to_string)
        .chain(progress.replaced.take())
        .chain(edited(&found, &set))
        .chain(stale(folder, format, &set))
    {
        let warn = style::WARN;
        writeln!(context.err, "{warn}warning:{warn:#} {warning}")?;
    }
    let path = folder.join(format.file_name(&set, &found.project.outer));
    let text = format.text(&set, &found.project.outer);
    let written = write(&path, &text, args.force)?;
    let steps = found.project.steps(format, &set.name, &set.version, &path);
    let state = if written { "written" } else { "already up to date" };
    report(args, &found, &set, &Told { path: &path, text: &text, compared, state, format, steps }, &mut *context.out)?;
    Ok(ExitStatus::Done)
}

fn find(args: &Args, progress: &Progress) -> anyhow::Result<Found> {
    let name = Name::from(args.package);
    if let Some(folder) = &args.from {
        let origin = folder.display().to_string();
        let package = Package::open(folder, name)?;
        let project = if is_installed(folder) { Project::of_package(folder) } else { here()? };
        return Ok(Found { package, origin, project, local: true });
    }
    let release = match &args.release {
        Some(version) => Release::find_supported(name, version)?,
        None => match find_installed(&std::env::current_dir()?, name) {
            Ok(Installed { package, .. }) => {
                let origin = package.root().display().to_string();
                let project = Project::of_package(package.root());
                return Ok(Found { package, origin, project, local: true });
            }
            Err(error) if error.is_not_installed() => Release::newest(name),
            Err(error) => return Err(error.into()),
        },
    };
    let package = fetch(release, progress)?;
    let origin = format!("{}, fetched with npm", release.spec());
    Ok(Found { package, origin, project: Project { outer: Vec::new(), ..here()? }, local: false })
}

/// The project that the command runs in.
fn here() -> anyhow::Result<Project> {
    Ok(Project::of_folder(&std::env::current_dir()?))
}

/// Whether a package's folder is in some project's `node_modules`.
fn is_installed(folder: &Path) -> bool {
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    folder.components().any(|part| part.as_os_str() == "node_modules")
}

/// The project's own folder of patches: here, or where the install of a workspace's root looks.
fn below_root(found: &Found) -> anyhow::Result<PathBuf> {
    let here = std::env::current_dir()?;
    let root = &found.project.root;
    let is_above = found.local && *root != here && here.starts_with(root) && root.join("package.json").is_file();
    Ok(if is_above { root.join("patches") } else { PathBuf::from("patches") })
}

fn fetch(release: &Release, progress: &Progress) -> anyhow::Result<Package> {
    let package = Cache::user()?.package(release, &mut |step| {
        progress.tell(match step {
            Step::Downloading => "downloading with npm",
            Step::Checking => "checking the digest",
            Step::Unpacking => "unpacking",
            Step::Replacing => {
                let said =
                    format!("what the cache held of {} was damaged or edited, and was fetched again", release.spec());
                *progress.replaced.borrow_mut() = Some(said);
                "what the cache holds is damaged, fetching it again"
            }
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
fn stale(folder: &Path, format: Format, set: &PatchSet) -> Vec<String> {
    let prefix = format.stem(&set.name);
    let own = format!("{prefix}{}.patch", set.version);
    let names =
        std::fs::read_dir(folder).into_iter().flatten().flatten().filter_map(|e| e.file_name().into_string().ok());
    let mut stale: Vec<String> =
        names.filter(|name| name.starts_with(&prefix) && name.ends_with(".patch") && *name != own).collect();
    stale.sort();
    stale
        .into_iter()
        .map(|name| {
            format!(
                "{} is for another version and makes {} fail: delete it",
                folder.join(name).display(),
                format.name()
            )
        })
        .collect()
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

/// What is told of a patch file.
struct Told<'a> {
    path: &'a Path,
    text: &'a str,
    compared: Option<usize>,
    /// Written, or there already.
    state: &'static str,
    format: Format,
    steps: Steps,
}

fn report(args: &Args, found: &Found, set: &PatchSet, told: &Told<'_>, out: &mut dyn Write) -> std::io::Result<()> {
    let Told { path, text, compared, state, format, steps } = told;
    let (added, removed) = unified::count(text);
    if args.json {
        let value = json!({
            "package": set.name, "version": set.version, "patch": path, "written": *state == "written",
            "files": set.files.iter().map(|f| &f.path).collect::<Vec<_>>(), "added": added, "removed": removed,
            "verified": compared, "warnings": set.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(), "format": format.name(), "steps": steps,
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
    writeln!(out, "  {state}: {}", path.display())?;
    match (&steps.file, &steps.add) {
        (Some(file), Some(add)) => {
            writeln!(out, "Apply it: put this into {}", file.display())?;
            for line in add.lines() {
                writeln!(out, "  {line}")?;
            }
            writeln!(out, "then, in {}: {}", steps.folder.display(), steps.command)?;
            writeln!(out, "(not with patch-package: {} shares files between projects)", format.name())?;
        }
        _ => writeln!(
            out,
            "Apply it: in the project that has the package, with the file in its patches folder, {}",
            steps.command
        )?,
    }
    writeln!(out, "Take it back: {}", steps.back)
}

/// A spinner that only shows on a terminal and only if there is something to wait for.
struct Progress {
    bar: ProgressBar,
    /// What the cache held in a damaged form, if that was met.
    replaced: RefCell<Option<String>>,
}

impl Progress {
    fn new() -> Self {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Self { bar, replaced: RefCell::default() }
    }

    fn tell(&self, what: &'static str) {
        self.bar.set_message(what);
    }
}
