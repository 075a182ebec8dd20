//! The edit of `isRetryableAssistantError`: where its parts are, and what becomes of the patterns that are there.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::edits::{Replacement, functions, misplaced, only, patcher, statement};
use super::error::{Kind, Result};
use super::groups::{Classifier, Group, Pattern};
use super::literal;
use super::render;
use super::syntax::{Parsed, below, last, named};
use super::warning::Warning;
use crate::reference::rules::{RuleDecision, When};

pub(super) const EDIT: &str = "classifier";

/// A line of a pattern list: the comments above it and its string literal, as written.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) comments: Vec<String>,
    /// Whether an empty line stands before it.
    pub(super) apart: bool,
    /// The literal with its quotes.
    pub(super) literal: String,
    /// The pattern that it stands for.
    pub(super) value: String,
}

/// A pattern list that is there.
struct List<'t> {
    name: String,
    /// The array literal.
    array: Node<'t>,
    lines: Vec<Line>,
}

/// The parts of the classifier that the edit needs.
struct Found<'t> {
    /// Where the rest of the function starts: behind `const errorMessage = …;`.
    body: std::ops::Range<usize>,
    stop: List<'t>,
    retry: List<'t>,
    /// The statement or declarator behind which new constants go, and the function that builds a pattern.
    retry_declarator: Node<'t>,
    builder: String,
    /// The function's own names.
    message: String,
    text: String,
}

/// The edit's result.
pub(super) struct Edited {
    pub(super) replacements: Vec<Replacement>,
    pub(super) warnings: Vec<Warning>,
}

/// The edit in the module that has the classifier; nothing if this is another one.
pub(super) fn edit(file: &Parsed<'_>, target: &Classifier) -> Result<Option<Edited>> {
    let function: Vec<_> = functions(file, "isRetryableAssistantError")
        .into_iter()
        .filter(|node| node.kind() == "function_declaration")
        .collect();
    if function.is_empty() || file.source.is_declaration() {
        return Ok(None);
    }
    let function = only(function, EDIT, &file.source.path)?;
    if below(function, "property_identifier")
        .into_iter()
        .any(|node| ["diagnostics", "errorStatus"].contains(&file.text(node)))
        || file.mentions(render::FRAME)
    {
        return Err(Kind::AlreadyPatched { file: file.source.path.clone(), by: patcher(file) }.into());
    }
    let found =
        find(file, function).ok_or_else(|| misplaced(EDIT, &file.source.path, "met a function of another shape"))?;
    rewrite(file, found, target).map(Some)
}

fn find<'t>(file: &'t Parsed<'_>, function: Node<'t>) -> Option<Found<'t>> {
    let parameter = below(function.child_by_field_name("parameters")?, "identifier").first().copied()?;
    let message = file.text(parameter).to_owned();
    let body = function.child_by_field_name("body")?;
    let statements = named(body);
    // The guard, the copy of the text, then two tests and nothing else.
    let [guard, copy, tests @ ..] = &statements[..] else { return None };
    if !is_guard(file, *guard, &message) || copy.kind() != "lexical_declaration" {
        return None;
    }
    let [declarator] = named(*copy)[..] else { return None };
    if file.text(file.member(declarator.child_by_field_name("value")?, "errorMessage")?) != message {
        return None;
    }
    let text = file.text(declarator.child_by_field_name("name")?).to_owned();
    // `if (STOP.test(…)) return false; return RETRY.test(…);`, or the same as a ternary.
    let (stop, stopped, retry) = match tests {
        [stops, retries] if stops.kind() == "if_statement" && stops.child_by_field_name("alternative").is_none() => {
            let consequence = stops.child_by_field_name("consequence")?;
            (last(stops.child_by_field_name("condition")?), returned(consequence)?, returned(*retries)?)
        }
        [retries] => {
            let ternary = returned(*retries).filter(|value| value.kind() == "ternary_expression")?;
            let part = |name| ternary.child_by_field_name(name);
            (part("condition")?, part("consequence")?, part("alternative")?)
        }
        _ => return None,
    };
    if !matches!(file.text(stopped), "false" | "!1") || function.has_error() {
        return None;
    }
    let (stop, _, _) = list(file, stop, &text)?;
    let (retry, retry_declarator, builder) = list(file, retry, &text)?;
    let end = body.end_byte() - 1;
    Some(Found { body: copy.end_byte()..end, stop, retry, retry_declarator, builder, message, text })
}

/// Whether a statement is `if (message.stopReason !== "error" || !message.errorMessage) return false;`.
fn is_guard(file: &Parsed<'_>, statement: Node<'_>, message: &str) -> bool {
    let parts = || {
        let condition = last(statement.child_by_field_name("condition")?);
        let reason = condition.child_by_field_name("left")?;
        let text = condition.child_by_field_name("right")?.child_by_field_name("argument")?;
        let reads = |node, property| file.member(node, property).is_some_and(|object| file.text(object) == message);
        let value = returned(statement.child_by_field_name("consequence")?)?;
        Some(
            reads(reason.child_by_field_name("left")?, "stopReason")
                && file.string_source(reason.child_by_field_name("right")?) == Some("error")
                && reads(text, "errorMessage")
                && matches!(file.text(value), "false" | "!1"),
        )
    };
    statement.kind() == "if_statement" && parts().unwrap_or(false)
}

/// What a return statement returns, alone or in a block.
fn returned(statement: Node<'_>) -> Option<Node<'_>> {
    match (statement.kind(), &named(statement)[..]) {
        ("return_statement", [value]) => Some(*value),
        ("statement_block", [only]) => returned(*only),
        _ => None,
    }
}

/// The list behind `NAME.test(text)`: `NAME = builder([…strings])`.
fn list<'t>(file: &'t Parsed<'_>, test: Node<'t>, text: &str) -> Option<(List<'t>, Node<'t>, String)> {
    let argument = file.call(test, "test")?.first().copied()?;
    let name = file.text(test.child_by_field_name("function")?.child_by_field_name("object")?);
    let declarators: Vec<_> = file
        .around(name, "variable_declarator")
        .into_iter()
        .filter(|node| node.child_by_field_name("name").is_some_and(|found| file.text(found) == name))
        .collect();
    let [declarator] = declarators[..] else { return None };
    let call = declarator.child_by_field_name("value").filter(|value| value.kind() == "call_expression")?;
    let [array] = named(call.child_by_field_name("arguments")?)[..] else { return None };
    if array.kind() != "array" || file.text(argument) != text {
        return None;
    }
    let builder = file.text(call.child_by_field_name("function")?).to_owned();
    let mut lines = Vec::new();
    let mut comments = Vec::new();
    let mut apart = false;
    let mut cursor = array.walk();
    for child in array.named_children(&mut cursor) {
        let before = file.source.text[array.start_byte()..child.start_byte()].trim_end_matches([' ', '\t']);
        apart |= before.ends_with("\n\n");
        if child.kind() == "comment" {
            comments.push(file.text(child).to_owned());
            continue;
        }
        let value = literal::unescape(file.string_source(child)?)?;
        let comments = std::mem::take(&mut comments);
        let apart = std::mem::take(&mut apart);
        lines.push(Line { comments, apart, literal: file.text(child).to_owned(), value });
    }
    Some((List { name: name.to_owned(), array, lines }, declarator, builder))
}

/// Where a pattern goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    /// It stays in its list, or goes to the list of this group.
    Group(usize),
    /// Its meaning lives on in another pattern, or in the status.
    Gone,
    /// Nobody knows it: it stays in its place.
    Unknown,
}

fn fate(value: &str, decision: RuleDecision, target: &Classifier) -> Fate {
    let has = |group: &&Group| group.patterns.iter().any(|pattern| pattern.js == value);
    let same = |group: &&Group| (group.decision == RuleDecision::Retry) == (decision == RuleDecision::Retry);
    let known = target.groups.iter().find(|group| same(group) && has(group)).or(target.groups.iter().find(has));
    match known {
        Some(group) => {
            Fate::Group(target.groups.iter().position(|other| std::ptr::eq(group, other)).unwrap_or_default())
        }
        None if target.superseded.contains_key(value) || is_status_token(value) => Fate::Gone,
        None => Fate::Unknown,
    }
}

/// Whether a pattern looks for nothing but status numbers, anchored or not.
fn is_status_token(pattern: &str) -> bool {
    let core = pattern.strip_prefix("(?<![a-z0-9])").unwrap_or(pattern);
    let core = core.strip_suffix("(?![a-z0-9])").unwrap_or(core);
    let core = core.strip_prefix("(?:").and_then(|core| core.strip_suffix(')')).unwrap_or(core);
    core.split('|').all(|token| token.len() == 3 && token.bytes().all(|byte| byte.is_ascii_digit()))
}

fn rewrite(file: &Parsed<'_>, mut found: Found<'_>, target: &Classifier) -> Result<Edited> {
    let path = &file.source.path;
    let mut warnings = Vec::new();
    let place = |decision, when: &[When]| {
        let when = when.iter().copied().collect();
        target.groups.iter().position(|group| group.decision == decision && group.when == when)
    };
    let missing = |what: &str| misplaced(EDIT, path, format!("has no {what} to put the patterns of this release into"));
    let stop = place(RuleDecision::Stop, &[When::NoStatus, When::ClientError]).ok_or_else(|| missing("stop group"))?;
    let provider =
        place(RuleDecision::Retry, &[When::NoStatus, When::Status(400)]).ok_or_else(|| missing("provider group"))?;
    let transport = place(RuleDecision::Retry, &[When::NoStatus]).ok_or_else(|| missing("transport group"))?;

    // Where a pattern got a new wording, the new one stands in its place.
    succeed(&mut found.stop, target);
    succeed(&mut found.retry, target);
    // What is there, by the group it belongs to.
    let mut fates = |list: &List<'_>, decision| -> Vec<Fate> {
        let fates: Vec<Fate> = list.lines.iter().map(|line| fate(&line.value, decision, target)).collect();
        let unknown = list.lines.iter().zip(&fates).filter(|(_, fate)| **fate == Fate::Unknown);
        warnings.extend(unknown.map(|(line, _)| Warning::UnknownPattern {
            file: path.clone(),
            pattern: line.value.clone(),
            list: list.name.clone(),
        }));
        fates
    };
    let stop_fates = fates(&found.stop, RuleDecision::Stop);
    let retry_fates = fates(&found.retry, RuleDecision::Retry);

    let (mut lists, mut moved) = split(&found.stop, &stop_fates, &[stop]);
    let (kept, left) = split(&found.retry, &retry_fates, &[provider, transport]);
    lists.extend(kept);
    for (group, lines) in left {
        moved.entry(group).or_default().extend(lines);
    }
    // Lines that move come first, as they came first in the old list; what this release has not comes last.
    for (group, lines) in moved {
        lists.entry(group).or_default().splice(0..0, lines);
    }
    for (index, group) in target.groups.iter().enumerate() {
        let list = lists.entry(index).or_default();
        let mut comment = "";
        for Pattern { js, comment: own } in &group.patterns {
            comment = if own.is_empty() { comment } else { own };
            if !list.iter().any(|line| line.value == *js) {
                let comments = render::comment(std::mem::take(&mut comment), file.source.dialect);
                list.push(Line { comments, apart: false, literal: literal::quote(js), value: js.clone() });
            }
        }
    }

    let homes =
        [(stop, found.stop.name.as_str()), (provider, found.retry.name.as_str()), (transport, render::TRANSPORT)];
    let constants = render::names(target, &homes);
    let dialect = file.source.dialect;
    let mut replacements = vec![
        Replacement { range: found.stop.array.byte_range(), text: render::array(&lists[&stop], dialect) },
        Replacement { range: found.retry.array.byte_range(), text: render::array(&lists[&provider], dialect) },
    ];
    let mut new = vec![(constants[transport].clone(), render::call(&found.builder, &lists[&transport], dialect))];
    for index in (0..target.groups.len()).filter(|index| ![stop, provider, transport].contains(index)) {
        new.push((constants[index].clone(), render::call(&found.builder, &lists[&index], dialect)));
    }
    new.push((render::FRAME.to_owned(), literal::regex(&target.frame)));
    for (name, _) in &new {
        if file.mentions(name) {
            return Err(misplaced(EDIT, path, format!("met the name {name} that it needs itself")));
        }
    }
    replacements.push(render::constants(file, found.retry_declarator, statement(found.retry_declarator), &new));
    let body = render::body(target, &constants, &found.message, &found.text, dialect);
    replacements.push(Replacement { range: found.body, text: body });
    Ok(Edited { replacements, warnings })
}

/// Gives patterns that another one took the place of that one's wording, unless the list has it already.
fn succeed(list: &mut List<'_>, target: &Classifier) {
    for index in 0..list.lines.len() {
        let Some(Some(new)) = target.superseded.get(&list.lines[index].value) else { continue };
        if !list.lines.iter().any(|line| line.value == *new) {
            let line = &mut list.lines[index];
            (line.literal, line.value) = (literal::quote(new), new.clone());
        }
    }
}

/// Splits an old list into the lists of `homes`, one behind the other, so that as few lines as possible move; gives the
/// lines that stay, by group, and those that move, by group.
fn split(list: &List<'_>, fates: &[Fate], homes: &[usize]) -> (BTreeMap<usize, Vec<Line>>, BTreeMap<usize, Vec<Line>>) {
    let cost = |cut: usize| {
        let home = |index: usize| if index < cut { homes[0] } else { homes[homes.len() - 1] };
        fates
            .iter()
            .enumerate()
            .filter(|(index, fate)| **fate != Fate::Group(home(*index)) && **fate != Fate::Unknown)
            .count()
    };
    let cut = if homes.len() == 1 { fates.len() } else { (0..=fates.len()).min_by_key(|cut| cost(*cut)).unwrap_or(0) };
    let stays = |index: usize| {
        let home = if index < cut { homes[0] } else { homes[homes.len() - 1] };
        (fates[index] == Fate::Unknown || fates[index] == Fate::Group(home)).then_some(home)
    };

    let mut kept: BTreeMap<usize, Vec<Line>> = homes.iter().map(|home| (*home, Vec::new())).collect();
    let mut moved: BTreeMap<usize, Vec<Line>> = BTreeMap::new();
    let mut start = 0;
    while start < list.lines.len() {
        // A comment speaks of the patterns below it, up to the next comment.
        let rest = &list.lines[start + 1..];
        let end = start + 1 + rest.iter().position(|line| !line.comments.is_empty()).unwrap_or(rest.len());
        let mut comments = list.lines[start].comments.clone();
        let anyone_stays = (start..end).any(|index| stays(index).is_some());
        for (index, old) in list.lines.iter().enumerate().take(end).skip(start) {
            let line = |comments| Line { comments, ..old.clone() };
            match (stays(index), fates[index]) {
                (Some(home), _) => kept.entry(home).or_default().push(line(std::mem::take(&mut comments))),
                (None, Fate::Group(group)) if anyone_stays => moved.entry(group).or_default().push(line(Vec::new())),
                (None, Fate::Group(group)) => moved.entry(group).or_default().push(line(std::mem::take(&mut comments))),
                (None, Fate::Gone | Fate::Unknown) => {}
            }
        }
        start = end;
    }
    (kept, moved)
}
