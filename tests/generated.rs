//! Generated files are committed and must be fresh. `PI_RETRY_FORCED_BLESS=1 cargo test --test generated` rewrites them.

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
}
