//! Requests whose reasoning is sealed, for the APIs other than Anthropic messages. `None` means nothing to change.

use serde_json::{Map, Value};

/// What becomes of one entry of a list.
enum Change {
    Keep,
    Drop,
    To(Value),
}

/// The object with the list under `key` changed, or `None` if no entry is.
fn with_list(object: &Map<String, Value>, key: &str, change: impl Fn(&Value) -> Change) -> Option<Value> {
    let list = object.get(key)?.as_array()?;
    let mut touched = false;
    let mut changed = Vec::with_capacity(list.len());
    for entry in list {
        match change(entry) {
            Change::Keep => changed.push(entry.clone()),
            Change::Drop => touched = true,
            Change::To(value) => {
                touched = true;
                changed.push(value);
            }
        }
    }
    touched.then(|| {
        let mut result = object.clone();
        result.insert(key.to_owned(), Value::Array(changed));
        Value::Object(result)
    })
}

fn text<'a>(object: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    object.get(key).and_then(Value::as_str)
}

/// Responses APIs: reasoning items out of `input`, and the ids of the model's items, which belong to them.
pub(super) fn unlink(payload: &Value) -> Option<Value> {
    with_list(payload.as_object()?, "input", |item| {
        let Some(item) = item.as_object() else { return Change::Keep };
        if text(item, "type") == Some("reasoning") {
            return Change::Drop;
        }
        let is_models =
            text(item, "role") == Some("assistant") || text(item, "type").is_some_and(|t| t.ends_with("_call"));
        if !is_models || !item.contains_key("id") {
            return Change::Keep;
        }
        let mut rest = item.clone();
        rest.shift_remove("id");
        Change::To(Value::Object(rest))
    })
}

/// Google's documented placeholder for signatures that are not to be had.
const PLACEHOLDER: &str = "skip_thought_signature_validator";

/// Google: the placeholder on calls that lack a signature, or with `all` in place of every signature of a call.
pub(super) fn sign(payload: &Value, all: bool) -> Option<Value> {
    with_list(payload.as_object()?, "contents", |content| {
        let Some(content) = content.as_object().filter(|c| text(c, "role") == Some("model")) else {
            return Change::Keep;
        };
        with_list(content, "parts", |part| sign_part(part, all)).map_or(Change::Keep, Change::To)
    })
}

fn sign_part(part: &Value, all: bool) -> Change {
    let Some(object) = part.as_object() else { return Change::Keep };
    let signature = object.get("thoughtSignature");
    if object.get("functionCall").is_some_and(Value::is_object) {
        let keep = if all { signature.and_then(Value::as_str) == Some(PLACEHOLDER) } else { is_truthy(signature) };
        if keep {
            return Change::Keep;
        }
        let mut signed = object.clone();
        signed.insert("thoughtSignature".to_owned(), Value::from(PLACEHOLDER));
        return Change::To(Value::Object(signed));
    }
    if !all || signature.is_none() {
        return Change::Keep;
    }
    let mut rest = object.clone();
    rest.shift_remove("thoughtSignature");
    // What is left of a part that was nothing but a signature says nothing.
    if text(&rest, "text") == Some("") { Change::Drop } else { Change::To(Value::Object(rest)) }
}

/// As JavaScript sees it.
fn is_truthy(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(_) => true,
    }
}

/// Mistral's requests pass pi's hook in their SDK's words.
fn has_calls(message: &Map<String, Value>) -> bool {
    let calls = message.get("tool_calls").filter(|calls| !calls.is_null()).or_else(|| message.get("toolCalls"));
    calls.and_then(Value::as_array).is_some_and(|calls| !calls.is_empty())
}

fn assistant(message: &Value) -> Option<&Map<String, Value>> {
    message.as_object().filter(|m| text(m, "role") == Some("assistant"))
}

/// Completions: an empty `reasoning_content` on assistant messages with calls that have none.
pub(super) fn fill(payload: &Value) -> Option<Value> {
    with_list(payload.as_object()?, "messages", |message| {
        let Some(message) = assistant(message).filter(|m| has_calls(m)) else { return Change::Keep };
        if message.get("reasoning_content").is_some_and(Value::is_string) {
            return Change::Keep;
        }
        let mut filled = message.clone();
        filled.insert("reasoning_content".to_owned(), Value::from(""));
        Change::To(Value::Object(filled))
    })
}

const REASONING_FIELDS: [&str; 4] = ["reasoning", "reasoning_content", "reasoning_text", "reasoning_details"];

/// Completions and Mistral: the reasoning of assistant messages left out.
pub(super) fn omit(payload: &Value) -> Option<Value> {
    with_list(payload.as_object()?, "messages", |message| {
        let Some(message) = assistant(message) else { return Change::Keep };
        let is_thinking = |chunk: &Value| chunk.get("type").and_then(Value::as_str) == Some("thinking");
        let chunks = message.get("content").and_then(Value::as_array).filter(|list| list.iter().any(is_thinking));
        if chunks.is_none() && !REASONING_FIELDS.iter().any(|field| message.contains_key(*field)) {
            return Change::Keep;
        }
        let mut rest = message.clone();
        rest.retain(|key, _| !REASONING_FIELDS.contains(&key.as_str()));
        if let Some(chunks) = chunks {
            let kept: Vec<Value> = chunks.iter().filter(|chunk| !is_thinking(chunk)).cloned().collect();
            // A message that was nothing but thinking has no content; with calls that is allowed, without them it goes.
            let content = match (kept.is_empty(), has_calls(message)) {
                (true, true) => Value::from(""),
                (true, false) => return Change::Drop,
                (false, _) => Value::Array(kept),
            };
            rest.insert("content".to_owned(), content);
        }
        Change::To(Value::Object(rest))
    })
}

/// Completions: `reasoning_details` out, and an empty `reasoning_content` on calls that have none.
pub(super) fn unseal(payload: &Value) -> Option<Value> {
    let open = with_list(payload.as_object()?, "messages", |message| {
        let Some(message) = assistant(message).filter(|m| m.contains_key("reasoning_details")) else {
            return Change::Keep;
        };
        let mut rest = message.clone();
        rest.shift_remove("reasoning_details");
        Change::To(Value::Object(rest))
    });
    open.as_ref().map_or_else(|| fill(payload), fill).or(open)
}
