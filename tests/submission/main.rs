//! The submission, as a maintainer would meet it: mails taken by git, checked with upstream's tools, compared with the reference.

mod bad_input;
#[path = "../patches/messages.rs"]
#[allow(dead_code, reason = "shared with the tests of the patch")]
mod messages;
mod tree;

use std::fs;
use std::path::Path;
use std::process::Command;

use pi_retry_forced::submission::{Sender, Submission, changed_lines, from_package};
use pi_retry_forced::upstream::{Cache, Name, Package, Release};
use pi_retry_forced::{Decision, Failure, Profile, classify};
use serde_json::Value;
use tree::Tree;

fn package(release: &Release) -> Package {
    Cache::user().expect("a cache").package(release, &mut |_| {}).expect("the package")
}

/// The pi-ai that the submission is made for.
fn newest() -> Package {
    package(Release::newest(Name::PiAi))
}

fn submission() -> Submission {
    let package = newest();
    let sources = from_package(&package).expect("sources");
    Submission::new(&package, &sources, &Sender::default()).expect("a submission")
}

/// Rewrites the committed files instead of comparing them.
const BLESS: &str = "PI_RETRY_FORCED_BLESS";

#[test]
fn the_committed_mails_are_those_of_the_newest_release() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("patches/upstream");
    let files = submission().files();
    if std::env::var_os(BLESS).is_some() {
        fs::create_dir_all(&folder).expect("a folder");
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            if entry.path().is_file() {
                fs::remove_file(entry.path()).expect("an old file");
            }
        }
        for (name, text) in &files {
            fs::write(folder.join(name), text).expect("a written file");
        }
    }
    for (name, text) in &files {
        let there = fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(there == *text, "{name} is not what the command writes; {BLESS}=1 renews it");
    }
    let there = fs::read_dir(&folder).expect("a folder").flatten().filter(|entry| entry.path().is_file()).count();
    assert_eq!(there, files.len(), "a file more than the command writes");
}

#[test]
fn the_mails_are_small_and_in_upstreams_form() {
    let submission = submission();
    let (added, removed) = changed_lines(&submission.mails);
    assert!(added + removed <= 40, "+{added} -{removed}");
    for mail in &submission.mails {
        assert!(mail.subject.starts_with("fix(ai): ") && mail.subject.len() <= 80, "{}", mail.subject);
        assert!(mail.body.contains("\n\nfixes #"), "{}", mail.body);
        assert!(mail.body.lines().all(|line| line.len() <= 120), "{}", mail.body);
        assert!(
            mail.files.iter().all(|file| file.path.starts_with("packages/ai/") && !file.path.contains("CHANGELOG"))
        );
        assert_eq!(mail.files.iter().filter(|file| file.path.ends_with(".test.ts")).count(), 1, "{}", mail.subject);
    }
    // One screen.
    assert!(submission.issue.lines().count() <= 40 && submission.issue.len() <= 2500, "{}", submission.issue.len());
}

/// What the issue shows is what a stranger sees who types it.
#[test]
fn the_issues_command_shows_the_defect() {
    let issue = submission().issue;
    let (_, block) = issue.split_once("```sh\n").expect("a block");
    let (block, said) = block.split_once("\n```\n\nprints `").expect("its end");
    let (install, command) = block.split_once('\n').expect("two commands");
    // The tools hold what the first line installs.
    assert_eq!(install, format!("npm install {}", Release::newest(Name::PiAi).spec()));
    let output = Command::new("sh").args(["-c", command]).current_dir(tree::tools()).output().expect("sh");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printed, "false\ntrue\ntrue\n", "{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.starts_with("false`, `true`, `true`: "), "{said}");
}

/// The whole way of a mail: its test fails before it, git takes it, its test passes after it; types and biome have nothing more to say.
#[test]
fn a_maintainer_can_take_the_mails_one_by_one() {
    let package = newest();
    let tree = Tree::of(&package);
    let mails = submission().mails;
    let types_before = tree.types();
    let mut tests = Vec::new();
    for mail in &mails {
        let test = mail.files.iter().find(|file| file.path.ends_with(".test.ts")).expect("a test");
        tree.write(&test.path, &test.new);
        let failed = tree.vitest(&[&test.path]);
        assert!(!failed.0 && failed.1.contains("AssertionError"), "{}: passes without it\n{}", mail.subject, failed.1);
        tree.remove(&test.path);

        let old: Vec<(String, Vec<String>)> = mail
            .files
            .iter()
            .filter(|file| file.old.is_some())
            .map(|file| (file.path.clone(), tree.biome(&file.path)))
            .collect();
        tree.am(&mail.text());
        tests.push(test.path.as_str());
        let passed = tree.vitest(&tests);
        assert!(passed.0, "{}\n{}", mail.subject, passed.1);
        for (path, before) in old {
            assert_eq!(tree.biome(&path), before, "biome on {path} after {}", mail.subject);
        }
        assert_eq!(tree.biome(&test.path), [""; 0]);
    }
    // What the package's own sources lack, data and so on, was lacking before.
    let types: Vec<String> = tree.types().into_iter().filter(|line| !types_before.contains(line)).collect();
    assert_eq!(types, [""; 0]);
    assert_eq!(tree.log(), mails.iter().rev().map(|mail| mail.subject.clone()).collect::<Vec<_>>());
}

/// After the last mail the classifier is the reference's profile `upstream`.
#[test]
fn the_result_decides_like_the_reference() {
    let tree = Tree::of(&newest());
    let mut list = messages::recorded();
    list.extend(messages::from_rules());
    list.extend(messages::random(20_000));
    let field =
        include_str!("../corpus/field.jsonl").lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    list.extend(field.map(|row| messages::failed(&row["errorMessage"], &row["status"])));
    for mail in submission().mails {
        tree.am(&mail.text());
    }
    let verdicts = tree.verdicts(&list);
    assert_eq!(verdicts.len(), list.len());
    let mut retried = 0;
    for (message, verdict) in list.iter().zip(verdicts) {
        let failure = Failure::from_json(message.as_object().expect("an object"));
        let wanted = classify(&failure, Profile::Upstream).decision == Decision::Retry;
        assert_eq!(verdict, wanted, "{message}");
        retried += usize::from(verdict);
    }
    assert!(retried > 100 && retried < list.len() - 100, "{retried} of {}", list.len());
}
