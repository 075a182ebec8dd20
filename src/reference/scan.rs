//! One pass over a text for thousands of needles.
//!
//! Each needle is filed under four of its bytes; the pass looks up every four bytes of the text and compares whole
//! needles only where those are known. On short texts this is several times faster than an automaton.

/// Needles shorter than this cannot be filed.
pub(crate) const MIN_NEEDLE: usize = 4;

/// Of 2^16 places a few thousand are taken, so that the first look nearly always tells, from 8 KiB of memory.
const SLOTS_LOG2: u32 = 16;
const NONE: u16 = u16::MAX;

/// A set of needles, matched in any ASCII letter case.
pub(crate) struct Scanner {
    /// One bit a slot: whether its chain has entries.
    taken: Box<[u64]>,
    /// For each slot the first entry of its chain.
    heads: Box<[u16]>,
    entries: Vec<Entry>,
}

struct Entry {
    window: u32,
    /// How far into the needle its window is.
    offset: usize,
    needle: Box<[u8]>,
    next: u16,
}

impl Scanner {
    /// Files the needles; a match is reported by the needle's place in this order.
    ///
    /// # Panics
    /// If a needle is shorter than [`MIN_NEEDLE`] or there are 65,535 or more.
    pub(crate) fn new<'a>(needles: impl IntoIterator<Item = &'a str>) -> Self {
        let mut heads = vec![NONE; 1 << SLOTS_LOG2].into_boxed_slice();
        let mut taken = vec![0_u64; 1 << (SLOTS_LOG2 - 6)].into_boxed_slice();
        let mut entries = Vec::new();
        for needle in needles {
            let needle: Box<[u8]> = needle.as_bytes().into();
            let offset = telling_window(&needle);
            let window = window(&needle, offset).expect("needles have at least four bytes");
            let slot = slot(window);
            taken[slot / 64] |= 1 << (slot % 64);
            let head = &mut heads[slot];
            let index =
                u16::try_from(entries.len()).ok().filter(|i| *i != NONE).expect("fewer needles than u16 counts");
            entries.push(Entry { window, offset, needle, next: std::mem::replace(head, index) });
        }
        Self { taken, heads, entries }
    }

    /// Calls `found` for every occurrence of every needle.
    pub(crate) fn scan(&self, text: &[u8], mut found: impl FnMut(usize)) {
        for (at, four) in text.windows(MIN_NEEDLE).enumerate() {
            let window = fold([four[0], four[1], four[2], four[3]]);
            let slot = slot(window);
            if self.taken[slot / 64] & (1 << (slot % 64)) == 0 {
                continue;
            }
            let mut index = self.heads[slot];
            while index != NONE {
                let entry = &self.entries[usize::from(index)];
                if entry.window == window && entry.is_at(text, at) {
                    found(usize::from(index));
                }
                index = entry.next;
            }
        }
    }
}

impl Entry {
    fn is_at(&self, text: &[u8], window_at: usize) -> bool {
        let Some(start) = window_at.checked_sub(self.offset) else { return false };
        text.get(start..start + self.needle.len()).is_some_and(|t| t.eq_ignore_ascii_case(&self.needle))
    }
}

/// Four bytes with letter case folded away; other bytes are folded alike on both sides, which is all that counts here.
fn fold(four: [u8; 4]) -> u32 {
    u32::from_le_bytes(four) | 0x2020_2020
}

fn window(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map(fold)
}

fn slot(window: u32) -> usize {
    (window.wrapping_mul(0x9E37_79B1) >> (32 - SLOTS_LOG2)) as usize
}

/// Words that most error bodies contain: no four bytes of theirs tell anything.
const COMMON: &str = "\"error\" \"message\" \"type\" \"code\" \"param\" request supported upstream unexpected invalid \
                      status code (no body) model response provider failed";

/// Where the needle's rarest four bytes start, going by how common letters are in English.
pub(crate) fn telling_window(needle: &[u8]) -> usize {
    const LETTERS: &[u8] = b" etaoinsrhldcumfpgwybvkxjqz_\"'.:-";
    let weight = |byte: &u8| LETTERS.iter().position(|c| c == byte).unwrap_or(LETTERS.len());
    let rarity = |at: &usize| {
        let window = &needle[*at..*at + MIN_NEEDLE];
        let common = COMMON.as_bytes().windows(MIN_NEEDLE).any(|known| known == window);
        if common { 0 } else { window.iter().map(weight).sum::<usize>() }
    };
    (0..=needle.len() - MIN_NEEDLE).max_by_key(rarity).unwrap_or(0)
}
