//! Request ids as relays and providers make them, each a source of random characters that can be walked exactly and drawn from.

use super::random::Random;

const DIGITS: &[u8] = b"0123456789";
const HEX: &[u8] = b"0123456789abcdef";
const LOWER: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
const BASE62: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE64URL: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

/// A stretch of an id.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// Always the same.
    Text(&'static str),
    /// So many characters, each any of these with the same chance.
    Uniform(&'static [u8], usize),
    /// Any natural number below ten to this power with the same chance, written without leading zeros.
    Number(usize),
    /// Any of these with the same chance.
    OneOf(Vec<String>),
}

/// A format of request ids.
#[derive(Clone, Debug)]
pub struct IdFormat {
    /// Short and stable: a row of the report and a key of its JSON.
    pub name: &'static str,
    /// What it looks like, and who makes it.
    pub made_by: &'static str,
    pub(super) parts: Vec<Part>,
}

impl IdFormat {
    /// All formats of the report, in its order.
    pub fn all() -> Vec<Self> {
        let uniform = |alphabet, length| vec![Part::Uniform(alphabet, length)];
        let of = |name, made_by, parts| Self { name, made_by, parts };
        let chain = {
            let one = new_api(0);
            let mut parts = Vec::new();
            for link in 0..4 {
                if link > 0 {
                    parts.push(Part::Text(") (request id: "));
                }
                parts.extend(one.iter().cloned());
            }
            parts
        };
        vec![
            of("32 digits", "decimal digits only; the ids of the first report", uniform(DIGITS, 32)),
            of("32 hex", "a UUID without hyphens, trace ids", uniform(HEX, 32)),
            of("32 base62", "letters of both cases and digits", uniform(BASE62, 32)),
            of("new-api", "local time, nanoseconds without padding, 8 alphanumerics", new_api(0)),
            of("new-api long", "newer: 8 alphanumerics more in between", new_api(8)),
            of("new-api chain of 4", "four relays in a row, each appends its own", chain),
            of("one-api", "local time, nanoseconds without padding, 8 digits", one_api()),
            of("req_ + 24 base62", "Anthropic", vec![Part::Text("req_"), Part::Uniform(BASE62, 24)]),
            of("req_ + 32 hex", "OpenAI", vec![Part::Text("req_"), Part::Uniform(HEX, 32)]),
            of("UUID v4", "gateways, Bedrock", uuid()),
            of("22 base64url", "128 random bits; `-` and `_` are digits of it", uniform(BASE64URL, 22)),
            of(
                "req_NNN_xx",
                "a number between underscores",
                vec![Part::Text("req_"), Part::Uniform(DIGITS, 3), Part::Text("_"), Part::Uniform(HEX, 2)],
            ),
            of("date-NNN-abc", "a number between hyphens", {
                let mut parts = date();
                parts.extend([Part::Text("-"), Part::Uniform(DIGITS, 3), Part::Text("-"), Part::Uniform(LOWER, 3)]);
                parts
            }),
        ]
    }

    /// Writes one id behind what `out` holds.
    pub fn draw(&self, random: &mut Random, out: &mut String) {
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Uniform(alphabet, length) => {
                    for _ in 0..*length {
                        out.push(char::from(alphabet[random.below(alphabet.len())]));
                    }
                }
                Part::Number(digits) => {
                    let end = 10_usize.pow(u32::try_from(*digits).expect("at most 18 digits"));
                    write_number(random.below(end), out);
                }
                Part::OneOf(texts) => out.push_str(&texts[random.below(texts.len())]),
            }
        }
    }
}

fn write_number(mut number: usize, out: &mut String) {
    let mut digits = [0_u8; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend(digits[start..].iter().copied().map(char::from));
}

/// Any day of 2026 as eight digits.
fn date() -> Vec<Part> {
    const DAYS: [usize; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let day = |month: usize| (1..=DAYS[month - 1]).map(move |day| format!("{month:02}{day:02}"));
    vec![Part::Text("2026"), Part::OneOf((1..=12).flat_map(day).collect())]
}

/// Any second of 2026 as fourteen digits, then nanoseconds of that second without padding.
fn time() -> Vec<Part> {
    let below = |end: usize| Part::OneOf((0..end).map(|number| format!("{number:02}")).collect());
    let mut parts = date();
    parts.extend([below(24), below(60), below(60), Part::Number(9)]);
    parts
}

fn new_api(more: usize) -> Vec<Part> {
    let mut parts = time();
    parts.push(Part::Uniform(BASE62, 8 + more));
    parts
}

fn one_api() -> Vec<Part> {
    let mut parts = time();
    parts.push(Part::Uniform(DIGITS, 8));
    parts
}

fn uuid() -> Vec<Part> {
    vec![
        Part::Uniform(HEX, 8),
        Part::Text("-"),
        Part::Uniform(HEX, 4),
        Part::Text("-4"),
        Part::Uniform(HEX, 3),
        Part::Text("-"),
        Part::Uniform(b"89ab", 1),
        Part::Uniform(HEX, 3),
        Part::Text("-"),
        Part::Uniform(HEX, 12),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex::Regex;

    #[test]
    fn ids_look_as_they_should() {
        let shape = |name: &str| match name {
            "32 digits" => "[0-9]{32}",
            "32 hex" => "[0-9a-f]{32}",
            "32 base62" => "[0-9A-Za-z]{32}",
            "new-api" => "2026[0-9]{10}(?:0|[1-9][0-9]{0,8})[0-9A-Za-z]{8}",
            "new-api long" => "2026[0-9]{10}(?:0|[1-9][0-9]{0,8})[0-9A-Za-z]{16}",
            "new-api chain of 4" => r"2026[0-9A-Za-z]{19,27}(?:\) \(request id: 2026[0-9A-Za-z]{19,27}){3}",
            "one-api" => "2026[0-9]{19,27}",
            "req_ + 24 base62" => "req_[0-9A-Za-z]{24}",
            "req_ + 32 hex" => "req_[0-9a-f]{32}",
            "UUID v4" => "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
            "22 base64url" => "[0-9A-Za-z_-]{22}",
            "req_NNN_xx" => "req_[0-9]{3}_[0-9a-f]{2}",
            "date-NNN-abc" => "2026(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])-[0-9]{3}-[a-z]{3}",
            other => panic!("no shape for {other}"),
        };
        for format in IdFormat::all() {
            let shape = Regex::new(&format!("^{}$", shape(format.name))).unwrap();
            let mut random = Random::new(format.name, 0);
            for _ in 0..500 {
                let mut id = String::new();
                format.draw(&mut random, &mut id);
                assert!(shape.is_match(&id), "{}: {id}", format.name);
            }
        }
    }
}
