//! The lobby: a bounded pool of connections that have not logged on yet.
//!
//! Before its Logon, a peer cannot be distinguished from an unknown peer at the same address (NAT, a proxy, a load
//! balancer). So a full pool would lock peers out. Therefore an address that sessions belong to has reserved places.
//! A new connection from such an address takes the place of the connection that has waited longest: of one from the
//! same address if that address has used its share, otherwise of one from an unknown address.
//!
//! Nothing is answered and no session is changed before a Logon is complete and has passed every check. The time
//! limit counts from the start of the connection, not from its last byte. The order of checks is: address, rate,
//! place, TLS, size, form, Logon, CompIDs, address again, certificate, lock, password, not already logged on. A new
//! password is stored last of all: after the session and the application would accept the Logon, and before it is
//! answered.
//!
//! The lobby closes the connections of refused guests. It knows sessions only by index. Its owner raises the events,
//! and passes a connection to the session of its Logon.

mod admission;
mod decision;
mod doorman;
mod route;

use std::io;
use std::net::{IpAddr, SocketAddr};

use fixwire_passwords::Checker;
use fixwire_protocol::{Mono, Nanos};

pub(crate) use self::admission::ACCEPT_PAUSE;
pub(crate) use self::decision::Decision;
pub(crate) use self::doorman::Target;
use self::doorman::{Doorman, source};
use self::route::{Route, Routes};
use crate::config::{Limits, SessionConfig};
use crate::error::EngineError;
use crate::host::{ConnId, Host, ListenerId, WakeUp};
use crate::input::Input;
use crate::transport::Transport;

/// The pool of connections without a session.
pub(crate) struct Lobby {
    slots: Vec<Slot>,
    per_address: usize,
    logon_time: Nanos,
    listeners: Vec<Listening>,
    routes: Routes,
    doorman: Doorman,
    wake_up: WakeUp,
    /// Checks passwords; `None` until the first password must be checked.
    checker: Option<Checker>,
}

struct Listening {
    id: ListenerId,
    /// The address as configured. Sessions that are configured with port 0 and the same address share a port.
    asked: SocketAddr,
    at: SocketAddr,
    /// The transport for connections to this address before their Logon.
    transport: Transport,
    /// After a failure, nothing is accepted before this time.
    not_before: Mono,
}

/// A place for one guest.
struct Slot {
    guest: Option<Guest>,
    input: Input,
}

/// A connection that has not logged on yet.
#[derive(Clone, Copy)]
pub(crate) struct Guest {
    pub(crate) conn: ConnId,
    pub(crate) from: SocketAddr,
    listener: ListenerId,
    /// Time until which the guest must have sent its complete Logon.
    pub(crate) deadline: Mono,
    /// The ticket of the password check, while the guest's password is being checked.
    asked: Option<u64>,
    /// The session that only this guest may enter, because the session and the application accept its Logon and a new
    /// password for it is being stored.
    enters: Option<usize>,
    /// Whether `from` is a load balancer that has not announced its client yet.
    unannounced: bool,
}

impl Lobby {
    pub(crate) fn new(limits: &Limits, wake_up: WakeUp) -> Self {
        let slot = |_| Slot {
            guest: None,
            input: Input::new(limits.logon_bytes),
        };
        Self {
            slots: (0..limits.pending).map(slot).collect(),
            per_address: limits.pending_per_address,
            logon_time: Nanos::from(limits.logon_time),
            listeners: Vec::new(),
            routes: Routes::default(),
            doorman: Doorman::new(limits.logons),
            wake_up,
            checker: None,
        }
    }

    /// Makes connections at this address possible for a session or template. Opens a listener if necessary.
    pub(crate) fn route(
        &mut self,
        host: &mut impl Host,
        listen: SocketAddr,
        target: Target,
        config: &SessionConfig,
    ) -> Result<(), EngineError> {
        let known = self
            .listeners
            .iter()
            .find(|listening| listening.asked == listen);
        let listener = match known {
            Some(listening) if !listening.transport.shares_listener(&config.transport) => {
                let source =
                    io::Error::other("already open with different TLS settings or load balancers");
                return Err(EngineError::Listen { at: listen, source });
            }
            Some(listening) => listening.id,
            None => {
                let result = host.listen(listen, &config.transport);
                let (id, at) =
                    result.map_err(|source| EngineError::Listen { at: listen, source })?;
                self.listeners.push(Listening {
                    id,
                    asked: listen,
                    at,
                    transport: config.transport.clone(),
                    not_before: Mono(0),
                });
                id
            }
        };
        let known = match target {
            Target::Session(session) => self.doorman.address_of(session),
            Target::Template(_) => None,
        };
        let route = Route {
            listener,
            target,
            begin_string: config.session.begin_string,
            own: config.session.own.clone(),
            peer: config.session.peer.clone(),
            access: config.access.clone(),
            username: config.session.username.clone(),
            password: config.session.password.clone(),
            certificates: config.transport.certificates.clone(),
        };
        self.routes.add(route, known);
        Ok(())
    }

    /// Makes connections for this session impossible.
    pub(crate) fn unroute(&mut self, session: usize) {
        let known = self.doorman.address_of(session);
        self.routes.remove(session, known);
    }

    /// Records that a session has logged on from this address.
    pub(crate) fn logged_on(&mut self, address: IpAddr, session: usize) {
        self.doorman.succeeded(address, session);
        self.know(address, session);
    }

    /// Records that a session last logged on from this address.
    pub(crate) fn know(&mut self, address: IpAddr, session: usize) {
        let before = self.doorman.know(address, session);
        self.routes.moved(session, before, Some(source(address)));
    }

    /// Records that a session that does not exist yet logged on from this address in an earlier run.
    pub(crate) fn know_of(&mut self, address: IpAddr) {
        self.doorman.know_of(address);
    }

    /// Records that the application has refused a Logon for a session.
    pub(crate) fn failed(&mut self, now: Mono, address: IpAddr, session: usize) {
        self.doorman.failed(now, address, Target::Session(session));
    }

    /// Listening addresses.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = SocketAddr> {
        self.listeners.iter().map(|listening| listening.at)
    }

    /// Addresses at which other machines may connect without TLS.
    pub(crate) fn unprotected(&self) -> impl Iterator<Item = SocketAddr> {
        let open = self.listeners.iter().filter(|listening| {
            listening.transport.tls.is_none() && !listening.at.ip().is_loopback()
        });
        open.map(|listening| listening.at)
    }

    /// The earliest time at which a guest has waited too long or a paused listener may accept again; `None` without
    /// either.
    pub(crate) fn due(&self) -> Option<Mono> {
        let guests = self.slots.iter().filter_map(|slot| slot.guest);
        let late = guests.map(|guest| guest.deadline).min();
        let accepts = self.listeners.iter().map(|listening| listening.not_before);
        late.into_iter().chain(accepts.filter(|at| at.0 > 0)).min()
    }

    /// Maximum number of guests.
    pub(crate) fn places(&self) -> usize {
        self.slots.len()
    }

    /// Maximum time from accepting a connection to its complete Logon.
    pub(crate) fn logon_time(&self) -> Nanos {
        self.logon_time
    }

    /// Whether a guest has waited too long for its Logon.
    pub(crate) fn is_late(&self, slot: usize, now: Mono) -> bool {
        let guest = self.slots[slot].guest;
        guest.is_some_and(|guest| guest.deadline <= now)
    }

    fn listening(&mut self, id: ListenerId) -> Option<&mut Listening> {
        self.listeners
            .iter_mut()
            .find(|listening| listening.id == id)
    }
}
