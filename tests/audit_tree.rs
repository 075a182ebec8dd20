//! What came next, on random session trees, against the definition worked out the slow way with the whole tree in memory.

use std::collections::HashMap;
use std::fmt::Write as _;

use pi_retry_forced::audit::{Audit, Judge, PiSays};
use pi_retry_forced::{Decision, Verdict};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Every failure is one family, and one that another attempt can cure.
struct Curable;

impl Judge for Curable {
    fn releases(&self) -> &[String] {
        &[]
    }

    fn pi(&self, _: &str, _: Option<&str>, _: &mut Vec<PiSays>) {}

    fn reference(&self, _: &Map<String, Value>) -> Verdict {
        Verdict { decision: Decision::Retry, rule: "any", remedy: None, status: None, status_from: None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    User,
    Success,
    Failure,
    Aborted,
}

#[derive(Clone, Debug)]
struct Node {
    kind: Kind,
    model: u8,
    seconds: u32,
    /// The entry before it, or one so many places further up; `None`: a root.
    back: Option<usize>,
}

fn nodes() -> impl Strategy<Value = Vec<Node>> {
    let kind = prop_oneof![2 => Just(Kind::User), 3 => Just(Kind::Success), 4 => Just(Kind::Failure), 1 => Just(Kind::Aborted)];
    let back = prop_oneof![8 => Just(Some(1usize)), 3 => (1usize..12).prop_map(Some), 1 => Just(None)];
    let node =
        (kind, 0u8..3, 0u32..40, back).prop_map(|(kind, model, seconds, back)| Node { kind, model, seconds, back });
    prop::collection::vec(node, 0..60)
}

fn parent(nodes: &[Node], at: usize) -> Option<usize> {
    nodes[at].back.and_then(|back| at.checked_sub(back))
}

fn write(nodes: &[Node], tree: bool) -> String {
    let mut text = json!({ "type": "session", "version": if tree { 3 } else { 1 }, "id": "s" }).to_string() + "\n";
    for (at, node) in nodes.iter().enumerate() {
        let stop = match node.kind {
            Kind::User => None,
            Kind::Success => Some("stop"),
            Kind::Failure => Some("error"),
            Kind::Aborted => Some("aborted"),
        };
        let message = match stop {
            None => json!({ "role": "user", "content": "go on" }),
            Some(stop) => {
                json!({ "role": "assistant", "content": [], "provider": "p", "model": node.model, "stopReason": stop })
            }
        };
        let mut entry = json!({ "type": "message", "timestamp": format!("2026-01-01T00:00:{:02}.000Z", node.seconds), "message": message });
        if let Some(model) = entry["message"].get_mut("model") {
            *model = json!(format!("m{}", node.model));
        }
        if node.kind == Kind::Failure {
            entry["message"]["errorMessage"] = json!("failed");
        }
        if tree {
            entry["id"] = json!(format!("id{at}"));
            entry["parentId"] = json!(parent(nodes, at).map(|parent| format!("id{parent}")));
        }
        writeln!(text, "{entry}").expect("a string can be written");
    }
    text
}

/// Counts by the definition.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    failed: u64,
    next: HashMap<&'static str, u64>,
    later: u64,
    next_gaps: Vec<u64>,
    ended: u64,
}

fn by_definition(nodes: &[Node], tree: bool) -> Counts {
    let up = |at: usize| if tree { parent(nodes, at) } else { at.checked_sub(1) };
    let descends =
        |at: usize, from: usize| std::iter::successors(Some(at), |at| up(*at)).skip(1).any(|above| above == from);
    let mut counts = Counts::default();
    for (from, failure) in nodes.iter().enumerate().filter(|(_, node)| node.kind == Kind::Failure) {
        counts.failed += 1;
        let mut below = (from + 1..nodes.len()).filter(|at| nodes[*at].kind != Kind::User && descends(*at, from));
        let next = below.clone().next();
        let name = next.map_or("none", |at| match nodes[at].kind {
            _ if nodes[at].model != failure.model => "other",
            Kind::Success => "succeeded",
            Kind::Failure => "failed",
            _ => "aborted",
        });
        *counts.next.entry(name).or_default() += 1;
        if let ("succeeded", Some(at)) = (name, next) {
            counts.next_gaps.push(u64::from(nodes[at].seconds.saturating_sub(failure.seconds)) * 1000);
        }
        counts.later += u64::from(below.any(|at| nodes[at].kind == Kind::Success && nodes[at].model == failure.model));
        let last = nodes.len() - 1;
        counts.ended += u64::from(next.is_none() && (last == from || descends(last, from)));
    }
    counts.next_gaps.sort_unstable();
    counts
}

fn by_audit(text: &str) -> Counts {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, text).expect("can be written");
    let report = Audit::find(&[path]).expect("readable").run(&Curable, &|_| {});
    let mut counts = Counts::default();
    let Some(group) = report.groups.values().next() else { return counts };
    let next = [
        ("succeeded", group.next_succeeded),
        ("failed", group.next_failed),
        ("aborted", group.next_aborted),
        ("other", group.next_other_model),
        ("none", group.next_none()),
    ];
    counts.failed = group.failed;
    counts.next = next.into_iter().filter(|(_, count)| *count > 0).collect();
    counts.later = group.later_succeeded;
    counts.ended = report.totals.ended;
    // The spread stands for the times: both sides are reduced to it below.
    counts.next_gaps =
        group.next_spread().map_or(vec![], |spread| vec![spread.count, spread.min, spread.median, spread.max]);
    counts
}

fn reduced(mut counts: Counts) -> Counts {
    let gaps = std::mem::take(&mut counts.next_gaps);
    if let (Some(min), Some(max)) = (gaps.first(), gaps.last()) {
        let (low, high) = (gaps[(gaps.len() - 1) / 2], gaps[gaps.len() / 2]);
        counts.next_gaps = vec![gaps.len() as u64, *min, low + (high - low) / 2, *max];
    }
    counts
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn what_came_next_is_what_the_definition_says(nodes in nodes(), tree in any::<bool>()) {
        prop_assert_eq!(by_audit(&write(&nodes, tree)), reduced(by_definition(&nodes, tree)));
    }
}
