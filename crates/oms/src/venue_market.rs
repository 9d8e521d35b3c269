//! The state of a market, as its venue reports it.

use alloc::vec;

use crate::core::{Core, Sink};
use crate::event::OrderEvent;
use crate::value::Market;

impl Core {
    /// A venue reports the state of the market of a symbol, or of all symbols of the line's group when it is empty;
    /// how many it changes.
    pub(crate) fn venue_market(
        &mut self,
        at: i64,
        line: u32,
        (symbol, state, why): (&[u8], Market, &[u8]),
        sink: &mut impl Sink,
    ) -> usize {
        let known = self.state().instruments();
        let named = known.find(symbol);
        if named.is_none() && !symbol.is_empty() {
            return 0;
        }
        let Some(group) = self.lines.line(line).map(|line| line.group) else {
            return 0;
        };
        let mut symbols = vec![0; known.len().div_ceil(8) as usize];
        let mut count = 0;
        for instrument in 0..known.len() {
            let is_its = named.is_none_or(|named| named == instrument)
                && self.lines.group(instrument) == Some(group);
            if is_its && self.state().market(instrument) != state {
                symbols[instrument as usize / 8] |= 1 << (instrument % 8);
                count += 1;
            }
        }
        if count > 0 {
            let symbols = &symbols[..];
            let event = OrderEvent::VenueMarket {
                line,
                state,
                symbols,
                why,
            };
            self.emit(at, &event, sink);
        }
        count
    }
}
