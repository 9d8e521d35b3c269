//! Prices and quantities in the units of an instrument.

use fixwire_protocol::Decimal;

use crate::reason::{Reason, Why};
use crate::value::{Price, Quantity};

/// A price in units of the instrument.
pub(crate) fn scaled(price: Decimal, scale: u8) -> Result<Price, Reason> {
    let price = price.normalized();
    let digits = scale.checked_sub(price.scale);
    let factor = digits.and_then(|digits| 10_i64.checked_pow(digits.into()));
    let scaled = factor.and_then(|factor| price.mantissa.checked_mul(factor));
    match (digits, scaled) {
        // More decimals than the instrument has: not on a tick.
        (None, _) => Err(Reason::of(Why::Tick)),
        (_, Some(scaled)) if scaled.unsigned_abs() <= MOST => Ok(scaled),
        _ => Err(Reason::of(Why::Number)),
    }
}

/// Prices and quantities up to this limit can be multiplied and summed without overflow.
pub(crate) const MOST: u64 = 1 << 53;

pub(crate) fn whole(quantity: Decimal) -> Result<Quantity, Reason> {
    let quantity = quantity.normalized();
    match u64::try_from(quantity.mantissa) {
        Ok(whole) if quantity.scale == 0 && whole <= MOST => Ok(whole),
        _ => Err(Reason::of(Why::Number)),
    }
}

/// The price of a fill in units of the instrument; rounded if it has more digits.
pub(crate) fn rounded(price: Decimal, scale: u8) -> Option<Price> {
    let price = price.normalized();
    let Some(more) = price.scale.checked_sub(scale) else {
        return scaled(price, scale).ok();
    };
    let one = 10_i64.checked_pow(more.into())?;
    let half = if price.mantissa < 0 {
        -(one / 2)
    } else {
        one / 2
    };
    let mantissa = price.mantissa.checked_add(half)? / one;
    scaled(Decimal::new(mantissa, scale)?, scale).ok()
}
