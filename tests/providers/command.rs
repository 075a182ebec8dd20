//! The bundled command: one request for a failure that it gives up on, several once it is patched, one again afterwards.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use pi_retry_forced::Profile;
use pi_retry_forced::patch::{self, Classifier};
use pi_retry_forced::upstream::{Name, Package};
use serde_json::{Value, json};

use crate::{copy, installed, node};

/// How many requests pi sends for each API and failure.
fn requests(installed: &Path, package: &Path) -> BTreeMap<(String, String), u64> {
    let error = |message: &str| json!({ "error": { "message": message, "type": "new_api_error" } }).to_string();
    let id = "(request id: 2026112911181134177611118268d9d6AqNdevgF)";
    let plan = json!({
        "apis": ["anthropic-messages", "openai-completions", "google-generative-ai"],
        "failures": [
            { "name": "522", "status": 522, "body": error("Something went wrong.") },
            { "name": "transient 400", "status": 400, "body": error(&format!("This request is not supported. {id}")) },
            { "name": "permanent 400", "status": 400, "body": error(&format!("Unknown parameter: 'timeout'. {id}")) },
            { "name": "401", "status": 401, "body": error("Something went wrong.") },
        ],
    });
    let home = tempfile::tempdir().expect("a home");
    let mut command = Command::new(node(installed));
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/providers/run-pi.mjs"));
    command.arg(package.join("dist/bundle/cli.js")).arg(home.path()).arg(plan.to_string());
    let output = command.output().expect("node");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).expect("UTF-8");
    let results = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let results: BTreeMap<_, _> = results
        .map(|result| {
            let text = |name: &str| result[name].as_str().expect("a text").to_owned();
            let count = result["requests"].as_u64().expect("a number");
            assert!(count > 0, "pi sent nothing: {result}");
            ((text("api"), text("failure")), count)
        })
        .collect();
    assert_eq!(results.len(), 3 * 4);
    results
}

#[test]
fn the_patched_command_retries_what_deserves_it_and_nothing_else() {
    let installed = installed();
    // Inside the installation, so that the copy finds the same packages.
    let folder = tempfile::tempdir_in(&installed).expect("a folder");
    copy(&installed.join("node_modules").join(Name::PiCodingAgent.as_str()), folder.path());
    let package = Package::open(folder.path(), Name::PiCodingAgent).expect("a package");
    let set = patch::make(&package, &Classifier::of(Profile::Patch)).expect("a patch");

    let wanted = |patched: bool, failure: &str| match failure {
        "522" | "transient 400" if patched => 3,
        // The parameter's name is transport wording to an unpatched pi, which wastes two attempts on it.
        "permanent 400" if !patched => 3,
        _ => 1,
    };
    let check = |patched: bool| {
        for ((api, failure), count) in requests(&installed, folder.path()) {
            assert_eq!(count, wanted(patched, &failure), "{api}, {failure}, patched: {patched}");
        }
    };
    check(false);
    set.apply_to(folder.path()).expect("applied");
    check(true);
    for file in &set.files {
        fs::write(folder.path().join(&file.path), &file.old).expect("reverted");
    }
    check(false);
}
