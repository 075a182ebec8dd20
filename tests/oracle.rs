//! The Rust twin of pi's patterns against the JavaScript that pi ships, run in node; and what request ids do to pi.

mod support;

use std::cell::{Cell, RefCell};
use std::fs;

use pi_retry_forced::upstream::{Era, Name, OverflowEra, Part, PiClassifier, Release, Version, parse_version};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestError, TestRunner};
use serde_json::json;
use support::generate::{self, Body, Frame, Mention, Relayed, RequestId};
use support::oracle::{Oracle, failed_turn};
use tempfile::TempDir;

/// How many texts travel to node at once.
const BATCH: usize = 200;

fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

fn era(version: &str) -> &'static Era {
    Era::of(&parse_version(version).expect("a version")).expect("an era")
}

/// Compares twin and original on batches of texts, and sees that both answers were given often enough to mean something.
fn compare_retries(version: &str, batches: u32) {
    let twin = PiClassifier::for_version(version).expect("a known version");
    let oracle = RefCell::new(Oracle::of_release(version));
    let patterns = era(version).patterns();
    let all: Vec<String> = patterns.non_retryable.iter().chain(&patterns.retryable).cloned().collect();
    let (retried, asked) = (Cell::new(0), Cell::new(0));
    let result = TestRunner::new(config(batches)).run(&vec(generate::around_patterns(&all), BATCH), |texts| {
        let pi = oracle.borrow_mut().retryable(&texts).map_err(TestCaseError::fail)?;
        for (text, pi) in texts.iter().zip(pi) {
            prop_assert_eq!(twin.is_retryable(text), pi, "{} on {:?}", version, text);
            retried.set(retried.get() + usize::from(pi));
            asked.set(asked.get() + 1);
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    let (retried, asked) = (retried.get(), asked.get());
    assert!(retried > asked / 10 && retried < asked * 9 / 10, "{version}: {retried} of {asked} retried");
}

/// Those of the report at length.
#[test]
fn twin_equals_pi_in_every_era() {
    for release in Release::playing(Name::PiAi, Part::Era) {
        compare_retries(&release.version().to_string(), if release.plays(Part::Report) { 45 } else { 20 });
    }
}

#[test]
fn twin_equals_pi_on_context_overflow() {
    for era in OverflowEra::all() {
        let version = &era.releases()[0];
        let twin = PiClassifier::for_version(version).expect("a known version");
        let oracle = RefCell::new(Oracle::of_release(version));
        let patterns = era.patterns();
        let literals = patterns.overflow.iter().chain(&patterns.non_overflow).chain(&patterns.cerebras);
        let sources: Vec<String> = literals.map(|literal| literal.source.clone()).collect();
        // `^` is for the front of a text only, where hits are put often enough.
        let sources: Vec<String> =
            sources.iter().map(|source| source.trim_start_matches('^').replace("|$", "")).collect();
        let provider = select(vec!["cerebras", "relay"]);
        let overflows = Cell::new(0);
        let messages = vec((generate::around_patterns(&sources), provider), BATCH);
        let result = TestRunner::new(config(10)).run(&messages, |messages| {
            let turns: Vec<_> = messages
                .iter()
                .map(|(text, provider)| {
                    let mut turn = failed_turn(text);
                    turn["provider"] = json!(provider);
                    turn
                })
                .collect();
            let pi = oracle.borrow_mut().ask("overflow", &turns).map_err(TestCaseError::fail)?;
            for ((text, provider), pi) in messages.iter().zip(pi) {
                prop_assert_eq!(twin.is_context_overflow(text, Some(*provider)), pi, "{} on {:?}", version, text);
                overflows.set(overflows.get() + usize::from(pi));
            }
            Ok(())
        });
        result.unwrap_or_else(|error| panic!("{error}"));
        assert!((200..1800).contains(&overflows.get()), "{version}: {} of 2000 overflows", overflows.get());
    }
}

/// Cases at which a translation could go wrong, and did in trials of others.
#[test]
fn twin_equals_pi_where_engines_differ() {
    let texts = [
        "",
        " ",
        "re\u{17F}et before header\u{17F}",
        "\u{212A}",
        "soc\u{212A}et hang up",
        "rate\u{2028}limit",
        "rate\rlimit",
        "rate\nlimit",
        "rate\u{85}limit",
        "rate😀limit",
        "rateélimit",
        "request to \u{FEFF} failed, reason:",
        "request to a\u{FEFF}b failed, reason:",
        "request to 😀 failed, reason:",
        "request to \u{180E} failed, reason:",
        "a500 500",
        "5005 500",
        "500500",
        "_500_",
        "500\u{17F}",
        "\u{212A}500",
        "😀500😀",
        "é500",
        "\"code\"\u{2003}:\u{2028}\"1308",
        "\"code\":13080 \"code\":1308",
        "\"code\" : 1308x 503",
        "eCONNreset",
        "_ECONNRESET",
        "read ECONNRESET_ ECONNRESET",
        "0ECONNRESET",
        "EPIPE\u{130}",
        "timed  out",
        "timedout",
        "\0timeout",
        "http/2 stream failed",
        "http2 stream failed",
        "BILLING 503",
    ];
    for era in Era::all() {
        let version = &era.releases()[0];
        let twin = PiClassifier::for_version(version).unwrap();
        let pi = Oracle::of_release(version).retryable(&texts).unwrap();
        for (text, pi) in texts.iter().zip(pi) {
            assert_eq!(twin.is_retryable(text), pi, "{version} on {text:?}");
        }
    }
}

/// The transient refusal of a relay, which no version of pi retries for what it says.
fn refusal(id: &str) -> String {
    let ids = vec![RequestId { value: id.to_owned(), mention: Mention::Suffix }];
    let wording = "This request is not supported.".to_owned();
    Relayed { status: 400, frame: Frame::Anthropic, body: Body::OpenAi, wording, ids }.text()
}

/// The first law, broken by pi up to 1.3.0: the digits of a request id decide.
#[test]
fn a_request_id_flips_pi_in_the_eras_of_bare_digits() {
    let calm = "20261130010203412345678AbCdEfGh";
    for version in ["0.80.3", "0.87.1", "1.3.0"] {
        let oracle = RefCell::new(Oracle::of_release(version));
        let is_retried = |id: &str| oracle.borrow_mut().retryable(&[refusal(id)]).expect("node answers")[0];
        assert!(!is_retried(calm), "{version} stops on {calm}");
        let law = |id: String| {
            prop_assert_eq!(is_retried(&id), is_retried(calm));
            Ok(())
        };
        // About one id in nine flips the verdict: 1000 without one are out of the question.
        let Err(TestError::Fail(_, id)) = TestRunner::new(config(1000)).run(&generate::new_api_id(), law) else {
            panic!("{version}: no id flips the verdict");
        };
        assert!(is_retried(&id), "{version}: the shrunk id {id} still flips the verdict");
        let tokens = ["429", "500", "502", "503", "504", "520", "524"];
        assert!(tokens.iter().any(|token| id.contains(token)), "{version}: {id} holds a token");
        let twin = PiClassifier::for_version(version).unwrap();
        assert!(twin.is_retryable(&refusal(&id)) && !twin.is_retryable(&refusal(calm)));
    }
}

#[test]
fn no_new_api_id_flips_pi_since_its_digits_are_anchored() {
    let anchored = Version::new(1, 4, 0);
    for era in Era::all().iter().filter(|era| parse_version(&era.releases()[0]).expect("a version") >= anchored) {
        let oracle = RefCell::new(Oracle::of_release(&era.releases()[0]));
        let result = TestRunner::new(config(25)).run(&vec(generate::new_api_id(), BATCH), |ids| {
            let texts: Vec<String> = ids.iter().map(|id| refusal(id)).collect();
            let pi = oracle.borrow_mut().retryable(&texts).map_err(TestCaseError::fail)?;
            prop_assert!(pi.iter().all(|retried| !retried), "{:?}", ids);
            Ok(())
        });
        result.unwrap_or_else(|error| panic!("{}: {error}", era.name()));
    }
}

/// A stand-in for a package, with a retry.js of its own.
fn oracle_of(retry: &str) -> Result<Oracle, String> {
    let folder = TempDir::new().expect("a temporary folder");
    let utils = folder.path().join("dist/utils");
    fs::create_dir_all(&utils).expect("the folder is made");
    fs::write(folder.path().join("package.json"), r#"{"type":"module"}"#).expect("it is written");
    fs::write(utils.join("retry.js"), retry).expect("it is written");
    fs::write(utils.join("overflow.js"), "export const isContextOverflow = () => false;").expect("it is written");
    Oracle::of_folder(folder.path())
}

#[test]
fn an_oracle_that_fails_is_an_error_and_not_a_verdict() {
    let good = "export const isRetryableAssistantError = (m) => m.errorMessage === 'yes';";
    assert_eq!(oracle_of(good).unwrap().retryable(&["yes", "no\u{2028}\n", "yes"]), Ok(vec![true, false, true]));
    for (retry, complaint) in [
        ("throw new Error('broken');", "node ended without an answer"),
        ("console.log('junk'); export const isRetryableAssistantError = () => true;", "no JSON"),
        ("console.log('1'); export const isRetryableAssistantError = () => true;", "not that it is ready"),
    ] {
        let error = oracle_of(retry).err().expect(retry);
        assert!(error.contains(complaint), "{error}");
    }
    for (body, complaint) in [
        ("'yes'", "node answered"),
        ("undefined", "node answered"),
        ("process.exit(0)", "node ended without an answer"),
        ("{}.x.y", "node ended without an answer"),
        ("console.log('junk')", "no JSON"),
        ("console.log('{\"id\":1,\"answers\":[]}')", "node answered"),
    ] {
        let mut oracle = oracle_of(&format!("export const isRetryableAssistantError = () => ({body});")).unwrap();
        let error = oracle.retryable(&["text"]).expect_err(body);
        assert!(error.contains(complaint), "{body}: {error}");
    }
}
