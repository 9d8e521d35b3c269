//! Strays are fills of orders that the OMS does not have. This file applies, settles and lists strays; a venue may also
//! cancel a stray, or confirm it by a drop copy.
//!
//! A bust or correction of a fill that is not in memory changes nothing and is a break too. Its order may have left
//! memory: when it is back, the break can be settled as the venue's, or is closed by the same bust by hand.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use crate::decide::core::{Core, Sink};
use crate::decide::venue::{ReportKind, ReportOutcome, VenueReport, short};
use crate::state::OmsState;
use crate::state::event::{BreakEvent, OrderEvent, StrayEvent};
use crate::state::orders::exec_ids::reused_exec;
use crate::state::orders::strays::{Stray, StrayUndo};
use crate::state::spreads::leg_exec;
use crate::values::ids::{AccountNo, InstrumentNo, Party, SessionNo};
use crate::values::show::{price, text};
use crate::values::units::scaled;
use crate::values::value::{Effect, Number, Side};

/// What a fill of an unknown order traded, and for which account.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StrayTrade {
    pub account: AccountNo,
    pub instrument: InstrumentNo,
    pub side: Side,
    /// `None` when the report has no PositionEffect(77): the fill closes the opposite position first.
    pub effect: Option<Effect>,
}

/// The stray that a bust or correction names.
fn stray_named(state: &OmsState, line: SessionNo, reference: u64) -> Option<(u64, &Stray)> {
    // The hash of a leg's fill is made from the ExecID and the symbol of the leg.
    let is_its = |exec, instrument| exec == reference || exec == leg_exec(reference, instrument);
    let mut strays = state.strays.iter();
    strays.find(|(_, it)| it.line == line && is_its(it.exec, it.instrument))
}

/// The stray that a bust cancels. A bust with another account, symbol, side or quantity cancels none.
fn stray_of(state: &OmsState, report: &VenueReport<'_>) -> Option<u64> {
    let reference = report
        .reference
        .filter(|_| report.kind == ReportKind::Bust)?;
    let (number, stray) = stray_named(state, report.line, reference)?;
    let account = state.accounts().find(report.account);
    let symbol = state.instruments().name(stray.instrument);
    let quantity = report.last_quantity.filter(|it| it.mantissa != 0);
    let is_its = account.is_none_or(|it| it == stray.account)
        && (report.symbol.is_empty() || report.symbol == symbol)
        && report
            .side
            .is_none_or(|it| it.is_buy() == stray.side.is_buy())
        && quantity
            .is_none_or(|it| state.units(stray.instrument, Some(it)) == Some(stray.quantity));
    is_its.then_some(number)
}

/// A bust or correction that changes nothing: its line, order and ExecRefID(19), and what it says of the order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DoubtfulUndo {
    pub line: SessionNo,
    pub order: Number,
    pub of: u64,
    pub instrument: Option<InstrumentNo>,
    pub side: Option<Side>,
}

/// Why a bust or correction changes nothing.
pub(crate) fn undo_doubt(state: &OmsState, undo: &DoubtfulUndo) -> UndoDoubt {
    if let Some((number, _)) = stray_named(state, undo.line, undo.of) {
        return UndoDoubt::Stray(number);
    }
    let order = state.orders().get(undo.order);
    let is_other = order.is_some_and(|order| {
        undo.instrument.is_some_and(|it| it != order.instrument)
            || undo.side.is_some_and(|it| !it.agrees(order.side))
            || !state.orders().has_fill(undo.order, undo.of)
    });
    match is_other {
        true => UndoDoubt::Order,
        false => UndoDoubt::NotInMemory,
    }
}

/// Why a bust or correction of a venue changes nothing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UndoDoubt {
    /// The fill, and perhaps its order, is not in memory.
    NotInMemory,
    /// The order in memory has another symbol or side, or does not have the fill.
    Order,
    /// The fill of an unknown order in the break with this number has other values.
    Stray(u64),
}

/// The order that a bust or correction names; 0 when the OMS does not know its Symbol(55).
fn order_named(state: &OmsState, report: &VenueReport<'_>) -> Number {
    let instrument = state.instruments().find(report.symbol);
    match report.symbol.is_empty() || instrument.is_some() {
        true => report.id.order,
        false => 0,
    }
}

/// Whether a bust or correction was settled before, today or the day before; or the fill that it names was taken out of
/// the position.
fn is_settled(state: &OmsState, report: &VenueReport<'_>, speaks_tmp: bool) -> bool {
    // Over FIX, an ExecID(17) of the day before may be the ExecID of another fill today.
    let is_out = |exec| {
        let hash = StrayUndo::taken_out(report.line, exec);
        state.has_stray(hash) || (speaks_tmp && state.had_stray(hash))
    };
    let instrument = state.instruments().find(report.symbol);
    let leg = |exec| instrument.map(|it| leg_exec(exec, it));
    let (order, of) = (order_named(state, report), report.reference.unwrap_or(0));
    // An order that has left memory may have had the report under a hash of its own.
    let own = reused_exec(report.exec, report.kind == ReportKind::Correct);
    let keys = [report.exec, own].map(|exec| StrayUndo::key(report.line, order, of, exec));
    keys.iter()
        .any(|key| state.has_stray(*key) || state.had_stray(*key))
        || report.reference.is_some_and(|it| {
            report.kind == ReportKind::Bust && (is_out(it) || leg(it).is_some_and(is_out))
        })
}

/// What a report that takes a fill back is called.
pub(crate) fn undo_name(is_correction: bool) -> &'static str {
    match is_correction {
        true => "correction",
        false => "bust",
    }
}

impl Core {
    /// Handles a venue's bust or correction of a fill that is not in memory. The bust of a stray takes the stray back;
    /// anything else is a break.
    #[cold]
    pub(crate) fn stray_undone(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let state = self.state();
        let (order, of) = (order_named(state, report), report.reference.unwrap_or(0));
        let key = StrayUndo::key(report.line, order, of, report.exec);
        let mut undos = state.strays.undos.values();
        if undos.any(|it| it.own_key() == key)
            || is_settled(state, report, self.speaks_tmp(report.line))
        {
            return ReportOutcome::Known;
        }
        if let Some(number) = stray_of(state, report) {
            return self.stray_busted(at, number, sink);
        }
        let instrument = state.instruments().find(report.symbol);
        let event = OrderEvent::Stray(StrayEvent::StrayUndo {
            line: report.line,
            order,
            correction: report.kind == ReportKind::Correct,
            account: state.accounts().find(report.account),
            instrument,
            side: report.side,
            exec: report.exec,
            of,
            quantity: report.last_quantity,
            price: report.last_price,
            filled: report.filled,
            status: report.status,
            at: report.at,
            id: short(report.text_id),
            fill: short(report.fill_id),
            text: short(report.text),
        });
        self.emit(at, &event, sink);
        ReportOutcome::Taken
    }

    /// Takes a stray back that its venue cancels.
    fn stray_busted(&mut self, at: i64, number: u64, sink: &mut impl Sink) -> ReportOutcome {
        let event = OrderEvent::Break(BreakEvent::BreakSettled {
            number,
            venue: false,
            order: None,
            who: b"",
            why: b"Trade Cancel of the venue",
        });
        self.emit(at, &event, sink);
        ReportOutcome::Taken
    }

    /// Handles a drop copy of the venue that confirms a stray.
    pub(crate) fn stray_confirmed(
        &mut self,
        at: i64,
        exec: u64,
        instrument: InstrumentNo,
        sink: &mut impl Sink,
    ) {
        let execs = [exec, leg_exec(exec, instrument)];
        let strays = &self.state().strays;
        let found = strays.find(|it| it.instrument == instrument && execs.contains(&it.exec));
        if let Some(number) = found {
            let event = OrderEvent::Break(BreakEvent::BreakSettled {
                number,
                venue: true,
                order: None,
                who: b"",
                why: b"the drop copy of the venue has it",
            });
            self.emit(at, &event, sink);
        }
    }

    /// Closes the breaks of an order that has been brought back, whose busts and corrections are now applied.
    #[cold]
    pub(crate) fn close_stray_undos(&mut self, at: i64, order: Number, sink: &mut impl Sink) {
        let is_done = |undo: &StrayUndo| {
            let fill = self.state().orders().fill_now(order, undo.of)?;
            let instrument = self.state().orders().get(order)?.instrument;
            Some(match undo.is_correction {
                false => fill.undone != 0,
                true => {
                    let quantity = self.state().units(instrument, undo.quantity);
                    let price = scaled(undo.price?, self.state().scale(instrument)).ok();
                    fill.undone == 0 && (quantity, price) == (Some(fill.quantity), Some(fill.price))
                }
            })
        };
        let of_order = self.state().strays.undos.iter();
        let of_order = of_order.filter(|(_, undo)| undo.order == order);
        let done = of_order.filter(|(_, undo)| is_done(undo) == Some(true));
        for number in done.map(|(number, _)| *number).collect::<Vec<_>>() {
            let event = OrderEvent::Break(BreakEvent::BreakSettled {
                number,
                venue: true,
                order: None,
                who: b"",
                why: b"its order is in memory again, and has it",
            });
            self.emit(at, &event, sink);
        }
    }

    /// Adds the lines for busts and corrections of fills that are not in memory to the answer of `oms breaks`.
    fn list_stray_undos(&self, list: &mut String) {
        let state = self.state();
        for (number, undo) in &state.strays.undos {
            let name = undo_name(undo.is_correction);
            let (account, symbol) = (undo.account, undo.instrument);
            let account = account.map(|it| text(state.accounts().name(it)));
            let symbol = symbol.map(|it| text(state.instruments().name(it)));
            let doubtful = DoubtfulUndo {
                line: undo.line,
                order: undo.order,
                of: undo.of,
                instrument: undo.instrument,
                side: undo.side,
            };
            let what = match undo_doubt(state, &doubtful) {
                UndoDoubt::NotInMemory => "of a fill that is not in memory",
                UndoDoubt::Order => "of a fill that its order does not have",
                UndoDoubt::Stray(_) => "that does not fit its fill",
            };
            let _ = write!(
                list,
                "\n{number}\t{name} {what}\t{}\t{}\t{}\t{}\tnothing is changed\t{name} of fill {}",
                undo.order,
                text(state.sessions().name(undo.line)),
                account.unwrap_or_default(),
                symbol.unwrap_or_default(),
                text(undo.fill.bytes()),
            );
            if let Some(quantity) = undo.quantity {
                let _ = write!(list, ", {quantity}");
            }
            if let Some(price) = undo.price {
                let _ = write!(list, " at {price}");
            }
            let _ = write!(list, "\t{}", text(undo.id.bytes()));
        }
    }

    /// Adds the lines for strays to the answer of `oms breaks`.
    pub(crate) fn list_strays(&self, list: &mut String) {
        let state = self.state();
        for (number, stray) in state.strays.iter() {
            let scale = state.scale(stray.instrument);
            let side = if stray.side.is_buy() { "buy" } else { "sell" };
            let _ = write!(
                list,
                "\n{number}\tfill of an order that is not known here\t0\t{}\t{}\t{}\tin the position\t{side} {} at {}\t{}",
                text(state.sessions().name(stray.line)),
                text(state.accounts().name(stray.account)),
                text(state.instruments().name(stray.instrument)),
                state.shown(stray.instrument, stray.quantity),
                price(stray.price, scale),
                text(stray.id.bytes()),
            );
        }
        self.list_stray_undos(list);
    }

    /// Whether a report is about a fill that its order does not have.
    #[cold]
    pub(crate) fn is_of_other_fill(&self, report: &VenueReport<'_>) -> bool {
        let is_other = |exec| !self.state().orders().has_fill(report.id.order, exec);
        match report.kind {
            ReportKind::Fill => is_other(report.exec),
            ReportKind::Bust | ReportKind::Correct => report.reference.is_some_and(is_other),
            _ => false,
        }
    }

    /// Handles a report about a fill that an order does not have which was taken into memory again. The fill may have
    /// been reported while the order was not in memory, so the report counts as one about a fill of no order.
    #[cold]
    pub(crate) fn report_of_recalled(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let Some(order) = self.state().orders().get(report.id.order) else {
            return ReportOutcome::Unknown;
        };
        let trade = StrayTrade {
            account: order.account,
            instrument: order.instrument,
            side: order.side,
            effect: Some(order.effect),
        };
        match report.kind {
            ReportKind::Fill => self.stray(at, report, trade, sink),
            ReportKind::Bust | ReportKind::Correct => self.stray_undone(at, report, sink),
            _ => ReportOutcome::Unknown,
        }
    }

    /// Applies a fill whose order the OMS does not have, because a fill is never dropped.
    pub(crate) fn report_of_none(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        match report.kind {
            ReportKind::Fill => {}
            ReportKind::Bust | ReportKind::Correct => return self.stray_undone(at, report, sink),
            _ => return ReportOutcome::Unknown,
        }
        let state = self.state();
        // What the report does not say is that of the order in memory that its ClOrdID(11) names.
        let order = state.orders().get(report.id.order);
        let order = order.filter(|order| self.may_report(report.line, order));
        if order.is_some_and(|order| state.orders().has_fill(order.number, report.exec)) {
            // The order has the fill, as its venue first reported it.
            return ReportOutcome::Unknown;
        }
        let account = state.accounts().find(report.account);
        let account = account.or(order.map(|order| order.account));
        let instrument = match report.symbol {
            b"" => order.map(|order| order.instrument),
            symbol => state.instruments().find(symbol),
        };
        let side = report.side.or(order.map(|order| order.side));
        let (Some(account), Some(instrument), Some(side)) = (account, instrument, side) else {
            return ReportOutcome::Unknown;
        };
        let has_effect = self.rule(instrument).is_ok_and(|rule| rule.has_effect);
        let effect = match has_effect {
            true => report.effect,
            false => Some(Effect::Netting),
        };
        let trade = StrayTrade {
            account,
            instrument,
            side,
            effect,
        };
        self.stray(at, report, trade, sink)
    }

    pub(crate) fn stray(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        trade: StrayTrade,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let StrayTrade {
            account,
            instrument,
            side,
            effect,
        } = trade;
        self.widen(at, instrument, report.last_price, sink);
        let Some((quantity, price)) = self.execution(report, instrument) else {
            return ReportOutcome::Unreadable;
        };
        let mut exec = report.exec;
        if !self.state().spreads.is_empty() {
            if self.state().spreads.legs(instrument).is_some() {
                // A spread has no position. The reports of its legs change the positions.
                return ReportOutcome::Unknown;
            }
            if self.state().spreads.is_leg(instrument) {
                exec = leg_exec(exec, instrument);
            }
        }
        // Over FIX, an ExecID(17) of the day before may be the ExecID of another fill today.
        let speaks_tmp = self.speaks_tmp(report.line);
        let had = |exec| speaks_tmp && self.state().had_stray(exec);
        let is_known = |exec| had(exec) || self.state().has_stray(exec);
        // The fill was already reported, for an order of the leg alone or for an order of the spread.
        if is_known(report.exec) || is_known(exec) {
            return ReportOutcome::Known;
        }
        let event = OrderEvent::Stray(StrayEvent::StrayFill {
            line: report.line,
            account,
            instrument,
            side,
            effect,
            exec,
            quantity,
            price,
            id: short(report.text_id),
        });
        self.emit(at, &event, sink);
        self.guard(at, Party::new(report.line, account, instrument), sink);
        ReportOutcome::Taken
    }
}
