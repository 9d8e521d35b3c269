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
use crate::state::orders::strays::StrayUndo;
use crate::state::spreads::leg_exec;
use crate::values::ids::{AccountNo, InstrumentNo, Party};
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

/// The stray that a bust cancels.
fn stray_of(state: &OmsState, report: &VenueReport<'_>) -> Option<u64> {
    let reference = report
        .reference
        .filter(|_| report.kind == ReportKind::Bust)?;
    // The hash of a leg's fill is made from the ExecID and the symbol of the leg.
    let is_its = |exec, instrument| exec == reference || exec == leg_exec(reference, instrument);
    let strays = &state.strays;
    strays.find(|it| it.line == report.line && is_its(it.exec, it.instrument))
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
    let key = StrayUndo::key(report.line, order, of, report.exec);
    state.has_stray(key)
        || state.had_stray(key)
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
            let _ = write!(
                list,
                "\n{number}\t{name} of a fill that is not in memory\t{}\t{}\t{}\t{}\tnothing is changed\t{name} of fill {}",
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
        let account = state.accounts().find(report.account);
        let instrument = state.instruments().find(report.symbol);
        let (Some(account), Some(instrument), Some(side)) = (account, instrument, report.side)
        else {
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
