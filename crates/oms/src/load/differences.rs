//! Compares new settings with the settings in force: what a reload changes, and what takes effect only after a restart.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use fixwire_text::ReloadEffect;

use crate::load::registry::{TableRule, at_start, or_none};
use crate::load::setting_fields::{NamedRule, RuleFields, shown_names};
use crate::state::OmsState;
use crate::values::limits::RiskControl;
use crate::values::rules::{
    CopySourceRule, InstrumentRule, LineGroup, RiskRules, Route, ScopeName,
};
use crate::values::show::figure;

/// A changed setting, as a row of a table.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct SettingChange {
    what: &'static str,
    name: String,
    was: String,
    is: String,
    /// Whether the change is about limits or users. Two operators may have to confirm such a change.
    pub is_guarded: bool,
}

impl SettingChange {
    /// Whether the change may add a symbol to a line, or may change whether the OMS requests the state of trading.
    pub(crate) fn is_about_markets(&self) -> bool {
        [InstrumentRule::WHAT, LineGroup::TABLE, Route::TABLE].contains(&self.what)
    }
}

impl fmt::Display for SettingChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            what,
            name,
            was,
            is,
            ..
        } = self;
        write!(f, "{what}\t{name}\t{was}\t{is}")
    }
}

/// Shown for a setting without a value.
const NOTHING: &str = "-";

fn text_of<'f>(fields: impl Iterator<Item = &'f (&'static str, String)>) -> String {
    let texts = fields.filter(|(_, value)| !value.is_empty());
    let texts = texts.map(|(name, value)| match *name {
        "" => value.clone(),
        name => format!("{name} {value}"),
    });
    let all = texts.collect::<Vec<_>>().join(", ");
    if all.is_empty() { NOTHING.into() } else { all }
}

/// Compares two lists of rules by the names of the rules; adds the differences.
fn compare<R: NamedRule>(old: &[R], new: &[R], to: &mut Vec<SettingChange>) {
    // Most rules at the beginning and at the end of the lists are equal.
    let front = old.iter().zip(new).take_while(|(one, other)| one == other);
    let front = front.count();
    let (old, new) = (&old[front..], &new[front..]);
    let back = old.iter().rev().zip(new.iter().rev());
    let back = back.take_while(|(one, other)| one == other).count();
    let (old, new) = (&old[..old.len() - back], &new[..new.len() - back]);
    let before: BTreeMap<_, &R> = old.iter().map(|rule| (rule.key(), rule)).collect();
    let mut after: BTreeMap<_, &R> = new.iter().map(|rule| (rule.key(), rule)).collect();
    let mut push = |rule: &R, was: String, is: String| {
        to.push(SettingChange {
            what: R::WHAT,
            name: rule.name(),
            was,
            is,
            is_guarded: R::is_guarded(),
        });
    };
    for rule in old {
        match after.remove(&rule.key()) {
            None => push(rule, text_of(rule.fields().iter()), NOTHING.into()),
            Some(other) if other == rule => {}
            Some(other) => {
                let (was, is) = (rule.fields(), other.fields());
                let value = |all: &RuleFields, name: &str| {
                    let found = all.iter().find(|(known, _)| *known == name);
                    found.map_or(String::new(), |(_, value)| value.clone())
                };
                let names = was.iter().chain(
                    is.iter()
                        .filter(|(name, _)| !was.iter().any(|(known, _)| known == name)),
                );
                let names = names.map(|(name, _)| *name);
                let differ = names.filter(|name| value(&was, name) != value(&is, name));
                let differ: Vec<&'static str> = differ.collect();
                // Rows of files of a line group are listed one by one.
                if differ.is_empty() {
                    continue;
                }
                let text = |all: &RuleFields| {
                    let these = differ.iter().map(|name| match value(all, name) {
                        value if value.is_empty() => (*name, String::from(NOTHING)),
                        value => (*name, value),
                    });
                    text_of(these.collect::<RuleFields>().iter())
                };
                push(rule, text(&was), text(&is));
            }
        }
    }
    for rule in new.iter().filter(|rule| !before.contains_key(&rule.key())) {
        push(rule, NOTHING.into(), text_of(rule.fields().iter()));
    }
}

/// All changed settings; compares only settings that a reload can change.
pub(crate) fn changes(state: &OmsState, old: &RiskRules, new: &RiskRules) -> Vec<SettingChange> {
    let mut all = Vec::new();
    compare(&old.instruments, &new.instruments, &mut all);
    compare(&old.accounts, &new.accounts, &mut all);
    compare(&old.users, &new.users, &mut all);
    let before = all.len();
    compare(&old.limits, &new.limits, &mut all);
    in_use(state, new, &mut all[before..]);
    compare(&old.restricted, &new.restricted, &mut all);
    compare(&old.pools, &new.pools, &mut all);
    compare(&old.drop_copies, &new.drop_copies, &mut all);
    compare(&old.operators, &new.operators, &mut all);
    compare(&old.groups, &new.groups, &mut all);
    compare(&shown_names(old), &shown_names(new), &mut all);
    let mut one = |what: &'static str, is_guarded: bool, was: String, is: String| {
        if was != is {
            let shown = |text: String| {
                if text.is_empty() {
                    NOTHING.into()
                } else {
                    text
                }
            };
            all.push(SettingChange {
                what,
                name: String::new(),
                was: shown(was),
                is: shown(is),
                is_guarded,
            });
        }
    };
    let routes = |rules: &RiskRules| {
        let routes = rules.routes.iter().map(|route| {
            let group = rules.groups.get(route.group).map(|group| &group.name);
            format!("{} to {}", route.text(), or_none(group))
        });
        routes.collect::<Vec<_>>().join("; ")
    };
    one(Route::TABLE, false, routes(old), routes(new));
    let keys = RiskRules::KEYS.iter();
    for key in keys.filter(|key| key.reload != ReloadEffect::Restart) {
        let is_guarded = key.reload == ReloadEffect::Confirmed;
        one(key.name, is_guarded, (key.show)(old), (key.show)(new));
    }
    if old.texts != new.texts {
        all.push(SettingChange {
            what: "texts",
            name: String::new(),
            was: old.texts.summary(),
            is: new.texts.summary(),
            is_guarded: false,
        });
    }
    all
}

/// Adds to each changed limit the usage of the limit, if the usage is above the new limit.
fn in_use(state: &OmsState, new: &RiskRules, limits: &mut [SettingChange]) {
    if limits.is_empty() {
        return;
    }
    let counted = [RiskControl::OpenOrders, RiskControl::Credit];
    let scope_of = |name: &ScopeName| {
        let account = |name: &String| state.accounts().find(name.as_bytes());
        let instrument = |name: &String| state.instruments().find(name.as_bytes());
        Some(match name {
            ScopeName::Firm => crate::Scope::Firm,
            ScopeName::Session(it) => crate::Scope::Session(state.sessions().find(it.as_bytes())?),
            ScopeName::Account(it) => crate::Scope::Account(account(it)?),
            ScopeName::Instrument(it) => crate::Scope::Instrument(instrument(it)?),
            ScopeName::Holding(of, it) => crate::Scope::Holding(account(of)?, instrument(it)?),
        })
    };
    let rules = new.limits.iter();
    for rule in rules.filter(|rule| counted.contains(&rule.control)) {
        let Some(tally) = scope_of(&rule.scope)
            .and_then(|scope| state.standing(scope))
            .map(|standing| &standing.tally)
        else {
            continue;
        };
        let used = match rule.control {
            RiskControl::OpenOrders => i128::from(tally.orders),
            _ => tally.reserved.saturating_add(tally.traded),
        };
        if used > rule.value {
            let name = rule.name();
            let digits = rule.control.unit().digits();
            let change = limits.iter_mut().find(|change| change.name == name);
            if let Some(change) = change {
                change.is += &format!(", below the {} in use", figure(used, digits));
            }
        }
    }
}

/// One line for each setting that differs and that takes effect only after a restart.
pub(crate) fn needs_restart(old: &RiskRules, new: &RiskRules) -> Vec<String> {
    let mut wrong: Vec<String> = at_start(old, new)
        .map(|key| format!("another [oms] {key}"))
        .collect();
    let names = |rules: &RiskRules| {
        let names = rules.groups.iter().map(|group| group.name.clone());
        names.collect::<Vec<_>>()
    };
    if names(old) == names(new) {
        for (one, other) in old.groups.iter().zip(&new.groups) {
            let keys = at_start(one, other);
            wrong.extend(keys.map(|key| format!("{key} of line_group {}", one.name)));
        }
    } else {
        wrong.push("another list of line_group".into());
    }
    if old.copy_sources != new.copy_sources {
        wrong.push(format!("another {}", CopySourceRule::TABLE));
    }
    if !old.recovers_reports() && new.recovers_reports() {
        wrong.push("the first right reports, or the first drop_copy,".into());
    }
    let wrong = wrong.into_iter();
    wrong
        .map(|what| format!("{what} needs a restart"))
        .collect()
}

/// Why settings cannot change. Open orders that were routed by symbol alone would belong to another line group than the
/// one that has sent them.
pub(crate) const OTHER_GROUP: &str = "it cannot go by another line_group";

/// Instruments whose settings change in a way that is not possible while the instrument has open orders; with the
/// change.
pub(crate) fn risky_instruments<'r>(
    old: &'r RiskRules,
    new: &RiskRules,
) -> Vec<(&'r str, &'static str)> {
    let is_same_route = old.routes == new.routes;
    if old.instruments == new.instruments && is_same_route {
        return Vec::new();
    }
    let instruments = new.instruments.iter();
    let known: BTreeMap<&str, &InstrumentRule> =
        instruments.map(|it| (it.symbol.as_str(), it)).collect();
    let risky = old.instruments.iter().filter_map(|was| {
        let symbol = was.symbol.as_str();
        let what = match known.get(symbol) {
            None => "it cannot be removed",
            Some(is) if is.has_effect != was.has_effect => "its positions cannot change",
            Some(is) if is.legs != was.legs => "its legs cannot change",
            Some(is) if is != &was && is_over_tmp(old, was) && differ_over_tmp(was, is) => {
                "the decimals of its tick cannot change, since its line speaks TMP"
            }
            Some(_)
                if !is_same_route
                    && old.group_of(symbol.as_bytes()) != new.group_of(symbol.as_bytes()) =>
            {
                OTHER_GROUP
            }
            Some(_) => return None,
        };
        Some((symbol, what))
    });
    risky.collect()
}

/// Instruments whose units over TMP change. Open orders that were sent to a line over TMP prevent this change, even if
/// no route leads to that line now.
pub(crate) fn other_over_tmp<'r>(
    old: &'r RiskRules,
    new: &'r RiskRules,
) -> impl Iterator<Item = (&'r str, &'static str)> {
    let was_known = |is: &InstrumentRule| old.instruments.iter().find(|it| it.symbol == is.symbol);
    new.instruments.iter().filter_map(move |is| {
        let was = was_known(is).filter(|was| *was != is)?;
        let what = if was.quantity_scale != is.quantity_scale {
            "its quantity_decimals cannot change, since a line of it speaks TMP"
        } else if differ_over_tmp(was, is) && !is_over_tmp(old, was) {
            "the decimals of its tick cannot change, since a line of it speaks TMP"
        } else {
            return None;
        };
        Some((is.symbol.as_str(), what))
    })
}

fn is_over_tmp(rules: &RiskRules, rule: &InstrumentRule) -> bool {
    let mut routes = rules.routes_of(rule.symbol.as_bytes());
    routes.any(|route| {
        rules
            .groups
            .get(route.group)
            .is_some_and(|group| group.over_tmp)
    })
}

fn differ_over_tmp(was: &InstrumentRule, is: &InstrumentRule) -> bool {
    crate::values::units::tick_scale(was) != crate::values::units::tick_scale(is)
}
