//! The forms in which package managers keep patches: the file's name, the paths in it, and how it is applied.
//!
//! patch-package writes into the installed files themselves. Where the package manager shares these between projects, its
//! own way has to be used: it makes a patched copy for the one project that asks for it.

use super::{PatchSet, patch_package};

/// A form of a patch file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// patch-package's, for npm and yarn 1.
    PatchPackage,
    /// pnpm's `patchedDependencies`.
    Pnpm,
    /// bun's `patchedDependencies`.
    Bun,
    /// The `patch:` protocol of yarn from 2 on.
    Yarn,
}

impl Format {
    /// Its name, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::PatchPackage => "patch-package",
            Self::Pnpm => "pnpm",
            Self::Bun => "bun",
            Self::Yarn => "yarn",
        }
    }

    /// What the name of a package's patch file starts with; the version and `.patch` follow.
    pub fn stem(self, package: &str) -> String {
        match self {
            Self::PatchPackage => format!("{}+", package.replace('/', "+")),
            Self::Pnpm => format!("{}@", package.replace('/', "__")),
            Self::Bun => format!("{}@", package.replace('/', "%2F")),
            Self::Yarn => format!("{}-npm-", package.replace('/', "-")),
        }
    }

    /// The name of the patch file. `outer` are the packages that the copy is nested below, outermost first; only patch-package
    /// tells copies of one version apart.
    pub fn file_name(self, set: &PatchSet, outer: &[String]) -> String {
        let file = format!("{}{}.patch", self.stem(&set.name), set.version);
        match self {
            Self::PatchPackage => {
                outer.iter().map(|name| name.replace('/', "+") + "++").chain([file]).collect::<String>()
            }
            _ => file,
        }
    }

    /// The text of the patch file.
    pub fn text(self, set: &PatchSet, outer: &[String]) -> String {
        match self {
            Self::PatchPackage => {
                let outer: String = outer.iter().map(|name| patch_package::folder(name)).collect();
                patch_package::render_below(&format!("{outer}{}", patch_package::folder(&set.name)), &set.files)
            }
            _ => patch_package::render_below("", &set.files),
        }
    }
}
