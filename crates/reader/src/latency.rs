//! [`LogLatency`]: how long it took until orders were reported, filled, changed and forwarded.

use std::collections::{BTreeMap, HashMap};

use hdrhistogram::Histogram;

use crate::entry::{LogEntry, TimeSource};
use crate::open_orders::OpenOrders;

/// Maximum number of groups that have a histogram of their own; all further groups share one.
const MOST_GROUPS: usize = 200;
/// Maximum number of names (of sessions, types and symbols) that are kept.
const MOST_NAMES: usize = 10_000;
/// Maximum length of a name.
const LONGEST_NAME: usize = 300;
/// The name that all further groups share.
const BEYOND: &str = "(others)";

/// An interval between two messages.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum LatencyKind {
    /// From a `NewOrderSingle` to its reject, or to its first report that is not pending.
    OrderToReport,
    /// From a `NewOrderSingle` to its first fill report.
    OrderToFill,
    /// From an `OrderCancelRequest` to its report or reject.
    CancelToAnswer,
    /// From an `OrderCancelReplaceRequest` to its report or reject.
    ReplaceToAnswer,
    /// From an inbound order or request to the message that a gateway forwarded for it on another session.
    RequestThrough,
    /// From an inbound report to the message that a gateway forwarded for it on another session.
    ReportThrough,
}

impl LatencyKind {
    /// All kinds of intervals.
    pub const ALL: [Self; 6] = [
        Self::OrderToReport,
        Self::OrderToFill,
        Self::CancelToAnswer,
        Self::ReplaceToAnswer,
        Self::RequestThrough,
        Self::ReportThrough,
    ];

    /// Name of the interval in tables and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OrderToReport => "order to first report",
            Self::OrderToFill => "order to first fill",
            Self::CancelToAnswer => "cancel to answer",
            Self::ReplaceToAnswer => "replace to answer",
            Self::RequestThrough => "request in to out",
            Self::ReportThrough => "report in to out",
        }
    }
}

/// The key by which the intervals are grouped.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum LatencyGroup {
    /// The session of the first message.
    Session,
    /// MsgType(35) of the first message.
    Type,
    /// Symbol(55) of the first message, or of the order that it refers to.
    Symbol,
}

/// Intervals of one kind.
#[derive(Clone, Debug)]
pub struct LatencyCounts {
    /// Durations, nanoseconds.
    pub histogram: Histogram<u64>,
    /// Number of intervals whose messages are in one journal record. A record has a single time, so the duration is
    /// unknown.
    pub same_turn: u64,
    /// Number of intervals whose second message has an earlier time than the first.
    pub backwards: u64,
    /// Number of intervals in which a message has no time.
    pub untimed: u64,
}

impl Default for LatencyCounts {
    fn default() -> Self {
        Self {
            histogram: histogram(),
            same_turn: 0,
            backwards: 0,
            untimed: 0,
        }
    }
}

fn histogram() -> Histogram<u64> {
    Histogram::new(3).expect("three digits are a valid precision")
}

/// Time of a message, and its journal record.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Stamp {
    pub(crate) nanos: Option<i64>,
    /// For a message of a journal: the index of the journal's name, the segment and the byte of the record. `None`
    /// for another source.
    pub(crate) record: Option<(u32, u32, u32)>,
}

/// The groups to which a message's intervals belong, as indices in [`Names`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Labels {
    pub(crate) session: u32,
    pub(crate) msg_type: u32,
    pub(crate) symbol: u32,
}

/// Indices for names.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    numbers: HashMap<String, u32>,
    names: Vec<String>,
}

impl Names {
    fn new() -> Self {
        Self {
            numbers: HashMap::new(),
            names: vec![BEYOND.to_owned()],
        }
    }

    pub(crate) fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        if self.names.len() > MOST_NAMES || name.len() > LONGEST_NAME {
            return 0;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }
}

/// The intervals of all messages that were processed.
#[derive(Clone, Debug)]
pub struct LogLatency {
    /// Counts by kind; only of kinds that occurred.
    pub kinds: BTreeMap<LatencyKind, LatencyCounts>,
    /// Number of orders, requests, reports and rejects, by the origin of their time.
    pub time_sources: BTreeMap<TimeSource, u64>,
    /// Durations by kind and group, nanoseconds. At most 200 groups; all others are counted under the name 0.
    groups: BTreeMap<(LatencyKind, LatencyGroup, u32), Histogram<u64>>,
    names: Names,
    open: OpenOrders,
}

impl Default for LogLatency {
    /// Keeps at most 300,000 open orders and requests.
    fn default() -> Self {
        Self::with_limit(300_000)
    }
}

impl LogLatency {
    /// Keeps at most this number of open orders and requests. When there are more, the oldest are dropped.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self {
            kinds: BTreeMap::new(),
            time_sources: BTreeMap::new(),
            groups: BTreeMap::new(),
            names: Names::new(),
            open: OpenOrders::new(limit),
        }
    }

    /// Processes a message.
    pub fn add(&mut self, entry: &LogEntry<'_>) {
        let Self {
            kinds,
            groups,
            names,
            ..
        } = self;
        let mut tally = Tally { kinds, groups };
        if self.open.add(entry, names, &mut tally) {
            *self.time_sources.entry(entry.time().1).or_default() += 1;
        }
    }

    /// The groups of a kind, with their names and durations in nanoseconds.
    pub fn groups(
        &self,
        kind: LatencyKind,
        by: LatencyGroup,
    ) -> impl Iterator<Item = (&str, &Histogram<u64>)> {
        let range = (kind, by, 0)..=(kind, by, u32::MAX);
        self.groups
            .range(range)
            .map(|((.., name), found)| (self.names.names[*name as usize].as_str(), found))
    }

    /// Number of `NewOrderSingle` without an answer; and number of cancels and replaces without an answer.
    #[must_use]
    pub fn unanswered(&self) -> (u64, u64) {
        self.open.unanswered()
    }

    /// Number of open orders and requests that were dropped because of the limit.
    #[must_use]
    pub fn given_up(&self) -> u64 {
        self.open.given_up()
    }
}

/// The histogram of an interval.
pub(crate) struct Tally<'a> {
    kinds: &'a mut BTreeMap<LatencyKind, LatencyCounts>,
    groups: &'a mut BTreeMap<(LatencyKind, LatencyGroup, u32), Histogram<u64>>,
}

impl Tally<'_> {
    pub(crate) fn count(&mut self, kind: LatencyKind, labels: Labels, from: Stamp, to: Stamp) {
        let counts = self.kinds.entry(kind).or_default();
        if from.record.is_some() && from.record == to.record {
            counts.same_turn += 1;
            return;
        }
        let (Some(from), Some(to)) = (from.nanos, to.nanos) else {
            counts.untimed += 1;
            return;
        };
        let Ok(nanos) = u64::try_from(to.saturating_sub(from)) else {
            counts.backwards += 1;
            return;
        };
        record(&mut counts.histogram, nanos);
        for (by, name) in [
            (LatencyGroup::Session, labels.session),
            (LatencyGroup::Type, labels.msg_type),
            (LatencyGroup::Symbol, labels.symbol),
        ] {
            let has_room = self.groups.len() < MOST_GROUPS;
            let name = match has_room || self.groups.contains_key(&(kind, by, name)) {
                true => name,
                false => 0,
            };
            let group = self
                .groups
                .entry((kind, by, name))
                .or_insert_with(histogram);
            record(group, nanos);
        }
    }
}

/// Records a duration. A histogram that resizes itself accepts every value.
fn record(histogram: &mut Histogram<u64>, nanos: u64) {
    histogram.auto(true);
    let _ = histogram.record(nanos.max(1));
}
