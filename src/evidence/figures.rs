//! The report's figures, as SVG.

use anyhow::anyhow;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::Report;
use super::corpus::{Judge, Kind, score_of_kind};
use super::runs::STATUSES;
use super::tables::{Turn, turns};
use crate::Profile;
use crate::upstream::parse_version;

/// Colours that people with any colour vision tell apart (Okabe and Ito).
const COLOURS: [RGBColor; 6] = [
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];
const INK: RGBColor = RGBColor(40, 40, 40);
const GRID: RGBColor = RGBColor(222, 222, 222);

/// The formats in the first figure; the others are zero, or as good as.
const SHOWN: [&str; 6] = ["new-api chain of 4", "32 digits", "one-api", "new-api", "32 hex", "date-NNN-abc"];

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

pub(super) fn draw(report: &Report) -> anyhow::Result<Vec<(&'static str, String)>> {
    let mut files = vec![("chances.svg", figure((900, 460), |area| chances(report, area))?)];
    files.push(("statuses.svg", figure((980, 460), |area| statuses(report, area))?));
    files.push(("corpus.svg", figure((900, 430), |area| corpus(report, area))?));
    Ok(files)
}

fn figure(size: (u32, u32), draw: impl FnOnce(&Area<'_>) -> anyhow::Result<()>) -> anyhow::Result<String> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        area.fill(&WHITE).map_err(failed)?;
        draw(&area)?;
        area.present().map_err(failed)?;
    }
    Ok(text)
}

fn failed(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("a figure cannot be drawn: {error}")
}

fn font(size: i32, colour: &'static RGBColor, x: HPos, y: VPos) -> TextStyle<'static> {
    TextStyle::from(("sans-serif", size)).color(colour).pos(Pos::new(x, y))
}

fn write(area: &Area<'_>, text: &str, at: (i32, i32), style: &TextStyle<'_>) -> anyhow::Result<()> {
    area.draw(&Text::new(text.to_owned(), at, style.clone())).map_err(failed)
}

fn line(area: &Area<'_>, points: Vec<(i32, i32)>, colour: &RGBColor, width: u32) -> anyhow::Result<()> {
    area.draw(&PathElement::new(points, colour.stroke_width(width))).map_err(failed)
}

fn filled(area: &Area<'_>, from: (i32, i32), to: (i32, i32), colour: &RGBColor) -> anyhow::Result<()> {
    area.draw(&Rectangle::new([from, to], colour.filled())).map_err(failed)
}

/// Lines over the releases: the chance that an id alone turns the verdict.
fn chances(report: &Report, area: &Area<'_>) -> anyhow::Result<()> {
    write(
        area,
        "How often a random request id alone makes pi retry",
        (20, 16),
        &font(19, &INK, HPos::Left, VPos::Top),
    )?;
    write(area, "exact, % of ids; the failure itself is the same", (20, 42), &font(13, &INK, HPos::Left, VPos::Top))?;
    let releases: Vec<(&String, &super::Group)> =
        report.groups.iter().flat_map(|group| group.releases.iter().map(move |release| (release, group))).collect();
    let (left, right, top, bottom) = (60, 700, 80, 380);
    let most = report.groups.iter().flat_map(|group| &group.exact).fold(0.05_f64, |a, b| a.max(*b));
    let end = (most * 20.0).ceil() / 20.0;
    let y = |chance: f64| bottom - (chance / end * f64::from(bottom - top)) as i32;
    let steps = (releases.len() as i32 - 1).max(1);
    let x = |index: usize| left + 20 + (index as i32) * (right - left - 40) / steps;
    let mut tick = 0.0;
    while tick <= end + 1e-9 {
        line(area, vec![(left, y(tick)), (right, y(tick))], &GRID, 1)?;
        let text = format!("{:.0}", tick * 100.0);
        write(area, &text, (left - 8, y(tick)), &font(12, &INK, HPos::Right, VPos::Center))?;
        tick += 0.05;
    }
    for (index, (release, _)) in releases.iter().enumerate() {
        let style = font(12, &INK, HPos::Right, VPos::Center).transform(FontTransform::Rotate270);
        write(area, release, (x(index), bottom + 10), &style)?;
    }
    let mut labels: Vec<(i32, usize)> = Vec::new();
    for (number, name) in SHOWN.iter().enumerate() {
        let Some(format) = report.formats.iter().position(|format| format.name == *name) else { continue };
        let points: Vec<(i32, i32)> =
            releases.iter().enumerate().map(|(index, (_, group))| (x(index), y(group.exact[format]))).collect();
        let highest = points.iter().map(|(_, y)| *y).min().unwrap_or(bottom);
        labels.push((highest, number));
        line(area, points.clone(), &COLOURS[number], 2)?;
        for point in points {
            area.draw(&Circle::new(point, 3, COLOURS[number].filled())).map_err(failed)?;
        }
    }
    labels.sort_unstable();
    for (place, (_, number)) in labels.into_iter().enumerate() {
        let at = (right + 24, top + 12 + 24 * place as i32);
        filled(area, (at.0 - 14, at.1 - 5), (at.0 - 4, at.1 + 5), &COLOURS[number])?;
        write(area, SHOWN[number], (at.0 + 2, at.1), &font(13, &INK, HPos::Left, VPos::Center))?;
    }
    Ok(())
}

/// The newest run: a field for each status and API, before and after.
fn statuses(report: &Report, area: &Area<'_>) -> anyhow::Result<()> {
    let newest = report.runs.iter().max_by_key(|(version, _)| parse_version(version).ok());
    let Some((version, record)) = newest else { return Ok(()) };
    let title = format!("pi-ai {version}: what is retried when the body says nothing of the cause");
    write(area, &title, (20, 16), &font(19, &INK, HPos::Left, VPos::Top))?;
    let (left, top, width, height) = (210, 96, 34, 28);
    for (index, status) in STATUSES.iter().enumerate() {
        let at = (left + width * index as i32 + width / 2, top - 10);
        write(area, &status.to_string(), at, &font(12, &INK, HPos::Center, VPos::Bottom))?;
    }
    let colour = |turn: Turn| match turn {
        Turn::Retry => COLOURS[5],
        Turn::Stop => RGBColor(236, 236, 236),
        Turn::NowRetry => COLOURS[2],
        Turn::NowStop => COLOURS[0],
    };
    for (row, api) in record.verdicts.keys().enumerate() {
        let y = top + height * row as i32;
        write(area, api, (left - 10, y + height / 2), &font(13, &INK, HPos::Right, VPos::Center))?;
        for (column, turn) in turns(record, api, "plain", false).into_iter().enumerate() {
            let x = left + width * column as i32;
            filled(area, (x + 1, y + 1), (x + width - 2, y + height - 2), &colour(turn))?;
        }
    }
    let keys = [
        (Turn::Stop, "stopped, as before"),
        (Turn::Retry, "retried, as before"),
        (Turn::NowRetry, "now retried"),
        (Turn::NowStop, "now stopped"),
    ];
    let y = top + height * record.verdicts.len() as i32 + 30;
    for (place, (turn, text)) in keys.into_iter().enumerate() {
        let x = left + 180 * place as i32;
        filled(area, (x, y - 7), (x + 14, y + 7), &colour(turn))?;
        write(area, text, (x + 20, y), &font(13, &INK, HPos::Left, VPos::Center))?;
    }
    Ok(())
}

/// Bars: what each gets wrong on the sourced texts together.
fn corpus(report: &Report, area: &Area<'_>) -> anyhow::Result<()> {
    let (_, judged) = score_of_kind(&report.corpora, Kind::Sourced, Judge::Reference(Profile::Full));
    let title = format!("{judged} texts of public reports and manuals: wrong verdicts");
    write(area, &title, (20, 16), &font(19, &INK, HPos::Left, VPos::Top))?;
    let mut bars: Vec<(String, usize, usize)> = Vec::new();
    let mut bar = |name: String, judge: Judge| {
        let (score, _) = score_of_kind(&report.corpora, Kind::Sourced, judge);
        let (retries, stops) = (score.false_retry, score.false_stop);
        match bars.last_mut() {
            Some(last) if (last.1, last.2) == (retries, stops) && name.starts_with("pi ") => {
                let first = last.0.split(" to ").next().unwrap_or_default().to_owned();
                last.0 = format!("{first} to {}", name.trim_start_matches("pi "));
            }
            _ => bars.push((name, retries, stops)),
        }
    };
    for pi in &report.classifiers {
        bar(format!("pi {}", pi.version()), Judge::Pi(*pi));
    }
    for profile in Profile::ALL {
        bar(format!("profile {}", profile.as_str()), Judge::Reference(profile));
    }
    let most = bars.iter().map(|(_, retries, stops)| retries + stops).max().unwrap_or(1).max(1) as i32;
    let (left, width, top) = (190, 600, 66);
    let height = (320 / bars.len().max(1) as i32).clamp(12, 34);
    for (place, (name, retries, stops)) in bars.iter().enumerate() {
        let y = top + height * place as i32;
        let length = |count: usize| count as i32 * width / most;
        write(area, name, (left - 10, y + height / 2), &font(13, &INK, HPos::Right, VPos::Center))?;
        let split = left + length(*retries);
        filled(area, (left, y + 3), (split, y + height - 3), &COLOURS[0])?;
        filled(area, (split, y + 3), (split + length(*stops), y + height - 3), &COLOURS[1])?;
        let text = format!("{} ({retries} + {stops})", retries + stops);
        let end = left + length(retries + stops) + 8;
        write(area, &text, (end, y + height / 2), &font(12, &INK, HPos::Left, VPos::Center))?;
    }
    let y = top + height * bars.len() as i32 + 20;
    for (place, (colour, text)) in [
        (COLOURS[0], "false retries: attempts that cannot help"),
        (COLOURS[1], "false stops: sessions that end for nothing"),
    ]
    .into_iter()
    .enumerate()
    {
        let x = left + 310 * place as i32;
        filled(area, (x, y - 7), (x + 14, y + 7), &colour)?;
        write(area, text, (x + 20, y), &font(13, &INK, HPos::Left, VPos::Center))?;
    }
    Ok(())
}
