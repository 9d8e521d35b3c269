//! An open segment of a simulated disk.

use std::io;

use super::{PAGE, SimDisk};
use crate::{Disk, JournalError, Segment};

/// An open segment of a [`SimDisk`]. When it is dropped, its data returns to the disk.
#[derive(Debug)]
pub struct SimSegment {
    pub(super) disk: SimDisk,
    pub(super) number: u32,
    pub(super) bytes: Vec<u8>,
    /// Pages stored to since the last sync.
    pub(super) dirty: Vec<bool>,
}

/// Number of open segments, which a process would have mapped.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mapped {
    now: usize,
    most: usize,
    /// Maximum number of segments that can be open, as if the address space were used up; `None` for no limit.
    limit: Option<usize>,
}

impl SimDisk {
    /// Number of segments open now, and the maximum since the last call.
    #[must_use]
    pub fn mapped(&self) -> (usize, usize) {
        let mapped = &mut self.state().mapped;
        let most = std::mem::replace(&mut mapped.most, mapped.now);
        (mapped.now, most)
    }

    /// From now on, at most this number of segments can be open at a time.
    pub fn limit_mapped(&self, limit: Option<usize>) {
        self.state().mapped.limit = limit;
    }
}

impl SimSegment {
    pub(super) fn open(disk: &SimDisk, number: u32) -> Result<Self, JournalError> {
        let mut state = disk.state();
        let failed = |doing, kind: io::ErrorKind| {
            Err(JournalError::io(doing, disk.name(number))(kind.into()))
        };
        let Some(file) = state.files.get(&number) else {
            return failed("open", io::ErrorKind::NotFound);
        };
        let (bytes, dirty) = (file.cached.clone(), file.dirty.clone());
        let mapped = &mut state.mapped;
        if mapped.limit.is_some_and(|limit| mapped.now >= limit) {
            return failed("map", io::ErrorKind::OutOfMemory);
        }
        mapped.now += 1;
        mapped.most = mapped.most.max(mapped.now);
        drop(state);
        Ok(Self {
            disk: disk.clone(),
            number,
            bytes,
            dirty,
        })
    }

    fn touch(&mut self, at: usize, len: usize) {
        let mut state = self.disk.state();
        for page in at / PAGE..(at + len).div_ceil(PAGE) {
            self.dirty[page] = true;
            if state.writes_back()
                && let Some(file) = state.files.get_mut(&self.number)
            {
                // The page stays dirty until the next sync, which writes the same bytes again.
                file.write(page, &self.bytes);
            }
        }
    }
}

impl Segment for SimSegment {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn store(&mut self, at: usize, bytes: &[u8]) {
        {
            let mut state = self.disk.state();
            if !state.goes_on() {
                return;
            }
            // Other readers can see data that is not on disk yet.
            if let Some(file) = state.files.get_mut(&self.number)
                && let Some(cached) = file.cached.get_mut(at..at + bytes.len())
            {
                cached.copy_from_slice(bytes);
            }
        }
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self.touch(at, bytes.len());
    }

    fn publish(&mut self, at: usize, word: u32) {
        self.store(at, &word.to_le_bytes());
    }

    fn sync(&mut self, at: usize, len: usize) -> io::Result<()> {
        let mut state = self.disk.state();
        if !state.goes_on() {
            return Err(io::Error::other("the machine has stopped"));
        }
        let nth = state.syncs;
        state.syncs += 1;
        if state.fail_sync == Some(nth) {
            // After the failure the system forgets that these pages were not written, as Linux does.
            self.dirty.fill(false);
            return Err(io::Error::from_raw_os_error(libc::EIO));
        }
        let Some(file) = state.files.get_mut(&self.number) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let len = len.min(self.bytes.len().saturating_sub(at));
        for page in at / PAGE..(at + len).div_ceil(PAGE) {
            if std::mem::take(&mut self.dirty[page]) {
                file.write(page, &self.bytes);
            }
        }
        Ok(())
    }
}

impl Drop for SimSegment {
    fn drop(&mut self) {
        let mut state = self.disk.state();
        state.mapped.now = state.mapped.now.saturating_sub(1);
        if let Some(file) = state.files.get_mut(&self.number)
            && file.cached.len() == self.bytes.len()
        {
            file.cached.clone_from(&self.bytes);
            file.dirty.clone_from(&self.dirty);
        }
    }
}
