//! Random ids through a release's patterns, against the same loop in node, on one core each: `cargo bench --bench ids`. Needs node and
//! npm; nothing here is asserted.

#![allow(clippy::print_stdout, reason = "a bench prints its results")]
#![allow(clippy::unwrap_used, reason = "a bench that cannot run stops")]

use pi_retry_forced::evidence::{IdFormat, Options, RELAY_FAILURE, Random, Report, runs};
use pi_retry_forced::upstream::{Cache, Name, PiClassifier, Release};
use std::process::Command;
use std::time::Instant;

const NODE: &str = r#"
import { pathToFileURL } from "node:url";
const [retry, before, after, count] = process.argv.slice(1);
const { isRetryableAssistantError } = await import(pathToFileURL(retry).href);
const digits = "0123456789";
const loop = (n) => {
  let yes = 0;
  for (let i = 0; i < n; i++) {
    let id = "";
    for (let k = 0; k < 32; k++) id += digits[(Math.random() * 10) | 0];
    if (isRetryableAssistantError({ stopReason: "error", errorMessage: before + id + after })) yes++;
  }
  return yes;
};
loop(100_000);
const start = process.hrtime.bigint();
const yes = loop(Number(count));
console.log(Number(process.hrtime.bigint() - start) / Number(count), yes / Number(count));
"#;

fn main() {
    const COUNT: u32 = 1_000_000;
    let format = &IdFormat::all()[0];
    println!("{COUNT} ids of {} drawn and judged on one core, nanoseconds an id", format.name);
    for version in ["0.87.1", "1.6.0"] {
        let release = Release::find(Name::PiAi, version).unwrap();
        let package = Cache::user().unwrap().package(release, &mut |_| {}).unwrap();
        let pi = PiClassifier::for_version(version).unwrap();
        let mut random = Random::new("bench", 0);
        let mut text = String::new();
        let start = Instant::now();
        let mut yes = 0_u32;
        for _ in 0..COUNT {
            text.clear();
            text.push_str(RELAY_FAILURE.before);
            format.draw(&mut random, &mut text);
            text.push_str(RELAY_FAILURE.after);
            yes += u32::from(pi.is_retryable(&text));
        }
        let ours = start.elapsed().as_nanos() as f64 / f64::from(COUNT);
        let output = Command::new("node")
            .args(["--input-type=module", "-e", NODE])
            .arg(package.root().join("dist/utils/retry.js"))
            .args([RELAY_FAILURE.before, RELAY_FAILURE.after, &COUNT.to_string()])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let line = String::from_utf8_lossy(&output.stdout).into_owned();
        let node: f64 = line.split_whitespace().next().unwrap().parse().unwrap();
        let share = f64::from(yes) / f64::from(COUNT);
        println!(
            "  {version}: {ours:.0} ({share:.4} retried), node {}, node takes {:.1} times as long",
            line.trim(),
            node / ours
        );
    }
    let options = Options { samples: 1_000_000, ..Options::default() };
    let drawn = options.drawn();
    let start = Instant::now();
    Report::new(options, runs::recorded().unwrap(), &|_| {}).unwrap();
    println!("a whole report with {drawn} ids, all cores: {:.1} s", start.elapsed().as_secs_f64());
}
