//! Decides by HTTP status whether a failed model call of the pi coding agent deserves another attempt.

pub mod cli;
pub mod upstream;
