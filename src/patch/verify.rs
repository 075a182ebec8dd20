//! Proves a patch before it is written: its text is applied to a copy, and the result is run in node against the reference.
//!
//! pi-ai's classifier is a module without imports and is imported as it is. In the bundle it shares a chunk with much else;
//! there the function and the declarations that it uses are cut out by the syntax tree and run alone.

use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use serde_json::{Value, json};
use tree_sitter::Node;

use super::edits::{functions, misplaced};
use super::error::{Kind, Result};
use super::source::Language;
use super::syntax::{Parsed, below, named};
use super::{PatchSet, Source, patch_package, unified};
use crate::{Decision, Failure, Profile, REWRITE_PREFIX, classify, rules};

/// Applies the rendered patch to the old texts and checks that the new ones come out, and the other way round.
pub fn round_trip(set: &PatchSet) -> Result<()> {
    let patch = set.to_patch();
    for file in &set.files {
        let path = format!("{}{}", patch_package::folder(&set.name), file.path);
        let there = unified::apply(&patch, &path, &file.old, false);
        let back = unified::apply(&patch, &path, &file.new, true);
        if there.as_deref() != Some(file.new.as_str()) || back.as_deref() != Some(file.old.as_str()) {
            return Err(misplaced("diff", &file.path, "does not lead from the old text to the new one and back"));
        }
    }
    Ok(())
}

/// Compares the patched classifier with the reference, profile `patch`, on every example of every rule: bare and in frames,
/// with and without a status. Gives how many messages were compared.
pub fn against_reference(set: &PatchSet) -> Result<usize> {
    let mut messages = Vec::new();
    for text in rules::all().iter().flat_map(|rule| rule.hits.iter().chain(&rule.misses)) {
        for lead in ["", "400: ", "relay API error (429): ", "503 ", "Error: 403 ", REWRITE_PREFIX] {
            messages.push(json!({ "stopReason": "error", "errorMessage": format!("{lead}{text}") }));
        }
        for status in [400, 401, 424, 429, 502, 200] {
            let diagnostics = json!([{ "type": "x", "details": { "status": status } }]);
            messages.push(json!({ "stopReason": "error", "errorMessage": text, "diagnostics": diagnostics }));
        }
        messages.push(json!({ "stopReason": "aborted", "errorMessage": text }));
    }
    run(set, &messages, |message| {
        let failure = message.as_object().map(Failure::from_json);
        failure.is_some_and(|failure| classify(&failure, Profile::Patch).decision == Decision::Retry)
    })
}

/// Compares the patched classifier with the reference on messages, JSON objects with `stopReason`, `errorMessage` and
/// perhaps `diagnostics`. Gives how many were compared.
pub fn run(set: &PatchSet, messages: &[Value], reference: impl Fn(&Value) -> bool) -> Result<usize> {
    round_trip(set)?;
    let verdicts = verdicts(&module(set)?, messages)?;
    let different: Vec<usize> =
        (0..messages.len()).filter(|index| verdicts[*index] != reference(&messages[*index])).collect();
    match different.first() {
        None => Ok(messages.len()),
        Some(first) => Err(Kind::Differs {
            file: set.classifier.clone(),
            count: (different.len(), messages.len()),
            message: messages[*first].to_string(),
            patched: verdicts[*first],
        }
        .into()),
    }
}

/// The patched classifier as a module of its own.
pub fn module(set: &PatchSet) -> Result<String> {
    let fail = || misplaced("verification", &set.classifier, "cannot be cut out of its file");
    let file = set.files.iter().find(|file| file.path == set.classifier).ok_or_else(fail)?;
    let language = if file.path.ends_with(".ts") { Language::TypeScript } else { Language::JavaScript };
    let source = Source { path: file.path.clone(), text: file.new.clone(), language, dialect: file.dialect };
    let parsed = Parsed::new(&source);
    if language == Language::JavaScript && !named(parsed.root()).iter().any(|node| node.kind() == "import_statement") {
        return Ok(source.text);
    }
    cut_out(&parsed).ok_or_else(fail)
}

/// The function and what it needs of its module's top level, in the order of the text.
fn cut_out(file: &Parsed<'_>) -> Option<String> {
    let [function] = functions(file, "isRetryableAssistantError")[..] else { return None };
    let name = file.text(function.child_by_field_name("name")?);
    let mut taken = BTreeSet::from([(function.start_byte(), file.text(function).to_owned())]);
    let mut seen = BTreeSet::new();
    let mut wanted = identifiers(file, function);
    while let Some(identifier) = wanted.pop() {
        if !seen.insert(identifier) {
            continue;
        }
        for statement in named(file.root()) {
            let Some((node, text)) = declaration(file, statement, identifier) else { continue };
            if taken.insert((node.start_byte(), text)) {
                wanted.extend(identifiers(file, node));
            }
        }
    }
    let text: Vec<String> = taken.into_iter().map(|(_, text)| text).collect();
    Some(format!("{}\nexport {{ {name} as isRetryableAssistantError }};\n", text.join("\n")))
}

fn identifiers<'s>(file: &Parsed<'s>, node: Node<'_>) -> Vec<&'s str> {
    below(node, "identifier").into_iter().map(|node| file.text(node)).collect()
}

/// The declaration of a name by a statement of the top level: the node, and a statement that declares this name only.
fn declaration<'t>(file: &Parsed<'_>, statement: Node<'t>, name: &str) -> Option<(Node<'t>, String)> {
    let statement = match statement.kind() {
        "export_statement" => statement.child_by_field_name("declaration")?,
        _ => statement,
    };
    let declares = |node: &Node<'_>| node.child_by_field_name("name").is_some_and(|found| file.text(found) == name);
    match statement.kind() {
        "function_declaration" | "class_declaration" => {
            declares(&statement).then(|| (statement, file.text(statement).to_owned()))
        }
        "lexical_declaration" | "variable_declaration" => {
            let declarator = named(statement).into_iter().find(declares)?;
            Some((declarator, format!("var {};", file.text(declarator))))
        }
        _ => None,
    }
}

/// What a module's classifier says to each message, in node.
pub fn verdicts(module: &str, messages: &[Value]) -> Result<Vec<bool>> {
    const WHAT: &str = "the patched classifier cannot be run in node";
    let fail = |why: String| Kind::Node { what: WHAT.to_owned(), why };
    let folder = tempfile::tempdir().map_err(|error| fail(error.to_string()))?;
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).map_err(|source| Kind::Io { path: path.clone(), source }).map(|()| path)
    };
    let module = write("classifier.mjs", module)?;
    let runner = write("verify.mjs", include_str!("verify.mjs"))?;
    let lines: String = messages.iter().map(|message| format!("{message}\n")).collect();
    let (status, output, errors) = node(&runner, &module, lines).map_err(|error| match error.kind() {
        ErrorKind::NotFound => fail("there is no node on the PATH; install Node 20 or newer".to_owned()),
        _ => fail(error.to_string()),
    })?;
    let digits = output.trim_end();
    if !status || digits.len() != messages.len() || digits.bytes().any(|digit| !matches!(digit, b'0' | b'1')) {
        let last = errors.trim().lines().rfind(|line| line.contains("Error")).unwrap_or("it gave no verdicts");
        return Err(fail(last.trim().to_owned()).into());
    }
    Ok(digits.bytes().map(|digit| digit == b'1').collect())
}

fn node(runner: &Path, module: &Path, lines: String) -> std::io::Result<(bool, String, String)> {
    let mut child = Command::new("node")
        .arg(runner)
        .arg(module)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    // From a thread of its own: the child may fail and close its input while much is still to be written.
    let input = child.stdin.take();
    let writer = thread::spawn(move || input.map(|mut input| input.write_all(lines.as_bytes())));
    let output = child.wait_with_output()?;
    drop(writer.join());
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok((output.status.success(), text(output.stdout), text(output.stderr)))
}
