//! Times between a failure and the success after it: count, least, median and greatest, in bounded memory.

use std::collections::BTreeMap;

/// Values that are kept as they are; more are counted in steps of a thousandth or less.
const EXACT: usize = 1 << 13;

/// Leading bits of a value that the steps keep.
const BITS: u32 = 11;

/// Collected times, in milliseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gaps {
    exact: Vec<u64>,
    steps: BTreeMap<u64, u64>,
    count: u64,
    min: u64,
    max: u64,
}

/// What is reported of them; absent where no time is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// How many there are.
    pub count: u64,
    /// The shortest, in milliseconds.
    pub min: u64,
    /// The middle one, or the mean of the two in the middle. Exact up to 8,192 values, to a thousandth beyond.
    pub median: u64,
    /// The longest, in milliseconds.
    pub max: u64,
}

fn step(value: u64) -> u64 {
    let spare = (u64::BITS - value.leading_zeros()).saturating_sub(BITS);
    value >> spare << spare
}

impl Gaps {
    pub(crate) fn add(&mut self, value: u64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        if self.steps.is_empty() && self.exact.len() < EXACT {
            self.exact.push(value);
        } else {
            self.coarsen();
            *self.steps.entry(step(value)).or_default() += 1;
        }
    }

    fn coarsen(&mut self) {
        for value in std::mem::take(&mut self.exact) {
            *self.steps.entry(step(value)).or_default() += 1;
        }
    }

    pub(crate) fn merge(&mut self, other: Gaps) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.exact.extend(other.exact);
        for (value, count) in other.steps {
            *self.steps.entry(value).or_default() += count;
        }
        if !self.steps.is_empty() || self.exact.len() > EXACT {
            self.coarsen();
        }
    }

    pub(crate) fn spread(&self) -> Option<Spread> {
        if self.count == 0 {
            return None;
        }
        let (low, high) = (self.nth((self.count - 1) / 2), self.nth(self.count / 2));
        Some(Spread { count: self.count, min: self.min, median: low + (high - low) / 2, max: self.max })
    }

    /// The value at this place in order of size.
    fn nth(&self, place: u64) -> u64 {
        if self.steps.is_empty() {
            let mut sorted = self.exact.clone();
            sorted.sort_unstable();
            return sorted.get(place as usize).copied().unwrap_or(self.max);
        }
        let mut seen = 0;
        for (value, count) in &self.steps {
            seen += count;
            if seen > place {
                return *value;
            }
        }
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn collect(values: &[u64]) -> Gaps {
        let mut gaps = Gaps::default();
        values.iter().for_each(|value| gaps.add(*value));
        gaps
    }

    #[test]
    fn few_values_are_exact() {
        assert_eq!(collect(&[]).spread(), None);
        let odd = collect(&[250_000, 13_000, 41_123]).spread();
        assert_eq!(odd, Some(Spread { count: 3, min: 13_000, median: 41_123, max: 250_000 }));
        let even = collect(&[4, 1, 3, 2]).spread();
        assert_eq!(even, Some(Spread { count: 4, min: 1, median: 2, max: 4 }));
    }

    #[test]
    fn many_values_take_bounded_room() {
        let mut gaps = Gaps::default();
        (0..1_000_000).for_each(|value| gaps.add(value));
        let spread = gaps.spread().expect("there are values");
        assert_eq!((spread.count, spread.min, spread.max), (1_000_000, 0, 999_999));
        assert!(spread.median.abs_diff(500_000) <= 500, "{}", spread.median);
        assert!(gaps.steps.len() < 1 << (BITS + 5), "{}", gaps.steps.len());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn merging_equals_adding(left in prop::collection::vec(0u64..1_000_000, 0..40), right in prop::collection::vec(0u64..1_000_000, 0..40)) {
            let mut merged = collect(&left);
            merged.merge(collect(&right));
            prop_assert_eq!(merged.spread(), collect(&[left, right].concat()).spread());
        }
    }
}
