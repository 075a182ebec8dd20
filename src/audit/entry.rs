//! What a line of a session file says, as far as the audit needs it.
//!
//! Most lines are tool results and prompts. [`head`] reads the few scalars at the start of a line, where pi writes them, and
//! stops at the first object or array; only a line that it cannot place, or that matters, is parsed as a whole, and then
//! content and usage are skipped, not built.

use std::borrow::Cow;
use std::fmt;

use memchr::memmem;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::reference::surrogates::replace_lone_surrogates;

/// How an entry hangs in the tree of its session.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Place {
    /// Digest of the entry's id; version 1 has none.
    pub(crate) id: Option<u64>,
    /// Digest of its parent's id.
    pub(crate) parent: Parent,
}

/// The parent that an entry names.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Parent {
    /// None is named: the entry before it in the file (version 1).
    #[default]
    Before,
    /// `null`: this entry is a root.
    Root,
    /// Digest of the parent's id.
    Id(u64),
}

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Author {
    /// An assistant: a turn of the model.
    Model,
    /// Anybody else, or no message at all.
    Other,
}

/// What the start of a line tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) known_kind: bool,
    pub(crate) header: bool,
    pub(crate) message: bool,
    pub(crate) author: Author,
    /// Id and parent, if both stand before the first object.
    pub(crate) place: Option<Place>,
}

/// Entry types of pi 1.6.0; others are counted.
const KINDS: [&str; 12] = [
    "session",
    "message",
    "model_change",
    "thinking_level_change",
    "usage",
    "compaction",
    "context_edit",
    "branch_summary",
    "custom",
    "custom_message",
    "label",
    "session_info",
];

/// Whether pi 1.6.0 writes entries of this type.
pub(crate) fn is_known(kind: &str) -> bool {
    KINDS.contains(&kind)
}

/// 64-bit digest of an id. Two ids of one session that share it would be taken for one, which takes billions of entries.
pub(crate) fn digest(id: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in id {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash ^ (hash >> 29)
}

/// Walks over the bytes of a line.
struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// A string without escapes.
    fn string(&mut self) -> Option<&'a [u8]> {
        self.eat(b'"')?;
        let rest = &self.bytes[self.at..];
        let length = memchr::memchr2(b'"', b'\\', rest)?;
        self.at += length + 1;
        (rest[length] == b'"').then(|| &rest[..length])
    }

    fn key(&mut self) -> Option<&'a [u8]> {
        let key = self.string()?;
        self.eat(b':')?;
        Some(key)
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Option<&'a [u8]> {
        self.peek()?;
        let rest = &self.bytes[self.at..];
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte)).count();
        self.at += length;
        (length > 0).then(|| &rest[..length])
    }
}

/// Reads the start of a line; `None` if it does not say what the line is, so that only a parse can tell.
pub(crate) fn head(line: &[u8]) -> Option<Head> {
    let mut cursor = Cursor { bytes: line, at: 0 };
    cursor.eat(b'{')?;
    let (mut kind, mut id, mut parent): (Option<&[u8]>, _, _) = (None, None, None);
    let author = loop {
        let key = cursor.key()?;
        match (key, cursor.peek()?) {
            (b"message", b'{') => {
                cursor.eat(b'{')?;
                // The role comes first in every message that pi writes.
                if cursor.key()? != b"role" {
                    return None;
                }
                break match cursor.string()? {
                    b"assistant" => Author::Model,
                    _ => Author::Other,
                };
            }
            (_, b'{' | b'[') => {
                // An object before the type: only a parse can tell. One in any entry but a message: no turn.
                if kind? == b"message" {
                    return None;
                }
                break Author::Other;
            }
            (_, b'"') => {
                let value = cursor.string()?;
                match key {
                    b"type" => kind = Some(value),
                    b"id" => id = Some(digest(value)),
                    b"parentId" => parent = Some(Parent::Id(digest(value))),
                    _ => {}
                }
            }
            _ => {
                let value = cursor.word()?;
                if key == b"parentId" && value == b"null" {
                    parent = Some(Parent::Root);
                }
            }
        }
        match cursor.peek()? {
            b',' => cursor.at += 1,
            b'}' if kind? != b"message" => break Author::Other,
            _ => return None,
        }
    };
    let kind = std::str::from_utf8(kind?).ok()?;
    let author = if kind == "message" { author } else { Author::Other };
    let place = id.zip(parent).map(|(id, parent)| Place { id: Some(id), parent });
    Some(Head { known_kind: is_known(kind), header: kind == "session", message: kind == "message", author, place })
}

/// Whether `"stopReason":"error"` may stand in the line, with any white space around the colon. Certain where it says no: JSON
/// could write these letters as `\u0073`, but neither pi's `JSON.stringify` nor any other writer does.
pub(crate) fn may_have_failed(line: &[u8], finder: &memmem::Finder<'_>) -> bool {
    finder.find_iter(line).any(|at| {
        let mut cursor = Cursor { bytes: line, at: at + finder.needle().len() };
        cursor.eat(b':').and_then(|()| cursor.string()) == Some(b"error".as_slice())
    })
}

/// Finds the key that [`may_have_failed`] looks for.
pub(crate) fn stop_reason_finder() -> memmem::Finder<'static> {
    memmem::Finder::new(b"\"stopReason\"")
}

/// A parsed line.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    pub(crate) kind: Option<String>,
    pub(crate) place: Place,
    pub(crate) timestamp: Option<String>,
    pub(crate) version: Option<u64>,
    pub(crate) parent_session: Option<String>,
    /// The message without its content and usage.
    pub(crate) message: Option<Map<String, Value>>,
}

impl Entry {
    /// A string field of the message.
    pub(crate) fn text(&self, field: &str) -> Option<&str> {
        self.message.as_ref()?.get(field)?.as_str()
    }

    pub(crate) fn is_turn(&self) -> bool {
        self.kind.as_deref() == Some("message") && self.text("role") == Some("assistant")
    }
}

/// Parses a line; `None` if it is no JSON object. Half surrogate pairs are read as U+FFFD.
pub(crate) fn parse(line: &[u8]) -> Option<Entry> {
    // Most lines have no such escape at all, and a search tells so faster than a walk over every backslash.
    let whole = if memmem::find(line, b"\\u").is_some() { replace_lone_surrogates(line) } else { Cow::Borrowed(line) };
    match serde_json::from_slice(&whole) {
        Ok(entry) => Some(entry),
        // Bytes that are not UTF-8 come from a cut or a wrong editor; the rest of the line is still good.
        Err(_) if std::str::from_utf8(line).is_err() => {
            let text = String::from_utf8_lossy(line);
            serde_json::from_slice(&replace_lone_surrogates(text.as_bytes())).ok()
        }
        Err(_) => None,
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Entry;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entry, A::Error> {
                let mut entry = Entry::default();
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "type" => entry.kind = map.next_value::<Scalar>()?.into_string(),
                        "id" => {
                            entry.place.id = map.next_value::<Scalar>()?.into_string().map(|id| digest(id.as_bytes()))
                        }
                        "parentId" => {
                            entry.place.parent = match map.next_value::<Scalar>()? {
                                Scalar(Value::String(id)) => Parent::Id(digest(id.as_bytes())),
                                _ => Parent::Root,
                            }
                        }
                        "timestamp" => entry.timestamp = map.next_value::<Scalar>()?.into_string(),
                        "version" => entry.version = map.next_value::<Scalar>()?.0.as_u64(),
                        "parentSession" | "branchedFrom" => {
                            entry.parent_session = map.next_value::<Scalar>()?.into_string();
                        }
                        "message" => entry.message = map.next_value::<Message>()?.0,
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(entry)
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// A string, number, boolean or null; objects and arrays are skipped and read as null.
struct Scalar(Value);

impl Scalar {
    fn into_string(self) -> Option<String> {
        match self.0 {
            Value::String(text) => Some(text),
            _ => None,
        }
    }
}

/// The fields of a message but for its content and usage; `None` where it is no object.
struct Message(Option<Map<String, Value>>);

/// The methods that every lenient visitor below shares: what is not expected is skipped.
macro_rules! skip_other {
    ($($method:ident($kind:ty)),*; $other:expr) => {
        $(fn $method<E: serde::de::Error>(self, _: $kind) -> Result<Self::Value, E> {
            Ok($other)
        })*

        fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
            Ok($other)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            Ok($other)
        }
    };
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Message;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a message")
            }

            skip_other!(visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str); Message(None));

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Message, A::Error> {
                let mut fields = Map::new();
                while let Some(key) = map.next_key::<String>()? {
                    if matches!(key.as_str(), "content" | "usage") {
                        map.next_value::<IgnoredAny>()?;
                    } else {
                        fields.insert(key, map.next_value()?);
                    }
                }
                Ok(Message(Some(fields)))
            }
        }
        deserializer.deserialize_any(Fields)
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Scalar;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a value")
            }

            skip_other!(visit_bool(bool), visit_f64(f64); Scalar(Value::Null));

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Scalar, E> {
                Ok(Scalar(number.into()))
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Scalar, E> {
                Ok(Scalar(number.into()))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Scalar, E> {
                Ok(Scalar(text.into()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Scalar(Value::Null))
            }
        }
        deserializer.deserialize_any(Any)
    }
}
