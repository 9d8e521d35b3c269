//! Planted faults: deliberate errors that every test rig must detect.
//!
//! Without the feature `canary` no fault can be planted, and `is` is a constant. With the feature, one fault is
//! selected for the whole process, by `plant` or by the variable `FIXWIRE_CANARY`.

/// An error that is planted: a step that the engine skips or does wrong.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum PlantedFault {
    /// Every fifth message and its effects have no journal record.
    SkipCommit = 1,
    /// With durability `disk`, messages are sent before they are synced.
    SkipSync,
    /// Recovery does not check the checksum of a record.
    SkipCrc,
    /// After a restart, the last MsgSeqNum sent is used again.
    ReuseNumber,
    /// After the second connection of a process, gaps are not requested.
    SkipResend,
    /// A simulated disk does not sync the name of a new segment.
    SkipDirectorySync,
    /// A simulated disk removes older segments before the base file is synced.
    SkipBaseSync,
    /// Recovery does not rewrite data that a failed sync may have left out.
    SkipStoreAgain,
    /// With durability `disk`, messages that wait for a socket are sent without a sync.
    SkipBacklogSync,
    /// With durability `disk`, the last messages of an ending session are sent without a sync.
    SkipFarewellSync,
    /// Every fifth message is missing in the journal, although its effects are in the journal.
    EffectWithoutCause,
    /// A reset that was not answered is forgotten when the process ends.
    ForgetReset,
    /// Every third note of the application is skipped at the start.
    ForgetNotes,
    /// Every fifth note of the application is left out of checkpoints.
    FoldShort,
    /// No Heartbeat is sent.
    SkipHeartbeat,
    /// After a restart, the last message received from the peer is forgotten.
    ForgetInbound,
    /// One of every hundred messages that a session delivers is not answered.
    LoseMessage,
    /// Every thousandth message of another engine's store is not imported.
    SkipStored,
    /// A Logon is accepted with any password.
    AnyPassword,
    /// The throttle of a peer never limits anything.
    SkipThrottle,
    /// What a message causes is sent before its record is committed: a record becomes valid with the next one.
    ReleaseBeforeCommit,
}

impl PlantedFault {
    /// All faults.
    pub const ALL: [Self; 21] = [
        Self::SkipCommit,
        Self::SkipSync,
        Self::SkipCrc,
        Self::ReuseNumber,
        Self::SkipResend,
        Self::SkipDirectorySync,
        Self::SkipBaseSync,
        Self::SkipStoreAgain,
        Self::SkipBacklogSync,
        Self::SkipFarewellSync,
        Self::EffectWithoutCause,
        Self::ForgetReset,
        Self::ForgetNotes,
        Self::FoldShort,
        Self::SkipHeartbeat,
        Self::ForgetInbound,
        Self::LoseMessage,
        Self::SkipStored,
        Self::AnyPassword,
        Self::SkipThrottle,
        Self::ReleaseBeforeCommit,
    ];

    /// The fault's name in `FIXWIRE_CANARY`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SkipCommit => "skip-commit",
            Self::SkipSync => "skip-sync",
            Self::SkipCrc => "skip-crc",
            Self::ReuseNumber => "reuse-number",
            Self::SkipResend => "skip-resend",
            Self::SkipDirectorySync => "skip-directory-sync",
            Self::SkipBaseSync => "skip-base-sync",
            Self::SkipStoreAgain => "skip-store-again",
            Self::SkipBacklogSync => "skip-backlog-sync",
            Self::SkipFarewellSync => "skip-farewell-sync",
            Self::EffectWithoutCause => "effect-without-cause",
            Self::ForgetReset => "forget-reset",
            Self::ForgetNotes => "forget-notes",
            Self::FoldShort => "fold-short",
            Self::SkipHeartbeat => "skip-heartbeat",
            Self::ForgetInbound => "forget-inbound",
            Self::LoseMessage => "lose-message",
            Self::SkipStored => "skip-stored",
            Self::AnyPassword => "any-password",
            Self::SkipThrottle => "skip-throttle",
            Self::ReleaseBeforeCommit => "release-before-commit",
        }
    }
}

#[cfg(not(feature = "canary"))]
mod planted {
    /// Always false: without the feature no fault is planted.
    #[inline(always)]
    pub const fn is(_: super::PlantedFault) -> bool {
        false
    }
}

#[cfg(feature = "canary")]
mod planted {
    use super::PlantedFault;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU8, Ordering};

    static PLANTED: AtomicU8 = AtomicU8::new(0);
    static ASKED: OnceLock<()> = OnceLock::new();

    /// Plants a fault from now on, in all threads; `None` removes it.
    pub fn plant(fault: Option<PlantedFault>) {
        ASKED.get_or_init(|| ());
        PLANTED.store(fault.map_or(0, |fault| fault as u8), Ordering::Relaxed);
    }

    /// Whether this fault is planted.
    pub fn is(fault: PlantedFault) -> bool {
        ASKED.get_or_init(|| {
            let name = std::env::var("FIXWIRE_CANARY").unwrap_or_default();
            if let Some(fault) = PlantedFault::ALL
                .into_iter()
                .find(|fault| fault.name() == name)
            {
                PLANTED.store(fault as u8, Ordering::Relaxed);
            }
        });
        PLANTED.load(Ordering::Relaxed) == fault as u8
    }
}

pub use planted::is;
#[cfg(feature = "canary")]
pub use planted::plant;
