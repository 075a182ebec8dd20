//! pi's own decision: one long-lived node that has imported the JavaScript of a package, asked by JSON lines.
//!
//! Whatever is not a well-formed answer (other output, another count, a value that is no boolean, a child that died)
//! is an error, never a `false`.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use pi_retry_forced::upstream::{Cache, Name, Package, Release};
use serde_json::{Value, json};

/// The unpacked pi-ai of a release, from the user's cache.
pub fn package(version: &str) -> Package {
    // Tests run in parallel, and one fetch of a release is enough.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock();
    let release = Release::find_supported(Name::PiAi, version).expect("a supported release");
    let cache = Cache::user().expect("a cache folder");
    cache.package(release, &mut |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

/// A failed turn as pi's functions take it.
pub fn failed_turn(text: &str) -> Value {
    json!({ "role": "assistant", "stopReason": "error", "errorMessage": text })
}

/// A running node with a package's functions.
pub struct Oracle {
    child: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    asked: u64,
}

impl Oracle {
    /// Starts node on a published release.
    pub fn of_release(version: &str) -> Oracle {
        Oracle::of_folder(package(version).root()).unwrap_or_else(|error| panic!("{version}: {error}"))
    }

    /// Starts node on the folder of a pi-ai package, patched or not.
    pub fn of_folder(folder: &Path) -> Result<Oracle, String> {
        let mut child = Command::new("node")
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/oracle.mjs"))
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("node does not start: {error}"))?;
        let (questions, answers) = (child.stdin.take(), child.stdout.take().expect("stdout is piped"));
        let mut oracle = Oracle { child, questions, answers: BufReader::new(answers), asked: 0 };
        match oracle.read()? {
            Value::String(ready) if ready == "ready" => Ok(oracle),
            other => Err(format!("node said {other} and not that it is ready")),
        }
    }

    /// What `isRetryableAssistantError` says to failed turns with these texts.
    pub fn retryable(&mut self, texts: &[impl AsRef<str>]) -> Result<Vec<bool>, String> {
        self.ask("retryable", &texts.iter().map(|text| failed_turn(text.as_ref())).collect::<Vec<_>>())
    }

    /// What one of the functions in `oracle.mjs` says to these messages: `retryable` and `overflow` take failed turns,
    /// `valid` and `matches` take objects with `pattern`, `flags` and `text` and ask JavaScript itself.
    pub fn ask(&mut self, question: &str, messages: &[Value]) -> Result<Vec<bool>, String> {
        self.asked += 1;
        let line = json!({ "id": self.asked, "question": question, "messages": messages }).to_string();
        let pipe = self.questions.as_mut().ok_or("node is closed")?;
        let sent = pipe.write_all(line.as_bytes()).and_then(|()| pipe.write_all(b"\n")).and_then(|()| pipe.flush());
        sent.map_err(|error| format!("node takes no more questions: {error}"))?;
        let reply = self.read()?;
        let answers: Option<Vec<bool>> =
            reply["answers"].as_array().and_then(|all| all.iter().map(Value::as_bool).collect());
        match answers {
            Some(answers) if reply["id"] == self.asked && answers.len() == messages.len() => Ok(answers),
            _ => Err(format!("node answered {reply} to question {} about {} messages", self.asked, messages.len())),
        }
    }

    fn read(&mut self) -> Result<Value, String> {
        let mut line = String::new();
        let read = self.answers.read_line(&mut line).map_err(|error| format!("node cannot be read: {error}"))?;
        if read == 0 {
            let status = self.child.wait().map_err(|error| error.to_string())?;
            return Err(format!("node ended without an answer, {status}"));
        }
        serde_json::from_str(&line).map_err(|_| format!("node wrote {line:?}, which is no JSON"))
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        // Without its questions node ends by itself; one that does not is ended, by its own handle.
        drop(self.questions.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
