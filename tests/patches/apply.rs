//! Patches applied with the tools that users apply them with, and taken back.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use pi_retry_forced::patch::PatchSet;
use pi_retry_forced::upstream::Package;

use crate::packages::copy;

/// A project that has the package installed and the patch in its `patches`.
pub(crate) struct Project {
    folder: tempfile::TempDir,
    package: PathBuf,
    patch: PathBuf,
}

impl Project {
    pub(crate) fn new(package: &Package, set: &PatchSet) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let installed = folder.path().join("node_modules").join(package.name().as_str());
        copy(package.root(), &installed);
        fs::write(folder.path().join("package.json"), "{\"name\":\"project\",\"version\":\"1.0.0\"}")
            .expect("a manifest");
        let patch = folder.path().join("patches").join(set.file_name());
        fs::create_dir(folder.path().join("patches")).expect("a folder");
        fs::write(&patch, set.to_patch()).expect("a patch");
        Self { folder, package: installed, patch }
    }

    /// All files of the installed package.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    collect(&path, files);
                } else {
                    let bytes = fs::read(&path).expect("a file");
                    files.insert(path, bytes);
                }
            }
        }
        let mut files = BTreeMap::new();
        collect(&self.package, &mut files);
        files
    }

    /// What the files are once the patch is in.
    pub(crate) fn patched(&self, set: &PatchSet) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = self.files();
        for file in &set.files {
            let old = files.insert(self.package.join(&file.path), file.new.clone().into_bytes());
            assert_eq!(old.as_deref(), Some(file.old.as_bytes()), "{}", file.path);
        }
        files
    }

    fn run(&self, mut command: Command) {
        let output = command.current_dir(self.folder.path()).output().expect("a program to run");
        let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {text}");
        // patch-package warns and goes on when a patch was made for another version, or in a doubtful file name.
        assert!(!text.to_lowercase().contains("warning"), "{command:?}: {text}");
    }

    pub(crate) fn patch_package(&self, arguments: &[&str]) {
        let mut command = Command::new("node");
        command.arg(patch_package()).args(arguments);
        self.run(command);
    }

    pub(crate) fn git_apply(&self, arguments: &[&str]) {
        let mut command = Command::new("git");
        command.arg("apply").args(arguments).arg(&self.patch);
        self.run(command);
    }
}

/// The pinned patch-package, installed once for all runs.
fn patch_package() -> &'static Path {
    static INSTALLED: OnceLock<PathBuf> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/patches/patch-package");
        let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("patch-package");
        let script = to.join("node_modules/patch-package/index.js");
        let lock = fs::read(from.join("package-lock.json")).expect("the lock file");
        if !script.exists() || fs::read(to.join("package-lock.json")).ok() != Some(lock) {
            copy(&from, &to);
            let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
            let status =
                Command::new(npm).args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(&to).status();
            assert!(status.expect("npm").success(), "npm ci in {}", to.display());
        }
        script
    })
}
