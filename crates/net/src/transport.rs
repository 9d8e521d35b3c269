//! How bytes travel between a session and its peer: TLS, proxies, local addresses, socket options.
//!
//! Plain values, made in code or by the settings reader. [`Transport::default`] is a plain TCP
//! connection with the system's socket options.

use std::net::SocketAddr;
use std::time::Duration;

use fixwire_protocol::Secret;

use crate::SocketOptions;
use crate::network::Network;
use crate::tls::{Pin, Tls};

/// Everything about a session's connections that is not its peer's address. It is made by
/// [`Transport::default`], and what differs is set then.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Transport {
    /// TLS, made by [`Tls::acceptor`] or [`Tls::initiator`]; `None` sends and takes plain text.
    pub tls: Option<Tls>,
    /// Certificates of which the peer must show one. Empty takes any that `tls` accepts.
    pub certificates: Vec<Pin>,
    /// Load balancers in front of an acceptor. With any, every connection has to come from one of
    /// them and begin with a PROXY header, version 1 or 2, that names the client's address.
    pub balancers: Vec<Network>,
    /// The proxy of an initiator.
    pub proxy: Option<Proxy>,
    /// The local address of an initiator, for each of its hosts; port 0 lets the system choose. Hosts
    /// beyond the end have the last one. Empty leaves it to the system.
    pub local: Vec<Option<SocketAddr>>,
    /// Which host an initiator tries next.
    pub policy: HostPolicy,
    /// SO_REUSEADDR of a listener: its port can be had again at once after a restart.
    pub reuse_address: bool,
    /// SO_KEEPALIVE; `None` leaves it to the system.
    pub keep_alive: Option<bool>,
    /// SO_OOBINLINE; `None` leaves it to the system.
    pub oob_inline: Option<bool>,
    /// SO_LINGER, whole seconds: how long closing waits for what is unsent; `None` leaves it to the
    /// system.
    pub linger: Option<Duration>,
    /// IP_TOS or IPV6_TCLASS; `None` leaves it to the system.
    pub traffic_class: Option<u8>,
    /// SO_BUSY_POLL, microseconds: how long a read that finds nothing polls the network card; `None`
    /// leaves it to the system.
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
    /// Whether a listener can serve both: what happens before the Logon is the same.
    pub fn shares_listener(&self, other: &Self) -> bool {
        self.tls == other.tls
            && self.balancers == other.balancers
            && self.reuse_address == other.reuse_address
    }

    /// The socket options that it sets, with TCP_NODELAY and the system's buffers.
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

/// Which host an initiator tries after one failed or ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HostPolicy {
    /// The next one, after the last the first. One that worked is tried again first.
    RoundRobin,
    /// The first one before all: others are tried in order while it fails, and once this much time
    /// has passed since it was last tried, the next attempt is the first host's again.
    Priority {
        /// How long the first host is left alone.
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
    /// Who we are to it; empty says nothing.
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
    /// SOCKS 4a: the proxy looks the peer's name up.
    Socks4a,
    /// SOCKS 5 (RFC 1928), with a name and password (RFC 1929); the proxy looks names up.
    Socks5,
}

/// A password of a proxy, a key store or a database.
pub type Password = Secret<String>;
