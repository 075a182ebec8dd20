//! The recorded failures, judged by each release of pi and by the reference in each profile.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::upstream::{Error, PiClassifier};
use crate::{Decision, Failure, Profile, classify, is_transient_status};

/// Where a text comes from. Rows of different kinds are never added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// It stands in a public report or manual.
    Sourced,
    /// It was made from such a text.
    Variant,
    /// It is what a made-up answer turned into.
    Mock,
}

impl Kind {
    /// As rows and reports say it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sourced => "sourced",
            Self::Variant => "variant",
            Self::Mock => "mock",
        }
    }
}

/// A collection of recorded failures of one kind.
pub struct Corpus {
    /// Its name: that of its file below `tests/corpus`.
    pub file: &'static str,
    /// Where its texts come from.
    pub kind: Kind,
    /// What it is.
    pub what: &'static str,
    /// Those that somebody knows the right answer to.
    pub rows: Vec<Row>,
    /// Rows that are examples only: nobody knows whether another attempt helps, or the turn did not fail.
    pub undecided: usize,
}

/// One recorded failure.
pub struct Row {
    /// Names it within its collection.
    pub id: String,
    /// What kind of failure it is, where the collection says so.
    pub family: String,
    /// The message, with the status of the failed answer where it is known.
    pub message: Map<String, Value>,
    /// The verdicts that are right.
    pub acceptable: Vec<Decision>,
}

/// How an answer compares with the right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It is right.
    Right,
    /// Attempts are spent on what cannot work.
    FalseRetry,
    /// Given up although another attempt can help.
    FalseStop,
}

impl Outcome {
    /// As the report says it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::FalseRetry => "false retry",
            Self::FalseStop => "false stop",
        }
    }
}

/// Who is asked.
#[derive(Clone, Copy)]
pub enum Judge {
    /// A release of pi: its overflow check, then its classifier. It reads the text alone.
    Pi(PiClassifier),
    /// The reference.
    Reference(Profile),
}

impl Row {
    /// The text.
    pub fn text(&self) -> &str {
        self.message.get("errorMessage").and_then(Value::as_str).unwrap_or_default()
    }

    /// The status of the failed answer, if one is recorded.
    pub fn status(&self) -> Option<u64> {
        self.message.get("errorStatus").and_then(Value::as_u64)
    }

    /// What the judge decides, and by which rule.
    pub fn decide(&self, judge: Judge) -> (Decision, &'static str) {
        match judge {
            Judge::Pi(pi) => {
                let provider = self.message.get("provider").and_then(Value::as_str);
                let retried = !pi.is_context_overflow(self.text(), provider) && pi.is_retryable(self.text());
                (if retried { Decision::Retry } else { Decision::Stop }, "pi")
            }
            Judge::Reference(profile) => {
                let verdict = classify(&Failure::from_json(&self.message), profile);
                // pi cannot take thinking out of a request by itself: in its own code a repair is a stop. It also asks
                // about overflow first, as it does today.
                let overflows = || PiClassifier::newest().is_ok_and(|pi| pi.is_context_overflow(self.text(), None));
                match (profile, verdict.decision) {
                    (Profile::Full, decision) => (decision, verdict.rule),
                    (_, Decision::Retry) if overflows() => (Decision::Stop, "overflow"),
                    (_, Decision::Retry) => (Decision::Retry, verdict.rule),
                    (_, Decision::Repair | Decision::Stop) => (Decision::Stop, verdict.rule),
                }
            }
        }
    }

    /// How the decision compares with the right one. Where only a repair is right, whoever cannot repair must stop.
    pub fn outcome(&self, judge: Judge) -> Outcome {
        let (decision, _) = self.decide(judge);
        let has = |wanted| self.acceptable.contains(&wanted);
        let repairs = matches!(judge, Judge::Reference(Profile::Full));
        match decision {
            _ if has(decision) => Outcome::Right,
            Decision::Stop if !repairs && has(Decision::Repair) => Outcome::Right,
            Decision::Stop => Outcome::FalseStop,
            Decision::Retry | Decision::Repair => Outcome::FalseRetry,
        }
    }
}

/// The collections that the rules were made with, those of a file apart by kind, sourced ones first.
///
/// # Errors
/// If one of them is damaged.
pub fn all() -> Result<Vec<Corpus>, serde_json::Error> {
    let errors = include_str!("../../tests/corpus/errors.jsonl");
    let field = include_str!("../../tests/corpus/field.jsonl");
    let first = include_str!("../../tests/corpus/fresh-2026-12.jsonl");
    let second = include_str!("../../tests/corpus/fresh-2026-12b.jsonl");
    let strings = include_str!("../../tests/corpus/pi_ai_strings.jsonl");
    let fresh = "texts of public reports, which no rule had met when they were first judged";
    Ok(vec![
        listed("errors.jsonl", Kind::Sourced, "error texts of relays, providers and clients", errors)?,
        listed("field.jsonl", Kind::Sourced, "texts of issues and manuals", field)?,
        listed("fresh-2026-12.jsonl", Kind::Sourced, fresh, first)?,
        listed("fresh-2026-12b.jsonl", Kind::Sourced, fresh, second)?,
        listed("field.jsonl", Kind::Variant, "texts made from those of issues and manuals", field)?,
        recorded("pi_ai_strings.jsonl", "what pi-ai made of every status in ten APIs, against a mock", strings)?,
    ])
}

/// The scores of a judge on all collections of one kind, and how many texts they are.
pub fn score_of_kind(corpora: &[Corpus], kind: Kind, judge: Judge) -> (Score, usize) {
    let mine = corpora.iter().filter(|corpus| corpus.kind == kind);
    mine.fold((Score::default(), 0), |(sum, count), corpus| {
        let score = score(corpus, judge);
        let sum = Score {
            right: sum.right + score.right,
            false_retry: sum.false_retry + score.false_retry,
            false_stop: sum.false_stop + score.false_stop,
        };
        (sum, count + corpus.rows.len())
    })
}

fn rows(text: &str) -> impl Iterator<Item = Result<Map<String, Value>, serde_json::Error>> {
    text.lines().filter(|line| !line.is_empty()).map(serde_json::from_str)
}

/// The rows of a kind in a collection whose rows say what is right.
fn listed(file: &'static str, kind: Kind, what: &'static str, text: &str) -> Result<Corpus, serde_json::Error> {
    let mut corpus = Corpus { file, kind, what, rows: Vec::new(), undecided: 0 };
    for row in rows(text) {
        let mut message = row?;
        if Kind::deserialize(message.get("kind").unwrap_or(&Value::Null))? != kind {
            continue;
        }
        let verdicts = message.get("verdict").and_then(Value::as_array).cloned().unwrap_or_default();
        let acceptable: Vec<Decision> = [Decision::Retry, Decision::Repair, Decision::Stop]
            .into_iter()
            .filter(|decision| verdicts.iter().any(|verdict| verdict == decision.as_str()))
            .collect();
        // Retry and stop at once: nobody knows.
        if acceptable.contains(&Decision::Retry) && acceptable.contains(&Decision::Stop) {
            corpus.undecided += 1;
            continue;
        }
        let text = |key: &str| message.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (id, family) = (text("id"), text("family"));
        // A status in these collections was seen on the wire; a message of a changed pi-ai would carry it.
        if let Some(status) = message.get("status").cloned() {
            message.insert("errorStatus".to_owned(), status);
        }
        corpus.rows.push(Row { id, family, message, acceptable });
    }
    Ok(corpus)
}

/// What pi-ai made of answers of a mock: the status that was sent says what is right.
fn recorded(file: &'static str, what: &'static str, text: &str) -> Result<Corpus, serde_json::Error> {
    let mut corpus = Corpus { file, kind: Kind::Mock, what, rows: Vec::new(), undecided: 0 };
    for row in rows(text) {
        let mut message = row?;
        let status = message.get("status").and_then(Value::as_u64).and_then(|status| u16::try_from(status).ok());
        let text = message.get("errorMessage").and_then(Value::as_str).unwrap_or_default();
        let failed = message.get("stopReason").is_some_and(|reason| reason == "error") && !text.is_empty();
        let acceptable = match status {
            _ if !failed => None,
            // The relay's transient 400: the request is in order.
            Some(400) if text.contains("This request is not supported. (request id: ") => Some(Decision::Retry),
            // Codex makes this of every 429 with an error object: a plan's limit.
            Some(429) if text == "You have hit your ChatGPT usage limit." => Some(Decision::Stop),
            Some(status) if status >= 400 => {
                Some(if is_transient_status(status) { Decision::Retry } else { Decision::Stop })
            }
            // No answer at all, or one that broke off: whatever the words are, it deserves another attempt. An answer with
            // status 200 that holds an error object lost its text; that is nobody's knowledge.
            None => Some(Decision::Retry),
            Some(_) if message.get("body").is_some_and(|body| body == "fin" || body == "cut_reset") => {
                Some(Decision::Retry)
            }
            Some(_) => None,
        };
        let Some(acceptable) = acceptable else {
            corpus.undecided += 1;
            continue;
        };
        let part = |key: &str| message.get(key).map(|value| value.to_string().replace('"', "")).unwrap_or_default();
        let id = format!("{} {} {}", part("api"), part("status"), part("body"));
        if let Some(status) = status.filter(|status| *status >= 400) {
            message.insert("errorStatus".to_owned(), status.into());
        }
        message.remove("status");
        corpus.rows.push(Row { id, family: String::new(), message, acceptable: vec![acceptable] });
    }
    Ok(corpus)
}

/// Right, false retries, false stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Right answers.
    pub right: usize,
    /// Retries that cannot help.
    pub false_retry: usize,
    /// Stops where another attempt can help.
    pub false_stop: usize,
}

/// The scores of a judge on a collection.
pub fn score(corpus: &Corpus, judge: Judge) -> Score {
    let mut score = Score::default();
    for row in &corpus.rows {
        match row.outcome(judge) {
            Outcome::Right => score.right += 1,
            Outcome::FalseRetry => score.false_retry += 1,
            Outcome::FalseStop => score.false_stop += 1,
        }
    }
    score
}

/// A failure that a profile of the reference still gets wrong, with the reason.
pub struct Disagreement<'a> {
    /// The failure.
    pub row: &'a Row,
    /// How.
    pub outcome: Outcome,
    /// The rule that decided.
    pub rule: &'static str,
    /// Why the profile cannot do better.
    pub reason: &'static str,
}

/// All that a profile still gets wrong.
pub fn disagreements(corpus: &Corpus, profile: Profile) -> Vec<Disagreement<'_>> {
    let judge = Judge::Reference(profile);
    let wrong = corpus.rows.iter().filter_map(|row| {
        let outcome = row.outcome(judge);
        (outcome != Outcome::Right).then(|| {
            let rule = row.decide(judge).1;
            Disagreement { row, outcome, rule, reason: reason(row, profile, outcome) }
        })
    });
    wrong.collect()
}

/// Why a profile decides otherwise than is right, found by asking what would have to be added for it to be right.
fn reason(row: &Row, profile: Profile, outcome: Outcome) -> &'static str {
    let full = Judge::Reference(Profile::Full);
    let patch = Judge::Reference(Profile::Patch);
    if profile == Profile::Upstream && row.outcome(patch) == Outcome::Right {
        return match outcome {
            Outcome::FalseStop => "needs a relay's wording, which is in the profiles `patch` and `full` only",
            _ => "needs a stop rule for a relay's wording, which is in the profiles `patch` and `full` only",
        };
    }
    if profile != Profile::Full && row.outcome(full) == Outcome::Right {
        let failure = Failure::from_json(&row.message);
        let (ours, theirs) = (classify(&failure, profile).status, classify(&failure, Profile::Full).status);
        return if ours == theirs {
            "needs a rule or the cutting out of request ids, which only the profile `full` has"
        } else {
            "the status stands in the body only, which the profile `full` alone reads"
        };
    }
    match outcome {
        Outcome::FalseStop => "no status, and a wording that no rule knows",
        _ => "the text alone does not show that it is permanent",
    }
}

/// What a release gets right and a profile does not.
pub fn regressions<'a>(corpus: &'a Corpus, pi: PiClassifier, profile: Profile) -> Vec<Disagreement<'a>> {
    let mut list = disagreements(corpus, profile);
    list.retain(|disagreement| disagreement.row.outcome(Judge::Pi(pi)) == Outcome::Right);
    list
}

/// The classifiers of releases, by their version numbers.
///
/// # Errors
/// For an unknown release, or one before 0.80.3.
pub fn classifiers(versions: &[String]) -> Result<Vec<PiClassifier>, Error> {
    versions.iter().map(|version| PiClassifier::for_version(version)).collect()
}
