//! Reports that have no ClOrdID(11) of ours, found by the OrderID(37) of the venue.

use super::*;
use crate::state::orders::transition::OrderState::{Ended, Working};
use crate::values::value::End;

impl World {
    /// An order that the venue knows as this.
    fn known_as(&mut self, id: &[u8]) -> Number {
        let order = self.order(Side::Buy, 10, "100").unwrap();
        self.report(&VenueReport {
            venue_id: id,
            ..about(order, order, ReportKind::New)
        });
        order
    }

    /// A report with nothing but the OrderID(37).
    fn report_as(&mut self, id: &[u8], kind: ReportKind) {
        self.execs += 1;
        let report = VenueReport {
            venue_id: id,
            side: Some(Side::Buy),
            exec: self.execs,
            last_quantity: Some(Decimal::from_int(1)),
            last_price: Decimal::parse(b"100").ok(),
            account: b"",
            ..about(0, 0, kind)
        };
        self.report(&report);
    }

    fn fills_of(&self, order: Number) -> u64 {
        self.core.state().orders().get(order).unwrap().filled
    }

    fn state_now(&self, order: Number) -> crate::state::orders::transition::OrderState {
        self.core.state().orders().get(order).unwrap().state
    }
}

#[test]
fn a_report_is_found_by_the_order_id_of_the_venue() {
    let mut world = World::new();
    let orders: Vec<Number> = [&b"V1"[..], b"V2", b"V3"]
        .into_iter()
        .map(|id| world.known_as(id))
        .collect();
    assert!(!world.core.venue_ids.is_used(), "nobody needs it");
    world.report_as(b"V2", ReportKind::Fill);
    assert!(world.core.venue_ids.is_used());
    let filled = |world: &World| {
        orders
            .iter()
            .map(|it| world.fills_of(*it))
            .collect::<Vec<_>>()
    };
    assert_eq!(filled(&world), [0, 1, 0]);
    // From now on it is kept.
    let later = world.known_as(b"V4");
    world.report_as(b"V4", ReportKind::End(End::Cancelled));
    assert_eq!(world.state_now(later), Ended(End::Cancelled));
    for id in [&b"V9"[..], b"", b"NONE"] {
        world.report_as(id, ReportKind::End(End::Cancelled));
        assert_eq!(world.said, [""; 0]);
    }
    // Two orders that the venue knows by one id are none.
    let (one, two) = (world.known_as(b"V5"), world.known_as(b"V5"));
    world.report_as(b"V5", ReportKind::End(End::Cancelled));
    assert_eq!(
        (world.state_now(one), world.state_now(two)),
        (Working, Working)
    );
    world.restart(20_261_122);
    for line in LINES {
        world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
    }
    world.report_as(b"V3", ReportKind::Fill);
    assert_eq!(filled(&world), [0, 1, 1]);
    world.check();
}

#[test]
fn a_replace_may_give_the_order_another_order_id() {
    for kind in [ReportKind::New, ReportKind::Replaced] {
        for is_used in [false, true] {
            let mut world = World::new();
            let order = world.known_as(b"V1");
            if is_used {
                world.report_as(b"V1", ReportKind::Fill);
            }
            let request = world.replace(order, 20, "100").unwrap();
            world.report(&VenueReport {
                venue_id: b"V1a",
                quantity: Some(Decimal::from_int(20)),
                ..about(order, request, kind)
            });
            assert!(world.said.contains(&"VenueIdSet".into()), "{kind:?}");
            let known = world.core.state().orders().get(order).unwrap();
            assert_eq!(known.venue_id.bytes(), b"V1a");
            world.report_as(b"V1", ReportKind::End(End::Expired));
            assert_eq!(world.state_now(order), Working, "it has that id no more");
            world.report_as(b"V1a", ReportKind::End(End::Expired));
            assert_eq!(world.state_now(order), Ended(End::Expired));
            world.check();
        }
    }
}

#[test]
fn the_index_does_not_grow_with_the_orders_of_the_day() {
    let mut rules = rules(LIMITS);
    (rules.orders, rules.remembered) = (8, 4);
    let mut world = World::of(rules);
    world.known_as(b"V0");
    world.report_as(b"V0", ReportKind::Fill);
    let room = world.core.venue_ids.capacity();
    for at in 1..200 {
        let id = alloc::format!("V{at}");
        let order = world.known_as(id.as_bytes());
        world.report_as(id.as_bytes(), ReportKind::End(End::Cancelled));
        assert_eq!(world.state_now(order), Ended(End::Cancelled), "{id}");
        assert_eq!(world.core.venue_ids.capacity(), room, "{id}");
    }
    world.report_as(b"V0", ReportKind::Fill);
    assert_eq!(world.fills_of(1), 2);
    world.check();
}
