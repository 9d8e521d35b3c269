//! The lobby: a bounded pool of connections that have not logged on.
//!
//! Before its Logon nobody can tell a peer from a stranger at the same address (NAT, a proxy, a load
//! balancer), so a full pool would keep peers out. An address that sessions belong to therefore has
//! places of its own: a new connection from there takes the place of the one that has waited longest,
//! from the same address when that has its share, otherwise of a stranger.

use std::io;
use std::net::{IpAddr, SocketAddr};

use fixwire_protocol::{Mono, Nanos, Now};

use crate::access::{Doorman, Target, source};
use crate::config::{Limits, SessionConfig};
use crate::connection::Input;
use crate::error::EngineError;
use crate::event::Refusal;
use crate::host::WakeUp;
use crate::host::{ConnId, Host, ListenerId};
use crate::passwords::{Checker, PasswordAnswer, Question};
use crate::route::{Route, Routes};
use crate::transport::Transport;
use fixwire_net::network::allows;

/// The pool of connections without a session.
pub(crate) struct Lobby {
    pub(crate) slots: Vec<Slot>,
    per_address: usize,
    pub(crate) logon_time: Nanos,
    pub(crate) listeners: Vec<Listening>,
    pub(crate) routes: Routes,
    pub(crate) doorman: Doorman,
    pub(crate) wake_up: WakeUp,
    /// Compares passwords; there when the first one has come.
    pub(crate) checker: Option<Checker>,
}

pub(crate) struct Listening {
    pub(crate) id: ListenerId,
    /// As it was configured; sessions with port 0 and one address share a port.
    asked: SocketAddr,
    at: SocketAddr,
    /// What happens to a connection here before its Logon.
    transport: Transport,
    /// After a failure nothing is accepted before this.
    pub(crate) not_before: Mono,
}

pub(crate) struct Slot {
    pub(crate) guest: Option<Guest>,
    pub(crate) input: Input,
}

#[derive(Clone, Copy)]
pub(crate) struct Guest {
    pub(crate) conn: ConnId,
    pub(crate) from: SocketAddr,
    pub(crate) listener: ListenerId,
    pub(crate) deadline: Mono,
    /// The ticket of its password, while that is compared.
    pub(crate) asked: Option<u64>,
    /// The session that nobody else may enter, while a new password for its Logon is stored: nothing in
    /// the session or the application has anything against it.
    pub(crate) enters: Option<usize>,
    /// `from` is a load balancer, and the client is not known yet.
    pub(crate) unannounced: bool,
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

    /// Connections are no longer for this session.
    pub(crate) fn unroute(&mut self, session: usize) {
        let known = self.doorman.address_of(session);
        self.routes.remove(session, known);
    }

    /// A session has logged on from here.
    pub(crate) fn logged_on(&mut self, address: IpAddr, session: usize) {
        self.doorman.succeeded(address, session);
        self.know(address, session);
    }

    /// A session logged on from here last.
    pub(crate) fn know(&mut self, address: IpAddr, session: usize) {
        let before = self.doorman.know(address, session);
        self.routes.moved(session, before, Some(source(address)));
    }

    /// The next password that was compared, with the place of whoever waits for it.
    pub(crate) fn compared(&mut self) -> Option<(usize, PasswordAnswer)> {
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
    pub(crate) fn store(&mut self, slot: usize, session: usize, question: Question) -> bool {
        let (Some(guest), Some(checker)) = (&mut self.slots[slot].guest, &mut self.checker) else {
            return false;
        };
        let Some(ticket) = checker.ask(question) else {
            return false;
        };
        (guest.asked, guest.enters, guest.deadline) = (Some(ticket), Some(session), Mono::NEVER);
        true
    }

    /// Whether the new password of a guest has been stored for a session that takes its Logon.
    pub(crate) fn enters(&self, slot: usize) -> bool {
        let guest = self.slots[slot].guest;
        guest.is_some_and(|guest| guest.enters.is_some())
    }

    /// Whether somebody else is about to enter a session.
    pub(crate) fn is_kept(&self, session: usize, from: usize) -> bool {
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

    /// Whether a connection from this address may wait here for its Logon, and whose place it takes
    /// when its address has its share already.
    fn may_wait(
        &mut self,
        now: Now,
        listener: ListenerId,
        ip: IpAddr,
    ) -> Result<Option<usize>, Refusal> {
        if !self.routes.lets_in(listener, ip) {
            return Err(Refusal::AddressNotAllowed);
        }
        let belonging = self.belonging(listener, ip);
        if !self.doorman.connects(now.mono, ip, belonging > 0) {
            return Err(Refusal::TooManyFailures);
        }
        let here = |guest: &Guest| !guest.unannounced && source(guest.from.ip()) == source(ip);
        let guests = self.slots.iter().filter_map(|slot| slot.guest);
        if guests.filter(here).count() < self.per_address + belonging {
            return Ok(None);
        }
        let longest = self.longest(here).filter(|_| belonging > 0);
        longest.map(Some).ok_or(Refusal::TooManyFromAddress)
    }

    /// How many sessions of this port belong to an address.
    fn belonging(&self, listener: ListenerId, ip: IpAddr) -> usize {
        let knows = |session| self.doorman.knows(session, ip);
        self.routes.belonging(listener, ip, knows)
    }

    /// The place of the guest that has waited longest. One whose password is being compared has said
    /// who it is, and keeps its place.
    fn longest(&self, among: impl Fn(&Guest) -> bool) -> Option<usize> {
        let guests = self.slots.iter().enumerate();
        let guests = guests.filter_map(|(index, slot)| Some((index, slot.guest?)));
        guests
            .filter(|(_, guest)| guest.asked.is_none() && among(guest))
            .min_by_key(|(_, guest)| guest.deadline)
            .map(|(index, _)| index)
    }

    /// Whether there is a place for a connection, and who has to leave for it.
    pub(crate) fn room_for(&mut self, now: Now, guest: &Guest) -> Result<Option<usize>, Refusal> {
        let ip = guest.from.ip();
        let listening = self.listening(guest.listener);
        if listening.is_some_and(|at| !allows(&at.transport.balancers, ip)) {
            return Err(Refusal::NotABalancer);
        }
        if !guest.unannounced
            && let Some(place) = self.may_wait(now, guest.listener, ip)?
        {
            return Ok(Some(place));
        }
        if self.slots.iter().any(|slot| slot.guest.is_none()) {
            return Ok(None);
        }
        // A load balancer announces its client at once, so whoever it has not announced is silent.
        let is_silent = |other: &Guest| other.unannounced;
        let is_stranger = |other: &Guest| self.belonging(other.listener, other.from.ip()) == 0;
        let place = match guest.unannounced {
            true => self.longest(is_silent),
            false if self.belonging(guest.listener, ip) > 0 => {
                self.longest(|other| is_silent(other) || is_stranger(other))
            }
            false => None,
        };
        place.map(Some).ok_or(Refusal::TooManyPending)
    }

    /// Gives a connection a free place, if there is one.
    pub(crate) fn seat(&mut self, guest: Guest) -> Option<usize> {
        let index = self.slots.iter().position(|slot| slot.guest.is_none())?;
        self.slots[index].guest = Some(guest);
        self.slots[index].input.clear();
        Some(index)
    }

    /// A load balancer has told who the client is. Answers who has to leave for it.
    pub(crate) fn announce(
        &mut self,
        now: Now,
        slot: usize,
        client: Option<SocketAddr>,
    ) -> Result<Option<usize>, Refusal> {
        let Some(mut guest) = self.slots[slot].guest else {
            return Ok(None);
        };
        guest.from = client.unwrap_or(guest.from);
        let place = self.may_wait(now, guest.listener, guest.from.ip());
        guest.unannounced = false;
        self.slots[slot].guest = Some(guest);
        place
    }

    pub(crate) fn listening(&mut self, id: ListenerId) -> Option<&mut Listening> {
        self.listeners
            .iter_mut()
            .find(|listening| listening.id == id)
    }

    pub(crate) fn leave(&mut self, slot: usize) -> Option<Guest> {
        self.slots[slot].guest.take()
    }
}
