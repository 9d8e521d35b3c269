//! The checkpoints of a simulated disk. The simulated world runs the steps of folding.

use std::collections::BTreeMap;
use std::io;

use super::{SimDisk, State};
use crate::fold::{Closed, Fold, FoldStep, States};
use crate::record::is_record;
use crate::segment::{HEADER, long, word};
use crate::view::{Record, records_of};
use crate::{Base, JournalError};

/// Block size in bytes, so small that a checkpoint is written in many steps.
const BLOCK: usize = 256;

/// The checkpoints of a disk.
#[derive(Debug, Default)]
pub(super) struct Checkpoints {
    /// The checkpoints, in the cache, and on disk after the worst power failure.
    pub(super) images: [BTreeMap<u32, Vec<u8>>; 2],
    /// The checkpoint that is being written under a temporary name.
    aside: Option<(u32, Vec<u8>)>,
    settled: Option<u32>,
    /// Whether a change of `settled` was not reported to the journal yet.
    pub(super) has_settled: bool,
    fold: Option<Fold>,
}

impl Checkpoints {
    pub(super) fn copy(&self) -> Self {
        Self {
            images: self.images.clone(),
            ..Self::default()
        }
    }

    pub(super) fn end_process(&mut self) {
        (self.aside, self.settled, self.fold) = (None, None, None);
        self.has_settled = false;
    }

    /// Simulates a power failure. `choose` decides which files survive whose names are not synced.
    pub(super) fn cut_power(&mut self, choose: &mut impl FnMut(usize) -> usize) {
        let [cached, durable] = &mut self.images;
        let numbers: Vec<u32> = cached.keys().chain(durable.keys()).copied().collect();
        for number in numbers {
            if cached.get(&number) == durable.get(&number) || choose(2) == 0 {
                continue;
            }
            match cached.get(&number) {
                Some(bytes) => durable.insert(number, bytes.clone()),
                None => durable.remove(&number),
            };
        }
        cached.clone_from(durable);
    }
}

impl SimDisk {
    /// Does the next step of folding; `None` when nothing is left.
    ///
    /// # Errors
    ///
    /// What the thread of a real journal would report.
    pub fn fold_step(&self) -> Option<Result<FoldStep, JournalError>> {
        // The disk is not locked during the step, because the step uses the disk.
        let mut fold = self.state().checkpoints.fold.take()?;
        let step = fold.step(&mut self.clone(), &|| true);
        self.state().checkpoints.fold = Some(fold);
        Some(step)
    }

    /// The number of the last folded note, and the hash of the state after it.
    #[must_use]
    pub fn folded(&self) -> Option<(u64, u64)> {
        let state = self.state();
        let fold = state.checkpoints.fold.as_ref();
        fold.map(Fold::state).map(|(hash, note)| (note, hash))
    }

    /// The checkpoints, by number.
    #[must_use]
    pub fn checkpoints(&self) -> BTreeMap<u32, Vec<u8>> {
        self.state().checkpoints.images[0].clone()
    }

    /// Replaces a checkpoint's bytes: damage, or a foreign file. `None` removes it.
    pub fn write_checkpoint(&self, number: u32, bytes: Option<Vec<u8>>) {
        let mut state = self.state();
        for image in &mut state.checkpoints.images {
            match &bytes {
                Some(bytes) => image.insert(number, bytes.clone()),
                None => image.remove(&number),
            };
        }
    }

    pub(super) fn begin_folding(&self, fold: Fold) {
        self.state().checkpoints.fold = Some(fold.with_block(BLOCK));
    }

    pub(super) fn settled_by_folding(&self) -> Option<u32> {
        self.state().checkpoints.settled
    }

    /// Performs an operation on the disk, unless the machine has stopped.
    fn unless_stopped<T>(
        &self,
        number: u32,
        work: impl FnOnce(&mut State) -> T,
    ) -> Result<T, JournalError> {
        let mut state = self.state();
        if !state.goes_on() {
            drop(state);
            return Err(self.stopped(number));
        }
        Ok(work(&mut state))
    }
}

impl States for SimDisk {
    fn list(&mut self) -> Result<Vec<u32>, JournalError> {
        Ok(self.checkpoints().into_keys().collect())
    }

    fn read(&mut self, number: u32) -> Result<Vec<u8>, JournalError> {
        let bytes = self.checkpoints().remove(&number);
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        bytes.ok_or_else(|| JournalError::io("open", self.file_name(number))(missing()))
    }

    fn file_name(&self, number: u32) -> String {
        format!("sim/{number:08}.fwk")
    }

    fn begin(&mut self, number: u32) -> Result<(), JournalError> {
        self.unless_stopped(number, |state| {
            state.checkpoints.aside = Some((number, Vec::new()));
        })
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), JournalError> {
        self.unless_stopped(0, |state| {
            if let Some((_, aside)) = &mut state.checkpoints.aside {
                aside.extend_from_slice(bytes);
            }
        })
    }

    fn finish(&mut self) -> Result<(), JournalError> {
        // The sync of the file.
        let aside = self.unless_stopped(0, |state| state.checkpoints.aside.take())?;
        let Some((number, bytes)) = aside else {
            return Ok(());
        };
        self.unless_stopped(number, |state| {
            state.checkpoints.images[0].insert(number, bytes);
        })?;
        self.unless_stopped(number, |state| {
            let [cached, durable] = &mut state.checkpoints.images;
            durable.clone_from(cached);
            state.sync_names();
        })
    }

    fn abandon(&mut self) {
        self.state().checkpoints.aside = None;
    }

    fn remove(&mut self, number: u32) -> Result<(), JournalError> {
        self.unless_stopped(number, |state| {
            state.checkpoints.images[0].remove(&number);
        })
    }

    fn read_closed(
        &mut self,
        number: u32,
        each: &mut dyn FnMut(&Record<'_>) -> bool,
    ) -> Result<Closed, JournalError> {
        let (base, bytes, next) = {
            let state = self.state();
            let file = |number| state.files.get(&number).map(|file| file.cached.clone());
            (state.base[0], file(number), file(number + 1))
        };
        let first = base.unwrap_or(Base::BEGIN).first.segment;
        if first > number {
            return Ok(Closed::Gone { first });
        }
        let (Some(bytes), Some(next)) = (bytes, next) else {
            return Ok(Closed::NotYet);
        };
        if word(&next, HEADER) == 0 {
            return Ok(Closed::NotYet);
        }
        for record in records_of(&bytes, number) {
            if !each(&record) {
                return Ok(Closed::NotYet);
            }
        }
        Ok(Closed::Read {
            salt: long(&next, 24),
            record: long(&next, HEADER + 8),
        })
    }

    fn salt(&mut self, number: u32) -> Result<Option<u64>, JournalError> {
        let state = self.state();
        Ok(state.files.get(&number).map(|file| long(&file.cached, 24)))
    }

    fn begins(&mut self, number: u32) -> Result<Option<(u64, u64)>, JournalError> {
        let state = self.state();
        let bytes = state.files.get(&number).map(|file| &file.cached);
        Ok(bytes.and_then(|bytes| {
            let first = records_of(bytes, number).next()?;
            let salt = long(bytes, 24);
            is_record(bytes, HEADER, salt).then_some((salt, first.index))
        }))
    }

    fn sync(&mut self, from: u32, upto: u32) -> Result<(), JournalError> {
        self.unless_stopped(from, |state| {
            for (number, file) in state.files.range_mut(from..=upto) {
                let bytes = file.cached.clone();
                let length = match *number == upto {
                    true => HEADER + word(&bytes, HEADER) as usize,
                    false => bytes.len(),
                };
                for page in 0..length.div_ceil(super::PAGE) {
                    file.write(page, &bytes);
                }
            }
        })
    }

    fn settle(&mut self, segment: u32) {
        let mut state = self.state();
        state.checkpoints.settled = Some(segment);
        state.checkpoints.has_settled = true;
    }
}
