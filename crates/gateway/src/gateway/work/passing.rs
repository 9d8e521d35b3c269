//! [`Passing`]: why a message goes to a session.

use super::super::passage::Passage;
use crate::orders::Out;

/// Why a message goes to a session.
#[derive(Clone, Copy)]
pub(super) enum Passing {
    /// A rule sends the message; the result of the order tracking.
    Sent(Out),
    Copied,
    Returned,
}

impl Passing {
    pub fn sent(self) -> Option<Out> {
        match self {
            Self::Sent(out) => Some(out),
            Self::Copied | Self::Returned => None,
        }
    }

    pub fn passage(self) -> Passage {
        match self {
            Self::Sent(_) => Passage::Sent,
            Self::Copied => Passage::Copied,
            Self::Returned => Passage::Returned,
        }
    }
}
