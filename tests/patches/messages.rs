//! Messages to compare verdicts on: the recorded ones, and random ones made of what the rules look for.

use pi_retry_forced::{Decision, Failure, Profile, classify, rules};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

/// A failed turn with its status where a patched pi-ai keeps it.
pub(crate) fn failed(text: &Value, status: &Value) -> Value {
    let details = json!({ "type": "provider_response_failure", "timestamp": 0, "details": { "status": status } });
    json!({ "stopReason": "error", "errorMessage": text, "diagnostics": [details] })
}

/// Every recorded text, alone and under statuses of every kind.
pub(crate) fn recorded() -> Vec<Value> {
    let errors = include_str!("../corpus/errors.jsonl").lines();
    let strings = include_str!("../corpus/pi_ai_strings.jsonl").lines();
    let mut messages = Vec::new();
    for line in errors.chain(strings) {
        let record: Value = serde_json::from_str(line).expect("JSON");
        let text = &record["errorMessage"];
        messages.push(json!({ "stopReason": "error", "errorMessage": text }));
        messages.push(failed(text, &record["status"]));
    }
    messages
}

/// Texts of rules under statuses of every kind, absent and impossible ones too.
pub(crate) fn from_rules() -> Vec<Value> {
    let statuses = [
        json!(null),
        json!(400),
        json!(403),
        json!(429),
        json!(503),
        json!(200),
        json!("503"),
        json!(600),
        json!(422.5),
    ];
    let texts = rules::all().iter().flat_map(|rule| rule.hits.iter().chain(&rule.misses));
    texts.flat_map(|text| statuses.iter().map(move |status| failed(&json!(text), status))).collect()
}

fn text() -> impl Strategy<Value = String> {
    let hits: Vec<String> =
        rules::all().iter().flat_map(|rule| rule.hits.iter().chain(&rule.misses)).cloned().collect();
    let frames = prop_oneof![
        Just(String::new()),
        (400_u16..600).prop_map(|status| format!("{status} ")),
        (399_u16..601).prop_map(|status| format!("{status}: {{\"message\":\"")),
        (400_u16..600).prop_map(|status| format!("openai API error ({status}): ")),
        (400_u16..600).prop_map(|status| format!("Request failed with status: {status}, ")),
        (400_u16..600).prop_map(|status| format!("Unknown: {status}: ")),
        Just("503 service unavailable (retry-forced): ".to_owned()),
    ];
    let edges = prop_oneof![
        4 => Just(String::new()),
        1 => "[ \\n\\r\u{17f}\u{212a}\u{2028}\u{feff}\u{1f600}_0-9a-zA-Z.,:;/\"'`\\\\-]{0,6}",
        1 => "\\(request id: [0-9a-z]{8,39}\\)",
        1 => prop::sample::select(vec!["ENOTFOUND", "Retry in 12s", "timeout", "BILLING", "500", "overloaded", "try again"])
            .prop_map(str::to_owned),
    ];
    (frames, edges.clone(), prop::sample::select(hits), edges, any::<prop::sample::Index>(), any::<bool>()).prop_map(
        |(frame, before, hit, after, cut, upper)| {
            let end = hit.char_indices().map(|(at, _)| at).nth(cut.index(hit.chars().count() * 3)).unwrap_or(hit.len());
            let text = format!("{frame}{before}{}{after}", &hit[..end]);
            if upper { text.to_uppercase() } else { text }
        },
    )
}

/// Random messages, the same ones in every run.
pub(crate) fn random(count: usize) -> Vec<Value> {
    let stop = prop_oneof![9 => Just("error"), 1 => Just("aborted")];
    let status = prop_oneof![2 => Just(Value::Null), 3 => (380_u16..620).prop_map(|status| json!(status)), 1 => Just(json!(400))];
    let message = (text(), status, stop).prop_map(|(text, status, stop)| {
        let mut message = failed(&json!(text), &status);
        message["stopReason"] = json!(stop);
        message
    });
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| message.new_tree(&mut runner).expect("a message").current()).collect()
}

/// What only JavaScript sees: a fork's `errorStatus`, and diagnostics of every shape.
pub(crate) fn odd() -> Vec<Value> {
    let entry = |status: Value| json!({ "type": "x", "details": { "status": status } });
    let diagnostics = [
        json!(null),
        json!("503"),
        json!({ "details": { "status": 503 } }),
        json!([]),
        json!([null, 503, "x", [], { "details": null }, { "details": "503" }, { "details": [503] }]),
        json!([entry(json!(200)), entry(json!("503")), entry(json!(529))]),
        json!([entry(json!(404)), entry(json!(503))]),
        json!([entry(json!(503)), entry(json!(404))]),
    ];
    let statuses = [json!(null), json!(503), json!(404), json!(400), json!(503.5), json!("503")];
    let texts = ["no words", "404: no words", "503 no words", "Provider returned error", "quota exceeded"];
    let mut messages = Vec::new();
    for text in texts {
        for diagnostics in &diagnostics {
            for status in &statuses {
                messages.push(json!({
                    "stopReason": "error", "errorMessage": text, "diagnostics": diagnostics, "errorStatus": status,
                }));
            }
        }
    }
    messages
}

/// What the reference says.
pub(crate) fn reference(profile: Profile) -> impl Fn(&Value) -> bool {
    move |message| {
        let message = message.as_object().expect("an object");
        classify(&Failure::from_json(message), profile).decision == Decision::Retry
    }
}
