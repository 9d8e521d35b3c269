//! [`Passage`]: the kind of a message that the gateway forwards.

/// The kind of a forwarded or held message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Passage {
    /// A request that opens an order, or an order's replace or cancel: a cancel of the order may end it here.
    Opens,
    /// Another request.
    Sent,
    /// A copy.
    Copied,
    /// A response on its way back.
    Returned,
}

impl Passage {
    const ALL: [Self; 4] = [Self::Opens, Self::Sent, Self::Copied, Self::Returned];

    /// The kind with this number in notes.
    pub fn of(number: u32) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }
}
