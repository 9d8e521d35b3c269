//! Records that belong to orders: late and remade replaces, locates, rejected orders, copies, breaks, strays.

use super::line::{Hash, OrderNo, StateLines, byte, hash};
use super::orders;
use super::scopes::marks;
use crate::state::OmsState;
use crate::state::copies::{Awaited, CopiedOrder, Copies, CopyBreak, ENDED, FillTerms};
use crate::state::orders::breaks::{VenueBreak, VenueBreaks};
use crate::state::orders::carried::{Carried, Fields};
use crate::state::orders::exec_ids::ExecIds;
use crate::state::orders::late::{LateReplaces, LateTerms};
use crate::state::orders::rejected::{RejectedOrder, RejectedOrders, RejectedTerms};
use crate::state::orders::remade::{RemadeOrders, RemadeStep};
use crate::state::orders::routed::Routed;
use crate::state::orders::strays::{Stray, StrayUndo, Strays};
use crate::state::orders::venue_names::{LineNames, VenueNames};
use crate::state::show::is_quantity;
use crate::values::locate::Locates;
use crate::values::reason::Reason;
use crate::values::scope::Scope;
use crate::values::show::figure;
use crate::values::value::{MOST_QUANTITY_DECIMALS, Text};

pub(super) fn late(_of: &OmsState, all: &LateReplaces, to: &mut StateLines) {
    let LateReplaces(all) = all;
    for (order, terms) in all {
        let LateTerms {
            known,
            quantity_at,
            price_at,
        } = terms;
        to.of(format_args!("late replaces of order {order}"));
        // The oldest request is the first, since it is forgotten first.
        to.each("request", known);
        to.say("are kept", "yes");
        to.count("time of the quantity", *quantity_at);
        to.count("time of the price", *price_at);
    }
}

pub(super) fn remade(all: &RemadeOrders, to: &mut StateLines) {
    let RemadeOrders(all) = all;
    for (order, step) in all {
        to.of(format_args!("remade order {order}"));
        match step {
            RemadeStep::Held {
                filled,
                at,
                of_replace,
            } => {
                to.say("held with filled", filled);
                to.count("held at", *at);
                to.flag("held under the id of the replace", *of_replace);
            }
            RemadeStep::Former { number, at } => {
                to.say("former number", number);
                to.say("former at", at);
            }
            RemadeStep::Stray(number) => to.say("stray", number),
        }
    }
}

pub(super) fn locates(all: &Locates, to: &mut StateLines) {
    let Locates(all) = all;
    for (order, (reqd, broker)) in all {
        to.of(format_args!("locate of order {order}"));
        to.say("broker", broker.bytes().escape_ascii());
        if *reqd != 0 {
            to.say("LocateReqd", byte(*reqd));
        }
    }
}

pub(super) fn routed(state: &OmsState, all: &Routed, to: &mut StateLines) {
    let Routed(all) = all;
    for (order, line) in all {
        to.of(format_args!("route of order {order}"));
        to.say("line group of", state.session_name(*line));
    }
}

pub(super) fn carried(all: &Carried, to: &mut StateLines) {
    let Carried {
        fields: all,
        marks: over_tmp,
    } = all;
    for number in all.numbers() {
        to.of(format_args!("fields of {number}"));
        fields_of(&Fields::of(all.get(number).unwrap_or_default()), to);
    }
    for (number, of) in over_tmp {
        to.of(format_args!("request {number} over TMP"));
        marks(of, to);
    }
}

fn fields_of(fields: &Fields, to: &mut StateLines) {
    let Fields { header, body, kept } = fields;
    for (part, bytes) in [("header", header), ("body", body), ("kept", kept)] {
        if !bytes.is_empty() {
            to.say(part, bytes.escape_ascii());
        }
    }
}

pub(super) fn exec_ids(all: &ExecIds, to: &mut StateLines) {
    let ExecIds { since, all } = all;
    if let Some(since) = since {
        to.of(format_args!("ExecIDs of venues"));
        to.say("since", since);
    }
    for ((order, exec), (kind, id)) in all {
        to.of(format_args!("ExecID {exec:x} of {order}"));
        to.say("ExecType", byte(*kind));
        to.say("id", id.bytes().escape_ascii());
    }
}

pub(super) fn venue_names(state: &OmsState, all: &VenueNames, to: &mut StateLines) {
    let VenueNames(all) = all;
    for (line, names) in all {
        let LineNames {
            instruments,
            accounts,
        } = names;
        to.of(format_args!("names on {}", state.session_name(*line)));
        for (of, fields) in instruments {
            let name = alloc::format!("symbol {}", state.symbol(*of));
            to.say(&name, fields.escape_ascii());
        }
        for (of, fields) in accounts {
            let name = alloc::format!("account {}", state.account_name(*of));
            to.say(&name, fields.escape_ascii());
        }
    }
}

pub(super) fn rejected(of: &OmsState, all: &RejectedOrders, to: &mut StateLines) {
    let RejectedOrders { all, yesterday } = all;
    to.of(format_args!("rejected orders"));
    to.count("last event of yesterday", *yesterday);
    for RejectedOrder {
        number,
        terms,
        id,
        fields,
        rerun,
    } in all
    {
        to.of(format_args!("rejected order {number}"));
        to.text("ClOrdID", id);
        to.some("became", (*rerun != 0).then_some(OrderNo(*rerun)));
        fields_of(fields, to);
        rejected_terms(of, terms, to);
    }
}

fn rejected_terms(of: &OmsState, terms: &RejectedTerms, to: &mut StateLines) {
    let RejectedTerms {
        session,
        account,
        instrument,
        side,
        kind,
        tif,
        price,
        stop,
        quantity,
        until,
        effect,
        is_located,
        route,
        reason,
    } = terms;
    to.say("session", of.session_name(*session));
    to.say("account", of.account_name(*account));
    to.say("symbol", of.symbol(*instrument));
    to.say("side", byte(side.byte()));
    to.say("type", byte(kind.byte()));
    to.say("time in force", byte(tif.byte()));
    for (what, price) in [("price", price), ("stop", stop)] {
        if *price != 0 {
            to.say(what, of.price_in(*instrument, *price));
        }
    }
    to.say("quantity", quantity);
    to.some("expire date", *until);
    orders::effect(*effect, to);
    to.flag("is located", *is_located);
    to.some("line group of", route.map(|line| of.session_name(line)));
    let Reason {
        why,
        scope,
        value,
        limit,
    } = reason;
    to.say("reason", why.byte());
    if *scope != Scope::Firm {
        to.say("reason at", of.scope_name(*scope));
    }
    for (what, value) in [("reason value", *value), ("reason limit", *limit)] {
        if value != 0 {
            let digits = if is_quantity(*why) {
                MOST_QUANTITY_DECIMALS
            } else {
                0
            };
            to.say(what, figure(value, digits));
        }
    }
}

pub(super) fn copies(of: &OmsState, copies: &Copies, to: &mut StateLines) {
    let Copies {
        lines,
        awaited,
        times: _, // Derived from awaited.
        breaks,
        broken: _, // Derived from breaks.
    } = copies;
    for (line, session) in lines {
        to.of(format_args!("line {}", of.session_name(*line)));
        to.say("drop copy", of.session_name(*session));
    }
    for ((order, exec), what) in awaited {
        to.of(format_args!(
            "awaited copy of order {order} {}",
            of_exec(*exec)
        ));
        awaits(of, what, to);
    }
    for (number, found) in breaks {
        let CopyBreak {
            kind,
            key: (order, exec),
            what,
            text,
        } = found;
        to.of(format_args!("break with a copy {number}"));
        to.say("kind", kind);
        to.say("order", order);
        to.say("of", of_exec(*exec));
        to.text("ids", text);
        awaits(of, what, to);
    }
}

/// A fill, or the end of an order.
fn of_exec(exec: u64) -> alloc::string::String {
    match exec {
        ENDED => "end".into(),
        exec => alloc::format!("fill {}", Hash(exec)),
    }
}

fn awaits(of: &OmsState, what: &Awaited, to: &mut StateLines) {
    let Awaited {
        line,
        of: known,
        since,
        ours,
        copy,
    } = what;
    to.say("line", of.session_name(*line));
    if let Some(CopiedOrder {
        account,
        instrument,
    }) = known
    {
        to.say("account", of.account_name(*account));
        to.say("instrument", of.symbol(*instrument));
    }
    to.say("since", since);
    let instrument = known.map(|it| it.instrument);
    let terms = |(quantity, price): FillTerms| {
        alloc::format!("{quantity} at {}", of.price_in(instrument, price))
    };
    to.some("reported by the line", ours.map(terms));
    to.some("reported by the copy", copy.map(terms));
}

/// Adds the operator who decided, and the side that is right.
fn asked_by(asked: Option<&(Text, bool)>, to: &mut StateLines) {
    if let Some((by, for_venue)) = asked {
        to.say("asked by", by.bytes().escape_ascii());
        to.say("asked for", if *for_venue { "the venue" } else { "us" });
    }
}

pub(super) fn breaks(of: &OmsState, breaks: &VenueBreaks, to: &mut StateLines) {
    let VenueBreaks {
        all,
        numbers: _, // Derived from all of them.
        open: _,    // Derived from all of them.
    } = breaks;
    for (number, found) in all {
        let VenueBreak {
            kind,
            order,
            line,
            exec,
            filled,
            quantity,
            price,
            paid,
            status,
            total,
            opposite,
            ours,
            venue,
            since,
            is_alarmed,
            is_settled,
            asked_by: asked,
        } = found;
        let instrument = of.instrument_of(*order);
        to.of(format_args!("break with a venue {number}"));
        to.say("kind", kind);
        to.say("order", order);
        to.say("line", of.session_name(*line));
        to.some("execution", hash(*exec));
        to.some("CumQty", *filled);
        to.count("quantity", *quantity);
        if *price != 0 {
            to.say("price", of.price_in(instrument, *price));
        }
        to.some("paid", paid.map(|it| of.price_in(instrument, it)));
        if *status != 0 {
            to.say("OrdStatus", byte(*status));
        }
        to.count("total", *total);
        to.count("opposite", *opposite);
        to.text("ours", ours);
        to.text("of the venue", venue);
        to.say("since", since);
        to.flag("is alarmed", *is_alarmed);
        to.flag("is settled", *is_settled);
        asked_by(asked.as_ref(), to);
    }
}

pub(super) fn strays(of: &OmsState, all: &Strays, to: &mut StateLines) {
    let Strays {
        fills,
        undos,
        recalled,
    } = all;
    for (order, left) in recalled {
        to.of(format_args!("order that came back {order}"));
        to.say("left memory by event", left.unwrap_or(0));
    }
    for (number, undo) in undos {
        stray_undo(of, *number, undo, to);
    }
    for (number, stray) in fills {
        let Stray {
            line,
            account,
            instrument,
            side,
            effect,
            exec,
            quantity,
            price,
            id,
            asked_by: asked,
        } = stray;
        to.of(format_args!("fill of an unknown order {number}"));
        to.say("line", of.session_name(*line));
        to.say("account", of.account_name(*account));
        to.say("symbol", of.symbol(*instrument));
        to.say("side", byte(side.byte()));
        orders::effect(*effect, to);
        to.say("execution", Hash(*exec));
        to.say("quantity", quantity);
        to.say("price", of.price_in(*instrument, *price));
        to.text("ClOrdID at the venue", id);
        asked_by(asked.as_ref(), to);
    }
}

fn stray_undo(of: &OmsState, number: u64, undo: &StrayUndo, to: &mut StateLines) {
    let StrayUndo {
        line,
        order,
        is_correction,
        account,
        instrument,
        side,
        exec,
        of: fill_exec,
        quantity,
        price,
        filled,
        status,
        at,
        id,
        fill,
        text,
        asked_by: asked,
    } = undo;
    to.of(format_args!("bust of an unknown fill {number}"));
    to.say("line", of.session_name(*line));
    to.count("order", *order);
    to.flag("is a correction", *is_correction);
    if let Some(account) = account {
        to.say("account", of.account_name(*account));
    }
    if let Some(instrument) = instrument {
        to.say("symbol", of.symbol(*instrument));
    }
    if let Some(side) = side {
        to.say("side", byte(side.byte()));
    }
    to.say("execution", Hash(*exec));
    to.say("execution of the fill", Hash(*fill_exec));
    for (name, value) in [("quantity", quantity), ("filled", filled)] {
        // In units of the instrument, as all quantities.
        let units = instrument.and_then(|it| of.units(it, *value));
        match (units, value) {
            (Some(units), _) => to.say(name, units),
            (None, Some(value)) => to.say(name, value),
            (None, None) => {}
        }
    }
    if let Some(price) = price {
        to.say("price", price);
    }
    if *status != 0 {
        to.say("OrdStatus", byte(*status));
    }
    to.count("time", *at);
    to.text("ClOrdID at the venue", id);
    to.text("ExecID of the fill", fill);
    to.text("text", text);
    asked_by(asked.as_ref(), to);
}
