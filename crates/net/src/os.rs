//! The operating system as a host. Sockets of this host do not block; they are polled by epoll, or read without
//! polling.
//!
//! If the engine never sleeps and has few connections, it reads all of them in each turn without polling. Then there is
//! only one system call between the peer's bytes and the parser. Connections that are read without polling are not
//! registered with the poller, which saves work for each packet. The poller is asked every [`DIRECT_TURNS`] turns for
//! new connections. In all other cases one poll in each turn reports which connections are ready.

mod announce;
mod dial;
mod guarded;
mod one_way;
mod resolve;
mod tunnel;

use std::io::{self, ErrorKind, Read};
use std::net::{Shutdown, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fixwire_protocol::{Mono, Nanos, Now, Timestamp};
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token, Waker};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use socket2::{Domain, Protocol, SockRef, Type};

pub use self::announce::{AnnounceFault, Announced, parse as read_proxy_header};
use self::dial::Plan;
use self::guarded::{Before, Guarded};
use self::one_way::{OneWay, Waste};
use self::resolve::Resolver;
pub use self::tunnel::{Tunnel, TunnelAnswer};
use super::{ConnId, Dial, Host, ListenerId, PeerInfo, Ready, SocketOptions, Wait, WakeUp};
use crate::descriptors::{Purpose, check_reserve};
use crate::tls::Tls;
use crate::transport::Transport;

/// Up to this number of connections, the connections are read without polling.
const DIRECT_CONNECTIONS: usize = 8;
/// Number of turns between two polls while connections are read without polling.
const DIRECT_TURNS: u32 = 128;
/// Maximum number of unread bytes that are discarded when a connection is closed. Otherwise closing would reset the
/// connection.
const DRAIN: usize = 64 << 10;

/// Time in nanoseconds for which one reading of the wall clock is used. A change of the wall clock is noticed after
/// this time at the latest, and most turns of a spinning engine read one clock instead of two.
const SYNC_CLOCKS: u64 = 500_000;

/// Number of connections that the system completes while the engine does not accept them.
const BACKLOG: i32 = 1024;

const WAKE: Token = Token(usize::MAX);
/// Token of the first listener. Tokens of connections are lower.
const LISTENERS: usize = 1 << 40;

/// Sockets, clocks and files of the operating system.
pub struct Os {
    start: Instant,
    /// Both clocks when the wall clock was last read.
    synced: Now,
    poll: Poll,
    events: Events,
    waker: Arc<Waker>,
    never_sleeps: bool,
    turns: u32,
    sockets: Vec<Option<Socket>>,
    free: Vec<u32>,
    /// Established connections, in any order.
    open: Vec<ConnId>,
    /// Connections that may be readable. `Socket::readable` tells whether they are.
    hot: Vec<ConnId>,
    /// Connections that accept more data after a partial write.
    unblocked: Vec<ConnId>,
    /// Connection attempts whose result has not been reported yet.
    outcomes: Vec<ConnId>,
    /// Outgoing connections that wait until the peer has finished the handshake, each with its time limit.
    pausing: Vec<(ConnId, Instant)>,
    listeners: Vec<Listener>,
    /// Connections with bytes that were read but are still in the kernel's buffer.
    untaken: Vec<ConnId>,
    waste: Waste,
    resolver: Resolver,
    /// Distinguishes the connection from an earlier connection with the same index.
    generation: u32,
}

struct Listener {
    socket: TcpListener,
    ready: bool,
    tls: Option<Tls>,
    /// Whether each connection begins with a PROXY header.
    announced: bool,
}

struct Socket {
    link: Link,
    generation: u32,
    readable: bool,
    /// Whether reading is paused.
    held: bool,
    /// Whether the peer will send no more data. In this case data may follow a short read.
    ending: bool,
    /// Whether the last write was partial.
    blocked: bool,
    /// Whether the connection is registered with the poller.
    watched: bool,
    one_way: OneWay,
    /// The address of the client, if it is not the address of the connection.
    client: Option<SocketAddr>,
}

/// The state of a connection. A plain TCP connection is [`Link::Open`] and has no extra cost.
enum Link {
    Resolving(Box<Plan>),
    Connecting {
        stream: TcpStream,
        to: SocketAddr,
        others: Vec<SocketAddr>,
        plan: Box<Plan>,
    },
    /// An outgoing connection during its proxy or TLS handshake. The flag is true when the connection is established.
    Settling(Box<Guarded>, SocketAddr, bool),
    Open(TcpStream),
    /// An open connection that uses TLS, or whose PROXY header is still to come.
    Guarded(Box<Guarded>),
    Failed(Option<io::Error>),
}

impl Link {
    /// The stream of an open connection.
    fn stream(&mut self) -> Option<&mut TcpStream> {
        match self {
            Self::Open(stream) => Some(stream),
            Self::Guarded(guarded) => Some(&mut guarded.stream),
            _ => None,
        }
    }
}

impl Os {
    /// A host without connections. The idle strategy decides how sockets are polled.
    ///
    /// # Errors
    ///
    /// An error when the system cannot create a poller.
    pub fn new(wait: Wait) -> io::Result<Self> {
        let poll = Poll::new()?;
        let waker = Arc::new(Waker::new(poll.registry(), WAKE)?);
        Ok(Self {
            start: Instant::now(),
            synced: Now {
                wall: Timestamp(0),
                mono: Mono(0),
            },
            poll,
            events: Events::with_capacity(1024),
            waker,
            never_sleeps: wait != Wait::Block,
            turns: 0,
            sockets: Vec::new(),
            free: Vec::new(),
            open: Vec::new(),
            hot: Vec::new(),
            unblocked: Vec::new(),
            outcomes: Vec::new(),
            pausing: Vec::new(),
            listeners: Vec::new(),
            untaken: Vec::new(),
            waste: Waste::default(),
            resolver: Resolver::new(),
            generation: 0,
        })
    }

    fn socket(&mut self, conn: ConnId) -> Option<&mut Socket> {
        self.sockets.get_mut(conn.0 as usize)?.as_mut()
    }

    fn insert(&mut self, link: Link) -> ConnId {
        self.generation = self.generation.wrapping_add(1);
        let socket = Socket {
            link,
            generation: self.generation,
            readable: false,
            held: false,
            ending: false,
            blocked: false,
            watched: false,
            one_way: OneWay::default(),
            client: None,
        };
        match self.free.pop() {
            Some(index) => {
                self.sockets[index as usize] = Some(socket);
                ConnId(index)
            }
            None => {
                self.sockets.push(Some(socket));
                ConnId(self.sockets.len() as u32 - 1)
            }
        }
    }

    /// Whether there are so few connections that they are read without polling.
    fn is_direct(&self) -> bool {
        self.never_sleeps && self.open.len() <= DIRECT_CONNECTIONS
    }

    /// Records that a connection is established. From now on it is read.
    fn opened(&mut self, conn: ConnId) -> io::Result<()> {
        self.open.push(conn);
        self.heat(conn);
        if self.is_direct() {
            return self.unwatch(conn);
        }
        for at in 0..self.open.len() {
            self.watch(self.open[at])?;
        }
        Ok(())
    }

    /// Registers an open connection with the poller. The poller reports data at once that has already arrived.
    fn watch(&mut self, conn: ConnId) -> io::Result<()> {
        let Self { poll, sockets, .. } = self;
        if let Some(Some(socket)) = sockets.get_mut(conn.0 as usize)
            && !socket.watched
            && let Some(stream) = socket.link.stream()
        {
            register(poll, conn, stream)?;
            socket.watched = true;
        }
        Ok(())
    }

    fn unwatch(&mut self, conn: ConnId) -> io::Result<()> {
        let Self { poll, sockets, .. } = self;
        if let Some(Some(socket)) = sockets.get_mut(conn.0 as usize)
            && std::mem::replace(&mut socket.watched, false)
            && let Some(stream) = socket.link.stream()
        {
            poll.registry().deregister(stream)?;
        }
        Ok(())
    }

    /// Retries partial writes of connections that are not registered with the poller.
    fn unblock_unwatched(&mut self) {
        let Self {
            open,
            sockets,
            unblocked,
            ..
        } = self;
        for conn in open {
            if let Some(Some(socket)) = sockets.get_mut(conn.0 as usize)
                && !socket.watched
                && socket.blocked
                && socket.flushes()
            {
                unblocked.push(*conn);
            }
        }
    }

    fn heat(&mut self, conn: ConnId) {
        if let Some(socket) = self.socket(conn)
            && !socket.readable
            && !socket.held
        {
            socket.readable = true;
            self.hot.push(conn);
        }
    }

    fn ask_poller(&mut self, wait: Nanos) -> io::Result<()> {
        let timeout = Duration::from_nanos(wait.0);
        match self.poll.poll(&mut self.events, Some(timeout)) {
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            result => result?,
        }
        let events = std::mem::replace(&mut self.events, Events::with_capacity(0));
        for event in &events {
            let token = event.token();
            if token == WAKE {
                continue;
            }
            if token.0 >= LISTENERS {
                if let Some(listener) = self.listeners.get_mut(token.0 - LISTENERS) {
                    listener.ready = true;
                }
                continue;
            }
            let conn = ConnId(token.0 as u32);
            let Some(socket) = self.socket(conn) else {
                continue;
            };
            if !matches!(socket.link, Link::Open(_) | Link::Guarded(_)) {
                self.connecting(conn);
                continue;
            }
            socket.ending |= event.is_read_closed() || event.is_error();
            if event.is_writable() && socket.blocked && socket.flushes() {
                self.unblocked.push(conn);
            }
            if event.is_readable() || event.is_read_closed() || event.is_error() {
                self.heat(conn);
            }
        }
        self.events = events;
        Ok(())
    }
}

impl Socket {
    /// Whether a partial write can continue, because the accepted part has been sent on.
    fn flushes(&mut self) -> bool {
        if let Link::Guarded(guarded) = &mut self.link
            && !guarded.flush()
        {
            return false;
        }
        self.blocked = false;
        true
    }
}

fn register(poll: &Poll, conn: ConnId, stream: &mut TcpStream) -> io::Result<()> {
    let interest = Interest::READABLE | Interest::WRITABLE;
    poll.registry()
        .register(stream, Token(conn.0 as usize), interest)
}

impl Host for Os {
    fn now(&mut self) -> Now {
        let mono = self.start.elapsed().as_nanos() as u64;
        let since = mono - self.synced.mono.0;
        if since < SYNC_CLOCKS && self.synced.wall.0 != 0 {
            let wall = Timestamp(self.synced.wall.0 + since as i64);
            return Now {
                wall,
                mono: Mono(mono),
            };
        }
        // If the clock is before 1970, the time is 1970.
        let wall = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        self.synced = Now {
            wall: Timestamp(wall.as_nanos() as i64),
            mono: Mono(mono),
        };
        self.synced
    }

    fn listen(
        &mut self,
        at: SocketAddr,
        transport: &Transport,
    ) -> io::Result<(ListenerId, SocketAddr)> {
        let socket =
            socket2::Socket::new(Domain::for_address(at), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        socket.set_reuse_address(transport.reuse_address)?;
        socket.bind(&at.into())?;
        socket.listen(BACKLOG)?;
        let mut socket = TcpListener::from_std(socket.into());
        let at = socket.local_addr()?;
        let index = self.listeners.len();
        let token = Token(LISTENERS + index);
        self.poll
            .registry()
            .register(&mut socket, token, Interest::READABLE)?;
        self.listeners.push(Listener {
            socket,
            ready: true,
            tls: transport.tls.clone(),
            announced: !transport.balancers.is_empty(),
        });
        Ok((ListenerId(index as u32), at))
    }

    fn accept(&mut self, listener: ListenerId) -> io::Result<Option<(ConnId, SocketAddr)>> {
        let Some(listener) = self.listeners.get_mut(listener.0 as usize) else {
            return Ok(None);
        };
        let accepted = listener.socket.accept().and_then(|accepted| {
            check_reserve(&accepted.0, Purpose::Connection).map(|()| accepted)
        });
        // After a failure the engine tries again later by itself.
        listener.ready = accepted.is_ok();
        match accepted {
            Ok((stream, from)) => {
                let link = match (&listener.tls, listener.announced) {
                    (None, false) => Link::Open(stream),
                    (tls, announced) => {
                        let tls = tls.as_ref().map(Tls::accept).transpose()?;
                        let before = match announced {
                            true => Before::Announcement,
                            false => Before::Nothing,
                        };
                        Link::Guarded(Box::new(Guarded::new(stream, before, tls.map(Box::new))))
                    }
                };
                let conn = self.insert(link);
                self.opened(conn).inspect_err(|_| self.close(conn))?;
                Ok(Some((conn, from)))
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn dial(&mut self, to: &Dial<'_>) -> io::Result<ConnId> {
        self.start(to)
    }

    fn dialled(&mut self, conn: ConnId) -> io::Result<SocketAddr> {
        self.outcome(conn)
    }

    fn peer(&self, conn: ConnId) -> PeerInfo<'_> {
        let socket = self.sockets.get(conn.0 as usize);
        match socket {
            Some(Some(socket)) => match &socket.link {
                Link::Guarded(guarded) | Link::Settling(guarded, ..) => PeerInfo {
                    announced: guarded.client().ok(),
                    certificate: guarded.certificate(),
                },
                _ => PeerInfo {
                    announced: Some(socket.client),
                    certificate: None,
                },
            },
            _ => PeerInfo::default(),
        }
    }

    fn tune(&mut self, conn: ConnId, options: &SocketOptions) -> io::Result<()> {
        let stream = self.socket(conn).and_then(|socket| socket.link.stream());
        let stream = stream.ok_or(ErrorKind::NotConnected)?;
        stream.set_nodelay(options.nodelay)?;
        let socket = SockRef::from(&*stream);
        options.set(&socket)?;
        options.set_busy_poll(&socket)
    }

    fn read(&mut self, conn: ConnId, into: &mut [u8]) -> io::Result<usize> {
        let direct = self.is_direct();
        let Some(Some(socket)) = self.sockets.get_mut(conn.0 as usize) else {
            return Err(io::Error::from(ErrorKind::NotConnected));
        };
        let Link::Open(stream) = &mut socket.link else {
            return self.read_guarded(conn, into);
        };
        let result = socket.one_way.read(&*stream, into, direct, &mut self.waste);
        if result.is_ok() && socket.one_way.is_untaken() {
            self.untaken.push(conn);
        }
        match &result {
            // All data that had arrived was read. Data that arrives later raises a new event.
            Ok(count) if *count < into.len() && !socket.ending => socket.readable = false,
            Ok(_) => {}
            Err(_) => socket.readable = false,
        }
        result
    }

    fn write(&mut self, conn: ConnId, bytes: &[u8]) -> io::Result<usize> {
        let Some(socket) = self.socket(conn) else {
            return Err(io::Error::from(ErrorKind::NotConnected));
        };
        let Link::Open(stream) = &mut socket.link else {
            return self.write_guarded(conn, bytes);
        };
        let result = loop {
            match send(&*stream, bytes, SendFlags::NOSIGNAL) {
                Err(Errno::INTR) => {}
                result => break result.map_err(io::Error::from),
            }
        };
        socket.one_way.has_written();
        socket.blocked = match &result {
            Ok(count) => *count < bytes.len(),
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        };
        result
    }

    fn is_flushed(&self, conn: ConnId) -> bool {
        let socket = self.sockets.get(conn.0 as usize).and_then(Option::as_ref);
        socket.is_none_or(|socket| !socket.blocked)
    }

    fn close(&mut self, conn: ConnId) {
        let Some(slot) = self.sockets.get_mut(conn.0 as usize) else {
            return;
        };
        let Some(mut socket) = slot.take() else {
            return;
        };
        socket.take(&mut self.waste);
        self.free.push(conn.0);
        self.open.retain(|open| *open != conn);
        self.hot.retain(|hot| *hot != conn);
        self.outcomes.retain(|outcome| *outcome != conn);
        self.pausing.retain(|(pausing, _)| *pausing != conn);
        let stream = match socket.link {
            Link::Open(stream) => Some(stream),
            Link::Guarded(guarded) | Link::Settling(guarded, ..) => Some(guarded.close()),
            Link::Resolving(_) | Link::Connecting { .. } | Link::Failed(_) => None,
        };
        if let Some(mut stream) = stream {
            // Unread bytes would turn the close into a reset, and the peer might lose our last messages. Errors do
            // not matter any more.
            let _ = stream.shutdown(Shutdown::Write);
            let mut waste = [0; 4096];
            let mut drained = 0;
            while drained < DRAIN {
                match stream.read(&mut waste) {
                    Ok(count) if count > 0 => drained += count,
                    _ => break,
                }
            }
        }
    }

    fn poll(&mut self, wait: Nanos, ready: &mut Vec<Ready>) -> io::Result<()> {
        ready.clear();
        self.take_all();
        let direct = self.is_direct();
        if direct {
            self.turns = self.turns.wrapping_add(1);
            ready.extend(self.open.iter().map(|conn| Ready::Read(*conn)));
            if !self.turns.is_multiple_of(DIRECT_TURNS) {
                return Ok(());
            }
        }
        self.hot.retain(|conn| {
            self.sockets[conn.0 as usize]
                .as_ref()
                .is_some_and(|socket| socket.readable)
        });
        self.end_pauses();
        let waiting = !self.hot.is_empty()
            || !self.outcomes.is_empty()
            || self.listeners.iter().any(|listener| listener.ready);
        let wait = match waiting || direct {
            true => Nanos(0),
            false => self.sleep_at_most(wait),
        };
        self.ask_poller(wait)?;
        self.take_answers();
        self.unblock_unwatched();
        if !direct {
            ready.extend(self.hot.iter().map(|conn| Ready::Read(*conn)));
        }
        ready.extend(self.unblocked.drain(..).map(Ready::Write));
        ready.extend(self.outcomes.drain(..).map(Ready::Dialled));
        for (index, listener) in self.listeners.iter().enumerate() {
            if listener.ready {
                ready.push(Ready::Accept(ListenerId(index as u32)));
            }
        }
        Ok(())
    }

    fn hold(&mut self, conn: ConnId, held: bool) {
        if let Some(socket) = self.socket(conn) {
            socket.held = held;
            socket.readable &= !held;
        }
        if held {
            self.hot.retain(|hot| *hot != conn);
        } else {
            // Data may have arrived without an event.
            self.heat(conn);
        }
    }

    fn wake_up(&self) -> WakeUp {
        let waker = Arc::clone(&self.waker);
        Arc::new(move || {
            // The counter is full only if the engine is being woken already.
            let _ = waker.wake();
        })
    }
}
