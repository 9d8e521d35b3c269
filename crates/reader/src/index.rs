//! [`LogIndexes`]: indexes of the ids in each block of a log, stored in files of a cache folder.
//!
//! An index is built in one pass over its log, and extended when the log has grown. [`crate::index_record`] describes
//! the content. The part of a log after the last complete block is always read. An index is not used when its log was
//! replaced or overwritten. A damaged index is used up to the damage.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fixwire_sys::regular;
use rustix::fs::{FlockOperation, flock};

use crate::feed::Content;
use crate::index_build::{Growth, grow};
use crate::index_file::{LogIndex, read_at_most};
use crate::index_key::hash;
use crate::index_record::{BLOCK, IndexHeader, LogState};
use crate::left_out::LeftOuts;
use crate::open::sources;
use crate::zone::LogZone;

/// Number of bytes at the start of a log that are compared to recognise it.
const FIRST: usize = 4096;
/// Maximum number of bytes of indexes that stay in memory while logs are read.
const KEPT: u64 = 64 << 20;
/// Extension of index files.
const ENDING: &str = "index";
/// Index files that were not written for this time are removed.
const OLD: Duration = Duration::from_secs(60 * 86_400);

/// The indexes of logs, in a folder.
#[derive(Clone, Debug)]
pub struct LogIndexes {
    folder: PathBuf,
    zone: LogZone,
}

/// The result of [`LogIndexes::update`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct IndexUpdate {
    /// Number of bytes of the log that were read.
    pub read: u64,
    /// Number of bytes of the log that the index covers. The rest is less than a block.
    pub covered: u64,
    /// Number of blocks.
    pub blocks: u64,
    /// Size of the index, bytes.
    pub size: u64,
    /// Whether an existing index was extended; otherwise a new one was built.
    pub extended: bool,
}

impl LogIndexes {
    /// Indexes in this folder; the first index creates it. `zone` applies to times without a zone.
    #[must_use]
    pub fn new(folder: &Path, zone: LogZone) -> Self {
        Self {
            folder: folder.to_owned(),
            zone,
        }
    }

    /// The files and journals in these paths, including those in folders.
    #[must_use]
    pub fn files(paths: &[PathBuf]) -> Vec<PathBuf> {
        let mut ignored = LeftOuts::default();
        let all = paths.iter();
        all.flat_map(|path| sources(path, &mut ignored)).collect()
    }

    /// The usable indexes of these files. For logs of at least `build_from` bytes, the index is built or extended
    /// first; failures are ignored.
    #[must_use]
    pub fn open_all(
        &self,
        files: &[PathBuf],
        build_from: Option<u64>,
    ) -> HashMap<PathBuf, LogIndex> {
        let mut found = HashMap::new();
        let mut room = KEPT;
        for path in files {
            let mut left = room;
            let mut index = self.open_within(path, &mut left);
            let len = fs::metadata(path).map_or(0, |facts| facts.len());
            let has_block = len >= index.as_ref().map_or(0, LogIndex::covered) + BLOCK;
            if has_block && build_from.is_some_and(|least| len >= least) {
                // If this fails, the log is read without an index.
                let _ = self.update(path);
                left = room;
                index = self.open_within(path, &mut left);
            }
            room = left;
            if let Some(index) = index {
                found.insert(path.clone(), index);
            }
        }
        found
    }

    /// The index of a log, if it belongs to the log in its present state.
    #[must_use]
    pub fn open(&self, log: &Path) -> Option<LogIndex> {
        self.open_within(log, &mut 0)
    }

    fn open_within(&self, log: &Path, room: &mut u64) -> Option<LogIndex> {
        let (file, state, header) = self.identify(log).ok()?;
        LogIndex::read(&self.path_of(&header), header, &file, state, room)
    }

    /// Builds the index of a log, or extends it by what was added to the log.
    ///
    /// # Errors
    ///
    /// A sentence that says why: the log cannot be read or is not plain text, or the folder cannot be written.
    pub fn update(&self, log: &Path) -> Result<IndexUpdate, String> {
        let failed = |error: io::Error| error.to_string();
        let (file, state, header) = self.identify(log)?;
        let path = self.path_of(&header);
        let in_folder = |error: io::Error| format!("{}: {error}", self.folder.display());
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)
            .map_err(in_folder)?;
        if let Ok(index_file) = OpenOptions::new().read(true).write(true).open(&path) {
            let is_free = flock(&index_file, FlockOperation::NonBlockingLockExclusive).is_ok();
            let index = LogIndex::read(&path, header, &file, state, &mut 0);
            match index {
                // Another process is extending the index.
                Some(index) if !is_free => return Ok(update_of(&index, 0, true)),
                Some(index) => return extend(index, log, &self.zone, index_file, state),
                None => {}
            }
        }
        self.remove_old();
        let new = self
            .folder
            .join(format!("{}.{}.new", name_of(&header), std::process::id()));
        let _ = fs::remove_file(&new);
        let index_file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&new)
            .map_err(in_folder)?;
        let empty = LogIndex::empty(path.clone(), header);
        let built = index_file
            .write_all_at(&header.bytes(), 0)
            .map_err(in_folder)
            .and_then(|()| extend(empty, log, &self.zone, index_file, state));
        let built = built.and_then(|update| {
            if update.blocks > 0 {
                fs::rename(&new, &path).map_err(failed)?;
            }
            Ok(IndexUpdate {
                extended: false,
                ..update
            })
        });
        if !matches!(&built, Ok(update) if update.blocks > 0) {
            let _ = fs::remove_file(&new);
        }
        built
    }

    /// Opens a log, and computes the header that an index of this log must have.
    fn identify(&self, log: &Path) -> Result<(File, LogState, IndexHeader), String> {
        let failed = |error: io::Error| error.to_string();
        if log.is_dir() {
            return Err("a journal cannot have an index".to_owned());
        }
        let file = regular::open(log).map_err(failed)?;
        let facts = file.metadata().map_err(failed)?;
        let mut first = vec![0; FIRST];
        let filled = read_at_most(&file, &mut first, 0).map_err(failed)?;
        if Content::of(&first[..filled]) != Content::Text {
            return Err(
                "only plain text logs can have an index: this file is compressed, or a \
                capture"
                    .to_owned(),
            );
        }
        let state = LogState {
            size: facts.len(),
            modified: facts.mtime() * 1_000_000_000 + facts.mtime_nsec(),
        };
        let header = IndexHeader {
            device: facts.dev(),
            inode: facts.ino(),
            zone: hash(0, format!("{:?}", self.zone).as_bytes()),
            first: hash(0, &first[..filled]),
        };
        Ok((file, state, header))
    }

    fn path_of(&self, header: &IndexHeader) -> PathBuf {
        self.folder.join(name_of(header)).with_extension(ENDING)
    }

    /// Removes indexes that were not written for a long time. Most old indexes belong to logs that no longer exist.
    fn remove_old(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return;
        };
        let now = SystemTime::now();
        for path in entries.flatten().map(|entry| entry.path()) {
            let is_ours = path
                .extension()
                .is_some_and(|end| end == ENDING || end == "new");
            let written = fs::metadata(&path).and_then(|facts| facts.modified());
            let age = written.ok().and_then(|at| now.duration_since(at).ok());
            if is_ours && age.is_some_and(|age| age > OLD) {
                let _ = fs::remove_file(&path);
            }
        }
    }
}

fn name_of(header: &IndexHeader) -> String {
    let name = [header.device, header.inode, header.zone].map(u64::to_le_bytes);
    format!("{:016x}", hash(0, &name.concat()))
}

/// Appends the next blocks, and cuts off damaged data.
fn extend(
    mut index: LogIndex,
    log: &Path,
    zone: &LogZone,
    mut file: File,
    state: LogState,
) -> Result<IndexUpdate, String> {
    let failed = |error: io::Error| error.to_string();
    let from = index.covered.0;
    let mut read = 0;
    if state.size >= from + BLOCK {
        file.set_len(index.valid).map_err(failed)?;
        file.seek(SeekFrom::Start(index.valid)).map_err(failed)?;
        let mut out = BufWriter::with_capacity(1 << 18, file);
        let mut bytes = Vec::new();
        let growth = Growth {
            path: log,
            zone,
            from: index.covered,
            state,
        };
        grow(&growth, |record| {
            index.sum = record.write(index.sum, &mut bytes);
            index.covered = (record.end, record.line);
            index.blocks += 1;
            index.valid += bytes.len() as u64;
            out.write_all(&bytes)
        })?;
        out.flush().map_err(failed)?;
        read = state.size - from;
    }
    Ok(update_of(&index, read, true))
}

fn update_of(index: &LogIndex, read: u64, extended: bool) -> IndexUpdate {
    IndexUpdate {
        read,
        covered: index.covered.0,
        blocks: index.blocks,
        size: index.valid,
        extended,
    }
}
