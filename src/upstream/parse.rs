//! Reads the pattern lists out of pi's shipped JavaScript, with a parser and not with patterns over source.

use std::fmt;

use serde::{Deserialize, Serialize};
use tree_sitter::{Node, Parser, Tree};

use super::error::{Error, Kind};

const NON_RETRYABLE: &str = "NON_RETRYABLE_PROVIDER_LIMIT_ERROR_PATTERN";
const RETRYABLE: &str = "RETRYABLE_PROVIDER_ERROR_PATTERN";
const OVERFLOW: &str = "OVERFLOW_PATTERNS";
const NON_OVERFLOW: &str = "NON_OVERFLOW_PATTERNS";
const CEREBRAS: &str = "CEREBRAS_BODYLESS_OVERFLOW_PATTERN";

/// The two lists of `dist/utils/retry.js`, as JavaScript pattern sources for the flag `i`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetryPatterns {
    /// What makes a failure final whatever else its text says.
    pub non_retryable: Vec<String>,
    /// What makes any other failure worth another attempt.
    pub retryable: Vec<String>,
}

/// The lists of `dist/utils/overflow.js`, each entry a regex literal with its flags.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OverflowPatterns {
    /// Texts of a request that did not fit the model's context.
    pub overflow: Vec<RegexLiteral>,
    /// Exceptions: texts that are no overflow although they match the other list.
    pub non_overflow: Vec<RegexLiteral>,
    /// A further overflow text, for the provider `cerebras` only; since 0.86.0.
    pub cerebras: Option<RegexLiteral>,
}

/// A JavaScript regex literal, `/source/flags`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RegexLiteral {
    /// What stands between the slashes.
    pub source: String,
    /// What follows them.
    pub flags: String,
}

impl fmt::Display for RegexLiteral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/{}", self.source, self.flags)
    }
}

impl From<RegexLiteral> for String {
    fn from(literal: RegexLiteral) -> String {
        literal.to_string()
    }
}

impl TryFrom<String> for RegexLiteral {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        let (source, flags) =
            text.strip_prefix('/').and_then(|rest| rest.rsplit_once('/')).ok_or("not a regex literal")?;
        Ok(RegexLiteral { source: source.to_owned(), flags: flags.to_owned() })
    }
}

/// Reads the two lists of pi's retry classifier out of JavaScript source: `dist/utils/retry.js`, or the bundle's chunk.
///
/// Understood are `build([…])`, where `build` makes `new RegExp(list.join("|"), "i")` of its argument, that expression
/// written out, and a regex literal; the list's entries are strings, templates without substitutions, or sums of them.
///
/// # Errors
///
/// If a list is missing, declared twice, empty, or of another shape.
pub fn retry_patterns(source: &str) -> Result<RetryPatterns, Error> {
    let script = Script::parse(source);
    Ok(RetryPatterns { non_retryable: script.joined_list(NON_RETRYABLE)?, retryable: script.joined_list(RETRYABLE)? })
}

/// Reads the lists of pi's overflow check out of JavaScript source, `dist/utils/overflow.js`.
///
/// # Errors
///
/// If a list is missing, declared twice, empty, or anything but an array of regex literals.
pub fn overflow_patterns(source: &str) -> Result<OverflowPatterns, Error> {
    let script = Script::parse(source);
    let cerebras = match script.declared(CEREBRAS)?.as_slice() {
        [] => None,
        [value] => Some(script.literal(*value).map_err(|reason| no_patterns(CEREBRAS, reason))?),
        _ => return Err(no_patterns(CEREBRAS, "it is declared more than once".to_owned())),
    };
    Ok(OverflowPatterns {
        overflow: script.literals(OVERFLOW)?,
        non_overflow: script.literals(NON_OVERFLOW)?,
        cerebras,
    })
}

fn no_patterns(list: &'static str, reason: String) -> Error {
    Error::new(Kind::NoPatterns { list, reason })
}

struct Script<'a> {
    source: &'a str,
    tree: Option<Tree>,
}

impl<'a> Script<'a> {
    fn parse(source: &'a str) -> Self {
        let mut parser = Parser::new();
        let ready = parser.set_language(&tree_sitter_javascript::LANGUAGE.into()).is_ok();
        Script { source, tree: if ready { parser.parse(source, None) } else { None } }
    }

    fn text(&self, node: Node<'_>) -> &'a str {
        &self.source[node.byte_range()]
    }

    /// The values of all variable declarations of that name.
    fn declared(&self, name: &'static str) -> Result<Vec<Node<'_>>, Error> {
        let tree = self.tree.as_ref().ok_or_else(|| no_patterns(name, "the parser gave up".to_owned()))?;
        let mut found = Vec::new();
        each_node(tree.root_node(), &mut |node| {
            if node.kind() == "variable_declarator"
                && node.child_by_field_name("name").is_some_and(|at| self.text(at) == name)
            {
                found.extend(node.child_by_field_name("value"));
            }
        });
        Ok(found)
    }

    fn only(&self, name: &'static str) -> Result<Node<'_>, Error> {
        match self.declared(name)?.as_slice() {
            [] => Err(no_patterns(name, "it is not declared".to_owned())),
            [value] if value.has_error() => Err(no_patterns(name, "its source has a syntax error".to_owned())),
            [value] => Ok(*value),
            _ => Err(no_patterns(name, "it is declared more than once".to_owned())),
        }
    }

    fn joined_list(&self, name: &'static str) -> Result<Vec<String>, Error> {
        let value = self.only(name)?;
        let refuse = |reason: &str| no_patterns(name, reason.to_owned());
        let array = match value.kind() {
            "regex" => {
                let literal = self.literal(value).map_err(|reason| no_patterns(name, reason))?;
                return if literal.flags == "i" {
                    Ok(vec![literal.source])
                } else {
                    Err(refuse("its flags are not i"))
                };
            }
            "call_expression" => {
                let builder = value.child_by_field_name("function").map_or("", |at| self.text(at));
                if !self.builds_joined_pattern(builder) {
                    return Err(refuse("the function that builds it does not join with | and the flag i"));
                }
                self.arguments(value).first().copied()
            }
            "new_expression" => self.joined_argument(value),
            _ => None,
        };
        let array = array.filter(|at| at.kind() == "array").ok_or_else(|| refuse("it is not built from an array"))?;
        let list: Result<Vec<String>, String> = children(array).into_iter().map(|entry| self.string(entry)).collect();
        match list {
            Ok(list) if list.is_empty() => Err(refuse("it is empty")),
            Ok(list) => Ok(list),
            Err(reason) => Err(no_patterns(name, reason)),
        }
    }

    /// Whether `name` is a function whose one parameter ends up in `new RegExp(parameter.join("|"), "i")`.
    fn builds_joined_pattern(&self, name: &str) -> bool {
        let Some(tree) = &self.tree else { return false };
        let mut functions = 0;
        let mut fitting = 0;
        each_node(tree.root_node(), &mut |node| {
            let named = node.child_by_field_name("name").is_some_and(|at| self.text(at) == name);
            let function = match node.kind() {
                "function_declaration" if named => node,
                "variable_declarator" if named => match node.child_by_field_name("value") {
                    Some(value) => value,
                    None => return,
                },
                _ => return,
            };
            functions += 1;
            let list = function.child_by_field_name("parameters").map(children).unwrap_or_default();
            let parameter = list.first().copied().or_else(|| function.child_by_field_name("parameter"));
            let mut joins = 0;
            each_node(function, &mut |inner| {
                if inner.kind() == "new_expression" {
                    let joined = self.joined_argument(inner);
                    joins += usize::from(joined.map(|at| self.text(at)) == parameter.map(|at| self.text(at)));
                }
            });
            fitting += usize::from(parameter.is_some() && joins == 1);
        });
        functions == 1 && fitting == 1
    }

    /// The `x` of `new RegExp(x.join("|"), "i")`.
    fn joined_argument<'t>(&self, node: Node<'t>) -> Option<Node<'t>> {
        if node.child_by_field_name("constructor").map(|at| self.text(at)) != Some("RegExp") {
            return None;
        }
        let [call, flags] = self.arguments(node)[..] else { return None };
        let member = call.child_by_field_name("function")?;
        let [separator] = self.arguments(call)[..] else { return None };
        let fits = self.text(member.child_by_field_name("property")?) == "join"
            && self.string(separator).as_deref() == Ok("|")
            && self.string(flags).as_deref() == Ok("i");
        if fits { member.child_by_field_name("object") } else { None }
    }

    fn arguments<'t>(&self, call: Node<'t>) -> Vec<Node<'t>> {
        call.child_by_field_name("arguments").map(children).unwrap_or_default()
    }

    fn literals(&self, name: &'static str) -> Result<Vec<RegexLiteral>, Error> {
        let array = self.only(name)?;
        if array.kind() != "array" || array.named_child_count() == 0 {
            return Err(no_patterns(name, "it is no array with entries".to_owned()));
        }
        children(array).into_iter().map(|at| self.literal(at).map_err(|reason| no_patterns(name, reason))).collect()
    }

    fn literal(&self, node: Node<'_>) -> Result<RegexLiteral, String> {
        let part = |field| node.child_by_field_name(field).map_or("", |at| self.text(at)).to_owned();
        if node.kind() != "regex" || node.has_error() {
            return Err(format!("{} is no regex literal", self.text(node)));
        }
        Ok(RegexLiteral { source: part("pattern"), flags: part("flags") })
    }

    fn string(&self, node: Node<'_>) -> Result<String, String> {
        let text = self.text(node);
        let inside = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
        let plain_template = || children(node).iter().all(|part| part.kind() != "template_substitution");
        match node.kind() {
            "string" => unescape(inside),
            // In a template, a carriage return would read as a line feed.
            "template_string" if plain_template() && !inside.contains('\r') => unescape(inside),
            "binary_expression" if node.child_by_field_name("operator").is_some_and(|at| self.text(at) == "+") => {
                let side = |field| node.child_by_field_name(field).ok_or("a sum lacks a side".to_owned());
                Ok(self.string(side("left")?)? + &self.string(side("right")?)?)
            }
            _ => Err(format!("{text} is no plain string")),
        }
    }
}

/// Named children without comments.
fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| child.kind() != "comment").collect()
}

/// Calls `visit` for a node and all below it, without recursion: bundled code nests deeply.
fn each_node<'t>(node: Node<'t>, visit: &mut dyn FnMut(Node<'t>)) {
    let mut pending = vec![node];
    while let Some(node) = pending.pop() {
        visit(node);
        let mut cursor = node.walk();
        pending.extend(node.named_children(&mut cursor));
    }
}

/// The value of what stands between the quotes of a JavaScript string.
fn unescape(inside: &str) -> Result<String, String> {
    let mut value = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(at) = rest.find('\\') {
        value.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let escaped = rest.chars().next().ok_or("a string ends in a backslash")?;
        rest = &rest[escaped.len_utf8()..];
        match escaped {
            'b' => value.push('\u{8}'),
            't' => value.push('\t'),
            'n' => value.push('\n'),
            'v' => value.push('\u{B}'),
            'f' => value.push('\u{C}'),
            'r' => value.push('\r'),
            '\r' => rest = rest.strip_prefix('\n').unwrap_or(rest),
            '\n' | '\u{2028}' | '\u{2029}' => {}
            'x' | 'u' => {
                let (digits, after) = match (escaped, rest.strip_prefix('{')) {
                    ('u', Some(braced)) => braced.split_once('}').ok_or("an escape is not closed")?,
                    _ => rest.split_at_checked(if escaped == 'x' { 2 } else { 4 }).ok_or("an escape is too short")?,
                };
                let code = if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                    u32::from_str_radix(digits, 16)
                } else {
                    Ok(0xD800)
                };
                let character = code.ok().and_then(char::from_u32).ok_or("an escape is no character of its own")?;
                value.push(character);
                rest = after;
            }
            '0' if !rest.starts_with(|next: char| next.is_ascii_digit()) => value.push('\0'),
            '0'..='9' => return Err("a string has an octal escape".to_owned()),
            other => value.push(other),
        }
    }
    value.push_str(rest);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retryable(value: &str) -> Result<Vec<String>, String> {
        let source = format!(
            "function build(list) {{ return new RegExp(list.join(\"|\"), \"i\"); }}\n\
             const odd = (list) => new RegExp(list.join('|'), 'g');\nconst arrow = list => new RegExp(list.join('|'), 'i');\n\
             const {NON_RETRYABLE} = build([\"a\"]);\nconst {RETRYABLE} = {value};"
        );
        retry_patterns(&source).map(|patterns| patterns.retryable).map_err(|error| error.to_string())
    }

    #[test]
    fn every_way_to_write_a_list_is_read_alike() {
        for value in [
            r#"build(["a\\s", /* why */ 'b"', "c", // who"#.to_owned() + "\n])",
            r#"build([`a\\s`, "b\"", "\x63"])"#.to_owned(),
            r#"arrow(["a" + "\\s", "b\u0022", "\u{63}"])"#.to_owned(),
            r#"new RegExp(["a\\s", "b\
"", "c"].join("|"), "i")"#
                .replace("\"\", ", "\\\"\", "),
        ] {
            assert_eq!(retryable(&value).as_deref(), Ok(&["a\\s".to_owned(), "b\"".into(), "c".into()][..]), "{value}");
        }
        assert_eq!(retryable("/a|b/i"), Ok(vec!["a|b".to_owned()]));
    }

    #[test]
    fn another_shape_is_an_error_and_no_guess() {
        for value in [
            "build([])",
            "odd([\"a\"])",
            "unknown([\"a\"])",
            "/a/gi",
            "[\"a\"]",
            "build([...more])",
            "build([\"a\", /b/])",
            "build([`a${x}`])",
            "build(list)",
            "build([\"\\07\"])",
            "build([\"\\ud83d\"])",
            "new RegExp([\"a\"].join(\",\"), \"i\")",
            "build([\"a\"]); const RETRYABLE_PROVIDER_ERROR_PATTERN = build([\"b\"])",
            "build([\"a\" \"b\"])",
        ] {
            let error = retryable(value).expect_err(value);
            assert!(error.contains(RETRYABLE), "{value}: {error}");
        }
        let error = retry_patterns("export const nothing = 1;").unwrap_err();
        insta::assert_snapshot!(error, @"the pattern list NON_RETRYABLE_PROVIDER_LIMIT_ERROR_PATTERN cannot be read out of the source: it is not declared");
    }

    #[test]
    fn overflow_lists_are_regex_literals() {
        let source = "const OVERFLOW_PATTERNS = [\n /a[/]b/i, // who\n /c\\/d/,\n];\nconst NON_OVERFLOW_PATTERNS = [/^(e|f):/i];";
        let patterns = overflow_patterns(source).unwrap();
        let written: Vec<String> =
            patterns.overflow.iter().chain(&patterns.non_overflow).map(ToString::to_string).collect();
        assert_eq!(written, ["/a[/]b/i", "/c\\/d/", "/^(e|f):/i"]);
        assert!(overflow_patterns("const OVERFLOW_PATTERNS = [\"a\"]; const NON_OVERFLOW_PATTERNS = [/a/];").is_err());
    }
}
