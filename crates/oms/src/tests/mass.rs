//! Cancels of many orders at once.

use super::*;
use crate::decide::mass::MassCancel;
use crate::state::orders::transition::OrderState;
use crate::values::value::{End, Presence};

impl World {
    fn mass_cancel(&mut self, id: &str, kind: u8, symbol: &str, side: Option<u8>) {
        let cancel = MassCancel {
            session: CLIENT,
            id: id.as_bytes(),
            kind,
            account: b"",
            symbol: symbol.as_bytes(),
            side,
        };
        self.tell(|core, at, mut sink| core.mass_cancel(at, &cancel, &mut sink));
    }

    /// Orders for which a cancel was sent since, by number.
    fn cancelled(&mut self) -> Vec<Number> {
        self.sent.clear();
        self.work();
        let sent = self.sent.iter();
        let mut orders: Vec<Number> = sent.map(|(id, _)| id.order).collect();
        orders.sort_unstable();
        orders
    }

    fn present(&mut self, is: Option<Presence>) {
        self.tell(|core, at, mut sink| core.client(at, CLIENT, is, &mut sink));
    }

    /// So many seconds pass.
    fn pass(&mut self, seconds: i64) {
        self.at += seconds * 1_000_000_000;
        let mut left = 8;
        while self
            .tell(|core, at, mut sink| core.due(at, &mut |_| {}, &mut sink))
            .is_some_and(|after| after.0 == 0)
        {
            left -= 1;
            assert!(left > 0, "it ends");
        }
    }

    fn ends_all(&mut self) {
        let orders = self.core.state().orders();
        let asked = orders.iter().filter_map(|order| {
            let request = orders.request_of(order)?;
            Some((order.number, request.number))
        });
        let asked: Vec<_> = asked.collect();
        for (order, request) in asked {
            self.report(&about(order, request, ReportKind::End(End::Cancelled)));
        }
    }
}

#[test]
fn a_mass_cancel_is_of_what_it_names() {
    let mut world = World::new();
    let buy = world.order(Side::Buy, 10, "100").unwrap();
    let sell = world.order(Side::Sell, 10, "100").unwrap();
    world.mass_cancel("m1", b'1', "ABC", None);
    assert_eq!(world.said, ["MassCancelTaken"]);
    assert_eq!(world.cancelled(), [0; 0], "nothing of ABC is open");
    world.mass_cancel("m2", b'1', "XYZ", Some(b'2'));
    assert_eq!(world.cancelled(), [sell]);
    world.mass_cancel("m3", b'7', "", None);
    assert_eq!(world.cancelled(), [buy], "the other is being cancelled");
    world.check();
    world.ends_all();
    let orders = world.core.state().orders();
    assert!(orders.iter().all(|order| !order.state.is_open()));
    assert!(world.core.state().firm.tally.is_flat());
    world.check();
}

#[test]
fn a_mass_cancel_that_cannot_be_is_refused_and_nothing_moves() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 10, "100").unwrap();
    world.mass_cancel("m1", b'7', "", None);
    for (id, kind, symbol, side, why) in [
        ("m1", b'7', "", None, Why::Duplicate),
        ("m2", b'1', "NONE", None, Why::Symbol),
        ("m3", b'5', "", None, Why::Unsupported),
        ("m4", b'7', "", Some(b'9'), Why::Unsupported),
    ] {
        world.mass_cancel(id, kind, symbol, side);
        assert_eq!(world.said, ["MassCancelRefused"], "{id}");
        assert_eq!(world.refused, Some(why), "{id}");
    }
    assert_eq!(world.order_of("m2", b"A1", Side::Buy, 10, "100"), None);
    assert_eq!(world.refused, Some(Why::Duplicate), "its id was used");
    assert_eq!(world.cancelled(), [order]);
    world.check();
}

#[test]
fn a_mass_cancel_survives_the_end_of_the_process_and_a_refusal() {
    let mut world = World::new();
    let orders: Vec<Number> = (0..3)
        .map(|_| world.order(Side::Buy, 10, "100").unwrap())
        .collect();
    world.mass_cancel("m", b'7', "", None);
    world.restart(20_261_122);
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
    }
    assert_eq!(world.cancelled(), orders);
    assert_eq!(world.replace(orders[0], 20, "100"), None, "it is to go");
    let request = world.core.state().last - 2;
    world.decline(request);
    assert_eq!(world.cancelled(), [0; 0], "not at once");
    world.pass(5);
    assert_eq!(world.cancelled(), [orders[0]], "once more");
    let later = world.order(Side::Buy, 10, "100").unwrap();
    assert_eq!(world.cancelled(), [0; 0], "new orders stay");
    let known = world.core.state().orders().get(later).unwrap();
    assert_eq!(known.state, OrderState::Sent);
    world.check();
}

#[test]
fn orders_of_a_client_that_is_gone_are_cancelled_in_time() {
    let mut world = World::new();
    let first = world.order(Side::Buy, 10, "100").unwrap();
    world.present(Some(Presence::Lost));
    world.pass(4);
    assert_eq!(world.cancelled(), [0; 0]);
    world.present(Some(Presence::Connected));
    world.pass(60);
    assert_eq!(world.cancelled(), [0; 0], "it came back in time");
    world.present(Some(Presence::Lost));
    world.pass(6);
    assert_eq!(world.cancelled(), [first]);
    world.ends_all();
    world.present(Some(Presence::Connected));
    let second = world.order(Side::Buy, 10, "100").unwrap();
    world.present(Some(Presence::LoggedOut));
    world.pass(0);
    assert_eq!(world.cancelled(), [second], "without a grace");
    world.check();
}

#[test]
fn a_client_that_does_not_come_back_after_a_restart_is_gone() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 10, "100").unwrap();
    world.accept(order);
    world.restart(20_261_122);
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
    }
    world.present(None);
    world.pass(4);
    assert_eq!(world.cancelled(), [0; 0]);
    world.pass(2);
    assert_eq!(world.cancelled(), [order]);
    assert_eq!(world.core.state().client(CLIENT), Presence::Lost);
    world.check();
}

#[test]
fn a_client_has_time_to_return_after_a_restart() {
    let mut rules = rules(LIMITS);
    rules.users[0].on_disconnect = Some(0);
    let mut world = World::of(rules);
    let order = world.order(Side::Buy, 10, "100").unwrap();
    world.accept(order);
    // Killed again before it is back.
    for returns in [true, false, false] {
        world.restart(20_261_122);
        for line in LINES {
            world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
        }
        world.present(None);
        world.pass(9);
        assert_eq!(world.cancelled(), [0; 0]);
        if returns {
            world.present(Some(Presence::Connected));
            world.pass(9);
            assert_eq!(world.cancelled(), [0; 0]);
        }
    }
    world.pass(2);
    assert_eq!(world.cancelled(), [order]);
    world.check();
}

#[test]
fn a_cancel_that_an_execution_report_refuses_is_not_sent_again_at_once() {
    let mut world = World::new();
    let order = world.order(Side::Buy, 10, "100").unwrap();
    world.mass_cancel("M1", b'7', "", None);
    assert_eq!(world.cancelled(), [order]);
    let request = world.sent.last().unwrap().0.request;
    world.report(&about(order, request, ReportKind::Rejected));
    assert_eq!(world.cancelled(), [0; 0]);
    world.pass(6);
    assert_eq!(world.cancelled(), [order]);
    world.check();
}

#[test]
fn cancels_that_no_message_asked_for_have_no_id_over_the_day() {
    let mut world = World::new();
    let orders = [(); 2].map(|()| world.order(Side::Buy, 10, "100").unwrap());
    world.mass_cancel("M1", b'7', "", None);
    assert_eq!(world.cancelled(), orders);
    // Requests in flight then stay until the venue answers.
    world.restart(20_261_123);
    world.work();
    assert_eq!(world.core.state().used(CLIENT, b"C1"), Some(orders[0]));
    assert_eq!(world.core.state().used(CLIENT, b""), None);
    world.check();
}

#[test]
fn mass_cancels_count_as_cancels() {
    let mut world = World::new();
    let control = crate::values::limits::RiskControl::CancelRate;
    world.tell(|core, at, mut sink| {
        core.set_limit(
            at,
            crate::Scope::Firm,
            control,
            Some(1),
            by(b"ann", b"why"),
            &mut sink,
        )
    });
    let order = world.order(Side::Buy, 10, "100").unwrap();
    world.mass_cancel("m1", b'7', "", None);
    assert_eq!(world.cancelled(), [order]);
    world.mass_cancel("m2", b'7', "", None);
    assert_eq!(world.refused, Some(Why::CancelRate));
    world.at += 2_000_000_000;
    world.mass_cancel("m3", b'7', "", None);
    assert_eq!(world.refused, None);
    world.check();
}
