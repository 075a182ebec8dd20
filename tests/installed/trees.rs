//! Installs in folders of their own, made of published packages that npm fetched once.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use pi_retry_forced::installed::{Pi, Target};
use pi_retry_forced::upstream::{Cache, Name, Release};
use tempfile::TempDir;

/// A published package, unpacked, from the user's cache.
pub(crate) fn published(name: Name, version: &str) -> PathBuf {
    let release = Release::find(name, version).expect("a known release");
    let package = Cache::user().expect("a cache").package(release, &mut |_| {}).expect("the package");
    package.root().to_owned()
}

/// A global install as npm lays it out: `bin/pi` links to the command's file.
pub(crate) struct Install {
    /// Removed at the end.
    pub(crate) folder: TempDir,
}

impl Install {
    pub(crate) fn empty() -> Self {
        Install { folder: TempDir::new().expect("a folder") }
    }

    /// A bundled command: what runs it needs is in its package.
    pub(crate) fn bundled(version: &str) -> Self {
        let install = Install::empty();
        copy(&published(Name::PiCodingAgent, version), &install.agent());
        install.link();
        install
    }

    /// A command without a bundle, beside the pi-ai that it loads. Of the command only what it is found by is there.
    pub(crate) fn unbundled(version: &str) -> Self {
        let install = Install::empty();
        copy(&published(Name::PiAi, version), &install.library());
        install.write("lib/node_modules/@earendil-works/pi-coding-agent/dist/cli.js", "#!/usr/bin/env node\n");
        let manifest =
            format!(r#"{{"name":"{}","version":"{version}","bin":{{"pi":"dist/cli.js"}}}}"#, Name::PiCodingAgent);
        install.write("lib/node_modules/@earendil-works/pi-coding-agent/package.json", &manifest);
        install.link();
        install
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("the folder")
    }

    pub(crate) fn agent(&self) -> PathBuf {
        self.path().join("lib/node_modules").join(Name::PiCodingAgent.as_str())
    }

    pub(crate) fn library(&self) -> PathBuf {
        self.path().join("lib/node_modules").join(Name::PiAi.as_str())
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder");
        fs::write(&path, text).expect("the file");
        path
    }

    /// Makes `bin/pi`.
    pub(crate) fn link(&self) {
        let entry = Pi::open(&self.agent()).expect("a pi").entry;
        let file = self.agent().join(&entry);
        executable(&file);
        fs::create_dir_all(self.path().join("bin")).expect("the folder");
        let target = format!("../lib/node_modules/{}/{entry}", Name::PiCodingAgent);
        std::os::unix::fs::symlink(target, self.bin()).expect("the link");
    }

    pub(crate) fn bin(&self) -> PathBuf {
        self.path().join("bin/pi")
    }

    pub(crate) fn target(&self) -> Target {
        Pi::open(&self.agent()).expect("a pi").target().expect("a target")
    }

    /// Every file below with its bytes and rights.
    pub(crate) fn snapshot(&self) -> Snapshot {
        snapshot(&self.path())
    }
}

pub(crate) type Snapshot = BTreeMap<PathBuf, (u32, Vec<u8>)>;

pub(crate) fn snapshot(folder: &Path) -> Snapshot {
    use std::os::unix::fs::PermissionsExt as _;
    let mut found = Snapshot::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(&at).expect("a folder to read") {
            let path = entry.expect("an entry").path();
            let meta = path.symlink_metadata().expect("its kind");
            if meta.is_dir() {
                folders.push(path);
            } else if meta.is_file() {
                found.insert(path.clone(), (meta.permissions().mode(), fs::read(&path).expect("its bytes")));
            }
        }
    }
    found
}

/// The files that differ, by their paths.
pub(crate) fn differences(a: &Snapshot, b: &Snapshot) -> Vec<PathBuf> {
    let paths: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
    paths.into_iter().filter(|path| a.get(*path) != b.get(*path)).cloned().collect()
}

pub(crate) fn executable(file: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("its rights");
}

/// Copies a package; source maps, documentation and the like are left out.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder to read") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        let target = to.join(&name);
        if entry.file_type().expect("its kind").is_dir() {
            if !["node_modules", "docs", "examples"].contains(&name.as_str()) {
                copy(&entry.path(), &target);
            }
        } else if !name.ends_with(".map") && !name.ends_with(".md") {
            fs::copy(entry.path(), target).expect("a copied file");
        }
    }
}

/// The folder of the pinned releases that can run, installed by npm when first needed.
pub(crate) fn real_pis() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/installed/packages");
        let lock = fs::read_to_string(folder.join("package-lock.json")).expect("the lock file");
        // Two test programs at once would install into each other.
        let guard =
            fs::File::create(std::env::temp_dir().join("pi-retry-forced-installed-packages.lock")).expect("a lock");
        guard.lock().expect("the lock");
        let done = folder.join("node_modules/.installed");
        if fs::read_to_string(&done).ok().as_deref() != Some(&lock) {
            let arguments = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
            let status = Command::new("npm").args(arguments).current_dir(&folder).status().expect("npm");
            assert!(status.success(), "npm ci in {}", folder.display());
            fs::write(done, lock).expect("a mark");
        }
        folder
    })
}

/// The pinned Node, which pi needs; the one on the PATH where there is no build of it.
pub(crate) fn node() -> PathBuf {
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let pinned = real_pis().join(format!("node_modules/node-linux-{arch}/bin/node"));
    if pinned.is_file() { pinned } else { PathBuf::from("node") }
}

/// A release that runs: copies of what may change, links to the packages that do not.
pub(crate) fn runnable(release: &str) -> Install {
    let install = Install::empty();
    let modules = real_pis().join("node_modules");
    let agent = modules.join(format!("pi-{release}"));
    copy(&agent, &install.agent());
    let target = install.path().join("lib/node_modules");
    link_all(&modules, &target);
    if agent.join("node_modules").is_dir() {
        link_all(&agent.join("node_modules"), &install.agent().join("node_modules"));
    }
    install.link();
    install
}

/// Links every package of a `node_modules`; pi-ai is copied.
fn link_all(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a folder to read") {
        let entry = entry.expect("an entry").path();
        let name = entry.file_name().expect("a name").to_string_lossy().into_owned();
        if name.starts_with('.') || name.starts_with("pi-") && from == real_pis().join("node_modules") {
            continue;
        }
        if name.starts_with('@') {
            link_all(&entry, &to.join(name));
            continue;
        }
        let target = to.join(&name);
        if target.exists() {
            continue;
        }
        fs::create_dir_all(to).expect("a folder");
        if entry.ends_with(Name::PiAi.as_str()) {
            copy(&entry, &target);
            if entry.join("node_modules").is_dir() {
                link_all(&entry.join("node_modules"), &target.join("node_modules"));
            }
        } else {
            std::os::unix::fs::symlink(&entry, target).expect("the link");
        }
    }
}
