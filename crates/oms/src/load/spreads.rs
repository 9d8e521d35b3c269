//! The legs of a spread in the instruments file: `buy 1 JUN sell 1 MAR`.

use alloc::format;
use alloc::string::{String, ToString};

use super::Reader;
use crate::state::spreads::RATIO_MOST;
use crate::values::rules::LegRule;
use crate::values::units::Scales;
use crate::values::value::Side;

type Wrong = (String, &'static str);

const FORM: &str = "write side, ratio and symbol of both legs: buy 1 JUN sell 1 MAR";

impl Reader<'_> {
    /// Reads the legs of a spread. Also returns the decimals of the spread, and whether it needs PositionEffect(77).
    pub(super) fn legs(
        &self,
        spread: &str,
        text: &str,
        of: (Scales, bool),
    ) -> Result<[LegRule; 2], Wrong> {
        let words: alloc::vec::Vec<&str> = text.split_whitespace().collect();
        let [side, ratio, symbol, other_side, other_ratio, other_symbol] = words[..] else {
            return Err((format!("legs of {spread} must be two"), FORM));
        };
        let legs = [
            self.leg((side, ratio, symbol), of)?,
            self.leg((other_side, other_ratio, other_symbol), of)?,
        ];
        // Reports over TMP do not name the legs of a symbol such as TXFL6/A7: they list the legs in the order of the
        // symbol.
        let first = spread.split(['/', ':']).next();
        if spread.contains(['/', ':']) && first == Some(other_symbol) {
            let what =
                format!("leg 1 of {spread} is {symbol}, but the symbol begins with {other_symbol}");
            return Err((what, "write the legs in the order of the symbol"));
        }
        if legs[0].symbol == legs[1].symbol {
            let what = format!("both legs of {spread} are {symbol}");
            return Err((what, "name two symbols"));
        }
        Ok(legs)
    }

    fn leg(
        &self,
        (side, ratio, symbol): (&str, &str, &str),
        (scales, has_effect): (Scales, bool),
    ) -> Result<LegRule, Wrong> {
        let side = match side {
            "buy" => Side::Buy,
            "sell" => Side::Sell,
            other => return Err((format!("{other} is not a side of a leg"), FORM)),
        };
        let known = ratio.parse().ok();
        let ratio = known.filter(|it| (1..=RATIO_MOST).contains(it));
        let what = format!("the ratio of leg {symbol} must be a number from 1 to {RATIO_MOST}");
        let ratio = ratio.ok_or((what, FORM))?;
        let mut known = self.rules.instruments.iter();
        let known = known.find(|it| it.symbol == symbol);
        let Some(rule) = known else {
            let hint = "list the legs of a spread in rows before it";
            return Err((format!("unknown leg {symbol}"), hint));
        };
        let wrong = if rule.legs.is_some() {
            Some((
                format!("leg {symbol} is a spread itself"),
                "a leg has no legs",
            ))
        } else if rule.reference.is_none() {
            let hint = "add a reference price: limits count a spread with the reference prices of its legs";
            Some((format!("leg {symbol} has no reference price"), hint))
        } else if rule.scale != scales.price {
            let what = format!(
                "leg {symbol} has {} decimals, but its spread has {}",
                rule.scale, scales.price
            );
            Some((what, "give both the same decimals"))
        } else if rule.quantity_scale != scales.quantity {
            let what = format!(
                "leg {symbol} has {} quantity_decimals, but its spread has {}",
                rule.quantity_scale, scales.quantity
            );
            Some((what, "give both the same quantity_decimals"))
        } else if rule.has_effect != has_effect {
            let what = format!("leg {symbol} and its spread have different values of `positions`");
            Some((what, "give both the same positions"))
        } else {
            None
        };
        match wrong {
            Some(wrong) => Err(wrong),
            None => Ok(LegRule {
                symbol: symbol.to_string(),
                side,
                ratio,
            }),
        }
    }
}
