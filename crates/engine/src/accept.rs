//! Connections that have not logged on: a bounded pool, and the way from it to a session.
//!
//! Nothing is answered and nothing of a session is touched before a Logon for it is complete and has
//! passed every check. The time for that counts from the first moment, not from the last byte. The
//! order of checks: address, rate, place, TLS, size, form, Logon, CompIDs, address again, certificate,
//! lock, password, not already on. A new password is stored last of all, and before the Logon is answered.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};

use fixwire_protocol::session::identify;
use fixwire_protocol::{Application, Frame, Mono, Nanos, Now, frame};

use crate::access::{Doorman, Target, allows};
use crate::config::{Limits, SessionConfig};
use crate::connect::nanos;
use crate::connection::Input;
use crate::engine::{Engine, EngineError, NEVER, Owner};
use crate::event::{Event, Refusal};
use crate::host::{ConnId, Host, ListenerId, WakeUp};
use crate::passwords::{Answer, Checker, Question};
use crate::route::{Password, Route, find, has_certificate, has_password};
use crate::tls::Spki;
use crate::transport::Transport;

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
    pub(crate) doorman: Doorman,
    wake_up: WakeUp,
    /// Compares passwords; there when the first one has come.
    checker: Option<Checker>,
    /// Tells one question from the others.
    tickets: u64,
}

struct Listening {
    id: ListenerId,
    /// As it was configured; sessions with port 0 and one address share a port.
    asked: SocketAddr,
    at: SocketAddr,
    /// What happens to a connection here before its Logon.
    transport: Transport,
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
    /// The ticket of its password, while that is compared.
    asked: Option<u64>,
    /// The session that nobody else may enter, while a new password for its Logon is stored.
    enters: Option<usize>,
    /// `from` is a load balancer, and the client is not known yet.
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
            logon_time: nanos(limits.logon_time),
            listeners: Vec::new(),
            routes: Vec::new(),
            doorman: Doorman::new(limits.logons),
            wake_up,
            checker: None,
            tickets: 0,
        }
    }

    /// Connections at this address may be for this session or template; listens there if nobody does
    /// yet.
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
                let source = io::Error::other("it is open already, with other TLS or balancers");
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
        self.routes.push(Route {
            listener,
            target,
            begin_string: config.session.begin_string,
            own: config.session.own.clone(),
            peer: config.session.peer.clone(),
            access: config.access.clone(),
            username: config.session.username.clone(),
            password: config.session.password.clone(),
            certificates: config.transport.certificates.clone(),
        });
        Ok(())
    }

    /// Connections are no longer for this session.
    pub(crate) fn unroute(&mut self, session: usize) {
        let target = Target::Session(session);
        self.routes.retain(|route| route.target != target);
    }

    /// Whether somebody here lets this address in.
    fn lets_in(&self, listener: ListenerId, address: IpAddr) -> bool {
        let mut here = self
            .routes
            .iter()
            .filter(|route| route.listener == listener);
        here.any(|route| allows(&route.access.addresses, address))
    }

    /// The next password that was compared, with the place of whoever waits for it.
    fn compared(&mut self) -> Option<(usize, Answer)> {
        let checker = self.checker.as_mut()?;
        while let Some((ticket, answer)) = checker.answer() {
            let asked = |slot: &Slot| slot.guest.is_some_and(|guest| guest.asked == Some(ticket));
            if let Some(slot) = self.slots.iter().position(asked) {
                return Some((slot, answer));
            }
        }
        None
    }

    /// Stores a new password; false when too many wait already. Nothing else keeps the guest from
    /// entering then: its time does not run any more, and nobody overtakes it.
    fn store(&mut self, slot: usize, session: usize, mut question: Question) -> bool {
        let (Some(guest), Some(checker)) = (&mut self.slots[slot].guest, &mut self.checker) else {
            return false;
        };
        self.tickets += 1;
        question.ticket = self.tickets;
        (guest.asked, guest.enters, guest.deadline) = (Some(self.tickets), Some(session), NEVER);
        checker.ask(question)
    }

    /// Whether somebody else is about to enter a session.
    fn is_kept(&self, session: usize, from: usize) -> bool {
        let mut slots = self.slots.iter().enumerate();
        slots.any(|(index, Slot { guest, .. })| {
            index != from && guest.is_some_and(|guest| guest.enters == Some(session))
        })
    }

    /// Where connections are taken.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = SocketAddr> {
        self.listeners.iter().map(|listening| listening.at)
    }

    /// Where other machines may connect without TLS.
    pub(crate) fn unprotected(&self) -> impl Iterator<Item = SocketAddr> {
        let open = self.listeners.iter().filter(|listening| {
            listening.transport.tls.is_none() && !listening.at.ip().is_loopback()
        });
        open.map(|listening| listening.at)
    }

    /// The earliest time at which somebody has waited too long.
    pub(crate) fn due(&self) -> Option<Mono> {
        let guests = self.slots.iter().filter_map(|slot| slot.guest);
        let late = guests.map(|guest| guest.deadline).min();
        let accepts = self.listeners.iter().map(|listening| listening.not_before);
        late.into_iter().chain(accepts.filter(|at| at.0 > 0)).min()
    }

    /// Whether somebody of this address may wait here for a Logon.
    fn may_wait(&mut self, now: Now, listener: ListenerId, ip: IpAddr) -> Result<(), Refusal> {
        let ip = address(ip);
        if !self.lets_in(listener, ip) {
            return Err(Refusal::AddressNotAllowed);
        }
        if !self.doorman.connects(now.mono, ip) {
            return Err(Refusal::TooManyFailures);
        }
        if self.pending_of(ip) >= self.per_address {
            return Err(Refusal::TooManyFromAddress);
        }
        Ok(())
    }

    fn admit(&mut self, now: Now, guest: Guest) -> Result<usize, Refusal> {
        let ip = guest.from.ip();
        let listening = self.listening(guest.listener);
        if listening.is_some_and(|at| !allows(&at.transport.balancers, ip)) {
            return Err(Refusal::NotABalancer);
        }
        if !guest.unannounced {
            self.may_wait(now, guest.listener, ip)?;
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
    fn announce(
        &mut self,
        now: Now,
        slot: usize,
        client: Option<SocketAddr>,
    ) -> Result<(), Refusal> {
        let Some(mut guest) = self.slots[slot].guest else {
            return Ok(());
        };
        guest.from = client.unwrap_or(guest.from);
        let allowed = self.may_wait(now, guest.listener, guest.from.ip());
        guest.unannounced = false;
        self.slots[slot].guest = Some(guest);
        allowed
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
            asked: None,
            enters: None,
            unannounced: self.host.peer(conn).announced.is_none(),
        };
        let admitted = if self.is_stopping() {
            Err(Refusal::Stopping)
        } else {
            self.lobby.admit(now, guest)
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
        let (conn, unannounced, asked) = (guest.conn, guest.unannounced, guest.asked.is_some());
        let filled = input.fill(&mut self.host, conn);
        if unannounced
            && let Some(client) = self.host.peer(conn).announced
            && let Err(why) = self.lobby.announce(now, slot, client)
        {
            self.refuse(now, slot, why);
            return Ok(());
        }
        let input = &self.lobby.slots[slot].input;
        match filled {
            Ok(0) if !input.is_full() => {
                self.refuse(now, slot, Refusal::Gone);
                return Ok(());
            }
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => {
                self.refuse(now, slot, Refusal::of(&error));
                return Ok(());
            }
        }
        let bytes = input.unread();
        let why = match frame::next(bytes, input.size()) {
            // Its password is being compared. Who sends more than fits meanwhile is no peer.
            _ if asked && !input.is_full() => return Ok(()),
            Frame::Whole { skip: 0, .. } if !asked => return self.identify(now, slot),
            Frame::Partial { skip: 0 } if !input.is_full() => return Ok(()),
            Frame::Whole { skip: 0, .. }
            | Frame::Partial { skip: 0 }
            | Frame::TooLarge { skip: 0, .. } => Refusal::TooLarge,
            _ if bytes.starts_with(TLS_HELLO) => Refusal::TlsUnexpected,
            _ => Refusal::Garbled,
        };
        self.refuse(now, slot, why);
        Ok(())
    }

    /// A first message is whole: whose Logon it is, and whether it has the right password.
    fn identify(&mut self, now: Now, slot: usize) -> Result<(), EngineError> {
        let Lobby {
            slots,
            routes,
            doorman,
            checker,
            tickets,
            wake_up,
            ..
        } = &mut self.lobby;
        let places = slots.len();
        let Slot {
            guest: Some(guest),
            input,
        } = &mut slots[slot]
        else {
            return Ok(());
        };
        let bytes = input.unread();
        let Frame::Whole { skip: 0, len } = frame::next(bytes, input.size()) else {
            return Ok(());
        };
        let message = self.decoder.decode(&bytes[..len]);
        let ip = guest.from.ip();
        let why = match identify(&message).map(|it| find(routes, guest.listener, &it)) {
            None => Refusal::NotALogon,
            Some(None) => Refusal::UnknownSession,
            Some(Some(route)) if !allows(&route.access.addresses, ip) => Refusal::AddressNotAllowed,
            Some(Some(route)) if !has_certificate(&self.host, guest.conn, route) => {
                let shown = self.host.peer(guest.conn).certificate;
                Refusal::Certificate(shown.map(|shown| Spki(shown.spki)))
            }
            Some(Some(route)) if doorman.keeps_out(now.mono, ip, route.target) => {
                Refusal::LockedOut
            }
            Some(Some(route)) => match has_password(route, &message) {
                Password::Right => return self.enter(now, slot, None),
                Password::Wrong => {
                    doorman.failed(now.mono, ip, route.target);
                    Refusal::Credentials
                }
                Password::Compare(mut question) => {
                    *tickets += 1;
                    question.ticket = *tickets;
                    let checker = checker.get_or_insert_with(|| Checker::start(places, wake_up));
                    if checker.ask(question) {
                        guest.asked = Some(*tickets);
                        return Ok(());
                    }
                    Refusal::TooManyPending
                }
            },
        };
        self.refuse(now, slot, why);
        Ok(())
    }

    /// Takes what the password threads have found. Answers how much it was.
    #[inline]
    pub(crate) fn take_compared(&mut self, now: Now) -> Result<usize, EngineError> {
        let mut count = 0;
        while let Some((slot, answer)) = self.lobby.compared() {
            count += 1;
            match answer {
                Answer::Right => self.enter(now, slot, None)?,
                Answer::Renews(question) => self.enter(now, slot, Some(question))?,
                Answer::Wrong => {
                    if let Some((target, ip)) = self.target(slot) {
                        self.lobby.doorman.failed(now.mono, ip, target);
                    }
                    self.refuse(now, slot, Refusal::Credentials);
                }
                Answer::NotChanged => self.refuse(now, slot, Refusal::PasswordNotChanged),
            }
        }
        Ok(count)
    }

    /// Whom the Logon in a place is for, and where it comes from.
    fn target(&mut self, slot: usize) -> Option<(Target, IpAddr)> {
        let Slot { guest, input } = &self.lobby.slots[slot];
        let guest = guest.as_ref()?;
        let bytes = input.unread();
        let Frame::Whole { skip: 0, len } = frame::next(bytes, input.size()) else {
            return None;
        };
        let message = self.decoder.decode(&bytes[..len]);
        let route = find(&self.lobby.routes, guest.listener, &identify(&message)?)?;
        Some((route.target, guest.from.ip()))
    }

    /// The Logon in a place has passed every check but the last: nobody else may be on. When that holds,
    /// its new password is stored first, and it comes here again.
    fn enter(
        &mut self,
        now: Now,
        slot: usize,
        renewal: Option<Question>,
    ) -> Result<(), EngineError> {
        let found = match self.target(slot) {
            Some((Target::Session(session), _)) => Ok(session),
            Some((Target::Template(template), _)) => {
                self.session_of_template(now, slot, template)?
            }
            // It was removed while the password was compared.
            None => Err(Refusal::UnknownSession),
        };
        match found {
            Ok(session) => {
                let line = &self.core.lines[session];
                let is_on = line.conn.is_some() && line.leaving.is_none();
                if is_on || self.lobby.is_kept(session, slot) {
                    self.refuse(now, slot, Refusal::AlreadyConnected);
                    return Ok(());
                }
                if let Some(question) = renewal {
                    if !self.lobby.store(slot, session, question) {
                        self.refuse(now, slot, Refusal::TooManyPending);
                    }
                    return Ok(());
                }
                // Who comes anew does not wait for the rest of the old connection.
                if let Some(leaving) = line.leaving {
                    self.disconnect(now, session, leaving.why)?;
                }
                self.welcome(now, slot, session)
            }
            Err(why) => {
                self.refuse(now, slot, why);
                Ok(())
            }
        }
    }

    /// The session that a template makes, or has made, for the Logon in a place.
    fn session_of_template(
        &mut self,
        now: Now,
        slot: usize,
        template: usize,
    ) -> Result<Result<usize, Refusal>, EngineError> {
        let Slot { input, .. } = &self.lobby.slots[slot];
        let bytes = input.unread();
        let Frame::Whole { skip: 0, len } = frame::next(bytes, input.size()) else {
            return Ok(Err(Refusal::NotALogon));
        };
        let message = self.decoder.decode(&bytes[..len]);
        let Some(wanted) = identify(&message) else {
            return Ok(Err(Refusal::NotALogon));
        };
        let Some(session) = self.templates[template].session_for(&wanted) else {
            return Ok(Err(Refusal::NoName));
        };
        self.join_or_add(now, session, self.templates[template].qualified)
    }

    /// A Logon for a session without a connection has come: the connection becomes the session's.
    fn welcome(&mut self, now: Now, slot: usize, session: usize) -> Result<(), EngineError> {
        let Some(guest) = self.lobby.leave(slot) else {
            return Ok(());
        };
        self.inputs[session].take_over(&mut self.lobby.slots[slot].input);
        self.core.lines[session].peer = Some(guest.from.ip());
        self.attach(now, session, guest.conn, guest.from)?;
        self.process(now, session)
    }

    /// Closes a connection that has not logged on, without a message.
    fn refuse(&mut self, now: Now, slot: usize, why: Refusal) {
        if let Some(guest) = self.lobby.leave(slot) {
            // A password may stand in it.
            self.lobby.slots[slot].input.wipe();
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
