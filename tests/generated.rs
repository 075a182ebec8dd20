//! Generated files are committed and must be fresh. `PI_RETRY_FORCED_BLESS=1 cargo test --test generated` rewrites them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pi_retry_forced::Profile;
use pi_retry_forced::patch::{self, Classifier};
use pi_retry_forced::upstream::{Cache, Name, Part, Release};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn blessing() -> bool {
    std::env::var_os("PI_RETRY_FORCED_BLESS").is_some()
}

fn assert_fresh(path: &str, wanted: &str) {
    let path = Path::new(ROOT).join(path);
    if blessing() {
        std::fs::create_dir_all(path.parent().expect("below the root")).expect("a folder that can be made");
        std::fs::write(&path, wanted).expect("a file that can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "{} is stale: run PI_RETRY_FORCED_BLESS=1 cargo test --test generated", path.display());
}

/// Files of another release are left by nobody.
fn assert_nothing_else(folder: &str, mine: impl Fn(&str) -> bool, wanted: &BTreeSet<String>) {
    let names = |path: &Path| -> BTreeSet<String> {
        let entries = std::fs::read_dir(path).expect("a folder").flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).filter(|name| mine(name)).collect()
    };
    let folder: PathBuf = Path::new(ROOT).join(folder);
    if blessing() {
        for name in names(&folder).difference(wanted) {
            std::fs::remove_file(folder.join(name)).expect("a file that can be removed");
        }
    }
    assert_eq!(
        names(&folder),
        *wanted,
        "{}: run PI_RETRY_FORCED_BLESS=1 cargo test --test generated",
        folder.display()
    );
}

/// The part of a page between two texts.
fn between<'t>(page: &'t str, start: &str, end: &str) -> &'t str {
    let from = page.find(start).unwrap_or_else(|| panic!("no {start:?}")) + start.len();
    let to = page[from..].find(end).unwrap_or_else(|| panic!("no {end:?} behind {start:?}"));
    &page[from..from + to]
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
    let mut names = BTreeSet::new();
    for (name, ending) in [(Name::PiAi, ""), (Name::PiCodingAgent, ".txt")] {
        let release = Release::newest(name);
        let package = Cache::user().and_then(|cache| cache.package(release, &mut |_| {})).expect("the newest release");
        let set = patch::make(&package, &Classifier::of(Profile::Patch)).expect("a release that can be patched");
        assert_eq!(set.warnings, []);
        let file = format!("{}{ending}", set.file_name());
        assert_fresh(&format!("patches/{file}"), &set.to_patch());
        names.insert(file);
    }
    assert_nothing_else("patches", |name| name.starts_with('@'), &names);
}

#[test]
fn the_snapshots_are_those_of_the_eras() {
    let snapshot = |release: &Release| format!("patch-pi-ai-{}.snap", release.version());
    let wanted = Release::playing(Name::PiAi, Part::Era).map(snapshot).collect();
    assert_nothing_else("snapshots", |name| name.starts_with("patch-"), &wanted);
}

/// The releases that pages name are those of the list.
#[test]
fn the_pages_name_the_releases_of_the_list() {
    let numbers: Vec<String> =
        Release::playing(Name::PiCodingAgent, Part::Shim).map(|release| release.version().to_string()).collect();
    let (last, others) = numbers.split_last().expect("a release");
    let page = std::fs::read_to_string(Path::new(ROOT).join("shim/README.md")).expect("the page");
    let stands = between(&page, "Tested with pi ", ". No dependencies");
    assert_fresh("shim/README.md", &page.replacen(stands, &format!("{} and {last}", others.join(", ")), 1));

    let page = std::fs::read_to_string(Path::new(ROOT).join("patches/README.md")).expect("the page");
    let mut fresh = page.clone();
    for name in Name::ALL {
        let start = format!("`{}+", patch::patch_package::file_name(name.as_str(), "").trim_end_matches("+.patch"));
        let stands = between(&page, &start, ".patch");
        let newest = Release::newest(name).version();
        fresh = fresh.replace(&format!("{start}{stands}.patch"), &format!("{start}{newest}.patch"));
    }
    assert_fresh("patches/README.md", &fresh);

    // What `classify` says in the example; another test runs it.
    let page = std::fs::read_to_string(Path::new(ROOT).join("README.md")).expect("the page");
    let stands = format!("  pi {} by itself gives up\n", between(&page, "\n  pi ", " by itself gives up"));
    let newest = Release::newest(Name::PiAi).version();
    assert_fresh("README.md", &page.replacen(&stands, &format!("  pi {newest} by itself gives up\n"), 1));
}
