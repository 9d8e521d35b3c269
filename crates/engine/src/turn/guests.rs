//! Accepts connections and Logons: executes the decisions of the [lobby](crate::lobby).

use fixwire_passwords::Question;
use fixwire_protocol::session::identify;
use fixwire_protocol::{Application, Now};

use crate::engine::{Engine, Owner};
use crate::error::EngineError;
use crate::event::{ConnectionRefusal, Ending, Event, PeerText};
use crate::host::{Host, ListenerId};
use crate::journal::Disk;
use crate::lobby::{ACCEPT_PAUSE, Decision, Guest, Target};

/// Maximum number of connections accepted from one listener in a turn.
const ACCEPTS_PER_TURN: usize = 16;

impl<A: Application, H: Host, D: Disk> Engine<A, H, D> {
    /// Accepts the connections that wait at a listener.
    pub(crate) fn accept(&mut self, now: Now, listener: ListenerId) {
        for _ in 0..ACCEPTS_PER_TURN {
            match self.lobby.accept(&mut self.host, now, listener) {
                Ok(Some(guest)) => self.admit(now, guest),
                Ok(None) => return,
                Err(error) => {
                    self.core.timers.engine(now.mono + ACCEPT_PAUSE);
                    let error = (&error).into();
                    self.core.raise(now, &Event::CannotAccept { error });
                    return;
                }
            }
        }
    }

    fn admit(&mut self, now: Now, guest: Guest) {
        let room = match self.is_stopping() {
            true => Err(ConnectionRefusal::Stopping),
            false => self.lobby.room_for(now, &guest),
        };
        let seated = room.and_then(|leaves| {
            self.make_way(now, leaves);
            let full = ConnectionRefusal::TooManyPending(self.lobby.places());
            self.lobby.seat(guest).ok_or(full)
        });
        match seated {
            Ok(slot) => {
                self.set_owner(guest.conn, Owner::Guest(slot));
                self.core.timers.engine(guest.deadline);
            }
            Err(why) => {
                self.host.close(guest.conn);
                let (from, logon) = (guest.from, PeerText::default());
                self.core.raise(now, &Event::Refused { from, why, logon });
            }
        }
    }

    /// Reads from a connection that has not logged on.
    pub(crate) fn read_guest(&mut self, now: Now, slot: usize) -> Result<(), EngineError> {
        let (host, decoder) = (&mut self.host, &mut self.decoder);
        let (leaves, decision) = self.lobby.read(host, decoder, now, slot);
        self.make_way(now, leaves);
        self.carry_out(now, slot, decision)
    }

    /// Handles the results of the password threads; returns the number of results.
    #[inline]
    pub(crate) fn take_compared(&mut self, now: Now) -> Result<usize, EngineError> {
        let mut count = 0;
        while let Some((slot, decision)) = self.lobby.compared(&mut self.decoder, now) {
            count += 1;
            self.carry_out(now, slot, decision)?;
        }
        Ok(count)
    }

    /// Closes the connections that have waited too long for their Logon; when the engine stops, closes all of them.
    /// Retries accepts that failed.
    pub(crate) fn elapse_guests(&mut self, now: Now) {
        for slot in 0..self.lobby.places() {
            if self.is_stopping() {
                self.refuse(now, slot, ConnectionRefusal::Stopping);
            } else if self.lobby.is_late(slot, now.mono) {
                let time = self.lobby.logon_time();
                self.refuse(now, slot, ConnectionRefusal::Timeout(time));
            }
        }
        while let Some(listener) = self.lobby.retries(now.mono) {
            self.accept(now, listener);
        }
    }

    fn carry_out(
        &mut self,
        now: Now,
        slot: usize,
        decision: Result<Decision, ConnectionRefusal>,
    ) -> Result<(), EngineError> {
        let done = match decision {
            Ok(Decision::Wait) => Ok(()),
            Ok(Decision::Enter { target, renewal }) => self.enter(now, slot, target, renewal)?,
            Err(why) => Err(why),
        };
        if let Err(why) = done {
            self.refuse(now, slot, why);
        }
        Ok(())
    }

    /// Closes a connection to make room for another one.
    fn make_way(&mut self, now: Now, leaves: Option<usize>) {
        if let Some(slot) = leaves {
            self.refuse(now, slot, ConnectionRefusal::MadeWay);
        }
    }

    fn refuse(&mut self, now: Now, slot: usize, why: ConnectionRefusal) {
        let (host, decoder) = (&mut self.host, &mut self.decoder);
        if let Some((conn, event)) = self.lobby.refuse(host, decoder, slot, why) {
            self.set_owner(conn, Owner::Nobody);
            self.core.raise(now, &event);
        }
    }

    /// Handles a guest whose Logon has passed every check except the last: no other connection may be logged on. If
    /// none is, a new password is stored first, and then this function is called again.
    fn enter(
        &mut self,
        now: Now,
        slot: usize,
        target: Target,
        renewal: Option<Question>,
    ) -> Result<Result<(), ConnectionRefusal>, EngineError> {
        let session = match target {
            Target::Session(session) => session,
            Target::Template(template) => match self.session_of_template(now, slot, template)? {
                Ok(session) => session,
                Err(why) => return Ok(Err(why)),
            },
        };
        let line = &self.core.lines[session];
        let is_on = line.link.is_some() && line.leaving().is_none();
        let stays = is_on && !line.config.access.replaces;
        if stays || self.lobby.is_kept(session, slot) {
            return Ok(Err(ConnectionRefusal::AlreadyConnected));
        }
        if is_on {
            self.disconnect(now, session, Ending::Replaced)?;
        }
        let line = &self.core.lines[session];
        // A peer that reconnects does not wait until the old connection has sent its rest.
        if let Some(leaving) = line.leaving() {
            self.disconnect(now, session, leaving.why)?;
        }
        let mut verdict = self.lobby.enters(slot).then_some(Ok(()));
        if let Some(question) = renewal {
            verdict = self.ask_ahead(now, slot, session)?;
            if let Some(Ok(())) = verdict {
                return Ok(self.lobby.store(slot, session, question));
            }
            // The session itself refuses the Logon, and no password is stored.
        }
        self.core.lines[session].asked_ahead = verdict;
        if let Some(guest) = self.lobby.leave(slot, &mut self.inputs[session]) {
            self.attach(now, session, guest.conn, guest.from)?;
            self.process(now, session)?;
        }
        self.core.lines[session].asked_ahead = None;
        Ok(Ok(()))
    }

    /// What would happen if the session got the Logon now: `None` when the session would refuse it, otherwise the
    /// application's answer.
    fn ask_ahead(
        &mut self,
        now: Now,
        slot: usize,
        session: usize,
    ) -> Result<Option<Result<(), String>>, EngineError> {
        self.keep_hours(now, session)?;
        let Some(logon) = self.lobby.message(&mut self.decoder, slot) else {
            return Ok(None);
        };
        let state = &mut self.core.lines[session].session;
        let taken = state.would_log_on(now, &logon);
        Ok(taken.then(|| self.app.on_logon_request(now, state.id(), &logon)))
    }

    /// The session for the Logon of a guest that a template creates or has created.
    fn session_of_template(
        &mut self,
        now: Now,
        slot: usize,
        template: usize,
    ) -> Result<Result<usize, ConnectionRefusal>, EngineError> {
        let message = self.lobby.message(&mut self.decoder, slot);
        let Some(wanted) = message.as_ref().and_then(identify) else {
            return Ok(Err(ConnectionRefusal::NotALogon));
        };
        let template = &self.templates[template];
        let Some(session) = template.session_for(&wanted) else {
            return Ok(Err(ConnectionRefusal::NoName));
        };
        let qualified = template.qualified;
        let asked = (self.app).on_session_request(now, &session.name, &session.session);
        if let Err(why) = asked {
            return Ok(Err(ConnectionRefusal::NotWanted(why)));
        }
        self.join_or_add(now, session, qualified)
    }
}
