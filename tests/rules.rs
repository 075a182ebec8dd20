//! One test a rule, found by its name: `cargo test rule::relay_request_not_supported`.

use std::collections::BTreeSet;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};
use pi_retry_forced::rules::{self, Rule, RuleDecision};
use pi_retry_forced::{Decision, Failure, Profile, classify};

fn main() -> ExitCode {
    let each = rules::all().iter().map(|rule| {
        Trial::test(format!("rule::{}", rule.id.replace('-', "_")), move || decides_its_own_examples(rule))
    });
    let mut trials: Vec<Trial> = each.collect();
    trials.push(Trial::test("rules_are_complete_and_named_alike", complete));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A rule decides its hits and leaves its misses alone, under a status for which it counts.
fn decides_its_own_examples(rule: &Rule) -> Result<(), Failed> {
    let mut wrong = Vec::new();
    for hit in &rule.hits {
        if !rule.patterns.iter().any(|pattern| pattern.is_match(hit)) {
            wrong.push(format!("no pattern matches its hit {hit:?}"));
        }
        let verdict = classify(&Failure::from_text(hit.clone()), Profile::Full);
        let expected = match rule.decision {
            RuleDecision::Overflow | RuleDecision::Stop => Decision::Stop,
            RuleDecision::Repair => Decision::Repair,
            RuleDecision::Retry => Decision::Retry,
            // Not a decision of its own.
            RuleDecision::Wait => continue,
        };
        if verdict.decision != expected {
            wrong.push(format!("{} by {} for its hit {hit:?}", verdict.decision.as_str(), verdict.rule));
        }
    }
    for miss in &rule.misses {
        if classify(&Failure::from_text(miss.clone()), Profile::Full).rule == rule.id {
            wrong.push(format!("decides its miss {miss:?}"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("{}: {}", rule.id, wrong.join("\n")).into()) }
}

/// The data is complete and names what it means: reports and tests rely on the ids.
fn complete() -> Result<(), Failed> {
    let mut ids = BTreeSet::new();
    // The same words may count for other statuses by another rule.
    let mut patterns = BTreeSet::new();
    let mut wrong = Vec::new();
    for rule in rules::all() {
        let word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        if !rule.id.split('-').all(word) || !ids.insert(&rule.id) {
            wrong.push(format!("{} is no kebab-case id of its own", rule.id));
        }
        if [&rule.hits, &rule.misses].iter().any(|list| list.is_empty())
            || rule.when.is_empty()
            || rule.patterns.is_empty()
        {
            wrong.push(format!("{} lacks `when`, `match`, `hits` or `misses`", rule.id));
        }
        if rule.why.is_empty() || rule.source.is_empty() {
            wrong.push(format!("{} says not why, or not from where", rule.id));
        }
        for pattern in &rule.patterns {
            if !patterns.insert((pattern.as_str(), &rule.when)) {
                wrong.push(format!("{}: {} stands twice", rule.id, pattern.as_str()));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}
