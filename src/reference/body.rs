//! The JSON body's own word about its status.
//!
//! Bodies arrive cut off in the middle, inside other text, or written as Python prints them, so this is no JSON
//! parser: it walks the structure as far as it goes and looks at a few keys of the envelope. What stands inside a
//! string, or below any other key, belongs to somebody's request and says nothing.

/// What a body says of its status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BodyStatus {
    /// The event that an AWS event stream names, whatever number stands beside it.
    event: Option<u16>,
    /// The first `code`, `status`, … that is a number from 400 to 599.
    number: Option<u16>,
    /// The first gRPC status name.
    grpc: Option<u16>,
    /// The first error type of Anthropic's list.
    kind: Option<u16>,
}

impl BodyStatus {
    pub(crate) fn status(self) -> Option<u16> {
        self.explicit().or(self.grpc).or(self.kind)
    }

    /// What outweighs an HTTP 400, which relays put on everything: an event's own name, else a number.
    pub(crate) fn explicit(self) -> Option<u16> {
        self.event.or(self.number)
    }
}

/// Objects below these keys are still the envelope.
pub(crate) const ENVELOPE_KEYS: &[&str] = &["error", "errors", "response", "detail", "headers"];
/// Keys of the envelope whose numbers are a status.
pub(crate) const STATUS_KEYS: &[&str] = &["code", "status", "status_code", "statusCode", "http_status"];
/// Keys whose words name the event of an AWS event stream.
pub(crate) const EVENT_KEYS: &[&str] = &[":exception-type", ":error-code"];
/// Keys of the envelope whose words may name a status.
pub(crate) const WORD_KEYS: &[&str] = &["code", "status", "type"];

/// gRPC status names and the HTTP status that Google's APIs send with them. `ALREADY_EXISTS` shares 409 with
/// `ABORTED`, but a second try cannot help it.
pub(crate) const GRPC_NAMES: &[(&str, u16)] = &[
    ("INVALID_ARGUMENT", 400),
    ("FAILED_PRECONDITION", 400),
    ("OUT_OF_RANGE", 400),
    ("UNAUTHENTICATED", 401),
    ("PERMISSION_DENIED", 403),
    ("NOT_FOUND", 404),
    ("ABORTED", 409),
    ("RESOURCE_EXHAUSTED", 429),
    ("CANCELLED", 499),
    ("INTERNAL", 500),
    ("UNKNOWN", 500),
    ("DATA_LOSS", 500),
    ("UNAVAILABLE", 503),
    ("DEADLINE_EXCEEDED", 504),
];

/// Anthropic's error types and their statuses. `invalid_request_error` is missing on purpose: relays put it on
/// everything.
pub(crate) const ERROR_TYPES: &[(&str, u16)] = &[
    ("authentication_error", 401),
    ("billing_error", 402),
    ("permission_error", 403),
    ("not_found_error", 404),
    ("request_too_large", 413),
    ("rate_limit_error", 429),
    ("api_error", 500),
    ("timeout_error", 504),
    ("overloaded_error", 529),
];

/// AWS's exceptions, in lower case, and the statuses that Bedrock sends with them.
pub(crate) const EVENTS: &[(&str, u16)] = &[
    ("validationexception", 400),
    ("accessdeniedexception", 403),
    ("resourcenotfoundexception", 404),
    ("servicequotaexceededexception", 402),
    ("modeltimeoutexception", 408),
    ("modelerrorexception", 424),
    ("modelstreamerrorexception", 500),
    ("throttlingexception", 429),
    ("modelnotreadyexception", 429),
    ("internalserverexception", 500),
    ("internalfailure", 500),
    ("serviceunavailableexception", 503),
];

/// How many `{` are tried as the start of a body, so that braces in prose do not hide it.
pub(crate) const MAX_STARTS: usize = 8;

/// Reads the first body in a text. Never fails: where the structure breaks off, what was seen so far counts.
pub(crate) fn read(text: &str) -> BodyStatus {
    let bytes = text.as_bytes();
    let mut found = BodyStatus::default();
    for (tries, at) in memchr::memchr_iter(b'{', bytes).enumerate() {
        if tries == MAX_STARTS {
            break;
        }
        // An object starts with a quoted key; `{org}` does not.
        let mut walk = Walk { bytes, at: at + 1, found: BodyStatus::default() };
        walk.skip_space();
        if matches!(walk.peek(), Some(b'"' | b'\'')) {
            walk.run();
            found = walk.found;
            break;
        }
    }
    found
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    found: BodyStatus,
}

impl<'a> Walk<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Walks from inside the root object to its end or as far as the structure holds.
    fn run(&mut self) {
        // How deep we are, and up to which depth the containers are the envelope.
        let (mut depth, mut envelope) = (1_usize, 1_usize);
        let mut key: &[u8] = b"";
        while let Some(byte) = self.peek() {
            match byte {
                b'{' | b'[' => {
                    let inside = envelope == depth && (key.is_empty() || one_of(ENVELOPE_KEYS, key));
                    depth += 1;
                    if inside {
                        envelope = depth;
                    }
                    key = b"";
                    self.at += 1;
                }
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        return;
                    }
                    envelope = envelope.min(depth);
                    key = b"";
                    self.at += 1;
                }
                b'"' | b'\'' => {
                    let Some(string) = self.string() else { return };
                    let after = self.at;
                    self.skip_space();
                    if self.peek() == Some(b':') {
                        self.at += 1;
                        key = string;
                    } else {
                        self.at = after;
                        if envelope == depth {
                            self.word(key, string);
                        }
                        key = b"";
                    }
                }
                b'0'..=b'9' | b'-' => {
                    let number = self.scalar();
                    if envelope == depth {
                        self.number(key, number);
                    }
                    key = b"";
                }
                _ => self.at += 1,
            }
        }
    }

    /// The raw content of the string that starts here; `None` where the text ends inside it.
    fn string(&mut self) -> Option<&'a [u8]> {
        let quote = self.bytes[self.at];
        let start = self.at + 1;
        let mut at = start;
        loop {
            match *self.bytes.get(at)? {
                b'\\' => at += 2,
                byte if byte == quote => break,
                _ => at += 1,
            }
        }
        self.at = at + 1;
        Some(&self.bytes[start..at])
    }

    fn scalar(&mut self) -> &'a [u8] {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9' | b'-' | b'+' | b'.' | b'a'..=b'z' | b'A'..=b'Z')) {
            self.at += 1;
        }
        &self.bytes[start..self.at]
    }

    fn number(&mut self, key: &[u8], number: &[u8]) {
        if let ([a @ b'4'..=b'5', b @ b'0'..=b'9', c @ b'0'..=b'9'], None) = (number, self.found.number)
            && one_of(STATUS_KEYS, key)
        {
            self.found.number = Some(u16::from(a - b'0') * 100 + u16::from(b - b'0') * 10 + u16::from(c - b'0'));
        }
    }

    fn word(&mut self, key: &[u8], word: &[u8]) {
        if one_of(EVENT_KEYS, key) {
            self.found.event = self.found.event.or_else(|| look_up(EVENTS, &word.to_ascii_lowercase()));
        }
        if one_of(WORD_KEYS, key) {
            self.found.grpc = self.found.grpc.or_else(|| look_up(GRPC_NAMES, word));
            self.found.kind = self.found.kind.or_else(|| look_up(ERROR_TYPES, word));
        }
    }
}

fn one_of(keys: &[&str], key: &[u8]) -> bool {
    keys.iter().any(|k| k.as_bytes() == key)
}

fn look_up(names: &[(&str, u16)], word: &[u8]) -> Option<u16> {
    names.iter().find(|(name, _)| name.as_bytes() == word).map(|(_, status)| *status)
}
