//! Parses the JavaScript pattern syntax that [`jsregex`](super::jsregex) translates; the rest is refused.

/// A pattern without captures and laziness, which do not change whether there is a match.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Start,
    End,
    WordEdge,
    One(Set),
    Sequence(Vec<Node>),
    Either(Vec<Node>),
    Repeat { node: Box<Node>, min: u32, max: Option<u32> },
    Look { behind: bool, negated: bool, set: Set, or_end: bool },
}

/// A set of UTF-16 units: any ASCII ones, and of the others only groups that the syntax can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Set {
    ascii: u128,
    /// White space that is no line end.
    pub(super) spaces: bool,
    /// U+2028 and U+2029.
    pub(super) line_ends: bool,
    /// Everything else outside ASCII, surrogates included.
    pub(super) rest: bool,
}

impl Set {
    const EMPTY: Set = Set { ascii: 0, spaces: false, line_ends: false, rest: false };

    fn of(bytes: impl IntoIterator<Item = u8>) -> Set {
        Set { ascii: bytes.into_iter().fold(0, |set, byte| set | 1 << byte), ..Set::EMPTY }
    }

    fn digits() -> Set {
        Set::of(b'0'..=b'9')
    }

    fn word() -> Set {
        Set::of((b'0'..=b'9').chain(b'A'..=b'Z').chain(b'a'..=b'z').chain([b'_']))
    }

    fn space() -> Set {
        Set { spaces: true, line_ends: true, ..Set::of(*b"\t\n\x0B\x0C\r ") }
    }

    fn dot() -> Set {
        Set { line_ends: true, ..Set::of(*b"\n\r") }.complement()
    }

    pub(super) fn complement(self) -> Set {
        Set { ascii: !self.ascii, spaces: !self.spaces, line_ends: !self.line_ends, rest: !self.rest }
    }

    fn union(self, other: Set) -> Set {
        Set {
            ascii: self.ascii | other.ascii,
            spaces: self.spaces | other.spaces,
            line_ends: self.line_ends | other.line_ends,
            rest: self.rest | other.rest,
        }
    }

    /// With each ASCII letter its other case. No letter outside ASCII folds to one inside, by JavaScript's rule for
    /// patterns without the flag `u`, and the groups outside ASCII are closed under folding as they are.
    fn fold(self) -> Set {
        let letters = |from: u8| ((1u128 << 26) - 1) << from;
        let (upper, lower) = (self.ascii & letters(b'A'), self.ascii & letters(b'a'));
        Set { ascii: self.ascii | upper << 32 | lower >> 32, ..self }
    }

    pub(super) fn is_ascii(self) -> bool {
        !self.spaces && !self.line_ends && !self.rest
    }

    /// The ASCII members as inclusive ranges, in order.
    pub(super) fn ascii_ranges(self) -> impl Iterator<Item = (u8, u8)> {
        let has = move |byte: u8| byte < 128 && self.ascii >> byte & 1 == 1;
        (0..128u8).filter(move |&byte| has(byte) && (byte == 0 || !has(byte - 1))).map(move |from| {
            let to = (from..128).take_while(|&byte| has(byte)).last().unwrap_or(from);
            (from, to)
        })
    }
}

/// Parses a whole pattern.
///
/// # Errors
///
/// A reason, if the pattern is invalid or has no place in [`Node`].
pub(super) fn parse(pattern: &str, ignore_case: bool) -> Result<Node, String> {
    let mut parser = Parser { rest: pattern, ignore_case, depth: 0 };
    let node = parser.either()?;
    if parser.rest.is_empty() { Ok(node) } else { Err("a parenthesis closes nothing".to_owned()) }
}

/// Deeper nesting than any pattern needs; keeps hostile input from using up the stack.
const MAX_DEPTH: u32 = 50;
/// More repetitions than any pattern needs.
const MAX_REPEAT: u32 = 1000;

struct Parser<'a> {
    rest: &'a str,
    ignore_case: bool,
    depth: u32,
}

impl Parser<'_> {
    fn eat(&mut self, prefix: &str) -> bool {
        match self.rest.strip_prefix(prefix) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn next(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    fn either(&mut self) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("groups are nested too deeply".to_owned());
        }
        let mut branches = vec![self.sequence()?];
        while self.eat("|") {
            branches.push(self.sequence()?);
        }
        self.depth -= 1;
        Ok(Node::Either(branches))
    }

    fn sequence(&mut self) -> Result<Node, String> {
        let mut nodes = Vec::new();
        while !self.rest.is_empty() && !self.rest.starts_with(['|', ')']) {
            let node = self.element()?;
            nodes.push(self.repeated(node)?);
        }
        Ok(Node::Sequence(nodes))
    }

    fn element(&mut self) -> Result<Node, String> {
        for (open, behind, negated) in
            [("(?=", false, false), ("(?!", false, true), ("(?<=", true, false), ("(?<!", true, true)]
        {
            if self.eat(open) {
                let inside = self.group_end()?;
                let (set, or_end) = look(&inside, behind)?;
                return Ok(Node::Look { behind, negated, set, or_end });
            }
        }
        if self.eat("(?:") {
            return self.group_end();
        }
        if self.rest.starts_with("(?") {
            return Err("this kind of group is not understood".to_owned());
        }
        if self.eat("(") {
            return self.group_end();
        }
        if counts(self.rest).is_some() {
            return Err("a quantifier repeats nothing".to_owned());
        }
        match self.next() {
            Some('^') => Ok(Node::Start),
            Some('$') => Ok(Node::End),
            Some('.') => Ok(Node::One(Set::dot())),
            Some('[') => self.class().map(Node::One),
            Some('\\') if self.eat("b") => Ok(Node::WordEdge),
            Some('\\') => self.escape().map(|set| Node::One(self.folded(set))),
            Some('*' | '+' | '?') => Err("a quantifier repeats nothing".to_owned()),
            Some(other) => Ok(Node::One(self.folded(Set::of([ascii(other)?])))),
            None => Err("it ends too early".to_owned()),
        }
    }

    fn group_end(&mut self) -> Result<Node, String> {
        let inside = self.either()?;
        if self.eat(")") { Ok(inside) } else { Err("a parenthesis is not closed".to_owned()) }
    }

    fn folded(&self, set: Set) -> Set {
        if self.ignore_case { set.fold() } else { set }
    }

    fn repeated(&mut self, node: Node) -> Result<Node, String> {
        let (min, max) = match self.rest.chars().next() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => match counts(self.rest) {
                Some((min, max, length)) => {
                    if max.is_some_and(|max| max < min) || min.max(max.unwrap_or(0)) > MAX_REPEAT {
                        return Err("a repeat count is out of range".to_owned());
                    }
                    self.rest = &self.rest[length - 1..];
                    (min, max)
                }
                None => return Ok(node),
            },
            _ => return Ok(node),
        };
        if matches!(node, Node::Look { .. } | Node::Start | Node::End | Node::WordEdge) {
            return Err("a quantifier repeats an assertion".to_owned());
        }
        self.next();
        self.eat("?"); // A lazy repeat finds a match in the same texts.
        Ok(Node::Repeat { node: Box::new(node), min, max })
    }

    /// What follows a backslash; the backslash is already read.
    fn escape(&mut self) -> Result<Set, String> {
        let hex = |parser: &mut Self, length: usize| {
            let digits = parser.rest.get(..length).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
            let code =
                digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()).ok_or("an escape is incomplete")?;
            parser.rest = &parser.rest[length..];
            char::from_u32(code).ok_or_else(|| "surrogates are not understood".to_owned()).and_then(ascii)
        };
        let byte = match self.next() {
            Some('d') => return Ok(Set::digits()),
            Some('D') => return Ok(Set::digits().complement()),
            Some('w') => return Ok(Set::word()),
            Some('W') => return Ok(Set::word().complement()),
            Some('s') => return Ok(Set::space()),
            Some('S') => return Ok(Set::space().complement()),
            Some('t') => b'\t',
            Some('n') => b'\n',
            Some('v') => 0x0B,
            Some('f') => 0x0C,
            Some('r') => b'\r',
            Some('x') => hex(self, 2)?,
            Some('u') => hex(self, 4)?,
            Some(other) if !other.is_alphanumeric() => ascii(other)?,
            Some(other) => return Err(format!("the escape \\{other} is not understood")),
            None => return Err("it ends in a backslash".to_owned()),
        };
        Ok(Set::of([byte]))
    }

    /// A class in brackets; the opening one is already read.
    fn class(&mut self) -> Result<Set, String> {
        let negated = self.eat("^");
        let mut set = Set::EMPTY;
        if self.rest.starts_with(']') {
            return Err("a class is empty".to_owned());
        }
        while !self.eat("]") {
            let (from, from_byte) = self.member()?;
            if self.rest.starts_with('-') && !self.rest.starts_with("-]") {
                self.next();
                let (_, to_byte) = self.member()?;
                match (from_byte, to_byte) {
                    (Some(from), Some(to)) if from <= to => set = set.union(Set::of(from..=to)),
                    _ => return Err("a range in a class is not understood".to_owned()),
                }
            } else {
                set = set.union(from);
            }
        }
        let set = self.folded(set);
        Ok(if negated { set.complement() } else { set })
    }

    /// One member of a class, and its byte if it is a single character.
    fn member(&mut self) -> Result<(Set, Option<u8>), String> {
        let set = match self.next() {
            Some('\\') if self.rest.starts_with(['b', 'B']) => {
                return Err("\\b in a class is not understood".to_owned());
            }
            Some('\\') => self.escape()?,
            Some(other) => Set::of([ascii(other)?]),
            None => return Err("a class is not closed".to_owned()),
        };
        let single = set.is_ascii() && set.ascii.count_ones() == 1;
        Ok((set, single.then(|| set.ascii.trailing_zeros() as u8)))
    }
}

/// The unit, and whether the edge of the text will do as well, that a look-around asks for.
fn look(inside: &Node, behind: bool) -> Result<(Set, bool), String> {
    let refuse = || Err("look-around is understood for one character only".to_owned());
    match inside {
        Node::One(set) => Ok((*set, false)),
        Node::Start if behind => Ok((Set::EMPTY, true)),
        Node::End if !behind => Ok((Set::EMPTY, true)),
        Node::Sequence(nodes) if nodes.len() == 1 => look(&nodes[0], behind),
        Node::Either(branches) => branches.iter().try_fold((Set::EMPTY, false), |(set, or_end), branch| {
            let (other, other_end) = look(branch, behind)?;
            Ok((set.union(other), or_end | other_end))
        }),
        _ => refuse(),
    }
}

/// Reads `{n}`, `{n,}` or `{n,m}` at the start of a text: the counts and the length. Other braces are literal.
fn counts(text: &str) -> Option<(u32, Option<u32>, usize)> {
    let (inside, _) = text.strip_prefix('{')?.split_once('}')?;
    let number = |digits: &str| {
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| digits.parse().unwrap_or(u32::MAX))
    };
    let (min, max) = match inside.split_once(',') {
        None => (number(inside)?, Some(number(inside)?)),
        Some((min, "")) => (number(min)?, None),
        Some((min, max)) => (number(min)?, Some(number(max)?)),
    };
    Some((min, max, inside.len() + 2))
}

fn ascii(character: char) -> Result<u8, String> {
    u8::try_from(character)
        .ok()
        .filter(u8::is_ascii)
        .ok_or_else(|| format!("{character:?} is not ASCII, and folding its case is not understood"))
}
