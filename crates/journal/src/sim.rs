//! A disk in memory that loses in a crash what a real disk may lose.
//!
//! The disk keeps two images of each segment: the content of the system's cache (`cached`), and the content of the
//! disk (`durable`). A sync copies the cache to the disk. At a power cut, each page, and each 512 bytes of a page,
//! survives as in one of the two images. When only the process ends, everything in the cache is kept.
//!
//! As on a real disk, another thread may create the next segment ahead of its use. That thread works in steps between
//! the engine's operations; it succeeds, is late, or fails.

mod copy;
mod segment;
mod states;

pub use segment::SimSegment;

use super::checkpoint::Checkpoint;
use super::fold::{Fold, States};
use super::segment::HEADER;
use super::{Base, Disk, DiskNews, JournalError, Segment as _, Start};
use crate::canary::{self, PlantedFault};
use fixwire_protocol::time::Timestamp;
use fixwire_random::Random;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

const PAGE: usize = 4096;
const SECTOR: usize = 512;

/// A disk whose operations are counted, and which can stop or fail at any of them. Clones share the disk.
#[derive(Clone, Debug, Default)]
pub struct SimDisk {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<u32, File>,
    operations: u64,
    /// From this operation on, operations have no effect.
    stop_at: Option<u64>,
    /// The sync with this number, counted from 0, fails; later syncs succeed.
    fail_sync: Option<u64>,
    syncs: u64,
    /// Number of new segments that fit on the disk; `None` means unlimited.
    room: Option<u32>,
    salts: u64,
    /// Random numbers that decide when the system writes a page by itself; `None` if it never does.
    write_back: Option<Random>,
    /// The base, in the cache and on disk.
    base: [Option<Base>; 2],
    /// The number of the newest segment, in the cache and on disk.
    newest: [Option<u32>; 2],
    /// Files that were removed, but whose names are still on disk.
    removed: BTreeMap<u32, File>,
    /// Segments that were removed or compressed, so that they are no longer files. Only checks read them.
    attic: BTreeMap<u32, File>,
    /// Random numbers for the thread that creates segments ahead; `None` without such a thread.
    maker: Option<Random>,
    /// The segment that the thread for segments is creating.
    job: Option<Job>,
    checkpoints: states::Checkpoints,
    mapped: segment::Mapped,
}

/// A segment that is being created ahead of its use.
#[derive(Clone, Debug)]
struct Job {
    number: u32,
    len: usize,
    header: [u8; HEADER],
    /// Number of steps done, of [`STEPS`].
    steps: u32,
    /// Whether the creation fails because there is no space.
    fails: bool,
}

/// Number of steps to create a segment: create, allocate, header, sync, rename, sync of the directory.
const STEPS: u32 = 6;
/// Which of these steps renames the file, from 1.
const RENAME: u32 = 5;

#[derive(Clone, Debug)]
struct File {
    cached: Vec<u8>,
    durable: Vec<u8>,
    /// Pages that a sync would write. After a failed sync they nevertheless count as clean.
    dirty: Vec<bool>,
    /// Whether the name of the file survives a power failure.
    named: bool,
}

impl File {
    /// A segment that is complete on disk, except that its name is not on disk.
    fn made(len: usize, header: &[u8; HEADER]) -> Self {
        let mut bytes = vec![0; len];
        bytes[..HEADER].copy_from_slice(header);
        Self {
            cached: bytes.clone(),
            dirty: vec![false; bytes.len().div_ceil(PAGE)],
            durable: bytes,
            named: false,
        }
    }

    /// Writes a page to the disk image.
    fn write(&mut self, page: usize, bytes: &[u8]) {
        let range = page * PAGE..((page + 1) * PAGE).min(bytes.len());
        if self.durable.len() < range.end {
            self.durable.resize(range.end, 0);
        }
        self.durable[range.clone()].copy_from_slice(&bytes[range]);
    }
}

impl State {
    /// Counts an operation; returns false when the machine has stopped. The thread that creates segments makes
    /// progress meanwhile.
    fn goes_on(&mut self) -> bool {
        self.operations += 1;
        let goes_on = self.stop_at.is_none_or(|stop| self.operations <= stop);
        if goes_on && self.job.is_some() && one_in_eight(&mut self.maker) {
            self.make_ahead();
        }
        goes_on
    }

    /// Whether the system now writes a page by itself.
    fn writes_back(&mut self) -> bool {
        one_in_eight(&mut self.write_back)
    }

    /// One step of the thread that makes segments.
    fn make_ahead(&mut self) {
        let Some(job) = &mut self.job else { return };
        if job.fails || job.steps == STEPS {
            return;
        }
        job.steps += 1;
        let Job { number, steps, .. } = *job;
        if steps == RENAME {
            let file = File::made(job.len, &job.header);
            self.name(number, file);
        } else if steps == STEPS
            && let Some(file) = self.files.get_mut(&number)
        {
            file.named = true;
        }
    }

    /// Gives a segment its name; replaces a segment that has the name.
    fn name(&mut self, number: u32, mut file: File) {
        file.named = self.files.get(&number).is_some_and(|old| old.named);
        self.files.insert(number, file);
    }

    /// Syncs the names in the directory.
    fn sync_names(&mut self) {
        for file in self.files.values_mut() {
            file.named = true;
        }
        self.removed.clear();
    }
}

/// Whether an event with a probability of one in eight happens. Without random numbers it never happens.
fn one_in_eight(random: &mut Option<Random>) -> bool {
    random.as_mut().is_some_and(|it| it.one_in(8))
}

impl SimDisk {
    /// An empty disk.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic in a test elsewhere does not make the data wrong.
        self.state
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Number of stores, publications, syncs and creation steps so far.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// Stops the machine after this number of operations. Later operations change nothing; operations that can return
    /// an error return one.
    pub fn stop_after(&self, operations: u64) {
        let mut state = self.state();
        state.stop_at = Some(state.operations + operations);
    }

    /// Counts an operation of the machine that is not one of the disk, such as a write to its network. Returns false
    /// when the machine has stopped.
    #[must_use]
    pub fn step(&self) -> bool {
        self.state().goes_on()
    }

    /// Whether the machine has stopped.
    #[must_use]
    pub fn has_stopped(&self) -> bool {
        let state = self.state();
        state.stop_at.is_some_and(|stop| state.operations > stop)
    }

    /// Whether the sync chosen by [`fail_sync`](Self::fail_sync) has failed.
    #[must_use]
    pub fn sync_has_failed(&self) -> bool {
        let state = self.state();
        state.fail_sync.is_some_and(|nth| state.syncs > nth)
    }

    /// Number of syncs so far.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.state().syncs
    }

    /// Lets the system write stored pages to disk at random times, determined by this seed; 0 ends this.
    pub fn write_back(&self, seed: u64) {
        self.state().write_back = (seed > 0).then(|| Random::new(seed));
    }

    /// Lets a thread create segments ahead, with a speed and failures determined by this seed; 0 ends this.
    pub fn make_ahead(&self, seed: u64) {
        self.state().maker = (seed > 0).then(|| Random::new(seed));
    }

    /// Lets the `nth` sync from now on fail (0 is the next one); later syncs succeed.
    pub fn fail_sync(&self, nth: u64) {
        let mut state = self.state();
        state.fail_sync = Some(state.syncs + nth);
    }

    /// Allows only this number of new segments.
    pub fn set_room(&self, segments: Option<u32>) {
        self.state().room = segments;
    }

    /// Simulates that the process was killed and starts again: stored data survives. The journal must have been
    /// dropped before.
    pub fn end_process(&self) {
        let mut state = self.state();
        state.stop_at = None;
        state.fail_sync = None;
        state.job = None;
        state.checkpoints.end_process();
    }

    /// Simulates a power failure. `choose` decides which unsynced data survives: it gets a number of choices, and
    /// returns one of them, from 0. The journal must have been dropped before.
    pub fn cut_power(&self, mut choose: impl FnMut(usize) -> usize) {
        self.end_process();
        let mut state = self.state();
        state.checkpoints.cut_power(&mut choose);
        if state.base[0] != state.base[1] {
            let kept = state.base[choose(2)];
            state.base = [kept; 2];
        }
        if state.newest[0] != state.newest[1] {
            let kept = state.newest[choose(2)];
            state.newest = [kept; 2];
        }
        for (number, file) in std::mem::take(&mut state.removed) {
            if choose(2) == 1 {
                state.files.insert(number, file);
            }
        }
        state.files.retain(|_, file| file.named || choose(2) == 1);
        for file in state.files.values_mut() {
            let mut image = file.durable.clone();
            // A file may have its new length on disk, and yet none of its new bytes.
            if image.len() != file.cached.len() && (file.named || choose(2) == 1) {
                image.resize(file.cached.len(), 0);
            }
            let len = image.len().min(file.cached.len());
            for at in (0..len).step_by(PAGE) {
                let page = at..(at + PAGE).min(len);
                if image[page.clone()] == file.cached[page.clone()] {
                    continue;
                }
                match choose(3) {
                    0 => {}
                    1 => image[page.clone()].copy_from_slice(&file.cached[page]),
                    _ => {
                        for at in page.clone().step_by(SECTOR) {
                            let sector = at..(at + SECTOR).min(page.end);
                            if choose(2) == 1 {
                                image[sector.clone()].copy_from_slice(&file.cached[sector]);
                            }
                        }
                    }
                }
            }
            file.cached.clone_from(&image);
            file.durable = image;
            file.dirty.fill(false);
            file.named = true;
        }
    }

    /// The bytes of a segment, as a process that starts now would read them.
    #[must_use]
    pub fn read(&self, number: u32) -> Option<Vec<u8>> {
        self.state()
            .files
            .get(&number)
            .map(|file| file.cached.clone())
    }

    /// Replaces the bytes of a segment: damage, or a foreign file. `None` removes it.
    pub fn write(&self, number: u32, bytes: Option<Vec<u8>>) {
        let mut state = self.state();
        match bytes {
            Some(bytes) => {
                let file = File {
                    cached: bytes.clone(),
                    dirty: vec![false; bytes.len().div_ceil(PAGE)],
                    durable: bytes,
                    named: true,
                };
                state.files.insert(number, file);
            }
            None => {
                state.files.remove(&number);
            }
        }
    }

    fn stopped(&self, number: u32) -> JournalError {
        JournalError::io("use", self.name(number))(io::Error::other("the machine has stopped"))
    }
}

impl Disk for SimDisk {
    type Segment = SimSegment;

    fn segments(&mut self) -> Result<Vec<u32>, JournalError> {
        let mut state = self.state();
        if !state.goes_on() {
            drop(state);
            return Err(self.stopped(0));
        }
        state.sync_names();
        Ok(state.files.keys().copied().collect())
    }

    fn open(&mut self, number: u32) -> Result<SimSegment, JournalError> {
        SimSegment::open(self, number)
    }

    fn create(
        &mut self,
        number: u32,
        len: usize,
        header: &[u8; HEADER],
    ) -> Result<SimSegment, JournalError> {
        {
            let mut state = self.state();
            let ahead = state
                .job
                .take_if(|job| job.number == number && job.header == *header);
            let done = ahead.map_or(0, |job| if job.fails { 0 } else { job.steps });
            if state.room == Some(0) && done < 2 {
                drop(state);
                let full = io::ErrorKind::StorageFull.into();
                return Err(JournalError::io("allocate", self.name(number))(full));
            }
            for step in done + 1..=STEPS {
                // The last steps are the rename and the sync of the directory. Before them, the file has a temporary
                // name, which opening ignores.
                if !state.goes_on() {
                    drop(state);
                    return Err(self.stopped(number));
                }
                if step == RENAME {
                    state.name(number, File::made(len, header));
                } else if step == STEPS && !canary::is(PlantedFault::SkipDirectorySync) {
                    state.sync_names();
                }
            }
            state.room = state.room.map(|room| room.saturating_sub(1));
        }
        self.set_newest(number)?;
        self.open(number)
    }

    fn prepare(&mut self, number: u32, len: usize, header: &[u8; HEADER]) {
        let mut state = self.state();
        if state.maker.is_none() || state.job.is_some() {
            return;
        }
        let fails = one_in_eight(&mut state.maker) || state.room == Some(0);
        state.job = Some(Job {
            number,
            len,
            header: *header,
            steps: 0,
            fails,
        });
    }

    fn base(&mut self) -> Result<Option<Base>, JournalError> {
        Ok(self.state().base[0])
    }

    fn newest(&mut self) -> Result<Option<u32>, JournalError> {
        Ok(self.state().newest[0])
    }

    fn set_newest(&mut self, number: u32) -> Result<(), JournalError> {
        // The steps are: the file is renamed, then its directory is synced.
        for image in 0..2 {
            let mut state = self.state();
            if !state.goes_on() {
                drop(state);
                return Err(self.stopped(number));
            }
            state.newest[image] = Some(number);
        }
        Ok(())
    }

    fn retire(
        &mut self,
        segment: &mut SimSegment,
        first: Start,
        remove_before: Option<Timestamp>,
        compress: bool,
    ) -> Result<(), JournalError> {
        let len = segment.bytes.len();
        segment
            .sync(0, len)
            .map_err(|source| JournalError::Unsynced {
                file: self.name(first.segment),
                source,
            })?;
        let mut state = self.state();
        let look = |number| match number == first.segment {
            true => Checkpoint::peek(&segment.bytes),
            false => Checkpoint::peek(&state.files.get(&number)?.cached),
        };
        let base = Some(Base::next(state.base[0], first, remove_before, look));
        // The steps are: the file is written under a temporary name, renamed, and then its directory is synced.
        let oldest = base.map_or(0, |base| base.oldest.segment);
        if !state.goes_on() {
            return Ok(());
        }
        state.base[0] = base;
        if !state.goes_on() {
            return Ok(());
        }
        if !canary::is(PlantedFault::SkipBaseSync) {
            state.base[1] = base;
        }
        let gone: Vec<u32> = state
            .files
            .range(..first.segment)
            .map(|file| *file.0)
            .collect();
        for number in gone {
            // A segment is only removed, or it is first compressed into another file.
            if number >= oldest && !(compress && state.goes_on()) {
                continue;
            }
            if !state.goes_on() {
                return Ok(());
            }
            if let Some(file) = state.files.remove(&number) {
                state.attic.insert(number, file.clone());
                state.removed.insert(number, file);
            }
        }
        if state.goes_on() {
            state.sync_names();
        }
        Ok(())
    }

    fn states(&mut self) -> Option<Box<dyn States>> {
        Some(Box::new(self.clone()))
    }

    fn fold(&mut self, fold: Fold) -> Result<(), JournalError> {
        self.begin_folding(fold);
        Ok(())
    }

    fn settled(&self) -> Option<u32> {
        self.settled_by_folding()
    }

    #[inline]
    fn has_news(&self) -> bool {
        self.state().checkpoints.has_settled
    }

    fn news(&mut self) -> DiskNews {
        let look_again = std::mem::take(&mut self.state().checkpoints.has_settled);
        DiskNews {
            look_again,
            ..DiskNews::default()
        }
    }

    fn salt(&mut self) -> u64 {
        let mut state = self.state();
        state.salts += 1;
        state.salts.wrapping_mul(0xD1B5_4A32_D192_ED03)
    }

    fn name(&self, number: u32) -> String {
        format!("sim/{number:08}.fwj")
    }
}
