//! `classify`: the verdict on one failure for a person, or on many as JSON lines for programs.

use super::peel::{Peeled, peel};
use super::{Context, ExitStatus, style};
use crate::installed::{self, State, Surroundings};
use crate::reference::surrogates::replace_lone_surrogates;
use crate::upstream::{PiClassifier, retry_patterns};
use crate::{BUILT_IN_RULES, Decision, Failure, Profile, StatusSource, Verdict, rules};
use anyhow::{Context as _, bail};
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;
use std::io::{BufRead, BufReader, IsTerminal, Read, Write};

/// Say whether a failed model call deserves another attempt, and why
///
/// Without a text, or with `-`, it is read from standard input. What pi's screen puts around a text is taken off.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pi-retry-forced classify '503 upstream gave up'
  pi-retry-forced classify 'upstream gave up' --status 522
  pi-retry-forced classify --against installed < error.txt
  pi-retry-forced classify --jsonl --against 1.6.0,0.87.1 < messages.jsonl

With --jsonl each line of standard input is an assistant message (errorMessage, stopReason, errorStatus, \
diagnostics, api, provider, and status for one seen on the wire); each gets one line of JSON in its place. A field \
of another type counts as absent. Releases from 0.80.3 on can be compared with.

Exit status: 0 retry or repair, 1 stop, 2 error. With --jsonl: 0, or 2 if a line was no JSON object.")]
pub(crate) struct Args {
    /// The error text, as pi shows it
    text: Option<String>,
    /// The HTTP status that was seen on the wire (400 to 599); one at the start of the text is stronger
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(400..=599), conflicts_with = "jsonl")]
    status: Option<u16>,
    /// Read assistant messages from standard input, one JSON object a line
    #[arg(long, conflicts_with = "text")]
    jsonl: bool,
    /// Which sources of a status and which rules count
    #[arg(long, value_enum, default_value = "full")]
    profile: ProfileName,
    /// Versions of pi-ai to compare with, or `installed` for the pi on the PATH [default: the newest known]
    #[arg(long, value_name = "VERSION", value_delimiter = ',')]
    against: Vec<String>,
    /// Print the verdict as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum ProfileName {
    /// What the submission to upstream decides
    Upstream,
    /// What the npm patch decides
    Patch,
    /// What the shim decides: every source of a status, every rule
    Full,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Upstream => Self::Upstream,
            ProfileName::Patch => Self::Patch,
            ProfileName::Full => Self::Full,
        }
    }
}

/// The answer to one message; the order of the fields is part of the contract.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    verdict: &'static str,
    rule: &'static str,
    status: Option<u16>,
    status_from: Option<&'static str>,
    pi: Map<String, Value>,
    /// Which repair, where the verdict is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    repair: Option<&'static str>,
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<ExitStatus> {
    let judge = Judge::new(args.profile.into(), &args.against)?;
    if args.jsonl {
        return judge.lines(BufReader::new(std::io::stdin().lock()), &mut *context.out);
    }
    let text = match args.text {
        Some(text) if text != "-" => text,
        _ => read_text()?,
    };
    let Peeled { text, off } = peel(&text);
    let failure = Failure::from_text(text).observed(args.status);
    let verdict = crate::classify(&failure, judge.profile);
    if args.json {
        serde_json::to_writer(&mut *context.out, &judge.answer(&failure, verdict))?;
        writeln!(context.out)?;
    } else {
        judge.explain(&failure, verdict, &mut *context.out)?;
        if !off.is_empty() {
            writeln!(context.out, "  {}peeled  {}{:#}", style::FAINT, off.join(", "), style::FAINT)?;
        }
    }
    Ok(if verdict.decision == Decision::Stop { ExitStatus::No } else { ExitStatus::Done })
}

fn read_text() -> anyhow::Result<String> {
    let mut stdin = std::io::stdin().lock();
    if stdin.is_terminal() {
        bail!("no text given: pass the error text as an argument, or pipe it in (see classify --help)");
    }
    let mut bytes = Vec::new();
    stdin.read_to_end(&mut bytes).context("cannot read standard input")?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(_) => bail!("standard input is not UTF-8: convert it first, for example with iconv"),
    }
}

struct Judge {
    profile: Profile,
    pis: Vec<AskedPi>,
}

/// A pi to compare with.
struct AskedPi {
    /// Its key in an answer: a version, or `installed`.
    key: String,
    /// Its name for a person.
    name: String,
    classifier: PiClassifier,
}

/// The word that stands for the pi of this machine.
const INSTALLED: &str = "installed";

impl AskedPi {
    fn new(asked: &str) -> anyhow::Result<Self> {
        if asked == INSTALLED {
            return Self::installed();
        }
        Ok(Self::of(PiClassifier::for_version(asked)?))
    }

    fn of(classifier: PiClassifier) -> Self {
        let version = classifier.version().to_string();
        Self { key: version.clone(), name: version, classifier }
    }

    /// The first pi on the PATH, by the patterns in its own files.
    fn installed() -> anyhow::Result<Self> {
        let surroundings = Surroundings::of_process()?;
        let pi = installed::locate(None, &surroundings)?;
        let target = pi.target()?;
        let (package, version) = (&target.package, target.package.version());
        target.package.require_supported()?;
        if let State::Patched { .. } | State::Interrupted { .. } = installed::inspect(&target, None)?.state {
            bail!(
                "the installed pi, {version}, is patched and decides like `--profile patch`; `--against {version}` asks it as it \
                 was published"
            );
        }
        let file = target.classifier().with_context(|| format!("{}: no classifier found", package.root().display()))?;
        let patterns =
            retry_patterns(&package.read(&file)?).with_context(|| package.root().join(&file).display().to_string())?;
        let classifier = PiClassifier::with_patterns(version, &patterns)?;
        Ok(Self { key: INSTALLED.to_owned(), name: format!("{version} (installed)"), classifier })
    }
}

impl Judge {
    fn new(profile: Profile, against: &[String]) -> anyhow::Result<Self> {
        let pis = if against.is_empty() {
            vec![AskedPi::of(PiClassifier::newest()?)]
        } else {
            let mut versions: Vec<&str> = Vec::new();
            for version in against.iter().map(|v| v.trim()) {
                if !versions.contains(&version) {
                    versions.push(version);
                }
            }
            versions.into_iter().map(AskedPi::new).collect::<Result<_, _>>()?
        };
        Ok(Self { profile, pis })
    }

    fn answer(&self, failure: &Failure, verdict: Verdict) -> Answer {
        let text = failure.failed_text();
        let says = |pi: &AskedPi| Value::Bool(text.is_some_and(|t| pi.classifier.is_retryable(t)));
        Answer {
            verdict: verdict.decision.as_str(),
            rule: verdict.rule,
            repair: verdict.remedy.map(|remedy| remedy.as_str()),
            status: verdict.status,
            status_from: verdict.status_from.map(StatusSource::as_str),
            pi: self.pis.iter().map(|pi| (pi.key.clone(), says(pi))).collect(),
        }
    }

    /// Answers line by line; memory is bounded by the longest line.
    fn lines(&self, mut input: BufReader<impl Read>, out: &mut dyn Write) -> anyhow::Result<ExitStatus> {
        let mut status = ExitStatus::Done;
        let mut line = Vec::new();
        for number in 1_u64.. {
            line.clear();
            if input.read_until(b'\n', &mut line).context("cannot read standard input")? == 0 {
                break;
            }
            match read_message(&line) {
                Ok(message) => {
                    let failure = Failure::from_json(&message);
                    let verdict = crate::classify(&failure, self.profile);
                    serde_json::to_writer(&mut *out, &self.answer(&failure, verdict)).map_err(std::io::Error::from)?;
                }
                Err(what) => {
                    status = ExitStatus::Error;
                    let error = serde_json::json!({ "error": format!("line {number}: {what}") });
                    serde_json::to_writer(&mut *out, &error).map_err(std::io::Error::from)?;
                }
            }
            out.write_all(b"\n")?;
            // Whoever asks line by line waits for the answer.
            if input.buffer().is_empty() {
                out.flush()?;
            }
        }
        Ok(status)
    }

    fn explain(&self, failure: &Failure, verdict: Verdict, out: &mut dyn Write) -> anyhow::Result<()> {
        let (strong, faint) = (style::STRONG, style::FAINT);
        let color = match verdict.decision {
            Decision::Retry => style::GOOD,
            Decision::Repair => style::WARN,
            Decision::Stop => style::BAD,
        };
        let meaning = match verdict.decision {
            Decision::Retry => "the same request deserves another attempt",
            Decision::Repair => "another attempt can only work once replayed thinking is out of the request",
            Decision::Stop if matches!(verdict.rule, "no-evidence" | "permanent-status") => {
                "nothing known says that another attempt would help"
            }
            Decision::Stop => "another attempt cannot help, or compaction takes over",
        };
        writeln!(out, "{color}{}{color:#}: {meaning}", verdict.decision.as_str())?;
        let why = BUILT_IN_RULES.iter().find(|(id, ..)| *id == verdict.rule).map(|(.., why)| *why);
        let why = why.or_else(|| rules::by_id(verdict.rule).map(|r| r.why.as_str())).unwrap_or_default();
        writeln!(out, "  rule    {strong}{}{strong:#}: {why}", verdict.rule)?;
        match (verdict.status, verdict.status_from) {
            (Some(status), Some(from)) => writeln!(out, "  status  {status}, {}", described(from))?,
            _ => writeln!(out, "  status  none known")?,
        }
        for pi in &self.pis {
            let text = failure.failed_text();
            let says = match text {
                Some(text) if pi.classifier.is_context_overflow(text, None) => "compacts",
                Some(text) if pi.classifier.is_retryable(text) => "retries",
                _ => "gives up",
            };
            writeln!(out, "  {faint}pi {} by itself {says}{faint:#}", pi.name)?;
        }
        Ok(())
    }
}

fn described(source: StatusSource) -> &'static str {
    match source {
        StatusSource::Message => "from the message's errorStatus",
        StatusSource::Diagnostics => "from the message's diagnostics",
        StatusSource::Text => "from the start of the text",
        StatusSource::Observed => "seen on the wire",
        StatusSource::Body => "named by the body",
    }
}

fn read_message(line: &[u8]) -> Result<Map<String, Value>, String> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    if std::str::from_utf8(line).is_err() {
        return Err("not UTF-8; write the messages as UTF-8".to_owned());
    }
    match serde_json::from_slice(&replace_lone_surrogates(line)) {
        Ok(Message(message)) => Ok(message),
        Err(error) => {
            // The parser counts the lines of its own input, of which there is one.
            let what = error.to_string();
            let what = what.split(" at line ").next().unwrap_or_default();
            Err(format!("column {}: {what}; each line is one assistant message as a JSON object", error.column()))
        }
    }
}

/// The fields of a message that matter here. Others are passed over unread, whatever their size, depth or numbers.
struct Message(Map<String, Value>);

const FIELDS: [&str; 5] = ["errorMessage", "stopReason", "errorStatus", "diagnostics", "status"];

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Message;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Message, A::Error> {
                let mut fields = Map::new();
                while let Some(key) = map.next_key::<String>()? {
                    if FIELDS.contains(&key.as_str()) {
                        fields.insert(key, map.next_value()?);
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(Message(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}
