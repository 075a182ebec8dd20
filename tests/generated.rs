//! Generated files are committed and must be fresh. `PI_RETRY_FORCED_BLESS=1 cargo test --test generated` rewrites them.

use pi_retry_forced::Profile;
use pi_retry_forced::patch::{self, Classifier};
use pi_retry_forced::upstream::{Cache, Name, Release};
use std::path::Path;

fn assert_fresh(path: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("PI_RETRY_FORCED_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().expect("below the root")).expect("a folder that can be made");
        std::fs::write(&path, wanted).expect("a file that can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "{} is stale: run PI_RETRY_FORCED_BLESS=1 cargo test --test generated", path.display());
}

#[test]
fn the_shims_rules_are_fresh() {
    assert_fresh("shim/src/rules.generated.ts", &pi_retry_forced::shim_module());
    assert_fresh("shim/src/needles.generated.ts", &pi_retry_forced::shim_needles_module());
}

/// The committed patches are what `patch` writes for the newest release. The one of the bundled command has another
/// ending, since patch-package refuses a folder with a patch for a package that the project does not have.
#[test]
fn the_committed_patches_are_fresh() {
    for (name, ending) in [(Name::PiAi, ""), (Name::PiCodingAgent, ".txt")] {
        let release = Release::newest(name);
        let package = Cache::user().and_then(|cache| cache.package(release, &mut |_| {})).expect("the newest release");
        let set = patch::make(&package, &Classifier::of(Profile::Patch)).expect("a release that can be patched");
        assert_eq!(set.warnings, Vec::<String>::new());
        assert_fresh(&format!("patches/{}{ending}", set.file_name()), &set.to_patch());
    }
}
