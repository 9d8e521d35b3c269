//! The transport between a session and its peer: TLS, proxies, local addresses, socket options.
//!
//! Plain values, set in code or by the settings reader. [`Transport::default`] is a plain TCP connection with the
//! system's socket options.

use std::net::SocketAddr;
use std::time::Duration;

use fixwire_protocol::Secret;

use crate::SocketOptions;
use crate::network::Network;
use crate::tls::{Pin, Tls};

/// All connection options of a session except its peer's address. Create it with [`Transport::default`], then change
/// individual fields.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Transport {
    /// TLS, from [`Tls::acceptor`] or [`Tls::initiator`]; `None` for plain text.
    pub tls: Option<Tls>,
    /// Accepted certificates of the peer. Empty: every one that `tls` accepts.
    pub certificates: Vec<Pin>,
    /// Load balancers in front of an acceptor. If not empty, every connection must come from one of them and begin with
    /// a PROXY header, version 1 or 2, with the client's address.
    pub balancers: Vec<Network>,
    /// The proxy of an initiator.
    pub proxy: Option<Proxy>,
    /// Local addresses of an initiator, for each of its hosts; port 0 is chosen by the system. Further hosts use the
    /// last one. Empty: chosen by the system.
    pub local: Vec<Option<SocketAddr>>,
    /// The next host that an initiator tries.
    pub policy: HostPolicy,
    /// SO_REUSEADDR of a listener: its port can be bound again at once after a restart.
    pub reuse_address: bool,
    /// SO_KEEPALIVE; `None` for the system default.
    pub keep_alive: Option<bool>,
    /// SO_OOBINLINE; `None` for the system default.
    pub oob_inline: Option<bool>,
    /// SO_LINGER, whole seconds: how long closing waits for unsent data; `None` for the system default.
    pub linger: Option<Duration>,
    /// IP_TOS or IPV6_TCLASS; `None` for the system default.
    pub traffic_class: Option<u8>,
    /// SO_BUSY_POLL, microseconds: how long a read without data polls the network card; `None` for the system default.
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
    /// Whether one listener can serve both: their handling before the Logon is the same.
    pub fn shares_listener(&self, other: &Self) -> bool {
        self.tls == other.tls
            && self.balancers == other.balancers
            && self.reuse_address == other.reuse_address
    }

    /// Its socket options, with TCP_NODELAY and the system's buffers.
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

    /// The local address for an initiator's host.
    pub fn local(&self, host: usize) -> Option<SocketAddr> {
        self.local
            .get(host)
            .or(self.local.last())
            .copied()
            .flatten()
    }
}

/// The next host that an initiator tries after one failed or disconnected.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HostPolicy {
    /// The next one, after the last the first. A working one is tried again first.
    RoundRobin,
    /// The first one is preferred: others are tried in turn while it fails, and once its last attempt is this long ago,
    /// it is tried again.
    Priority {
        /// Minimum time between two attempts at the first host.
        start_over: Duration,
    },
}

/// A proxy between an initiator and its peer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Proxy {
    /// Its protocol.
    pub kind: ProxyKind,
    /// Its host name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// User name for the proxy; empty for none.
    pub user: String,
    /// The password of `user`.
    pub password: Password,
}

/// Protocol of a proxy.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ProxyKind {
    /// `CONNECT` of HTTP 1.0, with Basic credentials.
    Http10,
    /// `CONNECT` of HTTP 1.1, with Basic credentials.
    Http11,
    /// SOCKS 4: the peer is an IPv4 address.
    Socks4,
    /// SOCKS 4a: the proxy resolves the peer's name.
    Socks4a,
    /// SOCKS 5 (RFC 1928), with user and password (RFC 1929); the proxy resolves names.
    Socks5,
}

/// The password of a proxy, a key store or a database.
pub type Password = Secret<String>;
