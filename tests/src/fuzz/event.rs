//! Events of an OMS, as the bytes of journal notes, and the state that they make.
//!
//! Input: a byte for the initial state (0 empty; 1 with a day, sessions, accounts and instruments; 2 from the body of a
//! checkpoint, whose length is in the next two bytes). Then notes: a byte with the length of the event, a byte for the
//! time before it, and the bytes of the event, its kind first.

use std::hash::Hasher;

use fixwire_oms::event::{DayEvent, LineEvent, PoolEvent, SetupEvent};
use fixwire_oms::{AccountNo, InstrumentNo, OmsState, OrderEvent, PoolNo, SessionNo};
use fixwire_protocol::Ledger;
use siphasher::sip::SipHasher24;

use super::hold;
use super::input::Input;

/// The most notes that are applied.
const NOTES_MAX: usize = 200;
/// Longest event, in bytes.
const LONGEST: usize = 255;
/// The time of the first note, in nanoseconds since 1970.
const BEGIN: i64 = 1_795_000_000_000_000_000;

/// Panics when something does not hold.
pub fn run(data: &[u8]) {
    check(data, OmsState::apply_note).unwrap_or_else(|what| panic!("{what}"));
}

/// [`run`] with another way to apply a note after a restart.
///
/// # Errors
///
/// The violated property.
pub fn check(data: &[u8], apply: fn(&mut OmsState, &[u8])) -> Result<(), String> {
    let mut input = Input::new(data);
    let Some(mut state) = begun(&mut input)? else {
        return Ok(());
    };
    let mut again = copy(&state)?;
    let mut at = BEGIN;
    for _ in 0..NOTES_MAX {
        if input.is_empty() {
            break;
        }
        let length = usize::from(input.byte()).min(LONGEST);
        at += i64::from(input.byte()) * 50_000_000;
        let event = input.take(length);
        reads_back(event)?;
        let note = [&at.to_le_bytes()[..], event].concat();
        let (before, violations) = (state.events(), state.violations());
        state.apply_note(&note);
        let (events, wrong) = (state.events() - before, state.violations() - violations);
        hold!(events <= 1 && wrong <= 1, "{events} events, {wrong} wrong");
        let is_known = OrderEvent::of(event).is_some();
        hold!(is_known || wrong == 1, "unknown bytes are no violation");
        if let Some(other) = &mut again {
            apply(other, &note);
        }
    }
    // A restart from the checkpoint before the notes gives the same state.
    if let Some(other) = &again {
        hold!(other.hash() == state.hash(), "a restart is another state");
    }
    copy(&state).map(drop)
}

/// The state before the notes; `None` when the checkpoint is refused.
fn begun(input: &mut Input<'_>) -> Result<Option<OmsState>, String> {
    let mut state = OmsState::with_capacity(16);
    match input.byte() % 3 {
        0 => {}
        1 => {
            for event in world() {
                hold!(state.apply(BEGIN, &event), "{event:?} is refused");
            }
        }
        _ => {
            let length = usize::from(input.short());
            let mut file = input.take(length).to_vec();
            let mut hasher = SipHasher24::new();
            hasher.write(&file);
            file.extend_from_slice(&hasher.finish().to_le_bytes());
            let (_, newest) = state.form();
            let version = 1 + u32::from(input.byte()) % newest;
            if let Err(why) = state.read(version, &file) {
                hold!(
                    !why.is_empty() && !why.contains('\n'),
                    "no line of text: {why:?}"
                );
                return Ok(None);
            }
        }
    }
    Ok(Some(state))
}

/// A day with names of each kind.
fn world() -> Vec<OrderEvent<'static>> {
    vec![
        OrderEvent::Day(DayEvent::Day {
            date: 20_261_126,
            key: 7,
        }),
        OrderEvent::Setup(SetupEvent::Session {
            index: SessionNo::new(0),
            name: b"CLIENT",
        }),
        OrderEvent::Setup(SetupEvent::Session {
            index: SessionNo::new(1),
            name: b"LINE",
        }),
        OrderEvent::Setup(SetupEvent::Account {
            index: AccountNo::new(0),
            parent: None,
            name: b"HOUSE",
        }),
        OrderEvent::Setup(SetupEvent::Account {
            index: AccountNo::new(1),
            parent: Some(AccountNo::new(0)),
            name: b"A1",
        }),
        OrderEvent::Setup(SetupEvent::Instrument {
            index: InstrumentNo::new(0),
            scale: 2,
            quantity_scale: 0,
            worth: 1_000_000,
            symbol: b"XYZ",
        }),
        OrderEvent::Pool(PoolEvent::Pool {
            index: PoolNo::new(0),
            form: 1,
            tag: 37,
            first: 0,
            last: 99,
            each_day: true,
            name: b"P",
        }),
        OrderEvent::Line(LineEvent::LineUp {
            line: SessionNo::new(1),
        }),
    ]
}

/// An event that can be read is written as the same bytes.
fn reads_back(bytes: &[u8]) -> Result<(), String> {
    let Some(event) = OrderEvent::of(bytes) else {
        return Ok(());
    };
    let mut written = Vec::new();
    event.put(&mut written);
    hold!(written == bytes, "{event:?} is written as other bytes");
    hold!(!event.name().is_empty(), "an event without a name");
    Ok(())
}

/// The state as in its checkpoint; `None` when events that no OMS writes have made a state that is refused.
fn copy(state: &OmsState) -> Result<Option<OmsState>, String> {
    let mut written = Vec::new();
    Ledger::write(state, &mut |bytes| written.extend_from_slice(bytes));
    let mut read = OmsState::with_capacity(16);
    let (_, version) = read.form();
    match read.read(version, &written) {
        Ok(()) => {
            hold!(read.hash() == state.hash(), "a checkpoint is another state");
            Ok(Some(read))
        }
        Err(why) => {
            hold!(
                !why.is_empty() && !why.contains('\n'),
                "no line of text: {why:?}"
            );
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use fixwire_oms::event::{
        ConditionEvent, LifecycleEvent, LimitEvent, RequestEvent, StrayEvent,
    };
    use fixwire_oms::{
        Effect, End, NestedEvents, OrderFilter, OrderType, PriceField, Reason, RefusedTerms,
        RequestKind, Scope, Side, TimeInForce, Trading, Why,
    };

    use fixwire_protocol::Decimal;

    use super::*;
    use crate::packages::workspace;

    const AT: i64 = BEGIN;

    fn taken(order: u64, id: &'static [u8]) -> OrderEvent<'static> {
        OrderEvent::Request(RequestEvent::Taken {
            order,
            session: SessionNo::new(0),
            account: AccountNo::new(1),
            instrument: InstrumentNo::new(0),
            side: Side::Buy,
            kind: OrderType::Limit,
            tif: TimeInForce::Day,
            price: 10_000,
            stop: 0,
            hold: 10_000,
            quantity: 10,
            until: None,
            effect: Effect::Netting,
            id,
        })
    }

    fn fill(order: u64, exec: u64, quantity: u64) -> OrderEvent<'static> {
        OrderEvent::Order(LifecycleEvent::Filled {
            order,
            exec,
            quantity,
            price: 9_990,
            at: AT,
        })
    }

    fn sent(number: u64) -> OrderEvent<'static> {
        OrderEvent::Request(RequestEvent::Sent {
            number,
            line: SessionNo::new(1),
        })
    }

    /// An order that is replaced, filled, corrected by a late fill, and forgotten; others that are rejected, cancelled,
    /// sent again.
    fn life() -> Vec<OrderEvent<'static>> {
        let reason = Reason::of(Why::Venue);
        vec![
            taken(1, b"A"),
            OrderEvent::Request(RequestEvent::Queued { number: 1 }),
            sent(1),
            OrderEvent::Order(LifecycleEvent::Accepted {
                order: 1,
                venue_id: b"V1",
                at: AT,
            }),
            fill(1, 11, 4),
            OrderEvent::Request(RequestEvent::ReplaceTaken {
                request: 2,
                order: 1,
                quantity: 20,
                price: 10_100,
                hold: 10_100,
                id: b"B",
            }),
            sent(2),
            OrderEvent::Order(LifecycleEvent::Replaced {
                request: 2,
                quantity: 20,
                price: 10_100,
                at: AT,
            }),
            fill(1, 12, 16),
            taken(3, b"C"),
            OrderEvent::Request(RequestEvent::Fields {
                number: 3,
                header: b"",
                body: b"9717=G\x01",
                kept: b"",
            }),
            OrderEvent::Request(RequestEvent::Marked {
                number: 3,
                marks: b"\x08\x00\x00GA904",
            }),
            sent(3),
            OrderEvent::Line(LineEvent::LineDown {
                line: SessionNo::new(1),
            }),
            OrderEvent::Line(LineEvent::LineUp {
                line: SessionNo::new(1),
            }),
            OrderEvent::Order(LifecycleEvent::Asked {
                order: 3,
                line: SessionNo::new(1),
                at: AT,
            }),
            OrderEvent::Order(LifecycleEvent::Rejected {
                order: 3,
                reason,
                text: b"no",
            }),
            taken(4, b"D"),
            sent(4),
            OrderEvent::Request(RequestEvent::CancelTaken {
                request: 5,
                order: 4,
                id: b"E",
            }),
            sent(5),
            OrderEvent::Order(LifecycleEvent::Pended {
                order: 4,
                how: End::Cancelled,
                request: Some(5),
                filled: 3,
                at: AT,
            }),
            fill(4, 13, 3),
            OrderEvent::Order(LifecycleEvent::Ended {
                order: 4,
                how: End::Cancelled,
                request: Some(5),
                at: AT,
                text: b"",
            }),
            OrderEvent::Order(LifecycleEvent::Forgotten { order: 4 }),
        ]
    }

    /// Limits, switches, positions, prices, pools.
    fn desk() -> Vec<OrderEvent<'static>> {
        let scope = Scope::Account(AccountNo::new(1));
        let (who, why): (&[u8], &[u8]) = (b"ann", b"test");
        vec![
            OrderEvent::Limit(LimitEvent::Limit {
                scope,
                control: 6,
                value: Some(100),
                filed: true,
                who,
                why,
            }),
            OrderEvent::Limit(LimitEvent::LimitUntil {
                scope,
                control: 6,
                before: None,
                until: AT + 1,
            }),
            OrderEvent::Setup(SetupEvent::Position {
                account: AccountNo::new(1),
                instrument: InstrumentNo::new(0),
                long: 5,
                short: 0,
                who,
            }),
            OrderEvent::Setup(SetupEvent::VenueSymbol {
                line: SessionNo::new(1),
                instrument: InstrumentNo::new(0),
                fields: b"55=XY\x0148=US1\x0122=4\x01",
            }),
            OrderEvent::Setup(SetupEvent::VenueAccount {
                line: SessionNo::new(1),
                account: AccountNo::new(1),
                fields: b"1=OMNI\x01581=1\x01",
            }),
            OrderEvent::Setup(SetupEvent::PositionSet {
                account: AccountNo::new(1),
                instrument: InstrumentNo::new(0),
                was_long: 5,
                was_short: 0,
                long: 0,
                short: 7,
                who,
                why,
            }),
            OrderEvent::Setup(SetupEvent::PositionsLoaded {
                file: b"d.csv",
                deltas: Some(99),
                as_of: None,
                who,
                why,
                changes: NestedEvents(b""),
            }),
            taken(1, b"A"),
            OrderEvent::Pool(PoolEvent::Numbered {
                order: 1,
                pool: PoolNo::new(0),
                number: 0,
                own: false,
                text: b"A0000",
            }),
            OrderEvent::Condition(ConditionEvent::Held {
                order: 1,
                field: PriceField::Last,
                rises: true,
                price: 10_050,
            }),
            OrderEvent::Condition(ConditionEvent::Touched {
                instrument: InstrumentNo::new(0),
                field: PriceField::Last,
                price: 10_060,
                who,
            }),
            OrderEvent::Condition(ConditionEvent::Triggered { order: 1 }),
            OrderEvent::Request(RequestEvent::ValidUntil {
                number: 1,
                until: AT + 1_000_000_000,
            }),
            OrderEvent::Request(RequestEvent::MassCancelTaken {
                session: None,
                filter: OrderFilter::of(scope),
                orders: 1,
                id: b"",
                who,
                why,
            }),
            OrderEvent::Limit(LimitEvent::Trading {
                scope,
                state: Trading::Killed,
                who,
                why,
            }),
            OrderEvent::Limit(LimitEvent::ArmAsked {
                scope,
                state: Trading::Reducing,
                who,
                why,
            }),
            OrderEvent::Request(RequestEvent::Refused {
                session: SessionNo::new(0),
                kind: Some(RequestKind::Replace),
                order: Some(1),
                id: b"F",
                original: b"A",
                used: true,
                reason: Reason::of(Why::Venue),
                terms: RefusedTerms {
                    account: Some(AccountNo::new(1)),
                    instrument: Some(InstrumentNo::new(0)),
                    side: Some(Side::Sell),
                    quantity: Some(10),
                    price: Some(10_000),
                },
            }),
            OrderEvent::Stray(StrayEvent::StrayFill {
                line: SessionNo::new(1),
                account: AccountNo::new(1),
                instrument: InstrumentNo::new(0),
                side: Side::Sell,
                effect: Some(Effect::Netting),
                exec: 99,
                quantity: 2,
                price: 10_000,
                id: b"X",
            }),
            OrderEvent::Stray(StrayEvent::StrayUndo {
                line: SessionNo::new(1),
                order: 1,
                correction: true,
                account: Some(AccountNo::new(1)),
                instrument: Some(InstrumentNo::new(0)),
                side: Some(Side::Buy),
                exec: 98,
                of: 97,
                quantity: Some(Decimal::from_int(2)),
                price: Decimal::new(9_995, 2),
                filled: Some(Decimal::from_int(2)),
                status: b'4',
                at: 5,
                id: b"1",
                fill: b"E1",
                text: b"wrong price",
            }),
            OrderEvent::Line(LineEvent::LinkNumbers {
                line: SessionNo::new(1),
                inbound: 7,
                outbound: 8,
            }),
            OrderEvent::Setup(SetupEvent::Instrument {
                index: InstrumentNo::new(0),
                scale: 4,
                quantity_scale: 3,
                worth: 2_000_000,
                symbol: b"XYZ",
            }),
            OrderEvent::Setup(SetupEvent::Account {
                index: AccountNo::new(1),
                parent: None,
                name: b"A1",
            }),
            OrderEvent::Day(DayEvent::Day {
                date: 20_261_127,
                key: 9,
            }),
        ]
    }

    fn input(events: &[OrderEvent<'_>]) -> Vec<u8> {
        let mut bytes = vec![1];
        for event in events {
            let mut note = Vec::new();
            event.put(&mut note);
            bytes.push(u8::try_from(note.len()).expect("a short event"));
            bytes.push(1);
            bytes.extend(note);
        }
        bytes
    }

    /// The body of the checkpoint that the same events make, and an event after it.
    fn checkpoint(events: &[OrderEvent<'_>]) -> Vec<u8> {
        let mut state = OmsState::with_capacity(16);
        for event in world().iter().chain(events) {
            state.apply(AT, event);
        }
        let mut written = Vec::new();
        Ledger::write(&state, &mut |bytes| written.extend_from_slice(bytes));
        written.truncate(written.len() - 8);
        let (_, version) = state.form();
        let length = u16::try_from(written.len()).expect("a small state");
        let mut bytes = vec![2];
        bytes.extend(length.to_le_bytes());
        bytes.extend(written);
        bytes.push(u8::try_from(version - 1).expect("a small number"));
        let behind = input(&[OrderEvent::Line(LineEvent::LineDown {
            line: SessionNo::new(1),
        })]);
        bytes.extend(&behind[1..]);
        bytes
    }

    #[test]
    fn every_event_of_the_seeds_fits_and_the_corpus_has_them() {
        for (name, events) in [("life", life()), ("desk", desk())] {
            let mut state = OmsState::with_capacity(16);
            for event in world().iter().chain(&events) {
                assert!(state.apply(AT, event), "{event:?}");
            }
            let bytes = input(&events);
            run(&bytes);
            run(&checkpoint(&events));
            let path = workspace().join("fuzz/corpus/event").join(name);
            if std::env::var_os("UPDATE").is_some() {
                std::fs::write(&path, &bytes).unwrap();
            }
            let kept = std::fs::read(&path).unwrap();
            assert!(kept == bytes, "{name}: UPDATE=1 writes it anew");
        }
    }

    #[test]
    fn a_restart_that_forgets_a_note_is_found() {
        let bytes = input(&life());
        assert_eq!(check(&bytes, OmsState::apply_note), Ok(()));
        let forgets: fn(&mut OmsState, &[u8]) = |state, note| {
            // The note of the acceptance.
            if note[8] != 20 {
                state.apply_note(note);
            }
        };
        let found = check(&bytes, forgets).unwrap_err();
        assert_eq!(found, "a restart is another state");
    }
}
