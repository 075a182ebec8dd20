//! Puts together what is known of every pi, and says in one line what to do about it.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::executable::Program;
use super::find::{FIRST, Seen, Sighting, find_all};
use super::pi::{Pi, Target};
use super::project::Project;
use super::settings::Settings;
use super::stale;
use super::state::{By, Inspection, Originals, State, inspect};
use super::surroundings::Surroundings;
use crate::patch::Format;
use crate::upstream::{Cache, Package};

/// All that was found.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnosis {
    /// pi's settings; none without a home folder.
    pub settings: Option<Settings>,
    /// One for each pi and each pi-ai.
    pub findings: Vec<Finding>,
}

/// One pi, or one pi-ai that programs import.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// `command`, `library`, `binary`, or `other` for something else of that name.
    pub kind: &'static str,
    /// The folder of the package, or the executable, without links.
    pub path: PathBuf,
    /// Where it was found.
    pub places: Vec<String>,
    /// Its version.
    pub release: Option<String>,
    /// Whether that release is on this version's list.
    pub known: bool,
    /// The name of the era whose patterns decide.
    pub era: Option<&'static str>,
    /// Whether it runs from its own bundle.
    pub bundled: bool,
    /// The package that decides, as `name@version`.
    pub decided_by: Option<String>,
    /// The file that decides.
    pub file: Option<PathBuf>,
    /// Whether it is patched.
    pub patch: Option<Inspection>,
    /// The link by which it reaches files that other installs may use, too.
    pub shared: Option<PathBuf>,
    /// The extension in this pi; none for a library.
    pub shim: Option<ShimReport>,
    /// Whether pi retries at all; none for a library.
    pub retry: Option<bool>,
    /// Patch files of its project that are for another version of it.
    #[serde(rename = "stalePatches")]
    pub stale_patches: Vec<PathBuf>,
    /// What went wrong while it was looked at.
    pub problem: Option<String>,
    /// Whether there is something to do.
    pub todo: bool,
    /// What to do, one line.
    pub advice: String,
    /// How a patch file is applied in its project.
    #[serde(skip)]
    apply: String,
}

/// Whether the extension is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ShimReport {
    /// Whether pi's settings name it and it is where they say.
    pub installed: bool,
    /// Whether pi loads it.
    pub enabled: bool,
}

/// Finds all and looks at each.
pub fn diagnose(surroundings: &Surroundings, cache: Option<&Cache>) -> Diagnosis {
    let settings = Settings::read(surroundings);
    let findings = find_all(surroundings).into_iter().map(|seen| finding(seen, settings.as_ref(), cache)).collect();
    Diagnosis { settings, findings }
}

fn finding(seen: Sighting, settings: Option<&Settings>, cache: Option<&Cache>) -> Finding {
    let mut finding = Finding {
        kind: "other",
        path: PathBuf::new(),
        places: seen.places,
        release: None,
        known: false,
        era: None,
        bundled: false,
        decided_by: None,
        file: None,
        patch: None,
        shared: None,
        shim: None,
        retry: None,
        stale_patches: Vec::new(),
        apply: "`npx patch-package@8`".to_owned(),
        problem: None,
        todo: false,
        advice: String::new(),
    };
    if !matches!(seen.what, Seen::Library(..) | Seen::Program(Program::Other { .. })) {
        finding.retry = settings.map(|settings| settings.retry.is_on());
        finding.shim = settings.map(|settings| ShimReport {
            installed: settings.shims.iter().any(|shim| shim.folder.is_some()),
            enabled: settings.shim_enabled(),
        });
    }
    match seen.what {
        Seen::Program(Program::Pi(pi)) => command(&mut finding, &pi, cache),
        Seen::Program(Program::Binary { path, version }) => {
            finding.kind = "binary";
            finding.path = path;
            finding.bundled = true;
            finding.release = version;
        }
        Seen::Program(Program::Other { path, reason }) => {
            finding.path = path;
            finding.problem = Some(reason);
        }
        Seen::Library(package, via) => {
            let format = Project::of_package(&via).format();
            if format != Format::PatchPackage {
                finding.apply = format!("what it tells to do for {}", format.name());
            }
            finding.kind = "library";
            finding.path = package.root().to_owned();
            look(&mut finding, Target { package, bundled: false, shared: None }, cache);
        }
    }
    if let Some(release) = finding.release.as_ref().filter(|_| ["command", "library"].contains(&finding.kind)) {
        finding.stale_patches = stale::patches(&finding.path, release);
    }
    (finding.todo, finding.advice) = advice(&finding, settings);
    finding
}

fn command(finding: &mut Finding, pi: &Pi, cache: Option<&Cache>) {
    finding.kind = "command";
    finding.path.clone_from(&pi.root);
    finding.bundled = pi.is_bundled();
    match pi.target() {
        Ok(target) => {
            finding.shared.clone_from(&target.shared);
            look(finding, target, cache);
        }
        Err(error) => finding.problem = Some(error.to_string()),
    }
    describe(finding, &pi.package);
}

/// What a package's name and version say.
fn describe(finding: &mut Finding, package: &Package) {
    let release = package.release();
    finding.release = Some(package.version().to_string());
    finding.known = release.is_some();
    if finding.era.is_none() {
        finding.era = release.and_then(|release| release.era()).map(|era| era.name());
    }
}

fn look(finding: &mut Finding, target: Target, cache: Option<&Cache>) {
    finding.decided_by = Some(format!("{}@{}", target.package.name(), target.package.version()));
    finding.file = target.classifier().map(|file| target.package.root().join(file));
    describe(finding, &target.package);
    match inspect(&target, cache) {
        Ok(inspection) => finding.patch = Some(inspection),
        Err(error) => finding.problem = Some(error.to_string()),
    }
}

/// A path as an argument of a command that a person copies.
pub(crate) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/\\._-+:@%".contains(&byte);
    match text.bytes().all(plain) {
        true => text,
        false if cfg!(windows) => format!("\"{text}\""),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

const INSTALL: &str = "install the extension: `pi install ./shim` in a checkout of pi-retry-forced";

fn advice(finding: &Finding, settings: Option<&Settings>) -> (bool, String) {
    let to_do = |text: String| (true, text);
    let fine = |text: &str| (false, text.to_owned());
    // The commands take the pi that the PATH finds first unless told otherwise.
    let first = finding.places.iter().any(|place| place.starts_with(FIRST));
    let pi = if first { String::new() } else { format!(" --pi {}", quoted(&finding.path)) };
    if let Some(problem) = finding.problem.as_ref().filter(|_| finding.kind != "other") {
        return to_do(problem.clone());
    }
    if finding.kind == "other" {
        // A pi that nobody looked at is no reason to say that all is well.
        return to_do(
            "find out what it starts: if that is pi, name its folder to `pi-retry-forced apply --pi FOLDER`, or install the extension, \
             which needs no path; if it is another program, nothing is to be done"
                .to_owned(),
        );
    }
    if finding.retry == Some(false) {
        let file = settings.and_then(|settings| settings.retry.file.as_deref());
        let file = file.map_or_else(|| "pi's settings".to_owned(), |file| file.display().to_string());
        return to_do(format!(
            "turn pi's retry on ({} in {file}); without it neither extension nor patch has an effect",
            settings.map_or("retry.enabled", |settings| settings.retry.switch())
        ));
    }
    let state = finding.patch.as_ref().map(|patch| &patch.state);
    if matches!(state, Some(State::Interrupted { .. })) {
        return to_do(format!(
            "finish it with `pi-retry-forced apply{pi}`, or undo it with `pi-retry-forced revert{pi}`"
        ));
    }
    if finding.patch.as_ref().is_some_and(|patch| patch.originals == Originals::Unrecorded) {
        return to_do(format!(
            "write the lost record again with `pi-retry-forced apply{pi}`, or take the patch back with `pi-retry-forced \
             revert{pi}`; both work from the originals in .pi-retry-forced"
        ));
    }
    let patched = matches!(state, Some(State::Patched { .. }));
    let project = quoted(stale::project(&finding.path).unwrap_or(&finding.path));
    if !finding.stale_patches.is_empty() {
        let files: Vec<_> = finding.stale_patches.iter().map(|file| quoted(file)).collect();
        let delete = format!("delete {}", files.join(" and "));
        let package = match finding.kind {
            "library" => "",
            _ if finding.bundled => " --package pi-coding-agent",
            // Its patch is that of pi-ai.
            _ => return to_do(format!("{delete}; with it patch-package fails for all patches")),
        };
        return to_do(match state {
            Some(State::Patched { by: By::Apply }) => {
                format!("{delete}; with it patch-package fails for all patches, and this is patched by apply")
            }
            _ => format!("{delete}, then in {project} run `pi-retry-forced patch{package}` and {}", finding.apply),
        });
    }
    if finding.kind == "library" {
        return match state {
            _ if patched => fine("nothing: programs that import this pi-ai decide by status"),
            Some(State::TooOld) => to_do("update it to 0.80.3 or newer, which can be patched".to_owned()),
            Some(State::Edited { .. } | State::Unrecognised { .. }) => {
                to_do(format!("install it again, then in {project}: `pi-retry-forced patch` and {}", finding.apply))
            }
            _ => to_do(format!(
                "for programs that import it, in {project}: `pi-retry-forced patch` and {}",
                finding.apply
            )),
        };
    }
    let gone = settings.and_then(|settings| settings.shims.iter().find(|shim| shim.folder.is_none()));
    if let Some(shim) = gone {
        return to_do(format!(
            "the extension is listed in {} as {}, but is not there: install it again, or remove the entry",
            shim.from.display(),
            shim.source
        ));
    }
    if finding.shim.is_some_and(|shim| shim.enabled) {
        return fine(if patched {
            "nothing: patched, and the extension is enabled"
        } else {
            "nothing: the extension is enabled"
        });
    }
    if patched {
        return fine("nothing: patched; the extension would add the repair of rejected thinking signatures");
    }
    if let Some(shim) = settings.and_then(|settings| settings.shims.first()) {
        return to_do(format!(
            "the extension is listed in {} but not loaded: enable it with `pi config`",
            shim.from.display()
        ));
    }
    let shared = if finding.shared.is_some() { " --shared" } else { "" };
    match state {
        None => to_do(format!("{INSTALL}; a compiled binary cannot be patched")),
        Some(State::TooOld) => to_do(format!("{INSTALL}; patches need pi 0.80.3 or newer")),
        Some(State::Edited { .. }) => {
            to_do(format!("{INSTALL}; or patch it as it is: `pi-retry-forced apply --edited{shared}{pi}`"))
        }
        Some(State::Unrecognised { .. }) => to_do(format!("{INSTALL}; this release cannot be patched by this version")),
        Some(_) => to_do(format!("{INSTALL}; or patch this pi: `pi-retry-forced apply{shared}{pi}`")),
    }
}
