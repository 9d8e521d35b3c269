//! [`HeldAt`]: where an unsent message is held.

/// Where a message is held: a block and a position in it, as the owner of the queue counts them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct HeldAt {
    /// The block.
    pub(crate) block: u32,
    /// The byte in the block.
    pub(crate) at: u16,
}
