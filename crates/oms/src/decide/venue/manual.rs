//! Reports that an operator enters by hand, because a venue reports by telephone or its line is down.
//!
//! A report is `order=17 type=fill quantity=10 price=12.50 exec=E1`; other types are accepted, rejected, cancelled,
//! expired and done, which need only the order, and leg1 and leg2, fills of a leg of a spread. A fill counts once by its ExecID(17), whoever reports it.
//!
//! `order=17 type=bust exec=E9 ref=E1` takes the fill E1 back, `order=17 type=correct quantity=8 price=12.4 exec=E9 ref=E1`
//! corrects it: `exec` is the ExecID(17) of the venue's report, `ref` its ExecRefID(19).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use core::fmt::Write as _;

use fixwire_protocol::Decimal;
use siphasher::sip::SipHasher13;

use crate::decide::core::{Core, Sink};
use crate::decide::venue::undo::UndoByHand;
use crate::decide::venue::{ReportKind, VenueId, VenueReport};
use crate::state::event::{LifecycleEvent, OrderEvent};
use crate::state::orders::Order;
use crate::state::orders::transition::OrderState;
use crate::state::spreads::{LegSource, leg_exec};
use crate::values::reason::Why;
use crate::values::show::text;
use crate::values::units::MOST_DECIMALS;
use crate::values::units::scaled;
use crate::values::value::{BreakKind, End, Number, Quantity, RequestKind};
use crate::values::verbs::By;
use crate::values::words::{Words, no_order};

/// The keys of a report.
const KEYS: [&str; 6] = ["order", "type", "quantity", "price", "exec", "ref"];

/// Maximum number of reports in one file.
const MOST: usize = 200;

/// A report whose words were read without the state.
#[derive(Clone, Copy, Debug)]
struct Entry<'a> {
    order: Number,
    kind: ReportKind,
    quantity: Option<Decimal>,
    price: Option<Decimal>,
    exec: &'a str,
    /// ExecRefID(19) of a bust or correction: the venue's ExecID(17) of the fill.
    of: &'a str,
    /// Leg of the fill, from 0.
    leg: Option<usize>,
}

/// What the earlier reports of the same file change.
#[derive(Debug, Default)]
struct Before<'a> {
    /// Filled quantity, by order and leg.
    filled: BTreeMap<(Number, Option<usize>), Quantity>,
    accepted: BTreeSet<Number>,
    ended: BTreeSet<Number>,
    execs: BTreeSet<(Number, &'a str)>,
    /// Fills that are busted or corrected, by the hash of the ExecID(17) that they have now.
    undone: BTreeSet<(Number, u64)>,
}

impl<'a> Entry<'a> {
    fn parse(text: &'a str) -> Result<Self, String> {
        let words = Words {
            verb: "report",
            rest: text,
        };
        if let Some((key, _)) = words.pairs().find(|(key, _)| !KEYS.contains(key)) {
            return Err(format!(
                "unknown word {key}: the words are {}",
                KEYS.join(", ")
            ));
        }
        let order = words.get("order").parse().ok();
        let order = order.ok_or_else(|| format!("order={} is not a number", words.get("order")))?;
        let leg = match words.get("type") {
            "leg1" => Some(0),
            "leg2" => Some(1),
            _ => None,
        };
        let kind = match words.get("type") {
            "fill" | "leg1" | "leg2" => ReportKind::Fill,
            "accepted" => ReportKind::New,
            "rejected" => ReportKind::Rejected,
            "cancelled" => ReportKind::End(End::Cancelled),
            "expired" => ReportKind::End(End::Expired),
            "done" => ReportKind::End(End::DoneForDay),
            "bust" => ReportKind::Bust,
            "correct" => ReportKind::Correct,
            other => {
                return Err(format!(
                    "unknown type {other}: write fill, accepted, rejected, cancelled, expired, done, bust or correct, or leg1 or leg2 for a fill of a leg"
                ));
            }
        };
        let number = |key: &str| match words.get(key) {
            "" => Ok(None),
            text => match Decimal::parse(text.as_bytes()) {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(format!("{key}={text} is not a number")),
            },
        };
        let entry = Self {
            order,
            kind,
            quantity: number("quantity")?,
            price: number("price")?,
            exec: words.get("exec"),
            of: words.get("ref"),
            leg,
        };
        entry.has_its_words()?;
        Ok(entry)
    }

    /// Refuses a report with a word too few or too many for its type.
    fn has_its_words(&self) -> Result<(), String> {
        let terms = [self.quantity.is_some(), self.price.is_some()];
        let ids = [!self.exec.is_empty(), !self.of.is_empty()];
        let (is_its, wanted) = match self.kind {
            ReportKind::Fill => (
                terms == [true; 2] && ids == [true, false],
                "a fill needs quantity, price and exec, the ExecID(17) of the venue, and no ref",
            ),
            ReportKind::Bust => (
                !terms[1] && ids == [true; 2],
                "a bust needs exec, its ExecID(17), and ref, the ExecID(17) of the fill; it has no price",
            ),
            ReportKind::Correct => (
                terms == [true; 2] && ids == [true; 2],
                "a correction needs the new quantity and price, exec, its ExecID(17), and ref, the ExecID(17) of the fill",
            ),
            _ => (
                terms == [false; 2] && ids == [false; 2],
                "only a fill, a bust and a correction have quantity, price, exec and ref",
            ),
        };
        match is_its {
            true => Ok(()),
            false => Err(wanted.into()),
        }
    }

    /// The bust or correction; `None` for another report.
    fn as_undo(&self) -> Option<UndoByHand<'a>> {
        self.kind.is_undo().then(|| UndoByHand {
            order: self.order,
            name: self.of,
            exec: SipHasher13::new().hash(self.of.as_bytes()),
            by: Some(self.exec_hash()),
            quantity: self.quantity,
            price: self.price,
            is_correction: self.kind == ReportKind::Correct,
        })
    }

    /// Hash of the ExecID(17): the same hash as for a report of the venue.
    fn exec_hash(&self) -> u64 {
        SipHasher13::new().hash(self.exec.as_bytes())
    }
}

impl Core {
    /// Checks reports that are separated by `;`. For each wrong report, the answer has its position, from 1, and the
    /// mistake.
    pub(crate) fn check_reports(&self, text: &str) -> Result<String, String> {
        let mut wrong = String::new();
        let mut before = Before::default();
        if text.split(';').count() > MOST {
            return Err(format!("at most {MOST} reports in one file"));
        }
        for (at, row) in (1..).zip(text.split(';')) {
            let entry = Entry::parse(row);
            if let Err(what) = entry.and_then(|entry| self.check_entry(&entry, &mut before)) {
                let _ = writeln!(wrong, "{at}\t{what}");
            }
        }
        Ok(wrong)
    }

    fn check_entry<'a>(&self, entry: &Entry<'a>, before: &mut Before<'a>) -> Result<(), String> {
        let number = entry.order;
        let order = self.state.orders().get(number);
        let order = order.ok_or_else(|| no_order(number))?;
        if order.state.is_unsent() {
            return Err(format!("order {number} was not sent to a venue"));
        }
        if let Some(undo) = entry.as_undo() {
            return self.check_undo_row(entry, &undo, before);
        }
        let is_open = order.state.is_open() && !before.ended.contains(&number);
        if entry.kind == ReportKind::Fill {
            if self.state.strays.is_recalled(number) {
                return Err(format!(
                    "order {number} was read from the journal, and takes no fill: fixwire oms breaks may have the fill already; change the position with fixwire oms position adjust"
                ));
            }
            return self.check_fill(entry, order, before);
        }
        if !is_open {
            return Err(format!("order {number} is closed"));
        }
        match entry.kind {
            ReportKind::End(_) => {
                before.ended.insert(number);
            }
            _ if order.state.is_answered() || !before.accepted.insert(number) => {
                return Err(format!("the venue has accepted order {number} already"));
            }
            ReportKind::Rejected => {
                before.ended.insert(number);
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks a bust or correction; each fill once in a file, and each ExecID(17) once.
    fn check_undo_row<'a>(
        &self,
        entry: &Entry<'a>,
        undo: &UndoByHand<'a>,
        before: &mut Before<'a>,
    ) -> Result<(), String> {
        let Entry {
            order, exec, of, ..
        } = *entry;
        if self.rules.two_arm {
            return Err(format!(
                "two operators must {} a fill: give fixwire oms {} with the fill {order}/{of}",
                undo.verb(),
                undo.verb()
            ));
        }
        let exec_hash = entry.exec_hash();
        let mut fills = self.state.orders().fills_of(order);
        let is_known = self.state.orders().has_fill(order, exec_hash)
            || fills.any(|it| it.undone == exec_hash);
        if is_known || !before.execs.insert((order, exec)) {
            return Err(format!("exec={exec} of order {order} is known already"));
        }
        let breaks = &self.state.breaks;
        let kinds = [BreakKind::Bust, BreakKind::Correction];
        let mut broken = kinds
            .iter()
            .filter_map(|kind| breaks.find(order, *kind, exec_hash));
        if let Some((number, it)) = broken.next() {
            let what = match it.is_settled {
                true => "which is settled",
                false => "settle it with fixwire oms breaks settle",
            };
            return Err(format!(
                "exec={exec} of order {order} is break {number}: {what}"
            ));
        }
        let fill = self.check_undo(undo)?;
        if !before.undone.insert((order, fill.exec)) {
            return Err(format!(
                "ref={of} of order {order} is in an earlier row too"
            ));
        }
        let Some(known) = self.state.orders().get(order) else {
            return Ok(());
        };
        let now = match undo.is_correction {
            true => self.state.units(known.instrument, undo.quantity),
            false => None,
        };
        let filled = before.filled.entry((order, None)).or_insert(known.filled);
        let others = filled.saturating_sub(fill.quantity);
        let total = others.saturating_add(now.unwrap_or(0));
        if now.is_some() && total > known.quantity {
            return Err(format!(
                "quantity is above what order {order} has for this fill after the earlier rows, {}",
                self.state
                    .shown(known.instrument, known.quantity.saturating_sub(others))
            ));
        }
        *filled = total;
        if total >= known.quantity {
            before.ended.insert(order);
        }
        Ok(())
    }

    fn check_fill<'a>(
        &self,
        entry: &Entry<'a>,
        order: &Order,
        before: &mut Before<'a>,
    ) -> Result<(), String> {
        let Entry {
            order: number,
            exec,
            ..
        } = *entry;
        let leg =
            match entry.leg {
                Some(at) => {
                    let legs = self.state.legs(order.instrument);
                    let leg = legs.map(|legs| legs[at]);
                    Some(leg.ok_or_else(|| {
                        format!("order {number} is not of a spread: it has no legs")
                    })?)
                }
                None => None,
            };
        let instrument = leg.map_or(order.instrument, |leg| leg.instrument);
        let quantity = self.state.units(instrument, entry.quantity);
        let quantity = quantity.filter(|quantity| *quantity > 0);
        let quantity = quantity.ok_or_else(|| match self.state.scales(instrument).quantity {
            0 => "quantity must be a whole number above 0".into(),
            scale => format!("quantity must be above 0, with at most {scale} decimals"),
        })?;
        let price = entry.price.filter(|it| {
            let decimals = it.normalized().scale;
            decimals <= MOST_DECIMALS && scaled(*it, decimals).is_ok()
        });
        if price.is_none() {
            return Err(format!(
                "price must be a price with at most {MOST_DECIMALS} decimals"
            ));
        }
        let exec_hash = match leg {
            Some(leg) => leg_exec(entry.exec_hash(), leg.instrument),
            None => entry.exec_hash(),
        };
        let is_known = self.state.orders().has_fill(number, exec_hash);
        if is_known || !before.execs.insert((number, exec)) {
            return Err(format!("exec={exec} of order {number} is known already"));
        }
        let of = self.state.legs_of(number).zip(entry.leg);
        let known = of.map_or(order.filled, |(of, at)| of.filled[at]);
        let most = leg.map_or(order.quantity, |leg| leg.quantity(order.quantity));
        let filled = before.filled.entry((number, entry.leg)).or_insert(known);
        if filled.saturating_add(quantity) > most {
            return Err(format!(
                "quantity is above what is left of order {number}, {}",
                self.state.shown(instrument, most.saturating_sub(*filled))
            ));
        }
        *filled += quantity;
        if entry.leg.is_none() && *filled >= most {
            before.ended.insert(number);
        }
        before.accepted.insert(number);
        Ok(())
    }

    /// Applies a report that an operator entered.
    pub(crate) fn report_by_hand(
        &mut self,
        at: i64,
        text: &str,
        By { who, why }: By<'_>,
        sink: &mut impl Sink,
    ) -> Result<String, String> {
        let entry = Entry::parse(text)?;
        self.check_entry(&entry, &mut Before::default())?;
        if let Some(undo) = entry.as_undo() {
            return self.undo_by_hand(at, &undo, By { who, why }, sink);
        }
        let order = entry.order;
        let event = OrderEvent::Order(LifecycleEvent::ReportEntered { order, who, why });
        self.emit(at, &event, sink);
        if entry.kind == ReportKind::Rejected {
            self.reject(at, order, Why::Venue, b"", sink);
        } else {
            self.hear_entry(at, &entry, sink);
        }
        Ok(self.entered(&entry))
    }

    /// What became of a report that was entered, and the state of its order.
    fn entered(&self, entry: &Entry<'_>) -> String {
        let number = entry.order;
        let order = self.state.orders().get(number);
        let state = order.map(|order| order.state);
        let kind = match entry.kind {
            ReportKind::New => "accepted",
            ReportKind::Rejected => name(Some(OrderState::Ended(End::Rejected))),
            ReportKind::End(end) => name(Some(OrderState::Ended(end))),
            _ => {
                return format!(
                    "order {number}: {}; the order is {}",
                    self.fill_entered(entry),
                    name(state)
                );
            }
        };
        match name(state) {
            is if is == kind => format!("order {number}: reported as {kind}"),
            is => format!("order {number}: reported as {kind}; the order is {is}"),
        }
    }

    fn fill_entered(&self, entry: &Entry<'_>) -> String {
        let order = self.state.orders().get(entry.order);
        let legs = order.and_then(|order| self.state.legs(order.instrument));
        let leg = entry.leg.zip(legs).map(|(at, legs)| legs[at].instrument);
        let exec = match leg {
            Some(leg) => leg_exec(entry.exec_hash(), leg),
            None => entry.exec_hash(),
        };
        // An order that the fill has ended may have left memory.
        let is_booked = order.is_none() || self.state.orders().has_fill(entry.order, exec);
        let number = |of: Option<Decimal>| of.unwrap_or_default().normalized();
        let (quantity, price) = (number(entry.quantity), number(entry.price));
        let leg = leg.map(|leg| text(self.state.instruments().name(leg)));
        let of_leg = leg.map_or_else(String::new, |leg| format!(" of leg {leg}"));
        match is_booked {
            true => format!("fill of {quantity}{of_leg} at {price} entered"),
            false => format!(
                "the fill of {quantity}{of_leg} at {price} was not booked: see fixwire oms breaks"
            ),
        }
    }

    fn hear_entry(&mut self, at: i64, entry: &Entry<'_>, sink: &mut impl Sink) {
        let Some(order) = self.state.orders().get(entry.order) else {
            return;
        };
        let Some(line) = order.line() else {
            return;
        };
        let pending = self.state.orders().request_of(order);
        // An order that expires or is done for the day was not cancelled, so its pending cancel is declined as too
        // late.
        let is_cancelled = entry.kind == ReportKind::End(End::Cancelled);
        let cancel = pending.filter(|request| is_cancelled && request.kind == RequestKind::Cancel);
        // A fill that an operator enters does not make an order work again that is done for the day.
        let is_done = order.state == OrderState::DoneForDay;
        let leg = entry.leg.zip(self.state.legs(order.instrument));
        let leg = leg.map(|(at, legs)| self.state.instruments().name(legs[at].instrument));
        let symbol = leg.unwrap_or_default().to_vec();
        let id = VenueId {
            order: order.number,
            request: cancel.map_or(order.current, |request| request.number),
        };
        let report = VenueReport {
            exec: entry.exec_hash(),
            last_quantity: entry.quantity,
            last_price: entry.price,
            symbol: &symbol,
            status: if is_done { b'3' } else { 0 },
            ..VenueReport::of(line, id, entry.kind)
        };
        if entry.leg.is_none() {
            self.report(at, &report, sink);
        } else {
            // The fill counts in addition to the venue's fills, whether the venue reports legs in its fills or
            // separately.
            let of = self.state.spreads.get(report.id.order);
            let in_fill = of.is_some_and(|of| of.source == LegSource::Fills);
            self.report_of_leg(at, &report, in_fill, sink);
            self.forget(at, sink);
        }
    }
}

fn name(state: Option<OrderState>) -> &'static str {
    match state {
        Some(OrderState::Ended(End::Filled)) => "filled",
        Some(OrderState::Ended(End::Cancelled)) => "cancelled",
        Some(OrderState::Ended(End::Rejected)) => "rejected",
        Some(OrderState::Ended(End::Expired)) => "expired",
        Some(OrderState::Ended(End::DoneForDay) | OrderState::DoneForDay) => "done for the day",
        Some(OrderState::Lapsed) => "closed here, not confirmed by the venue",
        Some(
            OrderState::Parent
            | OrderState::Held
            | OrderState::Queued
            | OrderState::Sent
            | OrderState::Unknown
            | OrderState::Working,
        ) => "working",
        None => "closed and no longer in memory",
    }
}
