//! Messages are validated as by a session.

use std::fs;

use fixwire_protocol::dictionary::{ValidationRules, Version};
use fixwire_protocol::{Decoder, Dictionary};
use fixwire_reader::{LogReader, LogStep, LogValidation, ReadOptions};

use crate::samples::message;

#[test]
fn the_first_problem_of_each_message_is_named_and_counted() {
    let head = "34=2|49=C|52=20261120-10:00:00.000|56=B|";
    let order = |rest: &str| format!("35=D|{head}{rest}");
    let good = "11=A|55=VOD|54=1|60=20261120-10:00:00|38=1|40=1|";
    let bodies = [
        order(good),
        order("11=A|55=VOD|54=1|60=20261120-10:00:00|38=1|"),
        order(&format!("{good}39=0|")),
        order(&good.replace("54=1", "54=?")),
        order(&good.replace("38=1", "38=x")),
        order(&good.replace("54=1", "54=!")),
        order(&format!("{good}9876=\x02|")),
        format!("35=??|{head}"),
    ];
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("x.log");
    let mut log: Vec<u8> = bodies.iter().flat_map(|body| message(body)).collect();
    let wrong = String::from_utf8(message(&bodies[0])).unwrap();
    let (frame, _) = wrong.rsplit_once("10=").unwrap();
    log.extend(format!("\n{frame}10=000\x01\n").bytes());
    fs::write(&path, log).unwrap();
    let dictionary = Dictionary::built_in(Version::Fix44);
    let mut validation = LogValidation::new(ValidationRules::default(), Decoder::with_capacity(64));
    let mut reader = LogReader::open(&[path], ReadOptions::default()).unwrap();
    let mut said = Vec::new();
    while let LogStep::Message(entry) = reader.next_step() {
        let problem = validation.check(&entry, |_, _| Some(&dictionary));
        said.push(problem.map_or("right".to_owned(), |it| {
            let code = it.code.map_or("-".to_owned(), |code| code.to_string());
            let [tag, value] = [it.tag, it.value].map(|it| it.unwrap_or("-".to_owned()));
            format!("{code} {tag} {value} {}", it.reason)
        }));
    }
    let out_of_range = "Value is incorrect (out of range) for this tag";
    let expected = [
        "right".to_owned(),
        "1 40 - Required tag missing".to_owned(),
        "2 39 0 Tag not defined for this message type".to_owned(),
        format!("5 54 ? {out_of_range}"),
        "6 38 x Incorrect data format for value".to_owned(),
        format!("5 54 ! {out_of_range}"),
        "0 9876 \\x02 Invalid tag number".to_owned(),
        "11 - ?? Invalid MsgType".to_owned(),
    ];
    assert_eq!(said[..8], expected);
    assert!(
        said[8].starts_with("- - - ") && said[8].contains("CheckSum"),
        "{}",
        said[8]
    );
    assert_eq!((validation.messages, validation.invalid), (9, 8));
    let side = [out_of_range, "54", "D"].map(str::to_owned);
    assert_eq!(validation.counts[&side].count, 2);
    assert!(validation.counts[&side].first.ends_with("x.log:1"));
}

#[test]
fn the_version_of_a_fixt_session_is_that_of_its_logon() {
    let fixt = |body: &str| {
        let text = String::from_utf8(message(body)).unwrap();
        text.replace("8=FIX.4.4", "8=FIXT.1.1").into_bytes()
    };
    let log = [
        fixt("35=A|34=1|49=C|56=B|1137=7|"),
        fixt("35=D|34=2|49=C|56=B|"),
        fixt("35=D|34=3|49=C|56=B|1128=9|"),
        fixt("35=8|34=2|49=B|56=C|"),
    ];
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("x.log");
    fs::write(&path, log.join(&b'\n')).unwrap();
    let mut reader = LogReader::open(&[path], ReadOptions::default()).unwrap();
    let mut validation = LogValidation::new(ValidationRules::default(), Decoder::with_capacity(64));
    let mut versions = Vec::new();
    while let LogStep::Message(mut entry) = reader.next_step() {
        // The CheckSum belongs to another BeginString.
        entry.fault = None;
        let problem = validation.check(&entry, |message, version| {
            let named = message.get(1128).or(version).unwrap_or(b"?");
            versions.push(String::from_utf8_lossy(named).into_owned());
            None
        });
        assert!(problem.unwrap().reason.contains("FIXT.1.1"));
    }
    assert_eq!(versions, ["7", "7", "9", "?"]);
}
