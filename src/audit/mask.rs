//! Takes out of an error text what should not be shown: keys, tokens, ids, paths, addresses.
//!
//! Each kind is replaced by its name in brackets, so that the shape of the message stays readable. In doubt it masks: a word
//! too many is hidden rather than one secret shown.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Decides whether what a pattern found is to be hidden.
type Test = fn(&str) -> bool;

/// One kind of secret. `$1` of the pattern stays in front; group `v`, where there is one, is what the test looks at.
struct Kind {
    pattern: Regex,
    name: &'static str,
    test: Test,
}

fn always(_: &str) -> bool {
    true
}

fn has_digit(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
}

/// A value behind a telling name: not if it is a plain word, as in `signature: Field required`.
fn is_no_word(value: &str) -> bool {
    has_digit(value) || value.len() >= 16 || value.bytes().any(|byte| b"+/=_~$!@#%^*".contains(&byte))
}

/// A long run of letters and digits that no language has: hexadecimal, base64, long numbers.
fn is_random(value: &str) -> bool {
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

/// An address that is not of this machine or a private network.
fn is_public(address: &str) -> bool {
    address.parse::<std::net::Ipv4Addr>().is_ok_and(|ip| !ip.is_loopback() && !ip.is_private() && !ip.is_unspecified())
}

/// Names after which a secret stands.
const SECRET_NAMES: &str = concat!(
    r"(?:x[-_])?(?:goog[-_])?api[-_ ]?key|apikey|auth(?:orization)?|access[-_ ]?(?:token|key)(?:[-_ ]?id)?|refresh[-_ ]?token|",
    r"auth[-_ ]?token|id[-_ ]?token|session[-_ ]?(?:token|key)|security[-_ ]?token|bearer[-_ ]?token|bot[-_ ]?token|client[-_ ]?secret|",
    r"secret[-_ ]?(?:access[-_ ]?)?key|private[-_ ]?key|token|credentials?|signature|sig|cookie|set-cookie|key"
);

static KINDS: LazyLock<Vec<Kind>> = LazyLock::new(|| {
    let named = format!(
        r#"(?i)((?:^|[^a-z0-9])(?:{SECRET_NAMES})(?:\\*["'`])?(?:\s+(?:is|was|provided))?\s*[:=]\s*(?:\\*["'`])?)(?P<v>[^\s"'`,;&(){{}}<>\[\]\\]{{4,}})"#
    );
    let rows: &[(&str, &'static str, Test)] = &[
        (r"(?s)()-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)", "[key]", always),
        (r"()\beyJ[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*){1,4}", "[token]", always),
        (r"(?i)(\bbearer\s+(?:\\*[\x22'])?)[^\s\x22',;<>\\]{4,}", "[token]", always),
        (r"(?i)(\bbasic\s+)(?P<v>[a-z0-9+/]{8,}={0,2})", "[token]", is_no_word),
        // Addresses: user and password, then the values of the query and the fragment.
        (r"(?i)(\b[a-z][a-z0-9+.-]*://)[^\s/@\x22']+@", "[user]@", always),
        (r"([?&#][A-Za-z0-9_.~%\[\]-]+=)[^&\s\x22'#<>\\)]+", "[value]", always),
        // Keys and tokens that begin with the name of who gave them.
        (r"()\b(?:sk|pk|rk|ak)[-_][A-Za-z0-9_*.…-]{4,}", "[key]", always),
        (
            concat!(
                r"()\b(?:AIza[\w-]{10,}|(?:AKIA|ASIA|AROA|AIDA|AGPA|ANPA|ABIA|ACCA)[A-Z0-9]{8,}|ABSK[\w+/=-]{10,}|gh[pousr]_[\w]{8,}|",
                r"github_pat_[\w]{8,}|glpat-[\w-]{8,}|xox[a-z](?:\.xox[a-z])?-[\w-]{6,}|xapp-[\w-]{6,}|hf_[\w]{8,}|gsk_[\w]{8,}|csk-[\w-]{8,}|",
                r"r8_[\w]{8,}|nvapi-[\w-]{8,}|pplx-[\w-]{8,}|xai-[\w-]{8,}|tvly-[\w-]{8,}|fw_[\w]{8,}|ya29\.[\w.-]{8,}|1//[\w-]{20,}|",
                r"GOCSPX-[\w-]{8,}|npm_[\w]{8,}|pypi-[\w-]{8,}|dop_v1_[\w]{8,}|SG\.[\w-]{8,}\.[\w-]{8,}|shp(?:at|ca|pa|ss)_[\w]{8,}|",
                r"whsec_[\w]{8,}|lin_api_[\w]{8,}|ntn_[\w]{8,}|sq0[a-z]{3}-[\w-]{8,}|EAAC[\w]{8,}|AGE-SECRET-KEY-[\w]{8,})"
            ),
            "[key]",
            always,
        ),
        (r"()\b(?P<v>(?i:key|token|secret|apikey|api-key)[-_][A-Za-z0-9_-]{8,})", "[key]", has_digit),
        (
            r#"(?i)((?:^|[^a-z0-9])(?:pass(?:word|wd|phrase)?|pwd|secret)(?:\\*["'`])?\s*[:=]\s*(?:\\*["'`])?)[^\s"'`,;&(){}<>\\]{3,}"#,
            "[secret]",
            always,
        ),
        (&named, "[secret]", is_no_word),
        // People and places.
        (r"()[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+", "[email]", always),
        (r"(?i)()\barn:aws[a-z-]*:[^\s\x22']*", "[arn]", always),
        (r"()(?i:file)://[^\s\x22'`<>]+", "[path]", always),
        (
            r"()\b[A-Za-z]:(?:\\{1,4}|/)(?i:users|documents and settings)(?:\\{1,4}|/)[^\\/\x22'`:<>|\r\n]{1,64}(?:(?:\\{1,4}|/)[^\s\x22'`:,;<>|)]*)",
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
            has_digit,
        ),
        (
            concat!(
                r"()\b(?P<v>(?:req|msg|resp|chatcmpl|call|toolu|srvtoolu|gen|trace|run|thread|sess|cmpl|rs|fc|batch|file|org|user|acct|account|",
                r"proj|project|asst|ws|team)[-_][A-Za-z0-9_-]{5,})"
            ),
            "[id]",
            has_digit,
        ),
        (r"(?i)()\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "[id]", always),
        (r"()(?P<v>[0-9]{1,3}(?:\.[0-9]{1,3}){3})", "[ip]", is_public),
        (r"()[0-9]{10,}", "[number]", always),
        (r"()(?P<v>[A-Za-z0-9][A-Za-z0-9+/_=-]{11,})", "[masked]", is_random),
    ];
    let kinds = rows.iter().map(|(pattern, name, test)| {
        // The crate's own `\w` knows every script, which would make these patterns a hundred times as big.
        let pattern =
            Regex::new(&pattern.replace(r"\w", "0-9A-Za-z_")).expect("every pattern above is compiled by a test");
        Kind { pattern, name, test: *test }
    });
    kinds.collect()
});

/// The text with everything masked that should not be shown.
pub fn mask(text: &str) -> String {
    let mut masked = text.to_owned();
    for Kind { pattern, name, test } in KINDS.iter() {
        let replaced = pattern.replace_all(&masked, |found: &Captures<'_>| {
            let whole = &found[0];
            if test(found.name("v").map_or(whole, |value| value.as_str())) {
                format!("{}{name}", &found[1])
            } else {
                whole.to_owned()
            }
        });
        if let Cow::Owned(replaced) = replaced {
            masked = replaced;
        }
    }
    masked
}
