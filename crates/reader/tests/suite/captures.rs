//! Captures of every kind, and damaged ones: each completely captured message is found, and the rest is reported.

use std::fs;
use std::path::Path;

use etherparse::PacketBuilder;
use fixwire_random::Random;
use fixwire_reader::{LogReader, LogStep, ReadOptions};

use crate::samples::{bytes_of, order};

/// Number of seeds for damaged captures.
const SEEDS: u64 = 1000;

/// A segment of one end of a connection.
#[derive(Clone)]
struct Sent {
    by_client: bool,
    /// Offset of its first byte in the stream.
    at: usize,
    bytes: Vec<u8>,
    flags: Flags,
    /// Acknowledged bytes of the other end.
    confirms: usize,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Flags {
    Syn,
    Data,
    Fin,
}

/// How packets are wrapped.
#[derive(Clone, Copy, Debug)]
enum Wrap {
    Ethernet,
    Vlan,
    Sll,
    Sll2,
    Raw,
    Null,
    V6,
}

const CLIENT: u16 = 40_001;
const BROKER: u16 = 9876;

impl Sent {
    fn packet(&self, wrap: Wrap, begin: u32) -> Vec<u8> {
        let (from, to) = if self.by_client {
            (CLIENT, BROKER)
        } else {
            (BROKER, CLIENT)
        };
        let seq = begin
            .wrapping_add(self.at as u32)
            .wrapping_add(u32::from(self.flags != Flags::Syn));
        let ack = begin.wrapping_add(1).wrapping_add(self.confirms as u32);
        let address = |port: u16| [10, 0, 0, u8::from(port == CLIENT) + 1];
        let wide = |port: u16| {
            let mut address = [0; 16];
            address[15] = u8::from(port == CLIENT) + 1;
            address
        };
        macro_rules! tcp {
            ($ip:expr) => {{
                let tcp = $ip.tcp(from, to, seq, 1000);
                let tcp = if self.flags == Flags::Syn {
                    tcp.syn()
                } else {
                    tcp
                };
                let tcp = if self.flags == Flags::Fin {
                    tcp.fin()
                } else {
                    tcp
                };
                // Only the first SYN acknowledges nothing.
                let tcp = if self.flags == Flags::Syn && self.by_client {
                    tcp
                } else {
                    tcp.ack(ack)
                };
                let mut packet = Vec::new();
                tcp.write(&mut packet, &self.bytes).unwrap();
                packet
            }};
        }
        let (source, target) = (address(from), address(to));
        let v4 = || tcp!(PacketBuilder::ipv4(source, target, 64));
        let before = |head: &[u8]| [head, &v4()].concat();
        match wrap {
            Wrap::Ethernet => {
                let mut packet =
                    tcp!(PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4(source, target, 64));
                // Padding of an Ethernet frame is not data.
                packet.resize(packet.len().max(60), 0);
                packet
            }
            Wrap::Vlan => tcp!(
                PacketBuilder::ethernet2([1; 6], [2; 6])
                    .single_vlan(etherparse::VlanId::try_new(7).unwrap())
                    .ipv4(source, target, 64)
            ),
            Wrap::Sll => before(&[&[0; 14][..], &[8, 0]].concat()),
            Wrap::Sll2 => before(&[&[8, 0][..], &[0; 18]].concat()),
            Wrap::Raw => v4(),
            Wrap::Null => before(&[2, 0, 0, 0]),
            Wrap::V6 => {
                tcp!(PacketBuilder::ethernet2([1; 6], [2; 6]).ipv6(wide(from), wide(to), 64))
            }
        }
    }
}

impl Wrap {
    fn link(self) -> u32 {
        match self {
            Self::Ethernet | Self::Vlan | Self::V6 => 1,
            Self::Sll => 113,
            Self::Sll2 => 276,
            Self::Raw => 101,
            Self::Null => 0,
        }
    }
}

/// Both streams of a connection, cut into segments, with acknowledgements between them.
fn conversation(random: &mut Random, count: usize) -> (Vec<Sent>, [Vec<u8>; 2]) {
    let mut streams = [Vec::new(), Vec::new()];
    let mut sent = Vec::new();
    let push = |sent: &mut Vec<Sent>, client, at, bytes: &[u8], flags, confirms| {
        sent.push(Sent {
            by_client: client,
            at,
            bytes: bytes.to_vec(),
            flags,
            confirms,
        });
    };
    push(&mut sent, true, 0, b"", Flags::Syn, 0);
    push(&mut sent, false, 0, b"", Flags::Syn, 0);
    let mut waiting = [0, 0];
    for number in 1..=count {
        let client = number % 2 == 1;
        let own = usize::from(!client);
        streams[own].extend_from_slice(&order(number));
        while streams[own].len() > waiting[own] {
            let rest = streams[own].len() - waiting[own];
            // Sometimes several messages wait for one segment.
            if rest < 300 && random.below(4) == 0 && number + 2 < count {
                break;
            }
            let len = rest.min(1 + random.below(700) as usize);
            let (from, other) = (waiting[own], waiting[1 - own]);
            push(
                &mut sent,
                client,
                from,
                &streams[own][from..from + len],
                Flags::Data,
                other,
            );
            waiting[own] += len;
            if random.below(3) == 0 {
                push(
                    &mut sent,
                    !client,
                    waiting[1 - own],
                    b"",
                    Flags::Data,
                    waiting[own],
                );
            }
        }
    }
    for client in [true, false] {
        let own = usize::from(!client);
        let rest = streams[own][waiting[own]..].to_vec();
        push(
            &mut sent,
            client,
            waiting[own],
            &rest,
            Flags::Data,
            waiting[1 - own],
        );
        push(
            &mut sent,
            client,
            streams[own].len(),
            b"",
            Flags::Fin,
            waiting[1 - own],
        );
    }
    (sent, streams)
}

fn pcap(packets: &[Vec<u8>], link: u32, nanos: bool, big: bool, most: usize) -> Vec<u8> {
    let word = |number: u32| {
        if big {
            number.to_be_bytes()
        } else {
            number.to_le_bytes()
        }
    };
    let magic = if nanos { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
    let mut file = Vec::new();
    for number in [
        magic,
        if big { 0x0002_0004 } else { 0x0004_0002 },
        0,
        0,
        most as u32,
        link,
    ] {
        file.extend(word(number));
    }
    for (at, packet) in packets.iter().enumerate() {
        let kept = packet.len().min(most);
        for number in [
            1_790_000_000 + at as u32,
            123_000,
            kept as u32,
            packet.len() as u32,
        ] {
            file.extend(word(number));
        }
        file.extend(&packet[..kept]);
    }
    file
}

fn pcapng(packets: &[Vec<u8>], link: u32, big: bool) -> Vec<u8> {
    let word = |number: u32| {
        if big {
            number.to_be_bytes()
        } else {
            number.to_le_bytes()
        }
    };
    let short = |number: u16| {
        if big {
            number.to_be_bytes()
        } else {
            number.to_le_bytes()
        }
    };
    let block = |kind: u32, body: &[u8]| {
        let mut body = body.to_vec();
        body.resize(body.len().next_multiple_of(4), 0);
        let len = word(body.len() as u32 + 12);
        [&word(kind)[..], &len, &body, &len].concat()
    };
    let section = [&word(0x1a2b_3c4d)[..], &short(1), &short(0), &[0xff; 8]].concat();
    let mut file = block(0x0a0d_0d0a, &section);
    // Nanoseconds: if_tsresol is 9.
    let options = [
        &short(9)[..],
        &short(1),
        &[9, 0, 0, 0],
        &short(0),
        &short(0),
    ]
    .concat();
    file.extend(block(
        1,
        &[&short(link as u16)[..], &short(0), &word(0), &options].concat(),
    ));
    file.extend(block(0x0bad, b"something else"));
    for (at, packet) in packets.iter().enumerate() {
        let time = 1_790_000_000_000_000_123 + at as u64 * 1_000_000_000;
        let mut body = [
            0,
            (time >> 32) as u32,
            time as u32,
            packet.len() as u32,
            packet.len() as u32,
        ]
        .map(word)
        .concat();
        body.extend(packet);
        file.extend(block(6, &body));
    }
    file
}

/// Orders by sender, since the two ends of a connection have no common order.
fn by_end(messages: Vec<Vec<u8>>) -> [Vec<Vec<u8>>; 2] {
    let is_client = |message: &Vec<u8>| message.windows(9).any(|it| it == b"49=CLIENT");
    let (client, broker) = messages.into_iter().partition(is_client);
    [client, broker]
}

#[test]
fn captures_of_each_kind_have_all_messages() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("capture");
    let (sent, _) = conversation(&mut Random::new(1), 60);
    let expected = by_end((1..=60).map(order).collect());
    let wraps = [
        Wrap::Ethernet,
        Wrap::Vlan,
        Wrap::Sll,
        Wrap::Sll2,
        Wrap::Raw,
        Wrap::Null,
        Wrap::V6,
    ];
    for (at, wrap) in wraps.into_iter().enumerate() {
        // In the first one, sequence numbers wrap around.
        let begin = if at % 2 == 0 { u32::MAX - 2000 } else { 77 };
        let packets: Vec<_> = sent.iter().map(|it| it.packet(wrap, begin)).collect();
        for (kind, file) in [
            ("pcap", pcap(&packets, wrap.link(), false, false, 65_535)),
            (
                "pcap ns big",
                pcap(&packets, wrap.link(), true, true, 65_535),
            ),
            ("pcapng", pcapng(&packets, wrap.link(), false)),
            ("pcapng big", pcapng(&packets, wrap.link(), true)),
        ] {
            fs::write(&path, file).unwrap();
            let (messages, left_out) = bytes_of(&path);
            assert!(by_end(messages) == expected, "{wrap:?} {kind}");
            assert_eq!(left_out, Vec::<String>::new(), "{wrap:?} {kind}");
        }
    }
}

#[test]
fn the_time_of_a_message_is_that_of_the_packet_that_completed_it() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("capture");
    let (first, second) = (order(1), order(3));
    let data = |at: usize, bytes: &[u8]| Sent {
        by_client: true,
        at,
        bytes: bytes.to_vec(),
        flags: Flags::Data,
        confirms: 0,
    };
    let syn = Sent {
        flags: Flags::Syn,
        ..data(0, b"")
    };
    let both = [first.clone(), second.clone()].concat();
    let cut = first.len() + 10;
    let packets = [
        syn,
        data(0, &both[..20]),
        data(20, &both[20..cut]),
        data(cut, &both[cut..]),
    ];
    let packets: Vec<_> = packets
        .iter()
        .map(|it| it.packet(Wrap::Ethernet, 5))
        .collect();
    fs::write(&path, pcapng(&packets, 1, false)).unwrap();
    let mut reader = LogReader::open(&[path], ReadOptions::default()).unwrap();
    for packet in [3, 4] {
        let LogStep::Message(entry) = reader.next_step() else {
            panic!("a message is missing");
        };
        assert_eq!(entry.place.to_string(), format!("packet {packet}"));
        assert_eq!(
            entry.time().0.unwrap().0,
            1_790_000_000_000_000_123 + (packet - 1) * 1_000_000_000
        );
    }
}

#[test]
fn what_the_capture_cut_off_is_named() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("capture");
    let (sent, _) = conversation(&mut Random::new(2), 40);
    let packets: Vec<_> = sent.iter().map(|it| it.packet(Wrap::Ethernet, 5)).collect();
    fs::write(&path, pcap(&packets, 1, false, false, 200)).unwrap();
    let (messages, left_out) = bytes_of(&path);
    let all: Vec<_> = (1..=40).map(order).collect();
    assert!(
        !messages.is_empty() && messages.len() < 40 && messages.iter().all(|it| all.contains(it))
    );
    assert!(
        left_out
            .iter()
            .any(|what| what.contains("lost, or cut off by the capture")),
        "{left_out:?}"
    );
    fs::write(&path, &pcap(&packets, 1, false, false, 65_535)[..5000]).unwrap();
    let (_, left_out) = bytes_of(&path);
    assert!(
        left_out
            .iter()
            .any(|what| what.contains("ends within a packet")),
        "{left_out:?}"
    );
    fs::write(&path, pcap(&packets[..2], 147, false, false, 65_535)).unwrap();
    let (_, left_out) = bytes_of(&path);
    assert!(
        left_out.len() == 1 && left_out[0].contains("link type 147"),
        "{left_out:?}"
    );
}

/// Drops, repeats, re-cuts and reorders segments. SYN and FIN stay: without them, bytes before the first or after the
/// last packet would be unknown.
fn mangle(sent: &[Sent], random: &mut Random) -> Vec<Sent> {
    let mut mangled: Vec<Sent> = Vec::new();
    let losses = random.below(3);
    for segment in sent {
        let is_data = segment.flags == Flags::Data;
        match random.below(20) {
            0 if is_data && losses > 0 => {}
            1 => mangled.extend([segment.clone(), segment.clone()]),
            2 if segment.bytes.len() > 1 => {
                let cut = 1 + random.below(segment.bytes.len() as u64 - 1) as usize;
                // The second part begins within the first one.
                let back = random.below(cut as u64 + 1) as usize;
                let (mut first, mut second) = (segment.clone(), segment.clone());
                first.bytes.truncate(cut);
                second.bytes.drain(..cut - back);
                second.at += cut - back;
                mangled.extend([first, second]);
            }
            3 if !mangled.is_empty() => {
                // Sent again much later.
                let again = mangled[random.below(mangled.len() as u64) as usize].clone();
                mangled.extend([segment.clone(), again]);
            }
            _ => mangled.push(segment.clone()),
        }
    }
    for _ in 0..random.below(20) {
        let at = 2 + random.below(mangled.len() as u64 - 5) as usize;
        let to = at + 1 + random.below(2) as usize;
        mangled.swap(at, to);
    }
    mangled
}

#[test]
fn a_mangled_capture_gives_the_same_messages_or_names_the_missing_bytes() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("capture");
    let mut damaged = 0;
    for seed in 0..SEEDS {
        let mut random = Random::new(seed);
        let count = 10 + random.below(30) as usize;
        let (sent, streams) = conversation(&mut random, count);
        let mangled = mangle(&sent, &mut random);
        let begin = if seed % 3 == 0 {
            u32::MAX - random.below(6000) as u32
        } else {
            seed as u32
        };
        let packets: Vec<_> = mangled
            .iter()
            .map(|it| it.packet(Wrap::Ethernet, begin))
            .collect();
        let file = match seed % 2 {
            0 => pcap(&packets, 1, true, false, 65_535),
            _ => pcapng(&packets, 1, true),
        };
        fs::write(&path, file).unwrap();
        damaged += u32::from(check(&path, seed, count, &mangled, &streams));
    }
    assert!(
        (100..900).contains(&damaged),
        "{damaged} captures lost something"
    );
}

/// Compares the result with the segments; true when a message is missing.
fn check(path: &Path, seed: u64, count: usize, mangled: &[Sent], streams: &[Vec<u8>; 2]) -> bool {
    let mut reader = LogReader::open(&[path.to_owned()], ReadOptions::default()).unwrap();
    let mut messages = Vec::new();
    while let LogStep::Message(entry) = reader.next_step() {
        messages.push(entry.bytes.to_vec());
    }
    let left_out = reader.take_left_out();
    let found = by_end(messages);
    let mut is_damaged = false;
    for (own, port) in [(0, CLIENT), (1, BROKER)] {
        let mut captured = vec![false; streams[own].len()];
        for segment in mangled.iter().filter(|it| it.by_client == (own == 0)) {
            captured[segment.at..segment.at + segment.bytes.len()].fill(true);
        }
        let (mut at, mut expected) = (0, Vec::new());
        for number in (1..=count).filter(|number| number % 2 == 1 - own) {
            let message = order(number);
            let end = at + message.len();
            if captured[at..end].iter().all(|it| *it) {
                expected.push(message);
            } else {
                is_damaged = true;
                let is_named = left_out.iter().any(|what| {
                    let of_end = format!(":{port} > ");
                    let (from, len) = (what.at.unwrap() as usize, what.len.unwrap() as usize);
                    what.connection.as_ref().unwrap().contains(&of_end)
                        && from < end
                        && from + len > at
                });
                assert!(
                    is_named,
                    "seed {seed}: message {number} is not named: {left_out:?}"
                );
            }
            at = end;
        }
        assert!(
            found[own] == expected,
            "seed {seed}, end {own}: {} of {}",
            found[own].len(),
            expected.len()
        );
    }
    assert!(
        is_damaged || left_out.is_empty(),
        "seed {seed}: {left_out:?}"
    );
    is_damaged
}
