//! Commands of other threads to the engine: a ring of bytes for each [`Handle`].
//!
//! ```text
//!  byte  size   one command in a ring, pushed as a whole
//!     0     4   bytes after this word
//!     4     1   what: 1 send, 2 log out, 3 stop, 4 log on, 5 reset, 6 send again, 7 remove, 8 a request, 9 reopen
//!               logs
//!     5     4   session
//!     9     1   bytes of MsgType (send only)
//!    10     …   MsgType, then the body's fields; the text of the Logout; the MsgSeqNum to send again; the index of the
//!               request among `requests`
//! ```

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fixwire_protocol::{Body, SessionId};
use rtrb::{Consumer, Producer, RingBuffer};

use crate::config::SessionConfig;
use crate::counters::{LinkReport, SessionReport};
use crate::error::AddError;
use crate::handle::{Handle, SendError};
use crate::host::WakeUp;
use crate::operation::{Operation, OperationError, Operator};
use crate::permit::PermissionRequest;

pub(crate) const SEND: u8 = 1;
pub(crate) const LOG_OUT: u8 = 2;
pub(crate) const STOP: u8 = 3;
pub(crate) const LOG_ON: u8 = 4;
pub(crate) const RESET: u8 = 5;
pub(crate) const SEND_AGAIN: u8 = 6;
pub(crate) const REMOVE: u8 = 7;
pub(crate) const REQUEST: u8 = 8;
pub(crate) const REOPEN_LOGS: u8 = 9;
/// Size of a command's header before MsgType, bytes.
const HEAD: usize = 10;
/// Size of a ring, bytes. A command must fit into the ring, so a ring has room for at least four messages.
const RING: usize = 256 << 10;

/// State shared by handles and engine.
pub(crate) struct Shared {
    /// Rings that handles have created and the engine has not taken over yet.
    new: Mutex<Vec<Consumer<u8>>>,
    /// Number of rings created so far.
    made: AtomicUsize,
    /// Whether the engine sleeps or is about to sleep.
    sleeping: AtomicBool,
    /// The requests to which [`REQUEST`] commands refer, by index.
    requests: Mutex<Requests>,
    /// All current and former sessions, by name.
    pub(crate) names: Mutex<HashMap<Box<str>, SessionId>>,
    wake_up: WakeUp,
    pub(crate) max_message: usize,
    /// Maximum length of the fields of a message, which leaves room for header and trailer.
    max_body: usize,
}

/// Requests that wait for the engine, by index.
#[derive(Default)]
struct Requests {
    waiting: HashMap<u64, Request>,
    next: u64,
    /// Whether the engine has ended and accepts no more requests.
    ended: bool,
}

/// A request of a [`Handle`], with the channel for the answer. The caller may have stopped waiting for the answer.
pub(crate) enum Request {
    Add {
        config: Box<SessionConfig>,
        answer: Sender<Result<SessionId, AddError>>,
    },
    Status {
        answer: Sender<Vec<SessionReport>>,
    },
    Links {
        answer: Sender<Vec<LinkReport>>,
    },
    StatusOf {
        session: SessionId,
        answer: Sender<Option<SessionReport>>,
    },
    Operate {
        session: SessionId,
        operation: Operation,
        by: Operator,
        answer: Sender<Result<(), OperationError>>,
    },
    Query {
        query: Box<[u8]>,
        answer: Sender<Result<Vec<u8>, OperationError>>,
    },
    Command {
        command: Box<[u8]>,
        by: Operator,
        answer: Sender<Result<Vec<u8>, OperationError>>,
    },
    Permit {
        asked: PermissionRequest,
        answer: Sender<Result<(), OperationError>>,
    },
    Refused {
        what: String,
    },
}

impl Shared {
    /// Creates a ring, and returns the handle's end. The engine takes over the other end in its next turn.
    pub(crate) fn ring(&self) -> Producer<u8> {
        let (ring, consumer) = RingBuffer::new(RING.max(4 * self.max_message));
        let mut new = self.new.lock().unwrap_or_else(PoisonError::into_inner);
        // After the engine has ended, no one takes over the other end of the ring.
        if !self.requests().ended {
            new.push(consumer);
            self.made.fetch_add(1, Ordering::Release);
        }
        ring
    }

    fn requests(&self) -> MutexGuard<'_, Requests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a request and returns its index; `None` when the engine has ended.
    pub(crate) fn wait(&self, request: Request) -> Option<u64> {
        let mut requests = self.requests();
        if requests.ended {
            return None;
        }
        requests.next += 1;
        let number = requests.next;
        requests.waiting.insert(number, request);
        Some(number)
    }

    /// Takes a request, which the caller then answers or drops; `None` when the request was already taken.
    pub(crate) fn take(&self, number: u64) -> Option<Request> {
        self.requests().waiting.remove(&number)
    }

    fn wake(&self) {
        // Pairs with the fence in `Commands::about_to_sleep`. Thanks to the two fences, the engine sees the command,
        // or this thread sees that the engine sleeps.
        fence(Ordering::SeqCst);
        if self.sleeping.load(Ordering::Relaxed) && self.sleeping.swap(false, Ordering::Relaxed) {
            (self.wake_up)();
        }
    }
}

/// Publishes one complete command.
pub(crate) fn push(
    ring: &mut Producer<u8>,
    shared: &Shared,
    what: u8,
    session: SessionId,
    msg_type: &[u8],
    rest: &[u8],
) -> Result<(), SendError> {
    if ring.is_abandoned() {
        return Err(SendError::Stopped);
    }
    let most = shared.max_message.min(ring.buffer().capacity() - HEAD);
    if what == SEND && rest.len() > most.min(shared.max_body) {
        return Err(SendError::TooLong(most));
    }
    let Ok(type_len) = u8::try_from(msg_type.len()) else {
        return Err(SendError::TooLong(usize::from(u8::MAX)));
    };
    let len = HEAD + msg_type.len() + rest.len();
    if len > ring.buffer().capacity() {
        return Err(SendError::TooLong(most));
    }
    let mut head = [0; HEAD];
    head[..4].copy_from_slice(&((len - 4) as u32).to_le_bytes());
    head[4] = what;
    head[5..9].copy_from_slice(&session.0.to_le_bytes());
    head[9] = type_len;
    // One chunk is published as a whole, so the engine never sees part of a command.
    let mut chunk = ring.write_chunk(len).map_err(|_| SendError::Full)?;
    let mut room = chunk.as_mut_slices();
    for part in [&head, msg_type, rest] {
        room = put(room, part);
    }
    chunk.commit_all();
    shared.wake();
    Ok(())
}

/// Copies a part of a command into a ring's free space, which has two pieces. Returns the space that is left.
fn put<'a>(
    (first, second): (&'a mut [u8], &'a mut [u8]),
    part: &[u8],
) -> (&'a mut [u8], &'a mut [u8]) {
    let (here, there) = part.split_at(part.len().min(first.len()));
    let (taken, first) = first.split_at_mut(here.len());
    taken.copy_from_slice(here);
    let (taken, second) = second.split_at_mut(there.len());
    taken.copy_from_slice(there);
    (first, second)
}

/// One command, borrowed from the engine's scratch memory.
#[derive(Debug, Eq, PartialEq)]
pub(crate) enum Command<'a> {
    /// The request with this index; [`Commands::request`] returns it.
    Request {
        number: u64,
    },
    Remove {
        session: SessionId,
    },
    Send {
        session: SessionId,
        msg_type: &'a [u8],
        /// The fields of the message. [`Commands::take_fields`] must read them before the next command is taken.
        fields: Fields,
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
    ReopenLogs,
    Stop,
}

/// Fields of a message that are still in a handle's ring.
#[derive(Debug, Eq, PartialEq)]
#[must_use]
pub(crate) struct Fields {
    ring: usize,
    len: usize,
}

/// The engine's ends of the rings of all handles.
pub(crate) struct Commands {
    shared: Arc<Shared>,
    seen: usize,
    rings: Vec<Consumer<u8>>,
    /// The ring to read first. Rings are read in rotation.
    next: usize,
    scratch: Vec<u8>,
}

impl Commands {
    /// `max_body` is the maximum length of the fields of a message, bytes.
    pub(crate) fn new(wake_up: WakeUp, max_message: usize, max_body: usize) -> Self {
        let shared = Shared {
            new: Mutex::new(Vec::new()),
            made: AtomicUsize::new(0),
            sleeping: AtomicBool::new(false),
            requests: Mutex::default(),
            names: Mutex::new(HashMap::new()),
            wake_up,
            max_message,
            max_body,
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
        Handle::new(&self.shared)
    }

    /// Takes the next command, if any.
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

    /// Moves the fields of a message from their ring to the end of a body.
    #[inline]
    pub(crate) fn take_fields(&mut self, fields: Fields, body: &mut Body<'_>) {
        if let Ok(chunk) = self.rings[fields.ring].read_chunk(fields.len) {
            let (first, second) = chunk.as_slices();
            body.encoded_parts([first, second]);
            chunk.commit_all();
        }
    }

    /// The request for a [`Command::Request`]; `None` when the request was already taken.
    pub(crate) fn request(&mut self, number: u64) -> Option<Request> {
        self.shared.take(number)
    }

    /// Stops accepting requests. Callers that wait for an answer get an error, and so do later callers.
    pub(crate) fn end(&mut self) {
        let mut requests = self.shared.requests();
        requests.ended = true;
        requests.waiting.clear();
    }

    /// Makes a session known, so that handles find it by this name.
    pub(crate) fn know(&mut self, name: &str, session: SessionId) {
        let names = self.shared.names.lock();
        let mut names = names.unwrap_or_else(PoisonError::into_inner);
        names.insert(name.into(), session);
    }

    /// Announces that the engine is about to sleep. Returns true when a command has arrived, so that the engine must
    /// not sleep.
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
        let mut head = [0; HEAD];
        ring.pop_entire_slice(&mut head).ok()?;
        let [a, b, c, d, what, session @ .., type_len] = head;
        let type_len = usize::from(type_len);
        let rest_len = u32::from_le_bytes([a, b, c, d]) as usize + 4 - HEAD - type_len;
        let in_scratch = if what == SEND { type_len } else { rest_len };
        let rest = &mut self.scratch[..in_scratch];
        ring.pop_entire_slice(rest).ok()?;
        let rest = &*rest;
        let session = SessionId(u32::from_le_bytes(session));
        Some(match what {
            SEND => Command::Send {
                session,
                msg_type: rest,
                fields: Fields {
                    ring: at,
                    len: rest_len,
                },
            },
            REQUEST => Command::Request {
                number: rest.try_into().map_or(0, u64::from_le_bytes),
            },
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

impl Drop for Commands {
    fn drop(&mut self) {
        self.end();
        let new = self.shared.new.lock();
        new.unwrap_or_else(PoisonError::into_inner).clear();
    }
}

#[cfg(test)]
mod tests {
    use fixwire_protocol::Outbox;
    use std::sync::atomic::AtomicU32;

    use super::*;

    fn commands() -> (Commands, Arc<AtomicU32>) {
        let woken = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&woken);
        let wake_up: WakeUp = Arc::new(move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        (Commands::new(wake_up, 1024, 1000), woken)
    }

    /// The next message to send: session, MsgType and fields.
    fn taken(commands: &mut Commands) -> String {
        let Some(Command::Send {
            session,
            msg_type,
            fields,
        }) = commands.take()
        else {
            return "none".to_owned();
        };
        let mut outbox = Outbox::new(4096, 1, 0);
        let mut body = outbox.begin(session, msg_type);
        commands.take_fields(fields, &mut body);
        body.finish().unwrap();
        let msg_type = String::from_utf8_lossy(outbox.msg_type(0)).into_owned();
        let fields = String::from_utf8_lossy(outbox.body(0)).replace('\x01', "|");
        format!("{} {msg_type} {fields}", session.0)
    }

    #[test]
    fn commands_of_one_handle_arrive_in_order_and_of_many_in_turn() {
        let (mut commands, _) = commands();
        let mut a = commands.handle();
        let mut b = a.clone();
        a.send_fields(SessionId(3), b"D", b"11=1\x01").unwrap();
        a.log_out(SessionId(4), "bye").unwrap();
        b.stop().unwrap();
        assert_eq!(taken(&mut commands), "3 D 11=1|");
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
    fn messages_pass_whole_wherever_the_ring_begins_anew() {
        let (mut commands, _) = commands();
        let mut handle = commands.handle();
        let mut bytes = 0;
        for length in (0..990).step_by(7).cycle() {
            let fields = format!("58={}{length}\x01", "x".repeat(length));
            handle
                .send_fields(SessionId(1), b"AE", fields.as_bytes())
                .unwrap();
            let sent = format!("1 AE {}", fields.replace('\x01', "|"));
            assert_eq!(taken(&mut commands), sent);
            bytes += HEAD + fields.len();
            if bytes > 20 * RING {
                return;
            }
        }
    }

    #[test]
    fn a_full_ring_refuses_and_a_command_is_never_cut() {
        let (mut commands, _) = commands();
        let mut handle = commands.handle();
        let mut fields = [b'x'; 1000];
        fields[999] = 1;
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
            Err(SendError::TooLong(1024)),
            "longer than max_message"
        );
        let endless = "x".repeat(RING);
        assert_eq!(
            handle.log_out(SessionId(0), &endless),
            Err(SendError::TooLong(1024))
        );
        for _ in 0..sent {
            assert_eq!(taken(&mut commands), format!("0 D {}|", "x".repeat(999)));
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
