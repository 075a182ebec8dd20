//! The generated patches: applied with the tools that users have, run in node, compared with the reference.

mod apply;
mod bad_input;
mod messages;
mod packages;
mod rendering;
mod sources;

use apply::Project;
use packages::{bundles, eras, newest};
use pi_retry_forced::Profile;
use pi_retry_forced::patch::{self, Classifier, PatchSet, verify};
use pi_retry_forced::upstream::{Name, Package};

fn make(package: &Package, profile: Profile) -> PatchSet {
    let set = patch::make(package, &Classifier::of(profile));
    let set = set.unwrap_or_else(|error| panic!("{} {}: {error}", package.name(), package.version()));
    assert_eq!(set.warnings, [], "{}", package.version());
    set
}

/// What a new rule is tried by first.
#[test]
fn the_newest_patched_classifiers_decide_like_the_reference() {
    let mut messages = messages::recorded();
    messages.extend(messages::from_rules());
    messages.extend(messages::random(4000));
    messages.extend(messages::odd());
    for (name, profile) in
        [(Name::PiAi, Profile::Upstream), (Name::PiAi, Profile::Patch), (Name::PiCodingAgent, Profile::Patch)]
    {
        let set = make(&newest(name), profile);
        let compared = verify::run(&set, &messages, messages::reference(profile));
        assert_eq!(compared.unwrap_or_else(|error| panic!("{name}: {error}")), messages.len());
    }
}

/// Law 9 for the patched package, on every recorded message and on random ones.
#[test]
fn the_patched_classifier_of_every_era_decides_like_the_reference() {
    let mut messages = messages::recorded();
    messages.extend(messages::from_rules());
    messages.extend(messages::random(4000));
    messages.extend(messages::odd());
    for package in eras() {
        let version = package.version();
        for profile in [Profile::Upstream, Profile::Patch] {
            let set = make(&package, profile);
            let compared = verify::run(&set, &messages, messages::reference(profile));
            assert_eq!(compared.unwrap_or_else(|error| panic!("{version}: {error}")), messages.len());
        }
    }
}

#[test]
fn the_bundled_classifier_decides_like_the_reference() {
    let mut messages = messages::recorded();
    messages.extend(messages::random(1000));
    messages.extend(messages::odd());
    for package in bundles() {
        let (set, version) = (make(&package, Profile::Patch), package.version());
        let compared = verify::run(&set, &messages, messages::reference(Profile::Patch));
        assert_eq!(compared.unwrap_or_else(|error| panic!("{version}: {error}")), messages.len());
    }
}

/// The comparison is worth something only if it fails for the unpatched package, and for a wrong patch.
#[test]
fn other_classifiers_are_found_to_differ() {
    let messages = messages::recorded();
    let wrong = |set: &PatchSet| {
        let result = verify::run(set, &messages, messages::reference(Profile::Patch));
        let error = result.expect_err("another decision").to_string();
        assert!(error.contains("decides otherwise than the reference on "), "{error}");
    };
    for package in [newest(Name::PiAi), newest(Name::PiCodingAgent), eras().next().expect("an era")] {
        let mut set = make(&package, Profile::Patch);
        let right = set.clone();
        let file = set.files.iter_mut().find(|file| file.path == right.classifier).expect("the classifier");
        file.new = format!("{}\n", file.old);
        wrong(&set);
        let mut set = right.clone();
        let file = set.files.iter_mut().find(|file| file.path == right.classifier).expect("the classifier");
        file.new = file.new.replace("408, 409, 425, 429", "408, 409, 425").replace("408,409,425,429", "408,409,425");
        wrong(&set);
    }
}

/// Law 10, with the tools that users have.
#[test]
fn the_patch_of_every_era_applies_and_reverses_to_the_same_bytes() {
    for package in eras() {
        there_and_back(&package, &make(&package, Profile::Patch));
    }
}

#[test]
fn the_patch_of_bundled_commands_applies_and_reverses_to_the_same_bytes() {
    for package in bundles() {
        there_and_back(&package, &make(&package, Profile::Patch));
    }
}

fn there_and_back(package: &Package, set: &PatchSet) {
    assert_eq!(make(package, Profile::Patch).to_patch(), set.to_patch(), "rendering is the same every time");
    let project = Project::new(package, set);
    let (before, after) = (project.files(), project.patched(set));
    assert!(before != after);
    project.patch_package(&["--error-on-fail", "--error-on-warn"]);
    assert!(project.files() == after, "{} {} by patch-package", set.name, set.version);
    project.patch_package(&["--reverse"]);
    assert!(project.files() == before, "{} {} back by patch-package", set.name, set.version);
    project.git_apply(&[]);
    assert!(project.files() == after, "{} {} by git", set.name, set.version);
    project.git_apply(&["--reverse"]);
    assert!(project.files() == before, "{} {} back by git", set.name, set.version);
}

/// With a classifier of a few words: what a new rule changes is in the committed patches.
#[test]
fn snapshots_of_every_era() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for package in eras() {
            let set = patch::make(&package, &rendering::few()).expect("a patch");
            insta::assert_snapshot!(format!("patch-pi-ai-{}", package.version()), set.to_patch());
        }
    });
}
