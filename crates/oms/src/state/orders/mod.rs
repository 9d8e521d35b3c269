//! Orders and their pending requests, in memory while they are open.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::cell::Cell;

use fixwire_ledger::{Put, Wire};
use hashbrown::HashTable;

pub use crate::state::orders::fills::Fill;
use crate::state::orders::fills::Fills;
use crate::state::orders::transition::{OrderState, ord_status};
use crate::state::orders::waiting::QueueTime;
use crate::state::quotes::QuoteSide;
use crate::state::tally::TradeSide;
use crate::values::canary::{self, OmsPlantedFault};
use crate::values::ids::{AccountNo, InstrumentNo, Party, PoolNo, SessionNo, Slot};
use crate::values::marks::RequestMarks;
use crate::values::slab::Slab;
use crate::values::slab::mixed;
use crate::values::value::{
    Amount, Effect, End, Number, OrderType, Price, Quantity, RequestKind, Side, Text, TimeInForce,
};

pub(crate) mod breaks;
mod bulk;
pub(crate) mod carried;
pub(crate) mod exec_ids;
pub(crate) mod fills;
pub(crate) mod ids;
pub(crate) mod lapsed;
pub(crate) mod late;
pub(crate) mod own;
pub(crate) mod rejected;
pub(crate) mod remade;
pub(crate) mod retries;
pub(crate) mod routed;
pub(crate) mod strays;
pub mod transition;
pub(crate) mod used_execs;
pub(crate) mod venue_ids;
pub(crate) mod venue_names;
pub(crate) mod waiting;

/// Where an order was placed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Placement {
    /// The order was not sent yet.
    Unsent,
    /// The order was sent on a session to a venue.
    Line(SessionNo),
    /// The order was placed elsewhere. The session is the venue's drop copy session that reports the order.
    Elsewhere,
}

impl Wire<'_> for Placement {
    fn put(&self, to: &mut impl Put) {
        match self {
            Self::Unsent => to.some([0]),
            Self::Line(line) => {
                to.some([1]);
                line.put(to);
            }
            Self::Elsewhere => to.some([2]),
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(match u8::take(from)? {
            0 => Self::Unsent,
            1 => Self::Line(SessionNo::take(from)?),
            2 => Self::Elsewhere,
            _ => return None,
        })
    }
}

/// An order of a client.
#[derive(Clone, Debug)]
pub struct Order {
    /// Number of the order.
    pub number: Number,
    /// Number of the order at the venue: its own number, or the number of its last accepted replace.
    pub current: Number,
    /// The client's session.
    pub session: SessionNo,
    /// The account.
    pub account: AccountNo,
    /// The instrument.
    pub instrument: InstrumentNo,
    /// Where the order was placed.
    pub placement: Placement,
    /// Side(54).
    pub side: Side,
    /// OrdType(40).
    pub kind: OrderType,
    /// TimeInForce(59).
    pub tif: TimeInForce,
    /// ExpireDate(432), as 20261122.
    pub until: Option<u32>,
    /// PositionEffect(77).
    pub effect: Effect,
    /// State of the order.
    pub state: OrderState,
    /// Price(44).
    pub price: Price,
    /// StopPx(99).
    pub stop: Price,
    /// The price at which the order's value is reserved.
    pub hold: Price,
    /// OrderQty(38).
    pub quantity: Quantity,
    /// CumQty(14).
    pub filled: Quantity,
    /// Sum of price times quantity of the fills.
    pub paid: Amount,
    /// The current ClOrdID(11).
    pub id: Text,
    /// OrderID(37) that the venue gave; empty for none.
    pub venue_id: Text,
    /// Index of the pending request of the order.
    pub(crate) request: Option<Slot>,
    /// Index of the last fill of the order. Each fill has the index of the fill before it.
    pub(crate) last_fill: Option<Slot>,
    /// A final state that the venue has reported while fills are missing.
    pub(crate) pended: Option<Box<Pended>>,
    /// Time of the last status request to the venue, in nanoseconds since 1970; 0 for never.
    pub(crate) asked: i64,
    /// Whether a mass cancel is cancelling the order.
    pub(crate) withdrawn: bool,
    /// Number of accepted replaces.
    pub(crate) replaces: u16,
    /// How long the order may wait to be sent.
    pub(crate) queued: QueueTime,
    /// Retry state, after a reject by a venue.
    pub(crate) retry: Option<Box<Retry>>,
    /// Number from a pool.
    pub pool_number: Text,
    /// The pool of `pool_number`; `None` for an order without a number from a pool.
    pub(crate) pool: Option<PoolNo>,
    /// Whether the client chose `pool_number`.
    pub(crate) own_number: bool,
    /// Whether the order was held and its condition was met.
    pub(crate) triggered: bool,
    /// Which side of a quote the order is.
    pub(crate) quote_side: QuoteSide,
    /// Values in the order's first request over TMP.
    pub(crate) marks: RequestMarks,
}

/// Retry state of an order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Retry {
    /// Number under which the order is sent to the venue again: a number that the venue rejected cannot be used again.
    pub attempt: Number,
    /// Number of retries, including the current retry.
    pub tries: u8,
    /// Earliest time to send the order again, in nanoseconds since 1970.
    pub due: i64,
    /// The session on which the order must not be sent again; `None` for any session.
    pub not_on: Option<SessionNo>,
}

impl Order {
    /// The number under which the order was last sent as a new order. It is the order's own number, unless the order
    /// was sent again.
    #[must_use]
    pub fn attempt(&self) -> Number {
        let retry = self.retry.as_ref();
        retry.map_or(self.number, |retry| retry.attempt)
    }

    /// OrdType(40) at the venue: a triggered order has another type there.
    pub(crate) fn sent_kind(&self) -> OrderType {
        if self.triggered {
            self.kind.triggered()
        } else {
            self.kind
        }
    }

    /// Whether the order was placed elsewhere. Its session is then a drop copy session of the venue.
    #[must_use]
    pub fn is_external(&self) -> bool {
        self.placement == Placement::Elsewhere
    }

    /// The session on which the venue reports on the order; `None` before the order is sent.
    #[must_use]
    #[inline]
    pub fn line(&self) -> Option<SessionNo> {
        match self.placement {
            Placement::Unsent => None,
            Placement::Line(line) => Some(line),
            Placement::Elsewhere => Some(self.session),
        }
    }

    /// Effect of the order's fills on the position.
    pub(crate) fn trade_side(&self) -> TradeSide {
        TradeSide {
            buys: self.side.is_buy(),
            effect: self.effect,
        }
    }

    /// Session, account and instrument of the order.
    #[inline]
    pub(crate) fn party(&self) -> Party {
        Party::new(self.session, self.account, self.instrument)
    }

    /// The time after which the order must not be sent, in nanoseconds since 1970; `None` for no such time.
    pub(crate) fn valid_until(&self) -> Option<i64> {
        self.queued.until()
    }

    /// Whether the number belongs to an earlier attempt that the venue rejected, or to a request of that attempt.
    pub(crate) fn is_past(&self, request: Number) -> bool {
        let retry = self.retry.as_ref();
        retry.is_some_and(|retry| request < retry.attempt)
            && !canary::is(OmsPlantedFault::RetryPast)
    }

    /// Whether the venue has acknowledged the order, by an OrderID(37) or a fill.
    pub(crate) fn is_acknowledged(&self) -> bool {
        !self.venue_id.bytes().is_empty() || self.filled > 0
    }

    /// LeavesQty(151).
    #[must_use]
    pub fn leaves(&self) -> Quantity {
        if self.state.is_open() {
            self.quantity.saturating_sub(self.filled)
        } else {
            0
        }
    }

    /// LeavesQty(151) in reports to the client. It is 0 for a lapsed order, which the client knows as expired.
    #[must_use]
    pub(crate) fn reported_leaves(&self) -> Quantity {
        match self.state {
            OrderState::Lapsed => 0,
            _ => self.leaves(),
        }
    }

    /// Whether the order is open, has not lapsed, and ends before the trading day `day`.
    pub(crate) fn ends_before(&self, day: u32) -> bool {
        self.state.is_open() && self.state != OrderState::Lapsed && !self.outlives(day)
    }

    /// Whether the order works again on this date, because it is done for the day now or will be when its missing fills
    /// have arrived.
    pub(crate) fn rests_until(&self, day: u32) -> bool {
        let waits = || {
            self.pended
                .as_ref()
                .is_some_and(|it| it.how == End::DoneForDay)
        };
        let rests = match self.state {
            OrderState::DoneForDay => true,
            OrderState::Working => waits(),
            _ => false,
        };
        rests && self.outlives(day)
    }

    /// Whether the order does not expire before this date.
    pub(crate) fn outlives(&self, day: u32) -> bool {
        match self.tif {
            TimeInForce::GoodTillCancel => true,
            TimeInForce::GoodTillDate => self.until.is_some_and(|until| until >= day),
            _ => false,
        }
    }
}

/// A replace or cancel of an order.
#[derive(Clone, Debug)]
pub struct Request {
    /// Number of the request.
    pub number: Number,
    /// Index of its order; `None` until it is added to the order.
    pub(crate) order: Option<Slot>,
    /// Kind of the request.
    pub kind: RequestKind,
    /// State of the request, with the same values as the state of an order.
    pub state: OrderState,
    /// OrderQty(38) of a replace.
    pub quantity: Quantity,
    /// Price(44) of a replace.
    pub price: Price,
    /// The price at which the order's value is reserved if the replace is accepted.
    pub hold: Price,
    /// ClOrdID(11); empty when no client message requested it.
    pub id: Text,
    /// How long the request may wait to be sent.
    pub(crate) queued: QueueTime,
}

impl Request {
    /// A cancel with this number that belongs to no order yet.
    pub(crate) fn cancel(number: Number) -> Self {
        Self {
            number,
            order: None,
            kind: RequestKind::Cancel,
            state: OrderState::Queued,
            quantity: 0,
            price: 0,
            hold: 0,
            id: Text::EMPTY,
            queued: QueueTime::None,
        }
    }

    /// The time after which the request must not be sent, in nanoseconds since 1970; `None` for no such time.
    pub(crate) fn valid_until(&self) -> Option<i64> {
        self.queued.until()
    }
}

/// A final state that the venue reported while fills were missing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pended {
    pub how: End,
    pub request: Option<Number>,
    pub filled: Quantity,
    pub at: i64,
}

/// Index of an order in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place(Slot);

/// All orders in memory: open orders, and orders that were closed recently.
#[derive(Clone, Debug, Default)]
pub struct Orders {
    pub(crate) orders: Slab<Order>,
    pub(crate) requests: Slab<Request>,
    pub(crate) fills: Fills,
    /// Index of each order, by order number.
    pub(crate) places: HashTable<Slot>,
    /// Index of the order or request that was found last. Most lookups for a message are for the same order.
    pub(crate) last_found: Cell<Option<Slot>>,
    pub(crate) last_request: Cell<Option<Slot>>,
    /// Index of each request, by request number.
    pub(crate) request_places: HashTable<Slot>,
    /// Closed orders that may be removed from memory, the oldest first. Each has its position among all closed orders.
    pub(crate) ended: VecDeque<(u64, Number)>,
    /// Closed orders that must stay in memory, with their positions among all closed orders.
    pub(crate) kept: BTreeMap<Number, u64>,
    /// The position that the next closed order gets.
    pub(crate) next_ended: u64,
    pub(crate) last_ended: Option<Number>,
}

impl Orders {
    /// An empty collection with memory for this number of orders.
    pub(crate) fn with_capacity(orders: usize) -> Self {
        Self {
            orders: Slab::with_capacity(orders),
            places: HashTable::with_capacity(orders),
            ..Self::default()
        }
    }

    /// An empty collection for this number of orders, whose memory is allocated when orders arrive.
    pub(crate) fn with_room(orders: usize) -> Self {
        Self {
            places: HashTable::with_capacity(orders),
            ..Self::default()
        }
    }

    /// Number of orders for which memory is allocated.
    pub(crate) fn capacity(&self) -> usize {
        self.places.capacity()
    }

    /// Allocates memory for more orders.
    pub(crate) fn reserve(&mut self, orders: usize) {
        let known = &self.orders;
        let hash = |place: &Slot| mixed(known.get(*place).map_or(0, |order| order.number));
        self.places.reserve(orders, hash);
    }

    /// Number of orders in memory.
    #[must_use]
    pub fn len(&self) -> usize {
        self.orders.len()
    }

    /// Whether no order is in memory.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The order with this number, if it is in memory.
    #[must_use]
    #[inline]
    pub fn get(&self, number: Number) -> Option<&Order> {
        match self.last_found.get().and_then(|at| self.orders.get(at)) {
            Some(last) if last.number == number => Some(last),
            _ => self.at(self.find(number)?),
        }
    }

    pub(crate) fn get_mut(&mut self, number: Number) -> Option<&mut Order> {
        self.at_mut(self.place(number)?)
    }

    pub(crate) fn at(&self, place: Place) -> Option<&Order> {
        self.orders.get(place.0)
    }

    pub(crate) fn at_mut(&mut self, place: Place) -> Option<&mut Order> {
        self.orders.get_mut(place.0)
    }

    #[inline]
    pub(crate) fn place(&self, number: Number) -> Option<Place> {
        if let Some(last) = self.last_found.get()
            && let Some(order) = self.orders.get(last)
            && order.number == number
        {
            return Some(Place(last));
        }
        self.find(number)
    }

    /// Finds an order other than the one that was found last.
    #[inline(never)]
    fn find(&self, number: Number) -> Option<Place> {
        let is = |place: &Slot| {
            let order = self.orders.get(*place);
            order.is_some_and(|order| order.number == number)
        };
        let place = self.places.find(mixed(number), is).copied()?;
        self.last_found.set(Some(place));
        Some(Place(place))
    }

    #[inline]
    fn request_place(&self, number: Number) -> Option<Slot> {
        if let Some(last) = self.last_request.get()
            && let Some(request) = self.requests.get(last)
            && request.number == number
        {
            return Some(last);
        }
        self.find_request(number)
    }

    /// Finds a request other than the one that was found last.
    #[inline(never)]
    fn find_request(&self, number: Number) -> Option<Slot> {
        let is = |place: &Slot| {
            let request = self.requests.get(*place);
            request.is_some_and(|request| request.number == number)
        };
        let place = self.request_places.find(mixed(number), is).copied()?;
        self.last_request.set(Some(place));
        Some(place)
    }

    /// A pending request and its order.
    #[must_use]
    pub fn request(&self, number: Number) -> Option<(&Request, &Order)> {
        let request = self.requests.get(self.request_place(number)?)?;
        Some((request, self.orders.get(request.order?)?))
    }

    /// The pending request of an order.
    #[must_use]
    pub fn request_of(&self, order: &Order) -> Option<&Request> {
        self.requests.get(order.request?)
    }

    pub(crate) fn request_mut(&mut self, number: Number) -> Option<&mut Request> {
        let place = self.request_place(number)?;
        self.requests.get_mut(place)
    }

    /// OrdStatus(39) for the client. A cancel that the client did not request is not shown as pending, because the
    /// client would get no report if the cancel failed.
    #[must_use]
    pub fn status(&self, order: &Order) -> u8 {
        let request = self
            .request_of(order)
            .filter(|it| !it.id.bytes().is_empty());
        let pending = request.map(|request| request.kind);
        ord_status(order.state, order.filled > 0, pending)
    }

    /// All orders in memory, unordered.
    pub fn iter(&self) -> impl Iterator<Item = &Order> {
        self.orders.iter()
    }

    /// Closed orders that may be removed from memory, the oldest first.
    pub(crate) fn forgettable(&self) -> impl Iterator<Item = Number> {
        self.ended.iter().map(|(_, number)| *number)
    }

    /// Number of closed orders in memory.
    pub(crate) fn ended_count(&self) -> usize {
        self.ended.len() + self.kept.len()
    }

    /// Number of closed orders that must stay in memory.
    pub(crate) fn kept_count(&self) -> usize {
        self.kept.len()
    }

    /// The order that was closed last. It may be open again.
    pub(crate) fn last_ended(&self) -> Option<Number> {
        self.last_ended
    }

    /// All closed orders, the oldest first.
    pub(crate) fn ended(&self) -> Vec<Number> {
        let kept = self.kept.iter().map(|(number, place)| (*place, *number));
        let mut all: Vec<(u64, Number)> = self.ended.iter().copied().chain(kept).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, number)| number).collect()
    }

    pub(crate) fn add(&mut self, order: Order) -> Place {
        let number = order.number;
        let place = self.orders.add(order);
        let orders = &self.orders;
        let hash = |place: &Slot| mixed(orders.get(*place).map_or(0, |order| order.number));
        self.places.insert_unique(mixed(number), place, hash);
        self.last_found.set(Some(place));
        Place(place)
    }

    /// Adds a request to an order; returns false when the order already has a pending request.
    pub(crate) fn add_request(&mut self, order: Place, mut request: Request) -> bool {
        request.order = Some(order.0);
        let number = request.number;
        let Some(known) = self.orders.get_mut(order.0) else {
            return false;
        };
        if known.request.is_some() {
            return false;
        }
        let at = self.requests.add(request);
        known.request = Some(at);
        let requests = &self.requests;
        let hash = |place: &Slot| mixed(requests.get(*place).map_or(0, |it| it.number));
        self.request_places.insert_unique(mixed(number), at, hash);
        self.last_request.set(Some(at));
        true
    }

    /// Removes a request.
    pub(crate) fn remove_request(&mut self, number: Number) -> Option<Request> {
        let place = self.request_place(number)?;
        let found = self
            .request_places
            .find_entry(mixed(number), |at| *at == place);
        if let Ok(entry) = found {
            entry.remove();
        }
        let request = self.requests.remove(place)?;
        if let Some(order) = request.order.and_then(|at| self.orders.get_mut(at)) {
            order.request = None;
        }
        Some(request)
    }

    /// Adds a fill to an order; returns false when the fill is a duplicate.
    pub(crate) fn add_fill(&mut self, place: Place, fill: Fill) -> bool {
        let Some(order) = self.orders.get_mut(place.0) else {
            return false;
        };
        let Some(last) = self.fills.add(place.0, order.last_fill, fill) else {
            return false;
        };
        order.last_fill = Some(last);
        true
    }

    /// Whether an order has a fill with this hash of ExecID(17).
    #[must_use]
    pub fn has_fill(&self, order: Number, exec: u64) -> bool {
        self.fill(order, exec).is_some()
    }

    /// The fill of an order with this hash of ExecID(17).
    #[must_use]
    pub fn fill(&self, order: Number, exec: u64) -> Option<&Fill> {
        self.fills.get(self.place(order)?.0, exec)
    }

    /// The fill that now counts for an execution: the fill itself, or its last correction.
    #[must_use]
    pub fn fill_now(&self, order: Number, exec: u64) -> Option<&Fill> {
        let place = self.place(order)?.0;
        let mut fill = self.fills.get(place, exec)?;
        while let Some(next) = self.fills.get(place, fill.undone) {
            fill = next;
        }
        Some(fill)
    }

    /// The fill that now counts for an execution, and the fills that it has corrected, to the fill itself.
    pub(crate) fn corrections_of(&self, order: Number, exec: u64) -> impl Iterator<Item = &Fill> {
        let mut all = Vec::new();
        let mut next = self.fill(order, exec);
        while let Some(fill) = next {
            all.push(fill);
            next = self.fill(order, fill.undone);
        }
        all.into_iter().rev()
    }

    pub(crate) fn fill_mut(&mut self, place: Place, exec: u64) -> Option<&mut Fill> {
        self.fills.get_mut(place.0, exec)
    }

    /// The fills of an order, the last fill first.
    pub(crate) fn fills_of(&self, order: Number) -> impl Iterator<Item = &Fill> {
        let last = self.get(order).and_then(|order| order.last_fill);
        self.fills.back_from(last)
    }

    /// Adds an order to the closed orders. With `stays`, the order stays in memory until [`may_go`](Self::may_go) is
    /// called.
    pub(crate) fn has_ended(&mut self, number: Number, stays: bool) {
        let place = self.next_ended;
        self.next_ended += 1;
        self.last_ended = Some(number);
        if stays {
            self.kept.insert(number, place);
        } else {
            self.ended.push_back((place, number));
        }
    }

    /// Removes an order that is open again from the closed orders.
    pub(crate) fn is_open_again(&mut self, number: Number) {
        self.stays(number);
        self.kept.remove(&number);
    }

    /// Makes a closed order stay in memory.
    pub(crate) fn stays(&mut self, number: Number) {
        // Most of these orders were closed recently, so the search begins at the end.
        let at = self.ended.iter().rposition(|(_, ended)| *ended == number);
        if let Some((place, _)) = at.and_then(|at| self.ended.remove(at)) {
            self.kept.insert(number, place);
        }
    }

    /// Allows a closed order to be removed from memory when it is the oldest.
    pub(crate) fn may_go(&mut self, number: Number) {
        if let Some(place) = self.kept.remove(&number) {
            let at = self.ended.partition_point(|(before, _)| *before < place);
            self.ended.insert(at, (place, number));
        }
    }

    /// Removes a closed order from memory; returns which side of a quote it was.
    pub(crate) fn forget(&mut self, number: Number) -> Option<QuoteSide> {
        let place = self.place(number)?;
        // Except in a modified journal, the order is the oldest one.
        if self
            .ended
            .front()
            .is_some_and(|(_, oldest)| *oldest == number)
        {
            self.ended.pop_front();
        } else {
            self.is_open_again(number);
        }
        if let Ok(entry) = self.places.find_entry(mixed(number), |at| *at == place.0) {
            entry.remove();
        }
        let order = self.orders.remove(place.0)?;
        let request = order.request.and_then(|at| self.requests.get(at));
        if let Some(request) = request.map(|request| request.number) {
            self.remove_request(request);
        }
        self.fills.remove_all(order.last_fill);
        Some(order.quote_side)
    }
}
