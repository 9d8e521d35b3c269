//! Random calls to the book and to its slow twin: events and contents must be equal.

use alloc::vec::Vec;

use fixwire_random::Random;

use super::twin::Twin;
use crate::{
    Book, BookEvent, BookOrder, BookSettings, BookState, EntryOrder, OrderChange, PriceBand, Side,
    TimeInForce,
};

/// The number of calls; the environment can raise it.
const CALLS: usize = 100_000;
/// Calls to one pair of books. Short enough that the twin, which looks at every order, stays quick.
const CALLS_A_BOOK: usize = 500;

#[test]
fn the_book_and_its_slow_twin_report_and_hold_the_same() {
    let asked = std::env::var("BOOK_CALLS").ok();
    let calls = asked.map_or(CALLS, |calls| {
        calls.parse().expect("BOOK_CALLS is a number")
    });
    let mut trades = 0;
    for seed in 0..(calls / CALLS_A_BOOK) as u64 {
        trades += compare(seed);
    }
    // Calls that never trade would agree about nothing.
    assert!(trades > calls / 20, "{trades} trades in {calls} calls");
}

fn compare(seed: u64) -> usize {
    let mut random = Random::new(seed);
    let reference = random.one_in(2).then(|| random.price());
    let settings = BookSettings {
        reference,
        capacity: 0,
        ..BookSettings::default()
    };
    let (mut book, mut twin) = (Book::new(settings), Twin::new(reference));
    let mut events = Vec::new();
    let (mut ids, mut trades) = (0, 0);
    for call in 0..CALLS_A_BOOK {
        events.clear();
        twin.said.clear();
        step(&mut random, &mut book, &mut twin, &mut ids, &mut events);
        assert_eq!(events, twin.said, "seed {seed}, call {call}");
        assert_eq!(book.check(), Ok(()), "seed {seed}, call {call}");
        assert_eq!(book.state(), twin.state, "seed {seed}, call {call}");
        if call % 8 == 0 {
            assert_eq!(
                book.indicative(),
                twin.crossing(),
                "seed {seed}, call {call}"
            );
            assert_eq!(held(&book), twin_held(&twin), "seed {seed}, call {call}");
        }
        if call % 128 == 0 {
            book = copied(&book, settings);
        }
        let traded = |event: &&BookEvent| matches!(event, BookEvent::Trade { .. });
        trades += events.iter().filter(traded).count();
    }
    trades
}

/// One call, to both.
fn step(
    random: &mut Random,
    book: &mut Book,
    twin: &mut Twin,
    ids: &mut u64,
    events: &mut Vec<BookEvent>,
) {
    let sink = &mut |event| events.push(event);
    match random.below(100) {
        0..60 => {
            *ids += u64::from(!random.one_in(50));
            let order = random.order(*ids);
            book.enter(order, sink);
            twin.enter(order);
        }
        60..75 => {
            let id = random.recent(*ids);
            book.cancel(id, sink);
            twin.cancel(id);
        }
        75..92 => {
            let id = random.recent(*ids);
            let change = OrderChange {
                price: (!random.one_in(3)).then(|| random.price()),
                stop: random.one_in(8).then(|| random.price()),
                quantity: random.below(30),
            };
            book.replace(id, change, sink);
            twin.replace(id, change);
        }
        92..94 => {
            book.uncross(sink);
            twin.uncross();
        }
        94..95 => {
            let low = 90 + random.below(8) as i64;
            let high = 103 + random.below(8) as i64;
            book.set_band(PriceBand { low, high });
            twin.band = PriceBand { low, high };
        }
        _ => {
            let state = match random.below(10) {
                0..6 => BookState::Continuous,
                6..8 => BookState::AuctionCall,
                8 => BookState::Halted,
                _ => BookState::Closed,
            };
            book.set_state(state, sink);
            twin.set_state(state);
        }
    }
}

fn held(book: &Book) -> Vec<BookOrder> {
    let resting = book.resting(Side::Buy).chain(book.resting(Side::Sell));
    let waiting = book.waiting(Side::Buy).chain(book.waiting(Side::Sell));
    resting.chain(waiting).copied().collect()
}

fn twin_held(twin: &Twin) -> Vec<BookOrder> {
    let mut all = Vec::new();
    for waiting in [false, true] {
        for side in [Side::Buy, Side::Sell] {
            all.extend(twin.sorted(side, waiting));
        }
    }
    all
}

/// The same book out of what can be read of it, as after a restart.
fn copied(book: &Book, settings: BookSettings) -> Book {
    let mut copy = Book::new(BookSettings {
        state: book.state(),
        band: book.band(),
        ..settings
    });
    for order in held(book) {
        assert_eq!(copy.put_back(order), Ok(()));
    }
    copy.put_back_last(book.last(), book.swing());
    assert_eq!(copy.check(), Ok(()));
    copy
}

/// The same seed, the same calls.
trait Calls {
    fn price(&mut self) -> i64;
    fn recent(&mut self, ids: u64) -> u64;
    fn order(&mut self, id: u64) -> EntryOrder;
}

impl Calls for Random {
    fn price(&mut self) -> i64 {
        95 + self.below(11) as i64
    }

    /// One of the latest ids, most of which are in the book.
    fn recent(&mut self, ids: u64) -> u64 {
        ids.saturating_sub(self.below(40))
    }

    fn order(&mut self, id: u64) -> EntryOrder {
        EntryOrder {
            id,
            side: if self.one_in(2) {
                Side::Buy
            } else {
                Side::Sell
            },
            price: (!self.one_in(8)).then(|| self.price()),
            stop: self.one_in(6).then(|| self.price()),
            quantity: self.below(25),
            display: self.one_in(5).then(|| self.below(8)),
            time_in_force: match self.below(8) {
                0..5 => TimeInForce::Day,
                5 => TimeInForce::GoodTillCancel,
                6 => TimeInForce::ImmediateOrCancel,
                _ => TimeInForce::FillOrKill,
            },
        }
    }
}
