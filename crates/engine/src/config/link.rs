//! A link: one connection at a time that carries frames, not FIX.

use std::net::IpAddr;

use fixwire_protocol::Framing;

use super::{ConfigError, Connection};
use crate::Network;
use crate::bucket::Rate;
use crate::journal::is_session;
use crate::transport::Transport;

/// A link, which carries frames: its name, connection and framing.
///
/// The engine connects, accepts, reads complete frames, records them with their effects, and writes. The messages
/// inside, including a logon, belong to the application:
/// [`Application::on_frame`](fixwire_protocol::Application::on_frame).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LinkConfig {
    /// Name of the link in the journal and in events, for example `TMP:CORE->TAIFEX`. Unique among links and sessions.
    pub name: String,
    /// Whether the link connects or accepts. A listening link needs an address of its own: it accepts one connection at
    /// a time and refuses others, with an event.
    pub connection: Connection,
    /// The framing of its messages.
    pub framing: Framing,
    /// Rate limit for frames to the peer; the rest waits in the journal, in order. `None`: unlimited.
    pub outbound: Option<Rate>,
    /// Addresses from which an acceptor accepts connections; empty: every address.
    pub addresses: Vec<Network>,
    /// Proxy, TLS, local addresses and socket options; TLS only for an initiator.
    pub transport: Transport,
}

impl LinkConfig {
    /// A plain TCP link without limits.
    pub fn new(name: impl Into<String>, connection: Connection, framing: Framing) -> Self {
        Self {
            name: name.into(),
            connection,
            framing,
            outbound: None,
            addresses: Vec::new(),
            transport: Transport::default(),
        }
    }

    /// Checks the link by itself, for an engine with this maximum message size.
    pub(super) fn check(&self, max_message: usize) -> Result<(), ConfigError> {
        let name = || self.name.clone();
        if self.name.is_empty() || !is_session(&self.name) {
            return Err(ConfigError::LinkName(name()));
        }
        let framing = self.framing.check();
        framing.map_err(|error| ConfigError::Framing(name(), error))?;
        if self.framing.most > max_message {
            return Err(ConfigError::FrameTooLong(
                name(),
                self.framing.most,
                max_message,
            ));
        }
        if self.outbound.is_some_and(|rate| !rate.is_sound()) {
            return Err(ConfigError::Rate(name()));
        }
        match &self.connection {
            Connection::Initiator { hosts, .. } if hosts.is_empty() => {
                Err(ConfigError::NoHost(name()))
            }
            Connection::Acceptor { .. }
                if self.transport.tls.is_some() || !self.transport.balancers.is_empty() =>
            {
                Err(ConfigError::LinkTransport(name()))
            }
            _ => Ok(()),
        }
    }

    /// Whether a connection from this address is accepted.
    pub(crate) fn takes(&self, from: IpAddr) -> bool {
        fixwire_net::network::allows(&self.addresses, from)
    }
}
