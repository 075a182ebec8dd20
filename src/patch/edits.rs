//! The edits outside the classifier: one helper, and one call in each place where a provider catches its failure.
//!
//! The status goes where upstream keeps it already, into a diagnostic's `details.status`. Two providers do that by themselves
//! since 0.80.7 and 0.84.0; they are left alone.

use std::ops::Range;

use tree_sitter::Node;

use super::error::{Error, Kind, Result};
use super::import;
use super::source::{Dialect, Language};
use super::syntax::{Parsed, above, below, last, named};

/// The diagnostics of the providers that keep their status by themselves.
const KEPT: [&str; 2] = ["bedrock_response_failure", "pi_messages_response_failure"];
/// The type of the diagnostic in which the others keep it.
const DIAGNOSTIC: &str = "provider_response_failure";

/// The helper's name.
pub(super) const HELPER: &str = "appendFailureStatus";

/// New text for a range of one file; an empty range inserts.
#[derive(Clone, Debug)]
pub(super) struct Replacement {
    /// Byte range in the old text.
    pub(super) range: Range<usize>,
    /// What stands there afterwards.
    pub(super) text: String,
}

impl Replacement {
    pub(super) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self { range: at..at, text: text.into() }
    }
}

/// Applies replacements that do not overlap.
pub(super) fn apply(old: &str, mut replacements: Vec<Replacement>) -> String {
    replacements.sort_by_key(|replacement| (replacement.range.start, replacement.range.end));
    let mut new = String::with_capacity(old.len() + replacements.iter().map(|r| r.text.len()).sum::<usize>());
    let mut done = 0;
    for Replacement { range, text } in replacements {
        debug_assert!(done <= range.start, "edits have places of their own");
        new.push_str(&old[done..range.start]);
        new.push_str(&text);
        done = range.end;
    }
    new.push_str(&old[done..]);
    new
}

/// The error for an edit that found another number of places than one.
pub(super) fn misplaced(edit: &str, file: &str, found: impl Into<String>) -> Error {
    Kind::Place { edit: edit.to_owned(), file: file.to_owned(), found: found.into() }.into()
}

/// The only element, or the error that says how many there were.
pub(super) fn only<T>(mut places: Vec<T>, edit: &str, file: &str) -> Result<T> {
    match (places.pop(), places.len()) {
        (Some(place), 0) => Ok(place),
        (None, _) => Err(misplaced(edit, file, "found no place")),
        (Some(_), others) => Err(misplaced(edit, file, format!("found {} places instead of one", others + 1))),
    }
}

/// The white space between the start of a node's line and the node.
pub(super) fn indent_of<'s>(file: &Parsed<'s>, node: Node<'_>) -> &'s str {
    let before = &file.source.text[..node.start_byte()];
    let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
    &line[..line.len() - line.trim_start().len()]
}

/// Whether a name is `name`, perhaps with the digits that a bundler appends where names collide.
pub(super) fn is_named(text: &str, name: &str) -> bool {
    text.strip_prefix(name).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The top-level function declarations of a name, exported or not.
pub(super) fn functions<'t>(file: &'t Parsed<'_>, name: &str) -> Vec<Node<'t>> {
    ["function_declaration", "function_signature"]
        .iter()
        .flat_map(|kind| file.around(name, kind))
        .filter(|node| node.child_by_field_name("name").is_some_and(|found| is_named(file.text(found), name)))
        .collect()
}

/// The statement of the program that holds a node.
pub(super) fn statement(node: Node<'_>) -> Node<'_> {
    std::iter::successors(Some(node), Node::parent)
        .find(|node| node.parent().is_some_and(|parent| parent.kind() == "program"))
        .unwrap_or(node)
}

/// A file with `extractStatus`, where the helper goes.
pub(super) struct Home {
    /// The edits.
    pub(super) replacements: Vec<Replacement>,
}

const HELPER_EDIT: &str = "helper beside extractStatus";

fn helper_doc() -> &'static str {
    "/**\n * Keep the HTTP status of a failed answer in the message's diagnostics, so that nobody has to guess it from the text.\n \
     * Other statuses are ignored: a stream that breaks off after a successful answer can carry 200.\n */\n"
}

/// The helper in a module that has `extractStatus`.
pub(super) fn helper(file: &Parsed<'_>) -> Result<Option<Home>> {
    let path = &file.source.path;
    let found: Vec<_> =
        functions(file, "extractStatus").into_iter().filter(|node| node.kind() == "function_declaration").collect();
    if file.source.is_declaration() || found.is_empty() {
        return Ok(None);
    }
    let extract = only(found, HELPER_EDIT, path)?;
    if file.mentions(HELPER) {
        return Err(Kind::AlreadyPatched { file: path.clone(), by: patcher(file) }.into());
    }
    let name = extract.child_by_field_name("name").map(|name| file.text(name)).unwrap_or_default();
    let typescript = file.source.language == Language::TypeScript;
    let (signature, cast) = match typescript {
        false => ("(output, error)", ""),
        true => (
            "(\n\toutput: { stopReason: string; diagnostics?: AssistantMessageDiagnostic[] },\n\terror: unknown,\n): void",
            " as SdkErrorShape",
        ),
    };
    let doc = helper_doc();
    let body = match file.source.dialect {
        Dialect::Minified => return Ok(None),
        Dialect::Compiled => format!(
            "\n{doc}export function {HELPER}{signature} {{\
             \n    if (output.stopReason !== \"error\" || typeof error !== \"object\" || error === null)\n        return;\
             \n    const status = {name}(error{cast});\
             \n    if (status === undefined || status < 400 || status > 599)\n        return;\
             \n    const details = {{ status }};\
             \n    appendAssistantMessageDiagnostic(output, {{ type: \"{DIAGNOSTIC}\", timestamp: Date.now(), details }});\n}}"
        ),
        Dialect::Written => format!(
            "\n\n{doc}export function {HELPER}{signature} {{\
             \n\tif (output.stopReason !== \"error\" || typeof error !== \"object\" || error === null) return;\
             \n\tconst status = {name}(error{cast});\
             \n\tif (status === undefined || status < 400 || status > 599) return;\
             \n\tconst details = {{ status }};\
             \n\tappendAssistantMessageDiagnostic(output, {{ type: \"{DIAGNOSTIC}\", timestamp: Date.now(), details }});\n}}"
        ),
    };
    let names = if typescript {
        "type AssistantMessageDiagnostic, appendAssistantMessageDiagnostic"
    } else {
        "appendAssistantMessageDiagnostic"
    };
    let ending = if typescript { "ts" } else { "js" };
    let import = import::new(file, names, &format!("./diagnostics.{ending}"));
    Ok(Some(Home { replacements: vec![import, Replacement::insert(extract.end_byte(), body)] }))
}

/// The helper for a chunk of the bundle, whole: a chunk that is loaded later must not ask one in memory for a new export.
pub(super) fn local_helper() -> String {
    format!(
        "function {HELPER}(output,error){{if(output.stopReason!==\"error\"||typeof error!=\"object\"||error===null)return;\
         let status=[error.statusCode,error.status,error.$metadata?.httpStatusCode,error.$response?.statusCode]\
         .find(value=>typeof value==\"number\");status>=400&&status<=599&&(output.diagnostics=[...output.diagnostics??[],\
         {{type:\"{DIAGNOSTIC}\",timestamp:Date.now(),details:{{status}}}}])}}"
    )
}

/// The helper's declaration, in the `.d.ts` beside the module that has it.
pub(super) fn helper_declaration(file: &Parsed<'_>) -> Result<Replacement> {
    let next = statement(only(functions(file, "formatProviderError"), "declaration of the helper", &file.source.path)?);
    let start = match next.prev_named_sibling() {
        Some(comment) if comment.kind() == "comment" => comment.start_byte(),
        _ => next.start_byte(),
    };
    let text = format!(
        "{}export declare function {HELPER}(output: {{\n    stopReason: string;\n    diagnostics?: unknown[];\n}}, error: unknown): void;\n",
        helper_doc()
    );
    Ok(Replacement::insert(start, text))
}

/// Who patched a file, by the names that are met there.
pub(super) fn patcher(file: &Parsed<'_>) -> String {
    match [HELPER, super::render::FRAME].iter().any(|name| file.mentions(name)) {
        true => "pi-retry-forced".to_owned(),
        false => "something else that reads a status".to_owned(),
    }
}

/// A catch block that ends an assistant message.
pub(super) struct Call {
    /// The call after which the message knows its status.
    pub(super) replacement: Replacement,
    /// The start of the statement of the module that holds the block.
    pub(super) before: usize,
}

/// Whether a provider keeps its status by itself.
pub(super) fn keeps_status(file: &Parsed<'_>) -> bool {
    KEPT.iter().any(|kind| file.source.text.contains(kind))
}

/// The calls of the helper: one in each catch block that ends an assistant message.
pub(super) fn calls(file: &Parsed<'_>) -> Vec<Call> {
    let mut calls = Vec::new();
    for catch in file.around("\"aborted\"", "catch_clause") {
        let (Some(error), Some(body)) = (catch.child_by_field_name("parameter"), catch.child_by_field_name("body"))
        else {
            continue;
        };
        for assignment in below(body, "assignment_expression") {
            let output = failed_output(file, assignment);
            let Some(output) = output.filter(|_| above(assignment, "catch_clause") == Some(catch)) else { continue };
            if pushes_error(file, body, output) {
                let call = call_text(file, output, file.text(error));
                calls.push(Call { replacement: after(file, assignment, &call), before: statement(catch).start_byte() });
            }
        }
    }
    calls
}

/// The message in `message.stopReason = … ? "aborted" : "error"`.
fn failed_output<'s>(file: &Parsed<'s>, assignment: Node<'_>) -> Option<&'s str> {
    let output = file.member(assignment.child_by_field_name("left")?, "stopReason")?;
    let right = assignment.child_by_field_name("right").filter(|right| right.kind() == "ternary_expression")?;
    let branch = |name| right.child_by_field_name(name).and_then(|node| file.string_source(node));
    (branch("consequence") == Some("aborted") && branch("alternative") == Some("error")).then(|| file.text(output))
}

/// Whether a block hands the message on as the error event of an assistant stream. Images and classifiers return theirs.
fn pushes_error(file: &Parsed<'_>, block: Node<'_>, output: &str) -> bool {
    below(block, "call_expression").into_iter().filter_map(|call| file.call(call, "push")).any(|arguments| {
        let pairs = arguments.first().map(|event| named(*event)).unwrap_or_default();
        let has = |key: &str, value: &str| {
            pairs.iter().any(|pair| {
                pair.child_by_field_name("key").is_some_and(|found| file.text(found) == key)
                    && pair.child_by_field_name("value").is_some_and(|found| file.text(found) == value)
            })
        };
        has("type", "\"error\"") && has("error", output)
    })
}

fn call_text(file: &Parsed<'_>, output: &str, error: &str) -> String {
    let space = if file.source.dialect == Dialect::Minified { "" } else { " " };
    format!("{HELPER}({output},{space}{error})")
}

/// The insertion of a call behind an expression that is a statement, or part of one joined by commas.
fn after(file: &Parsed<'_>, expression: Node<'_>, call: &str) -> Replacement {
    match above(expression, "expression_statement") {
        Some(statement) if file.source.dialect != Dialect::Minified => {
            Replacement::insert(statement.end_byte(), format!("\n{}{call};", indent_of(file, statement)))
        }
        _ => Replacement::insert(expression.end_byte(), format!(",{call}")),
    }
}

/// Codex reads its failed answer itself and throws a bare error: the status goes with it.
///
/// The place is the block that leaves on `response.ok` and throws further down.
pub(super) fn thrown_status(file: &Parsed<'_>) -> Vec<Replacement> {
    let mut replacements = Vec::new();
    for test in file.around(".ok", "if_statement") {
        let condition = test.child_by_field_name("condition").map(last);
        let Some(response) = condition.and_then(|condition| file.member(condition, "ok")) else { continue };
        if below(test, "break_statement").is_empty() || response.kind() != "identifier" {
            continue;
        }
        let throws = std::iter::successors(test.next_named_sibling(), Node::next_named_sibling)
            .filter(|node| node.kind() == "throw_statement")
            .filter_map(|node| named(node).first().copied())
            .filter(|thrown| thrown.kind() == "new_expression")
            .filter(|thrown| thrown.child_by_field_name("constructor").is_some_and(|name| file.text(name) == "Error"));
        for thrown in throws {
            let (open, colon, close) = match file.source.dialect {
                Dialect::Minified => (",{", ":", "}"),
                _ => (", { ", ": ", " }"),
            };
            replacements.push(Replacement::insert(thrown.start_byte(), "Object.assign("));
            let status = format!("{open}status{colon}{}.status{close})", file.text(response));
            replacements.push(Replacement::insert(thrown.end_byte(), status));
        }
    }
    replacements
}
