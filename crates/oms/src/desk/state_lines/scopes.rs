//! Scopes with their limits, usage and flow; sessions, accounts, instruments and positions.

use alloc::string::{String, ToString as _};

use super::line::{Hash, Name, Scaled, StateLines, money};
use crate::state::flow::{Flow, Passed, Recent, RecentOrder, Window};
use crate::state::tally::{Position, Tally};
use crate::state::{
    Account, ArmRequest, Expiry, Holding, Instrument, OmsState, Session, Standing, Stop,
};
use crate::values::ids::{AccountNo, InstrumentNo, SessionNo, Table};
use crate::values::limits::{LimitUnit, RiskControl, RiskLimits};
use crate::values::marks::RequestMarks;
use crate::values::scope::Scope;
use crate::values::show::figure;
use crate::values::value::MOST_QUANTITY_DECIMALS;

pub(super) fn standing(state: &OmsState, scope: Scope, of: &Standing, to: &mut StateLines) {
    let Standing {
        tally,
        limits,
        flow,
    } = of;
    let name = state.scope_name(scope);
    let Tally {
        orders,
        buying,
        selling,
        reserved,
        traded,
        unanswered,
        gained,
    } = *tally;
    to.of(format_args!("tally {name}"));
    to.count("orders", orders);
    to.count("buying", buying);
    to.count("selling", selling);
    to.count("unanswered", unanswered);
    for (what, value) in [
        ("reserved", reserved),
        ("traded", traded),
        ("gained", gained),
    ] {
        if value != 0 {
            to.say(what, money(value));
        }
    }
    let RiskLimits {
        values: _, // By control, below.
        filed: _,  // By control, below.
        trading,
    } = limits;
    to.of(format_args!("trading {name}"));
    to.say("is", trading);
    to.of(format_args!("limit {name}"));
    limit_values(|control| limits.get(control), to);
    to.of(format_args!("limit of the file {name}"));
    limit_values(|control| limits.filed(control), to);
    if let Some(flow) = flow {
        of_flow(&name, flow, to);
    }
}

fn limit_values(value: impl Fn(RiskControl) -> Option<i128>, to: &mut StateLines) {
    for control in RiskControl::ALL {
        let value = value(*control).map(|it| limit_value(*control, it));
        to.some(control.code(), value);
    }
}

/// A limit with the decimals of its unit. A limit of a quantity has only the decimals that it needs.
fn limit_value(control: RiskControl, value: i128) -> String {
    match control.unit() {
        LimitUnit::Quantity => figure(value, MOST_QUANTITY_DECIMALS),
        unit => Scaled(value, unit.digits()).to_string(),
    }
}

fn passed(of: &Passed, to: &mut StateLines) {
    let Passed {
        messages,
        refused,
        cancels,
        executions,
        quantity,
        value,
    } = *of;
    to.count("messages", messages);
    to.count("refused", refused);
    to.count("cancels", cancels);
    to.count("executions", executions);
    if quantity != 0 {
        to.say("quantity", figure(quantity, MOST_QUANTITY_DECIMALS));
    }
    if value != 0 {
        to.say("value", money(value));
    }
}

fn of_flow(name: &str, flow: &Flow, to: &mut StateLines) {
    let Flow {
        day,
        second,
        minute,
    } = flow;
    to.of(format_args!("flow {name} today"));
    to.say("is", "counted");
    passed(day, to);
    window(name, "tenth", second, to);
    window(name, "second", minute, to);
}

/// Counts of each slot, by the number of the slot since 1970.
fn window<const N: usize>(name: &str, unit: &str, of: &Window<N>, to: &mut StateLines) {
    // The sum is not shown, since it is the sum of the slots.
    let Window {
        sum: _,
        newest,
        parts,
    } = of;
    to.of(format_args!("flow {name} newest {unit}"));
    to.say("is", newest);
    for (place, part) in (0_i64..).zip(parts) {
        let back = newest.wrapping_sub(place).rem_euclid(N as i64);
        to.of(format_args!(
            "flow {name} {unit} {}",
            newest.wrapping_sub(back)
        ));
        passed(part, to);
    }
}

pub(super) fn marks(of: &RequestMarks, to: &mut StateLines) {
    let RequestMarks {
        cm_id,
        effect,
        order_source,
        info_source,
        investor_flag,
    } = *of;
    to.count("clearing member", cm_id);
    to.count("PositionEffect over TMP", effect);
    to.count("order source", order_source);
    if info_source != [0; 3] {
        to.say("information source", info_source.escape_ascii());
    }
    to.count("investor flag", investor_flag);
}

pub(super) fn sessions(state: &OmsState, all: &Table<SessionNo, Session>, to: &mut StateLines) {
    for (index, session) in all.numbered() {
        let Session {
            ready,
            client,
            link,
            marks: of,
            standing: standing_of,
        } = session;
        standing(state, Scope::Session(index), standing_of, to);
        to.of(format_args!("session {}", state.session_name(index)));
        to.flag("is ready for orders", *ready);
        to.say("presence", super::line::byte(client.byte()));
        to.count("last MsgSeqNum received over TMP", link.0);
        to.count("last MsgSeqNum sent over TMP", link.1);
        marks(of, to);
    }
}

pub(super) fn accounts(state: &OmsState, all: &Table<AccountNo, Account>, to: &mut StateLines) {
    for (index, account) in all.numbered() {
        let Account {
            parent,
            standing: standing_of,
        } = account;
        standing(state, Scope::Account(index), standing_of, to);
        to.of(format_args!("account {}", state.account_name(index)));
        to.some("parent", parent.map(|it| state.account_name(it)));
    }
}

pub(super) fn instruments(
    state: &OmsState,
    all: &Table<InstrumentNo, Instrument>,
    to: &mut StateLines,
) {
    for (index, instrument) in all.numbered() {
        let Instrument {
            scale,
            quantity_scale,
            worth,
            market,
            standing: standing_of,
        } = instrument;
        standing(state, Scope::Instrument(index), standing_of, to);
        to.of(format_args!("symbol {}", state.symbol(index)));
        to.say("decimals", scale);
        to.count("decimals of quantities", *quantity_scale);
        to.say("worth", Scaled(i128::from(*worth), 9));
        to.say("market", market);
    }
}

pub(super) fn holdings(state: &OmsState, all: &[Holding], to: &mut StateLines) {
    for (place, holding) in (1_u64..).zip(all) {
        let Holding {
            account,
            instrument,
            position: known,
            mark,
            opened_at,
            standing: standing_of,
        } = holding;
        let scope = Scope::Holding(*account, *instrument);
        standing(state, scope, standing_of, to);
        to.of(format_args!("position {}", state.scope_name(scope)));
        // Places are in the order of first use, because pages and answers list them in this order.
        to.say("place", place);
        position(state, *instrument, known, to);
        for (what, price) in [("last fill", mark), ("valued yesterday at", opened_at)] {
            if *price != 0 {
                to.say(what, state.price_in(*instrument, *price));
            }
        }
    }
}

pub(super) fn expiries(state: &OmsState, all: &[Expiry], to: &mut StateLines) {
    for (place, expiry) in (1_u64..).zip(all) {
        let Expiry {
            scope,
            control,
            before,
            until,
        } = expiry;
        to.of(format_args!("temporary limit {place}"));
        to.say("scope", state.scope_name(*scope));
        to.say("control", control.code());
        let before = before.map(|it| limit_value(*control, it));
        to.some("limit before", before);
        to.say("until", until);
    }
}

pub(super) fn stops(state: &OmsState, all: &[Stop], to: &mut StateLines) {
    for (place, stop) in (1_u64..).zip(all) {
        let Stop { scope, by, asked } = stop;
        to.of(format_args!("stop {place}"));
        to.say("scope", state.scope_name(*scope));
        to.say("by", by.bytes().escape_ascii());
        if let Some(ArmRequest { by, state }) = asked {
            to.say("armed by", Name::Known(by.bytes()));
            to.say("armed to", state);
        }
    }
}

/// New orders of the last second, the oldest first.
pub(super) fn recent(of: &Recent, to: &mut StateLines) {
    let Recent {
        is_on,
        orders,
        first: _,    // Their numbers among each other.
        contents: _, // Derived from them.
    } = of;
    to.of(format_args!("orders of the last second"));
    to.flag("are counted", *is_on);
    for (place, order) in (1_u64..).zip(orders) {
        let RecentOrder {
            at,
            hash,
            before: _, // Derived from those before it.
        } = order;
        to.of(format_args!("order of the last second {place}"));
        to.say("at", at);
        to.say("content", Hash(*hash));
    }
}

/// A position of an account in an instrument, in separate lines.
pub(super) fn position(
    state: &OmsState,
    instrument: InstrumentNo,
    position: &Position,
    to: &mut StateLines,
) {
    let Position {
        long,
        short,
        bought,
        sold,
        paid,
        received,
    } = position;
    to.count("long", *long);
    to.count("short", *short);
    to.count("bought today", *bought);
    to.count("sold today", *sold);
    if *paid != 0 {
        to.say("paid today", state.price_in(instrument, *paid));
    }
    if *received != 0 {
        to.say("received today", state.price_in(instrument, *received));
    }
}
