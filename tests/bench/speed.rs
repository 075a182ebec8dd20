//! Speed, as ratios within one run on one machine: `cargo bench`. Needs node and npm; nothing here is asserted.

#![allow(clippy::print_stdout, reason = "a bench prints its results")]
#![allow(clippy::unwrap_used, reason = "a bench that cannot run stops")]

use pi_retry_forced::upstream::{Cache, Name, Release};
use pi_retry_forced::{Failure, Profile, classify};
use serde_json::Value;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

const NODE: &str = r#"
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const [retry, file] = process.argv.slice(1);
const { isRetryableAssistantError } = await import(pathToFileURL(retry).href);
const messages = readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));
const timed = (list, rounds) => {
  let yes = 0;
  for (let i = 0; i < rounds; i++) for (const m of list) if (isRetryableAssistantError(m)) yes++;
  const best = [];
  for (let n = 0; n < 9; n++) {
    const start = process.hrtime.bigint();
    for (let i = 0; i < rounds; i++) for (const m of list) if (isRetryableAssistantError(m)) yes++;
    best.push(Number(process.hrtime.bigint() - start) / (rounds * list.length));
  }
  return [best.sort((a, b) => a - b)[4], yes];
};
console.log(timed(messages, 20)[0]);
"#;

fn median_nanoseconds(messages: &[Failure], rounds: usize, profile: Profile) -> f64 {
    let mut runs: Vec<f64> = (0..9)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..rounds {
                for message in messages {
                    black_box(classify(black_box(message), profile));
                }
            }
            start.elapsed().as_nanos() as f64 / (rounds * messages.len()) as f64
        })
        .collect();
    runs.sort_by(f64::total_cmp);
    runs[4]
}

fn corpus(file: &str) -> (String, Vec<Failure>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(file);
    let (mut lines, mut failures) = (String::new(), Vec::new());
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let mut row: Value = serde_json::from_str(line).unwrap();
        if row["errorMessage"].is_string() {
            row["stopReason"] = Value::from("error");
            failures.push(Failure::from_json(row.as_object().unwrap()));
            lines.push_str(&row.to_string());
            lines.push('\n');
        }
    }
    (lines, failures)
}

fn main() {
    let release = Release::newest(Name::PiAi);
    let package = Cache::user().unwrap().package(release, &mut |_| {}).unwrap();
    let retry = package.root().join("dist/utils/retry.js");
    let folder = tempfile::tempdir().unwrap();
    println!("reference against isRetryableAssistantError of pi-ai {} in node, per message", release.version());
    for file in ["errors.jsonl", "pi_ai_strings.jsonl"] {
        let (lines, failures) = corpus(file);
        let path = folder.path().join(file);
        std::fs::write(&path, lines).unwrap();
        let output =
            Command::new("node").args(["--input-type=module", "-e", NODE]).arg(&retry).arg(&path).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let node: f64 = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap();
        for profile in Profile::ALL {
            let ours = median_nanoseconds(&failures, 20, profile);
            println!("  {file:22} {:8} {ours:7.0} ns, node {node:7.0} ns, ratio {:.2}", profile.as_str(), ours / node);
        }
    }
    println!("time for 1 MB to time for 100 KB of the same text (10 is linear)");
    for (name, unit) in [
        ("prose", "the quick brown fox "),
        ("needles", "connection error timeout "),
        ("ids", "(request id: 2026112911181134177611118268d9d69EdzNJOg) "),
        ("quota", "quota exceeded rate limit input token count "),
    ] {
        let small = [Failure::from_text(unit.repeat(100_000 / unit.len()))];
        let large = [Failure::from_text(unit.repeat(1_000_000 / unit.len()))];
        let ratio = median_nanoseconds(&large, 3, Profile::Full) / median_nanoseconds(&small, 3, Profile::Full);
        println!("  {name:10} {ratio:.1}");
    }
}
