//! Reads reports that a client requests again from the journal of its OMS, in a separate thread.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::thread;
use std::time::Duration;

use fixwire::journal::{self, JournalError, JournalId, JournalPosition, Originals, Record, Tail};
use fixwire_oms::OmsState;
use fixwire_oms::recovery::{ArchiveNews, ReportArchive, ReportBatch, ReportReplay, ReportRequest};
use fixwire_protocol::Ledger as _;
use fixwire_protocol::outbox::stored_note;

/// Size of the reports that are passed on at a time, in bytes.
const BATCH: usize = 16 << 10;
/// Maximum number of batches that wait for the engine. With more, the thread stops reading.
const WAITING: usize = 4;
/// Time to wait for the last events of a request, which are about to be committed.
const PAUSE: Duration = Duration::from_millis(1);

/// The journal of an OMS, for requests for reports.
#[derive(Debug)]
pub struct JournalArchive {
    jobs: Sender<Job>,
    news: Receiver<(u64, ArchiveNews)>,
    /// Number of the last request. The field `over` says whether this request has ended.
    job: u64,
    over: Arc<AtomicBool>,
}

/// A request for the thread.
#[derive(Debug)]
struct Job {
    number: u64,
    request: ReportRequest,
    over: Arc<AtomicBool>,
}

impl JournalArchive {
    /// Starts the thread, which ends when this value is dropped.
    ///
    /// # Errors
    ///
    /// The thread cannot be started.
    pub fn start(journal: &Path) -> io::Result<Self> {
        let (jobs, waiting) = channel();
        let (to, news) = sync_channel(WAITING);
        let reader = Reader {
            journal: journal.to_owned(),
            to,
        };
        fixwire_threads::spawn("oms-reports", move || reader.work(&waiting))?;
        Ok(Self {
            jobs,
            news,
            job: 0,
            over: Arc::new(AtomicBool::new(true)),
        })
    }
}

impl ReportArchive for JournalArchive {
    fn ask(&mut self, request: ReportRequest) {
        self.stop();
        self.job += 1;
        self.over = Arc::default();
        let job = Job {
            number: self.job,
            request,
            over: Arc::clone(&self.over),
        };
        // If the thread has ended, `news` reports that.
        let _ = self.jobs.send(job);
    }

    fn news(&mut self) -> Option<ArchiveNews> {
        if self.over.load(Ordering::Relaxed) {
            return None;
        }
        loop {
            match self.news.try_recv() {
                // This batch belongs to an earlier request.
                Ok((job, _)) if job != self.job => {}
                Ok((_, news)) => return Some(news),
                Err(TryRecvError::Empty) => return None,
                Err(TryRecvError::Disconnected) => {
                    self.stop();
                    let why = "the thread that reads the journal has ended";
                    return Some(ArchiveNews::Failed(why.to_owned()));
                }
            }
        }
    }

    fn stop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // The thread may wait for room in the channel. After each batch it checks whether the request was cancelled.
        while self.news.try_recv().is_ok() {}
    }
}

/// Why the thread stops before the end of a request.
enum Stop {
    /// The request was cancelled.
    Over,
    /// The journal cannot be read.
    Failed(String),
}

impl From<JournalError> for Stop {
    fn from(error: JournalError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Where the thread begins to read: a state, and the notes after that state.
struct Start {
    state: OmsState,
    notes: Notes,
    /// The number of the last note in the state.
    note: u64,
    tail: Tail,
}

struct Reader {
    journal: PathBuf,
    to: SyncSender<(u64, ArchiveNews)>,
}

impl Reader {
    fn work(&self, jobs: &Receiver<Job>) {
        for job in jobs {
            let news = match self.carry_out(&job) {
                Ok(()) => ArchiveNews::Done,
                Err(Stop::Over) => continue,
                Err(Stop::Failed(why)) => ArchiveNews::Failed(why),
            };
            // When the OMS has ended, its requests have ended too.
            let _ = self.to.send((job.number, news));
        }
    }

    fn carry_out(&self, job: &Job) -> Result<(), Stop> {
        let first = job.request.first();
        let start = self.open(first)?;
        let from = if start.note == 0 {
            self.oldest()?
        } else {
            start.note + 1
        };
        self.tell(job, ArchiveNews::Opened { from })?;
        if from > first {
            return Err(Stop::Over);
        }
        let mut replay = ReportReplay::new(job.request.clone());
        let mut start = start;
        loop {
            let Start {
                state,
                notes,
                note,
                tail,
            } = start;
            replay.begin(state);
            self.read(job, notes, (note, tail), &mut replay)?;
            if !replay.goes_again() {
                return Ok(());
            }
            start = self.open(first)?;
        }
    }

    fn tell(&self, job: &Job, news: ArchiveNews) -> Result<(), Stop> {
        let sent = self.to.send((job.number, news));
        match job.over.load(Ordering::Relaxed) {
            false => sent.map_err(|_| Stop::Over),
            true => Err(Stop::Over),
        }
    }

    /// The newest state without an event from number `first` on. If the journal has no such state, the empty state.
    fn open(&self, first: u64) -> Result<Start, Stop> {
        let mut state = OmsState::default();
        let found = journal::state_before(&self.journal, state.form().0, first)?;
        let Some(found) = found else {
            return Ok(Start {
                state,
                notes: Notes::default(),
                note: 0,
                tail: Tail::new(&self.journal, JournalPosition::START),
            });
        };
        let read = state.read(found.version, &found.state);
        read.map_err(|why| Stop::Failed(format!("the checkpoint of the OMS: {why}")))?;
        Ok(Start {
            state,
            notes: Notes::of_session(found.notes),
            note: found.note,
            tail: Tail::new(&self.journal, found.behind),
        })
    }

    /// The number of the oldest event that can be read: 1, or the event after the oldest checkpoint.
    fn oldest(&self) -> Result<u64, Stop> {
        let mut tail = Tail::new(&self.journal, JournalPosition::START);
        let mut notes = Notes::default();
        while let Some(record) = tail.next_record()? {
            if let Some((1, _)) = notes.of(&record).next() {
                return Ok(1);
            }
            if notes.of(&record).next().is_some() {
                break;
            }
        }
        let name = OmsState::default().form().0;
        let states = journal::stored_states(&self.journal)?.into_iter().flatten();
        let oldest = states.filter(|state| state.name == name).map(|it| it.note);
        let oldest = oldest.min().ok_or_else(|| {
            Stop::Failed(
                "the first events were removed from the journal, and there is no checkpoint"
                    .to_owned(),
            )
        })?;
        Ok(oldest + 1)
    }

    fn read(
        &self,
        job: &Job,
        mut notes: Notes,
        (mut last, mut tail): (u64, Tail),
        replay: &mut ReportReplay,
    ) -> Result<(), Stop> {
        let mut originals = Originals::new(&self.journal);
        let mut batch = ReportBatch::default();
        loop {
            if batch.bytes() >= BATCH {
                self.tell(job, ArchiveNews::Reports(std::mem::take(&mut batch)))?;
            }
            if job.over.load(Ordering::Relaxed) {
                return Err(Stop::Over);
            }
            let Some(record) = tail.next_record()? else {
                thread::sleep(PAUSE);
                continue;
            };
            let known = last;
            let notes = notes.of(&record);
            for (number, note) in notes.filter(|(number, _)| *number > known) {
                if number != last + 1 {
                    let why = format!("event {} was removed while the journal was read", last + 1);
                    return Err(Stop::Failed(why));
                }
                last = number;
                let cause = originals.inbound(&record)?.unwrap_or_default();
                if replay.take(note, cause, &mut batch) {
                    return self.tell(job, ArchiveNews::Reports(batch));
                }
            }
        }
    }
}

/// Finds the notes of records.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Notes {
    session: Option<JournalId>,
}

impl Notes {
    /// Finds notes from a position on, by the id of their session. The record with the session's name may be
    /// elsewhere.
    pub(super) fn of_session(session: JournalId) -> Self {
        Self {
            session: Some(session),
        }
    }

    /// Number and bytes of the notes in a record.
    pub(super) fn of<'a>(
        &mut self,
        record: &Record<'a>,
    ) -> impl Iterator<Item = (u64, &'a [u8])> + use<'a> {
        if record.session_name().is_some_and(journal::is_notes) {
            self.session = Some(record.session);
        }
        let session = self.session;
        let effects = record.effects;
        let notes = effects.filter(move |effect| Some(effect.session) == session);
        notes.filter_map(|effect| Some((effect.seq, stored_note(effect.bytes)?.1)))
    }
}
