//! The shims of version managers: one small program under the name of every command, which starts the one of the version
//! that is chosen for the current folder.
//!
//! Nothing is run, and a choice that depends on the folder is not guessed: where one version alone has pi it is that one,
//! else the versions are named.

use std::path::{Path, PathBuf};

use super::executable::Program;
use super::folders::{subfolders, version_folder};
use super::pi::Pi;
use super::surroundings::Surroundings;
use crate::upstream::Name;

/// A manager whose shim was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manager {
    Asdf,
    Mise,
    Nodenv,
    Volta,
}

impl Manager {
    /// By the program that a link leads to: some managers are one program under the names of all commands.
    pub(super) fn of_link(target: &Path) -> Option<Self> {
        match target.file_stem()?.to_str()? {
            "volta-shim" => Some(Self::Volta),
            "mise" => Some(Self::Mise),
            "asdf" => Some(Self::Asdf),
            _ => None,
        }
    }

    /// By what a script hands over to.
    pub(super) fn of_script(script: &str) -> Option<Self> {
        let runs = |line: &str, manager: &str| {
            let line = line.trim_start();
            !line.starts_with("//")
                && line.split_whitespace().zip(line.split_whitespace().skip(1)).any(|(program, command)| {
                    let program = program.trim_matches(['"', '\'']);
                    program.rsplit('/').next() == Some(manager) && ["exec", "x"].contains(&command)
                })
        };
        let by = |manager: &str| script.lines().any(|line| runs(line, manager));
        match () {
            () if by("asdf") || script.contains("# asdf-plugin: ") => Some(Self::Asdf),
            () if by("mise") => Some(Self::Mise),
            () if by("nodenv") => Some(Self::Nodenv),
            () => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Asdf => "asdf",
            Self::Mise => "mise",
            Self::Nodenv => "nodenv",
            Self::Volta => "Volta",
        }
    }

    /// The folders that may hold pi's package, one for each version that the manager keeps.
    fn folders(self, script: Option<&str>, surroundings: &Surroundings) -> Vec<PathBuf> {
        let modules = |versions: Option<PathBuf>| {
            let versions = subfolders(versions.as_deref()).into_iter().filter(|folder| !folder.is_symlink());
            versions
                .map(|folder| folder.join("lib/node_modules").join(Name::PiCodingAgent.as_str()))
                .collect::<Vec<_>>()
        };
        match self {
            Self::Asdf => {
                let named: Vec<&str> = script
                    .into_iter()
                    .flat_map(str::lines)
                    .filter_map(|line| line.strip_prefix("# asdf-plugin: nodejs ").map(str::trim))
                    .collect();
                let all = modules(version_folder(surroundings, "ASDF_DATA_DIR", ".asdf", "installs/nodejs"));
                let is_named = |folder: &PathBuf| {
                    let version = folder.ancestors().nth(4).and_then(Path::file_name);
                    named.iter().any(|named| version.is_some_and(|version| version == *named))
                };
                if named.is_empty() { all } else { all.into_iter().filter(is_named).collect() }
            }
            Self::Mise => {
                let installs = |below: &str| version_folder(surroundings, "MISE_DATA_DIR", ".local/share/mise", below);
                let mut all = modules(installs("installs/node"));
                // Its own way to install a command of npm.
                all.extend(modules(installs("installs/npm-earendil-works-pi-coding-agent")));
                all
            }
            Self::Nodenv => modules(version_folder(surroundings, "NODENV_ROOT", ".nodenv", "versions")),
            Self::Volta => {
                let home = version_folder(surroundings, "VOLTA_HOME", ".volta", "tools/image/packages");
                let package = home.map(|home| home.join(Name::PiCodingAgent.as_str()));
                package.map(|it| it.join("lib/node_modules").join(Name::PiCodingAgent.as_str())).into_iter().collect()
            }
        }
    }

    /// The pi that its shim starts.
    pub(super) fn start(self, path: &Path, script: Option<&str>, surroundings: &Surroundings) -> Program {
        let mut found: Vec<Pi> =
            self.folders(script, surroundings).iter().filter_map(|folder| Pi::open(folder).ok()).collect();
        let reason = match found.len() {
            1 => return Program::Pi(found.remove(0)),
            0 => {
                format!("{} starts it, and none of the versions that it keeps has {}", self.name(), Name::PiCodingAgent)
            }
            _ => {
                let roots: Vec<_> = found.iter().map(|pi| pi.root.display().to_string()).collect();
                format!("{} starts one of several, by the folder that you are in: {}", self.name(), roots.join(", "))
            }
        };
        Program::Other { path: path.to_owned(), reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_told_apart() {
        let asdf =
            "#!/usr/bin/env bash\n# asdf-plugin: nodejs 22.19.0\nexec /home/x/.asdf/bin/asdf exec \"pi\" \"$@\"\n";
        let nodenv =
            "#!/usr/bin/env bash\nprogram=\"${0##*/}\"\nexec \"/opt/nodenv/libexec/nodenv\" exec \"$program\" \"$@\"\n";
        assert_eq!(Manager::of_script(asdf), Some(Manager::Asdf));
        assert_eq!(Manager::of_script(nodenv), Some(Manager::Nodenv));
        assert_eq!(Manager::of_script("#!/bin/sh\nexec mise x node@22 -- pi \"$@\"\n"), Some(Manager::Mise));
        for other in
            ["#!/bin/sh\nexec node /opt/asdf/exec.js\n", "#!/bin/sh\n# nodenv is not used\nexec /opt/pi \"$@\"\n"]
        {
            assert_eq!(Manager::of_script(other), None, "{other}");
        }
    }
}
