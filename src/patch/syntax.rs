//! Syntax trees of JavaScript and TypeScript, and the few questions that the edits ask of them.

use tree_sitter::{Node, Parser, Point, Tree};

use super::source::{Language, Source};

/// A source file and its tree.
pub(super) struct Parsed<'s> {
    /// The file.
    pub(super) source: &'s Source,
    tree: Tree,
    /// Whether the tree is that of a part of the file.
    partial: bool,
}

impl<'s> Parsed<'s> {
    /// Parses a file. Damaged text gives a tree with error nodes, in which the edits then find no place.
    pub(super) fn new(source: &'s Source) -> Self {
        Self { source, tree: parse(source, None), partial: false }
    }

    /// Parses a part of a file; positions are those in the whole file. Whether the part makes sense alone is for the
    /// caller to find out, by what is found in it.
    pub(super) fn part(source: &'s Source, part: std::ops::Range<usize>) -> Self {
        Self { source, tree: parse(source, Some(part)), partial: true }
    }

    /// The root of the tree.
    pub(super) fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// The text of a node.
    pub(super) fn text(&self, node: Node<'_>) -> &'s str {
        &self.source.text[node.byte_range()]
    }

    /// The nearest nodes of a kind around each place where a word stands in the text, in the order of the text.
    ///
    /// The word only says where to look, since walking a bundle's tree takes longer than parsing it; what is there is for
    /// the caller to ask of the node.
    pub(super) fn around(&self, word: &str, kind: &str) -> Vec<Node<'_>> {
        let mut found: Vec<Node<'_>> = self.words(word).filter_map(|node| within(node, kind)).collect();
        found.sort_by_key(Node::start_byte);
        found.dedup();
        found
    }

    /// The smallest node at each place where a word stands in the text.
    fn words(&self, word: &str) -> impl Iterator<Item = Node<'_>> {
        let places: Vec<usize> = memchr::memmem::find_iter(self.source.text.as_bytes(), word).collect();
        places.into_iter().filter_map(move |at| self.root().descendant_for_byte_range(at, at + word.len()))
    }

    /// Whether an identifier of this name occurs anywhere; in a part, whether these letters occur in the whole file.
    pub(super) fn mentions(&self, name: &str) -> bool {
        if self.partial {
            return memchr::memmem::find(self.source.text.as_bytes(), name.as_bytes()).is_some();
        }
        self.words(name).any(|node| node.kind().ends_with("identifier") && self.text(node) == name)
    }

    /// The content of a string literal without its quotes and as written, or nothing if the node is none.
    pub(super) fn string_source(&self, node: Node<'_>) -> Option<&'s str> {
        (node.kind() == "string").then(|| {
            let text = self.text(node);
            &text[1..text.len() - 1]
        })
    }

    /// Whether the node is `object.property` with this property; gives the object.
    pub(super) fn member<'t>(&self, node: Node<'t>, property: &str) -> Option<Node<'t>> {
        let name = (node.kind() == "member_expression").then(|| node.child_by_field_name("property")).flatten()?;
        (self.text(name) == property).then(|| node.child_by_field_name("object")).flatten()
    }

    /// Whether the node is a call of the plain function `name`, or of any method `name`; gives its arguments.
    pub(super) fn call<'t>(&self, node: Node<'t>, name: &str) -> Option<Vec<Node<'t>>> {
        if node.kind() != "call_expression" {
            return None;
        }
        let callee = node.child_by_field_name("function")?;
        let called = match callee.kind() {
            "member_expression" => callee.child_by_field_name("property")?,
            _ => callee,
        };
        let arguments = node.child_by_field_name("arguments")?;
        (self.text(called) == name).then(|| named(arguments))
    }
}

fn parse(source: &Source, part: Option<std::ops::Range<usize>>) -> Tree {
    let language = match source.language {
        Language::JavaScript => tree_sitter_javascript::LANGUAGE,
        Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
    };
    let mut parser = Parser::new();
    parser.set_language(&language.into()).expect("the grammars are built against this version of tree-sitter");
    if let Some(part) = part {
        // Rows and columns are not asked for; only their order must be right.
        let range = tree_sitter::Range {
            start_byte: part.start,
            end_byte: part.end,
            start_point: Point::new(0, part.start),
            end_point: Point::new(0, part.end),
        };
        parser.set_included_ranges(&[range]).expect("one range is in order");
    }
    parser.parse(&source.text, None).expect("a parser with a language and without a deadline gives a tree")
}

/// The named children of a node, comments excepted.
pub(super) fn named(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| child.kind() != "comment").collect()
}

/// All nodes of a kind below a node, itself included, in the order of the text.
pub(super) fn below<'t>(node: Node<'t>, kind: &str) -> Vec<Node<'t>> {
    let mut found = Vec::new();
    let mut cursor = node.walk();
    // Without recursion: minified expressions nest thousands of levels deep.
    'walk: loop {
        if cursor.node().kind() == kind {
            found.push(cursor.node());
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                break 'walk;
            }
        }
    }
    found
}

/// The node itself or its nearest ancestor of a kind.
fn within<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    if node.kind() == kind { Some(node) } else { above(node, kind) }
}

/// The nearest ancestor of a kind.
pub(super) fn above<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    std::iter::successors(node.parent(), Node::parent).find(|ancestor| ancestor.kind() == kind)
}

/// The value of an expression: without parentheses, and the last of those joined by commas.
pub(super) fn last(node: Node<'_>) -> Node<'_> {
    match node.kind() {
        "parenthesized_expression" | "sequence_expression" => named(node).last().copied().map_or(node, last),
        _ => node,
    }
}
