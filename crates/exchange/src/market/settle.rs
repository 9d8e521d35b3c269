//! Turns the events of the books into reports for members.

use alloc::vec::Vec;

use fixwire_book::{BookEvent, CancelReason, Side};
use fixwire_protocol::Timestamp;

use super::{Market, transact_time};
use crate::dialect::{Dialect, Kind};
use crate::orders::Filled;
use crate::outgoing::Report;
use crate::report::{self, Entry, Said};
use crate::spread::{self, LegTrade};

/// The request that caused events: its ClOrdID(11), and the ClOrdID(11) that the order had before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cause<'a> {
    pub(super) cl_ord_id: &'a [u8],
    pub(super) orig_cl_ord_id: &'a [u8],
}

impl Market {
    /// Reports the events of an instrument's book to members, in order. Rejected requests are reported elsewhere.
    pub(super) fn settle(
        &mut self,
        at: Timestamp,
        index: usize,
        events: &[BookEvent],
        cause: Option<Cause<'_>>,
    ) {
        if let Some(tape) = &mut self.tape {
            tape.add(index, at, events);
        }
        for (place, event) in events.iter().enumerate() {
            let entry = |id: u64| self.entry(events, place, id);
            match *event {
                // The report of the first trade, or of the deletion, also acknowledges the order.
                BookEvent::Accepted { id } if entry(id).acknowledges => {}
                BookEvent::Cancelled { id, .. } if entry(id).ends => {}
                BookEvent::Accepted { id } => self.report(at, id, &Said::of(Kind::New)),
                BookEvent::Replaced { id, .. } => {
                    let said = Said {
                        orig_cl_ord_id: cause.map(|cause| cause.orig_cl_ord_id),
                        ..Said::of(Kind::Replaced)
                    };
                    self.report(at, id, &said);
                }
                BookEvent::Triggered { id } => self.report(at, id, &Said::of(Kind::Triggered)),
                BookEvent::Cancelled { id, reason, .. } => {
                    let entry = entry(id);
                    let asked = cause.filter(|_| reason == CancelReason::Requested);
                    self.cancelled(at, id, (reason, entry), words(reason), asked);
                }
                BookEvent::Trade {
                    price,
                    quantity,
                    buy,
                    buy_leaves,
                    sell,
                    sell_leaves,
                    aggressor,
                } => {
                    self.instruments[index].count_trade(price, quantity);
                    let [mut first, mut second] = [(buy, buy_leaves), (sell, sell_leaves)];
                    // The order that was in the book already is reported before the incoming order.
                    if aggressor == Some(Side::Buy) {
                        core::mem::swap(&mut first, &mut second);
                    }
                    for (id, leaves) in [first, second] {
                        let entry = self.entry(events, place, id);
                        self.traded(at, (id, leaves), (quantity, price), entry);
                    }
                }
                BookEvent::Rejected { .. } | BookEvent::Uncrossed(_) => {}
            }
        }
    }

    /// The other events that the report of an event includes. Over TMP, an order that trades or is deleted on entry
    /// gets no separate report for the entry, and no separate report for a deletion after a trade. For `Accepted` and
    /// `Cancelled`, the result says whether the report of another event includes them.
    fn entry(&self, events: &[BookEvent], place: usize, id: u64) -> Entry {
        let member = self.orders.get(id).map(|order| order.member);
        let is_tmp = member.is_some_and(|member| self.dialect(member) == Dialect::Tmp);
        let is_entered = |it: &BookEvent| matches!(it, BookEvent::Accepted { id: of } if *of == id);
        if !is_tmp || !events[..=place].iter().any(is_entered) {
            return Entry::default();
        }
        let trades = |it: &BookEvent| matches!(it, BookEvent::Trade { buy, sell, .. } if [*buy, *sell].contains(&id));
        let ends = |it: &BookEvent| matches!(it, BookEvent::Cancelled { id: of, .. } if *of == id);
        let (before, after) = (&events[..place], &events[place + 1..]);
        let has_traded = before.iter().any(trades);
        match &events[place] {
            BookEvent::Accepted { .. } => Entry {
                acknowledges: after.iter().any(|it| trades(it) || ends(it)),
                ends: false,
            },
            BookEvent::Trade { .. } => Entry {
                acknowledges: !has_traded,
                ends: after
                    .iter()
                    .find(|it| trades(it) || ends(it))
                    .is_some_and(ends),
            },
            _ => Entry {
                acknowledges: !has_traded,
                ends: has_traded,
            },
        }
    }

    fn traded(
        &mut self,
        at: Timestamp,
        (id, leaves): (u64, u64),
        (quantity, price): (u64, i64),
        entry: Entry,
    ) {
        let Some(order) = self.orders.get_mut(id) else {
            return;
        };
        order.filled += quantity;
        order.notional += i128::from(price) * i128::from(quantity);
        if leaves == 0 {
            self.orders.close(id, b'2');
        } else if entry.ends {
            self.orders.close(id, b'4');
        }
        self.report_trade(at, id, (quantity, price), entry);
    }

    /// Reports a trade of an order; for a spread also the trades of its legs.
    pub(super) fn report_trade(&mut self, at: Timestamp, id: u64, last: (u64, i64), entry: Entry) {
        let legs = self.leg_trades(id, last);
        // The report of the trade has this ExecID; the reports of the legs have the next ones.
        let exec_id = self.last_exec + 1;
        if let Some(order) = self.orders.get_mut(id) {
            let (lots, ticks) = last;
            order.fills.push(Filled {
                exec_id,
                lots,
                ticks,
            });
        }
        let said = Said {
            last: Some(last),
            legs,
            entry,
            ..Said::of(Kind::Trade)
        };
        self.report(at, id, &said);
        if let Some(trades) = legs {
            self.report_legs(at, id, &trades);
        }
    }

    fn leg_trades(&self, id: u64, last: (u64, i64)) -> Option<[LegTrade; 2]> {
        let order = self.orders.get(id)?;
        let spread = &self.instruments[order.instrument as usize];
        spread.legs.as_ref()?;
        let leg = |symbol: &str| self.instruments.iter().find(|it| it.symbol == symbol);
        spread::trade(spread, leg, order.side, last)
    }

    /// Reports both legs of a trade to a FIX member. TMP reports both legs in one message, together with the trade.
    fn report_legs(&mut self, at: Timestamp, id: u64, trades: &[LegTrade; 2]) {
        let Some(order) = self.orders.get(id) else {
            return;
        };
        let (member, index) = (order.member, order.instrument as usize);
        let dialect = self.dialect(member);
        if dialect == Dialect::Tmp {
            return;
        }
        let time = self.time(member, at);
        for place in [0, 1] {
            self.last_exec += 1;
            let spread = &self.instruments[index];
            let (Some(order), Some(legs)) = (self.orders.get(id), &spread.legs) else {
                return;
            };
            let leg = (&legs[place], &trades[place]);
            let exec_id = self.last_exec;
            let body = report::leg_execution(dialect, (order, spread), exec_id, &time, leg);
            self.tell(member, b'8', body);
        }
    }

    /// Reports that an order was removed from its book unfilled.
    pub(super) fn cancelled(
        &mut self,
        at: Timestamp,
        id: u64,
        (reason, entry): (CancelReason, Entry),
        text: &str,
        cause: Option<Cause<'_>>,
    ) {
        let (kind, status) = match reason {
            CancelReason::Expired => (Kind::Expired, b'C'),
            _ => (Kind::Canceled, b'4'),
        };
        self.orders.close(id, status);
        let said = Said {
            cl_ord_id: cause.map(|cause| cause.cl_ord_id),
            orig_cl_ord_id: cause.map(|cause| cause.orig_cl_ord_id),
            entry,
            text,
            ..Said::of(kind)
        };
        self.report(at, id, &said);
    }

    /// Sends the member a report on an order. A status report gets no ExecID of its own, because it reports no
    /// execution.
    pub(super) fn report(&mut self, at: Timestamp, id: u64, said: &Said<'_>) {
        let Some(order) = self.orders.get(id) else {
            return;
        };
        let member = order.member;
        let exec_id = match said.kind {
            Kind::Status => 0,
            _ => {
                self.last_exec += 1;
                self.last_exec
            }
        };
        let dialect = self.dialect(member);
        if dialect == Dialect::Tmp {
            return self.tmp_report(at, id, exec_id, said);
        }
        let instrument = &self.instruments[order.instrument as usize];
        let time = transact_time(&mut self.times, &self.members, member, at);
        let body = report::execution(dialect, order, instrument, exec_id, time, said);
        if let Some(body) = body {
            self.tell(member, b'8', body);
        }
    }

    /// Queues a message to a member.
    pub(super) fn tell(&mut self, member: u32, msg_type: u8, body: Vec<u8>) {
        self.waiting.push_back(Report {
            member,
            msg_type,
            body,
        });
    }
}

/// Text(58) for an order that was cancelled, but not by its member.
fn words(reason: CancelReason) -> &'static str {
    match reason {
        CancelReason::Requested => "",
        CancelReason::ImmediateOrCancel => {
            "Immediate or cancel: the remaining quantity found no match"
        }
        CancelReason::FillOrKill => "Fill or kill: not enough quantity to fill it",
        CancelReason::NoLiquidity => "Market order: no liquidity left in the book",
        CancelReason::Expired => "End of the trading day",
    }
}
