//! Messages with reused ids, and duplicates, are assigned to the right order.

use std::fs;
use std::path::Path;

use fixwire_journal::{Cause, Directory, Effect, Journal, JournalConfig, RecordKind};
use fixwire_protocol::Timestamp;
use fixwire_reader::{LogPlace, LogReader, LogStep, OrderSearch, OrderStep, ReadOptions};

use crate::samples::message;

/// The orders with an id, with a text for each message.
fn found(path: &Path, id: &str, shown: impl Fn(&OrderStep) -> String) -> Vec<Vec<String>> {
    let mut search = OrderSearch::new(id);
    loop {
        search.begin();
        let mut reader = LogReader::open(&[path.to_owned()], ReadOptions::default()).unwrap();
        while let LogStep::Message(entry) = reader.next_step() {
            search.look(&entry);
        }
        assert_eq!(reader.take_left_out(), []);
        if !search.finish() {
            let lives = search.lives();
            return lives
                .map(|life| life.steps.into_iter().map(&shown).collect())
                .collect();
        }
    }
}

/// The orders of a log with an id, by the lines of their messages. A message is its day, sender, target and body.
fn lines(log: &[(u32, &str, &str, &str)], id: &str) -> Vec<Vec<u64>> {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("x.log");
    let log = log.iter().map(|(day, from, to, body)| {
        let body = format!("35={body}|49={from}|56={to}|52=202611{day}-10:00:00.125|");
        String::from_utf8(message(&body)).unwrap() + "\n"
    });
    fs::write(&path, log.collect::<String>()).unwrap();
    let line = |step: &OrderStep| match step.place {
        LogPlace::Text { line, .. } => line.to_string(),
        other => panic!("{other:?}"),
    };
    let found = found(&path, id, line).into_iter();
    let found = found.map(|life| life.iter().map(|line| line.parse().unwrap()).collect());
    found.collect()
}

/// An inbound message from a peer, and the messages sent to others because of it.
type Record<'a> = ((&'a str, &'a str), &'a [(&'a str, &'a str)]);

/// The orders with an id in a gateway's journal, by the names of their messages, which are in Text(58).
fn named(records: &[Record<'_>], id: &str) -> Vec<Vec<String>> {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("journal");
    let directory = Directory::open(&folder).unwrap();
    let (mut journal, _) = Journal::open(directory, JournalConfig::default()).unwrap();
    let mut session = |name: &str| {
        let name = format!("FIX.4.4:GATE->{name}");
        journal.register(Timestamp(0), &name).unwrap()
    };
    let ids = ["CLIENT", "VENUE", "AUDIT"].map(|name| (name, session(name)));
    let session = |name: &str| ids.iter().find(|it| it.0 == name).unwrap().1;
    for (at, ((from, body), effects)) in records.iter().enumerate() {
        let inbound = message(&format!("35={body}|34={at}|49={from}|56=GATE|"));
        let effects: Vec<_> = effects
            .iter()
            .map(|(to, body)| {
                let text = format!("35={body}|34={at}|49=GATE|56={to}|");
                (session(to), message(&text))
            })
            .collect();
        let cause = Cause {
            session: session(from),
            kind: RecordKind::Message,
            inbound: Some(&inbound),
            next_in: at as u64 + 1,
            next_out: at as u64 + 1,
            epoch: 0,
        };
        let effects = effects.iter().map(|(session, bytes)| Effect {
            session: *session,
            seq: at as u64,
            bytes,
        });
        journal
            .append(Timestamp(at as i64), cause, effects)
            .unwrap();
        journal.idle_work();
    }
    drop(journal);
    let name = |step: &OrderStep| {
        let text = String::from_utf8_lossy(&step.bytes).into_owned();
        let mut fields = text.split('\x01');
        let name = fields.find_map(|field| field.strip_prefix("58="));
        name.unwrap().to_owned()
    };
    found(&folder, id, name)
}

#[test]
fn orders_of_different_brokers_with_one_order_id_are_two() {
    let log = [
        (20, "US1", "B1", "D|34=2|11=A1"),
        (20, "B1", "US1", "8|34=2|11=A1|37=1001"),
        (20, "US2", "B2", "D|34=2|11=Z9"),
        (20, "B2", "US2", "8|34=2|11=Z9|37=1001"),
    ];
    assert_eq!(lines(&log, "A1"), [[1, 2]]);
    assert_eq!(lines(&log, "Z9"), [[3, 4]]);
    assert_eq!(lines(&log, "1001"), [[1, 2], [3, 4]]);
    // The receiver of one sent the other.
    let through = log.map(|(day, from, to, body)| {
        let name = |name| if name == "US2" { "B1" } else { name };
        (day, name(from), name(to), body)
    });
    assert_eq!(lines(&through, "A1"), [[1, 2, 3, 4]]);
}

#[test]
fn a_possible_duplicate_belongs_to_the_day_of_its_original() {
    let log = [
        (20, "C", "B", "D|34=2|11=A1"),
        (20, "B", "C", "8|34=2|11=A1|37=O1"),
        (
            20,
            "B",
            "C",
            "8|34=2|43=Y|122=20261120-10:00:00|11=A1|37=O1",
        ),
        (21, "C", "B", "D|34=2|11=A1"),
        (
            21,
            "B",
            "C",
            "8|34=2|43=Y|122=20261121-09:00:00|11=A1|37=O2",
        ),
    ];
    assert_eq!(lines(&log, "A1"), [vec![1, 2, 3], vec![4, 5]]);
    let log = [
        (20, "C", "B", "D|34=2|11=A1"),
        (20, "B", "C", "8|34=2|11=A1|37=O1"),
        (21, "C", "B", "D|34=9|43=Y|122=20261121-09:00:00|11=A1"),
        (21, "B", "C", "8|34=2|11=A1|37=O2"),
        // The sender does not know the original sending time.
        (22, "C", "B", "D|34=9|43=Y|122=20261122-10:00:00.125|11=A1"),
    ];
    assert_eq!(lines(&log, "A1"), [vec![1, 2], vec![3, 4, 5]]);
}

#[test]
fn a_rejection_in_two_logs_is_one_message() {
    let rejection = "8|34=2|11=A1|37=NONE|39=8|150=8";
    let log = [
        (20, "C", "B", "D|34=2|11=A1"),
        (20, "B", "C", "8|34=2|11=A1|37=O1|39=0|150=0"),
        (21, "C", "B", "D|34=2|11=A1"),
        (21, "C", "B", "D|34=2|11=A1"),
        (21, "B", "C", rejection),
        (21, "B", "C", rejection),
        (21, "C", "B", "D|34=2|11=A1"),
        (21, "B", "C", "8|34=3|11=A1|37=O1|39=4|150=4"),
    ];
    assert_eq!(lines(&log, "A1"), [vec![1, 2, 8], vec![3, 4, 5, 6, 7]]);
}

#[test]
fn copies_of_reports_belong_to_the_order_that_caused_them() {
    let records: [Record<'_>; 4] = [
        (("CLIENT", "D|11=A1|58=a"), &[("VENUE", "D|11=V1|58=b")]),
        (
            ("VENUE", "8|11=V1|37=O1|17=E1|150=0|58=c"),
            &[("AUDIT", "8|11=A1|37=O1|17=E1|150=0|58=d")],
        ),
        (("CLIENT", "D|11=A1|58=e"), &[("VENUE", "D|11=V2|58=f")]),
        (
            ("VENUE", "8|11=V2|37=O2|17=E2|150=F|58=g"),
            &[("AUDIT", "8|11=A1|37=O2|17=E2|150=F|58=h")],
        ),
    ];
    let orders = [["a", "b", "c", "d"], ["e", "f", "g", "h"]];
    assert_eq!(named(&records, "A1"), orders);
    assert_eq!(named(&records, "V2"), orders[1..]);
}

#[test]
fn reports_without_requests_are_of_the_orders_of_their_order_ids() {
    let log = [
        (20, "B", "C", "8|34=2|11=A1|37=P1|150=A"),
        (20, "B", "C", "8|34=3|11=A1|37=O1|150=0"),
        (20, "B", "C", "8|34=4|11=A1|37=O1|150=F"),
        (21, "B", "C", "8|34=2|11=A1|37=O2|39=0"),
        (21, "B", "C", "8|34=3|11=A1|37=O2|150=F"),
        (21, "B", "C", "8|34=4|11=A1|37=O1|150=F"),
    ];
    assert_eq!(lines(&log, "A1"), [vec![1, 2, 3, 6], vec![4, 5]]);
    assert_eq!(lines(&log, "O2"), [[4, 5]]);
}

#[test]
fn an_execution_that_crosses_a_duplicate_order_is_of_the_first_one() {
    let log = [
        (20, "C", "B", "D|34=2|11=A1"),
        (20, "B", "C", "8|34=2|11=A1|37=O1|150=0"),
        (20, "C", "B", "D|34=3|11=A1"),
        (20, "B", "C", "8|34=3|11=A1|37=O1|150=F"),
        (20, "B", "C", "8|34=4|11=A1|37=NONE|39=8"),
        // A reused OrderID.
        (21, "C", "B", "D|34=2|11=A1"),
        (21, "B", "C", "8|34=2|11=A1|37=O1|150=0"),
        (21, "B", "C", "8|34=3|11=A1|37=O1|150=F"),
    ];
    assert_eq!(
        lines(&log, "A1"),
        [vec![1, 2, 4], vec![3, 5], vec![6, 7, 8]]
    );
}

#[test]
fn the_orders_of_a_list_stay_apart_through_a_gateway() {
    let list = "E|73=2|11=A1|11=A2|58=in";
    let records: [Record<'_>; 4] = [
        (("CLIENT", list), &[("VENUE", "E|73=2|11=V1|11=V2|58=out")]),
        (
            ("VENUE", "8|11=V2|37=O2|17=E2|150=0|58=c"),
            &[("CLIENT", "8|11=A2|37=O2|17=E2|150=0|58=d")],
        ),
        (
            ("VENUE", "8|11=V1|37=O1|17=E1|150=0|58=e"),
            &[("CLIENT", "8|11=A1|37=O1|17=E1|150=0|58=f")],
        ),
        (("VENUE", "8|11=V2|37=O2|17=E3|150=F|58=g"), &[]),
    ];
    for id in ["A1", "V1", "O1"] {
        assert_eq!(named(&records, id), [["in", "out", "e", "f"]], "{id}");
    }
    for id in ["A2", "V2", "O2"] {
        assert_eq!(named(&records, id), [["in", "out", "c", "d", "g"]], "{id}");
    }
    // One of them alone, with its ClOrdID.
    let records: [Record<'_>; 2] = [
        (("CLIENT", list), &[("VENUE", "D|11=A2|58=out")]),
        (("VENUE", "8|11=A2|17=E2|150=0|58=c"), &[]),
    ];
    assert_eq!(named(&records, "A1"), [["in"]]);
    assert_eq!(named(&records, "A2"), [["in", "out", "c"]]);
}

#[test]
fn both_sides_of_a_cross_order_are_changed() {
    let log = [
        (20, "C", "B", "s|34=2|548=X1|552=2|54=1|11=A1|54=2|11=A2"),
        (20, "B", "C", "8|34=2|11=A1|37=O1|150=0"),
        (20, "B", "C", "8|34=3|11=A2|37=O2|150=0"),
        (
            20,
            "C",
            "B",
            "t|34=3|548=X2|551=X1|552=2|54=1|41=A1|11=B1|54=2|41=A2|11=B2",
        ),
        (20, "B", "C", "8|34=4|11=B1|41=A1|150=5"),
        (20, "B", "C", "8|34=5|11=B2|150=5"),
    ];
    for id in ["A1", "B1", "O1"] {
        assert_eq!(lines(&log, id), [[1, 2, 4, 5]], "{id}");
    }
    for id in ["A2", "B2", "O2"] {
        assert_eq!(lines(&log, id), [[1, 3, 4, 6]], "{id}");
    }
}

#[test]
fn an_order_with_very_many_ids_has_one() {
    let many = |count: usize| {
        let ids = (1..count).map(|number| format!("|11=a{number:07}"));
        ids.collect::<String>()
    };
    let order = format!("D|34=2|11=A1{}", many(200_000));
    let log = [
        (20, "C", "B", &order[..]),
        (20, "B", "C", "8|34=2|11=A1|37=O1|37=O2|150=0"),
    ];
    assert_eq!(lines(&log, "A1"), [[1, 2]]);
    assert_eq!(lines(&log, "O1"), [[1, 2]]);
    for id in ["O2", "a0000001", "a0199999"] {
        assert_eq!(lines(&log, id), [[0; 0]; 0], "{id}");
    }
    let list = format!("E|34=2|11=A1{}", many(200_000));
    let log = [(20, "C", "B", &list[..])];
    assert_eq!(lines(&log, "a0099999"), [[1]]);
    assert_eq!(lines(&log, "a0100000"), [[0; 0]; 0]);
}
