//! The submission to upstream: three mails for `git am`, each useful without the next, facts for an issue, and a checklist.
//!
//! The first mail is of the kind that upstream has taken before: word edges, and two statuses next to those that are in the
//! list. The second keeps the status of a failed answer in `diagnostics`, where two providers have it, and changes nothing else.
//! The third asks it between the limits and the list, which stays whole. Sources come from the source maps of the published
//! package, or from a checkout.

mod edits;
mod error;
mod papers;
mod sources;
mod status;

use std::collections::BTreeMap;

use crate::patch::mail::{Mail, MailFile};
use crate::patch::{self, Source, unified};
use crate::upstream::Package;

pub use error::{Error, Kind};
pub use sources::{FOLDER, from_checkout, from_package};

/// The classifier's file, below the package.
pub const CLASSIFIER: &str = "src/utils/retry.ts";
/// The file that has the helpers for providers' errors, below the package.
const ERROR_BODY: &str = "src/utils/error-body.ts";

/// Who sends it, and for which issue.
#[derive(Clone, Debug)]
pub struct Sender {
    /// `Name <address>`.
    pub author: String,
    /// The number of the issue that the mails fix, `N` while there is none.
    pub issue: String,
}

impl Default for Sender {
    fn default() -> Self {
        Self { author: "Your Name <you@example.com>".to_owned(), issue: "N".to_owned() }
    }
}

/// The mails and the papers that go with them.
pub struct Submission {
    /// The version of the package that it was made for.
    pub version: String,
    /// The mails, in order.
    pub mails: Vec<Mail>,
    /// One screen of facts.
    pub issue: String,
    /// What to do, in order.
    pub checklist: String,
}

const DATE: &str = "Mon, 30 Nov 2026 00:00:00 +0000";
const NOTE: &str =
    "Machine-written by pi-retry-forced: read it, say it in your own words, and run the checks before you send it.";

impl Submission {
    /// Makes it from the sources of pi-ai, all `src/**/*.ts`.
    ///
    /// # Errors
    /// If a place for an edit is not found exactly once, or the change is in already.
    pub fn new(package: &Package, sources: &[Source], sender: &Sender) -> Result<Self, Error> {
        let mut tree: BTreeMap<String, String> =
            sources.iter().map(|source| (source.path.clone(), source.text.clone())).collect();
        let original = tree.clone();
        let steps: [(&str, &str, &str, &str, Step); 3] = [
            (
                "keep ENOTFOUND out of longer words, know 522 and 529",
                papers::EDGES,
                "retry-word-edges.test.ts",
                include_str!("vitest/retry-word-edges.test.ts"),
                |_, tree| edits::edges(tree),
            ),
            (
                "keep the HTTP status of a failed answer in diagnostics",
                papers::KEPT,
                "failure-status.test.ts",
                include_str!("vitest/failure-status.test.ts"),
                status::kept,
            ),
            (
                "classify failed answers by their HTTP status",
                papers::ASKED,
                "retry-status.test.ts",
                include_str!("vitest/retry-status.test.ts"),
                status::asked,
            ),
        ];
        let total = steps.len();
        let mut mails = Vec::new();
        for (index, (subject, body, test, text, step)) in steps.into_iter().enumerate() {
            let before = tree.clone();
            step(package, &mut tree)?;
            let changed = tree.iter().filter_map(|(path, new)| {
                let old = before.get(path);
                (old != Some(new)).then(|| MailFile {
                    path: format!("{FOLDER}/{path}"),
                    old: old.cloned(),
                    new: new.clone(),
                })
            });
            let mut files: Vec<MailFile> = changed.collect();
            files.push(MailFile { path: format!("{FOLDER}/test/{test}"), old: None, new: text.to_owned() });
            mails.push(Mail {
                number: (index + 1, total),
                author: sender.author.clone(),
                date: DATE.to_owned(),
                subject: format!("fix(ai): {subject}"),
                body: format!("{}\n\nfixes #{}", body.trim_end(), sender.issue),
                note: NOTE.to_owned(),
                files,
            });
        }
        let lines = changed_lines(&mails);
        let net = original.get(CLASSIFIER).zip(tree.get(CLASSIFIER));
        let net = net.map(|(old, new)| unified::count(&unified::diff(CLASSIFIER, old, new, 0))).unwrap_or_default();
        let version = package.version().to_string();
        Ok(Self {
            issue: papers::issue(&version)?,
            checklist: papers::checklist(&version, &mails, lines, net),
            version,
            mails,
        })
    }

    /// The files of the submission: name and content.
    pub fn files(&self) -> Vec<(String, String)> {
        let mut files: Vec<(String, String)> = self.mails.iter().map(|mail| (mail.file_name(), mail.text())).collect();
        files.push(("issue.md".to_owned(), self.issue.clone()));
        files.push(("CHECKLIST.md".to_owned(), self.checklist.clone()));
        files
    }
}

type Step = fn(&Package, &mut BTreeMap<String, String>) -> Result<(), Error>;

/// Lines of the classifier's file that the mails add and remove, one mail after the other.
pub fn changed_lines(mails: &[Mail]) -> (usize, usize) {
    let path = format!("{FOLDER}/{CLASSIFIER}");
    let files = mails.iter().flat_map(|mail| &mail.files).filter(|file| file.path == path);
    files.map(|file| unified::count(&file.diff())).fold((0, 0), |(a, b), (plus, minus)| (a + plus, b + minus))
}

/// The sources of a tree, for the patch generator.
fn as_sources(tree: &BTreeMap<String, String>) -> Vec<Source> {
    let source = |(path, text): (&String, &String)| Source {
        path: path.clone(),
        text: text.clone(),
        language: patch::Language::TypeScript,
        dialect: patch::Dialect::Written,
    };
    tree.iter().map(source).collect()
}
