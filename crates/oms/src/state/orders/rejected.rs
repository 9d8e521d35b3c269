//! New orders that a control rejected today. An operator may run each of these orders again, once.

use alloc::collections::VecDeque;

use crate::state::orders::carried::Fields;
use crate::values::ids::{AccountNo, InstrumentNo, SessionNo};
use crate::values::reason::Reason;
use crate::values::units::Rescale;
use crate::values::value::{Effect, Number, OrderType, Price, Quantity, Side, Text, TimeInForce};
use fixwire_ledger::{Put, Wire, record};

/// Terms of a rejected order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RejectedTerms {
    /// The client session.
    pub session: SessionNo,
    /// The account.
    pub account: AccountNo,
    /// The instrument.
    pub instrument: InstrumentNo,
    /// Side(54).
    pub side: Side,
    /// OrdType(40).
    pub kind: OrderType,
    /// TimeInForce(59).
    pub tif: TimeInForce,
    /// Price(44); 0 if the order has none.
    pub price: Price,
    /// StopPx(99); 0 if the order has none.
    pub stop: Price,
    /// OrderQty(38).
    pub quantity: Quantity,
    /// ExpireDate(432), as 20261122.
    pub until: Option<u32>,
    /// PositionEffect(77).
    pub effect: Effect,
    /// Whether the stock of a short sale is located.
    pub is_located: bool,
    /// The first session of the line group that the condition of a route chose; `None` when no condition decided.
    pub route: Option<SessionNo>,
    /// The reason of the reject.
    pub reason: Reason,
}

record! {
    RejectedTerms {
        session, account, instrument, until, side, kind, tif, price, stop, quantity, effect,
        is_located, route, reason
    }
}

/// What a rejected request asked for; `None` for values that are missing, unknown or unreadable.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RefusedTerms {
    /// The account; `None` also for a request about an order.
    pub account: Option<AccountNo>,
    /// The instrument; `None` also for a request about an order.
    pub instrument: Option<InstrumentNo>,
    /// Side(54); `None` also for a request about an order.
    pub side: Option<Side>,
    /// OrderQty(38).
    pub quantity: Option<Quantity>,
    /// Price(44).
    pub price: Option<Price>,
}

record! { RefusedTerms { account, instrument, side, quantity, price } }

/// A rejected order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RejectedOrder {
    /// The number of the event of the reject, which is the ExecID(17) in the client's report.
    pub number: u64,
    pub terms: RejectedTerms,
    /// ClOrdID(11).
    pub id: Text,
    /// The order that was placed when an operator ran this order again; 0 for none.
    pub rerun: Number,
    /// Fields that the order would carry to its venue.
    pub fields: Fields,
}

record! { RejectedOrder { number, terms, id, rerun, fields } }

/// The rejected orders of the day, the oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct RejectedOrders {
    pub(crate) all: VecDeque<RejectedOrder>,
    /// The number of the last event of the day before.
    pub(crate) yesterday: u64,
}

impl RejectedOrders {
    /// Maximum number of rejected orders that are remembered; the oldest are forgotten.
    const MOST: usize = 1000;

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &RejectedOrder> {
        self.all.iter()
    }

    pub fn get(&self, number: u64) -> Option<&RejectedOrder> {
        let place = self.all.binary_search_by_key(&number, |it| it.number);
        self.all.get(place.ok()?)
    }

    /// Whether the event with this number happened on an earlier day.
    pub fn is_past(&self, number: u64) -> bool {
        number <= self.yesterday
    }

    pub fn add(&mut self, rejected: RejectedOrder) {
        if self.all.len() == Self::MOST {
            self.all.pop_front();
        }
        self.all.push_back(rejected);
    }

    /// Records that an operator ran a rejected order again as `order`; `None` if the rejected order is not remembered,
    /// or was run again before.
    pub fn rerun(&mut self, number: u64, order: Number) -> Option<()> {
        let place = self.all.binary_search_by_key(&number, |it| it.number);
        let known = self.all.get_mut(place.ok()?)?;
        (known.rerun == 0).then(|| known.rerun = order)
    }

    pub fn begin_day(&mut self, event: u64) {
        self.all.clear();
        self.yesterday = event;
    }

    /// Gives the orders of an instrument more decimals.
    pub fn rescale(&mut self, instrument: InstrumentNo, by: Rescale) {
        let all = self.all.iter_mut().map(|it| &mut it.terms);
        for terms in all.filter(|it| it.instrument == instrument) {
            by.price(&mut terms.price);
            by.price(&mut terms.stop);
            by.quantity(&mut terms.quantity);
        }
    }
}

impl Wire<'_> for RejectedOrders {
    fn put(&self, to: &mut impl Put) {
        self.yesterday.put(to);
        self.all.put(to);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let (yesterday, all): (u64, VecDeque<RejectedOrder>) = Wire::take(from)?;
        let numbers = core::iter::once(yesterday).chain(all.iter().map(|it| it.number));
        let fits = numbers.is_sorted_by(|one, next| one < next) && all.len() <= Self::MOST;
        fits.then_some(Self { all, yesterday })
    }
}
