//! The generated patches: applied with the tools that users have, run in node, compared with what is wanted.

mod decision;

#[test]
fn quick() {
    for dir in std::env::var("QUICK").unwrap_or_default().split(',').filter(|dir| !dir.is_empty()) {
        let start = std::time::Instant::now();
        let package = pi_retry_forced::patch::Package::open(dir.as_ref()).expect("package");
        let set = pi_retry_forced::patch::make(&package, &decision::patch());
        let time = start.elapsed();
        match set {
            Ok(set) => {
                let patch = set.to_patch();
                println!(
                    "{dir} {time:?} files {} {:?} {:?}",
                    set.files.len(),
                    pi_retry_forced::patch::unified::count(&patch),
                    set.warnings
                );
                std::fs::write(format!("/tmp/pw/out-{}.patch", dir.rsplit('/').next().unwrap()), patch).unwrap();
            }
            Err(error) => println!("{dir} {time:?} ERROR {error}"),
        }
    }
}
