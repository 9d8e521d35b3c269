//! Core: turns an input into events, according to the state. Each event is applied before the next one is decided.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::{Decimal, Ledger as _};

use crate::decide::queue::Lines;
use crate::decide::work::Work;
use crate::state::OmsState;
use crate::state::apply::fill_time::{is_dated_back, may_be_of_fill, traded};
use crate::state::apply::parents;
use crate::state::conditions::Terms;
use crate::state::event::{LifecycleEvent, OrderEvent};
use crate::state::known_prices::{AcceptedTerms, Prices};
use crate::state::orders::own::OwnOrders;
use crate::state::orders::venue_ids::VenueIds;
use crate::state::orders::venue_names::NameOf;
use crate::state::pools::{PoolNumber, Pools};
use crate::state::proposal::Proposal;
use crate::values::fields::MissingTerms;
use crate::values::fields::carried::CarriedFields;
use crate::values::fields::conversion::FieldConverter;
use crate::values::ids::{InstrumentNo, SessionNo, Table};
use crate::values::locate::Locate;
use crate::values::rules::{InstrumentRule, RestrictedRule, RiskRules, UserRule};
use crate::values::value::{Effect, Number, OrderType, Price, RequestKind, Side, TimeInForce};

/// Receives each event after it is applied to the state. The sink keeps the journal note, and writes the messages to
/// clients and venues.
pub trait Sink {
    /// Called before an event is applied to the state.
    fn happens(&mut self, _state: &OmsState, _event: &OrderEvent<'_>) {}

    /// Called after an event was applied.
    fn happened(&mut self, state: &OmsState, event: &OrderEvent<'_>);

    /// Called after the event of a fill, bust or correction when totals of positions were loaded from a file.
    fn happened_after_totals(&mut self, _state: &OmsState, _event: &OrderEvent<'_>) {}
}

impl<F: FnMut(&OmsState, &OrderEvent<'_>)> Sink for F {
    fn happened(&mut self, state: &OmsState, event: &OrderEvent<'_>) {
        self(state, event);
    }
}

/// NewOrderSingle(D); `None` for values that could not be read.
#[derive(Clone, Copy, Debug)]
pub struct NewOrder<'a> {
    /// The client's session, by its number in the state.
    pub session: SessionNo,
    /// ClOrdID(11), of at most [`Text::MAX`](crate::Text::MAX) bytes.
    pub id: &'a [u8],
    /// Account(1); empty for none.
    pub account: &'a [u8],
    /// Symbol(55).
    pub symbol: &'a [u8],
    /// Side(54), when it is supported.
    pub side: Option<Side>,
    /// OrdType(40), when it is supported.
    pub kind: Option<OrderType>,
    /// TimeInForce(59), when it is supported.
    pub tif: Option<TimeInForce>,
    /// Price(44).
    pub price: Option<Decimal>,
    /// StopPx(99).
    pub stop: Option<Decimal>,
    /// OrderQty(38).
    pub quantity: Decimal,
    /// ExpireDate(432), as 20261122.
    pub until: Option<u32>,
    /// PositionEffect(77), when it is supported.
    pub effect: Option<Effect>,
    /// Whether the stock of a short sale is located: LocateReqd(114) = N, or a LocateBroker(5700).
    pub is_located: bool,
    /// The order number that the client chose, in the field of a number pool; empty for none.
    pub own_number: &'a [u8],
    /// The first session of the line group that the condition of a route chose; `None` when no condition decides.
    pub route: Option<SessionNo>,
    /// Terms of the order in addition to its usual fields.
    pub terms: Terms,
}

/// The lines that accept the fields of the request that is being handled, as was found when the request came in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AcceptingLines {
    /// The place of their line group.
    pub group: usize,
    /// The last number before the request. Orders and requests with a higher number have its fields.
    pub after: Number,
}

/// What a new order has in addition to its usual fields: the locate, and fields for the venue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beside<'a> {
    pub locate: Locate<'a>,
    /// Fields that the venue gets unchanged.
    pub fields: CarriedFields<'a>,
}

impl Beside<'_> {
    /// Neither a locate nor fields for the venue.
    pub(crate) const NONE: Self = Self {
        locate: Locate::NONE,
        fields: CarriedFields::NONE,
    };
}

/// A new order that passed the controls.
pub(crate) struct Accepted {
    pub proposal: Proposal,
    /// The price at which the order's value is reserved.
    pub hold: Price,
    /// The order number that the client chose.
    pub own_number: Option<PoolNumber>,
    /// Terms of the order in addition to its usual fields.
    pub asked: Option<AcceptedTerms>,
}

/// A new order that the controls have not checked yet.
pub(crate) struct Proposed<'a> {
    pub proposal: Proposal,
    /// The settings of its instrument.
    pub rule: &'a InstrumentRule,
    /// Terms of the order in addition to its usual fields.
    pub asked: Option<AcceptedTerms>,
}

/// OrderCancelReplaceRequest(G) or OrderCancelRequest(F).
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// The client's session, by its number in the state.
    pub session: SessionNo,
    /// Whether the request is a replace or a cancel.
    pub kind: RequestKind,
    /// ClOrdID(11), of at most [`Text::MAX`](crate::Text::MAX) bytes.
    pub id: &'a [u8],
    /// OrigClOrdID(41).
    pub original: &'a [u8],
    /// OrderID(37), when it is a number.
    pub order_id: Option<Number>,
    /// Symbol(55).
    pub symbol: &'a [u8],
    /// Side(54).
    pub side: Option<Side>,
    /// OrderQty(38) of a replace.
    pub quantity: Option<Decimal>,
    /// Price(44) of a replace.
    pub price: Option<Decimal>,
    /// Maximum time between the receipt of a replace and its sending, in nanoseconds; `None` for no limit.
    pub valid_for: Option<i64>,
    /// Fields that a replace cannot change: Account(1), OrdType(40), TimeInForce(59) and others.
    pub others: Others<'a>,
}

/// Fields that a replace cannot change. If a replace has one of them, it must equal the order's field.
#[derive(Clone, Copy, Debug, Default)]
pub struct Others<'a> {
    /// Account(1); empty for none.
    pub account: &'a [u8],
    /// OrdType(40).
    pub kind: Option<u8>,
    /// TimeInForce(59).
    pub tif: Option<u8>,
    /// StopPx(99).
    pub stop: Option<Decimal>,
    /// ExpireDate(432); empty for none.
    pub until: &'a [u8],
    /// PositionEffect(77); empty for none.
    pub effect: &'a [u8],
    /// HandlInst(21).
    pub handling: Option<u8>,
}

/// The part of the OMS that decides on orders, without sessions and messages.
#[derive(Debug)]
pub struct Core {
    pub(crate) state: OmsState,
    pub(crate) rules: RiskRules,
    /// Settings of each instrument of the state.
    pub(crate) instruments: Table<InstrumentNo, Option<InstrumentRule>>,
    /// Rights of each session of the state.
    pub(crate) users: Table<SessionNo, Option<UserRule>>,
    pub(crate) lines: Lines,
    /// Restrictions of each instrument of the state.
    pub(crate) restrictions: Table<InstrumentNo, Vec<RestrictedRule>>,
    pub(crate) own: OwnOrders,
    pub(crate) pools: Pools,
    pub(crate) prices: Prices,
    pub(crate) venue_ids: VenueIds,
    /// Checks the carried fields that lines of other FIX versions get converted.
    pub(crate) converter: FieldConverter,
    /// The last order or request before the start, the last reload or the last rerun. The lines may meanwhile have other
    /// dictionaries than those with which the fields of earlier requests were checked.
    pub(crate) unchecked: Number,
    /// By line: the fields of an order's terms that its dictionary does not have; empty if all lines have all of them.
    pub(crate) missing_terms: Table<SessionNo, MissingTerms>,
    /// The lines that accept the carried fields of the request that is being handled; `None` if each line is asked.
    pub(crate) accepting: Option<AcceptingLines>,
    pub(crate) work: Work,
    /// Time since which each line and each drop copy session of a venue is logged on, in nanoseconds.
    pub(crate) copy_since: BTreeMap<SessionNo, i64>,
    /// Decimals of prices over TMP, by instrument; empty when no line speaks TMP.
    pub(crate) tmp_scales: Table<InstrumentNo, u8>,
    /// Names that open orders keep on a line, although the settings now give the name to another instrument or account.
    /// The value is that instrument or account. Nothing is sent with such a name.
    pub(crate) taken_names: BTreeMap<(SessionNo, NameOf), NameOf>,
    /// Whether a client may place parent orders.
    pub(crate) has_parents: bool,
    /// Whether the journal of the OMS replaces a removed journal.
    pub(crate) replaces_journal: bool,
    /// The number of the last event whose fill may have been made more than a second before it was received, or may
    /// have turned a position. If there was none since the start, the last event before the start.
    pub(crate) dated_back: u64,
}

impl Core {
    /// An OMS without orders.
    #[must_use]
    pub fn new(rules: RiskRules) -> Self {
        Self {
            state: OmsState::with_capacity(rules.orders),
            instruments: Table::default(),
            users: Table::default(),
            lines: Lines::default(),
            restrictions: Table::default(),
            own: OwnOrders::new(rules.rejects_self_trades),
            pools: Pools::default(),
            prices: Prices::default(),
            venue_ids: VenueIds::default(),
            converter: FieldConverter::with(&rules.conversions),
            unchecked: 0,
            missing_terms: Table::default(),
            accepting: None,
            work: Work::default(),
            copy_since: BTreeMap::new(),
            tmp_scales: Table::default(),
            taken_names: BTreeMap::new(),
            has_parents: rules.users.iter().any(|user| user.parents.is_some()),
            replaces_journal: false,
            dated_back: 0,
            rules,
        }
    }

    /// State of the OMS.
    #[must_use]
    pub fn state(&self) -> &OmsState {
        &self.state
    }

    /// Settings of the OMS.
    #[must_use]
    pub fn rules(&self) -> &RiskRules {
        &self.rules
    }

    /// Records that the journal replaces a removed journal: new order numbers are above the numbers of the removed
    /// journal.
    pub fn set_replaces_journal(&mut self) {
        self.replaces_journal = true;
    }

    /// Applies a journal note.
    pub fn replay_note(&mut self, note: &[u8]) {
        self.state.apply_note(note);
    }

    /// Loads the state from a checkpoint.
    ///
    /// # Errors
    ///
    /// The checkpoint is damaged; the state is unusable then.
    pub fn read(&mut self, version: u32, state: &[u8]) -> Result<(), String> {
        // The memory for the configured number of orders is never allocated for two states at a time.
        self.state = OmsState::default();
        let mut new = OmsState::with_room(self.rules.orders);
        new.read(version, state)?;
        self.state = new;
        Ok(())
    }

    /// Applies an event and passes it to the sink. Then updates the values that are derived from the state, in the
    /// sequence of the calls below, and last the parent of the order. Longer work is left to [`work`](Self::work).
    pub(crate) fn emit(&mut self, at: i64, event: &OrderEvent<'_>, sink: &mut impl Sink) {
        sink.happens(&self.state, event);
        let touched = self.own.touched(&self.state, event);
        let done = self.state.apply(at, event);
        self.own.add(&self.state, touched);
        debug_assert!(done, "{event:?} does not fit");
        if may_be_of_fill(event) {
            if is_dated_back(event, self.state.time) || self.may_turn(event) {
                self.dated_back = self.state.events;
            }
            if !self.state.totals.is_empty() {
                sink.happened_after_totals(&self.state, event);
            }
        }
        sink.happened(&self.state, event);
        self.lines.note(&self.state, event);
        self.work.note(&self.state, event);
        if self.venue_ids.is_used() {
            self.venue_ids.note(&self.state, event);
        }
        if !self.state.conditions.is_empty() {
            self.prices.note(&self.state, event);
        }
        if !self.state.families.is_empty() {
            self.follow(at, event, sink);
        }
    }

    /// Whether a fill may have closed more than the position of a symbol with separate long and short positions. The
    /// OMS does not know then how the fill changes the other position.
    fn may_turn(&self, event: &OrderEvent<'_>) -> bool {
        let order = traded(event).and_then(|number| self.state.orders().get(number));
        let Some(order) = order else {
            return false;
        };
        let rule = self.instruments.get(order.instrument);
        if !rule
            .and_then(Option::as_ref)
            .is_some_and(|it| it.has_effect)
        {
            return false;
        }
        if !matches!(event, OrderEvent::Order(LifecycleEvent::Filled { .. })) {
            return true;
        }
        let position = self.state.position(order.account, order.instrument);
        let closed = if order.side.is_buy() {
            position.short
        } else {
            position.long
        };
        order.effect.counted() != Effect::Open && closed == 0
    }

    /// The oldest closed order that may be removed from memory. None of its requests is pending, and the other side of
    /// its quote is closed too.
    #[inline]
    pub(crate) fn forgettable(&self) -> Option<Number> {
        let orders = self.state().orders();
        if orders.ended_count() <= self.rules().remembered {
            return None;
        }
        let is_settled = |number: &Number| {
            let Some(order) = orders.get(*number) else {
                return false;
            };
            let other = order.other_side();
            // A bust of a child that came back is reported to the client of its parent.
            let mut children = self.state().families.children(*number);
            orders.request_of(order).is_none()
                && other.is_none_or(|it| !self.state().is_open(it))
                && !children.any(|it| self.state().strays.is_recalled(it))
        };
        orders.forgettable().take(64).find(is_settled)
    }

    /// Removes closed orders from memory, the oldest first, while there are more than `remembered`.
    pub(crate) fn forget(&mut self, at: i64, sink: &mut impl Sink) {
        // Further orders are removed when the OMS is idle.
        for _ in 0..2 {
            let Some(order) = self.forgettable() else {
                return;
            };
            self.emit(
                at,
                &OrderEvent::Order(LifecycleEvent::Forgotten { order }),
                sink,
            );
        }
    }

    /// Decides what an event of a child changes in its parent, directly after the event.
    #[cold]
    fn follow(&mut self, at: i64, event: &OrderEvent<'_>, sink: &mut impl Sink) {
        if let Some(parent) = parents::of_closed(&self.state, event) {
            self.work.settle(parent);
        }
        let Some((parent, event)) = parents::counts_for_parent(&self.state, event) else {
            return;
        };
        self.emit(at, &event, sink);
        self.decline_filled(at, parent, None, sink);
        if !self.state.is_open(parent) {
            self.work.cancel_children(&self.state, parent);
        }
    }
}
