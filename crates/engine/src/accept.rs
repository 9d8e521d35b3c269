//! Connections that have not logged on: a bounded pool, and the way from it to a session.
//!
//! Nothing is answered and nothing of a session is touched before a Logon for it is complete. The
//! time for that counts from the first moment, not from the last byte.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};

use fixwire_protocol::session::{BeginString, LogonIdentity, Party, identify};
use fixwire_protocol::{Application, Frame, Mono, Nanos, Now, frame};

use crate::config::{Limits, SessionConfig};
use crate::connect::nanos;
use crate::connection::Input;
use crate::engine::{Engine, EngineError, Owner};
use crate::event::{Event, Refusal};
use crate::host::{ConnId, Host, ListenerId};
use crate::tls::{self, Pin, Spki};
use crate::transport::Network;

/// Connections taken from one listener in a turn.
const ACCEPTS_PER_TURN: usize = 16;
/// Time until an accept that failed is tried again.
const ACCEPT_PAUSE: u64 = 100_000_000;

/// How a TLS connection begins: a handshake record.
const TLS_HELLO: &[u8] = &[0x16, 0x03];

/// The pool of connections without a session.
pub(crate) struct Lobby {
    slots: Vec<Slot>,
    per_address: usize,
    logon_time: Nanos,
    listeners: Vec<Listening>,
    routes: Vec<Route>,
}

/// A session that takes connections.
struct Route {
    listener: ListenerId,
    session: usize,
    begin_string: BeginString,
    own: Party,
    peer: Party,
    /// Certificates of which the peer must show one, if there are any.
    certificates: Vec<Pin>,
}

struct Listening {
    id: ListenerId,
    /// As it was configured; sessions with port 0 and one address share a port.
    asked: SocketAddr,
    at: SocketAddr,
    /// Nothing protects what is said here.
    unprotected: bool,
    /// Whom connections must come from, if there are any.
    balancers: Vec<Network>,
    /// After a failure nothing is accepted before this.
    not_before: Mono,
}

struct Slot {
    guest: Option<Guest>,
    input: Input,
}

#[derive(Clone, Copy)]
struct Guest {
    conn: ConnId,
    from: SocketAddr,
    listener: ListenerId,
    deadline: Mono,
    /// `from` is a load balancer, and the client is not known yet.
    unannounced: bool,
}

impl Lobby {
    pub(crate) fn new(limits: &Limits) -> Self {
        let slot = |_| Slot {
            guest: None,
            input: Input::new(limits.logon_bytes),
        };
        Self {
            slots: (0..limits.pending).map(slot).collect(),
            per_address: limits.pending_per_address,
            logon_time: nanos(limits.logon_time),
            listeners: Vec::new(),
            routes: Vec::new(),
        }
    }

    /// Connections at this address may be for this session; listens there if nobody does yet.
    pub(crate) fn route(
        &mut self,
        host: &mut impl Host,
        listen: SocketAddr,
        session: usize,
        config: &SessionConfig,
    ) -> Result<(), EngineError> {
        let known = self
            .listeners
            .iter()
            .find(|listening| listening.asked == listen);
        let listener = match known {
            Some(listening) => listening.id,
            None => {
                let result = host.listen(listen, &config.transport);
                let (id, at) =
                    result.map_err(|source| EngineError::Listen { at: listen, source })?;
                self.listeners.push(Listening {
                    id,
                    asked: listen,
                    at,
                    unprotected: config.transport.tls.is_none() && !at.ip().is_loopback(),
                    balancers: config.transport.balancers.clone(),
                    not_before: Mono(0),
                });
                id
            }
        };
        self.routes.push(Route {
            listener,
            session,
            begin_string: config.session.begin_string,
            own: config.session.own.clone(),
            peer: config.session.peer.clone(),
            certificates: config.transport.certificates.clone(),
        });
        Ok(())
    }

    /// Where connections are taken.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = SocketAddr> {
        self.listeners.iter().map(|listening| listening.at)
    }

    /// Where other machines may connect without TLS.
    pub(crate) fn unprotected(&self) -> impl Iterator<Item = SocketAddr> {
        let open = self
            .listeners
            .iter()
            .filter(|listening| listening.unprotected);
        open.map(|listening| listening.at)
    }

    /// The earliest time at which somebody has waited too long.
    pub(crate) fn due(&self) -> Option<Mono> {
        let guests = self.slots.iter().filter_map(|slot| slot.guest);
        let late = guests.map(|guest| guest.deadline).min();
        let accepts = self.listeners.iter().map(|listening| listening.not_before);
        late.into_iter().chain(accepts.filter(|at| at.0 > 0)).min()
    }

    fn admit(&mut self, guest: Guest) -> Result<usize, Refusal> {
        let balancers = self
            .listening(guest.listener)
            .map(|listening| &listening.balancers);
        if let Some(balancers) = balancers
            && !balancers.is_empty()
            && !balancers
                .iter()
                .any(|network| network.contains(guest.from.ip()))
        {
            return Err(Refusal::NotABalancer);
        }
        if !guest.unannounced && self.pending_of(guest.from.ip()) >= self.per_address {
            return Err(Refusal::TooManyFromAddress);
        }
        let free = self.slots.iter().position(|slot| slot.guest.is_none());
        let index = free.ok_or(Refusal::TooManyPending)?;
        self.slots[index].guest = Some(guest);
        self.slots[index].input.clear();
        Ok(index)
    }

    /// Connections from an address that have not logged on. Those through a load balancer count as
    /// their client's.
    fn pending_of(&self, ip: IpAddr) -> usize {
        let same = |slot: &&Slot| {
            slot.guest
                .is_some_and(|other| !other.unannounced && address(other.from.ip()) == address(ip))
        };
        self.slots.iter().filter(same).count()
    }

    /// A load balancer has told who the client is.
    fn announce(&mut self, slot: usize, client: Option<SocketAddr>) -> Result<(), Refusal> {
        let Some(mut guest) = self.slots[slot].guest else {
            return Ok(());
        };
        let from = client.unwrap_or(guest.from);
        let others = self.pending_of(from.ip());
        guest.from = from;
        guest.unannounced = false;
        self.slots[slot].guest = Some(guest);
        match others >= self.per_address {
            true => Err(Refusal::TooManyFromAddress),
            false => Ok(()),
        }
    }

    fn listening(&mut self, id: ListenerId) -> Option<&mut Listening> {
        self.listeners
            .iter_mut()
            .find(|listening| listening.id == id)
    }

    fn leave(&mut self, slot: usize) -> Option<Guest> {
        self.slots[slot].guest.take()
    }
}

/// An IPv4 address that came through an IPv6 socket is the same address.
fn address(ip: IpAddr) -> IpAddr {
    ip.to_canonical()
}

impl<A: Application, H: Host> Engine<A, H> {
    /// Takes the connections that wait at a listener.
    pub(crate) fn accept(&mut self, now: Now, listener: ListenerId) {
        let Some(listening) = self.lobby.listening(listener) else {
            return;
        };
        if now.mono < listening.not_before {
            return;
        }
        listening.not_before = Mono(0);
        for _ in 0..ACCEPTS_PER_TURN {
            match self.host.accept(listener) {
                Ok(Some((conn, from))) => self.admit(now, listener, conn, from),
                Ok(None) => return,
                Err(error) => {
                    let again = Mono(now.mono.0 + ACCEPT_PAUSE);
                    if let Some(listening) = self.lobby.listening(listener) {
                        listening.not_before = again;
                    }
                    self.core.due = self.core.due.min(again);
                    self.events.tell(
                        now,
                        &Event::CannotAccept {
                            error: error.kind(),
                        },
                    );
                    return;
                }
            }
        }
    }

    fn admit(&mut self, now: Now, listener: ListenerId, conn: ConnId, from: SocketAddr) {
        let deadline = now.mono + self.lobby.logon_time;
        let guest = Guest {
            conn,
            from,
            listener,
            deadline,
            unannounced: self.host.peer(conn).announced.is_none(),
        };
        let admitted = if self.is_stopping() {
            Err(Refusal::Stopping)
        } else {
            self.lobby.admit(guest)
        };
        match admitted {
            Ok(slot) => {
                self.set_owner(conn, Owner::Guest(slot));
                self.core.due = self.core.due.min(deadline);
            }
            Err(why) => {
                self.host.close(conn);
                self.events.tell(now, &Event::Refused { from, why });
            }
        }
    }

    /// Reads from a connection that has not logged on.
    pub(crate) fn read_guest(&mut self, now: Now, slot: usize) -> Result<(), EngineError> {
        let Slot {
            guest: Some(guest),
            input,
        } = &mut self.lobby.slots[slot]
        else {
            return Ok(());
        };
        let (conn, listener, unannounced) = (guest.conn, guest.listener, guest.unannounced);
        let filled = input.fill(&mut self.host, conn);
        if unannounced
            && let Some(client) = self.host.peer(conn).announced
            && let Err(why) = self.lobby.announce(slot, client)
        {
            self.refuse(now, slot, why);
            return Ok(());
        }
        match filled {
            Ok(count) if count > 0 => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Ok(_) => {
                self.refuse(now, slot, Refusal::Gone);
                return Ok(());
            }
            Err(error) => {
                self.refuse(now, slot, Refusal::of(&error));
                return Ok(());
            }
        }
        let input = &self.lobby.slots[slot].input;
        let bytes = input.unread();
        let why = match frame::next(bytes, input.size()) {
            Frame::Whole { skip: 0, len } => {
                let message = self.decoder.decode(&bytes[..len]);
                match identify(&message)
                    .map(|identity| find(&self.lobby.routes, listener, &identity))
                {
                    None => Refusal::NotALogon,
                    Some(None) => Refusal::UnknownSession,
                    Some(Some(route)) if !self.may(conn, route) => Refusal::Certificate(
                        self.host
                            .peer(conn)
                            .certificate
                            .map(|shown| Spki(shown.spki)),
                    ),
                    Some(Some(&Route { session, .. })) => {
                        let line = &self.core.lines[session];
                        match (line.conn, line.leaving) {
                            (None, _) => return self.welcome(now, slot, session),
                            // Who comes anew does not wait for the rest of the old connection.
                            (Some(_), Some(leaving)) => {
                                self.disconnect(now, session, leaving.why)?;
                                return self.welcome(now, slot, session);
                            }
                            (Some(_), None) => Refusal::AlreadyConnected,
                        }
                    }
                }
            }
            Frame::Partial { skip: 0 } if !input.is_full() => return Ok(()),
            Frame::Partial { skip: 0 } | Frame::TooLarge { skip: 0, .. } => Refusal::TooLarge,
            _ if bytes.starts_with(TLS_HELLO) => Refusal::TlsUnexpected,
            _ => Refusal::Garbled,
        };
        self.refuse(now, slot, why);
        Ok(())
    }

    /// Whether the peer has shown a certificate of the session.
    fn may(&self, conn: ConnId, route: &Route) -> bool {
        route.certificates.is_empty()
            || tls::allowed(&route.certificates, self.host.peer(conn).certificate)
    }

    /// A Logon for a session without a connection has come: the connection becomes the session's.
    fn welcome(&mut self, now: Now, slot: usize, session: usize) -> Result<(), EngineError> {
        let Some(guest) = self.lobby.leave(slot) else {
            return Ok(());
        };
        self.inputs[session].take_over(&mut self.lobby.slots[slot].input);
        self.attach(now, session, guest.conn, guest.from)?;
        self.process(now, session)
    }

    /// Closes a connection that has not logged on, without a message.
    fn refuse(&mut self, now: Now, slot: usize, why: Refusal) {
        if let Some(guest) = self.lobby.leave(slot) {
            self.set_owner(guest.conn, Owner::Nobody);
            self.host.close(guest.conn);
            self.events.tell(
                now,
                &Event::Refused {
                    from: guest.from,
                    why,
                },
            );
        }
    }

    /// Closes the connections that have waited too long for their Logon; all of them when the engine
    /// stops. Tries again to accept where that failed.
    pub(crate) fn elapse_guests(&mut self, now: Now) {
        for slot in 0..self.lobby.slots.len() {
            if let Some(guest) = self.lobby.slots[slot].guest {
                if self.is_stopping() {
                    self.refuse(now, slot, Refusal::Stopping);
                } else if guest.deadline <= now.mono {
                    self.refuse(now, slot, Refusal::Timeout);
                }
            }
        }
        for index in 0..self.lobby.listeners.len() {
            let Listening { id, not_before, .. } = self.lobby.listeners[index];
            if not_before.0 > 0 && not_before <= now.mono {
                self.accept(now, id);
            }
        }
    }
}

/// The session of a listener that a Logon is for: the CompIDs are the same, and so are those SubIDs
/// and LocationIDs that the session has. The session that has most of them wins.
fn find<'a>(
    routes: &'a [Route],
    listener: ListenerId,
    identity: &LogonIdentity<'_>,
) -> Option<&'a Route> {
    let fits = |ours: &[u8], theirs: &[u8]| ours.is_empty() || ours == theirs;
    let matches = |route: &&Route| {
        route.listener == listener
            && route.begin_string == identity.begin_string
            && route.own.comp_id == identity.own_comp_id
            && route.peer.comp_id == identity.peer_comp_id
            && fits(&route.own.sub_id, identity.own_sub_id)
            && fits(&route.own.location_id, identity.own_location_id)
            && fits(&route.peer.sub_id, identity.peer_sub_id)
            && fits(&route.peer.location_id, identity.peer_location_id)
    };
    routes.iter().filter(matches).max_by_key(|route| {
        let ids = [
            &route.own.sub_id,
            &route.own.location_id,
            &route.peer.sub_id,
            &route.peer.location_id,
        ];
        ids.iter().filter(|id| !id.is_empty()).count()
    })
}
