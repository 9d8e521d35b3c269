//! The history of an order is found from any of its ids.

use std::fs;
use std::path::Path;

use fixwire_reader::{LogReader, LogStep, OrderSearch, OrderStep, ReadOptions};

use crate::samples::message;

/// The numbers of the messages of each order with an id.
fn found(path: &Path, id: &str) -> Vec<Vec<String>> {
    let mut search = OrderSearch::new(id);
    loop {
        search.begin();
        let mut reader = LogReader::open(&[path.to_owned()], ReadOptions::default()).unwrap();
        while let LogStep::Message(entry) = reader.next_step() {
            search.look(&entry);
        }
        if !search.finish() {
            let name = |step: &OrderStep| {
                let text = String::from_utf8_lossy(&step.bytes).into_owned();
                let value = |tag: &str| {
                    let mut fields = text.split('\x01');
                    fields
                        .find_map(|field| field.strip_prefix(tag).map(str::to_owned))
                        .unwrap()
                };
                format!("{}{}", &value("49=")[..1], value("34="))
            };
            return search
                .lives()
                .map(|life| life.steps.into_iter().map(name).collect())
                .collect();
        }
    }
}

#[test]
fn replaces_cancels_busts_and_rejects_belong_to_the_order() {
    let client = |body: &str| message(&format!("35={body}|49=CLIENT|56=BROKER|"));
    let broker = |body: &str| message(&format!("35={body}|49=BROKER|56=CLIENT|"));
    let log = [
        client("D|34=1|11=A"),
        broker("8|34=1|11=A|37=O|17=E1"),
        client("D|34=2|11=X"),
        broker("8|34=2|11=X|37=P|17=E2"),
        client("G|34=3|11=B|41=A"),
        broker("8|34=3|11=B|41=A|37=O|17=E3"),
        client("F|34=4|11=C|41=B"),
        broker("9|34=4|11=C|41=B|37=NONE"),
        client("G|34=5|11=D|41=B"),
        broker("3|34=5|45=5"),
        broker("3|34=6|45=2"),
        broker("8|34=7|17=E9|19=E3"),
        // A reset: MsgSeqNum 1 is now another message.
        client("A|34=1|141=Y"),
        broker("3|34=1|45=1"),
        client("F|34=2|11=Y|41=X"),
        broker("9|34=2|11=Y|41=X|37=NONE"),
    ];
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("x.log");
    fs::write(&path, log.concat()).unwrap();
    let life = ["C1", "B1", "C3", "B3", "C4", "B4", "C5", "B5", "B7"];
    for id in ["A", "B", "C", "D", "O"] {
        assert_eq!(found(&path, id), [life], "{id}");
    }
    for id in ["X", "Y", "P"] {
        // Of the second order, the log has only the cancel.
        assert_eq!(found(&path, id), [["C2", "B2", "B6", "C2", "B2"]], "{id}");
    }
    assert_eq!(found(&path, "Z"), [[""; 0]; 0]);
}
