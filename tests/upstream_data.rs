//! The committed data about pi's packages against what is published: `releases.json` and `eras.json`.
//!
//! With `PI_RETRY_FORCED_BLESS=1` the tests write the files anew. For a release that is not listed yet run that twice: the
//! first run lists it, the second, built with the new list, reads its patterns.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use pi_retry_forced::upstream::{
    Era, Name, OverflowEra, OverflowPatterns, Release, RetryPatterns, Version, overflow_patterns, retry_patterns,
};
use serde_json::{Map, Value, json};
use support::oracle::package;

const GENERATED: &str =
    "by tests/upstream_data.rs; PI_RETRY_FORCED_BLESS=1 cargo test --test upstream_data writes it anew";
const NOTICE: &str = "The pattern strings are part of pi-ai, https://github.com/earendil-works/pi, copyright (c) Mario \
                      Zechner, used under the MIT licence, whose text is in the file LICENSE of this project";

fn blessing() -> bool {
    std::env::var_os("PI_RETRY_FORCED_BLESS").is_some_and(|value| value == "1")
}

/// Compares a file below `src/upstream` with what it should be, or writes it.
fn check(file: &str, expected: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/upstream").join(file);
    let expected = serde_json::to_string_pretty(expected).expect("it is JSON") + "\n";
    if blessing() {
        fs::write(path, expected).expect("the file is written");
        return;
    }
    let committed = fs::read_to_string(path).expect("the file is there").replace("\r\n", "\n");
    assert_same(&committed, &expected, file);
}

fn assert_same(committed: &str, expected: &str, file: &str) {
    let diff = similar::TextDiff::from_lines(committed, expected);
    let diff = diff.unified_diff().header("committed", "published").to_string();
    assert!(diff.is_empty(), "{file} is out of date; PI_RETRY_FORCED_BLESS=1 writes it anew:\n{diff}");
}

/// Digests by version, as npm gives them.
fn published(name: Name) -> BTreeMap<Version, String> {
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let spec = format!("{name}@>=0.0.0");
    let output = Command::new(npm).args(["view", &spec, "version", "dist.integrity", "--json"]).output();
    let output = output.expect("npm starts");
    assert!(output.status.success(), "npm view: {}", String::from_utf8_lossy(&output.stderr));
    let list: Vec<Value> = serde_json::from_slice(&output.stdout).expect("npm answers in JSON");
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_else(|| panic!("{key} in {entry}")).to_owned();
    let pair = |entry: &Value| (text(entry, "version").parse().expect("a version"), text(entry, "dist.integrity"));
    list.iter().map(pair).collect()
}

#[test]
fn the_listed_releases_are_those_that_npm_has() {
    let mut releases = Map::new();
    for name in Name::ALL {
        let mut published = published(name);
        if !blessing() {
            // What came out since this list was written does not make the list wrong.
            published.retain(|version, _| version <= Release::newest(name).version());
        }
        let versions = published.iter().map(|(version, digest)| (version.to_string(), json!(digest))).collect();
        releases.insert(name.to_string(), Value::Object(versions));
    }
    check("releases.json", &json!({ "generated": GENERATED, "releases": releases }));
}

/// Patterns that hold for consecutive releases.
type Eras<T> = Vec<(T, Vec<String>)>;

/// What `eras.json` should hold, from the packages of these releases, oldest first.
fn eras_of(releases: &[&Release]) -> (Eras<RetryPatterns>, Eras<OverflowPatterns>) {
    let (mut retry, mut overflow) = (Vec::new(), Vec::new());
    for release in releases {
        let version = release.version().to_string();
        let package = package(&version);
        let read = |file| package.read(file).unwrap_or_else(|error| panic!("{version}: {error}"));
        let patterns =
            retry_patterns(&read("dist/utils/retry.js")).unwrap_or_else(|error| panic!("{version}: {error}"));
        add(&mut retry, patterns, &version);
        let patterns = overflow_patterns(&read("dist/utils/overflow.js"));
        add(&mut overflow, patterns.unwrap_or_else(|error| panic!("{version}: {error}")), &version);
    }
    (retry, overflow)
}

fn add<T: PartialEq>(eras: &mut Eras<T>, patterns: T, version: &str) {
    match eras.last_mut() {
        Some((last, releases)) if *last == patterns => releases.push(version.to_owned()),
        _ => eras.push((patterns, vec![version.to_owned()])),
    }
}

#[test]
fn the_patterns_of_every_era_are_those_in_the_packages() {
    let all: Vec<&Release> = Release::all_supported(Name::PiAi).iter().collect();
    if blessing() {
        let (retry, overflow) = eras_of(&all);
        let retry: Vec<Value> = (5..)
            .zip(retry)
            .map(|(number, (patterns, releases))| {
                json!({
                    "era": format!("E{number}"),
                    "releases": releases,
                    "nonRetryable": patterns.non_retryable,
                    "retryable": patterns.retryable,
                })
            })
            .collect();
        let overflow: Vec<Value> = overflow
            .into_iter()
            .map(|(patterns, releases)| {
                json!({
                    "releases": releases,
                    "overflow": patterns.overflow,
                    "nonOverflow": patterns.non_overflow,
                    "cerebras": patterns.cerebras,
                })
            })
            .collect();
        check("eras.json", &json!({ "generated": GENERATED, "notice": NOTICE, "retry": retry, "overflow": overflow }));
        return;
    }
    // The first release of each era stands for it: 27 packages would be too much to fetch for a test.
    let first = |release: &&&Release| {
        let version = release.version().to_string();
        let starts = |releases: &[String]| releases[0] == version;
        Era::all().iter().any(|era| starts(era.releases()))
            || OverflowEra::all().iter().any(|era| starts(era.releases()))
    };
    let some: Vec<&Release> = all.iter().filter(first).copied().collect();
    let (retry, overflow) = eras_of(&some);
    assert_eq!(retry.len(), Era::all().len());
    for (era, (patterns, releases)) in Era::all().iter().zip(&retry) {
        assert_eq!((era.patterns(), &era.releases()[0]), (patterns, &releases[0]), "{}", era.name());
    }
    assert_eq!(overflow.len(), OverflowEra::all().len());
    for (era, (patterns, releases)) in OverflowEra::all().iter().zip(&overflow) {
        assert_eq!((era.patterns(), &era.releases()[0]), (patterns, &releases[0]));
    }
}
