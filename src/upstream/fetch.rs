//! Fetches a release with the user's own npm, checks its digest, and keeps it unpacked in a cache.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use etcetera::BaseStrategy as _;
use flate2::read::GzDecoder;
use sha2::{Digest as _, Sha512};
use tempfile::TempDir;

use super::error::{Error, Kind};
use super::package::Package;
use super::releases::Release;

/// The environment variable that names the cache folder.
const CACHE_VARIABLE: &str = "PI_RETRY_FORCED_CACHE";

const NPM: &str = if cfg!(windows) { "npm.cmd" } else { "npm" };

/// What [`Cache::package`] is about to do; it may take seconds. Nothing is reported for what is already there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// npm downloads the tarball.
    Downloading,
    /// The tarball's digest is computed and compared.
    Checking,
    /// The tarball is unpacked.
    Unpacking,
    /// What the cache holds is not what was put there, and is fetched again.
    Replacing,
}

/// A folder of fetched releases, one subfolder each. Several processes may use it at once: a release appears in it
/// whole, by a rename, or not at all. Whoever wants to change a package copies it first; a package that was changed in place, or
/// damaged, is found out at its next use by the digest of all its files, which is kept beside it, and fetched again.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    npm: OsString,
}

impl Cache {
    /// The user's cache: the folder that `PI_RETRY_FORCED_CACHE` names, else one in the place where the platform
    /// keeps caches.
    ///
    /// # Errors
    ///
    /// If the variable is not set and the platform names no home folder.
    pub fn user() -> Result<Self, Error> {
        if let Some(folder) = env::var_os(CACHE_VARIABLE).filter(|value| !value.is_empty()) {
            return Ok(Cache::at(PathBuf::from(folder)));
        }
        let strategy =
            etcetera::base_strategy::choose_native_strategy().map_err(|_| Error::new(Kind::NoCacheFolder))?;
        Ok(Cache::at(strategy.cache_dir().join("pi-retry-forced")))
    }

    /// A cache in this folder, which is made when first needed.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Cache { folder: folder.into(), npm: NPM.into() }
    }

    /// Runs this program instead of the `npm` on the search path.
    #[must_use]
    pub fn with_npm(self, program: impl Into<OsString>) -> Self {
        Cache { npm: program.into(), ..self }
    }

    /// The unpacked package of a release, fetched now if it is not there yet.
    ///
    /// # Errors
    ///
    /// If npm is missing or fails, if what it brings is not what was published, or if the cache cannot be written.
    pub fn package(&self, release: &Release, progress: &mut dyn FnMut(Step)) -> Result<Package, Error> {
        let target = self.target(release);
        if let Ok(package) = self.open(&target, release) {
            return Ok(package);
        }
        if sum_file(&target).is_file() && target.is_dir() {
            progress(Step::Replacing);
        }
        fs::create_dir_all(&self.folder).map_err(|error| self.not_writable(&error))?;
        self.tidy();
        let partial = tempfile::Builder::new().prefix(".partial-").tempdir_in(&self.folder);
        let partial = partial.map_err(|error| self.not_writable(&error))?;

        progress(Step::Downloading);
        let tarball = self.download(release, &partial)?;
        progress(Step::Checking);
        self.check(release, &tarball)?;
        progress(Step::Unpacking);
        let unpacked = partial.path().join("package");
        self.unpack(release, &tarball, &unpacked)?;
        Package::open(&unpacked, release.name())?;
        let sum = sum_of(&unpacked).map_err(|error| self.not_writable(&error))?;
        let summed = partial.path().join("sum");
        fs::write(&summed, &sum).map_err(|error| self.not_writable(&error))?;

        // One process at a time from here on; the lock ends with the process at the latest. Where the file system
        // knows no locks, the renames alone still keep a package whole.
        let lock = File::create(self.folder.join(".lock")).map_err(|error| self.not_writable(&error))?;
        let _ = lock.lock();
        if let Ok(package) = self.open(&target, release) {
            return Ok(package); // Another process was faster; its copy passed the same check.
        }
        if target.exists() {
            // The remains of a package; they go with the temporary folder.
            fs::rename(&target, partial.path().join("remains")).map_err(|error| self.not_writable(&error))?;
        }
        // Without its digest a package counts for nothing, so a run that ends in between does no harm.
        let _ = fs::remove_file(sum_file(&target));
        fs::rename(&unpacked, &target).map_err(|error| self.not_writable(&error))?;
        fs::rename(&summed, sum_file(&target)).map_err(|error| self.not_writable(&error))?;
        self.open(&target, release)
    }

    /// The unpacked package of a release, if it is in the cache already. Nothing is fetched or written.
    pub fn cached(&self, release: &Release) -> Option<Package> {
        self.open(&self.target(release), release).ok()
    }

    fn target(&self, release: &Release) -> PathBuf {
        self.folder.join(format!("{}-{}", release.name().short(), release.version()))
    }

    /// Removes what runs left that were killed while they fetched. A fetch that takes an hour is none.
    fn tidy(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let age =
                entry.metadata().and_then(|metadata| metadata.modified()).ok().and_then(|time| time.elapsed().ok());
            let left = entry.file_name().to_string_lossy().starts_with(".partial-");
            if left && age.is_some_and(|age| age.as_secs() > 3600) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    fn open(&self, target: &Path, release: &Release) -> Result<Package, Error> {
        let package = Package::open(target, release.name())?;
        let refuse = |reason: String| Err(Error::new(Kind::NotAPackage { path: target.to_owned(), reason }));
        if package.version() != release.version() {
            return refuse(format!("its package.json has the version {}", package.version()));
        }
        let kept = fs::read_to_string(sum_file(target)).ok();
        if kept.is_some() && kept == sum_of(target).ok() {
            return Ok(package);
        }
        refuse("its files are not those that were put there".to_owned())
    }

    /// Has npm write the tarball into a folder. npm runs where the user is, so that all its configuration counts.
    fn download(&self, release: &Release, into: &TempDir) -> Result<PathBuf, Error> {
        let spec = release.spec();
        let output = Command::new(&self.npm)
            .args(["pack", &spec, "--ignore-scripts", "--loglevel=error", "--no-update-notifier"])
            // Two retries, as is npm's default, but not a minute of waiting where there is no network.
            .args(["--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"])
            .arg("--pack-destination")
            .arg(into.path())
            .stdin(Stdio::null())
            .output()
            .map_err(|_| Error::new(Kind::NpmMissing { program: self.npm.to_string_lossy().into_owned() }))?;
        if !output.status.success() {
            return Err(npm_failure(&self.folder, spec, &String::from_utf8_lossy(&output.stderr)));
        }
        let entries = fs::read_dir(into.path()).map_err(|error| self.not_writable(&error))?;
        let mut tarballs =
            entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|end| end == "tgz"));
        tarballs.next().ok_or_else(|| Error::new(Kind::NpmGaveNothing { spec }))
    }

    fn check(&self, release: &Release, tarball: &Path) -> Result<(), Error> {
        let mut hasher = Sha512::new();
        let mut file = File::open(tarball).map_err(|error| self.not_writable(&error))?;
        let mut buffer = vec![0; 1 << 16];
        loop {
            match file.read(&mut buffer).map_err(|error| self.not_writable(&error))? {
                0 => break,
                read => hasher.update(&buffer[..read]),
            }
        }
        let found = format!("sha512-{}", STANDARD.encode(hasher.finalize()));
        if found == release.integrity() {
            return Ok(());
        }
        Err(Error::new(Kind::Integrity { spec: release.spec(), expected: release.integrity().to_owned(), found }))
    }

    /// Unpacks the files of a tarball, without its outermost folder. Only plain files inside the target are written.
    fn unpack(&self, release: &Release, tarball: &Path, target: &Path) -> Result<(), Error> {
        let bad = |reason: String| Error::new(Kind::BadArchive { spec: release.spec(), reason });
        let broken = |error: io::Error| bad(error.to_string());
        let file = File::open(tarball).map_err(|error| self.not_writable(&error))?;
        let mut archive = tar::Archive::new(GzDecoder::new(file));
        for entry in archive.entries().map_err(broken)? {
            let mut entry = entry.map_err(broken)?;
            let path = entry.path().map_err(broken)?.into_owned();
            let kind = entry.header().entry_type();
            if kind.is_dir() || kind.is_pax_global_extensions() {
                continue;
            }
            let mut parts = path.components();
            let outermost = parts.next();
            let inside: PathBuf = parts.collect();
            let normal = |part: Component<'_>| matches!(part, Component::Normal(_));
            if !kind.is_file() || !outermost.is_some_and(normal) || !inside.components().all(normal) {
                return Err(bad(format!("it holds {}, which is no plain file inside the package", path.display())));
            }
            let place = target.join(inside);
            let mut write = || {
                place.parent().map_or(Ok(()), fs::create_dir_all)?;
                // `create_new` also refuses an archive that names one file twice.
                io::copy(&mut entry, &mut File::create_new(&place)?)
            };
            write().map_err(|error: io::Error| match error.kind() {
                io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof => {
                    broken(error)
                }
                _ => self.not_writable(&error),
            })?;
        }
        Ok(())
    }

    fn not_writable(&self, error: &io::Error) -> Error {
        let path = self.folder.clone();
        Error::new(match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Kind::CacheFull { path },
            _ => Kind::CacheNotWritable { path, reason: error.to_string() },
        })
    }
}

/// Where the digest of a cached package's files is kept.
fn sum_file(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(".sha512");
    PathBuf::from(name)
}

/// A digest over the paths and contents of all files below a folder.
fn sum_of(folder: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(at) = pending.pop() {
        for entry in fs::read_dir(at)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() { &mut pending } else { &mut files }.push(entry.path());
        }
    }
    files.sort();
    let mut hasher = Sha512::new();
    for file in files {
        let path = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        let content = fs::read(&file)?;
        hasher.update(format!("{} {}\n{path}\n", path.len(), content.len()));
        hasher.update(content);
    }
    Ok(STANDARD.encode(hasher.finalize()))
}

/// The kind of failure behind what npm wrote, and the line of it that says most.
fn npm_failure(folder: &Path, spec: String, stderr: &str) -> Error {
    let said =
        |line: &str| line.strip_prefix("npm error ").or_else(|| line.strip_prefix("npm ERR! ")).map(str::to_owned);
    let lines: Vec<String> = stderr.lines().filter_map(said).collect();
    let code = lines.iter().find_map(|line| line.strip_prefix("code ")).unwrap_or_default().to_owned();
    let telling = |line: &&String| {
        let first = line.split(' ').next().unwrap_or_default();
        !["code", "syscall", "errno", "path"].contains(&first)
            && !line.starts_with("A complete log")
            && !line.trim().is_empty()
    };
    let reason = lines.iter().find(telling).map(|line| line.trim().to_owned());
    let last = || stderr.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it said nothing").to_owned();
    let line = reason.unwrap_or_else(last);
    Error::new(match code.as_str() {
        "ENOTFOUND" | "EAI_AGAIN" | "ECONNREFUSED" | "ECONNRESET" | "ETIMEDOUT" | "ENETUNREACH" | "EHOSTUNREACH"
        | "ERR_SOCKET_TIMEOUT" | "ENOTCACHED" => Kind::NoNetwork { spec, line },
        "E404" | "ETARGET" => Kind::NotInRegistry { spec, line },
        "ENOSPC" | "EDQUOT" => Kind::CacheFull { path: folder.to_owned() },
        _ => Kind::NpmFailed { spec, line },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::Name;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use tar::{Builder, EntryType, Header};

    /// A tarball with one entry of any name, which `tar`'s own builder would refuse to write.
    fn tarball(folder: &Path, entries: &[(&str, EntryType)]) -> PathBuf {
        let path = folder.join("some.tgz");
        let mut builder = Builder::new(GzEncoder::new(File::create(&path).unwrap(), Compression::fast()));
        for (name, kind) in entries {
            let mut header = Header::new_gnu();
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_entry_type(*kind);
            header.set_size(if kind.is_file() { 4 } else { 0 });
            if !kind.is_file() && !kind.is_dir() {
                header.set_link_name("/tmp").unwrap();
            }
            header.set_cksum();
            builder.append(&header, &b"text"[..if kind.is_file() { 4 } else { 0 }]).unwrap();
        }
        builder.into_inner().unwrap().finish().unwrap();
        path
    }

    fn unpack(entries: &[(&str, EntryType)]) -> (Result<(), String>, Vec<PathBuf>) {
        let folder = TempDir::new().unwrap();
        let target = folder.path().join("cache/package");
        let tarball = tarball(folder.path(), entries);
        let cache = Cache::at(folder.path().join("cache"));
        let result = cache.unpack(Release::newest(Name::PiAi), &tarball, &target).map_err(|error| error.to_string());
        let mut files = Vec::new();
        let mut pending = vec![folder.path().to_owned()];
        while let Some(at) = pending.pop() {
            for entry in fs::read_dir(at).unwrap().flatten().map(|entry| entry.path()) {
                if entry.is_dir() { &mut pending } else { &mut files }.push(entry);
            }
        }
        files.retain(|file| *file != tarball);
        let files = files.iter().map(|file| file.strip_prefix(folder.path()).unwrap().to_owned()).collect();
        (result, files)
    }

    #[test]
    fn unpacks_files_without_their_outermost_folder() {
        let (result, files) = unpack(&[("package", EntryType::Directory), ("package/dist/a.js", EntryType::Regular)]);
        assert_eq!((result, files), (Ok(()), vec![PathBuf::from("cache/package/dist/a.js")]));
    }

    #[test]
    fn an_archive_that_reaches_outside_is_refused() {
        for (name, kind) in [
            ("package/../../evil", EntryType::Regular),
            ("../evil", EntryType::Regular),
            ("/evil/evil", EntryType::Regular),
            ("package/link", EntryType::Symlink),
            ("package/link", EntryType::Link),
            ("package/device", EntryType::Char),
        ] {
            let (result, files) = unpack(&[(name, kind)]);
            let refusal = result.expect_err(name);
            assert!(refusal.contains("no plain file inside the package"), "{name}: {refusal}");
            assert_eq!(files, Vec::<PathBuf>::new(), "{name}");
        }
        assert!(unpack(&[("package/a", EntryType::Regular), ("package/a", EntryType::Regular)]).0.is_err());
    }

    #[test]
    fn a_truncated_archive_is_refused() {
        let folder = TempDir::new().unwrap();
        let path = tarball(folder.path(), &[("package/a", EntryType::Regular)]);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        let cache = Cache::at(folder.path());
        let refusal = cache.unpack(Release::newest(Name::PiAi), &path, &folder.path().join("package")).unwrap_err();
        assert!(refusal.to_string().contains("cannot be unpacked"), "{refusal}");
    }

    #[test]
    fn a_full_disk_is_named_as_such() {
        let error = Cache::at("/some/cache").not_writable(&io::ErrorKind::StorageFull.into());
        insta::assert_snapshot!(error, @"no space left for the cache folder /some/cache; free some, or set PI_RETRY_FORCED_CACHE to a folder elsewhere");
    }
}
