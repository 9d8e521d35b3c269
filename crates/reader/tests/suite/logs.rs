//! Text logs of each engine: packed, in folders, merged, followed.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use fixwire_protocol::Timestamp;
use fixwire_reader::{LogReader, LogStep, LogZone, ReadOptions};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::samples::{bytes_of, message, order, read};

/// 2026-11-20T10:00:00Z
fn ten() -> i64 {
    Timestamp::parse(b"20261120-10:00:00").unwrap().0
}

#[test]
fn the_lines_of_each_engine_say_when_and_which_way() {
    let root = tempfile::tempdir().unwrap();
    let soh = order(1);
    let bars = String::from_utf8(soh.clone()).unwrap().replace('\x01', "|");
    let text = |prefix: &str| [prefix.as_bytes(), &soh, b"\n"].concat();
    let printed = format!("{:>20}: {bars} (OK)\n", ten() + 1_000_000);
    let milli = ten() + 1_000_000;
    let second = ten() + 1_125_000_000;
    let cases: [(&str, Vec<u8>, String); 8] = [
        (
            "FIX.4.4-CLIENT-BROKER.messages.current.log",
            text("20261120-10:00:00.001000000 : "),
            format!("1 {milli} line FIX.4.4:CLIENT->BROKER Some(Out)"),
        ),
        (
            "FIX.4.4-BROKER-CLIENT.messages.current.log",
            text("20261120-10:00:00.001 : "),
            format!("1 {milli} line FIX.4.4:BROKER->CLIENT Some(In)"),
        ),
        (
            "FIX.4.4-BROKER-CLIENT.messages.log",
            text(""),
            format!("1 {second} SendingTime FIX.4.4:BROKER->CLIENT Some(In)"),
        ),
        (
            "go.log",
            text("2026/11/20 10:00:00.001000 "),
            format!("1 {milli} line FIX.4.4:BROKER<>CLIENT None"),
        ),
        (
            "session.in",
            text("20261120 10:00:00.001 - "),
            format!("1 {milli} line FIX.4.4:BROKER->CLIENT Some(In)"),
        ),
        (
            "session.out.1",
            text("20261120 10:00:00.001 - "),
            format!("1 {milli} line FIX.4.4:CLIENT->BROKER Some(Out)"),
        ),
        (
            "artio.txt",
            printed.into_bytes(),
            format!("1 {milli} line FIX.4.4:BROKER<>CLIENT None"),
        ),
        (
            "slf4j.log",
            text("2026-11-20 10:00:00,001 INFO quickfixj.msg.outgoing - "),
            format!("1 {milli} line FIX.4.4:CLIENT->BROKER Some(Out)"),
        ),
    ];
    for (name, content, expected) in cases {
        let path = root.path().join(name);
        fs::write(&path, content).unwrap();
        let (messages, left_out) = read(&[path], ReadOptions::default());
        assert_eq!(messages, [format!("{expected} {bars}")], "{name}");
        assert_eq!(left_out, Vec::<String>::new());
    }
    let options = ReadOptions {
        zone: LogZone::parse("Asia/Taipei").unwrap(),
        ours: vec!["BROKER".to_owned()],
        shifts: vec![("go.log".to_owned(), 5)],
        ..ReadOptions::default()
    };
    let (messages, _) = read(&[root.path().join("go.log")], options);
    let moment = milli - 8 * 3600 * 1_000_000_000 + 5;
    assert_eq!(
        messages,
        [format!(
            "1 {moment} line FIX.4.4:BROKER->CLIENT Some(In) {bars}"
        )]
    );
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

#[test]
fn packed_logs_of_several_members_are_read_to_their_end() {
    let root = tempfile::tempdir().unwrap();
    let all: Vec<Vec<u8>> = (1..200).map(order).collect();
    let (first, second) = (all[..90].concat(), all[90..].concat());
    let path = root.path().join("any name");
    fs::write(&path, [gzip(&first), gzip(&second)].concat()).unwrap();
    assert_eq!(bytes_of(&path), (all.clone(), Vec::new()));
    // Packed twice, as a careless rotation does.
    fs::write(
        &path,
        gzip(&gzip(&[first.clone(), second.clone()].concat())),
    )
    .unwrap();
    assert_eq!(bytes_of(&path), (all.clone(), Vec::new()));
    let zstd = |bytes: &[u8]| {
        ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
    };
    let skippable = [&[0x52, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    fs::write(&path, [zstd(&first), skippable, zstd(&second)].concat()).unwrap();
    assert_eq!(bytes_of(&path), (all.clone(), Vec::new()));
    // Of a damaged file, the part before the damage is read and the rest reported.
    let mut damaged = [gzip(&first), gzip(&second)].concat();
    damaged.truncate(damaged.len() - 20);
    fs::write(&path, damaged).unwrap();
    let (messages, left_out) = bytes_of(&path);
    assert!(
        messages.len() >= 90 && all.starts_with(&messages),
        "{}",
        messages.len()
    );
    assert!(
        left_out.iter().any(|what| what.contains("gzip")),
        "{left_out:?}"
    );
}

#[test]
fn files_of_a_folder_merge_by_time_and_what_repeats_them_is_passed_over() {
    let root = tempfile::tempdir().unwrap();
    let inner = root.path().join("old");
    fs::create_dir(&inner).unwrap();
    let mut files: Vec<Vec<u8>> = vec![Vec::new(); 40];
    for number in 1..400 {
        let line = format!("20261120-10:00:00.{number:03} : ");
        let bytes = [line.as_bytes(), &order(number), b"\n"].concat();
        files[number * 7 % 40].extend_from_slice(&bytes);
    }
    for (at, content) in files.iter().enumerate() {
        let folder = if at % 2 == 0 { root.path() } else { &inner };
        fs::write(folder.join(format!("{at}.log")), content).unwrap();
    }
    fs::write(root.path().join("FIX.4.4-A-B.body"), order(1)).unwrap();
    let session = root.path().join("FIX.4.4-A-B.messages.current.log");
    fs::rename(root.path().join("0.log"), session).unwrap();
    // As QuickFIX/J writes it.
    let quote = b"20261120-10:00:00: MsgSeqNum too high, expecting 1 but received 4: ";
    let quote = [&quote[..], &order(4), b"\n"].concat();
    let events = root.path().join("FIX.4.4-A-B.event.current.log");
    fs::write(events, quote).unwrap();
    fs::write(
        root.path().join("events.log"),
        "20261120-10:00:00.001 : logged on\n\n",
    )
    .unwrap();
    let mut reader = LogReader::open(&[root.path().to_owned()], ReadOptions::default()).unwrap();
    let mut numbers = Vec::new();
    while let LogStep::Message(entry) = reader.next_step() {
        numbers.push(
            String::from_utf8_lossy(entry.get(34).unwrap())
                .parse::<usize>()
                .unwrap(),
        );
    }
    assert_eq!(numbers, (1..400).collect::<Vec<_>>());
    let sources = reader.sources();
    assert_eq!(
        sources.iter().map(|source| source.messages).sum::<u64>(),
        399
    );
    assert_eq!(
        sources.iter().map(|source| source.other_lines).sum::<u64>(),
        1
    );
    assert_eq!(sources.len(), 41);
    assert_eq!(reader.take_left_out(), []);
}

/// The numbers of the messages available now.
fn now(reader: &mut LogReader) -> Vec<String> {
    let mut numbers = Vec::new();
    while let LogStep::Message(entry) = reader.next_step() {
        numbers.push(String::from_utf8_lossy(entry.get(34).unwrap()).into_owned());
    }
    numbers
}

#[test]
fn a_log_is_followed_when_it_grows_is_rotated_cut_and_removed() {
    let root = tempfile::tempdir().unwrap();
    let path: PathBuf = root.path().join("x.log");
    let mut file = File::create(&path).unwrap();
    file.write_all(&order(1)).unwrap();
    let options = ReadOptions {
        follow: true,
        ..ReadOptions::default()
    };
    let mut reader = LogReader::open(std::slice::from_ref(&path), options).unwrap();
    assert_eq!(now(&mut reader), ["1"]);
    let second = order(2);
    file.write_all(&second[..50]).unwrap();
    assert_eq!(now(&mut reader), [""; 0]);
    file.write_all(&second[50..]).unwrap();
    assert_eq!(now(&mut reader), ["2"]);
    // Rotated: data written to the old file until then is read as well.
    fs::rename(&path, root.path().join("x.log.1")).unwrap();
    file.write_all(&order(3)).unwrap();
    let mut file = File::create(&path).unwrap();
    file.write_all(&order(4)).unwrap();
    assert_eq!(now(&mut reader), ["3", "4"]);
    fs::remove_file(&path).unwrap();
    assert_eq!(now(&mut reader), [""; 0]);
    let mut file = File::create(&path).unwrap();
    file.write_all(&message("35=0|34=5|")).unwrap();
    assert_eq!(now(&mut reader), ["5"]);
    assert_eq!(reader.take_left_out(), []);
    // Truncated, as by copytruncate.
    OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(&path)
        .unwrap();
    assert_eq!(now(&mut reader), [""; 0]);
    OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap()
        .write_all(&message("35=0|34=6|"))
        .unwrap();
    assert_eq!(now(&mut reader), ["6"]);
    let left_out = reader.take_left_out();
    assert!(
        left_out.len() == 1 && left_out[0].why.contains("shorter"),
        "{left_out:?}"
    );
}
