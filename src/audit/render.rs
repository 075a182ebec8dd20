//! The report as a table for people and as JSON for programs.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use serde_json::{Map, Value, json};

use super::mask::mask;
use super::report::{Example, PiCount, Report, Spread, Warning};

/// Ended sessions in the table; the JSON lists more.
const SHOWN: usize = 20;

/// Characters of an example in the table.
const TEXT_SHOWN: usize = 160;

/// Characters of an example in the JSON.
const TEXT_LISTED: usize = 4000;

/// How a report is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Show {
    /// Whether texts and paths are shown as they are. Otherwise texts are masked, and of a path only the file name is shown.
    pub unmasked: bool,
}

impl Show {
    fn text(self, example: &Example, limit: usize) -> String {
        let text = if self.unmasked { example.text.clone() } else { mask(&example.text) };
        match text.char_indices().nth(limit) {
            Some((at, _)) => format!("{}…", &text[..at]),
            None => text,
        }
    }

    /// The name of a provider or a model, which somebody chose.
    fn name(self, name: &str) -> String {
        plain(&if self.unmasked { name.to_owned() } else { mask(name) })
    }

    fn path(self, path: &Path) -> String {
        match path.file_name() {
            Some(name) if !self.unmasked => mask_name(&name.to_string_lossy()),
            _ => path.display().to_string(),
        }
    }

    /// A warning as it may be shown.
    pub fn warning(self, warning: &Warning) -> String {
        let cause = if self.unmasked { warning.cause.clone() } else { mask(&warning.cause) };
        plain(&format!("{}: {cause}", self.path(&warning.path)))
    }
}

/// A session's file name is a time and an id, and its owner needs it to find the file; any other name is masked like a text.
fn mask_name(name: &str) -> String {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    if is_plain && name.starts_with(|first: char| first.is_ascii_digit()) { name.to_owned() } else { mask(name) }
}

/// Writes the JSON form, one object.
pub fn json(report: &Report, show: Show, out: &mut dyn Write) -> io::Result<()> {
    let by_release = |value: &dyn Fn(usize) -> Value| -> Value {
        let fields = report.against.iter().enumerate().map(|(at, release)| (release.clone(), value(at)));
        Value::Object(fields.collect())
    };
    let example = |example: &Example| {
        let path = report.paths.get(example.file).map(|path| show.path(path));
        json!({ "file": path, "line": example.line, "text": show.text(example, TEXT_LISTED) })
    };
    let groups = report.groups.iter().map(|((family, provider), group)| {
        let statuses: Map<String, Value> = group
            .statuses
            .iter()
            .map(|(status, count)| (status.map_or_else(|| "none".to_owned(), |status| status.to_string()), json!(count)))
            .collect();
        json!({
            "family": family,
            "provider": show.name(provider),
            "failed": group.failed,
            "statuses": statuses,
            "pi": by_release(&|at| {
                let count = group.pi.get(at).copied().unwrap_or_default();
                json!({ "retries": count.retries, "compacts": count.compacts, "missed": count.missed, "wasted": count.wasted })
            }),
            "reference": { "retry": group.retry, "repair": group.repair, "stop": group.stop },
            "next": {
                "succeeded": group.next_succeeded,
                "failed": group.next_failed,
                "aborted": group.next_aborted,
                "otherModel": group.next_other_model,
                "none": group.next_none(),
                "gapMs": spread(group.next_spread()),
            },
            "later": { "succeeded": group.later_succeeded, "gapMs": spread(group.later_spread()) },
            "ended": group.ended,
            "example": group.example.as_ref().map(example),
        })
    });
    let ended = report.ended.iter().map(|ended| {
        let mut value = example(&ended.failure);
        if let Value::Object(fields) = &mut value {
            fields.insert("family".into(), json!(ended.rule));
            fields.insert("provider".into(), json!(show.name(&ended.provider)));
            fields.insert("model".into(), json!(show.name(&ended.model)));
            fields.insert("timestamp".into(), json!(ended.timestamp));
            fields.insert("decision".into(), json!(ended.decision.as_str()));
            fields.insert("pi".into(), by_release(&|at| json!(ended.pi.get(at).map(|says| says.as_str()))));
        }
        value
    });
    let totals = &report.totals;
    let value = json!({
        "against": report.against,
        "totals": {
            "files": totals.files,
            "bytes": totals.bytes,
            "lines": totals.lines,
            "turns": totals.turns,
            "failed": totals.failed,
            "failedWithoutText": totals.failed_without_text,
            "rewritten": totals.rewritten,
            "endedOnCurable": totals.ended,
            "versions": { "1": totals.versions[0], "2": totals.versions[1], "3": totals.versions[2], "other": totals.versions[3] },
        },
        "passedOver": {
            "unreadable": totals.unreadable,
            "withoutHeader": totals.without_header,
            "damaged": totals.damaged,
            "halfWritten": totals.half_written,
            "tooLong": totals.too_long,
            "unknownTypes": totals.unknown_types,
            "copied": totals.copied,
        },
        "groups": groups.collect::<Vec<_>>(),
        "endedOnCurable": ended.collect::<Vec<_>>(),
        "warnings": report.warnings.iter().map(|warning| show.warning(warning)).collect::<Vec<_>>(),
    });
    serde_json::to_writer_pretty(&mut *out, &value)?;
    writeln!(out)
}

fn spread(spread: Option<Spread>) -> Value {
    match spread {
        Some(Spread { count, min, median, max }) => json!({ "count": count, "min": min, "median": median, "max": max }),
        None => json!({ "count": 0, "min": null, "median": null, "max": null }),
    }
}

const HEAD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Yellow.on_default();

/// Writes the table. It is styled; the handle takes colours out where they do not belong.
pub fn table(report: &Report, show: Show, out: &mut dyn Write) -> io::Result<()> {
    let totals = &report.totals;
    writeln!(
        out,
        "{} in {} ({}): {} of {} assistant turns failed.",
        counted(totals.lines, "line"),
        counted(totals.files, "session file"),
        size(totals.bytes),
        grouped(totals.failed),
        grouped(totals.turns),
    )?;
    if totals.failed > 0 {
        verdict_lines(report, out)?;
        writeln!(out)?;
        groups(report, show, out)?;
    }
    if !report.ended.is_empty() {
        ended(report, show, out)?;
    }
    if !report.groups.is_empty() {
        writeln!(
            out,
            "\n{HEAD}Examples{HEAD:#}{}",
            if show.unmasked { "" } else { " (masked; --show-texts shows them as they are)" }
        )?;
        for ((family, provider), group) in &report.groups {
            let Some(example) = &group.example else { continue };
            writeln!(
                out,
                "  {} {DIM}({}){DIM:#}: {}",
                plain(family),
                show.name(provider),
                plain(&show.text(example, TEXT_SHOWN))
            )?;
        }
    }
    passed_over(report, out)
}

fn verdict_lines(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for (at, release) in report.against.iter().enumerate() {
        let sum = |field: fn(&PiCount) -> u64| {
            report.groups.values().filter_map(|group| group.pi.get(at)).map(field).sum::<u64>()
        };
        writeln!(
            out,
            "pi {release} retries {}; it gives up on {BAD}{}{BAD:#} that another attempt could cure, and repeats {BAD}{}{BAD:#} in vain.",
            grouped(sum(|count| count.retries)),
            grouped(sum(|count| count.missed)),
            grouped(sum(|count| count.wasted)),
        )?;
    }
    Ok(())
}

fn groups(report: &Report, show: Show, out: &mut dyn Write) -> io::Result<()> {
    let mut rows: Vec<Vec<String>> = vec![["FAMILY", "PROVIDER", "FAILED"].map(str::to_owned).to_vec()];
    rows[0].extend(report.against.iter().map(|release| format!("PI {release}")));
    rows[0].extend(["REFERENCE", "NEXT OK", "AFTER (min / median / max)", "LATER OK", "ENDED"].map(str::to_owned));
    let mut sorted: Vec<_> = report.groups.iter().collect();
    sorted.sort_by_key(|(key, group)| (std::cmp::Reverse(group.failed), *key));
    for ((family, provider), group) in sorted {
        let mut row = vec![plain(family), show.name(provider), grouped(group.failed)];
        row.extend(group.pi.iter().map(|count| {
            let stops = group.failed - count.retries - count.compacts;
            choices(&[("retry", count.retries), ("compact", count.compacts), ("stop", stops)])
        }));
        row.extend([
            choices(&[("retry", group.retry), ("repair", group.repair), ("stop", group.stop)]),
            format!("{} of {}", grouped(group.next_succeeded), grouped(group.next_succeeded + group.next_failed)),
            group.next_spread().map_or_else(|| "–".to_owned(), between),
            format!("{} of {}", grouped(group.later_succeeded), grouped(group.failed)),
            grouped(group.ended),
        ]);
        rows.push(row);
    }
    let columns = rows[0].len();
    let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let right = |at: usize| at == 2 || at == columns - 1;
    for (number, row) in rows.iter().enumerate() {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate() {
            let space = " ".repeat(widths[at] - cell.chars().count());
            let style = match () {
                () if number == 0 => HEAD,
                () if at > 2 && at <= 3 + report.against.len() && cell.starts_with("retry") => GOOD,
                () => Style::new(),
            };
            let gap = if at == 0 { "" } else { "  " };
            let (before, after) = if right(at) { (space.as_str(), "") } else { ("", space.as_str()) };
            // A string can be written to without failing.
            let _ = write!(line, "{gap}{before}{style}{cell}{style:#}{after}");
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(
        out,
        "{DIM}Next: the turn after the failed one on its branch, same provider and model (other models and aborted turns left out).\n\
         Later: a success of the same provider and model further down that branch. Ended: sessions that broke off there, on a failure that another attempt can cure.{DIM:#}"
    )
}

/// What was decided, with numbers where it was not always the same.
fn choices(counts: &[(&str, u64)]) -> String {
    let made: Vec<_> = counts.iter().filter(|(_, count)| *count > 0).collect();
    match made[..] {
        [(name, _)] => (*name).to_owned(),
        _ => made.iter().map(|(name, count)| format!("{name} {}", grouped(*count))).collect::<Vec<_>>().join(", "),
    }
}

fn ended(report: &Report, show: Show, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "\n{HEAD}Sessions that ended on a failure that another attempt can cure: {}{HEAD:#}",
        grouped(report.totals.ended)
    )?;
    let mut newest: Vec<_> = report.ended.iter().collect();
    newest.sort_by(|left, right| right.timestamp.cmp(&left.timestamp));
    for ended in newest.iter().take(SHOWN) {
        let path = report.paths.get(ended.failure.file).map(|path| show.path(path)).unwrap_or_default();
        writeln!(
            out,
            "  {}:{} {DIM}{}{DIM:#} {} ({}/{}): {}",
            plain(&path),
            ended.failure.line,
            plain(&ended.timestamp),
            plain(&ended.rule),
            show.name(&ended.provider),
            show.name(&ended.model),
            ended.decision.as_str(),
        )?;
    }
    let more = report.totals.ended.saturating_sub(newest.len().min(SHOWN) as u64);
    if more > 0 {
        writeln!(out, "  … and {} more (--json lists up to {})", grouped(more), super::LISTED)?;
    }
    Ok(())
}

fn passed_over(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let totals = &report.totals;
    let parts: Vec<String> = [
        (totals.unreadable, "unreadable file or folder", "unreadable files or folders"),
        (totals.damaged, "damaged line", "damaged lines"),
        (totals.half_written, "half-written last line", "half-written last lines"),
        (totals.too_long, "line too long to read", "lines too long to read"),
        (totals.unknown_types, "entry of an unknown type", "entries of an unknown type"),
        (totals.without_header, "file without a header", "files without a header"),
        (totals.versions[3], "file of an unknown version", "files of an unknown version"),
        (totals.failed_without_text, "failure without a text", "failures without a text"),
        (totals.copied, "failure copied by a fork", "failures copied by forks"),
    ]
    .iter()
    .filter(|(count, ..)| *count > 0)
    .map(|(count, one, many)| format!("{} {}", grouped(*count), if *count == 1 { one } else { many }))
    .collect();
    if !parts.is_empty() {
        writeln!(out, "\nPassed over, or taken as far as they went: {}.", parts.join(", "))?;
    }
    Ok(())
}

/// Texts come from elsewhere: nothing in them may steer the terminal or break a line.
fn plain(text: &str) -> String {
    let steers = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
    };
    text.chars().map(|letter| if steers(letter) { ' ' } else { letter }).collect()
}

fn between(spread: Spread) -> String {
    format!("{} / {} / {}", duration(spread.min), duration(spread.median), duration(spread.max))
}

fn duration(millis: u64) -> String {
    let seconds = millis as f64 / 1000.0;
    match millis {
        0..=9_949 => format!("{seconds:.1} s"),
        9_950..=599_999 => format!("{seconds:.0} s"),
        600_000..=7_199_999 => format!("{:.0} min", seconds / 60.0),
        7_200_000..=172_799_999 => format!("{:.1} h", seconds / 3600.0),
        _ => format!("{:.0} days", seconds / 86_400.0),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..=999 => format!("{bytes} bytes"),
        1_000..=999_999 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..=999_999_999 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.2} GB", bytes as f64 / 1e9),
    }
}

fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// A number with a comma after each third digit.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
