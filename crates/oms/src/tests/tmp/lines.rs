//! Lines over the life of their links: recovery, restarts, flow limits, days.

use super::*;
use crate::values::value::End;

#[test]
fn reports_that_were_missed_come_after_the_next_login() {
    let mut floor = Floor::new();
    floor.order(10, "100", "");
    let order = floor.got_one();
    floor.order(5, "101", "");
    let other = floor.got_one();
    floor.says(&accepted(&order));
    floor.disconnect(0);
    assert_eq!(floor.state_of(2), OrderState::Unknown);
    assert_eq!(floor.events().len(), 1, "one order was in flight");
    floor.says(&accepted(&other));
    floor.says(&fill(&order, 4, 1_000, (0, 10)));
    floor.says(&fill(&other, 5, 1_010, (0, 5)));
    assert_eq!(floor.find(1).filled, 0);
    floor.reports.clear();
    floor.connect(0);
    assert_eq!((floor.find(1).filled, floor.find(2).filled), (4, 5));
    assert_eq!(floor.state_of(2), OrderState::Ended(End::Filled));
    assert_eq!(floor.got(), [], "nothing is unknown");
    let wanted = ["11=C2|150=0|14=0", "11=C1|150=F|14=4", "11=C2|150=F|14=5"];
    assert_eq!(floor.reports(&["11", "150", "14"]), wanted);
    assert_eq!(floor.numbers(), (4, 2));
    floor.check();
}

#[test]
fn orders_in_flight_that_the_exchange_does_not_know_are_rejected() {
    let mut floor = Floor::new();
    floor.order(10, "100", "");
    floor.got();
    floor.disconnect(0);
    floor.connect(0);
    let query = floor.got_one();
    assert_eq!(query.exec_type, TmpExecType::QUERY);
    assert_eq!((query.order_no, query.ord_id, query.qty), (*b"A0000", 1, 0));
    assert_eq!(floor.numbers(), (0, 1), "a query has no number");
    floor.reports.clear();
    floor.says(&reject(&query, TmpStatus::NO_SUCH_ORDER));
    let wanted = "150=8|39=8|58=No such order (40005)";
    assert_eq!(floor.reports(&["150", "39", "58"]), [wanted]);
    assert_eq!(floor.state_of(1), OrderState::Ended(End::Rejected));
    floor.check();
}

#[test]
fn the_answer_to_a_query_decides_what_becomes_of_a_change() {
    let mut floor = Floor::new();
    let id = floor.order(10, "100", "");
    let order = floor.got_one();
    floor.says(&accepted(&order));
    floor.replace(&id, 10, "102");
    floor.got();
    floor.disconnect(0);
    floor.connect(0);
    let query = floor.got_one();
    floor.reports.clear();
    floor.says(&R02 {
        price: 1_000,
        ..report(&query, TmpExecType::QUERY, (10, 10))
    });
    assert_eq!(
        floor.reports(&["35", "39", "58"]),
        ["35=9|39=0|58=the venue did not receive the request"]
    );
    // An order that the exchange has cancelled.
    floor.cancel(&id);
    floor.got();
    floor.disconnect(0);
    floor.connect(0);
    let query = floor.got_one();
    floor.says(&reject(&query, TmpStatus::CLOSED));
    assert_eq!(floor.state_of(1), OrderState::Working, "that says nothing");
    floor.reports.clear();
    floor.says(&report(&query, TmpExecType::QUERY, (0, 0)));
    assert_eq!(floor.state_of(1), OrderState::Ended(End::Cancelled));
    floor.check();
}

#[test]
fn a_queried_order_shows_fills_that_are_missing() {
    let mut floor = Floor::new();
    floor.order(10, "100", "");
    let order = floor.got_one();
    floor.says(&accepted(&order));
    floor.says(&R02 {
        cum_qty: 3,
        ..report(&order, TmpExecType::QUERY, (10, 7))
    });
    assert_eq!(
        floor.events(),
        [
            "break 29: order 1: fills missing: CumQty(14): CumQty 0 here, the venue says CumQty 3: check with the venue; fixwire oms breaks settle",
            "order 1: CumQty(14) of the venue exceeds the fills received; order status requested"
        ]
    );
    floor.says(&reject(
        &R01 {
            exec_type: TmpExecType::QUERY,
            ..order
        },
        TmpStatus::FILLED,
    ));
    assert_eq!(floor.events().len(), 1);
    assert_eq!(floor.state_of(1), OrderState::Working);
    floor.check();
}

#[test]
fn numbers_go_on_after_a_restart() {
    for with_checkpoint in [false, true] {
        let mut floor = Floor::new();
        floor.order(10, "100", "");
        let order = floor.got_one();
        floor.says(&accepted(&order));
        floor.says(&fill(&order, 1, 1_000, (0, 10)));
        floor.order(10, "100", "");
        let other = floor.got_one();
        assert_eq!(floor.numbers(), (2, 2));
        floor.restart(with_checkpoint);
        assert_eq!(floor.state_of(2), OrderState::Unknown);
        floor.says(&fill(&order, 2, 1_000, (1, 9)));
        floor.says(&reject(&other, TmpStatus::TICK));
        floor.pass(2 * SECOND);
        floor.connect(0);
        assert_eq!((floor.find(1).filled, floor.numbers()), (3, (4, 2)));
        assert_eq!(floor.state_of(2), OrderState::Ended(End::Rejected));
        floor.order(10, "100", "");
        let third = floor.got_one();
        floor.says(&accepted(&third));
        assert_eq!(floor.numbers(), (5, 3));
        assert_eq!(floor.members[0].link.numbers().inbound, 3);
        assert_eq!(floor.hangups, [""; 0]);
    }
}

#[test]
fn a_report_that_comes_again_counts_once() {
    let mut floor = Floor::new();
    floor.order(10, "100", "");
    let order = floor.got_one();
    floor.says(&accepted(&order));
    let notes = floor.notes.len();
    floor.says(&fill(&order, 4, 1_000, (0, 10)));
    // The number of the fill was not kept: it comes again.
    let number = floor.notes.iter().rposition(|note| note[8] == 33);
    assert!(number.is_some_and(|at| at >= notes));
    floor.notes.remove(number.unwrap());
    let mut new = oms(floor.rules.clone(), 1, &floor.events);
    for note in &floor.notes {
        new.on_note(floor.now.wall, note);
    }
    floor.oms = new;
    floor.members[0].link.on_disconnect();
    floor.work();
    floor.reports.clear();
    floor.pass(2 * SECOND);
    floor.connect(0);
    assert_eq!((floor.find(1).filled, floor.numbers().0), (4, 2));
    assert_eq!(floor.reports, [""; 0]);
    floor.check();
}

#[test]
fn requests_above_the_flow_limit_wait_in_order() {
    let mut floor = Floor::with(SETTINGS, 1, |settings| settings.max_flow_ctrl_cnt = 10);
    floor.connect(0);
    floor.pass(2 * SECOND);
    for _ in 0..20 {
        floor.order(1, "100", "");
    }
    let first = floor.got();
    assert_eq!(first.len(), 8, "two messages are kept for heartbeats");
    let due = floor.tell(|oms, now, outbox| oms.on_time(now, outbox));
    assert!(due.is_some_and(|due| due.0 <= floor.now.mono.0 + SECOND + 1));
    floor.pass(SECOND / 2);
    assert_eq!(floor.got(), []);
    floor.pass(SECOND / 2 + 1);
    assert_eq!(floor.got().len(), 8);
    floor.pass(SECOND + 1);
    let last = floor.got();
    let numbers: Vec<u32> = last.iter().map(|order| order.ord_id).collect();
    assert_eq!(numbers, [17, 18, 19, 20]);
    assert_eq!(floor.hangups, [""; 0]);
    floor.check();
}

#[test]
fn requests_that_wait_are_in_flight_when_the_link_is_lost() {
    let mut floor = Floor::with(SETTINGS, 1, |settings| settings.max_flow_ctrl_cnt = 10);
    floor.connect(0);
    floor.pass(2 * SECOND);
    for _ in 0..10 {
        floor.order(1, "100", "");
    }
    for order in floor.got() {
        floor.says(&accepted(&order));
    }
    floor.disconnect(0);
    assert_eq!(floor.state_of(10), OrderState::Unknown);
    floor.pass(2 * SECOND);
    floor.connect(0);
    let queries = floor.got();
    let of: Vec<u32> = queries.iter().map(|query| query.ord_id).collect();
    assert_eq!(of, [9, 10]);
    for query in queries {
        floor.says(&reject(&query, TmpStatus::NO_SUCH_ORDER));
    }
    assert_eq!(floor.state_of(10), OrderState::Ended(End::Rejected));
    assert_eq!(floor.state_of(8), OrderState::Working);
    floor.check();
}

#[test]
fn orders_go_by_turns_over_two_lines() {
    let settings = SETTINGS.replace("[\"T1\"]", "[\"T1\", \"T2\"]");
    let mut floor = Floor::with(&settings, 2, |_| {});
    floor.connect(0);
    floor.connect(1);
    for _ in 0..4 {
        floor.order(1, "100", "");
    }
    let (one, two) = (floor.got_on(0), floor.got_on(1));
    let numbers = |got: &[R01]| got.iter().map(|it| it.ord_id).collect::<Vec<_>>();
    assert_eq!((numbers(&one), numbers(&two)), (vec![1, 3], vec![2, 4]));
    // The other one takes what the first one cannot.
    floor.disconnect(0);
    floor.order(1, "100", "");
    assert_eq!(numbers(&floor.got_on(1)), [5]);
    floor.says_on(1, &accepted(&two[0]));
    assert_eq!(floor.state_of(2), OrderState::Working);
    assert_eq!(floor.state_of(1), OrderState::Unknown);
    floor.disconnect(1);
    floor.reports.clear();
    floor.order(1, "100", "");
    let text = "58=no session to the venue is logged on: try again later";
    assert_eq!(floor.reports(&["58"]), [text]);
    floor.check();
}

#[test]
fn a_new_day_begins_with_new_numbers_and_connections() {
    let settings = SETTINGS.replace("00:00 UTC", "06:00 UTC");
    let mut floor = Floor::with(&settings, 1, |_| {});
    floor.connect(0);
    floor.order(10, "100", "");
    let order = floor.got_one();
    floor.says(&accepted(&order));
    assert_eq!(floor.numbers(), (1, 1));
    let day = floor.oms.state().day();
    floor.now.wall.0 += 86_400_000_000_000;
    floor.pass(1);
    assert!(floor.oms.state().day() > day);
    assert_eq!(floor.state_of(1), OrderState::Lapsed);
    let why = "a new trading day: sequence numbers begin again at 1";
    assert_eq!(floor.hangups, [why]);
    let text = format!("line T1 closed: {why}; the engine connects again");
    let (day, closed): (Vec<_>, Vec<_>) = floor
        .events()
        .into_iter()
        .partition(|it| it.starts_with("trading day"));
    assert_eq!(day.len(), 2, "{day:?}");
    assert!(
        day[0].contains("orders open at T1: 1 end with the day"),
        "{day:?}"
    );
    assert!(
        day[1].contains("not confirmed by the venue: 1 at T1"),
        "{day:?}"
    );
    assert!(closed.contains(&text), "{closed:?}");
    assert_eq!(floor.numbers(), (0, 0));
    floor.disconnect(0);
    // So does the exchange.
    let settings =
        ExchangeLinkSettings::new(7, 1, TmpPassword::new(PASSWORD), SystemType::FUTURES_DAY);
    floor.members[0].link = LinkExchange::new(settings, LinkNumbers::default());
    floor.members[0].kept.0.clear();
    floor.connect(0);
    floor.order(10, "100", "");
    let [asked, order] = floor.got()[..] else {
        panic!("the exchange is asked for the order of the day before");
    };
    assert_eq!(asked.exec_type, TmpExecType::QUERY);
    floor.says(&accepted(&order));
    let number = floor.oms.state().orders().iter().map(|it| it.number).max();
    assert_eq!(
        (floor.numbers(), floor.state_of(number.unwrap())),
        ((1, 1), OrderState::Working)
    );
    // The exchange has the order of the day before, and not the cancel of the roll.
    floor.says(&report(&asked, TmpExecType::QUERY, (10, 10)));
    assert_eq!(floor.got_one().exec_type, TmpExecType::CANCEL);
    floor.check();
}

#[test]
fn more_reports_than_an_outbox_has_room_for_are_taken_step_by_step() {
    let mut floor = Floor::with(SETTINGS, 1, |_| {});
    floor.connect(0);
    let mut orders = Vec::new();
    for _ in 0..90 {
        floor.order(1, "100", "");
        orders.extend(floor.got());
        floor.pass(SECOND / 50);
    }
    floor.disconnect(0);
    for order in &orders {
        floor.says(&accepted(order));
        floor.says(&fill(order, 1, 1_000, (0, 1)));
    }
    floor.room = 60;
    floor.pass(2 * SECOND);
    floor.connect(0);
    assert_eq!(floor.numbers(), (180, 90));
    let open = floor.oms.state().orders().iter();
    assert_eq!(open.filter(|order| order.state.is_open()).count(), 0);
    floor.check();
}
