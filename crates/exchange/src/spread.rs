//! Spreads: instruments of two legs with a book of their own. A trade of one is a trade of both legs, whose prices follow
//! from the price of the spread.
//!
//! ```text
//!   JUN-MAR = buy 1 JUN, sell 1 MAR     traded at 2.0, the last price of MAR is 100.0
//!   MAR at 100.0, JUN at 2.0 + 100.0 = 102.0
//! ```
//!
//! One leg has its last price, else its reference price; the other one, whose ratio is 1, what is left: the second leg has the
//! last price, unless its ratio is 1 and that of the first is not.

use alloc::format;
use alloc::string::{String, ToString};

use fixwire_protocol::Decimal;

use crate::config::InstrumentConfig;
use crate::instrument::Instrument;

/// Largest ratio of a leg.
const RATIO_MOST: u32 = 1_000;

const FORM: &str = "write side, ratio and symbol of both: \"buy 1 JUN sell 1 MAR\"";

/// A leg of a spread.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LegConfig {
    /// Symbol(55).
    pub symbol: String,
    /// It is bought when the spread is bought.
    pub buys: bool,
    /// Its quantity in one of the spread.
    pub ratio: u32,
}

/// A leg of a trade.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct LegTrade {
    /// Side(54).
    pub(crate) side: u8,
    pub(crate) price: Decimal,
    pub(crate) quantity: Decimal,
}

/// Reads the legs of a spread.
///
/// # Errors
///
/// What is wrong, and how they are written.
pub fn parse_legs(text: &str) -> Result<[LegConfig; 2], String> {
    let words: alloc::vec::Vec<&str> = text.split_whitespace().collect();
    let [side, ratio, symbol, other_side, other_ratio, other_symbol] = words[..] else {
        return Err(format!("a spread has two legs: {FORM}"));
    };
    let leg = |side: &str, ratio: &str, symbol: &str| {
        let buys = match side {
            "buy" => true,
            "sell" => false,
            other => return Err(format!("{other} is no side of a leg: {FORM}")),
        };
        let known = ratio.parse().ok();
        let ratio = known.filter(|it| (1..=RATIO_MOST).contains(it));
        let ratio = ratio.ok_or_else(|| {
            format!("the ratio of leg {symbol} must be a number from 1 to {RATIO_MOST}: {FORM}")
        })?;
        Ok(LegConfig {
            symbol: symbol.to_string(),
            buys,
            ratio,
        })
    };
    let legs = [
        leg(side, ratio, symbol)?,
        leg(other_side, other_ratio, other_symbol)?,
    ];
    if legs[0].symbol == legs[1].symbol {
        return Err(format!("both legs are {symbol}: name two instruments"));
    }
    Ok(legs)
}

/// The legs as [`parse_legs`] reads them.
pub(crate) fn noted_legs(legs: &[LegConfig; 2]) -> String {
    let leg = |leg: &LegConfig| {
        let side = if leg.buys { "buy" } else { "sell" };
        format!("{side} {} {}", leg.ratio, leg.symbol)
    };
    format!("{} {}", leg(&legs[0]), leg(&legs[1]))
}

/// What is wrong with the legs of an instrument; `before` are those listed before it.
pub(crate) fn problem(own: &InstrumentConfig, before: &[InstrumentConfig]) -> Option<String> {
    let legs = own.legs.as_ref()?;
    if legs.iter().all(|leg| leg.ratio > 1) {
        return Some("one leg must have the ratio 1: its price follows from the others".into());
    }
    legs.iter().find_map(|leg| {
        let symbol = &leg.symbol;
        let Some(known) = before.iter().find(|it| it.symbol == *symbol) else {
            return Some(format!("unknown leg {symbol}: list it before its spread"));
        };
        let scale = |it: &InstrumentConfig| it.tick.normalized().scale;
        if known.legs.is_some() {
            Some(format!(
                "leg {symbol} is a spread itself: a leg has no legs"
            ))
        } else if known.reference.is_none() {
            Some(format!("leg {symbol} has no reference: give it one"))
        } else if scale(known) != scale(own) {
            Some(format!(
                "the ticks of leg {symbol} and its spread have other decimals: give both the same"
            ))
        } else {
            None
        }
    })
}

/// The legs of a trade of a spread on one side; `None` when a leg has no price.
pub(crate) fn trade<'a>(
    spread: &Instrument,
    leg: impl Fn(&str) -> Option<&'a Instrument>,
    side: u8,
    (lots, ticks): (u64, i64),
) -> Option<[LegTrade; 2]> {
    let legs = spread.legs.as_ref()?;
    // Which leg has its last price.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legs_come_back_as_they_were_written() {
        for text in ["buy 1 JUN sell 1 MAR", "sell 2 A buy 1 B"] {
            assert_eq!(noted_legs(&parse_legs(text).unwrap()), text);
        }
        for (text, what) in [
            ("buy 1 JUN", "a spread has two legs"),
            ("buy 1 JUN sell 1 MAR x", "a spread has two legs"),
            ("take 1 JUN sell 1 MAR", "take is no side of a leg"),
            ("buy 0 JUN sell 1 MAR", "the ratio of leg JUN"),
            ("buy 1001 JUN sell 1 MAR", "the ratio of leg JUN"),
            ("buy 1 JUN sell 1 JUN", "both legs are JUN"),
        ] {
            let why = parse_legs(text).unwrap_err();
            assert!(why.starts_with(what), "{text}: {why}");
        }
    }
}
