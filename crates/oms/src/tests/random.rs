//! Random inputs in any order: the notes rebuild the same state, and nothing is counted twice.

use super::family::{as_parent, child_of, plain};
use super::*;
use crate::values::ids::{AccountNo, InstrumentNo};
use crate::values::limits::RiskControl;
use crate::values::value::{End, Market, Presence, Trading};
use crate::{OmsState, Scope};
use fixwire_harness::Random;
use std::string::ToString;

/// Orders by number, the open ones more often than not.
fn any_order(world: &World, dice: &mut Random) -> Number {
    let last = world.core.state().last;
    let back = dice.below(12);
    last.saturating_sub(back).max(1)
}

/// The number that the venue knows an order by, before it is replaced.
fn attempt(world: &World, order: Number) -> Number {
    let known = world.core.state().orders().get(order);
    known.map_or(order, |known| known.attempt())
}

fn step(world: &mut World, dice: &mut Random) {
    let number = any_order(world, dice);
    let order = world.core.state().orders().request(number);
    let (order, request) = match order {
        Some((request, order)) => (order.number, request.number),
        // An order that was sent again has another id.
        None if dice.below(4) > 0 => (number, attempt(world, number)),
        None => (number, number),
    };
    let side = if dice.below(2) == 0 {
        Side::Buy
    } else {
        Side::Sell
    };
    let quantity = (1 + dice.below(30)).cast_signed() * 10;
    let price = ["99.95", "100", "100.05", "101"][dice.below(4) as usize];
    if world.core.rules().users[0].parents.is_some() && dice.below(6) == 0 {
        return family(world, dice, (side, quantity, price));
    }
    match dice.below(20) {
        0..4 => {
            world.order(side, quantity, price);
        }
        4 => {
            world.order_of("same", b"A2", side, quantity, price);
        }
        5 => {
            world.cancel(order);
        }
        6 if dice.below(3) == 0 && !world.core.rules().pools.is_empty() => {
            world.order_as(&format!("T{:02}", dice.below(40)));
        }
        6 => {
            world.cancel(order);
        }
        7 | 8 => {
            world.replace(order, quantity, price);
        }
        9 => world.report(&about(order, request, ReportKind::New)),
        10..13 => {
            let exec = 1 + dice.below(400);
            let quantity = (1 + dice.below(5)).cast_signed() * 10;
            world.fill_again(order, quantity, price, exec);
        }
        13 => world.report(&about(order, request, ReportKind::Replaced)),
        14 => {
            let how = [End::Cancelled, End::Expired, End::DoneForDay][dice.below(3) as usize];
            let filled = Decimal::from_int(dice.below(10).cast_signed() * 10);
            world.report(&VenueReport {
                filled: Some(filled),
                ..about(order, request, ReportKind::End(how))
            });
        }
        15 => world.report(&about(order, request, ReportKind::Rejected)),
        16 => world.decline(request),
        17 => {
            let status = b"01234C8"[dice.below(7) as usize];
            world.report(&about(order, request, ReportKind::Status(status)));
        }
        18 => {
            let line = LINES[dice.below(2) as usize];
            let is_up = world.core.state().is_ready(line);
            world.tell(|core, at, mut sink| {
                if is_up {
                    core.line_down(at, line, &mut sink);
                } else {
                    core.line_up(at, line, &mut sink);
                }
            });
        }
        _ => rare(world, dice),
    }
    if dice.below(3) == 0 && world.core.has_work(world.at + 1_000_000) {
        world.tell(|core, at, mut sink| core.work(at, &mut sink));
    }
}

/// A parent, or a child of the newest one.
fn family(world: &mut World, dice: &mut Random, (side, quantity, price): (Side, i64, &str)) {
    let parent = world.core.state().families.parents().last();
    let of = parent.and_then(|parent| world.core.state().orders().get(parent));
    let of = of.filter(|_| dice.below(4) > 0);
    let (terms, side) = match of {
        Some(parent) => (child_of(parent.number), parent.side),
        None => (as_parent(), side),
    };
    let quantity = if of.is_some() { quantity } else { 3 * quantity };
    world.puts(NewOrder {
        side: Some(side),
        ..plain(quantity, price, terms)
    });
}

fn rare(world: &mut World, dice: &mut Random) {
    let scope = [
        Scope::Firm,
        Scope::Account(AccountNo::new(dice.below(3) as u32)),
        Scope::Instrument(InstrumentNo::new(0)),
    ][dice.below(3) as usize];
    let state = [Trading::Killed, Trading::Reducing][dice.below(2) as usize];
    match dice.below(13) {
        12 => {
            let market = [Market::Open, Market::Open, Market::Halted][dice.below(3) as usize];
            world.tell(|core, at, mut sink| {
                core.set_market(
                    at,
                    InstrumentNo::new(0),
                    market,
                    by(b"ann", b"why"),
                    &mut sink,
                );
            });
        }
        8 | 9 => {
            let id = format!("m{}", dice.below(1000));
            let cancel = crate::decide::mass::MassCancel {
                session: CLIENT,
                id: id.as_bytes(),
                kind: [b'1', b'7', b'3'][dice.below(3) as usize],
                account: [&b""[..], b"A1", b"DESK"][dice.below(3) as usize],
                symbol: b"XYZ",
                side: [None, Some(b'1'), Some(b'8')][dice.below(3) as usize],
            };
            world.tell(|core, at, mut sink| core.mass_cancel(at, &cancel, &mut sink));
        }
        10 => {
            let is =
                [Some(Presence::Connected), Some(Presence::Lost), None][dice.below(3) as usize];
            world.tell(|core, at, mut sink| core.client(at, CLIENT, is, &mut sink));
        }
        11 => {
            world.at += 7_000_000_000;
            world.tell(|core, at, mut sink| core.due(at, &mut |_| {}, &mut sink));
        }
        0 => world.tell(|core, at, mut sink| {
            core.set_trading(at, scope, state, by(b"ann", b"why"), &mut sink);
        }),
        1..4 => {
            for scope in [Scope::Firm, Scope::Instrument(InstrumentNo::new(0))]
                .into_iter()
                .chain((0..3).map(AccountNo::new).map(Scope::Account))
            {
                world.tell(|core, at, mut sink| {
                    core.set_trading(at, scope, Trading::Active, by(b"ann", b"why"), &mut sink);
                });
            }
        }
        4 => {
            let day = world.core.state().day();
            world.restart(day + u32::from(dice.below(4) == 0));
        }
        _ => {
            let limit = (
                scope,
                RiskControl::ALL[dice.below(RiskControl::ALL.len() as u64) as usize],
                Some(dice.below(5000).into()).filter(|it: &i128| *it > 0),
            );
            world.tell(|core, at, mut sink| {
                core.set_limit(at, limit.0, limit.1, limit.2, by(b"ann", b"why"), &mut sink);
                if limit.2 == Some(7) {
                    core.limit_until(at, scope, limit.1, None, at + 9, &mut sink);
                }
            });
        }
    }
}

/// A world of a seed, and its dice.
fn begun(seed: u64) -> (World, Random) {
    let dice = Random::xorshift_star(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let mut rules = rules(LIMITS);
    rules.rejects_self_trades = seed.is_multiple_of(3);
    if seed.is_multiple_of(2) {
        let group = &mut rules.groups[0];
        (group.queue, group.flow) = (Some(20_000_000), Some(super::queue::FLOW));
    }
    if !seed.is_multiple_of(3) {
        rules.groups[0].errors = super::retry::busy(20_000_000);
    }
    rules.users[0].parents = (seed % 5 > 2).then_some(20);
    if seed % 4 > 1 {
        super::pools::number(&mut rules, seed % 4 == 2);
    }
    (World::of(rules), dice)
}

/// A world after so many random inputs.
pub(super) fn played(seed: u64, steps: u64) -> World {
    let (mut world, mut dice) = begun(seed);
    for _ in 0..steps {
        step(&mut world, &mut dice);
    }
    world
}

#[test]
fn the_notes_make_the_state_and_each_order_counts_once() {
    // FIXWIRE_OMS_STEPS=10000000 is the long run.
    let steps = std::env::var("FIXWIRE_OMS_STEPS").ok();
    let steps: u64 = steps.map_or(40_000, |steps| steps.parse().unwrap());
    let per_world = 1_000;
    let mut seen: Vec<String> = Vec::new();
    for seed in 1..=steps.div_ceil(per_world) {
        let (mut world, mut dice) = begun(seed);
        for at in 0..per_world {
            step(&mut world, &mut dice);
            for name in world.said.drain(..) {
                if !seen.contains(&name) {
                    seen.push(name);
                }
            }
            if at % 100 == 99 {
                world.check();
            }
        }
        // What the venue does not have is closed: nothing is reserved then.
        for line in LINES {
            world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
        }
        let next = world.core.state().day() + 1;
        world.restart(next);
        world.work();
        let open = world.core.state().orders().iter();
        let open = open.filter(|order| order.state.is_open());
        let open: Vec<Number> = open.map(|order| order.number).collect();
        for order in open {
            let orders = world.core.state().orders();
            let known = orders.get(order).unwrap();
            // A parent waits for a child that is.
            let is_unknown = matches!(
                known.state,
                crate::OrderState::Lapsed | crate::OrderState::Unknown | crate::OrderState::Parent
            );
            // The venue did not answer its cancel, which is tried again.
            let goes = crate::decide::work::must_go(world.core.state(), known);
            assert!(is_unknown || goes || orders.request_of(known).is_some());
            let attempt = attempt(&world, order);
            world.report(&about(order, attempt, ReportKind::Rejected));
        }
        world.work();
        world.settle_all();
        assert!(world.core.state().firm.tally.is_flat(), "seed {seed}");
        world.check();
    }
    // Random inputs that never reach something prove nothing of it.
    for event in [
        "Taken",
        "Refused",
        "ReplaceTaken",
        "CancelTaken",
        "Sent",
        "Accepted",
        "Rejected",
        "Filled",
        "Replaced",
        "Ended",
        "Lapsed",
        "LapseConfirmed",
        "DayAsked",
        "Declined",
        "Pended",
        "StrayFill",
        "Asked",
        "Forgotten",
        "LineUp",
        "LineDown",
        "Limit",
        "Trading",
        "Day",
        "MassCancelTaken",
        "MassCancelRefused",
        "Client",
        "Market",
        "Queued",
        "Retried",
        "Numbered",
        "NumbersLow",
        "ParentAccepted",
        "ChildOf",
        "ParentFilled",
    ] {
        assert!(seen.contains(&event.to_string()), "no {event}");
    }
}

/// Changed bytes are found by the checksums of the file; whoever gives them all the same gets a state or an error.
#[test]
fn a_state_that_is_cut_off_or_longer_is_refused() {
    let mut world = World::new();
    let mut dice = Random::xorshift_star(99);
    for _ in 0..200 {
        step(&mut world, &mut dice);
    }
    let mut written = Vec::new();
    world
        .core
        .state()
        .write(&mut |bytes| written.extend_from_slice(bytes));
    let version = OmsState::default().form().1;
    let is_refused = |bytes: &[u8]| OmsState::default().read(version, bytes).is_err();
    for at in 0..written.len() {
        assert!(is_refused(&written[..at]), "{at} bytes");
        let mut damaged = written.clone();
        damaged[at] ^= 1 << (at % 8);
        let mut state = OmsState::default();
        if state.read(version, &damaged).is_ok() {
            state.hash();
        }
    }
    written.push(0);
    assert!(is_refused(&written));
}

#[test]
fn a_state_of_another_version_is_refused() {
    let mut world = World::new();
    world.order(Side::Buy, 10, "100").unwrap();
    let mut written = Vec::new();
    let state = world.core.state();
    state.write(&mut |bytes| written.extend_from_slice(bytes));
    let version = state.form().1;
    for other in [0, version + 1, 12] {
        let mut read = OmsState::default();
        let before = read.hash();
        assert_eq!(
            read.read(other, &written).unwrap_err(),
            format!(
                "the state of the OMS has version {other}, and this build reads version {version}"
            )
        );
        assert_eq!(read.hash(), before);
    }
}
