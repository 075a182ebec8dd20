//! The laws of the decision, on texts whose verdict is known by how they were built.

mod support;

use pi_retry_forced::rules::{self, Rule, RuleDecision, When};
use pi_retry_forced::upstream::PiClassifier;
use pi_retry_forced::{
    Decision, Failure, Profile, REQUEST_ID, REWRITE_PREFIX, ThinkingText, Verdict, classify, cut_request_ids, rewrite,
    strip, unrewritten,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::string::string_regex;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};
use support::generate::{
    Body, FINAL, Frame, Relayed, TRANSIENT, around_patterns, edged, neutral_wording, relayed, request_id, request_ids,
    status,
};

/// Enough to find what a change breaks, quick enough for every run; failures are put into the corpus by hand. The seed is
/// fixed so that a check says the same twice; `PROPTEST_RNG_SEED=N` takes another one, `LAW_CASES=N` more cases.
fn config() -> ProptestConfig {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    let rng_seed = if config.rng_seed == RngSeed::Random { RngSeed::Fixed(20_261_130) } else { config.rng_seed };
    let cases = std::env::var("LAW_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000);
    ProptestConfig { cases, rng_seed, ..config }
}

fn judged(text: &str, observed: Option<u16>) -> Verdict {
    classify(&Failure::from_text(text).observed(observed), Profile::Full)
}

/// A failure's verdict, with the status handed in where its frame does not name it.
fn judge(failure: &Relayed) -> Verdict {
    judged(&failure.text(), (!failure.frame.names_status()).then_some(failure.status))
}

/// The forms of request ids without their edges, which say what stands around.
fn id_grammar() -> String {
    REQUEST_ID.as_str().replace(r"\<", "").replace(r"\>", "")
}

/// And most of what it makes is an id.
#[test]
fn the_grammar_of_ids_makes_ids() {
    use proptest::strategy::ValueTree as _;
    let grammar = string_regex(&id_grammar()).expect("the forms are a grammar");
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let made: Vec<String> = (0..500).map(|_| grammar.new_tree(&mut runner).expect("a text").current()).collect();
    let ids = made.iter().filter(|text| REQUEST_ID.is_match(text)).count();
    assert!(ids > 450, "{ids} of {}", made.len());
}

/// Texts that one of a rule's patterns matches, by the pattern's own grammar.
fn hits_of(wanted: impl Fn(&Rule) -> bool) -> impl Strategy<Value = (String, &'static str)> {
    let strategies: Vec<BoxedStrategy<(String, &'static str)>> = rules::all()
        .iter()
        .filter(|rule| wanted(rule))
        .flat_map(|rule| {
            let made = rule.patterns.iter().map(|pattern| {
                // Edges and ends say what is around a match; the shorthand for quotes is a plain quote here.
                let mut grammar = pattern.as_str().to_owned();
                for (written, plain) in [
                    (r"\<", ""),
                    (r"\>", ""),
                    ("(?![0-9])", ""),
                    ("(?<![a-z0-9_])", ""),
                    ("(?![a-z0-9_])", ""),
                    ("(?<![a-z0-9])", ""),
                    ("(?![a-z0-9])", ""),
                    (r"\\?", ""),
                    (r"\q{0,4}", "[`']?"),
                    (r"\q", "'"),
                    (r"\N", "é"),
                    (r"\s", " "),
                    // In a JSON body, quotes and backslashes in a gap would be escaped and outgrow it.
                    ("[ -~]{", "[a-z ]{"),
                    (".{", "[a-z]{"),
                    (".?", "'?"),
                    // Ends among alternatives, before single anchors.
                    ("(?:^|", "(?:"),
                    ("(?:$|", "(?:"),
                    ("^", ""),
                    ("|$", ""),
                    ("[.!]?$", ""),
                ] {
                    grammar = grammar.replace(written, plain);
                }
                string_regex(&grammar).unwrap_or_else(|e| panic!("{}: {grammar}: {e}", rule.id)).boxed()
            });
            let made = made.chain([select(rule.hits.clone()).boxed()]);
            made.map(|s| s.prop_map(|text| (text, rule.id.as_str())).boxed()).collect::<Vec<_>>()
        })
        .collect();
    proptest::strategy::Union::new(strategies)
}

/// Any wording that the reference or pi knows, in any spelling, or one that says nothing.
fn wording() -> impl Strategy<Value = String> {
    prop_oneof![2 => hits_of(|_| true).prop_map(|(text, _)| text), 1 => neutral_wording()]
}

proptest! {
    #![proptest_config(config())]

    /// Law 1: ids are interchangeable, however many there are and however they are written.
    #[test]
    fn a_request_id_never_changes_a_verdict(failure in relayed(wording()), ids in request_ids(), one in request_id()) {
        let before = judge(&failure.with_ids(vec![one]));
        if !ids.is_empty() {
            prop_assert_eq!(before, judge(&failure.with_ids(ids.clone())), "{}", failure.with_ids(ids).text());
        }
    }

    /// Law 2: over a body that says nothing, the status decides.
    #[test]
    fn the_status_decides_over_a_neutral_body(failure in relayed(neutral_wording())) {
        let expected = if TRANSIENT.contains(&failure.status) { Decision::Retry } else { Decision::Stop };
        let verdict = judge(&failure);
        prop_assert_eq!(verdict.decision, expected, "{:?} for {}", verdict, failure.text());
        prop_assert_eq!(verdict.status, Some(failure.status));
        prop_assert!(FINAL.contains(&failure.status) != TRANSIENT.contains(&failure.status));
    }

    /// Law 3: what is permanent under any status stays so in every frame, with any id, whatever words are added.
    #[test]
    fn a_permanent_condition_stays_permanent(
        (text, rule) in hits_of(|r| r.decision == RuleDecision::Stop && r.when == [When::Any]),
        status in status(),
        frame in select(Frame::ALL.to_vec()),
        body in select(Body::ALL.to_vec()),
        ids in request_ids(),
        added in select(vec!["", " Connection error.", " terminated", " fetch failed: timeout", " overloaded, try again later"]),
    ) {
        let failure = Relayed { status, frame, body, wording: format!("{text}{added}"), ids };
        let verdict = judge(&failure);
        prop_assert_eq!(verdict.decision, Decision::Stop, "{} by {}: {}", verdict.rule, rule, failure.text());
    }

    /// Law 4: letter case never matters.
    #[test]
    fn letter_case_never_matters(text in wording(), status in proptest::option::of(status())) {
        let verdict = judged(&text, status).decision;
        // An error type or gRPC name in a body is an identifier, not a word of the message.
        prop_assume!(!text.contains('{'));
        prop_assert_eq!(judged(&text.to_ascii_uppercase(), status).decision, verdict);
        prop_assert_eq!(judged(&text.to_ascii_lowercase(), status).decision, verdict);
    }

    /// Law 4: text outside ASCII after a message never changes a verdict.
    #[test]
    fn text_outside_ascii_is_never_evidence(failure in relayed(wording()), added in "[à-ÿΑ-ωא-ת😀-😿\u{17F}\u{212A}\u{2028}]{1,12}") {
        let mut longer = failure.clone();
        longer.ids.clear();
        let before = judge(&longer);
        longer.wording = format!("{} {added}", longer.wording);
        prop_assert_eq!(judge(&longer).decision, before.decision, "{}", longer.text());
    }

    /// Law 5: the original is the suffix, rewriting twice is rewriting once, and every pi retries it.
    #[test]
    fn rewriting_keeps_the_original(text in edged(wording())) {
        let rewritten = rewrite(&text).into_owned();
        prop_assert_eq!(rewrite(&rewritten), rewritten.as_str());
        prop_assert_eq!(unrewritten(&rewritten), unrewritten(&text));
        prop_assert!(rewritten.ends_with(&text));
        for profile in Profile::ALL {
            let verdict = classify(&Failure::from_text(rewritten.clone()), profile);
            // pi's own list of limits comes first there: for such a text no rewrite is made.
            let limited = profile == Profile::Upstream && verdict.decision == Decision::Stop;
            let known = rules::by_id(verdict.rule).is_some_and(|r| profile.has(r.tier) && r.decision == RuleDecision::Stop);
            prop_assert!(verdict.decision == Decision::Retry || limited && known, "{:?} for {}", verdict, rewritten);
        }
    }

    /// Law 6, as far as the decision goes: nothing but a failed turn is ever judged worth a retry.
    #[test]
    fn only_failed_turns_are_judged(text in proptest::option::of(wording()), reason in "stop|length|toolUse|aborted|pending|", status in status()) {
        let mut failure = Failure::from_text("").observed(Some(status));
        failure.text = text;
        failure.stop_reason = reason;
        for profile in Profile::ALL {
            prop_assert_eq!(classify(&failure, profile).rule, "not-a-failed-turn");
        }
    }

    /// Law 16: the quick look before the search for ids hides none, whatever form the list of forms has.
    #[test]
    fn a_shortcut_never_hides_an_id(id in string_regex(&id_grammar()).expect("the forms are a grammar"),
                                    before in "[ \\(\"'{:,./a-zé]{0,3}", after in "[ \\)\"'},.;é]{0,3}") {
        let text = format!("{before}{id}{after}");
        if REQUEST_ID.is_match(&text) {
            prop_assert!(matches!(cut_request_ids(&text), std::borrow::Cow::Owned(_)), "{:?}", text);
        }
    }

    /// Law 11: nothing panics, on any text in any profile; and cutting ids out twice is cutting them out once.
    #[test]
    fn nothing_panics(text in around_patterns(&pi_patterns()), status in proptest::option::of(any::<u16>())) {
        for profile in Profile::ALL {
            classify(&Failure::from_text(text.clone()).observed(status), profile);
        }
        let cut = cut_request_ids(&text);
        prop_assert_eq!(cut_request_ids(&cut), cut.as_ref());
    }

    /// Law 7: the strip takes out all thinking and nothing else.
    #[test]
    fn the_strip_takes_thinking_and_nothing_else(payload in payload(), how in select(vec![ThinkingText::Keep, ThinkingText::Drop])) {
        match strip(&payload, how) {
            None => prop_assert!(thinking_blocks(&payload) == 0),
            Some(stripped) => {
                prop_assert_eq!(thinking_blocks(&stripped), 0);
                prop_assert_eq!(strip(&stripped, how), None, "twice is once");
                prop_assert_eq!(other_blocks(&stripped, how), other_blocks(&payload, how));
                let roles: Vec<&Value> = messages(&stripped).iter().map(|m| &m["role"]).collect();
                let alternates = |roles: &[&Value]| roles.windows(2).all(|pair| pair[0] != pair[1]);
                let before: Vec<&Value> = messages(&payload).iter().map(|m| &m["role"]).collect();
                prop_assert!(alternates(&roles) || !alternates(&before), "{stripped}");
                for message in messages(&stripped) {
                    prop_assert!(message["content"].as_array().is_none_or(|c| !c.is_empty()), "{stripped}");
                }
            }
        }
    }
}

/// What alone pi goes by in error, with the reason: texts without it have to be tried again as pi does.
const OVERREACH: [(&str, &str); 2] = [
    ("[0-9]", "a number that names no status"),
    ("(?i)[a-z0-9_]enotfound|enotfound[a-z0-9_]", "ENOTFOUND inside a longer word: ResourceNotFoundException"),
];

/// Verdicts that name no cause: they may not stop what pi tries again.
const CAUSELESS: [&str; 2] = ["no-evidence", "permanent-status"];

/// Ways in which a text names a status without a frame, after words that say nothing.
const NAMINGS: [&str; 24] = [
    "status @",
    "status: @",
    "status code @",
    "status_code=@",
    "(status code: @)",
    "statusCode: @",
    "HTTP @",
    "HTTP/1.1 @",
    "HTTP status @",
    "http_code: @",
    "code=@",
    "code: @",
    "error code: @",
    "[@]",
    "(@)",
    "error: @",
    "Error: @",
    "@ Bad Gateway",
    "@ internal server problem",
    "returned @",
    "upstream_@",
    "\"status\":@",
    "\"code\": \"@\"",
    "@",
];

/// The same number as something else.
const OTHERWISE: [&str; 24] = [
    "request @ of 900",
    "limit @",
    "max_items: @",
    "maximum of @",
    "@ tokens",
    "@ bytes",
    "@ms",
    "line @",
    "column @",
    "position @",
    "offset @",
    "at char @",
    "items[@]",
    "$@",
    "@ USD",
    "@ credits",
    "@%",
    "user id @",
    "order @",
    "ticket #@",
    "1,@",
    "@.25",
    "10.0.0.1:@",
    "model-@b",
];

proptest! {
    #![proptest_config(config())]

    /// Law 12: without a status, what the newest pi tries again is tried again in every profile, but where a rule names a
    /// cause, or where all that pi went by is in the list above.
    #[test]
    fn never_worse_than_pi(text in prop_oneof![around_patterns(&pi_patterns()), wording()]) {
        let pi = PiClassifier::newest().expect("the newest era is known");
        let without = OVERREACH.iter().fold(text.clone(), |rest, (pattern, _)| {
            regex::Regex::new(pattern).expect("a valid regex").replace_all(&rest, "x").into_owned()
        });
        if !pi.is_retryable(&text) || pi.is_context_overflow(&text, None) || !pi.is_retryable(&without) {
            return Ok(());
        }
        for profile in [Profile::Upstream, Profile::Patch, Profile::Full] {
            let verdict = classify(&Failure::from_text(&text), profile);
            let caused = verdict.status.is_some() || !CAUSELESS.contains(&verdict.rule);
            prop_assert!(verdict.decision != Decision::Stop || caused, "{:?}, {}: {}", profile, verdict.rule, text);
        }
    }

    /// Law 13: a number that a text names as a passing status is believed; the same number as anything else never is.
    #[test]
    fn a_number_is_a_status_where_the_text_says_so(
        before in "[bdfgk]{3,6} [bdfgk]{3,6}",
        naming in select(NAMINGS.to_vec()),
        otherwise in select(OTHERWISE.to_vec()),
        number in select(vec![408_u16, 409, 425, 429, 500, 502, 503, 504, 520, 522, 529, 599]),
        after in select(vec!["", ", bcd", " bcd fgh", ". Bcd"]),
    ) {
        let said = |way: &str| format!("{before} {}{after}", way.replace('@', &number.to_string()));
        let named = judged(&said(naming), None);
        prop_assert_eq!(named.decision, Decision::Retry, "{}: {}", named.rule, said(naming));
        let other = judged(&said(otherwise), None);
        prop_assert_eq!(other.decision, Decision::Stop, "{}: {}", other.rule, said(otherwise));
    }
}

fn pi_patterns() -> Vec<String> {
    let newest = pi_retry_forced::upstream::Era::all().last().expect("there are eras");
    newest.patterns().retryable.iter().chain(&newest.patterns().non_retryable).cloned().collect()
}

/// What pi calls an overflow is compaction's business and never retried, under any status.
#[test]
fn what_pi_calls_an_overflow_is_never_retried() {
    let pi = PiClassifier::newest().expect("the newest era is known");
    let overflow = hits_of(|r| r.id == "overflow-known-to-pi").prop_map(|(text, _)| text);
    let mut runner = proptest::test_runner::TestRunner::new(config());
    let mut overflows = 0;
    runner
        .run(&(relayed(overflow)), |failure| {
            let text = failure.text();
            if pi.is_context_overflow(&text, None) {
                let verdict = judge(&failure);
                prop_assert_eq!(verdict.decision, Decision::Stop, "{}: {}", verdict.rule, text);
            }
            Ok(())
        })
        .unwrap_or_else(|e| panic!("{e}"));
    for text in rules::by_id("overflow-known-to-pi").map(|r| r.hits.clone()).unwrap_or_default() {
        assert!(pi.is_context_overflow(&text, None), "{text}");
        overflows += 1;
    }
    assert!(overflows > 0, "the law was tried");
}

/// A rewritten text is retried by every pi, unless that pi's own limit list names it: the shim leaves such texts alone.
#[test]
fn every_pi_retries_a_rewritten_text() {
    for era in pi_retry_forced::upstream::Era::all() {
        let version = era.releases().first().expect("an era has a release");
        let pi = PiClassifier::for_version(version).expect("a supported release");
        for text in [
            "400 {\"error\":{\"message\":\"This request is not supported.\"}}",
            "upstream gave up",
            "522 status code (no body)",
        ] {
            assert!(pi.is_retryable(&format!("{REWRITE_PREFIX}{text}")), "{version}: {text}");
            assert!(!pi.is_context_overflow(&format!("{REWRITE_PREFIX}{text}"), None), "{version}: {text}");
        }
    }
}

fn messages(payload: &Value) -> &[Value] {
    payload["messages"].as_array().map_or(&[], Vec::as_slice)
}

fn assistant_blocks(payload: &Value) -> impl Iterator<Item = &Value> {
    messages(payload)
        .iter()
        .filter(|m| m["role"] == "assistant")
        .flat_map(|m| m["content"].as_array().into_iter().flatten())
}

fn is_thinking(block: &Value) -> bool {
    block["type"] == "thinking" || block["type"] == "redacted_thinking"
}

fn thinking_blocks(payload: &Value) -> usize {
    assistant_blocks(payload).filter(|b| is_thinking(b)).count()
}

/// All blocks of a payload in order, thinking as the text it should become; contents as strings count as text.
fn other_blocks(payload: &Value, how: ThinkingText) -> Vec<Value> {
    let mut blocks = Vec::new();
    for message in messages(payload) {
        match &message["content"] {
            Value::Array(content) => {
                for block in content {
                    if message["role"] != "assistant" || !is_thinking(block) {
                        blocks.push(block.clone());
                    } else if let (ThinkingText::Keep, Some(text)) = (how, block["thinking"].as_str())
                        && !text.trim_matches(|c: char| c.is_whitespace() || c == '\u{FEFF}').is_empty()
                    {
                        blocks.push(json!({ "type": "text", "text": text }));
                    }
                }
            }
            Value::String(text) => blocks.push(json!({ "type": "text", "text": text })),
            _ => {}
        }
    }
    blocks
}

fn payload() -> impl Strategy<Value = Value> {
    let text = || "[a-z ]{1,8}".prop_map(|t| json!({ "type": "text", "text": t }));
    let thinking = prop_oneof!["[a-z \u{FEFF}\n]{0,6}", Just(" \n".to_owned())]
        .prop_map(|t| json!({ "type": "thinking", "thinking": t, "signature": "c2ln" }));
    let redacted = Just(json!({ "type": "redacted_thinking", "data": "b3BhcXVl" }));
    let tool = "[a-z]{1,4}".prop_map(
        |s| json!({ "type": "tool_use", "id": s, "name": "sign", "input": { "signature": s, "type": "thinking" } }),
    );
    let odd = prop_oneof![Just(json!(null)), Just(json!("thinking")), Just(json!({ "type": 7 }))];
    let assistant = vec(prop_oneof![3 => thinking, 2 => redacted, 3 => text(), 2 => tool, 1 => odd], 0..5)
        .prop_filter("pi never sends an empty turn", |content| !content.is_empty())
        .prop_map(|content| json!({ "role": "assistant", "content": content }));
    let user = prop_oneof![
        "[a-z]{1,8}".prop_map(|t| json!({ "role": "user", "content": t })),
        vec(text(), 1..3).prop_map(|c| json!({ "role": "user", "content": c })),
        Just(
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "a", "content": [{ "type": "thinking", "thinking": "x" }] }] })
        ),
    ];
    vec((user.boxed(), assistant.boxed()), 0..6).prop_map(|turns| {
        let list: Vec<Value> = turns
            .into_iter()
            .flat_map(|(u, a)| [u, a])
            .chain([json!({ "role": "user", "content": "go on" })])
            .collect();
        json!({ "model": "m", "messages": list })
    })
}
