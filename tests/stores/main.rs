//! Package managers that share files between projects: the real pnpm applies the patch in one project, and another one
//! with the same package keeps its bytes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const RETRY: &str = "node_modules/@earendil-works/pi-ai/dist/utils/retry.js";

/// pnpm's own file, installed once for each lock file.
fn pnpm() -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stores");
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stores-tools");
    let lock = fs::read(from.join("package-lock.json")).expect("the lock file is committed");
    let stamp = to.join("node_modules/.installed-lock.json");
    if fs::read(&stamp).ok() != Some(lock.clone()) {
        fs::create_dir_all(&to).expect("a folder");
        for name in ["package.json", "package-lock.json"] {
            fs::copy(from.join(name), to.join(name)).expect("a copied file");
        }
        let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
        run(Command::new(npm).args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]), &to);
        fs::write(&stamp, lock).expect("the folder was just written by npm");
    }
    to.join("node_modules/pnpm/bin/pnpm.cjs")
}

fn run(command: &mut Command, folder: &Path) -> String {
    let output = command.current_dir(folder).env("CI", "true").stdin(Stdio::null()).output().expect("can be started");
    let printed = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?} in {}: {printed}", folder.display());
    printed
}

#[test]
fn pnpm_patches_one_project_and_no_other() {
    let pnpm = pnpm();
    let folder = tempfile::tempdir().expect("a folder");
    let install = |project: &Path| {
        let store = format!("--store-dir={}", folder.path().join("store").display());
        let mut command = Command::new("node");
        run(command.arg(&pnpm).args(["install", "--no-frozen-lockfile", "--ignore-scripts", &store]), project)
    };
    let release = pi_retry_forced::upstream::Release::newest(pi_retry_forced::upstream::Name::PiAi).version();
    let projects = ["one", "other"].map(|name| {
        let project = folder.path().join(name);
        fs::create_dir_all(&project).expect("a folder");
        let manifest =
            format!(r#"{{"name":"{name}","version":"1.0.0","dependencies":{{"@earendil-works/pi-ai":"{release}"}}}}"#);
        fs::write(project.join("package.json"), manifest).expect("a manifest");
        install(&project);
        project
    });
    let [one, other] = &projects;
    let read = |project: &Path| fs::read(project.join(RETRY)).expect("pi-ai is installed");
    let published = read(one);

    let mut command = Command::new(env!("CARGO_BIN_EXE_pi-retry-forced"));
    let told = run(command.args(["patch", "--no-verify", "--json"]), one);
    let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(told["format"], "pnpm");
    let steps = &told["steps"];
    assert_eq!(steps["command"], "pnpm install --no-frozen-lockfile");
    assert_eq!(read(one), published, "writing a patch file changes nothing");

    let file = Path::new(steps["file"].as_str().expect("a file"));
    fs::write(file, steps["add"].as_str().expect("what to put there")).expect("a written file");
    install(one);
    assert_ne!(read(one), published, "applied");
    assert_eq!(read(other), published, "the other project's file is in the same store");

    fs::remove_file(file).expect("the file");
    install(one);
    assert_eq!(read(one), published, "taken back");
    assert_eq!(read(other), published);
}
