//! Messages with ids that several orders have, or that come several times, belong to the right order.

use std::fs;
use std::path::Path;

use fixwire_reader::{LogPlace, LogReader, LogStep, OrderSearch, OrderStep, ReadOptions};

use crate::samples::message;

/// The orders that had an id, with a text for each message.
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
            return lives.map(|life| life.map(&shown).collect()).collect();
        }
    }
}

/// The orders of a log that had an id, by the lines of their messages. A message is its day, sender, target and body.
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
    // Who received the one sent the other.
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
        // The sender does not know when the original was sent.
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
