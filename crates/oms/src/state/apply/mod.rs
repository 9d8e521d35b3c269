//! Applies events to the state: the same code runs live, at recovery, and for a checkpoint.

pub(crate) mod breaks;
pub(crate) mod conditions;
pub(crate) mod desk;
pub(crate) mod inquiries;
pub(crate) mod late;
pub(crate) mod limits;
pub(crate) mod orders;
pub(crate) mod parents;
pub(crate) mod pools;
pub(crate) mod quotes;
pub(crate) mod reload;
pub(crate) mod roll;
pub(crate) mod spreads;
pub(crate) mod undo;

use alloc::vec::Vec;

use siphasher::sip::SipHasher13;

use crate::state::copies::ENDED;
use crate::state::event::{LineEvent, OrderEvent, RequestEvent, SetupEvent};
use crate::state::filter::OrderFilter;
use crate::state::flow::Passed;
use crate::state::orders::transition::{OrderState, Transition};
use crate::state::orders::waiting::QueueTime;
use crate::state::orders::{Order, Place, Placement};
use crate::state::quotes::QuoteSide;
use crate::state::tally::Tally;
use crate::state::{Account, Instrument, OmsState, Session, Standing};
use crate::values::canary::{self, OmsPlantedFault};
use crate::values::ids::{AccountNo, InstrumentNo, Party, SessionNo};
use crate::values::marks::RequestMarks;
use crate::values::units::MOST;
use crate::values::value::{Number, OrderType, Price, Quantity, Side, Text};

impl OmsState {
    /// Whether a fill of an order that is not in memory was seen today.
    #[must_use]
    pub fn has_stray(&self, exec: u64) -> bool {
        self.used_execs.has(exec)
    }

    /// Whether one was seen the day before.
    #[must_use]
    pub fn had_stray(&self, exec: u64) -> bool {
        self.used_execs.had(exec)
    }

    /// Applies the next event. An invalid event, which our journals never contain, is counted and otherwise ignored;
    /// returns false then.
    pub fn apply(&mut self, at: i64, event: &OrderEvent<'_>) -> bool {
        self.time = self.time.max(at);
        self.events += 1;
        let done = self.apply_event(event).is_some();
        self.violations += u64::from(!done);
        done
    }

    pub(crate) fn apply_event(&mut self, event: &OrderEvent<'_>) -> Option<()> {
        match event {
            OrderEvent::Setup(event) => self.apply_setup(event),
            OrderEvent::Day(event) => self.apply_day(event),
            OrderEvent::Line(event) => self.apply_line(event),
            OrderEvent::Limit(event) => self.apply_limit(event),
            OrderEvent::Reload(event) => self.apply_reload(event),
            OrderEvent::Pool(event) => self.apply_pool(event),
            OrderEvent::Request(event) => self.apply_request(event),
            OrderEvent::Order(event) => self.apply_lifecycle(event),
            OrderEvent::Remade(event) => self.apply_remade(event),
            OrderEvent::Stray(event) => self.apply_stray(event),
            OrderEvent::Condition(event) => self.apply_condition(event),
            OrderEvent::Parent(event) => self.apply_parent(event),
            OrderEvent::Quote(event) => self.apply_quote(event),
            OrderEvent::Inquiry(event) => self.apply_inquiry(event),
            OrderEvent::Rejected(event) => self.apply_rejected(event),
            OrderEvent::Copy(event) => self.apply_copy(event),
            OrderEvent::Spread(event) => self.apply_spread(event),
            OrderEvent::Break(event) => self.apply_break(event),
            OrderEvent::Undo(event) => self.apply_undo(event),
        }
    }

    pub(crate) fn apply_line(&mut self, event: &LineEvent) -> Option<()> {
        match *event {
            LineEvent::LineUp { line } => {
                self.sessions.get_mut(line)?.ready = true;
                Some(())
            }
            LineEvent::LineDown { line } => self.line_down(line),
            LineEvent::MassAsked { line, .. } | LineEvent::MassAnswered { line, .. } => {
                self.sessions.get(line).map(|_| ())
            }
            LineEvent::LinkNumbers {
                line,
                inbound,
                outbound,
            } => {
                self.sessions.get_mut(line)?.link = (inbound, outbound);
                Some(())
            }
        }
    }

    /// Applies what stands before any order.
    pub(crate) fn apply_setup(&mut self, event: &SetupEvent<'_>) -> Option<()> {
        match *event {
            SetupEvent::Position {
                account,
                instrument,
                long,
                short,
                ..
            } => {
                self.accounts.get(account)?;
                self.instruments.get(instrument)?;
                let position = &mut self.holding_mut(account, instrument).position;
                (position.long, position.short) = (long, short);
                Some(())
            }
            SetupEvent::Client { session, is } => {
                self.sessions.get_mut(session)?.client = is;
                Some(())
            }
            SetupEvent::Market {
                instrument, state, ..
            } => {
                self.instruments.get_mut(instrument)?.market = state;
                Some(())
            }
            SetupEvent::Build { build, settings } => {
                self.build = Text::new(build);
                self.settings = settings;
                Some(())
            }
            SetupEvent::Session { index, name } => {
                let added = self.session_names.add(index, name);
                added.then(|| self.sessions.push(Session::default()))
            }
            SetupEvent::Account {
                index,
                parent,
                name,
            } => {
                let known = self.account_names.find(name);
                if known.is_none() && self.account_names.add(index, name) {
                    self.accounts.push(Account::default());
                } else if known != Some(index) {
                    return None;
                }
                self.set_parent(index, parent)
            }
            SetupEvent::Instrument {
                index,
                scale,
                worth,
                symbol,
            } => {
                let known = self.instrument_names.find(symbol);
                if known.is_none() && self.instrument_names.add(index, symbol) {
                    self.instruments.push(Instrument::default());
                } else if known != Some(index) {
                    return None;
                }
                self.set_instrument(index, scale, worth)
            }
        }
    }

    /// Moves the usage of an account from its old parents to its new parents.
    fn set_parent(&mut self, index: AccountNo, parent: Option<AccountNo>) -> Option<()> {
        let mut above = parent;
        while let Some(of) = above {
            if of == index || self.accounts.get(of).is_none() {
                return None;
            }
            above = self.parent(of);
        }
        let tally = self.accounts[index].standing.tally;
        self.count_for_parents(index, &tally, &Tally::default());
        self.accounts[index].parent = parent;
        self.count_for_parents(index, &Tally::default(), &tally);
        Some(())
    }

    fn count_for_parents(&mut self, account: AccountNo, old: &Tally, new: &Tally) {
        let mut above = self.parent(account);
        while let Some(of) = above {
            let account = &mut self.accounts[of];
            account.standing.tally.change(old, new);
            above = account.parent;
        }
    }

    /// Revalues open orders. A price scale only grows, and prices are rescaled with it.
    fn set_instrument(&mut self, index: InstrumentNo, scale: u8, worth: u64) -> Option<()> {
        let more = scale.checked_sub(self.instruments.get(index)?.scale)?;
        if scale > 9 {
            return None;
        }
        let counted = |state: &Self| {
            let orders = state.orders.iter().filter(|it| it.instrument == index);
            let counted = orders.map(|order| {
                let request = state.orders.request_of(order);
                let tally = state.counted(order, request);
                (order.session, order.account, tally)
            });
            counted.collect::<Vec<_>>()
        };
        let gained = |state: &Self| {
            let holdings = state.holdings.iter().filter(|it| it.instrument == index);
            let gained = holdings.map(|it| (it.account, state.gain(index, it.gained())));
            gained.collect::<Vec<_>>()
        };
        let (before, gained_before) = (counted(self), gained(self));
        let factor = 10_i64.pow(more.into());
        self.orders.rescale(index, factor);
        self.conditions.rescale(index, factor);
        self.rejected.rescale(index, factor);
        let orders = &self.orders;
        let spread_of = |order| orders.get(order).map(|it| it.instrument);
        self.spreads.rescale(index, factor, spread_of);
        let is_its = |order| orders.get(order).is_some_and(|it| it.instrument == index);
        self.copies.rescale(is_its, factor);
        self.breaks.rescale(is_its, factor);
        self.strays
            .rescale(|instrument| instrument == index, factor);
        let holdings = self.holdings.iter_mut();
        for holding in holdings.filter(|it| it.instrument == index) {
            let position = &mut holding.position;
            position.paid = position.paid.saturating_mul(factor.into());
            position.received = position.received.saturating_mul(factor.into());
            holding.mark = holding.mark.saturating_mul(factor);
            holding.opened_at = holding.opened_at.saturating_mul(factor);
        }
        let known = self.instruments.get_mut(index)?;
        (known.scale, known.worth) = (scale, worth);
        let after = counted(self);
        for ((session, account, old), (.., new)) in before.iter().zip(&after) {
            self.count(Party::new(*session, *account, index), old, new);
        }
        // The session that made this profit is unknown.
        let tally = |gained| Tally {
            gained,
            ..Tally::default()
        };
        for ((account, old), (_, new)) in gained_before.into_iter().zip(gained(self)) {
            let party = Party {
                session: None,
                account: Some(account),
                instrument: Some(index),
            };
            self.count(party, &tally(old), &tally(new));
        }
        Some(())
    }

    /// Changes the usage of every scope of an order.
    pub(crate) fn count(&mut self, party: Party, old: &Tally, new: &Tally) {
        if old == new {
            return;
        }
        let more = Tally::difference(old, new);
        self.each_standing(party, |standing| {
            standing.tally.add(&more);
        });
    }

    /// Calls `change` for every scope of an order.
    fn each_standing(&mut self, party: Party, mut change: impl FnMut(&mut Standing)) {
        change(&mut self.firm);
        if let Some(session) = party.session.and_then(|it| self.sessions.get_mut(it)) {
            change(&mut session.standing);
        }
        let mut owner = party.account;
        while let Some(account) = owner.and_then(|it| self.accounts.get_mut(it)) {
            change(&mut account.standing);
            owner = account.parent;
        }
        if let Some(instrument) = party.instrument.and_then(|it| self.instruments.get_mut(it)) {
            change(&mut instrument.standing);
        }
        if let (Some(account), Some(instrument)) = (party.account, party.instrument) {
            change(&mut self.holding_mut(account, instrument).standing);
        }
    }

    /// Numbers are consecutive.
    pub(crate) fn number(&mut self, number: Number) -> Option<()> {
        if number != self.last + 1 {
            return None;
        }
        self.last = number;
        Some(())
    }

    fn taken(&mut self, event: &RequestEvent<'_>) -> Option<()> {
        let RequestEvent::Taken {
            order,
            session,
            account,
            instrument,
            side,
            kind,
            tif,
            price,
            stop,
            hold,
            quantity,
            until,
            effect,
            id,
        } = *event
        else {
            return None;
        };
        self.sessions.get(session)?;
        self.accounts.get(account)?;
        self.instruments.get(instrument)?;
        (quantity <= MOST).then_some(())?;
        self.number(order)?;
        let new = Order {
            number: order,
            current: order,
            session,
            account,
            instrument,
            placement: Placement::Unsent,
            side,
            kind,
            tif,
            until,
            effect,
            state: OrderState::Queued,
            price,
            stop,
            hold,
            quantity,
            filled: 0,
            paid: 0,
            id: Text::new(id),
            venue_id: Text::EMPTY,
            request: None,
            last_fill: None,
            pended: None,
            asked: 0,
            withdrawn: false,
            replaces: 0,
            queued: QueueTime::None,
            retry: None,
            pool_number: Text::EMPTY,
            pool: None,
            own_number: false,
            triggered: false,
            quote_side: QuoteSide::None,
            marks: RequestMarks::default(),
        };
        let tally = self.counted(&new, None);
        if self.recent.is_on {
            let hash = self.sameness(account, instrument, side, kind, quantity, price);
            // A child is not the same as its parent.
            let is_child = self.families.parent_of(order).is_some();
            self.recent
                .add(self.time, if is_child { !hash } else { hash });
        }
        self.ids.add(session, id, order);
        self.orders.add(new);
        let party = Party::new(session, account, instrument);
        self.count(party, &Tally::default(), &tally);
        let passed = if self.families.parent_of(order).is_some() {
            self.child_taken(order, &tally)
        } else {
            Passed {
                messages: 1,
                quantity,
                value: tally.reserved,
                ..Passed::default()
            }
        };
        self.pass(party, passed);
        if !self.spreads.is_empty() {
            self.spread_taken(order, instrument);
        }
        Some(())
    }

    /// Counts flow for every scope of an order.
    pub(crate) fn pass(&mut self, party: Party, passed: Passed) {
        if !self.has_flow {
            return;
        }
        let at = self.time;
        self.each_standing(party, |standing| {
            if let Some(flow) = &mut standing.flow {
                flow.add(at, passed);
            }
        });
    }

    /// Counts flow of a session that belongs to no account or symbol.
    pub(crate) fn pass_session(&mut self, session: SessionNo, passed: Passed) {
        let at = self.time;
        let session = self.sessions.get_mut(session);
        let session = session.map(|session| &mut session.standing);
        for standing in session.into_iter().chain([&mut self.firm]) {
            if let Some(flow) = &mut standing.flow {
                flow.add(at, passed);
            }
        }
    }

    /// Hash of the fields that identical orders share.
    pub(crate) fn sameness(
        &self,
        account: AccountNo,
        instrument: InstrumentNo,
        side: Side,
        kind: OrderType,
        quantity: Quantity,
        price: Price,
    ) -> u64 {
        let mut bytes = [0; 34];
        let words = [
            u64::from(account.place()),
            u64::from(instrument.place()),
            quantity,
            price.cast_unsigned(),
        ];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes[32..].copy_from_slice(&[side.byte(), kind.byte()]);
        let key = self.ids.key().to_le_bytes();
        SipHasher13::new_with_key(&key).hash(&bytes)
    }

    fn withdraw(&mut self, filter: OrderFilter) {
        let orders = self.orders.iter();
        let open = orders.filter(|order| order.state.is_open() && filter.has(self, order));
        let open: Vec<Number> = open.map(|order| order.number).collect();
        for number in open {
            if let Some(order) = self.orders.get_mut(number) {
                order.withdrawn = true;
            }
        }
    }

    /// Makes the requests in flight on a disconnected session unknown: only the venue knows their state.
    fn line_down(&mut self, line: SessionNo) -> Option<()> {
        self.sessions.get_mut(line)?.ready = false;
        self.orders.lose(line);
        Some(())
    }

    /// Changes an order and its usage; `change` receives its index. The usage fits the order even when an event that no
    /// OMS writes is refused half-way.
    pub(crate) fn change(
        &mut self,
        number: Number,
        change: impl FnOnce(&mut Self, Place) -> Option<()>,
    ) -> Option<()> {
        let place = self.orders.place(number)?;
        let order = self.orders.at(place)?;
        let old = self.counted(order, self.orders.request_of(order));
        let party = order.party();
        let was_open = order.state.is_open();
        let done = change(self, place);
        let order = self.orders.at(place)?;
        let new = self.counted(order, self.orders.request_of(order));
        let is_open = order.state.is_open();
        self.count(party, &old, &new);
        if !self.families.is_empty() {
            self.child_changed(number, &old, &new);
        }
        if !self.spreads.is_empty() {
            self.expose(number);
        }
        match (was_open, is_open) {
            (true, false) => {
                if canary::is(OmsPlantedFault::ReleaseTwice) {
                    self.count(party, &old, &new);
                }
                self.orders.at_mut(place)?.pended = None;
                if !self.remade.is_empty() {
                    self.remade.forget(number);
                }
                self.orders.has_ended(number, self.breaks.has_open(number));
                self.conditions.has_ended(number);
                self.families.has_ended(number);
                if !self.copies.is_off() {
                    self.copies.settle((number, ENDED));
                }
            }
            (false, true) => {
                self.orders.is_open_again(number);
                self.families.is_open_again(number);
            }
            _ => {}
        }
        done
    }

    pub(crate) fn is_open(&self, number: Number) -> bool {
        let order = self.orders.get(number);
        order.is_some_and(|order| order.state.is_open())
    }

    /// Applies a state transition to an order.
    pub(crate) fn step(&mut self, place: Place, happening: Transition) -> Option<()> {
        let order = self.orders.at_mut(place)?;
        order.state = order.state.after(happening)?;
        Some(())
    }
}
