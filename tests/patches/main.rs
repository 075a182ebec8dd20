//! The generated patches: applied with the tools that users have, run in node, compared with the reference.

mod messages;
mod packages;

use packages::{BUNDLES, ERAS, pi_ai};
use pi_retry_forced::Profile;
use pi_retry_forced::patch::{self, Classifier, verify};
use pi_retry_forced::upstream::{Era, Name};

/// Law 9 for the patched package, on every recorded message and on random ones.
#[test]
fn the_patched_classifier_of_every_era_decides_like_the_reference() {
    let mut messages = messages::recorded();
    messages.extend(messages::from_rules());
    messages.extend(messages::random(4000));
    for (era, version) in ERAS {
        let package = pi_ai(version);
        assert_eq!(Era::of(package.version()).map(Era::name), Some(era));
        for profile in [Profile::Upstream, Profile::Patch] {
            let set =
                patch::make(&package, &Classifier::of(profile)).unwrap_or_else(|error| panic!("{version}: {error}"));
            assert_eq!(set.warnings, [""; 0], "{version}");
            verify::run(&set, &messages, messages::reference(profile))
                .unwrap_or_else(|error| panic!("{version}: {error}"));
        }
    }
}

#[test]
fn the_bundled_classifier_decides_like_the_reference() {
    let mut messages = messages::recorded();
    messages.extend(messages::random(1000));
    for version in BUNDLES {
        let package = packages::fetch(Name::PiCodingAgent, version);
        let set =
            patch::make(&package, &Classifier::of(Profile::Patch)).unwrap_or_else(|error| panic!("{version}: {error}"));
        assert_eq!(set.warnings, [""; 0], "{version}");
        verify::run(&set, &messages, messages::reference(Profile::Patch))
            .unwrap_or_else(|error| panic!("{version}: {error}"));
    }
}
