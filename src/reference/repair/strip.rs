//! Requests of the Anthropic messages API: replayed thinking and its signatures out, and thinking switched off.

use serde_json::{Map, Value, json};

/// What happens to thinking that has a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingText {
    /// It becomes a text block in the same place.
    Keep,
    /// It is dropped too: the next remedy, where a model refuses its own reasoning as text.
    Drop,
}

/// Takes all thinking out of a request's `messages[role=assistant].content[]`.
///
/// Thinking whose text is not blank becomes a text block or is dropped, other thinking and `redacted_thinking` go.
/// All other blocks keep their order and content. A turn that is left without content is dropped with the effort marker
/// before it, and the turns before and after it are joined where they have the same role, so that roles still
/// alternate; instructions that stood before it move before the next assistant turn.
///
/// Returns `None`, and the payload is to be used as it is, if there is nothing to take out.
pub fn strip(payload: &Value, text: ThinkingText) -> Option<Value> {
    let object = payload.as_object()?;
    let messages = object.get("messages").and_then(Value::as_array)?;
    if !messages.iter().any(has_thinking) {
        return None;
    }
    let mut stripped = object.clone();
    stripped.insert("messages".to_owned(), Value::Array(strip_messages(messages, text)));
    Some(Value::Object(stripped))
}

/// Switches thinking off as pi itself would send the request: without effort and its markers, and `disabled` where the
/// endpoint takes that (where thinking cannot be off, pi leaves the parameter out).
///
/// Returns `None` for a request without thinking, or with it off already.
pub fn switch_off(payload: &Value, cannot_be_off: bool) -> Option<Value> {
    let object = payload.as_object()?;
    let thinking = object.get("thinking").and_then(Value::as_object)?;
    if thinking.get("type").and_then(Value::as_str) == Some("disabled") {
        return None;
    }
    let mut off = object.clone();
    if cannot_be_off {
        off.shift_remove("thinking");
    } else {
        off.insert("thinking".to_owned(), json!({ "type": "disabled" }));
    }
    if let Some(Value::Object(config)) = off.get_mut("output_config") {
        config.shift_remove("effort");
        if config.is_empty() {
            off.shift_remove("output_config");
        }
    }
    if let Some(Value::Array(messages)) = off.get_mut("messages") {
        messages.retain(|message| !is_marker(message));
    }
    Some(Value::Object(off))
}

fn role(message: &Value) -> Option<&str> {
    message.get("role").and_then(Value::as_str)
}

/// A marker that sets the effort of the assistant turn behind it and says nothing else.
fn is_marker(message: &Value) -> bool {
    role(message) == Some("system")
        && message.get("output_config").is_some()
        && message.get("content").and_then(as_blocks).is_some_and(|blocks| blocks.is_empty())
}

fn strip_messages(messages: &[Value], text: ThinkingText) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::with_capacity(messages.len());
    // Instructions that stood before a turn that fell away; they have to stand before the next one.
    let mut homeless: Vec<Value> = Vec::new();
    let mut dropped_before = false;
    let mut touched = false;
    for message in messages {
        let message = if has_thinking(message) {
            touched = true;
            let Some(stripped) = strip_message(message, text) else {
                let start = kept.iter().rposition(|m| role(m) != Some("system")).map_or(0, |last| last + 1);
                homeless.splice(0..0, kept.drain(start..).filter(|m| !is_marker(m)));
                dropped_before = true;
                continue;
            };
            stripped
        } else {
            message.clone()
        };
        let is_system = role(&message) == Some("system");
        if touched && (is_system || role(&message) == Some("assistant")) {
            kept.append(&mut homeless);
        }
        let joined = kept.last().filter(|_| dropped_before).and_then(|last| join(last, &message));
        match (joined, kept.last_mut()) {
            (Some(joined), Some(last)) => *last = joined,
            _ => kept.push(message),
        }
        dropped_before &= is_system;
    }
    kept.append(&mut homeless);
    kept
}

fn blocks(message: &Value) -> Option<&Vec<Value>> {
    let is_assistant = message.get("role").and_then(Value::as_str) == Some("assistant");
    message.get("content").and_then(Value::as_array).filter(|_| is_assistant)
}

fn block_type(block: &Value) -> Option<&str> {
    block.get("type").and_then(Value::as_str)
}

fn has_thinking(message: &Value) -> bool {
    let is_thinking = |block| matches!(block_type(block), Some("thinking" | "redacted_thinking"));
    blocks(message).is_some_and(|list| list.iter().any(is_thinking))
}

/// The message without thinking, or `None` if nothing is left of it.
fn strip_message(message: &Value, text: ThinkingText) -> Option<Value> {
    let content: Vec<Value> = blocks(message)?.iter().filter_map(|block| strip_block(block, text)).collect();
    if content.is_empty() {
        return None;
    }
    let mut stripped: Map<String, Value> = message.as_object()?.clone();
    stripped.insert("content".to_owned(), Value::Array(content));
    Some(Value::Object(stripped))
}

fn strip_block(block: &Value, text: ThinkingText) -> Option<Value> {
    match block_type(block) {
        Some("thinking") => {
            let thinking = block.get("thinking").and_then(Value::as_str)?;
            let keep = text == ThinkingText::Keep && !is_blank(thinking);
            keep.then(|| json!({ "type": "text", "text": thinking }))
        }
        Some("redacted_thinking") => None,
        _ => Some(block.clone()),
    }
}

/// Whether JavaScript's `trim()` leaves nothing.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| matches!(c, '\t'..='\r' | '\u{FEFF}') || (c.is_whitespace() && c != '\u{85}'))
}

/// Two turns as one, if they have the same role; contents given as a string become text blocks. Of fields that both
/// have, the later turn's word counts.
fn join(first: &Value, second: &Value) -> Option<Value> {
    if first.get("role") != second.get("role") {
        return None;
    }
    let mut content = as_blocks(first.get("content")?)?;
    content.extend(as_blocks(second.get("content")?)?);
    let mut joined = first.as_object()?.clone();
    joined.extend(second.as_object()?.clone());
    joined.insert("content".to_owned(), Value::Array(content));
    Some(Value::Object(joined))
}

fn as_blocks(content: &Value) -> Option<Vec<Value>> {
    match content {
        Value::Array(blocks) => Some(blocks.clone()),
        Value::String(text) if text.is_empty() => Some(Vec::new()),
        Value::String(text) => Some(vec![json!({ "type": "text", "text": text })]),
        _ => None,
    }
}
