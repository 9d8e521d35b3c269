//! Planted faults: deliberate errors of the OMS that each test rig must detect.
//!
//! Without the feature `canary` no fault can be planted, and `is` is a constant. With the feature, the environment
//! variable `FIXWIRE_CANARY` names one fault for the whole process.

/// A planted fault: a step that the OMS omits or does wrong.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum OmsPlantedFault {
    /// Every fifth event is applied but not journalled.
    SkipNote = 1,
    /// The OMS forgets the final state of an order that waits for missing fills.
    DropPended,
    /// An unknown order is sent again after a reconnect, without asking the venue for its status.
    ResendUnknown,
    /// The reservation of an order is released twice when it is closed.
    ReleaseTwice,
    /// A duplicate reject sends the rejected order again.
    RetryPast,
    /// An order whose condition is met is sent twice.
    TriggerTwice,
    /// A parent still reserves the quantity that a child takes over.
    CountTwice,
    /// A price inquiry is sent twice.
    InquireTwice,
    /// A fill of a leg counts twice when the venue reports it twice.
    LegTwice,
    /// A venue's report that differs from the state of the order raises no break.
    MissBreak,
    /// A start from a checkpoint forgets the fields that orders and requests carry.
    ForgetFields,
}

impl OmsPlantedFault {
    /// All faults.
    pub const ALL: [Self; 11] = [
        Self::SkipNote,
        Self::DropPended,
        Self::ResendUnknown,
        Self::ReleaseTwice,
        Self::RetryPast,
        Self::TriggerTwice,
        Self::CountTwice,
        Self::InquireTwice,
        Self::LegTwice,
        Self::MissBreak,
        Self::ForgetFields,
    ];

    /// Name of the fault, as in `FIXWIRE_CANARY`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SkipNote => "skip-note",
            Self::DropPended => "drop-pended",
            Self::ResendUnknown => "resend-unknown",
            Self::ReleaseTwice => "release-twice",
            Self::RetryPast => "retry-past",
            Self::TriggerTwice => "trigger-twice",
            Self::CountTwice => "count-twice",
            Self::InquireTwice => "inquire-twice",
            Self::LegTwice => "leg-twice",
            Self::MissBreak => "miss-break",
            Self::ForgetFields => "forget-fields",
        }
    }
}

#[cfg(not(feature = "canary"))]
mod planted {
    /// Always false: without the feature no fault is planted.
    #[inline(always)]
    pub const fn is(_: super::OmsPlantedFault) -> bool {
        false
    }
}

#[cfg(feature = "canary")]
mod planted {
    use super::OmsPlantedFault;
    use core::sync::atomic::{AtomicU8, Ordering};

    static PLANTED: AtomicU8 = AtomicU8::new(0);

    /// Plants the fault with this name in all threads from now on. If no fault has the name, the planted fault is
    /// removed.
    pub fn plant(name: &str) {
        let fault = OmsPlantedFault::ALL
            .into_iter()
            .find(|fault| fault.name() == name);
        PLANTED.store(fault.map_or(0, |fault| fault as u8), Ordering::Relaxed);
    }

    /// Whether this fault is planted.
    pub fn is(fault: OmsPlantedFault) -> bool {
        PLANTED.load(Ordering::Relaxed) == fault as u8
    }
}

pub use planted::is;
#[cfg(feature = "canary")]
pub use planted::plant;
