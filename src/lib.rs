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
//! | `failure`, `body` | what is known of a failed turn: text, status and where it came from, request ids |
//! | `matcher`, `needles`, `scan` | patterns that mean the same in Rust and JavaScript, and how hundreds are found at once |
//! | [`rules`], `classify`, `verdict` | the rules as data, the order of decision, the answer |
//! | `rewrite`, `thinking` | the 503 text, and the strip of replayed thinking |
//! | `export` | the same data for the extension's engine |
//! | [`upstream`] | pi's published packages: releases, fetching, patterns by era |
//! | [`patch`], [`installed`] | the edits and their diffs; an installed pi, patched in place |
//! | [`submission`], [`evidence`] | mails for upstream, and the report |
//! | [`audit`] | pi's session files |
//! | [`cli`] | one file a command |

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
pub use failure::{FRAME, Failure, PI_FRAME, REQUEST_ID, REWRITE_PREFIX, StatusSource, cut_request_ids};
pub use matcher::{Pattern, PatternError};
pub use rewrite::{rewrite, unrewritten};
pub use thinking::{ThinkingText, strip};
pub use verdict::{BUILT_IN_RULES, Decision, Verdict};
