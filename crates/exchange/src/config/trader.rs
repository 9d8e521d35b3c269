//! Configuration of traders that make a market.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_ledger::record;
use fixwire_protocol::Decimal;

use super::InstrumentConfig;
use crate::instrument::units;

/// Maximum number of prices that a trader quotes on each side.
const LEVELS_MAX: u32 = 20;
/// Maximum number of steps of a trader in a second.
const RATE_MAX: u32 = 1_000;

/// The largest spread, volatility and size, in ticks or lots.
const UNITS_MAX: i64 = 1_000_000_000;

/// A trader that quotes both sides of instruments and trades now and then.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TraderConfig {
    /// The instruments; `*` means all but spreads.
    pub symbols: Vec<String>,
    /// Seed of its random numbers.
    pub seed: u32,
    /// The price at which it begins; by default the reference price of the instrument.
    pub price: Option<Decimal>,
    /// Distance of its bid from its offer; by default two ticks.
    pub spread: Option<Decimal>,
    /// Number of prices that it quotes on each side.
    pub levels: u32,
    /// The largest quantity of its orders; by default a hundred lots.
    pub size: Option<Decimal>,
    /// Steps a second.
    pub rate: u32,
    /// The largest move of its price in one step; by default one tick.
    pub volatility: Option<Decimal>,
    /// How many steps of a hundred trade.
    pub trades: u32,
}

impl Default for TraderConfig {
    fn default() -> Self {
        Self {
            symbols: Vec::new(),
            seed: 1,
            price: None,
            spread: None,
            levels: 3,
            size: None,
            rate: 2,
            volatility: None,
            trades: 30,
        }
    }
}

/// The terms of a trader for one instrument, in ticks and lots.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct TraderTerms {
    pub(crate) seed: u64,
    /// Its first best bid, and the limits of its best bid.
    pub(crate) bid: i64,
    pub(crate) lowest: i64,
    pub(crate) highest: i64,
    pub(crate) spread: i64,
    pub(crate) levels: u32,
    pub(crate) size: u64,
    pub(crate) rate: u32,
    pub(crate) volatility: i64,
    pub(crate) trades: u32,
}

record! {
    TraderTerms { seed, bid, lowest, highest, spread, levels, size, rate, volatility, trades }
}

/// A mistake: the key, and a sentence about it.
pub(super) type TraderMistake = (&'static str, String);

impl TraderConfig {
    /// Whether it trades this instrument.
    pub(crate) fn is_for(&self, instrument: &InstrumentConfig) -> bool {
        let all = self.symbols.iter().any(|it| it == "*");
        let named = self.symbols.contains(&instrument.symbol);
        named || all && instrument.legs.is_none()
    }

    /// Its terms for an instrument.
    pub(crate) fn terms(&self, it: &InstrumentConfig) -> Result<TraderTerms, TraderMistake> {
        let symbol = &it.symbol;
        if it.legs.is_some() {
            let what = format!("{symbol} is a spread: a trader quotes instruments without legs");
            return Err(("symbols", what));
        }
        let ranges = [
            ("levels", self.levels, 1, LEVELS_MAX),
            ("rate", self.rate, 1, RATE_MAX),
            ("trades", self.trades, 0, 100),
        ];
        for (key, value, least, most) in ranges {
            if !(least..=most).contains(&value) {
                let what = format!("{key} is {value}: give a number from {least} to {most}");
                return Err((key, what));
            }
        }
        let whole = |key: &'static str, value: Option<Decimal>, unit, name: &str, default| {
            let Some(value) = value else {
                return Ok(default);
            };
            let mistake = || format!("{key} is not a multiple of the {name} of {symbol}");
            units(value, unit).map_err(|_| (key, mistake()))
        };
        let Some(price) = self.price.or(it.reference) else {
            let what = format!("{symbol} has no reference: give the trader a price");
            return Err(("price", what));
        };
        let bid = whole("price", Some(price), it.tick, "tick", 0)?;
        let spread = whole("spread", self.spread, it.tick, "tick", 2)?;
        let volatility = whole("volatility", self.volatility, it.tick, "tick", 1)?;
        let size = whole("size", self.size, it.lot, "lot", 100)?;
        let most = [
            ("spread", spread, 1),
            ("volatility", volatility, 0),
            ("size", size, 1),
        ];
        for (key, value, least) in most {
            if !(least..=UNITS_MAX).contains(&value) {
                let unit = if key == "size" { "lots" } else { "ticks" };
                let what = format!("{key} must be from {least} to {UNITS_MAX} {unit} of {symbol}");
                return Err((key, what));
            }
        }
        // All quotes are above zero and inside the price band, and the price stays between half its start and twice it.
        let deep = i64::from(self.levels);
        let limit = |price: Option<Decimal>| units(price?, it.tick).ok();
        let low = limit(it.low).unwrap_or(1);
        let lowest = (bid / 2).max(low.saturating_add(deep));
        let high = limit(it.high).unwrap_or(i64::MAX / 4);
        let highest = bid
            .saturating_mul(2)
            .min(high.saturating_sub(spread + deep));
        if !(lowest..=highest).contains(&bid) {
            let what = format!(
                "the quotes for {symbol} would be below zero or outside its price band: change price, spread or levels"
            );
            return Err(("price", what));
        }
        Ok(TraderTerms {
            seed: u64::from(self.seed) ^ hash(symbol),
            bid,
            lowest,
            highest,
            spread,
            levels: self.levels,
            size: size.cast_unsigned(),
            rate: self.rate,
            volatility,
            trades: self.trades,
        })
    }
}

impl TraderTerms {
    /// Whether a trader can work with them: a checkpoint may say anything.
    pub(crate) fn is_possible(&self) -> bool {
        (1..=LEVELS_MAX).contains(&self.levels)
            && (1..=RATE_MAX).contains(&self.rate)
            && self.size > 0
            && (0..=UNITS_MAX).contains(&self.volatility)
            && (1..=UNITS_MAX).contains(&self.spread)
            && 0 < self.lowest
            && self.lowest <= self.highest
            && self.highest <= i64::MAX / 4
    }
}

/// FNV-1a: each symbol has a walk of its own.
fn hash(symbol: &str) -> u64 {
    symbol.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}
