//! The report as a document.

use std::fmt::Write as _;

use super::corpus::{Corpus, Disagreement, Judge, disagreements, regressions, score};
use super::runs::{BODIES, STATUSES};
use super::tables::{Turn, code, excerpt, percent, prose_table, range, table, turns};
use super::untouched::{pattern_changes, rule_changes, silent};
use super::{RELAY_FAILURE, Report};
use crate::Profile;
use crate::upstream::Era;

pub(super) fn write(report: &Report) -> String {
    let mut out = String::new();
    head(report, &mut out);
    chances(report, &mut out);
    statuses(report, &mut out);
    corpora(report, &mut out);
    untouched(report, &mut out);
    out
}

fn head(report: &Report, out: &mut String) {
    let first = report.options.releases.first().map(|r| r.version().to_string()).unwrap_or_default();
    let newest = report.newest.version();
    let _ = write!(
        out,
        "# Which failed model calls pi retries, and which it should\n\n\
         Machine-written by `pi-retry-forced evidence` from pi-ai {first} to {newest}; every number is in `report.json` too, and the \
         same command gives the same bytes.\n\n\
         1. [Request ids that look like a status](#1-request-ids-that-look-like-a-status)\n\
         2. [Status and verdict, before and after](#2-status-and-verdict-before-and-after)\n\
         3. [Recorded failures](#3-recorded-failures)\n\
         4. [What the change does not touch](#4-what-the-change-does-not-touch)\n\n"
    );
}

fn chances(report: &Report, out: &mut String) {
    out.push_str("## 1. Request ids that look like a status\n\n");
    let _ = write!(
        out,
        "pi looks for status numbers anywhere in an error's text. The text asked about here is one that relays send,\n\n\
         ```\n{}\n```\n\n\
         with a random id of each format. Without the id no release retries it. The chance that the id alone turns that is computed by \
         walking the release's own patterns as automata over the format's distribution, so it is exact: the neighbours of a token \
         count as they are, and so do words that letters happen to spell.\n\n![Chance by release](chances.svg)\n\n",
        RELAY_FAILURE.text("ID")
    );
    let mut head = vec!["% of ids that turn the verdict".to_owned()];
    head.extend(report.groups.iter().map(range));
    let row = |(index, format): (usize, &super::IdFormat)| {
        let mut row = vec![format.name.to_owned()];
        row.extend(report.groups.iter().map(|group| percent(group.exact[index])));
        row
    };
    out.push_str(&table(&head, &report.formats.iter().enumerate().map(row).collect::<Vec<_>>()));
    out.push_str("\nWhat the releases look for, which explains the steps:\n\n");
    for group in &report.groups {
        let _ = writeln!(out, "- {}: {}", range(group), code(&group.tokens));
    }
    let of = |version: &str| {
        let group = report.groups.iter().find(|group| group.releases.iter().any(|release| release == version))?;
        report.formats.iter().position(|format| format.name == "32 digits").map(|index| percent(group.exact[index]))
    };
    if let (Some(six), Some(seven)) = (of("0.85.1"), of("1.3.0")) {
        let _ = write!(
            out,
            "\nThe first report of this defect measured about 16.8 % for 32 digits. That is the release it ran on: six bare tokens give \
             {six} %, seven give {seven} %, and none is left once the tokens have edges. Where an id starts with its date, a day such as \
             the 3rd of May (`0503`) or an hour and minute such as 05:00 count as well.\n"
        );
    }
    let formats: Vec<Vec<String>> =
        report.formats.iter().map(|format| vec![format.name.to_owned(), format.made_by.to_owned()]).collect();
    let _ = write!(out, "\nThe formats:\n\n{}\n", prose_table(&["format", "what it is"], &formats));
    let still: Vec<&str> = match report.groups.last() {
        Some(group) => {
            let flips = report.formats.iter().zip(&group.exact).filter(|(_, chance)| **chance > super::SPELLED);
            flips.map(|(format, _)| format.name).collect()
        }
        None => Vec::new(),
    };
    if !still.is_empty() {
        let _ = write!(
            out,
            "An edge of letters and digits is not enough where an id brings `-` or `_` of its own: {} still turn the verdict of {}.\n\n",
            still.iter().map(|name| code(name)).collect::<Vec<_>>().join(", "),
            report.newest.version()
        );
    }
    by_drawing(report, out);
}

fn by_drawing(report: &Report, out: &mut String) {
    let drawn = report.options.samples;
    let pairs = report.groups.len() * report.formats.len();
    let inside = |group: &super::Group| group.exact.iter().zip(&group.sampled).filter(|(e, s)| s.holds(**e)).count();
    let inside: usize = report.groups.iter().map(inside).sum();
    let by_profile = |(profile, samples): &(Profile, Vec<super::Sample>)| {
        let turned = report.formats.iter().zip(samples).filter(|(_, sample)| sample.yes > 0);
        let turned: Vec<String> =
            turned.map(|(format, sample)| format!("{} ({})", code(format.name), sample.yes)).collect();
        let turned = if turned.is_empty() { "none".to_owned() } else { turned.join(", ") };
        format!("{} in profile `{}`", turned, profile.as_str())
    };
    let turned = report.reference.iter().map(by_profile).collect::<Vec<_>>().join("; ");
    let _ = write!(
        out,
        "The same by drawing {drawn} ids of each format (seed {}) and asking another engine: {inside} of {pairs} exact values lie \
         within the 99.9 % interval of their sample. Of {} ids of each format that were put to the reference, those that turn its verdict on \
         a new-api id: {turned}.\n\n\
         <details><summary>Exact and drawn, side by side</summary>\n\n",
        report.options.seed, report.options.reference_samples
    );
    let mut rows = Vec::new();
    for group in &report.groups {
        for ((format, exact), sample) in report.formats.iter().zip(&group.exact).zip(&group.sampled) {
            let (low, high) = sample.interval();
            rows.push(vec![
                range(group),
                format.name.to_owned(),
                percent(*exact),
                percent(sample.share()),
                format!("{:.3} to {:.3}", low * 100.0, high * 100.0),
                if sample.holds(*exact) { "yes" } else { "no" }.to_owned(),
            ]);
        }
    }
    let head = ["releases", "format", "exact, %", "drawn, %", "99.9 % interval", "inside"].map(str::to_owned);
    let _ = write!(out, "{}\n</details>\n\n", table(&head, &rows));
}

fn statuses(report: &Report, out: &mut String) {
    out.push_str("## 2. Status and verdict, before and after\n\n");
    let totals = |of: fn(&super::Record) -> usize| -> usize { report.runs.values().map(of).sum() };
    let _ = write!(
        out,
        "pi-ai's own provider modules, run in node against a relay on 127.0.0.1 that answers with each status and {} kinds of body, or resets \
         the connection; each release as published, with the change proposed to upstream, and with the npm patch. {} failed turns in each of the \
         three: `errorMessage` stayed the same, byte for byte, in {} of {}; the status is on the message after {} of {} failed answers; \
         {} of {} verdicts after the change are the reference's.\n\n",
        BODIES.len(),
        totals(|r| r.turns),
        totals(|r| r.same_text),
        totals(|r| r.turns),
        totals(|r| r.right_status),
        totals(|r| r.answers),
        totals(|r| r.as_reference),
        2 * totals(|r| r.turns),
    );
    let bodies: Vec<Vec<String>> =
        BODIES.iter().map(|(name, what)| vec![(*name).to_owned(), (*what).to_owned()]).collect();
    let _ = writeln!(out, "{}", prose_table(&["body", "what the relay sends"], &bodies));
    let _ = write!(
        out,
        "![Statuses](statuses.svg)\n\nIn the tables `retry` and `·` are verdicts that stay; {} and {} are those that the change turns.\n\n",
        Turn::NowRetry.sign(),
        Turn::NowStop.sign()
    );
    for (version, record) in report.runs.iter().rev() {
        let newest = *version == report.newest.version().to_string();
        for (body, patch, title) in [
            ("plain", false, "a body that says nothing of the cause, change proposed to upstream"),
            ("unlucky", false, "an id with 503 in its digits, change proposed to upstream"),
            ("empty", false, "no body, change proposed to upstream"),
            ("refusal", true, "\"This request is not supported.\", npm patch"),
        ] {
            let open = newest && body == "plain";
            let _ = write!(
                out,
                "<details{}><summary>pi-ai {version}: {title}</summary>\n\n",
                if open { " open" } else { "" }
            );
            let apis: Vec<&String> = record.verdicts.keys().collect();
            let mut head = vec!["status".to_owned()];
            head.extend(apis.iter().map(|api| (*api).clone()));
            let columns: Vec<Vec<Turn>> = apis.iter().map(|api| turns(record, api, body, patch)).collect();
            let row = |(index, status): (usize, &u16)| {
                let mut row = vec![status.to_string()];
                row.extend(columns.iter().map(|turns| turns.get(index).map_or("", |turn| turn.sign()).to_owned()));
                row
            };
            let rows: Vec<Vec<String>> = STATUSES.iter().enumerate().map(row).collect();
            let _ = write!(out, "{}\n</details>\n\n", table(&head, &rows));
        }
    }
    out.push_str("Connections that are reset, before, with the change, with the npm patch (`r` retry, `s` stop):\n\n");
    for (version, record) in &report.runs {
        let resets: Vec<String> = record.reset.iter().map(|(api, verdicts)| format!("{api} {verdicts}")).collect();
        let _ = writeln!(out, "- {version}: {}", resets.join(", "));
    }
    out.push('\n');
}

fn corpora(report: &Report, out: &mut String) {
    out.push_str(
        "## 3. Recorded failures\n\n\
         A false retry spends attempts on what cannot work; a false stop ends a session that another attempt would have saved. pi is asked for \
         overflow first, as the command does. Statuses that are recorded with a failure are on the message for the reference, as a changed pi-ai \
         puts them there; pi's releases read the text. Where only a repair is right (rejected thinking signatures), stopping counts as right for \
         whoever cannot repair: only the profile `full`, the extension's, can.\n\n![Recorded failures](corpus.svg)\n\n",
    );
    for corpus in &report.corpora {
        let _ = write!(
            out,
            "### {}: {}\n\n{} {}; {} more are examples whose answer nobody knows, or turns that did not fail.\n\n",
            corpus.file,
            corpus.kind.as_str(),
            corpus.rows.len(),
            corpus.what,
            corpus.undecided
        );
        let head = ["who", "right", "false retry", "false stop"].map(str::to_owned);
        let _ = writeln!(out, "{}", table(&head, &scores(report, corpus)));
        for profile in Profile::ALL {
            let list = disagreements(corpus, profile);
            list_of(&format!("What the profile `{}` still gets wrong", profile.as_str()), &list, out);
        }
        for profile in [Profile::Upstream, Profile::Patch] {
            let list = regressions(corpus, report.newest, profile);
            let title = format!(
                "Of these, what pi-ai {} gets right by its text and `{}` does not",
                report.newest.version(),
                profile.as_str()
            );
            list_of(&title, &list, out);
        }
    }
}

fn scores(report: &Report, corpus: &Corpus) -> Vec<Vec<String>> {
    let row = |name: String, judge| {
        let score = score(corpus, judge);
        vec![name, score.right.to_string(), score.false_retry.to_string(), score.false_stop.to_string()]
    };
    // Releases with the same score stand together.
    let mut rows: Vec<(String, String, Vec<String>)> = Vec::new();
    for pi in &report.classifiers {
        let version = pi.version().to_string();
        let cells = row(String::new(), Judge::Pi(*pi));
        match rows.last_mut().filter(|(_, _, last)| *last == cells) {
            Some((_, end, _)) => *end = version,
            None => rows.push((version.clone(), version, cells)),
        }
    }
    let named = rows.into_iter().map(|(first, last, mut cells)| {
        cells[0] = if first == last { format!("pi-ai {first}") } else { format!("pi-ai {first} to {last}") };
        cells
    });
    let profiles = Profile::ALL.map(|p| row(format!("reference, profile `{}`", p.as_str()), Judge::Reference(p)));
    named.chain(profiles).collect()
}

fn list_of(title: &str, list: &[Disagreement<'_>], out: &mut String) {
    if list.is_empty() {
        let _ = write!(out, "{title}: nothing.\n\n");
        return;
    }
    let row = |d: &Disagreement<'_>| {
        vec![d.outcome.as_str().to_owned(), d.row.id.clone(), excerpt(d.row.text()), code(d.rule), d.reason.to_owned()]
    };
    let mut rows: Vec<Vec<String>> = list.iter().map(row).collect();
    rows.sort();
    let head = ["outcome", "failure", "text", "rule", "why it stays"];
    let _ = write!(
        out,
        "<details><summary>{title}: {}</summary>\n\n{}\n</details>\n\n",
        list.len(),
        prose_table(&head, &rows)
    );
}

fn untouched(report: &Report, out: &mut String) {
    let newest = report.newest.version();
    out.push_str("## 4. What the change does not touch\n\n");
    let _ = write!(
        out,
        "Texts: see section 2. Successful and aborted turns are not judged. For messages without a status the change is made of patterns that \
         {newest} has and the profile `upstream` has not, or the other way round, and of nothing else:\n\n"
    );
    let changes = Era::of(newest).map(pattern_changes).unwrap_or_default();
    let row = |change: &super::untouched::PatternChange| {
        vec![
            if change.added { "added" } else { "dropped" }.to_owned(),
            change.list.to_owned(),
            code(&change.pattern),
            change.reason.unwrap_or("**unexplained**").to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = changes.iter().map(row).collect();
    let _ = writeln!(out, "{}", prose_table(&["", "list", "pattern", "reason"], &rows));
    for profile in [Profile::Upstream, Profile::Patch] {
        let silent = silent(&report.corpora, report.newest, profile);
        let different: usize = silent.different.values().map(Vec::len).sum();
        let _ = write!(
            out,
            "Of {} different texts in which the profile `{}` reads no status, it decides {different} otherwise than {newest}",
            silent.messages,
            profile.as_str()
        );
        let by: Vec<String> =
            silent.different.iter().map(|(rule, texts)| format!("{} ({})", code(rule), texts.len())).collect();
        let _ = write!(out, "{}.\n\n", if by.is_empty() { String::new() } else { format!(": {}", by.join(", ")) });
        let rows: Vec<Vec<String>> = silent
            .different
            .iter()
            .flat_map(|(rule, texts)| texts.iter().map(move |text| vec![code(rule), excerpt(text)]))
            .collect();
        if !rows.is_empty() {
            let _ = write!(
                out,
                "<details><summary>They are</summary>\n\n{}\n</details>\n\n",
                prose_table(&["rule", "text"], &rows)
            );
        }
    }
    let _ = write!(
        out,
        "The npm patch adds rules for what relays send. Those that decide a message without a status otherwise than {newest} does:\n\n"
    );
    let row = |change: super::untouched::RuleChange| {
        let turn = if change.pi_retries { "retry → stop" } else { "stop → retry" };
        vec![code(&change.rule.id), turn.to_owned(), change.rule.why.clone(), excerpt(change.example)]
    };
    let rows: Vec<Vec<String>> = rule_changes(report.newest).into_iter().map(row).collect();
    out.push_str(&prose_table(&["rule", "verdict", "why", "for example"], &rows));
}
