//! The report's numbers as JSON.

use serde_json::{Map, Value, json};

use super::corpus::{Judge, disagreements, score};
use super::runs::{BODIES, STATUSES};
use super::untouched::{pattern_changes, rule_changes, silent};
use super::{Report, Sample};
use crate::Profile;
use crate::upstream::Era;

/// Twelve significant digits: as many as the sum of thousands of terms keeps on every machine.
fn rounded(value: f64) -> Value {
    let text = format!("{value:.11e}");
    text.parse::<f64>().map(Value::from).unwrap_or(Value::Null)
}

fn sampled(sample: &Sample) -> Value {
    let (low, high) = sample.interval();
    json!({ "drawn": sample.drawn, "turned": sample.yes, "low": rounded(low), "high": rounded(high) })
}

pub(super) fn write(report: &Report) -> String {
    let chances: Vec<Value> = report
        .groups
        .iter()
        .map(|group| {
            let cells = report.formats.iter().zip(group.exact.iter().zip(&group.sampled));
            let formats: Map<String, Value> = cells
                .map(|(format, (exact, sample))| {
                    let inside = sample.holds(*exact);
                    (
                        format.name.to_owned(),
                        json!({ "exact": rounded(*exact), "sampled": sampled(sample), "inside": inside }),
                    )
                })
                .collect();
            json!({ "releases": group.releases, "tokens": group.tokens, "formats": formats })
        })
        .collect();
    let reference: Map<String, Value> = report
        .reference
        .iter()
        .map(|(profile, samples)| {
            let formats = report.formats.iter().zip(samples);
            let formats: Map<String, Value> = formats.map(|(format, s)| (format.name.to_owned(), sampled(s))).collect();
            (profile.as_str().to_owned(), Value::Object(formats))
        })
        .collect();
    let value = json!({
        "seed": report.options.seed,
        "samplesPerFormat": report.options.samples,
        "samplesPerFormatForTheReference": report.options.reference_samples,
        "confidence": 0.999,
        "chances": chances,
        "reference": reference,
        "runs": { "statuses": STATUSES, "bodies": BODIES.map(|(name, what)| json!({ "name": name, "what": what })), "releases": report.runs },
        "corpus": corpora(report),
        "untouched": untouched(report),
    });
    format!("{value:#}\n")
}

fn corpora(report: &Report) -> Vec<Value> {
    let judged = |corpus: &super::Corpus| {
        let score_of = |judge| {
            let score = score(corpus, judge);
            json!({ "right": score.right, "falseRetry": score.false_retry, "falseStop": score.false_stop })
        };
        let releases: Map<String, Value> =
            report.classifiers.iter().map(|pi| (pi.version().to_string(), score_of(Judge::Pi(*pi)))).collect();
        let profiles: Map<String, Value> = Profile::ALL
            .iter()
            .map(|profile| {
                let wrong: Vec<Value> = disagreements(corpus, *profile)
                    .iter()
                    .map(|d| json!({ "id": d.row.id, "outcome": d.outcome.as_str(), "rule": d.rule, "reason": d.reason }))
                    .collect();
                let mut score = score_of(Judge::Reference(*profile));
                score["disagreements"] = Value::from(wrong);
                (profile.as_str().to_owned(), score)
            })
            .collect();
        json!({ "file": corpus.file, "kind": corpus.kind.as_str(), "judged": corpus.rows.len(), "undecided": corpus.undecided, "releases": releases, "reference": profiles })
    };
    report.corpora.iter().map(judged).collect()
}

fn untouched(report: &Report) -> Value {
    let patterns: Vec<Value> = Era::of(report.newest.version())
        .map(pattern_changes)
        .unwrap_or_default()
        .into_iter()
        .map(|change| json!({ "pattern": change.pattern, "list": change.list, "added": change.added, "reason": change.reason }))
        .collect();
    let rules: Vec<Value> = rule_changes(report.newest)
        .into_iter()
        .map(|change| json!({ "rule": change.rule.id, "why": change.rule.why, "example": change.example, "piRetries": change.pi_retries }))
        .collect();
    let silent: Map<String, Value> = [Profile::Upstream, Profile::Patch]
        .map(|profile| {
            let silent = silent(&report.corpora, report.newest, profile);
            (profile.as_str().to_owned(), json!({ "messages": silent.messages, "different": silent.different }))
        })
        .into_iter()
        .collect();
    json!({ "against": report.newest.version().to_string(), "patterns": patterns, "rules": rules, "messagesWithoutStatus": silent })
}
