//! Usage that counts against limits: open orders and the quantities that they may still fill, for each scope.

use alloc::boxed::Box;

use fixwire_ledger::record;

use crate::values::ids::{AccountNo, InstrumentNo, Party};
use crate::values::value::{Amount, Effect, Price, Quantity};

/// Sums over the open orders of a scope, and over today's trades of a scope.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Tally {
    /// Number of open orders.
    pub orders: u64,
    /// Quantity that open orders may still buy.
    pub buying: Quantity,
    /// Quantity that open orders may still sell.
    pub selling: Quantity,
    /// Value of the quantities to buy and to sell, at the prices at which they are reserved, in 10^-9.
    pub reserved: Amount,
    /// Value traded today, bought and sold, in 10^-9.
    pub traded: Amount,
    /// Number of open orders that the venue has not acknowledged.
    pub unanswered: u64,
    /// Profit or loss of today, in 10^-9. Positions are valued at the price of their last fill.
    pub gained: Amount,
}

impl Tally {
    /// Whether this is the usage of a closed order: no open order, no open quantity, no reserved value.
    #[must_use]
    pub fn is_flat(&self) -> bool {
        (self.orders, self.buying, self.selling, self.reserved) == (0, 0, 0, 0)
    }

    /// Quantity that an open order of this side may still trade.
    pub(crate) fn open(buys: bool, quantity: Quantity) -> Self {
        let (buying, selling) = if buys { (quantity, 0) } else { (0, quantity) };
        Self {
            buying,
            selling,
            ..Self::default()
        }
    }

    /// The difference between `new` and `old`.
    pub(crate) fn difference(old: &Self, new: &Self) -> Difference {
        let count = |old: u64, new: u64| new.wrapping_sub(old).cast_signed();
        Difference {
            size: (old.orders, old.buying, old.selling, old.reserved)
                != (new.orders, new.buying, new.selling, new.reserved),
            orders: count(old.orders, new.orders),
            buying: count(old.buying, new.buying),
            selling: count(old.selling, new.selling),
            reserved: new.reserved.saturating_sub(old.reserved),
            unanswered: count(old.unanswered, new.unanswered),
            day: (old.traded, old.gained) != (new.traded, new.gained),
            traded: new.traded.saturating_sub(old.traded),
            gained: new.gained.saturating_sub(old.gained),
        }
    }

    /// Adds the change of one order or position.
    #[inline(always)]
    pub(crate) fn add(&mut self, more: &Difference) {
        let (mut next, mut is_beyond) = (*self, false);
        if more.size {
            let beyond;
            (next.orders, beyond) = self.orders.overflowing_add_signed(more.orders);
            is_beyond |= beyond;
            let beyond;
            (next.buying, beyond) = self.buying.overflowing_add_signed(more.buying);
            is_beyond |= beyond;
            let beyond;
            (next.selling, beyond) = self.selling.overflowing_add_signed(more.selling);
            is_beyond |= beyond;
            let beyond;
            (next.reserved, beyond) = self.reserved.overflowing_add(more.reserved);
            is_beyond |= beyond;
        }
        let beyond;
        (next.unanswered, beyond) = self.unanswered.overflowing_add_signed(more.unanswered);
        if is_beyond || beyond || more.day {
            return self.add_saturating(more);
        }
        *self = next;
    }

    /// As [`add`](Self::add), for changes of trades and for sums that would overflow.
    #[inline(never)]
    fn add_saturating(&mut self, more: &Difference) {
        if more.size {
            self.orders = self.orders.saturating_add_signed(more.orders);
            self.buying = self.buying.saturating_add_signed(more.buying);
            self.selling = self.selling.saturating_add_signed(more.selling);
            self.reserved = self.reserved.saturating_add(more.reserved);
        }
        self.unanswered = self.unanswered.saturating_add_signed(more.unanswered);
        if more.day {
            self.traded = self.traded.saturating_add(more.traded);
            self.gained = self.gained.saturating_add(more.gained);
        }
    }

    /// Replaces the usage `old`, which was added before, by `new` in the sums.
    pub(crate) fn change(&mut self, old: &Self, new: &Self) {
        let count = |now: u64, old: u64, new: u64| now.saturating_sub(old).saturating_add(new);
        self.orders = count(self.orders, old.orders, new.orders);
        self.buying = count(self.buying, old.buying, new.buying);
        self.selling = count(self.selling, old.selling, new.selling);
        let amount = |now: i128, old: i128, new: i128| now.saturating_sub(old).saturating_add(new);
        self.reserved = amount(self.reserved, old.reserved, new.reserved);
        self.traded = amount(self.traded, old.traded, new.traded);
        self.unanswered = count(self.unanswered, old.unanswered, new.unanswered);
        self.gained = amount(self.gained, old.gained, new.gained);
    }
}

/// The change of usage that an event makes at each scope of its order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Difference {
    unanswered: i64,
    /// Whether any of the next four fields is not 0.
    size: bool,
    orders: i64,
    buying: i64,
    selling: i64,
    reserved: Amount,
    /// Whether any of the next two fields is not 0.
    day: bool,
    traded: Amount,
    gained: Amount,
}

/// A position of an account in an instrument.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Position {
    /// Long quantity.
    pub long: Quantity,
    /// Short quantity.
    pub short: Quantity,
    /// Quantity bought today.
    pub bought: Quantity,
    /// Quantity sold today.
    pub sold: Quantity,
    /// Sum of price times quantity bought today.
    pub paid: Amount,
    /// Sum of price times quantity sold today.
    pub received: Amount,
}

impl Position {
    /// Long minus short.
    #[must_use]
    pub fn net(&self) -> i128 {
        i128::from(self.long) - i128::from(self.short)
    }

    /// Applies a fill: it closes the opposite position first, unless its effect is to open.
    pub(crate) fn fill(&mut self, buys: bool, quantity: Quantity, price: i64, effect: Effect) {
        let worth = i128::from(price) * i128::from(quantity);
        let (this, other) = if buys {
            self.bought = self.bought.saturating_add(quantity);
            self.paid = self.paid.saturating_add(worth);
            (&mut self.long, &mut self.short)
        } else {
            self.sold = self.sold.saturating_add(quantity);
            self.received = self.received.saturating_add(worth);
            (&mut self.short, &mut self.long)
        };
        let closed = match effect.counted() {
            Effect::Open => 0,
            // The quantity above the opposite position opens a position on this side.
            _ => quantity.min(*other),
        };
        *other -= closed;
        *this = this.saturating_add(quantity - closed);
    }

    /// Changes the position by a quantity and the amount paid for it; both may be negative.
    pub(crate) fn adjust(&mut self, buys: bool, quantity: i128, worth: i128, effect: Effect) {
        let least = |quantity: i128| u64::try_from(quantity.unsigned_abs()).unwrap_or(u64::MAX);
        if quantity >= 0 {
            self.fill(buys, least(quantity), 0, effect);
        } else {
            self.undo(buys, least(quantity), 0, effect, true);
        }
        let amount = if buys {
            &mut self.paid
        } else {
            &mut self.received
        };
        *amount = amount.saturating_add(worth);
    }

    /// Takes back a fill. A fill of an earlier day is undone by an opposite trade of today.
    pub(crate) fn undo(
        &mut self,
        buys: bool,
        quantity: Quantity,
        price: i64,
        effect: Effect,
        is_today: bool,
    ) {
        let worth = i128::from(price) * i128::from(quantity);
        let (done, amount, more) = match (buys, is_today) {
            (true, true) => (&mut self.bought, &mut self.paid, false),
            (false, true) => (&mut self.sold, &mut self.received, false),
            (true, false) => (&mut self.sold, &mut self.received, true),
            (false, false) => (&mut self.bought, &mut self.paid, true),
        };
        if more {
            *done = done.saturating_add(quantity);
            *amount = amount.saturating_add(worth);
        } else {
            *done = done.saturating_sub(quantity);
            *amount = amount.saturating_sub(worth);
        }
        let (this, other) = if buys {
            (&mut self.long, &mut self.short)
        } else {
            (&mut self.short, &mut self.long)
        };
        let opened = match effect.counted() {
            Effect::Close => 0,
            _ => quantity.min(*this),
        };
        *this -= opened;
        *other = other.saturating_add(quantity - opened);
    }
}

/// Effect of a trade on a position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TradeSide {
    pub buys: bool,
    pub effect: Effect,
}

/// A trade of an account.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trade {
    pub party: Party,
    pub side: TradeSide,
    pub quantity: Quantity,
    pub price: Price,
}

/// The last total that an operator loaded for the position of an account in an instrument. It has all fills that were
/// made up to `moment`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LoadedTotal {
    pub account: AccountNo,
    pub instrument: InstrumentNo,
    /// In nanoseconds since 1970.
    pub moment: i64,
    /// Name of the file.
    pub file: Box<[u8]>,
}

record! { LoadedTotal { account, instrument, moment, file } }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_saturate_where_they_would_overflow() {
        let one = Tally {
            orders: 1,
            buying: 10,
            selling: 20,
            reserved: 30,
            traded: 0,
            unanswered: 1,
            gained: 0,
        };
        let all = [
            Tally::default(),
            one,
            Tally {
                traded: 5,
                gained: -7,
                ..one
            },
            Tally { buying: 5, ..one },
            Tally {
                unanswered: 0,
                ..one
            },
            Tally {
                orders: u64::MAX,
                selling: u64::MAX,
                reserved: Amount::MAX,
                unanswered: u64::MAX,
                ..one
            },
        ];
        for sum in all {
            for old in all {
                for new in all {
                    let more = Tally::difference(&old, &new);
                    let (mut quick, mut slow) = (sum, sum);
                    quick.add(&more);
                    slow.add_saturating(&more);
                    assert_eq!(quick, slow, "{sum:?} {old:?} {new:?}");
                }
            }
        }
    }

    #[test]
    fn a_fill_closes_the_other_side_before_it_opens() {
        let mut position = Position::default();
        position.fill(true, 10, 5, Effect::Netting);
        position.fill(false, 25, 6, Effect::Netting);
        assert_eq!((position.long, position.short), (0, 15));
        assert_eq!(position.net(), -15);
        position.fill(true, 15, 4, Effect::Netting);
        assert_eq!((position.long, position.short), (0, 0));
        assert_eq!((position.bought, position.sold), (25, 25));
        assert_eq!((position.paid, position.received), (110, 150));
    }

    #[test]
    fn a_fill_that_is_taken_back_leaves_what_was_before() {
        for effect in [Effect::Netting, Effect::Open, Effect::Close] {
            for buys in [true, false] {
                let mut position = Position {
                    long: if buys { 0 } else { 20 },
                    short: if buys { 20 } else { 0 },
                    ..Position::default()
                };
                let before = position;
                position.fill(buys, 15, 7, effect);
                position.undo(buys, 15, 7, effect, true);
                assert_eq!(position, before, "{effect:?} {buys}");
                position.fill(buys, 15, 7, effect);
                position.undo(buys, 15, 7, effect, false);
                assert_eq!((position.long, position.short), (before.long, before.short));
                assert_eq!((position.bought, position.sold), (15, 15));
                assert_eq!(position.paid, position.received);
            }
        }
    }

    #[test]
    fn a_fill_that_opens_leaves_the_other_side() {
        let mut position = Position::default();
        position.fill(true, 10, 5, Effect::Open);
        position.fill(false, 4, 6, Effect::Open);
        assert_eq!((position.long, position.short), (10, 4));
        position.fill(false, 7, 6, Effect::Close);
        assert_eq!((position.long, position.short), (3, 4));
        position.fill(true, 9, 6, Effect::Close);
        assert_eq!(
            (position.long, position.short),
            (8, 0),
            "5 more than were held"
        );
        assert_eq!(position.net(), 8);
    }
}
