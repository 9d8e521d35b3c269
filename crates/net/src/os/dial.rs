//! Connects to a peer: looks up its name, tries its addresses, and then does the proxy and TLS handshakes.
//!
//! ```text
//! Resolving --> Connecting --> [ Settling: proxy, TLS ] --> Open or Guarded
//!                   |  ^                 |
//!                   +--+ next address    +--> Failed
//! ```

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use fixwire_protocol::Nanos;

use mio::net::TcpStream;
use rustix::io::Errno;
use socket2::{Domain, Protocol, Socket as Raw, Type};

use super::guarded::{Before, Guarded};
use super::tunnel::Tunnel;
use super::{Link, Os, register};
use crate::descriptors::{Purpose, check_reserve};
use crate::tls::Stream;
use crate::{ConnId, Dial, Host, SocketOptions};

/// Time that a peer gets to finish a TLS 1.3 handshake before our first message follows. QuickFIX/J leaves a message
/// unread that arrives together with the last data of our handshake, until more data arrives. Most peers send a
/// session ticket when they are ready.
const PAUSE: Duration = Duration::from_millis(200);

/// State of a connection that is being made.
#[derive(Debug)]
pub struct Plan {
    local: Option<SocketAddr>,
    options: SocketOptions,
    tunnel: Option<Box<Tunnel>>,
    tls: Option<Box<Stream>>,
}

impl Plan {
    /// Starts to connect to an address of the peer.
    fn begin(&self, to: SocketAddr) -> io::Result<TcpStream> {
        let socket = Raw::new(Domain::for_address(to), Type::STREAM, Some(Protocol::TCP))?;
        check_reserve(&socket, Purpose::Connection)?;
        socket.set_nonblocking(true)?;
        // Sizes of buffers must be set before connecting. The other options may be set here too.
        self.options.set(&socket)?;
        if let Some(local) = self.local {
            // This allows using the port of a connection that has just ended.
            socket.set_reuse_address(true)?;
            socket.bind(&local.into()).map_err(|error| {
                io::Error::new(
                    error.kind(),
                    format!("cannot use the local address {local}: {error}"),
                )
            })?;
        }
        match socket.connect(&to.into()) {
            Ok(()) => {}
            Err(error) if error.raw_os_error() == Some(Errno::INPROGRESS.raw_os_error()) => {}
            Err(error) => return Err(error),
        }
        Ok(TcpStream::from_std(socket.into()))
    }
}

impl Os {
    /// Starts to connect.
    pub(super) fn start(&mut self, to: &Dial<'_>) -> io::Result<ConnId> {
        let tls = to.transport.tls.as_ref();
        let tls = tls.map(|tls| tls.connect(to.host)).transpose()?;
        let proxy = to.transport.proxy.as_ref();
        let tunnel = proxy.map(|proxy| Tunnel::new(proxy, to.host, to.port));
        let tunnel = tunnel.transpose()?.map(Box::new);
        let (host, port) = tunnel
            .as_ref()
            .map_or((to.host, to.port), |tunnel| tunnel.proxy());
        let (host, address) = (host.to_owned(), host.parse::<IpAddr>());
        let plan = Box::new(Plan {
            local: to.local,
            options: *to.options,
            tunnel,
            tls: tls.map(Box::new),
        });
        let conn = self.insert(Link::Resolving(plan));
        if let Ok(address) = address {
            let nowhere = io::Error::from(ErrorKind::NotFound);
            self.connect(conn, vec![SocketAddr::new(address, port)], nowhere);
            return Ok(conn);
        }
        let key = u64::from(self.generation) << 32 | u64::from(conn.0);
        let wake = self.wake_up();
        self.resolver
            .ask(key, &host, port, wake)
            .inspect_err(|_| self.close(conn))?;
        Ok(conn)
    }

    /// Tries one address after the other until an attempt can be started.
    fn connect(&mut self, conn: ConnId, mut addresses: Vec<SocketAddr>, mut last: io::Error) {
        let Self { sockets, poll, .. } = self;
        let Some(Some(socket)) = sockets.get_mut(conn.0 as usize) else {
            return;
        };
        let (Link::Resolving(plan) | Link::Connecting { plan, .. }) =
            std::mem::replace(&mut socket.link, Link::Failed(None))
        else {
            return;
        };
        addresses.reverse();
        socket.watched = false;
        socket.link = loop {
            let Some(to) = addresses.pop() else {
                break Link::Failed(Some(last));
            };
            let started = plan.begin(to).and_then(|mut stream| {
                register(poll, conn, &mut stream)?;
                Ok(stream)
            });
            match started {
                Ok(stream) => {
                    addresses.reverse();
                    socket.watched = true;
                    break Link::Connecting {
                        stream,
                        to,
                        others: addresses,
                        plan,
                    };
                }
                Err(error) => last = error,
            }
        };
        if matches!(socket.link, Link::Failed(_)) {
            self.outcomes.push(conn);
        }
    }

    /// Handles a report of the poller about a connection attempt.
    pub(super) fn connecting(&mut self, conn: ConnId) {
        let Some(socket) = self.socket(conn) else {
            return;
        };
        let failure = match &mut socket.link {
            Link::Connecting { stream, .. } => match stream.take_error() {
                Ok(None) => match stream.peer_addr() {
                    Ok(_) => None,
                    Err(error) if error.kind() == ErrorKind::NotConnected => return,
                    Err(error) => Some(error),
                },
                Ok(Some(error)) | Err(error) => Some(error),
            },
            Link::Settling(..) => return self.settle(conn),
            _ => return,
        };
        if let (Link::Connecting { others, .. }, Some(error)) = (&mut socket.link, failure) {
            let others = std::mem::take(others);
            return self.connect(conn, others, error);
        }
        if let Link::Connecting {
            stream, to, plan, ..
        } = std::mem::replace(&mut socket.link, Link::Failed(None))
        {
            let Plan { tunnel, tls, .. } = *plan;
            let before = tunnel.map_or(Before::Nothing, Before::Tunnel);
            let guarded = Guarded::new(stream, before, tls);
            socket.link = Link::Settling(Box::new(guarded), to, false);
            self.settle(conn);
        }
    }

    /// Continues the exchange with the proxy, and then the TLS handshake.
    fn settle(&mut self, conn: ConnId) {
        let Some(socket) = self.socket(conn) else {
            return;
        };
        let Link::Settling(guarded, _, settled) = &mut socket.link else {
            return;
        };
        if *settled {
            return;
        }
        let busy = match guarded.settle() {
            Ok(false) => return,
            Ok(true) => guarded.may_be_busy(),
            Err(error) => Err(error),
        };
        match busy {
            Ok(true) => {
                if !self.pausing.iter().any(|(other, _)| *other == conn) {
                    self.pausing.push((conn, Instant::now() + PAUSE));
                }
                return;
            }
            Ok(false) => *settled = true,
            Err(error) => socket.link = Link::Failed(Some(error)),
        }
        self.pausing.retain(|(other, _)| *other != conn);
        self.outcomes.push(conn);
    }

    /// Ends the pause of connections whose peers have had enough time to finish the handshake.
    pub(super) fn end_pauses(&mut self) {
        if self.pausing.is_empty() {
            return;
        }
        let now = Instant::now();
        let Self {
            pausing,
            sockets,
            outcomes,
            ..
        } = self;
        pausing.retain(|(conn, until)| {
            if *until > now {
                return true;
            }
            if let Some(Some(socket)) = sockets.get_mut(conn.0 as usize)
                && let Link::Settling(_, _, settled) = &mut socket.link
                && !std::mem::replace(settled, true)
            {
                outcomes.push(*conn);
            }
            false
        });
    }

    /// The longest time for which the poller may sleep.
    pub(super) fn sleep_at_most(&self, wait: Nanos) -> Nanos {
        let ends = self.pausing.iter().map(|(_, until)| *until).min();
        ends.map_or(wait, |until| {
            let left = until.saturating_duration_since(Instant::now()).as_nanos() as u64;
            Nanos(wait.0.min(left))
        })
    }

    /// The result.
    pub(super) fn outcome(&mut self, conn: ConnId) -> io::Result<SocketAddr> {
        let Some(socket) = self.socket(conn) else {
            return Err(io::Error::from(ErrorKind::NotConnected));
        };
        match std::mem::replace(&mut socket.link, Link::Failed(None)) {
            Link::Settling(guarded, to, true) => {
                socket.link = match guarded.is_plain() {
                    true => Link::Open(guarded.close()),
                    false => Link::Guarded(guarded),
                };
                self.opened(conn)?;
                Ok(to)
            }
            Link::Failed(error) => {
                Err(error.unwrap_or_else(|| io::Error::from(ErrorKind::NotConnected)))
            }
            undecided => {
                socket.link = undecided;
                Err(io::Error::from(ErrorKind::WouldBlock))
            }
        }
    }

    /// Handles the answers of name servers.
    pub(super) fn take_answers(&mut self) {
        while let Some(answer) = self.resolver.answer() {
            let conn = ConnId(answer.key as u32);
            let generation = (answer.key >> 32) as u32;
            let Some(socket) = self.socket(conn) else {
                continue;
            };
            if socket.generation != generation || !matches!(socket.link, Link::Resolving(_)) {
                continue;
            }
            match answer.addresses {
                Ok(addresses) => {
                    self.connect(conn, addresses, io::Error::from(ErrorKind::NotFound));
                }
                Err(error) => {
                    socket.link = Link::Failed(Some(error));
                    self.outcomes.push(conn);
                }
            }
        }
    }

    /// Reads from a connection that is more than plain TCP, or is not plain yet.
    #[cold]
    pub(super) fn read_guarded(&mut self, conn: ConnId, into: &mut [u8]) -> io::Result<usize> {
        let Self { sockets, hot, .. } = self;
        let Some(Some(socket)) = sockets.get_mut(conn.0 as usize) else {
            return Err(io::Error::from(ErrorKind::NotConnected));
        };
        let guarded = match &mut socket.link {
            Link::Guarded(guarded) => guarded,
            Link::Failed(error) => {
                let error = error.take();
                return Err(error.unwrap_or_else(|| ErrorKind::NotConnected.into()));
            }
            _ => return Err(io::Error::from(ErrorKind::NotConnected)),
        };
        let taken = guarded.read(into);
        socket.readable = taken.more;
        // A poller does not report decrypted bytes that wait in a buffer. A connection that is read without polling
        // may be in the list already.
        if taken.more && !hot.contains(&conn) {
            hot.push(conn);
        }
        if guarded.is_plain() {
            socket.client = guarded.client().unwrap_or_default();
            if let Link::Guarded(guarded) = std::mem::replace(&mut socket.link, Link::Failed(None))
            {
                socket.link = Link::Open(guarded.close());
            }
        }
        taken.result
    }

    /// Writes to a connection that is more than plain TCP.
    #[cold]
    pub(super) fn write_guarded(&mut self, conn: ConnId, bytes: &[u8]) -> io::Result<usize> {
        let Some(socket) = self.socket(conn) else {
            return Err(io::Error::from(ErrorKind::NotConnected));
        };
        let Link::Guarded(guarded) = &mut socket.link else {
            return Err(io::Error::from(ErrorKind::NotConnected));
        };
        let result = guarded.write(bytes);
        socket.blocked = match &result {
            Ok((count, all)) => !all || *count < bytes.len(),
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        };
        result.map(|(count, _)| count)
    }
}
