//! A link: one connection at a time that carries frames, not FIX.

use std::net::IpAddr;

use fixwire_protocol::Framing;

use super::{ConfigError, Connection};
use crate::Network;
use crate::bucket::Rate;
use crate::journal::is_session;
use crate::transport::Transport;

/// A link, which carries frames: what it is called, how it is connected, how its frames are delimited.
///
/// The engine connects, accepts, reads whole frames, records them with what they caused, and writes. The
/// messages inside, a logon among them, are the application's:
/// [`Application::on_frame`](fixwire_protocol::Application::on_frame).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LinkConfig {
    /// Its name in the journal and in events, for example `TMP:CORE->TAIFEX`. Unique among links and
    /// sessions.
    pub name: String,
    /// Who connects to whom. A listening link has its address for itself: it accepts one connection at a time
    /// and refuses others, with an event.
    pub connection: Connection,
    /// How its frames are delimited.
    pub framing: Framing,
    /// Frames that it is sent in a time; what is beyond waits in the journal, in order. `None`: as fast as the
    /// peer reads.
    pub outbound: Option<Rate>,
    /// Addresses that an acceptor accepts connections from; empty: every address.
    pub addresses: Vec<Network>,
    /// Proxy, TLS, local addresses and socket options; TLS only of an initiator.
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

    /// Looks for what cannot work in the link by itself, in an engine of messages of so many bytes.
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
