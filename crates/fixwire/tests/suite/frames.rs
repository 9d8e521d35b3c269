//! Links that carry frames: what is whole is echoed, what is wrong ends the connection, and what was not wholly
//! written is reported and never sent again.

use std::time::Duration;

use fixwire::config::Durability;
use fixwire::harness::Random;
use fixwire::host::sim::{SimNet, Weather};
use fixwire::journal::sim::SimDisk;
use fixwire::journal::{self, Journal, JournalPosition, NOTES, RecordKind};
use fixwire::protocol::{BodyError, Hangup, Nanos, SessionId};
use fixwire::{ConfigError, Rate};

use crate::common::wire::{self, PORT, calm};
use crate::frames_world::{
    Desk, LINK, LINK_PORT, World, acceptor, config, frame, initiator, read, texts,
};

fn world(weather: Weather) -> World {
    let (net, disk) = (SimNet::new(1, weather), SimDisk::new());
    let config = config(Durability::Process, acceptor());
    World::new(&net, &disk, config, Desk::default())
}

#[test]
fn frames_are_echoed_wherever_they_are_split() {
    let mut world = world(calm(1 << 20));
    let conn = world.connect();
    let stream = [frame("A"), frame(""), frame(&"long ".repeat(20))].concat();
    for at in 0..=stream.len() {
        world.say(conn, &stream[..at]);
        world.say(conn, &stream[at..]);
        assert!(read(&world.net, conn) == stream, "split at {at}");
    }
    // Byte by byte, and the longest one there is.
    for byte in &stream {
        world.say(conn, &[*byte]);
    }
    assert!(read(&world.net, conn) == stream);
    let longest = frame(&"x".repeat(65_535 - 16));
    world.say(conn, &longest);
    assert!(read(&world.net, conn) == longest);
    let [link] = world.engine.links().collect::<Vec<_>>()[..] else {
        panic!("there is one link");
    };
    let frames = 3 * (stream.len() as u64 + 2) + 1;
    assert_eq!((link.frames_in, link.frames_out), (frames, frames));
    assert!(link.connected);
}

#[test]
fn a_bad_frame_ends_the_connection_and_nothing_before_it_is_lost() {
    let good = [frame("A"), frame("B")].concat();
    let mut wrong = frame("C");
    wrong[9] ^= 1;
    let cases = [
        (
            vec![0, 15],
            "length field 15 gives a frame of 18 bytes, outside the limits 19 to 65538",
        ),
        (wrong, "checksum 84, expected 85"),
    ];
    for (bad, why) in cases {
        let mut world = world(calm(1 << 20));
        let conn = world.connect();
        world.say(conn, &[&good[..], &bad, &frame("D")].concat());
        assert_eq!(
            texts(&read(&world.net, conn)),
            (vec!["A".into(), "B".into()], 0)
        );
        assert_eq!(world.heard(), ["up", "A", "B", "down 2"]);
        let events = world.events();
        let wanted = format!("link: disconnected: bad frame at byte 40 of the connection: {why}");
        assert!(events.contains(&wanted), "{events:?}");
        // Messages written when it was down.
        assert!(
            events.last().unwrap().starts_with("-: 1 message dropped"),
            "{events:?}"
        );
        let again = world.connect();
        world.say(again, &frame("E"));
        assert_eq!(texts(&read(&world.net, again)).0, ["E"]);
        assert_eq!(world.heard(), ["up", "E"]);
    }
}

#[test]
fn written_is_what_the_peer_can_have_whole() {
    let frames = ["A", "BB", "CCCCCC", "", "EEEE"].map(frame);
    let all = frames.concat().len();
    for room in 0..=all {
        for (from_journal, paced) in [(false, false), (true, false), (true, true)] {
            let (net, disk) = (SimNet::new(1, calm(1 << 20)), SimDisk::new());
            let mut link = acceptor();
            link.outbound = paced.then(|| Rate::per_second(2));
            let mut world = World::new(
                &net,
                &disk,
                config(Durability::Process, link),
                Desk::default(),
            );
            let conn = world.connect();
            net.set_weather(calm(room));
            let sent = frames.clone();
            world.later(move |outbox| {
                for frame in &sent {
                    outbox.frame(LINK, frame).unwrap();
                }
            });
            let mut taken = 0;
            if from_journal {
                // The peer reads once, then never again.
                taken = read(&net, conn).len();
                net.set_weather(calm(room / 2));
                world.turns();
                net.advance(Nanos::from_secs(1));
                world.turns();
            }
            taken += net.unread(conn);
            let (mut whole, mut end) = (0, 0);
            for frame in &frames {
                end += frame.len();
                whole += u64::from(end <= taken);
            }
            net.reset(conn);
            world.turns();
            let wanted = format!("down {whole}");
            let heard = world.heard();
            assert_eq!(
                heard,
                ["up", &wanted],
                "{room} {from_journal} {paced} {taken}"
            );
        }
    }
}

/// Any weather: what the peer has read is a first part of what was written, and `down` says how many frames are in it.
#[test]
fn written_is_exact_in_any_weather() {
    for seed in 1..=300 {
        let mut random = Random::new(seed);
        let weather = Weather {
            splits: true,
            cuts: true,
            room: 30 + random.place(300),
        };
        let (net, disk) = (SimNet::new(seed, weather), SimDisk::new());
        let mut link = acceptor();
        link.outbound = (seed % 3 == 0).then(|| Rate::per_second(7));
        let desk = Desk {
            hello: Some("hello"),
            ..Desk::default()
        };
        let durability = [Durability::Process, Durability::Disk, Durability::Memory];
        let config = config(durability[seed as usize % 3], link);
        let mut world = World::new(&net, &disk, config, desk);
        for life in 0..3 {
            let conn = world.connect();
            let mut got = Vec::new();
            let count = random.place(40);
            for number in 0..count {
                let text = format!("{life}.{number}.{}", "x".repeat(random.place(60)));
                let sent = frame(&text);
                world.later(move |outbox| outbox.frame(LINK, &sent).unwrap());
                if random.one_in(3) {
                    got.extend(read(&net, conn));
                    net.advance(Nanos::from_secs(random.below(2)));
                }
            }
            got.extend(read(&net, conn));
            net.close(conn);
            world.turns();
            let heard = world.heard();
            let (texts, _) = texts(&got);
            assert_eq!(
                texts.first().map_or("hello", |first| first),
                "hello",
                "{seed}"
            );
            let own = format!("{life}.");
            for (number, text) in texts.iter().skip(1).enumerate() {
                assert!(
                    text.starts_with(&format!("{own}{number}.")),
                    "{seed}: {texts:?}"
                );
            }
            let written: usize = heard[1].strip_prefix("down ").unwrap().parse().unwrap();
            // The peer had read everything that the engine had written.
            assert_eq!(written, texts.len(), "{seed} {life}: {texts:?}");
        }
    }
}

#[test]
fn the_application_ends_a_connection_behind_its_last_frame() {
    for room in [1 << 16, 25] {
        let mut world = world(calm(1 << 16));
        let conn = world.connect();
        world.net.set_weather(calm(room));
        world.say(conn, &frame("A"));
        world.net.set_weather(calm(1 << 16));
        world.net.write(conn, &frame("BYE")).unwrap();
        world.net.write(conn, &frame("nobody hears")).unwrap();
        world.net.set_weather(calm(room));
        world.turns();
        let mut got = Vec::new();
        for _ in 0..5 {
            got.extend(read(&world.net, conn));
            world.turns();
        }
        assert_eq!(texts(&got), (vec!["A".into(), "BYE".into()], 0), "{room}");
        assert_eq!(world.heard(), ["up", "A", "BYE", "down 2"]);
        let wanted = "link: disconnected: closed by the application: it said BYE".to_owned();
        assert!(world.events().contains(&wanted));
    }
    // By itself, and a peer that takes nothing is not waited for.
    let mut world = world(calm(1 << 16));
    let conn = world.connect();
    world.net.set_weather(calm(10));
    world.later(|outbox| {
        outbox.frame(LINK, &frame("last")).unwrap();
        outbox.hang_up(LINK, Hangup("silent for 5 s")).unwrap();
        outbox.frame(LINK, &frame("behind")).unwrap();
    });
    assert_eq!(world.heard(), ["up"]);
    assert_eq!(world.net.unread(conn), 10);
    world.net.advance(Nanos::from_secs(3));
    world.turns();
    assert_eq!(world.heard(), ["down 0"]);
    let wanted = "link: disconnected: closed by the application: silent for 5 s".to_owned();
    assert!(world.events().contains(&wanted));
}

#[test]
fn a_second_connection_is_refused_and_the_first_one_stays() {
    let mut world = world(calm(1 << 16));
    let first = world.connect();
    let second = world.connect();
    assert!(!world.net.is_settled(second));
    world.say(first, &frame("A"));
    assert_eq!(texts(&read(&world.net, first)).0, ["A"]);
    assert_eq!(world.heard(), ["up", "A"]);
    let wanted = "link: connection from 127.0.0.1:40000 refused: the session is already connected"
        .to_owned();
    assert!(world.events().contains(&wanted));
    let mut link = acceptor();
    link.addresses = vec!["10.0.0.0/8".parse().unwrap()];
    let config = config(Durability::Process, link);
    let mut world = World::new(
        &SimNet::new(1, calm(64)),
        &SimDisk::new(),
        config,
        Desk::default(),
    );
    world.connect();
    assert_eq!(world.heard(), [""; 0]);
    let events = world.events();
    assert!(
        events
            .last()
            .unwrap()
            .ends_with("the address is not allowed"),
        "{events:?}"
    );
}

#[test]
fn who_sends_no_frame_keeps_the_peer_out_for_a_second_at_most() {
    let mut world = world(calm(1 << 16));
    let silent = world.connect();
    world.say(silent, &frame("A")[..3]);
    world.net.advance(Nanos::from_secs(1));
    let peer = world.connect();
    world.say(peer, &frame("B"));
    assert_eq!(texts(&read(&world.net, peer)).0, ["B"]);
    assert_eq!(world.heard(), ["up", "down 0", "up", "B"]);
    let gone = "the peer sent no complete frame, and another peer connects";
    let events = world.events();
    assert!(
        events.iter().any(|event| event.contains(gone)),
        "{events:?}"
    );
    // Who has sent one stays.
    world.net.advance(Nanos::from_secs(5));
    world.connect();
    world.turns();
    let events = world.events();
    let refused = "refused: the session is already connected";
    assert!(
        events.iter().any(|event| event.contains(refused)),
        "{events:?}"
    );
}

#[test]
fn an_initiator_connects_backs_off_and_goes_on_to_the_next_host() {
    let (net, disk) = (SimNet::new(1, calm(1 << 16)), SimDisk::new());
    let config = config(Durability::Process, initiator());
    let mut world = World::new(&net, &disk, config, Desk::default());
    world.turns();
    let listener = net.listen(0, wire::at(LINK_PORT + 1));
    // The first host refused; the next attempt is after a second, at the second host.
    assert_eq!(net.accept(listener), None);
    net.advance(Nanos::from_secs(1));
    world.turns();
    let conn = net.accept(listener).expect("it connects");
    world.say(conn, &frame("A"));
    assert_eq!(texts(&read(&net, conn)).0, ["A"]);
    net.close(conn);
    world.turns();
    assert_eq!(world.heard(), ["up", "A", "down 1"]);
    net.advance(Nanos::from_secs(1));
    world.turns();
    let conn = net
        .accept(listener)
        .expect("the host that worked is tried again, after the first pause");
    assert_eq!(world.heard(), ["up"]);
    // It takes the connection and says nothing: the pauses grow.
    net.close(conn);
    world.turns();
    net.advance(Nanos::from_secs(2));
    world.turns();
    assert_eq!(world.heard(), ["down 0"]);
    assert_eq!(net.accept(listener), None);
    net.advance(Nanos::from_secs(3));
    world.turns();
    let events = world.events();
    let failed =
        "link: cannot connect to 127.0.0.1 port 2000: connection refused; next attempt in 5.0 s";
    assert_eq!(events.last().unwrap(), failed, "{events:?}");
}

#[test]
fn what_a_socket_does_not_take_ends_the_connection_after_a_time() {
    let mut world = world(calm(1 << 16));
    world.connect();
    world.net.set_weather(calm(10));
    world.later(|outbox| outbox.frame(LINK, &frame("A")).unwrap());
    world.net.advance(Nanos::from_secs(61));
    world.turns();
    assert_eq!(world.heard(), ["up", "down 0"]);
    let events = world.events();
    assert!(
        events
            .iter()
            .any(|event| event.contains("SlowConsumerTimeout")),
        "{events:?}"
    );
}

/// A link that may send three frames at once, and then ten a second.
fn paced(net: &SimNet, disk: &SimDisk) -> World {
    let mut link = acceptor();
    link.outbound = Some(Rate {
        count: 10,
        per: Duration::from_secs(1),
        burst: 3,
    });
    let config = config(Durability::Process, link);
    World::new(net, disk, config, Desk::default())
}

#[test]
fn a_pace_is_kept_and_what_waits_follows_in_order() {
    let (net, disk) = (SimNet::new(1, calm(1 << 16)), SimDisk::new());
    let mut world = paced(&net, &disk);
    let conn = world.connect();
    let stream: Vec<u8> = (0..20).flat_map(|at| frame(&format!("{at}"))).collect();
    world.say(conn, &stream);
    let mut got = read(&net, conn);
    assert_eq!(texts(&got).0.len(), 3);
    for _ in 0..17 {
        net.advance(Nanos(100_000_000));
        world.turns();
        got.extend(read(&net, conn));
    }
    assert!(got == stream);
}

#[test]
fn a_link_that_is_closed_keeps_its_pace() {
    let (net, disk) = (SimNet::new(1, calm(1 << 16)), SimDisk::new());
    let mut world = paced(&net, &disk);
    let conn = world.connect();
    let stream: Vec<u8> = (0..30).flat_map(|at| frame(&format!("{at}"))).collect();
    world.say(conn, &stream);
    world.later(|outbox| outbox.hang_up(LINK, Hangup("the day ends")).unwrap());
    world.turns();
    let mut got = read(&net, conn);
    let mut tenths = 0;
    while net.connections(1) > 0 {
        assert!(texts(&got).0.len() <= 3 + tenths, "{tenths}");
        net.advance(Nanos(100_000_000));
        world.turns();
        got.extend(read(&net, conn));
        tenths += 1;
        assert!(tenths < 40, "the time for the last frames ends");
    }
    let sent = texts(&got).0.len();
    assert!((15..30).contains(&sent), "{sent}");
    assert!(stream.starts_with(&got));
}

/// In one record: an order and the frame that it becomes, and a frame and the report that it becomes.
#[test]
fn a_session_and_a_link_write_to_each_other_in_one_record() {
    let (net, disk) = (SimNet::new(1, calm(1 << 16)), SimDisk::new());
    let mut config = config(Durability::Process, acceptor());
    config.sessions = vec![wire::acceptor("PEER")];
    let mut world = World::new(&net, &disk, config, Desk::default());
    let link = world.connect();
    let fix = net.connect(0, PORT).unwrap();
    wire::write(&net, fix, "PEER", "A", 1, "98=0|108=30|");
    world.turns();
    wire::write(&net, fix, "PEER", "D", 2, "11=X1|");
    world.turns();
    assert_eq!(texts(&read(&net, link)).0, ["X1"]);
    world.say(link, &frame("fill X1"));
    assert_eq!(
        wire::shown(&wire::read(&net, fix), &["11"]),
        ["A 1", "8 2 X1", "8 3 X1"]
    );
    // A frame for a session that is none, and a message for a link.
    world.later(|outbox| {
        assert_eq!(
            outbox.frame(SessionId(0), &frame("A")),
            Err(BodyError::NotALink)
        );
        outbox.begin(LINK, b"D").finish().unwrap();
        outbox.frame(LINK, b"no frame").unwrap();
        outbox.frame(SessionId::of_link(7), &frame("A")).unwrap();
    });
    assert!(read(&net, link).is_empty());
    let dropped: Vec<String> = world.events();
    let dropped = dropped.iter().filter(|event| event.contains("dropped"));
    assert_eq!(dropped.count(), 1);
    drop(world);
    let shapes = records(&disk);
    assert!(
        shapes.contains(&"ENGINE->PEER: note, TMP:CORE->TAIFEX 1, ENGINE->PEER 2".to_owned()),
        "{shapes:?}"
    );
    assert!(
        shapes.contains(&"TMP:CORE->TAIFEX: note, ENGINE->PEER 3".to_owned()),
        "{shapes:?}"
    );
}

/// The cause and the effects of each record of a message: names and numbers.
fn records(disk: &SimDisk) -> Vec<String> {
    let sizes = journal::JournalConfig {
        segment_bytes: 2 << 20,
        ..journal::JournalConfig::default()
    };
    let (mut journal, _) = Journal::open(disk.copy(), sizes).expect("it opens");
    let names: Vec<_> = journal.sessions().map(|known| known.1.to_owned()).collect();
    let name = |id: journal::JournalId| &*names[id.0 as usize];
    let reading = journal.reading().unwrap();
    let records = reading.records(JournalPosition::START);
    let messages = records.filter(|record| record.kind == RecordKind::Message);
    let shown = messages.map(|record| {
        let effects = record.effects.map(|effect| match name(effect.session) {
            NOTES => "note".to_owned(),
            name => format!("{name} {}", effect.seq),
        });
        let effects: Vec<_> = effects.collect();
        format!("{}: {}", name(record.session), effects.join(", "))
    });
    shown.collect()
}

/// One life of a link that stops after this number of operations; returns the messages that the peer got.
fn live(world: &mut World, life: usize) -> Vec<String> {
    let mut got = Vec::new();
    let Ok(conn) = world.net.connect(0, LINK_PORT) else {
        return Vec::new();
    };
    let mut turns = |world: &mut World| {
        for _ in 0..4 {
            if world.disk.has_stopped() || world.engine.turn().is_err() {
                break;
            }
        }
        got.extend(read(&world.net, conn));
    };
    turns(world);
    let mut waiting = Vec::new();
    for number in 0..12 {
        if number < 5 {
            waiting.extend(frame(&format!("{life}.{number}")));
        }
        let count = world.net.write(conn, &waiting).unwrap_or(0);
        waiting.drain(..count);
        turns(world);
    }
    let (texts, rest) = texts(&got);
    assert!(rest == 0 || world.disk.has_stopped(), "half a frame");
    texts
}

#[test]
fn a_process_that_ends_anywhere_sends_nothing_of_an_old_connection() {
    let mut crashed = 0;
    for (durability, power) in [
        (Durability::Process, false),
        (Durability::Disk, false),
        (Durability::Disk, true),
    ] {
        for stop in 1..=160 {
            let weather = Weather {
                splits: true,
                cuts: true,
                room: 70,
            };
            let (net, disk) = (SimNet::new(stop, weather), SimDisk::new());
            let mut random = Random::new(stop);
            let mut seen: Vec<String> = Vec::new();
            for life in 1..=3 {
                let desk = Desk {
                    hello: Some("hello"),
                    ..Desk::default()
                };
                let mut world = World::new(&net, &disk, config(durability, acceptor()), desk);
                let noted: Vec<String> = world.heard();
                let noted: Vec<_> = noted
                    .iter()
                    .filter_map(|it| it.strip_prefix("note "))
                    .collect();
                for text in &seen {
                    assert!(
                        noted.contains(&&**text),
                        "{durability:?} {stop}: {text} in {noted:?}"
                    );
                }
                if life < 3 {
                    disk.stop_after(stop);
                }
                let got = live(&mut world, life);
                crashed += usize::from(disk.has_stopped());
                let own = format!("{life}.");
                for (at, text) in got.iter().enumerate() {
                    let wanted = match at {
                        0 => "hello".to_owned(),
                        _ => format!("{own}{}", at - 1),
                    };
                    assert_eq!(*text, wanted, "{durability:?} {stop}: {got:?}");
                }
                seen.extend(got.into_iter().skip(1));
                net.crash(1, power);
                drop(world);
                match power {
                    true => disk.cut_power(|choices| random.place(choices)),
                    false => disk.end_process(),
                }
            }
            for record in records(&disk) {
                let wanted = "TMP:CORE->TAIFEX: note, TMP:CORE->TAIFEX ";
                assert!(
                    record.starts_with(wanted),
                    "{durability:?} {stop}: {record}"
                );
            }
        }
    }
    assert!(crashed > 300, "{crashed}");
}

#[test]
fn a_stop_writes_what_waits_and_tells_the_application() {
    let mut world = world(calm(1 << 16));
    let conn = world.connect();
    world.net.set_weather(calm(25));
    world.say(conn, &frame("ABCDEFG")[..20]);
    world.net.set_weather(calm(1 << 16));
    world.net.write(conn, &frame("ABCDEFG")[20..]).unwrap();
    world.net.set_weather(calm(25));
    world.turns();
    let _ = world.engine.handle().stop();
    world.turns();
    assert!(!world.engine.is_done());
    let mut got = read(&world.net, conn);
    world.turns();
    got.extend(read(&world.net, conn));
    assert_eq!(texts(&got), (vec!["ABCDEFG".into()], 0));
    assert!(world.engine.is_done());
    assert_eq!(world.heard(), ["up", "ABCDEFG", "down 1"]);
}

#[test]
fn links_that_cannot_work_are_refused() {
    let refused = |change: &dyn Fn(&mut fixwire::EngineConfig)| {
        let mut config = config(Durability::Process, acceptor());
        change(&mut config);
        config.check().expect_err("it is refused").to_string()
    };
    let name = |config: &mut fixwire::EngineConfig| config.links[0].name = NOTES.to_owned();
    assert!(refused(&name).contains("cannot be named"));
    let twice = |config: &mut fixwire::EngineConfig| {
        let mut link = acceptor();
        link.name.push('2');
        config.links.push(link);
    };
    assert_eq!(
        refused(&twice),
        "link TMP:CORE->TAIFEX2 listens at the address of TMP:CORE->TAIFEX: configure a separate address for the link"
    );
    let long = |config: &mut fixwire::EngineConfig| config.max_message = 65_000;
    assert!(refused(&long).contains("more than max_message"));
    let framing = |config: &mut fixwire::EngineConfig| config.links[0].framing.least = 1;
    assert!(refused(&framing).starts_with("link TMP:CORE->TAIFEX: the shortest frame"));
    let mut none = config(Durability::Process, acceptor());
    none.links.clear();
    assert_eq!(none.check(), Err(ConfigError::NoSession));
}
