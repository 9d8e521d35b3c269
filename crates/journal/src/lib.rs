//! The journal: one record for a cause and all its effects, written before the wire.
//!
//! One journal serves all sessions of an engine. The journal is the message store, the send queue and the audit log.
//! Everything that the journal has recorded survives the end of the process at any instruction. [`segment`] and
//! [`record`] draw the files byte by byte; `docs/reference/journal-format.md` adds the rules.
//!
//! ```text
//! let (mut journal, recovered) = Journal::open(disk, Config::default())?;
//! let id = journal.register(wall, "FIX.4.2:EXEC->BENCH")?;     same id after every restart
//! let counters = journal.counters(id);                           next_in, next_out, epoch
//! let end = journal.append(wall, Cause { .. }, effects)?;        then `sync(end)` if it must be on disk
//! let bytes = journal.outbound(id, 17)?;                         one stored message
//! let mut replay = journal.replay(id, 1, 100);                   many: journal.next_of(&mut replay)
//! ```

#![forbid(unsafe_code)]

mod append;
mod archive;
mod base;
#[doc(hidden)]
pub mod canary;
mod carried;
mod checkpoint;
mod contents;
mod directory;
mod disk;
mod dump;
mod durability;
mod error;
mod files;
mod fold;
mod folder;
mod index;
mod known;
mod lock;
mod maker;
mod memory;
mod newest;
mod opening;
mod originals;
mod read;
mod reading;
mod recall;
pub mod record;
mod recover;
mod replay;
mod resent;
mod reserve;
mod retire;
mod retiring;
mod salvage;
pub mod segment;
mod segments;
#[doc(hidden)]
pub mod sim;
mod state;
mod tail;
mod verify;
mod view;
mod watch;

pub use append::{Cause, Journal};
pub use base::{Base, Retention, Start};
pub use contents::{FolderContents, contents, refuse_other_store, refuse_other_version};
pub use directory::Directory;
pub use disk::{Disk, DiskNews, DiskWakeUp, Segment};
pub use dump::{
    Direction, DumpFilter, DumpFormat, DumpLine, FRAME_DECODERS, FrameDecoder, dump, each_line,
    each_line_of, follow, is_action, is_fix_message, write_escaped, write_moment,
};
pub use durability::Durability;
pub use error::{Damage, JournalError};
pub use fold::{Closed, Fold, FoldStep, States};
pub use folder::{StateBefore, StoredState, state_before, stored_states};
pub use known::{
    DISABLED_BY, ENABLED_BY, NOTES, OPERATORS, SequenceCounters, is_notes, is_session, notes_name,
    waiting_note,
};
pub use lock::is_in_use;
pub use memory::{Memory, OsDisk};
pub use opening::{Recovered, Torn};
pub use originals::{Originals, Resent};
pub use read::Records;
pub use reading::MappedJournal;
pub use recall::Recalled;
pub use record::{Effect, RecordKind};
pub use replay::{Replay, Stored};
pub use resent::{Arrival, RUN, Wrote};
pub use reserve::{JournalReserve, MOST_RESERVE};
pub use salvage::{LostSession, Salvaged, salvage};
pub use segment::JournalPosition;
pub use tail::Tail;
pub use verify::{HeldSegments, StoredSession, Verified, stored_sessions, verify};
pub use view::{Effects, Record};
pub use watch::{Alteration, JournalTrouble, end_on_truncation};

/// Identifies a session in the journal: the order of its registration, from 0. The engine's `SessionId` follows the
/// configuration and may change from start to start; a `JournalId` never changes.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct JournalId(pub u32);

/// The journal's sizes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct JournalConfig {
    /// Size of a new segment in bytes: a multiple of 4096, at most 1 GiB. Existing segments keep their size.
    pub segment_bytes: usize,
    /// Number of index entries per session, at least 2. An entry has 16 bytes.
    pub index_entries: usize,
    /// Whether messages are sent only after [`Journal::sync`] has synced their records (durability `disk`). If so,
    /// after a power failure the records that were not synced are cut off, even if parts of them are readable.
    pub synced_before_sent: bool,
    /// How long segments that no session needs are kept; `None` keeps all of them unchanged.
    pub retention: Option<Retention>,
}

impl Default for JournalConfig {
    /// Segments of 64 MiB, 64 KiB of index for each session in use.
    fn default() -> Self {
        Self {
            segment_bytes: 64 << 20,
            index_entries: 4096,
            synced_before_sent: false,
            retention: None,
        }
    }
}

impl JournalConfig {
    fn check(&self) -> Result<(), JournalError> {
        let refuse = |name, must| Err(JournalError::Setting { name, must });
        if !self.segment_bytes.is_multiple_of(segment::SEGMENT_GRAIN)
            || !(segment::SEGMENT_GRAIN..=1 << 30).contains(&self.segment_bytes)
        {
            return refuse(
                "segment_bytes",
                "a multiple of 4096 from 4096 to 1073741824",
            );
        }
        if !(2..=1 << 20).contains(&self.index_entries) {
            return refuse("index_entries", "from 2 to 1048576");
        }
        Ok(())
    }
}
