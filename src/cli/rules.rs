//! `rules`: the list of rules, or one in full.

use super::{Context, ExitStatus, style};
use crate::reference::rules::{self, Rule, RuleDecision, When};
use crate::{BUILT_IN_RULES, rule_json};
use anyhow::bail;
use std::io::Write;

/// List the rules, or show one in full
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pi-retry-forced rules
  pi-retry-forced rules --decision stop
  pi-retry-forced rules relay-request-not-supported")]
pub(crate) struct Args {
    /// The rule to show in full
    id: Option<String>,
    /// List only rules that decide this
    #[arg(long, value_enum, conflicts_with = "id")]
    decision: Option<DecisionName>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum DecisionName {
    Overflow,
    Repair,
    Stop,
    Wait,
    Retry,
}

impl From<DecisionName> for RuleDecision {
    fn from(name: DecisionName) -> Self {
        match name {
            DecisionName::Overflow => Self::Overflow,
            DecisionName::Repair => Self::Repair,
            DecisionName::Stop => Self::Stop,
            DecisionName::Wait => Self::Wait,
            DecisionName::Retry => Self::Retry,
        }
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> anyhow::Result<ExitStatus> {
    let out = &mut *context.out;
    match &args.id {
        Some(id) => match rules::by_id(id) {
            Some(rule) if args.json => writeln!(out, "{:#}", rule_json(rule))?,
            Some(rule) => show(rule, out)?,
            None => show_built_in(id, args.json, out)?,
        },
        None => {
            let wanted = args.decision.map(RuleDecision::from);
            let list: Vec<&Rule> = rules::all().iter().filter(|r| wanted.is_none_or(|d| r.decision == d)).collect();
            if args.json {
                let list: Vec<_> = list.into_iter().map(rule_json).collect();
                writeln!(out, "{:#}", serde_json::Value::Array(list))?;
            } else {
                table(&list, out)?;
            }
        }
    }
    Ok(ExitStatus::Done)
}

fn statuses(when: &[When]) -> String {
    when.iter().map(When::to_string).collect::<Vec<_>>().join(", ")
}

fn table(list: &[&Rule], out: &mut dyn Write) -> std::io::Result<()> {
    let (strong, faint) = (style::STRONG, style::FAINT);
    let width = list.iter().map(|r| r.id.len()).max().unwrap_or(0);
    for rule in list {
        let when = statuses(&rule.when);
        let (id, decision, tier) = (&rule.id, rule.decision.as_str(), rule.tier.as_str());
        writeln!(
            out,
            "{strong}{id:width$}{strong:#}  {decision:8}  {when:28}  {tier:8}  {faint}{}{faint:#}",
            rule.why
        )?;
    }
    Ok(())
}

fn show(rule: &Rule, out: &mut dyn Write) -> std::io::Result<()> {
    let strong = style::STRONG;
    writeln!(out, "{strong}{}{strong:#}", rule.id)?;
    writeln!(out, "  decision  {}", rule.decision.as_str())?;
    writeln!(out, "  when      {}", statuses(&rule.when))?;
    writeln!(out, "  tier      {}", rule.tier.as_str())?;
    writeln!(out, "  why       {}", rule.why)?;
    writeln!(out, "  source    {}", rule.source)?;
    writeln!(out, "  match")?;
    for pattern in &rule.patterns {
        writeln!(out, "    {}", pattern.as_str())?;
    }
    writeln!(out, "  hits")?;
    for hit in &rule.hits {
        writeln!(out, "    {hit}")?;
    }
    writeln!(out, "  misses")?;
    for miss in &rule.misses {
        writeln!(out, "    {miss}")?;
    }
    Ok(())
}

fn show_built_in(id: &str, json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    let Some((_, decision, why)) = BUILT_IN_RULES.iter().find(|(name, ..)| *name == id) else {
        bail!("no rule is called {id}: `pi-retry-forced rules` lists them all");
    };
    if json {
        writeln!(out, "{:#}", serde_json::json!({ "id": id, "decision": decision.as_str(), "why": why }))?;
    } else {
        let strong = style::STRONG;
        writeln!(out, "{strong}{id}{strong:#}\n  decision  {}\n  why       {why}", decision.as_str())?;
        writeln!(out, "  match     no wording: this is part of the order of decision")?;
    }
    Ok(())
}
