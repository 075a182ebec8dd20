//! The command line: one file a command. A command writes to the handles of its `Context` and returns an
//! `ExitStatus`; what went wrong travels as an error and is printed here, once.

mod apply;
mod audit;
mod classify;
mod doctor;
mod evidence;
mod patch;
mod peel;
mod revert;
mod rules;
mod upstream;
mod visible;

use anstyle::{AnsiColor, Style};
use clap::{CommandFactory, Parser, Subcommand};
use std::io::Write;
use std::process::ExitCode;
use visible::Visible;

const STYLES: clap::builder::Styles = clap::builder::Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Decide by HTTP status whether a failed model call of pi deserves another attempt
///
/// pi matches words and digits in an error's text. This reads the status first, and brings that decision to pi as an
/// extension, as a patch, and as a submission to upstream.
#[derive(Parser)]
#[command(name = "pi-retry-forced", version, styles = STYLES, max_term_width = 110, propagate_version = true)]
#[command(after_help = "\
Exit status: 0 done (classify: retry or repair), 1 no (classify: stop; doctor: something is to be done), 2 error.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Classify(classify::Args),
    Audit(audit::Args),
    Doctor(doctor::Args),
    Apply(apply::Args),
    Revert(revert::Args),
    Rules(rules::Args),
    Patch(patch::Args),
    Evidence(evidence::Args),
    Upstream(upstream::Args),
    /// Print a completion script for a shell
    #[command(after_help = "Example:\n  pi-retry-forced completions bash > completions.bash")]
    Completions {
        /// The shell to write for
        shell: clap_complete::Shell,
    },
}

/// How a command ended; the number is the process's exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// Done; for a question, yes.
    Done = 0,
    /// The question was answered with no.
    No = 1,
    /// Something was wrong with the input or the surroundings.
    Error = 2,
}

/// Where a command writes.
pub(crate) struct Context {
    /// The result, and nothing else. Styles are dropped where this is no terminal or `NO_COLOR` is set.
    pub(crate) out: Box<dyn Write>,
    /// Warnings and progress.
    pub(crate) err: Box<dyn Write>,
}

/// Styles for people; see [`Context::out`] for when they are dropped.
pub(crate) mod style {
    use super::{AnsiColor, Style};

    pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
    pub(crate) const WARN: Style = AnsiColor::Yellow.on_default().bold();
    pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
    pub(crate) const STRONG: Style = Style::new().bold();
    pub(crate) const FAINT: Style = Style::new().dimmed();
}

/// Runs the command line of this process and returns its exit status.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors and go to standard output; clap knows.
            let failed = error.print().is_err();
            let status = if error.use_stderr() || failed { ExitStatus::Error } else { ExitStatus::Done };
            return ExitCode::from(status as u8);
        }
    };
    let mut context = Context {
        out: Box::new(Visible(std::io::BufWriter::with_capacity(1 << 16, anstream::stdout()))),
        err: Box::new(Visible(anstream::stderr())),
    };
    let outcome = dispatch(cli.command, &mut context);
    let outcome = outcome.and_then(|status| context.out.flush().map(|()| status).map_err(Into::into));
    match outcome {
        Ok(status) => ExitCode::from(status as u8),
        // Whoever reads the output has enough of it, as `head` does.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let bad = style::BAD;
            // If standard error is gone too, the exit status has to do.
            let _ = writeln!(context.err, "{bad}error:{bad:#} {}", visible::line(&told(&error)));
            ExitCode::from(ExitStatus::Error as u8)
        }
    }
}

fn dispatch(command: Command, context: &mut Context) -> anyhow::Result<ExitStatus> {
    match command {
        Command::Classify(args) => classify::run(args, context),
        Command::Audit(args) => audit::run(args, context),
        Command::Doctor(args) => doctor::run(&args, context),
        Command::Apply(args) => apply::run(&args, context),
        Command::Revert(args) => revert::run(&args, context),
        Command::Rules(args) => rules::run(&args, context),
        Command::Evidence(args) => evidence::run(&args, context),
        Command::Upstream(args) => upstream::run(&args, context),
        Command::Patch(args) => patch::run(&args, context),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "pi-retry-forced", &mut script);
            context.out.write_all(&script)?;
            Ok(ExitStatus::Done)
        }
    }
}

/// An error and what caused it, each said once: some errors name their cause themselves.
fn told(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
