//! The state of markets, as venues report it.

use alloc::collections::BTreeSet;
use alloc::{format, vec};

use crate::decide::core::{Core, Sink};
use crate::state::event::{CopyEvent, OrderEvent};
use crate::values::ids::{InstrumentNo, SessionNo, Table};
use crate::values::value::Market;

impl Core {
    /// Handles the state of the market of a symbol. An empty symbol stands for all symbols of the line's group. Returns
    /// the number of symbols whose state changed.
    pub(crate) fn venue_market(
        &mut self,
        at: i64,
        line: SessionNo,
        symbol: &[u8],
        state: Market,
        why: &[u8],
        sink: &mut impl Sink,
    ) -> usize {
        let known = self.state().instruments();
        let named = known.find(symbol);
        if named.is_none() && !symbol.is_empty() {
            return 0;
        }
        let is_its = |instrument| named.is_none_or(|named| named == instrument);
        self.set_markets(at, line, state, why, is_its, sink)
    }

    /// Sets the state of the markets of some symbols of the line's group; returns the number of symbols whose state
    /// changed.
    fn set_markets(
        &mut self,
        at: i64,
        line: SessionNo,
        state: Market,
        why: &[u8],
        is_its: impl Fn(InstrumentNo) -> bool,
        sink: &mut impl Sink,
    ) -> usize {
        let known = self.state().instruments();
        let Some(group) = self.lines.line(line).map(|line| line.group) else {
            return 0;
        };
        let mut symbols = vec![0; known.len().div_ceil(8) as usize];
        let mut count = 0;
        for instrument in known.numbers() {
            let is_its = is_its(instrument) && self.lines.trades(group, instrument);
            if is_its && self.state().market(instrument) != state {
                symbols[instrument.index() / 8] |= 1 << (instrument.index() % 8);
                count += 1;
            }
        }
        if count > 0 {
            let symbols = &symbols[..];
            let event = OrderEvent::Copy(CopyEvent::VenueMarket {
                line,
                state,
                symbols,
                why,
            });
            self.emit(at, &event, sink);
        }
        count
    }

    /// Handles the state of trading of a flow group over TMP; returns the number of symbols whose state changed.
    pub(crate) fn flow_group_market(
        &mut self,
        at: i64,
        line: SessionNo,
        flow_group: u8,
        state: Market,
        sink: &mut impl Sink,
    ) -> usize {
        if !self.follows_markets(line) {
            return 0;
        }
        let its: Table<InstrumentNo, bool> = self
            .instruments
            .iter()
            .map(|rule| rule.as_ref().is_some_and(|it| it.flow_group == flow_group))
            .collect();
        let is_its = |instrument: InstrumentNo| its.get(instrument) == Some(&true);
        let why = format!("R12 of flow group {flow_group}");
        self.set_markets(at, line, state, why.as_bytes(), is_its, sink)
    }

    /// Whether the OMS requests the state of trading on a line.
    pub(crate) fn follows_markets(&self, line: SessionNo) -> bool {
        let group = self.lines.line(line).map(|line| line.group);
        let group = group.and_then(|group| self.rules.groups.get(group));
        group.is_some_and(|group| group.market_status)
    }

    /// The flow groups of the symbols that a line trades.
    pub(crate) fn flow_groups(&self, line: SessionNo) -> BTreeSet<u8> {
        let group = self.lines.line(line).map(|line| line.group);
        let all = self.instruments.numbered();
        let trades = |it: InstrumentNo| group.is_some_and(|group| self.lines.trades(group, it));
        let its = all.filter(|(instrument, _)| trades(*instrument));
        its.filter_map(|(_, rule)| Some(rule.as_ref()?.flow_group))
            .collect()
    }

    /// One state for all markets: of their states, the one in which the most is allowed; `None` when there are no
    /// instruments.
    pub(crate) fn overall_market(&self) -> Option<Market> {
        let all = self.instruments.numbered();
        let states = all.filter_map(|(index, rule)| {
            rule.as_ref()?;
            Some(self.state.market(index))
        });
        states.min_by_key(|state| match state {
            Market::Open => 0,
            Market::Auction => 1,
            Market::Halted => 2,
            Market::Closed => 3,
        })
    }
}
