//! `apply` and `revert` on installs of real releases: whole, killed, doubled, updated in between, and run.

mod cases;
mod killed;
mod real;
mod relay;
mod trees;
