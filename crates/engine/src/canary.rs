//! Planted faults: a rig that does not notice them is no rig.
//!
//! Without the feature `canary` nothing can be planted and `is` is a constant. With it, one fault
//! is chosen for the whole process, by `plant` or by the variable `FIXWIRE_CANARY`.

/// A step that the engine leaves out, or does wrong.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Fault {
    /// Every fifth message and its effects have no journal record.
    SkipCommit = 1,
    /// With durability `disk`, messages are sent before a sync.
    SkipSync,
    /// Recovery does not compare a record's checksum.
    SkipCrc,
    /// The last number sent before a restart is given out again.
    ReuseNumber,
    /// After a second connection of a process, gaps are not asked for.
    SkipResend,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::SkipCommit,
        Self::SkipSync,
        Self::SkipCrc,
        Self::ReuseNumber,
        Self::SkipResend,
    ];

    /// What `FIXWIRE_CANARY` calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SkipCommit => "skip-commit",
            Self::SkipSync => "skip-sync",
            Self::SkipCrc => "skip-crc",
            Self::ReuseNumber => "reuse-number",
            Self::SkipResend => "skip-resend",
        }
    }
}

#[cfg(not(feature = "canary"))]
mod planted {
    /// Never.
    #[inline(always)]
    pub(crate) const fn is(_: super::Fault) -> bool {
        false
    }
}

#[cfg(feature = "canary")]
mod planted {
    use super::Fault;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU8, Ordering};

    static PLANTED: AtomicU8 = AtomicU8::new(0);
    static ASKED: OnceLock<()> = OnceLock::new();

    /// Plants a fault from now on, in all threads; `None` takes it away.
    pub fn plant(fault: Option<Fault>) {
        ASKED.get_or_init(|| ());
        PLANTED.store(fault.map_or(0, |fault| fault as u8), Ordering::Relaxed);
    }

    /// Whether this fault is planted.
    pub(crate) fn is(fault: Fault) -> bool {
        ASKED.get_or_init(|| {
            let name = std::env::var("FIXWIRE_CANARY").unwrap_or_default();
            if let Some(fault) = Fault::ALL.into_iter().find(|fault| fault.name() == name) {
                PLANTED.store(fault as u8, Ordering::Relaxed);
            }
        });
        PLANTED.load(Ordering::Relaxed) == fault as u8
    }
}

pub(crate) use planted::is;
#[cfg(feature = "canary")]
pub use planted::plant;
