//! [`HeldAt`]: the position of a held message.

/// Position of a held message in the queue of its target, as the owner of the queue counts positions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct HeldAt(pub(crate) u64);
