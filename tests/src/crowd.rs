//! A world for an engine with any number of peers, at any address, in virtual time and without sockets.
//!
//! Everything is as cheap as it can be, so that millions of connections fit into a minute.

use std::cell::{RefCell, RefMut};
use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;

use fixwire::host::{ConnId, Dial, Host, ListenerId, Ready, SocketOptions, WakeUp};
use fixwire::journal::Memory;
use fixwire::transport::Transport;
use fixwire_protocol::{Mono, Nanos, Now, Timestamp};

/// 2026-03-02 08:00:00 UTC, when the world begins.
const BEGIN: i64 = 1_772_438_400_000_000_000;
/// Segments of the journal in memory.
const SEGMENTS: usize = 4;

/// The world; clones share it.
#[derive(Clone, Default)]
pub struct Crowd(Rc<RefCell<State>>);

#[derive(Default)]
struct State {
    mono: u64,
    waiting: VecDeque<(ConnId, SocketAddr)>,
    conns: Vec<Option<Conn>>,
    free: Vec<ConnId>,
    /// Connections with something to read.
    hot: Vec<ConnId>,
    /// Connections that take bytes again.
    writable: Vec<ConnId>,
    /// The number of connections that are still open.
    open: usize,
}

/// One connection, as the engine's end sees it.
#[derive(Default)]
struct Conn {
    arriving: VecDeque<u8>,
    sent: Vec<u8>,
    /// Bytes that `sent` holds before the engine must wait.
    room: usize,
    finished: bool,
    closed: bool,
    cut_short: bool,
}

impl Crowd {
    fn state(&self) -> RefMut<'_, State> {
        self.0.borrow_mut()
    }

    /// The clocks.
    pub fn now(&self) -> Now {
        let mono = self.state().mono;
        Now {
            mono: Mono(mono),
            wall: Timestamp(BEGIN.wrapping_add_unsigned(mono)),
        }
    }

    /// Time passes.
    pub fn advance(&self, time: Nanos) {
        self.state().mono += time.0;
    }

    /// A connection from an address; the engine can send `room` bytes until they are taken.
    pub fn connect(&self, from: IpAddr, room: usize) -> ConnId {
        let mut state = self.state();
        let conn = match state.free.pop() {
            Some(conn) => conn,
            None => {
                state.conns.push(None);
                ConnId(state.conns.len() as u32 - 1)
            }
        };
        state.conns[conn.0 as usize] = Some(Conn {
            room,
            ..Conn::default()
        });
        state
            .waiting
            .push_back((conn, SocketAddr::new(from, 40_000)));
        state.open += 1;
        conn
    }

    /// The peer sends bytes.
    pub fn send(&self, conn: ConnId, bytes: &[u8]) {
        let mut state = self.state();
        if let Some(Some(there)) = state.conns.get_mut(conn.0 as usize)
            && !there.closed
        {
            there.arriving.extend(bytes);
            state.hot.push(conn);
        }
    }

    /// The peer takes the bytes sent to it.
    pub fn take(&self, conn: ConnId) -> Vec<u8> {
        let mut state = self.state();
        let Some(Some(there)) = state.conns.get_mut(conn.0 as usize) else {
            return Vec::new();
        };
        let sent = std::mem::take(&mut there.sent);
        if std::mem::replace(&mut there.cut_short, false) {
            state.writable.push(conn);
        }
        sent
    }

    /// The peer goes; its end is forgotten when the engine has closed the other.
    pub fn leave(&self, conn: ConnId) {
        let mut state = self.state();
        let Some(slot) = state.conns.get_mut(conn.0 as usize) else {
            return;
        };
        match slot {
            Some(there) if there.closed => {
                *slot = None;
                state.free.push(conn);
            }
            Some(there) => {
                there.finished = true;
                state.hot.push(conn);
            }
            None => {}
        }
    }

    /// Whether the engine has closed a connection.
    pub fn is_closed(&self, conn: ConnId) -> bool {
        let state = self.state();
        let there = state.conns.get(conn.0 as usize).and_then(Option::as_ref);
        there.is_none_or(|there| there.closed)
    }

    /// Connections that the engine has open, or has not accepted.
    pub fn open(&self) -> usize {
        self.state().open
    }
}

impl Host for Crowd {
    fn now(&mut self) -> Now {
        Self::now(self)
    }

    fn listen(
        &mut self,
        at: SocketAddr,
        _transport: &Transport,
    ) -> io::Result<(ListenerId, SocketAddr)> {
        Ok((ListenerId(0), at))
    }

    fn accept(&mut self, _listener: ListenerId) -> io::Result<Option<(ConnId, SocketAddr)>> {
        let mut state = self.state();
        let next = state.waiting.pop_front();
        if let Some((conn, _)) = next {
            state.hot.push(conn);
        }
        Ok(next)
    }

    fn dial(&mut self, _to: &Dial<'_>) -> io::Result<ConnId> {
        Err(io::ErrorKind::ConnectionRefused.into())
    }

    fn dialled(&mut self, _conn: ConnId) -> io::Result<SocketAddr> {
        Err(io::ErrorKind::ConnectionRefused.into())
    }

    fn tune(&mut self, _conn: ConnId, _options: &SocketOptions) -> io::Result<()> {
        Ok(())
    }

    fn read(&mut self, conn: ConnId, into: &mut [u8]) -> io::Result<usize> {
        let mut state = self.state();
        let Some(Some(there)) = state.conns.get_mut(conn.0 as usize) else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        if there.arriving.is_empty() && !there.finished {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let count = there.arriving.len().min(into.len());
        for (place, byte) in into.iter_mut().zip(there.arriving.drain(..count)) {
            *place = byte;
        }
        Ok(count)
    }

    fn write(&mut self, conn: ConnId, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.state();
        let Some(Some(there)) = state.conns.get_mut(conn.0 as usize) else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        if there.finished {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let count = bytes.len().min(there.room.saturating_sub(there.sent.len()));
        there.sent.extend_from_slice(&bytes[..count]);
        there.cut_short = count < bytes.len();
        match count {
            0 if !bytes.is_empty() => Err(io::ErrorKind::WouldBlock.into()),
            _ => Ok(count),
        }
    }

    fn close(&mut self, conn: ConnId) {
        let mut state = self.state();
        state.open -= 1;
        let Some(slot) = state.conns.get_mut(conn.0 as usize) else {
            return;
        };
        if let Some(there) = slot {
            there.closed = true;
            if there.finished {
                *slot = None;
                state.free.push(conn);
            }
        }
    }

    /// Never sleeps: the test advances the clock.
    fn poll(&mut self, _wait: Nanos, ready: &mut Vec<Ready>) -> io::Result<()> {
        ready.clear();
        let mut state = self.state();
        let State {
            hot,
            conns,
            waiting,
            writable,
            ..
        } = &mut *state;
        ready.extend(writable.drain(..).map(Ready::Write));
        hot.sort_unstable();
        hot.dedup();
        hot.retain(|conn| {
            let there = conns[conn.0 as usize].as_ref();
            there.is_some_and(|it| !it.closed && (it.finished || !it.arriving.is_empty()))
        });
        // A connection that waits to be accepted is not read yet.
        let unknown = |conn: &ConnId| waiting.iter().any(|(other, _)| other == conn);
        ready.extend(
            hot.iter()
                .copied()
                .filter(|conn| !unknown(conn))
                .map(Ready::Read),
        );
        if !waiting.is_empty() {
            ready.push(Ready::Accept(ListenerId(0)));
        }
        Ok(())
    }

    fn wake_up(&self) -> WakeUp {
        Arc::new(|| {})
    }
}

/// A disk for the journal of an engine in a crowd.
pub fn disk() -> Memory {
    Memory::new(SEGMENTS)
}
