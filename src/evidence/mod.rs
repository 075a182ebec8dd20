//! Evidence.
mod chance;
pub mod corpus;
mod format;
mod random;
pub mod runs;
mod sample;
pub use chance::*;
pub use format::*;
pub use random::*;
pub use sample::*;
#[cfg(test)]
mod probe {
    use super::corpus::*;
    use crate::*;
    #[test]
    fn probe() {
        for c in all().unwrap() {
            println!("{} {} undecided {}", c.file, c.rows.len(), c.undecided);
            for v in ["0.80.3", "0.87.1", "1.3.0", "1.6.0"] {
                println!("  {v} {:?}", score(&c, Judge::Pi(upstream::PiClassifier::for_version(v).unwrap())));
            }
            for p in Profile::ALL {
                println!("  {p:?} {:?}", score(&c, Judge::Reference(p)));
                for (k, v) in grouped(&disagreements(&c, p)) {
                    println!("     {k:?} {}", v.len());
                    for r in v.iter().take(3) { println!("         {} {}", r.id, r.text().chars().take(150).collect::<String>()); }
                }
            }
        }
    }
}
