//! The committed report is what the command writes, byte for byte; and the command never writes over anything unasked.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use pi_retry_forced::evidence::{Options, Report, runs};
use serde_json::Value;

/// Rewrites the committed files instead of comparing them.
const BLESS: &str = "PI_RETRY_FORCED_BLESS";

#[test]
fn the_committed_report_is_what_the_command_writes() {
    let report = Report::new(Options::default(), runs::recorded().expect("runs"), &|_| {}).expect("a report");
    let files = report.files().expect("figures");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("patches/upstream/evidence");
    if std::env::var_os(BLESS).is_some() {
        fs::create_dir_all(&folder).expect("a folder");
        for (name, text) in &files {
            fs::write(folder.join(name), text).expect("a written file");
        }
    }
    for (name, text) in &files {
        let there = fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(there == *text, "{name} is not what the command writes; {BLESS}=1 renews it");
    }

    // What the report must show whatever the numbers are.
    let json: Value = serde_json::from_str(&files[1].1).expect("JSON");
    for group in json["chances"].as_array().expect("groups") {
        for (format, cell) in group["formats"].as_object().expect("formats") {
            assert_eq!(cell["inside"], true, "{} {format}: {cell}", group["releases"]);
        }
    }
    for (profile, formats) in json["reference"].as_object().expect("profiles") {
        for (format, sample) in formats.as_object().expect("formats") {
            // Where an id has separators, the rule for the relay's refusal may not see that nothing but ids follows, and
            // upstream's own number tokens, which its profile leaves whole, stand free; the report says so. The formats
            // of relays have none.
            if !["req_", "UUID", "22 base64url", "date-"].iter().any(|f| format.starts_with(f)) {
                assert_eq!(sample["turned"], 0, "{profile} {format}");
            }
        }
    }
    for change in json["untouched"]["patterns"].as_array().expect("patterns") {
        assert!(change["reason"].is_string(), "{change} has no reason");
    }
    for (name, text) in &files {
        assert!(!text.contains("/home/") && !text.contains("/work/") && !text.contains("unexplained"), "{name}");
        assert!(!name.ends_with(".svg") || text.starts_with("<svg") && text.trim_end().ends_with("</svg>"), "{name}");
    }
}

fn evidence(out: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pi-retry-forced"));
    command.args(["evidence", "--samples", "100", "--releases", "1.6.0", "--out"]).arg(out).args(more);
    command.output().expect("the command")
}

fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn nothing_is_overwritten_unasked_and_unknown_releases_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("new/report");
    assert!(evidence(&out, &[]).status.success());
    let first = fs::read(out.join("report.json")).expect("a report");
    fs::write(out.join("notes.txt"), "mine").expect("a file");

    let error = refused(&evidence(&out, &["--seed", "2"]));
    assert!(error.contains("report.md, report.json") && error.contains("--force"), "{error}");
    assert_eq!(fs::read(out.join("report.json")).expect("a report"), first);
    assert!(evidence(&out, &["--force"]).status.success());
    assert_eq!(fs::read(out.join("report.json")).expect("a report"), first);
    assert_eq!(fs::read(out.join("notes.txt")).expect("a file"), b"mine");

    let error = refused(&evidence(&out.join("notes"), &["--releases", "0.80.2"]));
    assert!(error.contains("0.80.2") && !out.join("notes").exists(), "{error}");
    let error = refused(&evidence(&out.join("notes"), &["--releases", "1.2.0"]));
    assert!(error.contains("never published"), "{error}");
    let error = refused(&evidence(&out.join("notes.txt"), &[]));
    assert!(error.contains("is a file"), "{error}");
}
