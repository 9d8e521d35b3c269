//! The thread that makes a log: it reads the journal and hears the events.

use std::collections::VecDeque;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use fixwire_protocol::{SessionId, Timestamp};

use super::files::Files;
use super::{FileLog, LogError, SqlLog, Target};
use crate::event::{Event, Sink};
use crate::host::WakeUp;
use crate::journal::{Kind, Position, Tail};
use crate::redact::Redactor;

/// Events that may wait; further ones are counted instead. The engine never waits.
const WAITING: usize = 4096;
/// How long a line may wait to be written.
const SOON: Duration = Duration::from_millis(20);
/// Pause after a failure; each further one is twice as long.
const AGAIN: Duration = Duration::from_millis(250);
/// The longest of these pauses.
const AGAIN_AT_MOST: Duration = Duration::from_secs(30);
/// How long a log may catch up when the engine ends. The rest is caught up with after its next start.
const ENDING: Duration = Duration::from_secs(5);
/// What may wait to be told to the operator.
const TOLD: usize = 16;
/// Records between two looks at the events.
const RECORDS: usize = 1024;

/// One log being made. Dropping it writes what is committed until then, as far as that can be done soon.
pub(crate) struct Feed {
    events: SyncSender<(Timestamp, Event)>,
    ends: Arc<AtomicBool>,
    reports: Arc<Mutex<VecDeque<Event>>>,
    /// Closed when the thread has ended.
    ended: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

/// What a feed begins with.
#[derive(Clone)]
pub(crate) struct Start<'a> {
    /// The journal's folder.
    pub(crate) journal: &'a Path,
    /// Its end: where a log begins that never was.
    pub(crate) end: Position,
    /// The names of its sessions, by their ids.
    pub(crate) sessions: Vec<String>,
    /// The names of the engine's sessions, by theirs.
    pub(crate) configured: Vec<String>,
    /// Makes the engine hear what the log has to tell.
    pub(crate) wake_up: WakeUp,
}

impl Feed {
    /// Starts a log in files.
    ///
    /// # Errors
    ///
    /// When the folder cannot be made, two sessions would share a file, or there is no thread.
    pub(crate) fn files(log: FileLog, start: Start<'_>) -> Result<Self, LogError> {
        let target = Files::new(log, &start.configured)?;
        Self::start(Box::new(target), "files", start)
    }

    /// Starts a log in a database.
    ///
    /// # Errors
    ///
    /// When the log cannot be as it is configured, or there is no thread. That a database is away is
    /// none.
    pub(crate) fn sql(log: SqlLog, start: Start<'_>) -> Result<Self, LogError> {
        let target = log.target(start.journal)?;
        Self::start(target, "sql", start)
    }

    fn start(
        target: Box<dyn Target>,
        kind: &'static str,
        start: Start<'_>,
    ) -> Result<Self, LogError> {
        let (events, heard) = sync_channel(WAITING);
        let (alive, ended) = sync_channel(0);
        let reports = Arc::default();
        let ends = Arc::default();
        let cursor = start.journal.join(format!("log-{kind}.cursor"));
        let known = read_cursor(&cursor).filter(|at| *at <= start.end);
        if known.is_none() {
            // Or what comes before the first line is written would be left out by the next start.
            write_cursor(&cursor, start.end)?;
        }
        let from = known.unwrap_or(start.end);
        let worker = Worker {
            target,
            kind,
            tail: Tail::new(start.journal, from),
            end: start.end,
            is_open: false,
            fault: None,
            cursor,
            heard,
            sessions: start.sessions,
            configured: start.configured,
            redactor: Redactor::new(0, Redactor::FIELDS),
            ends: Arc::clone(&ends),
            reports: Arc::clone(&reports),
            wake_up: start.wake_up,
        };
        let thread = thread::Builder::new()
            .name(format!("log-{kind}"))
            .spawn(move || {
                let _alive = alive;
                worker.run();
            })
            .map_err(|error| LogError(format!("cannot start the thread of a log: {error}")))?;
        Ok(Self {
            events,
            ends,
            reports,
            ended,
            thread: Some(thread),
        })
    }

    /// Hears the engine's events.
    pub(crate) fn sink(&self) -> Sink {
        let events = self.events.clone();
        let mut left_out = 0_u64;
        Box::new(move |now, event| {
            if left_out > 0 {
                let events_left_out = Event::Suppressed { events: left_out };
                if events.try_send((now.wall, events_left_out)).is_ok() {
                    left_out = 0;
                }
            }
            if events.try_send((now.wall, event.clone())).is_err() {
                left_out += 1;
            }
        })
    }

    /// The next thing that the operator should hear of it.
    pub(crate) fn report(&self) -> Option<Event> {
        // Never waits: the thread holds it for an instant only.
        self.reports.try_lock().ok()?.pop_front()
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            if self.ended.recv_timeout(2 * ENDING) == Err(RecvTimeoutError::Timeout) {
                // A database holds it. What it still does there is done as a whole or not at all.
                return;
            }
            // A thread that panicked has said so already.
            let _ = thread.join();
        }
    }
}

struct Worker {
    target: Box<dyn Target>,
    kind: &'static str,
    tail: Tail,
    /// The journal's end when it began.
    end: Position,
    /// The target takes what stands behind the tail.
    is_open: bool,
    /// What went wrong last, until it goes on.
    fault: Option<LogError>,
    cursor: PathBuf,
    heard: Receiver<(Timestamp, Event)>,
    sessions: Vec<String>,
    configured: Vec<String>,
    redactor: Redactor,
    ends: Arc<AtomicBool>,
    reports: Arc<Mutex<VecDeque<Event>>>,
    wake_up: WakeUp,
}

impl Worker {
    fn run(mut self) {
        let mut pause = AGAIN;
        let mut ending: Option<Instant> = None;
        loop {
            let ends = self.ends.load(Ordering::Acquire);
            if ends && ending.get_or_insert_with(Instant::now).elapsed() > ENDING {
                return;
            }
            match self.round() {
                Ok(worked) => {
                    pause = AGAIN;
                    if self.fault.take().is_some() {
                        self.tell(Event::LogResumed { log: self.kind });
                    }
                    if worked {
                        continue;
                    }
                    if ends {
                        return;
                    }
                    if let Ok((wall, event)) = self.heard.recv_timeout(SOON)
                        && let Err(error) = self.event(wall, &event)
                    {
                        self.fail(error);
                    }
                }
                Err(error) => {
                    self.fail(error);
                    if ends {
                        return;
                    }
                    thread::park_timeout(pause);
                    pause = (pause * 2).min(AGAIN_AT_MOST);
                }
            }
        }
    }

    /// Goes on behind what the target has. What was not flushed is read again.
    fn open(&mut self) -> Result<(), LogError> {
        let journal = self.cursor.parent().unwrap_or(Path::new("."));
        // No log is ahead of its journal, unless the system lost a part of that one.
        let most = self.end.max(self.tail.position());
        let from = read_cursor(&self.cursor).map_or(self.end, |at| at.min(most));
        let from = self.target.open(from)?.min(most);
        self.tail = Tail::new(journal, from);
        self.is_open = true;
        Ok(())
    }

    /// Logs what is there; whether it was anything.
    fn round(&mut self) -> Result<bool, LogError> {
        if !self.is_open {
            self.open()?;
        }
        let mut worked = false;
        for _ in 0..WAITING {
            let Ok((wall, event)) = self.heard.try_recv() else {
                break;
            };
            worked = true;
            self.event(wall, &event)?;
        }
        let before = self.tail.position();
        for _ in 0..RECORDS {
            if self.target.is_full() || !self.record()? {
                break;
            }
        }
        let position = self.tail.position();
        self.target.flush(position)?;
        if position != before {
            write_cursor(&self.cursor, position)?;
            worked = true;
        }
        Ok(worked)
    }

    /// Logs the messages of the next record; false when there is none.
    fn record(&mut self) -> Result<bool, LogError> {
        let record = self
            .tail
            .next_record()
            .map_err(|error| LogError(error.to_string()))?;
        let Some(record) = record else {
            return Ok(false);
        };
        let id = record.session.0 as usize;
        if record.kind == Kind::Session {
            if self.sessions.len() <= id {
                self.sessions.resize(id + 1, String::new());
            }
            self.sessions[id] = String::from_utf8_lossy(record.body).into_owned();
        }
        let name = |id: usize| self.sessions.get(id).map_or("", String::as_str);
        let mut log = |name: &str, incoming: bool, message: &[u8]| {
            // The journal has no passwords of Logons; here none of any message remain.
            self.redactor.copy_any(0, message);
            let kept = self.redactor.kept(0, message);
            let logged = self.target.message(name, record.wall, incoming, kept);
            self.redactor.clear();
            logged
        };
        if record.kind == Kind::Message {
            log(name(id), true, record.body)?;
        }
        for effect in record.effects {
            log(name(effect.session.0 as usize), false, effect.bytes)?;
        }
        Ok(true)
    }

    fn event(&mut self, wall: Timestamp, event: &Event) -> Result<(), LogError> {
        let session = event.session().map(|SessionId(id)| id as usize);
        let session = session.and_then(|id| self.configured.get(id));
        self.target
            .event(session.map(String::as_str), wall, &event.to_string())
    }

    /// Tells each fault once, however often it is met.
    fn fail(&mut self, error: LogError) {
        self.is_open = false;
        if self.fault.as_ref() != Some(&error) {
            self.fault = Some(error.clone());
            let error = error.to_string();
            self.tell(Event::LogFailed { error });
        }
    }

    fn tell(&self, event: Event) {
        let reports = self.reports.lock();
        let mut reports = reports.unwrap_or_else(PoisonError::into_inner);
        if reports.len() < TOLD {
            reports.push_back(event);
        }
        drop(reports);
        (self.wake_up)();
    }
}

/// Where a log goes on: 8 bytes of position and their CRC-32C.
fn read_cursor(path: &Path) -> Option<Position> {
    let bytes = fs::read(path).ok()?;
    let bytes: &[u8; 12] = bytes.as_slice().try_into().ok()?;
    let (position, crc) = bytes.split_at(8);
    let whole = crc32c::crc32c(position).to_le_bytes() == *crc;
    let bits = u64::from_le_bytes(*position.first_chunk()?);
    whole.then_some(Position::from_bits(bits))
}

fn write_cursor(path: &Path, position: Position) -> Result<(), LogError> {
    let bits = position.bits().to_le_bytes();
    let bytes = [&bits[..], &crc32c::crc32c(&bits).to_le_bytes()].concat();
    // In place: at no moment the file is empty.
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path)
        .and_then(|file| file.write_all_at(&bytes, 0))
        .map_err(|error| LogError(format!("cannot write {}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{Cause, Config, Directory, Effect, Journal, JournalId};
    use fixwire_protocol::{Mono, Now};
    use std::net::SocketAddr;
    use tempfile::TempDir;

    const WALL: Timestamp = Timestamp(1_787_319_000_123_456_789);
    const NAME: &str = "FIX.4.2:A->B";

    struct World {
        root: TempDir,
        journal: Journal<Directory>,
        id: JournalId,
        seq: u64,
    }

    impl World {
        fn new() -> Self {
            let root = TempDir::new().unwrap();
            let directory = Directory::open(root.path().join("journal")).unwrap();
            let config = Config {
                segment_bytes: 4096,
                ..Config::default()
            };
            let (mut journal, _) = Journal::open(directory, config).unwrap();
            let id = journal.register(WALL, NAME).unwrap();
            Self {
                root,
                journal,
                id,
                seq: 0,
            }
        }

        fn feed(&self) -> Feed {
            let log = FileLog::new(self.root.path().join("log"));
            let start = Start {
                journal: &self.root.path().join("journal"),
                end: self.journal.positions().1,
                sessions: vec![NAME.into()],
                configured: vec![NAME.into()],
                wake_up: Arc::new(|| {}),
            };
            Feed::files(log, start).unwrap()
        }

        /// A message in and one out.
        fn trade(&mut self) {
            self.seq += 1;
            let sent = format!(
                "8=FIX.4.2\x019=5\x0135=8\x0134={}\x01554=tiger\x0110=000\x01",
                self.seq
            );
            let cause = Cause {
                session: self.id,
                kind: Kind::Message,
                inbound: Some(b"8=FIX.4.2\x019=5\x0135=D\x0158=a\nb\x01"),
                next_in: self.seq + 1,
                next_out: self.seq + 1,
                epoch: 0,
            };
            let effect = Effect {
                session: self.id,
                seq: self.seq,
                bytes: sent.as_bytes(),
            };
            self.journal
                .append(WALL, cause, [effect].into_iter())
                .unwrap();
        }

        fn read(&self, kind: &str) -> String {
            let name = format!("log/FIX.4.2-A-B.{kind}.current.log");
            fs::read_to_string(self.root.path().join(name)).unwrap_or_default()
        }
    }

    #[test]
    fn what_is_committed_is_logged_once_over_segments_and_restarts() {
        let mut world = World::new();
        world.trade();
        // A log that never was begins at the end.
        let feed = world.feed();
        (0..100).for_each(|_| world.trade());
        drop(feed);
        // What nobody logs is caught up with.
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
            let sent = format!(" : 8=FIX.4.2\x019=5\x0135=8\x0134={seq}\x01554=*****\x0110=");
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
        let folder = world.root.path().join("log");
        fs::create_dir(&folder).unwrap();
        let blocked = folder.join("FIX.4.2-A-B.messages.current.log");
        fs::create_dir(&blocked).unwrap();
        let feed = world.feed();
        world.trade();
        let error = loop {
            if let Some(event) = feed.report() {
                break event.to_string();
            }
            thread::yield_now();
        };
        assert!(error.contains("cannot open"), "{error}");
        fs::remove_dir(&blocked).unwrap();
        let event = loop {
            match feed.report() {
                Some(event) => break event,
                None => thread::yield_now(),
            }
        };
        assert_eq!(event, Event::LogResumed { log: "files" });
        drop(feed);
        assert_eq!(world.read("messages").lines().count(), 2);
    }
}
