//! Builds failure texts from what they are made of in the field: status × frame × body × wording × request ids.
//!
//! Nothing here asks the code under test: what a text is made of is known by construction, so that a law can exchange one
//! part, most of all the ids, and say what must not change.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::string::string_regex;
use regex::Regex;
use serde_json::{Value, json};

/// A request id as a relay or provider writes it, with the words around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId {
    /// The id alone.
    pub value: String,
    /// How the message mentions it.
    pub mention: Mention,
}

/// Where a message carries its request id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mention {
    /// ` (request id: …)`, the way of new-api and one-api.
    Suffix,
    /// `, request_id: …`
    Field,
    /// ` RequestID: …`
    Aws,
    /// ` [trace_id=…]`
    Trace,
}

impl RequestId {
    /// The id with the words around it, to be put behind a message.
    pub fn text(&self) -> String {
        let id = &self.value;
        match self.mention {
            Mention::Suffix => format!(" (request id: {id})"),
            Mention::Field => format!(", request_id: {id}"),
            Mention::Aws => format!(" RequestID: {id}"),
            Mention::Trace => format!(" [trace_id={id}]"),
        }
    }
}

/// How the client puts the status, if at all, before the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// `400 BODY`
    Anthropic,
    /// `400: BODY`
    Completions,
    /// `relay API error (400): BODY`
    Responses,
    /// `Azure OpenAI API error (400): BODY`
    Azure,
    /// `Mistral API error (400): BODY`
    Mistral,
    /// `Unknown: 400: BODY`
    Bedrock,
    /// `400 Bad Request: BODY`
    PiMessages,
    /// `API Error: 400 BODY`
    ApiError,
    /// `Error: 400 BODY`
    Error,
    /// `status_code=400, BODY`
    StatusCode,
    /// `HTTP 400: BODY`
    Http,
    /// `Invalid status code 400 BODY`
    InvalidStatus,
    /// The body alone: google and codex name no status.
    Bare,
}

impl Frame {
    /// Every frame.
    pub const ALL: [Frame; 13] = [
        Frame::Anthropic,
        Frame::Completions,
        Frame::Responses,
        Frame::Azure,
        Frame::Mistral,
        Frame::Bedrock,
        Frame::PiMessages,
        Frame::ApiError,
        Frame::Error,
        Frame::StatusCode,
        Frame::Http,
        Frame::InvalidStatus,
        Frame::Bare,
    ];

    /// Whether the text names the status.
    pub fn names_status(self) -> bool {
        self != Frame::Bare
    }

    /// The whole text.
    pub fn text(self, status: u16, body: &str) -> String {
        match self {
            Frame::Anthropic => format!("{status} {body}"),
            Frame::Completions => format!("{status}: {body}"),
            Frame::Responses => format!("relay API error ({status}): {body}"),
            Frame::Azure => format!("Azure OpenAI API error ({status}): {body}"),
            Frame::Mistral => format!("Mistral API error ({status}): {body}"),
            Frame::Bedrock => format!("Unknown: {status}: {body}"),
            Frame::PiMessages => format!("{status} {}: {body}", reason_phrase(status)),
            Frame::ApiError => format!("API Error: {status} {body}"),
            Frame::Error => format!("Error: {status} {body}"),
            Frame::StatusCode => format!("status_code={status}, {body}"),
            Frame::Http => format!("HTTP {status}: {body}"),
            Frame::InvalidStatus => format!("Invalid status code {status} {body}"),
            Frame::Bare => body.to_owned(),
        }
    }
}

fn reason_phrase(status: u16) -> &'static str {
    match status {
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        408 => "Request Timeout",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Status",
    }
}

/// The shape of the answer's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// The message alone.
    Plain,
    /// `{"error":{"message":…,"type":…,"param":…,"code":…}}`
    OpenAi,
    /// What OpenAI's SDK leaves of it: the inner object.
    OpenAiInner,
    /// `{"type":"error","error":{"type":…,"message":…}}`
    Claude,
    /// The same with its keys sorted, as new-api writes it.
    ClaudeSorted,
}

impl Body {
    /// Every shape.
    pub const ALL: [Body; 5] = [Body::Plain, Body::OpenAi, Body::OpenAiInner, Body::Claude, Body::ClaudeSorted];

    /// The body around a message. Nothing in it but the message bears on a verdict.
    pub fn text(self, message: &str) -> String {
        let open_ai = json!({ "message": message, "type": "new_api_error", "param": "", "code": Value::Null });
        let claude = json!({ "type": "invalid_request_error", "message": message });
        match self {
            Body::Plain => message.to_owned(),
            Body::OpenAi => json!({ "error": open_ai }).to_string(),
            Body::OpenAiInner => open_ai.to_string(),
            Body::Claude => json!({ "type": "error", "error": claude }).to_string(),
            Body::ClaudeSorted => {
                let sorted = json!({ "message": message, "type": "invalid_request_error" });
                json!({ "error": sorted, "type": "error" }).to_string()
            }
        }
    }
}

/// A failure text in its parts.
#[derive(Clone, Debug)]
pub struct Relayed {
    /// The HTTP status, which a bare frame does not show.
    pub status: u16,
    /// How the status is put.
    pub frame: Frame,
    /// The body's shape.
    pub body: Body,
    /// The message without its ids.
    pub wording: String,
    /// The ids behind it; relays in a chain add one each.
    pub ids: Vec<RequestId>,
}

impl Relayed {
    /// The `errorMessage`.
    pub fn text(&self) -> String {
        let ids: String = self.ids.iter().map(RequestId::text).collect();
        self.frame.text(self.status, &self.body.text(&format!("{}{ids}", self.wording)))
    }

    /// The same failure with other ids.
    pub fn with_ids(&self, ids: Vec<RequestId>) -> Relayed {
        Relayed { ids, ..self.clone() }
    }
}

fn matching(pattern: &str) -> impl Strategy<Value = String> + use<> {
    string_regex(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"))
}

/// The time, in 14 digits, that new-api and one-api begin their ids with.
const TIME: &str = "202[5-9](0[1-9]|1[0-2])(0[1-9]|1[0-9]|2[0-8])([01][0-9]|2[0-3])[0-5][0-9][0-5][0-9]";

/// An id of new-api: time, nanoseconds without padding, and 8 or, in newer ones, 16 alphanumerics.
pub fn new_api_id() -> impl Strategy<Value = String> {
    matching(&format!("{TIME}[1-9][0-9]{{0,8}}([0-9A-Za-z]{{8}}|[0-9A-Za-z]{{16}})"))
}

/// An id of any format that is known from relays and providers.
pub fn id_value() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => new_api_id(),
        1 => matching(&format!("{TIME}[1-9][0-9]{{0,8}}[0-9]{{8}}")),
        1 => matching("[0-9]{32}"),
        1 => matching("[0-9a-f]{32}"),
        1 => matching("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"),
        1 => matching("req_[0-9A-Za-z]{24}"),
        1 => matching("req_[0-9a-f]{32}"),
    ]
}

/// An id with the words around it.
pub fn request_id() -> impl Strategy<Value = RequestId> {
    let mention = select(vec![Mention::Suffix, Mention::Suffix, Mention::Field, Mention::Aws, Mention::Trace]);
    (id_value(), mention).prop_map(|(value, mention)| RequestId { value, mention })
}

/// No id, one, or a chain of up to four.
pub fn request_ids() -> impl Strategy<Value = Vec<RequestId>> {
    vec(request_id(), 0..=4)
}

/// Statuses that deserve another attempt over a neutral body.
pub const TRANSIENT: [u16; 13] = [408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529, 530];
/// Statuses that do not.
pub const FINAL: [u16; 8] = [400, 401, 402, 403, 404, 405, 410, 422];

/// Any of the statuses above.
pub fn status() -> impl Strategy<Value = u16> {
    select([&TRANSIENT[..], &FINAL[..]].concat())
}

/// Messages that say nothing about a cause.
pub fn neutral_wording() -> impl Strategy<Value = String> {
    let list = [
        "openai_error",
        "The request could not be completed.",
        "bad response",
        "See the console for details.",
        "请求失败",
    ];
    select(list.map(str::to_owned).to_vec())
}

/// A failure text around a message from `wording`.
pub fn relayed(wording: impl Strategy<Value = String>) -> impl Strategy<Value = Relayed> {
    (status(), select(Frame::ALL.to_vec()), select(Body::ALL.to_vec()), wording, request_ids())
        .prop_map(|(status, frame, body, wording, ids)| Relayed { status, frame, body, wording, ids })
}

/// Texts that match one of these JavaScript patterns, or would but for what look-around asks of their neighbours.
pub fn pattern_hit(patterns: &[String]) -> impl Strategy<Value = String> + use<> {
    let look_around = Regex::new(r"\(\?<?[!=][^()]*\)").expect("a valid regex");
    let hits: Vec<_> = patterns.iter().map(|pattern| matching(&look_around.replace_all(pattern, "")).boxed()).collect();
    proptest::strategy::Union::new(hits)
}

/// Characters at which engines and spellings part: case folding, line ends, white space, surrogates, edges of words.
pub const EDGES: [&str; 22] = [
    "\u{17F}",
    "\u{212A}",
    "\u{2028}",
    "\u{2029}",
    "\u{FEFF}",
    "\u{A0}",
    "\u{180E}",
    "\u{85}",
    "\u{131}",
    "\u{130}",
    "😀",
    "\u{10FFFF}",
    "é",
    "\r",
    "\n",
    "\t",
    "_",
    "-",
    "0",
    "a",
    "Z",
    "\0",
];

/// The text with some letters in the other case, letters outside ASCII that look like them, and edge characters put in.
pub fn edged(text: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let changes = vec((any::<prop::sample::Index>(), select((0..EDGES.len() + 3).collect::<Vec<_>>())), 0..4);
    (text, changes).prop_map(|(text, changes)| {
        let mut parts: Vec<String> = text.chars().map(String::from).collect();
        for (at, change) in changes {
            let at = at.index(parts.len() + 1);
            match (change.checked_sub(EDGES.len()), parts.get_mut(at)) {
                (None, _) => parts.insert(at, EDGES[change].to_owned()),
                (Some(0), Some(part)) => *part = part.to_uppercase(),
                (Some(1), Some(part)) => *part = part.to_lowercase(),
                (Some(_), Some(part)) => *part = part.replace(['s', 'S'], "\u{17F}").replace(['k', 'K'], "\u{212A}"),
                (Some(_), None) => {}
            }
        }
        parts.concat()
    })
}

/// Texts of every kind around these patterns: hits, near misses, relayed ones, joined ones, noise.
pub fn around_patterns(patterns: &[String]) -> impl Strategy<Value = String> + use<> {
    let hit = pattern_hit(patterns).boxed();
    prop_oneof![
        3 => edged(hit.clone()),
        3 => relayed(prop_oneof![neutral_wording(), edged(hit.clone())]).prop_map(|failure| failure.text()),
        1 => edged(relayed(hit.clone()).prop_map(|failure| failure.text())),
        1 => (hit.clone(), edged(hit.clone())).prop_map(|(first, second)| first + &second),
        1 => (hit, any::<prop::sample::Index>()).prop_map(|(hit, at)| hit.chars().take(at.index(hit.len() + 1)).collect()),
        2 => matching("([a-zA-Z_é .,:/-]{0,2}(4[0-9]{2}|5[0-9]{2}|1308)){1,3}[a-zA-Z_é .,:/-]{0,2}"),
        1 => any::<String>(),
    ]
}
