//! A link: one connection at a time, which carries frames and not FIX.

use std::net::IpAddr;

use fixwire_protocol::Framing;

use super::{ConfigError, Connection};
use crate::Network;
use crate::bucket::Rate;
use crate::journal::is_session;
use crate::transport::Transport;

/// Configuration of a link, which carries frames: name, connection and framing.
///
/// The engine connects or accepts, reads complete frames, records each frame with its effects, and writes frames of
/// the application. The application gives the frames their meaning, including a login:
/// [`Application::on_frame`](fixwire_protocol::Application::on_frame).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LinkConfig {
    /// Name of the link in the journal and in events, for example `TMP:CORE->TAIFEX`. It must be unique among links
    /// and sessions.
    pub name: String,
    /// Whether the link is an initiator or an acceptor. An acceptor needs a listening address of its own. It accepts
    /// one connection at a time; further connections are closed, and an event reports them.
    pub connection: Connection,
    /// How the byte stream is split into frames.
    pub framing: Framing,
    /// Rate limit for frames to the peer. Frames above the limit wait in the journal, in order. `None` for no limit.
    pub outbound: Option<Rate>,
    /// Addresses from which an acceptor accepts connections; when empty, from every address.
    pub addresses: Vec<Network>,
    /// Proxy, TLS, local addresses and socket options. Only an initiator may use TLS.
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

    /// Validates the link without regard to other links, for an engine with this maximum message length.
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
