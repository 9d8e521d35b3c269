//! Strays are fills of orders that the OMS does not have. This file applies, settles and lists strays; a venue may also
//! cancel a stray, or confirm it by a drop copy.

use alloc::string::String;
use core::fmt::Write as _;

use crate::decide::core::{Core, Sink};
use crate::decide::venue::{ReportKind, ReportOutcome, VenueReport, short};
use crate::state::event::{BreakEvent, OrderEvent, StrayEvent};
use crate::state::spreads::leg_exec;
use crate::values::ids::{AccountNo, InstrumentNo, Party};
use crate::values::show::{price, text};
use crate::values::value::{Effect, Side};

/// What a fill of an unknown order traded, and for which account.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StrayTrade {
    pub account: AccountNo,
    pub instrument: InstrumentNo,
    pub side: Side,
    /// `None` when the report has no PositionEffect(77): the fill closes the opposite position first.
    pub effect: Option<Effect>,
}

impl Core {
    /// Handles a venue's bust of a fill whose order the OMS does not have.
    pub(crate) fn stray_busted(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let strays = &self.state().strays;
        let Some(reference) = report.reference else {
            return ReportOutcome::Unknown;
        };
        // The hash of a leg's fill is made from the ExecID and the symbol of the leg.
        let is_its =
            |exec, instrument| exec == reference || exec == leg_exec(reference, instrument);
        let found = strays.find(|it| it.line == report.line && is_its(it.exec, it.instrument));
        let Some(number) = found else {
            return ReportOutcome::Unknown;
        };
        let event = OrderEvent::Break(BreakEvent::BreakSettled {
            number,
            venue: false,
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
                who: b"",
                why: b"the drop copy of the venue has it",
            });
            self.emit(at, &event, sink);
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
            ReportKind::Bust if !self.state().strays.is_empty() => {
                return self.stray_busted(at, report, sink);
            }
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
