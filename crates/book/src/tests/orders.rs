//! Order types in continuous trading, cancels and replaces.

use alloc::vec::Vec;

use super::script::{play, play_in, resting};
use crate::{Book, BookOrder, BookSettings, RefusedOrder, Side, TimeInForce};

#[test]
fn price_comes_first_then_time() {
    let book = play(
        "sell 1 5@101 => accepted 1
         sell 2 5@100 => accepted 2
         sell 3 5@100 => accepted 3
         buy 4 12@101 => accepted 4; bought 5@100 4:7 2:0; bought 5@100 4:2 3:0; bought 2@101 4:0 1:3",
    );
    assert_eq!(resting(&book), " | 1:3@101");
    assert_eq!(book.last(), Some(101));
}

#[test]
fn a_limit_order_rests_with_what_it_could_not_trade() {
    let book = play(
        "buy 1 5@100 => accepted 1
         sell 2 8@100 => accepted 2; sold 5@100 1:0 2:3
         buy 3 1@99 => accepted 3",
    );
    assert_eq!(resting(&book), "3:1@99 | 2:3@100");
    let depth: Vec<_> = book.depth(Side::Sell).collect();
    assert_eq!(
        (depth[0].price, depth[0].total, depth[0].orders),
        (Some(100), 3, 1)
    );
}

#[test]
fn a_market_order_takes_every_price_and_never_rests() {
    let book = play(
        "buy 1 2@100 => accepted 1
         buy 2 2@50 => accepted 2
         sell 3 5@mkt => accepted 3; sold 2@100 1:0 3:3; sold 2@50 2:0 3:1; cancelled 3:1 NoLiquidity",
    );
    assert!(book.is_empty());
}

#[test]
fn immediate_or_cancel_leaves_nothing_behind() {
    play(
        "sell 1 2@100 => accepted 1
         buy 2 5@100 ioc => accepted 2; bought 2@100 2:3 1:0; cancelled 2:3 ImmediateOrCancel
         buy 3 5@100 ioc => accepted 3; cancelled 3:5 ImmediateOrCancel",
    );
}

#[test]
fn fill_or_kill_counts_hidden_quantity_but_no_price_beyond_its_limit() {
    let book = play(
        "sell 1 6@100 show=1 => accepted 1
         sell 2 5@101 => accepted 2
         buy 3 7@100 fok => accepted 3; cancelled 3:7 FillOrKill
         buy 4 2@100 fok => accepted 4; bought 1@100 4:1 1:5; bought 1@100 4:0 1:4
         buy 5 9@mkt fok => accepted 5; bought 1@100 5:8 1:3; bought 1@100 5:7 1:2; \
bought 1@100 5:6 1:1; bought 1@100 5:5 1:0; bought 5@101 5:0 2:0",
    );
    assert!(book.is_empty());
}

#[test]
fn an_iceberg_shows_a_slice_and_goes_to_the_back_with_the_next_one() {
    let book = play(
        "sell 1 10@100 show=3 => accepted 1
         sell 2 4@100 => accepted 2
         buy 3 5@100 => accepted 3; bought 3@100 3:2 1:7; bought 2@100 3:0 2:2
         buy 4 3@100 => accepted 4; bought 2@100 4:1 2:0; bought 1@100 4:0 1:6",
    );
    assert_eq!(resting(&book), " | 1:2+4@100");
}

#[test]
fn an_iceberg_that_comes_trades_in_full_and_then_shows_a_slice() {
    let book = play(
        "sell 1 4@100 => accepted 1
         buy 2 10@100 show=3 => accepted 2; bought 4@100 2:6 1:0",
    );
    assert_eq!(resting(&book), "2:3+3@100 | ");
}

#[test]
fn less_keeps_the_place_and_more_or_another_price_loses_it() {
    let book = play(
        "buy 1 5@100 => accepted 1
         buy 2 5@100 => accepted 2
         replace 1 3@= => replaced 1:3 in place
         replace 1 3@100 => replaced 1:3 in place
         replace 1 4@= => replaced 1:4 to the back
         replace 2 5@99 => replaced 2:5 to the back
         replace 2 5@100 => replaced 2:5 to the back",
    );
    assert_eq!(resting(&book), "1:4@100 2:5@100 | ");
}

#[test]
fn a_replaced_order_trades_at_its_new_price_and_counts_what_it_has_traded() {
    let book = play(
        "buy 1 5@100 => accepted 1
         sell 2 2@100 => accepted 2; sold 2@100 1:3 2:0
         sell 3 9@102 => accepted 3
         replace 1 2@= => rejected 1: quantity must be greater than the traded quantity
         replace 1 6@102 => replaced 1:4 to the back; bought 4@102 1:0 3:5",
    );
    assert_eq!(resting(&book), " | 3:5@102");
}

#[test]
fn an_iceberg_has_a_bounded_number_of_slices() {
    play(
        "sell 1 2002@100 show=2 => rejected 1: display quantity does not fit the order
         sell 1 2000@100 show=2 => accepted 1
         replace 1 2002@= => rejected 1: display quantity does not fit the order
         replace 1 2001@= => replaced 1:2001 to the back",
    );
}

#[test]
fn an_iceberg_gives_up_hidden_quantity_first() {
    let book = play(
        "sell 1 10@100 show=4 => accepted 1
         replace 1 5@= => replaced 1:5 in place",
    );
    assert_eq!(resting(&book), " | 1:4+1@100");
    let book = play_in(book, "replace 1 2@= => replaced 1:2 in place");
    assert_eq!(resting(&book), " | 1:2@100");
}

#[test]
fn requests_that_make_no_sense_are_refused_and_change_nothing() {
    let book = play(
        "buy 1 5@100 => accepted 1
         buy 1 5@101 => rejected 1: duplicate order
         buy 2 0@100 => rejected 2: quantity is zero
         buy 2 5@100 show=6 => rejected 2: display quantity does not fit the order
         buy 2 5@100 show=0 => rejected 2: display quantity does not fit the order
         buy 2 5@mkt show=1 => rejected 2: display quantity does not fit the order
         buy 2 5@100 show=1 ioc => rejected 2: display quantity does not fit the order
         cancel 2 => rejected 2: unknown order
         replace 2 1@= => rejected 2: unknown order
         replace 1 0@= => rejected 1: quantity is zero
         replace 1 5@= stop=9 => rejected 1: order is not waiting for a stop price
         cancel 1 => cancelled 1:5 Requested
         cancel 1 => rejected 1: unknown order",
    );
    assert!(book.is_empty());
}

#[test]
fn prices_outside_the_band_are_refused_and_orders_inside_stay_when_it_moves() {
    let book = play(
        "band 90..110 =>
         buy 1 5@89 => rejected 1: price is outside the price band
         buy 2 5@90 => accepted 2
         sell 3 5@111 => rejected 3: price is outside the price band
         sell 4 5@110 => accepted 4
         sell 5 5@90 stop=89 => rejected 5: price is outside the price band
         replace 4 5@111 => rejected 4: price is outside the price band
         band 95..105 =>
         replace 4 4@= => replaced 4:4 in place
         buy 6 1@mkt => accepted 6; bought 1@110 6:0 4:3",
    );
    assert_eq!(resting(&book), "2:5@90 | 4:3@110");
}

#[test]
fn the_prices_that_stand_for_market_are_no_limits() {
    for price in [i64::MIN, i64::MAX] {
        let call = alloc::format!(
            "buy 1 1@{price} => rejected 1: price is outside the price band
             sell 1 1@{price} => rejected 1: price is outside the price band"
        );
        play(&call);
    }
}

#[test]
fn a_halt_takes_cancels_only() {
    play(
        "buy 1 5@100 => accepted 1
         buy 2 5@100 => accepted 2
         state halted =>
         buy 3 5@100 => rejected 3: trading is halted or closed
         replace 1 4@= => rejected 1: trading is halted or closed
         cancel 1 => cancelled 1:5 Requested
         state continuous =>
         sell 4 5@100 => accepted 4; sold 5@100 2:0 4:0",
    );
}

#[test]
fn orders_of_the_day_expire_when_the_book_is_closed() {
    let book = play(
        "buy 1 5@100 => accepted 1
         buy 2 5@100 gtc => accepted 2
         sell 3 5@105 => accepted 3
         buy 4 1@mkt stop=120 => accepted 4
         buy 5 1@mkt stop=120 gtc => accepted 5
         state closed => cancelled 1:5 Expired; cancelled 3:5 Expired; cancelled 4:1 Expired
         cancel 5 => cancelled 5:1 Requested",
    );
    assert_eq!(resting(&book), "2:5@100 | ");
}

#[test]
fn a_full_book_takes_no_more() {
    let book = Book::new(BookSettings {
        orders_max: 1,
        ..BookSettings::default()
    });
    play_in(
        book,
        "buy 1 5@100 => accepted 1
         buy 2 5@100 => rejected 2: the book is full
         cancel 1 => cancelled 1:5 Requested
         buy 2 5@100 => accepted 2",
    );
}

#[test]
fn quantities_up_to_the_largest_are_summed_exactly() {
    let most = u64::MAX;
    let script = alloc::format!(
        "sell 1 {most}@100 => accepted 1
         sell 2 {most}@100 => accepted 2
         buy 3 {most}@100 => accepted 3; bought {most}@100 3:0 1:0"
    );
    let book = play(&script);
    let depth = book.depth(Side::Sell).next();
    assert_eq!(depth.map(|it| it.total), Some(u128::from(most)));
}

#[test]
fn a_copy_refuses_orders_that_no_book_could_have() {
    let good = BookOrder {
        id: 1,
        side: Side::Buy,
        price: Some(5),
        stop: None,
        quantity: 4,
        filled: 1,
        visible: 3,
        display: None,
        time_in_force: TimeInForce::Day,
    };
    let wrong = [
        (BookOrder { filled: 4, ..good }, RefusedOrder::AlreadyFilled),
        (BookOrder { visible: 2, ..good }, RefusedOrder::Display),
        (
            BookOrder {
                stop: Some(7),
                ..good
            },
            RefusedOrder::Display,
        ),
        (
            BookOrder {
                price: Some(i64::MAX),
                ..good
            },
            RefusedOrder::OutsideBand,
        ),
    ];
    let mut book = Book::new(BookSettings::default());
    for (order, reason) in wrong {
        assert_eq!(book.put_back(order), Err(reason));
    }
    assert_eq!(book.put_back(good), Ok(()));
    assert_eq!(book.put_back(good), Err(RefusedOrder::DuplicateId));
    assert_eq!(book.check(), Ok(()));
}
