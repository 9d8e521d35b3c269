//! The world below the engine: the operating system, or a simulated one.

pub mod sim;

pub use fixwire_net::{
    AnnounceFault, Announced, ConnId, Dial, Host, HostAround, ListenerId, Mark, Os, Peer, Ready,
    SocketOptions, WakeUp, read_proxy_header,
};
