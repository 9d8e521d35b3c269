//! The arguments of an operator command, and the values that they name.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use fixwire_protocol::Decimal;
use fixwire_text::{first_word, pairs};

use crate::values::limits::RiskControl;
use crate::values::rules::ScopeName;
use crate::values::value::{Market, Number};
use crate::values::verbs::{COMMANDS, OperatorVerb, QUERIES};

pub(crate) const MARKETS: [(&str, Market); 4] = [
    ("open", Market::Open),
    ("auction", Market::Auction),
    ("halted", Market::Halted),
    ("closed", Market::Closed),
];

/// Reads a limit in the unit of its control.
///
/// # Errors
///
/// The expected form of this limit.
pub fn limit_value(control: RiskControl, text: &str) -> Result<i128, String> {
    let digits = control.unit().digits();
    let wanted = || match digits {
        0 => format!("{control}={text}: the limit must be a whole number"),
        _ => format!("{control}={text}: the limit must be a number with at most {digits} decimals"),
    };
    let value = Decimal::parse(text.as_bytes()).map_err(|_| wanted())?;
    let value = value.normalized();
    let more = digits.checked_sub(value.scale).ok_or_else(wanted)?;
    if value.mantissa < 0 {
        return Err(format!("{control}={text}: the limit must not be negative"));
    }
    Ok(i128::from(value.mantissa) * 10_i128.pow(more.into()))
}

/// The answer to a command for an order that is not in memory.
pub(crate) fn no_order(order: impl fmt::Display) -> String {
    format!("{NO_ORDER}{order}{LEFT}: it is unknown, or was closed long ago")
}

/// The answer to a command for a fill whose order is not in memory.
pub(crate) fn no_fill(name: &str) -> String {
    format!("{NO_FILL}{name}{LEFT}: it is unknown, or its order was closed long ago")
}

const NO_ORDER: &str = "no order ";
const NO_FILL: &str = "no fill ";
const LEFT: &str = " in memory";

/// An order that is not in memory, by its number or by a fill. The journal may have it.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum LeftMemory {
    /// The number of the order.
    Order(Number),
    /// The ExecID(17) that its client has for the fill.
    Fill(String),
}

impl LeftMemory {
    /// The order that a command or query did not find, from its answer; `None` for any other answer.
    #[must_use]
    pub fn of_answer(answer: &str) -> Option<Self> {
        let name = |before: &str| {
            let start = answer.find(before)? + before.len();
            let rest = &answer[start..];
            Some(&rest[..rest.find(LEFT)?]).filter(|it| !it.contains(' '))
        };
        let order = name(NO_ORDER).and_then(|it| it.parse().ok());
        let fill = || name(NO_FILL).map(|it| Self::Fill(it.to_string()));
        order.map(Self::Order).or_else(fill)
    }
}

impl fmt::Display for LeftMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order(order) => write!(f, "order {order}"),
            Self::Fill(name) => write!(f, "fill {name}"),
        }
    }
}

/// Cuts a text to the length that a note can hold.
pub(crate) fn cut(text: &str) -> &[u8] {
    &text.as_bytes()[..text.len().min(256)]
}

/// A verb, and its arguments as `key=value` pairs.
pub(crate) struct Words<'a> {
    pub verb: &'a str,
    pub rest: &'a str,
}

impl<'a> Words<'a> {
    pub fn parse(text: &'a str) -> Result<Self, String> {
        let text = text.trim();
        if text.chars().any(char::is_control) {
            return Err("the command has control characters".into());
        }
        let (verb, rest) = first_word(text);
        let words = Self { verb, rest };
        let known = [
            "firm", "session", "account", "symbol", "open", "until", "day", "last", "bid", "offer",
            "break",
        ];
        let is_known = |key: &str| {
            let is_of_roll = verb == "roll" && key == "cancel";
            let is_page = verb == "orders" && key == "before";
            let is_market = MARKETS.iter().any(|it| it.0 == key);
            known.contains(&key) || key.starts_with("RC") || is_market || is_of_roll || is_page
        };
        let is_free = OperatorVerb::named(&COMMANDS, verb).is_some_and(|it| it.is_free)
            || OperatorVerb::named(&QUERIES, verb).is_some_and(|it| it.is_free);
        let unknown = words.pairs().find(|(key, _)| !is_known(key));
        match unknown {
            Some((key, _)) if !is_free => Err(format!(
                "unknown word {key}: name the scope (firm, session=NAME, account=NAME, symbol=NAME)"
            )),
            _ => Ok(words),
        }
    }

    pub fn pairs(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        pairs(self.rest).map(|(_, key, value)| (key, value))
    }

    pub fn get(&self, key: &str) -> &'a str {
        let mut pairs = self.pairs();
        pairs.find(|(known, _)| *known == key).map_or("", |it| it.1)
    }

    pub fn has(&self, key: &str) -> bool {
        self.pairs().any(|(known, _)| known == key)
    }

    pub fn scope(&self) -> Result<ScopeName, String> {
        let owned = |key| self.get(key).to_string();
        Ok(
            match (
                self.has("firm"),
                self.has("session"),
                self.has("account"),
                self.has("symbol"),
            ) {
                (true, false, false, false) => ScopeName::Firm,
                (false, true, false, false) => ScopeName::Session(owned("session")),
                (false, false, true, false) => ScopeName::Account(owned("account")),
                (false, false, false, true) => ScopeName::Instrument(owned("symbol")),
                (false, false, true, true) => ScopeName::Holding(owned("account"), owned("symbol")),
                _ => {
                    return Err(
                        "name the scope: firm, session=NAME, account=NAME, symbol=NAME, or account=NAME symbol=NAME"
                            .into(),
                    );
                }
            },
        )
    }

    pub fn scope_text(&self) -> String {
        let keys = ["session", "account", "symbol"];
        let named = self.pairs().filter(|(key, _)| keys.contains(key));
        let named = named.map(|(key, value)| format!("{key} {value}"));
        named.collect::<Vec<_>>().join(" or ")
    }
}
