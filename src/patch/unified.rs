//! Unified diffs that both `git apply` and patch-package read.

use similar::TextDiff;

/// Lines of context around a change in readable files.
pub const CONTEXT: usize = 3;
/// The same in minified files, where a line may have 80,000 characters. Git wants at least one.
pub const MINIFIED_CONTEXT: usize = 1;

/// The diff of one file with its `diff --git` line, or nothing if the texts are equal. `path` is what stands behind `a/` and `b/`.
pub fn diff(path: &str, old: &str, new: &str, context: usize) -> String {
    if old == new {
        return String::new();
    }
    // By line feeds alone, as git and patch-package count lines: a lone carriage return ends none.
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let diff = TextDiff::configure().newline_terminated(true).diff_slices(&old, &new);
    let mut text = format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n");
    for hunk in diff.unified_diff().context_radius(context).iter_hunks() {
        text.push_str(&hunk.header().to_string());
        text.push('\n');
        for change in hunk.iter_changes() {
            text.push(change.tag().to_string().chars().next().unwrap_or(' '));
            text.push_str(change.value());
            if !change.value().ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    text
}

/// How many lines a diff adds and removes.
pub fn count(diff: &str) -> (usize, usize) {
    let mut counts = (0, 0);
    let mut hunk = false;
    for line in diff.lines() {
        match line.as_bytes().first() {
            Some(b'd') => hunk = false,
            Some(b'@') => hunk = true,
            Some(b'+') if hunk => counts.0 += 1,
            Some(b'-') if hunk => counts.1 += 1,
            _ => {}
        }
    }
    counts
}

/// Applies the part of a patch that concerns a path to that file's text, or takes it back. Strict: every line must be where the
/// patch says; nothing otherwise.
pub fn apply(patch: &str, path: &str, text: &str, reverse: bool) -> Option<String> {
    let header = format!("diff --git a/{path} b/{path}\n");
    let start = patch.find(&header)? + header.len();
    let part = &patch[start..];
    let part = &part[..part.find("\ndiff --git ").map_or(part.len(), |end| end + 1)];
    let (out, into) = if reverse { ('+', '-') } else { ('-', '+') };
    let mut old = text.split_inclusive('\n');
    let mut line_number = 0;
    let mut new = String::with_capacity(text.len());
    let mut lines = part.split_inclusive('\n').skip(2).peekable();
    while let Some(line) = lines.next() {
        if let Some(range) = line.strip_prefix("@@ ") {
            let range = range.split(' ').nth(usize::from(reverse))?;
            let mut numbers = range[1..].split(',');
            let first: usize = numbers.next()?.parse().ok()?;
            // A range without lines names the line before it.
            let skip = if numbers.next() == Some("0") { first } else { first - 1 };
            while line_number < skip {
                new.push_str(old.next()?);
                line_number += 1;
            }
            continue;
        }
        let unended = lines.next_if(|next| next.starts_with('\\')).is_some();
        let content = if unended { line[1..].trim_end_matches('\n') } else { &line[1..] };
        let kind = line.chars().next()?;
        if kind == out || kind == ' ' {
            if old.next()? != content {
                return None;
            }
            line_number += 1;
        }
        if kind == into || kind == ' ' {
            new.push_str(content);
        }
    }
    new.extend(old);
    Some(new)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::{apply, count, diff};

    #[test]
    fn one_file() {
        let text = diff("x/a.js", "one\ntwo\nlast", "one\n2\nlast", 3);
        assert_eq!(
            text,
            "diff --git a/x/a.js b/x/a.js\n--- a/x/a.js\n+++ b/x/a.js\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n last\n\
             \\ No newline at end of file\n"
        );
        assert_eq!(count(&text), (1, 1));
        assert_eq!(diff("x", "same", "same", 3), "");
    }

    #[test]
    fn a_changed_last_line_without_an_end() {
        let text = diff("a", "a\nb", "a\nc\n", 3);
        assert!(text.ends_with("-b\n\\ No newline at end of file\n+c\n"), "{text}");
    }

    #[test]
    fn there_and_back() {
        let old: String = (0..40).map(|line| format!("line {line}\n")).collect::<String>() + "end";
        let new = old.replace("line 3\n", "").replace("line 20\n", "line 20\nmore\n").replace("end", "other\n");
        let patch = diff("b", "x\n", "y\n", 3) + &diff("a", &old, &new, 1) + &diff("c", "", "y", 3);
        assert_eq!(apply(&patch, "a", &old, false).as_deref(), Some(new.as_str()));
        assert_eq!(apply(&patch, "a", &new, true).as_deref(), Some(old.as_str()));
        assert_eq!(apply(&patch, "c", "", false).as_deref(), Some("y"));
        assert_eq!(apply(&patch, "a", &new, false), None);
        assert_eq!(apply(&patch, "d", &old, false), None);
    }

    /// A line ends with a line feed: what has carriage returns of its own is still a patch that git reads.
    #[test]
    fn lone_carriage_returns_are_part_of_a_line() {
        let folder = tempfile::TempDir::new().unwrap();
        for (old, new) in [
            ("one\rtwo\nthree\nfour\n", "one\rtwo\n3\nfour\n"),
            ("a\nb\r\nc\r", "a\nB\r\nc\r"),
            ("\r\na\n\r", "\r\nb\n\r"),
        ] {
            let patch = diff("a", old, new, 1);
            std::fs::write(folder.path().join("a"), old).unwrap();
            std::fs::write(folder.path().join("patch"), &patch).unwrap();
            let git = Command::new("git").args(["apply", "patch"]).current_dir(folder.path()).output().unwrap();
            assert!(git.status.success(), "{patch:?}: {}", String::from_utf8_lossy(&git.stderr));
            assert_eq!(std::fs::read_to_string(folder.path().join("a")).unwrap(), new);
        }
    }

    proptest! {
        #[test]
        fn texts_of_any_line_ends_go_there_and_back(old in "[ab\r\n]{0,30}", new in "[ab\r\n]{0,30}", context in 1..4usize) {
            prop_assume!(old != new);
            let patch = diff("x", &old, &new, context);
            let there = apply(&patch, "x", &old, false);
            prop_assert_eq!(there.as_deref(), Some(new.as_str()));
            let back = apply(&patch, "x", &new, true);
            prop_assert_eq!(back.as_deref(), Some(old.as_str()));
        }
    }
}
