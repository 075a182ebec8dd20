//! Who decides on a failed turn: the reference, and pi of given releases.

use serde_json::{Map, Value};

/// What the reference says to a failed turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Send it again.
    Retry,
    /// Send it again without replayed thinking.
    Repair,
    /// Give up.
    Stop,
}

impl Decision {
    /// The name used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Decision::Retry => "retry",
            Decision::Repair => "repair",
            Decision::Stop => "stop",
        }
    }
}

/// A decision with its reason.
#[derive(Clone, Debug)]
pub struct Ruling {
    /// The decision.
    pub decision: Decision,
    /// Id of the rule that decided.
    pub rule: &'static str,
    /// HTTP status that was used.
    pub status: Option<u16>,
}

/// Decides on failed turns.
pub trait Judge: Sync {
    /// Releases of pi that are asked.
    fn releases(&self) -> &[String];
    /// Whether pi tries again, by release, in the same order.
    fn pi(&self, text: &str, ruling: &Ruling, answers: &mut Vec<bool>);
    /// What the reference decides on an assistant message (its fields but for content and usage).
    fn reference(&self, message: &Map<String, Value>) -> Ruling;
}
