//! Frames of TMP's shape over real sockets, echoed by a process that is killed again and again: each is handed to the
//! application once, and each echo arrives on its frame's connection only.
//!
//! `FIXWIRE_FRAMES=1000000` is their number; `FIXWIRE_SEED=N` repeats the sizes and the moments of the kills. A
//! separate program, since it starts itself.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fixwire::Engine;
use fixwire::config::{Connection, EngineConfig, LinkConfig, Wait};
use fixwire::harness::Random;
use fixwire::journal::{Directory, Journal, JournalConfig, JournalPosition, NOTES, RecordKind};
use fixwire::protocol::framing::{Framed, Framing, sum_of_bytes};
use fixwire::protocol::{
    Application, Hangup, Link, Message, Now, Outbox, Refusal, SessionId, Timestamp,
};

const FOLDER: &str = "FIXWIRE_FRAMES_FOLDER";
const LINK: SessionId = SessionId::of_link(0);
/// Frames that are on their way at most.
const WINDOW: u64 = 200;
const PATIENCE: Duration = Duration::from_secs(60);

const TMP: Framing = Framing::big_endian(0, 2)
    .adding(3)
    .within(19, 65_538)
    .with_sum_of_bytes();

/// A frame of 10 bytes of head, this number, and `more` bytes.
fn frame(number: u64, more: usize) -> Vec<u8> {
    let mut frame = ((more + 16) as u16).to_be_bytes().to_vec();
    frame.extend_from_slice(&[0x20; 8]);
    frame.extend_from_slice(&number.to_be_bytes());
    frame.resize(18 + more, number as u8);
    frame.push(sum_of_bytes(&frame));
    frame
}

fn number_of(frame: &[u8]) -> u64 {
    frame[10..18]
        .first_chunk()
        .map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

/// The bytes after the number: mostly as many as in an order, sometimes the most that fit.
fn more(number: u64) -> usize {
    match number {
        number if number.is_multiple_of(5_000) => 65_519,
        number => 20 + Random::new(number).place(64),
    }
}

/// Echoes frames and notes their numbers; says first which one it has had last.
#[derive(Default)]
struct Echo {
    last: u64,
}

impl Application for Echo {
    fn on_message(
        &mut self,
        _: Now,
        _: SessionId,
        _: &Message<'_>,
        _: &mut Outbox,
    ) -> Result<(), Refusal> {
        unreachable!("there is no FIX session")
    }

    fn on_frame(
        &mut self,
        _: Now,
        from: SessionId,
        bytes: &[u8],
        outbox: &mut Outbox,
    ) -> Result<(), Hangup> {
        let number = number_of(bytes);
        if number != self.last + 1 {
            return Err(Hangup("a frame came twice, or never"));
        }
        self.last = number;
        outbox.note(&number.to_be_bytes()).expect("room");
        outbox.frame(from, bytes).expect("room");
        Ok(())
    }

    fn on_link(&mut self, _: Now, session: SessionId, link: Link, outbox: &mut Outbox) {
        if link == Link::Up {
            outbox.frame(session, &frame(self.last, 0)).expect("room");
        }
    }

    fn on_note(&mut self, _: Timestamp, note: &[u8]) {
        self.last = note
            .first_chunk()
            .map_or(0, |bytes| u64::from_be_bytes(*bytes));
    }
}

/// The process that is killed: an engine in the folder that its environment names.
#[test]
fn echo() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    let connection = Connection::Acceptor { listen };
    let config = EngineConfig {
        journal_dir: folder.into(),
        wait: Wait::Block,
        links: vec![LinkConfig::new("TMP:CORE->TAIFEX", connection, TMP)],
        ..EngineConfig::default()
    };
    let mut engine = Engine::new(config, Echo::default()).expect("it starts");
    let at = engine.link_address(LINK).expect("it listens");
    println!("\nlistening at {at}");
    engine.run().expect("it runs");
}

/// A process that is ended when this is dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(folder: &Path) -> (Process, SocketAddr) {
    let child = Command::new(std::env::current_exe().expect("a path"))
        .args(["echo", "--exact", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut process = Process(child);
    let output = process.0.stdout.take().expect("it is piped");
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    let at = lines.find_map(|line| line.strip_prefix("listening at ").map(str::to_owned));
    let at = at.expect("it listens").parse().expect("an address");
    // The process prints no more, so the rest of its output is not read.
    (process, at)
}

/// The peer: frames that are sent, and echoes that are read.
struct Peer {
    stream: TcpStream,
    input: Vec<u8>,
}

impl Peer {
    fn connect(at: SocketAddr) -> Self {
        let stream = TcpStream::connect(at).expect("it listens");
        stream.set_nodelay(true).expect("an option");
        stream.set_read_timeout(Some(PATIENCE)).expect("an option");
        let input = Vec::new();
        Self { stream, input }
    }

    /// The next frame; `None` when the connection has ended.
    fn read(&mut self) -> Option<Vec<u8>> {
        let began = Instant::now();
        loop {
            match TMP.next(&self.input) {
                Framed::Whole(len) => return Some(self.input.drain(..len).collect()),
                Framed::Bad(why) => panic!("the engine wrote a bad frame: {why}"),
                Framed::More => {}
            }
            let mut bytes = vec![0; 64 << 10];
            match self.stream.read(&mut bytes) {
                Ok(0) | Err(_) => {
                    assert!(began.elapsed() < PATIENCE, "nothing arrives");
                    return None;
                }
                Ok(count) => self.input.extend_from_slice(&bytes[..count]),
            }
        }
    }
}

fn variable(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn frames_are_taken_once_through_kills_and_echoed_on_their_own_connection() {
    let count = variable("FIXWIRE_FRAMES", 20_000);
    let seed = variable("FIXWIRE_SEED", u64::from(std::process::id()));
    println!("FIXWIRE_SEED={seed}");
    let temporary = tempfile::tempdir().expect("a folder");
    let folder = temporary.path().join("journal");
    let (mut random, mut kills, mut echoed) = (Random::new(seed), 0, 0);
    loop {
        let (mut process, at) = start(&folder);
        let mut peer = Peer::connect(at);
        let hello = peer.read().expect("it says what it has had");
        let had = number_of(&hello);
        assert!(
            hello.len() == 19 && had >= echoed,
            "{had} of {echoed} that were echoed"
        );
        if had == count {
            break;
        }
        // The last life goes to the end.
        let dies_at = had + 1 + random.below(count / 10);
        let (mut sent, mut seen) = (had, had);
        let mut is_killed = false;
        while seen < count {
            let mut burst = Vec::new();
            while sent < count && sent < seen + WINDOW && burst.len() < 32 << 10 {
                sent += 1;
                burst.extend(frame(sent, more(sent)));
            }
            let wrote = burst.is_empty() || peer.stream.write_all(&burst).is_ok();
            if seen >= dies_at && kills < 1_000 && !is_killed {
                process.0.kill().expect("it is killed");
                (is_killed, kills) = (true, kills + 1);
            }
            let Some(echo) = peer.read().filter(|_| wrote || is_killed) else {
                break;
            };
            seen += 1;
            assert!(
                echo == frame(seen, more(seen)),
                "expected the echo of {seen}"
            );
        }
        assert!(is_killed || seen == count, "it ended by itself at {seen}");
        echoed = seen;
    }
    println!("{count} frames, {kills} kills");
    assert!(kills >= 5, "{kills} kills");
    // Once more for each frame: one record with its note and its echo.
    let sizes = JournalConfig::default();
    let directory = Directory::open(&folder).expect("a journal");
    let (mut journal, _) = Journal::open(directory, sizes).expect("it opens");
    let notes = journal.sessions().find(|known| known.1 == NOTES);
    let notes = notes.expect("there are notes").0;
    let mut wanted = 0;
    for record in journal.reading().unwrap().records(JournalPosition::START) {
        if record.kind == RecordKind::Message {
            wanted += 1;
            assert_eq!(number_of(record.body), wanted);
            let effects: Vec<_> = record.effects.collect();
            assert_eq!(effects.len(), 2, "of frame {wanted}");
            assert_eq!(effects[0].session, notes);
            assert!(effects[1].session == record.session && effects[1].bytes == record.body);
        }
    }
    assert_eq!(wanted, count);
}
