//! The command line as its users meet it: the contract of `classify`, and what `patch` says to what it cannot use.

use pi_retry_forced::upstream::{Cache, Name, Release};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

fn run<S: AsRef<OsStr>>(folder: &Path, arguments: &[S], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_pi-retry-forced"))
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("the writer ends");
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Exit status 2, nothing on standard output, and one message that says all of this.
fn assert_refused(output: &Output, says: &[&str]) {
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert_eq!(text(&output.stdout), "");
    assert!(message.starts_with("error: ") && message.trim_end().lines().count() == 1, "{message}");
    for part in says {
        assert!(message.contains(part), "{part:?} is not in: {message}");
    }
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// A copy of a published pi-ai, to be spoiled.
fn package(version: &str) -> (TempDir, PathBuf) {
    let release = Release::find(Name::PiAi, version).expect("a known release");
    let package = Cache::user().and_then(|cache| cache.package(release, &mut |_| {})).expect("a package");
    let folder = folder();
    let root = folder.path().join("pi-ai");
    for path in ["package.json", "dist"] {
        copy(&package.root().join(path), &root.join(path));
    }
    (folder, root)
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).expect("a folder");
        for entry in fs::read_dir(from).expect("a folder") {
            let entry = entry.expect("an entry");
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        fs::copy(from, to).expect("a file");
    }
}

fn replace(file: &Path, from: &str, to: &str) {
    let old = fs::read_to_string(file).expect("a file");
    assert!(old.contains(from), "{from}");
    fs::write(file, old.replacen(from, to, 1)).expect("written");
}

fn patch(root: &Path, more: &[&str]) -> Output {
    let mut arguments = vec!["patch", "--from", root.to_str().expect("UTF-8"), "--no-verify"];
    arguments.extend(more);
    run(root.parent().expect("a folder"), &arguments, b"")
}

/// One answer a line, in order, with an error in place of what is no message, and exit status 2 at the end.
#[test]
fn jsonl_answers_line_by_line() {
    let deep = format!("{{\"errorMessage\":\"529\",\"x\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
    let lines: Vec<&[u8]> = vec![
        b"\xEF\xBB\xBF{\"errorMessage\":\"400: {\\\"message\\\":\\\"bad\\\"}\"}",
        b"not JSON",
        b"{\"errorMessage\":\"cut \\ud83d off: fetch failed\"}\r",
        b"{\"errorMessage\":null}",
        b"{\"errorMessage\":\"\xff\"}",
        b"[1]",
        b"{\"a\":\"\\",
        b"",
        deep.as_bytes(),
        b"{\"errorMessage\":\"x\",\"status\":522,\"other\":1e400}",
        b"{\"errorMessage\":\"x\",\"errorStatus\":503.0,\"stopReason\":\"error\"}",
        b"{\"errorMessage\":\"503 x\",\"stopReason\":\"aborted\"}",
        b"{\"errorMessage\":\"x\",\"diagnostics\":[null,{\"details\":{\"status\":200}},{\"details\":{\"status\":429}}]}",
    ];
    let output = run(folder().path(), &["classify", "--jsonl", "--against", "1.6.0,0.87.1"], &lines.join(&b'\n'));
    assert_eq!(output.status.code(), Some(2));
    let answers: Vec<Value> = text(&output.stdout).lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    assert_eq!(answers.len(), lines.len());
    for (index, answer) in answers.iter().enumerate() {
        assert_eq!(answer.get("error").is_some(), [1, 4, 5, 6, 7].contains(&index), "{index}: {answer}");
    }
    assert!(answers[1]["error"].as_str().is_some_and(|e| e.starts_with("line 2: ")), "{}", answers[1]);
    let short = |index: usize| {
        let a = &answers[index];
        (a["verdict"].as_str().unwrap_or(""), a["status"].as_u64(), a["statusFrom"].as_str())
    };
    assert_eq!(short(0), ("stop", Some(400), Some("text")));
    assert_eq!(short(2), ("retry", None, None));
    assert_eq!((short(3), answers[3]["rule"].as_str()), (("stop", None, None), Some("not-a-failed-turn")));
    assert_eq!(short(8), ("retry", Some(529), Some("text")));
    assert_eq!(short(9), ("retry", Some(522), Some("observed")));
    assert_eq!(short(10), ("retry", Some(503), Some("message")));
    assert_eq!(short(11), ("stop", None, None));
    assert_eq!(short(12), ("retry", Some(429), Some("diagnostics")));
    assert_eq!(
        text(&output.stdout).lines().nth(8),
        Some(
            r#"{"verdict":"retry","rule":"transient-status","status":529,"statusFrom":"text","pi":{"1.6.0":false,"0.87.1":false}}"#
        )
    );
}

#[test]
fn a_long_line_is_answered() {
    let mut line = b"{\"errorMessage\":\"503 ".to_vec();
    line.resize(20_000_000, b'a');
    line.extend(b"\"}");
    let output = run(folder().path(), &["classify", "--jsonl"], &line);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stdout).lines().count(), 1);
}

#[test]
fn one_text_is_explained_and_its_verdict_is_the_exit_status() {
    let explain = |arguments: &[&str], input: &[u8]| {
        let output = run(folder().path(), arguments, input);
        (output.status.code(), text(&output.stdout))
    };
    let (status, told) = explain(&["classify", "upstream gave up", "--status", "522", "--against", "1.6.0"], b"");
    assert_eq!(status, Some(0));
    insta::assert_snapshot!(told.trim_end(), @r"
    retry: the same request deserves another attempt
      rule    transient-status: HTTP 408, 409, 425, 429 or at least 500, and nothing permanent in the text
      status  522, seen on the wire
      pi 1.6.0 by itself gives up
    ");
    assert_eq!(explain(&["classify"], b"\xEF\xBB\xBF\n401: {}\n").0, Some(1));
    assert_eq!(explain(&["classify"], b" 503: x\r\n").0, Some(0));
    let (status, json) = explain(&["classify", "--json", "Invalid `signature` in `thinking` block"], b"");
    assert_eq!(status, Some(0));
    assert!(
        json.starts_with(r#"{"verdict":"repair","rule":"thinking-signature","status":null,"statusFrom":null,"pi":{"#)
    );
    assert_refused(&run(folder().path(), &["classify"], b"\xff"), &["not UTF-8", "iconv"]);
    assert_refused(&run(folder().path(), &["classify", "x", "--against", "9.9.9"], b""), &["9.9.9", "newest release"]);
    assert_refused(&run(folder().path(), &["classify", "x", "--against", "0.74.2"], b""), &["too old", "0.80.3"]);
}

#[test]
fn rules_are_listed_and_shown() {
    let output = run(folder().path(), &["rules"], b"");
    assert!(text(&output.stdout).lines().count() > 30);
    let one = text(&run(folder().path(), &["rules", "relay-request-not-supported"], b"").stdout);
    assert!(one.contains("7 of 9") && one.contains("hits") && one.contains("misses"), "{one}");
    assert_refused(&run(folder().path(), &["rules", "no-such-rule"], b""), &["no-such-rule", "lists them all"]);
}

#[test]
fn what_is_no_package_is_refused() {
    let (keep, root) = package("1.6.0");
    assert_refused(&patch(keep.path(), &[]), &["package.json"]);
    fs::write(root.join("package.json"), r#"{"name":"left-pad","version":"1.0.0"}"#).expect("written");
    assert_refused(&patch(&root, &[]), &["left-pad"]);
    fs::write(root.join("package.json"), r#"{"name":"@earendil-works/pi-ai","version":"0.74.2"}"#).expect("written");
    assert_refused(&patch(&root, &[]), &["0.74.2", "too old", "extension"]);
    assert!(!keep.path().join("patches").exists(), "nothing was written");
}

#[test]
fn a_package_edited_by_hand_is_refused_or_warned_of() {
    let (keep, root) = package("1.6.0");
    let retry = root.join("dist/utils/retry.js");
    let published = fs::read_to_string(&retry).expect("a file");
    replace(&retry, "const errorMessage = message.errorMessage;", "const errorMessage = message.errorMessage.trim();");
    assert_refused(&patch(&root, &[]), &["dist/utils/retry.js", "classifier", "reinstall the package"]);
    fs::write(&retry, published).expect("written");
    replace(&retry, "\"overloaded\",", "\"overloaded\", // mine");
    let output = patch(&root, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("warning: not as published"), "{}", text(&output.stderr));
    assert!(keep.path().join("patches/@earendil-works+pi-ai+1.6.0.patch").is_file());
}

#[test]
fn an_unknown_newer_release_is_patched_with_a_warning() {
    let (keep, root) = package("1.6.0");
    replace(&root.join("package.json"), "\"version\": \"1.6.0\"", "\"version\": \"99.0.0\"");
    replace(&root.join("dist/utils/retry.js"), "\"overloaded\",", "\"overloaded\",\n    \"brand new wording\",");
    let output = patch(&root, &[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let warned = text(&output.stderr);
    assert!(
        warned.contains("99.0.0 is not on this version's list") && warned.contains("brand new wording"),
        "{warned}"
    );
    assert!(keep.path().join("patches/@earendil-works+pi-ai+99.0.0.patch").is_file());
}

#[test]
fn a_patched_package_is_recognised() {
    let (keep, root) = package("1.6.0");
    assert_eq!(patch(&root, &[]).status.code(), Some(0));
    let file = fs::read_to_string(keep.path().join("patches/@earendil-works+pi-ai+1.6.0.patch")).expect("a patch");
    // As an install: below node_modules of a project, where patch-package puts it.
    let project = folder();
    let installed = project.path().join("node_modules/@earendil-works/pi-ai");
    copy(&root, &installed);
    let there = run(project.path(), &["patch", "--no-verify"], b"");
    assert_eq!(there.status.code(), Some(0), "{}", text(&there.stderr));
    let git = Command::new("git")
        .args(["apply", "patches/@earendil-works+pi-ai+1.6.0.patch"])
        .current_dir(project.path())
        .output()
        .expect("git");
    assert!(git.status.success(), "{}", text(&git.stderr));
    assert_refused(&patch(&installed, &["--out", "elsewhere"]), &["patched already", "npm ci"]);
    // The project's own patch is still the right one, and said to be.
    let again = run(project.path(), &["patch", "--no-verify"], b"");
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    assert!(text(&again.stdout).contains("already up to date"), "{}", text(&again.stdout));
    assert_eq!(fs::read_to_string(project.path().join("patches/@earendil-works+pi-ai+1.6.0.patch")).expect("it"), file);
}

#[test]
fn nothing_of_the_users_is_overwritten_or_half_written() {
    let (keep, root) = package("1.6.0");
    let patches = keep.path().join("patches");
    let file = patches.join("@earendil-works+pi-ai+1.6.0.patch");
    fs::create_dir(&patches).expect("a folder");
    fs::write(&file, "mine").expect("written");
    fs::write(patches.join("@earendil-works+pi-ai+1.5.2.patch"), "old").expect("written");
    let refused = patch(&root, &[]);
    assert_eq!(refused.status.code(), Some(2));
    let told = text(&refused.stderr);
    assert!(told.contains("+1.5.2.patch is for another version") && told.contains("--force replaces it"), "{told}");
    assert_eq!(fs::read_to_string(&file).expect("it"), "mine");
    assert_eq!(patch(&root, &["--force"]).status.code(), Some(0));
    assert!(fs::read_to_string(&file).expect("it").starts_with("diff --git a/node_modules/@earendil-works/pi-ai/"));
    // A file where the folder should be.
    fs::write(keep.path().join("file"), "").expect("written");
    assert_refused(&patch(&root, &["--out", "file"]), &["--out"]);
    let left: Vec<_> = fs::read_dir(&patches).expect("a folder").map(|e| e.expect("an entry").file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn missing_programs_and_networks_are_named() {
    let (_keep, root) = package("1.6.0");
    let here = folder();
    let bare = |arguments: &[&str], path: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_pi-retry-forced"))
            .args(arguments)
            .current_dir(here.path())
            .env("PATH", path)
            .env("PI_RETRY_FORCED_CACHE", here.path().join("cache"))
            .env("npm_config_registry", "http://127.0.0.1:9")
            .env("npm_config_fetch_retries", "0")
            .stdin(Stdio::null())
            .output()
            .expect("the binary starts");
        assert!(!here.path().join("patches").exists(), "nothing was written");
        output
    };
    let nowhere = here.path().join("empty");
    let nowhere = nowhere.to_str().expect("UTF-8");
    let from = root.to_str().expect("UTF-8");
    assert_refused(&bare(&["patch", "--from", from], nowhere), &["node", "--no-verify"]);
    assert_refused(&bare(&["patch", "--release", "1.6.0"], nowhere), &["npm"]);
    let path = std::env::var("PATH").expect("a search path");
    assert_refused(&bare(&["patch", "--release", "1.6.0"], &path), &["no network"]);
}

/// The commands that the README shows say what it shows.
#[test]
fn the_readmes_example_is_what_the_command_says() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("the README");
    let (_, example) = readme.split_once("```console\n$ pi-retry-forced classify '").expect("an example");
    let (argument, said) = example.split_once("'\n").expect("its argument");
    let (said, _) = said.split_once("```").expect("its end");
    assert_eq!(text(&run(folder().path(), &["classify", argument], b"").stdout), said);
}

/// A cached package that somebody edited is not what was published, whatever its folder is called.
#[test]
fn an_edited_cache_is_fetched_again_and_that_is_said() {
    let (here, cache) = (folder(), folder());
    let patch = || {
        let output = Command::new(env!("CARGO_BIN_EXE_pi-retry-forced"))
            .args(["patch", "--release", "1.6.0", "--no-verify"])
            .current_dir(here.path())
            .env("PI_RETRY_FORCED_CACHE", cache.path())
            .output()
            .expect("the binary starts");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let file = here.path().join("patches/@earendil-works+pi-ai+1.6.0.patch");
        (text(&output.stderr), fs::read_to_string(file).expect("a patch"))
    };
    let (said, published) = patch();
    assert!(!said.contains("damaged"), "{said}");
    replace(&cache.path().join("pi-ai-1.6.0/dist/utils/retry.js"), "\"overloaded\",", "\"overloaded\", // mine");
    let (said, again) = patch();
    assert!(
        said.contains("warning: what the cache held of @earendil-works/pi-ai@1.6.0 was damaged or edited"),
        "{said}"
    );
    assert_eq!(again, published);
}
