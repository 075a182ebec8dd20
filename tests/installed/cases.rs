//! What happens to installs: doubled runs, updates, edits, missing rights, full disks, links.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use pi_retry_forced::Profile;
use pi_retry_forced::installed::{
    Applied, By, FOLDER, Kind, Options, Originals, Pi, Program, Reverted, State, Surroundings, Target, apply, inspect,
    locate, revert,
};
use pi_retry_forced::patch::{self, Classifier};
use pi_retry_forced::upstream::{Cache, Name};
use tempfile::TempDir;

use super::trees::{Install, copy, differences, executable, published, snapshot};

const PI_AI: &str = "0.80.3";
const RETRY: &str = "dist/utils/retry.js";

fn patch_now(target: &Target, options: &Options<'_>) -> Result<Applied, Refusal> {
    apply(target, options, &mut |_| Ok(()), &mut || {}).map_err(Refusal::from)
}

fn revert_now(target: &Target) -> Result<Reverted, Refusal> {
    revert(target, &mut |_| Ok(()), &mut || {}).map_err(Refusal::from)
}

/// An error's kind by name, and its text.
#[derive(Debug)]
struct Refusal(&'static str, String);

impl From<pi_retry_forced::installed::Error> for Refusal {
    fn from(error: pi_retry_forced::installed::Error) -> Self {
        let name = match error.kind() {
            Kind::Shared { .. } => "shared",
            Kind::Edited { .. } => "edited",
            Kind::PatchedOtherwise { .. } => "patched otherwise",
            Kind::ChangedSince { .. } => "changed since",
            Kind::BadRecord { .. } => "bad record",
            Kind::BadOriginal { .. } => "bad original",
            Kind::Io { .. } => "io",
            Kind::Patch(_) => "patch",
            _ => "another",
        };
        Refusal(name, error.to_string())
    }
}

/// Refused with this kind of error, and nothing is changed.
fn refused<T: std::fmt::Debug>(install: &Install, kind: &str, run: impl FnOnce() -> Result<T, Refusal>) -> String {
    let before = install.snapshot();
    let Refusal(found, text) = run().expect_err(kind);
    assert_eq!(found, kind, "{text}");
    assert_eq!(differences(&before, &install.snapshot()), Vec::<PathBuf>::new(), "{text}");
    text
}

fn command(arguments: &[&str], install: &Install) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pi-retry-forced"));
    command.args(arguments).arg("--pi").arg(install.agent()).stdin(Stdio::null());
    command.env("PI_RETRY_FORCED_CACHE", cache_folder());
    command
}

fn cache_folder() -> PathBuf {
    published(Name::PiAi, PI_AI).parent().expect("the cache").to_owned()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn set(target: &Target) -> patch::PatchSet {
    patch::make(&target.package, &Classifier::of(Profile::Patch)).expect("a patch")
}

#[test]
fn applied_twice_is_applied_once_and_reverted_twice_is_reverted_once() {
    let install = Install::bundled("1.3.0");
    let target = install.target();
    let before = install.snapshot();
    let expected = set(&target);
    let cache = Cache::at(cache_folder());
    let options = Options { verify: true, cache: Some(&cache), ..Options::default() };
    assert!(matches!(patch_now(&target, &options).unwrap(), Applied::Now { warnings, .. } if warnings.is_empty()));
    for file in &expected.files {
        let path = target.package.root().join(&file.path);
        assert_eq!(fs::read_to_string(&path).unwrap(), file.new);
        assert_eq!(path.metadata().unwrap().permissions().mode(), before[&path].0, "{}", file.path);
    }
    let after = install.snapshot();
    assert!(after.keys().all(|path| path.starts_with(target.package.root().join(FOLDER)) || before.contains_key(path)));
    assert_eq!(inspect(&target, Some(&cache)).unwrap().state, State::Patched { by: By::Apply });
    assert_eq!(patch_now(&target, &options).unwrap(), Applied::Already(By::Apply));
    assert_eq!(differences(&after, &install.snapshot()), Vec::<PathBuf>::new());

    assert!(matches!(revert_now(&target).unwrap(), Reverted::Now { files } if files.len() == expected.files.len()));
    assert_eq!(differences(&before, &install.snapshot()), Vec::<PathBuf>::new());
    assert!(!target.package.root().join(FOLDER).exists());
    assert_eq!(revert_now(&target).unwrap(), Reverted::Nothing);
}

/// The record tells which decision a patch carries.
#[test]
fn the_patch_of_another_version_is_taken_back_and_made_anew() {
    let install = Install::unbundled(PI_AI);
    let target = install.target();
    let before = install.snapshot();
    patch_now(&target, &Options::default()).unwrap();
    let after = install.snapshot();
    let record = install.library().join(FOLDER).join("record.json");
    let mut value: serde_json::Value = serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
    value["rules"] = "of another version".into();
    fs::write(&record, value.to_string()).unwrap();
    assert!(matches!(patch_now(&target, &Options::default()).unwrap(), Applied::Now { took_back: true, .. }));
    assert_eq!(differences(&after, &install.snapshot()), Vec::<PathBuf>::new());
    revert_now(&target).unwrap();
    assert_eq!(differences(&before, &install.snapshot()), Vec::<PathBuf>::new());
}

#[test]
fn runs_at_the_same_time_wait_for_each_other() {
    let install = Install::unbundled(PI_AI);
    let before = install.snapshot();
    let at_once = |commands: &[&str]| {
        let start =
            |name: &&str| command(&[*name], &install).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let children: Vec<_> = commands.iter().map(start).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        }
    };
    at_once(&["apply", "apply", "apply"]);
    assert_eq!(inspect(&install.target(), None).unwrap().state, State::Patched { by: By::Apply });
    at_once(&["revert", "revert", "revert"]);
    assert_eq!(differences(&before, &install.snapshot()), Vec::<PathBuf>::new());
    for _ in 0..3 {
        at_once(&["apply", "revert", "apply", "revert"]);
        let state = inspect(&install.target(), None).unwrap().state;
        assert!([State::Unpatched, State::Patched { by: By::Apply }].contains(&state), "{state:?}");
    }
    at_once(&["revert"]);
    assert_eq!(differences(&before, &install.snapshot()), Vec::<PathBuf>::new());
}

#[test]
fn an_update_that_replaces_the_folder_takes_the_record_with_it() {
    let install = Install::bundled("0.84.3");
    patch_now(&install.target(), &Options::default()).unwrap();
    fs::remove_dir_all(install.agent()).unwrap();
    copy(&published(Name::PiCodingAgent, "1.6.0"), &install.agent());
    let updated = install.snapshot();
    assert_eq!(revert_now(&install.target()).unwrap(), Reverted::Nothing);
    assert_eq!(differences(&updated, &install.snapshot()), Vec::<PathBuf>::new());
}

#[test]
fn an_update_that_writes_over_is_recognised_and_not_reverted() {
    let install = Install::unbundled(PI_AI);
    patch_now(&install.target(), &Options::default()).unwrap();
    copy(&published(Name::PiAi, "0.84.2"), &install.library());
    let target = install.target();
    let state = inspect(&target, None).unwrap();
    assert_eq!((state.state, state.stale_record), (State::Unpatched, true));
    let updated = |install: &Install| {
        let mut files = install.snapshot();
        files.retain(|path, _| !path.starts_with(install.library().join(FOLDER)));
        files
    };
    let before = updated(&install);
    let expected = Reverted::Updated { from: PI_AI.to_owned(), to: "0.84.2".to_owned() };
    assert_eq!(revert_now(&target).unwrap(), expected);
    assert_eq!(differences(&before, &updated(&install)), Vec::<PathBuf>::new());
    assert!(!install.library().join(FOLDER).exists());

    // The same with `apply` as the next command: it patches the new release, and that can be taken back.
    copy(&published(Name::PiAi, PI_AI), &install.library());
    patch_now(&install.target(), &Options::default()).unwrap();
    copy(&published(Name::PiAi, "0.84.2"), &install.library());
    assert!(matches!(
        patch_now(&install.target(), &Options::default()).unwrap(),
        Applied::Now { took_back: false, .. }
    ));
    assert!(matches!(revert_now(&install.target()).unwrap(), Reverted::Now { .. }));
    assert_eq!(differences(&before, &updated(&install)), Vec::<PathBuf>::new());
}

#[test]
fn a_file_that_was_changed_after_it_was_patched_is_not_written_over() {
    let install = Install::unbundled(PI_AI);
    let target = install.target();
    patch_now(&target, &Options::default()).unwrap();
    let file = install.library().join(RETRY);
    fs::write(&file, fs::read_to_string(&file).unwrap() + "\n// mine\n").unwrap();
    let said = refused(&install, "changed since", || revert_now(&target));
    assert!(said.contains(RETRY) && said.contains("originals"), "{said}");
    refused(&install, "changed since", || patch_now(&target, &Options::default()));
    assert_eq!(inspect(&target, None).unwrap().state, State::Edited { files: vec![RETRY.to_owned()] });
}

#[test]
fn a_file_that_is_not_as_published_is_named_and_patched_only_on_request() {
    let install = Install::unbundled(PI_AI);
    let target = install.target();
    let file = install.library().join(RETRY);
    let edited = fs::read_to_string(&file).unwrap() + "\n// mine\n";
    fs::write(&file, &edited).unwrap();
    let cache = Cache::at(cache_folder());
    let options = |edited| Options { cache: Some(&cache), edited, ..Options::default() };
    assert_eq!(inspect(&target, Some(&cache)).unwrap().state, State::Edited { files: vec![RETRY.to_owned()] });
    let said = refused(&install, "edited", || patch_now(&target, &options(false)));
    assert!(said.contains(RETRY) && said.contains("--edited"), "{said}");
    let applied = patch_now(&target, &options(true)).unwrap();
    assert!(matches!(&applied, Applied::Now { warnings, .. } if warnings[0].contains(RETRY)), "{applied:?}");
    revert_now(&target).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), edited);

    fs::write(&file, edited.replace("const errorMessage", "if (mine()) return true;\n    const errorMessage")).unwrap();
    refused(&install, "patch", || patch_now(&target, &options(true)));
    assert_eq!(inspect(&target, Some(&cache)).unwrap().state, State::Edited { files: vec![RETRY.to_owned()] });
    assert!(matches!(inspect(&target, None).unwrap().state, State::Unrecognised { .. }));
}

#[test]
fn a_patch_of_another_tool_is_left_to_that_tool() {
    let install = Install::unbundled(PI_AI);
    let target = install.target();
    set(&target).apply_to(target.package.root()).unwrap();
    let cache = Cache::at(cache_folder());
    let options = Options { cache: Some(&cache), ..Options::default() };
    assert_eq!(inspect(&target, Some(&cache)).unwrap().state, State::Patched { by: By::PatchFile });
    assert_eq!(patch_now(&target, &options).unwrap(), Applied::Already(By::PatchFile));
    refused(&install, "patched otherwise", || revert_now(&target));
    let file = install.library().join(RETRY);
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("429", "430")).unwrap();
    assert_eq!(inspect(&target, Some(&cache)).unwrap().state, State::Patched { by: By::OtherVersion });
    refused(&install, "patched otherwise", || patch_now(&target, &options));
}

#[test]
fn a_lost_original_or_a_broken_record_is_named_and_nothing_written() {
    let install = Install::unbundled(PI_AI);
    let target = install.target();
    patch_now(&target, &Options::default()).unwrap();
    let original = install.library().join(FOLDER).join("originals").join(RETRY);
    let bytes = fs::read(&original).unwrap();
    fs::write(&original, "something else").unwrap();
    let said = refused(&install, "bad original", || revert_now(&target));
    assert!(said.contains("@earendil-works/pi-ai@0.80.3"), "{said}");
    fs::write(&original, bytes).unwrap();
    // Without a usable record the originals have to be all there, and fit what is installed.
    let bytes = fs::read(&original).unwrap();
    fs::remove_file(&original).unwrap();
    let record = install.library().join(FOLDER).join("record.json");
    let good = fs::read_to_string(&record).unwrap();
    let folder = install.library().join(FOLDER).join("originals").display().to_string();
    for bad in damaged(&good) {
        fs::write(&record, bad).unwrap();
        for said in [
            refused(&install, "bad record", || revert_now(&target)),
            refused(&install, "bad record", || patch_now(&target, &Options::default())),
        ] {
            assert!(said.starts_with("the record of an earlier apply is missing or damaged; "), "{said}");
            assert!(said.contains(&folder) && said.contains("by hand: `cp -R "), "{said}");
        }
    }
    fs::remove_file(&record).unwrap();
    refused(&install, "bad record", || revert_now(&target));
    refused(&install, "bad record", || patch_now(&target, &Options::default()));
    fs::write(&original, bytes).unwrap();
    let file = install.library().join(RETRY);
    let patched = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{patched}\n// mine\n")).unwrap();
    refused(&install, "bad record", || revert_now(&target));
    fs::write(&file, patched).unwrap();
    assert!(matches!(revert_now(&target).unwrap(), Reverted::Now { .. }));
}

/// Cut short, naming a file outside, and of another format.
fn damaged(record: &str) -> [String; 3] {
    [
        record[..record.len() / 2].to_owned(),
        record.replace(RETRY, "../../../../victim"),
        record.replace("\"format\": 1", "\"format\": 2"),
    ]
}

#[test]
fn a_lost_record_is_worked_out_from_the_originals() {
    for install in [Install::unbundled(PI_AI), Install::bundled("1.3.0")] {
        let target = install.target();
        let root = target.package.root().to_owned();
        let before = install.snapshot();
        patch_now(&target, &Options::default()).unwrap();
        let after = install.snapshot();
        let record = root.join(FOLDER).join("record.json");
        let good = fs::read_to_string(&record).unwrap();
        fs::write(&record, &good[..good.len() / 2]).unwrap();
        let found = inspect(&target, None).unwrap();
        assert_eq!((found.state, found.originals), (State::Patched { by: By::Apply }, Originals::Unrecorded));
        assert_eq!(patch_now(&target, &Options::default()).unwrap(), Applied::Recorded);
        assert_eq!(differences(&after, &install.snapshot()), Vec::<PathBuf>::new());

        fs::remove_file(&record).unwrap();
        let output = command(&["apply", "--dry-run"], &install).output().unwrap();
        let said = text(&output);
        assert!(said.contains("originals are kept in .pi-retry-forced") && said.contains("`revert`"), "{said}");
        assert!(matches!(revert_now(&target).unwrap(), Reverted::Now { .. }));
        assert_eq!(differences(&before, &install.snapshot()), Vec::<PathBuf>::new());
    }
}

/// As after a run that was killed between the removal of the record and that of the originals, or after an update.
#[test]
fn originals_beside_an_unpatched_package_are_cleared_away() {
    for version in [PI_AI, "0.84.2"] {
        let install = Install::unbundled(PI_AI);
        patch_now(&install.target(), &Options::default()).unwrap();
        fs::remove_file(install.library().join(FOLDER).join("record.json")).unwrap();
        copy(&published(Name::PiAi, version), &install.library());
        let found = inspect(&install.target(), None).unwrap();
        assert_eq!((found.state, found.stale_record), (State::Unpatched, true));
        assert_eq!(revert_now(&install.target()).unwrap(), Reverted::Nothing);
        assert!(!install.library().join(FOLDER).exists());
    }
}

#[test]
fn what_apply_leaves_alone_it_says_all_about() {
    let install = Install::unbundled(PI_AI);
    patch_now(&install.target(), &Options::default()).unwrap();
    let run = |arguments: &[&str]| {
        let output = command(arguments, &install).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        text(&output)
    };
    assert!(!run(&["apply"]).contains("warning"));
    let original = install.library().join(FOLDER).join("originals").join(RETRY);
    fs::write(&original, "something else").unwrap();
    for arguments in [&["apply"][..], &["apply", "--dry-run"]] {
        let said = run(arguments);
        assert!(said.contains("`revert` is not possible") && said.contains("reinstalling pi"), "{said}");
    }
    fs::remove_dir_all(install.library().join(FOLDER)).unwrap();
    for arguments in [&["apply", "--edited"][..], &["apply", "--edited", "--dry-run"]] {
        let said = run(arguments);
        assert!(said.contains("by a patch file") && said.contains("--edited had no effect"), "{said}");
    }
    assert!(!run(&["apply"]).contains("--edited"));
}

/// `anyhow` and others print an error with its causes.
#[test]
fn an_error_does_not_say_its_cause_twice() {
    let install = Install::unbundled(PI_AI);
    fs::write(install.library().join(FOLDER), "in the way").unwrap();
    let error = apply(&install.target(), &Options::default(), &mut |_| Ok(()), &mut || {}).unwrap_err();
    assert!(matches!(error.kind(), Kind::Io { .. }));
    let whole = format!("{:#}", anyhow::Error::from(error));
    assert_eq!(whole.matches("os error").count(), 1, "{whole}");
}

/// Root may write anywhere, so as root the command runs as another user.
#[test]
fn without_the_right_to_write_the_command_that_has_it_is_named() {
    use std::os::unix::process::CommandExt as _;
    let install = Install::unbundled(PI_AI);
    fs::set_permissions(install.folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let root = install.path().metadata().unwrap().uid() == 0;
    let program = install.path().join("pi-retry-forced");
    fs::copy(env!("CARGO_BIN_EXE_pi-retry-forced"), &program).unwrap();
    executable(&program);
    if !root {
        fs::set_permissions(install.library(), fs::Permissions::from_mode(0o555)).unwrap();
    }
    let before = install.snapshot();
    let mut run = Command::new(&program);
    run.arg("apply").env("PATH", install.path().join("bin")).env("HOME", install.path()).current_dir("/");
    if root {
        run.uid(65534).gid(65534);
    }
    let output = run.output().unwrap();
    let said = text(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    let line = format!("run: sudo {} apply --pi {}\n", program.display(), install.agent().display());
    assert!(said.contains("no permission to write") && said.ends_with(&line), "{said}");
    assert_eq!(differences(&before, &install.snapshot()), Vec::<PathBuf>::new());
    fs::set_permissions(install.library(), fs::Permissions::from_mode(0o755)).unwrap();
}

/// What root makes in a user's install, or a user with a strict umask in a shared one, is the package's like everything in it: its
/// owner can update and remove it, and everybody who can read the package can read the record.
#[test]
fn the_record_belongs_to_whom_the_package_belongs_whatever_the_umask() {
    const NOBODY: u32 = 65534;
    let install = Install::unbundled(PI_AI);
    let root = install.path().metadata().unwrap().uid() == 0;
    if root {
        let owned = Command::new("chown").args(["-R", "65534:65534"]).arg(install.folder.path()).status().unwrap();
        assert!(owned.success());
    }
    let manifest = install.library().join("package.json").metadata().unwrap();
    let mut shell = Command::new("sh");
    shell.args([
        "-c",
        "umask 077; exec \"$1\" apply --no-verify --pi \"$2\"",
        "sh",
        env!("CARGO_BIN_EXE_pi-retry-forced"),
    ]);
    let output = shell.arg(install.agent()).env("PI_RETRY_FORCED_CACHE", cache_folder()).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));

    let mut folders = vec![install.library().join(FOLDER)];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        let made = folder.metadata().unwrap();
        let package = install.library().metadata().unwrap();
        assert_eq!((made.uid(), made.mode() & 0o777), (package.uid(), package.mode() & 0o777), "{}", folder.display());
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let made = path.metadata().unwrap();
            if made.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            assert_eq!(made.uid(), manifest.uid(), "{}", path.display());
            assert_eq!(made.mode() & 0o444, manifest.mode() & 0o444, "{}", path.display());
        }
    }
    assert!(files > 2, "the record, its lock and an original");

    let original = install.library().join(FOLDER).join("originals").join(RETRY);
    assert!(original.is_file(), "{}", original.display());
    if root {
        use std::os::unix::process::CommandExt as _;
        fs::set_permissions(install.folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let program = install.write("pi-retry-forced", "");
        fs::copy(env!("CARGO_BIN_EXE_pi-retry-forced"), &program).unwrap();
        executable(&program);
        let run = |command: &str| {
            let mut run = Command::new(&program);
            run.args([command, "--pi"]).arg(install.agent()).env("HOME", install.path()).current_dir("/");
            run.env("PI_RETRY_FORCED_CACHE", install.path().join("cache")).uid(NOBODY).gid(NOBODY).output().unwrap()
        };
        // Somebody's own original in the way is not a damaged one.
        let owner = Command::new("chown").arg("0:0").arg(&original).status().unwrap();
        assert!(owner.success());
        fs::set_permissions(&original, fs::Permissions::from_mode(0o600)).unwrap();
        let output = run("revert");
        let said = text(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(&original.display().to_string()) && said.contains("ermission denied"), "{said}");
        assert!(!said.contains("damaged"), "{said}");
        let back = Command::new("chown").arg("65534:65534").arg(&original).status().unwrap();
        assert!(back.success());
        let output = run("revert");
        assert!(output.status.success(), "{}", text(&output));
        assert!(!install.library().join(FOLDER).exists());
    }
}

#[test]
fn where_the_record_cannot_be_kept_nothing_is_changed() {
    let install = Install::unbundled(PI_AI);
    fs::write(install.library().join(FOLDER), "in the way").unwrap();
    refused(&install, "io", || patch_now(&install.target(), &Options::default()));
}

/// A limit on the size of a file stands for a full disk: writing fails in the middle of a file.
#[test]
fn a_write_that_fails_leaves_no_trace() {
    let install = Install::bundled("1.3.0");
    let before = install.snapshot();
    let shell = |script: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", script, "sh", env!("CARGO_BIN_EXE_pi-retry-forced")]).arg(install.agent());
        shell.env("PI_RETRY_FORCED_CACHE", cache_folder()).output().unwrap()
    };
    // 200 blocks: more than most files of the patch, less than the chunk with the classifier.
    let output = shell("trap '' XFSZ; ulimit -f 200; exec \"$1\" apply --no-verify --pi \"$2\"");
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert_eq!(differences(&before, &install.snapshot()), Vec::<PathBuf>::new(), "{}", text(&output));

    // The same without the trap kills the run in the middle of that write.
    let output = shell("ulimit -f 200; exec \"$1\" apply --no-verify --pi \"$2\"");
    assert_eq!(output.status.code(), None, "{}", text(&output));
    assert!(install.agent().join(FOLDER).exists());
    assert_eq!(inspect(&install.target(), None).unwrap().state, State::Interrupted { patched: 0, of: 9 });
    assert_eq!(revert_now(&install.target()).unwrap(), Reverted::Nothing);
    assert_eq!(differences(&before, &install.snapshot()), Vec::<PathBuf>::new());
}

#[test]
fn a_hard_linked_store_keeps_what_it_had() {
    let install = Install::unbundled(PI_AI);
    let store = TempDir::new_in(install.path()).unwrap();
    let paths: Vec<PathBuf> =
        set(&install.target()).files.iter().map(|file| install.library().join(&file.path)).collect();
    for (index, path) in paths.iter().enumerate() {
        fs::hard_link(path, store.path().join(index.to_string())).unwrap();
    }
    let stored = snapshot(store.path());
    patch_now(&install.target(), &Options::default()).unwrap();
    assert_eq!(differences(&stored, &snapshot(store.path())), Vec::<PathBuf>::new());
    revert_now(&install.target()).unwrap();
    for (index, path) in paths.iter().enumerate() {
        assert_eq!(fs::read(path).unwrap(), fs::read(store.path().join(index.to_string())).unwrap());
    }
}

/// pnpm's layout: links into a virtual store that belongs to the same install.
#[test]
fn links_within_an_install_are_followed() {
    let install = Install::empty();
    let store = install.path().join("node_modules/.pnpm");
    let (agent, library) = (Name::PiCodingAgent.as_str(), Name::PiAi.as_str());
    let in_store =
        |name: &str, of: &str| store.join(format!("{}@{PI_AI}", of.replace('/', "+"))).join("node_modules").join(name);
    let made = Install::unbundled(PI_AI);
    copy(&made.agent(), &in_store(agent, agent));
    copy(&made.library(), &in_store(library, library));
    symlink(in_store(library, library), in_store(library, agent)).unwrap();
    fs::create_dir_all(install.path().join("node_modules/@earendil-works")).unwrap();
    symlink(in_store(agent, agent), install.path().join("node_modules").join(agent)).unwrap();

    let target = Pi::open(&install.path().join("node_modules").join(agent)).unwrap().target().unwrap();
    assert_eq!(target.package.root(), in_store(library, library));
    assert_eq!(target.shared, None);
    let before = install.snapshot();
    patch_now(&target, &Options::default()).unwrap();
    assert!(
        fs::read_to_string(in_store(library, library).join(RETRY)).unwrap().contains("errorStatus"),
        "the classifier reads a status"
    );
    revert_now(&target).unwrap();
    assert_eq!(differences(&before, &install.snapshot()), Vec::<PathBuf>::new());
}

#[test]
fn links_out_of_an_install_are_not_written_through() {
    let shared = Install::bundled("1.3.0");
    let install = Install::empty();
    let link = install.path().join("node_modules").join(Name::PiCodingAgent.as_str());
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(shared.agent(), &link).unwrap();
    let bin = install.path().join("node_modules/.bin/pi");
    fs::create_dir_all(bin.parent().unwrap()).unwrap();
    symlink("../@earendil-works/pi-coding-agent/dist/bundle/cli.js", &bin).unwrap();
    let surroundings = Surroundings::of_process().unwrap();
    for path in [&link, &bin] {
        let target = locate(Some(path), &surroundings).unwrap().target().unwrap();
        assert_eq!(target.shared.as_deref(), Some(&*link), "{}", path.display());
        let said = refused(&shared, "shared", || patch_now(&target, &Options::default()));
        assert!(said.contains("--shared"), "{said}");
    }
    let target = locate(Some(&link), &surroundings).unwrap().target().unwrap();
    patch_now(&target, &Options { shared: true, ..Options::default() }).unwrap();
    revert_now(&target).unwrap();

    // pnpm's global virtual store is one for all projects, even when it is named itself.
    let store = install.path().join("store/v10/links/@earendil-works/pi-coding-agent/1.3.0/hash/node_modules");
    copy(&shared.agent(), &store.join(Name::PiCodingAgent.as_str()));
    let target = Pi::open(&store.join(Name::PiCodingAgent.as_str())).unwrap().target().unwrap();
    assert!(target.shared.is_some());
}

#[test]
fn the_pi_ai_that_a_pi_loads_is_its_own_before_the_hoisted_one() {
    let install = Install::unbundled(PI_AI);
    assert_eq!(install.target().package.root(), install.library());
    let nested = install.agent().join("node_modules").join(Name::PiAi.as_str());
    copy(&published(Name::PiAi, "0.81.1"), &nested);
    let target = install.target();
    assert_eq!((target.package.root(), target.package.version().to_string()), (&*nested, "0.81.1".to_owned()));
    let hoisted = snapshot(&install.library());
    patch_now(&target, &Options::default()).unwrap();
    assert_eq!(differences(&hoisted, &snapshot(&install.library())), Vec::<PathBuf>::new());
}

/// A bundled release whose unbundled file is what runs loads pi-ai.
#[test]
fn the_file_that_runs_tells_which_package_decides() {
    let install = Install::bundled("1.3.0");
    copy(&published(Name::PiAi, "1.3.0"), &install.library());
    let wrapper =
        install.write("own/pi", &format!("#!/bin/sh\nexec node {}/dist/cli.js \"$@\"\n", install.agent().display()));
    executable(&wrapper);
    let surroundings = Surroundings::of_process().unwrap();
    let decides = |path: &Path| locate(Some(path), &surroundings).unwrap().target().unwrap().package;
    assert_eq!(decides(&wrapper).root(), install.library());
    assert_eq!(decides(&install.bin()).root(), install.agent());
}

#[test]
fn pi_is_found_through_links_and_wrappers() {
    let install = Install::unbundled(PI_AI);
    let at = install.path();
    let cli = format!("lib/node_modules/{}/dist/cli.js", Name::PiCodingAgent);
    let full = at.join(&cli).display().to_string();
    let surroundings = Surroundings { home: Some(at.clone()), ..Surroundings::of_process().unwrap() };
    let wrappers = [
        // As pnpm writes them.
        format!(
            "#!/bin/sh\nbasedir=$(dirname \"$(echo \"$0\" | sed -e 's,\\\\,/,g')\")\n\ncase `uname` in\n    *CYGWIN*|*MINGW*|*MSYS*)\n        if command -v cygpath > /dev/null 2>&1; then\n            basedir=`cygpath -w \"$basedir\"`\n        fi\n    ;;\nesac\n\nif [ -z \"$NODE_PATH\" ]; then\n  export NODE_PATH=\"/x/node_modules\"\nfi\nif [ -x \"$basedir/node\" ]; then\n  exec \"$basedir/node\"  \"$basedir/../{cli}\" \"$@\"\nelse\n  exec node  \"$basedir/../{cli}\" \"$@\"\nfi\n"
        ),
        // As npm writes them for cmd and PowerShell.
        format!(
            "@ECHO off\r\nGOTO start\r\n:find_dp0\r\nSET dp0=%~dp0\r\nEXIT /b\r\n:start\r\nSETLOCAL\r\nCALL :find_dp0\r\n\r\nIF EXIST \"%dp0%\\node.exe\" (\r\n  SET \"_prog=%dp0%\\node.exe\"\r\n) ELSE (\r\n  SET \"_prog=node\"\r\n)\r\n\r\nendLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & \"%_prog%\"  \"%dp0%\\..\\{}\" %*\r\n",
            cli.replace('/', "\\")
        ),
        format!(
            "#!/usr/bin/env pwsh\n$basedir=Split-Path $MyInvocation.MyCommand.Definition -Parent\n\n& \"node$exe\"  \"$basedir/../{cli}\" $args\n"
        ),
        // As people write them.
        format!("#!/bin/sh\nexec node '{full}' \"$@\"\n"),
        format!(
            "#!/usr/bin/env bash\n# exec /nowhere/pi\nset -eu\nHERE=\"$(cd \"$(dirname \"${{BASH_SOURCE[0]}}\")/..\" && pwd)\"\nexport X=1; exec node \"$HERE/{cli}\" \"$@\"\n"
        ),
        "#!/bin/sh\nPI_OFFLINE=1 exec \"$HOME/bin/pi\" \"$@\"\n".to_owned(),
        "#!/bin/sh\nexec ~/bin/pi \"$@\"\n".to_owned(),
        format!("#!/bin/sh\nROOT=${{PI_ROOT_THAT_IS_NOT_SET:-{}}}\nexec \"${{ROOT}}/bin/pi\" \"$@\"\n", at.display()),
        format!("#!/bin/sh\nexec \"$(dirname \"$(readlink -f \"$0\")\")/../{cli}\" \"$@\"\n"),
    ];
    for (index, text) in wrappers.iter().enumerate() {
        let wrapper = install.write(&format!("wrapped/pi{index}"), text);
        executable(&wrapper);
        let pi = locate(Some(&wrapper), &surroundings).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((pi.root, pi.entry), (install.agent(), "dist/cli.js".to_owned()), "{text}");
    }
    // A link to a link to a wrapper.
    symlink("wrapped/pi3", at.join("one")).unwrap();
    fs::create_dir(at.join("deep")).unwrap();
    symlink("../one", at.join("deep/two")).unwrap();
    assert_eq!(locate(Some(&at.join("deep/two")), &surroundings).unwrap().root, install.agent());
    // What leads nowhere, or round in a ring, is said to be no pi.
    let ring = install.write("ring", &format!("#!/bin/sh\nexec {}/ring2\n", at.display()));
    install.write("ring2", &format!("#!/bin/sh\nexec {}\n", ring.display()));
    let other = install.write("other", "#!/bin/sh\necho 3.14159\n");
    for path in [ring, other, at.join("missing")] {
        let error = locate(Some(&path), &surroundings).unwrap_err();
        assert!(matches!(error.kind(), Kind::NotPi { .. }), "{error}");
    }
    let binary = install.write("single/pi", "\u{7f}ELF and so on, @earendil-works/pi-coding-agent and so on");
    let error = locate(Some(&binary), &surroundings).unwrap_err();
    assert!(matches!(error.kind(), Kind::Binary { .. }) && error.to_string().contains("pi install"), "{error}");
    assert_ne!(Program::Binary { path: binary, version: None }, Program::Pi(Pi::open(&install.agent()).unwrap()));
}

#[test]
fn a_dry_run_shows_the_diff_and_changes_nothing() {
    let install = Install::unbundled(PI_AI);
    let before = install.snapshot();
    let set_before = set(&install.target());
    let output = command(&["apply", "--dry-run"], &install).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), set_before.to_patch());
    assert_eq!(differences(&before, &install.snapshot()), Vec::<PathBuf>::new());

    assert_eq!(command(&["apply"], &install).output().unwrap().status.code(), Some(0));
    let after = install.snapshot();
    let output = command(&["revert", "--dry-run"], &install).output().unwrap();
    let diff = text(&output);
    assert!(diff.contains("\n-export function appendFailureStatus(output, error) {\n"), "{diff}");
    let names = |diff: &str| {
        let lines = diff.lines().filter(|line| line.starts_with("diff --git "));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(names(&diff), names(&set_before.to_patch()));
    let output = command(&["apply", "--dry-run"], &install).output().unwrap();
    assert!(text(&output).contains("patched already"), "{}", text(&output));
    assert_eq!(differences(&after, &install.snapshot()), Vec::<PathBuf>::new());
    assert_eq!(command(&["revert"], &install).output().unwrap().status.code(), Some(0));
    assert_eq!(differences(&before, &install.snapshot()), Vec::<PathBuf>::new());
}

#[test]
fn what_cannot_be_patched_gets_an_advice() {
    let install = Install::unbundled("0.80.3");
    let manifest = format!(r#"{{"name":"{}","version":"0.79.0","bin":{{"pi":"dist/cli.js"}}}}"#, Name::PiCodingAgent);
    fs::write(install.agent().join("package.json"), manifest).unwrap();
    let output = command(&["apply"], &install).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("update pi to 0.80.3 or newer, or use the extension"), "{}", text(&output));
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pi-retry-forced"));
        command.args(arguments).env("PATH", "/nowhere").current_dir(install.path()).output().unwrap()
    };
    let output = run(&["apply"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("no pi on the PATH") && text(&output).contains("--pi"), "{}", text(&output));
    let output = run(&["apply", "--pi", install.library().to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output).contains("npx patch-package@8"), "{}", text(&output));
}

/// `classify --against installed` asks the patterns in the installed files, edited or not.
#[test]
fn classify_asks_the_installed_pi() {
    // Digits had no edges in the releases that are installed here.
    let id = "relay says no (request id: 20261129111811503a)";
    for install in [Install::unbundled(PI_AI), Install::bundled("1.3.0")] {
        let ask = |folder: &Path| {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let folders = [folder.to_owned()].into_iter().chain(std::env::split_paths(&path));
            Command::new(env!("CARGO_BIN_EXE_pi-retry-forced"))
                .args(["classify", "--json", "--against", "1.6.0,installed", id])
                .env("PATH", std::env::join_paths(folders).unwrap())
                .output()
                .unwrap()
        };
        let bin = install.bin();
        let bin = bin.parent().unwrap();
        let said = || -> serde_json::Value {
            let output = ask(bin);
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output)))
        };
        assert_eq!(said()["pi"], serde_json::json!({ "1.6.0": false, "installed": true }));
        let target = install.target();
        let file = target.package.root().join(target.classifier().expect("a classifier"));
        let published = fs::read_to_string(&file).unwrap();
        fs::write(&file, published.replace("\"503\"", "\"509\"")).unwrap();
        assert_eq!(said()["pi"]["installed"], false, "the list that is there is read");
        fs::write(&file, published).unwrap();

        patch_now(&target, &Options::default()).unwrap();
        let refused = ask(bin);
        assert_eq!(refused.status.code(), Some(2));
        assert!(text(&refused).contains("is patched and decides like `--profile patch`"), "{}", text(&refused));
    }
}
