//! Applies events to the state: the same code applies them live, at recovery, and for a checkpoint.

pub(crate) mod breaks;
pub(crate) mod conditions;
pub(crate) mod desk;
pub(crate) mod fill_time;
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
pub(crate) mod usage;

use alloc::vec::Vec;

use crate::state::event::{LineEvent, OrderEvent, SetupEvent};
use crate::state::orders::exec_ids::ExecIds;
use crate::state::spreads::SpreadLeg;
use crate::state::tally::{Position, Tally};
use crate::state::{Account, Instrument, OmsState, Session};
use crate::values::ids::{AccountNo, InstrumentNo, Party, SessionNo};
use crate::values::units::{MOST, Rescale, Scales};
use crate::values::value::{Quantity, Side, Text};

impl OmsState {
    /// Whether a fill with this hash, of an order that is not in memory, was reported today.
    #[must_use]
    pub fn has_stray(&self, exec: u64) -> bool {
        self.used_execs.has(exec)
    }

    /// Whether a fill with this hash, of an order that is not in memory, was reported the day before.
    #[must_use]
    pub fn had_stray(&self, exec: u64) -> bool {
        self.used_execs.had(exec)
    }

    /// Applies the next event; returns false for an event that does not fit the state. The journals of the OMS never
    /// contain such an event: it is counted and otherwise ignored.
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

    /// Applies events about sessions, accounts and instruments, which do not depend on orders.
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
            SetupEvent::PositionSet { .. } => {
                self.set_position(event)?;
                self.positions_are_set()
            }
            SetupEvent::PositionsLoaded {
                file,
                deltas,
                as_of,
                changes,
                ..
            } => {
                self.load_positions(deltas, changes)?;
                if deltas.is_none() {
                    self.totals_are_loaded(file, as_of.unwrap_or(self.time), changes);
                }
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
            SetupEvent::ExecIds { prefix } => {
                (prefix == ExecIds::OWN).then_some(())?;
                let has_reports = self.last > 0 || self.ids.len() > 0;
                self.exec_ids.since = Some(if has_reports { self.events } else { 0 });
                Some(())
            }
            SetupEvent::VenueSymbol {
                line,
                instrument,
                fields,
            } => {
                self.sessions.get(line)?;
                self.instruments.get(instrument)?;
                self.venue_names.set_instrument(line, instrument, fields)
            }
            SetupEvent::VenueAccount {
                line,
                account,
                fields,
            } => {
                self.sessions.get(line)?;
                self.accounts.get(account)?;
                self.venue_names.set_account(line, account, fields)
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
                scale: price,
                quantity_scale: quantity,
                worth,
                symbol,
            } => {
                let known = self.instrument_names.find(symbol);
                if known.is_none() && self.instrument_names.add(index, symbol) {
                    self.instruments.push(Instrument::default());
                } else if known != Some(index) {
                    return None;
                }
                self.set_instrument(index, Scales { price, quantity }, worth)
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

    /// Sets the decimals and the value of an instrument, and values its open orders again. Decimals never decrease.
    /// When they increase, prices and quantities are rescaled.
    fn set_instrument(&mut self, index: InstrumentNo, scales: Scales, worth: u64) -> Option<()> {
        self.instruments.get(index)?;
        let by = Rescale::between(self.scales(index), scales)?;
        if !self.has_room(index, scales.quantity) {
            return None;
        }
        let legs = self.exposed_legs(index);
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
        self.orders.rescale(index, by);
        self.conditions.rescale(index, by);
        self.rejected.rescale(index, by);
        let orders = &self.orders;
        let spread_of = |order| orders.get(order).map(|it| it.instrument);
        self.spreads.rescale(index, by, spread_of);
        let is_its = |order| orders.get(order).is_some_and(|it| it.instrument == index);
        self.copies.rescale(index, by);
        self.breaks.rescale(is_its, by);
        self.families.rescale(is_its, by);
        self.remade.rescale(is_its, by);
        self.strays.rescale(|instrument| instrument == index, by);
        let holdings = self.holdings.iter_mut();
        for holding in holdings.filter(|it| it.instrument == index) {
            let Position {
                long,
                short,
                bought,
                sold,
                paid,
                received,
            } = &mut holding.position;
            for quantity in [long, short, bought, sold] {
                by.quantity(quantity);
            }
            by.paid(paid);
            by.paid(received);
            by.price(&mut holding.mark);
            by.price(&mut holding.opened_at);
        }
        let known = self.instruments.get_mut(index)?;
        (known.scale, known.quantity_scale) = (scales.price, scales.quantity);
        known.worth = worth;
        for (account, leg, side, old) in legs {
            let mut new = old;
            by.quantity(&mut new);
            self.expose_leg(account, &leg, side, old, new);
        }
        let after = counted(self);
        for ((session, account, old), (.., new)) in before.iter().zip(&after) {
            self.count(Party::new(*session, *account, index), old, new);
        }
        // The profit cannot be assigned to a session.
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

    /// The leg quantities that spread orders may still trade: account, leg, side and quantity.
    fn exposed_legs(&self, index: InstrumentNo) -> Vec<(AccountNo, SpreadLeg, Side, Quantity)> {
        let orders = self.spreads.orders.iter().filter_map(|(number, of)| {
            let order = self.orders.get(*number)?;
            Some((order, self.spreads.legs(order.instrument)?, of.exposed))
        });
        let legs = orders.flat_map(|(order, legs, exposed)| {
            let legs = legs.iter().zip(exposed);
            legs.map(|(leg, quantity)| (order.account, *leg, leg.side_in(order.side), quantity))
        });
        legs.filter(|(_, leg, ..)| leg.instrument == index)
            .collect()
    }

    /// Whether the quantities of an instrument are in range with this number of decimals.
    pub(crate) fn has_room(&self, index: InstrumentNo, decimals: u8) -> bool {
        let more = decimals.saturating_sub(self.scales(index).quantity);
        let most = 10_u64.checked_pow(more.into()).map(|one| MOST / one);
        let fits = |quantity: Quantity| most.is_some_and(|most| quantity <= most);
        let mut orders = self.orders.iter().filter(|it| it.instrument == index);
        let mut holdings = self.holdings.iter().filter(|it| it.instrument == index);
        more == 0
            || (orders.all(|order| {
                let request = self.orders.request_of(order);
                let asked = request.map_or(0, |request| request.quantity);
                fits(order.quantity.max(order.filled).max(asked))
            }) && holdings.all(|it| {
                let Position {
                    long,
                    short,
                    bought,
                    sold,
                    paid: _,     // Follow from the others.
                    received: _, // Follow from the others.
                } = it.position;
                fits(long.max(short).max(bought).max(sold))
            }))
    }

    /// Handles the disconnect of a session to a venue: only the venue knows the state of requests in flight.
    fn line_down(&mut self, line: SessionNo) -> Option<()> {
        self.sessions.get_mut(line)?.ready = false;
        self.orders.lose(line);
        Some(())
    }
}
