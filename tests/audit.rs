//! The audit on session files of real form, built here: all three versions, trees, forks, damage of every kind.

use std::fs;
use std::path::{Path, PathBuf};

use pi_retry_forced::audit::{Audit, Judge, PiSays, Report, Show, json, table};
use pi_retry_forced::{Decision, Verdict};
use serde_json::{Map, Value, json};

/// A judge that is simple enough to be seen through, so that a wrong count is the audit's.
struct Words(Vec<String>);

impl Words {
    fn new() -> Self {
        Words(vec!["9.9.9".into()])
    }
}

impl Judge for Words {
    fn releases(&self) -> &[String] {
        &self.0
    }

    fn pi(&self, text: &str, _: Option<&str>, answers: &mut Vec<PiSays>) {
        let retries = text.contains("overloaded") || text.starts_with("503");
        answers.push(if retries { PiSays::Retries } else { PiSays::GivesUp });
    }

    fn reference(&self, message: &Map<String, Value>) -> Verdict {
        let text = message["errorMessage"].as_str().expect("only failures with a text are judged");
        let status = message.get("errorStatus").and_then(Value::as_u64).map(|status| status as u16);
        let (decision, rule) = match text {
            _ if text.contains("signature") => (Decision::Repair, "signature"),
            _ if text.contains("quota") => (Decision::Stop, "quota"),
            _ if text.contains("overloaded") => (Decision::Retry, "overloaded"),
            _ => (Decision::Retry, "unsupported"),
        };
        Verdict { decision, rule, remedy: None, status, status_from: None }
    }
}

const UNSUPPORTED: &str = "400 {\"error\":{\"message\":\"This request is not supported. (request id: 2026)\"}}";

/// Builds a session in memory, as pi writes it.
struct Session {
    version: u64,
    text: String,
    count: u64,
    seconds: i64,
    parent: Option<String>,
}

impl Session {
    fn new(version: u64) -> Self {
        let mut header =
            json!({ "type": "session", "id": "0199-uuid", "timestamp": stamp(0), "cwd": "/home/alice/project" });
        if version > 1 {
            header["version"] = json!(version);
        }
        Session { version, text: format!("{header}\n"), count: 0, seconds: 0, parent: None }
    }

    fn id(number: u64) -> String {
        format!("{number:08x}")
    }

    /// Writes an entry below the current leaf and makes it the leaf.
    fn entry(&mut self, kind: &str, rest: Value) -> String {
        self.seconds += 1;
        self.count += 1;
        let id = Self::id(self.count);
        let mut entry = Map::new();
        entry.insert("type".into(), json!(kind));
        if self.version > 1 {
            entry.insert("id".into(), json!(id));
            entry.insert("parentId".into(), json!(self.parent));
        }
        entry.insert("timestamp".into(), json!(stamp(self.seconds)));
        entry.extend(rest.as_object().expect("an object").clone());
        self.text += &(Value::Object(entry).to_string() + "\n");
        self.parent = Some(id.clone());
        id
    }

    fn user(&mut self) -> String {
        self.entry(
            "message",
            json!({ "message": { "role": "user", "content": [{ "type": "text", "text": "go on" }], "timestamp": 1 } }),
        )
    }

    fn turn(&mut self, model: &str, reason: &str, error: Option<&str>) -> String {
        let mut message = json!({
            "role": "assistant",
            "content": [{ "type": "thinking", "thinking": "…", "thinkingSignature": "abc" }, { "type": "toolCall", "id": "t", "name": "bash",
                "arguments": { "stopReason": "error", "errorMessage": "not mine" } }],
            "api": "anthropic-messages", "provider": "relay", "model": model,
            "usage": { "input": 1, "output": 2, "cost": { "total": 0.1 } },
            "stopReason": reason, "timestamp": 1_767_225_600_000_i64 + self.seconds * 1000,
        });
        if let Some(error) = error {
            message["errorMessage"] = json!(error);
        }
        self.entry("message", json!({ "message": message }))
    }

    fn fails(&mut self) -> String {
        self.turn("opus", "error", Some(UNSUPPORTED))
    }

    fn succeeds(&mut self) -> String {
        self.turn("opus", "toolUse", None)
    }

    fn waits(&mut self, seconds: i64) {
        self.seconds += seconds - 1;
    }
}

/// ISO time so many seconds into 2026.
fn stamp(seconds: i64) -> String {
    format!(
        "2026-01-{:02}T{:02}:{:02}:{:02}.000Z",
        1 + seconds / 86_400,
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60
    )
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    fn put(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("can be made");
        fs::write(&path, text).expect("can be written");
        path
    }

    fn audit(&self) -> Report {
        audit(self.0.path())
    }
}

fn audit(path: &Path) -> Report {
    Audit::find(&[path]).expect("readable").run(&Words::new(), &|_| {})
}

fn one(text: impl AsRef<[u8]>) -> Report {
    let folder = Folder::new();
    folder.put("2026-01-01T00-00-00-000Z_0199.jsonl", text);
    folder.audit()
}

fn group<'a>(report: &'a Report, rule: &str) -> &'a pi_retry_forced::audit::Group {
    report.groups.get(&(rule.to_owned(), "relay".to_owned())).expect("the group was found")
}

#[test]
fn the_next_turn_of_the_same_model_is_measured_in_every_version() {
    for version in 1..=3 {
        let mut session = Session::new(version);
        for (gap, good) in [(13, true), (250, true), (41, true), (5, false), (60, true)] {
            session.user();
            session.fails();
            session.waits(gap);
            if good {
                session.succeeds();
            } else {
                session.fails();
                session.waits(20);
                session.succeeds();
            }
        }
        let report = one(&session.text);
        let group = group(&report, "unsupported");
        assert_eq!(
            (group.failed, group.next_succeeded, group.next_failed, group.next_none()),
            (6, 5, 1, 0),
            "version {version}"
        );
        let next = group.next_spread().expect("times");
        assert_eq!((next.count, next.min, next.median, next.max), (5, 13_000, 41_000, 250_000), "version {version}");
        let later = group.later_spread().expect("times");
        assert_eq!(
            (later.count, later.min, later.median, later.max),
            (6, 13_000, 33_000, 250_000),
            "version {version}"
        );
        assert_eq!((report.totals.failed, report.totals.turns, report.totals.ended), (6, 11, 0));
        assert_eq!(report.totals.versions[version as usize - 1], 1);
        assert_eq!((group.retry, group.pi[0].retries, group.pi[0].missed, group.pi[0].wasted), (6, 0, 6, 0));
    }
}

#[test]
fn other_models_and_aborted_turns_are_told_apart() {
    let mut session = Session::new(3);
    session.fails();
    session.turn("sonnet", "stop", None);
    session.fails();
    session.turn("opus", "aborted", None);
    session.succeeds();
    let report = one(&session.text);
    let group = group(&report, "unsupported");
    assert_eq!((group.next_succeeded, group.next_failed), (0, 0));
    assert_eq!((group.next_other_model, group.next_aborted), (1, 1));
    assert_eq!(group.later_succeeded, 2);
}

#[test]
fn next_follows_the_branch_and_not_the_file() {
    let mut session = Session::new(3);
    let root = session.user();
    let failed = session.fails();
    // Back to the root: this success is no descendant of the failure.
    session.parent = Some(root);
    session.user();
    session.succeeds();
    let report = one(&session.text);
    assert_eq!(group(&report, "unsupported").next_none(), 1);
    assert_eq!(report.totals.ended, 0, "the session went on elsewhere");

    // Back to the failed turn, by way of an entry that is no message.
    session.parent = Some(failed);
    session.entry("model_change", json!({ "provider": "relay", "modelId": "opus" }));
    session.waits(30);
    session.succeeds();
    let report = one(&session.text);
    assert_eq!(group(&report, "unsupported").next_succeeded, 1);
}

#[test]
fn ids_may_stand_at_the_end_of_a_line_and_anything_may_be_spaced() {
    let mut session = Session::new(3);
    session.fails();
    session.entry("custom", json!({ "customType": "mine", "data": { "a": 1 } }));
    session.waits(7);
    session.succeeds();
    session.user();
    session.fails();
    // As a migration from version 1 leaves it, and as other writers would: ids last, white space everywhere.
    let mut text = String::new();
    for line in session.text.lines() {
        let mut entry: Map<String, Value> = serde_json::from_str(line).expect("JSON");
        for field in ["id", "parentId"] {
            if let Some(value) = entry.shift_remove(field) {
                entry.insert(field.into(), value);
            }
        }
        let spaced = serde_json::to_string_pretty(&entry).expect("JSON").replace('\n', " ").replace("\": ", "\"\t:  ");
        text += &format!("  {spaced}\r\n\r\n");
    }
    let report = one(&text);
    let group = group(&report, "unsupported");
    assert_eq!((group.failed, group.next_succeeded, group.ended), (2, 1, 1));
    assert_eq!(group.next_spread().map(|spread| spread.max), Some(8_000));
    assert_eq!((report.totals.damaged, report.totals.unknown_types), (0, 0));
}

#[test]
fn sessions_that_ended_on_a_curable_failure_are_listed() {
    let folder = Folder::new();
    for (name, errors, user_after) in [
        ("a.jsonl", vec![UNSUPPORTED, "400 Invalid signature in thinking block"], true),
        ("b.jsonl", vec![UNSUPPORTED, "429 quota exceeded"], false),
        ("c.jsonl", vec!["529 overloaded"], false),
    ] {
        let mut session = Session::new(3);
        for error in errors {
            session.user();
            session.turn("opus", "error", Some(error));
        }
        if user_after {
            session.user();
        }
        folder.put(name, session.text);
    }
    let report = folder.audit();
    let found: Vec<_> = report
        .ended
        .iter()
        .map(|ended| (ended.failure.file, ended.failure.line, ended.rule.as_str(), ended.pi[0].as_str()))
        .collect();
    assert_eq!(found, [(0, 5, "signature", "stop"), (2, 3, "overloaded", "retry")]);
    assert_eq!((report.totals.ended, group(&report, "signature").ended, group(&report, "quota").ended), (2, 1, 0));
    assert_eq!(group(&report, "overloaded").pi[0].wasted, 0);
}

#[test]
fn our_own_prefix_is_taken_off_before_judging() {
    let mut session = Session::new(3);
    let text = format!("503 service unavailable (retry-forced): {UNSUPPORTED}");
    session.turn("opus", "error", Some(&text));
    let report = one(session.text.replace("\"stopReason\"", "\"errorStatus\":503,\"stopReason\""));
    let group = group(&report, "unsupported");
    assert_eq!((report.totals.rewritten, group.pi[0].retries), (1, 0));
    assert_eq!(group.statuses.keys().collect::<Vec<_>>(), [&None], "the status of the rewrite is not the turn's");
    assert_eq!(group.example.as_ref().map(|example| example.text.as_str()), Some(UNSUPPORTED));
}

#[test]
fn damage_is_counted_and_passed_over() {
    let mut session = Session::new(3);
    session.user();
    session.fails();
    let mut text = session.text.clone().into_bytes();
    text.extend_from_slice(b"\x00\xff\xfe nonsense\n{\"type\":\"message\",\"id\":\"x\n[1,2]\n\"text\"\n{}\n{\"type\":\"from_the_future\",\"id\":\"f1\",\"parentId\":null}\n");
    session.text.clear();
    session.succeeds();
    text.extend_from_slice(session.text.as_bytes());
    text.extend_from_slice(b"{\"type\":\"message\",\"id\":\"00000009\",\"parentId\":\"00000003\",\"timestamp\":\"2026-01-01T00:00:09.000Z\",\"mess");
    let report = one(text);
    assert_eq!((report.totals.damaged, report.totals.half_written, report.totals.unknown_types), (4, 1, 2));
    assert_eq!(group(&report, "unsupported").next_succeeded, 1);
}

#[test]
fn a_child_of_a_damaged_line_goes_on_with_the_entry_before_it() {
    let mut session = Session::new(3);
    session.fails();
    let before = session.text.len();
    session.user();
    session.text.truncate(before);
    session.text += "{\"type\":\"mess\u{0}\n";
    session.succeeds();
    let report = one(&session.text);
    assert_eq!(group(&report, "unsupported").next_succeeded, 1);
}

#[test]
fn half_surrogate_pairs_are_read_as_replacement_characters() {
    for escape in [r"\ud83d", r"\uDE00", r"\ud83d\ud83d", r"\\\ud83d", r"\ud83dx\ude00"] {
        let mut session = Session::new(3);
        session.turn("opus", "error", Some("400 cut here: @@"));
        let report = one(session.text.replace("@@", escape).replace("…", escape));
        let text = &group(&report, "unsupported").example.as_ref().expect("an example").text;
        assert!(text.starts_with("400 cut here: ") && text.contains('\u{FFFD}'), "{escape}: {text}");
        assert_eq!(report.totals.damaged, 0);
    }
    let mut session = Session::new(3);
    session.turn("opus", "error", Some("400 whole: @@"));
    let report = one(session.text.replace("@@", r"\ud83d\ude00 \\ud83d"));
    assert_eq!(
        group(&report, "unsupported").example.as_ref().map(|example| example.text.as_str()),
        Some(r"400 whole: 😀 \ud83d")
    );
}

#[test]
fn files_without_a_header_and_of_later_versions_are_read_as_far_as_they_go() {
    let folder = Folder::new();
    let mut session = Session::new(3);
    session.fails();
    folder.put("a.jsonl", session.text.split_once('\n').expect("two lines").1);
    folder.put("b.jsonl", session.text.replace("\"version\":3", "\"version\":4"));
    folder.put("empty.jsonl", "");
    folder.put("blank.jsonl", "\n \n");
    folder.put("other.txt", &session.text);
    folder.put("packed.jsonl.bz2", &session.text);
    let report = folder.audit();
    assert_eq!((report.totals.files, report.totals.without_header, report.totals.versions[3]), (4, 1, 1));
    assert_eq!(report.totals.failed, 2);
}

#[test]
fn a_byte_order_mark_is_no_damage() {
    let mut session = Session::new(3);
    session.fails();
    let report = one(format!("\u{FEFF}{}", session.text));
    assert_eq!((report.totals.damaged, report.totals.without_header, report.totals.failed), (0, 0, 1));
    assert_eq!(report.totals.versions[2], 1);
    let later = one(session.text.replacen('\n', "\n\u{FEFF}", 1));
    assert_eq!(later.totals.damaged, 1, "only the start of a file has one");
}

#[test]
fn a_file_without_a_header_and_a_message_is_named() {
    let folder = Folder::new();
    let mut session = Session::new(3);
    session.user();
    let (header, entries) = session.text.split_once('\n').expect("two lines");
    folder.put("header.jsonl", format!("{header}\n"));
    folder.put("messages.jsonl", entries);
    assert_eq!(folder.audit().warnings, []);
    folder.put("no1.jsonl", "");
    folder.put(
        "no2.jsonl",
        "{\"prompt\":\"x\",\"completion\":\"y\"}\n{\"type\":\"label\",\"id\":\"a\",\"parentId\":null}\n",
    );
    folder.put("no3.jsonl", "plain text\nand more\n");
    let report = folder.audit();
    let named = report.warnings.iter().map(|warning| {
        assert!(warning.cause.contains("no session file"), "{}", warning.cause);
        warning.path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned()
    });
    assert_eq!(named.collect::<Vec<_>>(), ["no1.jsonl", "no2.jsonl", "no3.jsonl"]);
    assert_eq!((report.totals.files, report.totals.unreadable), (5, 0));
}

#[test]
fn odd_fields_are_no_trouble() {
    let mut session = Session::new(3);
    session.turn("opus", "error", Some(""));
    for message in [
        json!(null),
        json!([]),
        json!("assistant"),
        json!({ "role": "assistant" }),
        json!({ "role": "assistant", "stopReason": "error", "errorMessage": null }),
        json!({ "role": "assistant", "stopReason": "error", "errorMessage": 503 }),
        json!({ "role": "assistant", "stopReason": ["error"], "errorMessage": "x" }),
        json!({ "role": "user", "stopReason": "error", "errorMessage": "x" }),
        json!({ "role": "assistant", "stopReason": "error", "errorMessage": "x", "provider": 1, "model": {}, "diagnostics": [null, { "details": [] }] }),
    ] {
        session.entry("message", json!({ "message": message }));
    }
    let report = one(&session.text);
    assert_eq!((report.totals.failed, report.totals.failed_without_text, report.totals.damaged), (1, 3, 0));
    assert!(report.groups.contains_key(&("unsupported".to_owned(), "unknown".to_owned())));
}

#[test]
fn failures_that_a_fork_copied_are_counted_once() {
    let folder = Folder::new();
    let mut session = Session::new(3);
    session.fails();
    session.succeeds();
    let parent = folder.put("p.jsonl", &session.text);
    let (header, entries) = session.text.split_once('\n').expect("two lines");
    let mut header: Value = serde_json::from_str(header).expect("JSON");
    header["timestamp"] = json!(stamp(100));
    header["parentSession"] = json!(parent);
    let mut fork = Session { text: format!("{header}\n{entries}"), seconds: 200, ..session };
    fork.fails();
    let fork = folder.put("f.jsonl", &fork.text);
    let report = folder.audit();
    assert_eq!((report.totals.failed, report.totals.copied), (2, 1));
    let alone = audit(&fork);
    assert_eq!((alone.totals.failed, alone.totals.copied), (2, 0), "without its parent the copy is all there is");
}

#[cfg(unix)]
#[test]
fn links_are_followed_once_and_loops_end() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new();
    let mut session = Session::new(3);
    session.fails();
    let file = folder.put("sessions/--home-x--/a.jsonl", &session.text);
    symlink(folder.0.path(), folder.0.path().join("sessions/up")).expect("can be linked");
    symlink("self.jsonl", folder.0.path().join("sessions/self.jsonl")).expect("can be linked");
    symlink(&file, folder.0.path().join("sessions/again.jsonl")).expect("can be linked");
    symlink("/nowhere/at/all", folder.0.path().join("sessions/gone.jsonl")).expect("can be linked");
    let report = folder.audit();
    assert_eq!((report.totals.files, report.totals.failed, report.totals.unreadable), (1, 1, 2));
    assert_eq!(report.warnings.len(), 2);
}

#[test]
fn a_path_that_does_not_exist_is_named() {
    let folder = Folder::new();
    let missing = folder.0.path().join("missing.jsonl");
    let error = Audit::find(std::slice::from_ref(&missing)).err().expect("an error");
    assert_eq!(error.path, missing);
    assert!(error.to_string().starts_with("cannot read "), "{error}");
}

#[test]
fn what_is_written_while_reading_is_left_for_the_next_time() {
    let folder = Folder::new();
    let mut session = Session::new(3);
    let page = "word ".repeat(20_000);
    for _ in 0..100 {
        session.entry("message", json!({ "message": { "role": "user", "content": page } }));
        session.succeeds();
    }
    session.fails();
    let path = folder.put("a.jsonl", &session.text);
    let whole = session.text.len() as u64;
    session.text.clear();
    session.fails();
    let more = session.text.clone();
    // The file grows at the first report of progress, with most of it still to be read.
    let append = |_| {
        use std::io::Write;
        let mut file = fs::OpenOptions::new().append(true).open(&path).expect("can be opened");
        file.write_all(more.as_bytes()).expect("can be written");
    };
    assert!(whole > 8 << 20, "{whole} bytes are more than one report of progress");
    let report = Audit::find(&[&path]).expect("readable").run(&Words::new(), &append);
    assert_eq!((report.totals.bytes, report.totals.failed, report.totals.half_written), (whole, 1, 0));
    assert!(audit(&path).totals.failed > 1);
}

#[test]
fn huge_images_do_not_hide_what_stands_beside_them() {
    let folder = Folder::new();
    let mut session = Session::new(3);
    session.fails();
    let image = "iVBORw0KGgo".repeat(3 << 20);
    session.entry(
        "message",
        json!({ "message": { "role": "toolResult", "content": [{ "type": "image", "data": image }] } }),
    );
    let mut big = json!({ "role": "assistant", "content": [{ "type": "text", "text": image }], "provider": "relay", "model": "opus" });
    big["stopReason"] = json!("error");
    big["errorMessage"] = json!("529 overloaded");
    session.entry("message", json!({ "message": big }));
    session.succeeds();
    folder.put("a.jsonl", &session.text);
    let report = folder.audit();
    assert_eq!((group(&report, "unsupported").next_failed, group(&report, "overloaded").next_succeeded), (1, 1));
    assert_eq!((report.totals.too_long, report.totals.damaged), (0, 0));
}

#[test]
fn the_result_does_not_depend_on_the_threads() {
    let folder = Folder::new();
    for number in 0..40 {
        let mut session = Session::new(3);
        for step in 0..number % 7 + 1 {
            session.fails();
            session.waits(step * number);
            if step % 3 == 0 {
                session.succeeds();
            }
        }
        folder.put(&format!("{}/{number}.jsonl", number % 4), session.text);
    }
    let text = |report: &Report| {
        let mut out = Vec::new();
        json(report, Show::default(), &mut out).expect("memory can be written");
        String::from_utf8(out).expect("text")
    };
    let first = text(&folder.audit());
    for _ in 0..5 {
        assert_eq!(text(&folder.audit()), first);
    }
}

#[test]
fn the_report_is_masked_unless_asked_otherwise() {
    let folder = Folder::new();
    let mut session = Session::new(3);
    session.turn(
        "opus",
        "error",
        Some("401 bad key sk-ant-api03-AbCdEf123456 \u{1b}[31mred\nfor bob@example.org in /home/bob/secret/x"),
    );
    folder.put("--home-bob-secret--/2026-01-01T00-00-00-000Z_0199.jsonl", &session.text);
    let report = folder.audit();
    for (unmasked, shown) in [(false, false), (true, true)] {
        let show = Show { unmasked };
        let (mut people, mut programs) = (Vec::new(), Vec::new());
        table(&report, show, &mut people).expect("memory can be written");
        json(&report, show, &mut programs).expect("memory can be written");
        let people = String::from_utf8(people).expect("text");
        assert!(!people.contains("\u{1b}[31m"), "an error text must not steer the terminal");
        for text in [people, String::from_utf8(programs).expect("text")] {
            for secret in ["AbCdEf123456", "bob@example.org", "secret/x", "--home-bob"] {
                assert_eq!(text.contains(secret), shown, "{secret} in {text}");
            }
            assert!(text.contains("2026-01-01T00-00-00-000Z_0199.jsonl"), "the session can be found: {text}");
        }
    }
}
