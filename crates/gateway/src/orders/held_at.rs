//! [`HeldAt`]: where an unsent message is held.

/// Position of a held message in the queue of its target, as the owner of the queue counts positions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct HeldAt(pub(crate) u64);
