//! Requests for the state of trading that get each change.

use alloc::vec::Vec;

use fixwire_book::BookState;
use fixwire_protocol::SessionId;

/// What a member asked about.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Watched {
    /// A symbol, by an e with this id.
    Symbol { id: Vec<u8>, symbol: Vec<u8> },
    /// All of them, by a g with this id and TradingSessionID(336).
    Session { id: Vec<u8>, session: Vec<u8> },
    /// A flow group, by an R11 with this id.
    FlowGroup { id: u16, flow_group: u8 },
}

impl Watched {
    /// Whether a new request takes the place of this one.
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

/// A member that gets changes.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) to: SessionId,
    pub(crate) watched: Watched,
    /// What was reported to it last; `None` for a symbol that is not traded.
    pub(crate) said: Option<BookState>,
}
