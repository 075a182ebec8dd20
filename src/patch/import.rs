//! The imports that the edits need.

use tree_sitter::Node;

use super::edits::{HELPER, Replacement};
use super::source::Source;
use super::syntax::{Parsed, named};

/// The edit that imports the helper from `home`: a name more in an import that is there, else a new import.
pub(super) fn import(file: &Parsed<'_>, home: &Source) -> Replacement {
    let path = relative(&file.source.path, &home.path);
    let existing =
        imports(file).into_iter().filter(|(_, source)| *source == path).find_map(|(node, _)| specifiers(node));
    if let Some(specifiers) = existing {
        return add(file, &specifiers);
    }
    new(file, HELPER, &path)
}

/// A new import, where the sorted order wants it: by path, packages first.
pub(super) fn new(file: &Parsed<'_>, names: &str, path: &str) -> Replacement {
    let imports = imports(file);
    let next = imports.iter().find(|(_, source)| source.starts_with('.') && *source > path);
    let line_end = |end: usize| end + usize::from(file.source.text[end..].starts_with('\n'));
    let at = match (next, imports.last()) {
        (Some((node, _)), _) => node.start_byte(),
        (None, Some((node, _))) => line_end(node.end_byte()),
        // Behind the comment that opens the module.
        (None, None) => {
            named(file.root()).into_iter().find(|node| node.kind() != "comment").map_or(0, |node| node.start_byte())
        }
    };
    Replacement::insert(at, format!("import {{ {names} }} from \"{path}\";\n"))
}

/// The imports of a module, each with what it imports from.
fn imports<'s>(file: &'s Parsed<'s>) -> Vec<(Node<'s>, &'s str)> {
    named(file.root())
        .into_iter()
        .filter(|node| node.kind() == "import_statement")
        .filter_map(|node| Some((node, file.string_source(node.child_by_field_name("source")?)?)))
        .collect()
}

/// The specifiers of an import of values.
fn specifiers(import: Node<'_>) -> Option<Vec<Node<'_>>> {
    let mut cursor = import.walk();
    if import.children(&mut cursor).any(|child| child.kind() == "type") {
        return None;
    }
    let clause = named(import).into_iter().find(|node| node.kind() == "import_clause")?;
    let list = named(clause).into_iter().find(|node| node.kind() == "named_imports")?;
    Some(named(list)).filter(|specifiers| !specifiers.is_empty())
}

fn add(file: &Parsed<'_>, specifiers: &[Node<'_>]) -> Replacement {
    match specifiers.iter().find(|node| file.text(**node) > HELPER) {
        Some(next) => Replacement::insert(next.start_byte(), format!("{HELPER}, ")),
        None => Replacement::insert(specifiers.last().map_or(0, |node| node.end_byte()), format!(", {HELPER}")),
    }
}

/// The import path from one file of the package to another.
fn relative(from: &str, to: &str) -> String {
    let from: Vec<&str> = from.split('/').collect();
    let to: Vec<&str> = to.split('/').collect();
    let folders = from.len() - 1;
    let shared = from[..folders].iter().zip(&to[..to.len() - 1]).take_while(|(a, b)| a == b).count();
    let up = match folders - shared {
        0 => "./".to_owned(),
        levels => "../".repeat(levels),
    };
    up + &to[shared..].join("/")
}

#[cfg(test)]
mod tests {
    use super::relative;

    #[test]
    fn relative_paths() {
        assert_eq!(relative("dist/api/a.js", "dist/utils/b.js"), "../utils/b.js");
        assert_eq!(relative("dist/bundle/chunks/a.js", "dist/bundle/chunks/b.js"), "./b.js");
        assert_eq!(relative("dist/bundle/cli.js", "dist/bundle/chunks/b.js"), "./chunks/b.js");
        assert_eq!(relative("a.js", "b.js"), "./b.js");
    }
}
