//! Notes of an application in the journal: they come back, with the message that they belong to or not
//! at all, and no peer sees them.

use crate::common;

use std::fs;
use std::sync::Arc;

use fixwire::config::{Connection, Durability, EngineConfig};
use fixwire::host::sim::{SimHost, SimNet};
use fixwire::journal::sim::SimDisk;
use fixwire::journal::{DumpFilter, DumpFormat, dump};
use fixwire::log::FileLog;
use fixwire::protocol::{
    Application, Message, Mono, Nanos, Now, Outbox, Refusal, SessionId, Timestamp, tag,
};
use fixwire::{Engine, Template};

use common::app::{App, answer};
use common::wire::{self, PORT, calm, turns};

/// Answers each order and notes its id; panics at BANG. Its own, since it keeps the times of its notes.
#[derive(Default)]
struct Desk {
    noted: Vec<(Timestamp, String)>,
    /// To be noted for no message.
    later: Option<&'static str>,
}

impl Application for Desk {
    fn on_message(
        &mut self,
        now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let id = message.get(tag::CL_ORD_ID).unwrap_or_default();
        answer(message, from, b"8", outbox)?;
        outbox.note(id).map_err(|_| Refusal::NotAvailable)?;
        answer(message, from, b"8", outbox)?;
        assert_ne!(id, b"BANG");
        let text = String::from_utf8_lossy(id).into_owned();
        self.noted.push((now.wall, text));
        Ok(())
    }

    fn on_note(&mut self, at: Timestamp, note: &[u8]) {
        let text = String::from_utf8_lossy(note).into_owned();
        self.noted.push((at, text));
    }

    fn on_time(&mut self, now: Now, outbox: &mut Outbox) -> Option<Mono> {
        if let Some(text) = self.later.take() {
            outbox.note(text.as_bytes()).expect("room");
            self.noted.push((now.wall, text.to_owned()));
        }
        None
    }
}

fn config(durability: Durability) -> EngineConfig {
    let mut session = wire::acceptor("PEER");
    session.answer_panics = true;
    wire::config(durability, vec![session])
}

#[test]
fn notes_come_back_after_a_crash_in_their_order() {
    for durability in [Durability::Process, Durability::Disk] {
        let (net, disk) = (SimNet::new(1, calm(1 << 20)), SimDisk::new());
        let mut wanted = Vec::new();
        for life in 0..3 {
            let host = SimHost::new(life + 1, &net, &disk);
            let mut engine =
                Engine::simulated(config(durability), Desk::default(), host).expect("it starts");
            assert_eq!(engine.application_mut().noted, wanted, "{durability:?}");
            let conn = net.connect(0, PORT).expect("it listens");
            let seq = u64::from(life) * 3 + 1;
            wire::write(&net, conn, "PEER", "A", seq, "98=0|108=30|");
            turns(&mut engine);
            wire::write(&net, conn, "PEER", "D", seq + 1, &format!("11=A{life}|"));
            net.advance(Nanos::from_secs(1));
            turns(&mut engine);
            engine.application_mut().later = Some("later");
            turns(&mut engine);
            wire::write(&net, conn, "PEER", "D", seq + 2, "11=BANG|");
            turns(&mut engine);
            let first = u64::from(life) * 4 + 1;
            let heard = wire::shown(&wire::read(&net, conn), &["11", "380"]);
            let reports = [1, 2].map(|at| format!("8 {} A{life}", first + at));
            let said = [
                format!("A {first}"),
                reports[0].clone(),
                reports[1].clone(),
                format!("j {} 4", first + 3),
            ];
            assert_eq!(heard, said, "{durability:?}");
            wanted = std::mem::take(&mut engine.application_mut().noted);
            assert_eq!(wanted.len(), 2 * (life as usize + 1));
            net.crash(life + 1, false);
            drop(engine);
            match durability {
                Durability::Disk => disk.cut_power(|_| 0),
                _ => disk.end_process(),
            }
        }
        let texts: Vec<_> = wanted.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["A0", "later", "A1", "later", "A2", "later"]);
    }
}

#[test]
fn a_note_without_room_is_told_and_leaves_nothing() {
    let (net, disk) = (SimNet::new(1, calm(1 << 20)), SimDisk::new());
    for life in 1..3 {
        let big = App::new(|_, _, outbox| {
            outbox.note(&[b'x'; 1 << 20]).expect_err("no room");
            Err(Refusal::NotAvailable)
        });
        let heard = big.heard.clone();
        let mut engine = wire::start(config(Durability::Process), big, life, &net, &disk);
        assert_eq!(heard.take(), [""; 0], "no note");
        let conn = net.connect(0, PORT).expect("it listens");
        let seq = u64::from(life) * 2;
        wire::write(&net, conn, "PEER", "A", seq - 1, "98=0|108=30|");
        wire::write(&net, conn, "PEER", "D", seq, "11=A|");
        (0..20).for_each(|_| drop(engine.turn()));
        let heard = wire::shown(&wire::read(&net, conn), &["380"]);
        assert_eq!(heard[1].rsplit_once(' '), Some((&*format!("j {seq}"), "4")));
        net.crash(life, false);
        drop(engine);
        disk.end_process();
    }
}

#[test]
fn logs_have_no_notes_and_the_dump_shows_them_as_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let (journal, logs) = (folder.path().join("journal"), folder.path().join("logs"));
    let mut config = config(Durability::Process);
    config.journal_dir = journal.clone();
    let Connection::Acceptor { listen } = &mut config.sessions[0].connection else {
        unreachable!("it listens");
    };
    listen.set_port(0);
    config.logs = vec![Arc::new(FileLog::new(logs.clone()))];
    let mut engine = Engine::new(config, Desk::default()).expect("it starts");
    engine.application_mut().later = Some("554=hunter2\u{1}");
    turns(&mut engine);
    drop(engine);
    let mut text = Vec::new();
    dump(
        &journal,
        &DumpFilter::default(),
        &mut text,
        DumpFormat::Text,
    )
    .expect("a journal");
    let text = String::from_utf8_lossy(&text);
    assert!(text.contains(" kept    34=1 554="), "{text}");
    assert!(
        text.contains("554=***") && !text.contains("hunter2"),
        "{text}"
    );
    for file in fs::read_dir(&logs).expect("logs") {
        let text = fs::read_to_string(file.expect("a file").path()).expect("text");
        assert!(!text.contains("554="), "{text}");
    }
}

#[test]
fn what_one_read_causes_is_few_writes_for_each_connection() {
    let (net, disk) = (SimNet::new(1, calm(1 << 20)), SimDisk::new());
    let peer = SessionId(1);
    let app = App::new(move |from, order, outbox| {
        outbox
            .note(b"an order")
            .map_err(|_| Refusal::NotAvailable)?;
        answer(order, from, b"8", outbox)?;
        answer(order, peer, b"D", outbox)?;
        outbox.note(b"sent on").map_err(|_| Refusal::NotAvailable)
    });
    let sessions = ["PEER", "VENUE"].map(wire::acceptor);
    let config = wire::config(Durability::Process, sessions.into());
    let mut engine = wire::start(config, app, 1, &net, &disk);
    let [client, venue] = ["PEER", "VENUE"].map(|name| {
        let conn = net.connect(0, PORT).unwrap();
        wire::write(&net, conn, name, "A", 1, "98=0|108=30|");
        turns(&mut engine);
        wire::read(&net, conn);
        conn
    });
    for seq in 2..22 {
        wire::write(&net, client, "PEER", "D", seq, &format!("11=A{seq}|"));
    }
    let before = net.writes();
    turns(&mut engine);
    // Groups of 1, 2 and 4 orders, and the rest.
    assert_eq!(net.writes() - before, 8);
    for (conn, msg_type) in [(client, "8"), (venue, "D")] {
        let wanted: Vec<_> = (2..22)
            .map(|seq| format!("{msg_type} {seq} A{seq}"))
            .collect();
        assert_eq!(wire::shown(&wire::read(&net, conn), &["11"]), wanted);
    }
}

#[test]
fn notes_are_kept_where_there_is_no_session() {
    let (net, disk) = (SimNet::new(1, calm(1 << 20)), SimDisk::new());
    let heard = common::app::Heard::default();
    for life in 1..4 {
        let mut config = wire::config(Durability::Process, Vec::new());
        config.templates = vec![Template {
            session: wire::acceptor("*"),
            qualified: false,
        }];
        let app = App::default().writes_to(&heard);
        let mut engine = wire::start(config, app, life, &net, &disk);
        let kept: Vec<_> = (1..life).map(|life| format!("note {life}")).collect();
        assert_eq!(heard.take(), kept);
        let note = format!("note {life}");
        let later = move |outbox: &mut Outbox| outbox.note(note.as_bytes()).unwrap();
        engine.application_mut().later.push(Box::new(later));
        turns(&mut engine);
        net.crash(life, false);
        drop(engine);
        disk.end_process();
    }
}
