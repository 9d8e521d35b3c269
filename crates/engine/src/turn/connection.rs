//! Attaches a connection to a session, and ends the connection.

use std::net::SocketAddr;

use fixwire_protocol::session::{DisconnectReason, Verdict};
use fixwire_protocol::{Application, Mono, Now, Parting, PeerLogout, SessionId};

use crate::engine::{Engine, Owner};
use crate::error::EngineError;
use crate::event::{Ending, Event, PeerText};
use crate::host::{ConnId, Host, SocketOptions};
use crate::journal::{Disk, RecordKind};
use crate::line::link::{Leaving, Link};

impl<A: Application, H: Host, D: Disk> Engine<A, H, D> {
    /// Attaches a connection to a session.
    pub(crate) fn attach(
        &mut self,
        now: Now,
        session: usize,
        conn: ConnId,
        peer: SocketAddr,
    ) -> Result<(), EngineError> {
        // A new trading session may have begun since the last check.
        self.keep_hours(now, session)?;
        // Messages that were committed before belong to no connection. They must not precede the Logon on this one.
        self.release(now)?;
        self.set_owner(conn, Owner::Session(session));
        let line = &mut self.core.lines[session];
        let is_acceptor = line.dialler.is_none();
        line.link = Some(Link::new(conn, is_acceptor.then(|| peer.ip())));
        line.output.reset();
        line.has_junk = false;
        line.counters.connections += 1;
        line.began_at = line.session.next_out();
        let options = line.socket_options();
        let id = SessionId(session as u32);
        self.core
            .raise(now, &Event::Connected { session: id, peer });
        self.tune(now, id, conn, &options);
        let core = &mut self.core;
        let verdict = core.lines[session].session.connected(now, &mut core.outbox);
        core.commit(now, session, RecordKind::Sent, None, &mut self.app)?;
        core.note_due(session);
        if let Verdict::Disconnect(reason) = verdict {
            return self.disconnect(now, session, Ending::Session(reason));
        }
        Ok(())
    }

    /// Sets the options of a connection. If this fails, the connection works without them.
    pub(crate) fn tune(
        &mut self,
        now: Now,
        session: SessionId,
        conn: ConnId,
        options: &SocketOptions,
    ) {
        if let Err(error) = self.host.tune(conn, options) {
            let error = error.to_string();
            self.core
                .raise(now, &Event::OptionsNotSet { session, error });
        }
    }

    /// Ends a session's connection. If the session itself ended the connection, the socket may not have accepted the
    /// last messages and the Logout. In this case the connection stays open until the socket has accepted them, but
    /// at most for the Logout timeout.
    pub(crate) fn part(
        &mut self,
        now: Now,
        session: usize,
        why: Ending,
    ) -> Result<(), EngineError> {
        if matches!(why, Ending::Session(_)) {
            self.core.flush(&mut self.host)?;
            self.core.say_farewell(now, &mut self.host, session);
            let core = &mut self.core;
            let failed = core.failed.iter().any(|failed| failed.0 == session);
            let line = &mut core.lines[session];
            if line.leaving().is_some() {
                return Ok(());
            }
            if let Some(link) = &mut line.link
                && link.ended_before().is_some()
                && !failed
                && (line.output.has_backlog() || !self.host.is_flushed(link.conn))
            {
                let until = now.mono + line.session.config().logout_timeout;
                link.leave(Leaving { why, until });
                core.timers.session(session, until);
                core.set_busy(session);
                return Ok(());
            }
        }
        self.disconnect(now, session, why)
    }

    /// Ends a session's connection at once. Committed messages are written first; data that was not read is dropped.
    pub(crate) fn disconnect(
        &mut self,
        now: Now,
        session: usize,
        why: Ending,
    ) -> Result<(), EngineError> {
        self.core.flush(&mut self.host)?;
        self.core.say_farewell(now, &mut self.host, session);
        let core = &mut self.core;
        // A failure of this connection must not end the next connection of the session.
        core.failed.retain(|failed| failed.0 != session);
        let line = &mut core.lines[session];
        let Some(link) = line.link.take() else {
            return Ok(());
        };
        let why = link.leaving().map_or(why, |leaving| leaving.why);
        line.keep_unsent();
        line.output.reset();
        line.resending = None;
        line.wake = Mono::NEVER;
        let not_logged = line.trail.take(now.mono);
        if let Some(throttle) = &mut line.throttle {
            throttle.paused = false;
        }
        self.inputs[session].clear();
        self.host.close(link.conn);
        self.set_owner(link.conn, Owner::Nobody);
        let id = SessionId(session as u32);
        self.core.raise_not_logged(now, session, not_logged);
        let next_in = self.core.lines[session].session.next_in();
        self.core.raise_unfinished(now, session, next_in);
        self.core.lines[session].session.disconnected(now);
        self.core.tell_reset(now, session, &mut self.app);
        self.core
            .commit(now, session, RecordKind::Reset, None, &mut self.app)?;
        self.core.note_waiting(now, session)?;
        let logout = std::mem::take(&mut self.core.lines[session].logout);
        if link.was_logged_on() {
            let logout = (!logout.is_empty()).then(|| self.decoder.decode(&logout));
            let logout = logout.as_ref().map_or(PeerLogout::NONE, PeerLogout::of);
            self.app.on_logout(now, id, logout);
            let parting = match why {
                Ending::Session(DisconnectReason::LoggedOut) => Parting::LoggedOut,
                _ => Parting::Lost,
            };
            self.app
                .on_disconnect(now, id, parting, logout, &mut self.core.outbox);
            self.core.commit_sent(now, &mut self.app, &mut self.host)?;
            self.core.raise(now, &Event::LoggedOut { session: id });
        }
        let detail = std::mem::take(&mut self.core.lines[session].detail);
        let detail = if why.is_explained() {
            detail
        } else {
            PeerText::default()
        };
        let event = Event::Disconnected {
            session: id,
            why,
            detail,
        };
        self.core.raise(now, &event);
        if let Some(dialler) = &mut self.core.lines[session].dialler {
            dialler.ended(now.mono, link.was_logged_on());
            self.note_dialler(session);
        }
        // An initiator whose sequence numbers an operator sets logs on again without a pause.
        self.set_pending_numbers(now, session)?;
        if self.core.lines[session].hours.is_some() {
            // A new trading session may wait for the end of this connection.
            self.core.timers.session(session, Mono(0));
        }
        if self.core.lines[session].is_removed() {
            self.bury(now, session);
        }
        Ok(())
    }
}
