//! Encodes the state as bytes for checkpoints, and as a hash for comparison.
//!
//! Both come from one function that writes all parts of the state. The usage by open orders is not written, since it is
//! derived from the orders. The blocks of the file have checksums.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_ledger::{Pieces, Wire, state_hash, write_state};
use fixwire_protocol::{Ledger, Timestamp};

use crate::state::event::timed_event;
use crate::state::orders::carried::Carried;
use crate::state::orders::ids::{Ids, Used, UsedBy};
use crate::state::orders::{Order, Orders};
use crate::state::quotes::Quotes;
use crate::state::{Holding, OmsState, Standing};
use crate::values::canary::{self, OmsPlantedFault};
use crate::values::scope::Scope;
use crate::values::value::Number;

mod checks;
mod orders;
pub(crate) mod recalled;
mod standing;

use orders::LEAST_ORDER;

const NAME: &str = "oms";
/// Version of this encoding and of the events, whose notes build the state.
const VERSION: u32 = 1;

/// The state as a fold of its events.
impl Ledger for OmsState {
    fn form(&self) -> (&'static str, u32) {
        (NAME, VERSION)
    }

    fn apply(&mut self, _at: Timestamp, note: &[u8]) {
        self.apply_note(note);
    }

    fn write(&self, give: &mut dyn FnMut(&[u8])) {
        write_state(give, |to| self.put(self.orders.iter(), to));
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
        let mut orders: Vec<&Order> = self.orders.iter().collect();
        orders.sort_unstable_by_key(|order| order.number);
        state_hash(|to| {
            self.put(orders.into_iter(), to);
            // The hash has the usage too, which must equal the sum over the orders.
            self.all_standings().for_each(|(_, it)| it.tally.put(to));
        })
    }
}

impl OmsState {
    /// Applies a journal note. A note has an event and the time of the OMS, which is not the time of the record. A note
    /// that cannot be read counts as a violation.
    pub fn apply_note(&mut self, note: &[u8]) {
        match timed_event(note) {
            Some((at, event)) => {
                self.apply(at, &event);
            }
            None => self.violations += 1,
        }
    }

    pub(crate) fn all_standings(&self) -> impl Iterator<Item = (Scope, &Standing)> {
        let sessions = self.sessions.numbered();
        let accounts = self.accounts.numbered();
        let instruments = self.instruments.numbered();
        core::iter::once((Scope::Firm, &self.firm))
            .chain(sessions.map(|(no, it)| (Scope::Session(no), &it.standing)))
            .chain(accounts.map(|(no, it)| (Scope::Account(no), &it.standing)))
            .chain(instruments.map(|(no, it)| (Scope::Instrument(no), &it.standing)))
            .chain(self.holdings.iter().map(|it| {
                let scope = Scope::Holding(it.account, it.instrument);
                (scope, &it.standing)
            }))
    }

    /// Writes all parts, with the orders in the given sequence.
    ///
    /// A checkpoint has the orders in their sequence in memory, and a state read from the checkpoint keeps this
    /// sequence. A hash has the orders by number, so that the hash does not depend on the sequence in memory.
    fn put<'s>(&'s self, orders: impl Iterator<Item = &'s Order>, to: &mut Pieces<'_>) {
        self.put_head(to);
        self.orders.len().put(to);
        orders.for_each(|order| self.put_order(order, to));
        self.orders.ended().put(to);
        let ids = self.ids.iter().map(|used| (used.hash, used.by));
        let mut ids: Vec<(u64, UsedBy)> = ids.collect();
        ids.sort_unstable();
        ids.put(to);
        self.used_execs.put(to);
        self.rejected.put(to);
        self.copies.put(to);
        self.quotes.put(to);
        self.spreads.put(to);
        self.late.put(to);
        self.pending_reload.put(to);
        self.locates.put(to);
        self.strays.put(to);
        self.remade.put(to);
        self.carried.put(to);
        self.routed.put(to);
        self.exec_ids.put(to);
        self.venue_names.put(to);
        self.positions_set.put(to);
        self.position_files.put(to);
        self.totals.put(to);
    }

    /// Writes the part of a checkpoint before orders and ids.
    fn put_head(&self, to: &mut Pieces<'_>) {
        self.time.put(to);
        self.events.put(to);
        self.violations.put(to);
        self.late_fills.put(to);
        self.day.put(to);
        self.used_day.put(to);
        self.ids.key().put(to);
        self.last.put(to);
        self.build.put(to);
        self.settings.put(to);
        self.recent.put(to);
        self.next_day.put(to);
        self.expiries.put(to);
        self.stops.put(to);
        self.yesterday.put(to);
        self.pool_names.put(to);
        self.pools.put(to);
        self.conditions.put(to);
        self.families.put(to);
        self.breaks.put(to);
        self.session_names.put(to);
        self.account_names.put(to);
        self.instrument_names.put(to);
        self.firm.put(to);
        self.sessions.put(to);
        self.accounts.put(to);
        self.instruments.put(to);
        self.holdings.put(to);
    }

    /// Reads a state. Allocates memory for `room` orders and ids, or for more if the checkpoint has more.
    fn take(from: &mut &[u8], room: usize) -> Option<Self> {
        let mut state = Self {
            time: Wire::take(from)?,
            events: Wire::take(from)?,
            violations: Wire::take(from)?,
            late_fills: Wire::take(from)?,
            day: Wire::take(from)?,
            used_day: Wire::take(from)?,
            ids: Ids::new(Wire::take(from)?, room),
            orders: Orders::with_room(room),
            last: Wire::take(from)?,
            build: Wire::take(from)?,
            settings: Wire::take(from)?,
            recent: Wire::take(from)?,
            next_day: Wire::take(from)?,
            expiries: Wire::take(from)?,
            stops: Wire::take(from)?,
            yesterday: Wire::take(from)?,
            pool_names: Wire::take(from)?,
            pools: Wire::take(from)?,
            conditions: Wire::take(from)?,
            families: Wire::take(from)?,
            breaks: Wire::take(from)?,
            session_names: Wire::take(from)?,
            account_names: Wire::take(from)?,
            instrument_names: Wire::take(from)?,
            firm: Wire::take(from)?,
            sessions: Wire::take(from)?,
            accounts: Wire::take(from)?,
            instruments: Wire::take(from)?,
            ..Self::default()
        };
        state.check_names()?;
        state.check_parents()?;
        for holding in <Vec<Holding>>::take(from)? {
            state.add_holding(holding)?;
        }
        let orders = usize::take(from)?;
        // A modified checkpoint may state more orders than its bytes can hold.
        state.orders.reserve(orders.min(from.len() / LEAST_ORDER));
        for _ in 0..orders {
            state.take_order(from)?;
        }
        for number in <Vec<Number>>::take(from)? {
            let order = state.orders.get(number)?;
            let stays = state.breaks.has_open(number);
            (!order.state.is_open()).then(|| state.orders.has_ended(number, stays))?;
        }
        state.check_ended()?;
        state.conditions.mark(&mut state.orders)?;
        state.complete_families()?;
        let has_flow = state.all_standings().any(|(_, it)| it.flow.is_some());
        state.has_flow = has_flow;
        let ids = <Vec<(u64, UsedBy)>>::take(from)?;
        state.ids.reserve(ids.len());
        for (hash, by) in ids {
            state.ids.add_new(Used { hash, by });
        }
        state.used_execs = Wire::take(from)?;
        state.rejected = Wire::take(from)?;
        state.copies = Wire::take(from)?;
        state.quotes = Quotes::take(&mut state.orders, from)?;
        state.spreads = Wire::take(from)?;
        state.complete_spreads()?;
        state.late = Wire::take(from)?;
        state.pending_reload = Wire::take(from)?;
        state.locates = Wire::take(from)?;
        state.strays = Wire::take(from)?;
        state.check_strays()?;
        state.remade = Wire::take(from)?;
        state.carried = Wire::take(from)?;
        state.check_carried()?;
        if canary::is(OmsPlantedFault::ForgetFields) {
            state.carried = Carried::default();
        }
        state.routed = Wire::take(from)?;
        state.check_routed()?;
        state.exec_ids = Wire::take(from)?;
        state.check_exec_ids()?;
        state.venue_names = Wire::take(from)?;
        state.check_venue_names()?;
        state.positions_set = Wire::take(from)?;
        state.position_files = Wire::take(from)?;
        state.totals = Wire::take(from)?;
        state.check_totals()?;
        Some(state)
    }
}
