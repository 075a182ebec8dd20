//! The extension's own tests, in node and in real releases of pi: its packages are installed where they are missing or
//! older than the lock file, then `npm test` runs.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn test_package() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("shim/test")
}

/// Runs npm in the test package and fails with all it printed.
fn npm(arguments: &[&str]) {
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let output = Command::new(npm)
        .args(arguments)
        .current_dir(test_package())
        .stdin(Stdio::null())
        .output()
        .expect("npm can be started; it comes with node");
    let printed = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "npm {}: {}\n{}\n{}",
        arguments.join(" "),
        output.status,
        printed(&output.stdout),
        printed(&output.stderr)
    );
}

/// Installs what the lock file names, once for each lock file.
fn install() {
    let package = test_package();
    let lock = std::fs::read(package.join("package-lock.json")).expect("the lock file is committed");
    let stamp = package.join("node_modules/.installed-lock.json");
    if std::fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return;
    }
    npm(&["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    std::fs::write(&stamp, lock).expect("the folder was just written by npm");
}

// One test: the three steps share the installed packages.
#[test]
fn extension_passes_its_own_tests() {
    install();
    npm(&["run", "typecheck"]);
    npm(&["run", "lint"]);
    npm(&["test"]);
}
