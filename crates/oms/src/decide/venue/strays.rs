//! Fills of orders that are not known here: settled, cancelled by the venue, confirmed by a drop copy, listed.

use alloc::string::String;
use core::fmt::Write as _;

use crate::decide::core::{Core, Sink};
use crate::decide::venue::{ReportOutcome, VenueReport};
use crate::state::OmsState;
use crate::state::event::{BreakEvent, OrderEvent};
use crate::state::spreads::leg_exec;
use crate::state::tally::TradeSide;
use crate::values::ids::{InstrumentNo, Party};
use crate::values::show::price;
use crate::values::show::text;

impl OmsState {
    /// Somebody decided whether a fill of no order counts: unless the venue is right, the position gives it back.
    pub(crate) fn stray_settled(&mut self, number: u64, venue: bool) -> Option<()> {
        let stray = self.strays.remove(number)?;
        if !venue {
            let party = Party::new(stray.line, stray.account, stray.instrument);
            let side = TradeSide {
                buys: stray.side.is_buy(),
                effect: stray.effect,
            };
            let quantity = i128::from(stray.quantity);
            let worth = quantity.saturating_mul(stray.price.into());
            self.trade_worth(party, side, -quantity, -worth);
        }
        Some(())
    }
}

impl Core {
    /// A venue cancels a fill of an order that is not known here.
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
        // A fill of a symbol that is a leg of a spread has its hash with the symbol.
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

    /// A drop copy of the venue has a fill too.
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

    /// The lines of `oms breaks` for them.
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
                stray.quantity,
                price(stray.price, scale),
                text(stray.id.bytes()),
            );
        }
    }
}
