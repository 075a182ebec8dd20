//! The helper's import in the modules that call it.

use tree_sitter::Node;

use super::edits::{HELPER, Replacement};
use super::source::{Dialect, Source};
use super::syntax::{Parsed, named};

/// The edit that imports the helper from `home`: a name more in an import that is there, else a new import.
pub(super) fn import(file: &Parsed<'_>, home: &Source) -> Replacement {
    let path = relative(&file.source.path, &home.path);
    let imports: Vec<(Node<'_>, &str)> = named(file.root())
        .into_iter()
        .filter(|node| node.kind() == "import_statement")
        .filter_map(|node| Some((node, file.string_source(node.child_by_field_name("source")?)?)))
        .collect();
    let existing = imports.iter().filter(|(_, source)| *source == path).find_map(|(node, _)| specifiers(*node));
    if let Some(specifiers) = existing {
        return add(file, &specifiers);
    }
    let minified = file.source.dialect == Dialect::Minified;
    let statement = match minified {
        true => format!("import{{{HELPER}}}from\"{path}\";"),
        false => format!("import {{ {HELPER} }} from \"{path}\";\n"),
    };
    // Imports are sorted by path, packages first; the bundler's are not.
    let next = imports.iter().find(|(_, source)| !minified && source.starts_with('.') && *source > path.as_str());
    let at = match (next, imports.last()) {
        (Some((node, _)), _) => node.start_byte(),
        (None, Some((node, _))) => after_line(file, node.end_byte(), minified),
        (None, None) => 0,
    };
    Replacement::insert(at, statement)
}

fn after_line(file: &Parsed<'_>, end: usize, minified: bool) -> usize {
    let breaks = !minified && file.source.text[end..].starts_with('\n');
    end + usize::from(breaks)
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
    let minified = file.source.dialect == Dialect::Minified;
    match specifiers.iter().find(|node| file.text(**node) > HELPER && !minified) {
        Some(next) => Replacement::insert(next.start_byte(), format!("{HELPER}, ")),
        None => {
            let end = specifiers.last().map_or(0, |node| node.end_byte());
            Replacement::insert(end, format!(",{}{HELPER}", if minified { "" } else { " " }))
        }
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
