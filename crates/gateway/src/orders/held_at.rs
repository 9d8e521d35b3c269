//! [`HeldAt`]: where a message is held that has not been sent.

/// Where a message is held: its block and its place there, as its owner counts them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct HeldAt {
    /// The block.
    pub(crate) block: u32,
    /// The byte in it.
    pub(crate) at: u16,
}
