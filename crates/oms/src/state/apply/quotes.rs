//! Applies events of quotes to the state.

use alloc::vec::Vec;

use crate::state::OmsState;
use crate::state::event::QuoteEvent;
use crate::state::flow::Passed;
use crate::state::orders::Placement;
use crate::state::orders::transition::Transition;
use crate::values::ids::{InstrumentNo, SessionNo};
use crate::values::value::Number;

impl OmsState {
    pub(crate) fn apply_quote(&mut self, event: &QuoteEvent<'_>) -> Option<()> {
        match *event {
            QuoteEvent::Quoted { order, id } => self.quotes.link(&mut self.orders, order, id),
            QuoteEvent::QuoteRefused { session, kind, .. } => {
                self.sessions.get(session)?;
                if kind == b'S' {
                    let refused = Passed {
                        refused: 1,
                        ..Passed::default()
                    };
                    self.pass_session(session, refused);
                }
                self.recent.forget(self.time);
                Some(())
            }
            QuoteEvent::QuotesWithdrawn {
                session,
                instrument,
                quote,
                id,
                ..
            } => {
                self.sessions.get(session)?;
                if !id.is_empty() {
                    let cancel = Passed {
                        cancels: 1,
                        ..Passed::default()
                    };
                    self.pass_session(session, cancel);
                }
                for order in self.open_sides(session, instrument, quote) {
                    self.orders.get_mut(order)?.withdrawn = true;
                }
                Some(())
            }
            QuoteEvent::QuoteSent { order, line } => {
                let numbered = self.orders.get(order)?;
                let (pool, number) = (numbered.pool, numbered.pool_number.clone());
                for side in [order, order + 1] {
                    let order = self.orders.get_mut(side)?;
                    order.state = order.state.after(Transition::Send)?;
                    order.placement = Placement::Line(line);
                    self.mark(side)?;
                    let order = self.orders.get_mut(side)?;
                    if order.pool.is_none() {
                        (order.pool, order.pool_number) = (pool, number.clone());
                    }
                }
                Some(())
            }
        }
    }

    /// The open sides of one quote. Without a quote: of the last quote of the session for each account and instrument.
    pub(crate) fn open_sides(
        &self,
        session: SessionNo,
        instrument: Option<InstrumentNo>,
        quote: Option<Number>,
    ) -> Vec<Number> {
        match quote {
            Some(quote) => self.open_of([quote]),
            None => self.open_of(self.quotes.of_session(session, instrument)),
        }
    }

    /// The open sides of these quotes.
    pub(crate) fn open_of(&self, quotes: impl IntoIterator<Item = Number>) -> Vec<Number> {
        let sides = quotes
            .into_iter()
            .flat_map(|bid| [bid, bid.saturating_add(1)]);
        sides.filter(|side| self.is_open(*side)).collect()
    }
}
