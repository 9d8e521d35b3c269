//! An open segment of a simulated disk.

use std::io;

use super::{PAGE, SimDisk};
use crate::Segment;

/// An open segment of a [`SimDisk`]. What it holds goes back to the disk when it is dropped.
#[derive(Debug)]
pub struct SimSegment {
    pub(super) disk: SimDisk,
    pub(super) number: u32,
    pub(super) bytes: Vec<u8>,
    /// Pages stored to since the last sync.
    pub(super) dirty: Vec<bool>,
}

impl SimSegment {
    fn touch(&mut self, at: usize, len: usize) {
        let mut state = self.disk.state();
        for page in at / PAGE..(at + len).div_ceil(PAGE) {
            self.dirty[page] = true;
            if state.writes_back()
                && let Some(file) = state.files.get_mut(&self.number)
            {
                // It stays dirty for the next sync, which writes the same bytes again.
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
            // Others read what is not on the disk yet.
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
            // The system forgets that these pages were not written, as Linux does.
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
        if let Some(file) = state.files.get_mut(&self.number)
            && file.cached.len() == self.bytes.len()
        {
            file.cached.clone_from(&self.bytes);
            file.dirty.clone_from(&self.dirty);
        }
    }
}
