//! `doctor` in homes, search paths and projects made for the test.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use pi_retry_forced::installed::{By, Diagnosis, Finding, Options, Pi, Settings, State, Surroundings, apply, diagnose};
use pi_retry_forced::upstream::{Cache, Name, Release};
use serde_json::{Value, json};
use tempfile::TempDir;

const AGENT: &str = "@earendil-works/pi-coding-agent";
const PI_AI: &str = "@earendil-works/pi-ai";

struct Machine {
    folder: TempDir,
    variables: BTreeMap<String, String>,
}

impl Machine {
    fn new() -> Self {
        let machine = Machine { folder: TempDir::new().expect("a folder"), variables: BTreeMap::new() };
        for folder in ["home/project", "path"] {
            fs::create_dir_all(machine.at(folder)).expect("a folder");
        }
        machine
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().expect("the folder").join(path)
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder");
        fs::write(&path, text).expect("the file");
        path
    }

    fn json(&self, path: &str, value: &Value) {
        self.write(path, &value.to_string());
    }

    fn script(&self, path: &str, text: &str) {
        let path = self.write(path, text);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("its rights");
    }

    /// A pi-coding-agent below a `node_modules`, with what it is recognised by.
    fn agent(&self, modules: &str, version: &str) -> PathBuf {
        let bin = if pi_retry_forced::upstream::parse_version(version).expect("a version")
            < pi_retry_forced::upstream::Version::new(0, 84, 3)
        {
            "dist/cli.js"
        } else {
            "dist/bundle/cli.js"
        };
        let folder = format!("{modules}/{AGENT}");
        self.json(
            &format!("{folder}/package.json"),
            &json!({ "name": AGENT, "version": version, "bin": { "pi": bin } }),
        );
        self.script(&format!("{folder}/{bin}"), "#!/usr/bin/env node\n");
        self.at(&folder)
    }

    /// The published pi-ai below a `node_modules`.
    fn library(&self, modules: &str, version: &str) -> PathBuf {
        let target = self.at(&format!("{modules}/{PI_AI}"));
        let package = cache().package(Release::find(Name::PiAi, version).expect("a release"), &mut |_| {});
        copy(package.expect("the package").root(), &target);
        target
    }

    fn shim(&self, folder: &str) {
        let manifest =
            json!({ "name": "pi-retry-forced", "version": "0.1.0", "pi": { "extensions": ["./src/index.ts"] } });
        self.json(&format!("{folder}/package.json"), &manifest);
        self.write(&format!("{folder}/src/index.ts"), "");
    }

    fn surroundings(&self) -> Surroundings {
        let mut variables: BTreeMap<_, _> =
            self.variables.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
        variables.entry("PATH".to_owned()).or_insert_with(|| self.at("path").into());
        Surroundings {
            folder: self.at("home/project"),
            home: Some(self.at("home")),
            variables,
            system_folders: vec![self.at("system/lib/node_modules")],
        }
    }

    fn diagnose(&self) -> Diagnosis {
        diagnose(&self.surroundings(), Some(&cache()))
    }

    fn settings(&self) -> Settings {
        Settings::read(&self.surroundings()).expect("settings")
    }

    fn run(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pi-retry-forced"));
        command.arg("doctor").args(arguments).current_dir(self.at("home/project")).env_clear();
        command
            .env("HOME", self.at("home"))
            .env("PATH", self.at("path"))
            .env("PI_RETRY_FORCED_CACHE", self.at("no-cache"));
        let output = command.output().expect("doctor");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).replace(&*self.at("").to_string_lossy(), "/"))
    }
}

fn cache() -> Cache {
    Cache::user().expect("a cache")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder to read") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("its kind").is_dir() {
            copy(&entry.path(), &target);
        } else if !entry.path().to_string_lossy().ends_with(".map") {
            fs::copy(entry.path(), target).expect("a copied file");
        }
    }
}

fn at<'d>(diagnosis: &'d Diagnosis, path: &Path) -> &'d Finding {
    let mut found = diagnosis.findings.iter().filter(|finding| finding.path == path);
    let finding = found.next().unwrap_or_else(|| panic!("{} is not among {:#?}", path.display(), diagnosis.findings));
    assert!(found.next().is_none(), "{} is there twice", path.display());
    finding
}

#[test]
fn nothing_found_is_said_and_no_error() {
    let machine = Machine::new();
    let (status, said) = machine.run(&[]);
    assert_eq!(status, Some(0));
    assert!(said.starts_with("No pi found: not on the PATH") && said.contains("--pi FOLDER"), "{said}");
    let (status, said) = machine.run(&["--json"]);
    assert_eq!((status, serde_json::from_str::<Value>(&said).unwrap()["findings"].clone()), (Some(0), json!([])));
}

#[test]
fn every_place_is_looked_into() {
    let mut machine = Machine::new();
    machine.write("home/.npmrc", "fund=false\nprefix = ${HOME}/npm\n");
    machine.variables.insert("PNPM_HOME".to_owned(), machine.at("home/pnpm").display().to_string());
    machine.variables.insert("NVM_DIR".to_owned(), "~/nvm".to_owned());
    let global = [
        ("home/npm/lib/node_modules", "1.6.0", "npm"),
        ("home/pnpm/global/5/node_modules", "1.5.2", "pnpm"),
        ("home/pnpm/global/v11/0a1b/node_modules", "1.5.0", "pnpm"),
        ("home/.config/yarn/global/node_modules", "1.4.0", "yarn"),
        ("home/.bun/install/global/node_modules", "1.3.0", "bun"),
        ("home/nvm/versions/node/v24.1.0/lib/node_modules", "0.87.1", "nvm"),
        ("home/.volta/tools/image/packages/@earendil-works/pi-coding-agent/lib/node_modules", "0.87.0", "Volta"),
        ("system/lib/node_modules", "0.86.0", "npm"),
    ];
    let global = global.map(|(modules, version, who)| (machine.agent(modules, version), version, who));
    let project = [
        (machine.agent("home/project/node_modules", "0.80.7"), "0.80.7"),
        (machine.agent("home/node_modules", "0.85.0"), "0.85.0"),
    ];
    let hoisted = machine.library("home/project/node_modules", "0.80.7");
    let nested = machine.library(&format!("home/project/node_modules/{AGENT}/node_modules"), "0.80.10");
    let stored = machine.library("home/project/node_modules/.pnpm/@earendil-works+pi-ai@0.81.1/node_modules", "0.81.1");
    let above = machine.library("home/node_modules", "0.80.3");

    let diagnosis = machine.diagnose();
    for (path, version, who) in &global {
        let finding = at(&diagnosis, path);
        assert_eq!((finding.kind, finding.release.as_deref(), finding.bundled), ("command", Some(*version), true));
        assert_eq!(finding.places, [format!("global packages of {who}")]);
    }
    for (path, version) in &project {
        assert_eq!((at(&diagnosis, path).kind, at(&diagnosis, path).release.as_deref()), ("command", Some(*version)));
    }
    let pi = at(&diagnosis, &project[0].0);
    assert!(!pi.bundled);
    assert_eq!(pi.decided_by.as_deref(), Some("@earendil-works/pi-ai@0.80.10"));
    assert_eq!((pi.file.clone(), pi.era), (Some(nested.join("dist/utils/retry.js")), Some("E6")));
    for (path, version, era) in
        [(&hoisted, "0.80.7", "E6"), (&nested, "0.80.10", "E6"), (&stored, "0.81.1", "E7"), (&above, "0.80.3", "E5")]
    {
        let finding = at(&diagnosis, path);
        assert_eq!((finding.kind, finding.release.as_deref(), finding.era), ("library", Some(version), Some(era)));
        assert!(finding.shim.is_none() && finding.retry.is_none());
        let patch = finding.patch.as_ref().unwrap();
        assert_eq!((&patch.state, patch.compared), (&State::Unpatched, true));
        assert!(finding.todo && finding.advice.contains("`npx patch-package@8`"), "{}", finding.advice);
    }
    assert!(at(&diagnosis, &above).advice.contains(&format!("in {}:", machine.at("home").display())));
    assert_eq!(diagnosis.findings.len(), global.len() + project.len() + 4);
}

#[test]
fn the_search_path_is_followed_in_its_order() {
    let mut machine = Machine::new();
    let first = machine.agent("one/lib/node_modules", "0.84.0");
    let library = machine.library("one/lib/node_modules", "0.84.0");
    fs::create_dir_all(machine.at("one/bin")).unwrap();
    symlink(format!("../lib/node_modules/{AGENT}/dist/cli.js"), machine.at("one/bin/pi")).unwrap();
    machine.script("two/pi", "#!/bin/sh\nexec \"$(dirname \"$0\")/../one/bin/pi\" \"$@\"\n");
    machine.script("three/pi", "\u{7f}ELF @earendil-works/pi-coding-agent");
    machine.json("three/package.json", &json!({ "name": AGENT, "version": "1.5.0" }));
    machine.script("four/pi", "#!/bin/sh\necho 3.14\n");
    machine.write("five/pi", "not executable");
    let folders = ["none", "five", "two", "one/bin", "three", "four"].map(|folder| machine.at(folder));
    let path = std::env::join_paths(folders).unwrap().into_string().unwrap();
    machine.variables.insert("PATH".to_owned(), path);

    let diagnosis = machine.diagnose();
    let pi = at(&diagnosis, &first);
    let places = ["pi on the PATH: two/pi", "later on the PATH: one/bin/pi"];
    let places = places.map(|place| place.replace(": ", &format!(": {}", machine.at("").display())));
    assert_eq!(pi.places, places);
    assert_eq!(pi.file, Some(library.join("dist/utils/retry.js")));
    assert!(
        pi.todo && pi.advice.contains("`pi-retry-forced apply`") && pi.advice.contains("pi install"),
        "{}",
        pi.advice
    );

    let binary = at(&diagnosis, &machine.at("three/pi"));
    assert_eq!((binary.kind, binary.release.as_deref(), binary.bundled), ("binary", Some("1.5.0"), true));
    assert!(binary.todo && binary.advice.contains("cannot be patched"), "{}", binary.advice);
    let other = at(&diagnosis, &machine.at("four/pi"));
    // What is not understood is no all-clear: it may start a pi.
    assert_eq!((other.kind, other.todo), ("other", true));
    assert!(other.advice.contains("--pi FOLDER"), "{}", other.advice);
    assert_eq!(diagnosis.findings.len(), 3);
}

#[test]
fn the_shims_of_version_managers_lead_to_the_pi_that_they_start() {
    let plugin = |versions: &[&str]| -> String {
        let plugins: String = versions.iter().map(|version| format!("# asdf-plugin: nodejs {version}\n")).collect();
        format!("#!/usr/bin/env bash\n{plugins}exec /opt/asdf/bin/asdf exec \"pi\" \"$@\"\n")
    };
    let nodenv = "#!/usr/bin/env bash\nset -e\nprogram=\"${0##*/}\"\nexport NODENV_ROOT=\"$HOME/.nodenv\"\nexec \"/opt/nodenv/libexec/nodenv\" exec \"$program\" \"$@\"\n";
    let node = |folder: &str| format!("home/{folder}/lib/node_modules");
    for (modules, script) in [
        (node(".asdf/installs/nodejs/22.19.0"), plugin(&["22.19.0"])),
        (node(".nodenv/versions/22.19.0"), nodenv.to_owned()),
        (node(".local/share/mise/installs/node/22.19.0"), String::new()),
        (node(".local/share/mise/installs/npm-earendil-works-pi-coding-agent/1.6.0"), String::new()),
    ] {
        let machine = Machine::new();
        let pi = machine.agent(&modules, "1.6.0");
        if script.is_empty() {
            machine.script("mise-bin/mise", "\u{7f}ELF");
            symlink(machine.at("mise-bin/mise"), machine.at("path/pi")).unwrap();
        } else {
            machine.script("path/pi", &script);
        }
        let diagnosis = machine.diagnose();
        let places = &at(&diagnosis, &pi).places;
        assert_eq!(places[0], format!("pi on the PATH: {}", machine.at("path/pi").display()), "{modules}");
        assert!(diagnosis.findings.iter().all(|finding| finding.kind != "other"), "{modules}");
    }
    // Which of several is started depends on the folder: that is said, and not guessed.
    let machine = Machine::new();
    machine.agent(&node(".asdf/installs/nodejs/22.19.0"), "1.6.0");
    machine.agent(&node(".asdf/installs/nodejs/24.1.0"), "1.5.2");
    machine.script("path/pi", &plugin(&["22.19.0", "24.1.0"]));
    let diagnosis = machine.diagnose();
    let shim = at(&diagnosis, &machine.at("path/pi"));
    let problem = shim.problem.as_deref().unwrap();
    assert!(shim.todo && problem.contains("asdf starts one of several") && problem.contains("24.1.0"), "{problem}");
    // And where none has pi.
    let machine = Machine::new();
    machine.script("path/pi", nodenv);
    let diagnosis = machine.diagnose();
    let shim = at(&diagnosis, &machine.at("path/pi"));
    assert!(shim.todo && shim.problem.as_deref().unwrap().contains("none of the versions"), "{:?}", shim.problem);
}

#[test]
fn other_places_of_global_packages_are_known() {
    let mut machine = Machine::new();
    let npx = machine.agent("home/.npm/_npx/0123456789abcdef/node_modules", "1.6.0");
    let n = machine.agent("n/lib/node_modules", "1.5.2");
    let prefix = machine.agent("elsewhere/lib/node_modules", "1.3.0");
    machine.write("company.npmrc", &format!("prefix={}\n", machine.at("elsewhere").display()));
    for (name, value) in [("N_PREFIX", "n"), ("NPM_CONFIG_USERCONFIG", "company.npmrc")] {
        machine.variables.insert(name.to_owned(), machine.at(value).display().to_string());
    }
    let diagnosis = machine.diagnose();
    for pi in [npx, n, prefix] {
        assert_eq!(at(&diagnosis, &pi).kind, "command");
    }
}

#[test]
fn scripts_that_name_each_other_end_at_once() {
    let machine = Machine::new();
    let names: Vec<String> =
        (0..12).map(|number| machine.at(&format!("path/w{number}")).display().to_string()).collect();
    let all = format!("#!/bin/sh\n{}\n", names.join(" || "));
    for number in 0..12 {
        machine.script(&format!("path/w{number}"), &all);
    }
    machine.script("path/pi", &all);
    let diagnosis = machine.diagnose();
    assert!(at(&diagnosis, &machine.at("path/pi")).todo);
}

#[test]
fn volta_starts_the_pi_that_it_keeps() {
    let machine = Machine::new();
    let pi = machine.agent(&format!("home/.volta/tools/image/packages/{AGENT}/lib/node_modules"), "1.6.0");
    machine.script("home/.volta/bin/volta-shim", "\u{7f}ELF");
    symlink(machine.at("home/.volta/bin/volta-shim"), machine.at("path/pi")).unwrap();
    assert_eq!(at(&machine.diagnose(), &pi).places[0], format!("pi on the PATH: {}", machine.at("path/pi").display()));
}

#[test]
fn what_patched_a_pi_is_told() {
    let machine = Machine::new();
    let pi = machine.agent("system/lib/node_modules", "0.84.2");
    let library = machine.library("system/lib/node_modules", "0.84.2");
    let target = Pi::open(&pi).unwrap().target().unwrap();
    let look = |cache: Option<&Cache>| {
        let diagnosis = diagnose(&machine.surroundings(), cache);
        let finding = at(&diagnosis, &pi).clone();
        (finding.patch.unwrap(), finding.todo, finding.advice)
    };
    let (patch, todo, advice) = look(None);
    assert_eq!((patch.state, patch.compared, todo), (State::Unpatched, false, true));
    assert!(advice.contains(&format!("pi-retry-forced apply --pi {}`", pi.display())), "{advice}");

    let mut steps = 0;
    let mut stop = |step: &str| {
        steps += usize::from(step.starts_with("replace"));
        if steps == 3 { Err(std::io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    };
    apply(&target, &Options::default(), &mut stop, &mut || {}).unwrap_err();
    let (patch, todo, advice) = look(None);
    assert_eq!((patch.state, todo), (State::Interrupted { patched: 2, of: 11 }, true));
    assert!(advice.contains("apply --pi") && advice.contains("revert --pi"), "{advice}");

    apply(&target, &Options::default(), &mut |_| Ok(()), &mut || {}).unwrap();
    let (patch, todo, advice) = look(None);
    assert_eq!((patch.state, todo), (State::Patched { by: By::Apply }, false));
    assert!(advice.starts_with("nothing: patched"), "{advice}");

    fs::remove_dir_all(library.join(".pi-retry-forced")).unwrap();
    assert_eq!(look(Some(&cache())).0.state, State::Patched { by: By::PatchFile });
    let file = library.join("dist/utils/retry.js");
    fs::write(&file, fs::read_to_string(&file).unwrap() + "\n// mine\n").unwrap();
    assert_eq!(look(Some(&cache())).0.state, State::Patched { by: By::OtherVersion });

    machine.library("system/lib/node_modules", "0.84.2");
    fs::write(&file, fs::read_to_string(&file).unwrap() + "\n// mine\n").unwrap();
    let (patch, todo, advice) = look(Some(&cache()));
    assert_eq!((patch.state, todo), (State::Edited { files: vec!["dist/utils/retry.js".to_owned()] }, true));
    assert!(advice.contains("apply --edited --pi"), "{advice}");

    machine.agent("system/lib/node_modules", "0.79.0");
    let (patch, _, advice) = look(None);
    assert_eq!(patch.state, State::TooOld);
    assert!(advice.contains("pi install") && advice.contains("0.80.3 or newer"), "{advice}");
}

#[test]
fn the_extension_is_found_where_pi_records_it() {
    let machine = Machine::new();
    let user = |settings: Value| machine.json("home/.pi/agent/settings.json", &settings);
    let shims = |expected: &[(bool, bool)]| {
        let shims = machine.settings().shims;
        let found: Vec<_> = shims.iter().map(|shim| (shim.folder.is_some(), shim.enabled)).collect();
        assert_eq!(found, expected, "{shims:#?}");
    };
    shims(&[]);
    user(json!({ "packages": ["npm:other", "../elsewhere", "git:github.com/someone/else@v1"] }));
    shims(&[]);
    // Listed and gone.
    user(json!({ "packages": ["git:github.com/someone/pi-retry-forced@v1", "../../pi-retry-forced/shim"] }));
    shims(&[(false, false), (false, false)]);

    machine.shim("checkout/shim");
    user(json!({ "packages": ["../../../checkout/shim"] }));
    shims(&[(true, true)]);
    assert_eq!(machine.settings().shims[0].version.as_deref(), Some("0.1.0"));
    user(json!({ "packages": [machine.at("checkout/shim")] }));
    shims(&[(true, true)]);
    // As `pi config` switches an extension off, and on again.
    let filtered =
        |filter: Value| user(json!({ "packages": [{ "source": "../../../checkout/shim", "extensions": filter }] }));
    for (filter, enabled) in [
        (json!([]), false),
        (json!(["-src/index.ts"]), false),
        (json!(["!src/**"]), false),
        (json!(["src/*.ts"]), true),
        (json!(["+src/index.ts"]), true),
        (json!(["!**/*.ts", "+src/index.ts"]), true),
    ] {
        filtered(filter);
        shims(&[(true, enabled)]);
    }

    user(json!({ "packages": ["npm:pi-retry-forced@0.1.0"] }));
    shims(&[(false, false)]);
    machine.shim("home/.pi/agent/npm/node_modules/pi-retry-forced");
    shims(&[(true, true)]);
    user(json!({ "packages": ["git:github.com/someone/pi-retry-forced@v1", "https://example.org/pi/tools.git"] }));
    machine.shim("home/.pi/agent/git/github.com/someone/pi-retry-forced");
    shims(&[(true, true)]);
    user(json!({}));
    machine.shim("home/.pi/agent/extensions/retry");
    shims(&[(true, true)]);
    user(json!({ "extensions": ["-extensions/retry/src/index.ts"] }));
    shims(&[(true, false)]);
    fs::remove_dir_all(machine.at("home/.pi/agent/extensions")).unwrap();
    user(json!({ "extensions": [machine.at("checkout/shim/src/index.ts")] }));
    shims(&[(true, true)]);
}

#[test]
fn a_projects_settings_count_where_it_is_trusted() {
    let machine = Machine::new();
    machine.shim("checkout/shim");
    machine.json(
        "home/project/.pi/settings.json",
        &json!({ "packages": ["../../../checkout/shim"], "retry": { "enabled": false } }),
    );
    machine.json("home/.pi/agent/settings.json", &json!({ "retry": { "enabled": true, "maxRetries": 7 } }));
    let settings = machine.settings();
    assert_eq!((settings.retry.enabled, settings.retry.max_retries, settings.untrusted), (false, 7, false));
    assert!(settings.shim_enabled());
    machine.json("home/.pi/agent/trust.json", &json!({ machine.at("home").display().to_string(): false }));
    let settings = machine.settings();
    assert_eq!((settings.retry.enabled, settings.untrusted, settings.shim_enabled()), (true, true, false));
    machine.json(
        "home/.pi/agent/trust.json",
        &json!({ machine.at("home").display().to_string(): false, machine.at("home/project").display().to_string(): true }),
    );
    assert!(machine.settings().shim_enabled());
    fs::remove_file(machine.at("home/.pi/agent/trust.json")).unwrap();
    machine.json("home/.pi/agent/settings.json", &json!({ "defaultProjectTrust": "never" }));
    assert!(!machine.settings().shim_enabled());
}

#[test]
fn broken_settings_are_named_and_no_error() {
    let mut machine = Machine::new();
    machine.variables.insert("PI_CODING_AGENT_DIR".to_owned(), "~/elsewhere".to_owned());
    machine.write("home/elsewhere/settings.json", "{\"retry\":");
    let settings = machine.settings();
    assert_eq!((settings.retry.enabled, settings.problems.len()), (true, 1));
    assert!(settings.problems[0].contains("elsewhere/settings.json is no JSON"), "{:?}", settings.problems);
    for odd in [
        json!([]),
        json!({ "packages": {}, "retry": 3, "extensions": "x" }),
        json!({ "packages": [1, null, { "source": 2 }] }),
    ] {
        machine.json("home/elsewhere/settings.json", &odd);
        assert_eq!((machine.settings().retry.enabled, machine.settings().shims), (true, Vec::new()));
    }
}

#[test]
fn one_line_says_what_to_do() {
    let machine = Machine::new();
    let pi = machine.agent("system/lib/node_modules", "0.84.2");
    machine.library("system/lib/node_modules", "0.84.2");
    machine.shim("checkout/shim");
    let says = |settings: Value, todo: bool, words: &str| {
        machine.json("home/.pi/agent/settings.json", &settings);
        let diagnosis = machine.diagnose();
        let finding = at(&diagnosis, &pi);
        assert_eq!(finding.todo, todo, "{}", finding.advice);
        assert!(finding.advice.contains(words) && !finding.advice.contains('\n'), "{}", finding.advice);
    };
    says(json!({}), true, "pi install ./shim");
    says(json!({ "packages": ["../../../checkout/shim"] }), false, "nothing: the extension is enabled");
    says(
        json!({ "packages": [{ "source": "../../../checkout/shim", "extensions": [] }] }),
        true,
        "enable it with `pi config`",
    );
    let gone = "install it again, or remove the entry";
    says(json!({ "packages": ["npm:pi-retry-forced"] }), true, gone);
    says(json!({ "packages": ["npm:pi-retry-forced", "../../../checkout/shim"] }), true, gone);
    says(json!({ "packages": ["../../../checkout/shim"], "retry": { "enabled": false } }), true, "(retry.enabled in ");
    for number in [json!(0), json!(-1)] {
        let settings = json!({ "packages": ["../../../checkout/shim"], "retry": { "maxRetries": number } });
        says(settings, true, "turn pi's retry on (retry.maxRetries in ");
    }
    let (_, said) = machine.run(&["--json"]);
    assert_eq!(serde_json::from_str::<Value>(&said).unwrap()["settings"]["retry"]["maxRetries"], 0);
    // A patch does not hide that an entry leads nowhere.
    apply(&Pi::open(&pi).unwrap().target().unwrap(), &Options::default(), &mut |_| Ok(()), &mut || {}).unwrap();
    says(json!({}), false, "nothing: patched");
    says(json!({ "packages": ["../../pi-retry-forced/shim"] }), true, gone);
}

#[test]
fn patch_files_for_another_version_are_named() {
    let machine = Machine::new();
    let library = machine.library("home/project/node_modules", "1.6.0");
    let nested = machine.library(&format!("home/project/node_modules/{AGENT}/node_modules"), "0.80.10");
    let agent = machine.agent("home/project/node_modules", "1.5.0");
    let patch = |name: &str| machine.write(&format!("home/project/patches/@earendil-works+{name}.patch"), "");
    // Right ones, and those of other packages.
    for name in ["pi-ai+1.6.0", "pi-ai+1.6.0+001+more", "pi-ai+1.6.0.dev", "pi-ai-extra+1.0.0", "pi-tui+1.0.0"] {
        patch(name);
    }
    patch("pi-coding-agent++@earendil-works+pi-ai+0.80.10");
    let diagnosis = machine.diagnose();
    for path in [&library, &nested, &agent] {
        assert_eq!(at(&diagnosis, path).stale_patches, Vec::<PathBuf>::new());
    }
    let stale = patch("pi-ai+1.5.2");
    let stale_nested = patch("pi-coding-agent++@earendil-works+pi-ai+0.80.7");
    let stale_agent = patch("pi-coding-agent+1.4.0+001+mine");
    let diagnosis = machine.diagnose();
    let project = machine.at("home/project");
    for (path, file, package) in
        [(&library, &stale, ""), (&nested, &stale_nested, ""), (&agent, &stale_agent, " --package pi-coding-agent")]
    {
        let finding = at(&diagnosis, path);
        assert_eq!(finding.stale_patches, std::slice::from_ref(file));
        let expected = format!(
            "delete {}, then in {} run `pi-retry-forced patch{package}` and `npx patch-package@8`",
            file.display(),
            project.display()
        );
        assert_eq!((finding.todo, finding.advice.as_str()), (true, expected.as_str()));
    }
    let (status, said) = machine.run(&[]);
    assert_eq!(status, Some(1));
    assert!(
        said.contains("stale      /home/project/patches/@earendil-works+pi-ai+1.5.2.patch is for another"),
        "{said}"
    );
}

#[test]
fn what_is_called_pi_and_is_none_is_not_denied_below() {
    let machine = Machine::new();
    machine.script("path/pi", "#!/bin/sh\necho 3.14\n");
    let (status, said) = machine.run(&[]);
    assert_eq!(status, Some(1));
    assert!(said.contains("pi on the PATH: /path/pi") && !said.contains("not on the PATH"), "{said}");
    assert!(said.contains("`pi-retry-forced apply --pi FOLDER`") && !said.contains("with --pi"), "{said}");
}

#[test]
fn originals_without_a_record_or_damaged_are_told() {
    let machine = Machine::new();
    let library = machine.library("home/.npm-global/lib/node_modules", "0.84.2");
    let pi = machine.agent("home/.npm-global/lib/node_modules", "0.84.2");
    symlink(pi.join("dist/cli.js"), machine.at("path/pi")).unwrap();
    apply(&Pi::open(&pi).unwrap().target().unwrap(), &Options::default(), &mut |_| Ok(()), &mut || {}).unwrap();
    let (status, said) = machine.run(&[]);
    assert!(status == Some(0) && said.contains("yes, by apply\n"), "{said}");
    let record = library.join(".pi-retry-forced/record.json");
    fs::write(&record, "{").unwrap();
    let (status, said) = machine.run(&[]);
    assert!(status == Some(1) && said.contains("`pi-retry-forced revert`"), "{said}");
    assert!(said.contains("the originals are kept in .pi-retry-forced"), "{said}");
    fs::remove_file(library.join(".pi-retry-forced/originals/dist/utils/retry.js")).unwrap();
    let (status, said) = machine.run(&[]);
    assert!(status == Some(1) && said.contains("originals are kept in ") && said.contains("cp -R"), "{said}");
}

#[test]
fn the_report_for_people_and_for_programs() {
    let machine = Machine::new();
    let pi = machine.agent("home/.npm-global/lib/node_modules", "0.84.2");
    machine.library("home/.npm-global/lib/node_modules", "0.84.2");
    symlink(pi.join("dist/cli.js"), machine.at("path/pi")).unwrap();
    machine.library("home/project/node_modules", "1.6.0");
    machine.json("home/.pi/agent/settings.json", &json!({ "retry": { "maxRetries": 5 } }));
    let (status, said) = machine.run(&[]);
    assert_eq!(status, Some(1));
    insta::with_settings!({ snapshot_path => "../snapshots", prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("doctor", said);
    });
    let (status, said) = machine.run(&["--json"]);
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(status, Some(1));
    assert_eq!(
        said["settings"]["retry"],
        json!({ "enabled": true, "maxRetries": 5, "file": "/home/.pi/agent/settings.json" })
    );
    let first = &said["findings"][0];
    assert_eq!(first["kind"], "command");
    assert_eq!(first["decidedBy"], "@earendil-works/pi-ai@0.84.2");
    assert_eq!(
        first["patch"],
        json!({ "state": { "is": "unpatched" }, "compared": false, "staleRecord": false, "originals": { "are": "none" } })
    );
    assert_eq!(first["shim"], json!({ "installed": false, "enabled": false }));
    assert_eq!(said["findings"].as_array().unwrap().len(), 2);
}
