//! The recorded runs of pi-ai, made again.

use std::collections::BTreeMap;
use std::path::Path;

use pi_retry_forced::evidence::runs::{Record, record, recorded, releases};
use pi_retry_forced::upstream::Release;

/// Rewrites the record instead of comparing it.
const BLESS: &str = "PI_RETRY_FORCED_BLESS";

#[test]
fn pi_ai_does_what_is_recorded() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("evidence");
    std::fs::create_dir_all(&folder).expect("a folder");
    let record = |release: &Release| {
        let record = record(release, &folder, &|_| {}).unwrap_or_else(|error| panic!("{}: {error:#}", release.spec()));
        (release.version().to_string(), record)
    };
    let made: BTreeMap<String, Record> = releases().map(record).collect();
    for (version, record) in &made {
        assert_eq!(record.same_text, record.turns, "{version}: texts changed");
        assert_eq!(record.right_status, record.answers, "{version}: a status is missing or wrong");
        assert_eq!(record.as_reference, 2 * record.turns, "{version}: the reference decides otherwise");
    }
    if std::env::var_os(BLESS).is_some() {
        let text = serde_json::to_string_pretty(&made).expect("JSON") + "\n";
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/evidence/runs.json");
        std::fs::write(path, text).expect("a written record");
        return;
    }
    assert!(made == recorded().expect("a record"), "{made:#?}");
}
