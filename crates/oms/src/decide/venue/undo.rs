//! Handles trades that a venue cancels or corrects: ExecType(150) = H or G, ExecTransType(20) = 1 or 2.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::Decimal;
use fixwire_protocol::value::uint;
use siphasher::sip::SipHasher13;

use crate::decide::core::{Core, Sink};
use crate::decide::venue::agree::{Found, cut};
use crate::decide::venue::{ReportKind, ReportOutcome, VenueId, VenueReport};
use crate::state::OmsState;
use crate::state::apply::undo::is_of_former_day;
use crate::state::event::{LifecycleEvent, OrderEvent, UndoEvent};
use crate::state::orders::exec_ids::{ExecIds, exec_of_another_day, reused_exec};
use crate::state::orders::{Fill, Order};
use crate::values::ids::{InstrumentNo, SessionNo};
use crate::values::show::text;
use crate::values::slab::mixed;
use crate::values::units::{MOST_DECIMALS, scaled, units};
use crate::values::value::{BreakKind, Number, Price, Quantity, Text};
use crate::values::verbs::By;
use crate::values::words::{Words, no_fill, no_order};

/// A fill of an order before a bust or correction, with its quantity and price after it.
type Undone = (Fill, (Quantity, Price));

impl Core {
    /// Handles a bust or a correction of the fill that ExecRefID(19) names. A report that fits no fill is a break.
    pub(crate) fn undone(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        is_correction: bool,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let number = report.id.order;
        if self.is_repeated(number, report) {
            return ReportOutcome::Known;
        }
        if let Some(said) = self.broken_before(number, report) {
            if said.bytes() == cut(&self.undo_text(number, report)) {
                return ReportOutcome::Known;
            }
            // Another report with the same ExecID(17): the break has what the venue says now.
            self.bust_broken(at, report, "ExecID(17) of another report", sink);
            return ReportOutcome::Broken;
        }
        if is_correction && let Some(order) = self.state().orders().get(number) {
            self.widen(at, order.instrument, report.last_price, sink);
        }
        let by = undo_exec(self.state(), number, report);
        let (fill, (quantity, price)) = match self.undo_of(number, report, is_correction) {
            Ok(undone) => undone,
            Err(ours) => {
                self.bust_broken(at, report, ours, sink);
                return ReportOutcome::Broken;
            }
        };
        if is_correction && self.is_entered(number, &fill, (quantity, price)) {
            return ReportOutcome::Known;
        }
        let parent = self.state().families.parent_of(number);
        let mut family = [Some(number), parent].into_iter().flatten();
        let open = !matches!(report.status, b'3' | b'4' | b'8' | b'C')
            && !is_of_former_day(self.state(), number)
            && !family.any(|it| self.state().strays.is_recalled(it));
        let event = match is_correction {
            false => OrderEvent::Undo(UndoEvent::Busted {
                order: number,
                exec: fill.exec,
                by,
                quantity: fill.quantity,
                price: fill.price,
                open,
                at: report.at,
                text: report.text,
            }),
            true => OrderEvent::Undo(UndoEvent::Corrected {
                order: number,
                exec: fill.exec,
                by,
                was_quantity: fill.quantity,
                was_price: fill.price,
                quantity,
                price,
                open,
                at: report.at,
                text: report.text,
            }),
        };
        self.emit(at, &event, sink);
        if !is_correction && !self.state().spreads.is_empty() {
            self.bust_legs(at, report, sink);
        }
        self.decline_filled(at, number, None, sink);
        self.guard_order(at, number, sink);
        if !self.state().strays.undos.is_empty() {
            self.close_stray_undos(at, number, sink);
        }
        ReportOutcome::Taken
    }

    /// Whether the same report arrived before, and has changed its fill.
    pub(crate) fn is_repeated(&self, number: Number, report: &VenueReport<'_>) -> bool {
        let orders = self.state().orders();
        let (Some(order), Some(reference)) = (orders.get(number), report.reference) else {
            return false;
        };
        let execs = undo_execs(self.state(), number, report);
        let mut chain = orders.corrections_of(number, reference);
        if report.kind == ReportKind::Bust {
            return chain.next().is_some_and(|fill| {
                let by = fill.undone;
                by != 0 && (execs.contains(&by) || by == exec_by_hand(fill))
            });
        }
        let now = self.execution(report, order.instrument);
        chain.any(|fill| {
            let is_same = now.is_none_or(|now| now == (fill.quantity, fill.price));
            is_same && fill.exec != reference && execs.contains(&fill.exec)
        })
    }

    /// What the venue said in the break that a bust or correction with this ExecID(17) began.
    fn broken_before(&self, number: Number, report: &VenueReport<'_>) -> Option<Text> {
        let kind = broken_kind(report);
        let found = self.state().breaks.find(number, kind, report.exec);
        found.map(|(_, found)| found.venue.clone())
    }

    /// Whether an operator has entered this correction already, without the ExecID(17) of the venue.
    fn is_entered(&self, number: Number, fill: &Fill, now: (Quantity, Price)) -> bool {
        let mut fills = self.state().orders().fills_of(number);
        now == (fill.quantity, fill.price)
            && fills.any(|it| it.undone == fill.exec && exec_by_hand(it) == fill.exec)
    }

    /// The fill to which a report refers, and the quantity and price that it becomes. An error says why the report fits
    /// no fill.
    pub(crate) fn undo_of(
        &self,
        number: Number,
        report: &VenueReport<'_>,
        is_correction: bool,
    ) -> Result<Undone, &'static str> {
        let orders = self.state().orders();
        let order = orders.get(number).ok_or("no such order")?;
        let reference = report.reference.ok_or("no ExecRefID(19)")?;
        if orders.has_fill(number, exec_of_another_day(reference)) {
            return Err("two fills with this ExecID, of two days");
        }
        let fill = orders.fill_now(number, reference);
        let fill = *fill.ok_or("no fill with this ExecID")?;
        if fill.undone != 0 {
            return Err("fill is busted already");
        }
        if fill.quantity == 0 {
            return Err("fill whose quantity is not known");
        }
        if fill.quantity > order.filled {
            return Err("CumQty(14) was set below the fill");
        }
        let parts = self.state().scales(order.instrument).quantity;
        let now = match is_correction {
            true => self
                .execution(report, order.instrument)
                .ok_or("no LastQty(32) above 0 and LastPx(31)")?,
            false => {
                let said = report.last_quantity.filter(|it| it.mantissa != 0);
                if said.is_some_and(|it| units(it, parts) != Ok(fill.quantity)) {
                    return Err("LastQty(32) of the fill is another");
                }
                (0, 0)
            }
        };
        let left = self.venue_filled(number).checked_sub(fill.quantity);
        let left = left.and_then(|left| left.checked_add(now.0));
        match report.filled.map(|it| units(it, parts)) {
            Some(said) if said.ok() != left => Err("CumQty(14) after it is another"),
            _ => Ok((fill, now)),
        }
    }

    /// Raises the break for a bust or correction that fits no fill.
    pub(crate) fn bust_broken(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        ours: &str,
        sink: &mut impl Sink,
    ) {
        let Some(order) = self.state().orders().get(report.id.order) else {
            return;
        };
        let (instrument, filled) = (order.instrument, order.filled);
        let claim = self.undo_claim(report, instrument, filled);
        let last = report.last_price.unwrap_or_default();
        let price = scaled(last, self.state().scale(instrument)).unwrap_or(0);
        let found = Found {
            exec: report.exec,
            quantity: claim.quantity,
            price,
            total: claim.total,
            opposite: claim.opposite,
            ..Found::of(
                broken_kind(report),
                ours.to_string(),
                self.undo_text(report.id.order, report),
            )
        };
        // A correction to the whole of CumQty(14): the order has no other fill.
        let is_whole = report.kind == ReportKind::Correct && report.last_quantity == report.filled;
        let report = VenueReport {
            filled: report.filled.filter(|_| claim.is_sure),
            average: report.last_price.filter(|_| is_whole).or(report.average),
            ..*report
        };
        self.raise(at, &report, found, sink);
    }

    /// What a bust or correction says, for operators.
    fn undo_text(&self, number: Number, report: &VenueReport<'_>) -> String {
        let state = self.state();
        let instrument = state.orders().get(number).map(|order| order.instrument);
        let Some(instrument) = instrument else {
            return String::new();
        };
        let quantity = state.units(instrument, report.last_quantity);
        let quantity = quantity.map(|it| state.shown(instrument, it).to_string());
        let quantity = quantity.filter(|it| it != "0");
        let cum = self.cum_text(instrument, self.cum_qty(report));
        // Another report with the same ExecID(17) may name another fill.
        let cum = match report.fill_id {
            b"" => cum,
            fill => format!("{cum}, fill {}", text(fill)),
        };
        match (report.kind, quantity, report.last_price) {
            (ReportKind::Correct, Some(quantity), Some(price)) => {
                format!("correction to {quantity} at {}{cum}", price.normalized())
            }
            (ReportKind::Correct, ..) => format!("correction{cum}"),
            (_, Some(quantity), _) => format!("bust of {quantity}{cum}"),
            (_, None, _) => format!("bust{cum}"),
        }
    }

    /// What a bust or correction that fits no fill may change, and what it changes when an operator settles it as the
    /// venue's.
    fn undo_claim(
        &self,
        report: &VenueReport<'_>,
        instrument: InstrumentNo,
        filled: Quantity,
    ) -> UndoClaim {
        let state = self.state();
        let (number, cum) = (report.id.order, self.cum_qty(report));
        let last = state.units(instrument, report.last_quantity);
        let last = last.filter(|last| *last > 0);
        let leaves = state.units(instrument, report.leaves).unwrap_or(0);
        let fill = report
            .reference
            .and_then(|it| state.orders().fill_now(number, it))
            .filter(|fill| fill.undone == 0 && fill.quantity <= filled);
        if report.kind != ReportKind::Correct {
            let lost = cum.map(|cum| filled.saturating_sub(cum));
            let by = last.or(lost).unwrap_or(0);
            // A bust of a whole fill is clear, whatever CumQty(14) counts besides.
            let is_its = fill.is_some_and(|fill| fill.quantity == by);
            let is_sure = by <= filled && (is_its || lost.is_none_or(|lost| lost == by));
            return UndoClaim {
                quantity: if is_sure { by } else { 0 },
                opposite: by.max(lost.unwrap_or(0)).min(filled),
                total: cum.unwrap_or(0).saturating_add(leaves),
                is_sure: true,
            };
        }
        // CumQty(14) after the correction, as far as its fill is known.
        let after = fill.zip(last).map(|(fill, last)| {
            let others = self.venue_filled(number).saturating_sub(fill.quantity);
            others.saturating_add(last)
        });
        let least = last.unwrap_or(0).min(filled);
        let most = filled.saturating_add(last.unwrap_or(0));
        let (low, high) = match (cum, after) {
            (Some(cum), Some(after)) => (cum.min(after), cum.max(after)),
            (Some(it), None) | (None, Some(it)) => (it, it),
            (None, None) => (least, most),
        };
        let is_other = |cum: Quantity| {
            after.is_some_and(|after| after != cum) || last.is_some_and(|last| last > cum)
        };
        UndoClaim {
            quantity: filled,
            opposite: filled.saturating_sub(low),
            total: high.saturating_add(leaves),
            is_sure: cum.is_some_and(|cum| !is_other(cum)),
        }
    }
}

/// What a bust or correction that fits no fill may change.
struct UndoClaim {
    /// Of a bust the quantity that it takes back, or 0 when the report does not say it or says two. Of a correction
    /// CumQty(14) of the order now, from which it is settled.
    quantity: Quantity,
    /// Quantity that it may take back.
    opposite: Quantity,
    /// Total quantity that the order may fill.
    total: Quantity,
    /// Whether CumQty(14) of the report is that after the report.
    is_sure: bool,
}

fn broken_kind(report: &VenueReport<'_>) -> BreakKind {
    match report.kind {
        ReportKind::Correct => BreakKind::Correction,
        _ => BreakKind::Bust,
    }
}

/// The hash by which a fill is taken back: that of the report's ExecID(17), or another one when the order already has
/// a fill or, for a correction, a report with this ExecID. A venue may give its reports the ExecID of the fill.
fn undo_exec(state: &OmsState, number: Number, report: &VenueReport<'_>) -> u64 {
    let execs = undo_execs(state, number, report);
    execs.last().copied().unwrap_or(report.exec)
}

/// The hashes that reports with the ExecID(17) of this report have; the last one is not in use.
fn undo_execs(state: &OmsState, number: Number, report: &VenueReport<'_>) -> Vec<u64> {
    let orders = state.orders();
    let is_correction = report.kind == ReportKind::Correct;
    let is_used = |exec: u64| {
        orders.has_fill(number, exec)
            || (is_correction && orders.fills_of(number).any(|it| it.undone == exec))
    };
    let mut execs = alloc::vec![report.exec];
    let mut exec = report.exec;
    while is_used(exec) {
        exec = reused_exec(exec, is_correction);
        execs.push(exec);
    }
    execs
}

/// A bust or correction of a fill of an order, without its values.
pub(crate) fn undo_report<'a>(
    line: SessionNo,
    order: &Order,
    is_correction: bool,
) -> VenueReport<'a> {
    let id = VenueId {
        order: order.number,
        request: order.current,
    };
    let kind = match is_correction {
        true => ReportKind::Correct,
        false => ReportKind::Bust,
    };
    VenueReport::of(line, id, kind)
}

/// The hash that stands for the ExecID(17) of a bust or correction that an operator enters without it.
fn exec_by_hand(fill: &Fill) -> u64 {
    mixed(fill.report ^ 1 << 62)
}

/// A bust or correction that an operator enters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UndoByHand<'a> {
    /// Number of the order.
    pub order: Number,
    /// The fill as the operator names it: ExecID(17) of the venue, or of the OMS.
    pub name: &'a str,
    /// Hash of the venue's ExecID(17) of the fill.
    pub exec: u64,
    /// Hash of the venue's ExecID(17) of the bust or correction; `None` when the operator does not know it.
    pub by: Option<u64>,
    /// LastQty(32): of a correction the new one, of a bust that of the fill, or none.
    pub quantity: Option<Decimal>,
    /// The new LastPx(31) of a correction.
    pub price: Option<Decimal>,
    pub is_correction: bool,
}

impl UndoByHand<'_> {
    /// The name of the command.
    pub(crate) fn verb(&self) -> &'static str {
        match self.is_correction {
            true => "correct",
            false => "bust",
        }
    }
}

impl Core {
    /// The fill that an operator means, as it is now. An error says why it cannot be busted or corrected so.
    pub(crate) fn check_undo(&self, undo: &UndoByHand<'_>) -> Result<Fill, String> {
        let UndoByHand { order, name, .. } = *undo;
        let state = self.state();
        let known = state.orders().get(order).ok_or_else(|| no_order(order))?;
        let instrument = known.instrument;
        if state.legs(instrument).is_some() {
            return Err(format!(
                "order {order} is of a spread, and a report by hand has no legs: only its venue can bust or correct fill {name}"
            ));
        }
        let fill = state.orders().fill_now(order, undo.exec);
        let fill = *fill.ok_or_else(|| {
            format!("order {order} has no fill {name}: fixwire oms history {order} lists its fills")
        })?;
        if fill.undone != 0 {
            return Err(format!("fill {name} of order {order} is busted already"));
        }
        let takes = |kind| {
            matches!(
                kind,
                BreakKind::Bust | BreakKind::Correction | BreakKind::FillsSurplus
            )
        };
        let mut open = state.breaks.of(order).filter(|(_, it)| takes(it.kind));
        if let Some((number, _)) = open.next() {
            return Err(format!(
                "order {order} has the open break {number} about fills that its venue takes back: settle it first with fixwire oms breaks settle"
            ));
        }
        let counted = state.orders().fills_of(order).filter(|it| it.undone == 0);
        let counted: u128 = counted.map(|it| u128::from(it.quantity)).sum();
        if fill.quantity == 0 || counted != u128::from(known.filled) {
            return Err(format!(
                "CumQty(14) of order {order} was set by an operator, without fill {name}"
            ));
        }
        match undo.is_correction {
            true => self.check_correction(undo, known, &fill)?,
            false => {
                let said = undo.quantity.map(|it| state.units(instrument, Some(it)));
                if said.is_some_and(|it| it != Some(fill.quantity)) {
                    return Err(format!(
                        "quantity is not that of fill {name}, {}: a bust takes the whole fill back, a correction a part",
                        state.shown(instrument, fill.quantity)
                    ));
                }
            }
        }
        Ok(fill)
    }

    fn check_correction(
        &self,
        undo: &UndoByHand<'_>,
        order: &Order,
        fill: &Fill,
    ) -> Result<(), String> {
        let (state, instrument) = (self.state(), order.instrument);
        let quantity = state.units(instrument, undo.quantity);
        let quantity = quantity.filter(|it| *it > 0);
        let quantity = quantity.ok_or_else(|| match state.scales(instrument).quantity {
            0 => "quantity must be a whole number above 0; 0 is a bust".to_string(),
            scale => {
                format!("quantity must be above 0, with at most {scale} decimals; 0 is a bust")
            }
        })?;
        let price = undo.price.filter(|it| {
            let decimals = it.normalized().scale;
            decimals <= MOST_DECIMALS && scaled(*it, decimals).is_ok()
        });
        let price = price.ok_or_else(|| {
            format!("price must be a price with at most {MOST_DECIMALS} decimals")
        })?;
        if (quantity, scaled(price, state.scale(instrument)).ok())
            == (fill.quantity, Some(fill.price))
        {
            return Err(format!(
                "fill {} of order {} has this quantity and price already",
                undo.name, order.number
            ));
        }
        let others = order.filled.saturating_sub(fill.quantity);
        if others.saturating_add(quantity) > order.quantity {
            return Err(format!(
                "quantity is above what order {} has for this fill, {}",
                order.number,
                state.shown(instrument, order.quantity.saturating_sub(others))
            ));
        }
        Ok(())
    }

    /// Reads and checks the words of a command `bust` or `correct`.
    pub(crate) fn undo_named<'a>(&self, words: &Words<'a>) -> Result<UndoByHand<'a>, String> {
        let undo = undo_of_words(self.state(), words)?;
        self.check_undo(&undo)?;
        Ok(undo)
    }

    /// Hash of the request: two operators who must both ask for it mean the same fill, quantity and price, in whatever
    /// words. After a correction of the fill it is another request.
    pub(crate) fn undo_request(&self, undo: &UndoByHand<'_>) -> u64 {
        let now = self.state().orders().fill_now(undo.order, undo.exec);
        let exec = now.map_or(0, |fill| fill.exec);
        let terms = [undo.quantity, undo.price].map(|it| it.map(Decimal::normalized));
        let asked = format!("{} {} {exec} {terms:?}", undo.is_correction, undo.order);
        SipHasher13::new().hash(asked.as_bytes())
    }

    /// Busts or corrects a fill as an operator says.
    pub(crate) fn undo_by_hand(
        &mut self,
        at: i64,
        undo: &UndoByHand<'_>,
        By { who, why }: By<'_>,
        sink: &mut impl Sink,
    ) -> Result<String, String> {
        let was = self.check_undo(undo)?;
        let order = undo.order;
        let Some(known) = self.state().orders().get(order) else {
            return Err(format!("no order {order} in memory"));
        };
        // No line has reported this, so none is named where the order has left its own.
        let line = known.line().unwrap_or(known.session);
        // The correction may give the prices of the symbol more decimals.
        let before = self.terms_text(known, was.quantity, was.price);
        let instrument = known.instrument;
        let report = VenueReport {
            exec: undo.by.unwrap_or_else(|| exec_by_hand(&was)),
            last_quantity: undo.quantity,
            last_price: undo.price,
            reference: Some(was.exec),
            // An order that the fill had filled stays closed.
            status: b'4',
            ..undo_report(line, known, undo.is_correction)
        };
        if undo.is_correction {
            self.widen(at, instrument, report.last_price, sink);
        }
        if undo.is_correction && self.execution(&report, instrument).is_none() {
            return Err(format!(
                "price of fill {} of order {order} is out of range: the prices of its symbol have no room for it",
                undo.name
            ));
        }
        self.undo_of(order, &report, undo.is_correction)
            .map_err(|what| format!("fill {} of order {order}: {what}", undo.name))?;
        let event = OrderEvent::Order(LifecycleEvent::ReportEntered { order, who, why });
        self.emit(at, &event, sink);
        let heard = self.undone(at, &report, undo.is_correction, sink);
        if heard != ReportOutcome::Taken {
            return Err(format!(
                "fill {} of order {order}: the OMS knows this report already, and nothing is changed",
                undo.name
            ));
        }
        self.settle(at, order, sink);
        self.work.look_again(&self.state, order);
        let done = self.undone_by_hand(undo, was.exec, &before);
        self.forget(at, sink);
        Ok(done)
    }

    /// What a bust or correction has changed, for the operator.
    fn undone_by_hand(&self, undo: &UndoByHand<'_>, exec: u64, before: &str) -> String {
        let state = self.state();
        let Some(order) = state.orders().get(undo.order) else {
            return String::new();
        };
        let now = state.orders().fill_now(undo.order, exec);
        let now = match now.filter(|it| it.undone == 0) {
            Some(now) => format!("is {}", self.terms_text(order, now.quantity, now.price)),
            None => "is busted".to_string(),
        };
        format!(
            "fill {} of order {}: {now} (was {before}); CumQty(14) {}",
            undo.name,
            undo.order,
            state.shown(order.instrument, order.filled)
        )
    }

    fn terms_text(&self, order: &Order, quantity: Quantity, price: Price) -> String {
        let state = self.state();
        let scale = state.scale(order.instrument);
        let quantity = state.shown(order.instrument, quantity);
        format!("{quantity} at {}", crate::values::show::price(price, scale))
    }
}

/// Reads `fill=17/E1 quantity=10 price=12.5`: the fill is named by its order and the venue's ExecID(17), or by the
/// ExecID(17) that the client has.
fn undo_of_words<'a>(state: &OmsState, words: &Words<'a>) -> Result<UndoByHand<'a>, String> {
    let is_correction = words.verb == "correct";
    let keys: &[&str] = match is_correction {
        true => &["fill", "quantity", "price"],
        false => &["fill"],
    };
    if let Some((key, _)) = words.pairs().find(|(key, _)| !keys.contains(key)) {
        return Err(format!(
            "unknown word {key}: the words are {}",
            keys.join(", ")
        ));
    }
    let number = |key: &str| match words.get(key) {
        "" if is_correction => Err("a correction needs the new quantity and price".to_string()),
        "" => Ok(None),
        text => match Decimal::parse(text.as_bytes()) {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(format!("{key}={text} is not a number")),
        },
    };
    let name = words.get("fill");
    let (order, exec) = fill_named(state, name)?;
    Ok(UndoByHand {
        order,
        name,
        exec,
        by: None,
        quantity: number("quantity")?,
        price: number("price")?,
        is_correction,
    })
}

/// The order of a fill, and the hash of the venue's ExecID(17) of the fill.
fn fill_named(state: &OmsState, name: &str) -> Result<(Number, u64), String> {
    let wanted = "name the fill as order/ExecID(17) of the venue, 17/E1, or by the ExecID(17) that the client has";
    if let Some((order, exec)) = name.split_once('/') {
        let order = order.parse().map_err(|_| wanted.to_string())?;
        return Ok((order, SipHasher13::new().hash(exec.as_bytes())));
    }
    let own = own_id(&state.exec_ids, name);
    if name.is_empty() || (own.is_none() && !state.exec_ids.is_on() && !is_own_form(name)) {
        return Err(wanted.to_string());
    }
    match own {
        Some(number) => fill_of_event(state, number),
        None => fill_passed(state, name)?,
    }
    .ok_or_else(|| no_fill(name))
}

/// The event of an ExecID(17) of the OMS; `None` when the name is not one that a client has from the OMS.
fn own_id(exec_ids: &ExecIds, name: &str) -> Option<u64> {
    let name = name.as_bytes();
    let (number, has_prefix) = match name.strip_prefix(ExecIds::OWN) {
        Some(number) => (number, true),
        None => (name, false),
    };
    let number = uint(number).ok()?;
    (exec_ids.has_prefix(number) == has_prefix).then_some(number)
}

/// Whether an order has the fill that its client knows by this ExecID(17).
pub(crate) fn has_fill_named(state: &OmsState, order: Number, name: &str) -> bool {
    let mut fills = state.orders().fills_of(order);
    match own_id(&state.exec_ids, name) {
        Some(event) => {
            let is_child = state.families.parent_of(order).is_some();
            fills.any(|it| it.report == event || (is_child && it.report + 1 == event))
        }
        None => {
            let its = state.exec_ids.all.range((order, 0)..=(order, u64::MAX));
            let mut its = its.filter(|(_, (_, id))| id.bytes() == name.as_bytes());
            its.any(|((_, exec), _)| state.orders().has_fill(order, *exec))
        }
    }
}

fn is_own_form(name: &str) -> bool {
    let name = name.as_bytes();
    uint(name.strip_prefix(ExecIds::OWN).unwrap_or(name)).is_ok()
}

/// The fill that an event has reported. The client of a parent has the ExecID(17) of the event after that of its child.
fn fill_of_event(state: &OmsState, number: u64) -> Option<(Number, u64)> {
    let orders = state.orders();
    let fill = |is_its: &dyn Fn(Number, u64) -> bool| {
        let mut all = orders.iter().flat_map(|order| {
            let fills = orders.fills_of(order.number);
            fills.map(|fill| (order.number, fill))
        });
        let found = all.find(|(order, fill)| is_its(*order, fill.report));
        found.map(|(order, fill)| (order, fill.exec))
    };
    let of_child = |order: Number, event: u64| {
        state.families.parent_of(order).is_some() && event.checked_add(1) == Some(number)
    };
    fill(&|_, event| event == number).or_else(|| fill(&of_child))
}

/// The fill whose ExecID(17) of the venue was passed on to its client.
fn fill_passed(state: &OmsState, name: &str) -> Result<Option<(Number, u64)>, String> {
    let all = state.exec_ids.all.iter();
    let its = all.filter(|(_, (_, id))| id.bytes() == name.as_bytes());
    let mut its = its
        .map(|(key, _)| *key)
        .filter(|(order, exec)| state.orders().has_fill(*order, *exec));
    let found = its.next();
    match (found, its.next()) {
        (Some((order, _)), Some((other, _))) => Err(format!(
            "orders {order} and {other} both have a fill {name}: name it as {order}/{name} or {other}/{name}"
        )),
        _ => Ok(found),
    }
}
