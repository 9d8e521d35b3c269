//! Durability: where a message is stored before it is sent.

/// Where a message is stored before its first byte enters a socket.
///
/// Only [`Durability::Disk`] may be called durable.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Durability {
    /// In memory of the process: nothing survives the process. A ResendRequest is answered
    /// from the newest messages, older ones are gap-filled.
    Memory,
    /// In mapped memory of the journal: survives the end of the process, not of the host.
    #[default]
    Process,
    /// `fdatasync` has returned for it: survives a loss of power. One sync serves a whole turn.
    Disk,
}
