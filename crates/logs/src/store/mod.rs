//! File stores of the QuickFIX family: import and export of a session.
//!
//! ```text
//! quickfix    STEM.seqnums  .session  .header  .body                          STEM = FIX.4.4-A-B[-Q]
//! quickfixj   STEM.senderseqnums  .targetseqnums  .session  .header  .body    STEM = FIX.4.4-A_SUB-B[-Q]
//! quickfixgo  the same five, as text
//! quickfixn   the four of quickfix, other widths
//!
//! import(Family::QuickfixJ, &store, &journal, "FIX.4.4:A/SUB->B", Existing::Refuse, now)?;
//! export(Family::QuickfixJ, &journal, &store, "FIX.4.4:A/SUB->B")?;
//! ```
//!
//! Import and export work on files that no engine has open. A store is read completely, and is accepted only if every
//! byte of it has a meaning. Nothing is changed before that, and an error leaves both sides unchanged.

mod error;
mod export;
mod import;
mod name;
mod numbers;
mod read;
#[cfg(test)]
mod tests;

pub use error::StoreError;
pub use export::{Exported, export};
pub use import::{Existing, Imported, import};
pub use name::SessionName;

/// The engine that uses the file store.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Family {
    /// QuickFIX (C++).
    Quickfix,
    /// QuickFIX/J.
    QuickfixJ,
    /// QuickFIX/Go.
    QuickfixGo,
    /// QuickFIX/n.
    QuickfixN,
}

impl Family {
    /// All engines whose file stores can be read.
    pub const ALL: [Self; 4] = [
        Self::Quickfix,
        Self::QuickfixJ,
        Self::QuickfixGo,
        Self::QuickfixN,
    ];

    /// The highest MsgSeqNum that this engine supports.
    fn highest(self) -> u64 {
        match self {
            Self::Quickfix | Self::QuickfixJ => i32::MAX as u64,
            Self::QuickfixGo | Self::QuickfixN => i64::MAX as u64,
        }
    }

    /// The extensions of a store's files. The files with the sequence numbers come first, so that they are the last
    /// ones to be missing.
    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Quickfix | Self::QuickfixN => &["seqnums", "session", "body", "header"],
            Self::QuickfixJ | Self::QuickfixGo => &[
                "senderseqnums",
                "targetseqnums",
                "session",
                "body",
                "header",
            ],
        }
    }
}
