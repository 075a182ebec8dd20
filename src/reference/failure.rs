//! What is known of a failed turn: its text, and the HTTP status with where it came from.

use crate::reference::body;
use crate::reference::matcher::Pattern;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::LazyLock;

/// The text that the shim puts before an error so that pi retries it.
pub const REWRITE_PREFIX: &str = "503 service unavailable (retry-forced): ";

/// Where a status was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatusSource {
    /// `errorStatus` on the message, which some fork sets.
    Message,
    /// `diagnostics[].details.status`: two of pi's providers keep it there, a patched pi-ai all.
    Diagnostics,
    /// The frame that pi or a wrapper puts around the body, at the very start of the text.
    Text,
    /// Seen on the wire and handed in by the caller.
    Observed,
    /// The JSON body's own word.
    Body,
}

impl StatusSource {
    /// The name used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Diagnostics => "diagnostics",
            Self::Text => "text",
            Self::Observed => "observed",
            Self::Body => "body",
        }
    }
}

/// An assistant message, as far as the decision needs it.
///
/// A turn is *failed* when its stop reason is `error` and it has a text; nothing else is ever judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// `errorMessage`; `None` where the message has none.
    pub text: Option<String>,
    /// `stopReason`.
    pub stop_reason: String,
    /// `errorStatus`, if it is an HTTP failure (400 to 599).
    pub error_status: Option<u16>,
    /// The first `diagnostics[].details.status` that is an HTTP failure.
    pub diagnostics_status: Option<u16>,
    /// A status seen on the wire, if it is an HTTP failure.
    pub observed: Option<u16>,
}

impl Failure {
    /// A failed turn of which only the text is known.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            stop_reason: "error".to_owned(),
            error_status: None,
            diagnostics_status: None,
            observed: None,
        }
    }

    /// The same failure with a status that was seen on the wire. Anything but 400 to 599 says nothing.
    #[must_use]
    pub fn observed(mut self, status: Option<u16>) -> Self {
        self.observed = status.filter(|s| is_failure(u64::from(*s)));
        self
    }

    /// Reads an assistant message: `errorMessage`, `stopReason` (default `error`), `errorStatus`, `diagnostics`, and
    /// `status` for one seen on the wire. Fields of another type count as absent.
    pub fn from_json(message: &Map<String, Value>) -> Self {
        let status = |value: Option<&Value>| value.and_then(number);
        Self {
            text: message.get("errorMessage").and_then(Value::as_str).map(str::to_owned),
            stop_reason: match message.get("stopReason") {
                None | Some(Value::Null) => "error".to_owned(),
                Some(Value::String(reason)) => reason.clone(),
                Some(_) => String::new(),
            },
            error_status: status(message.get("errorStatus")),
            diagnostics_status: message
                .get("diagnostics")
                .and_then(Value::as_array)
                .and_then(|list| list.iter().find_map(|d| status(d.get("details").and_then(|d| d.get("status"))))),
            observed: status(message.get("status")),
        }
    }

    /// The text, if this is a failed turn.
    pub fn failed_text(&self) -> Option<&str> {
        self.text.as_deref().filter(|text| self.stop_reason == "error" && !text.is_empty())
    }

    /// The status that pi keeps beside the text.
    fn structured(&self) -> Option<(u16, StatusSource)> {
        let diagnostics = self.diagnostics_status.map(|s| (s, StatusSource::Diagnostics));
        diagnostics.or_else(|| self.error_status.map(|s| (s, StatusSource::Message)))
    }

    /// The structured status, unless the text starts with another: then somebody rewrote it afterwards, and means it.
    pub(crate) fn structured_status(&self, text: &str) -> Option<(u16, StatusSource)> {
        self.structured().map(|known| text_frame(text, &PI_FRAME).map_or(known, |frame| either(frame, known)))
    }

    /// The status by the sources that a patched pi-ai has: the text's frame, and the structured one.
    pub(crate) fn framed_status(&self, text: &str) -> Option<(u16, StatusSource)> {
        match (text_frame(text, &FRAME), self.structured()) {
            (Some(frame), Some(known)) => Some(either(frame, known)),
            (Some(frame), None) => Some((frame, StatusSource::Text)),
            (None, known) => known,
        }
    }

    /// The status by all sources, first that applies. An HTTP 400 whose body names another status is judged by that.
    pub(crate) fn any_status(&self, text: &str) -> Option<(u16, StatusSource)> {
        let outer = self.framed_status(text).or_else(|| self.observed.map(|s| (s, StatusSource::Observed)));
        match outer {
            Some((400, source)) => match body::read(text).explicit() {
                Some(inner) if inner != 400 => Some((inner, StatusSource::Body)),
                _ => Some((400, source)),
            },
            Some(found) => Some(found),
            None => body::read(text).status().map(|s| (s, StatusSource::Body)),
        }
    }
}

fn either(frame: u16, known: (u16, StatusSource)) -> (u16, StatusSource) {
    if frame == known.0 { known } else { (frame, StatusSource::Text) }
}

fn is_failure(status: u64) -> bool {
    (400..=599).contains(&status)
}

/// A JSON number as a status; `503.0` is the integer 503 to JavaScript and so to us.
fn number(value: &Value) -> Option<u16> {
    let status = match value.as_u64() {
        Some(n) => n,
        None => {
            let float = value.as_f64().filter(|f| f.fract() == 0.0 && (400.0..=599.0).contains(f))?;
            float as u64
        }
    };
    u16::try_from(status).ok().filter(|s| is_failure(u64::from(*s)))
}

/// The ways in which pi and usual wrappers put a status at the start of a text, up to its first digit. Digits anywhere else are an id, a
/// limit, an index or a model's name, never a status.
const FRAME_LEADS: &[&str] = &[
    // `400 {…`, `400: {…`, `429 Too Many Requests: …`
    "",
    // `<provider> API error (400): …`
    r"[ !#-;=?-z|]{1,80} error \(",
    // `Error: 400 …`, `API Error: 400 …`, `Request failed: 400 …`
    r"(?:(?:ai|api|capi|http|request|upstream|provider|server|gateway|ai_apicall)[ _]?)?(?:error|failed): ?",
    // `Unknown: 400: …`, how pi frames an unmodelled Bedrock failure
    "unknown: ",
    // `HTTP 400: …`, `HTTP/1.1 400 …`, `HTTP error 400`
    r"http(?:/[0-9.]{1,3})?[ :]{1,2}",
    // `Request failed with status: 529`, `Invalid status code 429 …`, `status_code=500, …`, `Error code: 429 - …`
    // `Server returned HTTP response code: 503 …`, `curl: (22) The requested URL returned error: 503`
    r"(?:curl: \([0-9]{1,3}\) )?(?:[a-z][a-z0-9_.'-]{0,60}[ ,:]{1,2}){0,12}(?:status[ _]?code|response code|returned error|server response|(?:bad|error|got|http|invalid|response|returned|unexpected|with) status|error code|http error)(?: is| was)?[ :=]{1,3}",
    // `Upstream returned 502`, `server responded with HTTP 503`
    r"(?:the )?(?:gateway|provider|proxy|relay|server|upstream) (?:answered|failed|responded|returned)(?: with)?(?: an?)?(?: http)?(?: error| status)?[ :]{1,2}",
    // `[GoogleGenerativeAI Error]: Error fetching from https://…: [429 Too Many Requests] …`
    r"\[googlegenerativeai error\]: error fetching from [!-~]{1,255}: \[",
];

/// What may follow the three digits of a frame.
const FRAME_END: &str = r#"(?:[\t\n\r :;<>{}()\[\]"'/|]|, |：|，|$)"#;

/// pi's own frames, for the submission to upstream: `400 …`, `400: …`, `<provider> API error (400): …` and
/// `Unknown: 400: …`. Group 1 is the status.
pub static PI_FRAME: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(r"^(?:|[a-z0-9_ .-]+ api error \(|unknown: )([45][0-9]{2})(?:[\t\n\r :)]|$)")
        .expect("the frame is in the subset, a test checks it")
});

/// pi's own frames and the usual wrappers as one pattern; group 1 is the status.
pub static FRAME: LazyLock<Pattern> = LazyLock::new(|| {
    let leads = FRAME_LEADS.join("|");
    Pattern::new(&format!("^(?:{leads})([45][0-9]{{2}}){FRAME_END}"))
        .expect("the frame is in the subset, a test checks it")
});

fn text_frame(text: &str, frame: &Pattern) -> Option<u16> {
    // Most texts start with the status itself, and most others with nothing like a frame.
    let bytes = text.as_bytes();
    if let [a @ b'4'..=b'5', b @ b'0'..=b'9', c @ b'0'..=b'9', rest @ ..] = bytes {
        if matches!(rest.first(), None | Some(b' ' | b':')) {
            return Some(u16::from(a - b'0') * 100 + u16::from(b - b'0') * 10 + u16::from(c - b'0'));
        }
    } else if !matches!(bytes.first(), Some(b'!' | b' ' | b'#'..=b';' | b'=' | b'?'..=b'z' | b'|')) {
        return None;
    }
    // The match ends with the status and at most two characters that are no digits; finding it is far cheaper than
    // asking for the group.
    let found = frame.regex().find(text)?.as_str().trim_end_matches(|c: char| !c.is_ascii_digit());
    found.get(found.len() - 3..)?.parse().ok()
}

/// Request ids in all the ways that relays and providers write them, one alternative each.
const REQUEST_ID_FORMS: &[&str] = &[
    // `(request id: …)`, `"request_id":"…"`, `RequestID: …`, `trace_id=…`, `Ray ID: …`, plain or JSON-escaped
    r#"\(?\<(?:x-)?(?:amzn?-|correlation|event|log|ray|req|request|span|trace)[ _-]?id\>[\\"' ]{0,4}[:=]{1,2}[\\"' ]{0,4}[a-z0-9_.:/+=@-]+[\\"']{0,4}\)?"#,
    // `request ID a665d5a9…` without a colon: an id has a digit, a word has none
    r"\<(?:request|trace|correlation)[ _-]id [a-z_-]{0,64}[0-9][a-z0-9_-]*",
    // `req_…`, `chatcmpl-…` and the like, wherever they stand
    r"\<req[_-][a-z0-9_-]{4}[a-z0-9_-]*",
    r"\<(?:chatcmpl|gen|msg|resp|rs)[_-][a-z0-9]{16}[a-z0-9]*",
    // UUIDs, trace ids of 32 hex digits, and a relay's own ids, which start with a date and time
    r"\<[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\>",
    r"\<[0-9a-f]{32}\>",
    r"\<[0-9]{14}[a-z0-9]*",
];

/// All forms of request ids as one pattern.
pub static REQUEST_ID: LazyLock<Pattern> = LazyLock::new(|| {
    Pattern::new(&REQUEST_ID_FORMS.join("|")).expect("the forms of request ids are in the subset, a test checks it")
});

/// Replaces each request id by a line break, so that no pattern can read it or reach across it.
pub fn cut_request_ids(text: &str) -> Cow<'_, str> {
    if may_hold_id(text.as_bytes()) { REQUEST_ID.regex().replace_all(text, "\n") } else { Cow::Borrowed(text) }
}

/// A quick look that spares most texts the search: every form has a long run of letters and digits, or a run of eight
/// before a hyphen, or a word that ends in `id`, or `req` before `_` or `-`.
fn may_hold_id(text: &[u8]) -> bool {
    let mut start = 0;
    for (at, byte) in text.iter().enumerate() {
        if byte.is_ascii_alphanumeric() {
            continue;
        }
        if run_may_be_id(&text[start..at], *byte) {
            return true;
        }
        start = at + 1;
    }
    run_may_be_id(&text[start..], b' ')
}

fn run_may_be_id(run: &[u8], next: u8) -> bool {
    match run {
        _ if run.len() >= 14 => true,
        [.., l, i, d] if i.eq_ignore_ascii_case(&b'i') && d.eq_ignore_ascii_case(&b'd') => {
            // "valid" and "invalid" are no labels.
            !l.eq_ignore_ascii_case(&b'l')
        }
        [i, d] => i.eq_ignore_ascii_case(&b'i') && d.eq_ignore_ascii_case(&b'd'),
        [..] if next == b'-' && run.len() == 8 => true,
        [r, e, q] => matches!(next, b'-' | b'_') && [*r, *e, *q].eq_ignore_ascii_case(b"req"),
        _ => false,
    }
}

/// Whether a text carries our own prefix.
pub(crate) fn is_rewritten(text: &str) -> bool {
    text.starts_with(REWRITE_PREFIX)
}
