//! The filters by which pi's settings narrow what is loaded from a package: globs, and the signs `!` (not these), `+` (this one
//! after all) and `-` (this one in no case).

use globset::GlobBuilder;

/// Whether a file of a package is let through; no filter lets everything through, an empty one nothing.
pub(super) fn lets_through(filter: &[String], path: &str) -> bool {
    if filter.is_empty() {
        return false;
    }
    let signed = |sign: char| filter.iter().filter_map(move |pattern| pattern.strip_prefix(sign));
    let is = |exact: &str| exact.trim_start_matches("./") == path;
    let mut plain = filter.iter().filter(|pattern| !pattern.starts_with(['!', '+', '-'])).peekable();
    let included = plain.peek().is_none() || plain.any(|pattern| matches(pattern, path));
    let kept = included && !signed('!').any(|pattern| matches(pattern, path));
    (kept || signed('+').any(is)) && !signed('-').any(is)
}

/// What a list of settings says about one file, where only signed entries count; none if it says nothing.
pub(super) fn overridden(entries: &[String], path: &str) -> Option<bool> {
    let mut said = None;
    for entry in entries {
        let hit = match entry.chars().next() {
            Some('!') => matches(&entry[1..], path),
            Some('+' | '-') => entry[1..].trim_start_matches("./") == path,
            _ => false,
        };
        if hit {
            said = Some(entry.starts_with('+'));
        }
    }
    said
}

/// Whether a pattern means a path, or its last part. One that is no glob means nothing.
fn matches(pattern: &str, path: &str) -> bool {
    let pattern = pattern.trim_start_matches("./");
    let name = path.rsplit('/').next().unwrap_or(path);
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    glob.is_ok_and(|glob| {
        let glob = glob.compile_matcher();
        glob.is_match(path) || glob.is_match(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_as_pi_reads_them() {
        let lets = |filter: &[&str]| {
            let filter: Vec<String> = filter.iter().map(|pattern| (*pattern).to_owned()).collect();
            lets_through(&filter, "src/index.ts")
        };
        for filter in [
            &["src/*.ts"][..],
            &["src/{index,nothing}.ts"],
            &["src/[h-j]ndex.ts"],
            &["**/index.ts"],
            &["index.ts"],
            &["**"],
            &["!src/other.ts"],
            &["!**", "+src/index.ts"],
        ] {
            assert!(lets(filter), "{filter:?}");
        }
        for filter in [
            &[][..],
            &["src/{other,nothing}.ts"],
            &["src/{index.ts"],
            &["*.js"],
            &["!src/*"],
            &["-src/index.ts"],
            &["+src/index.ts", "-./src/index.ts"],
            &["src"],
        ] {
            assert!(!lets(filter), "{filter:?}");
        }
    }

    #[test]
    fn the_last_signed_entry_counts() {
        let said = |entries: &[&str]| {
            let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
            overridden(&entries, "extensions/a/index.ts")
        };
        assert_eq!(said(&["extensions/a/index.ts"]), None);
        assert_eq!(said(&["-extensions/a/index.ts"]), Some(false));
        assert_eq!(said(&["!extensions/**", "+extensions/a/index.ts"]), Some(true));
    }
}
