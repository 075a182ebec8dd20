//! A small random generator whose numbers are the same on every machine and in every release.

/// SplitMix64: fast, and more than good enough for drawing ids.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A stream of its own for each name and number.
    pub fn new(name: &str, stream: u64) -> Self {
        // FNV-1a: stable, unlike the standard library's hasher.
        let hash = name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
        });
        let mut random = Self(hash ^ stream.wrapping_mul(0xD134_2543_DE82_EF95));
        // Neighbouring seeds part ways.
        random.next();
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`, each with the same chance to within 2⁻³² of it. `end` is at least 1.
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn streams_differ_and_numbers_are_even() {
        let draw = |mut random: Random| (0..8).map(|_| random.below(1000)).collect::<Vec<_>>();
        assert_eq!(draw(Random::new("a", 1)), draw(Random::new("a", 1)));
        assert_ne!(draw(Random::new("a", 1)), draw(Random::new("a", 2)));
        assert_ne!(draw(Random::new("a", 1)), draw(Random::new("b", 1)));
        let mut random = Random::new("even", 0);
        let mut counts = [0_u32; 7];
        (0..70_000).for_each(|_| counts[random.below(7)] += 1);
        assert!(counts.iter().all(|count| (9_600..10_400).contains(count)), "{counts:?}");
    }
}
