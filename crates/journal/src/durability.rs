//! What a message has behind it before it is sent.

/// What has happened to a message before its first byte enters a socket.
///
/// Only [`Durability::Disk`] may be called durable.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Durability {
    /// It stands in memory of the process: nothing survives the process. A ResendRequest is answered
    /// from the newest messages, older ones are gap-filled.
    Memory,
    /// It stands in mapped memory of the journal: survives the end of the process, not of the host.
    #[default]
    Process,
    /// `fdatasync` has returned for it: survives a loss of power. One sync serves a whole turn.
    Disk,
}
