//! What is refused, and in which words.

use std::fs;
use std::process::Command;

use pi_retry_forced::submission::{FOLDER, Kind, Sender, Submission, from_checkout, from_package};
use pi_retry_forced::upstream::{Name, Release};

use crate::tree::Tree;
use crate::{newest, package, submission};

#[test]
fn a_checkout_gives_the_same_mails_unless_it_is_dirty_or_has_the_change() {
    let package = newest();
    let tree = Tree::of(&package);
    let root = tree.path("");
    let made = || {
        let (package, sources) = from_checkout(&root)?;
        Submission::new(&package, &sources, &Sender::default())
    };
    let mails = submission().mails;
    assert_eq!(made().expect("a submission").mails, mails);

    let file = format!("{FOLDER}/src/utils/retry.ts");
    let text = fs::read_to_string(tree.path(&file)).expect("a file");
    tree.write(&file, &format!("{text}\n"));
    let error = made().err().expect("refused");
    assert!(matches!(error.kind(), Kind::Dirty { file: named, .. } if *named == file), "{error}");
    tree.write(&file, &text);

    for mail in &mails {
        tree.am(&mail.text());
    }
    let error = made().err().expect("refused");
    assert!(matches!(error.kind(), Kind::AlreadyIn { .. }), "{error}");
    insta::assert_snapshot!(error, @"src/utils/retry.ts reads the status already: there is nothing left to submit");
}

#[test]
fn other_folders_are_no_checkout() {
    let folder = tempfile::tempdir().expect("a folder");
    let refusal = || {
        let error = from_checkout(folder.path()).expect_err("refused");
        assert!(matches!(error.kind(), Kind::NotACheckout { .. }), "{error}");
        error.to_string().replace(&*folder.path().to_string_lossy(), "DIR")
    };
    insta::assert_snapshot!(refusal(), @"DIR is no checkout of pi: it has no packages/ai/src/utils/retry.ts; name the root of a clone of earendil-works/pi with --checkout");
    let file = folder.path().join(FOLDER).join("src/utils/retry.ts");
    fs::create_dir_all(file.parent().expect("a folder")).expect("folders");
    fs::write(file, "").expect("a file");
    assert!(refusal().contains("package.json"));
    fs::write(folder.path().join(FOLDER).join("package.json"), r#"{"name":"@earendil-works/pi-ai","version":"1.6.0"}"#)
        .expect("a manifest");
    insta::assert_snapshot!(refusal(), @"DIR is no checkout of pi: it is no git repository; name the root of a clone of earendil-works/pi with --checkout");
}

#[test]
fn releases_before_the_word_edges_are_too_old() {
    let package = package(Release::find(Name::PiAi, "1.3.0").expect("a known release"));
    let sources = from_package(&package).expect("sources");
    let error = Submission::new(&package, &sources, &Sender::default()).err().expect("refused");
    assert!(matches!(error.kind(), Kind::TooOld { .. }), "{error}");
    insta::assert_snapshot!(error, @"src/utils/retry.ts has no tokens with word edges; the submission is for 1.4.0 and newer");
}

#[test]
fn the_command_writes_over_nothing_unasked() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("new/mails");
    let run = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pi-retry-forced"));
        let output = command.arg("upstream").arg("--out").arg(&out).args(more).output().expect("the command");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(run(&[]), (Some(0), String::new()));
    let mut names: Vec<_> = fs::read_dir(&out).expect("a folder").flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    assert_eq!(names.len(), 5, "{names:?}");
    // The same again changes nothing; other content is asked for.
    assert_eq!(run(&[]).0, Some(0));
    fs::write(out.join("issue.md"), "mine").expect("a file");
    let (status, error) = run(&[]);
    assert!(status == Some(2) && error.contains("issue.md exists") && error.contains("--force"), "{error}");
    assert_eq!(fs::read(out.join("issue.md")).expect("a file"), b"mine");
    assert_eq!(run(&["--force"]).0, Some(0));
    fs::write(out.join("0009-other.eml"), "").expect("a file");
    let (status, error) = run(&["--force"]);
    assert!(status == Some(2) && error.contains("0009-other.eml"), "{error}");

    for (arguments, said) in [
        (["--release", "9.9.9"], "newer than the newest release"),
        (["--release", "0.80.2"], "before 0.80.3"),
        (["--author", "somebody"], "Name <address>"),
        (["--issue", "x"], "--issue"),
        (["--checkout", "no-such-folder"], "there is no such folder"),
    ] {
        let (status, error) = run(&arguments);
        assert!(status == Some(2) && error.contains(said), "{arguments:?}: {error}");
    }
}
