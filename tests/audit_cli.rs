//! The `audit` command as a process: folders, exit statuses, what goes to which handle, and the reference's own verdicts.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

const RELAY: &str = "400 {\"error\":{\"message\":\"This request is not supported. (request id: 2026112911181134177611118268d9d69EdzNJOg)\"}}";

fn audit(home: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pi-retry-forced"));
    command.arg("audit").args(args).env_clear().env("HOME", home).env("USERPROFILE", home);
    command.output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// A session of one provider whose turns ended so: an error text, or success.
fn session(turns: &[Option<&str>]) -> String {
    let mut lines =
        json!({ "type": "session", "version": 3, "id": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/" })
            .to_string();
    for (number, error) in turns.iter().enumerate() {
        let mut message =
            json!({ "role": "assistant", "content": [], "provider": "relay", "model": "opus", "stopReason": "stop" });
        if let Some(error) = error {
            message["stopReason"] = json!("error");
            message["errorMessage"] = json!(error);
        }
        let parent = number.checked_sub(1).map(|number| format!("{number:08x}"));
        let entry = json!({
            "type": "message", "id": format!("{number:08x}"), "parentId": parent,
            "timestamp": format!("2026-01-01T00:{:02}:{:02}.000Z", number / 2, number % 2 * 30), "message": message,
        });
        lines += &format!("\n{entry}");
    }
    lines + "\n"
}

fn home_with(name: &str, session: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a temporary folder");
    let path = home.path().join(".pi/agent/sessions/--work--").join(name);
    fs::create_dir_all(path.parent().expect("a folder")).expect("can be made");
    fs::write(path, session).expect("can be written");
    home
}

#[test]
fn without_a_path_the_sessions_of_pi_are_read() {
    let home = home_with(
        "2026-01-01T00-00-00-000Z_s.jsonl",
        &session(&[
            Some(RELAY),
            None,
            Some(RELAY),
            Some("400: {\"message\":\"Unknown parameter: 'timeout'\"}"),
            None,
            Some(RELAY),
        ]),
    );
    let output = audit(home.path(), &["--json", "--against", "1.6.0,1.3.0"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["totals"]["failed"], 4);
    let relay = &report["groups"]
        .as_array()
        .expect("groups")
        .iter()
        .find(|group| group["failed"] == 3)
        .expect("the relay's family");
    assert_eq!(relay["reference"], json!({ "retry": 3, "repair": 0, "stop": 0 }));
    assert_eq!(relay["pi"]["1.6.0"], json!({ "retries": 0, "compacts": 0, "missed": 3, "wasted": 0 }));
    assert_eq!(relay["pi"]["1.3.0"]["retries"], 0, "none of the seven tokens is in this id");
    assert_eq!(relay["next"]["gapMs"], json!({ "count": 1, "min": 30_000, "median": 30_000, "max": 30_000 }));
    assert_eq!(relay["later"]["succeeded"], 2);
    assert_eq!(report["endedOnCurable"][0]["decision"], "retry");
    assert_eq!(report["endedOnCurable"][0]["file"], "2026-01-01T00-00-00-000Z_s.jsonl");
    let parameter =
        report["groups"].as_array().expect("groups").iter().find(|group| group["failed"] == 1).expect("the parameter");
    assert_eq!(parameter["pi"]["1.6.0"], json!({ "retries": 1, "compacts": 0, "missed": 0, "wasted": 1 }));
    assert!(output.stderr.is_empty(), "no terminal, no progress");
}

#[test]
fn the_table_is_plain_where_there_is_no_terminal() {
    let home = home_with("a.jsonl", &session(&[Some(RELAY), None, Some("Bearer abcdefghijkl was refused")]));
    let output = audit(home.path(), &["--against=1.6.0"]);
    let table = text(&output.stdout);
    assert!(table.contains("PI 1.6.0") && table.contains("1 of 1") && table.contains("30 s / 30 s / 30 s"), "{table}");
    assert!(!table.contains('\u{1b}') && !table.contains("abcdefghijkl"), "{table}");
    for flag in ["--show-texts", "--unmasked"] {
        assert!(text(&audit(home.path(), &[flag]).stdout).contains("abcdefghijkl"), "{flag}");
    }
}

#[test]
fn errors_say_what_to_do_and_end_with_status_2() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let missing = home.path().join("missing");
    let missing = missing.to_str().expect("text");
    let empty = home.path().join("empty");
    fs::create_dir(&empty).expect("can be made");
    for (args, says) in [
        (&[missing][..], "check the path"),
        (&[empty.to_str().expect("text")], "no session files (.jsonl) found"),
        (&["--against", "9.9.9"], "9.9.9"),
    ] {
        let output = audit(home.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text(&output.stderr).contains(says), "{args:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty());
    }
}

#[cfg(unix)]
#[test]
fn what_cannot_be_read_further_down_is_a_warning() {
    let home = home_with("a.jsonl", &session(&[Some(RELAY)]));
    let sessions = home.path().join(".pi/agent/sessions");
    std::os::unix::fs::symlink("loop.jsonl", sessions.join("loop.jsonl")).expect("can be linked");
    let output = audit(home.path(), &[]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("loop.jsonl"), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("1 unreadable file or folder"), "{}", text(&output.stdout));
}

fn say(home: &Path, arguments: &[&str], input: &[u8]) -> (Option<i32>, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pi-retry-forced"))
        .arg("audit")
        .args(arguments)
        .env("HOME", home)
        .env_remove("PI_CODING_AGENT_DIR")
        .env_remove("PI_CODING_AGENT_SESSION_DIR")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || drop(std::io::Write::write_all(&mut stdin, &input)));
    let output = child.wait_with_output().expect("its output");
    writer.join().expect("it ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

const FAILED: &str = concat!(
    r#"{"type":"session","version":3,"id":"0199","timestamp":"2026-11-01T10:00:00.000Z","cwd":"/x"}"#,
    "\n",
    r#"{"type":"message","id":"a","parentId":null,"timestamp":"2026-11-01T10:00:01.000Z","message":{"role":"assistant","provider":"re\u202elay","model":"m\u009b2J","stopReason":"error","errorMessage":"522: gone \u202e\u009b2J"}}"#,
    "\n"
);

#[test]
fn a_fresh_user_is_told_that_there_is_nothing_yet() {
    let home = tempfile::tempdir().expect("a folder");
    let (status, said, error) = say(home.path(), &[], b"");
    assert_eq!((status, error.as_str()), (Some(0), ""), "{said}");
    assert!(said.contains("no sessions here yet"), "{said}");
    std::fs::create_dir_all(home.path().join(".pi/agent/sessions")).expect("a folder");
    assert_eq!(say(home.path(), &[], b"").0, Some(0));
}

#[test]
fn pipes_and_packed_sessions_are_read() {
    use std::io::Write as _;
    let home = tempfile::tempdir().expect("a folder");
    let packed = home.path().join("s.jsonl.gz");
    let file = std::fs::File::create(&packed).expect("a file");
    let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    encoder.write_all(FAILED.as_bytes()).expect("written");
    encoder.finish().expect("written");
    let folder = home.path().to_str().expect("UTF-8").to_owned();
    for (arguments, input) in [
        (vec!["-"], FAILED.as_bytes()),
        (vec!["/dev/stdin"], FAILED.as_bytes()),
        (vec![packed.to_str().expect("UTF-8")], b"".as_slice()),
        (vec![folder.as_str()], b"".as_slice()),
    ] {
        let (status, said, error) = say(home.path(), &arguments, input);
        assert_eq!((status, error.as_str()), (Some(0), ""), "{arguments:?}: {said}");
        assert!(said.contains("1 of 1 assistant turn"), "{arguments:?}: {said}");
    }
    std::fs::write(&packed, &std::fs::read(&packed).expect("it")[..40]).expect("cut");
    let (status, _, error) = say(home.path(), &[packed.to_str().expect("UTF-8")], b"");
    assert_eq!(status, Some(2), "{error}");
    let (status, _, error) = say(home.path(), &["-"], b"no session\n");
    assert!(status == Some(2) && error.contains("could be read as a session"), "{error}");
}

#[test]
fn nothing_that_steers_a_terminal_is_written() {
    let home = tempfile::tempdir().expect("a folder");
    for arguments in [&["-"][..], &["-", "--show-texts"], &["-", "--json", "--show-texts"]] {
        let (status, said, _) = say(home.path(), arguments, FAILED.as_bytes());
        assert_eq!(status, Some(0));
        assert!(!said.contains(['\u{9b}', '\u{202e}']), "{arguments:?}: {said:?}");
        if arguments.contains(&"--json") {
            let report: serde_json::Value = serde_json::from_str(&said).expect("JSON");
            assert!(
                report.to_string().contains("522: gone \u{202e}\u{9b}2J"),
                "the text is the same to whoever reads JSON"
            );
        }
    }
    let (_, _, error) = say(home.path(), &["x\u{1b}[31m\u{9b}2J\u{202e}"], b"");
    assert!(!error.contains(['\u{9b}', '\u{202e}']) && !error.contains("\u{1b}[31m"), "{error:?}");
}
