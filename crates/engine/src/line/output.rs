//! When bytes are sent: right after their commit, or later from the journal.
//!
//! The journal is the send queue. Committed messages are written from the outbox. When a socket accepts only a part
//! of these messages, or a resend is running, later messages stay in the journal. The session keeps the MsgSeqNum of
//! the first message that stays. When the socket accepts more, the messages are read from the journal in order. So a
//! slow consumer costs disk space, not memory.

use std::io::ErrorKind;
use std::ops::Range;

use fixwire_protocol::repeat::set_sending_time;
use fixwire_protocol::session::is_admin;
use fixwire_protocol::{Mono, MsgSeqNumSource, Nanos, Outbox, Timestamp};

use crate::event::Ending;
use crate::host::{ConnId, Host};
use crate::journal::{Disk, Journal, JournalId, Replay, Stored};

/// Number of bytes read from the journal for one write.
const CHUNK: usize = 32 << 10;

/// The bytes and messages that wait to be sent on one connection.
pub(crate) struct Output {
    /// The end of a write that was accepted only in part: `rest[at..]`.
    rest: Vec<u8>,
    at: usize,
    behind: Option<Behind>,
    /// Waiting messages whose secrets the journal does not have: MsgSeqNum and bytes, as they will be sent.
    secrets: Vec<(u64, Vec<u8>)>,
    /// Reads waiting messages from the journal; `None` while none is being read.
    cursor: Option<Replay>,
    /// Whether the socket accepts nothing, until the host reports that the socket is writable.
    blocked: bool,
    /// Time since which the socket has accepted nothing.
    since: Option<Mono>,
    /// MsgSeqNums of messages that became void by a reset in the same write, if any.
    voided: Option<Range<u64>>,
    /// Whether an event has reported that the peer is a slow consumer.
    pub(crate) is_slow: bool,
}

/// Committed messages that are not written yet.
#[derive(Clone, Copy, Debug)]
struct Behind {
    next: u64,
    /// The MsgSeqNum after the last message.
    end: u64,
    bytes: u64,
}

/// How messages that wait in the journal may be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Maximum number of messages.
    pub(crate) most: u64,
    /// The SendingTime(52) that the messages get; `None`: they keep the SendingTime of their commit.
    pub(crate) sending_time: Option<Timestamp>,
}

/// Which messages may be written now.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Gate {
    /// All messages.
    Open,
    /// Only session messages, because the Logons are not exchanged yet.
    Admin,
    /// A resend up to this MsgSeqNum is running. Only resent messages, new messages up to this MsgSeqNum, and a Logon
    /// may be written; later messages wait for the end of the resend. New messages up to this MsgSeqNum must be
    /// written first, because otherwise the peer would receive their resent copies before them.
    Repeats(u64),
}

impl Output {
    /// `room` is the size of the largest flush. The buffer for the rest of a write has this capacity, so that it
    /// never grows later.
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

    /// Frees the memory of a removed session.
    pub(crate) fn shrink(&mut self) {
        self.reset();
        self.rest = Vec::new();
    }

    /// Handles the end of the connection. Messages that were not sent are in the journal.
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

    /// Keeps a waiting message that has secrets which the journal does not have.
    pub(crate) fn keep_secret(&mut self, seq: u64, bytes: &[u8]) {
        self.secrets.push((seq, bytes.to_vec()));
    }

    /// Handles a reset of the sequence numbers: messages that wait in the journal become void.
    pub(crate) fn void(&mut self) {
        self.forget();
    }

    /// MsgSeqNums of messages that became void as soon as they had to wait, since the last call; `None` if there were
    /// no such messages.
    #[inline]
    pub(crate) fn take_voided(&mut self) -> Option<Range<u64>> {
        self.voided.take()
    }

    /// The MsgSeqNum of the first message that waits in the journal, if any.
    pub(crate) fn first_waiting(&self) -> Option<u64> {
        self.behind.map(|behind| behind.next)
    }

    /// Records that the socket accepts bytes again.
    pub(crate) fn unblock(&mut self) {
        self.blocked = false;
        self.since = None;
    }

    /// When a socket that accepts nothing will have been stalled for too long; `None` while the socket accepts bytes.
    pub(crate) fn stalls_at(&mut self, now: Mono, patience: Nanos) -> Option<Mono> {
        if !self.blocked {
            self.since = None;
            return None;
        }
        Some(*self.since.get_or_insert(now) + patience)
    }

    /// Number of messages that wait in the journal.
    pub(crate) fn waiting(&self) -> u64 {
        self.behind.map_or(0, |behind| behind.end - behind.next)
    }

    /// Makes a message wait in the journal, even if it could be written.
    pub(crate) fn defer_entry(&mut self, outbox: &Outbox, index: usize) {
        self.defer(outbox.entries()[index].seq, outbox.sealed(index).len());
    }

    /// Whether the socket has accepted fewer bytes than it was given.
    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// Whether messages wait for the socket.
    #[inline]
    pub(crate) fn has_backlog(&self) -> bool {
        !self.rest.is_empty() || self.behind.is_some()
    }

    /// Whether anything can be written now: waiting messages, or messages of a resend.
    pub(crate) fn can_write(&self, gate: Gate, resends: bool) -> bool {
        let stored = self.behind_within(gate);
        !self.blocked && (!self.rest.is_empty() || stored || resends)
    }

    /// Whether a message that waits in the journal may be written.
    pub(crate) fn behind_within(&self, gate: Gate) -> bool {
        self.behind.is_some_and(|behind| match gate {
            Gate::Open => true,
            Gate::Admin => false,
            Gate::Repeats(upto) => behind.next <= upto,
        })
    }

    /// Bytes of the messages that wait in the journal.
    pub(crate) fn lag(&self) -> u64 {
        self.behind.map_or(0, |behind| behind.bytes)
    }

    /// Bytes that wait in the journal because the peer reads slowly. With a rate limit (`is_paced`), bytes wait for the
    /// limit while the socket accepts more, and the peer is not the cause.
    pub(crate) fn lag_of_peer(&self, is_paced: bool) -> u64 {
        match is_paced && !self.blocked {
            true => 0,
            false => self.lag(),
        }
    }

    /// Number of bytes that a write did not accept; and the MsgSeqNum of the first message that waits in the journal
    /// after them.
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
        // The rare case: handle one message at a time.
        for index in run {
            let entry = &outbox.entries()[index];
            if entry.is_discarded() {
                continue;
            }
            let allowed = match (gate, entry.number) {
                (_, MsgSeqNumSource::Fixed(_)) => true,
                (Gate::Open, MsgSeqNumSource::Next) => self.behind.is_none(),
                // For a refused Logon, the Reject and the Logout are sent even if other messages wait.
                (Gate::Admin, MsgSeqNumSource::Next) => is_admin(entry.msg_type()),
                // Nothing may be written before a Logon: with NextExpectedMsgSeqNum(789), a resend can begin in the
                // turn of the Logon.
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

    /// Keeps what is needed to continue after a write that accepted only `count` bytes of several messages.
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
            // The sequence numbers were reset in the same write. The waiting messages got their MsgSeqNums before the
            // reset.
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

    /// Writes what waits: first the rest of the last write, then messages from the journal, as far as `gate` and
    /// `pace` allow.
    pub(crate) fn pump<D: Disk>(
        &mut self,
        host: &mut impl Host,
        conn: ConnId,
        journal: &mut Journal<D>,
        session: JournalId,
        gate: Gate,
        pace: Pace,
    ) -> Result<(), Ending> {
        if self.blocked {
            return Ok(());
        }
        if self.rest.is_empty() && self.behind_within(gate) {
            let upto = match gate {
                Gate::Repeats(upto) => upto,
                Gate::Open | Gate::Admin => u64::MAX,
            };
            self.refill(journal, session, upto, pace)?;
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
        pace: Pace,
    ) -> Result<(), Ending> {
        self.rest.clear();
        self.at = 0;
        let Some(behind) = &mut self.behind else {
            return Ok(());
        };
        let end = behind.end.min(behind.next.saturating_add(pace.most));
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
                    let start = self.rest.len();
                    self.rest
                        .extend_from_slice(own.map_or(bytes, |(_, own)| &own[..]));
                    if let Some(time) = pace.sending_time {
                        set_sending_time(&mut self.rest[start..], time)
                            .map_err(|_| Ending::NotStored(behind.next))?;
                    }
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

/// Writes once. A full socket accepts 0 bytes.
#[inline]
fn write(host: &mut impl Host, conn: ConnId, bytes: &[u8]) -> Result<usize, Ending> {
    match host.write(conn, bytes) {
        Ok(count) => Ok(count),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(0),
        Err(error) => Err(Ending::of(&error)),
    }
}
