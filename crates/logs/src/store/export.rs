//! Exports a session: writes the sequence numbers and messages in a journal to a file store.

use std::fs::{self, DirBuilder, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use fixwire_engine::journal::{
    Directory, Journal, JournalConfig, Recovered, SequenceCounters, Stored, Torn,
};
use fixwire_protocol::session::{RESET_DUE, RESET_OPEN};
use fixwire_sys::private;

use super::{Family, SessionName, StoreError, numbers};

/// Extension of a file until all files of the store are complete.
const UNFINISHED: &str = "new";

/// Result of an export.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Exported {
    /// Number of messages that can be resent.
    pub messages: u64,
    /// Next expected MsgSeqNum.
    pub next_in: u64,
    /// Next MsgSeqNum to send.
    pub next_out: u64,
    /// The part of the journal that was cut off when the journal was opened.
    pub cut: Option<Torn>,
}

/// Writes the store of a session to a folder, which is created if missing. The session stays in the journal
/// unchanged. From then on, use either the store or the journal, not both.
///
/// A MsgSeqNum without a message has no message in the store either; the store's engine sends a gap fill for it, as
/// this engine does. Each file is written under a temporary name and synced. After the sync, the files are renamed, the
/// sequence numbers first. Messages are read one after another, with a fixed amount of memory.
///
/// # Errors
///
/// [`StoreError`]; no file of the store is left. A journal that an engine has open is refused.
pub fn export(
    family: Family,
    journal: &Path,
    store: &Path,
    session: &str,
) -> Result<Exported, StoreError> {
    let name = SessionName::parse(session)?;
    let none = || StoreError::NoJournal {
        folder: journal.display().to_string(),
    };
    if !journal.is_dir() {
        return Err(none());
    }
    let directory = Directory::open(journal)?;
    if directory.is_empty()? {
        return Err(none());
    }
    let config = JournalConfig {
        ..JournalConfig::default()
    };
    let (mut journal, Recovered { torn: cut, .. }) = Journal::open(directory, config)?;
    for ending in family.endings() {
        let path = name.path(family, store, ending);
        if path.symlink_metadata().is_ok() {
            let file = path.display().to_string();
            return Err(StoreError::Occupied { file });
        }
    }
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(store)
        .map_err(StoreError::io("make the folder", store))?;
    let mut files = Files {
        family,
        folder: store,
        name: &name,
        named: Vec::new(),
    };
    let result = files.write(&mut journal, session);
    if result.is_err() {
        files.remove();
    }
    result.map(|moved| Exported { cut, ..moved })
}

/// The files of a store that is being written.
struct Files<'a> {
    family: Family,
    folder: &'a Path,
    name: &'a SessionName,
    /// The files already renamed.
    named: Vec<PathBuf>,
}

impl Files<'_> {
    fn write(
        &mut self,
        journal: &mut Journal<Directory>,
        session: &str,
    ) -> Result<Exported, StoreError> {
        let found = journal.sessions().find(|(_, name, _)| *name == session);
        let Some((id, _, counters)) = found else {
            return Err(StoreError::Unknown {
                session: session.to_owned(),
                known: journal.sessions().map(|(_, name, _)| name.into()).collect(),
            });
        };
        let counters = match counters.next_in {
            // A reset is in progress. The engine that uses the store completes it.
            RESET_OPEN | RESET_DUE => SequenceCounters::NEW,
            _ => counters,
        };
        let most = self.family.highest();
        let highest = counters.next_in.max(counters.next_out);
        if highest > most {
            return Err(StoreError::TooHigh {
                number: highest,
                most,
            });
        }
        let (mut body, mut header) = (self.create("body")?, self.create("header")?);
        let (mut offset, mut messages) = (0_u64, 0_u64);
        let mut replay = journal.replay(id, 1, counters.next_out - 1);
        while let Some(stored) = journal.next_of(&mut replay)? {
            let Stored::Message { seq, bytes } = stored else {
                continue;
            };
            let entry = entry(self.family, seq, offset, bytes.len());
            body.write_all(bytes)
                .map_err(StoreError::io("write", &self.unfinished("body")))?;
            header
                .write_all(&entry)
                .map_err(StoreError::io("write", &self.unfinished("header")))?;
            offset += bytes.len() as u64;
            messages += 1;
        }
        self.finish("body", body)?;
        self.finish("header", header)?;
        let began = journal.numbers_began(id).unwrap_or_default();
        let mut small = numbers::write_numbers(self.family, counters.next_out, counters.next_in);
        small.push(("session", numbers::write_time(self.family, began)));
        for (ending, bytes) in small {
            let mut file = self.create(ending)?;
            file.write_all(&bytes)
                .map_err(StoreError::io("write", &self.unfinished(ending)))?;
            self.finish(ending, file)?;
        }
        for ending in self.family.endings() {
            let path = self.name.path(self.family, self.folder, ending);
            fs::rename(self.unfinished(ending), &path).map_err(StoreError::io("rename", &path))?;
            self.named.push(path);
        }
        File::open(self.folder)
            .and_then(|folder| folder.sync_all())
            .map_err(StoreError::io("sync", self.folder))?;
        Ok(Exported {
            messages,
            next_in: counters.next_in,
            next_out: counters.next_out,
            cut: None,
        })
    }

    fn unfinished(&self, ending: &str) -> PathBuf {
        let ending = format!("{ending}.{UNFINISHED}");
        self.name.path(self.family, self.folder, &ending)
    }

    fn create(&self, ending: &str) -> Result<BufWriter<File>, StoreError> {
        let path = self.unfinished(ending);
        let file = private()
            .truncate(true)
            .open(&path)
            .map_err(StoreError::io("create", &path))?;
        Ok(BufWriter::with_capacity(64 << 10, file))
    }

    fn finish(&self, ending: &str, file: BufWriter<File>) -> Result<(), StoreError> {
        let path = self.unfinished(ending);
        let file = file
            .into_inner()
            .map_err(|error| StoreError::io("write", &path)(error.into_error()))?;
        file.sync_all().map_err(StoreError::io("sync", &path))
    }

    /// Removes the files of a failed export. A file that cannot be removed either has a name that ends in `.new`, or
    /// makes the next export fail.
    fn remove(&self) {
        for path in self.named.iter().rev() {
            let _ = fs::remove_file(path);
        }
        for ending in self.family.endings() {
            let _ = fs::remove_file(self.unfinished(ending));
        }
    }
}

/// One entry of a header.
fn entry(family: Family, seq: u64, offset: u64, size: usize) -> Vec<u8> {
    match family {
        Family::Quickfix => format!("{seq},{offset},{size} ").into_bytes(),
        Family::QuickfixGo | Family::QuickfixN => format!("{seq},{offset},{size}\n").into_bytes(),
        // The MsgSeqNum was checked against the range of Java's int, and a message is much shorter.
        Family::QuickfixJ => [
            &(seq as u32).to_be_bytes()[..],
            &offset.to_be_bytes(),
            &(size as u32).to_be_bytes(),
        ]
        .concat(),
    }
}
