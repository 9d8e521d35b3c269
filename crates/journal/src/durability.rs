//! Durability: where a message is stored before it is sent.

/// Where a message is stored before its first byte is written to a socket.
///
/// Only [`Durability::Disk`] may be called durable.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Durability {
    /// In memory of the process: lost when it ends. A ResendRequest is answered from the newest messages, older ones
    /// are gap-filled.
    Memory,
    /// In mapped memory of the journal: survives the end of the process, not of the host.
    #[default]
    Process,
    /// On disk, after `fdatasync` has returned: survives a power failure. One sync covers a whole turn.
    Disk,
}
