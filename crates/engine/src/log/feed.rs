//! The thread that writes a log: it reads the journal and receives the events.

use std::collections::VecDeque;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use fixwire_protocol::{SessionId, Tag, Timestamp};

use super::{Log, LogError, LogTarget};
use crate::event::{Event, EventSink};
use crate::host::WakeUp;
use crate::journal::{JournalPosition, Originals, Resent, Tail};
use crate::journal::{is_fix_message, is_session};
use fixwire_protocol::Redactor;
use fixwire_sys::private;

/// Maximum number of events that wait for the log. Further events are only counted: the engine never waits.
const WAITING: usize = 4096;
/// Maximum delay of a line in the log.
const SOON: Duration = Duration::from_millis(20);
/// Pause after a failure; each further failure doubles it.
const AGAIN: Duration = Duration::from_millis(250);
/// Maximum pause after several failures.
const AGAIN_AT_MOST: Duration = Duration::from_secs(30);
/// When the engine stops, a log has this time to catch up. What is left is logged after the next start.
const ENDING: Duration = Duration::from_secs(5);
/// Maximum number of events of a log that wait to be reported to the operator.
const TOLD: usize = 16;
/// Number of records that are logged between two checks for events.
const RECORDS: usize = 1024;

/// One running log. When it is dropped, it writes everything committed so far, within a time limit.
pub struct Feed {
    events: SyncSender<(Timestamp, Event)>,
    ends: Arc<AtomicBool>,
    reopens: Arc<AtomicBool>,
    reports: Arc<Mutex<VecDeque<Event>>>,
    /// Closed when the thread has exited.
    ended: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

/// What a new feed needs.
#[derive(Clone)]
pub struct FeedStart<'a> {
    /// The journal's folder.
    pub journal: &'a Path,
    /// The end of the journal, where a new log begins.
    pub end: JournalPosition,
    /// The names of the journal's sessions, by their ids.
    pub sessions: Vec<String>,
    /// The names of the engine's sessions, by their ids.
    pub configured: Vec<String>,
    /// Fields whose values are masked, in addition to the secrets that are always masked.
    pub masked: &'a [Tag],
    /// Wakes the engine when the log has an event.
    pub wake_up: WakeUp,
}

impl Feed {
    /// Starts a log.
    ///
    /// # Errors
    ///
    /// The errors of [`Log::open`]; or the cursor cannot be written, or the thread cannot be started. An unavailable
    /// database is not an error.
    pub fn start(log: &dyn Log, start: FeedStart<'_>) -> Result<Self, LogError> {
        let (target, kind) = (log.open(start.journal, &start.configured)?, log.kind());
        let (events, heard) = sync_channel(WAITING);
        let (alive, ended) = sync_channel(0);
        let reports = Arc::default();
        let ends = Arc::default();
        let reopens = Arc::default();
        let cursor = start.journal.join(format!("log-{kind}.cursor"));
        let known = read_cursor(&cursor).filter(|at| *at <= start.end);
        if known.is_none() {
            // Write the cursor now: otherwise, after the next start, records before the first line would be skipped.
            write_cursor(&cursor, start.end)?;
        }
        let from = known.unwrap_or(start.end);
        let worker = Worker {
            target,
            kind,
            journal: start.journal.to_owned(),
            tail: Tail::new(start.journal, from),
            originals: Originals::new(start.journal),
            end: start.end,
            is_open: false,
            fault: None,
            missed: None,
            gone: 0,
            cursor,
            kept: from,
            heard,
            sessions: start.sessions,
            configured: start.configured,
            redactor: Redactor::for_showing(start.masked),
            ends: Arc::clone(&ends),
            reopens: Arc::clone(&reopens),
            reports: Arc::clone(&reports),
            wake_up: start.wake_up,
        };
        let work = move || {
            let _alive = alive;
            worker.run();
        };
        let thread = fixwire_threads::spawn(format!("log-{kind}"), work)
            .map_err(|error| LogError(format!("cannot start the thread of a log: {error}")))?;
        Ok(Self {
            events,
            ends,
            reopens,
            reports,
            ended,
            thread: Some(thread),
        })
    }

    /// The sink through which the log receives the engine's events.
    pub fn sink(&self) -> EventSink {
        let events = self.events.clone();
        let mut left_out = 0_u64;
        Box::new(move |now, event| {
            if left_out > 0 {
                let events_left_out = Event::Suppressed {
                    session: None,
                    kind: "the log was too slow",
                    events: left_out,
                };
                if events.try_send((now.wall, events_left_out)).is_ok() {
                    left_out = 0;
                }
            }
            if events.try_send((now.wall, event.clone())).is_err() {
                left_out += 1;
            }
        })
    }

    /// Requests that the log reopens its files.
    pub fn reopen(&self) {
        self.reopens.store(true, Ordering::Release);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }

    /// The log's next event for the operator. `None` when there is no event, or when the log's thread is just adding
    /// one.
    pub fn report(&self) -> Option<Event> {
        // Do not wait for the lock: the thread holds it only for an instant.
        self.reports.try_lock().ok()?.pop_front()
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            if self.ended.recv_timeout(2 * ENDING) == Err(RecvTimeoutError::Timeout) {
                // The thread is blocked in a database operation, which will be completed as a whole or not at all.
                return;
            }
            // A panic of the thread has been reported already.
            let _ = thread.join();
        }
    }
}

struct Worker {
    target: Box<dyn LogTarget>,
    kind: &'static str,
    /// The journal's folder.
    journal: PathBuf,
    tail: Tail,
    originals: Originals,
    /// The journal's end when the log was started.
    end: JournalPosition,
    /// Whether the target accepts the records after the tail.
    is_open: bool,
    /// The last error; `None` after the log has resumed.
    fault: Option<LogError>,
    /// The first and the last missing segment in the last report; `None` before the first report.
    missed: Option<(u32, u32)>,
    /// The last segment found missing when a resent message in it was looked up.
    gone: u32,
    cursor: PathBuf,
    /// The position in the file of the cursor.
    kept: JournalPosition,
    heard: Receiver<(Timestamp, Event)>,
    sessions: Vec<String>,
    configured: Vec<String>,
    redactor: Redactor,
    ends: Arc<AtomicBool>,
    /// Whether the files of the target must be reopened.
    reopens: Arc<AtomicBool>,
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
                    if let Ok((wall, event)) = self.heard.recv_timeout(SOON) {
                        self.event(wall, &event);
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

    /// Opens the target, and continues after its last record.
    fn open(&mut self) -> Result<(), LogError> {
        // A log is never ahead of its journal, unless the system has lost a part of the journal.
        let most = self.end.max(self.tail.position());
        let from = self.target.open(self.kept)?.min(most);
        self.tail = Tail::new(&self.journal, from);
        self.is_open = true;
        Ok(())
    }

    /// Logs the records that are available; false if there were none.
    fn round(&mut self) -> Result<bool, LogError> {
        if !self.is_open {
            self.open()?;
        }
        let mut worked = false;
        for _ in 0..WAITING {
            if self.target.is_full() {
                break;
            }
            let Ok((wall, event)) = self.heard.try_recv() else {
                break;
            };
            worked = true;
            self.event(wall, &event);
        }
        // Pass on what was read before a fault, too.
        let read = self.records();
        self.tell_missed();
        let position = self.tail.position();
        let flushed = self.target.flush(position);
        if self.reopens.swap(false, Ordering::AcqRel) && self.target.reopen()? {
            self.tell(Event::LogReopened { log: self.kind });
        }
        flushed?;
        if position != self.kept {
            write_cursor(&self.cursor, position)?;
            self.kept = position;
            worked = true;
        }
        read.map(|()| worked)
    }

    /// Logs records until the end of the journal, until the target is full, or until events are due.
    fn records(&mut self) -> Result<(), LogError> {
        for _ in 0..RECORDS {
            if self.target.is_full() || !self.record()? {
                break;
            }
        }
        Ok(())
    }

    /// Reports once which segments were missing. After a failure, the same segments are found missing again.
    fn tell_missed(&mut self) {
        if let Some((first, last)) = self.tail.missed()
            && self.missed != Some((first, last))
        {
            self.missed = Some((first, last));
            let log = self.kind;
            self.tell(Event::LogIncomplete { log, first, last });
        }
    }

    /// Reports once that resent messages are missing, because their segment was removed.
    fn tell_gone(&mut self, segment: u32) {
        if self.gone < segment {
            self.gone = segment;
            let (log, first, last) = (self.kind, segment, segment);
            self.tell(Event::LogIncomplete { log, first, last });
        }
    }

    /// Logs the messages of the next record; false at the end of the journal.
    fn record(&mut self) -> Result<bool, LogError> {
        let record = self
            .tail
            .next_record()
            .map_err(|error| LogError(error.to_string()))?;
        let Some(record) = record else {
            return Ok(false);
        };
        let id = record.session.0 as usize;
        if let Some(name) = record.session_name() {
            if self.sessions.len() <= id {
                self.sessions.resize(id + 1, String::new());
            }
            if self.sessions[id] != name {
                self.sessions[id] = name.to_owned();
            }
        }
        let name = |id: usize| self.sessions.get(id).map_or("", String::as_str);
        let mut log = |name: &str, incoming: bool, message: &[u8]| {
            // The journal has no passwords of Logons. The passwords in other messages are masked here.
            self.redactor.copy_any(0, message);
            let kept = self.redactor.kept(0, message);
            self.target.message(name, record.wall, incoming, kept);
            self.redactor.clear();
        };
        // Frames of links are not text and get no line.
        if record.kind.is_inbound() && is_fix_message(record.body) {
            log(name(id), true, record.body);
        }
        let mut gone = None;
        let resent = self.originals.resent(&record, |resent| {
            match resent {
                Resent::Message { bytes, .. } | Resent::GapFill { bytes, .. } => {
                    log(name(id), false, bytes);
                }
                Resent::Gone { segment, .. } => gone = Some(segment),
            }
            Ok(())
        });
        resent.map_err(|error| LogError(error.to_string()))?;
        for effect in record.effects {
            let name = name(effect.session.0 as usize);
            if is_session(name) && is_fix_message(effect.bytes) {
                log(name, false, effect.bytes);
            }
        }
        if let Some(segment) = gone {
            self.tell_gone(segment);
        }
        Ok(true)
    }

    fn event(&mut self, wall: Timestamp, event: &Event) {
        let session = event.session().map(|SessionId(id)| id as usize);
        let session = session.and_then(|id| self.configured.get(id));
        self.target
            .event(session.map(String::as_str), wall, &event.to_string());
    }

    /// Reports a fault once, even if it occurs again and again.
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

/// A log's position, read from its file: 8 bytes and their CRC-32C. `None` when the file is missing or damaged.
fn read_cursor(path: &Path) -> Option<JournalPosition> {
    let bytes = fs::read(path).ok()?;
    let bytes: &[u8; 12] = bytes.as_slice().try_into().ok()?;
    let (position, crc) = bytes.split_at(8);
    let whole = crc32c::crc32c(position).to_le_bytes() == *crc;
    let bits = u64::from_le_bytes(*position.first_chunk()?);
    whole.then_some(JournalPosition::from_bits(bits))
}

fn write_cursor(path: &Path, position: JournalPosition) -> Result<(), LogError> {
    let bits = position.bits().to_le_bytes();
    let bytes = [&bits[..], &crc32c::crc32c(&bits).to_le_bytes()].concat();
    // Overwrite the bytes in place, so that the file is never empty.
    private()
        .open(path)
        .and_then(|file| file.write_all_at(&bytes, 0))
        .map_err(|error| LogError(format!("cannot write {}: {error}", path.display())))
}
