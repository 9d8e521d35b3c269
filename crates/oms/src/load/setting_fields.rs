//! Rows of CSV files as text, for the list of changes of a reload.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::{Precision, Timestamp, TimestampWriter};

use crate::load::registry::{self, TableRule, or_none};
use crate::values::rules::currency::{RateTime, SymbolCurrency};
use crate::values::rules::{InstrumentRule, LegRule, LimitRule, RestrictedRule, ScopeName};
use crate::values::show::{Parts, figure, price, text};

/// The values of a rule, each with its name.
pub(crate) type RuleFields = Vec<(&'static str, String)>;

/// A rule with a name, by which rules of the old and the new settings are matched.
pub(crate) trait NamedRule: PartialEq {
    const WHAT: &'static str;

    /// Whether a second operator must confirm changes, if the settings require two operators.
    fn is_guarded() -> bool;

    /// The value that distinguishes the rule from others.
    fn key(&self) -> String {
        self.name()
    }

    fn name(&self) -> String;
    /// The other values of the rule.
    fn fields(&self) -> RuleFields;
}

impl<T: TableRule> NamedRule for T {
    const WHAT: &'static str = T::TABLE;
    fn is_guarded() -> bool {
        registry::is_guarded::<T>()
    }

    fn name(&self) -> String {
        registry::name_of(self)
    }

    fn fields(&self) -> RuleFields {
        self.shown()
    }
}

impl NamedRule for InstrumentRule {
    const WHAT: &'static str = "instrument";

    fn is_guarded() -> bool {
        false
    }

    fn name(&self) -> String {
        self.symbol.clone()
    }

    fn fields(&self) -> RuleFields {
        let leg = |leg: &LegRule| {
            let side = if leg.side.is_buy() { "buy" } else { "sell" };
            format!("{side} {} {}", leg.ratio, leg.symbol)
        };
        let legs = self.legs.iter().flatten().map(leg).collect::<Vec<_>>();
        let flow_group = Some(self.flow_group).filter(|group| *group > 0);
        Vec::from([
            ("tick", self.tick_text()),
            ("decimals", self.scale.to_string()),
            ("lot", Parts(self.lot, self.quantity_scale).to_string()),
            (
                "quantity_decimals",
                match self.quantity_scale {
                    0 => String::new(),
                    scale => scale.to_string(),
                },
            ),
            ("worth", figure(self.worth.into(), 6)),
            ("currency", or_none(self.currency.map(currency_text))),
            (
                "reference",
                or_none(self.reference.map(|it| price(it, self.scale))),
            ),
            (
                "positions",
                if self.has_effect {
                    "effect".into()
                } else {
                    String::new()
                },
            ),
            ("flow_group", or_none(flow_group)),
            ("legs", legs.join(" ")),
        ])
    }
}

/// A currency and the time of its rate as text, such as `EUR as of 20261122-08:00:00`.
fn currency_text(of: SymbolCurrency) -> String {
    let code = of.code;
    match of.rate {
        None => format!("{code} without a rate"),
        Some(RateTime::Always) => code.to_string(),
        Some(RateTime::AsOf(time)) => {
            let mut stamp = TimestampWriter::new();
            let time = text(stamp.format(Timestamp(time), Precision::Seconds));
            format!("{code} as of {time}")
        }
    }
}

impl NamedRule for LimitRule {
    const WHAT: &'static str = "limit";

    fn is_guarded() -> bool {
        true
    }
    fn name(&self) -> String {
        let scope = match &self.scope {
            ScopeName::Firm => "firm".into(),
            ScopeName::Session(name) => format!("session={name}"),
            ScopeName::Account(name) => format!("account={name}"),
            ScopeName::Instrument(name) => format!("symbol={name}"),
            ScopeName::Holding(account, symbol) => format!("account={account} symbol={symbol}"),
        };
        format!("{scope} {}", self.control)
    }

    fn fields(&self) -> RuleFields {
        let digits = self.control.unit().digits();
        Vec::from([("", figure(self.value, digits))])
    }
}

impl NamedRule for RestrictedRule {
    const WHAT: &'static str = "restricted";

    fn is_guarded() -> bool {
        true
    }
    fn key(&self) -> String {
        format!("{self:?}")
    }

    fn name(&self) -> String {
        format!("account={} symbol={}", self.account, self.symbol)
    }

    fn fields(&self) -> RuleFields {
        let what = format!("{:?}", self.what).to_lowercase();
        Vec::from([
            ("", what),
            ("from", or_none(self.from)),
            ("to", or_none(self.to)),
        ])
    }
}
