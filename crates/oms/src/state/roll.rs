//! The end of a trading day: the orders that end with the day, and the orders whose end the venues have not confirmed.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::state::OmsState;
use crate::state::orders::Order;
use crate::state::orders::transition::OrderState;
use crate::values::ids::SessionNo;
use crate::values::value::Number;

/// Text(58) of an order that ends with the trading day.
pub(crate) const DAY_OVER: &[u8] = b"end of the trading day";

/// A new trading day that starts once the orders of the day before are closed.
#[derive(Clone, Debug)]
pub(crate) struct Roll {
    /// The date, as 20261122.
    pub day: u32,
    /// The hash key for the ids of the new day.
    pub key: u128,
    /// Time until which the OMS waits for the venues, in nanoseconds since 1970.
    pub until: i64,
    /// Orders whose end is awaited.
    pub awaited: Vec<Number>,
    /// Whether the OMS has just started. Then the roll also waits until the lines log on.
    pub at_start: bool,
    /// Whether the remaining orders are being closed.
    pub closing: bool,
}

/// Cause of a roll without an operator.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum RollCause {
    /// The time of `day_begins` has come.
    Clock,
    /// The OMS was started on a later trading day.
    Start,
}

impl RollCause {
    pub fn words(self) -> (&'static [u8], &'static [u8]) {
        match self {
            Self::Clock => (b"clock", b"day_begins"),
            Self::Start => (
                b"start",
                b"the trading day has ended while the OMS was stopped",
            ),
        }
    }
}

/// Whether an order is at a venue, and ends with the trading day that the roll closes.
pub(crate) fn ends_with_day(state: &OmsState, order: &Order) -> bool {
    state.next_day.is_some_and(|day| is_live(order, day))
}

/// Whether the venue has, or may have, an order that ends before this day.
///
/// Orders placed elsewhere are excluded, because the OMS may not cancel them. Orders with missing fills are excluded
/// too, because the venue has already reported their end.
pub(crate) fn is_live(order: &Order, day: u32) -> bool {
    order.ends_before(day)
        && !order.state.is_unsent()
        && !order.is_external()
        && order.pended.is_none()
}

/// Whether the venue still has to confirm that an order of a closed trading day has ended.
pub(crate) fn is_unconfirmed(state: &OmsState, order: &Order) -> bool {
    order.state == OrderState::Lapsed || ends_with_day(state, order)
}

/// Text with the number of open orders at the venues. For each line, it has the number of orders that end before a day,
/// and of the others.
pub(crate) fn open_at_venues(state: &OmsState, day: u32) -> String {
    let mut lines: BTreeMap<SessionNo, [usize; 3]> = BTreeMap::new();
    let orders = state.orders().iter();
    for order in
        orders.filter(|it| it.state.is_open() && !it.state.is_unsent() && !it.is_external())
    {
        let Some(line) = order.line() else { continue };
        let counts = lines.entry(line).or_default();
        let kind = match order.state {
            OrderState::Lapsed => 2,
            _ => usize::from(order.outlives(day)),
        };
        counts[kind] += 1;
    }
    let words = [
        "end with the day",
        "stay",
        "closed here before, not confirmed",
    ];
    let lines = lines.iter().map(|(line, counts)| {
        let kinds = counts.iter().zip(words).filter(|(count, _)| **count > 0);
        let kinds: Vec<String> = kinds
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        let name = String::from_utf8_lossy(state.sessions().name(*line));
        format!("{name}: {}", kinds.join(", "))
    });
    let lines: Vec<String> = lines.collect();
    match lines.is_empty() {
        true => "no orders open at a venue".to_string(),
        false => format!("orders open at {}", lines.join("; ")),
    }
}

/// Text with the lapsed orders that the venue has not confirmed, by line; empty when there are no such orders.
pub(crate) fn unconfirmed_at_venues(state: &OmsState) -> String {
    let mut lines: BTreeMap<SessionNo, usize> = BTreeMap::new();
    let orders = state.orders().iter();
    let lapsed = orders.filter(|it| it.state == OrderState::Lapsed);
    for line in lapsed.filter_map(Order::line) {
        *lines.entry(line).or_default() += 1;
    }
    let lines = lines.iter().map(|(line, count)| {
        let name = String::from_utf8_lossy(state.sessions().name(*line));
        format!("{count} at {name}")
    });
    let lines: Vec<String> = lines.collect();
    lines.join(", ")
}
