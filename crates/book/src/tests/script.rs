//! Calls and events of a book in short lines, so that a test reads as a table.
//!
//! ```text
//! buy 1 5@100            order 1 buys 5 at 100, for the day
//! sell 2 5@mkt ioc       also: fok, gtc, stop=99, show=2
//! cancel 1
//! replace 1 3@99         also stop=98; 3@= leaves the price
//! state call             also: continuous, halted, closed
//! uncross
//! band 90..110
//! ```

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::{
    Book, BookEvent, BookOrder, BookSettings, BookState, EntryOrder, OrderChange, PriceBand, Side,
    TimeInForce,
};

/// Plays the lines, each with what it must report: `line => event; event`.
pub(super) fn play(script: &str) -> Book {
    play_in(Book::new(BookSettings::default()), script)
}

/// The same with a book that is given.
pub(super) fn play_in(mut book: Book, script: &str) -> Book {
    let lines = script.lines().map(str::trim);
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (call, expected) = line.split_once("=>").expect("a line has =>");
        let mut events = Vec::new();
        say(&mut book, call.trim(), &mut |event| {
            events.push(shown(event))
        });
        assert_eq!(events.join("; "), expected.trim(), "{call}");
        if let Err(problem) = book.check() {
            panic!("{call}: {problem}");
        }
    }
    book
}

/// The book in one line: what rests on the buying side, then on the selling side.
pub(super) fn resting(book: &Book) -> String {
    let side = |side| {
        let orders = book.resting(side).map(order).collect::<Vec<_>>();
        orders.join(" ")
    };
    format!("{} | {}", side(Side::Buy), side(Side::Sell))
}

fn order(order: &BookOrder) -> String {
    let price = order.price.map_or("mkt".to_string(), |it| it.to_string());
    let hidden = order.leaves() - order.visible;
    let hidden = if hidden > 0 {
        format!("+{hidden}")
    } else {
        String::new()
    };
    format!("{}:{}{hidden}@{price}", order.id, order.visible)
}

fn say(book: &mut Book, call: &str, sink: &mut impl FnMut(BookEvent)) {
    let words: Vec<&str> = call.split(' ').collect();
    let id = || words[1].parse().expect("an id");
    match words[0] {
        "buy" => book.enter(entry(Side::Buy, id(), &words[2..]), sink),
        "sell" => book.enter(entry(Side::Sell, id(), &words[2..]), sink),
        "cancel" => book.cancel(id(), sink),
        "replace" => {
            let (quantity, price) = words[2].split_once('@').expect("quantity@price");
            let change = OrderChange {
                price: price.parse().ok(),
                stop: words.get(3).map(|word| number(word, "stop=")),
                quantity: quantity.parse().expect("a quantity"),
            };
            book.replace(id(), change, sink);
        }
        "state" => book.set_state(state(words[1]), sink),
        "uncross" => book.uncross(sink),
        "band" => {
            let (low, high) = words[1].split_once("..").expect("low..high");
            let [low, high] = [low, high].map(|it| it.parse().expect("a price"));
            book.set_band(PriceBand { low, high });
        }
        other => panic!("{other}: no such call"),
    }
}

fn entry(side: Side, id: u64, words: &[&str]) -> EntryOrder {
    let (quantity, price) = words[0].split_once('@').expect("quantity@price");
    let mut order = EntryOrder::market(id, side, quantity.parse().expect("a quantity"));
    order.price = price.parse().ok();
    for word in &words[1..] {
        order = match *word {
            "ioc" => order.with_time_in_force(TimeInForce::ImmediateOrCancel),
            "fok" => order.with_time_in_force(TimeInForce::FillOrKill),
            "gtc" => order.with_time_in_force(TimeInForce::GoodTillCancel),
            word if word.starts_with("stop=") => order.with_stop(number(word, "stop=")),
            word => order.with_display(number(word, "show=")),
        };
    }
    order
}

fn number<T: core::str::FromStr>(word: &str, name: &str) -> T {
    let digits = word.strip_prefix(name);
    let value = digits.and_then(|digits| digits.parse().ok());
    value.unwrap_or_else(|| panic!("{word} is no {name}"))
}

fn state(word: &str) -> BookState {
    match word {
        "continuous" => BookState::Continuous,
        "call" => BookState::AuctionCall,
        "halted" => BookState::Halted,
        "closed" => BookState::Closed,
        other => panic!("{other}: no such state"),
    }
}

fn shown(event: BookEvent) -> String {
    match event {
        BookEvent::Accepted { id } => format!("accepted {id}"),
        BookEvent::Rejected { id, reason, .. } => format!("rejected {id}: {reason}"),
        BookEvent::Trade {
            price,
            quantity,
            buy,
            buy_leaves,
            sell,
            sell_leaves,
            aggressor,
        } => {
            let taken = match aggressor {
                Some(Side::Buy) => "bought",
                Some(Side::Sell) => "sold",
                None => "crossed",
            };
            format!("{taken} {quantity}@{price} {buy}:{buy_leaves} {sell}:{sell_leaves}")
        }
        BookEvent::Cancelled { id, leaves, reason } => {
            format!("cancelled {id}:{leaves} {reason:?}")
        }
        BookEvent::Replaced {
            id,
            leaves,
            kept_priority,
        } => {
            let place = if kept_priority {
                "in place"
            } else {
                "to the back"
            };
            format!("replaced {id}:{leaves} {place}")
        }
        BookEvent::Triggered { id } => format!("triggered {id}"),
        BookEvent::Uncrossed(at) => {
            format!("uncrossed {}@{} {:+}", at.quantity, at.price, at.surplus)
        }
    }
}
