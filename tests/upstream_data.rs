//! The committed data about pi's packages against what is published: `releases.toml` and `eras.json`, which `.ci/renew release`
//! writes.

mod support;

use std::collections::BTreeMap;
use std::process::Command;

use pi_retry_forced::upstream::{
    Era, Name, OverflowEra, Release, Version, overflow_patterns, parse_version, retry_patterns,
};
use serde_json::Value;
use support::oracle::package;

/// Digests by version, as npm gives them.
fn published(name: Name) -> BTreeMap<Version, String> {
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let spec = format!("{name}@>=0.0.0");
    let output = Command::new(npm).args(["view", &spec, "version", "dist.integrity", "--json"]).output();
    let output = output.expect("npm starts");
    assert!(output.status.success(), "npm view: {}", String::from_utf8_lossy(&output.stderr));
    let list: Vec<Value> = serde_json::from_slice(&output.stdout).expect("npm answers in JSON");
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_else(|| panic!("{key} in {entry}")).to_owned();
    let pair =
        |entry: &Value| (parse_version(&text(entry, "version")).expect("a version"), text(entry, "dist.integrity"));
    list.iter().map(pair).collect()
}

#[test]
fn the_listed_releases_are_those_that_npm_has() {
    for name in Name::ALL {
        let mut published = published(name);
        // What came out since this list was written does not make the list wrong.
        published.retain(|version, _| version <= Release::newest(name).version());
        let listed: BTreeMap<Version, String> = Release::all(name)
            .iter()
            .map(|release| (release.version().clone(), release.integrity().to_owned()))
            .collect();
        assert_eq!(listed, published, "{name}");
    }
}

/// The first release of each era stands for it: all packages would be too much to fetch for a test.
#[test]
fn the_patterns_of_every_era_are_those_in_the_packages() {
    let read =
        |version: &str, file: &str| package(version).read(file).unwrap_or_else(|error| panic!("{version}: {error}"));
    for era in Era::all() {
        let version = &era.releases()[0];
        let patterns = retry_patterns(&read(version, "dist/utils/retry.js"));
        assert_eq!(&patterns.unwrap_or_else(|error| panic!("{version}: {error}")), era.patterns(), "{version}");
    }
    for era in OverflowEra::all() {
        let version = &era.releases()[0];
        let patterns = overflow_patterns(&read(version, "dist/utils/overflow.js"));
        assert_eq!(&patterns.unwrap_or_else(|error| panic!("{version}: {error}")), era.patterns(), "{version}");
    }
    // Neighbours differ, or they were one era.
    assert!(Era::all().windows(2).all(|pair| pair[0].patterns() != pair[1].patterns()));
    assert!(OverflowEra::all().windows(2).all(|pair| pair[0].patterns() != pair[1].patterns()));
}
