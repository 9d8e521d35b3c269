//! Does an order allocate memory once the book is warm?

use fixwire_book::{Book, BookSettings, EntryOrder, OrderChange, Side};

/// Enters, changes, trades and cancels orders at prices that the book has.
fn round(book: &mut Book, first: u64) {
    let mut trades = 0;
    for id in first..first + 100 {
        book.enter(EntryOrder::limit(id, Side::Sell, 101, 5), &mut |_| {});
        let change = OrderChange {
            price: Some(102),
            stop: None,
            quantity: 6,
        };
        book.replace(id, change, &mut |_| {});
        let buy = EntryOrder::limit(id + 1000, Side::Buy, 100, 7).with_display(2);
        book.enter(buy, &mut |_| {});
    }
    for id in first + 100..first + 150 {
        book.enter(EntryOrder::market(id, Side::Buy, 6), &mut |_| trades += 1);
        book.cancel(id - 50, &mut |_| {});
        book.cancel(id + 900, &mut |_| {});
        book.cancel(id + 950, &mut |_| {});
    }
    assert!(trades >= 100, "{trades} events");
}

#[test]
fn a_warm_book_allocates_nothing() {
    let mut book = Book::new(BookSettings::default());
    // One order stays at each price, so that no level comes or goes.
    for (id, side, price) in [
        (1, Side::Buy, 100),
        (2, Side::Sell, 101),
        (3, Side::Sell, 102),
    ] {
        book.enter(EntryOrder::limit(id, side, price, u64::MAX), &mut |_| {});
    }
    round(&mut book, 10_000);
    let info = allocation_counter::measure(|| round(&mut book, 20_000));
    assert_eq!(info.count_total, 0);
    assert_eq!(book.check(), Ok(()));
}
