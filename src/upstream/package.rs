//! Opens the folder of a package, and finds an installed one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::error::{Error, Kind};
use super::releases::{Name, Release, require_supported};
use semver::Version;

/// The folder of one of pi's packages, unpacked or installed. Only its `package.json` has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    root: PathBuf,
    name: Name,
    version: Version,
}

impl Package {
    /// Opens the folder that holds the `package.json` of the package `name`.
    ///
    /// # Errors
    ///
    /// If the folder is no package, or that of another one, or its version is no version.
    pub fn open(root: impl Into<PathBuf>, name: Name) -> Result<Self, Error> {
        let root = root.into();
        let manifest = root.join("package.json");
        let not_a_package = |reason: String| Error::new(Kind::NotAPackage { path: root.clone(), reason });
        let text = fs::read(&manifest).map_err(|error| {
            not_a_package(match error.kind() {
                io::ErrorKind::NotFound if !root.exists() => "there is no such folder".to_owned(),
                io::ErrorKind::NotFound => "it has no package.json".to_owned(),
                io::ErrorKind::NotADirectory => "it is a file".to_owned(),
                _ => format!("its package.json cannot be read ({error})"),
            })
        })?;
        let manifest: Value = serde_json::from_slice(&text)
            .map_err(|error| not_a_package(format!("its package.json is no JSON ({error})")))?;
        let found =
            manifest["name"].as_str().ok_or_else(|| not_a_package("its package.json has no name".to_owned()))?;
        if found != name.as_str() {
            return Err(Error::new(Kind::OtherPackage { path: root, expected: name, found: found.to_owned() }));
        }
        let version = manifest["version"].as_str().unwrap_or_default();
        let version =
            version.parse().map_err(|_| not_a_package(format!("its package.json has the version {version:?}")))?;
        Ok(Package { root, name, version })
    }

    /// The folder that holds `package.json`.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Which package it is.
    pub fn name(&self) -> Name {
        self.name
    }

    /// The version that its `package.json` states.
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// The published release with this name and version; none if this build does not know it.
    pub fn release(&self) -> Option<&'static Release> {
        Release::find(self.name, &self.version.to_string()).ok()
    }

    /// An error with advice, if the package is older than 0.80.3. An unknown newer one passes.
    ///
    /// # Errors
    ///
    /// If the package is older than 0.80.3.
    pub fn require_supported(&self) -> Result<(), Error> {
        require_supported(self.name, &self.version)
    }

    /// Reads one of its text files; `path` is relative, with `/` between its parts.
    ///
    /// # Errors
    ///
    /// If the file is missing, cannot be read, or is no UTF-8.
    pub fn read(&self, path: &str) -> Result<String, Error> {
        let path = self.root.join(path);
        fs::read_to_string(&path).map_err(|error| Error::new(Kind::Unreadable { path, reason: error.to_string() }))
    }
}

/// An installed package and where npm put it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// The package itself.
    pub package: Package,
    /// The folder whose `node_modules` holds it, directly or nested; patch-package runs there.
    pub project: PathBuf,
    /// Whether it lies below the `node_modules` of pi-coding-agent, where only that one sees it.
    pub nested: bool,
}

/// The package that a program in the folder `from` would import, else one nested below pi-coding-agent:
/// the first of [`find_all_installed`].
///
/// # Errors
///
/// If there is none, or what is there is another package or broken.
pub fn find_installed(from: &Path, name: Name) -> Result<Installed, Error> {
    let missing = || Error::new(Kind::NotInstalled { name, from: from.to_owned() });
    find_all_installed(from, name)?.into_iter().next().ok_or_else(missing)
}

/// Every copy of a package in the `node_modules` of the folder `from` and of those above, nearest first; in each
/// the one that everybody sees comes before the one nested below pi-coding-agent.
///
/// # Errors
///
/// If a copy is another package or broken.
pub fn find_all_installed(from: &Path, name: Name) -> Result<Vec<Installed>, Error> {
    let from = std::path::absolute(from).unwrap_or_else(|_| from.to_owned());
    let mut found = Vec::new();
    for project in from.ancestors() {
        let modules = project.join("node_modules");
        let nested = modules.join(Name::PiCodingAgent.as_str()).join("node_modules");
        for (modules, nested) in [(modules, false), (nested, true)] {
            let root = modules.join(name.as_str());
            if root.is_dir() {
                found.push(Installed { package: Package::open(root, name)?, project: project.to_owned(), nested });
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn manifest(name: Name, version: &str) -> String {
        format!(r#"{{"name":"{name}","version":"{version}"}}"#)
    }

    #[test]
    fn a_folder_that_is_no_such_package_is_refused_with_the_reason() {
        let folder = TempDir::new().unwrap();
        let refusal = |root: &Path| {
            let text = Package::open(root, Name::PiAi).unwrap_err().to_string();
            text.replace(&folder.path().display().to_string(), "DIR")
        };
        insta::assert_snapshot!(refusal(&folder.path().join("none")), @"DIR/none is not the folder of an npm package: there is no such folder; name the folder that holds its package.json");
        insta::assert_snapshot!(refusal(folder.path()), @"DIR is not the folder of an npm package: it has no package.json; name the folder that holds its package.json");
        let file = folder.path().join("package.json");
        fs::write(&file, "{").unwrap();
        insta::assert_snapshot!(refusal(folder.path()), @"DIR is not the folder of an npm package: its package.json is no JSON (EOF while parsing an object at line 1 column 1); name the folder that holds its package.json");
        fs::write(&file, "[1]").unwrap();
        insta::assert_snapshot!(refusal(folder.path()), @"DIR is not the folder of an npm package: its package.json has no name; name the folder that holds its package.json");
        fs::write(&file, r#"{"name":"left-pad","version":"1.0.0"}"#).unwrap();
        insta::assert_snapshot!(refusal(folder.path()), @"DIR holds left-pad, not @earendil-works/pi-ai; name the folder of @earendil-works/pi-ai");
        fs::write(&file, manifest(Name::PiAi, "next")).unwrap();
        insta::assert_snapshot!(refusal(folder.path()), @r#"DIR is not the folder of an npm package: its package.json has the version "next"; name the folder that holds its package.json"#);
        insta::assert_snapshot!(refusal(&file), @"DIR/package.json is not the folder of an npm package: it is a file; name the folder that holds its package.json");
    }

    #[test]
    fn an_opened_package_knows_its_release() {
        let folder = TempDir::new().unwrap();
        let open = |version: &str| {
            write(&folder.path().join("package.json"), &manifest(Name::PiAi, version));
            Package::open(folder.path(), Name::PiAi).unwrap()
        };
        assert_eq!(open("1.6.0").release().unwrap().spec(), "@earendil-works/pi-ai@1.6.0");
        assert!(open("77.0.0").release().is_none() && open("77.0.0").require_supported().is_ok());
        assert!(open("0.80.2").require_supported().unwrap_err().is_too_old());
        let missing = open("1.6.0").read("dist/utils/retry.js").unwrap_err().to_string();
        assert!(missing.contains("retry.js") && missing.contains("reinstall it"), "{missing}");
    }

    #[test]
    fn finds_hoisted_nested_and_higher_copies_in_that_order() {
        let folder = TempDir::new().unwrap();
        let from = folder.path().join("app/src");
        fs::create_dir_all(&from).unwrap();
        let missing = find_installed(&from, Name::PiAi).unwrap_err();
        assert!(missing.is_not_installed(), "{missing}");

        let agent = "node_modules/@earendil-works/pi-coding-agent";
        for (path, name, version) in [
            ("node_modules/@earendil-works/pi-ai".to_owned(), Name::PiAi, "1.4.0"),
            (format!("app/{agent}"), Name::PiCodingAgent, "0.87.1"),
            (format!("app/{agent}/node_modules/@earendil-works/pi-ai"), Name::PiAi, "0.87.1"),
        ] {
            write(&folder.path().join(path).join("package.json"), &manifest(name, version));
        }
        let found = find_all_installed(&from, Name::PiAi).unwrap();
        let seen: Vec<_> =
            found.iter().map(|at| (at.package.version().to_string(), at.nested, at.project.clone())).collect();
        let app = folder.path().join("app");
        assert_eq!(
            seen,
            [("0.87.1".to_owned(), true, app.clone()), ("1.4.0".to_owned(), false, folder.path().to_owned())]
        );
        assert_eq!(find_installed(&from, Name::PiCodingAgent).unwrap().project, app);

        write(&app.join("node_modules/@earendil-works/pi-ai/package.json"), &manifest(Name::PiAi, "1.6.0"));
        assert_eq!(find_installed(&from, Name::PiAi).unwrap().package.version(), &Version::new(1, 6, 0));
    }
}
