//! Anonymous messages have nothing of the original in them, and can be read as before.

use std::fs;
use std::path::Path;

use fixwire_random::Random;
use fixwire_reader::{Anonymiser, LogReader, LogStep, NotAnonymised, ReadOptions};

use crate::samples::message;

const KEY: &[u8] = b"the key of the tests";

/// The result for each message of a log.
fn anonymised(path: &Path, anonymiser: &mut Anonymiser) -> Vec<Result<Vec<u8>, NotAnonymised>> {
    let mut reader = LogReader::open(&[path.to_owned()], ReadOptions::default()).unwrap();
    let mut all = Vec::new();
    while let LogStep::Message(entry) = reader.next_step() {
        all.push(anonymiser.message(&entry));
    }
    all
}

fn has(bytes: &[u8], what: &str) -> bool {
    bytes.windows(what.len()).any(|it| it == what.as_bytes())
}

#[test]
fn names_ids_and_texts_are_gone_and_frames_are_right() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("x.log");
    let secrets = [
        "ALPHABANK",
        "BETAFUND",
        "ord-77-1",
        "ord-77-2",
        "VENUE9981",
        "ACCT55501",
        "tigerpass",
        "call Jane",
        "9x8y7z",
        "raw|data",
        "desk4",
    ];
    let bodies = [
        "35=A|34=1|49=ALPHABANK|56=BETAFUND|50=desk4|553=desk4|554=tigerpass|95=8|96=raw\x01data|",
        "35=D|34=2|49=ALPHABANK|56=BETAFUND|11=ord-77-1|1=ACCT55501|55=VOD|38=100|58=call Jane|5001=9x8y7z|",
        "35=G|34=3|49=ALPHABANK|56=BETAFUND|11=ord-77-2|41=ord-77-1|1=ACCT55501|55=VOD|38=200|",
        "35=8|34=1|49=BETAFUND|56=ALPHABANK|11=ord-77-2|41=ord-77-1|37=VENUE9981|17=E-VENUE9981|55=VOD|14=0|",
    ];
    let log: Vec<Vec<u8>> = bodies.iter().map(|body| message(body)).collect();
    fs::write(&path, log.join(&b'\n')).unwrap();
    let texts: Vec<Vec<u8>> = anonymised(&path, &mut Anonymiser::new(KEY))
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let all = texts.concat();
    for secret in secrets {
        assert!(!has(&all, secret), "{secret}");
    }
    assert!(!has(&all, "raw") && !has(&all, "Jane"));
    // The reader finds complete messages of the same lengths.
    let out = root.path().join("out.log");
    fs::write(&out, texts.join(&b'\n')).unwrap();
    let mut reader = LogReader::open(&[out], ReadOptions::default()).unwrap();
    let mut found = Vec::new();
    while let LogStep::Message(entry) = reader.next_step() {
        assert_eq!(entry.fault, None);
        let text = |tag| String::from_utf8_lossy(entry.get(tag).unwrap_or_default()).into_owned();
        let tags = [49, 56, 11, 41, 37, 1, 55, 38, 58, 554, 50, 553, 5001];
        found.push(tags.map(text));
        assert_eq!(entry.bytes.len(), log[found.len() - 1].len());
    }
    assert_eq!(found.len(), 4);
    let [logon, new, replace, report] = &found[..] else {
        panic!("{found:?}");
    };
    // The same value gets the same pseudonym in every field.
    assert_eq!((&new[0], &new[1]), (&report[1], &report[0]));
    assert_eq!((&replace[3], &report[3]), (&new[2], &new[2]));
    assert_eq!(replace[2], report[2]);
    assert_ne!(replace[2], new[2]);
    assert_eq!(replace[5], new[5]);
    assert_eq!(logon[10], logon[11]);
    assert_eq!((&new[6][..], &new[7][..]), ("VOD", "100"));
    assert_eq!((&new[8][..], &logon[9][..]), ("xxxxxxxxx", "*********"));
    assert!(new[12].as_bytes()[0].is_ascii_digit() && new[12].as_bytes()[1].is_ascii_lowercase());
}

#[test]
fn fields_can_be_kept_and_added_but_no_secret_stays() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("x.log");
    let body = "35=D|34=2|49=ALPHA|56=BETA|11=ord1|1=ACCT|55=VOD|58=hello|100=XNAS|554=tiger|";
    fs::write(&path, message(body)).unwrap();
    let mut anonymiser = Anonymiser::new(KEY);
    anonymiser.keep(&[1, 58, 554]);
    anonymiser.add_ids(&[55]);
    anonymiser.add_texts(&[100]);
    let text = anonymised(&path, &mut anonymiser).remove(0).unwrap();
    assert!(has(&text, "\x011=ACCT\x01") && has(&text, "\x0158=hello\x01"));
    assert!(has(&text, "\x01100=xxxx\x01") && has(&text, "\x01554=*****\x01"));
    assert!(!has(&text, "VOD") && has(&text, "\x0155="));
}

#[test]
fn a_message_that_nobody_can_take_apart_is_left_out() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("x.log");
    let whole = String::from_utf8(message("35=D|34=2|49=A|11=B|")).unwrap();
    let (frame, _) = whole.rsplit_once("10=").unwrap();
    let log = [
        format!("{frame}10=000\x01").into_bytes(),
        message("35=D|34=3|49=A|no tag here|11=B|"),
        message("35=D|34=4|49=A|11=B|"),
    ];
    fs::write(&path, log.join(&b'\n')).unwrap();
    let all = anonymised(&path, &mut Anonymiser::new(KEY));
    assert!(
        matches!(all[0], Err(NotAnonymised::Frame(_))),
        "{:?}",
        all[0]
    );
    assert_eq!(all[1], Err(NotAnonymised::Field));
    assert!(all[2].is_ok());
}

/// Any ids, many of them short: different ids get different pseudonyms, and never their own.
#[test]
fn orders_stay_apart() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("x.log");
    let mut random = Random::new(7);
    let ids: Vec<String> = (0..2000)
        .map(|_| {
            let digits = 1 + random.below(5) as u32;
            let number = random.below(10_u64.pow(digits));
            match random.below(3) {
                0 => number.to_string(),
                1 => format!("A{number}"),
                _ => format!("b-{number}/Z"),
            }
        })
        .collect();
    let log: Vec<Vec<u8>> = ids
        .iter()
        .map(|id| message(&format!("35=D|34=1|11={id}|")))
        .collect();
    fs::write(&path, log.join(&b'\n')).unwrap();
    let mut by_id = std::collections::BTreeMap::new();
    for (id, text) in ids.iter().zip(anonymised(&path, &mut Anonymiser::new(KEY))) {
        let text = String::from_utf8(text.unwrap()).unwrap();
        let pseudonym = text.split("\x0111=").nth(1).unwrap();
        let pseudonym = pseudonym.split('\x01').next().unwrap().to_owned();
        assert_ne!(&pseudonym, id);
        let before = by_id.insert(id.clone(), pseudonym.clone());
        assert!(before.is_none_or(|before| before == pseudonym));
    }
    let different: std::collections::BTreeSet<&String> = by_id.values().collect();
    assert_eq!(different.len(), by_id.len());
}
