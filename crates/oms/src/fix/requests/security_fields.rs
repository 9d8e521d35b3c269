//! The fields of instruments in SecurityDefinition(d) and SecurityList(y): those that a dictionary has in the message, in
//! its order.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::dictionary::{GroupDef, Member};
use fixwire_protocol::{Dictionary, SOH, Tag, tag};

use super::securities::kind;
use crate::values::fields::carried::allows;
use crate::values::rules::{InstrumentRule, LegRule, SecurityId};
use crate::values::show::{Parts, price};

/// Maximum number of ticks for higher prices that an answer lists.
const TICKS_MAX: usize = 64;

/// Whether a dictionary has a field, and allows it to have this value.
pub(super) fn allowed(dictionary: &Dictionary, tag: Tag, value: &[u8]) -> bool {
    dictionary.field(tag).is_some_and(|def| allows(def, value))
}

/// Fields of a message that is being written.
pub(super) struct InstrumentFields<'d> {
    dictionary: &'d Dictionary,
    pub bytes: Vec<u8>,
}

impl<'d> InstrumentFields<'d> {
    /// No fields yet.
    pub(super) fn new(dictionary: &'d Dictionary) -> Self {
        Self {
            dictionary,
            bytes: Vec::new(),
        }
    }

    pub(super) fn dictionary(&self) -> &'d Dictionary {
        self.dictionary
    }

    /// Writes a field, if the dictionary allows the value.
    pub(super) fn put(&mut self, tag: Tag, value: &[u8]) {
        if allowed(self.dictionary, tag, value) {
            self.bytes.extend_from_slice(tag.to_string().as_bytes());
            self.bytes.push(b'=');
            self.bytes.extend_from_slice(value);
            self.bytes.push(SOH);
        }
    }

    pub(super) fn text(&mut self, tag: Tag, value: &str) {
        self.put(tag, value.as_bytes());
    }

    /// Writes an instrument with its rules for prices and quantities. `head` writes other fields of the message, and
    /// returns false for a field that belongs to the instrument.
    pub(super) fn instrument(
        &mut self,
        members: &[Member],
        rule: &InstrumentRule,
        head: impl Fn(Tag, &mut Self) -> bool,
    ) {
        let ids = rule.security.ids.iter();
        let is_known = |it: &&SecurityId| {
            let source = it.source.as_bytes();
            allowed(self.dictionary, tag::SECURITY_ID_SOURCE, source)
        };
        let ids: Vec<&SecurityId> = ids.filter(is_known).collect();
        let start = self.bytes.len();
        let mut text_at = None;
        for member in members {
            if member.tag == tag::TEXT {
                text_at = Some(self.bytes.len());
            } else if !head(member.tag, self) {
                self.member(member, rule, &ids);
            }
        }
        let has = |tag: Tag| {
            let field = format!("\x01{tag}=");
            let written = &self.bytes[start..];
            written
                .windows(field.len())
                .any(|it| it == field.as_bytes())
        };
        let mut words = Vec::new();
        let has_ticks = rule.ticks.is_empty() || has(tag::NO_TICK_RULES);
        if !has(tag::MIN_PRICE_INCREMENT) || !has_ticks {
            words.push(match rule.ticks.len() {
                0..=TICKS_MAX => format!("tick {}", rule.tick_text()),
                more => format!(
                    "tick {}, and {more} more ticks for higher prices",
                    price(rule.tick, rule.scale)
                ),
            });
        }
        if !has(tag::ROUND_LOT) {
            words.push(format!("lot {}", Parts(rule.lot, rule.quantity_scale)));
        }
        if let Some(at) = text_at
            && !words.is_empty()
        {
            let rest = self.bytes.split_off(at);
            self.text(tag::TEXT, &words.join(", "));
            self.bytes.extend_from_slice(&rest);
        }
    }

    /// Writes a field or a group of an instrument.
    fn member(&mut self, member: &Member, rule: &InstrumentRule, ids: &[&SecurityId]) {
        if let Some(group) = &member.group {
            return self.group(group, rule, ids);
        }
        let (of, security) = (member.tag, &rule.security);
        let optional = |text: &Option<String>| text.clone().unwrap_or_default();
        let lot = || Parts(rule.lot, rule.quantity_scale).to_string();
        let value = match of {
            tag::SYMBOL => rule.symbol.clone(),
            tag::SECURITY_ID => ids.first().map_or(String::new(), |it| it.id.clone()),
            tag::SECURITY_ID_SOURCE => ids.first().map_or(String::new(), |it| it.source.clone()),
            tag::SECURITY_TYPE => return self.put(of, kind(rule).unwrap_or_default()),
            // MarketID(1301) is that of a market segment.
            tag::SECURITY_EXCHANGE | tag::MARKET_ID => optional(&security.exchange),
            tag::MATURITY_MONTH_YEAR => {
                let month = security.maturity.map(|it| it.month().to_string());
                month.unwrap_or_default()
            }
            tag::MATURITY_DATE => {
                let day = security.maturity.and_then(|it| it.day());
                day.map_or(String::new(), |day| day.to_string())
            }
            tag::MATURITY_DAY => {
                let day = security.maturity.and_then(|it| it.day());
                day.map_or(String::new(), |day| format!("{}", day % 100))
            }
            tag::CURRENCY => rule
                .currency
                .map_or(String::new(), |it| it.code.to_string()),
            tag::CONTRACT_MULTIPLIER => security
                .multiplier
                .map_or(String::new(), |it| it.to_string()),
            tag::MIN_PRICE_INCREMENT => price(rule.tick, rule.scale).normalized().to_string(),
            tag::ROUND_LOT | tag::MIN_TRADE_VOL => lot(),
            _ => return,
        };
        self.text(of, &value);
    }

    fn group(&mut self, group: &GroupDef, rule: &InstrumentRule, ids: &[&SecurityId]) {
        let legs = rule.legs.iter().flatten();
        match group.count() {
            tag::NO_SECURITY_ALT_ID => {
                let others = ids.get(1..).unwrap_or_default().iter();
                self.entries(group, others, |out, of, it| match of {
                    tag::SECURITY_ALT_ID => out.text(of, &it.id),
                    tag::SECURITY_ALT_ID_SOURCE => out.text(of, &it.source),
                    _ => {}
                });
            }
            // FIX 4.2 has the legs of a spread in NoRelatedSym(146).
            tag::NO_LEGS | tag::NO_RELATED_SYM => self.entries(group, legs, put_leg),
            tag::NO_TICK_RULES if (1..=TICKS_MAX).contains(&rule.ticks.len()) => {
                let higher = rule.ticks.iter().map(|band| (band.from, band.tick));
                let ticks = core::iter::once((0, rule.tick)).chain(higher);
                self.entries(group, ticks, |out, of, &(from, tick)| match of {
                    tag::START_TICK_PRICE_RANGE => {
                        out.text(of, &price(from, rule.scale).normalized().to_string());
                    }
                    tag::TICK_INCREMENT => {
                        out.text(of, &price(tick, rule.scale).normalized().to_string());
                    }
                    _ => {}
                });
            }
            tag::NO_MARKET_SEGMENTS if rule.security.exchange.is_some() => {
                self.text(group.count(), "1");
                for member in group.members() {
                    self.member(member, rule, ids);
                }
            }
            _ => {}
        }
    }

    /// Writes a group with these entries, and nothing if it has none.
    fn entries<T>(
        &mut self,
        group: &GroupDef,
        entries: impl Iterator<Item = T> + Clone,
        put: impl Fn(&mut Self, Tag, &T),
    ) {
        let count = entries.clone().count();
        if count == 0 {
            return;
        }
        self.text(group.count(), &count.to_string());
        for entry in entries {
            group
                .members()
                .iter()
                .for_each(|it| put(self, it.tag, &entry));
        }
    }
}

/// Writes a field of a leg.
fn put_leg(out: &mut InstrumentFields<'_>, of: Tag, leg: &&LegRule) {
    match of {
        tag::LEG_SYMBOL | tag::UNDERLYING_SYMBOL => out.text(of, &leg.symbol),
        tag::LEG_RATIO_QTY | tag::RATIO_QTY => out.text(of, &leg.ratio.to_string()),
        tag::LEG_SIDE | tag::SIDE => out.text(of, if leg.side.is_buy() { "1" } else { "2" }),
        _ => {}
    }
}
