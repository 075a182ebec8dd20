//! Where package managers keep what is installed for a user or a machine. Nothing is run; an environment variable or a
//! setting that moves such a folder counts.

use std::fs;
use std::path::{Path, PathBuf};

use super::surroundings::Surroundings;

/// The folders of global packages that exist, with who keeps them.
pub(super) fn global(surroundings: &Surroundings) -> Vec<(&'static str, PathBuf)> {
    let mut folders = Vec::new();
    let mut add = |who: &'static str, folder: Option<PathBuf>| {
        if let Some(folder) = folder.filter(|folder| folder.is_dir())
            && !folders.iter().any(|(_, known)| *known == folder)
        {
            folders.push((who, folder));
        }
    };
    for prefix in npm_prefixes(surroundings) {
        add("npm", Some(prefix.join(if cfg!(windows) { "node_modules" } else { "lib/node_modules" })));
    }
    for folder in &surroundings.system_folders {
        let yarn = folder.components().any(|part| part.as_os_str() == "yarn");
        add(if yarn { "yarn" } else { "npm" }, Some(folder.clone()));
    }
    for (who, versions, modules) in [
        ("nvm", version_folder(surroundings, "NVM_DIR", ".nvm", "versions/node"), "lib/node_modules"),
        (
            "fnm",
            version_folder(surroundings, "FNM_DIR", ".local/share/fnm", "node-versions"),
            "installation/lib/node_modules",
        ),
        ("asdf", version_folder(surroundings, "ASDF_DATA_DIR", ".asdf", "installs/nodejs"), "lib/node_modules"),
        (
            "mise",
            version_folder(surroundings, "MISE_DATA_DIR", ".local/share/mise", "installs/node"),
            "lib/node_modules",
        ),
        ("nodenv", version_folder(surroundings, "NODENV_ROOT", ".nodenv", "versions"), "lib/node_modules"),
        (
            "mise",
            version_folder(
                surroundings,
                "MISE_DATA_DIR",
                ".local/share/mise",
                "installs/npm-earendil-works-pi-coding-agent",
            ),
            "lib/node_modules",
        ),
        ("npx", surroundings.at_home(".npm/_npx"), "node_modules"),
        (
            "Volta",
            version_folder(surroundings, "VOLTA_HOME", ".volta", "tools/image/packages/@earendil-works"),
            "lib/node_modules",
        ),
    ] {
        // mise and others link the short forms of a version to the full one.
        for version in subfolders(versions.as_deref()).into_iter().filter(|folder| !folder.is_symlink()) {
            add(who, Some(version.join(modules)));
        }
    }
    for home in pnpm_homes(surroundings) {
        for layout in subfolders(Some(&home.join("global"))) {
            add("pnpm", Some(layout.join("node_modules")));
            for group in subfolders(Some(&layout)) {
                add("pnpm", Some(group.join("node_modules")));
            }
        }
    }
    let local = surroundings.folder_variable("LOCALAPPDATA");
    let config = surroundings.folder_variable("XDG_CONFIG_HOME").or_else(|| surroundings.at_home(".config"));
    add("yarn", config.map(|config| config.join("yarn/global/node_modules")));
    add("yarn", local.map(|local| local.join("Yarn/Data/global/node_modules")));
    let bun = surroundings.folder_variable("BUN_INSTALL").or_else(|| surroundings.at_home(".bun"));
    add("bun", bun.map(|bun| bun.join("install/global/node_modules")));
    folders
}

/// Where npm may put global packages: its setting, then the folder of the node that is used.
fn npm_prefixes(surroundings: &Surroundings) -> Vec<PathBuf> {
    let mut prefixes = Vec::new();
    for name in ["npm_config_prefix", "NPM_CONFIG_PREFIX"] {
        prefixes.extend(surroundings.folder_variable(name));
    }
    // `n` keeps its node, and so npm's packages, there.
    prefixes.extend(surroundings.folder_variable("N_PREFIX"));
    let named = ["npm_config_userconfig", "NPM_CONFIG_USERCONFIG"].map(|name| surroundings.folder_variable(name));
    let user = named.into_iter().flatten().next().or_else(|| surroundings.at_home(".npmrc"));
    prefixes.extend(user.and_then(|file| npmrc_prefix(&file, surroundings)));
    for node in surroundings.executables("node") {
        let node = fs::canonicalize(&node).unwrap_or(node);
        let folder = node.parent().map(Path::to_owned);
        let prefix = if cfg!(windows) { folder } else { folder.and_then(|folder| folder.parent().map(Path::to_owned)) };
        if let Some(prefix) = prefix {
            prefixes.extend(npmrc_prefix(&prefix.join("etc/npmrc"), surroundings));
            prefixes.push(prefix);
        }
    }
    prefixes.extend(surroundings.folder_variable("APPDATA").map(|folder| folder.join("npm")));
    // What npm's own documentation tells people to use instead of sudo.
    prefixes.extend(surroundings.at_home(".npm-global"));
    prefixes.extend(surroundings.at_home(".local"));
    prefixes
}

fn npmrc_prefix(file: &Path, surroundings: &Surroundings) -> Option<PathBuf> {
    let text = fs::read_to_string(file).ok()?;
    let value =
        text.lines().rev().find_map(|line| line.trim().strip_prefix("prefix")?.trim_start().strip_prefix('='))?;
    let value = value.trim().trim_matches('"');
    let home = surroundings.home.as_deref().unwrap_or(Path::new("")).to_string_lossy();
    Some(surroundings.expand(Path::new(&value.replace("${HOME}", &home))))
}

fn pnpm_homes(surroundings: &Surroundings) -> Vec<PathBuf> {
    let data = surroundings.folder_variable("XDG_DATA_HOME").map(|data| data.join("pnpm"));
    let local = surroundings.folder_variable("LOCALAPPDATA").map(|local| local.join("pnpm"));
    let homes = [
        surroundings.folder_variable("PNPM_HOME"),
        data,
        surroundings.at_home(".local/share/pnpm"),
        surroundings.at_home("Library/pnpm"),
        local,
    ];
    let mut homes: Vec<PathBuf> = homes.into_iter().flatten().collect();
    // Newer releases have their executables in a folder `bin`, which PNPM_HOME may name.
    let above = homes.iter().filter(|home| home.ends_with("bin")).filter_map(|home| home.parent().map(Path::to_owned));
    homes.extend(above.collect::<Vec<_>>());
    homes
}

pub(super) fn version_folder(surroundings: &Surroundings, variable: &str, home: &str, below: &str) -> Option<PathBuf> {
    let folder = surroundings.folder_variable(variable).or_else(|| surroundings.at_home(home))?;
    Some(folder.join(below))
}

/// The folders in a folder, sorted.
pub(super) fn subfolders(folder: Option<&Path>) -> Vec<PathBuf> {
    let entries = folder.and_then(|folder| fs::read_dir(folder).ok());
    let mut found: Vec<PathBuf> = entries.into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    found.retain(|path| path.is_dir());
    found.sort();
    found
}
