//! Numbers in a text without a status: those that it names as one, and those that measure, count or number something.
//!
//! A number named as a status is no status (whose it is, nobody says), but it is evidence that another attempt can help.

use crate::reference::matcher::Pattern;
use std::sync::LazyLock;

/// Statuses over which another attempt can help.
const STATUS: &str = "(?:408|409|425|429|5[0-9]{2})";

/// A status right behind a word that says so: `status 503`, `"code":503`, `HTTP_503`, `error-code-429`, `502_bad_gateway`.
const NAMED: &[&str] = &[
    r#"(?:http|status|code)[\\"'` ]{0,4}(?:(?:is|was|of) )?[:=/_#(\[-]{0,2}[\\"'` ]{0,3}@\>"#,
    r"http/[0-9.]{1,3} @\>",
    r"\<(?:upstream|gateway|server|proxy|provider|backend|api|error|err|response)[_/-]@\>",
    r"\<@[_/ -](?:bad|internal|service|gateway|too|upstream|server|web|origin|site)[_ -]",
];

/// A status that stands by itself, with nothing glued to it.
const ALONE: &str =
    r#"(?:^|[ \t\n("'`\[{<:=,;|>*])@(?:$|[ \t\n)"'`\]}>:,;|!?*<\\]|\.(?:$|[ \n"')])|(?:，|。|：|；|）|！))"#;

/// What a number measures, counts or numbers when it stands behind such a word.
const MEASURES: &str = "limits?|max|maximum|min|minimum|size|length|count|total|top_?k|window|budget|balance|price|costs?|credits?\
    |quota|width|height|dimensions?|lines?|columns?|col|rows?|position|pos|index|idx|offset|char|character|byte|page|port|step\
    |item|attempt|seed|id|ids|user|account|org|organization|project|group|channel|job|task|order|invoice|ticket|issue|build\
    |version|shard|gpu|tier|level|tokens?|tpm|rpm|used|requested|remaining|between|exceeds?|exceed|than|least|most|up to";

/// Words between such a word and its number.
const LINKS: &str = "is|are|was|were|of|to|be|by|at|set|allowed|must|should|cannot|exceeds?|exceed|most|least|than|over|above|below|under";

/// What a number counts when such a word follows.
const UNITS: &str = "tokens?|bytes?|chars?|characters?|words?|lines?|rows?|columns?|items?|entries|messages?|images?|pages?|files?|tools?\
    |functions?|calls?|requests?|attempts?|retries|times|users?|credits?|points|queries|parameters?|properties|elements?|pixels?|px\
    |ms|milliseconds?|msecs?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|days?|weeks?|months?|years?\
    |[kmgt]i?b|[kmgt]b/s|k|usd|eur|cny|rmb|dollars?|cents?|euros?|yuan|rpm|tpm|rps|qps|chunks?|blocks?|parts?|steps?|turns?|workers?";

/// Numbers that name no status, with what says so.
fn measured() -> String {
    [
        // 32,500 and 5.03, addresses, versions, times of day
        r"[0-9]{1,3}(?:,[0-9]{3}){1,6}".to_owned(),
        r"[0-9]{1,20}(?:\.[0-9]{1,20}){1,4}(?::[0-9]{1,5})?".to_owned(),
        r"(?:localhost|\.[a-z]{2,24}|[0-9]\]?):[0-9]{2,5}".to_owned(),
        // 288/500, 500-599, 429 of 500
        r"[0-9]{1,12} ?(?:/|-|\.\.|to|of|out of) ?[0-9]{1,12}\>".to_owned(),
        // $500, 500 %, <= 500
        r"(?:\$|€|£|¥|￥|<=|>=|[<>~] ) ?[0-9]{1,12}(?:[,.][0-9]{1,12}){0,4}".to_owned(),
        r"[0-9]{1,12} ?(?:%|\$|€|£|¥|元|美元|个|次|秒|分钟|小时|天|条|行|字)".to_owned(),
        format!(r"[0-9]{{1,12}}[ -]?(?:{UNITS})\>"),
        // items[503]
        r"[a-z0-9_)\]]\[[0-9]{1,12}\]".to_owned(),
        format!(
            r#"\<(?:[a-z]{{1,20}}_){{0,4}}(?:{MEASURES})(?:_[a-z]{{1,20}}){{0,3}}[\\"'` ]{{0,4}}(?:(?:(?:{LINKS})\>|[:=#<>(\[]{{1,2}})[\\"'` ]{{0,4}}){{0,4}}[0-9]{{1,12}}(?:[,.][0-9]{{1,12}}){{0,4}}"#
        ),
    ]
    .join("|")
}

/// A number that the text itself names as a status over which another attempt can help.
pub static NAMED_STATUS: LazyLock<Pattern> = LazyLock::new(|| pattern(&NAMED.join("|")));

/// The same number by itself, which is a status only where nothing says that it is something else.
pub static LONE_STATUS: LazyLock<Pattern> = LazyLock::new(|| pattern(ALONE));

/// A number with what says that it is none: an amount, a limit, a place, an id.
pub static MEASURED: LazyLock<Pattern> = LazyLock::new(|| pattern(&measured()));

fn pattern(written: &str) -> Pattern {
    Pattern::new(&written.replace('@', STATUS)).expect("in the subset, a test checks it")
}

/// Whether a number in the text is named as a status over which another attempt can help.
pub(crate) fn names_status(text: &str) -> bool {
    NAMED_STATUS.is_match(text)
        || (LONE_STATUS.is_match(text) && LONE_STATUS.is_match(&MEASURED.regex().replace_all(text, "\n")))
}
