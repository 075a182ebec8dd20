//! Runs that end at every step.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use pi_retry_forced::Profile;
use pi_retry_forced::installed::{self, Applied, Kind, Options, State, apply, inspect, revert};
use pi_retry_forced::patch::{self, Classifier};

use super::trees::{Install, differences, node, runnable, snapshot};

/// Ends a run before its step number `steps`, from 0, and tells whether it got there.
fn stopped<T>(
    steps: usize,
    run: impl FnOnce(&mut dyn FnMut(&str) -> io::Result<()>) -> installed::Result<T>,
) -> Option<String> {
    let mut made = 0;
    let result = run(&mut |_| {
        made += 1;
        if made > steps { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    });
    match result {
        Ok(_) => None,
        Err(error) => match error.kind() {
            Kind::Stopped { step } => Some(step.clone()),
            _ => panic!("step {steps}: {error}"),
        },
    }
}

/// Node loads every file that the patch concerns, in the state in which they are; but for bedrock's, which takes seconds and
/// imports the same helper as the others, or in a bundle nothing of the patch at all.
fn loads(install: &Install, files: &[String], state: &str) {
    let root = install.target().package.root().to_owned();
    let files: Vec<PathBuf> = files
        .iter()
        .filter(|file| file.ends_with(".js") && !file.contains("bedrock"))
        .map(|file| root.join(file))
        .collect();
    let script = "for (const file of process.argv.slice(1)) await import(file);";
    let output = Command::new(node()).args(["--input-type=module", "-e", script]).args(&files).output().expect("node");
    assert!(output.status.success(), "{state}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Ends `apply` before each step from `first` on, then finishes or undoes it; then the same with `revert`.
fn every_step(release: &str, only_replacing: bool) {
    let install = runnable(release);
    let target = install.target();
    let root = target.package.root().to_owned();
    let before = snapshot(&root);
    let files: Vec<String> = patch::make(&target.package, &Classifier::of(Profile::Patch))
        .expect("a patch")
        .files
        .into_iter()
        .map(|file| file.path)
        .collect();
    let options = Options::default();
    let whole = |what: &str| {
        apply(&target, &options, &mut |_| Ok(()), &mut || {}).unwrap_or_else(|error| panic!("{what}: {error}"))
    };
    assert!(matches!(whole("first"), Applied::Now { took_back: false, .. }));
    let patched = snapshot(&root);
    revert(&target, &mut |_| Ok(()), &mut || {}).expect("reverted");
    assert!(differences(&before, &snapshot(&root)).is_empty());

    let undo = |what: &str| {
        revert(&target, &mut |_| Ok(()), &mut || {}).unwrap_or_else(|error| panic!("{what}: {error}"));
        let left = differences(&before, &snapshot(&root));
        assert!(left.is_empty(), "{what}: {left:?}");
    };
    let matters = |step: &str| !only_replacing || step.starts_with("replace") || step.starts_with("put back");

    let mut seen = 0;
    for steps in 0.. {
        let Some(step) = stopped(steps, |watch| apply(&target, &options, watch, &mut || {})) else { break };
        if matters(&step) {
            seen += 1;
            loads(&install, &files, &format!("apply, before: {step}"));
            let state = inspect(&target, None).expect("a state").state;
            let expected = matches!(state, State::Interrupted { .. }) || (steps == 0 && state == State::Unpatched);
            assert!(expected, "before: {step}: {state:?}");
            // Every other time it is finished first.
            if steps % 2 == 0 {
                whole(&step);
                let left = differences(&patched, &snapshot(&root));
                assert!(left.is_empty(), "finished after: {step}: {left:?}");
            }
        }
        undo(&step);
    }
    assert!(seen >= files.len(), "{seen} steps");
    // The run that got through has patched.
    assert!(differences(&patched, &snapshot(&root)).is_empty());

    let mut seen = 0;
    for steps in 0.. {
        let Some(step) = stopped(steps, |watch| revert(&target, watch, &mut || {})) else { break };
        if matters(&step) {
            seen += 1;
            loads(&install, &files, &format!("revert, before: {step}"));
            if steps % 2 == 0 {
                undo(&step);
            }
        }
        whole(&step);
        let left = differences(&patched, &snapshot(&root));
        assert!(left.is_empty(), "patched again after: {step}: {left:?}");
    }
    assert!(seen >= files.len(), "{seen} steps");
    assert!(differences(&before, &snapshot(&root)).is_empty());
}

#[test]
fn a_library_works_and_can_be_finished_or_undone_after_every_step() {
    every_step("0.84.2", false);
}

#[test]
fn a_bundle_works_and_can_be_finished_or_undone_after_every_replaced_file() {
    every_step("1.6.0", true);
}

/// In the middle of a write: the half of a file lies beside the old one.
#[test]
fn half_a_new_file_does_no_harm() {
    let install = Install::unbundled("0.80.3");
    let target = install.target();
    let root = target.package.root().to_owned();
    let before = snapshot(&root);
    stopped(4, |watch| apply(&target, &Options::default(), watch, &mut || {})).expect("stopped");
    let cut = |path: &PathBuf| {
        let text = fs::read(path).expect("a file");
        fs::write(path, &text[..text.len() / 2]).expect("written");
    };
    let new = snapshot(&root).into_keys().filter(|path| path.to_string_lossy().ends_with(".pi-retry-forced"));
    let new: Vec<_> = new.collect();
    assert!(!new.is_empty());
    new.iter().for_each(cut);
    apply(&target, &Options::default(), &mut |_| Ok(()), &mut || {}).expect("applied");
    revert(&target, &mut |_| Ok(()), &mut || {}).expect("reverted");
    assert_eq!(differences(&before, &snapshot(&root)), Vec::<PathBuf>::new());
}
