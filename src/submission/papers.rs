//! What goes with the mails: commit messages, facts for an issue, and the checklist. Machine-written, and labelled so.

use std::fmt::Write as _;

use super::error::{Error, Kind};
use crate::Profile;
use crate::evidence::corpus::{self, Judge};
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

/// Shows the defect in an installed package.
const COMMAND: &str = "node -e 'import(\"./node_modules/@earendil-works/pi-ai/dist/utils/retry.js\").then((m) => {\n  \
    for (const errorMessage of [\"521 status code (no body)\", \"422 Unknown parameter: timeout\", \"404 ResourceNotFound\"])\n    \
    console.log(m.isRetryableAssistantError({ stopReason: \"error\", errorMessage }));\n})'";

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
    // Of texts of public reports and manuals alone: what is made up shows what its author thinks.
    let of = |judge| corpus::score_of_kind(&corpora, corpus::Kind::Sourced, judge);
    let (before, judged) = of(Judge::Pi(pi));
    let (after, _) = of(Judge::Reference(Profile::Upstream));
    let wrong = |score: corpus::Score| score.false_retry + score.false_stop;
    let runs = runs::recorded().map_err(|e| data(e.to_string()))?;
    // The release that is measured, or the newest that was recorded.
    let run = runs.get(&measured).or(runs.values().next_back()).ok_or_else(|| data("no recorded runs".to_owned()))?;
    let mut text = String::new();
    let _ = write!(
        text,
        "<!-- Machine-written facts. Say them in your own words, keep it to one screen, and label what a machine wrote. -->\n\n\
         # Failed answers are retried by words in their text, not by their HTTP status\n\n\
         ### What happened?\n\n\
         A turn ends with `Error: 521 status code (no body)`, where another attempt two seconds later works. A turn with \
         `Error: 422 Unknown parameter: 'timeout'` is sent four times. Behind Google and Codex a bare 500 or 503 is given up, since their texts name no status.\n\n\
         ### Steps to reproduce\n\n\
         ```sh\n\
         npm install @earendil-works/pi-ai@{measured}\n\
         {COMMAND}\n\
         ```\n\n\
         prints `false`, `true`, `true`: the 521 is not retried, the parameter and the missing model (ResourceNotFound holds ENOTFOUND) are.\n\n\
         ### Expected behavior\n\n\
         The status decides where a provider gave one. Three steps, each useful alone: (1) edges for ENOTFOUND, and 522 and 529 in the list; \
         (2) `details.status` in `diagnostics` for the providers that lack it, read by nobody yet; (3) the classifier asks it: limits first, then a status \
         other than 400 and 424, then the list as it is.\n\n\
         Asked before and closed: a status field on the message (#9702, #7234, #9644, #5623). Taken: the status in `diagnostics` for Bedrock (#7286 for #7224). \
         New here: the same place for the other providers, and the list stays whole. As decided before: a bodyless 400 and a 404 stay final (#4126), a \
         bare \"Bad Gateway\" without a status is not matched (#9712).\n\n\
         Figures for {measured}, from a clone of pi-retry-forced:\n\n\
         - {judged} texts of public reports and manuals: wrong verdicts {} before ({} retried in vain, {} given up), {} after step 3 ({}, {}). \
         `cargo run --release -- evidence --out report --force`, section 3\n\
         - {} failed turns of the ten real provider modules against a mock on 127.0.0.1: `errorMessage` byte-identical in {}, the status right in {} of {} answers. \
         The same with `--run`, section 2\n\
         - a random 32-digit request id alone caused a retry in {} of cases on 0.87.1 and in none since 1.4.0: this is not about ids any more. Section 1\n\n\
         ### Version\n\n{measured}\n",
        wrong(before),
        before.false_retry,
        before.false_stop,
        wrong(after),
        after.false_retry,
        after.false_stop,
        run.turns,
        run.same_text,
        run.right_status,
        run.answers,
        chance("0.87.1", "32 digits")?,
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
         0. [ ] Read upstream's main first: what is known here ends in September 2026. A status field was declined four times (#9702, #7234, #9644, #5623); \
         the status in `diagnostics` was taken (#7286), and the mails do that. Not from Friday to Sunday: issues opened then are not looked at. One proposal at a time.\n\
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
