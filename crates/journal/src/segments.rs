//! The segments of a journal, and which of them are mapped.
//!
//! ```text
//!   first                                   last
//!   3.fwj  4.fwj  5.fwj  6.fwj  7.fwj  8.fwj  9.fwj
//!                 ------               ------------
//!                  read                   newest
//! ```
//!
//! The newest segments stay mapped, so that an append never has to map anything. Readers map the older segments that
//! they need. The older segments that were read last stay mapped until readers need others. A ring in memory has no
//! files, so all of its segments count as newest.

use super::segment::{HEADER, SegmentHeader};
use super::{Damage, Disk, JournalError, Segment};
use std::collections::VecDeque;

/// Number of the newest segments that stay mapped: the current one and the one before it, where recently sent
/// messages may wait.
const NEWEST: usize = 2;
/// Maximum number of older segments that are mapped at a time. A resend needs two consecutive segments, and two
/// resends of different days should not unmap each other's segments.
const READ: usize = 4;

/// A segment that the journal has, mapped or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    /// Length of the segment, in bytes.
    pub(super) length: u32,
    /// The salt in the segment's header. The salt identifies the file.
    pub(super) salt: u64,
}

/// The segments of a journal, from the first one that recovery would read to the current one.
#[derive(Debug)]
pub(super) struct Segments<S> {
    /// Mapped segments; the last one is the current one.
    newest: VecDeque<S>,
    /// Number of the last segment.
    last: u32,
    /// Number of the first segment.
    first: u32,
    /// All segments, from the first to the last.
    kept: VecDeque<Kept>,
    /// Segments that are mapped for readers. The most recently used one is last.
    read: Vec<(u32, S)>,
    /// Number of the newest segments that stay mapped.
    most: usize,
}

impl<S: Segment> Segments<S> {
    /// No segments; the first one will have this number.
    pub(super) fn new(first: u32) -> Self {
        Self {
            newest: VecDeque::with_capacity(NEWEST + 1),
            last: first - 1,
            first,
            kept: VecDeque::new(),
            read: Vec::with_capacity(READ),
            most: NEWEST,
        }
    }

    /// The segments after recovery has read them; only the last one is mapped.
    pub(super) fn recovered(first: u32, kept: VecDeque<Kept>, last: Option<S>) -> Self {
        Self {
            last: first + kept.len() as u32 - 1,
            newest: last.into_iter().collect(),
            kept,
            ..Self::new(first)
        }
    }

    /// Number of the first segment.
    pub(super) fn first(&self) -> u32 {
        self.first
    }

    /// Number of the last segment.
    #[inline]
    pub(super) fn last(&self) -> u32 {
        self.last
    }

    /// Number of segments, mapped or not.
    pub(super) fn len(&self) -> usize {
        self.kept.len()
    }

    /// The current segment.
    #[inline]
    pub(super) fn back(&self) -> &S {
        self.newest.back().expect("a journal has a segment")
    }

    /// The current segment.
    #[inline]
    pub(super) fn back_mut(&mut self) -> &mut S {
        self.newest.back_mut().expect("a journal has a segment")
    }

    /// Keeps all segments mapped, for segments that are not files and could not be mapped again.
    pub(super) fn keep_all_mapped(&mut self) {
        self.most = usize::MAX;
    }

    /// Adds the next segment, which becomes the current one. Returns a segment that need not stay mapped any more.
    pub(super) fn push(&mut self, segment: S, salt: u64) -> Option<S> {
        let length = segment.bytes().len() as u32;
        self.kept.push_back(Kept { length, salt });
        self.last += 1;
        self.newest.push_back(segment);
        if self.newest.len() > self.most {
            self.newest.pop_front()
        } else {
            None
        }
    }

    /// Removes the first segment; returns it if it is mapped.
    pub(super) fn pop_first(&mut self) -> Option<S> {
        self.kept.pop_front()?;
        self.first += 1;
        if self.newest.len() > self.kept.len() {
            return self.newest.pop_front();
        }
        let first = self.first;
        let at = self.read.iter().position(|(number, _)| *number < first)?;
        Some(self.read.remove(at).1)
    }

    /// The segment with this number, mapped if necessary; `None` if it is not kept.
    ///
    /// # Errors
    ///
    /// The segment cannot be mapped; or [`JournalError::Damaged`] when another file has its name.
    #[inline]
    pub(super) fn get<'s, D: Disk<Segment = S>>(
        &'s mut self,
        disk: &mut D,
        number: u32,
    ) -> Result<Option<&'s mut S>, JournalError> {
        let Some(at) = number.checked_sub(self.first) else {
            return Ok(None);
        };
        let Some(&kept) = self.kept.get(at as usize) else {
            return Ok(None);
        };
        let unmapped = self.kept.len() - self.newest.len();
        if let Some(at) = (at as usize).checked_sub(unmapped) {
            return Ok(self.newest.get_mut(at));
        }
        match self.read.iter().position(|(known, _)| *known == number) {
            Some(at) => self.read[at..].rotate_left(1),
            None => {
                // Remove one before the next one is mapped, so that there are never more.
                if self.read.len() == READ {
                    self.read.remove(0);
                }
                let segment = disk.open(number)?;
                check(segment.bytes(), number, kept, &disk.name(number))?;
                self.read.push((number, segment));
            }
        }
        Ok(self.read.last_mut().map(|(_, segment)| segment))
    }

    /// The segment with this number, if it is one of the newest; `None` for older ones.
    pub(super) fn newest(&self, number: u32) -> Option<&S> {
        let at = (self.last - number.min(self.last)) as usize;
        self.newest
            .iter()
            .rev()
            .nth(at)
            .filter(|_| number <= self.last)
    }

    /// The total length of all earlier segments.
    pub(super) fn bytes_before(&self, number: u32) -> u64 {
        let whole = number.saturating_sub(self.first) as usize;
        let lengths = self.kept.iter().take(whole);
        lengths.map(|kept| u64::from(kept.length)).sum()
    }
}

/// Checks that a file that is mapped again is the one that was read before.
fn check(bytes: &[u8], number: u32, kept: Kept, file: &str) -> Result<(), JournalError> {
    let head = bytes.first_chunk::<HEADER>().and_then(SegmentHeader::parse);
    let is_same = head.is_some_and(|head| (head.number, head.salt) == (number, kept.salt));
    if is_same && bytes.len() == kept.length as usize {
        return Ok(());
    }
    Err(JournalError::Damaged(Damage {
        file: file.to_owned(),
        offset: 0,
        expected: format!(
            "segment {number} of {} bytes, as it was when the journal was opened",
            kept.length
        ),
        found: format!("another file, of {} bytes", bytes.len()),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::SimDisk;
    use crate::{
        Cause, Directory, Effect, Journal, JournalConfig, JournalId, Memory, RecordKind, Stored,
    };
    use fixwire_protocol::time::Timestamp;
    use std::fs;
    use std::path::Path;

    const CONFIG: JournalConfig = JournalConfig {
        segment_bytes: 8192,
        // A resend walks back over many segments.
        index_entries: 4,
        synced_before_sent: false,
        retention: None,
    };
    const MESSAGES: u64 = 600;

    fn message(seq: u64) -> Vec<u8> {
        format!("{seq} ").repeat(200).as_bytes()[..400].to_vec()
    }

    fn send<D: Disk>(journal: &mut Journal<D>, session: JournalId, seq: u64) {
        let bytes = message(seq);
        let effect = Effect {
            session,
            seq,
            bytes: &bytes,
        };
        let cause = Cause {
            session,
            kind: RecordKind::Sent,
            inbound: None,
            next_in: 1,
            next_out: seq + 1,
            epoch: 0,
        };
        let effects = std::iter::once(effect);
        journal.append(Timestamp(0), cause, effects).unwrap();
        journal.idle_work();
    }

    /// A journal with all messages in some forty segments.
    fn filled<D: Disk>(disk: D, config: JournalConfig) -> (Journal<D>, JournalId) {
        let (mut journal, _) = Journal::open(disk, config).unwrap();
        let id = journal.register(Timestamp(0), "A").unwrap();
        (1..=MESSAGES).for_each(|seq| send(&mut journal, id, seq));
        assert!(journal.end().segment() > 30, "many segments are wanted");
        (journal, id)
    }

    /// Reads all messages; `each` is called after every one.
    fn resend<D: Disk>(journal: &mut Journal<D>, id: JournalId, mut each: impl FnMut()) {
        let mut replay = journal.replay(id, 1, MESSAGES);
        for seq in 1..=MESSAGES {
            let bytes = &message(seq)[..];
            let stored = journal.next_of(&mut replay).unwrap();
            assert_eq!(stored, Some(Stored::Message { seq, bytes }));
            each();
        }
        assert_eq!(journal.next_of(&mut replay).unwrap(), None);
    }

    #[test]
    fn few_segments_are_mapped_whatever_is_written_resent_or_recovered() {
        for synced_before_sent in [false, true] {
            let config = JournalConfig {
                synced_before_sent,
                ..CONFIG
            };
            let disk = SimDisk::new();
            let (mut journal, id) = filled(disk.clone(), config);
            // One more while the next one is begun.
            assert_eq!(disk.mapped(), (NEWEST, NEWEST + 1));
            resend(&mut journal, id, || ());
            assert_eq!(disk.mapped(), (NEWEST + READ, NEWEST + READ));
            for seq in [1, MESSAGES, MESSAGES / 2, 2, MESSAGES / 3] {
                assert_eq!(journal.outbound(id, seq).unwrap(), Some(&message(seq)[..]));
            }
            assert_eq!(disk.mapped().1, NEWEST + READ);
            drop(journal);
            assert_eq!(disk.mapped().0, 0);

            let (mut journal, recovered) = Journal::open(disk.clone(), config).unwrap();
            assert_eq!(recovered.records, MESSAGES + 1);
            // Syncing all of them, as durability `disk` does, would read them once more.
            let most = if synced_before_sent { 1 + READ } else { 2 };
            assert_eq!(disk.mapped().1, most);
            resend(&mut journal, id, || ());
            assert!(disk.mapped().1 <= NEWEST + READ);
        }
    }

    #[test]
    fn what_was_let_go_before_a_sync_is_synced_all_the_same() {
        let disk = SimDisk::new();
        let (mut journal, id) = filled(disk.clone(), CONFIG);
        assert_eq!(journal.synced().segment(), 1);
        assert_eq!(journal.sync(journal.end()).unwrap(), journal.end());
        assert!(disk.mapped().1 <= NEWEST + READ);
        drop(journal);
        disk.cut_power(|_| 0);
        let (mut journal, _) = Journal::open(disk.clone(), CONFIG).unwrap();
        resend(&mut journal, id, || ());
    }

    #[test]
    fn a_segment_that_cannot_be_mapped_for_a_sync_stays_unsynced_and_the_others_do_not() {
        let disk = SimDisk::new();
        let (mut journal, id) = filled(disk.clone(), CONFIG);
        let third = disk.read(3).unwrap();
        disk.write(3, None);
        let error = journal.sync(journal.end()).unwrap_err().to_string();
        assert!(error.contains("00000003.fwj"), "{error}");
        assert_eq!(journal.synced().segment(), 3);
        // What was there before is: only segment 3 is not on the disk.
        disk.write(3, Some(third));
        let copy = disk.copy();
        copy.cut_power(|_| 0);
        let (mut recovered, _) = Journal::open(copy, CONFIG).unwrap();
        resend(&mut recovered, id, || ());
        assert_eq!(journal.sync(journal.end()).unwrap(), journal.end());
    }

    #[test]
    fn what_cannot_be_mapped_is_an_error_and_no_gap() {
        let disk = SimDisk::new();
        let (mut journal, id) = filled(disk.clone(), CONFIG);
        let mut replay = journal.replay(id, 1, MESSAGES);
        for room in [0, 1] {
            // Two are wanted, to go from one to the one before.
            disk.limit_mapped(Some(NEWEST + room));
            for _ in 0..2 {
                let error = journal.next_of(&mut replay).unwrap_err().to_string();
                let says = ["cannot map sim/000000", ".fwj", "ulimit -v"];
                assert!(says.iter().all(|word| error.contains(word)), "{error}");
                assert_eq!(replay.next_number(), 1);
            }
        }
        assert!(journal.outbound(id, 1).is_err());
        // The newest are mapped, and it continues to be written.
        let last = journal.outbound(id, MESSAGES).unwrap();
        assert_eq!(last, Some(&message(MESSAGES)[..]));
        disk.limit_mapped(None);
        for seq in 1..=MESSAGES {
            let bytes = &message(seq)[..];
            let stored = journal.next_of(&mut replay).unwrap();
            assert_eq!(stored, Some(Stored::Message { seq, bytes }));
        }
        assert_eq!(journal.sync(journal.end()).unwrap(), journal.end());
    }

    #[test]
    fn another_file_in_the_place_of_one_is_noticed() {
        let disk = SimDisk::new();
        let (mut journal, id) = filled(disk.clone(), CONFIG);
        let whole = disk.read(2).unwrap();
        let mut others = vec![disk.read(3).unwrap(), whole[..4096].to_vec(), Vec::new()];
        // A copy that was made when there was no message in it yet.
        others.push([&whole[..HEADER], &vec![0; whole.len() - HEADER]].concat());
        let seq = (1..).find(|seq| {
            let known = &journal.sessions[id.0 as usize];
            let at = known.index.at_or_above(*seq, journal.positions().0);
            at.is_some() && whole.windows(400).any(|bytes| bytes == message(*seq))
        });
        let seq = seq.unwrap();
        for other in others {
            disk.write(2, Some(other));
            let found = journal.outbound(id, seq);
            assert!(matches!(found, Err(JournalError::Damaged(_))), "{found:?}");
            // Nothing of it is mapped any more when the right one is back.
            let last = MESSAGES / 2;
            resend_some(&mut journal, id, last);
        }
        disk.write(2, Some(whole));
        assert_eq!(journal.outbound(id, seq).unwrap(), Some(&message(seq)[..]));
    }

    /// Reads messages of other segments until the earlier ones are unmapped.
    fn resend_some(journal: &mut Journal<SimDisk>, id: JournalId, from: u64) {
        let mut replay = journal.replay(id, from, MESSAGES);
        while journal.next_of(&mut replay).unwrap().is_some() {}
    }

    fn mapped_files(folder: &Path) -> usize {
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let name = folder.display().to_string();
        let lines = maps.lines();
        lines
            .filter(|line| line.contains(&name) && line.contains(".fwj"))
            .count()
    }

    #[test]
    fn few_files_of_a_real_journal_are_mapped() {
        // These, the one created ahead, and one being unmapped.
        const MOST: usize = NEWEST + READ + 2;
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("journal");
        let (mut journal, id) = filled(Directory::open(&folder).unwrap(), CONFIG);
        assert!((1..=MOST).contains(&mapped_files(&folder)));
        let mut most = 0;
        resend(&mut journal, id, || most = most.max(mapped_files(&folder)));
        assert!((READ..=MOST).contains(&most), "{most}");
        journal.sync(journal.end()).unwrap();
        drop(journal);
        assert_eq!(mapped_files(&folder), 0);

        let directory = Directory::open(&folder).unwrap();
        let (mut journal, _) = Journal::open(directory, CONFIG).unwrap();
        let now = mapped_files(&folder);
        assert!((1..=3).contains(&now), "{now}");
        most = 0;
        resend(&mut journal, id, || most = most.max(mapped_files(&folder)));
        assert!((READ..=MOST).contains(&most), "{most}");

        // Segment 2 is not mapped, and is removed meanwhile.
        fs::rename(folder.join("00000002.fwj"), root.path().join("2")).unwrap();
        let error = journal.outbound(id, 20).unwrap_err().to_string();
        assert!(error.contains("00000002.fwj"), "{error}");
        fs::copy(root.path().join("2"), folder.join("00000002.fwj")).unwrap();
        let error = journal.outbound(id, 20).unwrap_err().to_string();
        assert!(error.contains("replaced by another file"), "{error}");
        fs::rename(root.path().join("2"), folder.join("00000002.fwj")).unwrap();
        assert_eq!(journal.outbound(id, 20).unwrap(), Some(&message(20)[..]));
    }

    /// Number of kilobytes of a file in the page table; `None` when it is not mapped.
    fn in_page_table(file: &str) -> Option<u64> {
        let maps = fs::read_to_string("/proc/self/smaps").unwrap();
        let mut lines = maps.lines().skip_while(|line| !line.ends_with(file));
        let rss = lines.find_map(|line| line.strip_prefix("Rss:"))?;
        Some(rss.trim().trim_end_matches(" kB").parse().unwrap())
    }

    #[test]
    fn the_pages_of_a_full_segment_are_released_and_its_messages_still_there() {
        let root = tempfile::tempdir().unwrap();
        let config = JournalConfig {
            segment_bytes: 1 << 20,
            ..CONFIG
        };
        let folder = root.path().join("journal");
        let directory = Directory::open(&folder).unwrap();
        let (mut journal, _) = Journal::open(directory, config).unwrap();
        let id = journal.register(Timestamp(0), "A").unwrap();
        let mut seq = 0;
        while journal.end().segment() == 1 {
            seq += 1;
            send(&mut journal, id, seq);
        }
        let file = |number: u32| format!("{}/{number:08}.fwj", folder.display());
        // By a thread of its own.
        let began = std::time::Instant::now();
        while in_page_table(&file(1)) != Some(0) {
            assert!(began.elapsed().as_secs() < 60, "it stays in the page table");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert!(in_page_table(&file(2)).is_some_and(|kilobytes| kilobytes > 0));
        for seq in [1, seq / 2, seq - 1] {
            assert_eq!(journal.outbound(id, seq).unwrap(), Some(&message(seq)[..]));
        }
    }

    #[test]
    fn all_of_a_ring_stays_in_memory() {
        let (mut journal, id) = filled(Memory::new(40), CONFIG);
        assert_eq!(journal.segments.newest.len(), journal.segments.len());
        assert!(journal.segments.first() > 1 || journal.segments.len() > 30);
        let last = journal.outbound(id, MESSAGES).unwrap();
        assert_eq!(last, Some(&message(MESSAGES)[..]));
        let first = journal.outbound(id, 100).unwrap();
        assert_eq!(first, Some(&message(100)[..]));
    }
}
