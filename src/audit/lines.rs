//! Lines of a session file, in bounded memory.
//!
//! A line that fits the read buffer is handed out in place, without a copy. A longer one (a tool result with a base64
//! image can have 100 MB) is shortened while it is read: every JSON string in it is cut after [`STRING_KEPT`] bytes, which
//! leaves its structure, so that it can still be parsed. What is longer than [`LINE_KEPT`] even then is passed over.

use std::io::{self, Read};

/// Size of the read buffer, and the longest line that is held as it is, in bytes.
pub(crate) const BUFFER: usize = 1 << 20;

/// What is kept of each string of a longer line, in bytes.
pub(crate) const STRING_KEPT: usize = 16 << 10;

/// Longest shortened line that is looked at, in bytes.
pub(crate) const LINE_KEPT: usize = 4 << 20;

/// One line, without its line feed.
pub(crate) struct Line<'a> {
    /// The text.
    pub(crate) bytes: &'a [u8],
    /// Whether a line feed ended it; without one it may be half-written.
    pub(crate) ended: bool,
    /// Longer than [`LINE_KEPT`] although shortened: `bytes` is only its beginning and no JSON.
    pub(crate) too_long: bool,
}

/// Reads the lines of `source`.
pub(crate) struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    at_end: bool,
    short: Shortener,
    taken: u64,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(source: R) -> Self {
        Lines::with_buffer(source, vec![0; BUFFER])
    }

    fn with_buffer(source: R, buffer: Vec<u8>) -> Self {
        Lines { source, buffer, start: 0, end: 0, at_end: false, short: Shortener::default(), taken: 0 }
    }

    /// A reader without a buffer, to stand in for one that is in use.
    pub(crate) fn idle(source: R) -> Self {
        Lines::with_buffer(source, Vec::new())
    }

    /// Starts over with another source and the same buffers.
    pub(crate) fn restart(&mut self, source: R) {
        self.source = source;
        (self.start, self.end, self.at_end, self.taken) = (0, 0, false, 0);
    }

    /// Bytes read since this was asked last.
    pub(crate) fn take_progress(&mut self) -> u64 {
        std::mem::take(&mut self.taken)
    }

    /// Bytes that this reader has reserved.
    #[cfg(test)]
    fn capacity(&self) -> usize {
        self.buffer.capacity() + self.short.out.capacity()
    }

    fn fill(&mut self) -> io::Result<()> {
        loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.at_end = true,
                Ok(count) => {
                    self.end += count;
                    self.taken += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }

    /// The next line, or `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = self.start;
        loop {
            if let Some(found) = memchr::memchr(b'\n', &self.buffer[searched..self.end]) {
                let (from, to) = (self.start, searched + found);
                self.start = to + 1;
                return Ok(Some(Line { bytes: &self.buffer[from..to], ended: true, too_long: false }));
            }
            if self.at_end {
                let (from, to) = (self.start, self.end);
                self.start = to;
                let line = Line { bytes: &self.buffer[from..to], ended: false, too_long: false };
                return Ok((from < to).then_some(line));
            }
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.start = 0;
            }
            searched = self.end;
            if self.end == self.buffer.len() {
                return self.next_long().map(Some);
            }
            self.fill()?;
        }
    }

    /// Finishes a line of which the full buffer holds the beginning.
    fn next_long(&mut self) -> io::Result<Line<'_>> {
        self.short.restart();
        let ended = loop {
            let found = memchr::memchr(b'\n', &self.buffer[..self.end]);
            let to = found.unwrap_or(self.end);
            self.short.feed(&self.buffer[..to]);
            if found.is_some() {
                self.start = to + 1;
                break true;
            }
            (self.start, self.end) = (0, 0);
            self.fill()?;
            if self.at_end {
                break false;
            }
        };
        let too_long = self.short.full;
        Ok(Line { bytes: &self.short.out, ended, too_long })
    }
}

/// Copies JSON text and cuts long strings, at any split of the input.
#[derive(Default)]
struct Shortener {
    out: Vec<u8>,
    full: bool,
    in_string: bool,
    /// Bytes kept of the current string.
    kept: usize,
    escape: Escape,
}

/// Where in an escape sequence of a string the input was split.
#[derive(Default, Clone, Copy, PartialEq)]
enum Escape {
    #[default]
    None,
    /// After the backslash.
    Open { keep: bool },
    /// In `\uXXXX`, with so many digits to come.
    Digits { left: u8, keep: bool },
}

impl Shortener {
    fn restart(&mut self) {
        let out = std::mem::take(&mut self.out);
        *self = Shortener { out, ..Shortener::default() };
        self.out.clear();
    }

    fn push(&mut self, bytes: &[u8]) {
        let room = LINE_KEPT - self.out.len();
        self.full |= bytes.len() > room;
        self.out.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.full {
            if !self.in_string {
                let quote = memchr::memchr(b'"', bytes);
                let to = quote.map_or(bytes.len(), |at| at + 1);
                self.push(&bytes[..to]);
                (self.in_string, self.kept, self.escape) = (quote.is_some(), 0, Escape::None);
                bytes = &bytes[to..];
                continue;
            }
            match self.escape {
                Escape::Open { keep } => {
                    if keep {
                        self.push(&[b'\\', bytes[0]]);
                        self.kept += 2;
                    }
                    self.escape = if bytes[0] == b'u' { Escape::Digits { left: 4, keep } } else { Escape::None };
                    bytes = &bytes[1..];
                }
                Escape::Digits { left: 0, .. } => self.escape = Escape::None,
                Escape::Digits { left, keep } => {
                    if keep {
                        self.push(&bytes[..1]);
                        self.kept += 1;
                    }
                    self.escape = Escape::Digits { left: left - 1, keep };
                    bytes = &bytes[1..];
                }
                Escape::None => {
                    let special = memchr::memchr2(b'"', b'\\', bytes);
                    let to = special.unwrap_or(bytes.len());
                    let keep = to.min(STRING_KEPT.saturating_sub(self.kept));
                    self.push(&bytes[..keep]);
                    self.kept += keep;
                    bytes = &bytes[to..];
                    if special.is_some() {
                        if bytes[0] == b'"' {
                            self.push(b"\"");
                            self.in_string = false;
                        } else {
                            self.escape = Escape::Open { keep: self.kept < STRING_KEPT };
                        }
                        bytes = &bytes[1..];
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(source: impl Read) -> Vec<(Vec<u8>, bool, bool)> {
        let mut lines = Lines::new(source);
        let mut found = Vec::new();
        while let Some(line) = lines.next().expect("memory can be read") {
            found.push((line.bytes.to_vec(), line.ended, line.too_long));
        }
        found
    }

    /// Hands out at most `step` bytes a call.
    struct Dripping<'a> {
        bytes: &'a [u8],
        step: usize,
    }

    impl Read for Dripping<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.step.min(buffer.len()).min(self.bytes.len());
            buffer[..count].copy_from_slice(&self.bytes[..count]);
            self.bytes = &self.bytes[count..];
            Ok(count)
        }
    }

    #[test]
    fn lines_end_at_line_feeds_and_at_the_end() {
        let found = all(&b"one\n\ntwo\r\nhalf"[..]);
        let texts: Vec<_> = found.iter().map(|(text, ended, _)| (text.as_slice(), *ended)).collect();
        assert_eq!(texts, [(&b"one"[..], true), (b"", true), (b"two\r", true), (b"half", false)]);
    }

    #[test]
    fn a_line_of_exactly_the_buffer_is_followed_by_the_next() {
        for length in [BUFFER - 1, BUFFER, BUFFER + 1] {
            let mut text = vec![b'['; length];
            text.extend_from_slice(b"\n{}\n");
            let found = all(&text[..]);
            assert_eq!((found[0].0.len(), found[0].1, found[1].0.as_slice()), (length, true, &b"{}"[..]));
        }
    }

    #[test]
    fn a_huge_image_is_cut_and_what_follows_it_stays() {
        let image = "A".repeat(30 << 20);
        let text = format!(r#"{{"a":"{image}","b":"\"kept\" \\","c":[1,{{"d":"x"}}]}}"#) + "\n{\"next\":1}\n";
        let mut lines = Lines::new(text.as_bytes());
        let line = lines.next().expect("readable").expect("a line");
        let value: serde_json::Value = serde_json::from_slice(line.bytes).expect("still JSON");
        assert_eq!(value["a"].as_str().map(str::len), Some(STRING_KEPT));
        assert_eq!(value["b"], "\"kept\" \\");
        assert_eq!(value["c"][1]["d"], "x");
        assert_eq!(lines.next().expect("readable").expect("a line").bytes, b"{\"next\":1}");
        assert!(lines.capacity() <= BUFFER + 2 * LINE_KEPT, "{} bytes are held", lines.capacity());
    }

    #[test]
    fn what_cannot_be_shortened_is_too_long_and_bounded() {
        let text = "[1,".repeat(20 << 20) + "\n{}";
        let mut lines = Lines::new(text.as_bytes());
        let line = lines.next().expect("readable").expect("a line");
        assert!(line.too_long && line.ended && line.bytes.len() <= LINE_KEPT);
        assert_eq!(lines.next().expect("readable").expect("a line").bytes, b"{}");
        assert!(lines.capacity() <= BUFFER + 2 * LINE_KEPT, "{} bytes are held", lines.capacity());
    }

    #[test]
    fn no_escape_sequence_is_cut_in_two() {
        for pad in 0..8 {
            let text = "x".repeat(STRING_KEPT - pad) + r"\u0041\n\\\u00e9" + &"y".repeat(BUFFER);
            let line = format!("[\"{text}\"]");
            let found = all(line.as_bytes());
            let value: Vec<String> = serde_json::from_slice(&found[0].0).expect("still JSON");
            assert!(value[0].len() >= STRING_KEPT - 8, "cut to {}", value[0].len());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn the_split_of_the_input_does_not_matter(text in r#"([a-z\\"\n{}u0-9]{0,40}\n?){0,12}"#, step in 1usize..9) {
            prop_assert_eq!(all(Dripping { bytes: text.as_bytes(), step }), all(text.as_bytes()));
        }

        #[test]
        fn shortening_does_not_depend_on_the_split(text in r#"["\\u0-9a-f,]{0,200}"#, cut in 0usize..200) {
            let (mut whole, mut halves) = (Shortener::default(), Shortener::default());
            whole.feed(text.as_bytes());
            let cut = cut.min(text.len());
            halves.feed(&text.as_bytes()[..cut]);
            halves.feed(&text.as_bytes()[cut..]);
            prop_assert_eq!(whole.out, halves.out);
        }
    }
}
