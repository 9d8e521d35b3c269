//! The arguments of an operator command, and the values that they name.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::Decimal;
use fixwire_text::{first_word, pairs};

use crate::values::limits::RiskControl;
use crate::values::rules::ScopeName;
use crate::values::value::Market;
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
