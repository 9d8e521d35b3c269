//! The way of a connection from the lobby to a session.
//!
//! Nothing is answered and nothing of a session is touched before a Logon for it is complete and has
//! passed every check. The time for that counts from the first moment, not from the last byte. The
//! order of checks: address, rate, place, TLS, size, form, Logon, CompIDs, address again, certificate,
//! lock, password, not already on. A new password is stored last of all, when the session and the
//! application would take the Logon, and before it is answered.

mod enter;

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};

use fixwire_protocol::session::identify;
use fixwire_protocol::{Application, Frame, Mono, Now, frame};

use crate::access::Target;
use crate::engine::{Engine, Owner};
use crate::error::EngineError;
use crate::event::{Event, PeerText, Refusal};
use crate::host::{ConnId, Host, ListenerId};
use crate::journal::Disk;
use crate::lobby::{Guest, Listening, Lobby, Slot};
use crate::passwords::{Checker, PasswordAnswer};
use crate::raise::whose;
use crate::route::{Password, has_certificate, has_password};
use crate::tls::Spki;
use fixwire_net::network::allows;

/// Connections taken from one listener in a turn.
const ACCEPTS_PER_TURN: usize = 16;
/// Time until an accept that failed is tried again.
const ACCEPT_PAUSE: u64 = 100_000_000;

/// How a TLS connection begins: a handshake record.
const TLS_HELLO: &[u8] = &[0x16, 0x03];

impl<A: Application, H: Host, D: Disk> Engine<A, H, D> {
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
                    self.core.timers.engine(again);
                    let error = (&error).into();
                    self.core.raise(now, &Event::CannotAccept { error });
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
        let room = if self.is_stopping() {
            Err(Refusal::Stopping)
        } else {
            self.lobby.room_for(now, &guest)
        };
        let seated = room.and_then(|leaves| {
            self.make_way(now, leaves);
            self.lobby.seat(guest).ok_or(Refusal::TooManyPending)
        });
        match seated {
            Ok(slot) => {
                self.set_owner(conn, Owner::Guest(slot));
                self.core.timers.engine(deadline);
            }
            Err(why) => {
                self.host.close(conn);
                let logon = PeerText::default();
                self.core.raise(now, &Event::Refused { from, why, logon });
            }
        }
    }

    /// Closes the connection that has waited longest, when another one takes its place.
    fn make_way(&mut self, now: Now, leaves: Option<usize>) {
        if let Some(slot) = leaves {
            self.refuse(now, slot, Refusal::MadeWay);
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
        if unannounced && let Some(client) = self.host.peer(conn).announced {
            match self.lobby.announce(now, slot, client) {
                Ok(leaves) => self.make_way(now, leaves),
                Err(why) => {
                    self.refuse(now, slot, why);
                    return Ok(());
                }
            }
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
        let why = match identify(&message).map(|it| routes.find(guest.listener, &it)) {
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
                Password::Compare(question) => {
                    let checker = checker.get_or_insert_with(|| Checker::start(places, wake_up));
                    guest.asked = checker.ask(question);
                    if guest.asked.is_some() {
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
                PasswordAnswer::Right => self.enter(now, slot, None)?,
                PasswordAnswer::Renews(question) => self.enter(now, slot, Some(question))?,
                PasswordAnswer::Wrong => {
                    if let Some((target, ip)) = self.target(slot) {
                        self.lobby.doorman.failed(now.mono, ip, target);
                    }
                    self.refuse(now, slot, Refusal::Credentials);
                }
                PasswordAnswer::NotChanged => self.refuse(now, slot, Refusal::PasswordNotChanged),
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
        let route = self
            .lobby
            .routes
            .find(guest.listener, &identify(&message)?)?;
        Some((route.target, guest.from.ip()))
    }

    /// Closes a connection that has not logged on, without a message.
    fn refuse(&mut self, now: Now, slot: usize, why: Refusal) {
        let Some(guest) = self.lobby.leave(slot) else {
            return;
        };
        let input = &mut self.lobby.slots[slot].input;
        let bytes = input.unread();
        let logon = match frame::next(bytes, input.size()) {
            Frame::Whole { skip: 0, len } => whose(&self.decoder.decode(&bytes[..len])),
            _ => PeerText::default(),
        };
        // A password may stand in it.
        input.wipe();
        self.set_owner(guest.conn, Owner::Nobody);
        self.host.close(guest.conn);
        let from = guest.from;
        self.core.raise(now, &Event::Refused { from, why, logon });
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
