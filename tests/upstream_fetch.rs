//! Fetching a release: what can go wrong with npm, the network, the digest and the cache, and two at once.
#![cfg(unix)] // The stand-ins for npm are shell scripts.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use pi_retry_forced::upstream::{Cache, Name, Package, Release, Step};
use tempfile::TempDir;

fn release() -> &'static Release {
    Release::find(Name::PiAi, "1.6.0").expect("a known release")
}

/// A cache in a new folder, with a shell script in place of npm.
fn cache_with_npm(script: &str) -> (TempDir, Cache) {
    let folder = TempDir::new().expect("a temporary folder");
    let npm = folder.path().join("npm");
    fs::write(&npm, format!("#!/bin/sh\n{script}\n")).expect("the script is written");
    fs::set_permissions(&npm, fs::Permissions::from_mode(0o755)).expect("the script is made executable");
    let cache = Cache::at(folder.path().join("cache")).with_npm(npm);
    (folder, cache)
}

/// The message of a failing fetch, with the temporary folder's name taken out; nothing may be left behind.
fn refusal(script: &str) -> String {
    let (folder, cache) = cache_with_npm(script);
    let error = cache.package(release(), &mut |_| {}).expect_err(script);
    assert_eq!(entries(&folder.path().join("cache")), Vec::<PathBuf>::new(), "{script}");
    error.to_string().replace(&folder.path().display().to_string(), "DIR")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

#[test]
fn npm_that_fails_is_quoted_where_it_says_most() {
    let no_network = refusal(
        "echo 'npm error code ENOTFOUND
npm error syscall getaddrinfo
npm error errno ENOTFOUND
npm error network request to https://registry.invalid/pi-ai failed, reason: getaddrinfo ENOTFOUND registry.invalid
npm error network In most cases you are behind a proxy or have bad network settings.
npm error A complete log of this run can be found in: /root/.npm/_logs/x.log' >&2; exit 1",
    );
    insta::assert_snapshot!(no_network, @"no network to fetch @earendil-works/pi-ai@1.6.0 over (network request to https://registry.invalid/pi-ai failed, reason: getaddrinfo ENOTFOUND registry.invalid); check the connection and npm's proxy and registry settings, or name an unpacked package with --from");
    let refused = refusal("printf 'npm ERR! code ECONNREFUSED\\nnpm ERR! FetchError: request failed\\n' >&2; exit 1");
    assert!(refused.starts_with("no network") && refused.contains("(FetchError: request failed)"), "{refused}");
    let unknown = refusal("printf 'npm error code E404\\nnpm error 404 Not Found - GET it\\n' >&2; exit 1");
    insta::assert_snapshot!(unknown, @"the registry that npm is set up for does not have @earendil-works/pi-ai@1.6.0 (404 Not Found - GET it); check `npm config get registry`, or name an unpacked package with --from");
    let other = refusal("printf 'npm error code EWHATEVER\\nnpm error something broke\\n' >&2; exit 7");
    insta::assert_snapshot!(other, @"npm could not fetch @earendil-works/pi-ai@1.6.0: something broke; `npm pack @earendil-works/pi-ai@1.6.0` shows all it has to say");
    let crash = refusal("echo 'node: cannot start' >&2; exit 1");
    assert!(crash.contains(": node: cannot start;"), "{crash}");
    let silent = refusal("exit 1");
    assert!(silent.contains(": it said nothing;"), "{silent}");
    let full = refusal("printf 'npm error code ENOSPC\\nnpm error nospc no space left\\n' >&2; exit 1");
    assert!(full.starts_with("no space left for the cache folder DIR/cache"), "{full}");
}

#[test]
fn npm_that_is_missing_or_brings_nothing() {
    let folder = TempDir::new().unwrap();
    let missing = Cache::at(folder.path().join("cache")).with_npm("npm-that-does-not-exist");
    let missing = missing.package(release(), &mut |_| {}).unwrap_err();
    insta::assert_snapshot!(missing, @"cannot run npm-that-does-not-exist; install Node.js with npm, or name an unpacked package with --from");
    insta::assert_snapshot!(refusal("exit 0"), @"npm reported success for @earendil-works/pi-ai@1.6.0 but left no tarball; try `npm pack @earendil-works/pi-ai@1.6.0` by hand and name the unpacked folder with --from");
}

#[test]
fn another_tarball_than_the_published_one_is_not_used() {
    let script =
        "while [ $# -gt 1 ]; do [ \"$1\" = --pack-destination ] && echo junk > \"$2/pi-ai.tgz\"; shift; done; exit 0";
    insta::assert_snapshot!(refusal(script), @"@earendil-works/pi-ai@1.6.0 is not what was published: expected sha512-9hL+eygFDEiFp//cydeUfmFsKmEqpmvsNPb10Y1W8+m5K9O+sx1hMStfu6nukrBD5sl6mP4RykCYBBNEgsVLfw==, got sha512-hIbkthxXyHMgNqEaB64mfB4mroT5p9rCcBraPeWTC6lPDPRbzoRluk5/09YWc95Rdiy5YpYEIUgYYkqZMXFuWw==; nothing of it was used. Check which registry npm is set up for, and run `npm cache clean --force` before another try");
}

#[test]
fn a_cache_that_cannot_be_written_is_named() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "in the way").unwrap();
    for cache in [file.clone(), file.join("below")] {
        let error = Cache::at(&cache).package(release(), &mut |_| {}).unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot write to the cache folder {}", cache.display())), "{error}");
        assert!(error.contains("set PI_RETRY_FORCED_CACHE"), "{error}");
    }
}

#[test]
fn two_at_once_get_the_same_whole_package_and_the_third_needs_no_npm() {
    let folder = TempDir::new().unwrap();
    // The remains of a fetch that was killed, and of a package that somebody took apart: neither may be used.
    fs::create_dir_all(folder.path().join(".partial-x/package")).unwrap();
    fs::create_dir_all(folder.path().join("pi-ai-1.6.0/dist")).unwrap();
    let cache = Cache::at(folder.path());
    let fetch = |steps: &mut Vec<Step>| cache.package(release(), &mut |step| steps.push(step)).unwrap();
    let (one, two) = std::thread::scope(|scope| {
        let threads = [(); 2].map(|()| scope.spawn(|| fetch(&mut Vec::new())));
        let [one, two] = threads.map(|thread| thread.join().unwrap());
        (one, two)
    });
    assert_eq!(one, two);
    assert_eq!(one.version(), release().version());
    assert!(one.read("dist/utils/retry.js").unwrap().contains("isRetryableAssistantError"));
    assert!(one.read("dist/index.d.ts").is_ok());

    let mut steps = Vec::new();
    let offline = Cache::at(folder.path()).with_npm("npm-that-does-not-exist");
    let again: Package = offline.package(release(), &mut |step| steps.push(step)).unwrap();
    assert_eq!((again, steps), (one, vec![]));
    let left: Vec<_> = entries(folder.path())
        .into_iter()
        .filter(|path| !path.ends_with(".partial-x") && !path.ends_with(".lock"))
        .collect();
    let mut kept = left;
    kept.sort();
    assert_eq!(kept, ["pi-ai-1.6.0", "pi-ai-1.6.0.sha512"].map(|name| folder.path().join(name)));

    // A line more in a file of it, a file less, a file more, or its digest lost: fetched again, and said.
    let root = folder.path().join("pi-ai-1.6.0");
    let retry = root.join("dist/utils/retry.js");
    let published = fs::read_to_string(&retry).unwrap();
    let damages: [&dyn Fn(); 4] = [
        &|| fs::write(&retry, format!("{published}// mine\n")).unwrap(),
        &|| fs::remove_file(root.join("dist/index.d.ts")).unwrap(),
        &|| fs::write(root.join("dist/more.js"), "").unwrap(),
        &|| fs::write(folder.path().join("pi-ai-1.6.0.sha512"), "").unwrap(),
    ];
    for damage in damages {
        damage();
        assert_eq!(cache.cached(release()), None);
        assert!(offline.package(release(), &mut |_| {}).is_err(), "nothing damaged is handed out");
        let mut steps = Vec::new();
        cache.package(release(), &mut |step| steps.push(step)).unwrap();
        assert_eq!(steps[0], Step::Replacing);
        assert_eq!(fs::read_to_string(&retry).unwrap(), published);
        assert!(!root.join("dist/more.js").exists() && root.join("dist/index.d.ts").exists());
    }
}
