//! The guide "What happened to order X?": its commands, on a log, a journal and a capture of one order.
//!
//! They are in `examples/what-happened`, so that a reader can type the commands; `UPDATE=1` writes them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use fixwire::journal::{Cause, Directory, Effect, Journal, JournalConfig, RecordKind};
use fixwire_protocol::Timestamp;
use fixwire_protocol::frame::check_sum;

use crate::log::{Page, fixwire};

/// 2026-11-20 10:00:00 UTC, in seconds.
const TEN: i64 = 1_795_168_800;
/// The files, from the root of the repository.
const SAMPLES: &str = "examples/what-happened";
const CLIENT_LOG: &str = "client/FIX.4.4-CLIENT-GATE.messages.current.log";
const CAPTURE: &str = "venue.pcap";
/// Bytes of the journal's only segment: this is a small example.
const SEGMENT: usize = 16 << 10;
/// Packets of this kind begin with the header of IPv4.
const RAW_IP: u32 = 101;

/// A message: microseconds after ten, sender and receiver, MsgSeqNum, MsgType, and fields.
type Said = (i64, [&'static str; 2], u64, &'static str, &'static str);

const UP: [&str; 2] = ["CLIENT", "GATE"];
const DOWN: [&str; 2] = ["GATE", "CLIENT"];
const OUT: [&str; 2] = ["GATE", "VENUE"];
const IN: [&str; 2] = ["VENUE", "GATE"];

/// The messages that the gateway received, and those it sent as a result. The fill and the cancel cross.
const SAID: [[Said; 2]; 5] = [
    [
        (
            1_002_000,
            UP,
            2,
            "D",
            "11=K-7|55=VOD|54=1|60=20261120-10:00:01|38=300|40=2|44=1.5|",
        ),
        (
            1_002_140,
            OUT,
            2,
            "D",
            "11=G42|55=VOD|54=1|60=20261120-10:00:01|38=300|40=2|44=1.5|",
        ),
    ],
    [
        (
            1_003_300,
            IN,
            2,
            "8",
            "37=V9|11=G42|17=1|150=0|39=0|55=VOD|54=1|38=300|151=300|14=0|6=0|",
        ),
        (
            1_003_420,
            DOWN,
            2,
            "8",
            "37=V9|11=K-7|17=1|150=0|39=0|55=VOD|54=1|38=300|151=300|14=0|6=0|",
        ),
    ],
    [
        (
            5_000_400,
            UP,
            3,
            "F",
            "11=K-8|41=K-7|55=VOD|54=1|60=20261120-10:00:05|38=300|",
        ),
        (
            5_000_510,
            OUT,
            3,
            "F",
            "11=G43|41=G42|37=V9|55=VOD|54=1|60=20261120-10:00:05|38=300|",
        ),
    ],
    [
        (
            5_000_580,
            IN,
            3,
            "8",
            "37=V9|11=G42|17=2|150=F|39=2|55=VOD|54=1|38=300|32=300|31=1.5|151=0|14=300|6=1.5|",
        ),
        (
            5_000_690,
            DOWN,
            3,
            "8",
            "37=V9|11=K-7|17=2|150=F|39=2|55=VOD|54=1|38=300|32=300|31=1.5|151=0|14=300|6=1.5|",
        ),
    ],
    [
        (
            5_001_700,
            IN,
            4,
            "9",
            "37=V9|11=G43|41=G42|39=2|434=1|102=0|58=already filled|",
        ),
        (
            5_001_810,
            DOWN,
            4,
            "9",
            "37=V9|11=K-8|41=K-7|39=2|434=1|102=0|58=already filled|",
        ),
    ],
];

fn bytes((at, [from, to], number, msg_type, fields): &Said) -> Vec<u8> {
    let (second, milli) = (at / 1_000_000, at / 1000 % 1000);
    let head = format!(
        "35={msg_type}|34={number}|49={from}|52=20261120-10:00:{second:02}.{milli:03}|56={to}|"
    );
    let body = format!("{head}{fields}").replace('|', "\x01");
    let text = format!("8=FIX.4.4\x019={}\x01{body}", body.len());
    format!("{text}10={:03}\x01", check_sum(text.as_bytes())).into_bytes()
}

/// The log of the client's engine, in the layout of QuickFIX.
fn client_log(folder: &Path) {
    let mut log = Vec::new();
    for said in SAID.iter().flatten().filter(|it| it.1.contains(&"CLIENT")) {
        // Messages take 60 us between client and gateway.
        let at = if said.1 == UP {
            said.0 - 60
        } else {
            said.0 + 60
        };
        let (second, micro) = (at / 1_000_000, at % 1_000_000);
        log.extend(format!("20261120-10:00:{second:02}.{micro:06} : ").bytes());
        log.extend(bytes(said));
        log.push(b'\n');
    }
    fs::create_dir(folder.join("client")).unwrap();
    fs::write(folder.join(CLIENT_LOG), log).unwrap();
}

/// The gateway's journal: a record has an inbound message and its effects.
fn journal(folder: &Path) {
    let directory = Directory::open(folder.join("gateway")).unwrap();
    let config = JournalConfig {
        segment_bytes: SEGMENT,
        index_entries: 64,
        ..JournalConfig::default()
    };
    let (mut journal, _) = Journal::open(directory, config).unwrap();
    let names = ["FIX.4.4:GATE->CLIENT", "FIX.4.4:GATE->VENUE"];
    let [client, venue] = names.map(|name| journal.register(Timestamp(0), name).unwrap());
    for [cause, effect] in &SAID {
        let of = |said: &Said| match said.1.contains(&"CLIENT") {
            true => client,
            false => venue,
        };
        let (inbound, outbound) = (bytes(cause), bytes(effect));
        let recorded = Cause {
            session: of(cause),
            kind: RecordKind::Message,
            inbound: Some(&inbound),
            next_in: cause.2 + 1,
            next_out: effect.2 + 1,
            epoch: 0,
        };
        let sent = Effect {
            session: of(effect),
            seq: effect.2,
            bytes: &outbound,
        };
        let wall = Timestamp((TEN * 1_000_000 + effect.0) * 1000);
        journal
            .append(wall, recorded, std::iter::once(sent))
            .unwrap();
        journal.idle_work();
    }
}

/// The packets that tcpdump captured between gateway and venue.
fn capture(folder: &Path) {
    let mut file = Vec::new();
    for number in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, RAW_IP] {
        file.extend(u32::to_le_bytes(number));
    }
    // The position of each end in its stream.
    let mut sent = [1_u32; 2];
    for said in SAID.iter().flatten().filter(|it| it.1.contains(&"VENUE")) {
        let (message, end) = (bytes(said), usize::from(said.1 == IN));
        let length = 40 + message.len();
        let (ports, addresses) = ([41_000_u16, 9_876], [[10, 0, 0, 1], [10, 0, 0, 2]]);
        for number in [
            (TEN + said.0 / 1_000_000) as u32,
            (said.0 % 1_000_000) as u32,
            length as u32,
            length as u32,
        ] {
            file.extend(number.to_le_bytes());
        }
        file.extend([0x45, 0]);
        file.extend((length as u16).to_be_bytes());
        file.extend([0, 0, 0, 0, 64, 6, 0, 0]);
        file.extend(addresses[end]);
        file.extend(addresses[1 - end]);
        file.extend(ports[end].to_be_bytes());
        file.extend(ports[1 - end].to_be_bytes());
        file.extend(sent[end].to_be_bytes());
        file.extend(sent[1 - end].to_be_bytes());
        // A header of five words; ACK and PSH are set.
        file.extend([0x50, 0x18, 0xff, 0xff, 0, 0, 0, 0]);
        file.extend(&message);
        sent[end] += message.len() as u32;
    }
    fs::write(folder.join(CAPTURE), file).unwrap();
}

/// Copies a folder, without access for others, as a journal requires.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    fs::set_permissions(to, Permissions::from_mode(0o700)).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::write(&to, fs::read(&path).unwrap()).unwrap();
            fs::set_permissions(&to, Permissions::from_mode(0o600)).unwrap();
        }
    }
}

#[test]
fn the_guide_shows_what_happened_to_an_order() {
    let made = tempfile::tempdir().unwrap();
    client_log(made.path());
    journal(made.path());
    capture(made.path());
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let samples = repository.join(SAMPLES);
    if std::env::var_os("UPDATE").is_some() {
        let _ = fs::remove_dir_all(&samples);
        copy(made.path(), &samples);
        fs::remove_file(samples.join("gateway/lock")).unwrap();
    }
    for file in [CLIENT_LOG, CAPTURE] {
        let [is, wanted] = [&samples, made.path()].map(|folder| fs::read(folder.join(file)));
        assert!(is.unwrap() == wanted.unwrap(), "{file}: run with UPDATE=1");
    }

    let root = tempfile::tempdir().unwrap();
    copy(&samples, &root.path().join(SAMPLES));
    // A journal contains random bytes, so only its messages are compared.
    let [is, wanted] = [root.path().join(SAMPLES), made.path().to_owned()]
        .map(|folder| fixwire(&folder, &["journal", "dump", "gateway"]).stdout);
    assert!(is == wanted && !is.is_empty(), "gateway: run with UPDATE=1");

    let mut page = Page::read("docs/guide/what-happened.md");
    let [client, store, capture] =
        ["client", "gateway", CAPTURE].map(|name| format!("{SAMPLES}/{name}"));
    for args in [
        &["log", "order", "K-7", &client][..],
        &["log", "grep", "11=K-8", &client],
        &["log", "order", "K-7", &store],
        &["log", "order", "--ours", "GATE", "G42", &capture],
        &["log", "gaps", &client, &store],
    ] {
        let output = fixwire(root.path(), args);
        assert!(output.status.success(), "{args:?}: {output:?}");
        page.shows(args, &output);
    }
}
