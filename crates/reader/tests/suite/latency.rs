//! Intervals are measured between messages that belong together.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use fixwire_journal::{Cause, Directory, Effect, Journal, JournalConfig, JournalId, RecordKind};
use fixwire_protocol::Timestamp;
use fixwire_reader::{LatencyGroup, LatencyKind, LogLatency, LogReader, LogStep, ReadOptions};

use crate::samples::message;

fn measured(path: &Path, ours: &[&str], mut found: LogLatency) -> LogLatency {
    let options = ReadOptions {
        ours: ours.iter().map(|id| (*id).to_owned()).collect(),
        ..ReadOptions::default()
    };
    let mut reader = LogReader::open(&[path.to_owned()], options).unwrap();
    while let LogStep::Message(entry) = reader.next_step() {
        found.add(&entry);
    }
    assert_eq!(reader.take_left_out(), []);
    found
}

/// A log of messages, each at this millisecond.
fn log(path: &Path, lines: &[(u32, &str)]) {
    let mut text = String::new();
    for (milli, body) in lines {
        let message = String::from_utf8(message(body)).unwrap();
        writeln!(text, "20261120-10:00:00.{milli:03} : {message}").unwrap();
    }
    fs::write(path, text).unwrap();
}

/// All intervals of a kind in milliseconds, ascending, and the number of those in one turn.
fn millis(found: &LogLatency, kind: LatencyKind) -> (Vec<u64>, u64) {
    let Some(counts) = found.kinds.get(&kind) else {
        return (Vec::new(), 0);
    };
    assert_eq!((counts.backwards, counts.untimed), (0, 0));
    let values = counts.histogram.iter_recorded();
    let values = values.flat_map(|value| {
        let millis = (value.value_iterated_to() as f64 / 1e6).round() as u64;
        (0..value.count_at_value()).map(move |_| millis)
    });
    (values.collect(), counts.same_turn)
}

#[test]
fn orders_and_changes_of_one_session() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("x.log");
    let ways = ["49=CLIENT|56=BROKER", "49=BROKER|56=CLIENT"];
    let (client, broker) = (ways[0], ways[1]);
    let lines = [
        (0, format!("35=D|34=1|{client}|11=A|55=VOD")),
        (1, format!("35=D|34=2|{client}|11=B|55=TX")),
        // The same messages in another log.
        (1, format!("35=D|34=2|{client}|11=B|55=TX")),
        // Pending is not an answer.
        (2, format!("35=8|34=1|{broker}|11=A|37=O|150=A|39=A|14=0")),
        (5, format!("35=8|34=2|{broker}|11=A|37=O|150=0|39=0|14=0")),
        (6, format!("35=8|34=3|{broker}|11=A|37=O|150=F|39=1|14=5")),
        (9, format!("35=8|34=4|{broker}|11=A|37=O|150=F|39=1|14=6")),
        // A reject of the session layer.
        (21, format!("35=3|34=5|{broker}|45=2")),
        (30, format!("35=G|34=3|{client}|11=A2|41=A|55=VOD")),
        (
            31,
            format!("35=8|34=6|{broker}|11=A2|41=A|37=O|150=E|39=E|14=6"),
        ),
        (
            37,
            format!("35=8|34=7|{broker}|11=A2|41=A|37=O|150=5|39=1|14=6"),
        ),
        (40, format!("35=F|34=4|{client}|11=A3|41=A2")),
        (42, format!("35=9|34=8|{broker}|11=A3|41=A2|37=O|39=1")),
        (50, format!("35=F|34=5|{client}|11=A4|41=A2")),
        // Resent, so its time is different.
        (
            51,
            format!("35=8|34=6|{broker}|43=Y|11=A4|41=A2|37=O|150=4|39=4|14=6"),
        ),
        (
            54,
            format!("35=8|34=9|{broker}|11=A4|41=A2|37=O|150=4|39=4|14=6"),
        ),
        (60, format!("35=D|34=6|{client}|11=C|55=VOD")),
        (61, format!("35=F|34=7|{client}|11=C2|41=C")),
    ];
    let lines = lines.map(|(at, body)| (at, format!("{body}|")));
    let lines: Vec<(u32, &str)> = lines.iter().map(|(at, body)| (*at, &body[..])).collect();
    log(&path, &lines);
    let found = measured(&path, &[], LogLatency::default());
    let of = |kind| millis(&found, kind);
    assert_eq!(of(LatencyKind::OrderToReport), (vec![5, 20], 0));
    assert_eq!(of(LatencyKind::OrderToFill), (vec![6], 0));
    assert_eq!(of(LatencyKind::ReplaceToAnswer), (vec![7], 0));
    assert_eq!(of(LatencyKind::CancelToAnswer), (vec![2, 4], 0));
    assert_eq!(of(LatencyKind::RequestThrough), (vec![], 0));
    assert_eq!(found.unanswered(), (1, 1));
    let groups = |by| {
        let groups = found.groups(LatencyKind::CancelToAnswer, by);
        let groups = groups.map(|(name, times)| format!("{name} {}", times.len()));
        groups.collect::<Vec<_>>()
    };
    assert_eq!(groups(LatencyGroup::Symbol), ["VOD 2"]);
    assert_eq!(groups(LatencyGroup::Type), ["F 2"]);
    assert_eq!(groups(LatencyGroup::Session), ["FIX.4.4:BROKER<>CLIENT 2"]);
}

/// A gateway between CLIENT and VENUE that gives each order an id of its own, or not.
fn gateway(rewrites: bool) -> Vec<(u32, String)> {
    let id = |plain: &str| match rewrites {
        true => format!("GW-{plain}"),
        false => plain.to_owned(),
    };
    let (a, b, c) = (id("A"), id("B"), id("C"));
    let (up, down) = ("49=CLIENT|56=GATE", "49=GATE|56=VENUE");
    let (back, forth) = ("49=VENUE|56=GATE", "49=GATE|56=CLIENT");
    [
        (0, format!("35=D|34=1|{up}|11=A|55=VOD")),
        (3, format!("35=D|34=1|{down}|11={a}|55=VOD")),
        (4, format!("35=D|34=2|{up}|11=B|55=VOD")),
        (5, format!("35=D|34=2|{down}|11={b}|55=VOD")),
        (10, format!("35=8|34=1|{back}|11={b}|37=V2|150=0|39=0|14=0")),
        (12, format!("35=8|34=2|{back}|11={a}|37=V1|150=0|39=0|14=0")),
        (14, format!("35=8|34=1|{forth}|11=B|37=V2|150=0|39=0|14=0")),
        (
            19,
            format!("35=8|34=2|{forth}|11=A|37=G1|198=V1|150=0|39=0|14=0"),
        ),
        (20, format!("35=F|34=3|{up}|11=C|41=A")),
        (28, format!("35=F|34=3|{down}|11={c}|41={a}")),
        (
            30,
            format!("35=8|34=3|{back}|11={c}|41={a}|37=V1|150=4|39=4|14=0"),
        ),
        (
            31,
            format!("35=8|34=3|{forth}|11=C|41=A|37=G1|198=V1|150=4|39=4|14=0"),
        ),
    ]
    .map(|(at, body)| (at, format!("{body}|")))
    .to_vec()
}

#[test]
fn a_gateways_sides_are_linked_by_ids_with_and_without_directions() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("x.log");
    for rewrites in [false, true] {
        let lines = gateway(rewrites);
        let lines: Vec<(u32, &str)> = lines.iter().map(|(at, body)| (*at, &body[..])).collect();
        log(&path, &lines);
        for ours in [&["GATE"][..], &[]] {
            let found = measured(&path, ours, LogLatency::default());
            let of = |kind| millis(&found, kind).0;
            let what = format!("rewrites: {rewrites}, ours: {ours:?}");
            assert_eq!(of(LatencyKind::RequestThrough), [1, 3, 8], "{what}");
            assert_eq!(of(LatencyKind::ReportThrough), [1, 4, 7], "{what}");
            // For the client and for the gateway.
            assert_eq!(of(LatencyKind::OrderToReport), [5, 9, 10, 19], "{what}");
            assert_eq!(of(LatencyKind::CancelToAnswer), [2, 11], "{what}");
            assert_eq!(found.unanswered(), (0, 0), "{what}");
        }
    }
}

#[test]
fn a_journals_record_has_cause_and_effects_and_one_time() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("journal");
    let directory = Directory::open(&folder).unwrap();
    let (mut journal, _) = Journal::open(directory, JournalConfig::default()).unwrap();
    let sessions = ["FIX.4.4:GATE->CLIENT", "FIX.4.4:GATE->VENUE"];
    let [client, venue] = sessions.map(|name| journal.register(Timestamp(0), name).unwrap());
    let mut append = |milli: i64, from: JournalId, inbound: &str, to: JournalId, outbound: &str| {
        let (inbound, outbound) = (message(inbound), message(outbound));
        let cause = Cause {
            session: from,
            kind: RecordKind::Message,
            inbound: Some(&inbound),
            next_in: milli as u64,
            next_out: milli as u64,
            epoch: 0,
        };
        let effect = Effect {
            session: to,
            seq: milli as u64,
            bytes: &outbound,
        };
        let wall = Timestamp(milli * 1_000_000);
        journal
            .append(wall, cause, std::iter::once(effect))
            .unwrap();
        journal.idle_work();
    };
    // The ids have nothing in common.
    let order = "35=D|34=1|49=CLIENT|56=GATE|11=A|";
    append(10, client, order, venue, "35=D|34=1|49=GATE|56=VENUE|11=X|");
    let report = "35=8|34=1|49=VENUE|56=GATE|11=X|37=V|39=0|14=0|150=0|";
    append(
        14,
        venue,
        report,
        client,
        "35=8|34=1|49=GATE|56=CLIENT|11=A|37=G|39=0|14=0|150=0|",
    );
    // An order with an immediate answer.
    let order = "35=D|34=2|49=CLIENT|56=GATE|11=B|";
    append(
        20,
        client,
        order,
        client,
        "35=8|34=2|49=GATE|56=CLIENT|11=B|37=H|39=8|14=0|150=8|",
    );
    drop(journal);
    let found = measured(&folder, &[], LogLatency::default());
    let of = |kind| millis(&found, kind);
    assert_eq!(of(LatencyKind::RequestThrough), (vec![], 1));
    assert_eq!(of(LatencyKind::ReportThrough), (vec![], 1));
    assert_eq!(of(LatencyKind::OrderToReport), (vec![4, 4], 1));
}

#[test]
fn too_many_open_orders_are_given_up_and_counted() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("x.log");
    let mut lines = Vec::new();
    for number in 0..30 {
        lines.push((
            number,
            format!("35=D|34={number}|49=CLIENT|56=BROKER|11=A{number}|"),
        ));
    }
    for number in 0..30 {
        let body = format!("35=8|34={number}|49=BROKER|56=CLIENT|11=A{number}|150=0|39=0|14=0|");
        lines.push((100 + number, body));
    }
    let lines: Vec<(u32, &str)> = lines.iter().map(|(at, body)| (*at, &body[..])).collect();
    log(&path, &lines);
    let found = measured(&path, &[], LogLatency::with_limit(20));
    assert_eq!(found.given_up(), 10);
    assert_eq!(millis(&found, LatencyKind::OrderToReport).0, [100; 20]);
}
