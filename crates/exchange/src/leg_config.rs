//! The legs of a spread, as written in settings: `buy 1 JUN sell 1 MAR`.

use alloc::format;
use alloc::string::{String, ToString};

/// Maximum ratio of a leg.
const RATIO_MOST: u32 = 1_000;

const FORM: &str = "write side, ratio and symbol of both: \"buy 1 JUN sell 1 MAR\"";

/// A leg of a spread.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LegConfig {
    /// Symbol(55).
    pub symbol: String,
    /// Whether the leg is bought when the spread is bought.
    pub buys: bool,
    /// The leg's quantity in one unit of the spread.
    pub ratio: u32,
}

/// Reads the legs of a spread.
pub(crate) fn parse_legs(text: &str) -> Result<[LegConfig; 2], String> {
    let words: alloc::vec::Vec<&str> = text.split_whitespace().collect();
    let [side, ratio, symbol, other_side, other_ratio, other_symbol] = words[..] else {
        return Err(format!("a spread has two legs: {FORM}"));
    };
    let leg = |side: &str, ratio: &str, symbol: &str| {
        let buys = match side {
            "buy" => true,
            "sell" => false,
            other => return Err(format!("{other} is not a side of a leg: {FORM}")),
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

/// The legs as text, in the form that [`parse_legs`] reads.
pub(crate) fn noted_legs(legs: &[LegConfig; 2]) -> String {
    let leg = |leg: &LegConfig| {
        let side = if leg.buys { "buy" } else { "sell" };
        format!("{side} {} {}", leg.ratio, leg.symbol)
    };
    format!("{} {}", leg(&legs[0]), leg(&legs[1]))
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
            ("take 1 JUN sell 1 MAR", "take is not a side of a leg"),
            ("buy 0 JUN sell 1 MAR", "the ratio of leg JUN"),
            ("buy 1001 JUN sell 1 MAR", "the ratio of leg JUN"),
            ("buy 1 JUN sell 1 JUN", "both legs are JUN"),
        ] {
            let why = parse_legs(text).unwrap_err();
            assert!(why.starts_with(what), "{text}: {why}");
        }
    }
}
