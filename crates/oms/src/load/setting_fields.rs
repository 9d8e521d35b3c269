//! The values of settings as text, for those who look at what a reload changes.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::Tag;

use crate::values::rules::{
    AccountRule, DropCopyRule, ErrorRule, InstrumentRule, LegRule, LimitRule, LineGroup,
    OperatorRule, PoolRule, RestrictedRule, Rights, ScopeName, StatusRule, UserRule,
};
use crate::values::show::{figure, price};

use crate::values::value::Effect;

/// Named values of a rule.
pub(crate) type RuleFields = Vec<(&'static str, String)>;

/// A rule that has a name, by which those of two settings are compared.
pub(crate) trait NamedRule: PartialEq {
    const WHAT: &'static str;
    /// It is about limits or users.
    const IS_GUARDED: bool;
    type Key<'a>: Ord
    where
        Self: 'a;

    fn key(&self) -> Self::Key<'_>;
    fn name(&self) -> String;
    /// Its other values.
    fn fields(&self) -> RuleFields;
}

/// A rule that one text tells apart.
trait TextNamedRule: PartialEq {
    const TEXT_WHAT: &'static str;
    const TEXT_IS_GUARDED: bool;

    fn text_name(&self) -> &str;
    fn values(&self) -> RuleFields;
}

impl<R: TextNamedRule> NamedRule for R {
    const WHAT: &'static str = R::TEXT_WHAT;
    const IS_GUARDED: bool = R::TEXT_IS_GUARDED;
    type Key<'a>
        = &'a str
    where
        R: 'a;

    fn key(&self) -> &str {
        self.text_name()
    }

    fn name(&self) -> String {
        self.text_name().into()
    }

    fn fields(&self) -> RuleFields {
        self.values()
    }
}

pub(crate) fn or_none<T: ToString>(value: Option<T>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

fn flag(is: bool) -> String {
    if is { "yes".into() } else { String::new() }
}

/// A value of TMP as text.
fn bytes(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}

/// Tags as settings have them.
fn tags(tags: &[Tag]) -> String {
    let tags: Vec<String> = tags.iter().map(Tag::to_string).collect();
    tags.join(" ")
}

/// A time as settings have it.
pub(crate) fn time(nanoseconds: i64) -> String {
    let millis = nanoseconds / 1_000_000;
    match millis % 1000 {
        0 => format!("{}s", millis / 1000),
        _ => format!("{millis}ms"),
    }
}

impl TextNamedRule for InstrumentRule {
    const TEXT_WHAT: &'static str = "instrument";
    const TEXT_IS_GUARDED: bool = false;

    fn text_name(&self) -> &str {
        &self.symbol
    }

    fn values(&self) -> RuleFields {
        let leg = |leg: &LegRule| {
            let side = if leg.side.is_buy() { "buy" } else { "sell" };
            format!("{side} {} {}", leg.ratio, leg.symbol)
        };
        let legs = self.legs.iter().flatten().map(leg).collect::<Vec<_>>();
        let flow_group = Some(self.flow_group).filter(|group| *group > 0);
        Vec::from([
            ("tick", price(self.tick, self.scale).to_string()),
            ("decimals", self.scale.to_string()),
            ("lot", self.lot.to_string()),
            ("worth", figure(self.worth.into(), 6)),
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

impl TextNamedRule for AccountRule {
    const TEXT_WHAT: &'static str = "account";
    const TEXT_IS_GUARDED: bool = true;

    fn text_name(&self) -> &str {
        &self.name
    }

    fn values(&self) -> RuleFields {
        Vec::from([("parent", or_none(self.parent.as_ref()))])
    }
}

impl NamedRule for LimitRule {
    const WHAT: &'static str = "limit";
    const IS_GUARDED: bool = true;
    type Key<'a> = (&'a ScopeName, u8);

    fn key(&self) -> (&ScopeName, u8) {
        (&self.scope, self.control.index())
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
    const IS_GUARDED: bool = true;
    type Key<'a> = (&'a str, &'a str, Option<u32>, Option<u32>, String);

    fn key(&self) -> Self::Key<'_> {
        let what = format!("{:?}", self.what);
        (&self.symbol, &self.account, self.from, self.to, what)
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

fn rights_text(rights: &Rights) -> String {
    let all = [
        (rights.new, "new"),
        (rights.replace, "replace"),
        (rights.cancel, "cancel"),
        (rights.mass_cancel, "mass cancel"),
        (rights.status, "status"),
        (rights.reports, "reports"),
        (rights.quote, "quote"),
        (rights.inquiry, "price inquiry"),
    ];
    let all = all.iter().filter(|(may, _)| *may).map(|(_, right)| *right);
    let all = all.collect::<Vec<_>>().join(" ");
    format!("{}: {all}", rights.accounts.join(" "))
}

impl TextNamedRule for UserRule {
    const TEXT_WHAT: &'static str = "user";
    const TEXT_IS_GUARDED: bool = true;

    fn text_name(&self) -> &str {
        &self.session
    }

    fn values(&self) -> RuleFields {
        let rights: Vec<String> = self.rights.iter().map(rights_text).collect();
        let rate = self.rate.map(|rate| match rate.logout_after {
            Some(rejects) => format!("{rate} logout after {rejects}"),
            None => rate.to_string(),
        });
        let effect = self.marks.position_effect.and_then(Effect::field);
        Vec::from([
            ("may", rights.join("; ")),
            ("account", or_none(self.default_account.as_ref())),
            ("rate", or_none(rate)),
            ("validity", or_none(self.validity.map(time))),
            ("language", or_none(self.language.as_ref())),
            ("number_pool", or_none(self.number_pool.as_ref())),
            ("own_numbers", flag(self.own_numbers)),
            ("conditional", or_none(self.conditional)),
            ("parents", or_none(self.parents)),
            ("on_logout", or_none(self.on_logout.map(time))),
            ("on_disconnect", or_none(self.on_disconnect.map(time))),
            ("report_numbers", flag(self.report_numbers)),
            ("drop", tags(&self.drop)),
            ("cm_id", or_none(self.marks.cm_id)),
            ("order_source", bytes(self.marks.order_source.as_slice())),
            (
                "info_source",
                bytes(self.marks.info_source.as_slice().as_flattened()),
            ),
            ("investor_flag", bytes(self.marks.investor_flag.as_slice())),
            ("position_effect", bytes(effect.as_slice())),
        ])
    }
}

impl TextNamedRule for PoolRule {
    const TEXT_WHAT: &'static str = "number_pool";
    const TEXT_IS_GUARDED: bool = false;

    fn text_name(&self) -> &str {
        &self.name
    }

    fn values(&self) -> RuleFields {
        Vec::from([
            ("first", self.first.to_string()),
            ("last", self.last.to_string()),
            ("bytes", self.form.bytes().to_string()),
            ("form", format!("{:016x}", self.form.hash())),
            ("tag", self.tag.to_string()),
            ("each_day", flag(self.each_day)),
        ])
    }
}

impl TextNamedRule for DropCopyRule {
    const TEXT_WHAT: &'static str = "drop_copy";
    const TEXT_IS_GUARDED: bool = true;

    fn text_name(&self) -> &str {
        &self.session
    }

    fn values(&self) -> RuleFields {
        Vec::from([
            ("accounts", self.accounts.join(" ")),
            ("report_numbers", flag(self.report_numbers)),
        ])
    }
}

impl TextNamedRule for OperatorRule {
    const TEXT_WHAT: &'static str = "operator";
    const TEXT_IS_GUARDED: bool = true;

    fn text_name(&self) -> &str {
        &self.user
    }

    fn values(&self) -> RuleFields {
        Vec::from([("may", self.may.join(" "))])
    }
}

impl TextNamedRule for LineGroup {
    const TEXT_WHAT: &'static str = "line_group";
    const TEXT_IS_GUARDED: bool = false;

    fn text_name(&self) -> &str {
        &self.name
    }

    fn values(&self) -> RuleFields {
        let error = |error: &ErrorRule| {
            let code = error.code.map(|code| format!("{code:?} "));
            let text = error.text.as_ref().map(|text| format!("\"{text}\" "));
            let remedy = format!("{:?}", error.remedy).to_lowercase();
            let after = time(error.after);
            let said = error.say.as_ref().map(|say| format!(" says \"{say}\""));
            let state = error
                .state
                .map(|state| format!(" {state:?}").to_lowercase());
            let (code, text, said) = (or_none(code), or_none(text), or_none(said));
            let state = or_none(state);
            format!(
                "{code}{text}{remedy} {} times after {after}{said}{state}",
                error.times
            )
        };
        let errors: Vec<String> = self.errors.iter().map(error).collect();
        let flow = self.flow.map(|flow| {
            let (count, span, kept) = (flow.count, time(flow.time), flow.kept);
            format!("{count} in {span} kept for cancels {kept}")
        });
        let affinity = self.affinity.map(|it| format!("{it:?}").to_lowercase());
        let status = match self.status {
            StatusRule::FromBook => None,
            StatusRule::PassOn => Some("pass on"),
            StatusRule::Never => Some("no"),
        };
        Vec::from([
            ("flow", or_none(flow)),
            ("queue", or_none(self.queue.map(time))),
            ("affinity", or_none(affinity)),
            ("number_pool", or_none(self.number_pool.as_ref())),
            ("market_status", flag(self.market_status)),
            ("error", errors.join("; ")),
            ("drop", tags(&self.drop)),
            ("status_request", or_none(status)),
            ("mass_status", flag(self.mass_status)),
            ("ex_destination", or_none(self.ex_destination.as_ref())),
        ])
    }
}
