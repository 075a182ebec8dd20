//! Entry point: maps the outcome of a command to an exit status and nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    pi_retry_forced::cli::run()
}
