//! One link: its connection, and the frames that wait for the connection.
//!
//! ```text
//!             connected                   hang-up, bytes not yet written
//!   (down) ---------------> Up, not closing ----------------------------> Up, leaving
//!      ^                        | closed, failed, bad frame                   | written, or too late
//!      +------------------------+---------------------------------------------+
//! ```
//!
//! In the journal, each connection of a link is an epoch. The frames of a connection are counted from 1, and frames
//! of an earlier connection are not sent.

use std::net::SocketAddr;
use std::ops::Range;

use fixwire_protocol::{Framing, Mono, Nanos, Outbox, SessionId};

use crate::config::LinkConfig;
use crate::counters::LinkStatus;
use crate::event::Ending;
use crate::host::{ConnId, Host, ListenerId, SocketOptions};
use crate::journal::{Disk, Journal, JournalError, JournalId, SequenceCounters};
use crate::line::dialler::Dialler;
use crate::line::flow::Pacer;
use crate::line::link::Leaving;
use crate::line::output::{Gate, Output};

/// After the application has closed a connection, the last frames may wait for the socket for this time.
pub(crate) const FAREWELL: Nanos = Nanos::from_secs(2);

/// A connection without a complete frame blocks other connections to the link for this time. A real peer sends a
/// frame at once. So after this time the connection is closed when another one arrives.
const SILENT: Nanos = Nanos::from_secs(1);

/// One link.
pub(crate) struct FrameLink {
    pub(crate) id: SessionId,
    pub(crate) name: String,
    pub(crate) framing: Framing,
    config: LinkConfig,
    pub(crate) journal: JournalId,
    /// Number of connections, as counted in the journal.
    pub(crate) epoch: u32,
    /// Number of frames received on the present connection, or on the last one.
    pub(crate) frames_in: u64,
    /// The number of the next frame to be sent on the connection.
    pub(crate) next_out: u64,
    pub(crate) up: Option<Up>,
    pub(crate) dialler: Option<Dialler>,
    pub(crate) door: Option<Door>,
    pub(crate) output: Output,
    pub(crate) pacer: Option<Pacer>,
    /// Numbers of committed frames whose secrets the journal does not have. They are kept until the frames are passed
    /// to the output.
    pub(crate) secret: Vec<u64>,
    /// Whether the link is listed in [`Core::busy`](crate::commit::Core).
    pub(crate) is_busy: bool,
    /// Time at which the rate limit or a stalled peer must be checked.
    pub(crate) wake: Mono,
    pub(crate) connections: u64,
}

/// The connection of a link.
#[derive(Clone, Copy)]
pub(crate) struct Up {
    pub(crate) conn: ConnId,
    /// When the connection was accepted or established.
    pub(crate) since: Mono,
    /// Bytes of complete frames received.
    pub(crate) bytes_in: u64,
    /// Number of the last frame passed to the output: it is written, or waits there.
    pub(crate) given: u64,
    /// Whether the application is closing the connection. If so, no more frames are accepted from either side.
    pub(crate) is_closing: bool,
    /// Whether the socket has failed. If so, nothing more is written.
    pub(crate) has_failed: bool,
    /// Set while the connection is closing and its last frames wait for the socket.
    pub(crate) leaving: Option<Leaving>,
}

/// The listening address of a link that accepts connections.
pub(crate) struct Door {
    pub(crate) listener: ListenerId,
    pub(crate) at: SocketAddr,
    /// Time to listen again after a failed accept; `None` if the last accept did not fail.
    pub(crate) retry: Option<Mono>,
}

impl FrameLink {
    /// A link without a connection. `room` is the maximum size of one flush for the link, bytes.
    pub(crate) fn new(
        id: SessionId,
        config: LinkConfig,
        (journal, counters): (JournalId, SequenceCounters),
        door: Option<Door>,
        room: usize,
    ) -> Self {
        Self {
            id,
            name: config.name.clone(),
            framing: config.framing,
            journal,
            epoch: counters.epoch,
            frames_in: counters.next_in.saturating_sub(1),
            next_out: counters.next_out,
            up: None,
            dialler: Dialler::to(&config.connection, &config.transport),
            door,
            output: Output::new(room),
            pacer: config.outbound.map(Pacer::new),
            secret: Vec::new(),
            is_busy: false,
            wake: Mono::NEVER,
            connections: 0,
            config,
        }
    }

    pub(crate) fn config(&self) -> &LinkConfig {
        &self.config
    }

    /// The socket options for the link's connections.
    pub(crate) fn socket_options(&self) -> SocketOptions {
        self.config.transport.socket_options()
    }

    /// Begins a new connection: its frames are counted from 1.
    pub(crate) fn connect(&mut self, now: Mono, conn: ConnId) {
        self.output.reset();
        self.secret.clear();
        self.epoch = self.epoch.wrapping_add(1);
        (self.frames_in, self.next_out) = (0, 1);
        self.connections += 1;
        self.up = Some(Up {
            conn,
            since: now,
            bytes_in: 0,
            given: 0,
            is_closing: false,
            has_failed: false,
            leaving: None,
        });
    }

    /// Whether the connection is closed when another one arrives, because its peer has sent no complete frame for too
    /// long.
    pub(crate) fn gives_way(&self, now: Mono) -> bool {
        let up = self.up.filter(|up| up.leaving.is_none());
        up.is_some_and(|up| up.bytes_in == 0 && now >= up.since + SILENT)
    }

    /// Marks the connection as failed: nothing more is written to it.
    pub(crate) fn fail(&mut self) {
        if let Some(up) = &mut self.up {
            up.has_failed = true;
        }
    }

    pub(crate) fn leaving(&self) -> Option<Leaving> {
        self.up.and_then(|up| up.leaving)
    }

    /// The number for the next frame, if a frame may be written.
    pub(crate) fn take_number(&mut self) -> Option<u64> {
        self.up.filter(|up| !up.is_closing)?;
        let number = self.next_out;
        self.next_out += 1;
        Some(number)
    }

    /// Writes committed frames that are adjacent in the outbox.
    pub(crate) fn send(
        &mut self,
        now: Mono,
        host: &mut impl Host,
        outbox: &Outbox,
        run: Range<usize>,
    ) -> Result<(), Ending> {
        let entries = &outbox.entries()[run.clone()];
        let frames = || entries.iter().filter(|entry| !entry.is_discarded());
        let (Some(up), Some(last)) = (&mut self.up, frames().next_back()) else {
            return Ok(());
        };
        if up.has_failed {
            return Ok(());
        }
        let conn = up.conn;
        let sent = match &mut self.pacer {
            None => self
                .output
                .send(host, conn, outbox, run.clone(), Gate::Open),
            Some(pacer) => {
                let left = match self.output.has_backlog() {
                    true => 0,
                    false => pacer.allowance(now),
                };
                let count = frames().count() as u64;
                let mut places = run.clone();
                let mut passed = 0;
                // The first frame that must wait; all later frames wait after it.
                let late = places.find(|at| {
                    let is_late = passed == left;
                    passed += u64::from(!outbox.entries()[*at].is_discarded());
                    is_late
                });
                let late = late.unwrap_or(run.end);
                if let Some(until) = pacer.spend(now, count.min(left)) {
                    self.wake = self.wake.min(until);
                }
                let first = match late > run.start {
                    true => self
                        .output
                        .send(host, conn, outbox, run.start..late, Gate::Open),
                    false => Ok(()),
                };
                let waits = (late..run.end).filter(|at| !outbox.entries()[*at].is_discarded());
                // After a failure, unwritten frames must not be written later.
                if first.is_ok() {
                    waits.for_each(|at| self.output.defer_entry(outbox, at));
                }
                first
            }
        };
        match sent {
            Ok(()) => up.given = last.seq,
            Err(_) => up.has_failed = true,
        }
        if !self.secret.is_empty() {
            self.keep_secrets(outbox, run);
        }
        sent
    }

    /// Keeps in memory the bytes of queued frames with secrets. The journal has them only masked.
    #[cold]
    fn keep_secrets(&mut self, outbox: &Outbox, run: Range<usize>) {
        let (_, next) = self.output.unwritten();
        for index in run {
            let entry = &outbox.entries()[index];
            let is_its = |number: &u64| *number == entry.seq && !entry.is_discarded();
            let Some(at) = self.secret.iter().position(is_its) else {
                continue;
            };
            self.secret.swap_remove(at);
            if next.is_some_and(|next| entry.seq >= next) {
                self.output.keep_secret(entry.seq, outbox.sealed(index));
            }
        }
    }

    /// Number of frames that may be written now.
    pub(crate) fn allowance(&mut self, now: Mono) -> u64 {
        let pacer = self.pacer.as_mut();
        pacer.map_or(u64::MAX, |pacer| pacer.allowance(now))
    }

    /// The number of the last frame that the socket has accepted completely.
    ///
    /// Frames that were accepted only in part, or not at all, are at the end of the output. A frame that the journal
    /// no longer has counts as accepted; only a journal in memory can lose a frame.
    ///
    /// # Errors
    ///
    /// A frame cannot be read from the journal, so the number is unknown.
    pub(crate) fn written<D: Disk>(&self, journal: &mut Journal<D>) -> Result<u64, JournalError> {
        let Some(up) = self.up else { return Ok(0) };
        let (mut rest, next) = self.output.unwritten();
        let mut last = next.map_or(up.given, |next| next - 1);
        while rest > 0
            && let Some(frame) = journal.outbound(self.journal, last)?
        {
            rest = rest.saturating_sub(frame.len());
            last -= 1;
        }
        Ok(last)
    }

    /// Releases all frames of this connection in the journal, because they are written.
    pub(crate) fn release<D: Disk>(&self, journal: &mut Journal<D>) {
        if let Some(up) = self.up {
            journal.release_before(self.journal, up.given + 1);
        }
    }

    /// When the link must be checked even if nothing arrives.
    pub(crate) fn due(&self) -> Mono {
        let dialler = self.dialler.as_ref().and_then(Dialler::due);
        let door = self.door.as_ref().and_then(|door| door.retry);
        let leaving = self.leaving().map(|leaving| leaving.until);
        let due = [dialler, door, leaving].into_iter().flatten().min();
        due.unwrap_or(Mono::NEVER).min(self.wake)
    }

    /// The state of the link.
    pub(crate) fn status(&self) -> LinkStatus<'_> {
        LinkStatus {
            id: self.id,
            name: &self.name,
            connected: self.up.is_some(),
            frames_in: self.frames_in,
            frames_out: self.next_out - 1,
            waiting_bytes: self.output.lag(),
            connections: self.connections,
        }
    }
}
