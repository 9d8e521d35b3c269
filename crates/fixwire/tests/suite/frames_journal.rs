//! Frames of links in the journal: without their secrets, which the peer gets all the same; a dump shows them; written
//! ones keep no segment.

use std::path::Path;

use fixwire::Rate;
use fixwire::config::Durability;
use fixwire::host::sim::SimNet;
use fixwire::journal::sim::SimDisk;
use fixwire::journal::{
    Cause, Direction, Directory, DumpFilter, DumpFormat, Effect, Journal, JournalConfig, JournalId,
    JournalPosition, RecordKind, Retention, Tail, dump, verify,
};
use fixwire::protocol::framing::Framed;
use fixwire::protocol::{Nanos, Timestamp};

use crate::common::wire::calm;
use crate::frames_world::{Desk, LINK, TMP, World, acceptor, config, frame, read, send, text_of};

const SECRETS: [&str; 5] = ["wolf", "tiger", "lion", "lynx", "puma"];

/// The texts of all frames in a journal; panics where one has a secret or is no frame.
fn stored(disk: &SimDisk) -> Vec<String> {
    let sizes = JournalConfig {
        segment_bytes: 2 << 20,
        ..JournalConfig::default()
    };
    let (mut journal, _) = Journal::open(disk.copy(), sizes).expect("it opens");
    let link = journal.sessions().find(|known| known.1.starts_with("TMP"));
    let link = link.expect("it is registered").0;
    let mut texts = Vec::new();
    let mut take = |bytes: &[u8]| {
        assert_eq!(TMP.next(bytes), Framed::Whole(bytes.len()));
        texts.push(text_of(bytes));
    };
    for record in journal.reading().unwrap().records(JournalPosition::START) {
        if record.kind == RecordKind::Message {
            take(record.body);
        }
        for effect in record.effects {
            let text = String::from_utf8_lossy(effect.bytes);
            assert!(
                !SECRETS.iter().any(|secret| text.contains(secret)),
                "{text}"
            );
            if effect.session == link {
                take(effect.bytes);
            }
        }
    }
    texts
}

/// Written at once, in part, from the journal, or at a pace: the peer has every byte.
#[test]
fn secrets_are_sent_and_not_stored() {
    let texts = ["A", "key tiger", "B", "key lion", "key lynx"];
    for durability in [Durability::Process, Durability::Disk] {
        for room in [7, 19, 30, 64, 1 << 16] {
            for paced in [false, true] {
                let (net, disk) = (SimNet::new(1, calm(1 << 16)), SimDisk::new());
                let mut link = acceptor();
                link.outbound = paced.then(|| Rate::per_second(2));
                let desk = Desk {
                    hello: Some("key puma"),
                    ..Desk::default()
                };
                let mut world = World::new(&net, &disk, config(durability, link), desk);
                let conn = world.connect();
                world.say(conn, &frame("key wolf"));
                net.set_weather(calm(room));
                world.later(move |outbox| {
                    for text in texts {
                        send(outbox, LINK, &frame(text));
                    }
                });
                let wanted: Vec<u8> = ["key puma", "key wolf"].map(frame).concat();
                let wanted = [wanted, texts.map(frame).concat()].concat();
                let mut got = Vec::new();
                for _ in 0..60 {
                    got.extend(read(&net, conn));
                    net.advance(Nanos::from_secs(1));
                    world.turns();
                }
                assert!(got == wanted, "{durability:?} {room} {paced}");
                // A secret that waits is not for the next connection.
                net.set_weather(calm(1));
                world.later(|outbox| send(outbox, LINK, &frame("key lion")));
                net.close(conn);
                world.turns();
                net.set_weather(calm(1 << 16));
                net.advance(Nanos::from_secs(5));
                let again = world.connect();
                assert!(read(&net, again) == frame("key puma"));
                drop(world);
                let stars = [
                    "key ****",
                    "key ****",
                    "key ****",
                    "A",
                    "key *****",
                    "B",
                    "key ****",
                    "key ****",
                    "key ****",
                    "key ****",
                ];
                assert_eq!(stored(&disk), stars);
            }
        }
    }
}

const WALL: Timestamp = Timestamp(1_787_319_000_123_456_789);
const SIZES: JournalConfig = JournalConfig {
    segment_bytes: 8192,
    index_entries: 4,
    synced_before_sent: false,
    retention: None,
};

/// A session's order that becomes a frame, and a frame that is echoed.
fn write(path: &Path) {
    let (mut journal, _) = Journal::open(Directory::open(path).unwrap(), SIZES).unwrap();
    let fix = journal.register(WALL, "FIX.4.4:A->B").unwrap();
    let link = journal.register(WALL, "TMP:CORE->TAIFEX").unwrap();
    let mut append = |session: JournalId, next_in, inbound: &[u8], seq| {
        let cause = Cause {
            session,
            kind: RecordKind::Message,
            inbound: Some(inbound),
            next_in,
            next_out: seq,
            epoch: 0,
        };
        let bytes = &frame("11=X")[..];
        let session = link;
        let effects = std::iter::once(Effect {
            session,
            seq,
            bytes,
        });
        journal.append(WALL, cause, effects).unwrap();
    };
    append(fix, 2, b"8=FIX.4.4\x019=5\x0135=D\x0111=X\x0110=000\x01", 1);
    append(link, 8, &frame("34=9\x0111=X\x01"), 2);
}

#[test]
fn a_dump_has_the_numbers_and_the_bytes_of_frames() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    write(&path);
    let text = |filter: DumpFilter, format| {
        let mut out = Vec::new();
        let read = dump(&path, &filter, &mut out, format).unwrap();
        assert_eq!(read.bad, None);
        String::from_utf8(out).unwrap()
    };
    let all = text(DumpFilter::default(), DumpFormat::Text);
    let time = "2026-08-21T13:30:00.123456789Z ";
    let head = "20".repeat(16);
    let sum = |frame: &[u8]| format!("{:02x}", frame.last().unwrap());
    let (echo, order) = (sum(&frame("11=X")), sum(&frame("34=9\x0111=X\x01")));
    let lines = [
        "FIX.4.4:A->B session FIX.4.4:A->B".to_owned(),
        "TMP:CORE->TAIFEX session TMP:CORE->TAIFEX".to_owned(),
        "FIX.4.4:A->B in      8=FIX.4.4|9=5|35=D|11=X|10=000|".to_owned(),
        format!("TMP:CORE->TAIFEX out     frame=1 0014{head}31313d58{echo}"),
        format!("TMP:CORE->TAIFEX in      frame=7 001a{head}33343d390131313d5801{order}"),
        format!("TMP:CORE->TAIFEX out     frame=2 0014{head}31313d58{echo}"),
    ];
    let lines = lines.map(|line| format!("{time}{line}\n"));
    assert_eq!(all, lines.concat());
    let json = text(DumpFilter::default(), DumpFormat::Json);
    let frames = format!(
        "\"seq\":1,\"next_in\":2,\"next_out\":1,\"epoch\":0,\"frame\":\"0014{head}31313d58{echo}\"}}"
    );
    assert!(json.contains(&frames), "{json}");
    let count = |filter| text(filter, DumpFormat::Text).lines().count();
    let session = Some("TMP:CORE->TAIFEX".to_owned());
    let direction = Some(Direction::Out);
    let filter = DumpFilter {
        session,
        direction,
        last_seq: Some(1),
        ..DumpFilter::default()
    };
    assert_eq!(count(filter), 1);
    // Bytes that look like a field are none.
    let fields = vec![(11, b"X".to_vec())];
    let filter = DumpFilter {
        fields,
        ..DumpFilter::default()
    };
    assert_eq!(count(filter), 1);
    let whole = verify(&path).unwrap();
    assert_eq!((whole.bad, whole.records), (None, 4));
    let mut tail = Tail::new(&path, JournalPosition::START);
    let mut frames = Vec::new();
    while let Some(record) = tail.next_record().unwrap() {
        frames.extend(record.effects.map(|effect| effect.bytes.to_vec()));
    }
    assert!(frames == [frame("11=X"), frame("11=X")]);
}

/// A link that stays connected: the journal goes on without what it has written.
#[test]
fn frames_that_were_written_keep_no_segment() {
    let (net, disk) = (SimNet::new(1, calm(1 << 20)), SimDisk::new());
    let mut settings = config(Durability::Process, acceptor());
    settings.max_message = 66 << 10;
    settings.segment_bytes = 1 << 20;
    settings.retention = Some(Retention {
        keep: Some(Nanos(0)),
        resend: None,
        compress: false,
    });
    let mut world = World::new(&net, &disk, settings.clone(), Desk::default());
    let conn = world.connect();
    let long = frame(&"x".repeat(60_000));
    let push = |world: &mut World| {
        world.later({
            let long = long.clone();
            move |outbox| outbox.frame(LINK, &long).expect("room")
        });
    };
    for _ in 0..100 {
        push(&mut world);
        assert!(read(&net, conn) == long);
        net.advance(Nanos::from_secs(1));
    }
    assert_eq!(disk.read(1), None, "the first segment is removed");
    assert!(disk.read(3).is_none() && disk.read(6).is_some());
    // What waits stays, and is written.
    net.set_weather(calm(0));
    for _ in 0..60 {
        push(&mut world);
    }
    net.set_weather(calm(1 << 20));
    let mut got = Vec::new();
    for _ in 0..200 {
        world.turns();
        got.extend(read(&net, conn));
    }
    assert!(
        got == long.repeat(60),
        "{} of {}",
        got.len(),
        60 * long.len()
    );
    drop(world);
    let world = World::new(&net, &disk, settings, Desk::default());
    assert_eq!(world.heard(), [""; 0]);
}
