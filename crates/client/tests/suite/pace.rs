//! When messages are sent, and how long the client waits.

use fixwire_engine::protocol::{Nanos, SessionId};

use crate::desk::{Desk, TIMEOUT, VENUE};

/// Turns of the world, which take a millisecond each.
fn turns(desk: &mut Desk, count: usize) {
    for _ in 0..count {
        desk.world.turn().unwrap();
    }
}

#[test]
fn messages_leave_at_their_times_whatever_the_venue_answers() {
    let mut desk = Desk::logged_on();
    desk.carry_out("set O D 55=VOD|54=1|38=1");
    desk.carry_out("stamps on");
    desk.command("send O 6/10/2 g");
    turns(&mut desk, 5);
    assert_eq!(desk.received(&[11]).len(), 2, "one burst");
    turns(&mut desk, 10);
    assert_eq!(desk.received(&[11]).len(), 4, "another one");
    // The engine does not run for a while: late messages are sent at once, with the time at which they were due.
    desk.world.pass(Nanos::from_secs(1));
    desk.world.settle().unwrap();
    assert_eq!(desk.said(), ["done"]);
    let sent = desk.received(&[9701]);
    let stamps: Vec<u64> = sent.iter().map(|line| line[2..].parse().unwrap()).collect();
    let late: Vec<u64> = stamps.iter().map(|stamp| stamp - stamps[0]).collect();
    assert_eq!(late, [0, 0, 10_000_000, 10_000_000, 20_000_000, 20_000_000]);
    desk.carry_out("stamps off");
    desk.carry_out("send O 1");
    assert_eq!(desk.received(&[9701]).pop().unwrap(), "D -");
}

#[test]
fn a_latency_counts_from_the_time_that_was_intended() {
    let mut desk = Desk::logged_on();
    desk.carry_out("new buy 1 VOD");
    let id = desk.received(&[11]).pop().unwrap();
    let id = &id[2..];
    desk.world.pass(Nanos::from_millis(700));
    let report = format!("37=1|11={id}|17=1|20=0|150=0|39=0|55=VOD|54=1|151=1|14=0|6=0|");
    desk.answer("8", &report);
    desk.world.pass(Nanos::from_secs(1));
    // Only the first answer counts.
    desk.answer("8", &report);
    assert_eq!(desk.carry_out("wait all"), ["done"]);
    desk.carry_out("stats");
    let [latency] = desk.latencies()[..] else {
        panic!("{:?}", desk.latencies());
    };
    assert!((700..1000).contains(&latency.as_millis()), "{latency:?}");
}

#[test]
fn a_late_message_counts_from_the_time_at_which_it_was_due() {
    let mut desk = Desk::logged_on();
    desk.carry_out("set O D 55=VOD|54=1|38=1");
    desk.command("send O 2/100 g");
    // The second message is due after 100 ms, and the engine does not run before 600 ms.
    desk.world.pass(Nanos::from_millis(600));
    desk.world.settle().unwrap();
    for id in ["g:1", "g:2"] {
        desk.answer(
            "8",
            &format!("37=1|11={id}|17=1|20=0|150=0|39=0|55=VOD|54=1|151=1|14=0|6=0|"),
        );
    }
    desk.carry_out("stats");
    let late = desk.latencies()[1].as_millis();
    assert!((500..600).contains(&late), "{late}");
}

#[test]
fn a_thousand_orders_leave_as_fast_as_the_session_takes_them() {
    let mut desk = Desk::logged_on();
    desk.carry_out("set O D 55=VOD|54=1|38=1");
    assert_eq!(desk.carry_out("send O 1000 g"), ["done"]);
    let sent = desk.received(&[11]);
    let expected: Vec<String> = (1..=1000).map(|n| format!("D g:{n}")).collect();
    assert_eq!(sent, expected);
}

#[test]
fn a_command_waits_for_the_logon_up_to_its_limit() {
    let mut desk = Desk::new();
    desk.world.start();
    desk.command("new buy 1 VOD");
    desk.world.settle().unwrap();
    assert_eq!(desk.said(), ["logged on", "done"]);
    assert_eq!(desk.received(&[55]), ["D VOD"]);

    let mut desk = Desk::new();
    desk.world.start();
    let mut handle = desk.world.handle().unwrap();
    // A session that was logged out does not log on by itself.
    handle.log_out(SessionId(0), "").unwrap();
    desk.command("new buy 1 VOD");
    desk.world.pass(TIMEOUT);
    turns(&mut desk, 2);
    let said = desk.said().pop().unwrap();
    assert!(
        said.starts_with(
            "failed: the session is not logged on after 5 s: is the counterparty running"
        ),
        "{said}"
    );
}

#[test]
fn a_wait_fails_at_its_limit_and_says_what_is_missing() {
    let mut desk = Desk::logged_on();
    desk.carry_out("set O D 55=VOD|54=1|38=1");
    desk.carry_out("send O 2 g");
    desk.answer(
        "8",
        "37=9|11=g:1|17=1|20=0|150=0|39=0|55=VOD|54=1|151=1|14=0|6=0|",
    );
    desk.command("wait all");
    desk.world.pass(TIMEOUT);
    turns(&mut desk, 2);
    assert_eq!(
        desk.said(),
        [
            "failed: 1 messages have no response after 5 s, the first is g:2: 'status g:2' requests its status; \
                --timeout changes the limit"
        ]
    );
    desk.command("wait 2 reports");
    desk.world.pass(TIMEOUT);
    turns(&mut desk, 2);
    assert_eq!(
        desk.said(),
        ["failed: received 1 of 2 reports within 5 s; --timeout changes the limit"]
    );
    desk.command("wait 1.5");
    turns(&mut desk, 10);
    assert!(desk.said().is_empty());
    desk.world.pass(Nanos::from_millis(1500));
    turns(&mut desk, 2);
    assert_eq!(desk.said(), ["done"]);
}

#[test]
fn a_send_ends_with_its_session() {
    let mut desk = Desk::logged_on();
    desk.carry_out("set O D 55=VOD|54=1|38=1");
    desk.command("send O 100/1000 g");
    turns(&mut desk, 5);
    desk.world.disconnect(VENUE);
    turns(&mut desk, 20);
    assert_eq!(
        desk.said(),
        [
            "connection lost",
            "failed: session lost after 1 of 100 messages: 'wait all' shows whether these messages have responses"
        ]
    );
}
