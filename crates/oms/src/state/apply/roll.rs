//! Applies events of the trading day.

use alloc::vec::Vec;

use crate::state::event::DayEvent;
use crate::state::orders::Order;
use crate::state::orders::ids::IdOwner;
use crate::state::orders::ids::Ids;
use crate::state::pools::Pool;
use crate::state::{Holding, OmsState, Standing};
use crate::values::value::Number;

/// The highest number after which the order numbers of a journal may begin. JSON numbers above it are not exact.
const LATEST: Number = 1 << 53;

impl OmsState {
    pub(crate) fn apply_day(&mut self, event: &DayEvent<'_>) -> Option<()> {
        match *event {
            DayEvent::Day { date, key } => self.begin_day(date, key),
            DayEvent::DayAsked { date, .. } => {
                self.next_day = Some(date);
                Some(())
            }
            DayEvent::DayBack { date, .. } => {
                let is_earlier = Some(date) < self.day && self.last == self.yesterday;
                is_earlier.then(|| self.day = Some(date))
            }
            DayEvent::NumbersAfter { number } => {
                let is_first = self.day.is_none() && self.last == 0 && number <= LATEST;
                is_first.then(|| (self.last, self.yesterday) = (number, number))
            }
        }
    }

    /// Starts a trading day. Earlier events have already expired the Day orders.
    pub(crate) fn begin_day(&mut self, date: u32, key: u128) -> Option<()> {
        if date == 0 || Some(date) <= self.day {
            return None;
        }
        let mut ids = Ids::new(key, self.ids.len());
        // Requests may still refer to open orders. If two orders have the same ClOrdID(11), it belongs to the order
        // with the higher number.
        let open = self.orders.iter().filter(|order| order.state.is_open());
        let mut open: Vec<&Order> = open.collect();
        open.sort_unstable_by_key(|order| order.number);
        for order in open {
            ids.add(order.session, order.id.bytes(), order.number);
            let request = self.orders.request_of(order);
            // A cancel that the OMS itself sends has no ClOrdID(11) of a client.
            if let Some(request) = request.filter(|it| !it.id.bytes().is_empty()) {
                ids.add(order.session, request.id.bytes(), order.number);
            }
            if order.pool.is_some() {
                ids.add(IdOwner::Pools, order.pool_number.bytes(), order.number);
            }
        }
        if self.has_used_day(&ids) {
            self.used_day = self.day;
        }
        (self.day, self.next_day) = (Some(date), None);
        self.ids = ids;
        self.used_execs.begin_day();
        self.rejected.begin_day(self.events);
        self.yesterday = self.last;
        self.sessions.iter_mut().for_each(|it| it.link = (0, 0));
        let pools = self.pools.iter_mut();
        pools.filter(|pool| pool.each_day).for_each(Pool::begin);
        let standings = core::iter::once(&mut self.firm)
            .chain(self.sessions.iter_mut().map(|it| &mut it.standing))
            .chain(self.accounts.iter_mut().map(|it| &mut it.standing))
            .chain(self.instruments.iter_mut().map(|it| &mut it.standing))
            .chain(self.holdings.iter_mut().map(|it| &mut it.standing));
        for standing in standings {
            (standing.tally.traded, standing.tally.gained) = (0, 0);
            if let Some(flow) = &mut standing.flow {
                flow.begin_day();
            }
        }
        for holding in &mut self.holdings {
            holding.opened_at = holding.mark;
            let position = &mut holding.position;
            (position.bought, position.sold) = (0, 0);
            (position.paid, position.received) = (0, 0);
        }
        Some(())
    }

    /// Whether the trading day has something that begins again with the next day, so that this day cannot go on after
    /// the next one has started. `kept` are the ids that stay used on the next day.
    fn has_used_day(&self, kept: &Ids) -> bool {
        let has_position = |it: &Holding| {
            let it = &it.position;
            it.bought > 0 || it.sold > 0 || it.paid != 0 || it.received != 0
        };
        let has_traded = |it: &Standing| {
            let flow = it.flow.as_ref().is_some_and(|it| it.has_day());
            flow || (it.tally.traded, it.tally.gained) != (0, 0)
        };
        self.last != self.yesterday
            || self.ids.len() != kept.len()
            || !self.rejected.all.is_empty()
            || self.sessions.iter().any(|it| it.link != (0, 0))
            || self.pools.iter().any(|it| it.each_day && it.has_begun())
            || self.holdings.iter().any(has_position)
            || self.all_standings().any(|(_, it)| has_traded(it))
    }
}
