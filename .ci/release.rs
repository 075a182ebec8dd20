//! Meets a new release of pi: the part of `.ci/renew release` that needs the library.
//!
//! `cargo run --example release -- packages` writes the versions that the list names into the tests' own packages.
//! `cargo run --example release -- [VERSION] [--from FOLDER]` asks npm what is newer than the list, tries every edit on it, and
//! writes `src/upstream/releases.toml` and `eras.json` where nothing has to be decided by a person. Exit status: 0 nothing
//! newer, or written; 1 a person decides, nothing was written; 2 an error. With `--from`, the folder that holds the two
//! packages, unpacked or as tarballs, is tried as that version, and nothing is ever written.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool of this project, which speaks to whoever runs it"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, anyhow, bail};
use pi_retry_forced::Profile;
use pi_retry_forced::patch::{self, Attempt, Classifier, Kind, Warning, from_source_maps};
use pi_retry_forced::upstream::{
    Cache, JsRegex, Name, OverflowPatterns, Package, Release, RetryPatterns, Version, overflow_patterns, parse_version,
    retry_patterns,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const LIST: &str = "src/upstream/releases.toml";
const ERAS: &str = "src/upstream/eras.json";
const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };

/// The parts that the newest release plays alone, and hands to the next one.
const OF_THE_NEWEST: [&str; 4] = ["bundle", "report", "shim", "full"];
const ERA: &str = "era";

const HEADER: &str = "\
# Every release of pi's two packages on npm, oldest first, with npm's digests and the parts it plays in this project.
# `.ci/renew release` writes this file, and nothing else does.
#
#   era     stands for the releases that have its patterns: its patch is a snapshot, its decision is compared
#   bundle  its bundled command is patched and compared
#   report  its verdicts are recorded for the evidence
#   shim    the extension's tests start this pi
#   full    and run every scenario in it
#
# The newest plays every part, and hands them to the next one.
";
const GENERATED: &str = "by .ci/renew release";
const NOTICE: &str = "The pattern strings are part of pi-ai, https://github.com/earendil-works/pi, copyright (c) Mario \
                      Zechner, used under the MIT licence, whose text is in the file LICENSE of this project";

#[derive(Deserialize)]
struct List {
    release: Vec<Entry>,
}

/// One release in the list, with what npm says of it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Entry {
    version: Version,
    pi_ai: Option<String>,
    pi_coding_agent: Option<String>,
    #[serde(default)]
    parts: Vec<String>,
}

impl Entry {
    fn digest(&mut self, name: Name) -> &mut Option<String> {
        match name {
            Name::PiAi => &mut self.pi_ai,
            Name::PiCodingAgent => &mut self.pi_coding_agent,
        }
    }

    fn play(&mut self, part: &str, plays: bool) {
        self.parts.retain(|other| other != part);
        if plays {
            self.parts.push(part.to_owned());
        }
        let order = |part: &String| (part != ERA, OF_THE_NEWEST.iter().position(|other| other == part));
        self.parts.sort_by_key(order);
    }
}

/// Patterns that hold for consecutive releases.
type Eras<T> = Vec<(T, Vec<String>)>;

/// What a person has to decide, each once, and what is only told.
#[derive(Default)]
struct Findings {
    decide: BTreeSet<String>,
    told: Vec<String>,
}

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &[String]) -> anyhow::Result<ExitCode> {
    let root = Path::new(".");
    let text = fs::read_to_string(root.join(LIST)).context("run this in the project's root")?;
    let mut list = toml::from_str::<List>(&text).context(LIST)?.release;
    if arguments == ["packages"] {
        packages(root, &list)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut from = None;
    let mut version = None;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--from" => from = Some(PathBuf::from(rest.next().context("--from needs a folder")?)),
            text if version.is_none() => version = Some(parse_version(text)?),
            other => bail!("{other} is one argument too many: .ci/renew release [VERSION] [--from FOLDER]"),
        }
    }
    let newest = list.last().context("the list is empty")?.version.clone();

    if let Some(folder) = from {
        let version = version.context("--from needs a version: .ci/renew release VERSION --from FOLDER")?;
        let unpacked = tempfile::tempdir().context("no temporary folder")?;
        let mut findings = Findings::default();
        let packages = Name::ALL.map(|name| local(name, &folder, unpacked.path(), &version));
        let [library, command] = packages;
        let (library, command) = (library?, command.ok());
        let patterns = examine(&library, command.as_ref(), &version, &mut findings)?;
        compare(root, &newest, &patterns, &version, &mut findings)?;
        return Ok(finish(&findings, &format!("{version}, tried from {}", folder.display())));
    }

    let met = published(&mut list, version.as_ref())?;
    if met.is_empty() {
        println!("nothing is newer than {newest}");
        return Ok(ExitCode::SUCCESS);
    }
    let mut findings = Findings::default();
    let cache = Cache::user()?;
    for entry in list.iter().filter(|entry| met.contains(&entry.version)) {
        let get = |name, digest: &Option<String>| -> anyhow::Result<Option<Package>> {
            let Some(digest) = digest else { return Ok(None) };
            let release = Release::unlisted(name, entry.version.clone(), digest.clone());
            Ok(Some(cache.package(&release, &mut |_| {})?))
        };
        let Some(library) = get(Name::PiAi, &entry.pi_ai)? else { continue };
        let command = get(Name::PiCodingAgent, &entry.pi_coding_agent)?;
        let patterns = examine(&library, command.as_ref(), &entry.version, &mut findings)?;
        if Some(&entry.version) == met.last() {
            compare(root, &newest, &patterns, &entry.version, &mut findings)?;
        }
    }
    let versions: Vec<String> = met.iter().map(ToString::to_string).collect();
    let title = versions.join(" and ");
    if findings.decide.is_empty() {
        let (retry, overflow) = eras(&cache, &list)?;
        for version in &met {
            assign(&mut list, version, &retry);
        }
        fs::write(root.join(LIST), written(&list)).context(LIST)?;
        fs::write(root.join(ERAS), eras_json(&retry, &overflow)).context(ERAS)?;
    }
    Ok(finish(&findings, &title))
}

/// What was found, and what it means for the exit status.
fn finish(findings: &Findings, what: &str) -> ExitCode {
    for told in &findings.told {
        println!("{told}");
    }
    if findings.decide.is_empty() {
        println!("{what}: every edit finds its place, and the reference knows every pattern");
        return ExitCode::SUCCESS;
    }
    println!("{what}: nothing was written; to be decided by a person:");
    for decide in &findings.decide {
        println!("- {decide}");
    }
    ExitCode::FAILURE
}

/// A package from a folder of a person: unpacked there, or as the tarball that `npm pack` makes.
fn local(name: Name, folder: &Path, unpacked: &Path, version: &Version) -> anyhow::Result<Package> {
    let inside = folder.join(name.short());
    let opened = if inside.is_dir() {
        Package::open(&inside, name)?
    } else {
        let tarball = folder.join(format!("earendil-works-{}-{version}.tgz", name.short()));
        if !tarball.is_file() {
            bail!("{} holds neither a folder {} nor {}", folder.display(), name.short(), tarball.display());
        }
        let to = unpacked.join(name.short());
        let file = fs::File::open(&tarball).with_context(|| tarball.display().to_string())?;
        tar::Archive::new(flate2::read::GzDecoder::new(file))
            .unpack(&to)
            .with_context(|| tarball.display().to_string())?;
        Package::open(to.join("package"), name)?
    };
    if opened.version() != version {
        bail!("{} says {}, and not {version}", opened.root().join("package.json").display(), opened.version());
    }
    Ok(opened)
}

/// Adds what npm has and the list has not, up to `last`; gives the new versions, oldest first. What is listed must be as npm
/// says, for a digest never changes.
fn published(list: &mut Vec<Entry>, last: Option<&Version>) -> anyhow::Result<Vec<Version>> {
    let newest = list.last().context("the list is empty")?.version.clone();
    let mut met = BTreeSet::new();
    for name in Name::ALL {
        for (version, digest) in npm_view(name)? {
            let known = list.iter_mut().find(|entry| entry.version == version);
            match known {
                Some(entry) if entry.version > newest => *entry.digest(name) = Some(digest),
                Some(entry) => match entry.digest(name) {
                    Some(listed) if *listed == digest => {}
                    listed => bail!("npm gives {name} {version} the digest {digest}, the list {listed:?}"),
                },
                None if version <= newest => bail!("npm has {name} {version}, older than {newest} and not on the list"),
                None if last.is_some_and(|last| version > *last) => {}
                None => {
                    let mut entry =
                        Entry { version: version.clone(), pi_ai: None, pi_coding_agent: None, parts: Vec::new() };
                    *entry.digest(name) = Some(digest);
                    list.push(entry);
                    met.insert(version);
                }
            }
        }
    }
    list.sort_by(|a, b| a.version.cmp(&b.version));
    if let Some(last) = last.filter(|last| **last > newest && !met.contains(last)) {
        bail!("npm has no {last}; `npm view {} versions` lists the releases", Name::PiAi);
    }
    Ok(met.into_iter().collect())
}

fn npm_view(name: Name) -> anyhow::Result<BTreeMap<Version, String>> {
    let spec = format!("{name}@>=0.0.0");
    let output = Command::new(NPM).args(["view", &spec, "version", "dist.integrity", "--json"]).output();
    let output = output.context("npm does not start")?;
    if !output.status.success() {
        bail!("npm view {spec}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let answer: Value = serde_json::from_slice(&output.stdout).context("npm's answer")?;
    // One release alone is no list.
    let list = if answer.is_array() { answer } else { Value::Array(vec![answer]) };
    let text = |entry: &Value, key: &str| {
        entry[key].as_str().map(str::to_owned).ok_or_else(|| anyhow!("npm view {spec}: no {key} in {entry}"))
    };
    let pair = |entry: &Value| Ok((parse_version(&text(entry, "version")?)?, text(entry, "dist.integrity")?));
    list.as_array().into_iter().flatten().map(pair).collect()
}

/// Tries every edit on a release, in each form that it has; gives its patterns.
fn examine(
    library: &Package,
    command: Option<&Package>,
    version: &Version,
    findings: &mut Findings,
) -> anyhow::Result<RetryPatterns> {
    let relay = Classifier::of(Profile::Patch);
    let mut attempts = vec![("the library", patch::attempt(library, &relay))];
    let sources = from_source_maps(library.root())?;
    attempts.push(("its sources", patch::attempt_in_sources(library, &sources, &Classifier::of(Profile::Upstream))));
    attempts.extend(command.map(|command| ("the bundle", patch::attempt(command, &relay))));
    for (form, attempt) in attempts {
        match attempt {
            Ok(attempt) => judge(&attempt, version, form, findings),
            Err(error) => {
                findings.decide.insert(format!("{version}, {form}: {}", place(&error)));
            }
        }
    }
    let read = |file: &str| library.read(file).map_err(anyhow::Error::from);
    overflow_patterns(&read("dist/utils/overflow.js")?)?;
    Ok(retry_patterns(&read("dist/utils/retry.js")?)?)
}

fn judge(attempt: &Attempt, version: &Version, form: &str, findings: &mut Findings) {
    const RULE: &str = "write a rule with it (.github/CONTRIBUTING.md, \"Add a wording\"), and run this again";
    let mut new = Vec::new();
    for warning in attempt.warnings() {
        match warning {
            // The lists' names differ from form to form, the pattern does not.
            Warning::UnknownPattern { pattern, .. } => {
                findings
                    .decide
                    .insert(format!("{version}: the pattern {pattern:?} is unknown to the reference: {RULE}"));
            }
            Warning::UnknownProvider { file } => new.push(module(file)),
            _ => {}
        }
    }
    let mut gone = Vec::new();
    for error in &attempt.failed {
        match error.kind() {
            Kind::Place { edit, .. } if edit.starts_with(CALL) => gone.push(edit[CALL.len()..].to_owned()),
            _ => {
                findings.decide.insert(format!("{version}, {form}: {}", place(error)));
            }
        }
    }
    for (index, gone) in gone.iter().enumerate() {
        let renamed =
            new.get(index).map_or(String::new(), |new| format!(", and {new} is new: if it is the same provider,"));
        let advice = if renamed.is_empty() { ": if it is gone for good," } else { renamed.as_str() };
        findings
            .decide
            .insert(format!("{version}: the edit in {gone} found no place{advice} say so in APIS of src/patch/mod.rs"));
    }
    for new in new.iter().skip(gone.len()) {
        findings.decide.insert(format!("{version}: {new} is a new provider: add it to APIS of src/patch/mod.rs"));
    }
}

/// The edit of a provider, as [`patch::make`] names it, without the provider.
const CALL: &str = "call in the catch block of ";

/// A provider's name, from the path of its module or of the bundle's chunk, whose name ends in a hash.
fn module(file: &str) -> String {
    let name = file.rsplit('/').next().unwrap_or(file);
    let name = name.split('.').next().unwrap_or(name);
    let hash = |end: &str| end.len() == 8 && end.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    name.rsplit_once('-').filter(|(_, end)| hash(end)).map_or(name, |(name, _)| name).to_owned()
}

/// What an edit met, without the advice for users.
fn place(error: &patch::Error) -> String {
    match error.kind() {
        Kind::Place { edit, file, found } => format!("{file}: the edit \"{edit}\" {found}"),
        _ => error.to_string(),
    }
}

/// Tells where the new patterns decide otherwise than those of the newest known release.
fn compare(
    root: &Path,
    newest: &Version,
    patterns: &RetryPatterns,
    version: &Version,
    findings: &mut Findings,
) -> anyhow::Result<()> {
    let eras: EraFile = serde_json::from_str(&fs::read_to_string(root.join(ERAS)).context(ERAS)?).context(ERAS)?;
    let newest = newest.to_string();
    let known = eras.retry.iter().find(|era| era.releases.contains(&newest));
    let known = known.with_context(|| format!("{ERAS} has no {newest}"))?;
    let regex = |list: &[String]| JsRegex::any_of(list.iter().map(|pattern| (pattern.as_str(), "i")));
    let decides = |patterns: &RetryPatterns| -> anyhow::Result<_> {
        let (retry, stop) = (regex(&patterns.retryable)?, regex(&patterns.non_retryable)?);
        Ok(move |text: &str| retry.is_match(text) && !stop.is_match(text))
    };
    let (before, after) = (decides(&known.patterns)?, decides(patterns)?);
    let mut files: Vec<PathBuf> =
        fs::read_dir(root.join("tests/corpus"))?.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut changed = BTreeSet::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "jsonl")) {
        for line in fs::read_to_string(file)?.lines() {
            let row: Value = serde_json::from_str(line)?;
            let Some(text) = row["errorMessage"].as_str() else { continue };
            if before(text) != after(text) {
                let shown: String = text.chars().take(100).collect();
                changed.insert(format!("{} {shown:?}", if after(text) { "now retries" } else { "no longer retries" }));
            }
        }
    }
    if !changed.is_empty() {
        findings
            .told
            .push(format!("pi {version} decides {} texts of the corpora otherwise than {newest}:", changed.len()));
        findings.told.extend(changed.into_iter().take(20).map(|line| format!("  {line}")));
    }
    Ok(())
}

#[derive(Deserialize)]
struct EraFile {
    retry: Vec<KnownEra>,
}

#[derive(Deserialize)]
struct KnownEra {
    releases: Vec<String>,
    #[serde(flatten)]
    patterns: RetryPatterns,
}

/// The eras of every supported release on the list, read from the packages.
fn eras(cache: &Cache, list: &[Entry]) -> anyhow::Result<(Eras<RetryPatterns>, Eras<OverflowPatterns>)> {
    let (mut retry, mut overflow) = (Vec::new(), Vec::new());
    for entry in list {
        let Some(digest) = &entry.pi_ai else { continue };
        let release = Release::unlisted(Name::PiAi, entry.version.clone(), digest.clone());
        if !release.supported() {
            continue;
        }
        let version = entry.version.to_string();
        let package = cache.package(&release, &mut |_| {})?;
        add(&mut retry, retry_patterns(&package.read("dist/utils/retry.js")?)?, &version);
        add(&mut overflow, overflow_patterns(&package.read("dist/utils/overflow.js")?)?, &version);
    }
    Ok((retry, overflow))
}

fn add<T: PartialEq>(eras: &mut Eras<T>, patterns: T, version: &str) {
    match eras.last_mut() {
        Some((last, releases)) if *last == patterns => releases.push(version.to_owned()),
        _ => eras.push((patterns, vec![version.to_owned()])),
    }
}

/// Gives a new release its parts: those of the newest before it, and its era.
fn assign(list: &mut [Entry], version: &Version, eras: &Eras<RetryPatterns>) {
    let version = version.to_string();
    let era = eras.iter().find(|(_, releases)| releases.contains(&version)).map(|(_, releases)| releases.clone());
    for entry in list.iter_mut() {
        let older = entry.version.to_string();
        if era.as_ref().is_some_and(|era| era.contains(&older)) {
            entry.play(ERA, older == version);
        }
    }
    let Some(index) = list.iter().position(|entry| entry.version.to_string() == version) else { return };
    if let Some(before) = index.checked_sub(1).map(|before| &mut list[before])
        && OF_THE_NEWEST.iter().all(|part| before.parts.iter().any(|played| played == part))
    {
        OF_THE_NEWEST.iter().for_each(|part| before.play(part, false));
    }
    OF_THE_NEWEST.iter().for_each(|part| list[index].play(part, true));
}

/// Writes the pis that the tests install into their packages, and renews the lock file of each that changed.
fn packages(root: &Path, list: &[Entry]) -> anyhow::Result<()> {
    let newest = &list.last().context("the list is empty")?.version;
    let plain = |name: Name| (name.to_string(), newest.to_string());
    let alias = |version: &Version| (format!("pi-{version}"), format!("npm:{}@{version}", Name::PiCodingAgent));
    let shim = list.iter().filter(|entry| entry.parts.iter().any(|part| part == "shim"));
    let wanted = [
        ("shim/test", shim.map(|entry| alias(&entry.version)).collect::<Vec<_>>()),
        ("tests/providers", vec![plain(Name::PiAi), plain(Name::PiCodingAgent)]),
        ("tests/submission/toolchain", vec![plain(Name::PiAi)]),
        ("tests/installed/packages", vec![("pi-newest".to_owned(), alias(newest).1)]),
    ];
    for (folder, wanted) in wanted {
        let path = root.join(folder).join("package.json");
        let text = fs::read_to_string(&path).context(folder)?;
        let mut manifest: Value = serde_json::from_str(&text).context(folder)?;
        let dependencies = manifest["devDependencies"].as_object_mut().context("no devDependencies")?;
        // The aliases of releases that play this part no longer.
        let release = |name: &str| name.strip_prefix("pi-").is_some_and(|version| parse_version(version).is_ok());
        dependencies.retain(|name, _| folder != "shim/test" || !release(name));
        for (name, version) in wanted {
            dependencies.insert(name, Value::String(version));
        }
        dependencies.sort_keys();
        let mut bytes = Vec::new();
        let tabs = serde_json::ser::PrettyFormatter::with_indent(b"\t");
        manifest.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, tabs))?;
        bytes.push(b'\n');
        if bytes == text.as_bytes() {
            continue;
        }
        fs::write(&path, bytes).context(folder)?;
        let lock =
            ["install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
        let status =
            Command::new(NPM).args(lock).current_dir(root.join(folder)).status().context("npm does not start")?;
        if !status.success() {
            bail!("npm could not renew {folder}/package-lock.json");
        }
        println!("{folder}: its package.json and lock file name {newest}");
    }
    // Types are read from the newest one's folder.
    let path = root.join("shim/test/tsconfig.json");
    let text = fs::read_to_string(&path).context("tsconfig.json")?;
    let folder = regex::Regex::new("node_modules/pi-[^/]+/")?;
    let fresh = folder.replace_all(&text, format!("node_modules/pi-{newest}/"));
    if fresh != text {
        fs::write(&path, fresh.as_bytes()).context("tsconfig.json")?;
    }
    Ok(())
}

fn written(list: &[Entry]) -> String {
    let mut out = HEADER.to_owned();
    for entry in list {
        out += &format!("\n[[release]]\nversion = \"{}\"\n", entry.version);
        for (key, digest) in [("pi-ai", &entry.pi_ai), ("pi-coding-agent", &entry.pi_coding_agent)] {
            out.extend(digest.iter().map(|digest| format!("{key} = \"{digest}\"\n")));
        }
        if !entry.parts.is_empty() {
            let parts: Vec<String> = entry.parts.iter().map(|part| format!("{part:?}")).collect();
            out += &format!("parts = [{}]\n", parts.join(", "));
        }
    }
    out
}

fn eras_json(retry: &Eras<RetryPatterns>, overflow: &Eras<OverflowPatterns>) -> String {
    #[derive(Serialize)]
    struct File {
        generated: &'static str,
        notice: &'static str,
        retry: Vec<Value>,
        overflow: Vec<Value>,
    }
    // The four eras before the first supported release had no lists of their own.
    let retry = (5..).zip(retry).map(|(number, (patterns, releases))| {
        json!({
            "era": format!("E{number}"),
            "releases": releases,
            "nonRetryable": patterns.non_retryable,
            "retryable": patterns.retryable,
        })
    });
    let overflow = overflow.iter().map(|(patterns, releases)| {
        json!({
            "releases": releases,
            "overflow": patterns.overflow,
            "nonOverflow": patterns.non_overflow,
            "cerebras": patterns.cerebras,
        })
    });
    let file = File { generated: GENERATED, notice: NOTICE, retry: retry.collect(), overflow: overflow.collect() };
    serde_json::to_string_pretty(&file).unwrap_or_default() + "\n"
}
