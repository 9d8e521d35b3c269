//! Simulated host: virtual clocks, and a network that splits writes, stalls and breaks, as determined by a seed.
//!
//! Everything happens in one thread and is determined by the seed, so a run can be reproduced exactly. A [`SimHost`]
//! is one machine. Its disk is a [`SimDisk`]; its sockets are ends of the [`SimNet`], which it shares with other
//! machines, or with a peer that a test plays. Each effect of a machine on the world counts as an operation of its
//! disk. After the operation at which [`SimDisk::stop_after`] stops the machine, it has no more effects.

use std::cell::{RefCell, RefMut};
use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;

use fixwire_protocol::{Mono, Nanos, Now, Timestamp};
use fixwire_random::Random;

use super::{ConnId, Dial, Host, ListenerId, Ready, SocketOptions, WakeUp};
use crate::journal::sim::SimDisk;
use crate::transport::Transport;

/// 2026-03-02 08:00:00 UTC, the start time of each world.
const BEGIN: i64 = 1_772_438_400_000_000_000;

/// How the network transports bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Weather {
    /// Whether a read may return any first part of the available bytes.
    pub splits: bool,
    /// Whether a write may accept any first part of its bytes.
    pub cuts: bool,
    /// Capacity of one direction of a connection, bytes.
    pub room: usize,
}

/// A network with its clock. Clones share the network.
#[derive(Clone, Debug)]
pub struct SimNet {
    state: Rc<RefCell<State>>,
}

#[derive(Debug)]
struct State {
    random: Random,
    weather: Weather,
    mono: u64,
    wall_offset: i64,
    /// Whether connection attempts reach a listener.
    reachable: bool,
    /// Number of bytes that machines wrote after a failed sync.
    unsafe_bytes: u64,
    /// Number of writes of all machines.
    writes: u64,
    listeners: Vec<Listener>,
    /// The ends of all connections. End `2 * n` belongs to the initiator of connection `n`, end `2 * n + 1` to its
    /// acceptor.
    ends: Vec<End>,
}

#[derive(Debug)]
struct Listener {
    at: SocketAddr,
    node: u32,
    open: bool,
    waiting: VecDeque<ConnId>,
}

/// One end of a connection, with the bytes sent to it.
#[derive(Debug)]
struct End {
    node: u32,
    arriving: VecDeque<u8>,
    /// Whether the other end has closed the connection, so that the stream ends after `arriving`.
    finished: bool,
    /// Whether reads and writes fail, because the connection is broken.
    broken: bool,
    closed: bool,
    /// Nothing arrives before this time.
    silent_until: u64,
    /// Whether a write was accepted only in part.
    wants_room: bool,
    /// Whether an attempt to connect succeeded, but the machine has not received the event yet.
    dialling: bool,
}

impl State {
    fn end(&mut self, conn: ConnId) -> io::Result<&mut End> {
        let end = self.ends.get_mut(conn.0 as usize);
        end.filter(|end| !end.closed)
            .ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    fn other(&mut self, conn: ConnId) -> &mut End {
        &mut self.ends[(conn.0 ^ 1) as usize]
    }
}

impl End {
    fn new(node: u32) -> Self {
        Self {
            node,
            arriving: VecDeque::new(),
            finished: false,
            broken: false,
            closed: false,
            silent_until: 0,
            wants_room: false,
            dialling: false,
        }
    }

    fn has_news(&self, now: u64) -> bool {
        self.broken || (now >= self.silent_until && (self.finished || !self.arriving.is_empty()))
    }
}

impl SimNet {
    /// A network without connections.
    #[must_use]
    pub fn new(seed: u64, weather: Weather) -> Self {
        let state = State {
            random: Random::new(seed),
            weather,
            mono: 1_000_000_000,
            wall_offset: BEGIN,
            reachable: true,
            unsafe_bytes: 0,
            writes: 0,
            listeners: Vec::new(),
            ends: Vec::new(),
        };
        Self {
            state: Rc::new(RefCell::new(state)),
        }
    }

    fn state(&self) -> RefMut<'_, State> {
        self.state.borrow_mut()
    }

    /// The clocks.
    #[must_use]
    pub fn now(&self) -> Now {
        let state = self.state();
        Now {
            mono: Mono(state.mono),
            wall: Timestamp(state.wall_offset.wrapping_add_unsigned(state.mono)),
        }
    }

    /// Advances the time.
    pub fn advance(&self, time: Nanos) {
        self.state().mono += time.0;
    }

    /// Moves the wall clock by this number of nanoseconds. The monotonic clock does not change.
    pub fn step_wall(&self, nanos: i64) {
        self.state().wall_offset += nanos;
    }

    /// Whether new connections are possible.
    pub fn set_reachable(&self, reachable: bool) {
        self.state().reachable = reachable;
    }

    /// Sets how bytes are transported from now on.
    pub fn set_weather(&self, weather: Weather) {
        self.state().weather = weather;
    }

    /// Opens a listener for a machine.
    pub fn listen(&self, node: u32, at: SocketAddr) -> ListenerId {
        let mut state = self.state();
        state.listeners.push(Listener {
            at,
            node,
            open: true,
            waiting: VecDeque::new(),
        });
        ListenerId(state.listeners.len() as u32 - 1)
    }

    /// Accepts a connection that waits at a listener, if any.
    pub fn accept(&self, listener: ListenerId) -> Option<ConnId> {
        let mut state = self.state();
        let listener = state.listeners.get_mut(listener.0 as usize)?;
        listener.waiting.pop_front()
    }

    /// Connects a machine to a port.
    ///
    /// # Errors
    ///
    /// `ConnectionRefused` when there is no listener or the network is down.
    pub fn connect(&self, node: u32, port: u16) -> io::Result<ConnId> {
        let mut state = self.state();
        let dialler = ConnId(state.ends.len() as u32);
        let reachable = state.reachable;
        let mut listeners = state.listeners.iter_mut();
        let listener = listeners
            .find(|listener| reachable && listener.open && listener.at.port() == port)
            .ok_or(io::ErrorKind::ConnectionRefused)?;
        listener.waiting.push_back(ConnId(dialler.0 + 1));
        let acceptor = listener.node;
        state.ends.push(End::new(node));
        state.ends.push(End::new(acceptor));
        Ok(dialler)
    }

    /// Reads bytes that have arrived at an end. Returns the number of bytes; 0 at the end of the stream.
    ///
    /// # Errors
    ///
    /// `WouldBlock`, `ConnectionReset`, `NotConnected`.
    pub fn read(&self, conn: ConnId, into: &mut [u8]) -> io::Result<usize> {
        let mut state = self.state();
        let (now, splits) = (state.mono, state.weather.splits);
        let end = state.end(conn)?;
        if end.broken {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        if !end.has_news(now) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let there = end.arriving.len().min(into.len());
        let count = if splits && there > 1 {
            1 + state.random.place(there)
        } else {
            there
        };
        let end = state.end(conn)?;
        for (place, byte) in into.iter_mut().zip(end.arriving.drain(..count)) {
            *place = byte;
        }
        Ok(count)
    }

    /// Number of writes by all machines.
    #[must_use]
    pub fn writes(&self) -> u64 {
        self.state().writes
    }

    /// Writes a first part of the bytes to the other end; returns its length.
    ///
    /// # Errors
    ///
    /// `WouldBlock`, `ConnectionReset`, `BrokenPipe`, `NotConnected`.
    pub fn write(&self, conn: ConnId, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.state();
        state.writes += 1;
        let weather = state.weather;
        if state.end(conn)?.broken {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        if state.other(conn).closed {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let free = weather
            .room
            .saturating_sub(state.other(conn).arriving.len());
        let mut count = bytes.len().min(free);
        if weather.cuts && count > 0 && state.random.one_in(4) {
            count = state.random.place(count + 1);
        }
        state.other(conn).arriving.extend(&bytes[..count]);
        state.end(conn)?.wants_room = count < bytes.len();
        if count == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(count)
    }

    /// Closes an end. The other end can read the rest of the stream.
    pub fn close(&self, conn: ConnId) {
        let mut state = self.state();
        if let Ok(end) = state.end(conn) {
            end.closed = true;
            state.other(conn).finished = true;
        }
    }

    /// Breaks a connection: bytes in transit are lost from a random byte on, and both ends fail.
    pub fn reset(&self, conn: ConnId) {
        let mut state = self.state();
        for conn in [conn, ConnId(conn.0 ^ 1)] {
            state.ends[conn.0 as usize].broken = true;
            state.ends[conn.0 as usize].arriving.clear();
        }
    }

    /// Delays all data to this end for a time. The other direction works.
    pub fn silence(&self, conn: ConnId, time: Nanos) {
        let mut state = self.state();
        let until = state.mono + time.0;
        if let Ok(end) = state.end(conn) {
            end.silent_until = until;
        }
    }

    /// Number of bytes that have arrived at an end and were not read.
    #[must_use]
    pub fn unread(&self, conn: ConnId) -> usize {
        self.state().ends[conn.0 as usize].arriving.len()
    }

    /// Whether an end is open and its machine has read everything.
    #[must_use]
    pub fn is_settled(&self, conn: ConnId) -> bool {
        let state = self.state();
        let end = &state.ends[conn.0 as usize];
        end.arriving.is_empty() && !end.broken && !end.finished && !end.closed
    }

    /// Removes a machine and its listeners. Bytes that the machine had written still arrive; with `power`, a random
    /// part of them is lost.
    pub fn crash(&self, node: u32, power: bool) {
        let mut state = self.state();
        for listener in &mut state.listeners {
            listener.open &= listener.node != node;
        }
        for conn in 0..state.ends.len() as u32 {
            if state.ends[conn as usize].node != node || state.ends[conn as usize].closed {
                continue;
            }
            let there = state.other(ConnId(conn)).arriving.len();
            let kept = if power {
                state.random.place(there + 1)
            } else {
                there
            };
            let other = state.other(ConnId(conn));
            other.arriving.truncate(kept);
            other.finished = true;
            state.ends[conn as usize].closed = true;
        }
    }

    /// Open connections of a machine.
    #[must_use]
    pub fn connections(&self, node: u32) -> usize {
        let state = self.state();
        let open = state
            .ends
            .iter()
            .filter(|end| end.node == node && !end.closed);
        open.count()
    }

    /// Number of bytes that machines wrote after a failed sync of their journal.
    #[must_use]
    pub fn bytes_after_failed_sync(&self) -> u64 {
        self.state().unsafe_bytes
    }

    fn ready(&self, node: u32, ready: &mut Vec<Ready>) {
        ready.clear();
        let mut state = self.state();
        let (now, room) = (state.mono, state.weather.room);
        for (at, listener) in state.listeners.iter().enumerate() {
            if listener.node == node && listener.open && !listener.waiting.is_empty() {
                ready.push(Ready::Accept(ListenerId(at as u32)));
            }
        }
        for at in 0..state.ends.len() {
            let free = state.ends[at ^ 1].arriving.len() < room;
            let end = &mut state.ends[at];
            if end.node != node || end.closed {
                continue;
            }
            let conn = ConnId(at as u32);
            if end.dialling {
                ready.push(Ready::Dialled(conn));
                continue;
            }
            if end.wants_room && free {
                end.wants_room = false;
                ready.push(Ready::Write(conn));
            }
            if end.has_news(now) {
                ready.push(Ready::Read(conn));
            }
        }
    }
}

/// One machine of a [`SimNet`].
#[derive(Clone, Debug)]
pub struct SimHost {
    node: u32,
    net: SimNet,
    disk: SimDisk,
}

impl SimHost {
    /// The disk of the machine.
    #[must_use]
    pub fn disk(&self) -> SimDisk {
        self.disk.clone()
    }

    /// A machine with its disk. `node` is the number of the machine in the network.
    #[must_use]
    pub fn new(node: u32, net: &SimNet, disk: &SimDisk) -> Self {
        Self {
            node,
            net: net.clone(),
            disk: disk.clone(),
        }
    }

    /// Counts an operation; fails if the machine is stopped.
    fn step(&self) -> io::Result<()> {
        if self.disk.step() {
            Ok(())
        } else {
            Err(io::Error::other("the machine has stopped"))
        }
    }
}

/// The address of all machines in a simulated network.
const ADDRESS: Ipv4Addr = Ipv4Addr::LOCALHOST;

impl Host for SimHost {
    fn now(&mut self) -> Now {
        self.net.now()
    }

    fn listen(
        &mut self,
        at: SocketAddr,
        _transport: &Transport,
    ) -> io::Result<(ListenerId, SocketAddr)> {
        Ok((self.net.listen(self.node, at), at))
    }

    fn accept(&mut self, listener: ListenerId) -> io::Result<Option<(ConnId, SocketAddr)>> {
        self.step()?;
        let conn = self.net.accept(listener);
        Ok(conn.map(|conn| (conn, SocketAddr::from((ADDRESS, 40_000)))))
    }

    fn dial(&mut self, to: &Dial<'_>) -> io::Result<ConnId> {
        self.step()?;
        let conn = self.net.connect(self.node, to.port)?;
        self.net.state().end(conn)?.dialling = true;
        Ok(conn)
    }

    fn dialled(&mut self, conn: ConnId) -> io::Result<SocketAddr> {
        self.step()?;
        let mut state = self.net.state();
        let end = state.end(conn)?;
        end.dialling = false;
        if end.broken {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        Ok(SocketAddr::from((ADDRESS, 40_000)))
    }

    fn tune(&mut self, _conn: ConnId, _options: &SocketOptions) -> io::Result<()> {
        Ok(())
    }

    fn read(&mut self, conn: ConnId, into: &mut [u8]) -> io::Result<usize> {
        self.step()?;
        self.net.read(conn, into)
    }

    fn write(&mut self, conn: ConnId, bytes: &[u8]) -> io::Result<usize> {
        self.step()?;
        let count = self.net.write(conn, bytes)?;
        if self.disk.sync_has_failed() {
            self.net.state().unsafe_bytes += count as u64;
        }
        Ok(count)
    }

    fn close(&mut self, conn: ConnId) {
        if self.step().is_ok() {
            self.net.close(conn);
        }
    }

    /// Never sleeps: the test advances the clock.
    fn poll(&mut self, _wait: Nanos, ready: &mut Vec<Ready>) -> io::Result<()> {
        self.net.ready(self.node, ready);
        Ok(())
    }

    fn wake_up(&self) -> WakeUp {
        Arc::new(|| {})
    }
}
