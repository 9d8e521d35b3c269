//! The accounts and symbols of an OMS as tables.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write as _;

use crate::decide::core::Core;
use crate::state::OmsState;
use crate::state::orders::Order;
use crate::state::tag_counts::{ContractOf, DroppedFields};
use crate::values::limits::LimitUnit;
use crate::values::rules::InstrumentRule;
use crate::values::scope::Scope;
use crate::values::show::{Parts, average, figure, price};
use crate::values::value::Market;

/// A name as text, with its line breaks and tabs replaced.
fn shown(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    let shown = name.chars();
    shown
        .map(|it| if it.is_control() { '?' } else { it })
        .collect()
}

/// The table of accounts: open quantity, reserved value and today's trades, each with the sub-accounts included.
pub(crate) fn accounts(state: &OmsState) -> String {
    let money = LimitUnit::Money.digits();
    let mut list = String::from("account\tparent\topen\treserved\ttraded\ttrading");
    for (index, name) in state.accounts().numbers().zip(state.accounts().iter()) {
        let parent = state.parent(index);
        let parent = parent.map(|parent| shown(state.accounts().name(parent)));
        let standing = state.standing(Scope::Account(index));
        let tally = standing.map(|it| it.tally).unwrap_or_default();
        let _ = write!(
            list,
            "\n{}\t{}\t{}\t{}\t{}\t{}",
            shown(name),
            parent.unwrap_or_default(),
            tally.orders,
            figure(tally.reserved, money),
            figure(tally.traded, money),
            state.trading(Scope::Account(index)),
        );
    }
    list
}

/// Number of markets in each state other than open, such as `2 halted, 7 closed`; `open` if all markets are open.
pub(crate) fn markets(state: &OmsState) -> String {
    let mut text = String::new();
    for is in [Market::Auction, Market::Halted, Market::Closed] {
        let all = state.instruments().numbers();
        let count = all.filter(|index| state.market(*index) == is).count();
        if count > 0 {
            let comma = if text.is_empty() { "" } else { ", " };
            let _ = write!(text, "{comma}{count} {is}");
        }
    }
    if text.is_empty() { "open".into() } else { text }
}

/// Number of fields that each contract has dropped from requests, by tag. Example: `user CLIENT 58: 12, 453: 3;
/// line_group XLON 376: 1`.
pub(crate) fn dropped(core: &Core, dropped: &DroppedFields) -> String {
    let mut text = String::new();
    let mut last = None;
    for ((whose, tag), count) in &dropped.requests {
        if last == Some(whose) {
            let _ = write!(text, ", {tag}: {count}");
            continue;
        }
        let sign = if text.is_empty() { "" } else { "; " };
        let (kind, name) = match whose {
            ContractOf::User(session) => ("user", shown(core.state().sessions().name(*session))),
            ContractOf::Group(group) => ("line_group", core.rules().groups[*group].name.clone()),
        };
        let _ = write!(text, "{sign}{kind} {name} {tag}: {count}");
        last = Some(whose);
    }
    text
}

/// The table of symbols and their settings. A symbol that is no longer in the file is listed without a tick.
pub(crate) fn symbols(core: &Core) -> String {
    let state = core.state();
    let mut list =
        String::from("symbol\ttick\tlot\treference\tpositions\tline group\topen\tmarket\ttrading");
    for (index, name) in state
        .instruments()
        .numbers()
        .zip(state.instruments().iter())
    {
        let scale = state.scale(index);
        let rule = core.rule(index).ok();
        let amount = |value: Option<i64>| {
            value.map_or_else(String::new, |value| price(value, scale).to_string())
        };
        let groups = core.rules().routes_of(name);
        let groups = groups.filter_map(|route| core.rules().groups.get(route.group));
        let mut groups: Vec<&str> = groups.map(|group| group.name.as_str()).collect();
        groups.dedup();
        let standing = state.standing(Scope::Instrument(index));
        let _ = write!(
            list,
            "\n{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
            shown(name),
            rule.map_or_else(String::new, InstrumentRule::tick_text),
            rule.map_or_else(String::new, |rule| {
                Parts(rule.lot, rule.quantity_scale).to_string()
            }),
            amount(rule.and_then(|rule| rule.reference)),
            match rule {
                Some(rule) if rule.has_effect => "effect",
                _ => "netting",
            },
            groups.join(" "),
            standing.map_or(0, |it| it.tally.orders),
            state.market(index),
            state.trading(Scope::Instrument(index)),
        );
    }
    list
}

/// Filled quantities of the legs of a spread's order, such as `buy 4 JUN at 101.5, sell 4 MAR at 100`.
pub(crate) fn legs(state: &OmsState, order: &Order) -> String {
    let legs = state
        .legs(order.instrument)
        .zip(state.legs_of(order.number));
    let Some((legs, of)) = legs else {
        return String::new();
    };
    let both = [0, 1].map(|at| {
        let leg = &legs[at];
        let side = if leg.side_in(order.side).is_buy() {
            "buy"
        } else {
            "sell"
        };
        let symbol = shown(state.instruments().name(leg.instrument));
        let filled = of.filled[at];
        let scale = state.scale(leg.instrument);
        match filled {
            0 => format!("{side} 0 {symbol}"),
            _ => format!(
                "{side} {} {symbol} at {}",
                state.shown(leg.instrument, filled),
                average(of.paid[at], filled, scale)
            ),
        }
    });
    both.join(", ")
}
