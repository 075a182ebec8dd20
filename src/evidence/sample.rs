//! The same question by drawing ids: a check on the automata that shares nothing with them but the patterns.

use std::sync::atomic::{AtomicU64, Ordering};

use super::chance::Around;
use super::format::IdFormat;
use super::random::Random;

/// How many of the drawn ids were answered with yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Ids drawn.
    pub drawn: u64,
    /// Of those, with the answer yes.
    pub yes: u64,
}

/// The standard score of 99.9 %: of a hundred honest intervals all should hold their value.
const Z: f64 = 3.290_526_731_491_926;

impl Sample {
    /// The share of yes.
    pub fn share(&self) -> f64 {
        self.yes as f64 / self.drawn as f64
    }

    /// Wilson's interval around the share, with 99.9 % confidence.
    pub fn interval(&self) -> (f64, f64) {
        let n = self.drawn as f64;
        let (share, square) = (self.share(), Z * Z);
        let middle = (share + square / (2.0 * n)) / (1.0 + square / n);
        let half = Z * (share * (1.0 - share) / n + square / (4.0 * n * n)).sqrt() / (1.0 + square / n);
        // At the ends the two terms cancel up to rounding.
        let low = if self.yes == 0 { 0.0 } else { (middle - half).max(0.0) };
        let high = if self.yes == self.drawn { 1.0 } else { (middle + half).min(1.0) };
        (low, high)
    }

    /// Whether the interval holds a value.
    pub fn holds(&self, value: f64) -> bool {
        let (low, high) = self.interval();
        (low..=high).contains(&value)
    }
}

/// Ids that one worker draws at a time; each such batch has a random stream of its own, so that the result does not depend on
/// the number of processors.
const BATCH: u64 = 1_000;

/// Draws `count` ids of a format, puts each into the text, and asks every judge. `seed` names the streams; `progress` is told
/// how many more were drawn.
pub fn sample<J: Fn(&str) -> bool + Sync>(
    around: &Around,
    format: &IdFormat,
    judges: &[J],
    (count, seed): (u64, u64),
    progress: &(dyn Fn(u64) + Sync),
) -> Vec<Sample> {
    let batches = count.div_ceil(BATCH);
    let next = AtomicU64::new(0);
    let work = || {
        let mut yes = vec![0_u64; judges.len()];
        let mut text = String::new();
        loop {
            let batch = next.fetch_add(1, Ordering::Relaxed);
            if batch >= batches {
                return yes;
            }
            let size = BATCH.min(count - batch * BATCH);
            let mut random = Random::new(format.name, seed.wrapping_add(batch << 16));
            for _ in 0..size {
                text.clear();
                text.push_str(around.before);
                format.draw(&mut random, &mut text);
                text.push_str(around.after);
                for (yes, judge) in yes.iter_mut().zip(judges) {
                    *yes += u64::from(judge(&text));
                }
            }
            progress(size);
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let counts: Vec<Vec<u64>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("a judge does not panic")).collect()
    });
    let total = |judge: usize| counts.iter().map(|yes| yes[judge]).sum();
    (0..judges.len()).map(|judge| Sample { drawn: count, yes: total(judge) }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::chance::RELAY_FAILURE;
    use super::*;

    #[test]
    fn intervals() {
        let none = Sample { drawn: 100_000, yes: 0 };
        assert!(none.holds(0.0) && !none.holds(0.001));
        let half = Sample { drawn: 1000, yes: 500 };
        let (low, high) = half.interval();
        // 1.5 ± z/2√n to a part in a hundred.
        assert!((high - low - Z / 1000_f64.sqrt()).abs() < 0.001 && (low + high - 1.0).abs() < 1e-12);
        assert!(Sample { drawn: 10, yes: 10 }.holds(1.0));
    }

    #[test]
    fn a_sample_counts_every_id_once_and_is_the_same_again() {
        let format = &IdFormat::all()[0];
        let judges = [|text: &str| text.contains("500"), |_: &str| true];
        let judges: Vec<&(dyn Fn(&str) -> bool + Sync)> = vec![&judges[0], &judges[1]];
        let run = || sample(&RELAY_FAILURE, format, &judges, (25_001, 7), &|_| {});
        let found = run();
        assert_eq!(found[1], Sample { drawn: 25_001, yes: 25_001 });
        // 30 places of one in a thousand each.
        assert!(found[0].holds(0.02957), "{found:?}");
        assert_eq!(found, run());
    }
}
