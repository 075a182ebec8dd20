//! What pi-ai itself makes of failed answers, before and after the patch: its own provider modules, run in node against a relay on
//! 127.0.0.1 that answers with every status there is.
//!
//! [`record`] makes the runs; [`recorded`] is what they gave when they were last made, so that a report can be written
//! without a network. A test makes them again and compares.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::patch::{self, Classifier};
use crate::upstream::{Name, Package, Part, Release};
use crate::{Failure, Profile, classify};

/// The statuses that the relay answers with, in the order of a record's letters.
pub const STATUSES: [u16; 21] =
    [400, 401, 403, 404, 408, 409, 413, 422, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529, 530];

/// The bodies that it answers with.
pub const BODIES: [(&str, &str); 4] = [
    (
        "plain",
        "an error object whose message says nothing of the cause, with a request id without a status in its digits",
    ),
    ("unlucky", "the same, but the digits of the id contain 503"),
    ("empty", "no body at all"),
    ("refusal", "a relay's \"This request is not supported.\""),
];

/// The Node that runs them; pi-ai needs 22.19 or newer.
const NODE: &str = "22.19.0";

const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };
const RUNNER: &str = include_str!("run.mjs");
const RECORD: &str = include_str!("runs.json");

/// Verdicts of one API on one body: a letter a status of [`STATUSES`], `r` for retry and `s` for stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdicts {
    /// The package as it was published.
    pub before: String,
    /// With the change proposed to upstream.
    pub upstream: String,
    /// With the npm patch, which knows relays too.
    pub patch: String,
}

/// All runs of one release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// Failed turns that were produced in each variant.
    pub turns: usize,
    /// Of those, with the same `errorMessage` before and after, byte for byte.
    pub same_text: usize,
    /// Of the failed answers, those after which a changed package put their status on the message.
    pub right_status: usize,
    /// Failed answers among the turns; the others are connections that were reset.
    pub answers: usize,
    /// Verdicts after the change that equal the reference's, both profiles counted.
    pub as_reference: usize,
    /// Verdicts by API and body.
    pub verdicts: BTreeMap<String, BTreeMap<String, Verdicts>>,
    /// Whether a reset connection is retried, by API: before, upstream, patch.
    pub reset: BTreeMap<String, String>,
}

/// The releases that a report shows unless others are named, oldest first.
pub fn releases() -> impl Iterator<Item = &'static Release> {
    Release::playing(Name::PiAi, Part::Report)
}

/// The runs that are part of this crate, by release.
///
/// # Errors
/// If the record is damaged.
pub fn recorded() -> Result<BTreeMap<String, Record>, serde_json::Error> {
    serde_json::from_str(RECORD)
}

/// What the relay sends.
fn scenarios() -> Vec<Value> {
    let error =
        |message: &str| json!({ "error": { "message": message, "type": "new_api_error", "param": "", "code": null } });
    let body = |name: &str| match name {
        "plain" => error("Something went wrong. (request id: 2026112911181134177611118268d9d69EdzNJOg)").to_string(),
        "unlucky" => error("Something went wrong. (request id: 20261129150342981778524268d9d69EdzNJOg)").to_string(),
        "refusal" => {
            error("This request is not supported. (request id: 2026112911181134177611118268d9d69EdzNJOg)").to_string()
        }
        _ => String::new(),
    };
    let mut scenarios = vec![json!({ "name": "reset" })];
    for (name, _) in BODIES {
        for status in STATUSES {
            scenarios.push(json!({ "name": format!("{name} {status}"), "status": status, "body": body(name) }));
        }
    }
    scenarios
}

/// Installs a release with npm below `folder` and runs it three times: as published, and with the change in both profiles.
///
/// # Errors
/// If npm or node fail, or the release cannot be patched.
pub fn record(release: &Release, folder: &Path, tell: &dyn Fn(&str)) -> anyhow::Result<Record> {
    tell("installing with npm");
    let installed = install(release, folder)?;
    let package = installed.join("node_modules").join(Name::PiAi.as_str());
    tell("running it as published");
    let before = run(&installed, &package)?;
    let mut after = Vec::new();
    for profile in [Profile::Upstream, Profile::Patch] {
        tell(&format!("running it with the change, profile {}", profile.as_str()));
        // Beside the published one, so that it finds the same SDKs.
        let copy = installed.join("node_modules").join(format!("pi-ai-{}", profile.as_str()));
        if copy.exists() {
            fs::remove_dir_all(&copy)?;
        }
        copy_all(&package, &copy)?;
        let set = patch::make(&Package::open(&copy, Name::PiAi)?, &Classifier::of(profile))?;
        set.apply_to(&copy)?;
        after.push((profile, run(&installed, &copy)?));
    }
    Ok(compare(&before, &after))
}

type Turns = BTreeMap<(String, String), Value>;

fn compare(before: &Turns, after: &[(Profile, Turns)]) -> Record {
    let mut record = Record {
        turns: before.len(),
        same_text: 0,
        right_status: 0,
        answers: before.keys().filter(|(_, scenario)| scenario != "reset").count(),
        as_reference: 0,
        verdicts: BTreeMap::new(),
        reset: BTreeMap::new(),
    };
    let letter = |turn: Option<&Value>| match turn.and_then(|turn| turn["retryable"].as_bool()) {
        Some(true) => 'r',
        Some(false) => 's',
        None => '?',
    };
    for (key, turn) in before {
        let same = |(_, turns): &(Profile, Turns)| {
            turns.get(key).is_some_and(|new| new["errorMessage"] == turn["errorMessage"])
        };
        record.same_text += usize::from(after.iter().all(same));
        let status = key.1.rsplit(' ').next().and_then(|word| word.parse::<u16>().ok());
        let right = |(_, turns): &(Profile, Turns)| {
            turns
                .get(key)
                .and_then(Value::as_object)
                .is_some_and(|new| Failure::from_json(new).diagnostics_status == status)
        };
        record.right_status += usize::from(status.is_some() && after.iter().all(right));
        let as_reference = |(profile, turns): &&(Profile, Turns)| {
            turns.get(key).and_then(Value::as_object).is_some_and(|new| {
                let retried = classify(&Failure::from_json(new), *profile).decision == crate::Decision::Retry;
                new.get("retryable") == Some(&Value::Bool(retried))
            })
        };
        record.as_reference += after.iter().filter(as_reference).count();
    }
    let apis: std::collections::BTreeSet<&String> = before.keys().map(|(api, _)| api).collect();
    for api in apis {
        let letters = |turns: &Turns, body: &str| -> String {
            STATUSES.iter().map(|status| letter(turns.get(&(api.clone(), format!("{body} {status}"))))).collect()
        };
        for (body, _) in BODIES {
            let [upstream, patch] =
                [0, 1].map(|index| after.get(index).map(|(_, turns)| letters(turns, body)).unwrap_or_default());
            let verdicts = Verdicts { before: letters(before, body), upstream, patch };
            record.verdicts.entry(api.clone()).or_default().insert(body.to_owned(), verdicts);
        }
        let key = (api.clone(), "reset".to_owned());
        let all = std::iter::once(before).chain(after.iter().map(|(_, turns)| turns));
        record.reset.insert(api.clone(), all.map(|turns| letter(turns.get(&key))).collect());
    }
    record
}

fn install(release: &Release, folder: &Path) -> anyhow::Result<PathBuf> {
    let folder = folder.join(format!("run-{}", release.version()));
    let done = folder.join("node_modules/.installed");
    let manifest = json!({
        "private": true, "type": "module",
        "dependencies": { Name::PiAi.as_str(): release.version().to_string(), "node": NODE },
    })
    .to_string();
    if fs::read_to_string(&done).is_ok_and(|text| text == manifest) {
        return Ok(folder);
    }
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("package.json"), &manifest)?;
    let output = Command::new(NPM)
        .args(["install", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"])
        .args(["--fetch-retry-maxtimeout=5000", "--fetch-retry-mintimeout=1000"])
        .current_dir(&folder)
        .output()
        .map_err(|error| anyhow::anyhow!("npm cannot be run ({error}); install Node 20 or newer with npm"))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        // npm prints its own stack; the first line says what happened.
        let first = errors.lines().find(|line| !line.trim().is_empty()).unwrap_or("it gave no reason").trim();
        anyhow::bail!(
            "npm could not install {}: {first}; check the connection and npm's settings, or leave out --run",
            release.spec()
        );
    }
    fs::write(done, manifest)?;
    Ok(folder)
}

/// What every provider module makes of every scenario, by API and scenario.
fn run(installed: &Path, package: &Path) -> anyhow::Result<Turns> {
    let runner = installed.join("run.mjs");
    fs::write(&runner, RUNNER)?;
    let node = installed.join("node_modules/.bin").join(if cfg!(windows) { "node.cmd" } else { "node" });
    let output = Command::new(node)
        .arg(runner)
        .arg(package)
        .arg(Value::Array(scenarios()).to_string())
        // Credentials, proxies and settings of the machine stay out.
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", installed)
        .envs([("AWS_REGION", "us-east-1"), ("AWS_BEARER_TOKEN_BEDROCK", "token"), ("AWS_MAX_ATTEMPTS", "1")])
        .env("AWS_BEDROCK_FORCE_HTTP1", "1")
        .output()?;
    if !output.status.success() {
        anyhow::bail!("the runs in node failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let mut turns = Turns::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        let turn: Value = serde_json::from_str(line)?;
        let part = |name: &str| turn[name].as_str().unwrap_or_default().to_owned();
        turns.insert((part("api"), part("scenario")), turn);
    }
    Ok(turns)
}

fn copy_all(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_all(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
