//! When bytes may be sent: right after their commit, or later from the journal.
//!
//! The journal is the send queue. What was just committed is written from the outbox; as soon as a
//! socket accepts only part of it, or a resend runs, later messages stay in the journal and the
//! session remembers the MsgSeqNum of the first. They are read from there, in order, when the socket
//! accepts more. So a slow consumer costs disk, not memory.

use std::io::ErrorKind;
use std::ops::Range;

use fixwire_protocol::session::is_admin;
use fixwire_protocol::{Mono, MsgSeqNumSource, Nanos, Outbox};

use crate::event::Ending;
use crate::host::{ConnId, Host};
use crate::journal::{Disk, Journal, JournalId, Replay, Stored};

/// Bytes that are read from the journal for one write.
const CHUNK: usize = 32 << 10;

/// Messages that one connection has not yet sent.
pub(crate) struct Output {
    /// The end of what a write took only in part: `rest[at..]`.
    rest: Vec<u8>,
    at: usize,
    behind: Option<Behind>,
    /// Those of them whose secrets the journal does not have, as they are sent.
    secrets: Vec<(u64, Vec<u8>)>,
    /// Reads the messages that are behind.
    cursor: Option<Replay>,
    /// The socket accepts nothing more until the host says so.
    blocked: bool,
    /// Since when it accepts nothing.
    since: Option<Mono>,
    /// The MsgSeqNums of messages that a reset in the same write has made void.
    voided: Option<Range<u64>>,
    /// An event has reported the slow consumer.
    pub(crate) is_slow: bool,
}

/// Committed messages that are still to be written.
#[derive(Clone, Copy, Debug)]
struct Behind {
    next: u64,
    /// One past the last one.
    end: u64,
    bytes: u64,
}

/// May a run of messages be written now?
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Gate {
    /// Yes.
    Open,
    /// Only those of the session itself: the Logons are not exchanged.
    Admin,
    /// Resent ones, new ones up to this MsgSeqNum and a Logon: a resend up to it runs, and later
    /// messages wait behind it. Those up to it must go first, or the peer would see them after
    /// their resent copies.
    Repeats(u64),
}

impl Output {
    /// `rest` has room for the rest of one flush, so it does not grow later.
    pub(crate) fn new(room: usize) -> Self {
        Self {
            rest: Vec::with_capacity(room),
            at: 0,
            behind: None,
            secrets: Vec::new(),
            cursor: None,
            blocked: false,
            since: None,
            voided: None,
            is_slow: false,
        }
    }

    /// Frees the memory: the session is removed.
    pub(crate) fn shrink(&mut self) {
        self.reset();
        self.rest = Vec::new();
    }

    /// The connection is closed; unsent bytes are in the journal.
    pub(crate) fn reset(&mut self) {
        self.rest.clear();
        self.at = 0;
        self.blocked = false;
        self.since = None;
        self.is_slow = false;
        self.forget();
    }

    fn forget(&mut self) {
        self.behind = None;
        self.cursor = None;
        if !self.secrets.is_empty() {
            self.forget_secrets();
        }
    }

    #[cold]
    fn forget_secrets(&mut self) {
        for (_, bytes) in &mut self.secrets {
            bytes.fill(0);
            std::hint::black_box(bytes);
        }
        self.secrets.clear();
    }

    /// A message that waits has secrets, which the journal does not have.
    pub(crate) fn keep_secret(&mut self, seq: u64, bytes: &[u8]) {
        self.secrets.push((seq, bytes.to_vec()));
    }

    /// The sequence numbers are reset: what waits in the journal is void.
    pub(crate) fn void(&mut self) {
        self.forget();
    }

    /// The MsgSeqNums of messages that were void as soon as they waited, since the last call.
    #[inline]
    pub(crate) fn take_voided(&mut self) -> Option<Range<u64>> {
        self.voided.take()
    }

    /// The MsgSeqNum of the first message that waits in the journal.
    pub(crate) fn first_waiting(&self) -> Option<u64> {
        self.behind.map(|behind| behind.next)
    }

    /// The socket accepts bytes again.
    pub(crate) fn unblock(&mut self) {
        self.blocked = false;
        self.since = None;
    }

    /// When a socket that accepts nothing has done so for too long.
    pub(crate) fn stalls_at(&mut self, now: Mono, patience: Nanos) -> Option<Mono> {
        if !self.blocked {
            self.since = None;
            return None;
        }
        Some(*self.since.get_or_insert(now) + patience)
    }

    /// Messages that wait in the journal.
    pub(crate) fn waiting(&self) -> u64 {
        self.behind.map_or(0, |behind| behind.end - behind.next)
    }

    /// Lets a message wait in the journal although it could be written.
    pub(crate) fn defer_entry(&mut self, outbox: &Outbox, index: usize) {
        self.defer(outbox.entries()[index].seq, outbox.sealed(index).len());
    }

    /// The socket has accepted fewer bytes than it was given.
    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// Something waits for the socket.
    #[inline]
    pub(crate) fn has_backlog(&self) -> bool {
        !self.rest.is_empty() || self.behind.is_some()
    }

    /// Something can be written now: what waits, or what a resend would bring.
    pub(crate) fn can_write(&self, gate: Gate, resends: bool) -> bool {
        let stored = self.behind_within(gate);
        !self.blocked && (!self.rest.is_empty() || stored || resends)
    }

    /// A message waits in the journal that may be written.
    pub(crate) fn behind_within(&self, gate: Gate) -> bool {
        self.behind.is_some_and(|behind| match gate {
            Gate::Open => true,
            Gate::Admin => false,
            Gate::Repeats(upto) => behind.next <= upto,
        })
    }

    /// Bytes of messages that wait in the journal.
    pub(crate) fn lag(&self) -> u64 {
        self.behind.map_or(0, |behind| behind.bytes)
    }

    /// Bytes that a write did not accept, and the MsgSeqNum of the first message that waits in the journal behind
    /// them.
    pub(crate) fn unwritten(&self) -> (usize, Option<u64>) {
        let next = self.behind.map(|behind| behind.next);
        (self.rest.len() - self.at, next)
    }

    /// Writes sealed messages of one session that are adjacent in the outbox.
    #[inline]
    pub(crate) fn send(
        &mut self,
        host: &mut impl Host,
        conn: ConnId,
        outbox: &Outbox,
        run: Range<usize>,
        gate: Gate,
    ) -> Result<(), Ending> {
        if gate == Gate::Open && self.rest.is_empty() && self.behind.is_none() {
            return self.send_now(host, conn, outbox, run);
        }
        // Rare: each message for itself.
        for index in run {
            let entry = &outbox.entries()[index];
            if entry.is_discarded() {
                continue;
            }
            let allowed = match (gate, entry.number) {
                (_, MsgSeqNumSource::Fixed(_)) => true,
                (Gate::Open, MsgSeqNumSource::Next) => self.behind.is_none(),
                // A Logon that is refused: the Reject and the Logout are sent, whatever else waits.
                (Gate::Admin, MsgSeqNumSource::Next) => is_admin(entry.msg_type()),
                // Nothing may come before a Logon: with NextExpectedMsgSeqNum(789) a resend can
                // begin in the same turn.
                (Gate::Repeats(upto), MsgSeqNumSource::Next) => {
                    self.behind.is_none() && (entry.seq <= upto || entry.msg_type() == b"A")
                }
            };
            if !allowed {
                self.defer(entry.seq, outbox.sealed(index).len());
            } else if self.rest.is_empty() {
                self.send_now(host, conn, outbox, index..index + 1)?;
            } else if entry.number == MsgSeqNumSource::Next {
                self.defer(entry.seq, outbox.sealed(index).len());
            } else {
                self.rest.extend_from_slice(outbox.sealed(index));
            }
        }
        Ok(())
    }

    #[inline]
    fn send_now(
        &mut self,
        host: &mut impl Host,
        conn: ConnId,
        outbox: &Outbox,
        run: Range<usize>,
    ) -> Result<(), Ending> {
        let bytes = outbox.bytes(run.clone());
        let count = write(host, conn, bytes)?;
        if count < bytes.len() {
            self.cut_short(outbox, run, count);
        }
        Ok(())
    }

    /// Keeps what is needed to go on after a write took only `count` bytes of a run.
    #[cold]
    fn cut_short(&mut self, outbox: &Outbox, run: Range<usize>, mut count: usize) {
        self.blocked = true;
        for index in run {
            let bytes = outbox.sealed(index);
            let entry = &outbox.entries()[index];
            if count >= bytes.len() {
                count -= bytes.len();
            } else if count > 0 || entry.number != MsgSeqNumSource::Next {
                self.rest.extend_from_slice(&bytes[count..]);
                count = 0;
            } else {
                self.defer(entry.seq, bytes.len());
            }
        }
    }

    fn defer(&mut self, seq: u64, len: usize) {
        let behind = self.behind.get_or_insert(Behind {
            next: seq,
            end: seq,
            bytes: 0,
        });
        if seq < behind.next {
            // The sequence numbers were reset in the same write: what waits was numbered before.
            self.voided = Some(behind.next..behind.end);
            *behind = Behind {
                next: seq,
                end: seq,
                bytes: 0,
            };
            self.cursor = None;
        }
        behind.end = seq + 1;
        behind.bytes += len as u64;
    }

    /// Writes what waits: the rest of the last write, then messages from the journal if `gate` lets
    /// them, `most` of these.
    pub(crate) fn pump<D: Disk>(
        &mut self,
        host: &mut impl Host,
        conn: ConnId,
        journal: &mut Journal<D>,
        session: JournalId,
        gate: Gate,
        most: u64,
    ) -> Result<(), Ending> {
        if self.blocked {
            return Ok(());
        }
        if self.rest.is_empty() && self.behind_within(gate) {
            let upto = match gate {
                Gate::Repeats(upto) => upto,
                Gate::Open | Gate::Admin => u64::MAX,
            };
            self.refill(journal, session, upto, most)?;
        }
        if self.rest.is_empty() {
            return Ok(());
        }
        let count = write(host, conn, &self.rest[self.at..])?;
        self.at += count;
        if self.at == self.rest.len() {
            self.rest.clear();
            self.at = 0;
        } else {
            self.blocked = true;
        }
        Ok(())
    }

    fn refill<D: Disk>(
        &mut self,
        journal: &mut Journal<D>,
        session: JournalId,
        upto: u64,
        most: u64,
    ) -> Result<(), Ending> {
        self.rest.clear();
        self.at = 0;
        let Some(behind) = &mut self.behind else {
            return Ok(());
        };
        let end = behind.end.min(behind.next.saturating_add(most));
        while behind.next < end && behind.next <= upto && self.rest.len() < CHUNK {
            if self
                .cursor
                .as_ref()
                .is_none_or(|cursor| cursor.next_number() != behind.next)
            {
                self.cursor = Some(journal.replay(session, behind.next, u64::MAX));
            }
            let found = match &mut self.cursor {
                Some(cursor) => journal.next_of(cursor),
                None => Ok(None),
            };
            match found {
                Ok(Some(Stored::Message { bytes, .. })) => {
                    let own = self.secrets.iter().find(|kept| kept.0 == behind.next);
                    self.rest
                        .extend_from_slice(own.map_or(bytes, |(_, own)| &own[..]));
                    behind.bytes = behind.bytes.saturating_sub(bytes.len() as u64);
                    behind.next += 1;
                }
                Ok(_) => return Err(Ending::NotStored(behind.next)),
                Err(error) => {
                    journal.report_unread(error);
                    return Err(Ending::NotRead(behind.next));
                }
            }
        }
        if behind.next >= behind.end {
            self.forget();
        }
        Ok(())
    }
}

/// Writes once; a socket that is full accepts nothing.
#[inline]
fn write(host: &mut impl Host, conn: ConnId, bytes: &[u8]) -> Result<usize, Ending> {
    match host.write(conn, bytes) {
        Ok(count) => Ok(count),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(0),
        Err(error) => Err(Ending::of(&error)),
    }
}
