//! Texts that no rule had met: labelled first, judged once, and the line kept. `tests/corpus/first-sight.md` is that record.
//!
//! A new batch is a file `tests/corpus/fresh-*.jsonl` with its labels. Its line is written once, before any rule is touched:
//! `FIRST_SIGHT="fresh-2026-12.jsonl|2026-12-03|where the texts stood" cargo test --test first_sight`.

use pi_retry_forced::upstream::PiClassifier;
use pi_retry_forced::{Decision, Failure, Profile, classify};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

fn batch(file: &str) -> Vec<Map<String, Value>> {
    let text = std::fs::read_to_string(folder().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON object a line")).collect()
}

/// How many answers were right, how many lost a session, how many spent attempts in vain.
#[derive(Default, PartialEq, Debug)]
struct Score {
    right: usize,
    lost: usize,
    wasted: usize,
}

impl Score {
    fn of(rows: &[Map<String, Value>], judge: impl Fn(&Map<String, Value>) -> &'static str) -> Self {
        let mut score = Score::default();
        for row in rows {
            let wanted: Vec<&str> =
                row["verdict"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
            match judge(row) {
                answer if wanted.contains(&answer) => score.right += 1,
                // A repair tries again too, but a plain retry of what needs a repair fails.
                "stop" => score.lost += 1,
                "retry" if !wanted.contains(&"stop") => score.lost += 1,
                _ => score.wasted += 1,
            }
        }
        score
    }

    fn cells(&self) -> String {
        format!("{} | {} | {}", self.right, self.lost, self.wasted)
    }
}

fn ours(row: &Map<String, Value>) -> &'static str {
    classify(&Failure::from_json(row), Profile::Full).decision.as_str()
}

/// pi asks for an overflow first, and knows of no repair.
fn pis(pi: &PiClassifier, row: &Map<String, Value>) -> &'static str {
    let text = row["errorMessage"].as_str().unwrap_or_default();
    let retried = !pi.is_context_overflow(text, None) && pi.is_retryable(text);
    if retried { Decision::Retry.as_str() } else { Decision::Stop.as_str() }
}

/// The lines of the record, cell by cell.
fn record() -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(folder().join("first-sight.md")).unwrap_or_default();
    let lines = text.lines().filter(|line| line.contains("](fresh-"));
    lines.map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

/// The file that a line is about.
fn file_of(line: &[String]) -> &str {
    line[1].split_once("](").and_then(|(_, file)| file.strip_suffix(')')).expect("a link to the batch")
}

fn write(order: &str) {
    let [file, date, source] = order.split('|').collect::<Vec<_>>()[..] else {
        panic!("FILE|DATE|SOURCE, not {order}")
    };
    assert!(record().iter().all(|line| file_of(line) != file), "{file} was judged before: a batch has one first sight");
    let rows = batch(file);
    let pi = PiClassifier::newest().expect("a classifier");
    let (own, his) = (Score::of(&rows, ours), Score::of(&rows, |row| pis(&pi, row)));
    let name = file.trim_end_matches(".jsonl");
    let line = format!(
        "| {date} | [{name}]({file}) | {source} | {} | {} | {} | {} |\n",
        rows.len(),
        own.cells(),
        pi.version(),
        his.cells()
    );
    let path = folder().join("first-sight.md");
    let text = std::fs::read_to_string(&path).expect("the record");
    std::fs::write(&path, text + &line).expect("the record can be written");
}

/// Each batch has its one line, and what can be counted again is what the line says.
#[test]
fn the_record_is_whole() {
    if let Ok(order) = std::env::var("FIRST_SIGHT") {
        write(&order);
    }
    let record = record();
    let mut files: Vec<String> = std::fs::read_dir(folder())
        .expect("the corpus")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("fresh-"))
        .collect();
    files.sort();
    let mut recorded: Vec<&str> = record.iter().map(|line| file_of(line)).collect();
    recorded.sort_unstable();
    assert_eq!(recorded, files, "one line a batch");
    for line in &record {
        let number = |cell: usize| line[cell].parse::<usize>().unwrap_or_else(|_| panic!("{line:?}: cell {cell}"));
        let rows = batch(file_of(line));
        assert_eq!(number(3), rows.len(), "{line:?}");
        assert_eq!(number(4) + number(5) + number(6), rows.len(), "{line:?}");
        let pi = PiClassifier::for_version(&line[7]).expect("a known release");
        let counted = Score { right: number(8), lost: number(9), wasted: number(10) };
        assert_eq!(counted, Score::of(&rows, |row| pis(&pi, row)), "{line:?}");
    }
}

/// The README shows each line of the record.
#[test]
fn the_readme_shows_the_record() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).expect("the README");
    for line in record() {
        let name = file_of(&line).trim_end_matches(".jsonl");
        let row = format!("| {name} | {} | {} | {} | {} | {} |", line[3], line[4], line[5], line[6], line[8]);
        assert!(readme.contains(&row), "{row}");
    }
}
