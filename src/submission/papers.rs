//! What goes with the mails: commit messages, facts for an issue, and the checklist. Machine-written, and labelled so.

use std::fmt::Write as _;

use super::error::{Error, Kind};
use crate::Profile;
use crate::evidence::corpus::{self, Judge, score};
use crate::evidence::{Automata, IdFormat, RELAY_FAILURE, runs};
use crate::patch::mail::Mail;
use crate::upstream::{Era, PiClassifier};

pub(super) const EDGES: &str = "\
ENOTFOUND has no edges and is found in ResourceNotFoundException, which no retry can cure. A bodyless 522 (Cloudflare)
and 529 (Anthropic) are as transient as the 520 and 524 that are in the list.";

pub(super) const KEPT: &str = "\
The texts of Google and Codex name no HTTP status, so nobody behind the provider knows what failed. Bedrock and
pi-messages keep it in diagnostics since #7286.

The other providers now do the same, in the catch block that ends a failed message: details.status, 400 to 599, never
for aborted messages. errorMessage stays as it is, and nothing reads the status yet.";

pub(super) const ASKED: &str = "\
Whether a failure is retried depends on words and digits in its text: a bodyless 521 is not retried, and \"Unknown
parameter: 'timeout'\" under a 422 is.

Limits stay first. A status that diagnostics carry, other than 400 and 424, decides: 408, 409, 425, 429 and 500 and
above are retried. Without one, and for 400 and 424, the list is asked as ever, whole.";

/// One screen of facts.
pub(super) fn issue(version: &str) -> Result<String, Error> {
    let data = |error: String| Error::from(Kind::Data { what: error });
    // A checkout may be newer than all known releases; the facts are those of the newest known one then.
    let pi = PiClassifier::for_version(version).or_else(|_| PiClassifier::newest()).map_err(|e| data(e.to_string()))?;
    let measured = pi.version().to_string();
    let chance = |version: &str, format: &str| -> Result<String, Error> {
        let known = PiClassifier::for_version(version).map_err(|e| data(e.to_string()))?;
        let era = Era::of(known.version()).ok_or_else(|| data(format!("no patterns of {version}")))?;
        let automata = Automata::new(era.patterns()).map_err(|e| data(e.to_string()))?;
        let format = IdFormat::all().into_iter().find(|f| f.name == format);
        let format = format.ok_or_else(|| data("no such format".to_owned()))?;
        Ok(format!("{:.1} %", automata.retried(&RELAY_FAILURE, &format) * 100.0))
    };
    let corpora = corpus::all().map_err(|e| data(e.to_string()))?;
    let wrong = |judge: Judge| -> (usize, usize) {
        let scores = corpora.iter().map(|corpus| score(corpus, judge));
        scores.fold((0, 0), |(a, b), score| (a + score.false_retry, b + score.false_stop))
    };
    let judged: usize = corpora.iter().map(|corpus| corpus.rows.len()).sum();
    let (before, after) = (wrong(Judge::Pi(pi)), wrong(Judge::Reference(Profile::Upstream)));
    let runs = runs::recorded().map_err(|e| data(e.to_string()))?;
    let same: usize = runs.values().map(|r| r.same_text).sum();
    let turns: usize = runs.values().map(|r| r.turns).sum();
    let right: usize = runs.values().map(|r| r.right_status).sum();
    let answers: usize = runs.values().map(|r| r.answers).sum();
    let mut text = String::new();
    let _ = write!(
        text,
        "<!-- Machine-written facts. Say them in your own words, keep it to one screen, and label what a machine wrote. -->\n\n\
         # pi-ai {measured}: a failure's text decides whether it is retried, its HTTP status does not\n\n\
         `isRetryableAssistantError` looks for words and digits anywhere in `errorMessage`. Measured on {measured}:\n\n\
         - Retried although it cannot help: `max_tokens must be <= 32,500`, `limit is 500 tokens`, \
         `Unknown parameter: 'timeout'`, `account terminated`, any `ResourceNotFoundException` (it contains ENOTFOUND).\n\
         - Not retried although it can: bodyless 408, 409, 425, 521, 522, 523, 529, 530; every status on \
         Google and Codex whose body does not happen to use a listed word, because their texts name no status.\n\
         - #11057 cured ids without separators: a random 32-digit id alone caused a retry in {} of cases on 0.87.1 and in none since 1.4.0.\n\n\
         Change proposed, in two steps that stand alone: (1) edges for ENOTFOUND, 522 and 529; (2) `errorStatus?: number` on \
         `AssistantMessage`, set in each provider's catch block, asked between the limits and the list, which stays whole.\n\n\
         Asked before and closed: a status field in #9702, #7234, #9644 and #5623. What was merged, #7286 for #7224, put the status of Bedrock \
         failures into `diagnostics`.\n\n\
         - {judged} texts of this project's corpora (sourced ones and variants of them): wrong verdicts {} before ({} false retries, {} false stops), {} after step 2 ({}, {}).\n\
         - {turns} failed turns of real provider modules against a mock: `errorMessage` byte-identical in {same}; status right in {right} of {answers}.\n\
         - At most 40 changed lines in `retry.ts`; elsewhere one call a catch block, two helpers and a field.\n\n\
         Not touched: overflow, retry budget and backoff, successful and aborted turns, texts. #4126 and #9712 stay as decided: a bodyless \
         400 and a 404 are final, and a bare \"Bad Gateway\" without a status is not matched. A 408 with a status is retried, as the SDKs do: \
         drop it from the list if #4126 is to hold for it too.\n",
        chance("0.87.1", "32 digits")?,
        before.0 + before.1,
        before.0,
        before.1,
        after.0 + after.1,
        after.0,
        after.1,
    );
    Ok(text)
}

pub(super) fn checklist(version: &str, mails: &[Mail], lines: (usize, usize), net: (usize, usize)) -> String {
    let list: String = mails
        .iter()
        .map(|mail| format!("   - `{}`: {} files, `{}`\n", mail.file_name(), mail.files.len(), mail.subject))
        .collect();
    format!(
        "# Sending this upstream\n\n\
         Made for pi-ai {version}. The mails are machine-written; upstream wants that said.\n\n\
         0. [ ] Read upstream's main first: what is known here ends in September 2026. The second mail keeps the status in a field of the message, \
         which upstream declined four times (#9702, #7234, #9644, #5623); it took `diagnostics[].details.status` (#7286). Move it there, or send the \
         first mail alone. Not from Friday to Sunday: issues opened then are not looked at.\n\
         1. [ ] Open an issue first, from `issue.md`, in your own words and on one screen. Label what a machine wrote. Wait for a maintainer's \
         approval: until then a bot closes pull requests of new contributors.\n\
         2. [ ] Make a branch of a fresh clone and put the issue's number into the mails: `pi-retry-forced upstream --checkout DIR --issue 12345 \
         --author \"Name <address>\" --out mails`.\n\
         3. [ ] `git am mails/*.eml`, or the first ones only; each is useful without the next:\n{list}\
         4. [ ] Do not touch `CHANGELOG.md`.\n\
         5. [ ] `npm run check` (biome and types; warnings are errors) and `./test.sh` must pass.\n\
         6. [ ] The tests are files of their own so that the mails apply to any state of `packages/ai/test/`; move their cases into `retry.test.ts` if asked to.\n\
         7. [ ] Refused before, so expect the question: 404 and 408 (#4126), bare \"Bad Gateway\" (#9712), bodyless 400.\n\
         8. [ ] Read every line and be able to explain it.\n\n\
         `retry.ts` changes by +{} −{} lines over all mails, +{} −{} from first to last.\n",
        lines.0, lines.1, net.0, net.1
    )
}
