//! The transport between a session and its peer: TLS, proxies, local addresses and socket options.
//!
//! The settings are plain values, which code or the settings reader sets. [`Transport::default`] is a plain TCP
//! connection with the system's socket options.

use std::net::SocketAddr;
use std::time::Duration;

use fixwire_protocol::Secret;

use crate::SocketOptions;
use crate::network::Network;
use crate::tls::{Pin, Tls};

/// All options of a session's connections except the address of the peer. Create it with [`Transport::default`] and
/// then change single fields.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Transport {
    /// TLS, from [`Tls::acceptor`] or [`Tls::initiator`]; `None` for a connection without TLS.
    pub tls: Option<Tls>,
    /// The certificates of the peer that are accepted. If the list is empty, every certificate that `tls` accepts.
    pub certificates: Vec<Pin>,
    /// Load balancers in front of an acceptor. If the list is not empty, every connection must come from one of them
    /// and begin with a PROXY header, version 1 or 2, that has the client's address.
    pub balancers: Vec<Network>,
    /// The proxy of an initiator.
    pub proxy: Option<Proxy>,
    /// Local addresses of an initiator, one for each of its hosts. With port 0 the system chooses the port. Further
    /// hosts use the last address. If the list is empty, the system chooses the address.
    pub local: Vec<Option<SocketAddr>>,
    /// How an initiator chooses the next host.
    pub policy: HostPolicy,
    /// SO_REUSEADDR of a listener: the port can be used again at once after a restart.
    pub reuse_address: bool,
    /// SO_KEEPALIVE; `None` for the system default.
    pub keep_alive: Option<bool>,
    /// SO_OOBINLINE; `None` for the system default.
    pub oob_inline: Option<bool>,
    /// SO_LINGER, in whole seconds: how long closing waits for unsent data. `None` for the system default.
    pub linger: Option<Duration>,
    /// IP_TOS or IPV6_TCLASS; `None` for the system default.
    pub traffic_class: Option<u8>,
    /// SO_BUSY_POLL, in microseconds: how long a read without data polls the network card. `None` for the system
    /// default.
    pub busy_poll: Option<u32>,
}

impl Default for Transport {
    fn default() -> Self {
        Self {
            tls: None,
            certificates: Vec::new(),
            balancers: Vec::new(),
            proxy: None,
            local: Vec::new(),
            policy: HostPolicy::RoundRobin,
            reuse_address: true,
            keep_alive: None,
            oob_inline: None,
            linger: None,
            traffic_class: None,
            busy_poll: None,
        }
    }
}

impl Transport {
    /// Whether one listener can serve both transports, because their connections are handled alike until the Logon.
    pub fn shares_listener(&self, other: &Self) -> bool {
        self.tls == other.tls
            && self.balancers == other.balancers
            && self.reuse_address == other.reuse_address
    }

    /// The socket options of the transport, with TCP_NODELAY and the system's buffer sizes.
    pub fn socket_options(&self) -> SocketOptions {
        SocketOptions {
            nodelay: true,
            send_buffer: None,
            receive_buffer: None,
            keep_alive: self.keep_alive,
            oob_inline: self.oob_inline,
            linger: self.linger,
            traffic_class: self.traffic_class,
            busy_poll: self.busy_poll,
        }
    }

    /// The local address for connections to one of the initiator's hosts.
    pub fn local(&self, host: usize) -> Option<SocketAddr> {
        self.local
            .get(host)
            .or(self.local.last())
            .copied()
            .flatten()
    }
}

/// The choice of the host that an initiator tries after a connection failed or ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HostPolicy {
    /// The next host, and after the last one the first. A host with which a connection worked is tried again first.
    RoundRobin,
    /// The first host is preferred. While it fails, the others are tried in turn. The first host is tried again when
    /// the last attempt to connect to it was `start_over` ago.
    Priority {
        /// Minimum time between two attempts to connect to the first host.
        start_over: Duration,
    },
}

/// A proxy between an initiator and its peer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Proxy {
    /// The protocol of the proxy.
    pub kind: ProxyKind,
    /// The host name or address of the proxy.
    pub host: String,
    /// The port of the proxy.
    pub port: u16,
    /// User name for the proxy; empty when the proxy needs none.
    pub user: String,
    /// The password of the user.
    pub password: Password,
}

/// The protocol of a proxy.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ProxyKind {
    /// `CONNECT` of HTTP 1.0, with Basic authentication.
    Http10,
    /// `CONNECT` of HTTP 1.1, with Basic authentication.
    Http11,
    /// SOCKS 4. The peer must be an IPv4 address.
    Socks4,
    /// SOCKS 4a. The proxy resolves the name of the peer.
    Socks4a,
    /// SOCKS 5 (RFC 1928), with user and password (RFC 1929). The proxy resolves names.
    Socks5,
}

/// The password of a proxy, a key store or a database.
pub type Password = Secret<String>;
