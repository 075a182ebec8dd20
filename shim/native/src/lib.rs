//! The reference as a node module. It converts and never decides; lists keep the crossing cheap.
//!
//! Messages and payloads travel as JSON texts, so that both engines read the very same input.

use napi_derive::napi;
use pi_retry_forced::replace_lone_surrogates;
use pi_retry_forced::{Failure, Form, Profile, StatusSource};
use serde_json::{Map, Value, json};

fn read(text: &str) -> napi::Result<Value> {
    serde_json::from_slice(&replace_lone_surrogates(text.as_bytes()))
        .map_err(|e| napi::Error::from_reason(e.to_string()))
}

fn judge(message: &Map<String, Value>, profile: Profile) -> Value {
    let verdict = pi_retry_forced::classify(&Failure::from_json(message), profile);
    let mut answer = json!({
        "verdict": verdict.decision.as_str(),
        "rule": verdict.rule,
        "status": verdict.status,
        "statusFrom": verdict.status_from.map(StatusSource::as_str),
    });
    if let Some(remedy) = verdict.remedy {
        answer["repair"] = json!(remedy.as_str());
    }
    answer
}

/// The verdicts on a JSON array of messages, as a JSON array. `profile` is `upstream`, `patch` or `full`.
#[napi]
pub fn classify(messages: String, profile: String) -> napi::Result<String> {
    let profile = Profile::ALL.into_iter().find(|p| p.as_str() == profile);
    let profile = profile.ok_or_else(|| napi::Error::from_reason("no such profile"))?;
    let messages = read(&messages)?;
    let list = messages.as_array().ok_or_else(|| napi::Error::from_reason("not a JSON array"))?;
    let none = Map::new();
    Ok(Value::from_iter(list.iter().map(|m| judge(m.as_object().unwrap_or(&none), profile))).to_string())
}

/// All rules with their examples, as a JSON array.
#[napi]
pub fn rules() -> String {
    Value::from_iter(pi_retry_forced::rules::all().iter().map(pi_retry_forced::rule_json)).to_string()
}

/// The texts with the 503 prefix, each once.
#[napi]
pub fn rewrite(texts: Vec<String>) -> Vec<String> {
    texts.iter().map(|text| pi_retry_forced::rewrite(text).into_owned()).collect()
}

/// The texts with each request id replaced by a line break.
#[napi]
pub fn cut_request_ids(texts: Vec<String>) -> Vec<String> {
    texts.iter().map(|text| pi_retry_forced::cut_request_ids(text).into_owned()).collect()
}

/// The payloads of a JSON array in a form that an endpoint accepts, `null` where nothing changes; `off` switches thinking
/// off too.
#[napi]
pub fn prepare(payloads: String, form: String, off: bool, cannot_be_off: bool) -> napi::Result<String> {
    let form = Form::ALL.into_iter().find(|f| f.as_str() == form);
    let form = form.ok_or_else(|| napi::Error::from_reason("no such form"))?;
    let payloads = read(&payloads)?;
    let list = payloads.as_array().ok_or_else(|| napi::Error::from_reason("not a JSON array"))?;
    let prepared = list.iter().map(|p| pi_retry_forced::prepare(p, form, off, cannot_be_off).unwrap_or(Value::Null));
    Ok(Value::from_iter(prepared).to_string())
}
