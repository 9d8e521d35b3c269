//! The network of a peer: simulated, or the system's.

use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fixwire::host::sim::SimNet;
use fixwire::host::{ConnId, ListenerId};
use fixwire::protocol::{Mono, Now, Timestamp};

/// The number of all peers in a simulated network; machines have others.
const NODE: u32 = 0;

/// A network, and the clocks of its users. No call here waits.
pub trait Net {
    /// The clocks.
    fn now(&self) -> Now;
    /// Takes connections at an address.
    fn listen(&self, at: SocketAddr) -> ListenerId;
    /// A connection that waits at a listener.
    fn accept(&self, listener: ListenerId) -> Option<ConnId>;
    /// Connects to a port of this machine.
    ///
    /// # Errors
    ///
    /// When the address has no listener.
    fn connect(&self, port: u16) -> io::Result<ConnId>;
    /// Reads the bytes that have arrived; 0 at the end of the stream.
    ///
    /// # Errors
    ///
    /// `WouldBlock` when no byte has arrived; any other error means that the connection has failed.
    fn read(&self, conn: ConnId, into: &mut [u8]) -> io::Result<usize>;
    /// Writes a first part of the bytes.
    ///
    /// # Errors
    ///
    /// `WouldBlock` when there is no room; any other error means that the connection has failed.
    fn write(&self, conn: ConnId, bytes: &[u8]) -> io::Result<usize>;
    /// Closes a connection in good order.
    fn close(&self, conn: ConnId);
    /// Breaks a connection: what is on its way is lost.
    fn reset(&self, conn: ConnId);
}

/// Whether a connection is open and both ends have read all that was written.
pub fn nothing_travels(net: &SimNet, conn: Option<ConnId>) -> bool {
    conn.is_some_and(|conn| {
        [conn, ConnId(conn.0 ^ 1)]
            .iter()
            .all(|&end| net.is_settled(end))
    })
}

impl Net for SimNet {
    fn now(&self) -> Now {
        Self::now(self)
    }

    fn listen(&self, at: SocketAddr) -> ListenerId {
        Self::listen(self, NODE, at)
    }

    fn accept(&self, listener: ListenerId) -> Option<ConnId> {
        Self::accept(self, listener)
    }

    fn connect(&self, port: u16) -> io::Result<ConnId> {
        Self::connect(self, NODE, port)
    }

    fn read(&self, conn: ConnId, into: &mut [u8]) -> io::Result<usize> {
        Self::read(self, conn, into)
    }

    fn write(&self, conn: ConnId, bytes: &[u8]) -> io::Result<usize> {
        Self::write(self, conn, bytes)
    }

    fn close(&self, conn: ConnId) {
        Self::close(self, conn);
    }

    fn reset(&self, conn: ConnId) {
        Self::reset(self, conn);
    }
}

/// The network of the system, on the loopback.
#[derive(Debug)]
pub struct Tcp {
    began: Instant,
    listeners: RefCell<Vec<TcpListener>>,
    conns: RefCell<Vec<Option<TcpStream>>>,
}

impl Default for Tcp {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            listeners: RefCell::default(),
            conns: RefCell::default(),
        }
    }
}

impl Tcp {
    fn add(&self, stream: TcpStream) -> io::Result<ConnId> {
        stream.set_nonblocking(true)?;
        stream.set_nodelay(true)?;
        let mut conns = self.conns.borrow_mut();
        conns.push(Some(stream));
        Ok(ConnId(conns.len() as u32 - 1))
    }

    fn with<T>(
        &self,
        conn: ConnId,
        act: impl FnOnce(&mut TcpStream) -> io::Result<T>,
    ) -> io::Result<T> {
        match &mut self.conns.borrow_mut()[conn.0 as usize] {
            Some(stream) => act(stream),
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

impl Net for Tcp {
    fn now(&self) -> Now {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH);
        Now {
            // Peers treat the time 0 as long ago.
            mono: Mono(1_000_000_000 + self.began.elapsed().as_nanos() as u64),
            wall: Timestamp(wall.map_or(0, |since| since.as_nanos() as i64)),
        }
    }

    fn listen(&self, at: SocketAddr) -> ListenerId {
        let listener = TcpListener::bind(at).expect("the port is free");
        listener.set_nonblocking(true).expect("it need not wait");
        let mut listeners = self.listeners.borrow_mut();
        listeners.push(listener);
        ListenerId(listeners.len() as u32 - 1)
    }

    fn accept(&self, listener: ListenerId) -> Option<ConnId> {
        let accepted = self.listeners.borrow()[listener.0 as usize].accept();
        self.add(accepted.ok()?.0).ok()
    }

    fn connect(&self, port: u16) -> io::Result<ConnId> {
        let at = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        self.add(TcpStream::connect_timeout(&at, Duration::from_secs(1))?)
    }

    fn read(&self, conn: ConnId, into: &mut [u8]) -> io::Result<usize> {
        self.with(conn, |stream| stream.read(into))
    }

    fn write(&self, conn: ConnId, bytes: &[u8]) -> io::Result<usize> {
        self.with(conn, |stream| stream.write(bytes))
    }

    fn close(&self, conn: ConnId) {
        self.conns.borrow_mut()[conn.0 as usize] = None;
    }

    fn reset(&self, conn: ConnId) {
        self.close(conn);
    }
}
