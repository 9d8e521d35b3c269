//! Orders and what is asked for them, in memory while they live.

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use hashbrown::HashTable;

use crate::canary::{self, Fault};
use crate::slab::{NOWHERE, Slab};
use crate::transition::{OrderState, ord_status};
use crate::value::{
    Amount, Effect, End, Number, OrderType, Price, Quantity, RequestKind, Side, Text, TimeInForce,
};

/// A session number that no session has.
pub(crate) const NO_LINE: u32 = u32::MAX;

/// An order of a client.
#[derive(Clone, Debug)]
pub struct Order {
    /// Its number.
    pub number: Number,
    /// The number that the venue knows it by: its own, or that of the last replace.
    pub current: Number,
    /// The session that it came from.
    pub session: u32,
    /// For whom.
    pub account: u32,
    /// Of what.
    pub instrument: u32,
    /// The line that it went out on; `u32::MAX` for none yet.
    pub line: u32,
    /// Side(54).
    pub side: Side,
    /// OrdType(40).
    pub kind: OrderType,
    /// TimeInForce(59).
    pub tif: TimeInForce,
    /// ExpireDate(432), as 20261122; 0 without one.
    pub until: u32,
    /// PositionEffect(77).
    pub effect: Effect,
    /// Where it stands.
    pub state: OrderState,
    /// Price(44).
    pub price: Price,
    /// StopPx(99).
    pub stop: Price,
    /// At what price it is reserved for.
    pub hold: Price,
    /// OrderQty(38).
    pub quantity: Quantity,
    /// CumQty(14).
    pub filled: Quantity,
    /// Σ price × quantity of its fills.
    pub paid: Amount,
    /// ClOrdID(11): the last one that holds.
    pub id: Text,
    /// OrderID(37) of the venue.
    pub venue_id: Text,
    /// What is asked for it now.
    pub(crate) request: u32,
    /// Its last fill, for those that come twice.
    pub(crate) last_fill: u32,
    /// An end that waits for fills.
    pub(crate) pended: Option<Box<Pended>>,
    /// When the venue was asked about it, in nanoseconds since 1970; 0 for never.
    pub(crate) asked: i64,
    /// It is to leave its venue: somebody cancelled it with others.
    pub(crate) withdrawn: bool,
    /// How many replaces were taken of it.
    pub(crate) replaces: u16,
    /// Since when it waits for a line, or has waited, in nanoseconds since 1970.
    pub(crate) queued: i64,
    /// It was rejected, and is or was sent again.
    pub(crate) retry: Option<Box<Retry>>,
    /// Its number of a pool.
    pub pool_number: Text,
    /// The pool; `u32::MAX` for none.
    pub(crate) pool: u32,
    /// The client named that number.
    pub(crate) own_number: bool,
}

/// How an order is sent again.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Retry {
    /// The number that it has at the venue: it has used up the one before.
    pub attempt: Number,
    /// How often it is sent again with this time.
    pub tries: u8,
    /// When it may leave, in nanoseconds since 1970.
    pub due: i64,
    /// Not on this line.
    pub not_on: Option<u32>,
}

impl Order {
    /// The number under which it was last sent as a new order: its own, but when it was rejected and sent again.
    #[must_use]
    pub fn attempt(&self) -> Number {
        let retry = self.retry.as_ref();
        retry.map_or(self.number, |retry| retry.attempt)
    }

    /// Whether the venue rejected it under this number, or was asked for something before it did.
    pub(crate) fn is_past(&self, request: Number) -> bool {
        let retry = self.retry.as_ref();
        retry.is_some_and(|retry| request < retry.attempt) && !canary::is(Fault::RetryPast)
    }

    /// What may still be filled: LeavesQty(151).
    #[must_use]
    pub fn leaves(&self) -> Quantity {
        if self.state.is_open() {
            self.quantity.saturating_sub(self.filled)
        } else {
            0
        }
    }

    /// It is done for the day, or will be when its fills have arrived, and works again on this one.
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

    /// It does not end with a day before this one.
    pub(crate) fn outlives(&self, day: u32) -> bool {
        match self.tif {
            TimeInForce::GoodTillCancel => true,
            TimeInForce::GoodTillDate => self.until >= day,
            _ => false,
        }
    }
}

/// What is asked for an order.
#[derive(Clone, Debug)]
pub struct Request {
    /// Its number.
    pub number: Number,
    /// The place of its order.
    pub(crate) order: u32,
    /// What.
    pub kind: RequestKind,
    /// It goes out, went out, or is unknown; as an order.
    pub state: OrderState,
    /// OrderQty(38) of a replace.
    pub quantity: Quantity,
    /// Price(44) of a replace.
    pub price: Price,
    /// At what price it is reserved for.
    pub hold: Price,
    /// ClOrdID(11); empty when nobody's message asked for it.
    pub id: Text,
    /// Since when it waits for a line, or has waited, in nanoseconds since 1970.
    pub(crate) queued: i64,
}

/// An end that the venue reported while fills were missing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pended {
    pub how: End,
    pub request: Option<Number>,
    pub filled: Quantity,
    pub at: i64,
}

#[derive(Clone, Debug)]
struct Fill {
    exec: u64,
    before: u32,
}

/// The fills of an order, the last one first.
struct Fills<'a> {
    fills: &'a Slab<Fill>,
    at: u32,
}

impl Iterator for Fills<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let fill = self.fills.get(self.at)?;
        self.at = fill.before;
        Some(fill.exec)
    }
}

/// Where an order is, while it is in memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place(u32);

/// All orders in memory, open ones and those that have ended not long ago.
#[derive(Clone, Debug, Default)]
pub struct Orders {
    orders: Slab<Order>,
    requests: Slab<Request>,
    fills: Slab<Fill>,
    /// Orders by number.
    places: HashTable<u32>,
    /// Requests by number.
    request_places: HashTable<u32>,
    /// What has ended, the oldest first.
    ended: VecDeque<Number>,
}

/// Numbers follow one another: multiplied they do not.
pub(crate) fn mixed(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ (mixed >> 32)
}

impl Orders {
    /// Room for so many orders from the start.
    pub(crate) fn with_capacity(orders: usize) -> Self {
        Self {
            orders: Slab::with_capacity(orders),
            places: HashTable::with_capacity(orders),
            ..Self::default()
        }
    }

    /// The same, but that the system gives the memory of each order when it comes.
    pub(crate) fn with_room(orders: usize) -> Self {
        Self {
            places: HashTable::with_capacity(orders),
            ..Self::default()
        }
    }

    /// Orders that there is room for.
    pub(crate) fn capacity(&self) -> usize {
        self.places.capacity()
    }

    /// Room for so many more.
    pub(crate) fn reserve(&mut self, orders: usize) {
        let known = &self.orders;
        let hash = |place: &u32| mixed(known.get(*place).map_or(0, |order| order.number));
        self.places.reserve(orders, hash);
    }

    /// Orders in memory.
    #[must_use]
    pub fn len(&self) -> usize {
        self.orders.len()
    }

    /// There are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An order in memory.
    #[must_use]
    pub fn get(&self, number: Number) -> Option<&Order> {
        self.at(self.place(number)?)
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

    pub(crate) fn place(&self, number: Number) -> Option<Place> {
        let is = |place: &u32| {
            let order = self.orders.get(*place);
            order.is_some_and(|order| order.number == number)
        };
        self.places.find(mixed(number), is).copied().map(Place)
    }

    fn request_place(&self, number: Number) -> Option<u32> {
        let is = |place: &u32| {
            let request = self.requests.get(*place);
            request.is_some_and(|request| request.number == number)
        };
        self.request_places.find(mixed(number), is).copied()
    }

    /// A request that is under way, and its order.
    #[must_use]
    pub fn request(&self, number: Number) -> Option<(&Request, &Order)> {
        let request = self.requests.get(self.request_place(number)?)?;
        Some((request, self.orders.get(request.order)?))
    }

    /// What is asked for an order now.
    #[must_use]
    pub fn request_of(&self, order: &Order) -> Option<&Request> {
        self.requests.get(order.request)
    }

    pub(crate) fn request_mut(&mut self, number: Number) -> Option<&mut Request> {
        let place = self.request_place(number)?;
        self.requests.get_mut(place)
    }

    /// OrdStatus(39). A cancel that the client did not ask for is not pending: nothing would tell it that the
    /// cancel failed.
    #[must_use]
    pub fn status(&self, order: &Order) -> u8 {
        let request = self
            .request_of(order)
            .filter(|it| !it.id.bytes().is_empty());
        let pending = request.map(|request| request.kind);
        ord_status(order.state, order.filled > 0, pending)
    }

    /// All orders in memory, in no order that means anything.
    pub fn iter(&self) -> impl Iterator<Item = &Order> {
        self.orders.iter()
    }

    /// Numbers of orders that have ended, the first that did first.
    pub(crate) fn ended(&self) -> &VecDeque<Number> {
        &self.ended
    }

    pub(crate) fn add(&mut self, order: Order) -> Place {
        let number = order.number;
        let place = self.orders.add(order);
        let orders = &self.orders;
        let hash = |place: &u32| mixed(orders.get(*place).map_or(0, |order| order.number));
        self.places.insert_unique(mixed(number), place, hash);
        Place(place)
    }

    /// False when there is no such order, or it has one already.
    pub(crate) fn add_request(&mut self, order: Place, mut request: Request) -> bool {
        request.order = order.0;
        let number = request.number;
        let Some(known) = self.orders.get_mut(order.0) else {
            return false;
        };
        if known.request != NOWHERE {
            return false;
        }
        let at = self.requests.add(request);
        known.request = at;
        let requests = &self.requests;
        let hash = |place: &u32| mixed(requests.get(*place).map_or(0, |it| it.number));
        self.request_places.insert_unique(mixed(number), at, hash);
        true
    }

    /// A request is done.
    pub(crate) fn remove_request(&mut self, number: Number) -> Option<Request> {
        let place = self.request_place(number)?;
        let found = self
            .request_places
            .find_entry(mixed(number), |at| *at == place);
        if let Ok(entry) = found {
            entry.remove();
        }
        let request = self.requests.remove(place)?;
        if let Some(order) = self.orders.get_mut(request.order) {
            order.request = NOWHERE;
        }
        Some(request)
    }

    /// Remembers a fill; false when the order has had it.
    pub(crate) fn add_fill(&mut self, order: Place, exec: u64) -> bool {
        let Some(order) = self.orders.get_mut(order.0) else {
            return false;
        };
        let mut known = Fills {
            fills: &self.fills,
            at: order.last_fill,
        };
        if known.any(|known| known == exec) {
            return false;
        }
        let before = order.last_fill;
        order.last_fill = self.fills.add(Fill { exec, before });
        true
    }

    /// Whether an order has had a fill.
    #[must_use]
    pub fn has_fill(&self, order: Number, exec: u64) -> bool {
        self.fills_of(order).any(|known| known == exec)
    }

    /// The fills of an order, the last one first.
    pub(crate) fn fills_of(&self, order: Number) -> impl Iterator<Item = u64> {
        Fills {
            fills: &self.fills,
            at: self.get(order).map_or(NOWHERE, |order| order.last_fill),
        }
    }

    pub(crate) fn has_ended(&mut self, number: Number) {
        self.ended.push_back(number);
    }

    /// It had not ended after all.
    pub(crate) fn is_open_again(&mut self, number: Number) {
        self.ended.retain(|ended| *ended != number);
    }

    /// An order that has ended leaves memory.
    pub(crate) fn forget(&mut self, number: Number) -> bool {
        let Some(place) = self.place(number) else {
            return false;
        };
        // It is the oldest, but in journals that somebody changed.
        if self.ended.front() == Some(&number) {
            self.ended.pop_front();
        } else {
            self.ended.retain(|ended| *ended != number);
        }
        if let Ok(entry) = self.places.find_entry(mixed(number), |at| *at == place.0) {
            entry.remove();
        }
        let Some(order) = self.orders.remove(place.0) else {
            return false;
        };
        let request = self.requests.get(order.request);
        if let Some(request) = request.map(|request| request.number) {
            self.remove_request(request);
        }
        let mut at = order.last_fill;
        while let Some(fill) = self.fills.remove(at) {
            at = fill.before;
        }
        true
    }
}

impl Orders {
    /// Prices of an instrument have more digits.
    pub(crate) fn rescale(&mut self, instrument: u32, factor: i64) {
        let orders = &self.orders;
        self.requests.iter_mut().for_each(|request| {
            let order = orders.get(request.order);
            if order.is_some_and(|order| order.instrument == instrument) {
                request.price = request.price.saturating_mul(factor);
                request.hold = request.hold.saturating_mul(factor);
            }
        });
        let orders = self.orders.iter_mut();
        for order in orders.filter(|order| order.instrument == instrument) {
            order.price = order.price.saturating_mul(factor);
            order.stop = order.stop.saturating_mul(factor);
            order.hold = order.hold.saturating_mul(factor);
            order.paid = order.paid.saturating_mul(factor.into());
        }
    }

    /// What is in flight on a line is unknown.
    pub(crate) fn lose(&mut self, line: u32) {
        use crate::transition::Happening;
        let orders = &self.orders;
        self.requests.iter_mut().for_each(|request| {
            let order = orders.get(request.order);
            if order.is_some_and(|order| order.line == line)
                && let Some(state) = request.state.after(Happening::Lose)
            {
                request.state = state;
            }
        });
        self.orders.iter_mut().for_each(|order| {
            if order.line == line
                && let Some(state) = order.state.after(Happening::Lose)
            {
                order.state = state;
            }
        });
    }
}
