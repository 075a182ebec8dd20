//! The same edits in the TypeScript that the package was made from.

use pi_retry_forced::Profile;
use pi_retry_forced::patch::{self, Classifier, from_source_maps, unified, verify};
use pi_retry_forced::upstream::Name;

use crate::messages;
use crate::packages::{eras, newest};

#[test]
fn the_sources_of_every_era_take_the_edits_once() {
    for package in eras() {
        let version = package.version();
        let sources = from_source_maps(package.root()).expect("sources");
        let target = Classifier::of(Profile::Upstream);
        let set =
            patch::make_in_sources(&package, &sources, &target).unwrap_or_else(|error| panic!("{version}: {error}"));
        assert_eq!(set.warnings, []);
        assert_eq!(set.classifier, "src/utils/retry.ts");
        verify::round_trip(&set).expect("a diff that leads there and back");
        assert!(set.files.iter().all(|file| file.path.starts_with("src/") && file.path.ends_with(".ts")));
        // One import and one call a module; the rest is in the four files that a maintainer would expect.
        for file in set.files.iter().filter(|file| file.path.starts_with("src/api/")) {
            let (added, removed) = unified::count(&unified::diff("file", &file.old, &file.new, 3));
            let limit = if file.path.contains("codex") { 3 } else { 2 };
            assert!(added <= limit && removed < limit, "{version} {}: +{added} -{removed}", file.path);
        }
    }
}

/// Node drops the types by itself from 22.18 on; here the classifier's few types are dropped by hand to run it.
#[test]
fn the_edited_source_decides_like_the_reference() {
    let package = newest(Name::PiAi);
    let sources = from_source_maps(package.root()).expect("sources");
    let set = patch::make_in_sources(&package, &sources, &Classifier::of(Profile::Upstream)).expect("a patch");
    let module = verify::module(&set).expect("the classifier");
    let module = module
        .replace("(message: AssistantMessage): boolean", "(message)")
        .replace("(patterns: string[]): RegExp", "(patterns)")
        .replace("(patterns: readonly string[]): RegExp", "(patterns)");
    let mut messages = messages::recorded();
    messages.extend(messages::random(2000));
    let verdicts = verify::verdicts(&module, &messages).expect("verdicts");
    let reference = messages::reference(Profile::Upstream);
    for (message, verdict) in messages.iter().zip(verdicts) {
        assert_eq!(reference(message), verdict, "{message}");
    }
}
