//! Upstream's tree as far as a published package holds it, in a git repository of its own, with upstream's tools.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use pi_retry_forced::submission::{CLASSIFIER, FOLDER, from_package};
use pi_retry_forced::upstream::Package;
use serde_json::Value;

const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };

/// A repository that holds the sources and nothing else; gone when dropped.
pub(crate) struct Tree {
    folder: tempfile::TempDir,
    tools: PathBuf,
}

/// The tools, installed once for all tests.
pub(crate) fn tools() -> PathBuf {
    static INSTALLING: Mutex<()> = Mutex::new(());
    let _one = INSTALLING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/submission/toolchain");
    let to = Path::new(env!("CARGO_TARGET_TMPDIR")).join("submission");
    let done = to.join("node_modules/.installed");
    let lock = fs::read(from.join("package-lock.json")).expect("a lock file");
    if fs::read(&done).ok().as_ref() != Some(&lock) {
        fs::create_dir_all(&to).expect("a folder");
        for name in ["package.json", "package-lock.json"] {
            fs::copy(from.join(name), to.join(name)).expect("a copied file");
        }
        // Not `npm ci`: it insists on an optional package for Windows that vitest names and the registry has not.
        let arguments = ["install", "--no-save", "--no-audit", "--no-fund"];
        let output = Command::new(NPM).args(arguments).current_dir(&to).output().expect("npm");
        assert!(output.status.success(), "npm install: {}", String::from_utf8_lossy(&output.stderr));
        fs::write(done, lock).expect("a mark");
    }
    to
}

impl Tree {
    pub(crate) fn of(package: &Package) -> Self {
        let tools = tools();
        // Below the tools, so that imports find what is installed there.
        let folder = tempfile::tempdir_in(&tools).expect("a folder");
        let tree = Self { folder, tools };
        for source in from_package(package).expect("sources") {
            tree.write(&format!("{FOLDER}/{}", source.path), &source.text);
        }
        // What the sources import besides: their manifest, and the generated data.
        let own = |name: &str| tree.path(&format!("{FOLDER}/{name}"));
        fs::copy(package.root().join("package.json"), own("package.json")).expect("a manifest");
        let data = package.root().join("dist/providers/data");
        if data.is_dir() {
            copy(&data, &own("src/providers/data"));
        }
        let toolchain = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/submission/toolchain");
        for name in ["biome.json", "tsconfig.json"] {
            fs::copy(toolchain.join(name), tree.path(name)).expect("a copied file");
        }
        tree.write(".gitignore", "node_modules\n");
        tree.git(&["init", "--quiet"]);
        tree.git(&["add", "--all"]);
        tree.git(&["commit", "--quiet", "--message", "published"]);
        tree
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a written file");
    }

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.path(path)).expect("a file");
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.arg("-C").arg(self.folder.path());
        command.args(["-c", "user.name=Reader", "-c", "user.email=reader@example.com", "-c", "commit.gpgsign=false"]);
        // Whatever the user has set up, and hooks of theirs, stay out.
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        let output = command.args(arguments).output().expect("git");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {errors}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// `git am`, without leave to guess.
    pub(crate) fn am(&self, mail: &str) {
        let path = self.folder.path().join(".git/mail.eml");
        fs::write(&path, mail).expect("a mail");
        self.git(&["am", "--quiet", &path.to_string_lossy()]);
        assert_eq!(self.git(&["status", "--porcelain"]), "");
    }

    /// The subjects of the commits on top of the published tree, newest first.
    pub(crate) fn log(&self) -> Vec<String> {
        let log = self.git(&["log", "--format=%s"]);
        log.lines().filter(|line| *line != "published").map(str::to_owned).collect()
    }

    fn node(&self) -> Command {
        let program = self.tools.join("node_modules/.bin").join(if cfg!(windows) { "node.cmd" } else { "node" });
        let mut command = Command::new(program);
        command.current_dir(self.folder.path());
        command
    }

    /// Whether the tests pass, and what vitest says.
    pub(crate) fn vitest(&self, tests: &[&str]) -> (bool, String) {
        let mut command = self.node();
        command.arg(self.tools.join("node_modules/vitest/vitest.mjs")).args(["run", "--root", "."]).args(tests);
        command.env("NO_COLOR", "1").env("CI", "1");
        let output = command.output().expect("vitest");
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.success(), text)
    }

    /// What the compiler complains of, without places, sorted.
    pub(crate) fn types(&self) -> Vec<String> {
        let output =
            self.node().arg(self.tools.join("node_modules/typescript/bin/tsc")).args(["-p", "tsconfig.json"]).output();
        let text = String::from_utf8(output.expect("tsc").stdout).expect("UTF-8");
        let place = |line: &str| {
            line.split_once('(').zip(line.split_once("): ")).map(|((file, _), (_, what))| format!("{file}: {what}"))
        };
        let mut lines: Vec<String> = text.lines().filter_map(place).collect();
        lines.sort();
        lines
    }

    /// What biome finds in a file, formatting included, without places.
    pub(crate) fn biome(&self, path: &str) -> Vec<String> {
        let program = self.tools.join("node_modules/.bin").join(if cfg!(windows) { "biome.cmd" } else { "biome" });
        let mut command = Command::new(program);
        command.current_dir(self.folder.path()).args([
            "check",
            "--reporter=json",
            "--error-on-warnings",
            "--max-diagnostics=none",
            path,
        ]);
        let output = command.output().expect("biome");
        let text = String::from_utf8_lossy(&output.stdout);
        let report: Value = serde_json::from_str(text.lines().next_back().unwrap_or_default())
            .unwrap_or_else(|error| panic!("{error}: {text}{}", String::from_utf8_lossy(&output.stderr)));
        let list = report["diagnostics"].as_array().expect("diagnostics").iter();
        let mut found: Vec<String> =
            list.map(|diagnostic| format!("{} {}", diagnostic["category"], diagnostic["description"])).collect();
        found.sort();
        assert_eq!(output.status.success(), found.is_empty(), "{text}");
        found
    }

    /// What the tree's classifier says to messages, in the Node that pi needs, which drops the types by itself.
    pub(crate) fn verdicts(&self, messages: &[Value]) -> Vec<bool> {
        let runner = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/submission/toolchain/verdicts.mjs");
        let mut command = self.node();
        command
            .arg("--disable-warning=ExperimentalWarning")
            .arg(runner)
            .arg(self.path(&format!("{FOLDER}/{CLASSIFIER}")));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("node");
        let lines: String = messages.iter().map(|message| format!("{message}\n")).collect();
        let mut input = child.stdin.take().expect("an input");
        let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
        let output = child.wait_with_output().expect("node");
        writer.join().expect("no panic").expect("all written");
        assert!(output.status.success());
        let digit = |digit: &u8| match digit {
            b'1' => true,
            b'0' => false,
            other => panic!("{other} is no verdict"),
        };
        output.stdout.iter().map(digit).collect()
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder to read") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        match entry.file_type().expect("its kind").is_dir() {
            true => copy(&entry.path(), &target),
            false => fs::copy(entry.path(), target).map(drop).expect("a copied file"),
        }
    }
}
