//! What a verdict `repair` asks for, on JSON: each API's request without the thinking that was refused.
//!
//! Which form follows which answer is learned by the extension's `memory.ts`; here is what each form does to a payload,
//! the same as in the extension, and compared with it.

mod sealed;
mod strip;

pub use strip::{ThinkingText, strip, switch_off};

use serde_json::Value;

/// How earlier thinking is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// As pi made it.
    Plain,
    /// Anthropic messages: thinking as text, no signatures.
    Text,
    /// Anthropic messages: no earlier thinking at all.
    None,
    /// Responses APIs: no reasoning items, and no ids of what belonged to them.
    Unlinked,
    /// Google: the documented placeholder on calls without a signature.
    Signed,
    /// Google: the placeholder in place of every call's signature.
    Replaced,
    /// Completions: an empty `reasoning_content` where a call has none.
    Filled,
    /// Completions and Mistral: reasoning left out.
    Omitted,
    /// Completions: sealed reasoning left out, the readable one kept, an empty one where a call has none.
    Unsealed,
}

impl Form {
    /// All forms.
    pub const ALL: [Self; 9] = [
        Self::Plain,
        Self::Text,
        Self::None,
        Self::Unlinked,
        Self::Signed,
        Self::Replaced,
        Self::Filled,
        Self::Omitted,
        Self::Unsealed,
    ];

    /// The name that the extension keeps in session files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Text => "text",
            Self::None => "none",
            Self::Unlinked => "unlinked",
            Self::Signed => "signed",
            Self::Replaced => "replaced",
            Self::Filled => "filled",
            Self::Omitted => "omitted",
            Self::Unsealed => "unsealed",
        }
    }
}

/// A request in the form that an endpoint accepts, with thinking switched off where `off` asks for it; `cannot_be_off`
/// says that this model's thinking has no off. `None`, and the payload is to be used as it is, where nothing changes.
pub fn prepare(payload: &Value, form: Form, off: bool, cannot_be_off: bool) -> Option<Value> {
    let switched = off.then(|| switch_off(payload, cannot_be_off)).flatten();
    let sent = switched.as_ref().unwrap_or(payload);
    let changed = match form {
        Form::Plain => None,
        Form::Text => strip(sent, ThinkingText::Keep),
        Form::None => strip(sent, ThinkingText::Drop),
        Form::Unlinked => sealed::unlink(sent),
        Form::Signed => sealed::sign(sent, false),
        Form::Replaced => sealed::sign(sent, true),
        Form::Filled => sealed::fill(sent),
        Form::Omitted => sealed::omit(sent),
        Form::Unsealed => sealed::unseal(sent),
    };
    changed.or(switched)
}
