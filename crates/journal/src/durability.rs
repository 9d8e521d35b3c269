//! Durability: where a message is stored before it is sent.

/// Where a message is stored before its first byte is written to a socket.
///
/// Only [`Durability::Disk`] may be called durable.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Durability {
    /// In memory of the process; lost when the process ends. A ResendRequest is answered with the newest messages;
    /// older messages are replaced by a gap fill.
    Memory,
    /// In mapped memory of the journal; survives the end of the process, but not a crash of the host.
    #[default]
    Process,
    /// On disk, after `fdatasync` has returned; survives a power failure. One sync covers a whole turn.
    Disk,
}
