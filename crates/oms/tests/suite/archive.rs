//! A journal in memory, in which an OMS finds the reports that clients ask for again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use fixwire_oms::OmsState;
use fixwire_oms::recovery::{ArchiveNews, ReportArchive, ReportBatch, ReportReplay, ReportRequest};

/// A journal.
#[derive(Debug, Default)]
pub struct Journal {
    /// Notes, each with the message that caused it.
    pub notes: Vec<(Vec<u8>, Vec<u8>)>,
    /// How many of the first ones it says were removed.
    pub removed: u64,
}

pub type Kept = Arc<Mutex<Journal>>;

/// Answers every second time that it is asked, with a few reports.
pub struct MemoryArchive {
    kept: Kept,
    news: VecDeque<ArchiveNews>,
    calls: u32,
}

/// Bytes of reports in one answer.
const BATCH: usize = 1000;

impl MemoryArchive {
    pub fn new(kept: Kept) -> Self {
        let (news, calls) = (VecDeque::new(), 0);
        Self { kept, news, calls }
    }
}

impl ReportArchive for MemoryArchive {
    fn ask(&mut self, request: ReportRequest) {
        assert!(self.news.is_empty(), "the last request is not stopped");
        let kept = self.kept.lock().unwrap();
        let from = kept.removed + 1;
        self.news.push_back(ArchiveNews::Opened { from });
        let mut replay = ReportReplay::new(request);
        loop {
            replay.begin(OmsState::default());
            let mut batch = ReportBatch::default();
            for (note, cause) in &kept.notes {
                let is_end = replay.take(note, cause, &mut batch);
                if is_end || batch.bytes() > BATCH {
                    let full = std::mem::take(&mut batch);
                    self.news.push_back(ArchiveNews::Reports(full));
                }
                if is_end {
                    break;
                }
            }
            if !replay.goes_again() {
                break;
            }
        }
        self.news.push_back(ArchiveNews::Done);
    }

    fn news(&mut self) -> Option<ArchiveNews> {
        self.calls += 1;
        if self.calls.is_multiple_of(2) {
            return None;
        }
        self.news.pop_front()
    }

    fn stop(&mut self) {
        self.news.clear();
    }
}
