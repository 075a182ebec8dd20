//! Translated patterns against node's own `RegExp`, on patterns and texts that nobody chose.

mod support;

use std::cell::{Cell, RefCell};

use pi_retry_forced::upstream::{JsRegex, Name, Release};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;
use support::generate::EDGES;
use support::oracle::Oracle;

/// Patterns from the pieces that are understood, and some from pieces that are not.
fn pattern() -> impl Strategy<Value = String> {
    let atoms = [
        "a",
        "s",
        "K",
        "0",
        "_",
        "-",
        " ",
        "\\n",
        "\\.",
        "\\x41",
        "\\u005a",
        ".",
        "\\s",
        "\\S",
        "\\d",
        "\\D",
        "\\w",
        "\\W",
        "[a-z0-9]",
        "[^a-z]",
        "[\\s_]",
        "[^\\S\\d]",
        "[\\W]",
        "[-a]",
        "[a-]",
        "[A-z]",
        "{",
        "}",
        "]",
        "^",
        "$",
        "\\b",
        "\\B",
        "(?<![a-z0-9])",
        "(?![0-9])",
        "(?<=a)",
        "(?=\\s|$)",
        "(?<!^|_)",
        "(?!a|$)",
        "(?<=[^a])",
        "(?!\\S)",
    ];
    let odd = [
        "(", ")", "*", "[", "\\", "{2}", "{,2}", "{2,1}", "é", "\\1", "(?<n>a)", "\\07", "\\p{L}", "[]", "[^]",
        "[z-a]", "[\\d-z]", "\\cA", "/",
    ];
    let atom = prop_oneof![20 => select(atoms.to_vec()), 1 => select(odd.to_vec())].prop_map(str::to_owned);
    let quantifier = select(vec!["", "", "", "", "?", "*", "+", "{2}", "{1,2}", "{2,}", "??", "*?"]);
    atom.prop_recursive(3, 12, 4, move |inner| {
        let item = (inner.clone(), quantifier.clone()).prop_map(|(atom, quantifier)| atom + quantifier);
        prop_oneof![
            3 => vec(item.clone(), 1..4).prop_map(|items| items.concat()),
            1 => vec(item.clone(), 1..3).prop_map(|items| items.join("|")),
            1 => item.clone().prop_map(|item| format!("(?:{item})")),
            1 => (item.clone(), item).prop_map(|(one, two)| format!("({one}|{two})")),
        ]
    })
}

fn text() -> impl Strategy<Value = String> {
    let plain = ["a", "b", "s", "S", "k", "A", "z", "0", "9", " ", ".", "{", "}", "]", "aa", "a a"];
    vec(select([&plain[..], &EDGES[..]].concat()), 0..6).prop_map(|parts| parts.concat())
}

#[test]
fn a_pattern_that_is_translated_means_the_same_in_node() {
    let newest = Release::newest(Name::PiAi).version().to_string();
    let oracle = RefCell::new(Oracle::of_release(&newest));
    let (translated, matched, asked) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let cases = vec((pattern(), select(vec!["i", ""]), vec(text(), 8)), 50);
    let config = Config { cases: 60, failure_persistence: None, ..Config::default() };
    let result = TestRunner::new(config).run(&cases, |cases| {
        let questions: Vec<_> = cases
            .iter()
            .flat_map(|(pattern, flags, texts)| {
                texts.iter().map(move |text| json!({ "pattern": pattern, "flags": flags, "text": text }))
            })
            .collect();
        let mut oracle = oracle.borrow_mut();
        let valid = oracle.ask("valid", &questions).map_err(TestCaseError::fail)?;
        let matches = oracle.ask("matches", &questions).map_err(TestCaseError::fail)?;
        for (at, (pattern, flags, texts)) in cases.iter().enumerate() {
            asked.set(asked.get() + 1);
            let Ok(regex) = JsRegex::new(pattern, flags) else { continue };
            prop_assert!(valid[at * texts.len()], "{:?} is no pattern to node", pattern);
            translated.set(translated.get() + 1);
            for (text, node) in texts.iter().zip(&matches[at * texts.len()..]) {
                prop_assert_eq!(regex.is_match(text), *node, "/{}/{} on {:?}", pattern, flags, text);
                matched.set(matched.get() + usize::from(*node));
            }
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    let (translated, matched, asked) = (translated.get(), matched.get(), asked.get());
    assert!(translated > asked / 3, "{translated} of {asked} patterns were translated");
    assert!(
        matched > translated && matched < translated * 7,
        "{matched} matches of {translated} patterns on 8 texts each"
    );
}
