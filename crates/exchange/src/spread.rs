//! Spreads: instruments of two legs that have a book of their own. A trade of a spread trades both legs; the prices
//! of the legs follow from the price of the spread.
//!
//! ```text
//!   JUN-MAR = buy 1 JUN, sell 1 MAR     traded at 2.0, the last price of MAR is 100.0
//!   MAR at 100.0, JUN at 2.0 + 100.0 = 102.0
//! ```
//!
//! One leg trades at its last price, or without a last price at its reference price. The price of the other leg,
//! whose ratio is 1, is computed from it. Usually the second leg trades at its last price. Only if the ratio of the
//! second leg is 1, and the ratio of the first leg is not 1, the first leg does.

use fixwire_protocol::Decimal;

use crate::instrument::Instrument;
use crate::leg_config::LegConfig;

/// A leg of a trade.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct LegTrade {
    /// Side(54).
    pub(crate) side: u8,
    pub(crate) price: Decimal,
    pub(crate) quantity: Decimal,
}

/// The trades of the legs for a trade of a spread, for one side of the trade. `None` when the price of a leg is
/// unknown.
pub(crate) fn trade<'a>(
    spread: &Instrument,
    leg: impl Fn(&str) -> Option<&'a Instrument>,
    side: u8,
    (lots, ticks): (u64, i64),
) -> Option<[LegTrade; 2]> {
    let legs = spread.legs.as_ref()?;
    // Index of the leg that trades at its last price.
    let fixed = if legs[0].ratio > 1 { 0 } else { 1 };
    let free = 1 - fixed;
    let book = leg(&legs[fixed].symbol)?;
    let last = book.book.last().or(book.book.reference())?;
    let known = book.price(last);
    let total = spread.price(ticks);
    let scale = known.scale.max(total.scale);
    let widened = |it: Decimal| {
        let more = 10_i64.checked_pow((scale - it.scale).into())?;
        it.mantissa.checked_mul(more)
    };
    let part = widened(known)?.checked_mul(legs[fixed].ratio.into())?;
    let part = if legs[fixed].buys { part } else { -part };
    let rest = widened(total)?.checked_sub(part)?;
    let rest = if legs[free].buys { rest } else { -rest };
    let mut prices = [known; 2];
    prices[free] = Decimal::new(rest, scale)?;
    let quantity = spread.quantity(lots);
    let of = |at: usize| {
        let LegConfig { buys, ratio, .. } = legs[at];
        let mantissa = quantity.mantissa.checked_mul(ratio.into())?;
        Some(LegTrade {
            side: if (side == b'1') == buys { b'1' } else { b'2' },
            price: prices[at],
            quantity: Decimal::new(mantissa, quantity.scale)?,
        })
    };
    Some([of(0)?, of(1)?])
}
