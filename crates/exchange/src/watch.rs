//! Subscriptions of members to trading states.

use alloc::vec::Vec;

use fixwire_book::BookState;
use fixwire_protocol::SessionId;

/// The subject of a subscription.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Watched {
    /// One symbol, by a SecurityStatusRequest(e) with this id.
    Symbol { id: Vec<u8>, symbol: Vec<u8> },
    /// All symbols, by a TradingSessionStatusRequest(g) with this id and TradingSessionID(336).
    Session { id: Vec<u8>, session: Vec<u8> },
    /// A flow group, requested by an R11 with this id.
    FlowGroup { id: u16, flow_group: u8 },
}

impl Watched {
    /// Whether a new request replaces this one.
    pub(crate) fn is_replaced_by(&self, new: &Self) -> bool {
        match (self, new) {
            (Self::Symbol { id, .. }, Self::Symbol { id: new, .. })
            | (Self::Session { id, .. }, Self::Session { id: new, .. }) => id == new,
            (
                Self::FlowGroup { flow_group, .. },
                Self::FlowGroup {
                    flow_group: new, ..
                },
            ) => flow_group == new,
            _ => false,
        }
    }
}

/// A subscription of a member.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) to: SessionId,
    pub(crate) watched: Watched,
    /// The state that was last reported; `None` for an unknown symbol.
    pub(crate) said: Option<BookState>,
}
