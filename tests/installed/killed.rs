//! Runs that end at every step.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use pi_retry_forced::Profile;
use pi_retry_forced::installed::{self, Kind, Options, State, apply, inspect, revert};
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

/// What a run that ends at a step leaves behind is what is there when the step is announced.
fn loads_at_every_step(release: &str) {
    let install = runnable(release);
    let target = install.target();
    let set = patch::make(&target.package, &Classifier::of(Profile::Patch)).expect("a patch");
    let files: Vec<String> = set.files.into_iter().map(|file| file.path).collect();
    let mut seen = 0;
    let mut watch = |step: &str| {
        if ["replace ", "put back ", "record that"].iter().any(|start| step.starts_with(start)) {
            seen += 1;
            loads(&install, &files, step);
        }
        Ok(())
    };
    apply(&target, &Options::default(), &mut watch, &mut || {}).expect("applied");
    revert(&target, &mut watch, &mut || {}).expect("reverted");
    assert_eq!(seen, 2 * files.len() + 3);
}

#[test]
fn node_loads_a_library_at_every_step() {
    loads_at_every_step("0.84.2");
}

#[test]
fn node_loads_a_bundle_at_every_step() {
    loads_at_every_step("newest");
}

/// Ends `apply` before each step that `matters`, then finishes or undoes it; then the same with `revert`.
fn ends_at(install: &Install, matters: impl Fn(usize) -> bool) {
    let target = install.target();
    let before = install.snapshot();
    let apply = |watch: &mut dyn FnMut(&str) -> io::Result<()>| apply(&target, &Options::default(), watch, &mut || {});
    let revert = |watch: &mut dyn FnMut(&str) -> io::Result<()>| revert(&target, watch, &mut || {});
    let mut steps = Vec::new();
    apply(&mut |step| {
        steps.push(step.to_owned());
        Ok(())
    })
    .expect("applied");
    let applying = steps.len();
    let patched = install.snapshot();
    revert(&mut |step| {
        steps.push(step.to_owned());
        Ok(())
    })
    .expect("reverted");
    let same = |expected, what: &str| {
        let left = differences(expected, &install.snapshot());
        assert!(left.is_empty(), "{what}: {left:?}");
    };
    same(&before, "reverted");
    let finish = |what: &str| {
        apply(&mut |_| Ok(())).unwrap_or_else(|error| panic!("{what}: {error}"));
        same(&patched, what);
    };
    let undo = |what: &str| {
        revert(&mut |_| Ok(())).unwrap_or_else(|error| panic!("{what}: {error}"));
        same(&before, what);
    };
    for number in (0..applying).filter(|number| matters(*number)) {
        let step = stopped(number, apply).expect("it stops");
        assert_eq!(step, steps[number]);
        let state = inspect(&target, None).expect("a state").state;
        let expected = matches!(state, State::Interrupted { .. }) || (number == 0 && state == State::Unpatched);
        assert!(expected, "{step}: {state:?}");
        // Every other time it is finished first.
        if number % 2 == 0 {
            finish(&step);
        }
        undo(&step);
    }
    finish("once more");
    for number in (0..steps.len() - applying).filter(|number| matters(*number)) {
        let step = stopped(number, revert).expect("it stops");
        assert_eq!(step, steps[applying + number]);
        if number % 2 == 0 {
            undo(&step);
        }
        finish(&step);
    }
}

#[test]
fn a_run_that_ended_at_any_step_can_be_finished_or_undone() {
    let install = Install::unbundled("0.80.3");
    ends_at(&install, |_| true);
}

#[test]
fn the_same_in_a_bundle() {
    let install = Install::bundled("1.3.0");
    ends_at(&install, |step| step % 9 == 5);
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
