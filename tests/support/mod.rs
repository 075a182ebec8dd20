//! What several test files share: pi's shipped JavaScript as the judge, and generators of failure texts.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part, and none is a crate that others see")]

pub mod generate;
pub mod oracle;
