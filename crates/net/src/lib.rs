//! The world below the engine: clocks and sockets.
//!
//! The engine is generic over its [`Host`]: [`Os`] is the operating system, a simulator is another. Everything is
//! non-blocking except [`Host::poll`], which may sleep.

#![forbid(unsafe_code)]

mod around;
pub mod descriptors;
pub mod network;
mod os;
pub mod tls;
pub mod transport;
mod wake_up;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use fixwire_protocol::{Message, Nanos, Now, Outbox};

pub use around::HostAround;
pub use os::{AnnounceFault, Announced, Os, Tunnel, TunnelAnswer, read_proxy_header};
pub use wake_up::WakeUp;

use crate::tls::PeerCertificate;
use crate::transport::Transport;

/// A connection of the host: an index, which is reused after [`Host::close`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ConnId(pub u32);

/// A listening address of the host.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ListenerId(pub u32);

/// Idle strategy of the engine's thread.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Wait {
    /// Polls at once: the shortest response time; one core is always busy.
    Spin,
    /// Offers the core to other threads, then polls.
    Yield,
    /// Sleeps until a socket is ready, a timer is due or a command arrives.
    #[default]
    Block,
}

/// Results of [`Host::poll`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Ready {
    /// A connection may be waiting.
    Accept(ListenerId),
    /// [`Host::read`] may have data, or the end of the stream or an error.
    Read(ConnId),
    /// A connection whose last write was partial accepts more.
    Write(ConnId),
    /// A connection attempt has succeeded or failed: [`Host::dialled`] reports it.
    Dialled(ConnId),
}

/// Socket options of a session.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SocketOptions {
    /// TCP_NODELAY.
    pub nodelay: bool,
    /// SO_SNDBUF, bytes; `None` for the system default, as below.
    pub send_buffer: Option<usize>,
    /// SO_RCVBUF, bytes.
    pub receive_buffer: Option<usize>,
    /// SO_KEEPALIVE.
    pub keep_alive: Option<bool>,
    /// SO_OOBINLINE.
    pub oob_inline: Option<bool>,
    /// SO_LINGER.
    pub linger: Option<Duration>,
    /// IP_TOS or IPV6_TCLASS.
    pub traffic_class: Option<u8>,
    /// SO_BUSY_POLL, microseconds.
    pub busy_poll: Option<u32>,
}

impl SocketOptions {
    /// Sets all options except TCP_NODELAY and SO_BUSY_POLL, which need an established connection.
    fn set(&self, socket: &socket2::Socket) -> io::Result<()> {
        if let Some(bytes) = self.send_buffer {
            socket.set_send_buffer_size(bytes)?;
        }
        if let Some(bytes) = self.receive_buffer {
            socket.set_recv_buffer_size(bytes)?;
        }
        if let Some(on) = self.keep_alive {
            socket.set_keepalive(on)?;
        }
        if let Some(on) = self.oob_inline {
            socket.set_out_of_band_inline(on)?;
        }
        if let Some(time) = self.linger {
            socket.set_linger(Some(time))?;
        }
        if let Some(class) = self.traffic_class {
            if socket.domain()? == socket2::Domain::IPV6 {
                socket.set_tclass_v6(u32::from(class))?;
            } else {
                socket.set_tos_v4(u32::from(class))?;
            }
        }
        Ok(())
    }

    /// Sets SO_BUSY_POLL, for which the system may require a capability.
    fn set_busy_poll(&self, socket: &socket2::Socket) -> io::Result<()> {
        let Some(micros) = self.busy_poll else {
            return Ok(());
        };
        socket.set_busy_poll(micros).map_err(|error| {
            let remedy = match error.kind() {
                io::ErrorKind::PermissionDenied => {
                    format!("; set net.core.busy_read={micros}, or give the process CAP_NET_ADMIN")
                }
                _ => String::new(),
            };
            io::Error::new(error.kind(), format!("BusyPoll={micros}: {error}{remedy}"))
        })
    }
}

/// A connection to make.
#[derive(Clone, Copy, Debug)]
pub struct Dial<'a> {
    /// A host name or address.
    pub host: &'a str,
    /// Its port.
    pub port: u16,
    /// The local address; `None` for the system's choice.
    pub local: Option<SocketAddr>,
    /// Proxy and TLS.
    pub transport: &'a Transport,
    /// Options of the socket.
    pub options: &'a SocketOptions,
}

/// Facts about the other end of a connection, in addition to its address.
#[derive(Clone, Copy, Debug, Default)]
pub struct PeerInfo<'a> {
    /// The client announced by a load balancer, if any; the outer `None` until its PROXY header has arrived.
    pub announced: Option<Option<SocketAddr>>,
    /// Its certificate, once verified by TLS.
    pub certificate: Option<&'a PeerCertificate>,
}

/// The engine's last action, for [`Host::mark`].
///
/// ```text
/// a message is received:          Parsed > Checked > Answered > Sealed > Journalled
/// something is sent by `on_time`:                    Answered > Sealed > Journalled
/// something is sent otherwise:                                  Sealed > Journalled
/// ```
///
/// A message that is not delivered to the application only has `Parsed` and `Checked`. [`Host::write`] follows, once
/// for all effects of a read.
#[derive(Clone, Copy, Debug)]
pub enum Mark<'a> {
    /// Framed and decoded this message.
    Parsed(&'a Message<'a>),
    /// Checked it: session layer and dictionary.
    Checked,
    /// The application has returned.
    Answered,
    /// Sealed the messages in the outbox from this entry on.
    Sealed(&'a Outbox, usize),
    /// Appended their record to the journal.
    Journalled,
}

/// The environment of an engine.
pub trait Host {
    /// The two clocks.
    fn now(&mut self) -> Now;

    /// Listens on an address; returns it with the port chosen for port 0. TLS and PROXY headers of the transport are
    /// handled inside [`read`](Host::read).
    ///
    /// # Errors
    ///
    /// System errors: address in use, not local, not permitted.
    fn listen(
        &mut self,
        at: SocketAddr,
        transport: &Transport,
    ) -> io::Result<(ListenerId, SocketAddr)>;

    /// Accepts one waiting connection; `None` without any.
    ///
    /// # Errors
    ///
    /// System errors, for example too many open files. The listener stays usable.
    fn accept(&mut self, listener: ListenerId) -> io::Result<Option<(ConnId, SocketAddr)>>;

    /// Starts to connect; [`Ready::Dialled`] follows when the connection is established, including proxy and TLS.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    fn dial(&mut self, to: &Dial<'_>) -> io::Result<ConnId>;

    /// Result of [`dial`](Host::dial): the peer's address. After an error the connection must
    /// still be closed.
    ///
    /// # Errors
    ///
    /// The error; `WouldBlock` when the outcome is not known yet.
    fn dialled(&mut self, conn: ConnId) -> io::Result<SocketAddr>;

    /// Facts about the other end, in addition to the address from [`accept`](Host::accept) or
    /// [`dialled`](Host::dialled).
    fn peer(&self, conn: ConnId) -> PeerInfo<'_> {
        let _ = conn;
        PeerInfo {
            announced: Some(None),
            certificate: None,
        }
    }

    /// Sets the options of a connection.
    ///
    /// # Errors
    ///
    /// System errors; the connection stays usable.
    fn tune(&mut self, conn: ConnId, options: &SocketOptions) -> io::Result<()>;

    /// Reads received data: returns its length, 0 at the end of the stream.
    ///
    /// # Errors
    ///
    /// `WouldBlock` when nothing has arrived; anything else ends the connection.
    fn read(&mut self, conn: ConnId, into: &mut [u8]) -> io::Result<usize>;

    /// Writes a first part of the bytes; returns its length. After a partial write, [`Ready::Write`] follows.
    ///
    /// # Errors
    ///
    /// `WouldBlock` when nothing was accepted; any other error ends the connection.
    fn write(&mut self, conn: ConnId, bytes: &[u8]) -> io::Result<usize>;

    /// Whether the system has accepted everything passed to [`write`](Host::write). If not, as with TLS,
    /// [`Ready::Write`] follows as soon as it has; a close before that drops the rest.
    fn is_flushed(&self, conn: ConnId) -> bool {
        let _ = conn;
        true
    }

    /// Stops reporting a connection as readable until this is undone; received data is reported then. A host may ignore
    /// this at the cost of time.
    fn hold(&mut self, _conn: ConnId, _held: bool) {}

    /// A message of a session was handled: the record of it and its effects is committed, and none of its effects is
    /// written yet. The resulting messages are in the outbox from entry `from` on. For hosts that measure.
    #[inline]
    fn handled(&mut self, _message: &Message<'_>, _outbox: &Outbox, _from: usize) {}

    /// The same for a frame of a link.
    #[inline]
    fn handled_frame(&mut self, _frame: &[u8], _outbox: &Outbox, _from: usize) {}

    /// The engine has completed a step of the work on a message. For hosts that measure; free of cost otherwise.
    #[inline]
    fn mark(&mut self, _mark: Mark<'_>) {}

    /// Closes a connection after the data already written.
    fn close(&mut self, conn: ConnId);

    /// Collects the ready items into `ready`, which is cleared first. Waits at most `wait` if nothing is ready.
    ///
    /// # Errors
    ///
    /// System errors; the engine cannot continue.
    fn poll(&mut self, wait: Nanos, ready: &mut Vec<Ready>) -> io::Result<()>;

    /// A function that ends a running or the next [`poll`](Host::poll) at once.
    fn wake_up(&self) -> WakeUp;
}
