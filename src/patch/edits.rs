//! The edits outside the classifier: one field, one helper, one call in each place where a provider catches its failure.

use std::ops::Range;

use tree_sitter::Node;

use super::error::{Error, Kind, Result};
use super::source::{Dialect, Language};
use super::syntax::{Parsed, above, below, last, named};

/// The type of the diagnostic in which pi-messages keeps its status.
const DIAGNOSTIC: &str = "pi_messages_response_failure";

/// The field of `AssistantMessage`.
pub(super) const FIELD: &str = "errorStatus";
/// The helper's name.
pub(super) const HELPER: &str = "setErrorStatus";

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

/// `interface AssistantMessage`: the status beside the text.
pub(super) fn field(file: &Parsed<'_>) -> Result<Option<Replacement>> {
    const EDIT: &str = "errorStatus on AssistantMessage";
    let interfaces: Vec<_> = file
        .around("interface AssistantMessage", "interface_declaration")
        .into_iter()
        .filter(|node| node.child_by_field_name("name").is_some_and(|name| file.text(name) == "AssistantMessage"))
        .collect();
    if interfaces.is_empty() {
        return Ok(None);
    }
    let interface = only(interfaces, EDIT, &file.source.path)?;
    let property = |name: &str| -> Vec<Node<'_>> {
        let body = interface.child_by_field_name("body").map(named).unwrap_or_default();
        let is = |node: &Node<'_>| node.child_by_field_name("name").is_some_and(|found| file.text(found) == name);
        body.into_iter().filter(is).collect()
    };
    if !property(FIELD).is_empty() {
        return Err(Kind::AlreadyPatched { file: file.source.path.clone(), by: patcher(file) }.into());
    }
    let message = only(property("errorMessage"), EDIT, &file.source.path)?;
    let end =
        message.next_sibling().filter(|next| next.kind() == ";").map_or(message.end_byte(), |next| next.end_byte());
    let indent = indent_of(file, message);
    let text = format!(
        "\n{indent}/** HTTP status (400 to 599) of the provider's failed answer. Absent when no answer arrived. */\
         \n{indent}{FIELD}?: number;"
    );
    Ok(Some(Replacement::insert(end, text)))
}

/// A file with `extractStatus`, where the helper goes.
pub(super) struct Home {
    /// Whether other modules can import the helper from here.
    pub(super) exports: bool,
    /// The edits.
    pub(super) replacements: Vec<Replacement>,
}

const HELPER_EDIT: &str = "helper beside extractStatus";

const HELPER_DOC: [&str; 3] = [
    "Keep the HTTP status of a failed answer on the message, so that nobody has to guess it from the text.",
    "Other statuses are ignored: a stream that breaks off after a successful answer can carry 200 (Bedrock).",
    "",
];

fn helper_doc() -> String {
    format!("/**\n * {}\n * {}\n */\n", HELPER_DOC[0], HELPER_DOC[1])
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
    let cast = if file.source.language == Language::TypeScript { " as SdkErrorShape" } else { "" };
    let signature = match file.source.language {
        Language::JavaScript => "(output, error)",
        Language::TypeScript => "(output: { errorStatus?: number }, error: unknown): void",
    };
    let body = match file.source.dialect {
        Dialect::Minified => {
            let text = format!(
                "function {HELPER}(output,error){{if(typeof error!=\"object\"||error===null)return;let status={name}(error);\
                 status!==void 0&&status>=400&&status<=599&&(output.{FIELD}=status)}}"
            );
            let mut replacements = vec![Replacement::insert(extract.end_byte(), text)];
            let export = exported(file, "normalizeProviderError");
            replacements.extend(export.map(|end| Replacement::insert(end, format!(",{HELPER}"))));
            return Ok(Some(Home { exports: export.is_some(), replacements }));
        }
        Dialect::Compiled => format!(
            "\n{}export function {HELPER}{signature} {{\n    if (typeof error !== \"object\" || error === null)\n        return;\
             \n    const status = {name}(error{cast});\
             \n    if (status !== undefined && status >= 400 && status <= 599)\n        output.{FIELD} = status;\n}}",
            helper_doc()
        ),
        Dialect::Written => format!(
            "\n\n{}export function {HELPER}{signature} {{\n\tif (typeof error !== \"object\" || error === null) return;\
             \n\tconst status = {name}(error{cast});\
             \n\tif (status !== undefined && status >= 400 && status <= 599) output.{FIELD} = status;\n}}",
            helper_doc()
        ),
    };
    Ok(Some(Home { exports: true, replacements: vec![Replacement::insert(extract.end_byte(), body)] }))
}

/// The end of the specifier `name` in an export clause of the module.
fn exported(file: &Parsed<'_>, name: &str) -> Option<usize> {
    file.around(name, "export_specifier")
        .into_iter()
        .find(|node| node.child_by_field_name("name").is_some_and(|found| file.text(found) == name))
        .map(|node| node.end_byte())
}

/// The helper's declaration, in the `.d.ts` beside the module that has it.
pub(super) fn helper_declaration(file: &Parsed<'_>) -> Result<Replacement> {
    let next = statement(only(functions(file, "formatProviderError"), "declaration of the helper", &file.source.path)?);
    let start = match next.prev_named_sibling() {
        Some(comment) if comment.kind() == "comment" => comment.start_byte(),
        _ => next.start_byte(),
    };
    let text = format!(
        "{}export declare function {HELPER}(output: {{\n    errorStatus?: number;\n}}, error: unknown): void;\n",
        helper_doc()
    );
    Ok(Replacement::insert(start, text))
}

/// Who patched a file, by the names that are met there.
pub(super) fn patcher(file: &Parsed<'_>) -> String {
    match [HELPER, super::render::FRAME].iter().any(|name| file.mentions(name)) {
        true => "pi-retry-forced".to_owned(),
        false => format!("something else that brought {FIELD}"),
    }
}

/// The calls after which a failed assistant message knows its status: one in each catch block that ends such a message.
pub(super) fn calls(file: &Parsed<'_>) -> Vec<Replacement> {
    let mut replacements = Vec::new();
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
                replacements.push(after(file, assignment, &call));
            }
        }
    }
    replacements
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

/// pi-messages keeps its status in the details of a diagnostic: the helper reads it there.
pub(super) fn diagnosed_status(file: &Parsed<'_>) -> Vec<Replacement> {
    let mut replacements = Vec::new();
    for create in file.around(DIAGNOSTIC, "call_expression") {
        let Some(call) = above(create, "call_expression") else { continue };
        let Some([message, diagnostic]) = file.call(call, "appendAssistantMessageDiagnostic").and_then(pair) else {
            continue;
        };
        let Some(arguments) = file.call(diagnostic, "createAssistantMessageDiagnostic") else { continue };
        let [kind, _, details] = arguments[..] else { continue };
        if file.string_source(kind) != Some(DIAGNOSTIC) {
            continue;
        }
        let copy = call_text(file, file.text(message), file.text(details));
        if file.source.dialect == Dialect::Minified && call.parent().is_some_and(|p| p.kind() == "binary_expression") {
            replacements.push(Replacement::insert(call.start_byte(), "("));
            replacements.push(Replacement::insert(call.end_byte(), format!(",{copy})")));
        } else {
            replacements.push(after(file, call, &copy));
        }
    }
    replacements
}

fn pair(nodes: Vec<Node<'_>>) -> Option<[Node<'_>; 2]> {
    nodes.try_into().ok()
}
