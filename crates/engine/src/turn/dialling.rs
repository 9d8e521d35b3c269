//! Connects initiators: starts attempts, gives attempts up, and handles their results.

use std::io::ErrorKind;

use fixwire_protocol::{Application, Now, SessionId};

use crate::engine::{Engine, Owner};
use crate::error::EngineError;
use crate::event::{Event, wrong_certificate};
use crate::host::{ConnId, Host};
use crate::journal::Disk;
use crate::line::dialler::{Dialler, State};
use crate::tls::{self, Spki};

impl<A: Application, H: Host, D: Disk> Engine<A, H, D> {
    /// Starts an attempt to connect when it is due, and gives up an attempt that takes too long.
    pub(crate) fn elapse_dialler(&mut self, now: Now, session: usize) -> Result<(), EngineError> {
        let line = &mut self.core.lines[session];
        let options = line.socket_options();
        let Some(dialler) = &mut line.dialler else {
            return Ok(());
        };
        match dialler.state() {
            State::Waiting(at) if dialler.due().is_some() && at <= now.mono => {
                match self.host.dial(&dialler.next(now.mono, &options)) {
                    Ok(conn) => {
                        dialler.dialling(now.mono, conn);
                        self.set_owner(conn, Owner::Dialling(session));
                    }
                    Err(error) => self.dial_failed(now, session, &error.to_string()),
                }
            }
            State::Dialling(conn, until) if until <= now.mono => {
                let error = "connection timed out (including TLS and proxy)";
                self.drop_dialled(now, session, conn, error);
            }
            _ => {}
        }
        self.note_dialler(session);
        Ok(())
    }

    /// Sets the timer for the next step of a session's dialler.
    pub(crate) fn note_dialler(&mut self, session: usize) {
        let dialler = self.core.lines[session].dialler.as_ref();
        if let Some(due) = dialler.and_then(Dialler::due) {
            self.core.timers.session(session, due);
        }
    }

    /// Handles the result of an attempt to connect.
    pub(crate) fn dialled(
        &mut self,
        now: Now,
        session: usize,
        conn: ConnId,
    ) -> Result<(), EngineError> {
        match self.host.dialled(conn) {
            Ok(peer) => {
                // The schedule may have closed the session while the attempt was in progress.
                self.keep_hours(now, session)?;
                if self.owner(conn) != Owner::Dialling(session) {
                    return Ok(());
                }
                if self.core.lines[session].disabled {
                    self.drop_dialled(now, session, conn, "the session is disabled");
                    return Ok(());
                }
                if let Some(dialler) = &mut self.core.lines[session].dialler {
                    let shown = self.host.peer(conn).certificate;
                    if !tls::allowed(&dialler.transport().certificates, shown) {
                        let error = wrong_certificate(shown.map(|shown| Spki(shown.spki)).as_ref());
                        self.drop_dialled(now, session, conn, &error);
                        return Ok(());
                    }
                    dialler.connected();
                }
                self.attach(now, session, conn, peer)?;
                self.release(now)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            Err(error) => {
                self.drop_dialled(now, session, conn, &error.to_string());
                Ok(())
            }
        }
    }

    /// Gives up an attempt to connect.
    pub(crate) fn drop_dialled(&mut self, now: Now, session: usize, conn: ConnId, error: &str) {
        self.host.close(conn);
        self.set_owner(conn, Owner::Nobody);
        self.dial_failed(now, session, error);
    }

    /// Records that an attempt has failed, and when the next one is due.
    pub(crate) fn dial_failed(&mut self, now: Now, session: usize, error: &str) {
        let Some(dialler) = &mut self.core.lines[session].dialler else {
            return;
        };
        let (host, port) = dialler.host();
        let host = host.to_owned();
        let again_in = dialler.ended(now.mono, false);
        self.note_dialler(session);
        let event = Event::DialFailed {
            session: SessionId(session as u32),
            host,
            port,
            error: error.to_owned(),
            again_in,
        };
        self.core.raise(now, &event);
    }
}
