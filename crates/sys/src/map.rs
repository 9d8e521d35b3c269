//! A memory mapping of fixed length, with or without a file.

use memmap2::{Advice, MmapMut, MmapOptions, MmapRaw, UncheckedAdvice};
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Number of bytes that the processor moves at once.
const CACHE_LINE: usize = 64;

/// Memory of fixed length, shared with a file or anonymous.
///
/// One owner writes, through `&mut self`. Bytes stored in a file's map survive the end of the process at any
/// instruction. Other processes may map the same file to read it. Readers read the first word of a record with acquire
/// order, which matches the store of [`Map::publish`].
///
/// # What the caller owes
///
/// The file must not shrink while it is mapped, because an access after its end raises SIGBUS. No other process may
/// write the file. The journal takes an exclusive lock on its directory for that.
#[derive(Debug)]
pub struct Map {
    memory: Arc<MmapRaw>,
    has_file: bool,
}

/// The pages of a file's map, to be released by another thread.
#[derive(Debug)]
pub struct FilePages(Arc<MmapRaw>);

impl FilePages {
    /// Removes all pages of the map from the page table of the process, at once.
    ///
    /// Before the system writes a page in the page table to the disk, it interrupts each processor on which the process
    /// runs. For a segment of 16 MiB these are 4,096 interrupts. The bytes stay the same: a page returns to the page
    /// table when it is accessed.
    pub fn release(&self) {
        // SAFETY: only a map that is shared with a file has `FilePages`. So the system keeps the stored bytes, and no
        // reader or writer of the map sees a difference.
        let _ = unsafe { self.0.unchecked_advise(UncheckedAdvice::DontNeed) };
    }
}

impl Map {
    /// Maps `len` bytes of a file that is open for reading and writing.
    ///
    /// # Errors
    ///
    /// `InvalidInput` when `len` is 0 or more than the length of the file; otherwise the error of `mmap`.
    pub fn file(file: &File, len: usize) -> io::Result<Self> {
        if len == 0 || file.metadata()?.len() < len as u64 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a map must be within its file and not empty",
            ));
        }
        Ok(Self {
            memory: Arc::new(MmapOptions::new().len(len).map_raw(file)?),
            has_file: true,
        })
    }

    /// Maps `len` zero bytes that belong to no file.
    ///
    /// # Errors
    ///
    /// The error of `mmap`.
    pub fn anonymous(len: usize) -> io::Result<Self> {
        let memory = MmapMut::map_anon(len)?;
        // This is only a hint. Huge pages make the first access to the ring cheap; without them the map works too.
        let _ = memory.advise(Advice::HugePage);
        Ok(Self {
            memory: Arc::new(memory.into()),
            has_file: false,
        })
    }

    /// The pages of the map; `None` for a map without a file.
    #[must_use]
    pub fn file_pages(&self) -> Option<FilePages> {
        self.has_file.then(|| FilePages(Arc::clone(&self.memory)))
    }

    /// The whole map.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the map is readable and `len` long until `self` is dropped. It is changed only through `&mut self`,
        // so nothing changes while the slice is borrowed. The caller ensures that no other process changes or shrinks
        // the file.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr(), self.memory.len()) }
    }

    /// Copies `bytes` to `at`.
    ///
    /// # Panics
    ///
    /// Panics if the bytes do not fit into the map, which is a bug of the caller.
    #[inline]
    pub fn store(&mut self, at: usize, bytes: &[u8]) {
        assert!(
            at <= self.memory.len() && bytes.len() <= self.memory.len() - at,
            "store outside of the map"
        );
        // SAFETY: the range is inside the map (checked above), the map is writable, and `bytes`
        // cannot overlap it because a slice of the map would borrow `self`.
        unsafe {
            std::ptr::copy_nonoverlapping(
                bytes.as_ptr(),
                self.memory.as_mut_ptr().add(at),
                bytes.len(),
            );
        }
    }

    /// Stores one little-endian word after everything that was stored before. A thread that reads the word with acquire
    /// order also sees those bytes.
    ///
    /// # Panics
    ///
    /// Panics if `at` is not a multiple of 4 inside the map, which is a bug of the caller.
    #[inline]
    pub fn publish(&mut self, at: usize, word: u32) {
        assert!(
            at.is_multiple_of(4) && at < self.memory.len() && self.memory.len() - at >= 4,
            "publish outside of the map"
        );
        // SAFETY: the word is inside the map and aligned, because maps start on a page (both checked
        // above); the map is writable, and no plain reference to it exists while `self` is borrowed
        // mutably.
        let place = unsafe { AtomicU32::from_ptr(self.memory.as_mut_ptr().add(at).cast()) };
        place.store(word.to_le(), Ordering::Release);
    }

    /// Makes the pages of a range writable now, so that a later store to the range does not cause a page fault.
    ///
    /// The call is a hint: on kernels without `MADV_POPULATE_WRITE` (before Linux 5.14) it does nothing.
    pub fn prefault(&self, at: usize, len: usize) {
        self.populate(Advice::PopulateWrite, at, len);
    }

    /// Sets whether an access to a page also reads the pages after it. In a file that is only written, those pages must
    /// be zeroed, and a system that reads 8 MiB ahead takes 20 ms for that.
    ///
    /// This is a hint. For a new map, reading ahead is on.
    pub fn set_read_ahead(&self, on: bool) {
        let advice = if on { Advice::Normal } else { Advice::Random };
        let _ = self.memory.advise(advice);
    }

    /// Makes the pages of a range readable now. The call is a hint, like [`Map::prefault`].
    pub fn read_ahead(&self, at: usize, len: usize) {
        self.populate(Advice::PopulateRead, at, len);
    }

    fn populate(&self, advice: Advice, at: usize, len: usize) {
        let end = at.saturating_add(len).min(self.memory.len());
        if at < end {
            let _ = self.memory.advise_range(advice, at, end - at);
        }
    }

    /// Loads the cache lines of a range into the processor, for a store soon. Pages that are not in memory stay so.
    #[inline]
    pub fn prefetch(&self, at: usize, len: usize) {
        let end = at.saturating_add(len).min(self.memory.len());
        for line in (at..end).step_by(CACHE_LINE) {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the address is inside the map, and a prefetch changes nothing and never faults.
            unsafe {
                use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
                _mm_prefetch::<_MM_HINT_ET0>(self.memory.as_ptr().add(line).cast());
            }
            #[cfg(not(target_arch = "x86_64"))]
            let _ = line;
        }
    }

    /// Waits until the bytes of a range are on the disk.
    ///
    /// # Errors
    ///
    /// The error of `msync`. The kernel reports a failed write only once: a later call may succeed although the bytes
    /// are lost. The caller must therefore never retry.
    pub fn sync(&self, at: usize, len: usize) -> io::Result<()> {
        if len == 0 {
            return Ok(());
        }
        self.memory.flush_range(at, len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::path::PathBuf;

    fn temporary(name: &str, len: u64) -> (PathBuf, File) {
        let path = std::env::temp_dir().join(format!("fixwire-sys-{name}-{}", std::process::id()));
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .unwrap();
        file.set_len(len).unwrap();
        (path, file)
    }

    #[test]
    fn what_is_stored_is_in_the_file() {
        let (path, file) = temporary("store", 8192);
        let mut map = Map::file(&file, 8192).unwrap();
        map.set_read_ahead(false);
        map.prefault(0, 1 << 20);
        map.prefetch(4000, 1 << 20);
        map.store(4090, b"across a page");
        map.publish(8, 0x0403_0201);
        map.sync(0, 8192).unwrap();
        assert_eq!(&map.bytes()[4090..4103], b"across a page");
        drop(map);
        let read = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(&read[4090..4103], b"across a page");
        assert_eq!(&read[8..12], &[1, 2, 3, 4]);
    }

    #[test]
    fn released_pages_keep_what_was_stored() {
        let (path, file) = temporary("release", 1 << 20);
        let mut map = Map::file(&file, 1 << 20).unwrap();
        for at in (0..1 << 20).step_by(4096) {
            map.store(at, &[at as u8 ^ 7, 1]);
        }
        let pages = map.file_pages().unwrap();
        std::thread::spawn(move || pages.release()).join().unwrap();
        let is_there = |bytes: &[u8], at: usize| bytes[at..at + 2] == [at as u8 ^ 7, 1];
        let mut all = (0..1 << 20).step_by(4096);
        assert!(all.all(|at| is_there(map.bytes(), at)));
        map.store(5000, b"later");
        let pages = map.file_pages().unwrap();
        drop(map);
        pages.release();
        let read = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(&read[5000..5005], b"later");
        let mut all = (0..1 << 20).step_by(4096);
        assert!(all.all(|at| is_there(&read, at)));
        assert!(Map::anonymous(4096).unwrap().file_pages().is_none());
    }

    #[test]
    fn a_map_longer_than_its_file_is_refused() {
        let (path, file) = temporary("short", 100);
        assert_eq!(
            Map::file(&file, 101).unwrap_err().kind(),
            io::ErrorKind::InvalidInput
        );
        assert_eq!(
            Map::file(&file, 0).unwrap_err().kind(),
            io::ErrorKind::InvalidInput
        );
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn anonymous_memory_starts_as_zeros() {
        let mut map = Map::anonymous(4096).unwrap();
        assert!(map.bytes().iter().all(|byte| *byte == 0));
        map.store(4095, b"x");
        map.set_read_ahead(true);
        map.read_ahead(0, 4096);
        assert_eq!(map.bytes()[4095], b'x');
    }

    #[test]
    #[should_panic(expected = "store outside of the map")]
    fn a_store_behind_the_end_is_our_bug() {
        Map::anonymous(16).unwrap().store(10, b"seven b");
    }

    #[test]
    #[should_panic(expected = "store outside of the map")]
    fn a_store_far_behind_the_end_does_not_wrap_round() {
        Map::anonymous(16).unwrap().store(usize::MAX, b"seven b");
    }

    #[test]
    #[should_panic(expected = "publish outside of the map")]
    fn a_word_is_published_at_a_multiple_of_four() {
        Map::anonymous(16).unwrap().publish(2, 1);
    }

    #[test]
    #[should_panic(expected = "publish outside of the map")]
    fn a_word_is_published_inside_of_the_map() {
        Map::anonymous(18).unwrap().publish(16, 1);
    }

    #[test]
    fn a_reader_that_sees_the_word_sees_the_bytes() {
        let (path, file) = temporary("publish", 4096);
        let mut writer = Map::file(&file, 4096).unwrap();
        let reader = Map::file(&file, 4096).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for round in 1..=1000_u32 {
                    writer.store(64 + round as usize, &[7]);
                    writer.publish(0, round);
                }
            });
            let mut seen = 0;
            while seen < 1000 {
                // SAFETY: the first word of the map is aligned and mapped.
                let word = unsafe { AtomicU32::from_ptr(reader.memory.as_mut_ptr().cast()) };
                seen = u32::from_le(word.load(Ordering::Acquire));
                if seen > 0 {
                    // SAFETY: inside the map; the writer stored it before the word and never again.
                    let byte = unsafe { reader.memory.as_ptr().add(64 + seen as usize).read() };
                    assert_eq!(byte, 7);
                }
            }
        });
        std::fs::remove_file(&path).unwrap();
    }
}
