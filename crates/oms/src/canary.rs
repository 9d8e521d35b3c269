//! Planted faults: a rig that does not notice them is no rig.
//!
//! Without the feature `canary` nothing can be planted and `is` is a constant. With it, one fault is chosen for the
//! whole process: a program plants the one that `FIXWIRE_CANARY` names.

/// A step that the OMS leaves out, or does wrong.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Fault {
    /// Every fifth event is applied and has no note.
    SkipNote = 1,
    /// An end that waits for fills is dropped.
    DropPended,
    /// An order that is unknown when its line is back is sent again; its venue is not asked.
    ResendUnknown,
    /// What an order has reserved is released twice when it ends.
    ReleaseTwice,
    /// A reject that comes again sends its order again.
    RetryPast,
}

impl Fault {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::SkipNote,
        Self::DropPended,
        Self::ResendUnknown,
        Self::ReleaseTwice,
        Self::RetryPast,
    ];

    /// What `FIXWIRE_CANARY` calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SkipNote => "skip-note",
            Self::DropPended => "drop-pended",
            Self::ResendUnknown => "resend-unknown",
            Self::ReleaseTwice => "release-twice",
            Self::RetryPast => "retry-past",
        }
    }
}

#[cfg(not(feature = "canary"))]
mod planted {
    /// Never.
    #[inline(always)]
    pub const fn is(_: super::Fault) -> bool {
        false
    }
}

#[cfg(feature = "canary")]
mod planted {
    use super::Fault;
    use core::sync::atomic::{AtomicU8, Ordering};

    static PLANTED: AtomicU8 = AtomicU8::new(0);

    /// Plants the fault of this name from now on, in all threads; another name takes it away.
    pub fn plant(name: &str) {
        let fault = Fault::ALL.into_iter().find(|fault| fault.name() == name);
        PLANTED.store(fault.map_or(0, |fault| fault as u8), Ordering::Relaxed);
    }

    /// Whether this fault is planted.
    pub fn is(fault: Fault) -> bool {
        PLANTED.load(Ordering::Relaxed) == fault as u8
    }
}

pub use planted::is;
#[cfg(feature = "canary")]
pub use planted::plant;
