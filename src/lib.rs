//! Decides by HTTP status whether a failed model call of the pi coding agent deserves another attempt.
//!
//! pi matches words and digits in an error's text. Here the status is read first, and the text counts only where there is
//! none or where a rule knows better; see [`classify`] for the decision and [`rules`] for the wordings.
//!
//! ```
//! use pi_retry_forced::{Decision, Failure, Profile, classify};
//!
//! let cloudflare = Failure::from_text("522 status code (no body)");
//! assert_eq!(classify(&cloudflare, Profile::Full).decision, Decision::Retry);
//! let parameter = Failure::from_text(r#"400: {"message":"Unknown parameter: 'timeout'"}"#);
//! assert_eq!(classify(&parameter, Profile::Full).decision, Decision::Stop);
//! ```
//!
//! # Scope
//!
//! It decides, and nothing else: budget and backoff stay pi's, nothing is sent or waited for. Only failed turns are judged.
//!
//! # Map
//!
//! | module | what is there |
//! |---|---|
//! | `reference` | the decision, in the order of a failure's way: failure, body, matcher, [`rules`], classify, verdict, rewrite, repair; and the same as data for the extension |
//! | [`upstream`] | pi's published packages: releases, fetching, patterns by era |
//! | [`patch`], [`installed`] | the edits and their diffs; an installed pi, patched in place |
//! | [`submission`], [`evidence`] | mails for upstream, and the report |
//! | [`audit`] | pi's session files |
//! | [`cli`] | one file a command |

pub mod audit;
pub mod cli;
pub mod evidence;
pub mod installed;
pub mod patch;
mod reference;
pub mod submission;
pub mod upstream;

pub use reference::classify::{
    NON_OVERFLOW, Profile, TRANSIENT_CLIENT_STATUSES, UNTELLING_STATUSES, classify, is_transient_status,
};
pub use reference::failure::{FRAME, Failure, PI_FRAME, REQUEST_ID, REWRITE_PREFIX, StatusSource, cut_request_ids};
pub use reference::matcher::{Pattern, PatternError};
pub use reference::number::{LONE_STATUS, MEASURED, NAMED_STATUS};
pub use reference::pis_words::after_pis_words;
pub use reference::repair::{Form, ThinkingText, prepare, strip, switch_off};
pub use reference::rewrite::{rewrite, unrewritten};
pub use reference::rules;
pub use reference::shim_data::{rule_json, shim_module, shim_needles_module};
pub use reference::surrogates::replace_lone_surrogates;
pub use reference::verdict::{BUILT_IN_RULES, Decision, Verdict};
