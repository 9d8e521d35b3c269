//! Does a password ever reach a file, an event or a page?

use crate::common;

use std::fs;
use std::io::Read;
use std::path::Path;

use common::{Peer, Running, acceptor_session, config, initiator_session};
use fixwire::protocol::frame;

/// Long and odd enough to appear nowhere by chance.
const CANARY: &str = "kEYx0Qz7Wm4";

/// The same, but no secret.
const CONTROL: &str = "cOnTr0L5Ty8";

/// Every byte of every file below a folder.
fn bytes_below(folder: &Path, all: &mut Vec<u8>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            bytes_below(&path, all);
        } else {
            fs::File::open(&path).unwrap().read_to_end(all).unwrap();
        }
    }
}

#[track_caller]
fn assert_secret(folder: &Path, running_events: &str) {
    let mut all = Vec::new();
    bytes_below(folder, &mut all);
    assert!(all.len() > 1 << 20, "the journal was read");
    if running_events.contains("Garbled") {
        let kept = all
            .windows(CONTROL.len())
            .any(|it| it == CONTROL.as_bytes());
        assert!(kept, "what is no secret is there to be found");
    }
    for text in [&all[..], running_events.as_bytes()] {
        for part in [CANARY, &CANARY[..8], &CANARY[3..]] {
            let found = text
                .windows(part.len())
                .position(|it| it == part.as_bytes());
            if let Some(at) = found {
                let near = &text[at.saturating_sub(200)..(at + 60).min(text.len())];
                panic!("{part} in {}", near.escape_ascii());
            }
        }
    }
}

/// T15: in ten thousand messages: each type, tag, place, malformed neighbours, data fields.
#[test]
fn t15_a_password_sent_in_ten_thousand_ways_is_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = acceptor_session("127.0.0.1:0");
    session.session.password = CANARY.into();
    let running = Running::start(config(&folder.path().join("journal"), session));
    // Before the Logon: refused, garbled, no Logon, the wrong session.
    let secret = format!("98=0|108=30|554={CANARY}|");
    for (kind, target) in [("A", "NOBODY"), ("D", "EXEC"), ("A", "EXEC")] {
        let mut bytes = common::message(kind, 1, "BENCH", target, &secret);
        if target == "EXEC" && kind == "A" {
            let last = bytes.len() - 2;
            bytes[last] ^= 1;
        }
        let mut peer = Peer::connect(running.address());
        peer.send_bytes(&bytes);
        assert_eq!(peer.receive(), None);
    }
    let mut peer = Peer::connect(running.address());
    peer.send("A", &secret);
    assert!(peer.receive().unwrap().contains("|35=A|"));
    let mut reader = peer.stream.try_clone().unwrap();
    let answers = std::thread::spawn(move || {
        let (mut bytes, mut count, mut tail) = ([0; 65536], 0, Vec::new());
        while let Ok(read @ 1..) = reader.read(&mut bytes) {
            tail.extend_from_slice(&bytes[..read]);
            assert!(!String::from_utf8_lossy(&tail).contains(CANARY), "echoed");
            let ends = tail.windows(4).rposition(|it| it == b"\x0110=");
            count += tail.windows(4).filter(|it| it == b"\x0110=").count();
            tail.drain(..ends.map_or(0, |at| at + 1));
        }
        count
    });
    let kinds = ["A", "BE", "D", "0", "8", "U1", "1", "B", "5x", "j"];
    let tags = ["554", "925", "0554", "00925", " 554", "+554", "554 "];
    let long = "y".repeat(300);
    let befores = [
        "",
        "58=x|",
        "x|",
        "=y|",
        "58=|",
        "x=y|",
        "95=3|96=a|b|",
        "1=1|1=1|",
        "99999999999=1|",
        "554=|",
        "212=4|",
        &format!("58={long}|"),
    ];
    let afters = ["", "58=z|", "x|", "=|", "10|"];
    let n = CANARY.len();
    let datas = [
        format!("1401={n}|1402={CANARY}|"),
        format!("1403={n}|1404={CANARY}|"),
        format!("1402={CANARY}|"),
        format!("1401=99|1402={CANARY}|"),
        format!("1401={}|1402=ab|{CANARY}|", n + 3),
    ];
    let mut ways = 0;
    for kind in kinds {
        for before in befores {
            for after in afters {
                let fields = tags.iter().map(|tag| format!("{tag}={CANARY}|"));
                let mut fields: Vec<String> = fields.chain(datas.iter().cloned()).collect();
                if matches!(kind, "A" | "BE") {
                    fields.push(format!("95={n}|96={CANARY}|"));
                    fields.push(format!("96={CANARY}|"));
                    fields.push(format!("89={CANARY}|"));
                    fields.push(format!("5001={CANARY}|"));
                    fields.push(format!("{CANARY}|"));
                }
                for field in fields {
                    peer.send(kind, &format!("{before}{field}{after}"));
                    ways += 1;
                }
            }
        }
    }
    // Split at every byte, and garbled.
    let bytes = common::message("BE", peer.seq, "BENCH", "EXEC", &secret);
    peer.seq += 1;
    for byte in &bytes {
        peer.send_bytes(&[*byte]);
        ways += 1;
    }
    for at in 0..bytes.len() {
        let mut garbled = bytes.clone();
        garbled[at] ^= 0x10;
        // BodyLength stays, or the rest of the stream would belong to it.
        if frame::next(&garbled, 1 << 16) != frame::next(&bytes, 1 << 16) && at > 15 {
            peer.send_bytes(&garbled);
            ways += 1;
        }
    }
    while ways < 10_000 {
        peer.send(
            "D",
            &format!("11={ways}|{}554={CANARY}|", "58=x|".repeat(ways % 50)),
        );
        ways += 1;
    }
    peer.send("D", &format!("11=last|58={CONTROL}|"));
    peer.send("5", "");
    let count = answers.join().unwrap();
    assert!(count > 5_000, "they were taken as messages: {count}");
    let events = format!("{:?}", running.events.lock().unwrap());
    let numbers = running.stop();
    assert_eq!(numbers[0].0, peer.seq, "the session lived until its Logout");
    assert_secret(folder.path(), &events);
}

/// T15: our own password, in the Logon that an initiator writes.
#[test]
fn t15_our_own_password_is_nowhere() {
    let (ours, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut acceptor = acceptor_session("127.0.0.1:0");
    acceptor.session.password = CANARY.into();
    let acceptor = Running::start(config(&theirs.path().join("journal"), acceptor));
    let mut initiator = initiator_session(acceptor.address());
    initiator.session.password = CANARY.into();
    initiator.session.logon_fields = vec![(5001, CANARY.into())];
    let initiator = Running::start(config(&ours.path().join("journal"), initiator));
    common::wait_count(&initiator.seen.logons, 1);
    let events = format!("{:?}", initiator.events.lock().unwrap());
    initiator.stop();
    assert_secret(ours.path(), &events);
    let events = format!("{:?}", acceptor.events.lock().unwrap());
    acceptor.stop();
    assert_secret(theirs.path(), &events);
}

/// T18: names on disk are numbers; what a peer is called never becomes a path.
#[test]
fn t18_no_name_of_a_session_is_a_file() {
    use fixwire::journal::{Directory, Journal, JournalConfig};
    use fixwire::protocol::Timestamp;
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("journal");
    let sizes = JournalConfig {
        segment_bytes: 4 << 20,
        ..JournalConfig::default()
    };
    let mut names: Vec<String> = [
        "../x",
        "../../etc/passwd",
        "/tmp/x",
        "a\0b",
        "%2e%2e%2f",
        "A",
        "a",
        "\u{c4}",
        "\u{41}\u{308}",
        "lock",
        "00000001.fwj",
        "",
        ".",
        "..",
    ]
    .map(str::to_owned)
    .into();
    names.push("x".repeat(4096));
    names.extend((0..10_000).map(|number| format!("../{number}/\u{1b}[2J")));
    let mut ids = std::collections::BTreeSet::new();
    for _ in 0..2 {
        let disk = Directory::open(&inside).unwrap();
        let (mut journal, _) = Journal::open(disk, sizes).unwrap();
        for name in &names {
            ids.insert(journal.register(Timestamp(0), name).unwrap().0);
        }
    }
    assert_eq!(ids.len(), names.len(), "a name has one id, and keeps it");
    let outside: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(outside.len(), 1, "nothing stands beside the folder");
    for entry in fs::read_dir(&inside).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let number = name.strip_suffix(".fwj").unwrap_or_default();
        let is_segment = number.len() == 8 && number.bytes().all(|byte| byte.is_ascii_digit());
        assert!(is_segment || name == "lock" || name == "newest", "{name}");
    }
}
