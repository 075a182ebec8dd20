//! The form in which patch-package keeps a patch: its file name, and paths below `node_modules`.

use super::source::Dialect;
use super::unified;
use super::{Changed, PatchSet};

/// The name of a package's patch file, such as `@earendil-works+pi-ai+1.6.0.patch`.
pub fn file_name(name: &str, version: &str) -> String {
    format!("{}+{version}.patch", name.replace('/', "+"))
}

/// The patch of a set, for the package in `node_modules` of the project that applies it.
pub fn render(set: &PatchSet) -> String {
    render_below(&folder(&set.name), &set.files)
}

/// Where patch-package looks for a package, below the project.
pub(super) fn folder(name: &str) -> String {
    format!("node_modules/{name}/")
}

/// The same with another folder in front of the paths.
pub fn render_below(folder: &str, files: &[Changed]) -> String {
    let diff = |file: &Changed| {
        let context = if file.dialect == Dialect::Minified { unified::MINIFIED_CONTEXT } else { unified::CONTEXT };
        unified::diff(&format!("{folder}{}", file.path), &file.old, &file.new, context)
    };
    files.iter().map(diff).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn names() {
        assert_eq!(super::file_name("@earendil-works/pi-ai", "1.6.0"), "@earendil-works+pi-ai+1.6.0.patch");
    }
}
