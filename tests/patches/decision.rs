//! A decision to render: what pi 1.6.0 knows, split by status, and a few groups of every kind besides.

use std::collections::BTreeMap;

use pi_retry_forced::patch::{Classifier, Decision, Group, Pattern, When};

const STOP: &[&str] = &[
    "GoUsageLimitError",
    "FreeUsageLimitError",
    "Monthly usage limit reached",
    "available balance",
    "insufficient_quota",
    "out of budget",
    "quota exceeded",
    "billing",
    "subscription_sharing_usage_limit_exceeded",
    "subscription_sharing_workplace_individual_usage_limit_exceeded",
    r#""code"\s*:\s*"?1308(?![0-9])"#,
];

const PROVIDER: &[&str] = &[
    "overloaded",
    "server_busy",
    "servers are currently busy",
    "currently experiencing high demand",
    "model is at capacity",
    "too many requests",
    "provider.?returned.?(?:an.?)?error",
    "exceeded request buffer limit while retrying upstream",
    "unable to forward upstream",
    "upstream.?request.?failed",
    "upstream_stream_read_error",
];

const TRANSPORT: &[&str] = &[
    "rate.?limit",
    "service.?(?:is.?)?(?:temporarily.?)?unavailable",
    "server.?error",
    "internal.?error",
    "stream was interrupted",
    "http/?2 stream failed",
    "network.?error",
    "connection.?error",
    "connection.?refused",
    "connection.?lost",
    "connection.?closed",
    "other side closed",
    "fetch failed",
    r"request to \S+ failed, reason:",
    "getaddrinfo",
    "(?<![a-z0-9_])(?:ECONNRESET|ECONNABORTED|ECONNREFUSED|ETIMEDOUT|EPIPE)(?![a-z0-9_])",
    "connection reset by peer",
    "(?<![a-z0-9_])ENOTFOUND(?![a-z0-9_])",
    "EAI_AGAIN",
    "upstream.?connect",
    "reset before headers",
    "socket hang up",
    "socket connection was closed",
    "timed? out",
    "timeout",
    "terminated",
    "websocket.?closed",
    "websocket.?error",
    "websocket.?connection.?limit.?reached",
    "ended without",
    "stream ended before message_stop",
    "stream ended before a terminal response event",
    "http2 request did not get a response",
    "stream disconnected before completion",
    "cut short after the reply had begun",
    "pending stream has been canceled",
    "retry delay",
    "you can retry your request",
    "try your request again",
    "please retry your request",
    "ResourceExhausted",
    "subscription_sharing_usage_unavailable",
    "subscription_sharing_user_unavailable",
];

fn group(decision: Decision, when: &[When], patterns: &[&str], comment: &str) -> Group {
    let pattern = |js: &&str| Pattern { js: (*js).to_owned(), comment: comment.to_owned() };
    Group { decision, when: when.iter().copied().collect(), patterns: patterns.iter().map(pattern).collect() }
}

fn superseded() -> BTreeMap<String, Option<String>> {
    [
        ("ENOTFOUND", "(?<![a-z0-9_])ENOTFOUND(?![a-z0-9_])"),
        ("service.?unavailable", "service.?(?:is.?)?(?:temporarily.?)?unavailable"),
        ("provider.?returned.?error", "provider.?returned.?(?:an.?)?error"),
    ]
    .into_iter()
    .map(|(old, new)| (old.to_owned(), Some(new.to_owned())))
    .collect()
}

const FRAME: &str = r"^(?:API Error:? ?|Error:? ?|[a-z -]{1,40} API error \()?([45][0-9]{2})(?![a-z0-9])";

/// What would be proposed upstream.
pub(crate) fn upstream() -> Classifier {
    Classifier {
        frame: FRAME.to_owned(),
        own_prefix: None,
        groups: vec![
            group(Decision::Stop, &[When::NoStatus, When::ClientError], STOP, "Known upstream."),
            group(Decision::Retry, &[When::NoStatus, When::Status(400)], PROVIDER, "Known upstream."),
            group(Decision::Retry, &[When::NoStatus], TRANSPORT, "Known upstream."),
        ],
        superseded: superseded(),
    }
}

/// The same with every other kind of group.
pub(crate) fn patch() -> Classifier {
    let any = [When::NoStatus, When::ClientError, When::ServerError];
    let mut classifier = upstream();
    classifier.own_prefix = Some("503 service unavailable (retry-forced): ".to_owned());
    let comment = "A wording of the tests, with a sentence that is long enough to be broken into two lines of the comment, \
                   so that breaking is seen too.";
    classifier.groups.extend([
        group(Decision::Repair, &any, &["invalid.{0,4}signature"], comment),
        group(Decision::Stop, &any, &["account terminated", r#"no "such" model"#], comment),
        group(Decision::Stop, &[When::ClientError], &["client only"], comment),
        group(Decision::Stop, &[When::NoStatus, When::Status(402), When::Status(429)], &["plan limit"], comment),
        group(Decision::Wait, &any, &["retry in [1-5]?[0-9]s"], comment),
        group(Decision::Retry, &[When::Status(400)], &["request is not supported", "try again"], comment),
        group(Decision::Retry, &[When::Status(400), When::Status(422)], &["throttled"], comment),
    ]);
    classifier
}
