//! `.ci/renew release`, as far as it does not run other tests: the list comes back byte for byte, and a release of a new shape
//! is told in the words of what a person has to decide. And the commands of CONTRIBUTING.md are commands that are run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pi_retry_forced::upstream::{Cache, Name, Release};
use tempfile::TempDir;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// What `.ci/renew release` starts, built by cargo as there.
fn renew(folder: &Path, arguments: &[&str]) -> Output {
    let manifest = Path::new(ROOT).join("Cargo.toml");
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--quiet", "--example", "release", "--manifest-path"]).arg(manifest).arg("--");
    command.args(arguments).current_dir(folder).output().expect("cargo starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A copy of what it reads and writes.
fn project() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for place in ["src/upstream", "tests/corpus"] {
        fs::create_dir_all(folder.path().join(place)).expect("a folder");
        for entry in fs::read_dir(Path::new(ROOT).join(place)).expect("a folder").flatten() {
            fs::copy(entry.path(), folder.path().join(place).join(entry.file_name())).expect("a copied file");
        }
    }
    folder
}

fn edit(path: &Path, from: &str, to: &str) {
    let old = fs::read_to_string(path).expect("a file");
    assert!(old.contains(from), "{from} in {}", path.display());
    fs::write(path, old.replacen(from, to, 1)).expect("a file");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copied file");
        }
    }
}

#[test]
fn releases_taken_out_of_the_list_come_back_byte_for_byte() {
    let folder = project();
    let list = folder.path().join("src/upstream/releases.toml");
    let eras = folder.path().join("src/upstream/eras.json");
    let committed = (fs::read(&list).expect("the list"), fs::read(&eras).expect("the eras"));
    let entries = text(&committed.0);
    let last_two = entries.rmatch_indices("\n[[release]]").nth(1).expect("two releases").0;
    fs::write(&list, &entries[..last_two]).expect("a shorter list");

    // What came out since is not this test's business.
    let newest = Release::newest(Name::PiAi).version().to_string();
    let output = renew(folder.path(), &[&newest]);
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    assert!(fs::read(&list).expect("the list") == committed.0, "{}", text(&output.stdout));
    assert!(fs::read(&eras).expect("the eras") == committed.1);
    let output = renew(folder.path(), &[&newest]);
    assert!(text(&output.stdout).starts_with("nothing is newer"), "{}", text(&output.stdout));
}

#[test]
fn a_release_of_a_new_shape_is_told_and_nothing_is_written() {
    let folder = project();
    let made = tempfile::tempdir().expect("a folder");
    let newest = Release::newest(Name::PiAi).version().to_string();
    for name in Name::ALL {
        let package = Cache::user().and_then(|cache| cache.package(Release::newest(name), &mut |_| {})).expect("it");
        let to = made.path().join(name.short());
        copy(package.root(), &to);
        let line = |version: &str| format!("\"version\": \"{version}\"");
        edit(&to.join("package.json"), &line(&newest), &line("77.0.0"));
    }
    let tried = |said: &str| {
        let output = renew(folder.path(), &["77.0.0", "--from", made.path().to_str().expect("UTF-8")]);
        let lines: Vec<String> = text(&output.stdout).lines().map(str::to_owned).collect();
        assert_eq!(text(&output.stderr), "", "{said}");
        (output.status.code(), lines)
    };
    let (code, lines) = tried("as it is");
    assert!(code == Some(0) && lines.len() == 1, "{lines:?}");

    let dist = made.path().join("pi-ai/dist");
    edit(&dist.join("utils/retry.js"), "\"overloaded\",", "\"overloaded\",\n    \"the hamster is asleep\",");
    let api = dist.join("api");
    let modules: Vec<PathBuf> = fs::read_dir(&api).expect("a folder").flatten().map(|entry| entry.path()).collect();
    for module in modules {
        let name = module.file_name().expect("a name").to_string_lossy().into_owned();
        if let Some(rest) = name.strip_prefix("google-vertex.") {
            fs::rename(&module, api.join(format!("google-cloud.{rest}"))).expect("renamed");
        }
    }
    let (code, lines) = tried("changed");
    assert_eq!(code, Some(1));
    let [_, provider, pattern] = &lines[..] else { panic!("{lines:?}") };
    assert!(provider.contains("google-vertex") && provider.contains("google-cloud") && provider.contains("APIS"));
    assert!(pattern.contains("\"the hamster is asleep\"") && pattern.contains("CONTRIBUTING"), "{pattern}");
    for file in ["releases.toml", "eras.json"] {
        let place = Path::new("src/upstream").join(file);
        assert!(
            fs::read(folder.path().join(&place)).expect("it") == fs::read(Path::new(ROOT).join(&place)).expect("it")
        );
    }
}

#[test]
fn what_it_cannot_use_is_said() {
    let folder = project();
    let refused = |arguments: &[&str]| {
        let output = renew(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stdout));
        text(&output.stderr)
    };
    assert!(refused(&["latest"]).contains("no version number"));
    assert!(refused(&["--from"]).contains("needs a folder"));
    assert!(refused(&["77.0.0", "--from", "."]).contains("neither a folder pi-ai nor"));
    assert!(refused(&["77.0.0", "78.0.0"]).contains("one argument too many"));
    assert!(refused(&["7777.0.0"]).contains("npm has no 7777.0.0"));
}

/// Whoever follows CONTRIBUTING.md types what `.ci/run` and these tests have run.
#[test]
fn the_commands_of_contributing_are_run() {
    let read = |path: &str| fs::read_to_string(Path::new(ROOT).join(path)).expect("a file");
    let (page, check) = (read(".github/CONTRIBUTING.md"), read(".ci/run"));
    assert!(check.contains("contributing"), ".ci/run runs the commands of the page");
    let blocks: Vec<&str> = page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let commands: Vec<&str> = blocks.iter().flat_map(|block| block.lines()).collect();
    assert!(commands.len() >= 8, "{commands:?}");
    assert!(page.lines().count() <= 60, "one screen");
    for rule in commands.iter().filter_map(|line| line.split_once("rule::").map(|(_, rest)| rest)) {
        let id = rule.split_whitespace().next().unwrap_or_default().replace('_', "-");
        assert!(pi_retry_forced::rules::by_id(&id).is_some(), "{id}");
    }
}
