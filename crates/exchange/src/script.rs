//! Scripts: the exchange answers selected orders step by step, instead of matching them in the books.
//!
//! ```text
//! pending                          ExecutionReport Pending New
//! ack                              New
//! fill QTY|P%|rest [@ PRICE]       Trade; by default at the price of the order
//! bust                             Trade Cancel of the last fill
//! correct QTY [@ PRICE]            Trade Correct of the last fill
//! restate [QTY] [@ PRICE]          Restated
//! cancel rest                      Canceled                        done for day  Done for Day
//! reject [CODE]                    Rejected, OrdRejReason(103)     expire        Expired
//! wait 200ms | wait 2s             nothing until then
//! wait for cancel|replace          nothing until the member sends such a request
//! pending cancel|replace           Pending Cancel, Pending Replace; waits, as do those below, for the request
//! accept cancel|replace            Canceled, Replaced
//! reject cancel|replace [CODE]     OrderCancelReject, CxlRejReason(102)
//! ```
//!
//! A Text(58) is given in quotes at the end: `reject 99 "Not today"`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_ledger::bytes;
use fixwire_protocol::{Decimal, Nanos, tag};
use fixwire_text::{Lexer, LexerToken, TokenKind};

use crate::config::InstrumentConfig;
use crate::faults::is_session;
use crate::fields::RequestFields;
use crate::instrument::{Unfit, units};

/// Maximum number of steps of one script.
const STEPS_MAX: usize = 64;
/// Maximum length of a step and of a name, in bytes.
const STEP_BYTES_MAX: usize = 160;
/// Maximum length of the name and all steps of a script together, in bytes, because all of them are in one note.
const SCRIPT_BYTES_MAX: usize = 4000;
/// Maximum wait of a step, in milliseconds.
const WAIT_MAX_MILLIS: u64 = 24 * 3600 * 1000;

/// A script: which orders it selects, and the steps that answer them.
#[derive(Clone, Debug, Default)]
pub struct OrderScript {
    /// Name of the script.
    pub name: String,
    /// Name or TargetCompID of the session whose orders match; `None` for all sessions.
    pub session: Option<String>,
    /// Symbol(55).
    pub symbol: Option<String>,
    /// Side(54): `buy` for 1, `sell` for 2, 5 and 6, or the code itself.
    pub side: Option<String>,
    /// Account(1).
    pub account: Option<String>,
    /// OrderQty(38).
    pub quantity: Option<Decimal>,
    /// Price(44).
    pub price: Option<Decimal>,
    /// Steps of the script, in the syntax at the top of `script.rs`, such as `fill 40 @ 12.50`.
    pub steps: Vec<String>,
}

bytes! {
    /// Kind of a request about an existing order.
    Asking {
        /// A cancel.
        Cancel = b'F',
        /// A replace.
        Replace = b'G',
    }
}

/// Quantity of a fill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Amount {
    Quantity(Decimal),
    /// Percentage of OrderQty(38); the quantity is at least one lot.
    Percent(u64),
    Rest,
}

/// How a script closes an order.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum OrderEnd {
    Canceled,
    Rejected,
    Expired,
    DoneForDay,
}

/// A step of a script.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ScriptStep {
    Pending,
    Acknowledge,
    Fill(Amount, Option<Decimal>),
    Bust,
    Correct(Decimal, Option<Decimal>),
    Restate(Option<Decimal>, Option<Decimal>, String),
    End(OrderEnd, Option<u64>, String),
    Wait(Nanos),
    WaitFor(Asking),
    PendingRequest(Asking),
    Accept(Asking),
    Refuse(Asking, Option<u64>, String),
}

const STEPS: &str = "the steps are pending, ack, fill QTY|P%|rest [@ PRICE], bust, correct QTY [@ PRICE], restate [QTY] [@ PRICE], \
     cancel rest, reject [CODE], done for day, expire, wait 200ms, and, followed by cancel or replace, wait for, pending, accept, \
     reject; put a Text(58) in \"quotes\" at the end";

impl OrderScript {
    /// Whether the script matches a NewOrderSingle of a session.
    pub(crate) fn is_for(&self, session: &str, order: RequestFields<'_>) -> bool {
        let is = |wanted: &Option<String>, tag| {
            let value = order.text(tag);
            wanted.as_ref().is_none_or(|it| it.as_bytes() == value)
        };
        let equals = |wanted: Option<Decimal>, tag| {
            wanted.is_none_or(|wanted| order.decimal(tag).flatten() == Some(wanted))
        };
        let side = order.char(tag::SIDE);
        let is_side = |wanted: &String| side.is_some_and(|side| sides(wanted).contains(&side));
        self.session
            .as_ref()
            .is_none_or(|it| is_session(it, session))
            && is(&self.symbol, tag::SYMBOL)
            && is(&self.account, tag::ACCOUNT)
            && equals(self.quantity, tag::ORDER_QTY)
            && equals(self.price, tag::PRICE)
            && self.side.as_ref().is_none_or(is_side)
    }

    /// The script as text for a note: a line with the name, then a line for each step.
    pub(crate) fn noted(&self) -> String {
        let steps: String = self.steps.iter().map(|step| format!("\n{step}")).collect();
        format!("{}{steps}", self.name)
    }

    /// All mistakes in a script. Each has the key, the index of the entry, and a sentence.
    pub(crate) fn look(
        &self,
        instruments: &[InstrumentConfig],
        add: &mut impl FnMut(&'static str, Option<usize>, String),
    ) {
        if self.name.is_empty() || !is_plain(&self.name) {
            let what = format!("a script has a name of 1 to {STEP_BYTES_MAX} printable characters");
            add("name", None, what);
        }
        if let Some(side) = &self.side
            && sides(side).is_empty()
        {
            let what =
                format!("unknown side {side:?}: use buy, sell, or one character of Side(54)");
            add("side", None, what);
        }
        let is_meant = |it: &&InstrumentConfig| {
            let is_symbol = self
                .symbol
                .as_ref()
                .is_none_or(|symbol| it.symbol == *symbol);
            is_symbol && it.tick.mantissa > 0 && it.lot.mantissa > 0
        };
        let meant: Vec<&InstrumentConfig> = instruments.iter().filter(is_meant).collect();
        let known = |symbol: &&String| instruments.iter().all(|it| it.symbol != **symbol);
        if let Some(symbol) = self.symbol.as_ref().filter(known) {
            let what = format!(
                "unknown instrument {symbol:?}: add an [[instrument]], or name another symbol"
            );
            add("symbol", None, what);
        }
        let fits = |it: &&&InstrumentConfig| misfit(it, self.quantity, self.price).is_none();
        let traded: Vec<&InstrumentConfig> = meant.iter().filter(fits).copied().collect();
        if let (Some(first), true) = (meant.first(), traded.is_empty()) {
            let key = if misfit(first, self.quantity, None).is_some() {
                "quantity"
            } else {
                "price"
            };
            let why = misfit(first, self.quantity, self.price).unwrap_or_default();
            add(key, None, format!("no order can match the script: {why}"));
        }
        if self.steps.len() > STEPS_MAX || self.noted().len() > SCRIPT_BYTES_MAX {
            let what = format!(
                "a script has at most {STEPS_MAX} steps, of {SCRIPT_BYTES_MAX} bytes together"
            );
            add("steps", None, what);
        }
        for (index, words) in self.steps.iter().enumerate() {
            let fits = ScriptStep::read(words).and_then(|step| {
                let (quantity, price) = step.numbers();
                let unfit = traded.iter().find_map(|it| misfit(it, quantity, price));
                let advice = "change the step, or give the script the symbol that the step fits";
                unfit.map_or(Ok(()), |why| Err(format!("{words}: {why}: {advice}")))
            });
            if let Err(what) = fits {
                add("steps", Some(index), what);
            }
        }
    }
}

/// Why a quantity or a price does not fit an instrument; `None` if both fit.
fn misfit(
    instrument: &InstrumentConfig,
    quantity: Option<Decimal>,
    price: Option<Decimal>,
) -> Option<String> {
    let shown = |it| String::from_utf8_lossy(&crate::fields::text(it)).into_owned();
    let unfit = |value: Option<Decimal>, unit: Decimal, name: &str| {
        let (value, symbol) = (value?, &instrument.symbol);
        let why = units(value, unit).err()?;
        let (value, unit) = (shown(value), shown(unit));
        Some(match why {
            Unfit::NotMultiple => {
                format!("{value} is not a multiple of the {name} of {symbol}, {unit}")
            }
            Unfit::Range => format!("{value} is too large for the {name} of {symbol}, {unit}"),
        })
    };
    unfit(quantity, instrument.lot, "lot").or_else(|| unfit(price, instrument.tick, "tick"))
}

impl ScriptStep {
    /// The steps of a script in a note; `None` if the script cannot be read.
    pub(crate) fn of_note(script: &str) -> Option<Vec<Self>> {
        let steps = script.lines().skip(1).map(|words| Self::read(words).ok());
        steps.collect()
    }

    /// Reads a step.
    ///
    /// # Errors
    ///
    /// The mistake and the expected form, as a sentence.
    pub(crate) fn read(words: &str) -> Result<Self, String> {
        if !is_plain(words) {
            return Err(format!(
                "a step has at most {STEP_BYTES_MAX} characters, all of them printable: {words:?}"
            ));
        }
        let wrong =
            || format!("{words}: put the text at the end, in \"quotes\", without quotes inside it");
        let mut line = Lexer::WORDS.tokens(words).map_err(|_| wrong())?;
        let text = line.pop_if(|token| token.kind == TokenKind::Quoted);
        let text = text.map(|token| token.text.into_owned());
        let is_word = |token: &LexerToken<'_>| token.kind == TokenKind::Word;
        if !line.iter().all(is_word) || text.as_ref().is_some_and(String::is_empty) {
            return Err(wrong());
        }
        let line: Vec<&str> = line.iter().map(|token| &*token.text).collect();
        Self::plain(&line, words)?.with_text(text, words)
    }

    /// Reads a step without its Text(58).
    fn plain(line: &[&str], words: &str) -> Result<Self, String> {
        let wrong = |usage: &str| format!("{words}: write it as {usage}");
        let text = String::new();
        Ok(match *line {
            ["pending"] | ["pending", "new"] => Self::Pending,
            ["ack"] => Self::Acknowledge,
            ["bust"] => Self::Bust,
            ["cancel"] | ["cancel", "rest"] => Self::End(OrderEnd::Canceled, None, text),
            ["expire"] => Self::End(OrderEnd::Expired, None, text),
            ["done", "for", "day"] => Self::End(OrderEnd::DoneForDay, None, text),
            ["replace"] => Self::Accept(Asking::Replace),
            ["wait", "for", what] => Self::WaitFor(asking(what, words)?),
            ["pending", what] => Self::PendingRequest(asking(what, words)?),
            ["accept", what] => Self::Accept(asking(what, words)?),
            ["reject", what @ ("cancel" | "replace"), ref rest @ ..] => {
                let usage = "reject cancel, reject cancel 2 or reject cancel 2 \"TEXT\"";
                let code = code(rest).ok_or_else(|| wrong(usage))?;
                Self::Refuse(asking(what, words)?, code, text)
            }
            ["reject", ref rest @ ..] => {
                let usage = "reject, reject 99 or reject 99 \"TEXT\"";
                let code = code(rest).ok_or_else(|| wrong(usage))?;
                Self::End(OrderEnd::Rejected, code, text)
            }
            ["wait", ref rest @ ..] => {
                let time = rest.first().filter(|_| rest.len() == 1);
                let time = time.and_then(|time| duration(time));
                Self::Wait(time.ok_or_else(|| wrong("wait 200ms or wait 2s, of at most 24 hours"))?)
            }
            ["fill", ref rest @ ..] => {
                let usage = "fill 40, fill 50% or fill rest, optionally followed by @ 12.50";
                let (amount, price) = rest.split_first().unwrap_or((&"", &[]));
                let (amount, price) = self::amount(amount)
                    .zip(priced(price))
                    .ok_or_else(|| wrong(usage))?;
                Self::Fill(amount, price)
            }
            ["correct", ref rest @ ..] => {
                let (quantity, price) = rest.split_first().unwrap_or((&"", &[]));
                let read = above_zero(quantity).zip(priced(price));
                let (quantity, price) =
                    read.ok_or_else(|| wrong("correct 40 or correct 40 @ 12.50"))?;
                Self::Correct(quantity, price)
            }
            ["restate", ref rest @ ..] => {
                let usage = "restate, restate 60, restate @ 12.50 or restate 60 @ 12.50";
                let (quantity, price) = restated(rest).ok_or_else(|| wrong(usage))?;
                Self::Restate(quantity, price, text)
            }
            _ => return Err(format!("unknown step {words:?}: {STEPS}")),
        })
    }

    fn with_text(mut self, said: Option<String>, words: &str) -> Result<Self, String> {
        let Some(said) = said else {
            return Ok(self);
        };
        match &mut self {
            Self::End(_, _, text) | Self::Restate(_, _, text) | Self::Refuse(_, _, text) => {
                *text = said
            }
            _ => return Err(format!("{words}: this step cannot have a text")),
        }
        Ok(self)
    }

    /// Whether the step waits for a request of this kind.
    pub(crate) fn is_about(&self, kind: Asking) -> bool {
        match self {
            Self::WaitFor(it)
            | Self::PendingRequest(it)
            | Self::Accept(it)
            | Self::Refuse(it, ..) => *it == kind,
            _ => false,
        }
    }

    /// Quantity and price of the step, if it has them.
    fn numbers(&self) -> (Option<Decimal>, Option<Decimal>) {
        match *self {
            Self::Fill(Amount::Quantity(quantity), price) | Self::Correct(quantity, price) => {
                (Some(quantity), price)
            }
            Self::Fill(_, price) => (None, price),
            Self::Restate(quantity, price, _) => (quantity, price),
            _ => (None, None),
        }
    }
}

/// The values of Side(54) for a word; empty if no side has this name.
fn sides(word: &str) -> &[u8] {
    match word {
        "buy" => b"1",
        "sell" => b"256",
        code if code.len() == 1 => code.as_bytes(),
        _ => b"",
    }
}

fn is_plain(text: &str) -> bool {
    text.len() <= STEP_BYTES_MAX
        && text
            .bytes()
            .all(|byte| byte == b' ' || byte.is_ascii_graphic())
}

fn asking(word: &str, words: &str) -> Result<Asking, String> {
    match word {
        "cancel" => Ok(Asking::Cancel),
        "replace" => Ok(Asking::Replace),
        _ => Err(format!(
            "{words}: {word:?} is not a request: use cancel or replace"
        )),
    }
}

/// Reads an optional reject code. The outer `None` means that the words are invalid.
fn code(rest: &[&str]) -> Option<Option<u64>> {
    match rest {
        [] => Some(None),
        [code] => code.parse().ok().map(Some),
        _ => None,
    }
}

fn duration(word: &str) -> Option<Nanos> {
    let time = fixwire_text::duration(word).map(Nanos)?;
    (Nanos::from_millis(1)..=Nanos::from_millis(WAIT_MAX_MILLIS))
        .contains(&time)
        .then_some(time)
}

fn decimal(word: &str) -> Option<Decimal> {
    Decimal::parse(word.as_bytes()).ok()
}

fn above_zero(word: &str) -> Option<Decimal> {
    decimal(word).filter(|it| it.mantissa > 0)
}

fn amount(word: &str) -> Option<Amount> {
    if word == "rest" {
        return Some(Amount::Rest);
    }
    match word.strip_suffix('%') {
        Some(percent) => {
            let percent = percent.parse().ok().filter(|it| (1..=100).contains(it));
            percent.map(Amount::Percent)
        }
        None => above_zero(word).map(Amount::Quantity),
    }
}

/// Reads an optional price after `@`. The outer `None` means that the words are invalid.
fn priced(rest: &[&str]) -> Option<Option<Decimal>> {
    match rest {
        [] => Some(None),
        ["@", price] => decimal(price).map(Some),
        [price] => decimal(price.strip_prefix('@')?).map(Some),
        _ => None,
    }
}

/// Reads the new quantity and the new price of a restated order; both are optional.
fn restated(rest: &[&str]) -> Option<(Option<Decimal>, Option<Decimal>)> {
    match rest {
        [quantity, rest @ ..] if !quantity.starts_with('@') => {
            Some((Some(above_zero(quantity)?), priced(rest)?))
        }
        _ => Some((None, priced(rest)?)),
    }
}
