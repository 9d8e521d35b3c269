//! File logs after faults, restarts and removed segments.

use std::fs;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use fixwire_engine::Event;
use fixwire_engine::journal::{
    Cause, Directory, Effect, Journal, JournalConfig, JournalId, JournalPosition, RecordKind,
    Retention,
};
use fixwire_engine::log::{Feed, FeedStart};
use fixwire_protocol::{Mono, Nanos, Now, SessionId, Timestamp};
use tempfile::TempDir;

use super::FileLog;

const WALL: Timestamp = Timestamp(1_787_319_000_123_456_789);
const NAME: &str = "FIX.4.2:A->B";
const OTHER: &str = "FIX.4.2:A->C";
const SECOND: i64 = 1_000_000_000;
const PATIENCE: Duration = Duration::from_secs(60);
/// Everything that can be retired is.
const RETIRE: Retention = Retention {
    keep: Some(Nanos(0)),
    resend: Some(Nanos(0)),
    compress: false,
};

fn open(root: &TempDir, retention: Option<Retention>) -> Journal<Directory> {
    let directory = Directory::open(root.path().join("journal")).unwrap();
    let config = JournalConfig {
        segment_bytes: 4096,
        retention,
        ..JournalConfig::default()
    };
    Journal::open(directory, config).unwrap().0
}

#[track_caller]
fn wait_report(feed: &Feed) -> Event {
    let began = Instant::now();
    loop {
        match feed.report() {
            Some(event) => break event,
            None => thread::yield_now(),
        }
        assert!(began.elapsed() < PATIENCE, "no event is reported");
    }
}

/// The position in a log's cursor: 8 bytes and their CRC-32C.
fn read_cursor(path: &Path) -> Option<JournalPosition> {
    let bytes = fs::read(path).ok()?;
    let bits = u64::from_le_bytes(*bytes.first_chunk()?);
    (bytes == cursor_bytes(bits)).then(|| JournalPosition::from_bits(bits))
}

fn cursor_bytes(bits: u64) -> Vec<u8> {
    let bits = bits.to_le_bytes();
    [&bits[..], &crc32c::crc32c(&bits).to_le_bytes()].concat()
}

struct World {
    root: TempDir,
    journal: Journal<Directory>,
    id: JournalId,
    /// The sessions that a feed knows at its start.
    names: Vec<String>,
}

impl World {
    fn new() -> Self {
        Self::retiring(None)
    }

    fn retiring(retention: Option<Retention>) -> Self {
        let root = TempDir::new().unwrap();
        let mut journal = open(&root, retention);
        let id = journal.register(WALL, NAME).unwrap();
        Self {
            root,
            journal,
            id,
            names: vec![NAME.into()],
        }
    }

    fn feed(&self) -> Feed {
        let log = FileLog::new(self.root.path().join("log"));
        let start = FeedStart {
            journal: &self.root.path().join("journal"),
            end: self.journal.positions().1,
            sessions: self.names.clone(),
            configured: self.names.clone(),
            masked: &[11],
            wake_up: Arc::new(|| {}),
        };
        Feed::start(&log, start).unwrap()
    }

    fn trade(&mut self) {
        self.trade_in(self.id);
    }

    /// A message in and one out, a second after the last.
    fn trade_in(&mut self, session: JournalId) {
        let seq = self.journal.counters(session).unwrap().next_out;
        let wall = Timestamp(WALL.0 + self.journal.records_written().cast_signed() * SECOND);
        let sent =
            format!("8=FIX.4.2\x019=5\x0135=8\x0134={seq}\x0111=order\x01554=tiger\x0110=000\x01");
        let cause = Cause {
            session,
            kind: RecordKind::Message,
            inbound: Some(b"8=FIX.4.2\x019=5\x0135=D\x0158=a\nb\x01"),
            next_in: seq + 1,
            next_out: seq + 1,
            epoch: 0,
        };
        let effect = Effect {
            session,
            seq,
            bytes: sent.as_bytes(),
        };
        self.journal
            .append(wall, cause, [effect].into_iter())
            .unwrap();
        self.journal.idle_work();
    }

    fn read(&self, kind: &str) -> String {
        self.read_of("A-B", kind)
    }

    fn read_of(&self, session: &str, kind: &str) -> String {
        let name = format!("log/FIX.4.2-{session}.{kind}.current.log");
        fs::read_to_string(self.root.path().join(name)).unwrap_or_default()
    }

    /// Makes it impossible to log the messages of a session until the returned folder is removed.
    fn block(&self, session: &str) -> PathBuf {
        let name = format!("log/FIX.4.2-{session}.messages.current.log");
        let blocked = self.root.path().join(name);
        fs::create_dir_all(&blocked).unwrap();
        blocked
    }

    fn cursor(&self) -> PathBuf {
        self.root.path().join("journal/log-files.cursor")
    }

    /// The log has these messages, each once.
    #[track_caller]
    fn assert_logged(&self, session: &str, seqs: RangeInclusive<u64>) {
        let text = self.read_of(session, "messages");
        let seq = |line: &str| {
            let (_, after) = line.split_once("\x0134=")?;
            after.split('\x01').next()?.parse::<u64>().ok()
        };
        let found: Vec<_> = text.lines().filter_map(seq).collect();
        assert_eq!(found, seqs.collect::<Vec<_>>());
    }

    /// Trades until the third segment was retired; then nothing more is retired.
    fn retire(mut self) -> Self {
        let third = self.root.path().join("journal/00000003.fwj");
        while self.journal.end().segment() < 5 || third.exists() {
            self.trade();
        }
        drop(self.journal);
        Self {
            journal: open(&self.root, None),
            ..self
        }
    }
}

#[test]
fn what_is_committed_is_logged_once_over_segments_and_restarts() {
    let mut world = World::new();
    world.trade();
    // A new log begins at the journal's end.
    let feed = world.feed();
    (0..100).for_each(|_| world.trade());
    drop(feed);
    // Records that are not logged are skipped.
    (0..50).for_each(|_| world.trade());
    let feed = world.feed();
    (0..50).for_each(|_| world.trade());
    drop(feed);
    assert!(world.journal.positions().1.segment() > 3);
    let text = world.read("messages");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 400);
    for (seq, pair) in (2..).zip(lines.chunks(2)) {
        assert!(pair[0].ends_with("\x0158=a\\x0ab\x01"), "{}", pair[0]);
        let sent =
            format!(" : 8=FIX.4.2\x019=5\x0135=8\x0134={seq}\x0111=*****\x01554=*****\x0110=");
        assert!(pair[1].contains(&sent), "{}", pair[1]);
    }
}

#[test]
fn events_are_logged_with_their_session() {
    let world = World::new();
    let feed = world.feed();
    let mut sink = feed.sink();
    let now = Now {
        wall: WALL,
        mono: Mono(0),
    };
    let session = SessionId(0);
    sink(now, &Event::LoggedOn { session });
    let at: SocketAddr = "127.0.0.1:9".parse().unwrap();
    sink(now, &Event::Listening { at });
    drop(feed);
    assert_eq!(
        world.read("event"),
        "20260821-13:30:00.123456789 : logged on\n"
    );
    let global = world.root.path().join("log/GLOBAL.event.current.log");
    let text = fs::read_to_string(global).unwrap();
    assert!(text.ends_with(" : listening at 127.0.0.1:9\n"), "{text}");
}

#[test]
fn a_log_that_cannot_be_written_is_told_and_caught_up_with() {
    let mut world = World::new();
    let blocked = world.block("A-B");
    let feed = world.feed();
    world.trade();
    let error = wait_report(&feed).to_string();
    assert!(error.contains("cannot open"), "{error}");
    fs::remove_dir(&blocked).unwrap();
    assert_eq!(wait_report(&feed), Event::LogResumed { log: "files" });
    drop(feed);
    assert_eq!(world.read("messages").lines().count(), 2);
}

#[test]
fn a_session_that_cannot_be_logged_repeats_no_line_of_another() {
    let mut world = World::new();
    let other = world.journal.register(WALL, OTHER).unwrap();
    world.names.push(OTHER.into());
    let blocked = world.block("A-C");
    let feed = world.feed();
    world.trade();
    world.trade_in(other);
    let error = wait_report(&feed).to_string();
    assert!(error.contains("A-C.messages"), "{error}");
    world.assert_logged("A-B", 1..=1);
    world.trade();
    fs::remove_dir(&blocked).unwrap();
    assert_eq!(wait_report(&feed), Event::LogResumed { log: "files" });
    drop(feed);
    world.assert_logged("A-B", 1..=2);
    world.assert_logged("A-C", 1..=1);
    // The next start continues after all of that.
    let end = world.journal.end();
    assert_eq!(read_cursor(&world.cursor()), Some(end));
}

#[test]
fn a_cursor_ahead_of_its_journal_is_put_back_at_once() {
    let mut world = World::new();
    world.trade();
    let end = world.journal.end();
    let ahead = JournalPosition::new(end.segment(), end.offset() + 800);
    fs::write(world.cursor(), cursor_bytes(ahead.bits())).unwrap();
    let blocked = world.block("A-B");
    let feed = world.feed();
    assert_eq!(read_cursor(&world.cursor()), Some(end));
    (0..20).for_each(|_| world.trade());
    assert!(world.journal.end() > ahead);
    wait_report(&feed);
    fs::remove_dir(&blocked).unwrap();
    assert_eq!(wait_report(&feed), Event::LogResumed { log: "files" });
    drop(feed);
    world.assert_logged("A-B", 2..=21);
}

#[test]
fn compressed_segments_are_caught_up_with() {
    let world = World::retiring(Some(Retention {
        keep: None,
        compress: true,
        ..RETIRE
    }));
    drop(world.feed());
    let world = world.retire();
    assert!(world.root.path().join("journal/00000003.fwz").exists());
    drop(world.feed());
    let next = world.journal.counters(world.id).unwrap().next_out;
    world.assert_logged("A-B", 1..=next - 1);
}

#[test]
fn removed_segments_are_told_and_sessions_that_began_in_them_have_their_names() {
    let mut world = World::retiring(Some(RETIRE));
    drop(world.feed());
    let other = world.journal.register(WALL, OTHER).unwrap();
    let mut world = world.retire();
    world.trade_in(other);
    let feed = world.feed();
    let event = wait_report(&feed);
    let Event::LogIncomplete { log, first, last } = event else {
        panic!("{event:?}");
    };
    assert!(log == "files" && first == 1 && last >= 3, "{event}");
    drop(feed);
    let text = world.read("messages");
    let (_, seq) = text.split_once("\x0134=").expect("what is kept is logged");
    let first = seq.split('\x01').next().unwrap().parse().unwrap();
    let next = world.journal.counters(world.id).unwrap().next_out;
    assert!(first > 1);
    world.assert_logged("A-B", first..=next - 1);
    world.assert_logged("A-C", 1..=1);
}
