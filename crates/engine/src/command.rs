//! Other threads tell the engine what to do: a ring of bytes for each [`Handle`].
//!
//! ```text
//!  byte  size   one command in a ring, pushed as a whole
//!     0     4   bytes after this word
//!     4     1   what: 1 send, 2 log out, 3 stop, 4 log on, 5 reset, 6 send again, 7 remove, 8 add: the
//!               next of `adding`, 9 status: for the next of `asking`, 10 reopen logs
//!     5     4   session
//!     9     1   bytes of MsgType (send only)
//!    10     …   MsgType, then the body's fields; the text of the Logout; the number to send again
//! ```

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use fixwire_protocol::{Body, Outbox, SessionId};
use rtrb::{Consumer, Producer, RingBuffer};

use crate::config::SessionConfig;
use crate::counters::SessionReport;
use crate::error::AddError;
use crate::host::WakeUp;

const SEND: u8 = 1;
const LOG_OUT: u8 = 2;
const STOP: u8 = 3;
const LOG_ON: u8 = 4;
const RESET: u8 = 5;
const SEND_AGAIN: u8 = 6;
const REMOVE: u8 = 7;
const ADD: u8 = 8;
const STATUS: u8 = 9;
const REOPEN_LOGS: u8 = 10;
/// Bytes of a command before MsgType, the length word not counted.
const HEAD: usize = 6;
/// Bytes of a ring; a command must fit in it, so it is at least four messages.
const RING: usize = 256 << 10;

/// Sends messages and commands to an engine from another thread.
///
/// Each clone has a ring of its own, so that threads do not wait for each other. Commands of one
/// handle are carried out in order.
pub struct Handle {
    shared: Arc<Shared>,
    ring: Producer<u8>,
    /// Where messages are written before they go into the ring.
    outbox: Outbox,
    scratch: Vec<u8>,
}

/// Why a command did not reach the engine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum SendError {
    /// The engine is behind by a whole ring: try again later.
    Full,
    /// The message is longer than the engine's `max_message`, or a whole ring.
    TooLong,
    /// The engine has ended.
    Stopped,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the engine has not yet taken the earlier commands of this handle",
            Self::TooLong => "the message is longer than the engine allows",
            Self::Stopped => "the engine has ended",
        })
    }
}

impl std::error::Error for SendError {}

impl Handle {
    /// Sends a message whose body fields `build` writes. It is numbered and journalled when the
    /// engine takes it; the fields of the standard header and trailer are the session's.
    ///
    /// # Errors
    ///
    /// [`SendError`]; nothing is sent then.
    pub fn send(
        &mut self,
        session: SessionId,
        msg_type: &[u8],
        build: impl FnOnce(&mut Body<'_>),
    ) -> Result<(), SendError> {
        self.outbox.clear();
        let mut body = self.outbox.begin(session, msg_type);
        build(&mut body);
        body.finish().map_err(|_| SendError::TooLong)?;
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        scratch.extend_from_slice(self.outbox.body(0));
        let result = self.push(SEND, session, msg_type, &scratch);
        self.scratch = scratch;
        result
    }

    /// Sends a message from the bytes of its body's fields, for example `11=A1|55=X|` with SOH
    /// for `|`. Their order and form is the caller's responsibility.
    ///
    /// # Errors
    ///
    /// [`SendError`]; nothing is sent then.
    pub fn send_fields(
        &mut self,
        session: SessionId,
        msg_type: &[u8],
        fields: &[u8],
    ) -> Result<(), SendError> {
        self.push(SEND, session, msg_type, fields)
    }

    /// Begins the logout of a session; an initiator does not log on again by itself.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn log_out(&mut self, session: SessionId, text: &str) -> Result<(), SendError> {
        self.push(LOG_OUT, session, b"", text.as_bytes())
    }

    /// Lets an initiator connect at once, after a logout or while it pauses between attempts.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn log_on(&mut self, session: SessionId) -> Result<(), SendError> {
        self.push(LOG_ON, session, b"", b"")
    }

    /// Sends the application message that the session sent under this number once more, as a new one
    /// with PossResend(97) = Y: for an order whose fate is unknown, for example because the peer has
    /// lost its state. The peer has to look at the ClOrdID. Nothing is sent, and
    /// [`Event::NotSent`](crate::Event::NotSent) tells so, when the journal has no such message since
    /// the last reset.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    ///
    /// # Source
    ///
    /// FIX 4.4 Volume 2, possible resends.
    pub fn send_again(&mut self, session: SessionId, seq: u64) -> Result<(), SendError> {
        self.push(SEND_AGAIN, session, b"", &seq.to_le_bytes())
    }

    /// Starts the sequence numbers of a session again from 1. While it is logged on, a Logon with
    /// ResetSeqNumFlag(141) asks the peer to do the same, and so does each next Logon of ours, as initiator
    /// or as acceptor, after any end of the connection or of the process, until the peer has confirmed it.
    /// While it is not connected only our side restarts, and no message says so: agree on it with the
    /// peer, or the peer is asked for all that it has sent since its number 1. Where a reset cannot be
    /// done, [`Event::NotReset`](crate::Event::NotReset) tells so.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn reset(&mut self, session: SessionId) -> Result<(), SendError> {
        self.push(RESET, session, b"", b"")
    }

    /// Adds a session, or brings back one that was removed, under the same name and with its numbers.
    /// The answer comes when the engine has carried it out; do not wait for it on the engine's thread.
    ///
    /// # Errors
    ///
    /// [`SendError`]; nothing is added then.
    pub fn add_session(
        &mut self,
        config: SessionConfig,
    ) -> Result<Receiver<Result<SessionId, AddError>>, SendError> {
        let (answer, answers) = channel();
        let waiting = Box::new(Adding { config, answer });
        // Held while the command is pushed, so that commands and sessions come in the same order.
        let shared = Arc::clone(&self.shared);
        let mut adding = shared.adding.lock().unwrap_or_else(PoisonError::into_inner);
        self.push(ADD, SessionId(0), b"", b"")?;
        adding.push_back(waiting);
        Ok(answers)
    }

    /// Removes a session: it is logged out, nobody can log on to it, and its numbers stay in the journal
    /// for [`Handle::add_session`] with the same name. Messages for it wait there too.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn remove_session(&mut self, session: SessionId) -> Result<(), SendError> {
        self.push(REMOVE, session, b"", b"")
    }

    /// How every session stands between two messages, in the order of their ids. The answer comes when
    /// the engine has carried it out; do not wait for it on the engine's thread.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn status(&mut self) -> Result<Receiver<Vec<SessionReport>>, SendError> {
        let (answer, answers) = channel();
        // Held while the command is pushed, so that each command finds who asked.
        let shared = Arc::clone(&self.shared);
        let mut asking = shared.asking.lock().unwrap_or_else(PoisonError::into_inner);
        self.push(STATUS, SessionId(0), b"", b"")?;
        asking.push_back(answer);
        Ok(answers)
    }

    /// Opens the files of message and event logs anew, after somebody has renamed them: what comes from
    /// now on goes into files of the configured names. [`Event::LogReopened`](crate::Event::LogReopened)
    /// says when that is done.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn reopen_logs(&mut self) -> Result<(), SendError> {
        self.push(REOPEN_LOGS, SessionId(0), b"", b"")
    }

    /// Ends the engine: sessions are logged out, then [`Engine::run`](crate::Engine::run) returns.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn stop(&mut self) -> Result<(), SendError> {
        self.push(STOP, SessionId(0), b"", b"")
    }

    fn push(
        &mut self,
        what: u8,
        session: SessionId,
        msg_type: &[u8],
        rest: &[u8],
    ) -> Result<(), SendError> {
        if self.ring.is_abandoned() {
            return Err(SendError::Stopped);
        }
        if what == SEND && rest.len() > self.shared.max_message {
            return Err(SendError::TooLong);
        }
        let Ok(type_len) = u8::try_from(msg_type.len()) else {
            return Err(SendError::TooLong);
        };
        let len = HEAD + msg_type.len() + rest.len();
        if len + 4 > self.ring.buffer().capacity() {
            return Err(SendError::TooLong);
        }
        // One chunk is published as a whole, so the engine never sees part of a command.
        let mut chunk = self
            .ring
            .write_chunk(len + 4)
            .map_err(|_| SendError::Full)?;
        let (first, second) = chunk.as_mut_slices();
        let mut slots = first.iter_mut().chain(second);
        let bytes = (len as u32).to_le_bytes().into_iter().chain([what]);
        let bytes = bytes.chain(session.0.to_le_bytes()).chain([type_len]);
        let bytes = bytes
            .chain(msg_type.iter().copied())
            .chain(rest.iter().copied());
        for (slot, byte) in slots.by_ref().zip(bytes) {
            *slot = byte;
        }
        chunk.commit_all();
        self.shared.wake();
        Ok(())
    }
}

impl Clone for Handle {
    fn clone(&self) -> Self {
        Shared::handle(&self.shared)
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}

/// What handles and engine share.
struct Shared {
    /// Rings that the engine has not seen yet.
    new: Mutex<Vec<Consumer<u8>>>,
    /// How many rings were ever made.
    made: AtomicUsize,
    /// The engine sleeps, or is about to.
    sleeping: AtomicBool,
    /// Sessions that the commands [`ADD`] are about, in their order.
    adding: Mutex<VecDeque<Box<Adding>>>,
    /// Where the answers to the commands [`STATUS`] go, in their order.
    asking: Mutex<VecDeque<Sender<Vec<SessionReport>>>>,
    wake_up: WakeUp,
    max_message: usize,
}

/// A session to add, and where the answer goes.
pub(crate) struct Adding {
    pub(crate) config: SessionConfig,
    pub(crate) answer: Sender<Result<SessionId, AddError>>,
}

impl Shared {
    fn handle(shared: &Arc<Self>) -> Handle {
        let (ring, consumer) = RingBuffer::new(RING.max(4 * shared.max_message));
        let mut new = shared.new.lock().unwrap_or_else(PoisonError::into_inner);
        new.push(consumer);
        shared.made.fetch_add(1, Ordering::Release);
        Handle {
            shared: Arc::clone(shared),
            ring,
            outbox: Outbox::new(2 * shared.max_message, 2, 0),
            scratch: Vec::with_capacity(shared.max_message),
        }
    }

    fn wake(&self) {
        // Pairs with the fence in `Commands::about_to_sleep`: either the engine sees the command or
        // we see that it sleeps.
        fence(Ordering::SeqCst);
        if self.sleeping.load(Ordering::Relaxed) && self.sleeping.swap(false, Ordering::Relaxed) {
            (self.wake_up)();
        }
    }
}

/// One command, borrowed from the engine's scratch memory.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Command<'a> {
    /// What [`Commands::adding`] has.
    Add,
    Remove {
        session: SessionId,
    },
    Send {
        session: SessionId,
        msg_type: &'a [u8],
        fields: &'a [u8],
    },
    LogOn {
        session: SessionId,
    },
    LogOut {
        session: SessionId,
        text: &'a [u8],
    },
    Reset {
        session: SessionId,
    },
    SendAgain {
        session: SessionId,
        seq: u64,
    },
    /// The answer goes to what [`Commands::asking`] has.
    Status,
    ReopenLogs,
    Stop,
}

/// The engine's side of all handles.
pub(crate) struct Commands {
    shared: Arc<Shared>,
    seen: usize,
    rings: Vec<Consumer<u8>>,
    /// Which ring is asked first: each in its turn.
    next: usize,
    scratch: Vec<u8>,
}

impl Commands {
    pub(crate) fn new(wake_up: WakeUp, max_message: usize) -> Self {
        let shared = Shared {
            new: Mutex::new(Vec::new()),
            made: AtomicUsize::new(0),
            sleeping: AtomicBool::new(false),
            adding: Mutex::new(VecDeque::new()),
            asking: Mutex::new(VecDeque::new()),
            wake_up,
            max_message,
        };
        Self {
            shared: Arc::new(shared),
            seen: 0,
            rings: Vec::new(),
            next: 0,
            scratch: vec![0; RING.max(4 * max_message)],
        }
    }

    pub(crate) fn handle(&self) -> Handle {
        Shared::handle(&self.shared)
    }

    /// Takes one command, if there is one.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<Command<'_>> {
        if self.shared.made.load(Ordering::Relaxed) != self.seen {
            self.meet_new_rings();
        }
        for _ in 0..self.rings.len() {
            let at = self.next;
            self.next = if at + 1 < self.rings.len() { at + 1 } else { 0 };
            if self.rings[at].cached_slots() > 0 || self.rings[at].slots() > 0 {
                return self.pop(at);
            }
        }
        None
    }

    /// The session that a [`Command::Add`] is about.
    pub(crate) fn adding(&mut self) -> Option<Box<Adding>> {
        let adding = self.shared.adding.lock();
        adding.unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Where the answer to a [`Command::Status`] goes.
    pub(crate) fn asking(&mut self) -> Option<Sender<Vec<SessionReport>>> {
        let asking = self.shared.asking.lock();
        asking.unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Says that the engine will sleep unless this returns true: a command has come meanwhile.
    pub(crate) fn about_to_sleep(&mut self) -> bool {
        self.shared.sleeping.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let waiting = self.shared.made.load(Ordering::Relaxed) != self.seen
            || self.rings.iter().any(|ring| ring.slots() > 0);
        if waiting {
            self.awake();
        }
        waiting
    }

    pub(crate) fn awake(&mut self) {
        self.shared.sleeping.store(false, Ordering::Relaxed);
    }

    #[cold]
    fn meet_new_rings(&mut self) {
        let mut new = self
            .shared
            .new
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        self.seen = self.shared.made.load(Ordering::Acquire);
        self.rings
            .retain(|ring| !ring.is_abandoned() || ring.slots() > 0);
        self.rings.append(&mut new);
        self.next = 0;
    }

    fn pop(&mut self, at: usize) -> Option<Command<'_>> {
        let ring = &mut self.rings[at];
        let mut len = [0; 4];
        ring.pop_entire_slice(&mut len).ok()?;
        let len = u32::from_le_bytes(len) as usize;
        let scratch = &mut self.scratch[..len];
        ring.pop_entire_slice(scratch).ok()?;
        let session = SessionId(u32::from_le_bytes([
            scratch[1], scratch[2], scratch[3], scratch[4],
        ]));
        let (msg_type, rest) = scratch[HEAD..].split_at(scratch[5] as usize);
        Some(match scratch[0] {
            SEND => Command::Send {
                session,
                msg_type,
                fields: rest,
            },
            ADD => Command::Add,
            STATUS => Command::Status,
            REOPEN_LOGS => Command::ReopenLogs,
            REMOVE => Command::Remove { session },
            LOG_ON => Command::LogOn { session },
            RESET => Command::Reset { session },
            SEND_AGAIN => Command::SendAgain {
                session,
                seq: rest.try_into().map_or(0, u64::from_le_bytes),
            },
            LOG_OUT => Command::LogOut {
                session,
                text: rest,
            },
            _ => Command::Stop,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    fn commands() -> (Commands, Arc<AtomicU32>) {
        let woken = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&woken);
        let wake_up: WakeUp = Arc::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        (Commands::new(wake_up, 1024), woken)
    }

    #[test]
    fn commands_of_one_handle_arrive_in_order_and_of_many_in_turn() {
        let (mut commands, _) = commands();
        let mut a = commands.handle();
        let mut b = a.clone();
        a.send_fields(SessionId(3), b"D", b"11=1\x01").unwrap();
        a.log_out(SessionId(4), "bye").unwrap();
        b.stop().unwrap();
        let send = Command::Send {
            session: SessionId(3),
            msg_type: b"D",
            fields: b"11=1\x01",
        };
        assert_eq!(commands.take(), Some(send));
        assert_eq!(commands.take(), Some(Command::Stop));
        assert_eq!(
            commands.take(),
            Some(Command::LogOut {
                session: SessionId(4),
                text: b"bye"
            })
        );
        assert_eq!(commands.take(), None);
    }

    #[test]
    fn a_full_ring_refuses_and_a_command_is_never_cut() {
        let (mut commands, _) = commands();
        let mut handle = commands.handle();
        let fields = [b'x'; 1000];
        let mut sent = 0;
        while handle.send_fields(SessionId(0), b"D", &fields).is_ok() {
            sent += 1;
        }
        assert_eq!(
            handle.send_fields(SessionId(0), b"D", &fields),
            Err(SendError::Full)
        );
        assert_eq!(
            handle.send_fields(SessionId(0), b"D", &[b'x'; 1025]),
            Err(SendError::TooLong),
            "longer than max_message"
        );
        let endless = "x".repeat(RING);
        assert_eq!(
            handle.log_out(SessionId(0), &endless),
            Err(SendError::TooLong)
        );
        for _ in 0..sent {
            assert!(
                matches!(commands.take(), Some(Command::Send { fields, .. }) if fields.len() == 1000)
            );
        }
        assert_eq!(commands.take(), None);
        handle.send_fields(SessionId(0), b"D", &fields).unwrap();
        drop(commands);
        assert_eq!(handle.stop(), Err(SendError::Stopped));
    }

    #[test]
    fn a_sleeping_engine_is_woken_once_and_a_busy_one_never() {
        let (mut commands, woken) = commands();
        let mut handle = commands.handle();
        assert!(commands.about_to_sleep(), "a new ring must be met first");
        assert_eq!(commands.take(), None);
        handle.stop().unwrap();
        assert_eq!(woken.load(Ordering::Relaxed), 0);
        assert!(commands.about_to_sleep());
        assert_eq!(commands.take(), Some(Command::Stop));
        assert!(!commands.about_to_sleep());
        handle.stop().unwrap();
        handle.stop().unwrap();
        assert_eq!(woken.load(Ordering::Relaxed), 1);
    }
}
