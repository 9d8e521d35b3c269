//! From a Logon with the right password to its session.

use fixwire_protocol::session::identify;
use fixwire_protocol::{Application, Frame, Now, frame};

use crate::access::Target;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::event::Refusal;
use crate::host::Host;
use crate::journal::Disk;
use crate::lobby::Slot;
use crate::passwords::Question;

impl<A: Application, H: Host, D: Disk> Engine<A, H, D> {
    /// The Logon in a place has passed every check but the last: nobody else may be on. When that holds,
    /// its new password is stored first, and it comes here again.
    pub(super) fn enter(
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
                // Who comes anew does not wait for the rest of the old connection.
                if let Some(leaving) = line.leaving {
                    self.disconnect(now, session, leaving.why)?;
                }
                let mut verdict = self.lobby.enters(slot).then_some(Ok(()));
                if let Some(question) = renewal {
                    verdict = self.ask_ahead(now, slot, session)?;
                    if let Some(Ok(())) = verdict {
                        if !self.lobby.store(slot, session, question) {
                            self.refuse(now, slot, Refusal::TooManyPending);
                        }
                        return Ok(());
                    }
                    // The session refuses the Logon in its own words, and nothing is stored.
                }
                self.core.lines[session].asked_ahead = verdict;
                self.welcome(now, slot, session)?;
                self.core.lines[session].asked_ahead = None;
                Ok(())
            }
            Err(why) => {
                self.refuse(now, slot, why);
                Ok(())
            }
        }
    }

    /// What becomes of a Logon if its session gets it now: `None` when the session refuses it, otherwise
    /// what the application says.
    fn ask_ahead(
        &mut self,
        now: Now,
        slot: usize,
        session: usize,
    ) -> Result<Option<Result<(), String>>, EngineError> {
        self.keep_hours(now, session)?;
        let bytes = self.lobby.slots[slot].input.unread();
        let Frame::Whole { skip: 0, len } = frame::next(bytes, bytes.len()) else {
            return Ok(None);
        };
        let logon = self.decoder.decode(&bytes[..len]);
        let state = &mut self.core.sessions[session];
        let taken = state.would_log_on(now, &logon);
        Ok(taken.then(|| self.app.on_logon_request(now, state.id(), &logon)))
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
}
