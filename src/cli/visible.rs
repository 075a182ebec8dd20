//! Keeps characters that steer a terminal out of what is written: text of others is printed here.

use std::io::{self, Write};

/// Writes what it is given, but for control characters beyond ASCII and for those that change the direction of text: they
/// are written as JSON escapes them, `\u202e`, which says the same inside of a JSON string and is visible elsewhere.
pub(super) struct Visible<W>(pub(super) W);

/// Whether a character steers; line feeds and the styles of this program are ASCII and pass.
fn steers(letter: char) -> bool {
    matches!(letter, '\u{80}'..='\u{9F}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Whole characters come in one piece from all that writes text; other bytes are no text.
        match std::str::from_utf8(bytes) {
            Ok(text) if !text.is_ascii() && text.contains(steers) => {
                let mut rest = text;
                while let Some(at) = rest.find(steers) {
                    let letter = rest[at..].chars().next().unwrap_or_default();
                    self.0.write_all(&rest.as_bytes()[..at])?;
                    write!(self.0, "\\u{:04x}", u32::from(letter))?;
                    rest = &rest[at + letter.len_utf8()..];
                }
                self.0.write_all(rest.as_bytes())?;
                Ok(bytes.len())
            }
            _ => self.0.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// One line of an error, without what ASCII has to steer a terminal.
pub(super) fn line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_ascii_control() && letter != '\n' { '\u{FFFD}' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_is_written_as_an_escape() {
        let mut out = Visible(Vec::new());
        writeln!(out, "a\u{9b}2J é 超 \u{202e}b").unwrap();
        out.write_all(b"\xff\x80").unwrap();
        assert_eq!(out.0, "a\\u009b2J é 超 \\u202eb\n".bytes().chain(*b"\xff\x80").collect::<Vec<_>>());
        assert_eq!(line("a\x1b[31mb\n"), "a\u{FFFD}[31mb\n");
    }
}
