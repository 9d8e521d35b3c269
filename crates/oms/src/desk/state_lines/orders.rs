//! Orders, their requests and fills; ids, pools, conditions, families, quotes, inquiries, spreads.

use super::line::{Hash, Name, OrderNo, Scaled, StateLines, byte, hash};
use super::scopes;
use crate::state::OmsState;
use crate::state::conditions::{Condition, Conditions, Stage};
use crate::state::inquiries::{Inquiries, Inquiry};
use crate::state::leg_fills::{LegFill, LegFills};
use crate::state::orders::fills::{Fill, Fills};
use crate::state::orders::ids::{Ids, RejectedFor, Used};
use crate::state::orders::transition::OrderState;
use crate::state::orders::used_execs::UsedExecs;
use crate::state::orders::waiting::QueueTime;
use crate::state::orders::{Order, Orders, Pended, Placement, Request, Retry};
use crate::state::parents::{Families, Parent};
use crate::state::pools::Pool;
use crate::state::quotes::{KnownQuote, QuoteSide, Quotes};
use crate::state::spreads::{LegSource, OrderLegs, SpreadLeg, Spreads};
use crate::values::ids::{InstrumentNo, PoolNo, Table};
use crate::values::names::Names;
use crate::values::value::{Effect, Price};

pub(super) fn ids(of: &Ids, to: &mut StateLines) {
    let Ids {
        key,
        used,
        last: _,
        last_order: _,
    } = of;
    to.of(format_args!("ids"));
    to.say("key", format_args!("{key:032x}"));
    for Used { hash, by } in used {
        to.of(format_args!("id {}", Hash(*hash)));
        match (by.order(), by.why()) {
            (0, None) => to.say("is", "a request"),
            (0, Some(RejectedFor::Reason(reason))) => {
                to.say(
                    "is",
                    format_args!("rejected: {} {}", reason.why.text(), reason.value),
                );
            }
            (0, Some(RejectedFor::Why(why))) => {
                to.say("is", format_args!("rejected: {}", why.text()));
            }
            (order, _) => to.say("is", OrderNo(order)),
        }
    }
}

pub(super) fn used_execs(of: &UsedExecs, to: &mut StateLines) {
    let UsedExecs { today, before } = of;
    for (day, execs) in [("today", today), ("the day before", before)] {
        for exec in execs {
            to.of(format_args!("execution {}", Hash(*exec)));
            to.say("of", day);
        }
    }
}

pub(super) fn state(of: OrderState) -> &'static str {
    match of {
        OrderState::Parent => "parent",
        OrderState::Held => "held",
        OrderState::Queued => "queued",
        OrderState::Sent => "sent",
        OrderState::Unknown => "unknown",
        OrderState::Working => "working",
        OrderState::DoneForDay => "done for the day",
        OrderState::Lapsed => "lapsed",
        OrderState::Ended(end) => ended(end),
    }
}

fn ended(end: crate::End) -> &'static str {
    match end {
        crate::End::Filled => "filled",
        crate::End::Cancelled => "cancelled",
        crate::End::Rejected => "rejected",
        crate::End::Expired => "expired",
        crate::End::DoneForDay => "ended done for the day",
    }
}

pub(super) fn effect(of: Effect, to: &mut StateLines) {
    if of != Effect::Netting {
        to.say("position effect", byte(of.byte()));
    }
}

/// Adds when the order or request was queued, or the time after which it must not be sent.
fn queued(of: QueueTime, to: &mut StateLines) {
    match of {
        QueueTime::None => {}
        QueueTime::Since(at) => to.say("queued at", at),
        QueueTime::Until(at) => to.say("valid until", at),
    }
}

pub(super) fn orders(of: &OmsState, all: &Orders, to: &mut StateLines) {
    let Orders {
        orders,
        requests,
        fills,
        places: _,         // Derived from orders.
        last_found: _,     // A hint.
        last_request: _,   // A hint.
        request_places: _, // Derived from requests.
        ended,
        kept,
        next_ended: _, // Derived from these.
        last_ended: _, // What the last event has closed.
    } = all;
    for known in orders.iter() {
        order(of, known, to);
    }
    let known = orders.iter().filter(|it| all.request_of(it).is_some());
    to.of(format_args!("orders"));
    to.count("in memory", orders.len());
    to.count("with a request", known.count());
    to.count("requests", requests.len());
    let Fills { kept: of_all, .. } = fills;
    to.count("fills", of_all.len());
    to.each("closed", all.ended());
    debug_assert_eq!(all.ended().len(), ended.len() + kept.len());
    for number in kept.keys() {
        to.of(format_args!("order {number}"));
        to.say("stays in memory", "yes");
    }
}

fn order(of: &OmsState, known: &Order, to: &mut StateLines) {
    let Order {
        number,
        current,
        session,
        account,
        instrument,
        placement,
        side,
        kind,
        tif,
        until,
        effect: effect_of,
        state: state_of,
        price,
        stop,
        hold,
        quantity,
        filled,
        paid,
        id,
        venue_id,
        request: _,   // Below.
        last_fill: _, // Below.
        pended,
        asked,
        withdrawn,
        replaces,
        queued: queued_at,
        retry,
        pool_number,
        pool,
        own_number,
        triggered,
        quote_side,
        marks,
    } = known;
    to.of(format_args!("order {number}"));
    to.say("number at the venue", current);
    to.say("session", of.session_name(*session));
    to.say("account", of.account_name(*account));
    to.say("symbol", of.symbol(*instrument));
    match *placement {
        Placement::Unsent => {}
        Placement::Line(line) => to.say("line", of.session_name(line)),
        Placement::Elsewhere => to.say("placed elsewhere", "yes"),
    }
    to.say("side", byte(side.byte()));
    to.say("type", byte(kind.byte()));
    to.say("time in force", byte(tif.byte()));
    to.some("expire date", *until);
    effect(*effect_of, to);
    to.say("state", state(*state_of));
    for (what, price) in [("price", price), ("stop", stop), ("reserved at", hold)] {
        if *price != 0 {
            to.say(what, of.price_in(*instrument, *price));
        }
    }
    to.say("quantity", quantity);
    to.count("filled", *filled);
    if *paid != 0 {
        to.say("paid", of.price_in(*instrument, *paid));
    }
    to.text("ClOrdID", id);
    to.text("OrderID of the venue", venue_id);
    to.count("status asked at", *asked);
    to.flag("is withdrawn", *withdrawn);
    to.count("replaces", *replaces);
    queued(*queued_at, to);
    to.text("pool number", pool_number);
    to.some("pool", pool.map(|pool| pool_name(&of.pool_names, pool)));
    to.flag("number of the client", *own_number);
    to.flag("was triggered", *triggered);
    match quote_side {
        QuoteSide::None => {}
        QuoteSide::Bid => to.say("of a quote", "bid"),
        QuoteSide::Offer => to.say("of a quote", "offer"),
    }
    scopes::marks(marks, to);
    waits(of, (pended.as_deref(), retry.as_deref()), to);
    for (place, fill) in (1_u64..).zip(of.orders.fills_of(*number)) {
        fill_of(of, (*number, *instrument), (place, fill), to);
    }
    if let Some(request) = of.orders.request_of(known) {
        request_of(of, (*number, *instrument), request, to);
    }
}

/// Adds what an order waits for: missing fills before a final state, or a retry.
fn waits(of: &OmsState, (pended, retry): (Option<&Pended>, Option<&Retry>), to: &mut StateLines) {
    if let Some(pended) = pended {
        let Pended {
            how,
            request,
            filled,
            at,
        } = pended;
        to.say("waits for fills", ended(*how));
        to.some("waits for fills of request", *request);
        to.say("waits for fills until filled", filled);
        to.say("waits for fills since", at);
    }
    if let Some(retry) = retry {
        let Retry {
            attempt,
            tries,
            due,
            not_on,
        } = retry;
        to.say("attempt", attempt);
        to.say("tries", tries);
        to.say("retry due", due);
        to.some("retry not on", not_on.map(|it| of.session_name(it)));
    }
}

/// Adds a fill. The last fill of an order has the number 1.
fn fill_of(
    of: &OmsState,
    (order, instrument): (u64, InstrumentNo),
    (place, fill): (u64, &Fill),
    to: &mut StateLines,
) {
    let Fill {
        exec,
        quantity,
        price,
        report,
        undone,
    } = fill;
    to.of(format_args!("order {order} fill {}", Hash(*exec)));
    to.say("from the last", place);
    to.count("quantity", *quantity);
    if *price != 0 {
        to.say("price", of.price_in(instrument, *price));
    }
    to.count("report", *report);
    to.some("undone by", hash(*undone));
}

fn request_of(
    of: &OmsState,
    (order, instrument): (u64, InstrumentNo),
    request: &Request,
    to: &mut StateLines,
) {
    let Request {
        number,
        order: _, // It is that of which this is the request.
        kind,
        state: state_of,
        quantity,
        price,
        hold,
        id,
        queued: queued_at,
    } = request;
    to.of(format_args!("order {order} request"));
    to.say("number", number);
    to.say("kind", byte(kind.byte()));
    to.say("state", state(*state_of));
    to.count("quantity", *quantity);
    for (what, price) in [("price", price), ("reserved at", hold)] {
        if *price != 0 {
            to.say(what, of.price_in(instrument, *price));
        }
    }
    to.text("ClOrdID", id);
    queued(*queued_at, to);
}

fn pool_name(names: &Names<PoolNo>, pool: PoolNo) -> Name<'_> {
    match names.name(pool) {
        b"" => Name::Unknown(pool.place()),
        name => Name::Known(name),
    }
}

pub(super) fn pools(names: &Names<PoolNo>, all: &Table<PoolNo, Pool>, to: &mut StateLines) {
    for (index, pool) in all.numbered() {
        let Pool {
            form,
            tag,
            first,
            last,
            each_day,
            next,
            own,
            is_low,
        } = pool;
        to.of(format_args!("pool {}", pool_name(names, index)));
        to.say("form", Hash(*form));
        to.say("tag", tag);
        to.say("first", first);
        to.say("last", last);
        to.say("next", next);
        to.flag("begins each day", *each_day);
        to.flag("is low", *is_low);
        for number in own {
            to.say("chosen by a client", number);
        }
    }
}

pub(super) fn conditions(of: &OmsState, conditions: &Conditions, to: &mut StateLines) {
    let Conditions {
        all,
        waiting: _, // Derived from all of them.
        touched: _, // Derived from all of them.
        held: _,    // Derived from all of them.
    } = conditions;
    for (order, condition) in all {
        let Condition {
            session,
            instrument,
            field,
            rises,
            price,
            stage,
        } = condition;
        to.of(format_args!("condition of order {order}"));
        to.say("session", of.session_name(*session));
        to.say("symbol", of.symbol(*instrument));
        let rises = if *rises { ">=" } else { "<=" };
        let price = of.price_in(*instrument, *price);
        to.say("is", format_args!("{field}{rises}{price}"));
        to.say(
            "stage",
            match stage {
                Stage::Waiting => "waiting",
                Stage::Touched => "touched",
                Stage::Triggered => "triggered",
                Stage::Over => "over",
            },
        );
    }
}

pub(super) fn families(of: &OmsState, families: &Families, to: &mut StateLines) {
    let Families {
        parents,
        parent_of: _, // Derived from parents.
        open,
    } = families;
    for (order, parent) in parents {
        let Parent {
            session,
            is_open,
            held,
            children,
        } = parent;
        to.of(format_args!("parent {order}"));
        to.say("session", of.session_name(*session));
        to.flag("is open", *is_open);
        to.count("held by children", *held);
        for child in children {
            to.say("child", child);
        }
    }
    for (session, open) in open {
        to.of(format_args!("session {}", of.session_name(*session)));
        to.count("open parents", *open);
    }
}

pub(super) fn quotes(of: &OmsState, quotes: &Quotes, to: &mut StateLines) {
    let Quotes {
        all,
        current,
        inquiries: of_prices,
    } = quotes;
    for (bid, quote) in all {
        let KnownQuote {
            session,
            account,
            instrument,
            id,
            orders,
        } = quote;
        to.of(format_args!("quote of order {bid}"));
        to.say("session", of.session_name(*session));
        to.say("account", of.account_name(*account));
        to.say("symbol", of.symbol(*instrument));
        to.text("QuoteID", id);
        to.say("orders in memory", orders);
        let key = (*session, *account, *instrument);
        to.flag("is the last one", current.get(&key) == Some(bid));
    }
    inquiries(of, of_prices, to);
}

fn inquiries(of: &OmsState, all: &Inquiries, to: &mut StateLines) {
    let Inquiries(all) = all;
    for (number, inquiry) in all {
        let Inquiry {
            session,
            instrument,
            line,
            at,
            id,
            order_no,
        } = inquiry;
        to.of(format_args!("inquiry {number}"));
        to.say("session", of.session_name(*session));
        to.say("symbol", of.symbol(*instrument));
        to.say("line", of.session_name(*line));
        to.say("sent at", at);
        to.text("QuoteReqID", id);
        to.text("pool number", order_no);
    }
}

pub(super) fn spreads(of: &OmsState, spreads: &Spreads, to: &mut StateLines) {
    let Spreads {
        legs,
        orders,
        waiting: _, // Derived from orders.
        fills,
    } = spreads;
    for (spread, legs) in legs {
        for (place, leg) in (1..).zip(legs) {
            let SpreadLeg {
                instrument,
                side,
                ratio,
            } = leg;
            to.of(format_args!("spread {} leg {place}", of.symbol(*spread)));
            to.say("symbol", of.symbol(*instrument));
            to.say("side", byte(side.byte()));
            to.say("ratio", ratio);
        }
    }
    for (order, legs) in orders {
        order_legs(of, *order, legs, to);
    }
    leg_fills(of, fills, to);
}

/// A price of a leg of an order of a spread.
fn leg_price(of: &OmsState, (order, leg): (u64, usize), price: impl Into<i128>) -> Scaled {
    let instrument = of.instrument_of(order);
    let legs = instrument.and_then(|instrument| of.spreads.legs(instrument));
    let leg = legs.and_then(|legs| legs.get(leg));
    of.price_in(leg.map(|leg| leg.instrument), price)
}

fn order_legs(of: &OmsState, order: u64, legs: &OrderLegs, to: &mut StateLines) {
    let OrderLegs {
        filled,
        paid,
        exposed,
        source,
        since,
        is_reported,
    } = legs;
    to.of(format_args!("order {order} legs"));
    match source {
        LegSource::Unknown => {}
        LegSource::Reports => to.say("reported", "by themselves"),
        LegSource::Fills => to.say("reported", "with the fills"),
    }
    to.count("differ since", *since);
    to.flag("difference is reported", *is_reported);
    for leg in 0..2 {
        to.of(format_args!("order {order} leg {}", leg + 1));
        to.count("filled", filled[leg]);
        to.count("exposed", exposed[leg]);
        if paid[leg] != 0 {
            to.say("paid", leg_price(of, (order, leg), paid[leg]));
        }
    }
}

fn leg_fills(of: &OmsState, fills: &LegFills, to: &mut StateLines) {
    let LegFills(fills) = fills;
    for ((order, exec), fill) in fills {
        let LegFill {
            leg,
            quantity,
            price,
            report,
            undone,
        } = fill;
        to.of(format_args!("order {order} fill of a leg {}", Hash(*exec)));
        to.say("leg", leg + 1);
        to.say("quantity", quantity);
        let price: Price = *price;
        to.say("price", leg_price(of, (*order, (*leg).into()), price));
        to.count("report", *report);
        to.some("undone by", hash(*undone));
    }
}
