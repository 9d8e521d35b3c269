//! Auction calls: price determination and the resulting trades.

use super::script::{play, play_in, resting};
use crate::{Book, BookSettings, BookState};

fn call(reference: Option<i64>) -> Book {
    Book::new(BookSettings {
        state: BookState::AuctionCall,
        reference,
        ..BookSettings::default()
    })
}

#[test]
fn the_greatest_quantity_decides() {
    let book = play_in(
        call(None),
        "buy 1 5@102 => accepted 1
         buy 2 5@101 => accepted 2
         sell 3 4@100 => accepted 3
         sell 4 6@101 => accepted 4
         uncross => uncrossed 10@101 +0; crossed 4@101 1:1 3:0; crossed 1@101 1:0 4:5; crossed 5@101 2:0 4:0",
    );
    assert!(book.is_empty());
}

#[test]
fn then_the_smallest_surplus() {
    play_in(
        call(None),
        "buy 1 5@101 => accepted 1
         buy 2 3@100 => accepted 2
         sell 3 5@100 => accepted 3
         state continuous => uncrossed 5@101 +0; crossed 5@101 1:0 3:0",
    );
}

#[test]
fn then_the_side_that_has_more() {
    // From 99 to 101 five trade and two more are bought: the highest price. The other way round the lowest.
    play_in(
        call(Some(99)),
        "buy 1 7@101 => accepted 1
         sell 2 5@99 => accepted 2
         uncross => uncrossed 5@101 +2; crossed 5@101 1:2 2:0",
    );
    play_in(
        call(Some(101)),
        "buy 1 5@101 => accepted 1
         sell 2 7@99 => accepted 2
         uncross => uncrossed 5@99 -2; crossed 5@99 1:0 2:2",
    );
}

#[test]
fn then_the_price_nearest_to_the_reference() {
    let orders = "buy 1 5@104 => accepted 1
         sell 2 5@100 => accepted 2
         ";
    for (reference, price) in [
        (None, 100),
        (Some(90), 100),
        (Some(101), 101),
        (Some(104), 104),
        (Some(120), 104),
    ] {
        let end = alloc::format!("uncross => uncrossed 5@{price} +0; crossed 5@{price} 1:0 2:0");
        play_in(call(reference), &alloc::format!("{orders}{end}"));
    }
}

#[test]
fn market_orders_come_first_and_need_a_price_from_somewhere() {
    let market = "buy 1 5@mkt => accepted 1
         sell 2 3@mkt => accepted 2
         ";
    let nobody = "uncross => cancelled 1:5 NoLiquidity; cancelled 2:3 NoLiquidity";
    play_in(call(None), &alloc::format!("{market}{nobody}"));
    let reference = "uncross => uncrossed 3@70 +2; crossed 3@70 1:2 2:0; cancelled 1:2 NoLiquidity";
    play_in(call(Some(70)), &alloc::format!("{market}{reference}"));
    let book = play_in(
        call(None),
        "buy 1 5@100 => accepted 1
         buy 2 5@mkt => accepted 2
         sell 3 7@98 => accepted 3
         uncross => uncrossed 7@100 +3; crossed 5@100 2:0 3:2; crossed 2@100 1:3 3:0",
    );
    assert_eq!(resting(&book), "1:3@100 | ");
}

#[test]
fn a_call_gathers_and_continuous_trading_uncrosses() {
    let book = play_in(
        call(None),
        "buy 1 5@100 => accepted 1
         sell 2 3@90 => accepted 2
         buy 3 5@100 ioc => rejected 3: immediate orders are refused in an auction call
         buy 3 5@100 fok => rejected 3: immediate orders are refused in an auction call
         replace 2 2@95 => replaced 2:2 to the back
         state continuous => uncrossed 2@100 +3; crossed 2@100 1:3 2:0",
    );
    assert_eq!(resting(&book), "1:3@100 | ");
    assert_eq!(book.indicative(), None);
}

#[test]
fn hidden_quantity_takes_part() {
    let book = play_in(
        call(None),
        "buy 1 6@100 show=2 => accepted 1
         buy 2 2@100 => accepted 2
         sell 3 7@100 => accepted 3
         uncross => uncrossed 7@100 +1; crossed 2@100 1:4 3:5; crossed 2@100 2:0 3:3; \
crossed 2@100 1:2 3:1; crossed 1@100 1:1 3:0",
    );
    assert_eq!(resting(&book), "1:1@100 | ");
}

#[test]
fn a_halt_in_a_call_keeps_what_crosses_until_trading_goes_on() {
    play(
        "state call =>
         buy 1 5@100 => accepted 1
         sell 2 5@100 => accepted 2
         state halted =>
         uncross =>
         state continuous => uncrossed 5@100 +0; crossed 5@100 1:0 2:0",
    );
}
