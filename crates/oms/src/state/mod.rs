//! The state of the OMS, as its events have built it.

pub(crate) mod apply;
pub(crate) mod checkpoint;
pub(crate) mod client_rate;
pub(crate) mod conditions;
pub(crate) mod copies;
pub mod event;
pub(crate) mod filter;
pub(crate) mod flow;
pub(crate) mod inquiries;
pub(crate) mod known_prices;
pub(crate) mod leg_fills;
pub(crate) mod mass_status;
pub mod orders;
pub(crate) mod parents;
pub(crate) mod pools;
pub(crate) mod proposal;
pub(crate) mod quotes;
pub(crate) mod reload;
pub(crate) mod roll;
pub(crate) mod show;
pub(crate) mod spreads;
pub(crate) mod tag_counts;
pub(crate) mod tally;
pub(crate) mod worth;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::cell::Cell;

use hashbrown::HashTable;

use crate::state::conditions::Conditions;
use crate::state::copies::Copies;
use crate::state::flow::{Flow, Passed, Recent};
use crate::state::orders::breaks::VenueBreaks;
use crate::state::orders::carried::Carried;
use crate::state::orders::exec_ids::ExecIds;
use crate::state::orders::ids::{Ids, RejectedFor, UsedBy};
use crate::state::orders::late::LateReplaces;
use crate::state::orders::rejected::RejectedOrders;
use crate::state::orders::remade::RemadeOrders;
use crate::state::orders::routed::Routed;
use crate::state::orders::strays::Strays;
use crate::state::orders::used_execs::UsedExecs;
use crate::state::orders::venue_names::VenueNames;
use crate::state::orders::{Order, Orders};
use crate::state::parents::Families;
use crate::state::pools::Pool;
use crate::state::quotes::Quotes;
use crate::state::reload::PendingReload;
use crate::state::spreads::Spreads;
use crate::state::tally::{LoadedTotal, Position, Tally};
use crate::values::ids::{AccountNo, InstrumentNo, Party, PoolNo, SessionNo, Table};
use crate::values::limits::Span;
use crate::values::limits::{RiskControl, RiskLimits};
use crate::values::locate::Locates;
use crate::values::marks::RequestMarks;
use crate::values::names::Names;
use crate::values::scope::Scope;
use crate::values::slab::mixed;
use crate::values::units::Scales;
use crate::values::value::{Amount, Market, Number, Presence, Price, Text, Trading};

/// Usage and limits of a scope.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Standing {
    /// The usage.
    pub tally: Tally,
    /// The limits.
    pub limits: RiskLimits,
    /// Flow counters; `None` where no limit needs them.
    pub(crate) flow: Option<Box<Flow>>,
}

impl Standing {
    /// Reads a word of each cache line that the controls will read, so that the processor fetches all lines at once and
    /// not one after another.
    pub(crate) fn fetch(&self, at: i64) {
        let limits = self.limits.values().map_or(0, |(_, limits)| {
            // A cache line holds four limits.
            limits.iter().step_by(4).fold(0, |all, limit| all ^ limit)
        });
        let flow = self.flow.as_ref().map_or(0, |flow| flow.fetch(at));
        core::hint::black_box((limits, flow));
    }
}

/// An account of the firm.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Account {
    pub parent: Option<AccountNo>,
    pub standing: Standing,
}

/// An instrument.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Instrument {
    /// Decimals of its prices.
    pub scale: u8,
    /// Decimals of its quantities.
    pub quantity_scale: u8,
    pub worth: u64,
    pub market: Market,
    pub standing: Standing,
}

/// The position of an account in an instrument.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Holding {
    pub account: AccountNo,
    pub instrument: InstrumentNo,
    pub position: Position,
    /// The price of the last fill.
    pub mark: Price,
    /// Price at which the position of the day before is valued.
    pub opened_at: Price,
    pub standing: Standing,
}

impl Holding {
    #[inline]
    fn is_of(&self, account: AccountNo, instrument: InstrumentNo) -> bool {
        (self.account, self.instrument) == (account, instrument)
    }

    /// Profit of today, in units of price times quantity. It is the amount sold minus the amount bought, plus the
    /// change in value of the position since the day before.
    pub fn gained(&self) -> Amount {
        let now = &self.position;
        let net = now.net();
        let before = net - i128::from(now.bought) + i128::from(now.sold);
        let worth = net * i128::from(self.mark) - before * i128::from(self.opened_at);
        now.received.saturating_sub(now.paid).saturating_add(worth)
    }
}

/// Maximum number of scopes that an order can have. The settings refuse deeper account trees.
pub(crate) const SCOPES: usize = 16;

/// Usage and limits of the scopes of an order, the widest scope first.
#[derive(Clone, Copy)]
pub(crate) struct Standings<'a> {
    all: [(Scope, &'a Standing); SCOPES],
    count: usize,
    pub holding: Option<&'a Holding>,
}

impl<'a> Standings<'a> {
    /// The standings of an order, with no scope added yet.
    #[inline(always)]
    pub fn new(state: &'a OmsState, party: Party) -> Self {
        Self {
            all: [(Scope::Firm, &state.firm); SCOPES],
            count: 0,
            holding: state.holding_of(party),
        }
    }

    #[inline]
    fn push(&mut self, scope: Scope, standing: &'a Standing) {
        if let Some(place) = self.all.get_mut(self.count) {
            *place = (scope, standing);
            self.count += 1;
        }
    }

    pub fn all(&self) -> &[(Scope, &'a Standing)] {
        &self.all[..self.count]
    }

    /// Adds the standings of the order's scopes that have limits or whose trading is stopped; returns a bit for each
    /// control that has a limit.
    #[inline(always)]
    pub fn add_limited(&mut self, state: &'a OmsState, party: Party) -> u32 {
        let mut controls = 0;
        state.find_standing(party, self.holding, |scope, standing| {
            let limits = &standing.limits;
            controls |= limits.controls();
            if limits.controls() != 0 || limits.trading != Trading::Active {
                self.push(scope, standing);
            }
            None::<()>
        });
        controls
    }
}

/// A session: of a client or to a venue.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Session {
    /// Whether the session leads to a venue and is ready for orders.
    pub ready: bool,
    /// Presence of the client, if the session is a client's.
    pub client: Presence,
    /// MsgSeqNum of the last message received and of the last message sent, over TMP.
    pub link: (u32, u32),
    /// Values of requests over TMP: those of a client, or those of a line.
    pub marks: RequestMarks,
    pub standing: Standing,
}

impl Default for Instrument {
    fn default() -> Self {
        Self {
            scale: 0,
            quantity_scale: 0,
            worth: 0,
            market: Market::Open,
            standing: Standing::default(),
        }
    }
}

impl Default for Session {
    fn default() -> Self {
        Self {
            ready: false,
            client: Presence::Connected,
            link: (0, 0),
            marks: RequestMarks::default(),
            standing: Standing::default(),
        }
    }
}

/// A temporary limit, and when it expires.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Expiry {
    pub scope: Scope,
    pub control: RiskControl,
    pub before: Option<i128>,
    pub until: i64,
}

/// A stopped scope, with the operator who stopped it and the last request to arm it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Stop {
    pub scope: Scope,
    pub by: Text,
    pub asked: Option<ArmRequest>,
}

/// An operator's request that a stopped scope get another trading state.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct ArmRequest {
    pub by: Text,
    pub state: Trading,
}

/// The state of the OMS. Only [`apply`](Self::apply) changes it.
#[derive(Clone, Debug, Default)]
pub struct OmsState {
    /// The time of the last event, in nanoseconds since 1970; never goes backwards.
    pub(crate) time: i64,
    /// Number of events, which is the number of the last event.
    pub(crate) events: u64,
    /// The trading day, as 20261122; `None` before the first trading day.
    pub(crate) day: Option<u32>,
    /// The last trading day that ended with something that begins again with each day: orders, ClOrdIDs, traded
    /// amounts, numbers. No roll goes back to it. `None` if there was no such day.
    pub(crate) used_day: Option<u32>,
    /// The last order number. Numbers continue from day to day, since orders may be good for several days.
    pub(crate) last: Number,
    /// The last order number at the start of the day.
    pub(crate) yesterday: Number,
    pub(crate) ids: Ids,
    pub(crate) used_execs: UsedExecs,
    pub(crate) session_names: Names<SessionNo>,
    pub(crate) account_names: Names<AccountNo>,
    pub(crate) instrument_names: Names<InstrumentNo>,
    pub(crate) firm: Standing,
    pub(crate) sessions: Table<SessionNo, Session>,
    pub(crate) accounts: Table<AccountNo, Account>,
    pub(crate) instruments: Table<InstrumentNo, Instrument>,
    pub(crate) holdings: Vec<Holding>,
    pub(crate) holding_places: HashTable<u32>,
    /// Index of the holding that was found last. Most lookups for a message are for the same one.
    pub(crate) last_holding: Cell<u32>,
    pub(crate) orders: Orders,
    /// Pools of order numbers.
    pub(crate) pool_names: Names<PoolNo>,
    pub(crate) pools: Table<PoolNo, Pool>,
    /// Orders that are or were held.
    pub(crate) conditions: Conditions,
    /// Parent orders and their children.
    pub(crate) families: Families,
    /// Quotes whose orders are in memory.
    pub(crate) quotes: Quotes,
    /// Spreads, and the legs of their orders.
    pub(crate) spreads: Spreads,
    /// Orders for which a venue may report replace requests out of order.
    pub(crate) late: LateReplaces,
    /// Orders for which the venue carries out a replace as Canceled and New.
    pub(crate) remade: RemadeOrders,
    /// Locates of orders.
    pub(crate) locates: Locates,
    /// Fields that orders and requests carry to their venues.
    pub(crate) carried: Carried,
    /// Line groups of orders whose route a condition decided.
    pub(crate) routed: Routed,
    /// ExecIDs of venues that clients have received.
    pub(crate) exec_ids: ExecIds,
    /// Names of instruments and accounts at venues.
    pub(crate) venue_names: VenueNames,
    /// Orders that controls rejected today.
    pub(crate) rejected: RejectedOrders,
    /// Fills that are compared with drop copies of venues.
    pub(crate) copies: Copies,
    /// Differences between reports of venues and orders.
    pub(crate) breaks: VenueBreaks,
    pub(crate) strays: Strays,
    /// New orders of the last second.
    pub(crate) recent: Recent,
    /// Whether any scope counts flow.
    pub(crate) has_flow: bool,
    /// The new trading day that was requested; `None` if none was.
    pub(crate) next_day: Option<u32>,
    /// Temporary limits.
    pub(crate) expiries: Vec<Expiry>,
    /// Stopped scopes.
    pub(crate) stops: Vec<Stop>,
    /// The program that wrote the last events.
    pub(crate) build: Text,
    /// The hash of the settings of that program.
    pub(crate) settings: u64,
    /// A reload that a second operator must request too.
    pub(crate) pending_reload: Option<PendingReload>,
    /// Events that could not be applied: 0 unless the journal was modified.
    pub(crate) violations: u64,
    /// Number of fills that were received after the order was closed, or for unknown orders.
    pub(crate) late_fills: u64,
    /// The number of the last event with which an operator set positions; 0 for none.
    pub(crate) positions_set: u64,
    /// Hashes of the files of position changes that were loaded, the oldest first.
    pub(crate) position_files: Vec<u64>,
    /// The last loaded total of each position, by [`pair`].
    pub(crate) totals: BTreeMap<u64, LoadedTotal>,
}

pub(crate) fn pair(account: AccountNo, instrument: InstrumentNo) -> u64 {
    mixed((account.index() as u64) << 32 | instrument.index() as u64)
}

impl OmsState {
    /// Closed orders of a line for which the venue reports another state.
    pub(crate) fn doubtful_of_closed(&self, line: SessionNo) -> impl Iterator<Item = Number> {
        let orders = self.breaks.iter();
        let orders = orders.filter_map(|(_, it)| self.orders.get(it.order));
        let closed = orders.filter(move |it| it.line() == Some(line) && !it.state.is_open());
        closed.filter(|it| !it.is_external()).map(|it| it.number)
    }

    /// A state with capacity for this number of orders and ids.
    #[must_use]
    pub fn with_capacity(orders: usize) -> Self {
        Self {
            orders: Orders::with_capacity(orders),
            ids: Ids::new(0, orders),
            ..Self::default()
        }
    }

    /// A state with capacity for this number of orders, whose memory is allocated when orders arrive.
    pub(crate) fn with_room(orders: usize) -> Self {
        Self {
            orders: Orders::with_room(orders),
            ..Self::default()
        }
    }

    /// The time of the last event, in nanoseconds since 1970.
    #[must_use]
    pub fn time(&self) -> i64 {
        self.time
    }

    /// The number of the last event.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The trading day, as 20261122.
    #[must_use]
    pub fn day(&self) -> u32 {
        self.day.unwrap_or_default()
    }

    /// The orders in memory.
    #[must_use]
    pub fn orders(&self) -> &Orders {
        &self.orders
    }

    /// The numbers and names of sessions.
    #[must_use]
    pub fn sessions(&self) -> &Names<SessionNo> {
        &self.session_names
    }

    /// The numbers and names of accounts.
    #[must_use]
    pub fn accounts(&self) -> &Names<AccountNo> {
        &self.account_names
    }

    /// The numbers and names of instruments.
    #[must_use]
    pub fn instruments(&self) -> &Names<InstrumentNo> {
        &self.instrument_names
    }

    /// Price decimals of an instrument.
    #[must_use]
    pub fn scale(&self, instrument: InstrumentNo) -> u8 {
        let known = self.instruments.get(instrument);
        known.map_or(0, |known| known.scale)
    }

    /// Decimals of prices and quantities of an instrument.
    #[inline]
    pub(crate) fn scales(&self, instrument: InstrumentNo) -> Scales {
        let known = self.instruments.get(instrument);
        known.map_or_else(Scales::default, |known| Scales {
            price: known.scale,
            quantity: known.quantity_scale,
        })
    }

    /// The parent of an account.
    #[must_use]
    pub fn parent(&self, account: AccountNo) -> Option<AccountNo> {
        self.accounts.get(account)?.parent
    }

    /// Number of events that could not be applied; a number other than 0 means that the journal was modified.
    #[must_use]
    pub fn violations(&self) -> u64 {
        self.violations
    }

    /// Number of fills that were received after the order was closed, or for unknown orders.
    #[must_use]
    pub fn late_fills(&self) -> u64 {
        self.late_fills
    }

    /// Whether a venue session is ready for orders.
    #[must_use]
    pub fn is_ready(&self, line: SessionNo) -> bool {
        self.sessions.get(line).is_some_and(|it| it.ready)
    }

    /// Whether the session on which an order was sent is ready for orders.
    pub(crate) fn is_line_ready(&self, order: &Order) -> bool {
        order.line().is_some_and(|line| self.is_ready(line))
    }

    /// The last MsgSeqNum received and sent on a line that speaks TMP.
    #[must_use]
    pub fn link_numbers(&self, line: SessionNo) -> (u32, u32) {
        self.sessions.get(line).map_or((0, 0), |it| it.link)
    }

    /// Presence of a client whose open orders are cancelled when its session ends.
    #[must_use]
    pub fn client(&self, session: SessionNo) -> Presence {
        let known = self.sessions.get(session);
        known.map_or(Presence::Connected, |session| session.client)
    }

    /// The order of a ClOrdID(11) that was used today; 0 if the order was rejected, `None` if the ClOrdID was not used.
    #[must_use]
    pub fn used(&self, session: SessionNo, id: &[u8]) -> Option<Number> {
        self.ids.find(session, id).map(UsedBy::order)
    }

    /// Whether a ClOrdID(11) that was used today belongs to an order, or to a new order that was rejected.
    pub(crate) fn has_answered(&self, session: SessionNo, id: &[u8]) -> bool {
        let used = self.ids.find(session, id);
        used.is_some_and(|by| by.order() > 0 || by.why().is_some())
    }

    /// Why the new order with a ClOrdID(11) was rejected today; `None` if no new order with it was rejected, or a later
    /// order has it.
    pub(crate) fn rejected_for(&self, session: SessionNo, id: &[u8]) -> Option<RejectedFor> {
        let kept = self.ids.find(session, id)?.why()?;
        let RejectedFor::Why(_) = kept else {
            return Some(kept);
        };
        let mut known = self.rejected.iter().rev();
        let known = known.find(|it| it.terms.session == session && it.id.bytes() == id);
        Some(known.map_or(kept, |it| RejectedFor::Reason(it.terms.reason)))
    }

    /// The position of an account in an instrument.
    #[must_use]
    pub fn position(&self, account: AccountNo, instrument: InstrumentNo) -> Position {
        let holding = self.holding(account, instrument);
        holding.map_or_else(Position::default, |holding| holding.position)
    }

    /// All positions: account, instrument, position, in the order of first use.
    pub fn positions(&self) -> impl Iterator<Item = (AccountNo, InstrumentNo, &Position)> {
        let holdings = self.holdings.iter();
        holdings.map(|it| (it.account, it.instrument, &it.position))
    }

    #[inline]
    pub(crate) fn holding(&self, account: AccountNo, instrument: InstrumentNo) -> Option<&Holding> {
        match self.holdings.get(self.last_holding.get() as usize) {
            Some(last) if last.is_of(account, instrument) => Some(last),
            _ => self.find_holding(account, instrument),
        }
    }

    /// Finds a holding other than the one that was found last.
    #[inline(never)]
    fn find_holding(&self, account: AccountNo, instrument: InstrumentNo) -> Option<&Holding> {
        let is = |place: &u32| self.holdings[*place as usize].is_of(account, instrument);
        let place = *self.holding_places.find(pair(account, instrument), is)?;
        self.last_holding.set(place);
        self.holdings.get(place as usize)
    }

    pub(crate) fn holding_of(&self, party: Party) -> Option<&Holding> {
        self.holding(party.account?, party.instrument?)
    }

    pub(crate) fn holding_mut(
        &mut self,
        account: AccountNo,
        instrument: InstrumentNo,
    ) -> &mut Holding {
        let place = match self.holding(account, instrument) {
            Some(_) => self.last_holding.get(),
            None => self.add_new_holding(account, instrument),
        };
        &mut self.holdings[place as usize]
    }

    #[inline(never)]
    fn add_new_holding(&mut self, account: AccountNo, instrument: InstrumentNo) -> u32 {
        let holdings = &mut self.holdings;
        let place = holdings.len() as u32;
        holdings.push(Holding {
            account,
            instrument,
            position: Position::default(),
            mark: 0,
            opened_at: 0,
            standing: Standing::default(),
        });
        let hash_of = |place: &u32| {
            let known = &holdings[*place as usize];
            pair(known.account, known.instrument)
        };
        let hash = pair(account, instrument);
        self.holding_places.insert_unique(hash, place, hash_of);
        place
    }

    /// Usage and limits of a scope; `None` if the scope has neither.
    #[must_use]
    pub fn standing(&self, scope: Scope) -> Option<&Standing> {
        match scope {
            Scope::Firm => Some(&self.firm),
            Scope::Session(index) => Some(&self.sessions.get(index)?.standing),
            Scope::Account(index) => Some(&self.accounts.get(index)?.standing),
            Scope::Instrument(index) => Some(&self.instruments.get(index)?.standing),
            Scope::Holding(account, instrument) => {
                Some(&self.holding(account, instrument)?.standing)
            }
        }
    }

    pub(crate) fn standing_mut(&mut self, scope: Scope) -> Option<&mut Standing> {
        match scope {
            Scope::Firm => Some(&mut self.firm),
            Scope::Session(index) => Some(&mut self.sessions.get_mut(index)?.standing),
            Scope::Account(index) => Some(&mut self.accounts.get_mut(index)?.standing),
            Scope::Instrument(index) => Some(&mut self.instruments.get_mut(index)?.standing),
            Scope::Holding(account, instrument) => {
                let known = self.accounts.get(account).is_some()
                    && self.instruments.get(instrument).is_some();
                known.then(|| &mut self.holding_mut(account, instrument).standing)
            }
        }
    }

    /// The usage and limits of the scopes of an order, the widest scope first. [`each_standing`](Self::each_standing)
    /// changes the usage of the same scopes.
    pub(crate) fn standings(&self, party: Party) -> Standings<'_> {
        let mut all = Standings::new(self, party);
        self.find_standing(party, all.holding, |scope, standing| {
            all.push(scope, standing);
            None::<()>
        });
        all
    }

    /// Calls a function for the scopes of an order, the widest scope first, and returns its first `Some`. `holding` is
    /// the scope of the order's account in the order's instrument.
    #[inline(always)]
    pub(crate) fn find_standing<'a, T>(
        &'a self,
        party: Party,
        holding: Option<&'a Holding>,
        mut answer: impl FnMut(Scope, &'a Standing) -> Option<T>,
    ) -> Option<T> {
        let mut found = answer(Scope::Firm, &self.firm);
        if let Some(session) = party.session
            && let Some(known) = self.sessions.get(session)
        {
            found = found.or_else(|| answer(Scope::Session(session), &known.standing));
        }
        let account = |of| Some((of, self.accounts.get(of)?));
        let own = party.account.and_then(account);
        let mut above = own.and_then(|(_, own)| own.parent);
        while let Some((index, of)) = above.and_then(account) {
            found = found.or_else(|| answer(Scope::Account(index), &of.standing));
            above = of.parent;
        }
        if let Some((account, own)) = own {
            found = found.or_else(|| answer(Scope::Account(account), &own.standing));
        }
        if let Some(instrument) = party.instrument
            && let Some(known) = self.instruments.get(instrument)
        {
            found = found.or_else(|| answer(Scope::Instrument(instrument), &known.standing));
        }
        if let Some(holding) = holding {
            let scope = Scope::Holding(holding.account, holding.instrument);
            found = found.or_else(|| answer(scope, &holding.standing));
        }
        found
    }

    /// Fetches from memory what the controls will read about an account.
    pub(crate) fn fetch(&self, account: AccountNo, at: i64) {
        if let Some(known) = self.accounts.get(account) {
            known.standing.fetch(at.max(self.time));
        }
    }

    /// The limit of a control at a scope; `None` if it has no limit.
    #[must_use]
    pub fn limit(&self, scope: Scope, control: RiskControl) -> Option<i128> {
        self.standing(scope)?.limits.get(control)
    }

    /// The limit of a control at a scope, as the limits file last set it.
    pub(crate) fn filed(&self, scope: Scope, control: RiskControl) -> Option<i128> {
        self.standing(scope)?.limits.filed(control)
    }

    /// The scopes that may have limits.
    #[must_use]
    pub fn limited_scopes(&self) -> Vec<Scope> {
        let mut scopes = alloc::vec![Scope::Firm];
        scopes.extend(self.session_names.numbers().map(Scope::Session));
        scopes.extend(self.account_names.numbers().map(Scope::Account));
        scopes.extend(self.instrument_names.numbers().map(Scope::Instrument));
        let holdings = self.holdings.iter();
        scopes.extend(holdings.map(|it| Scope::Holding(it.account, it.instrument)));
        scopes
    }

    /// Whether trading is stopped at any scope, or restricted to orders that reduce the position.
    #[inline]
    pub(crate) fn is_somewhere_stopped(&self) -> bool {
        !self.stops.is_empty()
    }

    /// Whether a kill switch is active at any scope.
    pub(crate) fn is_somewhere_killed(&self) -> bool {
        let sessions = self.sessions.iter().map(|it| &it.standing);
        let accounts = self.accounts.iter().map(|it| &it.standing);
        let instruments = self.instruments.iter().map(|it| &it.standing);
        let holdings = self.holdings.iter().map(|it| &it.standing);
        let mut all = sessions.chain(accounts).chain(instruments).chain(holdings);
        let killed = |standing: &Standing| standing.limits.trading == Trading::Killed;
        killed(&self.firm) || all.any(killed)
    }

    /// The trading state of a scope.
    #[must_use]
    pub fn trading(&self, scope: Scope) -> Trading {
        let standing = self.standing(scope);
        standing.map_or(Trading::Active, |it| it.limits.trading)
    }

    /// The state of an instrument's market.
    #[must_use]
    pub fn market(&self, instrument: InstrumentNo) -> Market {
        let known = self.instruments.get(instrument);
        known.map_or(Market::Open, |known| known.market)
    }

    /// The sum of `value` over the flow of a scope in a window that ends now; 0 where no limit counts flow.
    #[inline]
    pub(crate) fn passed<T>(
        &self,
        standing: &Standing,
        span: Span,
        at: i64,
        value: impl FnOnce(&Passed) -> T,
    ) -> T {
        match &standing.flow {
            Some(flow) => flow.within(span, at.max(self.time), value),
            None => value(&Passed::default()),
        }
    }
}
