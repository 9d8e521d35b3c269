//! The host of the engine: the operating system, or a simulation of it.

// Programs use this module through `fixwire::harness`.
#[doc(hidden)]
pub mod sim;

pub use fixwire_net::{
    AnnounceFault, Announced, ConnId, Dial, Host, HostAround, ListenerId, Mark, Os, PeerInfo,
    Ready, SocketOptions, Tunnel, TunnelAnswer, WakeUp, read_proxy_header,
};
