//! The reference's data for engines in other languages: rules, frames, forms of ids and the envelope's keys.

use crate::reference::body;
use crate::reference::classify::{NON_OVERFLOW, Profile, TRANSIENT_CLIENT_STATUSES};
use crate::reference::failure::{FRAME, REQUEST_ID, REWRITE_PREFIX};
use crate::reference::number::{LONE_STATUS, MEASURED, NAMED_STATUS};
use crate::reference::rules::{self, Rule, When};
use crate::reference::scan;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// One rule as JSON, patterns as JavaScript source for the flag `i`.
pub fn rule_json(rule: &Rule) -> Value {
    let mut value = json!({
        "id": rule.id,
        "decision": rule.decision.as_str(),
        "when": rule.when.iter().map(when_json).collect::<Vec<_>>(),
        "tier": rule.tier.as_str(),
        "repair": rule.remedy.map(|remedy| remedy.as_str()),
        "patterns": rule.patterns.iter().map(|p| p.js()).collect::<Vec<_>>(),
        "why": rule.why,
        "source": rule.source,
        "hits": rule.hits,
        "misses": rule.misses,
    });
    if let (None, Some(object)) = (rule.remedy, value.as_object_mut()) {
        object.shift_remove("repair");
    }
    value
}

/// The rules of the profile `full`, which is the extension's.
fn full() -> impl Iterator<Item = &'static Rule> {
    rules::all().iter().filter(|rule| Profile::Full.has(rule.tier))
}

fn when_json(when: &When) -> Value {
    match when {
        When::Status(status) => json!(status),
        name => json!(name.to_string()),
    }
}

/// The TypeScript module that the shim's engine reads, whole: profile `full`, without the examples.
pub fn shim_module() -> String {
    let rules: Vec<Value> = full()
        .map(|rule| {
            let mut value = rule_json(rule);
            if let Some(object) = value.as_object_mut() {
                object.retain(|key, _| {
                    matches!(key.as_str(), "id" | "decision" | "when" | "repair" | "patterns" | "why")
                });
            }
            value
        })
        .collect();
    let names = |list: &[(&str, u16)]| list.iter().map(|(n, s)| ((*n).to_owned(), json!(s))).collect::<Map<_, _>>();
    let data = json!({
        "rewritePrefix": REWRITE_PREFIX,
        "frame": FRAME.js(),
        "requestId": REQUEST_ID.js(),
        "namedStatus": NAMED_STATUS.js(),
        "loneStatus": LONE_STATUS.js(),
        "measured": MEASURED.js(),
        "transientClientStatuses": TRANSIENT_CLIENT_STATUSES,
        "nonOverflow": NON_OVERFLOW,
        "body": {
            "maxStarts": body::MAX_STARTS,
            "envelopeKeys": body::ENVELOPE_KEYS,
            "statusKeys": body::STATUS_KEYS,
            "wordKeys": body::WORD_KEYS,
            "eventKeys": body::EVENT_KEYS,
            "events": names(body::EVENTS),
            "grpcNames": names(body::GRPC_NAMES),
            "errorTypes": names(body::ERROR_TYPES),
        },
        "rules": rules,
    });
    let mut text = Vec::new();
    let tabs = serde_json::ser::PrettyFormatter::with_indent(b"\t");
    data.serialize(&mut serde_json::Serializer::with_formatter(&mut text, tabs)).expect("plain data is always JSON");
    let data = String::from_utf8_lossy(&text);
    format!(
        "// Generated from src/reference/rules/*.toml of pi-retry-forced by its test `generated`. Do not edit.\n\
         import type {{ RuleData }} from \"./engine.ts\";\n\n\
         export const DATA: RuleData = {data};\n"
    )
}

/// The TypeScript module with what the shim's engine looks for in its one pass over a text.
pub fn shim_needles_module() -> String {
    let mut lines = String::new();
    for pattern in full().flat_map(|rule| &rule.patterns) {
        let line = match pattern.needles() {
            Some(needles) if needles.any_of.iter().all(|n| n.len() >= scan::MIN_NEEDLE) => {
                let words = needles.any_of.iter().flat_map(|n| [json!(n), json!(scan::telling_window(n.as_bytes()))]);
                Value::from_iter(std::iter::once(json!(needles.exact)).chain(words))
            }
            _ => Value::Null,
        };
        lines.push_str(&format!("\t{line},\n"));
    }
    format!(
        "// Generated from src/reference/rules/*.toml of pi-retry-forced by its test `generated`. Do not edit.\n\n\
         /**\n * For each pattern of the rules, in their order: whether one of the words is a match by itself, and the words\n \
         * of which every match contains one, in lower case, each with the place of its rarest four characters. `null` for\n \
         * patterns that have no such words.\n */\n\
         export const NEEDLES: readonly (readonly (boolean | string | number)[] | null)[] = [\n{lines}];\n"
    )
}
