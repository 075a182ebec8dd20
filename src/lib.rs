//! Decides by HTTP status whether a failed model call of the pi coding agent deserves another attempt.

pub mod audit;
mod body;
mod classify;
pub mod cli;
pub mod evidence;
mod export;
mod failure;
pub mod installed;
pub mod json;
mod matcher;
mod needles;
pub mod patch;
mod rewrite;
pub mod rules;
mod scan;
pub mod submission;
mod thinking;
pub mod upstream;
mod verdict;

pub use classify::{NON_OVERFLOW, Profile, TRANSIENT_CLIENT_STATUSES, classify, is_transient_status};
pub use export::{rule_json, shim_module, shim_needles_module};
pub use failure::{
    FRAME, FRAME_END, FRAME_LEADS, Failure, PI_FRAME, REQUEST_ID, REQUEST_ID_FORMS, REWRITE_PREFIX, StatusSource,
    cut_request_ids,
};
pub use matcher::{Pattern, PatternError};
pub use rewrite::{rewrite, unrewritten};
pub use thinking::{ThinkingText, strip};
pub use verdict::{BUILT_IN_RULES, Decision, Verdict};
