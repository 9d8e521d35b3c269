//! Encodes the state as bytes for checkpoints, and as a hash for comparison.
//!
//! ```text
//! state    = time i64  events u64  violations u64  late fills u64  day u32  key u128  last number u64
//!            build text, settings u64, orders of the last second, next day u32, temporary limits, stopped scopes
//!            last number of yesterday u64, pools of order numbers u32: name text, pool...
//!            conditions u32: order u64, condition...
//!            parent orders u32: order u64, session u32, quantity of its children u64, children u32: order u64...
//!            breaks with venues u32: number u64, kind u8, order u64...
//!            names of sessions, accounts, instruments: count u32, text...
//!            firm: standing   session: ready u8, client u8, link u32 u32, marks, standing...
//!            account: parent, standing...
//!            instrument: scale u8, worth u64, market u8, standing...
//!            holdings u32: account u32, instrument u32, position, marks i64, standing...
//!            orders u64, order...   ended u64, number u64...   ids u64: hash u64, order u64...
//!            executions of orders not in memory, of today and the day before: count u64, hash u64...
//!            last event of yesterday u64, rejected orders u32: number u64, terms, id text, order u64...
//!            lines with a drop copy u32: line u32, session u32...   awaited u32: order u64, exec u64, fills...
//!            breaks u32: number u64, kind u8, order u64, exec u64, fills, text...
//!            quotes u64: bid u64, session, account, instrument u32, QuoteID text...
//!            price inquiries u64: number u64, session, instrument, line u32, at i64, QuoteReqID text, order_no text...
//!            spreads u32: instrument, legs...   orders u64: order u64, legs...
//!            late replaces u32: order u64, requests u32: number u64..., times i64 i64...
//!            reload that a second operator must ask for, optional: operator text, settings u64
//!            locates u32: order u64, LocateReqd u8, LocateBroker text...
//!            fills of orders that are not known u32: number u64, line, account, instrument u32, side u8...
//!            replaces as Canceled and New u32: order u64, step u8, number u64, time i64...
//!            fills of legs u64: order u64, exec u64, leg u8, quantity, price...
//! standing = traded i128  gained i128  trading u8  limits: value and that of the file, each optional
//!            flow counters, optional
//! ```
//!
//! Orders and ids are unordered; the usage of open orders is derived from them. The blocks of the file have checksums.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::hash::Hasher;

use fixwire_protocol::{Ledger, Timestamp};
use siphasher::sip::SipHasher24;

use crate::state::conditions::Conditions;
use crate::state::copies::Copies;
use crate::state::event::OrderEvent;
use crate::state::flow::Recent;
use crate::state::leg_fills::LegFills;
use crate::state::orders::Orders;
use crate::state::orders::breaks::VenueBreaks;
use crate::state::orders::ids::{Ids, Used};
use crate::state::orders::late::LateReplaces;
use crate::state::orders::rejected::RejectedOrders;
use crate::state::orders::remade::RemadeOrders;
use crate::state::orders::strays::Strays;
use crate::state::orders::used_execs::UsedExecs;
use crate::state::parents::Families;
use crate::state::pools::Pool;
use crate::state::quotes::Quotes;
use crate::state::spreads::Spreads;
use crate::state::tally::Tally;
use crate::state::{Account, Expiry, Instrument, OmsState, Session, Standing, Stop};
use crate::values::ids::PoolNo;
use crate::values::limits::RiskControl;
use crate::values::locate::Locates;
use crate::values::marks::RequestMarks;
use fixwire_ledger::Wire;

mod checks;
mod holdings;
mod orders;
mod standing;

use orders::LEAST_ORDER;
use standing::{put_position, put_standing, take_standing};

const NAME: &str = "oms";
/// Version of this form and of the events, which are the notes that it is built from.
const VERSION: u32 = 1;

/// The state as a fold of its events.
impl Ledger for OmsState {
    fn form(&self) -> (&'static str, u32) {
        (NAME, VERSION)
    }

    fn apply(&mut self, _at: Timestamp, note: &[u8]) {
        self.apply_note(note);
    }

    fn write(&self, put: &mut dyn FnMut(&[u8])) {
        self.put(put);
    }

    fn read(&mut self, version: u32, state: &[u8]) -> Result<(), String> {
        if version != VERSION {
            return Err(format!(
                "the state of the OMS has version {version}, and this build reads version {VERSION}"
            ));
        }
        let mut from = state;
        let read = Self::take(&mut from, self.orders.capacity());
        *self = read
            .filter(|_| from.is_empty())
            .ok_or("the state of the OMS has an unknown format")?;
        Ok(())
    }

    fn hash(&self) -> u64 {
        let mut hasher = SipHasher24::new();
        let mut bytes = Vec::new();
        self.put_head(&mut bytes);
        self.rejected.put(&mut bytes);
        self.copies.put(&mut bytes);
        hasher.write(&bytes);
        // Unordered data is hashed independent of order.
        let mut sum = 0_u64;
        for order in self.orders.iter() {
            bytes.clear();
            self.put_order(order, &mut bytes);
            sum = sum.wrapping_add(SipHasher24::new().hash(&bytes));
        }
        for used in self.ids.iter() {
            let word = used.hash ^ used.order.rotate_left(32);
            sum = sum.wrapping_add(SipHasher24::new().hash(&word.to_le_bytes()));
        }
        for word in self.used_execs.words() {
            sum = sum.wrapping_add(SipHasher24::new().hash(&word.to_le_bytes()));
        }
        hasher.write_u64(sum);
        if !self.quotes.is_unused() {
            bytes.clear();
            self.quotes.put(&mut bytes);
            hasher.write(&bytes);
        }
        if !self.spreads.is_empty() {
            bytes.clear();
            self.spreads.put(&mut bytes);
            self.spreads.fills.put(&mut bytes);
            hasher.write(&bytes);
        }
        if !self.late.is_empty() {
            bytes.clear();
            self.late.put(&mut bytes);
            hasher.write(&bytes);
        }
        if !self.locates.is_empty() {
            bytes.clear();
            self.locates.put(&mut bytes);
            hasher.write(&bytes);
        }
        if !self.strays.is_empty() {
            bytes.clear();
            self.strays.put(&mut bytes);
            hasher.write(&bytes);
        }
        if !self.remade.is_empty() {
            bytes.clear();
            self.remade.put(&mut bytes);
            hasher.write(&bytes);
        }
        if self.pending_reload.is_some() {
            bytes.clear();
            self.pending_reload.put(&mut bytes);
            hasher.write(&bytes);
        }
        for number in self.orders.ended() {
            hasher.write_u64(number);
        }
        // The usage must equal that of the orders.
        for standing in self.all_standings() {
            let Tally {
                orders,
                buying,
                selling,
                reserved,
                traded,
                unanswered,
                gained,
            } = standing.tally;
            for word in [orders, buying, selling, unanswered] {
                hasher.write_u64(word);
            }
            hasher.write(&reserved.to_le_bytes());
            hasher.write(&traded.to_le_bytes());
            hasher.write(&gained.to_le_bytes());
        }
        hasher.finish()
    }
}

impl OmsState {
    /// Applies a journal note: the time of the OMS (not that of the record) and the event. An unreadable note counts
    /// as a violation.
    pub fn apply_note(&mut self, note: &[u8]) {
        let event = note
            .split_first_chunk()
            .and_then(|(at, event)| Some((i64::from_le_bytes(*at), OrderEvent::of(event)?)));
        match event {
            Some((at, event)) => {
                self.apply(at, &event);
            }
            None => self.violations += 1,
        }
    }

    fn all_standings(&self) -> impl Iterator<Item = &Standing> {
        core::iter::once(&self.firm)
            .chain(self.sessions.iter().map(|it| &it.standing))
            .chain(self.accounts.iter().map(|it| &it.standing))
            .chain(self.instruments.iter().map(|it| &it.standing))
            .chain(self.holdings.iter().map(|it| &it.standing))
    }

    fn put(&self, put: &mut dyn FnMut(&[u8])) {
        let mut bytes = Vec::new();
        self.put_head(&mut bytes);
        (self.orders.len() as u64).put(&mut bytes);
        put(&bytes);
        for order in self.orders.iter() {
            bytes.clear();
            self.put_order(order, &mut bytes);
            put(&bytes);
        }
        put(&(self.orders.ended_count() as u64).to_le_bytes());
        for number in self.orders.ended() {
            put(&number.to_le_bytes());
        }
        put(&(self.ids.len() as u64).to_le_bytes());
        for used in self.ids.iter() {
            put(&used.hash.to_le_bytes());
            put(&used.order.to_le_bytes());
        }
        self.used_execs.put(put);
        bytes.clear();
        self.rejected.put(&mut bytes);
        self.copies.put(&mut bytes);
        self.quotes.put(&mut bytes);
        self.spreads.put(&mut bytes);
        self.late.put(&mut bytes);
        self.pending_reload.put(&mut bytes);
        self.locates.put(&mut bytes);
        self.strays.put(&mut bytes);
        self.remade.put(&mut bytes);
        self.spreads.fills.put(&mut bytes);
        put(&bytes);
    }

    /// All but orders and ids.
    fn put_head(&self, to: &mut Vec<u8>) {
        self.time.put(to);
        self.events.put(to);
        self.violations.put(to);
        self.late_fills.put(to);
        self.day.put(to);
        self.ids.key().put(to);
        self.last.put(to);
        self.build.put(to);
        self.settings.put(to);
        self.recent.put(to);
        self.next_day.put(to);
        (self.expiries.len() as u32).put(to);
        for expiry in &self.expiries {
            expiry.scope.put(to);
            expiry.control.index().put(to);
            expiry.before.put(to);
            expiry.until.put(to);
        }
        (self.stops.len() as u32).put(to);
        for stop in &self.stops {
            stop.scope.put(to);
            stop.by.put(to);
            stop.armed_by.put(to);
        }
        self.yesterday.put(to);
        self.pool_names.len().put(to);
        for (name, pool) in self.pool_names.iter().zip(&self.pools) {
            name.put(to);
            pool.put(to);
        }
        self.conditions.put(to);
        self.families.put(to);
        self.breaks.put(to);
        self.session_names.put(to);
        self.account_names.put(to);
        self.instrument_names.put(to);
        put_standing(&self.firm, to);
        for session in &self.sessions {
            session.ready.put(to);
            session.client.put(to);
            session.link.0.put(to);
            session.link.1.put(to);
            session.marks.put(to);
            put_standing(&session.standing, to);
        }
        for account in &self.accounts {
            account.parent.put(to);
            put_standing(&account.standing, to);
        }
        for instrument in &self.instruments {
            instrument.scale.put(to);
            instrument.worth.put(to);
            instrument.market.put(to);
            put_standing(&instrument.standing, to);
        }
        (self.holdings.len() as u32).put(to);
        for holding in &self.holdings {
            holding.account.put(to);
            holding.instrument.put(to);
            put_position(&holding.position, to);
            holding.mark.put(to);
            holding.opened_at.put(to);
            put_standing(&holding.standing, to);
        }
    }

    /// With capacity for so many orders and ids, or for the existing ones.
    fn take(from: &mut &[u8], room: usize) -> Option<Self> {
        let mut state = Self {
            time: Wire::take(from)?,
            events: Wire::take(from)?,
            violations: Wire::take(from)?,
            late_fills: Wire::take(from)?,
            day: Wire::take(from)?,
            ids: Ids::new(Wire::take(from)?, room),
            orders: Orders::with_room(room),
            last: Wire::take(from)?,
            build: Wire::take(from)?,
            settings: Wire::take(from)?,
            recent: Recent::take(from)?,
            next_day: Wire::take(from)?,
            ..Self::default()
        };
        for _ in 0..u32::take(from)? {
            state.expiries.push(Expiry {
                scope: Wire::take(from)?,
                control: RiskControl::of(Wire::take(from)?)?,
                before: Wire::take(from)?,
                until: Wire::take(from)?,
            });
        }
        for _ in 0..u32::take(from)? {
            state.stops.push(Stop {
                scope: Wire::take(from)?,
                by: Wire::take(from)?,
                armed_by: Wire::take(from)?,
            });
        }
        state.take_pools(from)?;
        state.session_names = Wire::take(from)?;
        state.account_names = Wire::take(from)?;
        state.instrument_names = Wire::take(from)?;
        state.take_standings(from)?;
        state.check_parents()?;
        state.take_holdings(from)?;
        let orders = u64::take(from)?;
        // No more than there are bytes for.
        let room = orders.min((from.len() / LEAST_ORDER) as u64);
        state.orders.reserve(room as usize);
        for _ in 0..orders {
            state.take_order(from)?;
        }
        for _ in 0..u64::take(from)? {
            let number = Wire::take(from)?;
            let order = state.orders.get(number)?;
            let stays = state.breaks.has_open(number);
            (!order.state.is_open()).then(|| state.orders.has_ended(number, stays))?;
        }
        state.check_ended()?;
        state.conditions.mark(&mut state.orders)?;
        state.complete_families()?;
        let has_flow = state.all_standings().any(|it| it.flow.is_some());
        state.has_flow = has_flow;
        state.take_ids(from)?;
        state.quotes = Quotes::take(&mut state.orders, from)?;
        state.spreads = Spreads::take(from)?;
        state.complete_spreads()?;
        state.late = LateReplaces::take(from)?;
        state.pending_reload = Wire::take(from)?;
        state.locates = Locates::take(from)?;
        state.strays = Strays::take(from)?;
        state.check_strays()?;
        state.remade = RemadeOrders::take(from)?;
        state.spreads.fills = LegFills::take(from)?;
        Some(state)
    }

    fn take_standings(&mut self, from: &mut &[u8]) -> Option<()> {
        self.firm = take_standing(from)?;
        for _ in 0..self.session_names.len() {
            self.sessions.push(Session {
                ready: Wire::take(from)?,
                client: Wire::take(from)?,
                link: (Wire::take(from)?, Wire::take(from)?),
                marks: RequestMarks::take(from)?,
                standing: take_standing(from)?,
            });
        }
        for _ in 0..self.account_names.len() {
            self.accounts.push(Account {
                parent: Wire::take(from)?,
                standing: take_standing(from)?,
            });
        }
        for _ in 0..self.instrument_names.len() {
            let instrument = Instrument {
                scale: Wire::take(from)?,
                worth: Wire::take(from)?,
                market: Wire::take(from)?,
                standing: take_standing(from)?,
            };
            (instrument.scale <= 9).then(|| self.instruments.push(instrument))?;
        }
        Some(())
    }

    fn take_ids(&mut self, from: &mut &[u8]) -> Option<()> {
        let ids = u64::take(from)?;
        self.ids.reserve(from.len() / 16);
        for _ in 0..ids {
            self.ids.add_new(Used {
                hash: Wire::take(from)?,
                order: Wire::take(from)?,
            });
        }
        self.used_execs = UsedExecs::take(from)?;
        self.rejected = RejectedOrders::take(from)?;
        self.copies = Copies::take(from)?;
        Some(())
    }

    fn take_pools(&mut self, from: &mut &[u8]) -> Option<()> {
        self.yesterday = Wire::take(from)?;
        for index in 0..u32::take(from)? {
            let index = PoolNo::new(index);
            let name = Wire::take(from)?;
            self.pool_names.add(index, name).then_some(())?;
            self.pools.push(Pool::take(from)?);
        }
        self.conditions = Conditions::take(from)?;
        self.families = Families::take(from)?;
        self.breaks = VenueBreaks::take(from)?;
        Some(())
    }
}

fn take_all<'a, T: Wire<'a> + Default + Copy, const N: usize>(
    from: &mut &'a [u8],
) -> Option<[T; N]> {
    let mut all = [T::default(); N];
    for value in &mut all {
        *value = T::take(from)?;
    }
    Some(all)
}
