//! Records of messages that change no state: out of sequence, and resent.

use crate::common;

use fixwire::Event;
use fixwire::config::{Durability, EngineConfig, Limits};
use fixwire::host::ConnId;
use fixwire::host::sim::SimNet;
use fixwire::journal::sim::SimDisk;
use fixwire::journal::{self, Journal, JournalPosition, RecordKind};
use fixwire::protocol::{Nanos, Precision, Timestamp, TimestampWriter, frame};

use common::app::App;
use common::wire::{self, PORT, SimEngine, calm};
use common::{Events, events};

/// A connection to an engine, and all that it wrote on it, with `|` for SOH.
struct Talk {
    net: SimNet,
    disk: SimDisk,
    conn: ConnId,
    /// `None` when the process has ended: the disk has what it wrote.
    engine: Option<SimEngine>,
    events: Events,
    wrote: String,
}

impl Talk {
    fn new(durability: Durability, precision: Precision, limits: Limits) -> Self {
        let (net, disk) = (SimNet::new(1, calm(1 << 20)), SimDisk::new());
        let mut session = wire::acceptor("PEER");
        session.session.precision = precision;
        let config = EngineConfig {
            limits,
            ..wire::config(durability, vec![session])
        };
        let mut engine = wire::start(config, App::reports(), 1, &net, &disk);
        let events = events(&mut engine);
        let conn = net.connect(0, PORT).unwrap();
        let mut talk = Self {
            net,
            disk,
            conn,
            engine: Some(engine),
            events,
            wrote: String::new(),
        };
        talk.say("A", 1, "98=0|108=30|");
        talk
    }

    fn say(&mut self, kind: &str, seq: u64, body: &str) {
        wire::write(&self.net, self.conn, "PEER", kind, seq, body);
        self.turn();
        self.wrote += &wire::read(&self.net, self.conn);
        // So that no two turns have the same time.
        self.net.advance(Nanos(1_234_567));
    }

    fn turn(&mut self) {
        let engine = self.engine.as_mut().expect("a process");
        for _ in 0..50 {
            engine.turn().unwrap();
        }
    }

    /// The records, as the journal reads them: kind, counters, body.
    fn records(&mut self) -> Vec<(RecordKind, journal::SequenceCounters, String)> {
        self.engine = None;
        let config = journal::JournalConfig {
            segment_bytes: 1 << 20,
            ..journal::JournalConfig::default()
        };
        let (mut journal, _) = Journal::open(self.disk.copy(), config).unwrap();
        let reading = journal.reading().unwrap();
        let records = reading.records(JournalPosition::START).map(|record| {
            let body = String::from_utf8_lossy(record.body).replace('\x01', "|");
            (record.kind, record.counters, body)
        });
        records.collect()
    }

    /// The bytes of the first segment.
    fn drawn(&mut self) -> Drawn {
        self.engine = None;
        Drawn(self.disk.read(1).unwrap())
    }
}

const DUPLICATE: &str = "43=Y|122=20260302-08:00:01|11=A|";

#[test]
fn each_message_is_recorded_once_with_what_became_of_it() {
    let mut talk = Talk::new(Durability::Process, Precision::Millis, Limits::default());
    talk.say("D", 2, "11=A|");
    talk.say("D", 5, "11=D|");
    talk.say("D", 4, "11=C|");
    talk.say("D", 5, "11=D|");
    talk.say("D", 2, DUPLICATE);
    talk.say("D", 3, "43=Y|122=20260302-08:00:01|11=B|");
    talk.say("2", 6, "7=1|16=0|");
    talk.say("D", 1, "11=low|");
    talk.say("D", 7, "11=ignored|");
    let records = talk.records();
    let kinds: Vec<_> = records.iter().map(|record| record.0).skip(1).collect();
    let expected = [
        RecordKind::Message,
        // From where it logged on.
        RecordKind::Note,
        RecordKind::Message,
        RecordKind::Queued,
        RecordKind::Queued,
        RecordKind::Duplicate,
        RecordKind::Duplicate,
        RecordKind::Message,
        RecordKind::Dequeued,
        RecordKind::Dequeued,
        RecordKind::Message,
        RecordKind::Resent,
        RecordKind::Message,
        RecordKind::Ignored,
    ];
    assert_eq!(kinds, expected);
    // A record that only logs changes no counter.
    for (before, after) in records.iter().zip(&records[1..]) {
        let only_logs = matches!(
            after.0,
            RecordKind::Duplicate | RecordKind::Ignored | RecordKind::Resent
        );
        assert!(!only_logs || before.1 == after.1, "{after:?}");
    }
    for id in ["11=C|", "11=D|", "11=ignored|"] {
        let times = records
            .iter()
            .filter(|record| record.2.contains(id))
            .count();
        // D came twice.
        assert_eq!(times, 1 + usize::from(id == "11=D|"), "{id}");
    }
}

#[test]
fn in_memory_only_what_a_resend_needs_is_recorded() {
    let mut talk = Talk::new(Durability::Memory, Precision::Millis, Limits::default());
    talk.say("D", 2, "11=A|");
    talk.say("D", 4, "11=C|");
    talk.say("D", 2, DUPLICATE);
    talk.say("D", 3, "43=Y|122=20260302-08:00:01|11=B|");
    let engine = talk.engine.as_ref().expect("a process");
    assert_eq!(wire::numbers(engine), [(5, 6)]);
    talk.say("2", 5, "7=1|16=0|");
    let resent = wire::shown(&talk.wrote, &["43"]);
    assert_eq!(resent.iter().filter(|text| text.ends_with(" Y")).count(), 5);
}

/// Bytes of a segment, read as docs/reference/journal-format.md draws them and by nothing else.
struct Drawn(Vec<u8>);

impl Drawn {
    fn word(&self, at: usize) -> usize {
        u32::from_le_bytes(self.0[at..at + 4].try_into().unwrap()) as usize
    }

    fn long(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.0[at..at + 8].try_into().unwrap())
    }

    /// The byte of a position, which is in this segment.
    fn place(&self, at: usize) -> usize {
        assert_eq!(self.long(at) >> 32, 1, "segment 1");
        (self.long(at) & 0xFFFF_FFFF) as usize
    }

    /// The places of the records of this kind.
    fn records(&self, kind: usize) -> Vec<usize> {
        let (mut at, mut found) = (64, Vec::new());
        while self.word(at) != 0 {
            if self.word(at + 36) & 0xFFFF == kind {
                found.push(at);
            }
            at += self.word(at);
        }
        found
    }

    fn body(&self, at: usize) -> &[u8] {
        &self.0[at + 64..][..self.word(at + 60)]
    }

    /// The messages that a record of kind 11 says were sent.
    fn resent(&self, at: usize, precision: Precision) -> Vec<String> {
        let (mut run, end) = (at + 64 + 8, at + 64 + self.word(at + 60));
        let mut stamp = TimestampWriter::new();
        let wall = Timestamp(self.long(at + 16) as i64);
        let time = String::from_utf8(stamp.format(wall, precision).to_vec()).unwrap();
        let mut found = Vec::new();
        while run < end {
            let (first, last, length) = (self.long(run), self.long(run + 8), self.long(run + 24));
            let length = length as usize;
            if self.long(run + 16) == 0 {
                found.push(text(&self.0[run + 32..][..length]));
            } else {
                let mut effect = self.place(run + 16);
                let mut messages = Vec::new();
                for seq in (first..=last).rev() {
                    assert_eq!(self.long(effect + 8), seq);
                    let stored = &self.0[effect + 24..][..self.word(effect + 4)];
                    messages.push(as_resent(&text(stored), &time));
                    if seq > first {
                        effect = self.place(effect + 16);
                    }
                }
                found.extend(messages.into_iter().rev());
            }
            run += 32 + length.next_multiple_of(8);
        }
        assert_eq!(run, end);
        found
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\x01', "|")
}

/// A stored message as it is resent.
fn as_resent(stored: &str, time: &str) -> String {
    let mut body = String::new();
    for field in stored.split_terminator('|').skip(2) {
        match field.split_once('=').unwrap() {
            ("52", sent) => body += &format!("52={time}|43=Y|122={sent}|"),
            ("43" | "122" | "10", _) => {}
            _ => body += &format!("{field}|"),
        }
    }
    let whole = format!("8=FIX.4.2|9={}|{body}", body.len()).replace('|', "\x01");
    let sum = frame::check_sum(whole.as_bytes());
    format!("{}10={sum:03}|", whole.replace('\x01', "|"))
}

#[test]
fn what_was_resent_can_be_rebuilt_from_the_bytes_as_they_are_drawn() {
    for precision in [
        Precision::Seconds,
        Precision::Millis,
        Precision::Micros,
        Precision::Nanos,
    ] {
        let mut talk = Talk::new(Durability::Process, precision, Limits::default());
        for seq in 2..60 {
            // Heartbeats between the reports become gap fills.
            let (kind, body) = match seq % 7 {
                0 => ("1", "112=x|"),
                _ => ("D", "11=A|"),
            };
            talk.say(kind, seq, body);
        }
        for (seq, range) in ["7=1|16=0|", "7=20|16=25|", "7=7|16=7|", "7=3|16=41|"]
            .into_iter()
            .enumerate()
        {
            talk.say("2", 60 + seq as u64, range);
        }
        let drawn = talk.drawn();
        assert_eq!(drawn.word(8), 1, "version");
        let rebuilt: Vec<_> = drawn
            .records(11)
            .into_iter()
            .map(|at| drawn.resent(at, precision))
            .collect();
        let messages = talk.wrote.split_inclusive("|8=FIX.4.2|");
        let wrote: Vec<String> = messages
            .map(|message| {
                let message = message.strip_suffix("8=FIX.4.2|").unwrap_or(message);
                format!("8=FIX.4.2|{}", message.trim_start_matches("8=FIX.4.2|"))
            })
            .filter(|message| message.contains("|43=Y|"))
            .collect();
        assert!(wrote.len() > 100, "{}", wrote.len());
        assert_eq!(rebuilt.concat(), wrote, "{precision:?}");
        // At most 16 messages a turn, and one record for each.
        assert!(
            rebuilt.len() * 10 < wrote.len(),
            "{} records",
            rebuilt.len()
        );
    }
}

#[test]
fn a_queued_message_is_found_from_the_record_of_its_turn() {
    let mut talk = Talk::new(Durability::Process, Precision::Millis, Limits::default());
    talk.say("D", 3, "11=later|");
    talk.say("D", 2, "43=Y|122=20260302-08:00:01|11=A|");
    let drawn = talk.drawn();
    let [queued, dequeued] = [7, 8].map(|kind| drawn.records(kind)[0]);
    assert!(text(drawn.body(queued)).contains("|11=later|"));
    assert_eq!(drawn.body(dequeued).len(), 16);
    assert_eq!(drawn.long(dequeued + 64), 3);
    assert_eq!(drawn.place(dequeued + 72), queued);
}

#[test]
fn a_flood_is_logged_up_to_a_limit_and_the_rest_is_counted() {
    const FLOOD: u64 = 300;
    let limits = Limits {
        log_only_bytes_per_hour: 20_000,
        ..Limits::default()
    };
    let mut talk = Talk::new(Durability::Process, Precision::Millis, limits);
    talk.say("D", 2, "11=A|");
    for _ in 0..FLOOD {
        talk.say("D", 2, DUPLICATE);
    }
    let told = |talk: &Talk| -> Vec<u64> {
        let events = talk.events.lock().unwrap();
        let told = events.iter().filter_map(|event| match event {
            Event::NotLogged { messages, .. } => Some(*messages),
            _ => None,
        });
        told.collect()
    };
    // The first at once, the others together.
    assert_eq!(told(&talk), [1]);
    talk.net.advance(Nanos(11_000_000_000));
    talk.say("0", 3, "");
    assert_eq!(told(&talk).len(), 2);
    // Resends count as well, and what is left out is still sent.
    let before = wire::shown(&talk.wrote, &[]).len();
    talk.say("2", 4, "7=1|16=0|");
    assert_eq!(wire::shown(&talk.wrote, &[]).len(), before + 2);
    talk.net.close(talk.conn);
    talk.turn();
    // The allowance comes back with time.
    talk.net.advance(Nanos(3_600_000_000_000));
    talk.conn = talk.net.connect(0, PORT).unwrap();
    talk.say("A", 5, "98=0|108=30|");
    talk.say("D", 2, DUPLICATE);
    let told: u64 = told(&talk).iter().sum();
    let records = talk.records();
    let count = |kind| records.iter().filter(|record| record.0 == kind).count() as u64;
    assert_eq!(
        records.last().map(|record| record.0),
        Some(RecordKind::Duplicate)
    );
    let logged = count(RecordKind::Duplicate);
    assert!((50..200).contains(&logged), "{logged}");
    assert_eq!(logged + 2 * count(RecordKind::Resent) + told, FLOOD + 1 + 2);
}
