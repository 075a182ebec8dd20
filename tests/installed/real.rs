//! The real pi against the relay: one request, several, one again.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pi_retry_forced::installed::{Applied, Options, Reverted, apply, locate, revert};
use pi_retry_forced::upstream::{Name, Release};
use serde_json::json;
use tempfile::TempDir;

use super::relay::Relay;
use super::trees::{Install, differences, node, runnable};

/// Starts pi by its `bin/pi` with a prompt; gives what it printed.
fn run(install: &Install, relay: &Relay) -> String {
    let home = TempDir::new().expect("a home");
    let agent = home.path().join(".pi/agent");
    fs::create_dir_all(&agent).expect("the folder");
    let model = json!({
        "id": "m", "name": "m", "reasoning": false, "input": ["text"], "contextWindow": 200_000, "maxTokens": 8192,
        "cost": { "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0 },
    });
    let provider = json!({
        "baseUrl": format!("http://127.0.0.1:{}", relay.port),
        "api": "anthropic-messages", "apiKey": "k", "models": [model],
    });
    fs::write(agent.join("models.json"), json!({ "providers": { "relay": provider } }).to_string()).expect("a file");
    let settings = json!({ "retry": { "enabled": true, "maxRetries": 3, "baseDelayMs": 5 } });
    fs::write(agent.join("settings.json"), settings.to_string()).expect("a file");
    let mut child = Command::new(node())
        .arg(install.bin())
        .args(["--provider", "relay", "--model", "m", "-p", "go"])
        .current_dir(home.path())
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .envs([("PI_OFFLINE", "1"), ("PI_SKIP_VERSION_CHECK", "1"), ("NO_COLOR", "1")])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("pi");
    // A pi that hangs is a failure, not a wait.
    let limit = Instant::now() + Duration::from_secs(90);
    while child.try_wait().expect("its state").is_none() && Instant::now() < limit {
        std::thread::sleep(Duration::from_millis(50));
    }
    let _ = child.kill();
    let output = child.wait_with_output().expect("its output");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn before_after_reverted(release: &str, decider: &str) {
    let install = runnable(release);
    let surroundings = pi_retry_forced::installed::Surroundings::of_process().expect("surroundings");
    let target = locate(Some(&install.bin()), &surroundings).expect("a pi").target().expect("a target");
    assert_eq!(format!("{}@{}", target.package.name(), target.package.version()), decider);
    let before = install.snapshot();
    let relay = Relay::start(2);

    let said = run(&install, &relay);
    assert_eq!((relay.count(), said.contains("curable")), (1, false), "unpatched {release}: {said}");

    let options = Options { verify: true, ..Options::default() };
    let applied = apply(&target, &options, &mut |_| Ok(()), &mut || {}).expect("applied");
    assert!(matches!(&applied, Applied::Now { files, .. } if files.len() >= 9), "{applied:?}");
    let said = run(&install, &relay);
    assert_eq!((relay.count(), said.contains("curable")), (3, true), "patched {release}: {said}");

    let reverted = revert(&target, &mut |_| Ok(()), &mut || {}).expect("reverted");
    assert!(matches!(reverted, Reverted::Now { .. }), "{reverted:?}");
    assert_eq!(differences(&before, &install.snapshot()), [""; 0].map(std::path::PathBuf::from));
    let said = run(&install, &relay);
    assert_eq!((relay.count(), said.contains("curable")), (1, false), "reverted {release}: {said}");
}

#[test]
fn the_newest_pi_retries_when_its_bundle_is_patched() {
    before_after_reverted("newest", &Release::newest(Name::PiCodingAgent).spec());
}

#[test]
fn pi_0_85_1_retries_when_its_bundle_is_patched() {
    before_after_reverted("0.85.1", "@earendil-works/pi-coding-agent@0.85.1");
}

/// This release takes whichever pi-ai of its range npm finds, and npm hoists it.
#[test]
fn pi_0_84_2_retries_when_the_pi_ai_that_it_loads_is_patched() {
    before_after_reverted("0.84.2", "@earendil-works/pi-ai@0.84.4");
}
