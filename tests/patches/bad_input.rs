//! Packages that cannot be patched: each gets one clear message, and nothing is written.

use std::fs;
use std::path::Path;

use pi_retry_forced::Profile;
use pi_retry_forced::patch::{self, Classifier, PatchSet, Result};
use pi_retry_forced::upstream::{Name, Package};

use crate::messages;
use crate::packages::{copy, newest};

/// A copy of the newest pi-ai to damage.
struct Copy(tempfile::TempDir);

impl Copy {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        copy(newest(Name::PiAi).root(), folder.path());
        Self(folder)
    }

    fn edit(&self, path: &str, from: &str, to: &str) -> &Self {
        let path = self.0.path().join(path);
        let text = fs::read_to_string(&path).expect("a file");
        assert!(text.contains(from), "{from} in {}", path.display());
        fs::write(&path, text.replace(from, to)).expect("a file to write");
        self
    }

    /// Gives it another number.
    fn version(&self, version: &str) -> &Self {
        let line = |version: &str| format!("\"version\": \"{version}\"");
        self.edit("package.json", &line(&newest(Name::PiAi).version().to_string()), &line(version))
    }

    fn make(&self) -> Result<PatchSet> {
        make(self.0.path(), Name::PiAi)
    }

    fn error(&self) -> String {
        self.make().expect_err("no patch").to_string()
    }
}

fn make(folder: &Path, name: Name) -> Result<PatchSet> {
    patch::make(&Package::open(folder, name).expect("a package"), &Classifier::of(Profile::Patch))
}

#[test]
fn an_older_release() {
    let copy = Copy::new();
    let error = copy.version("0.80.2").error();
    assert!(error.contains("0.80.2") && error.contains("0.80.3"), "{error}");
}

#[test]
fn an_unbundled_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = r#"{"name":"@earendil-works/pi-coding-agent","version":"0.84.2"}"#;
    fs::write(folder.path().join("package.json"), manifest).expect("a manifest");
    let error = make(folder.path(), Name::PiCodingAgent).expect_err("no patch").to_string();
    assert!(error.contains("patch @earendil-works/pi-ai instead"), "{error}");
}

#[test]
fn a_package_without_its_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = format!(r#"{{"name":"@earendil-works/pi-ai","version":"{}"}}"#, newest(Name::PiAi).version());
    fs::write(folder.path().join("package.json"), manifest).expect("a manifest");
    let error = make(folder.path(), Name::PiAi).expect_err("no patch").to_string();
    assert!(error.contains("has no folder dist"), "{error}");
}

#[test]
fn an_already_patched_package() {
    let copy = Copy::new();
    copy.make().expect("a patch").apply_to(copy.0.path()).expect("applied");
    let error = copy.error();
    assert!(error.contains("is patched already by pi-retry-forced"), "{error}");
}

#[test]
fn an_already_patched_bundle() {
    let folder = tempfile::tempdir().expect("a folder");
    copy(newest(Name::PiCodingAgent).root(), folder.path());
    make(folder.path(), Name::PiCodingAgent).expect("a patch").apply_to(folder.path()).expect("applied");
    let error = make(folder.path(), Name::PiCodingAgent).expect_err("patched").to_string();
    assert!(error.contains("is patched already by pi-retry-forced"), "{error}");
}

#[test]
fn a_package_that_carries_a_status_of_its_own() {
    let copy = Copy::new();
    let error = copy
        .edit(
            "dist/utils/retry.js",
            "    const errorMessage = message.errorMessage;",
            "    if (message.errorStatus) return true;",
        )
        .error();
    assert!(error.starts_with("dist/utils/retry.js is patched already by something else"), "{error}");
}

#[test]
fn packages_edited_by_hand_name_file_and_edit() {
    let retry = "dist/utils/retry.js";
    let returns = "return RETRYABLE_PROVIDER_ERROR_PATTERN.test(errorMessage);";
    let cases = [
        (retry, returns, "return true;", retry, "classifier"),
        (retry, returns, "return !RETRYABLE_PROVIDER_ERROR_PATTERN.test(errorMessage);", retry, "classifier"),
        (
            retry,
            returns,
            "return RETRYABLE_PROVIDER_ERROR_PATTERN.test(errorMessage) || message.extra;",
            retry,
            "classifier",
        ),
        (retry, "    if (NON_RETRYABLE_PROVIDER_LIMIT", "    if (!NON_RETRYABLE_PROVIDER_LIMIT", retry, "classifier"),
        (
            retry,
            "    const errorMessage = message.errorMessage;",
            "    const errorMessage = message.errorMessage; log();",
            retry,
            "classifier",
        ),
        (retry, "function isRetryableAssistantError(", "function isRetryable(", "the package", "classifier"),
        (
            "dist/utils/error-body.js",
            "function extractStatus",
            "function getStatus",
            "the package",
            "helper beside extractStatus",
        ),
        (
            "dist/api/google-vertex.js",
            "? \"aborted\" : \"error\"",
            "? \"aborted\" : \"failed\"",
            "the package",
            "call in the catch block of google-vertex",
        ),
        (
            "dist/api/openai-codex-responses.js",
            "throw new Error(info.",
            "throw wrap(info.",
            "the package",
            "status of the error that codex throws",
        ),
    ];
    for (path, from, to, file, edit) in cases {
        let copy = Copy::new();
        let error = copy.edit(path, from, to).error();
        assert!(error.starts_with(&format!("{file}: the edit \"{edit}\"")), "{path} {to}: {error}");
        assert!(error.contains("nothing was written"), "{error}");
    }
}

#[test]
fn a_second_catch_block_in_a_provider() {
    let copy = Copy::new();
    let path = copy.0.path().join("dist/api/google-vertex.js");
    let text = fs::read_to_string(&path).expect("a file");
    fs::write(&path, format!("{text}\n{text}")).expect("a file to write");
    let error = copy.error();
    assert!(
        error.contains("dist/api/google-vertex.js: the edit \"call in the catch block\" found 2 places"),
        "{error}"
    );
}

#[test]
fn an_unknown_newer_release_keeps_what_it_knows_and_warns() {
    let copy = Copy::new();
    copy.version("77.0.0")
        .edit(
            "dist/utils/retry.js",
            "    \"server_busy\",",
            "    \"server_busy\",\n    // New.\n    \"the hamster is asleep\",",
        )
        .edit("dist/utils/retry.js", "429|500|502", "429|500|501|502");
    let set = copy.make().expect("a patch");
    assert_eq!(set.warnings.len(), 2, "{:?}", set.warnings);
    assert!(set.warnings.iter().any(|w| w.to_string().contains("\"the hamster is asleep\"")), "{:?}", set.warnings);
    assert!(
        set.warnings.iter().any(|w| w.to_string().contains("77.0.0 is not on this version's list")),
        "{:?}",
        set.warnings
    );
    assert!(set.file_name().ends_with("pi-ai+77.0.0.patch"));
    let text = &set.files.iter().find(|file| file.path == "dist/utils/retry.js").expect("the classifier").new;
    assert!(text.contains("    // New.\n    \"the hamster is asleep\",") && !text.contains("501"));
    let module = patch::verify::module(&set).expect("a module");
    let message = |text: &str| serde_json::json!({ "stopReason": "error", "errorMessage": text });
    let said = [message("The hamster is asleep"), message("403 the hamster is asleep"), message("the 501 hamster")];
    assert_eq!(patch::verify::verdicts(&module, &said).expect("verdicts"), [true, false, false]);
}

#[test]
fn a_module_that_does_not_run() {
    let messages = messages::recorded();
    for module in ["export const other = 1;", "syntax error here", "throw new Error('broken')", "process.exit(0)"] {
        let error = patch::verify::verdicts(module, &messages).expect_err("no verdicts").to_string();
        assert!(error.starts_with("the patched classifier cannot be run in node: "), "{error}");
    }
}
