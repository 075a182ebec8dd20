//! What the classifier shall decide, as data: groups of patterns, each with the statuses for which it counts.

use std::collections::{BTreeMap, BTreeSet};

use crate::reference::classify::Profile;
use crate::reference::failure::{FRAME, PI_FRAME, REWRITE_PREFIX};
use crate::reference::rules::{self, Rule, RuleDecision, When};
use crate::upstream::Era;

/// One alternative of a group's expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The source of a JavaScript expression, meant for flag `i`.
    pub js: String,
    /// Why it is there and who sends it; empty if that of the pattern before it holds for this one too.
    pub comment: String,
}

/// Patterns that decide the same for the same statuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What they decide. `Overflow` decides like `Stop`.
    pub decision: RuleDecision,
    /// For which statuses.
    pub when: BTreeSet<When>,
    /// The patterns, in the order in which new ones are added.
    pub patterns: Vec<Pattern>,
}

impl Group {
    /// Whether the status does not matter.
    pub(super) fn is_unconditional(&self) -> bool {
        self.when.contains(&When::Any)
    }
}

/// The whole decision of one profile, in the form in which the classifier is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classifier {
    /// Expression with one group that reads the status at the start of a text, for flag `i`.
    pub frame: String,
    /// Whether the order is pi's own with one thing more: limits at every status, then a known status, then the whole list.
    pub as_pi: bool,
    /// A text that starts so is retried whatever else it says.
    pub own_prefix: Option<String>,
    /// The groups; their order is the order of new constants.
    pub groups: Vec<Group>,
    /// Patterns of the releases that are in no group any more, each with the pattern that stands in its place, if one does.
    /// What is neither here nor in a group is unknown, stays and is reported.
    pub superseded: BTreeMap<String, Option<String>>,
}

/// Patterns that got a better wording: what earlier releases have, and what stands in its place.
const SUCCESSORS: [(&str, &str); 3] = [
    ("ENOTFOUND", "(?<![a-z0-9_])ENOTFOUND(?![a-z0-9_])"),
    ("service.?unavailable", "service.?(?:is.?)?(?:temporarily.?)?unavailable"),
    ("provider.?returned.?error", "provider.?returned.?(?:an.?)?error"),
];

impl Classifier {
    /// The decision of a profile: the rules of its tiers, those with the same decision and statuses together.
    ///
    /// The profile `Full` reads more than a patched pi-ai has; of it only the rules are here.
    pub fn of(profile: Profile) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        for rule in rules::all().iter().filter(|rule| profile.has(rule.tier)) {
            let when: BTreeSet<When> = rule.when.iter().copied().collect();
            let group = groups.iter().position(|group| group.decision == rule.decision && group.when == when);
            let group = group.unwrap_or_else(|| {
                groups.push(Group { decision: rule.decision, when, patterns: Vec::new() });
                groups.len() - 1
            });
            groups[group].patterns.extend(rule.patterns.iter().enumerate().map(|(index, pattern)| Pattern {
                js: pattern.js().to_owned(),
                comment: if index == 0 { comment(rule) } else { String::new() },
            }));
        }
        let known: BTreeSet<&str> =
            groups.iter().flat_map(|group| &group.patterns).map(|pattern| pattern.js.as_str()).collect();
        let successor = |old: &str| SUCCESSORS.iter().find(|(from, _)| *from == old).map(|(_, to)| (*to).to_owned());
        let superseded = Era::all()
            .iter()
            .flat_map(|era| era.patterns().non_retryable.iter().chain(&era.patterns().retryable))
            .filter(|pattern| !known.contains(pattern.as_str()))
            .map(|pattern| (pattern.clone(), successor(pattern)))
            .collect();
        Self {
            frame: if profile == Profile::Upstream { PI_FRAME.js() } else { FRAME.js() }.to_owned(),
            as_pi: profile == Profile::Upstream,
            own_prefix: (profile != Profile::Upstream).then(|| REWRITE_PREFIX.to_owned()),
            groups,
            superseded,
        }
    }
}

/// The comment above a rule's first pattern: why, and who sends it.
fn comment(rule: &Rule) -> String {
    let mut why = rule.why.chars();
    let first: String = why.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
    format!("{first}{} ({}).", why.as_str(), rule.source)
}
