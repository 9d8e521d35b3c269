//! Prices and quantities in the units of an instrument.

use fixwire_protocol::Decimal;

use crate::values::reason::{Reason, Why};
use crate::values::rules::InstrumentRule;
use crate::values::value::{Amount, MOST_QUANTITY_DECIMALS, Price, Quantity};

/// A price in units of the instrument.
#[inline]
pub(crate) fn scaled(price: Decimal, scale: u8) -> Result<Price, Reason> {
    // Most prices have no more decimals than their instrument, with the zeros at their end. The product is the same as
    // without these zeros.
    let digits = scale.checked_sub(price.scale);
    let factor = digits.and_then(|digits| TENS.get(usize::from(digits)));
    if let Some(scaled) = factor.and_then(|factor| price.mantissa.checked_mul(*factor))
        && scaled.unsigned_abs() <= MOST
    {
        return Ok(scaled);
    }
    scaled_without_zeros(price, scale)
}

/// The powers of ten that a word has room for.
pub(crate) const TENS: [i64; 19] = {
    let mut tens = [1; 19];
    let mut at = 1;
    while at < tens.len() {
        tens[at] = 10 * tens[at - 1];
        at += 1;
    }
    tens
};

/// As [`scaled`], for a price that may have zeros at the end of its decimals.
#[inline(never)]
fn scaled_without_zeros(price: Decimal, scale: u8) -> Result<Price, Reason> {
    let price = price.normalized();
    let digits = scale.checked_sub(price.scale);
    let factor = digits.and_then(|digits| 10_i64.checked_pow(digits.into()));
    let scaled = factor.and_then(|factor| price.mantissa.checked_mul(factor));
    match (digits, scaled) {
        // The price has more decimals than the instrument, so it is not on a tick.
        (None, _) => Err(Reason::of(Why::Tick)),
        (_, Some(scaled)) if scaled.unsigned_abs() <= MOST => Ok(scaled),
        _ => Err(Reason::of(Why::Number)),
    }
}

/// Prices and quantities up to this limit, in units of their instrument, can be multiplied and summed without overflow.
pub(crate) const MOST: u64 = 1 << 53;

/// Decimals of prices and quantities of an instrument.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Scales {
    pub price: u8,
    pub quantity: u8,
}

/// Factors by which an instrument gets more decimals.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Rescale {
    price: i64,
    quantity: u64,
}

impl Rescale {
    /// The factors from old decimals to new ones; `None` when the new decimals are fewer, or more than an instrument
    /// can have.
    pub(crate) fn between(old: Scales, new: Scales) -> Option<Self> {
        let fits = new.price <= MOST_DECIMALS && new.quantity <= MOST_QUANTITY_DECIMALS;
        Some(Self {
            price: 10_i64.checked_pow(new.price.checked_sub(old.price)?.into())?,
            quantity: 10_u64.checked_pow(new.quantity.checked_sub(old.quantity)?.into())?,
        })
        .filter(|_| fits)
    }

    pub(crate) fn price(self, price: &mut Price) {
        *price = price.saturating_mul(self.price);
    }

    pub(crate) fn quantity(self, quantity: &mut Quantity) {
        *quantity = quantity.saturating_mul(self.quantity);
    }

    /// A sum of prices times quantities.
    pub(crate) fn paid(self, paid: &mut Amount) {
        let both = Amount::from(self.price) * Amount::from(self.quantity);
        *paid = paid.saturating_mul(both);
    }
}

/// A quantity in units of an instrument whose quantities have this number of decimals.
#[inline]
pub(crate) fn units(quantity: Decimal, scale: u8) -> Result<Quantity, Reason> {
    if scale > 0 {
        return parts(quantity, scale);
    }
    let quantity = match quantity.scale {
        0 => quantity,
        _ => quantity.normalized(),
    };
    match u64::try_from(quantity.mantissa) {
        Ok(whole) if quantity.scale == 0 && whole <= MOST => Ok(whole),
        // The quantity has decimals, so it is not a multiple of the lot.
        Ok(_) if quantity.scale > 0 => Err(Reason::of(Why::Lot)),
        _ => Err(Reason::of(Why::Number)),
    }
}

#[cold]
fn parts(quantity: Decimal, scale: u8) -> Result<Quantity, Reason> {
    match scaled(quantity, scale) {
        Ok(parts) => u64::try_from(parts).map_err(|_| Reason::of(Why::Number)),
        // The quantity has more decimals than the instrument, so it is not a multiple of the lot.
        Err(reason) if reason.why == Why::Tick => Err(Reason::of(Why::Lot)),
        Err(reason) => Err(reason),
    }
}

/// A quantity of an instrument in the unit of limits, 10^-8, which sums over instruments also have.
#[inline]
pub(crate) fn in_limits(quantity: i128, scale: u8) -> i128 {
    let decimals = MOST_QUANTITY_DECIMALS - scale.min(MOST_QUANTITY_DECIMALS);
    let one = i128::from(TENS[usize::from(decimals)]);
    match i64::try_from(quantity) {
        // Two words cannot overflow, which need not be checked.
        Ok(quantity) => i128::from(quantity) * one,
        Err(_) => quantity.saturating_mul(one),
    }
}

/// Number of decimals of a price, from the numbers that an instrument can have.
pub(crate) fn decimals(price: Decimal) -> u8 {
    price.normalized().scale.min(MOST_DECIMALS)
}

/// The most decimals that prices of an instrument have.
pub(crate) const MOST_DECIMALS: u8 = 9;

/// A quotient, rounded to the nearest integer, halves to the even one.
pub(crate) fn half_even(amount: i128, by: i128) -> i128 {
    let (whole, rest) = match (i64::try_from(amount), i64::try_from(by)) {
        // Words are divided much faster.
        (Ok(amount), Ok(by @ 1..)) => (
            i128::from(amount.div_euclid(by)),
            i128::from(amount.rem_euclid(by)),
        ),
        _ => (amount.div_euclid(by), amount.rem_euclid(by)),
    };
    let is_more = match (2 * rest).cmp(&by) {
        core::cmp::Ordering::Less => false,
        core::cmp::Ordering::Equal => whole % 2 != 0,
        core::cmp::Ordering::Greater => true,
    };
    whole + i128::from(is_more)
}

/// The price of a fill in units of the instrument. A price with more decimals than the instrument can have is rounded,
/// halves to the even digit.
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

/// A price in units of an instrument with `from` decimals, in units of one with `to` decimals: rounded if these are
/// fewer, halves to the even digit. `None` when it is too large.
pub(crate) fn converted(price: Price, from: u8, to: u8) -> Option<Price> {
    match to.checked_sub(from) {
        Some(more) => price.checked_mul(10_i64.checked_pow(more.into())?),
        None => i64::try_from(half_even(price.into(), 10_i128.pow((from - to).into()))).ok(),
    }
}

/// Number of decimals of the ticks; the instrument may have more.
pub(crate) fn tick_scale(rule: &InstrumentRule) -> u8 {
    let digits = |mut tick: Price| {
        let mut scale = rule.scale;
        while scale > 0 && tick % 10 == 0 {
            (tick, scale) = (tick / 10, scale - 1);
        }
        scale
    };
    let bands = rule.ticks.iter().map(|band| digits(band.tick));
    bands.fold(digits(rule.tick), u8::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_scaled_with_and_without_zeros_at_their_end() {
        let mantissas = [
            0,
            1,
            -1,
            10,
            1250,
            -1250,
            1 << 53,
            (1 << 53) + 1,
            i64::MAX,
            i64::MIN,
        ];
        for mantissa in mantissas {
            for decimals in 0..=18 {
                for scale in 0..=MOST_DECIMALS {
                    let price = Decimal {
                        mantissa,
                        scale: decimals,
                    };
                    let wanted = scaled_without_zeros(price, scale);
                    assert_eq!(scaled(price, scale), wanted, "{price} at {scale}");
                }
            }
        }
    }

    #[test]
    fn quantities_in_limits_saturate() {
        for scale in 0..=MOST_QUANTITY_DECIMALS + 1 {
            let one = 10_i128.pow(MOST_QUANTITY_DECIMALS.saturating_sub(scale).into());
            for quantity in [
                0,
                7,
                -7,
                i128::from(i64::MAX),
                i128::from(i64::MIN),
                i128::from(u64::MAX),
                i128::MAX,
                i128::MIN,
            ] {
                let wanted = quantity.saturating_mul(one);
                assert_eq!(in_limits(quantity, scale), wanted, "{quantity} at {scale}");
            }
        }
    }

    #[test]
    fn halves_are_rounded_to_the_even_number() {
        let large = i128::from(i64::MAX);
        for amount in [
            -8,
            -7,
            -6,
            -5,
            0,
            5,
            6,
            7,
            large,
            large + 1,
            -large - 1,
            -large - 2,
        ] {
            for by in [1, 2, 4, 10, large, large + 1] {
                let (whole, rest) = (amount.div_euclid(by), amount.rem_euclid(by));
                let is_more = 2 * rest > by || (2 * rest == by && whole % 2 != 0);
                let wanted = whole + i128::from(is_more);
                assert_eq!(half_even(amount, by), wanted, "{amount} by {by}");
            }
        }
    }
}
