//! Stop orders.

use super::script::{play, resting};
use crate::Side;

#[test]
fn a_stop_order_waits_for_a_trade_and_then_takes_every_price() {
    let book = play(
        "buy 1 5@100 => accepted 1
         buy 2 5@95 => accepted 2
         sell 3 4@mkt stop=100 => accepted 3
         sell 4 2@100 => accepted 4; sold 2@100 1:3 4:0; triggered 3; sold 3@100 1:0 3:1; sold 1@95 2:4 3:0",
    );
    assert_eq!(resting(&book), "2:4@95 | ");
}

#[test]
fn a_stop_limit_order_rests_at_its_limit_once_triggered() {
    let book = play(
        "sell 1 1@100 => accepted 1
         buy 2 5@101 stop=100 => accepted 2
         buy 3 1@100 => accepted 3; bought 1@100 3:0 1:0; triggered 2",
    );
    assert_eq!(resting(&book), "2:5@101 | ");
    assert_eq!(book.waiting(Side::Buy).count(), 0);
}

#[test]
fn a_stop_price_that_the_last_trade_has_reached_triggers_at_once() {
    play(
        "sell 1 2@100 => accepted 1
         buy 2 1@100 => accepted 2; bought 1@100 2:0 1:1
         buy 3 1@mkt stop=100 => accepted 3; triggered 3; bought 1@100 3:0 1:0
         buy 4 1@mkt stop=101 => accepted 4
         sell 5 1@mkt stop=99 => accepted 5",
    );
}

#[test]
fn stop_orders_trigger_each_other_in_the_documented_order() {
    play(
        "sell 1 1@100 => accepted 1
         sell 2 1@101 => accepted 2
         sell 3 1@102 => accepted 3
         sell 4 1@103 => accepted 4
         buy 11 1@mkt stop=101 => accepted 11
         buy 12 1@mkt stop=100 => accepted 12
         buy 13 1@mkt stop=100 => accepted 13
         buy 5 1@100 => accepted 5; bought 1@100 5:0 1:0; triggered 12; bought 1@101 12:0 2:0; \
triggered 13; bought 1@102 13:0 3:0; triggered 11; bought 1@103 11:0 4:0",
    );
}

#[test]
fn a_sweep_triggers_by_its_extremes_not_only_by_its_last_trade() {
    play(
        "buy 1 1@90 => accepted 1
         sell 2 1@100 => accepted 2
         sell 3 1@105 => accepted 3
         buy 4 1@100 ioc stop=100 => accepted 4
         sell 5 1@mkt stop=100 => accepted 5
         buy 6 2@105 => accepted 6; bought 1@100 6:1 2:0; bought 1@105 6:0 3:0; \
triggered 4; cancelled 4:1 ImmediateOrCancel; triggered 5; sold 1@90 1:0 5:0",
    );
}

#[test]
fn a_waiting_stop_order_can_be_changed_and_cancelled() {
    let book = play(
        "sell 1 2@100 => accepted 1
         buy 2 3@105 stop=102 => accepted 2
         buy 3 3@105 stop=103 => accepted 3
         replace 2 2@104 => replaced 2:2 to the back
         replace 3 2@= => replaced 3:2 in place
         cancel 3 => cancelled 3:2 Requested
         buy 4 1@100 => accepted 4; bought 1@100 4:0 1:1
         replace 2 2@= stop=100 => replaced 2:2 to the back; triggered 2; bought 1@100 2:1 1:0
         replace 2 2@= stop=100 => rejected 2: order is not waiting for a stop price",
    );
    assert_eq!(resting(&book), "2:1@104 | ");
}

#[test]
fn in_an_auction_call_stop_orders_wait_for_continuous_trading() {
    let book = play(
        "state call =>
         buy 1 1@100 => accepted 1
         sell 2 1@100 => accepted 2
         buy 3 5@99 stop=100 => accepted 3
         uncross => uncrossed 1@100 +0; crossed 1@100 1:0 2:0
         state continuous => triggered 3",
    );
    assert_eq!(resting(&book), "3:5@99 | ");
}
