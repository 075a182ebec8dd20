//! The strip: takes replayed thinking and its signatures out of a request of the Anthropic messages API.

use serde_json::{Map, Value, json};

/// What happens to thinking that has a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingText {
    /// It becomes a text block in the same place.
    Keep,
    /// It is dropped too: the next remedy, where a model refuses its own reasoning as text.
    Drop,
}

/// Takes all thinking out of a request's `messages[role=assistant].content[]`; with [`ThinkingText::Drop`] also the
/// request's `thinking` parameter, so that none is asked for.
///
/// Thinking whose text is not blank becomes a text block or is dropped, other thinking and `redacted_thinking` go.
/// All other blocks keep their order and content. A turn that is left without content is dropped and the turns before
/// and after it are joined where they have the same role, so that roles still alternate.
///
/// Returns `None`, and the payload is to be used as it is, if there is nothing to take out.
pub fn strip(payload: &Value, text: ThinkingText) -> Option<Value> {
    let object = payload.as_object()?;
    let messages = object.get("messages").and_then(Value::as_array);
    let touched = messages.is_some_and(|list| list.iter().any(has_thinking));
    let asks = text == ThinkingText::Drop && object.contains_key("thinking");
    if !touched && !asks {
        return None;
    }
    let mut stripped = object.clone();
    if asks {
        stripped.shift_remove("thinking");
    }
    if let (true, Some(messages)) = (touched, messages) {
        stripped.insert("messages".to_owned(), Value::Array(strip_messages(messages, text)));
    }
    Some(Value::Object(stripped))
}

fn strip_messages(messages: &[Value], text: ThinkingText) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::with_capacity(messages.len());
    let mut dropped_before = false;
    for message in messages {
        let message = if has_thinking(message) {
            match strip_message(message, text) {
                Some(message) => message,
                None => {
                    dropped_before = true;
                    continue;
                }
            }
        } else {
            message.clone()
        };
        if std::mem::take(&mut dropped_before)
            && let Some(last) = kept.last_mut()
            && let Some(joined) = join(last, &message)
        {
            *last = joined;
        } else {
            kept.push(message);
        }
    }
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

/// Two turns as one, if they have the same role; contents given as a string become text blocks.
fn join(first: &Value, second: &Value) -> Option<Value> {
    if first.get("role") != second.get("role") {
        return None;
    }
    let mut content = as_blocks(first.get("content")?)?;
    content.extend(as_blocks(second.get("content")?)?);
    let mut joined = first.as_object()?.clone();
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
