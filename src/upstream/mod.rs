//! The published packages of pi, as this crate knows them.
//!
//! The files follow a package from the registry to a decision: [`releases`](Release) lists what was published and with which
//! digest, [`fetch`](Cache) brings one release to this machine, [`package`](Package) opens a folder and finds an installed
//! one, [`parse`](retry_patterns) reads the pattern lists out of its JavaScript, [`patterns`](Era) keeps those of every
//! supported release as data, and [`jsregex`](JsRegex) gives them the meaning that JavaScript gives them.
//! [`PiClassifier`] is the sum: what pi's own `isRetryableAssistantError` of a given version says to a text.

mod error;
mod fetch;
mod jsregex;
mod jssyntax;
mod package;
mod parse;
mod patterns;
mod releases;

pub use self::error::Error;
pub use self::fetch::{Cache, Step};
pub use self::jsregex::JsRegex;
pub use self::package::{Installed, Package, find_all_installed, find_installed};
pub use self::parse::{OverflowPatterns, RegexLiteral, RetryPatterns, overflow_patterns, retry_patterns};
pub use self::patterns::{Era, OverflowEra, PiClassifier};
pub use self::releases::{Name, Part, Release, parse_version};
pub use semver::Version;
