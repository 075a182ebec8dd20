//! What pi's own settings say: whether it retries at all, and whether the extension is installed and enabled.
//!
//! pi merges `settings.json` of its agent folder with `.pi/settings.json` of the current folder, the latter only in a project
//! that is trusted. Packages are listed under `packages`, as a source or as an object with filters; extensions also load
//! from the folder `extensions` beside each file, and from the paths listed under `extensions`.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use super::executable::plain;
use super::folders::global;
use super::globs::{lets_through, overridden};
use super::surroundings::Surroundings;

/// The extension's npm name.
const SHIM: &str = "pi-retry-forced";

/// pi's retry, as its settings have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Retry {
    /// Whether `retry.enabled` lets pi retry; it does unless told otherwise.
    pub enabled: bool,
    /// How often. With 0 pi does not retry either.
    #[serde(rename = "maxRetries")]
    pub max_retries: u64,
    /// The file that decides; none where the defaults stand.
    pub file: Option<PathBuf>,
}

impl Retry {
    /// Whether pi retries.
    pub fn is_on(&self) -> bool {
        self.enabled && self.max_retries > 0
    }

    /// The setting that turns retry off, or would.
    pub fn switch(&self) -> &'static str {
        if self.enabled && self.max_retries == 0 { "retry.maxRetries" } else { "retry.enabled" }
    }
}

/// The extension, once for each place that names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shim {
    /// As pi's settings name it, or the folder in which pi finds it by itself.
    pub source: String,
    /// The file or folder that says so.
    pub from: PathBuf,
    /// Where it is; none if it is listed but not there.
    pub folder: Option<PathBuf>,
    /// The version in its `package.json`.
    pub version: Option<String>,
    /// Whether pi loads it.
    pub enabled: bool,
}

/// pi's settings, as far as they matter here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Settings {
    /// pi's agent folder.
    #[serde(rename = "agentFolder")]
    pub agent_folder: PathBuf,
    /// pi's retry.
    pub retry: Retry,
    /// The extension.
    pub shims: Vec<Shim>,
    /// Whether `.pi/settings.json` is left out, as the user does not trust this project.
    pub untrusted: bool,
    /// What could not be read, a sentence each.
    pub problems: Vec<String>,
}

/// One scope: the user's, or the project's.
struct Scope {
    folder: PathBuf,
    file: PathBuf,
    settings: Value,
}

impl Settings {
    /// Reads them as pi would, started in the current folder; none if there is no home folder.
    pub fn read(surroundings: &Surroundings) -> Option<Self> {
        let agent_folder =
            surroundings.folder_variable("PI_CODING_AGENT_DIR").or_else(|| surroundings.at_home(".pi/agent"))?;
        let mut problems = Vec::new();
        let mut scope = |folder: PathBuf| {
            let file = folder.join("settings.json");
            let settings = json(&file, &mut problems);
            Scope { folder, file, settings }
        };
        let user = scope(agent_folder.clone());
        let project_folder = surroundings.folder.join(".pi");
        let mut scopes = vec![user];
        let mut untrusted = false;
        if project_folder.is_dir() && project_folder.join("settings.json") != scopes[0].file {
            let trust = json(&agent_folder.join("trust.json"), &mut problems);
            let decision = decision(&trust, &surroundings.folder);
            untrusted = !decision.unwrap_or(scopes[0].settings["defaultProjectTrust"] != "never");
            if !untrusted {
                let file = project_folder.join("settings.json");
                let settings = json(&file, &mut problems);
                scopes.push(Scope { folder: project_folder, file, settings });
            }
        }
        let retry = retry(&scopes);
        let shims = shims(&scopes, surroundings);
        Some(Settings { agent_folder, retry, shims, untrusted, problems })
    }

    /// Whether pi loads the extension.
    pub fn shim_enabled(&self) -> bool {
        self.shims.iter().any(|shim| shim.enabled)
    }
}

/// A file's JSON; null if there is none, and null with a remark if it is broken.
fn json(file: &Path, problems: &mut Vec<String>) -> Value {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => {
            if !matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) {
                problems.push(format!("{} cannot be read: {error}", file.display()));
            }
            return Value::Null;
        }
    };
    serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_else(|error| {
        problems.push(format!("{} is no JSON, so pi does not read it either: {error}", file.display()));
        Value::Null
    })
}

/// Whether the user trusts a folder, by the nearest entry above.
fn decision(trust: &Value, folder: &Path) -> Option<bool> {
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    folder.ancestors().find_map(|folder| trust.get(folder.to_string_lossy().as_ref()).and_then(Value::as_bool))
}

fn retry(scopes: &[Scope]) -> Retry {
    let said = |name: &str| scopes.iter().rev().find(|scope| !scope.settings["retry"][name].is_null());
    let (by_switch, by_number) = (said("enabled"), said("maxRetries"));
    let enabled = by_switch.is_none_or(|scope| scope.settings["retry"]["enabled"] != false);
    let number = by_number.map(|scope| &scope.settings["retry"]["maxRetries"]);
    let negative = |number: &Value| number.as_i64().filter(|number| *number < 0).map(|_| 0);
    let max_retries = number.and_then(|number| number.as_u64().or_else(|| negative(number))).unwrap_or(3);
    let decides = if enabled && max_retries == 0 { by_number } else { by_switch.or(by_number) };
    Retry { enabled, max_retries, file: decides.map(|scope| scope.file.clone()) }
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn shims(scopes: &[Scope], surroundings: &Surroundings) -> Vec<Shim> {
    let mut shims: Vec<Shim> = Vec::new();
    for (index, scope) in scopes.iter().enumerate() {
        for entry in scope.settings["packages"].as_array().into_iter().flatten() {
            let Some(source) = entry.as_str().or_else(|| entry["source"].as_str()) else { continue };
            let place = folder(source, scope, index == 0, surroundings);
            if !is_shim(source, place.as_deref()) {
                continue;
            }
            let place = place.filter(|place| place.exists());
            if place.is_none() && entry["autoload"] == false {
                // It only changes what another scope loads, and that is not there.
                continue;
            }
            let entry_file = place.as_deref().map_or_else(|| "src/index.ts".to_owned(), extension_file);
            let filter = entry["extensions"].as_array().map(|_| strings(&entry["extensions"]));
            let enabled = match (entry["autoload"] == false, filter) {
                // Only a change to what another scope loads.
                (true, filter) => {
                    let said = filter.and_then(|filter| overridden(&filter, &entry_file));
                    let base = shims.iter().any(|shim| shim.enabled);
                    if said == Some(false) {
                        shims.iter_mut().for_each(|shim| shim.enabled = false);
                    }
                    said.unwrap_or(base)
                }
                (false, Some(filter)) => lets_through(&filter, &entry_file),
                (false, None) => true,
            };
            // A project's entry replaces the user's for the same package.
            if index > 0 && entry["autoload"] != false {
                shims
                    .iter_mut()
                    .filter(|shim| same(shim, source, place.as_deref()))
                    .for_each(|shim| shim.enabled = enabled);
            }
            shims.push(Shim {
                source: source.to_owned(),
                from: scope.file.clone(),
                version: place.as_deref().and_then(version),
                enabled: enabled && place.is_some(),
                folder: place,
            });
        }
        let listed = strings(&scope.settings["extensions"]);
        let found = fs::read_dir(scope.folder.join("extensions")).into_iter().flatten().flatten();
        let found = found.map(|entry| (entry.path(), scope.folder.join("extensions")));
        let named = listed.iter().filter(|entry| !entry.starts_with(['!', '+', '-']));
        let named = named.map(|entry| (resolve(entry, &scope.folder, surroundings), scope.file.clone()));
        for (path, from) in found.chain(named) {
            let place =
                if path.is_file() { path.ancestors().skip(1).find(|at| version(at).is_some()) } else { Some(&*path) };
            let Some(place) = place.filter(|place| is_shim("", Some(place))) else { continue };
            let file = place.join(extension_file(place));
            let below = file.strip_prefix(&scope.folder).unwrap_or(&file).to_string_lossy().replace('\\', "/");
            shims.push(Shim {
                source: path.to_string_lossy().into_owned(),
                from,
                folder: Some(place.to_owned()),
                version: version(place),
                enabled: overridden(&listed, &below).unwrap_or(true),
            });
        }
    }
    shims
}

fn same(shim: &Shim, source: &str, place: Option<&Path>) -> bool {
    let name = |source: &str| source.starts_with("npm:").then(|| npm_name(source).to_owned());
    (name(source).is_some() && name(&shim.source) == name(source))
        || (place.is_some() && shim.folder.as_deref() == place)
}

/// The name in `npm:name@version`, where the name may have a scope.
fn npm_name(source: &str) -> &str {
    let spec = source.trim_start_matches("npm:").trim();
    let end = spec.char_indices().skip(1).find(|(_, character)| *character == '@');
    end.map_or(spec, |(end, _)| &spec[..end])
}

fn is_shim(source: &str, place: Option<&Path>) -> bool {
    let manifest = place.and_then(manifest);
    match manifest.as_ref().and_then(|manifest| manifest["name"].as_str()) {
        Some(name) => name == SHIM && manifest.as_ref().is_some_and(|manifest| manifest["pi"]["extensions"].is_array()),
        None if source.starts_with("npm:") => npm_name(source) == SHIM,
        // What is gone is recognised by its name alone.
        None => place.is_some_and(|place| !place.exists() && place.iter().any(|part| part == SHIM)),
    }
}

fn manifest(folder: &Path) -> Option<Value> {
    serde_json::from_slice(&fs::read(folder.join("package.json")).ok()?).ok()
}

fn version(folder: &Path) -> Option<String> {
    manifest(folder)?["version"].as_str().map(str::to_owned)
}

/// The extension's file, relative to its package.
fn extension_file(folder: &Path) -> String {
    let first = manifest(folder).and_then(|manifest| strings(&manifest["pi"]["extensions"]).into_iter().next());
    first.map_or_else(|| "index.ts".to_owned(), |file| file.trim_start_matches("./").to_owned())
}

/// Where pi keeps a package of this source.
fn folder(source: &str, scope: &Scope, user: bool, surroundings: &Surroundings) -> Option<PathBuf> {
    if source.starts_with("npm:") {
        let managed = scope.folder.join("npm/node_modules").join(npm_name(source));
        if managed.is_dir() || !user {
            return Some(managed);
        }
        // Older releases installed globally.
        let global = global(surroundings).into_iter().map(|(_, modules)| modules.join(npm_name(source)));
        return Some(global.into_iter().find(|folder| folder.is_dir()).unwrap_or(managed));
    }
    if let Some((host, path)) = repository(source) {
        return Some(scope.folder.join("git").join(host).join(path));
    }
    Some(resolve(source, &scope.folder, surroundings))
}

/// Host and path of a git source, in any of the usual forms; none for a local path.
fn repository(source: &str) -> Option<(String, String)> {
    let rest = source.strip_prefix("git:").unwrap_or(source);
    let url = ["https://", "http://", "ssh://", "git://"].iter().find_map(|scheme| rest.strip_prefix(scheme));
    if url.is_none() && rest == source && !source.starts_with("git@") {
        return source.strip_prefix("github:").map(|path| ("github.com".to_owned(), bare(path)));
    }
    let rest = url.unwrap_or(rest);
    let rest = rest.split_once('@').filter(|(user, _)| !user.contains('/')).map_or(rest, |(_, rest)| rest);
    let (host, path) = rest.split_once(['/', ':'])?;
    Some((host.to_owned(), bare(path)))
}

/// A repository's path without its ref and ending.
fn bare(path: &str) -> String {
    let path = path.split(['@', '#']).next().unwrap_or(path);
    path.trim_end_matches('/').trim_end_matches(".git").to_owned()
}

fn resolve(path: &str, base: &Path, surroundings: &Surroundings) -> PathBuf {
    let path = Path::new(path.strip_prefix("file://").unwrap_or(path));
    match path.starts_with("~") {
        true => surroundings.expand(path),
        false => plain(&base.join(path)),
    }
}
