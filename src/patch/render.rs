//! How the new classifier is written down, in each dialect.

use tree_sitter::Node;

use super::classifier::Line;
use super::edits::Replacement;
use super::groups::{Classifier, Group};
use super::literal;
use super::source::Dialect;
use super::syntax::Parsed;
use crate::reference::classify::{TRANSIENT_CLIENT_STATUSES, UNTELLING_STATUSES};
use crate::reference::rules::{RuleDecision, When};

/// The constant with the expression that reads a status at the start of a text.
pub(super) const FRAME: &str = "HTTP_STATUS_TEXT_PATTERN";
/// The constant with the wordings that count only where no answer arrived.
pub(super) const TRANSPORT: &str = "RETRYABLE_TRANSPORT_ERROR_PATTERN";

/// Whether a value is the status of a failed answer.
const VALID: &str = "(value) => Number.isInteger(value) && value >= 400 && value <= 599";

/// Columns that a comment may fill.
const WIDTH: usize = 120;

/// The constant of each group: the given ones, and new ones named after decision and statuses.
pub(super) fn names(target: &Classifier, homes: &[(usize, &str)]) -> Vec<String> {
    let name = |(index, group): (usize, &Group)| match homes.iter().find(|(home, _)| *home == index) {
        Some((_, name)) => (*name).to_owned(),
        None => constant(group),
    };
    target.groups.iter().enumerate().map(name).collect()
}

fn constant(group: &Group) -> String {
    let prefix = match group.decision {
        RuleDecision::Retry => "RETRYABLE",
        RuleDecision::Repair => "REJECTED_THINKING",
        RuleDecision::Overflow => "CONTEXT_OVERFLOW",
        RuleDecision::Stop => "NON_RETRYABLE",
        RuleDecision::Wait => "SHORT_SERVER_WAIT",
    };
    let mut name = prefix.to_owned();
    if !group.is_unconditional() {
        for when in &group.when {
            name += &match when {
                When::Any => String::new(),
                When::NoStatus => "_NO_STATUS".to_owned(),
                When::ClientError => "_4XX".to_owned(),
                When::ServerError => "_5XX".to_owned(),
                When::Status(status) => format!("_{status}"),
            };
        }
    }
    name + "_ERROR_PATTERN"
}

/// A comment as lines, wrapped, one level deep.
pub(super) fn comment(text: &str, dialect: Dialect) -> Vec<String> {
    if dialect == Dialect::Minified || text.is_empty() {
        return Vec::new();
    }
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            // The indentation counts as four columns in either dialect.
            Some(line) if 4 + line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("// {word}")),
        }
    }
    lines
}

/// An array of string literals, one a line, each below its comment.
pub(super) fn array(lines: &[Line], dialect: Dialect) -> String {
    if dialect == Dialect::Minified {
        let literals: Vec<&str> = lines.iter().map(|line| line.literal.as_str()).collect();
        return format!("[{}]", literals.join(","));
    }
    let indent = dialect.indent();
    let mut text = String::from("[\n");
    for (index, line) in lines.iter().enumerate() {
        if line.apart && index > 0 {
            text.push('\n');
        }
        for comment in &line.comments {
            text += &format!("{indent}{comment}\n");
        }
        text += &format!("{indent}{},\n", line.literal);
    }
    text + "]"
}

/// The expression that builds a pattern from a list.
pub(super) fn call(builder: &str, lines: &[Line], dialect: Dialect) -> String {
    format!("{builder}({})", array(lines, dialect))
}

/// What is said above a constant; nothing for those whose name says it.
fn headline(name: &str) -> Option<&'static str> {
    match name {
        TRANSPORT => Some(
            "Wording that counts only without an HTTP status: in the body of a failed answer it names a parameter or an account.",
        ),
        FRAME => Some("The status where a provider's text starts with it, for messages that carry none."),
        _ => None,
    }
}

/// The insertion of new constants behind the old ones.
pub(super) fn constants(
    file: &Parsed<'_>,
    declarator: Node<'_>,
    statement: Node<'_>,
    constants: &[(String, String)],
) -> Replacement {
    if file.source.dialect == Dialect::Minified {
        let text: String = constants.iter().map(|(name, value)| format!(",{name}={value}")).collect();
        return Replacement::insert(declarator.end_byte(), text);
    }
    let mut text = String::new();
    for (name, value) in constants {
        text.push('\n');
        if file.source.dialect == Dialect::Written {
            text.push('\n');
        }
        for line in headline(name).map(|line| comment(line, file.source.dialect)).unwrap_or_default() {
            text += &format!("{line}\n");
        }
        let line = format!("const {name} = {value};");
        let first = line.lines().next().unwrap_or_default();
        // The formatter breaks behind the equals sign where that is the only place.
        let broken = file.source.dialect == Dialect::Written && columns(first) > WIDTH;
        text += &if broken { line.replacen("= ", "=\n\t", 1) } else { line };
    }
    Replacement::insert(statement.end_byte(), text)
}

/// The condition that a group counts for a status; nothing if it counts for every one.
fn condition(group: &Group) -> Option<String> {
    let when = &group.when;
    if group.is_unconditional() {
        return None;
    }
    let known = when.contains(&When::NoStatus);
    let defined = |test: &str| if known { test.to_owned() } else { format!("status !== undefined && {test}") };
    let tests: Vec<String> = when
        .iter()
        .map(|when| match when {
            When::Any => "true".to_owned(),
            When::NoStatus => "status === undefined".to_owned(),
            When::ClientError => defined("status < 500"),
            When::ServerError => defined("status >= 500"),
            When::Status(status) => format!("status === {status}"),
        })
        .collect();
    Some(match &tests[..] {
        [] => "false".to_owned(),
        [test] => test.clone(),
        tests if !known => {
            let test = |test: &String| if test.contains("&&") { format!("({test})") } else { test.clone() };
            format!("({})", tests.iter().map(test).collect::<Vec<_>>().join(" || "))
        }
        tests => format!("({})", tests.join(" || ")),
    })
}

/// A group's test: its statuses, then its expression.
fn test(group: &Group, constant: &str, text: &str) -> String {
    let test = format!("{constant}.test({text})");
    condition(group).map_or(test.clone(), |condition| format!("{condition} && {test}"))
}

/// The function behind the copy of the text.
pub(super) fn body(target: &Classifier, constants: &[String], message: &str, text: &str, dialect: Dialect) -> String {
    let of = |decision: RuleDecision| {
        let groups = target.groups.iter().zip(constants);
        groups.filter(move |(group, _)| group.decision == decision).collect::<Vec<_>>()
    };
    let mut writer = Writer { text: String::new(), dialect };
    if target.as_pi {
        let tests = |decision| -> Vec<String> {
            of(decision).into_iter().map(|(_, constant)| format!("{constant}.test({text})")).collect()
        };
        for limit in tests(RuleDecision::Stop) {
            writer.returns(&limit, "false");
        }
        writer.line(
            "// A known status decides; 400 and 424 say too little, and the list is asked as where there is none.",
        );
        writer.structured_status(message, text);
        let untelling = UNTELLING_STATUSES.map(|status| status.to_string()).join(", ");
        let transient = TRANSIENT_CLIENT_STATUSES.map(|status| status.to_string()).join(", ");
        let known = writer.spaced(format!("status !== undefined && ![{untelling}].includes(status)"));
        writer.returns(&known, &writer.spaced(format!("status >= 500 || [{transient}].includes(status)")));
        writer.result(&tests(RuleDecision::Retry));
        return writer.text;
    }
    writer.line(
        "// The HTTP status decides. The text is asked where there is none, and about the few failures sent as 400.",
    );
    writer.status(message, text);
    if let Some(prefix) = &target.own_prefix {
        writer.returns(&format!("{text}.startsWith({})", literal::quote(prefix)), "true");
    }
    for (group, constant) in of(RuleDecision::Overflow).into_iter().chain(of(RuleDecision::Repair)) {
        writer.returns(&writer.spaced(test(group, constant, text)), "false");
    }
    let waits: String = of(RuleDecision::Wait)
        .into_iter()
        .map(|(group, constant)| match condition(group) {
            None => format!(" && !{constant}.test({text})"),
            Some(_) => format!(" && !({})", test(group, constant, text)),
        })
        .collect();
    let (any, some): (Vec<_>, Vec<_>) =
        of(RuleDecision::Stop).into_iter().partition(|(group, _)| group.is_unconditional());
    for (group, constant) in any {
        writer.returns(&writer.spaced(test(group, constant, text)), "false");
    }
    for (group, constant) in some {
        writer.returns(&writer.spaced(format!("{}{waits}", test(group, constant, text))), "false");
    }
    let transient = TRANSIENT_CLIENT_STATUSES.map(|status| status.to_string()).join(", ");
    let transient = format!("status !== undefined && (status >= 500 || [{transient}].includes(status))");
    writer.returns(&writer.spaced(transient), "true");
    let retries: Vec<String> = of(RuleDecision::Retry)
        .into_iter()
        .map(|(group, constant)| match condition(group) {
            None => test(group, constant, text),
            Some(_) => format!("({})", test(group, constant, text)),
        })
        .map(|test| writer.spaced(test))
        .collect();
    writer.result(&retries);
    writer.text
}

/// The width of a line as upstream's formatter counts it.
fn columns(line: &str) -> usize {
    const TAB: usize = 3;
    line.chars().map(|char| if char == '\t' { TAB } else { 1 }).sum()
}

/// The parts of a condition that `&&` joins outside parentheses.
fn conjuncts(condition: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0);
    for (at, char) in condition.char_indices() {
        match char {
            '(' => depth += 1,
            ')' => depth -= 1,
            '&' if depth == 0 && condition[at..].starts_with("&& ") => {
                parts.push(condition[start..at].trim_end());
                start = at + "&& ".len();
            }
            _ => {}
        }
    }
    parts.push(&condition[start..]);
    parts
}

/// Writes statements of a function body.
struct Writer {
    text: String,
    dialect: Dialect,
}

impl Writer {
    /// An expression without string literals, with or without its spaces.
    fn spaced(&self, expression: String) -> String {
        if self.dialect == Dialect::Minified { expression.replace(' ', "") } else { expression }
    }

    fn line(&mut self, line: &str) {
        if self.dialect != Dialect::Minified {
            self.text += &format!("\n{}{line}", self.dialect.indent());
        }
    }

    /// The expressions of the statuses that a message carries by its own word, the first valid one counts.
    fn structured(&self, message: &str) -> Vec<String> {
        match self.dialect {
            // Its type knows both, and no other.
            Dialect::Written => {
                vec![format!("...({message}.diagnostics ?? []).map((diagnostic) => diagnostic.details?.status)")]
            }
            _ => vec![
                format!(
                    "...(Array.isArray({message}.diagnostics) ? {message}.diagnostics : []).map((diagnostic) => diagnostic?.details?.status)"
                ),
                // Some fork sets it.
                format!("{message}.errorStatus"),
            ],
        }
    }

    fn status(&mut self, message: &str, text: &str) {
        let mut list = vec![format!("Number({FRAME}.exec({text})?.[1])")];
        list.extend(self.structured(message));
        self.constant("status", &format!("{}.find({VALID})", self.array(&list)));
    }

    /// The status by the message's own word, unless the text starts with another.
    fn structured_status(&mut self, message: &str, text: &str) {
        self.constant("known", &format!("{}.find({VALID})", self.array(&self.structured(message))));
        let written = format!("Number({FRAME}.exec({text})?.[1])");
        self.constant("status", &format!("known === undefined ? known : [{written}, known].find({VALID})"));
    }

    fn array(&self, items: &[String]) -> String {
        match (self.dialect, items) {
            (Dialect::Minified, _) | (_, [_]) => format!("[{}]", items.join(", ")),
            _ => {
                let indent = self.dialect.indent();
                format!("[\n{indent}{indent}{},\n{indent}]", items.join(&format!(",\n{indent}{indent}")))
            }
        }
    }

    fn constant(&mut self, name: &str, value: &str) {
        match self.dialect {
            Dialect::Minified => self.text += &format!("let {name}={};", value.replace(' ', "")),
            _ => self.line(&format!("const {name} = {value};")),
        }
    }

    fn returns(&mut self, condition: &str, value: &str) {
        match self.dialect {
            Dialect::Compiled => {
                self.line(&format!("if ({condition})"));
                self.line(&format!("    return {value};"));
            }
            Dialect::Written => {
                let line = format!("if ({condition}) return {value};");
                let head = format!("if ({condition})");
                if columns(&format!("\t{line}")) <= WIDTH {
                    self.line(&line);
                } else if columns(&format!("\t{head}")) <= WIDTH {
                    self.line(&head);
                    self.line(&format!("\treturn {value};"));
                } else {
                    self.line("if (");
                    self.line(&format!("\t{}", conjuncts(condition).join(" &&\n\t\t")));
                    self.line(")");
                    self.line(&format!("\treturn {value};"));
                }
            }
            Dialect::Minified => self.text += &format!("if({condition})return {value};"),
        }
    }

    fn result(&mut self, tests: &[String]) {
        match self.dialect {
            Dialect::Compiled => {
                self.line(&format!("return ({});\n", tests.join(" ||\n        ")));
            }
            Dialect::Written => {
                self.line("return (");
                for (index, test) in tests.iter().enumerate() {
                    let or = if index + 1 < tests.len() { " ||" } else { "" };
                    self.line(&format!("\t{test}{or}"));
                }
                self.line(");\n");
            }
            Dialect::Minified => self.text += &format!("return {}", tests.join("||")),
        }
    }
}
