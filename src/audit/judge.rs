//! Who decides on a failed turn: the reference, and pi of given releases.

use serde_json::{Map, Value};

use crate::upstream::{Error, PiClassifier};
use crate::{Failure, Profile, Verdict, after_pis_words, classify};

/// What pi does after a failed turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PiSays {
    /// It tries again, as far as its attempts reach.
    Retries,
    /// It takes the text for a context overflow and compacts.
    Compacts,
    /// It gives up.
    GivesUp,
}

impl PiSays {
    /// The name used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            PiSays::Retries => "retry",
            PiSays::Compacts => "compact",
            PiSays::GivesUp => "stop",
        }
    }
}

/// Decides on failed turns. The texts it gets are without our prefix.
pub trait Judge: Sync {
    /// Releases of pi that are asked.
    fn releases(&self) -> &[String];
    /// What pi does, by release, in the same order.
    fn pi(&self, text: &str, provider: Option<&str>, answers: &mut Vec<PiSays>);
    /// What the reference decides on an assistant message, given its fields but for content and usage.
    fn reference(&self, message: &Map<String, Value>) -> Verdict;
}

/// The reference in its full profile, and pi as its releases are known here.
pub struct Reference {
    releases: Vec<String>,
    pis: Vec<PiClassifier>,
}

impl Reference {
    /// Compares with these releases of pi-ai, or with the newest known one if none is given.
    ///
    /// # Errors
    ///
    /// A version that is not known, or older than 0.80.3.
    pub fn against(versions: &[String]) -> Result<Reference, Error> {
        let pis = match versions {
            [] => vec![PiClassifier::newest()?],
            _ => versions.iter().map(|version| PiClassifier::for_version(version.trim())).collect::<Result<_, _>>()?,
        };
        Ok(Reference { releases: pis.iter().map(|pi| pi.version().to_string()).collect(), pis })
    }
}

impl Judge for Reference {
    fn releases(&self) -> &[String] {
        &self.releases
    }

    fn pi(&self, text: &str, provider: Option<&str>, answers: &mut Vec<PiSays>) {
        answers.extend(self.pis.iter().map(|pi| match () {
            () if pi.is_context_overflow(text, provider) => PiSays::Compacts,
            () if pi.is_retryable(text) => PiSays::Retries,
            () => PiSays::GivesUp,
        }));
    }

    fn reference(&self, message: &Map<String, Value>) -> Verdict {
        let mut failure = Failure::from_json(message);
        while let Some(rest) = failure.text.as_deref().and_then(after_pis_words) {
            failure.text = Some(rest.to_owned());
        }
        classify(&failure, Profile::Full)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decision;
    use serde_json::json;

    #[test]
    fn pis_words_before_a_failure_are_no_part_of_it() {
        let reference = Reference::against(&[]).unwrap();
        for text in
            ["Summarization failed: 522: gone", "Retry failed after 3 attempts: Summarization failed: 522: gone"]
        {
            let message = json!({ "stopReason": "error", "errorMessage": text });
            let verdict = reference.reference(message.as_object().unwrap());
            assert_eq!((verdict.decision, verdict.status), (Decision::Retry, Some(522)), "{text}");
        }
        let message = json!({ "stopReason": "error", "errorMessage": "Summarization failed: 401: no key" });
        assert_eq!(reference.reference(message.as_object().unwrap()).decision, Decision::Stop);
    }
}
