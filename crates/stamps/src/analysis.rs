//! Evaluates stamps: the summary in the form published for f9omstw, and the number of transactions completed in each
//! millisecond.
//!
//! Percentile p of n sorted values is the value at index floor(n * p), as in the published results. T1 is the time when
//! the message was found, T2 the time when the resulting messages were written.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::stamp::{FirstState, Stamp};
use crate::stats::{Figures, SHOWN, histogram, micros};

const PERCENTILES: [(&str, f64); 6] = [
    ("50%", 0.5),
    ("75%", 0.75),
    ("90%", 0.9),
    ("99%", 0.99),
    ("99.9%", 0.999),
    ("99.99%", 0.9999),
];
const DASHES: &str =
    "--------------------------------------------------------------------------------";

/// The value at floor(n * p) of sorted values; `None` when the list is empty.
#[must_use]
pub fn percentile<T: Copy>(sorted: &[T], p: f64) -> Option<T> {
    // A product just below a whole number counts as that number: the index for 0.9 of 10 is 9.
    let place = (sorted.len() as f64 * p + 1e-9).floor() as usize;
    sorted.get(place.min(sorted.len().wrapping_sub(1))).copied()
}

/// Writes the summary of the stamps of this file. The summary has a block for each kind of request, for each group (the
/// part of ClOrdID(11) before ':'), and for each kind of venue report. After the blocks it has the percentiles of the
/// groups, from an HdrHistogram.
///
/// # Errors
///
/// Writing to `to` fails.
pub fn summary(file: &str, stamps: &[Stamp], to: &mut impl Write) -> fmt::Result {
    let mut kinds: BTreeMap<u8, Vec<&Stamp>> = BTreeMap::new();
    let (reports, requests): (Vec<&Stamp>, Vec<&Stamp>) =
        stamps.iter().partition(|it| it.is_report());
    for stamp in requests {
        kinds.entry(stamp.kind).or_default().push(stamp);
    }
    let mut percentiles = String::new();
    for (kind, stamps) in kinds {
        let kind = kind_name(kind);
        block(&format!("{file}.{kind}.txt"), &stamps, false, to)?;
        let mut groups: Vec<(&[u8], Vec<&Stamp>)> = Vec::new();
        for stamp in stamps {
            let Some(end) = stamp.id().iter().position(|byte| *byte == b':') else {
                continue;
            };
            let name = &stamp.id()[..end];
            match groups.iter_mut().rev().find(|(known, _)| *known == name) {
                Some((_, group)) => group.push(stamp),
                None => groups.push((name, vec![stamp])),
            }
        }
        for (name, group) in groups {
            let name = format!("{kind}.{}", String::from_utf8_lossy(name));
            block(&format!("{file}.{name}.txt"), &group, true, to)?;
            hdr(&name, &group, &mut percentiles)?;
        }
    }
    for kind in [b'8', b'9'] {
        let of_kind = reports.iter().filter(|it| it.kind == kind).copied();
        let of_kind: Vec<&Stamp> = of_kind.collect();
        if !of_kind.is_empty() {
            report_block(&format!("{file}.{}.txt", kind_name(kind)), &of_kind, to)?;
        }
    }
    to.write_str(&percentiles)
}

/// The message name for the MsgType(35) of a stamp.
#[must_use]
pub fn kind_name(kind: u8) -> String {
    match kind {
        b'8' => "ExecutionReport".to_owned(),
        b'9' => "OrderCancelReject".to_owned(),
        b'D' => "NewOrderSingle".to_owned(),
        b'F' => "OrderCancelRequest".to_owned(),
        b'G' => "OrderCancelReplaceRequest".to_owned(),
        other => char::from(other).to_string(),
    }
}

/// T0, T1, T2 of a request, nanoseconds.
fn times(stamp: &Stamp) -> [i64; 3] {
    [stamp.sent, stamp.found, stamp.written].map(|time| time as i64)
}

fn block(name: &str, stamps: &[&Stamp], is_group: bool, to: &mut impl Write) -> fmt::Result {
    writeln!(to, "{name}")?;
    counts(stamps, &FirstState::OF_REQUESTS, to)?;
    let all: Vec<[i64; 3]> = stamps.iter().map(|it| times(it)).collect();
    if is_group {
        spans(&all, to)?;
    }
    let spreads = RequestSpreads::of(&all);
    match is_group {
        true => spreads.write(to)?,
        false => spreads.write_times(to)?,
    }
    writeln!(to, "{DASHES}")
}

/// The spread of one time over many requests, nanoseconds.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct TimeSpread {
    /// The 50, 75, 90, 99, 99.9 and 99.99 %; all 0 without any request.
    pub percentiles_ns: [i64; 6],
    /// The longest three or fewer, the longest last.
    pub worst_ns: Vec<i64>,
}

/// The times of many requests as the published tables have them: T1-T0, T2-T1, and for each of T0, T1 and T2 the time
/// since the request before.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct RequestSpreads {
    /// From the client's build of a request until it is found.
    pub t1_t0: TimeSpread,
    /// From found to written.
    pub t2_t1: TimeSpread,
    /// `T0-`: between two builds.
    pub t0_steps: TimeSpread,
    /// `T1-`: between two requests that are found.
    pub t1_steps: TimeSpread,
    /// `T2-`: between two requests that are written.
    pub t2_steps: TimeSpread,
}

impl RequestSpreads {
    /// The spreads of requests, each with T0, T1 and T2 in nanoseconds. A difference is computed only if both times
    /// are known, which means above 0.
    #[must_use]
    pub fn of(all: &[[i64; 3]]) -> Self {
        let between = |from: usize, until: usize| {
            let both = all.iter().filter(|it| it[from] > 0 && it[until] > 0);
            TimeSpread::of(both.map(|it| it[until] - it[from]).collect())
        };
        let steps = |at: usize| {
            let steps = all.windows(2).filter(|it| it[0][at] > 0 && it[1][at] > 0);
            TimeSpread::of(steps.map(|it| it[1][at] - it[0][at]).collect())
        };
        Self {
            t1_t0: between(0, 1),
            t2_t1: between(1, 2),
            t0_steps: steps(0),
            t1_steps: steps(1),
            t2_steps: steps(2),
        }
    }

    /// Writes a line for each time, as in the published tables.
    ///
    /// # Errors
    ///
    /// Writing to `to` fails.
    pub fn write(&self, to: &mut impl Write) -> fmt::Result {
        self.write_times(to)?;
        self.t0_steps.write("T0-", to)?;
        self.t1_steps.write("T1-", to)?;
        self.t2_steps.write("T2-", to)
    }

    fn write_times(&self, to: &mut impl Write) -> fmt::Result {
        self.t1_t0.write("T1-T0", to)?;
        self.t2_t1.write("T2-T1", to)
    }
}

/// The block for a kind of report. T3 is the time when the report was found, T4 the time when the client's report was
/// written.
fn report_block(name: &str, stamps: &[&Stamp], to: &mut impl Write) -> fmt::Result {
    writeln!(to, "{name}")?;
    counts(stamps, &FirstState::OF_REPORTS, to)?;
    let ends = stamps.iter().map(|it| times(it));
    let ends = ends.filter(|it| it[1] > 0 && it[2] > 0);
    TimeSpread::of(ends.map(|it| it[2] - it[1]).collect()).write("T4-T3", to)?;
    writeln!(to, "{DASHES}")
}

fn counts(stamps: &[&Stamp], states: &[FirstState], to: &mut impl Write) -> fmt::Result {
    write!(to, "Count={}", stamps.len())?;
    for state in states {
        let count = stamps.iter().filter(|it| it.state == *state).count();
        write!(to, "|{}={count}", state.name())?;
    }
    writeln!(to)
}

/// First and last of each time, the number of requests, and their statistics.
fn spans(all: &[[i64; 3]], to: &mut impl Write) -> fmt::Result {
    let ends = [0, 1, 2].map(|at| {
        let first = all.iter().map(|it| it[at]).find(|time| *time > 0);
        let last = all.iter().rposition(|it| it[at] > 0);
        match (first, last) {
            (Some(first), Some(last)) => (first, all[last][at], last + 1),
            _ => (0, 0, 1),
        }
    });
    let span = ends.map(|(first, last, _)| Span(last - first));
    writeln!(to, "Spend(us)|{}|{}|{}", span[0], span[1], span[2])?;
    let [a, b, c] = [0, 1, 2].map(|at| Mean(ends[at].1 - ends[at].0, ends[at].2));
    writeln!(to, "Avg(us)|{a}|{b}|{c}")?;
    let over = |last: usize, first: usize| {
        let (time, count) = (ends[last].1 - ends[first].0, ends[last].2);
        format!(
            "T{last}(last)-T{first}(first)={}/{count}|Avg={}",
            Span(time),
            Mean(time, count)
        )
    };
    writeln!(to, "{}      {}      {}", over(1, 0), over(2, 0), over(2, 1))
}

impl TimeSpread {
    fn of(mut values: Vec<i64>) -> Self {
        values.sort_unstable();
        Self {
            percentiles_ns: PERCENTILES.map(|(_, p)| percentile(&values, p).unwrap_or(0)),
            worst_ns: values[values.len().saturating_sub(3)..].to_vec(),
        }
    }

    fn write(&self, name: &str, to: &mut impl Write) -> fmt::Result {
        write!(to, "{name}")?;
        if self.worst_ns.is_empty() {
            return writeln!(to);
        }
        for ((shown, _), value) in PERCENTILES.iter().zip(self.percentiles_ns) {
            write!(to, "|{shown}={}", Span(value))?;
        }
        write!(to, "|Worst=")?;
        for value in &self.worst_ns {
            write!(to, "{}|", Span(*value))?;
        }
        writeln!(to)
    }
}

/// Nanoseconds as microseconds with at most three decimals.
struct Span(i64);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let nanos = self.0.unsigned_abs();
        let text = format!("{sign}{}.{:03}", nanos / 1000, nanos % 1000);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// A part of a span, rounded to a nanosecond.
struct Mean(i64, usize);

impl fmt::Display for Mean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mean = self.0 as f64 / self.1.max(1) as f64;
        Span(mean.round() as i64).fmt(f)
    }
}

/// Two times of a request.
type Ends = fn(&Stamp) -> (u64, u64);

fn hdr(name: &str, stamps: &[&Stamp], to: &mut impl Write) -> fmt::Result {
    let parts: [(&str, Ends); 4] = [
        ("T1-T0", |it| (it.sent, it.found)),
        ("journalled-T1", |it| (it.found, it.journalled)),
        ("T2-T1", |it| (it.found, it.written)),
        ("T2-read", |it| (it.read, it.written)),
    ];
    writeln!(to, "{name}: HdrHistogram, us")?;
    write!(to, "{:<16}{:>9}", "", "count")?;
    for (shown, _) in SHOWN {
        write!(to, "{shown:>9}")?;
    }
    writeln!(to, "{:>9}", "worst")?;
    for (part, ends) in parts {
        let mut histogram = histogram();
        let ends = stamps.iter().map(|stamp| ends(stamp));
        for (from, until) in ends.filter(|(from, until)| *from > 0 && *until > 0) {
            histogram.saturating_record(until.saturating_sub(from));
        }
        write_figures(part, &histogram, to)?;
    }
    Ok(())
}

fn write_figures(name: &str, histogram: &Histogram<u64>, to: &mut impl Write) -> fmt::Result {
    let figures = Figures::of(histogram);
    write!(to, "{name:<16}{:>9}", figures.count)?;
    for value in figures.columns() {
        write!(to, "{:>9}", micros(value))?;
    }
    writeln!(to)
}

/// Distribution of transactions per millisecond: the number of milliseconds with each count.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Throughput {
    /// Milliseconds with this number of transactions.
    pub rows: BTreeMap<u64, u64>,
    /// Total number of transactions.
    pub transactions: u64,
    /// Time from the first transaction to the last, in nanoseconds.
    pub span: u64,
}

impl Throughput {
    /// The distribution of transactions that were completed at these times (nanoseconds, in any order).
    #[must_use]
    pub fn of(completed: impl IntoIterator<Item = u64>) -> Self {
        let mut completed: Vec<u64> = completed.into_iter().collect();
        completed.sort_unstable();
        let mut counter = ThroughputCounter::default();
        for time in completed {
            counter.add(time);
        }
        counter.finish()
    }

    /// Percent of the milliseconds that had from `least` to `most` transactions.
    #[must_use]
    pub fn share(&self, least: u64, most: u64) -> f64 {
        // The counts are added as floats, because the counts of a result file may have any size.
        let all: f64 = self.rows.values().map(|count| *count as f64).sum();
        let some = self.rows.range(least..=most);
        let some = some.fold(0.0, |sum, (_, count)| sum + *count as f64);
        100.0 * some / all.max(1.0)
    }

    /// Writes the histogram. A row has a number of transactions in a millisecond, the number of milliseconds with it,
    /// and the share of these.
    ///
    /// # Errors
    ///
    /// Writing to `to` fails.
    pub fn write(&self, to: &mut impl Write) -> fmt::Result {
        writeln!(
            to,
            "{} transactions in {:.3} s",
            self.transactions,
            self.span as f64 / 1e9
        )?;
        writeln!(to, "{:>6} {:>8} {:>9}", "per ms", "ms", "share")?;
        for (count, millis) in &self.rows {
            let share = self.share(*count, *count);
            writeln!(to, "{count:>6} {millis:>8} {share:>8.3}%")?;
        }
        Ok(())
    }
}

/// Counts transactions as they arrive, within bounded memory.
#[derive(Clone, Debug, Default)]
pub struct ThroughputCounter {
    found: Throughput,
    /// Times of the first transaction that arrived, of the earliest, and of the latest; `None` before the first
    /// transaction.
    span: Option<[u64; 3]>,
    /// Transactions in each of the newest milliseconds. The key is the distance from the first millisecond that was
    /// counted.
    newest: BTreeMap<i64, u64>,
    /// The last millisecond that is already in the rows; `None` when no millisecond is.
    counted_to: Option<i64>,
    busy: u64,
    late: u64,
}

impl ThroughputCounter {
    /// Number of milliseconds that are kept, so that transactions may arrive out of order.
    pub const REACH: usize = 100_000;

    /// Counts a transaction completed at this time, nanoseconds.
    pub fn add(&mut self, time: u64) {
        let [first, earliest, latest] = self.span.unwrap_or([time; 3]);
        let milli = (i128::from(time) - i128::from(first)).div_euclid(1_000_000) as i64;
        if self.counted_to.is_some_and(|to| milli <= to) {
            self.late += 1;
            return;
        }
        self.span = Some([first, earliest.min(time), latest.max(time)]);
        self.found.transactions += 1;
        *self.newest.entry(milli).or_default() += 1;
        if self.newest.len() > Self::REACH {
            self.count_oldest();
        }
    }

    /// Transactions left out because they arrived more than [`ThroughputCounter::REACH`] busy milliseconds late.
    #[must_use]
    pub fn late(&self) -> u64 {
        self.late
    }

    fn count_oldest(&mut self) {
        if let Some((milli, count)) = self.newest.pop_first() {
            *self.found.rows.entry(count).or_default() += 1;
            self.busy += 1;
            self.counted_to = Some(milli);
        }
    }

    /// The distribution.
    #[must_use]
    pub fn finish(mut self) -> Throughput {
        let Some([first, earliest, latest]) = self.span else {
            return self.found;
        };
        while !self.newest.is_empty() {
            self.count_oldest();
        }
        let milli = |time: u64| (i128::from(time) - i128::from(first)).div_euclid(1_000_000);
        let all = (milli(latest) - milli(earliest) + 1) as u64;
        if all > self.busy {
            self.found.rows.insert(0, all - self.busy);
        }
        self.found.span = latest - earliest;
        self.found
    }
}
