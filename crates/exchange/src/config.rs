//! Configuration of an exchange.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use fixwire_book::BookState;
use fixwire_ledger::record;
use fixwire_protocol::Decimal;

use crate::faults::WireControl;
use crate::instrument::{self, Unfit};
use crate::leg_config::LegConfig;
use crate::script::OrderScript;

/// The instruments of an exchange, its limits, and what it simulates besides matching: faults, scripts and traders.
#[derive(Clone, Debug)]
pub struct ExchangeConfig {
    /// The instruments.
    pub instruments: Vec<InstrumentConfig>,
    /// Maximum number of orders in one book.
    pub orders_max: u32,
    /// Number of closed orders that are remembered. The ClOrdID of a remembered order cannot be reused, and its
    /// status can be requested. The oldest orders are removed first.
    pub remembered_max: u32,
    /// Faults injected from the start, in the syntax of the command `fault`: `drop session=OMS count=1`.
    pub faults: Vec<String>,
    /// Scripts for orders; an order follows the first script that matches it.
    pub scripts: Vec<OrderScript>,
    /// Traders, which quote both sides of instruments so that members find orders to trade with.
    pub traders: Vec<TraderConfig>,
    /// Applies faults to messages that are sent to members; `None` if such faults are not available.
    pub wire: Option<Arc<dyn WireControl>>,
}

impl Default for ExchangeConfig {
    fn default() -> Self {
        Self {
            instruments: Vec::new(),
            orders_max: 100_000,
            remembered_max: 100_000,
            faults: Vec::new(),
            scripts: Vec::new(),
            traders: Vec::new(),
            wire: None,
        }
    }
}

/// One instrument.
#[derive(Clone, Debug, Default)]
pub struct InstrumentConfig {
    /// Symbol(55).
    pub symbol: String,
    /// Tick size: every price is a multiple of it.
    pub tick: Decimal,
    /// Lot size: every quantity is a multiple of it.
    pub lot: Decimal,
    /// The lowest price that a limit or stop price may have; `None` for no lower limit.
    pub low: Option<Decimal>,
    /// The highest price that a limit or stop price may have; `None` for no upper limit.
    pub high: Option<Decimal>,
    /// The reference price of auctions before the first trade.
    pub reference: Option<Decimal>,
    /// The initial trading state.
    pub state: BookState,
    /// The legs of a spread; `None` for an instrument that is not a spread.
    pub legs: Option<[LegConfig; 2]>,
}

/// The table of the settings file that has a mistake.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ConfigTable {
    /// The exchange as a whole.
    Exchange,
    /// An instrument, counted from 0.
    Instrument(usize),
    /// A script, counted from 0.
    Script(usize),
    /// A trader, counted from 0.
    Trader(usize),
}

/// A mistake in a configuration.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConfigProblem {
    /// The table with the mistake.
    pub table: ConfigTable,
    /// The key of the settings file.
    pub key: &'static str,
    /// Index of the wrong entry, from 0, if the key has a list of entries.
    pub entry: Option<usize>,
    /// The mistake and its remedy, as a sentence.
    pub what: String,
}

/// Maximum length of Symbol(55), in bytes.
pub(crate) const SYMBOL_MAX: usize = 32;

impl ExchangeConfig {
    /// All mistakes in the configuration.
    #[must_use]
    pub fn problems(&self) -> Vec<ConfigProblem> {
        let mut problems = Vec::new();
        let mut add = |key, what| {
            problems.push(ConfigProblem {
                table: ConfigTable::Exchange,
                key,
                entry: None,
                what,
            });
        };
        if self.instruments.is_empty() {
            let what = "an exchange needs at least one [[instrument]]";
            add("instrument", what.into());
        }
        if self.orders_max == 0 {
            let what = "max_orders is 0: no order could rest; give at least 1";
            add("max_orders", what.into());
        }
        for (index, instrument) in self.instruments.iter().enumerate() {
            let before = &self.instruments[..index];
            let mut add = |key, what| {
                problems.push(ConfigProblem {
                    table: ConfigTable::Instrument(index),
                    key,
                    entry: None,
                    what,
                });
            };
            if before.iter().any(|it| it.symbol == instrument.symbol) {
                let symbol = &instrument.symbol;
                add(
                    "symbol",
                    format!("{symbol} is listed twice: remove one of them"),
                );
            }
            instrument.look(&mut add);
            if let Some(what) = legs_problem(instrument, before) {
                add("legs", what);
            }
        }
        for (index, script) in self.scripts.iter().enumerate() {
            let before = &self.scripts[..index];
            let mut add = |key, entry, what| {
                problems.push(ConfigProblem {
                    table: ConfigTable::Script(index),
                    key,
                    entry,
                    what,
                });
            };
            if before.iter().any(|it| it.name == script.name) {
                let name = &script.name;
                let what = format!("duplicate script {name}: give each script its own name");
                add("name", None, what);
            }
            script.look(&self.instruments, &mut add);
        }
        for (index, trader) in self.traders.iter().enumerate() {
            let mistakes = self.trader_mistakes(index, trader).into_iter();
            problems.extend(mistakes.map(|(key, what)| ConfigProblem {
                table: ConfigTable::Trader(index),
                key,
                entry: None,
                what,
            }));
        }
        problems
    }

    /// The mistakes of a trader: for each instrument the first mistake, if any.
    fn trader_mistakes(&self, index: usize, trader: &TraderConfig) -> Vec<TraderMistake> {
        let mut mistakes = Vec::new();
        for symbol in trader.symbols.iter().filter(|it| *it != "*") {
            if !self.instruments.iter().any(|it| it.symbol == *symbol) {
                let what =
                    format!("unknown instrument {symbol}: add an [[instrument]], or remove it");
                mistakes.push(("symbols", what));
            }
        }
        for instrument in self.instruments.iter().filter(|it| trader.is_for(it)) {
            let symbol = &instrument.symbol;
            if self.traders[..index].iter().any(|it| it.is_for(instrument)) {
                let what = format!("{symbol} has two traders: remove it from one of them");
                mistakes.push(("symbols", what));
            }
            mistakes.extend(trader.terms(instrument).err());
        }
        mistakes
    }

    /// The terms of the trader that quotes an instrument; `None` if no trader quotes it.
    pub(crate) fn trader(&self, symbol: &str) -> Option<TraderTerms> {
        let instrument = self.instruments.iter().find(|it| it.symbol == symbol)?;
        let trader = self.traders.iter().find(|it| it.is_for(instrument))?;
        trader.terms(instrument).ok()
    }
}

/// The mistake in the legs of an instrument. `before` has the instruments that are listed before it.
fn legs_problem(own: &InstrumentConfig, before: &[InstrumentConfig]) -> Option<String> {
    let legs = own.legs.as_ref()?;
    if legs.iter().all(|leg| leg.ratio > 1) {
        return Some(
            "one leg must have the ratio 1: the exchange computes the price of this leg".into(),
        );
    }
    // A symbol such as TXFL6/A7 names its legs. Reports list the legs in the order of the settings, but a peer
    // assumes the order of the symbol.
    let first = own.symbol.split(['/', ':']).next();
    if own.symbol.contains(['/', ':']) && first == Some(legs[1].symbol.as_str()) {
        return Some(format!(
            "leg 1 is {}, but the symbol begins with {}: write the legs in the order of the symbol",
            legs[0].symbol, legs[1].symbol
        ));
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
            Some(format!("leg {symbol} has no reference: add one"))
        } else if scale(known) != scale(own) {
            Some(format!(
                "the ticks of leg {symbol} and its spread have different numbers of decimals: give both the same"
            ))
        } else {
            None
        }
    })
}

impl InstrumentConfig {
    fn look(&self, add: &mut impl FnMut(&'static str, String)) {
        let printable = self
            .symbol
            .bytes()
            .all(|byte| byte.is_ascii_graphic() || byte == b' ');
        if self.symbol.is_empty() || self.symbol.len() > SYMBOL_MAX || !printable {
            let what = format!("a symbol has 1 to {SYMBOL_MAX} printable ASCII characters");
            add("symbol", what);
        }
        for (key, unit) in [("tick", self.tick), ("lot", self.lot)] {
            if unit.mantissa <= 0 {
                add(key, format!("the {key} must be above zero"));
            }
        }
        if self.tick.mantissa <= 0 {
            return;
        }
        let prices = [
            ("low", self.low),
            ("high", self.high),
            ("reference", self.reference),
        ];
        for (key, price) in prices {
            let Some(price) = price else { continue };
            match instrument::units(price, self.tick) {
                Ok(_) => {}
                Err(Unfit::NotMultiple) => {
                    add(
                        key,
                        format!("{key} is not a multiple of the tick: change one of them"),
                    );
                }
                Err(Unfit::Range) => add(
                    key,
                    format!("{key} is too large for the tick: change one of them"),
                ),
            }
        }
        let units = |price: Option<Decimal>| instrument::units(price?, self.tick).ok();
        if let (Some(low), Some(high)) = (units(self.low), units(self.high))
            && low > high
        {
            add("low", "low is above high: swap them".into());
        }
    }
}

/// Maximum number of prices that a trader quotes on each side.
const LEVELS_MAX: u32 = 20;
/// Maximum number of steps of a trader in a second.
const RATE_MAX: u32 = 1_000;

/// Maximum of a trader's spread, volatility and size, in ticks or lots.
const UNITS_MAX: i64 = 1_000_000_000;

/// A trader: it quotes both sides of instruments, and sometimes trades against the quotes of others.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TraderConfig {
    /// Symbols of the instruments that the trader quotes; `*` stands for all instruments that are not spreads.
    pub symbols: Vec<String>,
    /// Seed of the trader's random numbers.
    pub seed: u32,
    /// The price at which the trader begins; `None` for the reference price of the instrument.
    pub price: Option<Decimal>,
    /// Distance between the trader's best bid and best offer; `None` for two ticks.
    pub spread: Option<Decimal>,
    /// Number of prices that the trader quotes on each side.
    pub levels: u32,
    /// Maximum quantity of the trader's orders; `None` for a hundred lots.
    pub size: Option<Decimal>,
    /// Number of steps of the trader in a second, on average.
    pub rate: u32,
    /// The largest move of the trader's price in one step; `None` for one tick.
    pub volatility: Option<Decimal>,
    /// Percentage of the steps in which the trader trades against another order.
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
    /// The trader's first best bid, and the lowest and highest best bid, in ticks.
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
type TraderMistake = (&'static str, String);

impl TraderConfig {
    /// Whether the trader quotes this instrument.
    pub(crate) fn is_for(&self, instrument: &InstrumentConfig) -> bool {
        let all = self.symbols.iter().any(|it| it == "*");
        let named = self.symbols.contains(&instrument.symbol);
        named || all && instrument.legs.is_none()
    }

    /// The terms of the trader for an instrument.
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
            instrument::units(value, unit).map_err(|_| (key, mistake()))
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
        // All quotes must be above zero and inside the price band. The price stays between half and twice the first
        // price.
        let deep = i64::from(self.levels);
        let limit = |price: Option<Decimal>| instrument::units(price?, it.tick).ok();
        let low = limit(it.low).unwrap_or(1);
        let lowest = (bid / 2).max(low.saturating_add(deep)).max(deep + 1);
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
    /// Whether a trader can work with these terms. A check is needed because a checkpoint may contain any values.
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

/// FNV-1a hash of a symbol, so that the price of each symbol moves in its own way.
fn hash(symbol: &str) -> u64 {
    symbol.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

/// The names of states in settings files and commands.
pub(crate) const STATES: [(&str, BookState); 4] = [
    ("continuous", BookState::Continuous),
    ("auction", BookState::AuctionCall),
    ("halted", BookState::Halted),
    ("closed", BookState::Closed),
];

/// The name of a state in settings files and commands.
#[must_use]
pub fn state_name(state: BookState) -> &'static str {
    let mut known = STATES.iter().filter(|it| it.1 == state);
    known.next().map_or("", |it| it.0)
}

/// The state with this name; `None` when the name is unknown.
pub(crate) fn state_of(name: &str) -> Option<BookState> {
    let known = STATES.iter().find(|it| it.0 == name);
    known.map(|it| it.1)
}
