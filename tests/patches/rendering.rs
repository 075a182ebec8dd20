//! The rendering is general: groups for other statuses than those of today's rules decide as they say.

use pi_retry_forced::is_transient_status;
use pi_retry_forced::patch::{self, Classifier, Group, Pattern, verify};
use pi_retry_forced::rules::{RuleDecision, When};
use pi_retry_forced::upstream::{Name, Package};
use serde_json::{Value, json};

use crate::messages;
use crate::packages::newest;

/// Words that no pattern of pi matches, each with a decision and the statuses for which it counts.
const WORDS: [(&str, RuleDecision, &[When]); 12] = [
    ("alpha", RuleDecision::Repair, &[When::Any]),
    ("bravo", RuleDecision::Repair, &[When::ServerError, When::Status(429)]),
    ("charlie", RuleDecision::Stop, &[When::Any, When::Status(400)]),
    ("delta", RuleDecision::Stop, &[When::ServerError]),
    ("echo", RuleDecision::Stop, &[When::ClientError]),
    ("foxtrot", RuleDecision::Stop, &[When::NoStatus, When::ClientError, When::ServerError]),
    ("golf", RuleDecision::Stop, &[When::Status(429), When::Status(500)]),
    ("hotel", RuleDecision::Wait, &[When::Any]),
    ("india", RuleDecision::Wait, &[When::NoStatus, When::Status(429)]),
    ("juliet", RuleDecision::Retry, &[When::Status(422)]),
    ("kilo", RuleDecision::Retry, &[When::ClientError]),
    ("lima", RuleDecision::Retry, &[When::Any]),
];

/// The words, and one pattern of each of pi's lists, which show where the rest of those go: no rule of this project.
pub(crate) fn few() -> Classifier {
    let of_pi = |decision, when: &[When], js: &str| Group {
        decision,
        when: when.iter().copied().collect(),
        patterns: vec![Pattern { js: js.to_owned(), comment: "A pattern of pi.".to_owned() }],
    };
    let lists = [
        of_pi(RuleDecision::Stop, &[When::NoStatus, When::ClientError], "insufficient_quota"),
        of_pi(RuleDecision::Retry, &[When::NoStatus, When::Status(400)], "overloaded"),
        of_pi(RuleDecision::Retry, &[When::NoStatus], "terminated"),
    ];
    Classifier { groups: lists.into_iter().chain(words()).collect(), ..classifier() }
}

fn classifier() -> Classifier {
    let mut classifier = Classifier::of(pi_retry_forced::Profile::Upstream);
    // The order of the other profiles, in which every kind of group has its place.
    classifier.as_pi = false;
    classifier.groups.extend(words());
    classifier
}

fn words() -> impl Iterator<Item = Group> {
    WORDS.into_iter().map(|(word, decision, when)| Group {
        decision,
        when: when.iter().copied().collect(),
        patterns: vec![Pattern { js: word.to_owned(), comment: "A word of the tests.".to_owned() }],
    })
}

/// The order of decision in its plainest form.
fn expected(text: &str, status: Option<u16>) -> bool {
    let matching = |decision: RuleDecision| {
        let counts = move |when: &[When]| when.iter().any(|when| when.holds(status));
        WORDS.iter().filter(move |(word, of, when)| *of == decision && text.contains(word) && counts(when))
    };
    let waits = matching(RuleDecision::Wait).next().is_some();
    let stops = |(_, _, when): &&(&str, RuleDecision, &[When])| when.contains(&When::Any) || !waits;
    if matching(RuleDecision::Repair).next().is_some() || matching(RuleDecision::Stop).any(|word| stops(&word)) {
        return false;
    }
    status.is_some_and(is_transient_status) || matching(RuleDecision::Retry).next().is_some()
}

fn check(package: &Package) {
    let set = patch::make(package, &classifier()).expect("a patch");
    let statuses = [None, Some(400), Some(404), Some(422), Some(429), Some(500), Some(503)];
    let mut cases = Vec::new();
    for (first, ..) in WORDS {
        for (second, ..) in WORDS {
            for (third, ..) in WORDS {
                cases.extend(statuses.map(|status| (format!("{first} {second} {third}"), status)));
            }
        }
    }
    let message = |(text, status): &(String, Option<u16>)| messages::failed(&json!(text), &json!(status));
    let messages: Vec<Value> = cases.iter().map(message).collect();
    let reference = |message: &Value| {
        let status = message["diagnostics"][0]["details"]["status"]
            .as_u64()
            .map(|status| u16::try_from(status).expect("a status"));
        expected(message["errorMessage"].as_str().expect("a text"), status)
    };
    assert_eq!(verify::run(&set, &messages, reference).unwrap_or_else(|error| panic!("{error}")), messages.len());
}

#[test]
fn groups_for_other_statuses_decide_as_they_say() {
    check(&newest(Name::PiAi));
    check(&newest(Name::PiCodingAgent));
}
