//! All state of a gateway as sorted lines `name=value`, in the words of the field: sessions and rules by their names,
//! orders by the numbers of their requests, held messages by their target. The lines do not depend on how the state is
//! stored.
//!
//! Each struct is taken apart field by field, so that a new field does not compile before it has a line, or is left out
//! here with its reason. The orders are in `orders/tests/state_lines.rs`.

use std::collections::BTreeSet;

use fixwire_harness::worlds::{StateLines, shown};

use super::super::notes::{ANSWERED, HeldMessage, Known, Notes, UNANSWERED, came_at, held, target};
use super::super::queues::CANCELLED;
use super::super::raised::{Missed, Raised};
use super::super::rounds::{Rounds, Sent};
use super::super::shares::Shares;
use super::super::{Core, GatewayCounters};
use super::*;
use crate::orders::tests::state_lines::{add_held, add_orders, ids_text, limits_text};
use crate::rules::RuleScratch;

/// The state that the journal keeps, and the state that ends with the process.
pub(super) fn state_lines(gateway: &Gateway) -> Vec<String> {
    let mut lines = StateLines::default();
    add_notes(&mut lines, &gateway.core.notes);
    add_running(&mut lines, gateway);
    lines.sorted()
}

/// The state that the journal keeps. It is the same after a restart.
pub(super) fn kept_lines(notes: &Notes) -> Vec<String> {
    let mut lines = StateLines::default();
    add_notes(&mut lines, notes);
    lines.sorted()
}

fn add_notes(lines: &mut StateLines, notes: &Notes) {
    let Notes {
        orders,
        noted,
        known,
        memory,
        last_answer,
        held_of,
        held_of_all,
        // See `add_queues`.
        queues: _,
        last_held: _,
        // See `add_running`.
        begun: _,
        most: _,
        order_shares: _,
        held_shares: _,
        memory_shares: _,
        // Settings, and the time of the current message.
        limits: _,
        sessions: _,
        now: _,
        // Buffers.
        draft: _,
        text: _,
        parts: _,
        picked: _,
    } = notes;
    let session = |number: SessionId| match notes.name(number) {
        Some(name) => name.to_string(),
        None => format!("unknown session {}", number.0),
    };
    add_orders(lines, &session, orders);
    let noted = noted.as_ref().map_or("none".to_string(), limits_text);
    lines.add("limits in the journal", noted);
    lines.add("last number of an answer", last_answer);
    for session in known {
        let Known {
            name,
            // The position in the file is not part of the state.
            place: _,
            ids,
            own,
        } = session;
        let ids = ids.as_ref().map_or("as others".to_string(), ids_text);
        lines.add(format_args!("session {name} ids in the journal"), ids);
        let own = own.map_or("none".to_string(), |own| own.to_string());
        lines.add(
            format_args!("session {name} max_remembered in the journal"),
            own,
        );
    }
    // The number of bytes of a held message depends on how it is stored, so only the sums are checked.
    let mut stored = vec![0; held_of.len()];
    add_queues(lines, notes, &session, &mut stored);
    assert_eq!(*held_of, stored, "bytes of held messages, by client");
    assert_eq!(*held_of_all, stored.iter().sum::<u64>());
    let counts = memory.counts();
    lines.add("orders with remembered values", counts.orders);
    lines.add(
        "orders whose remembered values were dropped",
        counts.dropped,
    );
    let mut number = 0;
    memory.each(|client, id, fields| {
        number += 1;
        let client = session(client);
        lines.add(
            format_args!("remembered {number:05}"),
            format_args!("order {} of {client}: {}", shown(id), shown(fields)),
        );
    });
}

/// The messages that wait for each target, the first to be sent first.
fn add_queues(
    lines: &mut StateLines,
    notes: &Notes,
    session: &dyn Fn(SessionId) -> String,
    stored: &mut [u64],
) {
    let queues = &notes.queues;
    for row in 0..queues.rows() {
        let to = session(target(row));
        let mut number = 0;
        queues.each(row, &mut |place, mark, record| {
            // A cancelled message stays in its queue until it is the first, and is never sent.
            if mark == CANCELLED {
                return;
            }
            number += 1;
            let answered = match mark {
                ANSWERED if notes.last_held == Some((target(row).0, place)) => "is answered, and was held last",
                ANSWERED => "is answered",
                UNANSWERED => "is not answered",
                _ => "unknown mark",
            };
            let held = held(record).expect("a record is a message");
            let HeldMessage {
                source,
                target: _,
                passage,
                // The mark of the record has the present value.
                is_answered: _,
                known,
                came,
                msg_type,
                fields,
            } = held;
            let came_at = came_at(record[..8].try_into().expect("it has a time"));
            let came_at = came_at.0;
            stored[source as usize] += record.len() as u64;
            let source = session(SessionId(source));
            lines.add(
                format_args!("held for {to} {number:05}"),
                format_args!(
                    "35={}|{} {passage:?} from {source} at {came_at}, its source {answered}; orders know {}; an answer reads {}",
                    shown(msg_type.0),
                    shown(fields.0),
                    shown(known.0),
                    shown(came.0)
                ),
            );
        });
    }
}

/// Adds the state that ends with the process.
fn add_running(lines: &mut StateLines, gateway: &Gateway) {
    let Gateway {
        rules,
        scratch,
        active,
        open,
        core,
        first_queue,
        // Buffers.
        record: _,
        decoder: _,
        // Settings.
        remarks: _,
    } = gateway;
    let notes = &core.notes;
    let name = |place: usize| notes.sessions[place].0.clone();
    let rule = |at: usize| rules.name(at).map_or(format!("number {at}"), String::from);
    let RuleScratch {
        // Buffers.
        draft: _,
        copy: _,
        text: _,
        buckets,
        matched,
    } = scratch;
    for (number, until) in (1..).zip(buckets) {
        lines.add(format_args!("throttle {number} used until"), until);
    }
    for (at, count) in matched.iter().enumerate() {
        lines.add(format_args!("rule {} matched", rule(at)), count);
    }
    for (place, active) in active.iter().enumerate() {
        lines.add(format_args!("session {} is logged on", name(place)), active);
    }
    for (place, open) in open.iter().enumerate() {
        lines.add(format_args!("session {} is open", name(place)), open);
    }
    add_held(lines, &notes.orders);
    let first = notes.name(target(*first_queue)).unwrap_or("none");
    lines.add("queue that is served first", first);
    lines.add("limits are in the journal", notes.begun);
    lines.add("event about a limit", format_args!("{:?}", notes.most));
    for (limit, shares) in [
        ("max_orders", &notes.order_shares),
        ("max_held", &notes.held_shares),
        ("max_remembered", &notes.memory_shares),
    ] {
        let Shares {
            max,
            // Settings.
            own: _,
            is_shared: _,
            calm: _,
            told,
            told_all,
        } = shares;
        lines.add(format_args!("{limit} is"), max);
        lines.add(format_args!("{limit} event was raised"), told_all);
        for (place, told) in told.iter().enumerate() {
            lines.add(
                format_args!("{limit} event was raised for {}", name(place)),
                told,
            );
        }
    }
    add_core(lines, core, &name, &rule, rules.counters());
}

fn add_core(
    lines: &mut StateLines,
    core: &Core,
    name: &dyn Fn(usize) -> String,
    rule: &dyn Fn(usize) -> String,
    counter_names: &[String],
) {
    let Core {
        // Settings.
        sessions: _,
        reject_unmatched: _,
        listener: _,
        // See `add_notes`.
        notes: _,
        conversions,
        on_reserve,
        counters,
        counted,
        // Buffers.
        text: _,
        own_id: _,
        recalled: _,
        refused,
        raised,
        rounds,
        held_due,
    } = core;
    lines.add("disk is on its reserve", on_reserve);
    lines.add("queues are looked at again at", held_due.0);
    for (name, count) in counter_names.iter().zip(counted) {
        lines.add(format_args!("counter {name}"), count);
    }
    for (from, to, losses) in conversions.losses() {
        let lost = losses.iter().map(|(tag, count)| format!("{tag}: {count}"));
        let lost = lost.collect::<Vec<_>>().join(", ");
        let (from, to, others) = (from.name(), to.name(), losses.others());
        lines.add(
            format_args!("fields lost from {from} to {to}"),
            format_args!("{lost}, others {others}"),
        );
    }
    let refused = refused
        .get()
        .map(|(msg_type, id)| shown(&[msg_type, b" ", id].concat()));
    lines.add(
        "BusinessMessageReject is about",
        refused.unwrap_or_default(),
    );
    let Raised {
        undelivered,
        failed,
    } = raised;
    for (what, missed) in [("undelivered", undelivered), ("failed", failed)] {
        let Missed { happened, sessions } = missed;
        let sessions = sessions
            .iter()
            .map(|place| name(*place))
            .collect::<Vec<_>>();
        lines.add(
            format_args!("current message is {what}"),
            format_args!("{happened} {}", sessions.join(" ")),
        );
    }
    add_counters(lines, counters);
    let Rounds {
        slots,
        // Settings.
        key: _,
        ids_pass: _,
        // Follows from the messages sent so far.
        types: _,
    } = rounds;
    let mut known = BTreeSet::new();
    for sent in slots.iter().flatten() {
        let Sent {
            session,
            // A hash, whose function is no behaviour.
            print: _,
            rounds,
            rule: by,
        } = sent;
        let by = by.map_or("an answer".to_string(), rule);
        let session = name(session.0 as usize);
        known.insert((session, by, *rounds));
    }
    for (session, by, rounds) in known {
        lines.add(
            format_args!("sent to {session}"),
            format_args!("by {by}, came back {rounds} times"),
        );
    }
}

fn add_counters(lines: &mut StateLines, counters: &GatewayCounters) {
    let GatewayCounters {
        received,
        sent,
        copied,
        returned,
        rejected,
        unmatched,
        unsolicited,
        came_back,
        scripts_failed,
        held,
        undelivered,
        cancelled,
        troubles,
        // Each of these messages is one of the troubles.
        over_share: _,
    } = counters;
    for (name, count) in [
        ("received", received),
        ("sent", sent),
        ("copied", copied),
        ("returned", returned),
        ("rejected", rejected),
        ("unmatched", unmatched),
        ("unsolicited", unsolicited),
        ("came back", came_back),
        ("scripts failed", scripts_failed),
        ("held", held),
        ("undelivered", undelivered),
        ("cancelled", cancelled),
        ("troubles", troubles),
    ] {
        lines.add(format_args!("messages {name}"), count);
    }
}
