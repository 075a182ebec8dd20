//! The real thing against a failing relay: pi-ai 1.6.0 run through its own provider modules, and the command pi 1.6.0,
//! unpatched, patched and reverted.

mod command;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use pi_retry_forced::patch::{self, Classifier};
use pi_retry_forced::upstream::{Name, Package};
use pi_retry_forced::{Decision, Failure, Profile, classify};
use serde_json::{Value, json};

const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };

/// The ways in which the relay fails: a name, the HTTP status or a reset, and the body.
fn scenarios() -> Vec<(&'static str, Option<u16>, String)> {
    let error =
        |message: &str| json!({ "error": { "message": message, "type": "new_api_error", "param": "", "code": null } });
    let id = "(request id: 2026112911181134177611118268d9d69EdzNJOg)";
    let neutral = error(&format!("Something went wrong. {id}")).to_string();
    let mut scenarios = vec![
        ("the transient 400 of relays", Some(400), error(&format!("This request is not supported. {id}")).to_string()),
        ("a permanent 400", Some(400), error(&format!("Unknown parameter: 'timeout'. {id}")).to_string()),
        ("a key refused", Some(401), error(&format!("Invalid API key. {id}")).to_string()),
        ("a reset", None, String::new()),
        ("an empty 503", Some(503), String::new()),
        ("an empty 400", Some(400), String::new()),
    ];
    let statuses = [
        ("401", 401),
        ("404", 404),
        ("408", 408),
        ("413", 413),
        ("429", 429),
        ("500", 500),
        ("503", 503),
        ("522", 522),
        ("529", 529),
    ];
    scenarios.extend(statuses.map(|(name, status)| (name, Some(status), neutral.clone())));
    scenarios
}

/// The pinned packages, installed once for all tests and runs.
fn installed() -> PathBuf {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    INSTALLED.get_or_init(install).clone()
}

fn install() -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/providers");
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("providers");
    let read = |folder: &Path, name: &str| fs::read(folder.join(name)).ok();
    let done = to.join("node_modules/.installed");
    if fs::read(&done).ok() != read(&from, "package-lock.json") {
        fs::create_dir_all(&to).expect("a folder");
        for name in ["package.json", "package-lock.json"] {
            fs::copy(from.join(name), to.join(name)).expect("a copied file");
        }
        let status = Command::new(NPM).args(["ci", "--no-audit", "--no-fund"]).current_dir(&to).status().expect("npm");
        assert!(status.success(), "npm ci in {}", to.display());
        fs::copy(from.join("package-lock.json"), done).expect("a mark");
    }
    to
}

/// The pinned Node: pi needs a newer one than this project does.
fn node(installed: &Path) -> PathBuf {
    installed.join("node_modules/.bin").join(if cfg!(windows) { "node.cmd" } else { "node" })
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder to read") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        match entry.file_type().expect("its kind").is_dir() {
            true => copy(&entry.path(), &target),
            false => fs::copy(entry.path(), target).map(drop).expect("a copied file"),
        }
    }
}

/// What every provider module made of every failure, by API and scenario.
fn run(installed: &Path, package: &Path) -> BTreeMap<(String, String), Value> {
    let scenarios: Vec<Value> = scenarios()
        .into_iter()
        .map(|(name, status, body)| match status {
            Some(status) => json!({ "name": name, "status": status, "body": body }),
            None => json!({ "name": name }),
        })
        .collect();
    let mut command = Command::new(node(installed));
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/evidence/run.mjs"));
    command.arg(package).arg(json!(scenarios).to_string());
    // Credentials, proxies and settings of the machine stay out.
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", installed);
    command.env("AWS_REGION", "us-east-1").env("AWS_BEARER_TOKEN_BEDROCK", "token").env("AWS_BEDROCK_FORCE_HTTP1", "1");
    command.env("AWS_MAX_ATTEMPTS", "1");
    let output = command.output().expect("node");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let lines = String::from_utf8(output.stdout).expect("UTF-8");
    let results = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let key = |result: &Value, name: &str| result[name].as_str().expect("a text").to_owned();
    results.map(|result| ((key(&result, "api"), key(&result, "scenario")), result)).collect()
}

#[test]
fn every_provider_carries_the_status_and_changes_no_text() {
    let installed = installed();
    let unpatched = installed.join("node_modules").join(Name::PiAi.as_str());
    // Inside the installation, so that the copy finds the same SDKs.
    let folder = tempfile::tempdir_in(&installed).expect("a folder");
    copy(&unpatched, folder.path());
    let package = Package::open(folder.path(), Name::PiAi).expect("a package");
    let set = patch::make(&package, &Classifier::of(Profile::Patch)).expect("a patch");
    set.apply_to(folder.path()).expect("applied");

    let before = run(&installed, &unpatched);
    let after = run(&installed, folder.path());
    let scenarios = scenarios();
    assert_eq!(after.len(), 10 * scenarios.len());
    for ((api, scenario), result) in &after {
        let (_, status, _) = scenarios.iter().find(|(name, ..)| name == scenario).expect("a scenario");
        let old = &before[&(api.clone(), scenario.clone())];
        let context = format!("{api}, {scenario}: {result}, before: {old}");
        assert_eq!(result["requests"], 1, "{context}");
        assert_eq!(result["stopReason"], "error", "{context}");
        assert_eq!(result["errorMessage"], old["errorMessage"], "{context}");
        let kept = |turn: &Value| -> Vec<Value> {
            let all = turn["diagnostics"].as_array().into_iter().flatten();
            all.map(|entry| entry["details"]["status"].clone()).filter(|status| !status.is_null()).collect()
        };
        // Two providers keep it by themselves.
        let itself = ["bedrock-converse-stream", "pi-messages"].contains(&api.as_str());
        let wanted: Vec<Value> = status.map(Value::from).into_iter().collect();
        assert_eq!(kept(old), if itself { wanted.clone() } else { Vec::new() }, "{context}");
        assert_eq!(kept(result), wanted, "{context}");
        let failure = Failure::from_json(result.as_object().expect("an object"));
        let verdict = classify(&failure, Profile::Patch);
        assert_eq!(result["retryable"], verdict.decision == Decision::Retry, "{context}, {verdict:?}");
    }

    // What it is all for: the transient failures are retried now, through whichever API they came.
    let retried = |results: &BTreeMap<(String, String), Value>, name: &str| {
        let of_name = results.iter().filter(|((_, scenario), _)| scenario == name);
        of_name.filter(|(_, result)| result["retryable"] == true).count()
    };
    assert_eq!(retried(&before, "522"), 0);
    for name in ["408", "500", "503", "522", "529", "an empty 503", "a reset", "the transient 400 of relays"] {
        assert_eq!(retried(&after, name), 10, "{name}");
    }
    for name in ["a permanent 400", "a key refused", "401", "404", "413", "an empty 400"] {
        assert_eq!(retried(&after, name), 0, "{name}");
    }
}
