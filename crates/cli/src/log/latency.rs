//! `fixwire log latency`: time until orders were reported, filled, changed and forwarded.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use fixwire_lab::report::picture::{self, PictureCurve};
use fixwire_lab::report::screen::{lines, paragraph};
use fixwire_lab::report::thousands;
use fixwire_protocol::readable::Escaped;
use fixwire_reader::{LatencyCounts, LatencyGroup, LatencyKind, LogLatency, LogStep, TimeSource};
use fixwire_stamps::stats::{Figures, micros};
use serde_json::{Map, Value, json};

use super::sources::{Sources, exit_code, tell_left_out};
use crate::failure::Failure;

/// Maximum length of a group name in the table.
const NAME: usize = 40;

/// Arguments of `fixwire log latency`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire log latency FIX.4.4-BROKER-CLIENT.messages.current.log
  fixwire log latency --by symbol --ours GATEWAY capture.pcapng
  fixwire log latency --json store | jq '.kinds[\"order to first report\"].p99'

Intervals are between two messages of the logs: an order and its first report (pending reports do not count) or
reject; an order and its first fill; a cancel or replace and its answer; a message that a gateway received and the
message that it forwarded. The two sides of a gateway are linked by records of its journal, by the same ClOrdID, or by
OrderID(37) and SecondaryOrderID(198); without directions (--ours) by the CompID that both sessions share. A journal
has one time for all messages of a record: pairs within a record are counted as `same turn`, without a time.
Percentiles of --json are in nanoseconds. At most 300,000 orders and requests wait for an answer at a time; beyond
that, the oldest are dropped and counted. The exit code is 1 if something could not be read; the output names each
such part.")]
pub struct LatencyArgs {
    #[command(flatten)]
    sources: Sources,
    /// Count each session, type or symbol by itself
    #[arg(long, value_name = "GROUP")]
    by: Option<By>,
    /// Print all percentiles, and each session, type and symbol
    #[arg(long, conflicts_with = "json")]
    details: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum By {
    Session,
    Type,
    Symbol,
}

impl By {
    const ALL: [Self; 3] = [Self::Session, Self::Type, Self::Symbol];

    fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Type => "type",
            Self::Symbol => "symbol",
        }
    }

    fn group(self) -> LatencyGroup {
        match self {
            Self::Session => LatencyGroup::Session,
            Self::Type => LatencyGroup::Type,
            Self::Symbol => LatencyGroup::Symbol,
        }
    }
}

/// Runs the command.
pub fn run(args: &LatencyArgs) -> Result<ExitCode, Failure> {
    let mut reader = args.sources.open(false)?;
    let mut found = LogLatency::default();
    let mut messages = 0;
    while let LogStep::Message(entry) = reader.next_step() {
        messages += 1;
        found.add(&entry);
    }
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = match (args.json, args.details) {
        (true, _) => writeln!(text, "{:#}", object(&found)),
        (_, true) => details(&found, messages, &mut text),
        _ => screen(&found, messages, args.by, &mut text),
    };
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(exit_code(tell_left_out(&reader.take_left_out())))
}

/// The unit of times.
#[derive(Clone, Copy)]
struct Scale {
    unit: &'static str,
    divisor: u64,
}

impl Scale {
    /// Chooses the unit in which half of the intervals have few digits before the decimal point.
    fn of(found: &LogLatency) -> Self {
        let medians = found.kinds.values();
        let medians = medians.map(|counts| counts.histogram.value_at_quantile(0.5));
        match medians.max().unwrap_or(0) {
            0..10_000_000 => Self {
                unit: "us",
                divisor: 1,
            },
            10_000_000..10_000_000_000 => Self {
                unit: "ms",
                divisor: 1_000,
            },
            _ => Self {
                unit: "s ",
                divisor: 1_000_000,
            },
        }
    }

    fn show(self, nanos: u64) -> String {
        micros(nanos / self.divisor)
    }
}

fn screen(
    found: &LogLatency,
    messages: u64,
    by: Option<By>,
    text: &mut String,
) -> std::fmt::Result {
    let scale = head(found, messages, text)?;
    let curves = [
        (LatencyKind::OrderToFill, '.'),
        (LatencyKind::RequestThrough, '-'),
        (LatencyKind::OrderToReport, '*'),
    ];
    let curves = curves.into_iter().filter_map(|(kind, mark)| {
        let counts = found.kinds.get(&kind)?;
        Some(PictureCurve {
            mark,
            name: kind.name(),
            histogram: counts.histogram.clone(),
        })
    });
    let curves: Vec<PictureCurve<'_>> = curves.collect();
    picture::write(&curves, "", scale.unit, |nanos| scale.show(nanos), text)?;
    let mut heads = vec![
        scale.unit.trim(),
        "count",
        "p50",
        "p90",
        "p99",
        "p99.9",
        "worst",
    ];
    let has_same_turn = found.kinds.values().any(|counts| counts.same_turn > 0);
    if has_same_turn {
        heads.push("same turn");
    }
    let mut grid = vec![heads.into_iter().map(str::to_owned).collect()];
    for (kind, counts) in &found.kinds {
        let figures = Figures::of(&counts.histogram);
        let times = [
            figures.p50,
            figures.p90,
            figures.p99,
            figures.p99_9,
            figures.worst,
        ];
        let mut cells = row(kind.name(), figures.count, &times, scale);
        if has_same_turn {
            cells.push(thousands(counts.same_turn));
        }
        grid.push(cells);
    }
    if grid.len() > 1 {
        lines(&grid, text)?;
    }
    match by {
        Some(by) => tables(found, by, scale, text)?,
        None => writeln!(
            text,
            "  more: --by session, type or symbol, --details, --json, --help"
        )?,
    }
    Ok(())
}

fn row(name: &str, count: u64, times: &[u64], scale: Scale) -> Vec<String> {
    let shown = times.iter().map(|nanos| match count {
        0 => "-".to_owned(),
        _ => scale.show(*nanos),
    });
    [name.to_owned(), thousands(count)]
        .into_iter()
        .chain(shown)
        .collect()
}

/// Writes the groups of one kind, beginning with the group with the most intervals.
fn tables(found: &LogLatency, by: By, scale: Scale, text: &mut String) -> std::fmt::Result {
    for kind in LatencyKind::ALL {
        let mut groups: Vec<(String, Figures)> = found
            .groups(kind, by.group())
            .map(|(name, histogram)| (shown(name), Figures::of(histogram)))
            .collect();
        if groups.is_empty() {
            continue;
        }
        groups.sort_by_key(|(_, figures)| std::cmp::Reverse(figures.count));
        let title = format!("{}, by {}", kind.name(), by.name());
        let mut grid = vec![
            ["", "count", "p50", "p90", "p99", "p99.9", "worst"]
                .map(str::to_owned)
                .to_vec(),
        ];
        for (name, figures) in &groups {
            let times = [
                figures.p50,
                figures.p90,
                figures.p99,
                figures.p99_9,
                figures.worst,
            ];
            grid.push(row(name, figures.count, &times, scale));
        }
        writeln!(text, "{title} ({}):", scale.unit.trim())?;
        lines(&grid, text)?;
    }
    Ok(())
}

/// A name from a peer, as it is printed.
fn shown(name: &str) -> String {
    let name = Escaped(name.as_bytes()).to_string();
    match name.len() {
        0 => "(none)".to_owned(),
        1..=NAME => name,
        _ => format!("{}...", &name[..NAME - 3]),
    }
}

fn details(found: &LogLatency, messages: u64, text: &mut String) -> std::fmt::Result {
    let scale = head(found, messages, text)?;
    let heads = [
        scale.unit.trim(),
        "count",
        "min",
        "p50",
        "p75",
        "p90",
        "p95",
        "p99",
        "p99.5",
        "p99.9",
        "p99.99",
        "worst",
        "mean",
        "sd",
    ];
    let mut grid = vec![heads.map(str::to_owned).to_vec()];
    for (kind, counts) in &found.kinds {
        let it = Figures::of(&counts.histogram);
        let times = [
            it.min,
            it.p50,
            it.p75,
            it.p90,
            it.p95,
            it.p99,
            it.p99_5,
            it.p99_9,
            it.p99_99,
            it.worst,
            it.mean as u64,
            it.stdev as u64,
        ];
        grid.push(row(kind.name(), it.count, &times, scale));
    }
    lines(&grid, text)?;
    for by in By::ALL {
        tables(found, by, scale, text)?;
    }
    Ok(())
}

/// Writes the sentences above the figures; returns the unit of the figures.
fn head(found: &LogLatency, messages: u64, text: &mut String) -> Result<Scale, std::fmt::Error> {
    let scale = Scale::of(found);
    let headline = format!("log latency: {}", headline(found, messages, scale));
    paragraph(&headline, "", text)?;
    let notes = notes(found);
    if !notes.is_empty() {
        paragraph(&notes, "  ", text)?;
    }
    Ok(scale)
}

/// The result in a sentence.
fn headline(found: &LogLatency, messages: u64, scale: Scale) -> String {
    let messages = thousands(messages);
    let counts = found.kinds.get(&LatencyKind::OrderToReport);
    match counts.map(|counts| Figures::of(&counts.histogram)) {
        Some(figures) if figures.count > 0 => format!(
            "{messages} messages. Half of {} orders were reported within {} {unit}, 99 % within {} {unit}.",
            thousands(figures.count),
            scale.show(figures.p50),
            scale.show(figures.p99),
            unit = scale.unit.trim(),
        ),
        _ => format!("{messages} messages. No time from an order to its report is known."),
    }
}

/// The limitations of the figures.
fn notes(found: &LogLatency) -> String {
    let mut text = String::new();
    let sum = |of: fn(&LatencyCounts) -> u64| found.kinds.values().map(of).sum::<u64>();
    let (orders, changes) = found.unanswered();
    if orders + changes > 0 {
        text += &format!(
            "Not answered: {} orders, {} cancels and replaces. ",
            thousands(orders),
            thousands(changes)
        );
    }
    let by_clocks = found.time_sources.get(&TimeSource::SendingTime).copied();
    if let Some(count) = by_clocks.filter(|count| *count > 0) {
        let all: u64 = found.time_sources.values().sum();
        text += &format!(
            "{} of {} times are SendingTime(52), which each side writes by its own clock. ",
            thousands(count),
            thousands(all)
        );
    }
    let same = sum(|counts| counts.same_turn);
    if same > 0 {
        text += &format!(
            "{} pairs have no interval: both messages are in one record of a journal, which has one time. ",
            thousands(same)
        );
    }
    let backwards = sum(|counts| counts.backwards);
    if backwards > 0 {
        text += &format!(
            "{} pairs are left out, because the second message has the earlier time (--shift corrects a clock). ",
            thousands(backwards)
        );
    }
    let untimed = sum(|counts| counts.untimed);
    if untimed > 0 {
        text += &format!(
            "{} pairs are left out, because a message has no time. ",
            thousands(untimed)
        );
    }
    if found.given_up() > 0 {
        text += &format!(
            "Given up: {} orders and requests, because more than 300,000 were open. ",
            thousands(found.given_up())
        );
    }
    text
}

fn object(found: &LogLatency) -> Value {
    let kinds = found.kinds.iter().map(|(kind, counts)| {
        let mut object = figures(&Figures::of(&counts.histogram));
        object.insert("sameTurn".to_owned(), counts.same_turn.into());
        object.insert("backwards".to_owned(), counts.backwards.into());
        object.insert("untimed".to_owned(), counts.untimed.into());
        for by in By::ALL {
            let groups = found.groups(*kind, by.group());
            let groups: Map<String, Value> = groups
                .map(|(name, histogram)| (name.to_owned(), figures(&Figures::of(histogram)).into()))
                .collect();
            object.insert(format!("by{}", capital(by.name())), groups.into());
        }
        (kind.name().to_owned(), Value::from(object))
    });
    let kinds: Map<String, Value> = kinds.collect();
    let sources = found.time_sources.iter();
    let sources: Map<String, Value> = sources
        .map(|(source, count)| (source.name().to_owned(), json!(count)))
        .collect();
    let (orders, changes) = found.unanswered();
    json!({
        "unit": "ns", "kinds": kinds, "timesFrom": sources, "unansweredOrders": orders,
        "unansweredChanges": changes, "givenUp": found.given_up(),
    })
}

fn capital(name: &str) -> String {
    let (first, rest) = name.split_at(1);
    first.to_uppercase() + rest
}

fn figures(it: &Figures) -> Map<String, Value> {
    let object = json!({
        "count": it.count, "min": it.min, "p50": it.p50, "p75": it.p75, "p90": it.p90, "p95": it.p95, "p99": it.p99,
        "p99.5": it.p99_5, "p99.9": it.p99_9, "p99.99": it.p99_99, "worst": it.worst, "mean": it.mean, "stdev": it.stdev,
    });
    match object {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
