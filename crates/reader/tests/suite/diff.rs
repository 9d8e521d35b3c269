//! The two sides of a session have the same messages, or the differences are reported.

use std::fs;
use std::path::Path;

use fixwire_reader::{DiffFinding, DiffSide, LogDiff, LogReader, ReadOptions};

use crate::samples::message;

fn compare(a: &[String], b: &[String], diff: LogDiff) -> (LogDiff, Vec<String>) {
    let root = tempfile::tempdir().unwrap();
    let open = |name: &str, bodies: &[String]| {
        let path = root.path().join(name);
        let log: Vec<Vec<u8>> = bodies.iter().map(|body| message(body)).collect();
        fs::write(&path, log.concat()).unwrap();
        LogReader::open(&[path], ReadOptions::default()).unwrap()
    };
    let mut diff = diff;
    diff.read(&mut open("a.log", a), &mut open("b.log", b));
    let said = diff.findings().iter().map(|finding| match finding {
        DiffFinding::Only(side, one) => {
            let file = Path::new(&one.file).file_name().unwrap().to_string_lossy();
            assert_eq!(
                file,
                if *side == DiffSide::A {
                    "a.log"
                } else {
                    "b.log"
                }
            );
            let dup = if one.is_duplicate { " dup" } else { "" };
            format!(
                "{side:?} {} {} {}{dup}",
                one.sender, one.number, one.msg_type
            )
        }
        DiffFinding::Differs(one, _, fields) => {
            let fields = fields.iter();
            let value = |it: &Option<String>| it.clone().unwrap_or("-".to_owned());
            let fields = fields.map(|it| {
                let tag = it.tag.map_or("order".to_owned(), |tag| tag.to_string());
                format!(" {tag}:{}/{}", value(&it.a), value(&it.b))
            });
            format!("differs {}{}", one.number, fields.collect::<String>())
        }
    });
    let said = said.collect();
    (diff, said)
}

fn one(number: u32, second: u32, rest: &str) -> String {
    format!("35=D|34={number}|49=CLIENT|56=BROKER|52=20261120-10:00:{second:02}.000|{rest}")
}

fn counts(diff: &LogDiff) -> [u64; 5] {
    let [a, b] = diff.only;
    [diff.same, diff.different, a, b, diff.given_up]
}

#[test]
fn messages_that_one_side_lacks_and_fields_that_differ() {
    let a = [
        one(1, 1, "11=A|38=100|554=tiger|"),
        one(2, 2, "11=B|"),
        one(3, 3, "11=C|38=1|"),
        one(3, 9, "43=Y|11=C|38=1|"),
        one(4, 4, "11=D|44=1|38=1|"),
        one(6, 6, "11=F|"),
    ];
    let b = [
        one(1, 1, "11=A|38=200|554=lions|"),
        one(3, 3, "11=C|38=1|"),
        one(4, 4, "11=D|38=1|44=1|"),
        one(5, 5, "11=E|"),
        one(6, 6, "11=F|58=x|"),
    ];
    let (diff, said) = compare(&a, &b, LogDiff::new(Vec::new()));
    assert_eq!(
        said,
        [
            "differs 1 38:100/200 554:***/***",
            "A CLIENT->BROKER 2 D",
            "differs 4 order:-/-",
            "B CLIENT->BROKER 5 D",
            "differs 6 58:-/x",
            "A CLIENT->BROKER 3 D dup",
        ]
    );
    assert_eq!(counts(&diff), [1, 3, 2, 1, 0]);
    let (diff, said) = compare(&a[..1], &b[..1], LogDiff::new(vec![38, 554]));
    assert_eq!((said.len(), counts(&diff)), (0, [1, 0, 0, 0, 0]));
    assert_eq!(compare(&a, &a, LogDiff::new(Vec::new())).1, [""; 0]);
}

#[test]
fn numbers_that_begin_anew_are_those_of_their_time() {
    let day = |hour: u32, number: u32, id: &str| {
        format!("35=D|34={number}|49=CLIENT|56=BROKER|52=20261120-{hour:02}:00:00.000|11={id}|")
    };
    // Both have the second sequence; of the first one B has only message 2.
    let a = [
        day(9, 1, "A"),
        day(9, 2, "B"),
        day(12, 1, "C"),
        day(12, 2, "D"),
    ];
    let b = [day(9, 2, "B"), day(12, 1, "C"), day(12, 2, "X")];
    let (diff, said) = compare(&a, &b, LogDiff::new(Vec::new()));
    assert_eq!(said, ["A CLIENT->BROKER 1 D", "differs 2 11:D/X"]);
    assert_eq!(counts(&diff), [2, 1, 1, 0, 0]);
    // A SendingTime changed on the way is a differing field.
    let (_, said) = compare(
        &[one(7, 1, "11=A|")],
        &[one(7, 2, "11=A|")],
        LogDiff::new(Vec::new()),
    );
    let times = "20261120-10:00:01.000/20261120-10:00:02.000";
    assert_eq!(said, [format!("differs 7 52:{times}")]);
}

#[test]
fn memory_for_messages_that_wait_is_bounded() {
    let all: Vec<String> = (0..400).map(|at| one(at + 1, at % 60, "11=A|")).collect();
    let (diff, _) = compare(&all, &[], LogDiff::new(Vec::new()).with_room(10_000));
    let [same, different, a, b, given_up] = counts(&diff);
    assert_eq!([same, different, a, b], [0, 0, 400, 0]);
    assert!((370..400).contains(&given_up), "{given_up}");
    let (diff, _) = compare(&all, &all, LogDiff::new(Vec::new()).with_room(10_000));
    assert_eq!(counts(&diff), [400, 0, 0, 0, 0]);
}
