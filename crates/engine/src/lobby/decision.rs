//! Decides about a connection by its first message. These are all checks that need no session.

use std::io::{self, ErrorKind};

use fixwire_net::network::allows;
use fixwire_passwords::{Checker, PasswordAnswer, Question};
use fixwire_protocol::session::identify;
use fixwire_protocol::{Decoder, Frame, Message, Mono, Now, frame};

use super::doorman::Target;
use super::route::{Password, has_password};
use super::{Guest, Lobby, Slot};
use crate::event::{ConnectionRefusal, Event, PeerText};
use crate::host::{ConnId, Host};
use crate::input::{Input, READ};
use crate::tls::{self, Spki};

/// The first bytes of a TLS connection: a handshake record.
const TLS_HELLO: &[u8] = &[0x16, 0x03];

/// What to do with a guest that is not refused.
pub(crate) enum Decision {
    /// The guest must wait: for more bytes, or for the check of its password.
    Wait,
    /// The guest's Logon is for this session or template. It has passed every check except the last: no other peer
    /// may be logged on. If `renewal` has a new password, the password is stored before the guest enters.
    Enter {
        target: Target,
        renewal: Option<Question>,
    },
}

impl Lobby {
    /// Reads once from a guest's connection. Also returns another guest, if that guest must be closed to make room
    /// for the client that a load balancer announces.
    pub(crate) fn read(
        &mut self,
        host: &mut impl Host,
        decoder: &mut Decoder,
        now: Now,
        slot: usize,
    ) -> (Option<usize>, Result<Decision, ConnectionRefusal>) {
        let Slot { guest, input } = &mut self.slots[slot];
        let Some(guest) = guest else {
            return (None, Ok(Decision::Wait));
        };
        let filled = input.fill(host, guest.conn, READ);
        match self.announce(host, now, slot) {
            Ok(leaves) => (leaves, self.decide(host, decoder, now, slot, filled)),
            Err(why) => (None, Err(why)),
        }
    }

    /// The next guest whose password was checked or stored, with the decision; `None` when no result is available.
    pub(crate) fn compared(
        &mut self,
        decoder: &mut Decoder,
        now: Now,
    ) -> Option<(usize, Result<Decision, ConnectionRefusal>)> {
        let checker = self.checker.as_mut()?;
        loop {
            let (ticket, answer) = checker.answer()?;
            let asked = |slot: &Slot| slot.guest.is_some_and(|guest| guest.asked == Some(ticket));
            if let Some(slot) = self.slots.iter().position(asked) {
                return Some((slot, self.answered(decoder, now, slot, answer)));
            }
        }
    }

    /// The first message of a guest; `None` while it is incomplete.
    pub(crate) fn message<'a>(
        &'a self,
        decoder: &'a mut Decoder,
        slot: usize,
    ) -> Option<Message<'a>> {
        let input = &self.slots[slot].input;
        let bytes = input.unread();
        match frame::next(bytes, input.size()) {
            Frame::Whole { skip: 0, len } => Some(decoder.decode(&bytes[..len])),
            _ => None,
        }
    }

    /// Stores the new password of a guest, whose Logon the session accepts. From now on nothing else keeps the guest
    /// out: its timeout stops, and no other guest may enter the session.
    pub(crate) fn store(
        &mut self,
        slot: usize,
        session: usize,
        question: Question,
    ) -> Result<(), ConnectionRefusal> {
        let places = self.slots.len();
        if let (Some(guest), Some(checker)) = (&mut self.slots[slot].guest, &mut self.checker) {
            let ticket = checker
                .ask(question)
                .ok_or(ConnectionRefusal::TooManyPending(places))?;
            (guest.asked, guest.enters) = (Some(ticket), Some(session));
            guest.deadline = Mono::NEVER;
        }
        Ok(())
    }

    /// Whether the new password of a guest has been stored for a session that accepts its Logon.
    pub(crate) fn enters(&self, slot: usize) -> bool {
        let guest = self.slots[slot].guest;
        guest.is_some_and(|guest| guest.enters.is_some())
    }

    /// Whether a guest other than the one at `from` is about to enter the session.
    pub(crate) fn is_kept(&self, session: usize, from: usize) -> bool {
        let mut slots = self.slots.iter().enumerate();
        slots.any(|(index, Slot { guest, .. })| {
            index != from && guest.is_some_and(|guest| guest.enters == Some(session))
        })
    }

    /// Takes a guest from its place, and moves the bytes that it has sent to the session's buffer; `None` for an
    /// empty place.
    pub(crate) fn leave(&mut self, slot: usize, input: &mut Input) -> Option<Guest> {
        let place = &mut self.slots[slot];
        let guest = place.guest.take()?;
        input.take_over(&mut place.input);
        Some(guest)
    }

    /// Closes the connection of a guest without an answer. Returns the connection and the event.
    pub(crate) fn refuse(
        &mut self,
        host: &mut impl Host,
        decoder: &mut Decoder,
        slot: usize,
        why: ConnectionRefusal,
    ) -> Option<(ConnId, Event)> {
        let Guest { conn, from, .. } = self.slots[slot].guest.take()?;
        let message = self.message(decoder, slot);
        let logon = message.map_or_else(PeerText::default, |it| PeerText::parties(&it));
        // The bytes may contain a password.
        self.slots[slot].input.wipe();
        host.close(conn);
        Some((conn, Event::Refused { from, why, logon }))
    }

    /// The decision after a read: the session for the guest's Logon, and whether the password is correct.
    fn decide(
        &mut self,
        host: &impl Host,
        decoder: &mut Decoder,
        now: Now,
        slot: usize,
        filled: io::Result<usize>,
    ) -> Result<Decision, ConnectionRefusal> {
        let places = self.slots.len();
        let Slot { guest, input } = &mut self.slots[slot];
        let Some(guest) = guest else {
            return Ok(Decision::Wait);
        };
        let Some(len) = first_message(input, filled, guest.asked.is_some())? else {
            return Ok(Decision::Wait);
        };
        let message = decoder.decode(&input.unread()[..len]);
        let identity = identify(&message).ok_or(ConnectionRefusal::NotALogon)?;
        let route = self.routes.find(guest.listener, &identity);
        let route = route.ok_or(ConnectionRefusal::UnknownSession)?;
        let (ip, target) = (guest.from.ip(), route.target);
        if !allows(&route.access.addresses, ip) {
            return Err(ConnectionRefusal::AddressNotAllowed);
        }
        let shown = || host.peer(guest.conn).certificate;
        if !route.certificates.is_empty() && !tls::allowed(&route.certificates, shown()) {
            return Err(ConnectionRefusal::Certificate(
                shown().map(|shown| Spki(shown.spki)),
            ));
        }
        if let Some(limit) = self.doorman.keeps_out(now.mono, ip, target) {
            return Err(ConnectionRefusal::LockedOut(limit));
        }
        match has_password(route, &message) {
            Password::Right => {
                let renewal = None;
                Ok(Decision::Enter { target, renewal })
            }
            Password::Wrong => {
                self.doorman.failed(now.mono, ip, target);
                Err(ConnectionRefusal::Credentials)
            }
            Password::Compare(question) => {
                let start = || Checker::start(places, &self.wake_up);
                guest.asked = self.checker.get_or_insert_with(start).ask(question);
                let asked = guest.asked.ok_or(ConnectionRefusal::TooManyPending(places));
                asked.map(|_| Decision::Wait)
            }
        }
    }

    /// Handles a result of the password threads.
    fn answered(
        &mut self,
        decoder: &mut Decoder,
        now: Now,
        slot: usize,
        answer: PasswordAnswer,
    ) -> Result<Decision, ConnectionRefusal> {
        let target = self.target(decoder, slot);
        let renewal = match answer {
            PasswordAnswer::Right => None,
            PasswordAnswer::Renews(question) => Some(question),
            PasswordAnswer::NotChanged => return Err(ConnectionRefusal::PasswordNotChanged),
            PasswordAnswer::MustChange => return Err(ConnectionRefusal::PasswordMustChange),
            PasswordAnswer::Wrong => {
                if let (Some(target), Some(guest)) = (target, self.slots[slot].guest) {
                    self.doorman.failed(now.mono, guest.from.ip(), target);
                }
                return Err(ConnectionRefusal::Credentials);
            }
        };
        // The session may have been removed while the password was checked.
        let target = target.ok_or(ConnectionRefusal::UnknownSession)?;
        Ok(Decision::Enter { target, renewal })
    }

    /// The session or template for a guest's Logon; `None` when none matches.
    fn target(&self, decoder: &mut Decoder, slot: usize) -> Option<Target> {
        let listener = self.slots[slot].guest?.listener;
        let message = self.message(decoder, slot)?;
        let route = self.routes.find(listener, &identify(&message)?);
        route.map(|route| route.target)
    }
}

/// Length of the first message, once it is complete. While a password is being checked, the guest must wait. A
/// connection that sends more than the buffer holds during this time is refused.
fn first_message(
    input: &Input,
    filled: io::Result<usize>,
    asked: bool,
) -> Result<Option<usize>, ConnectionRefusal> {
    let is_full = input.is_full();
    match filled {
        Ok(0) if !is_full => return Err(ConnectionRefusal::Gone),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
        Err(error) => return Err(ConnectionRefusal::of(&error)),
    }
    let bytes = input.unread();
    match frame::next(bytes, input.size()) {
        _ if asked && !is_full => Ok(None),
        Frame::Whole { skip: 0, len } if !asked => Ok(Some(len)),
        Frame::Partial { skip: 0 } if !is_full => Ok(None),
        Frame::Whole { skip: 0, .. }
        | Frame::Partial { skip: 0 }
        | Frame::TooLarge { skip: 0, .. } => Err(ConnectionRefusal::TooLarge(input.size())),
        _ if bytes.starts_with(TLS_HELLO) => Err(ConnectionRefusal::TlsUnexpected),
        _ => Err(ConnectionRefusal::Garbled),
    }
}

#[cfg(test)]
mod tests {
    use fixwire_protocol::session::{BeginString, Config, Role};

    use super::*;
    use crate::config::{Connection, Limits, SessionConfig};
    use crate::host::sim::{SimHost, SimNet, Weather};
    use crate::journal::sim::SimDisk;

    fn framed(body: &str) -> Vec<u8> {
        let whole = format!("8=FIX.4.4|9={}|{body}", body.len()).replace('|', "\x01");
        let sum = frame::check_sum(whole.as_bytes());
        format!("{whole}10={sum:03}\x01").into_bytes()
    }

    /// The lobby's handling of a first message in two parts, tested without an engine.
    #[test]
    fn a_guest_waits_until_its_first_message_decides() {
        let net = SimNet::new(
            1,
            Weather {
                splits: false,
                cuts: false,
                room: 4096,
            },
        );
        let mut host = SimHost::new(0, &net, &SimDisk::new());
        let listen = "127.0.0.1:5001".parse().unwrap();
        let mut fix = Config::new(BeginString::Fix44, Role::Acceptor, b"HOUSE", b"PEER");
        fix.password = "tiger".into();
        let config = SessionConfig::new("it", fix, Connection::Acceptor { listen });
        let mut lobby = Lobby::new(&Limits::default(), host.wake_up());
        let target = Target::Session(7);
        lobby.route(&mut host, listen, target, &config).unwrap();
        let listener = lobby.listeners[0].id;
        let mut decoder = Decoder::with_capacity(64);
        let now = net.now();
        for (kind, peer, password, expected) in [
            ("A", "PEER", "tiger", Ok(target)),
            ("A", "PEER", "lion", Err(ConnectionRefusal::Credentials)),
            (
                "A",
                "STRANGER",
                "tiger",
                Err(ConnectionRefusal::UnknownSession),
            ),
            ("0", "PEER", "tiger", Err(ConnectionRefusal::NotALogon)),
        ] {
            let dialler = net.connect(1, 5001).unwrap();
            let guest = lobby.accept(&mut host, now, listener).unwrap().unwrap();
            assert_eq!(lobby.room_for(now, &guest), Ok(None));
            let slot = lobby.seat(guest).unwrap();
            let body = format!("35={kind}|34=1|49={peer}|56=HOUSE|554={password}|");
            let bytes = framed(&body);
            let (first, rest) = bytes.split_at(20);
            net.write(dialler, first).unwrap();
            let waits = lobby.read(&mut host, &mut decoder, now, slot);
            assert!(matches!(waits, (None, Ok(Decision::Wait))), "{body}");
            net.write(dialler, rest).unwrap();
            let (made_way, decision) = lobby.read(&mut host, &mut decoder, now, slot);
            let entered = decision.map(|decision| match decision {
                Decision::Enter { target, .. } => target,
                Decision::Wait => panic!("{body}: still waits"),
            });
            assert_eq!((made_way, entered), (None, expected), "{body}");
            let why = expected
                .err()
                .unwrap_or(ConnectionRefusal::AlreadyConnected);
            let refused = lobby.refuse(&mut host, &mut decoder, slot, why);
            let (conn, event) = refused.unwrap();
            assert_eq!(conn, guest.conn);
            assert!(event.to_string().contains(peer), "{event}");
        }
    }
}
