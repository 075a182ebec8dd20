//! What the classifier shall decide, as data: groups of patterns, each with the statuses for which it counts.

use std::collections::{BTreeMap, BTreeSet};

/// What a group of patterns decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// Another attempt may help.
    Retry,
    /// Another attempt can only help after a change of the request, which pi cannot make: no retry.
    Repair,
    /// Another attempt cannot help.
    Stop,
    /// The server names a short wait: stop groups that count for some statuses only do not count then.
    Wait,
}

/// A class of failed turns by their status. Several together are alternatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum When {
    /// No answer arrived, or none whose status is known.
    NoStatus,
    /// 400 to 499.
    ClientError,
    /// 500 to 599.
    ServerError,
    /// This status.
    Status(u16),
}

/// The set of a group; `any` is the set of the first three.
pub type Whens = BTreeSet<When>;

/// Whether a set covers every turn.
pub(super) fn is_any(when: &Whens) -> bool {
    [When::NoStatus, When::ClientError, When::ServerError].iter().all(|class| when.contains(class))
}

/// One alternative of a group's expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The source of a JavaScript expression, meant for flag `i`.
    pub js: String,
    /// Who sends it, in one sentence or several; empty if the pattern before it says so already.
    pub comment: String,
}

/// Patterns that decide the same for the same statuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What they decide.
    pub decision: Decision,
    /// For which statuses.
    pub when: Whens,
    /// The patterns, in the order in which new ones are added.
    pub patterns: Vec<Pattern>,
}

/// The whole decision of one profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classifier {
    /// Expression with one group that reads the status at the start of a text, for flag `i`.
    pub frame: String,
    /// A text that starts so is retried whatever else it says.
    pub own_prefix: Option<String>,
    /// The groups; their order is the order of new constants.
    pub groups: Vec<Group>,
    /// Patterns of the releases that are in no group any more, each with the pattern that stands in its place, if one does.
    /// What is neither here nor in a group is unknown, stays and is reported.
    pub superseded: BTreeMap<String, Option<String>>,
}

/// Statuses below 500 that deserve another attempt whatever the text says (RFC 9110 and 8470: timeout, conflict, too early,
/// too many requests). The official SDKs retry the same ones.
pub const TRANSIENT: [u16; 4] = [408, 409, 425, 429];
