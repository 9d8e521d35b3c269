//! Which connections may wait for a Logon, and which of them are closed to make room for others.

use std::io;
use std::net::IpAddr;

use fixwire_net::network::allows;
use fixwire_protocol::{Mono, Nanos, Now};

use super::doorman::source;
use super::{Guest, Lobby};
use crate::event::ConnectionRefusal;
use crate::host::{Host, ListenerId};

/// Time until accepting is tried again after a failure.
pub(crate) const ACCEPT_PAUSE: Nanos = Nanos(100_000_000);

impl Lobby {
    /// Accepts a connection that waits at a listener. `None` when no connection waits, or when the listener is
    /// paused. An error pauses the listener for [`ACCEPT_PAUSE`].
    pub(crate) fn accept(
        &mut self,
        host: &mut impl Host,
        now: Now,
        listener: ListenerId,
    ) -> io::Result<Option<Guest>> {
        let deadline = now.mono + self.logon_time;
        let Some(listening) = self.listening(listener) else {
            return Ok(None);
        };
        if now.mono < listening.not_before {
            return Ok(None);
        }
        listening.not_before = now.mono + ACCEPT_PAUSE;
        let accepted = host.accept(listener)?;
        listening.not_before = Mono(0);
        Ok(accepted.map(|(conn, from)| Guest {
            conn,
            from,
            listener,
            deadline,
            asked: None,
            enters: None,
            unannounced: host.peer(conn).announced.is_none(),
        }))
    }

    /// A paused listener that is due to accept again, if any.
    pub(crate) fn retries(&self, now: Mono) -> Option<ListenerId> {
        let due = |not_before: Mono| not_before.0 > 0 && not_before <= now;
        let mut listeners = self.listeners.iter();
        listeners.find_map(|listening| due(listening.not_before).then_some(listening.id))
    }

    /// Handles the announcement of a guest's client by a load balancer: checks whether that client may wait. Returns
    /// the guest that must be closed to make room, if any.
    pub(super) fn announce(
        &mut self,
        host: &impl Host,
        now: Now,
        slot: usize,
    ) -> Result<Option<usize>, ConnectionRefusal> {
        let guest = self.slots[slot].guest.filter(|guest| guest.unannounced);
        let Some(mut guest) = guest else {
            return Ok(None);
        };
        let Some(client) = host.peer(guest.conn).announced else {
            return Ok(None);
        };
        guest.from = client.unwrap_or(guest.from);
        let place = self.may_wait(now, guest.listener, guest.from.ip());
        guest.unannounced = false;
        self.slots[slot].guest = Some(guest);
        place
    }

    /// Whether there is a place for a connection. If a guest must be closed to make room for it, returns this guest.
    pub(crate) fn room_for(
        &mut self,
        now: Now,
        guest: &Guest,
    ) -> Result<Option<usize>, ConnectionRefusal> {
        let ip = guest.from.ip();
        let listening = self.listening(guest.listener);
        if listening.is_some_and(|at| !allows(&at.transport.balancers, ip)) {
            return Err(ConnectionRefusal::NotABalancer);
        }
        if !guest.unannounced
            && let Some(place) = self.may_wait(now, guest.listener, ip)?
        {
            return Ok(Some(place));
        }
        if self.slots.iter().any(|slot| slot.guest.is_none()) {
            return Ok(None);
        }
        // A load balancer announces its client at once, so a connection without an announcement is treated as silent.
        let is_silent = |other: &Guest| other.unannounced;
        let is_stranger = |other: &Guest| self.belonging(other.listener, other.from.ip()) == 0;
        let place = match guest.unannounced {
            true => self.longest(is_silent),
            false if self.belonging(guest.listener, ip) > 0 => {
                self.longest(|other| is_silent(other) || is_stranger(other))
            }
            false => None,
        };
        place
            .map(Some)
            .ok_or(ConnectionRefusal::TooManyPending(self.slots.len()))
    }

    /// Whether a connection from this address may wait here for its Logon. If the address has used its share, also
    /// returns the guest that must be closed to make room for the connection.
    fn may_wait(
        &mut self,
        now: Now,
        listener: ListenerId,
        ip: IpAddr,
    ) -> Result<Option<usize>, ConnectionRefusal> {
        if !self.routes.lets_in(listener, ip) {
            return Err(ConnectionRefusal::AddressNotAllowed);
        }
        let belonging = self.belonging(listener, ip);
        self.doorman
            .connects(now.mono, ip, belonging > 0)
            .map_err(ConnectionRefusal::TooManyFailures)?;
        let here = |guest: &Guest| !guest.unannounced && source(guest.from.ip()) == source(ip);
        let guests = self.slots.iter().filter_map(|slot| slot.guest);
        if guests.filter(here).count() < self.per_address + belonging {
            return Ok(None);
        }
        let longest = self.longest(here).filter(|_| belonging > 0);
        longest
            .map(Some)
            .ok_or(ConnectionRefusal::TooManyFromAddress(self.per_address))
    }

    /// Number of this port's sessions that belong to an address.
    fn belonging(&self, listener: ListenerId, ip: IpAddr) -> usize {
        let knows = |session| self.doorman.knows(session, ip);
        self.routes.belonging(listener, ip, knows)
    }

    /// Of the guests for which `among` is true, the one that has waited longest. A guest whose password is being
    /// checked has identified itself and keeps its place.
    fn longest(&self, among: impl Fn(&Guest) -> bool) -> Option<usize> {
        let guests = self.slots.iter().enumerate();
        let guests = guests.filter_map(|(index, slot)| Some((index, slot.guest?)));
        guests
            .filter(|(_, guest)| guest.asked.is_none() && among(guest))
            .min_by_key(|(_, guest)| guest.deadline)
            .map(|(index, _)| index)
    }

    /// Gives a connection a free place; `None` if no place is free.
    pub(crate) fn seat(&mut self, guest: Guest) -> Option<usize> {
        let index = self.slots.iter().position(|slot| slot.guest.is_none())?;
        self.slots[index].guest = Some(guest);
        self.slots[index].input.clear();
        Some(index)
    }
}
