//! An instrument: its book, and the conversion of prices and quantities to whole numbers of ticks and lots.

use alloc::format;
use alloc::string::{String, ToString};

use fixwire_book::{Book, BookEvent, BookSettings, BookState, PriceBand};
use fixwire_protocol::Decimal;

use crate::config::{InstrumentConfig, state_name, state_of};
use crate::fields::text;
use crate::leg_config::{LegConfig, noted_legs, parse_legs};

/// Why a decimal is not a whole number of units.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Unfit {
    /// The decimal is not a multiple of the unit.
    NotMultiple,
    /// The decimal is too large: its number of units, or the decimal itself with the digits of the unit, does not fit
    /// into 64 bits. Also the error for a unit that is not above zero.
    Range,
}

/// `value` as a whole number of `unit`s. The result also fits into a decimal with the digits of the unit.
pub(crate) fn units(value: Decimal, unit: Decimal) -> Result<i64, Unfit> {
    let scale = value.scale.max(unit.scale);
    let widened = |it: Decimal| i128::from(it.mantissa) * power(scale - it.scale);
    let (value, step) = (widened(value), widened(unit));
    if step <= 0 {
        return Err(Unfit::Range);
    }
    if value % step != 0 {
        return Err(Unfit::NotMultiple);
    }
    let count = value / step;
    let written = i64::try_from(count * i128::from(unit.mantissa));
    match (i64::try_from(count), written) {
        (Ok(count), Ok(_)) => Ok(count),
        _ => Err(Unfit::Range),
    }
}

/// A number of units as a decimal; [`units`] has checked that it fits.
pub(crate) fn value(count: i64, unit: Decimal) -> Decimal {
    Decimal {
        mantissa: count.saturating_mul(unit.mantissa),
        scale: unit.scale,
    }
}

/// Average price: `notional` (ticks times lots) divided by `lots`. The average price has the decimals of the tick, and
/// up to [`MORE_DIGITS`] more if needed; rounded half up.
pub(crate) fn average(notional: i128, lots: u64, tick: Decimal) -> Decimal {
    if lots == 0 {
        return Decimal::from_int(0);
    }
    let total = notional.saturating_mul(i128::from(tick.mantissa));
    let lots = i128::from(lots);
    let most = MORE_DIGITS.min(Decimal::MAX_SCALE.saturating_sub(tick.scale));
    // Use fewer digits if the result would be too long.
    for more in (0..=most).rev() {
        let Some(scaled) = total.checked_mul(power(more)) else {
            continue;
        };
        let rounded = (scaled.saturating_add(lots / 2)).div_euclid(lots);
        if let Ok(mut mantissa) = i64::try_from(rounded) {
            let mut scale = tick.scale + more;
            while scale > tick.scale && mantissa % 10 == 0 {
                mantissa /= 10;
                scale -= 1;
            }
            return Decimal { mantissa, scale };
        }
    }
    Decimal::from_int(0)
}

/// Maximum number of digits of [`average`] in addition to the digits of the tick.
const MORE_DIGITS: u8 = 4;

fn power(digits: u8) -> i128 {
    10_i128.pow(u32::from(digits))
}

/// Whether orders may be entered in this trading state.
pub(crate) fn takes_orders(state: BookState) -> bool {
    matches!(state, BookState::Continuous | BookState::AuctionCall)
}

/// An instrument of the market.
#[derive(Clone, Debug)]
pub(crate) struct Instrument {
    pub(crate) symbol: String,
    pub(crate) tick: Decimal,
    pub(crate) lot: Decimal,
    pub(crate) book: Book,
    /// The text of the instrument's last note, to detect changes of the configuration.
    pub(crate) noted: String,
    /// Whether the instrument was removed from the configuration.
    pub(crate) is_gone: bool,
    /// The legs of a spread; `None` for an instrument that is not a spread.
    pub(crate) legs: Option<[LegConfig; 2]>,
    /// The trades of the present trading day; `None` before the first trade.
    pub(crate) day: Option<DayTrades>,
}

/// Totals of a trading day. A trade that is cancelled or corrected later still counts with its original values.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct DayTrades {
    /// Price of the last trade, in ticks.
    pub(crate) ticks: i64,
    /// Quantity of the last trade, in lots.
    pub(crate) lots: u64,
    /// Price of the first trade, in ticks.
    pub(crate) opening: i64,
    pub(crate) high: i64,
    pub(crate) low: i64,
    /// Quantity of all trades, in lots.
    pub(crate) volume: u64,
}

impl Instrument {
    /// The settings of an instrument as text for a note: words separated by `\x01`. The symbol is last; the legs of a
    /// spread come before it.
    pub(crate) fn noted(config: &InstrumentConfig, orders_max: u32) -> String {
        let decimal = |it: Decimal| String::from_utf8_lossy(&text(it.normalized())).into_owned();
        let optional = |it: Option<Decimal>| it.map_or("-".to_string(), decimal);
        let legs = config.legs.as_ref().map(noted_legs);
        let legs = legs.map_or(String::new(), |legs| format!("{legs}\x01"));
        format!(
            "{}\x01{}\x01{}\x01{}\x01{}\x01{}\x01{orders_max}\x01{legs}{}",
            decimal(config.tick),
            decimal(config.lot),
            optional(config.low),
            optional(config.high),
            optional(config.reference),
            state_name(config.state),
            config.symbol,
        )
    }

    /// The symbol in the note of an instrument.
    pub(crate) fn symbol_of(noted: &str) -> &str {
        noted.rsplit('\x01').next().unwrap_or_default()
    }

    /// The instrument that a note describes, with an empty book. `None` if the note cannot be read.
    pub(crate) fn read(noted: &str) -> Option<Self> {
        let mut words = noted.split('\x01');
        let mut decimal = || {
            let word = words.next()?;
            if word == "-" {
                return Some(None);
            }
            Decimal::parse(word.as_bytes()).ok().map(Some)
        };
        let (tick, lot) = (decimal()??, decimal()??);
        let (low, high, reference) = (decimal()?, decimal()?, decimal()?);
        let state = state_of(words.next()?)?;
        let orders_max = words.next()?.parse().ok()?;
        let (next, last) = (words.next()?, words.next());
        let legs = match last {
            Some(_) => Some(parse_legs(next).ok()?),
            None => None,
        };
        let symbol = last.unwrap_or(next).to_string();
        let ticks = |price: Option<Decimal>| match price {
            Some(price) => units(price, tick).ok().map(Some),
            None => Some(None),
        };
        let any = PriceBand::ANY;
        let settings = BookSettings {
            state,
            band: PriceBand {
                low: ticks(low)?.unwrap_or(any.low),
                high: ticks(high)?.unwrap_or(any.high),
            },
            reference: ticks(reference)?,
            orders_max,
            ..BookSettings::default()
        };
        Some(Self {
            symbol,
            tick,
            lot,
            book: Book::new(settings),
            noted: noted.to_string(),
            is_gone: false,
            legs,
            day: None,
        })
    }

    /// Changes the trading state. A new trading day begins when the instrument leaves the state closed.
    pub(crate) fn set_state(&mut self, state: BookState, sink: &mut impl FnMut(BookEvent)) {
        if self.book.state() == BookState::Closed && state != BookState::Closed {
            self.day = None;
        }
        self.book.set_state(state, sink);
    }

    /// Adds a trade to the totals of the trading day.
    pub(crate) fn count_trade(&mut self, ticks: i64, lots: u64) {
        let day = self.day.get_or_insert(DayTrades {
            ticks,
            lots,
            opening: ticks,
            high: ticks,
            low: ticks,
            volume: 0,
        });
        (day.ticks, day.lots) = (ticks, lots);
        day.high = day.high.max(ticks);
        day.low = day.low.min(ticks);
        day.volume = day.volume.saturating_add(lots);
    }

    /// A price as a decimal.
    pub(crate) fn price(&self, ticks: i64) -> Decimal {
        value(ticks, self.tick)
    }

    /// A quantity as a decimal.
    pub(crate) fn quantity(&self, lots: u64) -> Decimal {
        value(i64::try_from(lots).unwrap_or(i64::MAX), self.lot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn prices_are_whole_numbers_of_ticks_whatever_way_they_are_written() {
        for (price, tick, ticks) in [
            ("10.50", "0.01", Ok(1050)),
            ("10.5", "0.01", Ok(1050)),
            ("10.500000", "0.01", Ok(1050)),
            ("-3", "0.25", Ok(-12)),
            ("10.505", "0.01", Err(Unfit::NotMultiple)),
            ("100000", "5000", Ok(20)),
            ("9000000000000000000", "0.01", Err(Unfit::Range)),
            ("0.000000000000000001", "0.000000000000000001", Ok(1)),
        ] {
            let tick = decimal(tick).normalized();
            let found = units(decimal(price), tick);
            assert_eq!(found, ticks, "{price}");
            if let Ok(count) = found {
                assert_eq!(value(count, tick), decimal(price), "{price}");
            }
        }
    }

    #[test]
    fn averages_are_exact_where_they_can_be_and_rounded_half_up() {
        let tick = decimal("0.01");
        let shown =
            |notional, lots| String::from_utf8(text(average(notional, lots, tick))).unwrap();
        assert_eq!(shown(1000 * 3 + 1001, 4), "10.0025");
        assert_eq!(shown(2000, 2), "10.00");
        assert_eq!(shown(2000, 3), "6.666667");
        assert_eq!(shown(1, 3), "0.003333");
        assert_eq!(shown(0, 0), "0");
        let large = i128::from(i64::MAX) * i128::from(i64::MAX);
        assert_eq!(
            average(large, i64::MAX as u64, tick),
            Decimal {
                mantissa: i64::MAX,
                scale: 2
            }
        );
    }
}
