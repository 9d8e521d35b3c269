//! The value of quantities, and the usage of open orders that counts against limits.

use fixwire_protocol::Decimal;

use crate::state::OmsState;
use crate::state::orders::breaks::Exposure;
use crate::state::orders::transition::OrderState;
use crate::state::orders::{Order, Request};
use crate::state::tally::Tally;
use crate::values::ids::InstrumentNo;
use crate::values::show::Parts;
use crate::values::units::{TENS, in_limits, units};
use crate::values::value::{Amount, Price, Quantity};

/// `amount` times `worth`, divided by `parts`, rounded away from zero; `None` when it is too large.
fn parts_of(amount: Amount, worth: u64, parts: u64) -> Option<Amount> {
    let (worth, parts) = (Amount::from(worth), Amount::from(parts));
    let rounded = |product: Amount| product / parts + (product % parts).signum();
    if let Some(product) = amount.checked_mul(worth) {
        return Some(rounded(product));
    }
    // The product of the remainder is below 10^18 times 2^64.
    let whole = (amount / parts).checked_mul(worth)?;
    whole.checked_add(rounded(amount % parts * worth))
}

/// Largest amount of money, in 10^-9 of the firm's currency.
const MOST: Amount = 10_i128.pow(30);

impl OmsState {
    /// A quantity of a message in units of an instrument; `None` without a quantity, or if the quantity is not a
    /// multiple of the unit.
    #[inline]
    pub(crate) fn units(
        &self,
        instrument: InstrumentNo,
        quantity: Option<Decimal>,
    ) -> Option<Quantity> {
        units(quantity?, self.scales(instrument).quantity).ok()
    }

    /// A quantity of an instrument in the form of messages and texts.
    pub(crate) fn shown(&self, instrument: InstrumentNo, quantity: Quantity) -> Parts {
        Parts(quantity, self.scales(instrument).quantity)
    }

    /// A quantity of an instrument in the unit of limits.
    #[inline]
    pub(crate) fn in_limits(&self, instrument: InstrumentNo, quantity: Quantity) -> i128 {
        in_limits(quantity.into(), self.scales(instrument).quantity)
    }

    /// Value of a quantity of an instrument at a price, in 10^-9 of the firm's currency, rounded up; `None` above
    /// 10^30.
    #[must_use]
    pub fn worth(
        &self,
        instrument: InstrumentNo,
        price: Price,
        quantity: Quantity,
    ) -> Option<Amount> {
        // Two words never overflow an unsigned product.
        let amount = u128::from(price.unsigned_abs()) * u128::from(quantity);
        self.money(instrument, i128::try_from(amount).ok()?)
    }

    /// Value of open or traded quantities; at most the largest amount.
    pub(crate) fn worth_at_most(
        &self,
        instrument: InstrumentNo,
        price: Price,
        quantity: Quantity,
    ) -> Amount {
        self.worth(instrument, price, quantity).unwrap_or(MOST)
    }

    /// Value of a profit or loss of an instrument, rounded away from zero. A profit above 10^30 counts as 10^30. A
    /// larger loss counts as 1,000 times that amount, so that profits elsewhere cannot offset it.
    pub(crate) fn gain(&self, instrument: InstrumentNo, amount: Amount) -> Amount {
        let beyond = if amount < 0 { -1_000 * MOST } else { MOST };
        self.money(instrument, amount).unwrap_or(beyond)
    }

    /// Value of `amount`, which is price times quantity, rounded away from zero; `None` when it is too large.
    pub(crate) fn money(&self, instrument: InstrumentNo, amount: Amount) -> Option<Amount> {
        let known = self.instruments.get(instrument)?;
        // Price times quantity is in 10^-scale, the value of the instrument and the result are in 10^-9.
        let parts = TENS.get(usize::from(known.scale + known.quantity_scale))?;
        let parts = parts.cast_unsigned();
        let amount = match (known.worth % parts, i64::try_from(amount)) {
            // The product of a word with and one without a sign cannot overflow, which need not be checked.
            (0, Ok(amount)) => Amount::from(amount) * Amount::from(known.worth / parts),
            (0, Err(_)) => amount.checked_mul((known.worth / parts).into())?,
            _ => parts_of(amount, known.worth, parts)?,
        };
        (amount.abs() <= MOST).then_some(amount)
    }

    /// Usage of an order with its pending request: the larger of the usage before the request and the usage after it.
    #[must_use]
    pub fn counted(&self, order: &Order, request: Option<&Request>) -> Tally {
        if !self.breaks.is_empty()
            && let Some(more) = self.breaks.exposure(order.number)
        {
            return self.counted_with(order, request, more);
        }
        if !order.state.is_open() {
            return Tally::default();
        }
        let (mut quantity, mut hold) = (order.quantity, order.hold);
        if let Some(request) = request.filter(|it| it.kind == crate::RequestKind::Replace) {
            quantity = quantity.max(request.quantity);
            hold = hold.max(request.hold);
        }
        let mut held = quantity.saturating_sub(order.filled);
        if order.state == OrderState::Parent {
            held = held.saturating_sub(self.families.held(order.number));
        }
        Tally {
            orders: 1,
            reserved: self.worth_at_most(order.instrument, hold, held),
            unanswered: (!order.state.is_answered()).into(),
            ..Tally::open(order.side.is_buy(), held)
        }
    }

    /// The usage of an order that a replace will replace: the larger of the order's own usage and the usage according
    /// to the venue. A quantity that a bust may take back is not included, since it stays counted.
    pub(crate) fn counted_before(&self, order: &Order) -> (Tally, Quantity, Price) {
        if !self.breaks.is_empty()
            && let Some(more) = self.breaks.exposure(order.number)
        {
            let most = (order.quantity.max(more.total), order.hold.max(more.hold));
            let more = Exposure {
                opposite: 0,
                ..more
            };
            return (self.counted_with(order, None, more), most.0, most.1);
        }
        (self.counted(order, None), order.quantity, order.hold)
    }

    /// Usage of an order with an open break: the larger of the order's own usage and the usage according to the venue.
    #[cold]
    fn counted_with(&self, order: &Order, request: Option<&Request>, more: Exposure) -> Tally {
        let request = request.filter(|it| it.kind == crate::RequestKind::Replace);
        let (mut quantity, mut hold) = (more.total, order.hold.max(more.hold));
        let is_open = order.state.is_open();
        if is_open {
            quantity = quantity.max(order.quantity);
            quantity = quantity.max(request.map_or(0, |request| request.quantity));
            hold = hold.max(request.map_or(0, |request| request.hold));
        }
        let mut held = quantity.saturating_sub(order.filled);
        if order.state == OrderState::Parent {
            held = held.saturating_sub(self.families.held(order.number));
        }
        let (buying, selling) = match order.side.is_buy() {
            true => (held, more.opposite),
            false => (more.opposite, held),
        };
        Tally {
            orders: is_open.into(),
            reserved: self.worth_at_most(
                order.instrument,
                hold,
                held.saturating_add(more.opposite),
            ),
            unanswered: (!order.state.is_answered()).into(),
            buying,
            selling,
            ..Tally::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parts_of;

    #[test]
    fn a_product_above_128_bits_is_divided_as_a_smaller_one() {
        let one = 10_u64.pow(18);
        // 10^12 units at a price of 10^9, each with 9 decimals, in a currency with a rate of 1.5.
        let amount = 10_i128.pow(21 + 9 + 8);
        assert_eq!(
            parts_of(amount, 1_500_000_000, one),
            Some(15 * 10_i128.pow(28))
        );
        assert_eq!(
            parts_of(amount + 1, 1_500_000_001, one),
            Some(150_000_000_100_000_000_000_000_000_001)
        );
        assert_eq!(
            parts_of(-amount - 1, 1_500_000_001, one),
            Some(-150_000_000_100_000_000_000_000_000_001)
        );
        assert_eq!(parts_of(i128::MAX, u64::MAX, 1), None);
        for (amount, worth, parts, rounded) in [
            (7, 3, 10, 3),
            (-7, 3, 10, -3),
            (10, 1, 10, 1),
            (-1, 1, 1_000, -1),
            (0, 5, 7, 0),
        ] {
            assert_eq!(
                parts_of(amount, worth, parts),
                Some(rounded),
                "{amount} {worth} {parts}"
            );
        }
    }
}
