//! [`HeldAt`]: where an unsent message is held.

/// Where a message is held: a position in the queue of its target, as the owner of the queue counts them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct HeldAt(pub(crate) u64);
