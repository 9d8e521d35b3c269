//! [`GatewayContext`]: sessions, dictionaries and tables that a gateway is loaded with, and its event
//! listener.

use alloc::boxed::Box;
use alloc::sync::Arc;

use fixwire_protocol::dictionary::{Dictionary, Version};

use super::event::GatewayEvent;

/// A session of a gateway. The index of a session is its [`SessionId`](fixwire_protocol::SessionId) in the engine.
#[derive(Clone, Debug)]
pub struct GatewaySession<'c> {
    /// The session's name in the file.
    pub name: &'c str,
    /// The dictionary of the session's messages; for FIX 5.0 the application dictionary combined with the transport
    /// dictionary.
    pub dictionary: Arc<Dictionary>,
    /// The FIX version of the session's application messages, for conversions.
    pub version: Version,
    /// The CompID of the session's peer; empty when the session has no peer CompID.
    pub peer: &'c str,
    /// Whether sequence numbers reset at a logon, logout or disconnect. If so, a message cannot wait in the session
    /// while the session is disconnected.
    pub resets: bool,
}

/// The sessions and tables that a gateway is loaded with, besides the text of its file.
#[derive(Clone, Copy, Debug)]
pub struct GatewayContext<'c> {
    /// The sessions, in the order of their [`SessionId`](fixwire_protocol::SessionId)s.
    pub sessions: &'c [GatewaySession<'c>],
    /// The names of tables with their CSV text; see [`table_files`](crate::rules::table_files).
    pub tables: &'c [(&'c str, &'c str)],
    /// The names of conversion tables, such as `FIX.4.2 to FIX.4.4`, with their text; see
    /// [`conversion_files()`](super::conversion_files()).
    pub conversions: &'c [(&'c str, &'c str)],
    /// A secret of this process, the key of hash tables; see [`OrdersConfig`](crate::orders::OrdersConfig).
    pub hash_key: [u8; 16],
}

/// The function that receives [`GatewayEvent`]s.
pub type Listener = Box<dyn FnMut(GatewayEvent<'_>) + Send>;
