//! All state of an exchange as sorted lines `name=value`, in the words of the field: sessions, lines and instruments by
//! their names, orders by OrderID(37), prices and quantities as decimals. It says nothing of how the state is stored.
//!
//! Each struct is taken apart field by field, so that a new field does not compile before it has a line, or is left out
//! here with its reason.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_book::{BookOrder, PriceBand, Side};
use fixwire_harness::worlds::{StateLines, shown};
use fixwire_protocol::SessionId;
use fixwire_tmp::LinkExchange;

use crate::Exchange;
use crate::config::state_name;
use crate::dialect::Dialect;
use crate::exchange::Seat;
use crate::exchange::feeds::{Feed, FeedBook};
use crate::faults::{FaultRule, Faults};
use crate::instrument::{DayTrades, Instrument, units};
use crate::market::trader::Trader;
use crate::market::{Market, Member};
use crate::orders::{Filled, Order, Orders};
use crate::outgoing::Report;
use crate::script::Asking;
use crate::scripted::{Asked, Scripted, ScriptedOrders};
use crate::tmp::bulletin::KeptBulletin;
use crate::tmp::copies::{CopySubscription, ReportCopies};
use crate::tmp::line::TmpLine;
use crate::tmp::store::TmpStore;
use crate::watch::{Watch, Watched};

/// The state that the journal keeps, and the state that ends with the process.
pub(super) fn state_lines(exchange: &Exchange) -> Vec<String> {
    let mut lines = StateLines::default();
    add_market(&mut lines, &exchange.market);
    add_running(&mut lines, exchange);
    lines.sorted()
}

/// The state that the journal keeps. It is the same after a restart.
pub(super) fn kept_lines(exchange: &Exchange) -> Vec<String> {
    let mut lines = StateLines::default();
    add_market(&mut lines, &exchange.market);
    lines.sorted()
}

/// Adds the state that ends with the process.
fn add_running(lines: &mut StateLines, exchange: &Exchange) {
    let Exchange {
        // Settings.
        config: _,
        scripts: _,
        // See `add_market`.
        market,
        seats,
        routes,
        is_listed,
        is_broken,
        // Buffers.
        note: _,
        actions: _,
        faults,
        lines: tmp_lines,
        watches,
        feeds,
        subscriptions,
        bulletins,
    } = exchange;
    let names = Names { market, exchange };
    lines.add("instruments of the settings are in the journal", is_listed);
    lines.add("journal cannot be read", is_broken);
    for seat in seats {
        let Seat {
            name,
            // Settings.
            dialect: _,
            digits: _,
            member,
        } = seat;
        let member = optional(member.map(|member| names.member(member)));
        lines.add(format_args!("session {name} is member"), member);
    }
    for (member, session) in routes {
        let member = names.member(*member);
        lines.add(
            format_args!("reports of member {member} go to"),
            names.session(*session),
        );
    }
    add_faults(lines, &names, faults);
    for line in tmp_lines {
        add_tmp_line(lines, line);
    }
    for (number, watch) in (1..).zip(watches) {
        let Watch { to, watched, said } = watch;
        let of = match watched {
            Watched::Symbol { id, symbol } => format!("e {} {}", shown(id), shown(symbol)),
            Watched::Session { id, session } => format!("g {} {}", shown(id), shown(session)),
            Watched::FlowGroup { id, flow_group } => format!("R11 {id} flow group {flow_group}"),
        };
        let said = said.map_or("not traded", state_name);
        let to = names.session(*to);
        lines.add(
            format_args!("status request {number:03}"),
            format_args!("{to}: {of}, last state sent {said}"),
        );
    }
    for (number, feed) in (1..).zip(&feeds.feeds) {
        let Feed {
            to,
            id,
            terms,
            updates,
            books,
        } = feed;
        let to = names.session(*to);
        let id = shown(id);
        lines.add(
            format_args!("market data request {number:03}"),
            format_args!("{to}: {id} {terms:?} {updates:?}"),
        );
        for book in books {
            let FeedBook {
                index,
                sent,
                is_stale,
                trades,
            } = book;
            let symbol = &market.instruments[*index].symbol;
            lines.add(
                format_args!("market data request {number:03} {symbol}"),
                format_args!("sent {sent:?}, stale {is_stale}, trades {trades:?}"),
            );
        }
    }
    for subscription in subscriptions {
        let CopySubscription {
            line,
            target_id,
            target,
            member,
            next,
            until,
            behind,
        } = subscription;
        let line = &tmp_lines[*line].name;
        let until = optional(until.map(|until| until.0));
        lines.add(
            format_args!("line {line} subscription target_id {target_id} of {member}"),
            format_args!(
                "{target:?}, next copy {next}, held until {until}, sent after the next {behind:?}"
            ),
        );
    }
    for bulletin in bulletins {
        let KeptBulletin { number, time, text } = bulletin;
        lines.add(
            format_args!("bulletin {number:05}"),
            format_args!("{time:?} {text}"),
        );
    }
}

fn add_faults(lines: &mut StateLines, names: &Names<'_>, faults: &Faults) {
    let Faults {
        rules,
        // The faults of the wire are the wire's.
        wire: _,
        fates,
        again,
    } = faults;
    for (number, rule) in (1..).zip(rules) {
        let FaultRule {
            // All of these are in its words.
            kind: _,
            session: _,
            msg_type: _,
            percent: _,
            delay: _,
            status: _,
            sets: _,
            words,
            count,
            random,
        } = rule;
        let count = optional(*count);
        lines.add(
            format_args!("fault {number:03}"),
            format_args!("{words}, left {count}, random {}", random.state()),
        );
    }
    // One for each queued report, in their order.
    for (number, fate) in (1..).zip(fates) {
        lines.add(
            format_args!("queued report {number:06} fault"),
            format_args!("{fate:?}"),
        );
    }
    for (number, (at, report)) in (1..).zip(again) {
        let report = report_text(names, report);
        lines.add(format_args!("report {number:06} again at {}", at.0), report);
    }
}

fn add_tmp_line(lines: &mut StateLines, line: &TmpLine) {
    let TmpLine {
        name,
        // Settings.
        settings: _,
        link,
        cancel_order_sec,
        last,
        refused,
        ending,
        asked,
    } = line;
    let mut add = |what: &str, value: String| lines.add(format_args!("line {name} {what}"), value);
    let link_text = |link: &LinkExchange| {
        let numbers = link.numbers();
        format!(
            "{:?}, locked {}, received {} sent {}, next timer {}",
            link.state(),
            link.is_locked(),
            numbers.inbound,
            numbers.outbound,
            optional(link.next_due())
        )
    };
    add("link", optional(link.as_ref().map(link_text)));
    add("cancel_order_sec", cancel_order_sec.to_string());
    add("last warning", last.clone());
    add("refused because", optional(*refused));
    add(
        "will be closed because",
        optional(ending.as_ref().map(|why| why.0)),
    );
    add("last R13 at", optional(asked.map(|at| at.0)));
}

fn add_market(lines: &mut StateLines, market: &Market) {
    let Market {
        members,
        instruments,
        orders,
        scripted,
        last_order,
        last_exec,
        waiting,
        links,
        copies,
        traders,
        // Writes texts.
        times: _,
        // For market data.
        tape: _,
    } = market;
    lines.add("last OrderID", last_order);
    lines.add("last ExecID", last_exec);
    let name = |number: u32| member_name(market, number);
    for (number, member) in (1..).zip(members) {
        let Member {
            name,
            dialect,
            digits,
        } = member;
        lines.add(
            format_args!("member {name}"),
            format_args!(
                "number {number} of the journal, {}, TransactTime(60) with {digits} digits",
                match dialect {
                    Dialect::Tmp => "TMP",
                    Dialect::Fix42 => "42",
                    Dialect::Fix43 => "43",
                    Dialect::Fix44 => "44",
                    Dialect::Fix50 => "50",
                    Dialect::Fix50Sp1 => "50 SP1",
                    Dialect::Fix50Sp2 => "50 SP2",
                }
            ),
        );
    }
    for instrument in instruments {
        add_instrument(lines, instrument);
    }
    add_orders(lines, market, orders);
    let ScriptedOrders { all, due } = scripted;
    for (id, scripted) in all {
        add_scripted(lines, *id, scripted);
    }
    for (at, id) in due {
        lines.add(format_args!("order {id} timer of its script"), at.0);
    }
    for (number, report) in (1..).zip(waiting) {
        let Report {
            member,
            msg_type,
            body,
        } = report;
        lines.add(
            format_args!("queued report {number:06}"),
            format_args!(
                "to {}: 35={}|{}",
                name(*member),
                shown(&[*msg_type]),
                shown(body)
            ),
        );
    }
    for (member, store) in links {
        let TmpStore {
            inbound,
            outbound,
            frames,
        } = store;
        let line = name(*member);
        lines.add(format_args!("line {line} MsgSeqNum received"), inbound);
        lines.add(format_args!("line {line} MsgSeqNum sent"), outbound);
        let first = u64::from(*outbound) + 1 - frames.len() as u64;
        for (number, frame) in (first..).zip(frames) {
            lines.add(format_args!("line {line} sent {number:06}"), shown(frame));
        }
    }
    for (index, trader) in traders {
        let Trader {
            terms,
            random,
            bid,
            quotes,
            due,
        } = trader;
        let symbol = &instruments[*index as usize].symbol;
        lines.add(
            format_args!("trader of {symbol}"),
            format_args!(
                "{terms:?}, random {random}, bid {bid}, quotes {quotes:?}, next step {}",
                due.0
            ),
        );
    }
    lines.add("copies are kept", copies.is_some());
    if let Some(ReportCopies { removed, reports }) = copies {
        lines.add("copies removed", removed);
        for (number, (member, frame)) in (removed + 1..).zip(reports) {
            let line = name(*member);
            lines.add(
                format_args!("copy {number:06}"),
                format_args!("of line {line}: {}", shown(frame)),
            );
        }
    }
}

fn add_instrument(lines: &mut StateLines, instrument: &Instrument) {
    let Instrument {
        symbol,
        tick,
        lot,
        book,
        noted,
        is_gone,
        legs,
        day,
    } = instrument;
    let mut add =
        |what: &str, value: String| lines.add(format_args!("instrument {symbol} {what}"), value);
    let price = |ticks: i64| price_text(instrument, ticks);
    let band = |band: PriceBand| {
        let PriceBand { low, high } = band;
        let limit = |ticks: i64, open: i64| {
            if ticks == open {
                "none".to_string()
            } else {
                price(ticks)
            }
        };
        format!(
            "{} to {}",
            limit(low, PriceBand::ANY.low),
            limit(high, PriceBand::ANY.high)
        )
    };
    add("tick", tick.to_string());
    add("lot", lot.to_string());
    add("is removed from the settings", is_gone.to_string());
    let leg = |leg: &crate::LegConfig| {
        let crate::LegConfig {
            symbol,
            buys,
            ratio,
        } = leg;
        format!("{} {ratio} {symbol}", if *buys { "buy" } else { "sell" })
    };
    add(
        "legs",
        optional(legs.as_ref().map(|legs| legs.each_ref().map(leg).join(" "))),
    );
    // The settings that were last in the journal, to compare those of the next start with.
    let settings = Instrument::read(noted).expect("it was read before");
    for (what, book) in [("", book), ("settings: ", &settings.book)] {
        let mut add = |name: &str, value: String| add(&format!("{what}{name}"), value);
        add("state", state_name(book.state()).to_string());
        add("band", band(book.band()));
        add("reference price", optional(book.reference().map(price)));
        add("most orders", book.orders_max().to_string());
    }
    add("last price", optional(book.last().map(price)));
    // Only what has traded has a line.
    if let Some(day) = day {
        let DayTrades {
            ticks,
            lots,
            opening,
            high,
            low,
            volume,
        } = day;
        let prices = [ticks, opening, high, low].map(|ticks| price(*ticks));
        let [lots, volume] = [lots, volume].map(|lots| quantity_text(instrument, *lots));
        add(
            "trading day",
            format!(
                "last quantity {lots}; last, opening, high, low {}; volume {volume}",
                prices.join(" ")
            ),
        );
    }
    let swing = book
        .swing()
        .map(|(low, high)| format!("{} {}", price(low), price(high)));
    add("lowest and highest price of the call", optional(swing));
    let order = |order: &BookOrder| {
        let BookOrder {
            id,
            side,
            price: limit,
            stop,
            quantity,
            filled,
            visible,
            display,
            time_in_force,
        } = order;
        let lots = |lots: u64| quantity_text(instrument, lots);
        format!(
            "{id} {side:?} at {} stop {} quantity {} filled {} visible {} of {} {time_in_force:?}",
            optional(limit.map(price)),
            optional(stop.map(price)),
            lots(*quantity),
            lots(*filled),
            lots(*visible),
            optional(display.map(lots))
        )
    };
    for (side, name) in [(Side::Buy, "buy"), (Side::Sell, "sell")] {
        let resting: Vec<String> = book.resting(side).map(order).collect();
        let stops: Vec<String> = book.waiting(side).map(order).collect();
        add(&format!("{name} orders by priority"), resting.join("; "));
        add(&format!("{name} stop orders by priority"), stops.join("; "));
    }
}

fn add_orders(lines: &mut StateLines, market: &Market, orders: &Orders) {
    let Orders {
        all,
        by_cl_ord_id,
        closed,
        remembered_max,
    } = orders;
    lines.add("most closed orders", remembered_max);
    let closed: Vec<String> = closed.iter().map(ToString::to_string).collect();
    lines.add("closed orders, the oldest first", closed.join(" "));
    for (member, ids) in market.members.iter().zip(by_cl_ord_id) {
        for (cl_ord_id, id) in ids {
            lines.add(
                format_args!(
                    "member {} ClOrdID {} is order",
                    member.name,
                    shown(cl_ord_id)
                ),
                id,
            );
        }
    }
    for (id, order) in all {
        add_order(lines, market, *id, order);
    }
}

fn add_order(lines: &mut StateLines, market: &Market, key: u64, order: &Order) {
    let Order {
        id,
        member,
        instrument,
        ids,
        account,
        side,
        ord_type,
        time_in_force,
        quantity,
        display,
        price,
        stop,
        filled,
        notional,
        fills,
        closed,
        pending,
    } = order;
    assert_eq!(*id, key);
    let instrument = &market.instruments[*instrument as usize];
    let lots = |lots: u64| quantity_text(instrument, lots);
    let ticks = |ticks: &i64| price_text(instrument, *ticks);
    let mut add = |what: &str, value: String| lines.add(format_args!("order {id} {what}"), value);
    let ids: Vec<String> = ids.iter().map(|id| shown(id)).collect();
    add("of", member_name(market, *member));
    add("Symbol", instrument.symbol.clone());
    add("ClOrdIDs", ids.join(" "));
    add("Account", shown(account));
    add(
        "Side OrdType TimeInForce",
        shown(&[*side, b' ', *ord_type, b' ', *time_in_force]),
    );
    add("OrderQty", lots(*quantity));
    add("shown quantity", optional(display.map(lots)));
    add("Price", optional(price.as_ref().map(ticks)));
    add("StopPx", optional(stop.as_ref().map(ticks)));
    add("CumQty", lots(*filled));
    add("ticks times lots of its trades", notional.to_string());
    let code = |code: Option<u8>| optional(code.map(|code| shown(&[code])));
    add("OrdStatus, closed", code(*closed));
    if closed.is_none() {
        add("OrdStatus, pending", code(*pending));
    }
    let fills = fills.iter().map(|fill| {
        let Filled {
            exec_id,
            lots: filled,
            ticks: price,
        } = fill;
        format!("ExecID {exec_id}: {} at {}", lots(*filled), ticks(price))
    });
    add("trades", fills.collect::<Vec<_>>().join("; "));
}

fn add_scripted(lines: &mut StateLines, id: u64, scripted: &Scripted) {
    let Scripted {
        script,
        // The same as values.
        steps: _,
        at,
        until,
        is_new,
        asked,
    } = scripted;
    let mut add = |what: &str, value: String| lines.add(format_args!("order {id} {what}"), value);
    let script: Vec<&str> = script.lines().collect();
    add("script", script.join("; "));
    add("next step of its script", (at + 1).to_string());
    add("waits until", optional(until.map(|until| until.0)));
    add("was reported as new", is_new.to_string());
    for (number, asked) in (1..).zip(asked) {
        let Asked {
            asking,
            is_pending,
            fields,
        } = asked;
        let asking = match asking {
            Asking::Cancel => "F",
            Asking::Replace => "G",
        };
        add(
            &format!("request {number}"),
            format!(
                "{asking} {} reported as pending {is_pending}",
                shown(fields)
            ),
        );
    }
}

/// Members and sessions by their names.
struct Names<'a> {
    market: &'a Market,
    exchange: &'a Exchange,
}

impl Names<'_> {
    fn member(&self, number: u32) -> String {
        member_name(self.market, number)
    }

    fn session(&self, id: SessionId) -> &str {
        match id.link() {
            Some(line) => &self.exchange.lines[line].name,
            None => &self.exchange.seats[id.0 as usize].name,
        }
    }
}

fn member_name(market: &Market, number: u32) -> String {
    let member = market.members.get(number as usize);
    member.map_or_else(|| format!("unknown member {number}"), |it| it.name.clone())
}

fn report_text(names: &Names<'_>, report: &Report) -> String {
    let Report {
        member,
        msg_type,
        body,
    } = report;
    format!(
        "to {}: 35={}|{}",
        names.member(*member),
        shown(&[*msg_type]),
        shown(body)
    )
}

/// A price; in ticks when it is too long for a decimal.
fn price_text(instrument: &Instrument, ticks: i64) -> String {
    let price = instrument.price(ticks);
    match units(price, instrument.tick) {
        Ok(same) if same == ticks => price.to_string(),
        _ => format!("{ticks} ticks"),
    }
}

/// A quantity; in lots when it is too long for a decimal.
fn quantity_text(instrument: &Instrument, lots: u64) -> String {
    let quantity = instrument.quantity(lots);
    match units(quantity, instrument.lot) {
        Ok(same) if u64::try_from(same) == Ok(lots) => quantity.to_string(),
        _ => format!("{lots} lots"),
    }
}

fn optional(value: Option<impl core::fmt::Display>) -> String {
    value.map_or("none".to_string(), |value| value.to_string())
}
