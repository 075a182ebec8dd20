//! Takes out of an error text what should not be shown: keys, tokens, ids, paths, addresses.
//!
//! Each kind is replaced by its name in brackets, so that the shape of the message stays readable. In doubt it masks: a word
//! too many is hidden rather than one secret shown.

use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use base64::Engine as _;
use regex::{Captures, Regex};

use super::secret::{has_digit, is_no_word, mask_named, mask_spaced};

/// Names of the kinds that the brackets hold.
pub(super) const NAMES: [&str; 14] = [
    "key", "token", "user", "value", "secret", "email", "arn", "path", "id", "ip", "number", "masked", "host", "phone",
];

/// What a pattern found, and where it stands.
struct Found<'a> {
    before: &'a str,
    value: &'a str,
    after: &'a str,
}

/// Decides whether it is to be hidden.
type Test = fn(Found<'_>) -> bool;

/// One kind of secret. `$1` of the pattern stays in front; group `v`, where there is one, is what the test looks at.
struct Kind {
    pattern: Regex,
    name: &'static str,
    test: Test,
}

fn always(_: Found<'_>) -> bool {
    true
}

fn digits(found: Found<'_>) -> bool {
    has_digit(found.value)
}

/// A segment of a path that is no word: `/v1/tokens/count` stays.
fn is_segment(found: Found<'_>) -> bool {
    is_no_word(found.value)
}

/// Credentials of the scheme, not its name in prose: a user and a password, joined by a colon and packed as base64.
fn is_basic(found: Found<'_>) -> bool {
    let packed = found.value.trim_end_matches('=');
    let unpacked = base64::engine::general_purpose::STANDARD_NO_PAD.decode(packed);
    is_no_word(found.value) || unpacked.is_ok_and(|bytes| bytes.contains(&b':'))
}

/// A long run of letters and digits that no language has: hexadecimal, base64, long numbers.
fn is_random(found: Found<'_>) -> bool {
    let value = found.value;
    let has = |test: fn(&u8) -> bool| value.as_bytes().iter().any(test);
    let (upper, lower) = (has(u8::is_ascii_uppercase), has(u8::is_ascii_lowercase));
    let digit = has_digit(value);
    let segments = || value.split(['-', '_', '/', '+', '=', '.']);
    let hex = |part: &str| part.len() >= 12 && has_digit(part) && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mixed = |part: &str| part.len() >= 16 && has_digit(part) && part.bytes().any(|byte| byte.is_ascii_alphabetic());
    segments().any(|part| hex(part) || mixed(part) || part.len() >= 32)
        || (value.len() >= 20 && upper && lower && digit)
        || (value.len() >= 32 && upper && lower && !value.contains(['-', '_', '/']))
}

/// Any address but those of this machine.
fn is_ipv4(found: Found<'_>) -> bool {
    found.value.parse::<Ipv4Addr>().is_ok_and(|ip| !ip.is_loopback() && !ip.is_unspecified())
}

/// An address in a range that is assigned, which neither a time nor a path in code such as `a::b` is in.
fn is_ipv6(found: Found<'_>) -> bool {
    let is_joined = |next: char| next.is_ascii_alphanumeric() || matches!(next, '_' | ':');
    if found.before.ends_with(is_joined) || found.after.starts_with(|next| is_joined(next) && next != ':') {
        return false;
    }
    let value = found.value;
    // Without brackets a port cannot be told from a group, but a ninth group is one.
    let without_port = || value.rsplit_once(':').and_then(|(address, _)| address.parse::<Ipv6Addr>().ok());
    let Some(ip) = value.parse::<Ipv6Addr>().ok().or_else(without_port) else { return false };
    if let Some(ip) = ip.to_ipv4_mapped() {
        return !ip.is_loopback();
    }
    let in_brackets = found.before.ends_with('[') && !ip.is_loopback() && !ip.is_unspecified() && has_digit(value);
    let known = matches!(ip.segments()[0], 0x2000..=0x3fff | 0xfc00..=0xfdff | 0xfe80..=0xfeff | 0xff00..=0xffff);
    in_brackets || known || ip.segments()[..2] == [0x64, 0xff9b]
}

/// A user at a host; no package at a version or a tag.
fn is_email(found: Found<'_>) -> bool {
    let host = found.value.rsplit('@').next().unwrap_or_default();
    let is_version = host.split('.').count() <= 3 && host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let tags = ["latest", "next", "default", "beta", "alpha", "canary", "stable"];
    !is_version
        && (host.contains('.') || !host.starts_with(|first: char| first.is_ascii_digit()) && !tags.contains(&host))
}

/// A host name that ends here: no file such as `config.local.json`, no property.
fn is_host(found: Found<'_>) -> bool {
    let mut after = found.after.chars();
    match after.next() {
        Some('.') => !after.next().is_some_and(|next| next.is_ascii_alphanumeric()),
        Some(next) => !next.is_ascii_alphanumeric() && !matches!(next, '_' | '-' | '('),
        None => true,
    }
}

/// As many digits as a number of a telephone has.
fn is_phone(found: Found<'_>) -> bool {
    let digits = found.value.bytes().filter(u8::is_ascii_digit).count();
    (9..=15).contains(&digits) && !found.before.ends_with(|before: char| before.is_ascii_alphanumeric())
}

static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let rows: &[(&str, &'static str, Test)] = &[
        (r"()\beyJ[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*){1,4}", "[token]", always),
        (r"(?i)(\bbearer\s+(?:\\*[\x22'])?)[^\s\x22',;<>\\]{4,}", "[token]", always),
        (r"(?i)(\bbasic\s+(?:\\*[\x22'])?)(?P<v>[a-z0-9+/_-]{8,}={0,2})", "[token]", is_basic),
        // Addresses: user and password, then the values of the query and the fragment.
        (r"(?i)(\b[a-z][a-z0-9+.-]*://)[^\s/@\x22']+@", "[user]@", always),
        (r"([?&#][A-Za-z0-9_.~%\[\]-]+=)[^&\s\x22'#<>\\)]+", "[value]", always),
        // The whole address inside of a parameter, and what stands in a path.
        (r"(?i)(%3a%2f%2f)[^\s%/]+(?:%3a|:)[^\s/]*?(?:%40|@)", "[user]%40", always),
        (r"(?i)(/(?:api-?keys?|keys?|tokens?|secrets?|webhooks?)/)(?P<v>[^\s/?#\x22'`<>()]{6,})", "[key]", is_segment),
        (r"(/bot)[0-9]{4,}:[^\s/\x22'`]+", "[key]", always),
        (r"(?i)(\bhooks\.[a-z0-9.-]+/[a-z]+/)[^\s\x22'`<>)]+", "[key]", always),
        // Arguments of a command, and elements.
        (
            r"(?i)((?:^|[\s\x22'`(])--?(?:pass(?:word|wd|phrase)?|pw|token|api-?key|secret(?:-key)?|auth(?:-token)?|access-token|bearer|credentials?)(?:\s+|=)[\x22']?)[^\s\x22'\[][^\s\x22']*",
            "[secret]",
            always,
        ),
        (r"(\bcurl\b[^\r\n]{0,200}?\s(?:-u|--user)[ =]?[\x22']?)[^\s\x22'\[][^\s\x22']*", "[user]", always),
        (
            r"(?i)(<(?:[a-z][a-z0-9]{0,20}:)?(?:pass(?:word|wd|phrase)?|secret(?:-?key)?|(?:access|auth|refresh)?-?_?token|api-?_?key|credentials?|private-?_?key)(?:\s[^<>]{0,200})?>)[^<\r\n]+",
            "[secret]",
            always,
        ),
        (
            r"(?i)(\b(?:(?:j|asp\.net_)?session-?_?id|phpsessid|connect\.sid|csrf-?_?token)(?:\\*[\x22'`])?\s*[:=]\s*(?:\\*[\x22'`])?)[^\s\x22'`,;&)<>\[][^\s\x22'`,;&)<>]*",
            "[id]",
            always,
        ),
        // Hosts that carry the name of who rents them.
        (
            concat!(
                r"(?i)()\b[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)*\.(?:(?:openai|services\.ai|cognitiveservices)\.azure\.com|azure-api\.net|azurewebsites\.net|",
                r"azuredatabricks\.net|cloud\.databricks\.com|snowflakecomputing\.com|my\.salesforce\.com|atlassian\.net|sharepoint\.com|okta\.com|",
                r"workers\.dev|vercel\.app|herokuapp\.com|ngrok(?:-free)?\.(?:app|dev|io)|trycloudflare\.com|run\.app|ts\.net|fly\.dev|onrender\.com|",
                r"up\.railway\.app|hf\.space|endpoints\.huggingface\.cloud)"
            ),
            "[host]",
            always,
        ),
        // Keys and tokens that begin with the name of who gave them.
        (r"()\b(?:sk|pk|rk|ak)[-_][\w*.…-]{4,}", "[key]", always),
        (
            concat!(
                r"()\b(?:AIza[\w.-]{8,}|(?:AKIA|ASIA|AROA|AIDA|AGPA|ANPA|ABIA|ACCA)[A-Z0-9]{8,}|ABSK[\w+/=-]{10,}|ya29\.[\w.-]{8,}|1//[\w-]{20,}|",
                r"SG\.[\w-]{2,}\.[\w.-]{2,}|EAAC[\w]{8,}|xox[a-z](?:\.xox[a-z])?-[\w.-]{6,}|sq0[a-z]{3}-[\w.-]{8,}|shp(?:at|ca|pa|ss)_[\w.-]{8,}|",
                r"(?:gh[pousr]_|github_pat_|hf_|gsk_|csk-|r8_|fw_|npm_|tgp_|tok_|whsec_|lin_api_|ntn_|dop_v1_|glpat-|xapp-|nvapi-|pplx-|",
                r"xai-|tvly-|GOCSPX-|pypi-|AGE-SECRET-KEY-|[a-z]{2,8}_(?:live|test|prod|v[0-9])_)[\w*.…-]{8,})"
            ),
            "[key]",
            always,
        ),
        (r"()\b(?P<v>(?i:key|token|secret|apikey|api-key)[-_][A-Za-z0-9_-]{8,})", "[key]", digits),
        // The second line of one that a screen broke.
        (r"(\[(?:key|token|secret)\]\r?\n[ \t]*)(?P<v>[A-Za-z0-9_+/=-]{6,})", "[key]", digits),
        // People and places.
        (r"()(?P<v>[A-Za-z0-9._%+\x{80}-\x{10FFFF}-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*)", "[email]", is_email),
        (r"(?i)()\b(?P<v>[a-z0-9_](?:[a-z0-9_-]*\.)+(?:corp|internal|local|lan|intranet))", "[host]", is_host),
        (r"(?i)()\barn:aws[a-z-]*:[^\s\x22']*", "[arn]", always),
        (r"()(?i:file)://[^\s\x22'`<>]+", "[path]", always),
        (
            r"()\b[A-Za-z]:(?:\\{1,4}|/)(?i:users|documents and settings)(?:\\{1,4}|/)(?:[^\\/\x22'`:<>|\r\n]{1,64}(?:\\{1,4}|/))+[^\s\x22'`:,;<>|)]*",
            "[path]",
            always,
        ),
        (r"()\b[A-Za-z]:(?:\\{1,4}[^\s\x22'`:,;<>|)]+|/[^\s/\x22'`:,;<>|)][^\s\x22'`:,;<>|)]*)", "[path]", always),
        (r"()\\\\{1,3}[\w.$-]+\\{1,2}[^\s\x22'`:,;<>|)]+", "[path]", always),
        // In single quotes, as node writes them, a path may hold spaces.
        (
            r"(['`])(?:(?:/|~/)(?:home|Users|root|private|var|tmp|mnt|Volumes)/|[A-Za-z]:[\\\\/])[^'`\r\n]*",
            "[path]",
            always,
        ),
        (r"(?i)()%2f(?:home|users)%2f[^\s\x22'`&]+", "[path]", always),
        // A folder's name may hold spaces where a separator follows.
        (
            r"()(?:/(?:home|Users)|~)/(?:[^/\s\x22'`:,;<>|)\]}]+(?: [^/\s\x22'`:,;<>|)\]}]+){0,4}/)+[^\s\x22'`:,;<>|)\]}]*",
            "[path]",
            always,
        ),
        (r"()/(?:home|Users)/[^/\s\x22'`:,;<>|)\]}]+(?:/[^\s\x22'`:,;<>|)\]}]*)?", "[path]", always),
        (
            r"(^|[^A-Za-z0-9_./:~-])/(?:root|tmp|var|private|opt|mnt|media|srv|Volumes|etc|usr|workspaces?|app|data|nix|run|proc)(?:/[^\s\x22'`:,;<>|)\]}]*)",
            "[path]",
            always,
        ),
        (r"(^|[^A-Za-z0-9_./~-])~[a-z0-9_-]{0,32}/[^\s\x22'`:,;<>|)\]}]+", "[path]", always),
        (r"()--(?:home|Users)-[^\s\x22'`/\\]+", "[path]", always),
        // Ids of requests, conversations, accounts.
        (
            concat!(
                r"(?i)((?:request|req|trace|span|correlation|session|conversation|message|msg|call|response|account|org|organization|user|",
                r"project|tenant|deployment|client|cf[-_]?ray|ray)[-_ ]?id(?:\\*[\x22'`])?\s*[:=]?\s*(?:\\*[\x22'`])?)(?P<v>[A-Za-z0-9_.:-]{4,})"
            ),
            "[id]",
            digits,
        ),
        (
            concat!(
                r"()\b(?P<v>(?:req|msg|resp|chatcmpl|call|toolu|srvtoolu|gen|trace|run|thread|sess|cmpl|rs|fc|batch|file|org|user|acct|account|",
                r"proj|project|asst|ws|team)[-_][A-Za-z0-9_-]{5,})"
            ),
            "[id]",
            digits,
        ),
        (r"(?i)()\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "[id]", always),
        (
            r"(?i)()(?P<v>[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){0,7}(?::[0-9a-f]{1,4}(?:(?:\.[0-9]{1,3}){3})?|::))(?:%[a-z0-9_-]+)?",
            "[ip]",
            is_ipv6,
        ),
        (r"()(?P<v>[0-9]{1,3}(?:\.[0-9]{1,3}){3})", "[ip]", is_ipv4),
        (r"()(?P<v>\+[0-9][0-9 ().-]{7,}[0-9])", "[phone]", is_phone),
        (r"()[0-9]{10,}", "[number]", always),
        (r"()(?P<v>[A-Za-z0-9][A-Za-z0-9+/_=-]{11,})", "[masked]", is_random),
    ];
    let kinds = rows.iter().map(|(pattern, name, test)| {
        // The crate's own `\w` and `\b` know every script: patterns a hundred times as big, and no edge between 钥 and sk-….
        let pattern = Regex::new(&pattern.replace(r"\w", "0-9A-Za-z_").replace(r"\b", r"(?-u:\b)"))
            .expect("every pattern above is compiled by a test");
        Kind { pattern, name, test: *test }
    });
    kinds.collect()
});

/// Keys that fill lines; looked for before their parts are.
static BLOCKS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?s)-----BEGIN [A-Z0-9 ]{1,60}-----.*?(?:-----END [A-Z0-9 ]{1,60}-----|\z)|",
        r"(?-u:\b)(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-[a-z0-9-]+|sk-(?:ssh|ecdsa)-[a-z0-9@.-]+)\s+AAAA[A-Za-z0-9+/=…]*"
    ))
    .expect("the pattern is compiled by every test of masking")
});

/// Passes over a text until nothing changes: what one kind leaves may be of another.
const PASSES: usize = 4;

/// The text with everything masked that should not be shown.
pub fn mask(text: &str) -> String {
    let mut masked = pass(text);
    for _ in 1..PASSES {
        let again = pass(&masked);
        if again == masked {
            break;
        }
        masked = again;
    }
    masked
}

fn pass(text: &str) -> String {
    let mut masked = mask_spaced(&mask_named(&BLOCKS.replace_all(text, "[key]")));
    for Kind { pattern, name, test } in KINDS.iter() {
        let replaced = pattern.replace_all(&masked, |found: &Captures<'_>| {
            let whole = &found[0];
            let range = found.name("v").map_or(0..0, |value| value.range());
            let context =
                Found { before: &masked[..range.start], value: &masked[range.clone()], after: &masked[range.end..] };
            if test(context) { format!("{}{name}", &found[1]) } else { whole.to_owned() }
        });
        if let Cow::Owned(replaced) = replaced {
            masked = replaced;
        }
    }
    masked
}
