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
    let diff = TextDiff::from_lines(old, new);
    let body =
        diff.unified_diff().context_radius(context).header(&format!("a/{path}"), &format!("b/{path}")).to_string();
    format!("diff --git a/{path} b/{path}\n{body}")
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

#[cfg(test)]
mod tests {
    use super::{count, diff};

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
}
