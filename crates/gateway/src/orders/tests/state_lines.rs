//! The orders of a gateway as lines `name=value`, for `gateway/tests/state_lines.rs`.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use std::format;

use fixwire_harness::worlds::{StateLines, shown};
use fixwire_protocol::SessionId;

use super::super::book::{Book, By, Chain, Link, Name, Queue};
use super::super::{OrderTracker, OrdersConfig, Rewriting, Venue};

/// Adds all orders and requests. Sessions are named by the caller.
pub(crate) fn add_orders(
    lines: &mut StateLines,
    session: &dyn Fn(SessionId) -> String,
    orders: &OrderTracker,
) {
    let OrderTracker {
        config,
        book,
        venues,
        // Follows from the message being handled.
        hashes: _,
        refused,
        rewritten,
        unsolicited,
    } = orders;
    lines.add("limits of orders", limits_text(config));
    lines.add("messages to venues refused", refused);
    lines.add("ids rewritten", rewritten);
    lines.add("unsolicited messages", unsolicited);
    for venue in venues {
        let Venue {
            id,
            next,
            rewriting,
        } = venue;
        let rewriting = rewriting.map_or("as others".to_string(), |ids| ids_text(&ids));
        lines.add(
            format_args!("venue {} next rewritten id", session(*id)),
            format_args!("{next}, ids {rewriting}"),
        );
    }
    let Book {
        // Names and chains are found through the lists of `queue`.
        names: _,
        chains: _,
        queues: _,
        // Storage, and the index that `is_indexed` reads.
        free: _,
        free_chains: _,
        text: _,
        id_max: _,
        places: _,
        hasher: _,
        kept,
        next_number,
        next_opened,
        live,
    } = book;
    lines.add("next request", next_number);
    lines.add("requests opened", next_opened);
    lines.add("live orders", live);
    for (client, count) in kept.iter().filter(|(_, count)| *count > 0) {
        lines.add(
            format_args!("requests of {} that may not be forgotten", session(*client)),
            count,
        );
    }
    for (queue, name) in [
        (Queue::Open, "open requests, the longest quiet first"),
        (Queue::Held, "closed requests that open ones need"),
        (
            Queue::Closed,
            "closed requests, the first to be forgotten first",
        ),
    ] {
        let numbers = book
            .queue(queue)
            .map(|place| book.name(place).number.to_string());
        lines.add(name, numbers.collect::<Vec<_>>().join(" "));
        for place in book.queue(queue) {
            add_name(lines, session, book, place);
        }
    }
}

fn add_name(
    lines: &mut StateLines,
    session: &dyn Fn(SessionId) -> String,
    book: &Book,
    place: u32,
) {
    let Name {
        number,
        client,
        venue,
        kind,
        purpose,
        state,
        began,
        touched,
        is_answered,
        opened,
        before,
        chain,
        needed,
        // See `add_held`.
        held: _,
        // Read by `id` and `is_indexed`.
        lens: _,
        indexed: _,
        // The lists of requests and `open_names` show these.
        queue: _,
        earlier: _,
        later: _,
        earlier_open: _,
        later_open: _,
    } = book.name(place);
    let request = |link: Link| match book.follow(link) {
        Some(_) => link.number.to_string(),
        None => "none".to_string(),
    };
    let mut add =
        |what: &str, value: String| lines.add(format_args!("request {number} {what}"), value);
    add("of", format!("{} at {}", session(*client), session(*venue)));
    add("is", format!("{kind:?} {purpose:?} {state:?}"));
    add("began", began.0.to_string());
    add("last message", touched.0.to_string());
    add("is answered", is_answered.to_string());
    if state.is_open() {
        add("opened", opened.to_string());
    }
    add("replaces or cancels request", request(*before));
    add("needed by open requests", needed.to_string());
    for (by, what) in [
        (By::Client, "client's id"),
        (By::Venue, "venue's id"),
        (By::OrderId, "OrderID"),
    ] {
        let is_found = book.is_indexed(place, by);
        // An OrderID that now belongs to another order is no longer written.
        if is_found || by != By::OrderId {
            let found = if is_found {
                ""
            } else {
                ", another request is found by it"
            };
            add(what, shown(book.id(place, by)) + found);
        }
    }
    let Some(chain) = book.chains.get(*chain as usize) else {
        return;
    };
    let Chain {
        id,
        within,
        // `open_names` lists these names in their order.
        first: _,
        last: _,
        open: _,
        names,
    } = chain;
    let open = book
        .open_names(place)
        .map(|open| book.name(open).number.to_string());
    let open = open.collect::<Vec<_>>().join(" ");
    add(
        "order",
        format!(
            "began with request {id}, requests {names}, open {open}, in list {}",
            request(*within)
        ),
    );
}

/// Adds whether the message of a request is held, which its queue says after a restart.
pub(crate) fn add_held(lines: &mut StateLines, orders: &OrderTracker) {
    let book = &orders.book;
    for queue in [Queue::Open, Queue::Held, Queue::Closed] {
        for place in book.queue(queue) {
            let Name { number, held, .. } = book.name(place);
            let name = format_args!("request {number} its message is held");
            lines.add(name, held.is_some());
        }
    }
}

/// Limits, and the form of ids at a venue.
pub(crate) fn limits_text(config: &OrdersConfig) -> String {
    let OrdersConfig {
        max_orders,
        max_sessions,
        max_id,
        rewriting,
        forget_quiet,
        // The key changes no result.
        hash_key: _,
    } = config;
    let quiet = forget_quiet.map_or("never".to_string(), |quiet| quiet.0.to_string());
    let ids = ids_text(rewriting);
    format!(
        "max_orders {max_orders} max_sessions {max_sessions} max_id {max_id} forget_quiet {quiet} ids {ids}"
    )
}

/// The form of ids at a venue.
pub(crate) fn ids_text(ids: &Rewriting) -> String {
    format!(
        "{:?} {} at most {} bytes",
        ids.when(),
        shown(ids.prefix()),
        ids.max_len()
    )
}
