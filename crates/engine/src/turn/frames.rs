//! Connections of links: opens, accepts, reads and closes them.

use std::io::ErrorKind;
use std::net::SocketAddr;

use fixwire_protocol::{Application, Framed, Hangup, Link, Mono, Now, SessionId};

use crate::engine::{Engine, Owner};
use crate::error::EngineError;
use crate::event::{ConnectionRefusal, Ending, Event, PeerText, wrong_certificate};
use crate::frame_link::{Door, FAREWELL};
use crate::host::{ConnId, Host, ListenerId};
use crate::input::read_most;
use crate::journal::Disk;
use crate::line::dialler::State;
use crate::line::flow::Pacer;
use crate::line::link::Leaving;
use crate::lobby::ACCEPT_PAUSE;
use crate::tls::{self, Spki};

/// Maximum number of connections accepted from one listener in a turn.
const ACCEPTS_PER_TURN: usize = 16;

impl<A: Application, H: Host, D: Disk> Engine<A, H, D> {
    /// Reads once from a link's connection, and handles the complete frames.
    #[inline(never)]
    pub(super) fn read_frames(
        &mut self,
        now: Now,
        link: usize,
        conn: ConnId,
    ) -> Result<usize, EngineError> {
        let most = read_most(self.core.sync_first);
        match self.link_inputs[link].fill(&mut self.host, conn, most) {
            // The application has closed the connection. Only the last frames wait for the socket, so received data
            // is dropped.
            Ok(count) if count > 0 && self.core.links[link].leaving().is_some() => {
                self.link_inputs[link].clear();
            }
            Ok(count) if count > 0 => self.process_frames(now, link, conn)?,
            Ok(_) => self.end_link(now, link, Ending::ClosedByPeer)?,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(0),
            Err(error) => self.end_link(now, link, Ending::of(&error))?,
        }
        Ok(1)
    }

    /// Handles the complete frames in a link's receive buffer, and writes their effects.
    fn process_frames(&mut self, now: Now, link: usize, conn: ConnId) -> Result<(), EngineError> {
        self.core.reading = self.core.links[link].id;
        self.early.begin_read();
        let ending = loop {
            let bytes = self.link_inputs[link].unread();
            let at = &mut self.core.links[link];
            let Some(up) = at
                .up
                .as_mut()
                .filter(|up| up.conn == conn && !up.is_closing)
            else {
                // Data after the frame is ignored.
                break None;
            };
            let len = match at.framing.next(bytes) {
                Framed::Whole(len) => len,
                Framed::More => break None,
                Framed::Bad(why) => {
                    let at = up.bytes_in;
                    break Some(Ending::BadFrame { at, why });
                }
            };
            up.bytes_in += len as u64;
            if let (0, Some(dialler)) = (at.frames_in, &mut at.dialler) {
                // The host works, so the pauses start again with the first one when the connection ends.
                dialler.logged_on();
            }
            let (core, app) = (&mut self.core, &mut self.app);
            let from = core.outbox.entries().len();
            let (answer, has_secret) = core.receive_frame(now, link, &bytes[..len], app)?;
            self.host
                .handled_frame(&bytes[..len], &self.core.outbox, from);
            if has_secret {
                self.link_inputs[link].blank(len);
            }
            self.link_inputs[link].consume(len);
            if let Err(Hangup(why)) = answer {
                break Some(Ending::Application(why));
            }
            self.release_if_full(now)?;
            let may_release = self.early.counts();
            let unread = self.link_inputs[link].unread().len();
            if unread == 0 {
                break None;
            }
            if may_release {
                self.release_early(now, unread, true)?;
            }
        };
        match ending {
            Some(why) => self.part_link(now, link, why),
            None => self.release_read(now),
        }
    }

    /// Attaches a connection to a link.
    fn attach_link(
        &mut self,
        now: Now,
        link: usize,
        conn: ConnId,
        peer: SocketAddr,
    ) -> Result<(), EngineError> {
        // Messages that were committed before belong to no connection, or to the previous one.
        self.release(now)?;
        self.set_owner(conn, Owner::Link(link));
        let at = &mut self.core.links[link];
        let options = at.socket_options();
        at.connect(now.mono, conn);
        let session = at.id;
        self.link_inputs[link].clear();
        self.core.raise(now, &Event::Connected { session, peer });
        self.tune(now, session, conn, &options);
        self.core.tell_link(now, link, Link::Up, &mut self.app)?;
        self.release(now)
    }

    /// Closes a link's connection. If the application closed the connection, the socket may not have accepted the
    /// last frames. In this case the connection stays open until the socket has accepted them, but only for a short
    /// time.
    #[inline(never)]
    pub(super) fn part_link(
        &mut self,
        now: Now,
        link: usize,
        why: Ending,
    ) -> Result<(), EngineError> {
        if !matches!(why, Ending::Application(_)) {
            return self.end_link(now, link, why);
        }
        self.core.flush(&mut self.host)?;
        let at = &mut self.core.links[link];
        let waits = at.output.has_backlog();
        if let Some(up) = &mut at.up
            && !up.has_failed
            && (waits || !self.host.is_flushed(up.conn))
        {
            up.is_closing = true;
            if up.leaving.is_none() {
                let until = now.mono + FAREWELL;
                up.leaving = Some(Leaving { why, until });
            }
            self.core.timers.engine(at.due());
            self.core.set_link_busy(link);
            return Ok(());
        }
        self.end_link(now, link, why)
    }

    /// Closes a link's connection at once. Writes committed frames first, as far as the socket accepts them, and
    /// notifies the application how many were written.
    pub(super) fn end_link(
        &mut self,
        now: Now,
        link: usize,
        why: Ending,
    ) -> Result<(), EngineError> {
        self.core.flush(&mut self.host)?;
        let session = self.core.links[link].id;
        // A failure of this connection must not end the next connection of the link.
        self.core
            .failed
            .retain(|failed| failed.0 != session.0 as usize);
        let at = &mut self.core.links[link];
        let Some(up) = at.up else {
            return Ok(());
        };
        let why = up.leaving.map_or(why, |leaving| leaving.why);
        let written = at.written(&mut self.core.journal)?;
        self.core.journal.release_before(at.journal, u64::MAX);
        at.up = None;
        at.output.reset();
        at.wake = Mono::NEVER;
        self.link_inputs[link].clear();
        self.host.close(up.conn);
        self.set_owner(up.conn, Owner::Nobody);
        let detail = PeerText::default();
        let event = Event::Disconnected {
            session,
            why,
            detail,
        };
        self.core.raise(now, &event);
        let down = Link::Down { written };
        self.core.tell_link(now, link, down, &mut self.app)?;
        let at = &mut self.core.links[link];
        if let Some(dialler) = &mut at.dialler {
            dialler.ended(now.mono, at.frames_in > 0);
        }
        self.core.timers.engine(at.due());
        Ok(())
    }

    /// Accepts the connections that wait at a link's listener: keeps one, and closes the others. `None` when the
    /// listener does not belong to a link.
    #[inline(never)]
    pub(super) fn accept_link(
        &mut self,
        now: Now,
        listener: ListenerId,
    ) -> Option<Result<(), EngineError>> {
        let is_its = |door: &Door| door.listener == listener;
        let mut links = self.core.links.iter();
        let link = links.position(|link| link.door.as_ref().is_some_and(is_its))?;
        Some(self.accept_for(now, link, listener))
    }

    fn accept_for(
        &mut self,
        now: Now,
        link: usize,
        listener: ListenerId,
    ) -> Result<(), EngineError> {
        for _ in 0..ACCEPTS_PER_TURN {
            let accepted = self.host.accept(listener);
            let at = &mut self.core.links[link];
            if let Some(door) = &mut at.door {
                door.retry = accepted.is_err().then(|| now.mono + ACCEPT_PAUSE);
            }
            let (conn, from) = match accepted {
                Ok(Some(accepted)) => accepted,
                Ok(None) => return Ok(()),
                Err(error) => {
                    self.core.timers.engine(at.due());
                    let error = (&error).into();
                    self.core.raise(now, &Event::CannotAccept { error });
                    return Ok(());
                }
            };
            let refusal = if !at.config().takes(from.ip()) {
                Some(ConnectionRefusal::AddressNotAllowed)
            } else if at.up.is_some_and(|up| up.leaving.is_none()) && !at.gives_way(now.mono) {
                Some(ConnectionRefusal::AlreadyConnected)
            } else {
                self.is_stopping().then_some(ConnectionRefusal::Stopping)
            };
            if let Some(why) = refusal {
                self.host.close(conn);
                let session = SessionId::of_link(link as u32);
                let event = Event::LinkRefused { session, from, why };
                self.core.raise(now, &event);
                continue;
            }
            if self.core.links[link].gives_way(now.mono) {
                let why = "the peer sent no complete frame, and another peer connects";
                self.end_link(now, link, Ending::Application(why))?;
            }
            // A peer that reconnects does not wait until the old connection has sent its rest.
            if let Some(leaving) = self.core.links[link].leaving() {
                self.end_link(now, link, leaving.why)?;
            }
            self.attach_link(now, link, conn, from)?;
        }
        Ok(())
    }

    /// Does the work of links that is due. Returns when the next work is due.
    #[inline(never)]
    pub(super) fn elapse_links(&mut self, now: Now) -> Result<Mono, EngineError> {
        let mut next = Mono::NEVER;
        for link in 0..self.core.links.len() {
            if self.core.links[link].due() <= now.mono {
                self.elapse_link(now, link)?;
            }
            next = next.min(self.core.links[link].due());
        }
        Ok(next)
    }

    fn elapse_link(&mut self, now: Now, link: usize) -> Result<(), EngineError> {
        let stall_time = self.core.stall_time;
        let at = &mut self.core.links[link];
        if let Some(leaving) = at.leaving().filter(|leaving| leaving.until <= now.mono) {
            return self.end_link(now, link, leaving.why);
        }
        if at.wake <= now.mono {
            let stalls = at.output.stalls_at(now.mono, stall_time);
            if stalls.is_some_and(|until| until <= now.mono) {
                return self.end_link(now, link, Ending::Stalled(stall_time));
            }
            let paced = at.pacer.as_mut().and_then(|pacer| pacer.elapse(now.mono));
            at.wake = stalls.into_iter().chain(paced).min().unwrap_or(Mono::NEVER);
            if at.up.is_some() && !at.pacer.as_ref().is_some_and(Pacer::is_out) {
                self.core.set_link_busy(link);
            }
        }
        let door = self.core.links[link].door.as_ref();
        if let Some(door) = door
            && door.retry.is_some_and(|retry| retry <= now.mono)
        {
            let listener = door.listener;
            self.accept_for(now, link, listener)?;
        }
        self.elapse_link_dialler(now, link);
        Ok(())
    }

    /// Starts an attempt to connect when it is due, and gives up an attempt that takes too long.
    fn elapse_link_dialler(&mut self, now: Now, link: usize) {
        if self.is_stopping()
            && let Some(dialler) = &mut self.core.links[link].dialler
        {
            dialler.off();
        }
        let at = &mut self.core.links[link];
        let options = at.socket_options();
        let Some(dialler) = &mut at.dialler else {
            return;
        };
        match dialler.state() {
            State::Waiting(due) if due <= now.mono => {
                match self.host.dial(&dialler.next(now.mono, &options)) {
                    Ok(conn) => {
                        dialler.dialling(now.mono, conn);
                        self.set_owner(conn, Owner::LinkDialling(link));
                    }
                    Err(error) => self.link_dial_failed(now, link, &error.to_string()),
                }
            }
            State::Dialling(conn, until) if until <= now.mono => {
                let error = "connection timed out (including TLS and proxy)";
                self.drop_link_dialled(now, link, conn, error);
            }
            _ => {}
        }
    }

    /// Handles the result of an attempt to connect.
    #[inline(never)]
    pub(super) fn link_dialled(
        &mut self,
        now: Now,
        link: usize,
        conn: ConnId,
    ) -> Result<(), EngineError> {
        let peer = match self.host.dialled(conn) {
            Ok(peer) => peer,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => {
                self.drop_link_dialled(now, link, conn, &error.to_string());
                return Ok(());
            }
        };
        if let Some(dialler) = &mut self.core.links[link].dialler {
            let shown = self.host.peer(conn).certificate;
            if !tls::allowed(&dialler.transport().certificates, shown) {
                let error = wrong_certificate(shown.map(|shown| Spki(shown.spki)).as_ref());
                self.drop_link_dialled(now, link, conn, &error);
                return Ok(());
            }
            dialler.connected();
        }
        self.attach_link(now, link, conn, peer)
    }

    /// Gives up an attempt to connect.
    fn drop_link_dialled(&mut self, now: Now, link: usize, conn: ConnId, error: &str) {
        self.host.close(conn);
        self.set_owner(conn, Owner::Nobody);
        self.link_dial_failed(now, link, error);
    }

    /// Records that an attempt has failed, and when the next one is due.
    fn link_dial_failed(&mut self, now: Now, link: usize, error: &str) {
        let at = &mut self.core.links[link];
        let session = at.id;
        let Some(dialler) = &mut at.dialler else {
            return;
        };
        let (host, port) = dialler.host();
        let host = host.to_owned();
        let again_in = dialler.ended(now.mono, false);
        self.core.timers.engine(at.due());
        let event = Event::DialFailed {
            session,
            host,
            port,
            error: error.to_owned(),
            again_in,
        };
        self.core.raise(now, &event);
    }
}
