//! Applies events of quotes to the state.

use alloc::vec::Vec;

use crate::state::OmsState;
use crate::state::event::QuoteEvent;
use crate::state::flow::Passed;
use crate::state::orders::transition::Happening;
use crate::state::pools::NO_POOL;
use crate::values::value::Number;

impl OmsState {
    pub(crate) fn apply_quote(&mut self, event: &QuoteEvent<'_>) -> Option<()> {
        match *event {
            QuoteEvent::Quoted { order, id } => self.quotes.link(&mut self.orders, order, id),
            QuoteEvent::QuoteRefused { session, kind, .. } => {
                self.sessions.get(session as usize)?;
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
                self.sessions.get(session as usize)?;
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
                    order.state = order.state.after(Happening::Send)?;
                    order.line = line;
                    self.mark(side)?;
                    let order = self.orders.get_mut(side)?;
                    if order.pool == NO_POOL {
                        (order.pool, order.pool_number) = (pool, number.clone());
                    }
                }
                Some(())
            }
        }
    }

    /// The open sides of a quote, or of all quotes of a session that are the last ones of their account and instrument.
    pub(crate) fn open_sides(
        &self,
        session: u32,
        instrument: Option<u32>,
        quote: Option<Number>,
    ) -> Vec<Number> {
        let quotes: Vec<Number> = match quote {
            Some(quote) => [quote].into(),
            None => self.quotes.of_session(session, instrument).collect(),
        };
        let sides = quotes
            .into_iter()
            .flat_map(|bid| [bid, bid.saturating_add(1)]);
        sides.filter(|side| self.is_open(*side)).collect()
    }
}
