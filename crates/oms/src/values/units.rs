//! Prices and quantities in the units of an instrument.

use fixwire_protocol::Decimal;

use crate::values::reason::{Reason, Why};
use crate::values::rules::InstrumentRule;
use crate::values::value::{Price, Quantity};

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

/// Number of decimals of a price, from the numbers that an instrument can have.
pub(crate) fn decimals(price: Decimal) -> u8 {
    price.normalized().scale.min(MOST_DECIMALS)
}

/// The most decimals that prices of an instrument have.
pub(crate) const MOST_DECIMALS: u8 = 9;

/// A quotient, halves to the even one.
pub(crate) fn half_even(amount: i128, by: i128) -> i128 {
    let (whole, rest) = (amount.div_euclid(by), amount.rem_euclid(by));
    let is_more = match (2 * rest).cmp(&by) {
        core::cmp::Ordering::Less => false,
        core::cmp::Ordering::Equal => whole % 2 != 0,
        core::cmp::Ordering::Greater => true,
    };
    whole + i128::from(is_more)
}

/// The price of a fill in units of the instrument; one with more decimals than prices can have is rounded, halves to
/// the even digit.
pub(crate) fn rounded(price: Decimal, scale: u8) -> Option<Price> {
    let price = price.normalized();
    let Some(more) = price.scale.checked_sub(scale) else {
        return scaled(price, scale).ok();
    };
    let one = 10_i64.checked_pow(more.into())?;
    let mantissa = half_even(price.mantissa.into(), one.into());
    let mantissa = i64::try_from(mantissa).ok()?;
    scaled(Decimal::new(mantissa, scale)?, scale).ok()
}

/// Number of decimals of the tick; the instrument may have more.
pub(crate) fn tick_scale(rule: &InstrumentRule) -> u8 {
    let (mut tick, mut scale) = (rule.tick, rule.scale);
    while scale > 0 && tick % 10 == 0 {
        (tick, scale) = (tick / 10, scale - 1);
    }
    scale
}
