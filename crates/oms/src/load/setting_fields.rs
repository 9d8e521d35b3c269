//! Rows of CSV files as text, for the list of changes of a reload.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::{Precision, Timestamp, TimestampWriter};

use crate::load::registry::{self, TableRule, or_none};
use crate::values::day::written;
use crate::values::rules::currency::{RateTime, SymbolCurrency};
use crate::values::rules::{
    InstrumentRule, LegRule, LimitRule, Maturity, RestrictedRule, RiskRules, ScopeName,
};
use crate::values::show::{Parts, figure, price, text};

/// The values of a rule, each with its name.
pub(crate) type RuleFields = Vec<(&'static str, String)>;

/// A rule with a name. The name matches rules of the old settings and rules of the new settings.
pub(crate) trait NamedRule: PartialEq {
    const WHAT: &'static str;

    /// Whether a second operator must confirm changes, if the settings require two operators.
    fn is_guarded() -> bool;

    /// The value that identifies the rule.
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
        let security = &self.security;
        let identifiers = security.ids.iter();
        let identifiers = identifiers.map(|it| format!("{}={}", it.source, it.id));
        let identifiers = identifiers.collect::<Vec<_>>();
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
            ("worth", figure(self.worth.into(), 9)),
            ("multiplier", or_none(security.multiplier)),
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
            ("identifiers", identifiers.join(" ")),
            ("exchange", or_none(security.exchange.as_ref())),
            ("type", or_none(security.kind.as_ref())),
            ("maturity", or_none(security.maturity.map(maturity_text))),
            ("expires", or_none(security.expires.map(written))),
        ])
    }
}

fn maturity_text(of: Maturity) -> String {
    match of {
        Maturity::Month(month) => format!("{:04}-{:02}", month / 100, month % 100),
        Maturity::Day(day) => written(day),
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

/// A row of a file with names at a venue, for the list of changes.
#[derive(PartialEq)]
pub(crate) struct ShownName {
    name: String,
    fields: String,
}

impl NamedRule for ShownName {
    const WHAT: &'static str = "venue name";

    fn is_guarded() -> bool {
        false
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn fields(&self) -> RuleFields {
        Vec::from([("", self.fields.clone())])
    }
}

/// The rows of all files with names at venues.
pub(crate) fn shown_names(rules: &RiskRules) -> Vec<ShownName> {
    let rows = rules.groups.iter().flat_map(|group| {
        let files = [("symbol", &group.symbols), ("account", &group.accounts)];
        files.into_iter().flat_map(move |(kind, file)| {
            file.rows.iter().map(move |row| {
                let fields = String::from_utf8_lossy(&row.fields);
                ShownName {
                    name: format!("line_group={} {kind}={}", group.name, row.name),
                    fields: fields.trim_end_matches('\u{1}').replace('\u{1}', " "),
                }
            })
        })
    });
    rows.collect()
}
