//! The rules: data files with their explanation inside, loaded once and checked on loading.
//!
//! Adding a relay's wording is one entry in `src/reference/rules/*.toml` and nothing else. The order of the files below and of
//! the entries in them is the order in which rules of one kind are named in a verdict.

use crate::reference::matcher::Pattern;
use serde::Deserialize;
use std::sync::LazyLock;
use toml::Spanned;

/// What a rule decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleDecision {
    /// The request outgrew the model's context: stop, compaction takes over.
    Overflow,
    /// Replayed thinking was rejected.
    Repair,
    /// A permanent condition.
    Stop,
    /// The server names a wait of at most 60 seconds: conditional `stop` rules do not count then.
    Wait,
    /// A transient condition.
    Retry,
}

impl RuleDecision {
    /// The name used in rule files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Overflow => "overflow",
            Self::Repair => "repair",
            Self::Stop => "stop",
            Self::Wait => "wait",
            Self::Retry => "retry",
        }
    }
}

/// Which repair a rejected request needs before another attempt can work. What it means for an API's payload is the
/// business of whoever makes the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Remedy {
    /// Sealed thinking, or its signatures, out of the request.
    Strip,
    /// Reasoning that the server knows by id out of the request, and the ids of what belonged to it.
    Unlink,
    /// A signature where one is missing, or in place of a wrong one.
    Sign,
    /// Reasoning that the provider wants back.
    PassBack,
    /// An earlier repair taken back or carried further: it was the cause.
    Undo,
}

impl Remedy {
    /// The name used in rule files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Strip => "strip",
            Self::Unlink => "unlink",
            Self::Sign => "sign",
            Self::PassBack => "pass-back",
            Self::Undo => "undo",
        }
    }
}

/// A condition on the status under which a rule counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum When {
    /// Whatever the status.
    Any,
    /// Only where no status is known.
    NoStatus,
    /// Any status from 400 to 499.
    ClientError,
    /// Any status from 500 to 599.
    ServerError,
    /// Exactly this status.
    Status(u16),
}

impl When {
    /// Whether the condition holds for a status.
    pub fn holds(self, status: Option<u16>) -> bool {
        match self {
            Self::Any => true,
            Self::NoStatus => status.is_none(),
            Self::ClientError => status.is_some_and(|s| s < 500),
            Self::ServerError => status.is_some_and(|s| s >= 500),
            Self::Status(exact) => status == Some(exact),
        }
    }
}

impl std::fmt::Display for When {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::NoStatus => f.write_str("no-status"),
            Self::ClientError => f.write_str("4xx"),
            Self::ServerError => f.write_str("5xx"),
            Self::Status(status) => write!(f, "{status}"),
        }
    }
}

impl<'de> Deserialize<'de> for When {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Name(String),
            Status(u16),
        }
        match Written::deserialize(deserializer)? {
            Written::Name(name) => match name.as_str() {
                "any" => Ok(Self::Any),
                "no-status" => Ok(Self::NoStatus),
                "4xx" => Ok(Self::ClientError),
                "5xx" => Ok(Self::ServerError),
                _ => Err(serde::de::Error::custom("`when` is any, no-status, 4xx, 5xx or a status")),
            },
            Written::Status(status @ 400..=599) => Ok(Self::Status(status)),
            Written::Status(_) => Err(serde::de::Error::custom("a status in `when` is from 400 to 599")),
        }
    }
}

/// Which profiles have a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// What pi itself knows: all profiles.
    Upstream,
    /// pi's own number tokens: profiles `upstream` and `patch`. `full` asks what a number stands for.
    Token,
    /// What relays do to errors: profiles `patch` and `full`.
    Relay,
    /// Profile `full` only.
    Full,
}

impl Tier {
    /// The name used in rule files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Upstream => "upstream",
            Self::Token => "token",
            Self::Relay => "relay",
            Self::Full => "full",
        }
    }
}

/// One rule: what it says, when it counts, what it matches, and why.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Unique, kebab-case, stable.
    pub id: String,
    /// What it decides.
    pub decision: RuleDecision,
    /// The statuses for which it counts; any one suffices.
    pub when: Vec<When>,
    /// The profiles that have it.
    pub tier: Tier,
    /// Which repair a rule that decides `repair` asks for.
    pub remedy: Option<Remedy>,
    /// Any one suffices.
    pub patterns: Vec<Pattern>,
    /// Why it decides so.
    pub why: String,
    /// Who sends this, or where it was seen.
    pub source: String,
    /// Texts that it decides.
    pub hits: Vec<String>,
    /// Texts that look alike and that it must leave alone.
    pub misses: Vec<String>,
}

impl Rule {
    /// Whether the rule counts for a status.
    pub fn counts(&self, status: Option<u16>) -> bool {
        self.when.iter().any(|w| w.holds(status))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    rule: Vec<WrittenRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRule {
    id: String,
    decision: RuleDecision,
    when: Vec<When>,
    tier: Tier,
    repair: Option<Remedy>,
    #[serde(rename = "match")]
    patterns: Vec<Spanned<String>>,
    why: String,
    source: String,
    hits: Vec<String>,
    misses: Vec<String>,
}

const FILES: &[(&str, &str)] = &[
    ("overflow.toml", include_str!("rules/overflow.toml")),
    ("thinking.toml", include_str!("rules/thinking.toml")),
    ("access.toml", include_str!("rules/access.toml")),
    ("limits.toml", include_str!("rules/limits.toml")),
    ("request.toml", include_str!("rules/request.toml")),
    ("provider.toml", include_str!("rules/provider.toml")),
    ("transport.toml", include_str!("rules/transport.toml")),
];

static RULES: LazyLock<Result<Vec<Rule>, String>> = LazyLock::new(load);

/// All rules, in order.
///
/// # Panics
/// With file, line, rule and column, if a rule file of this crate is wrong; its tests do not let that pass.
pub fn all() -> &'static [Rule] {
    match &*RULES {
        Ok(rules) => rules,
        Err(wrong) => panic!("{wrong}"),
    }
}

/// The rule with this id.
pub fn by_id(id: &str) -> Option<&'static Rule> {
    all().iter().find(|r| r.id == id)
}

/// Reads the rule files; an error names file and rule.
fn load() -> Result<Vec<Rule>, String> {
    let mut rules = Vec::new();
    for (name, text) in FILES {
        let file: RuleFile = toml::from_str(text).map_err(|e| format!("src/reference/rules/{name}: {e}"))?;
        for written in file.rule {
            let id = written.id;
            if (written.decision == RuleDecision::Repair) != written.repair.is_some() {
                return Err(format!(
                    "src/reference/rules/{name}, rule {id}: `repair` belongs to the decision `repair`"
                ));
            }
            let compile = |pattern: &Spanned<String>| {
                Pattern::new(pattern.get_ref()).map_err(|error| {
                    // The opening quote is one column; patterns are written in literal strings.
                    let before = &text[..pattern.span().start];
                    let line = before.matches('\n').count() + 1;
                    let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 2 + error.offset();
                    format!("src/reference/rules/{name}:{line}:{column}, rule {id}: {error}")
                })
            };
            let patterns = written.patterns.iter().map(compile).collect::<Result<_, _>>()?;
            rules.push(Rule {
                id,
                decision: written.decision,
                when: written.when,
                tier: written.tier,
                remedy: written.repair,
                patterns,
                why: written.why,
                source: written.source,
                hits: written.hits,
                misses: written.misses,
            });
        }
    }
    Ok(rules)
}
