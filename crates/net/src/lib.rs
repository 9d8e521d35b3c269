//! The layer between the engine and the system: clocks and sockets.
//!
//! The engine is generic over its [`Host`]. [`Os`] is the operating system; a simulator is another host. No method
//! blocks except [`Host::poll`], which may sleep.

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

/// A connection of the host. The value is an index, which is reused after [`Host::close`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ConnId(pub u32);

/// A listening address of the host.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ListenerId(pub u32);

/// Idle strategy of the engine's thread.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Wait {
    /// Polls again at once. Polling at once gives the shortest response time, and keeps one core always busy.
    Spin,
    /// Offers the core to other threads and then polls.
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
    /// [`Host::read`] may return data, the end of the stream or an error.
    Read(ConnId),
    /// A connection accepts more data after a partial write.
    Write(ConnId),
    /// A connection attempt has succeeded or failed. [`Host::dialled`] gives the result.
    Dialled(ConnId),
}

/// Socket options of a session.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SocketOptions {
    /// TCP_NODELAY.
    pub nodelay: bool,
    /// SO_SNDBUF in bytes. In this field and the fields below, `None` means the system default.
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
    /// Sets all options except TCP_NODELAY and SO_BUSY_POLL. TCP_NODELAY and SO_BUSY_POLL need an established
    /// connection.
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

    /// Sets SO_BUSY_POLL. The system may require a capability for this.
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

/// The data for making a connection.
#[derive(Clone, Copy, Debug)]
pub struct Dial<'a> {
    /// The host name or address to connect to.
    pub host: &'a str,
    /// The port to connect to.
    pub port: u16,
    /// The local address; `None` if the system chooses it.
    pub local: Option<SocketAddr>,
    /// Proxy and TLS.
    pub transport: &'a Transport,
    /// Options of the socket.
    pub options: &'a SocketOptions,
}

/// The known facts about the peer of a connection, in addition to its address.
#[derive(Clone, Copy, Debug, Default)]
pub struct PeerInfo<'a> {
    /// The client that a load balancer announces, if it announces one. The outer `None` means that the PROXY header
    /// has not arrived yet.
    pub announced: Option<Option<SocketAddr>>,
    /// The certificate of the peer, after TLS has verified it.
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
/// A message that is not delivered to the application only has the marks `Parsed` and `Checked`. [`Host::write`]
/// follows, once for each connection and for everything that a few messages of a read have caused.
#[derive(Clone, Copy, Debug)]
pub enum Mark<'a> {
    /// The engine has framed and decoded this message.
    Parsed(&'a Message<'a>),
    /// The engine has checked the message: session layer and dictionary.
    Checked,
    /// The application's callback for the message has returned.
    Answered,
    /// The engine has sealed the messages in the outbox from this entry on.
    Sealed(&'a Outbox, usize),
    /// The engine has appended the record of the messages to the journal.
    Journalled,
}

/// The environment of an engine.
pub trait Host {
    /// The two clocks.
    fn now(&mut self) -> Now;

    /// Listens on an address. Returns the address; if its port is 0, with the port that the system has chosen. TLS
    /// and PROXY headers of the transport are handled inside [`read`](Host::read).
    ///
    /// # Errors
    ///
    /// An error of the system: the address is in use, is not local, or is not permitted.
    fn listen(
        &mut self,
        at: SocketAddr,
        transport: &Transport,
    ) -> io::Result<(ListenerId, SocketAddr)>;

    /// Accepts one connection that is waiting; `None` when none is waiting.
    ///
    /// # Errors
    ///
    /// An error of the system, for example too many open files. The listener can still be used.
    fn accept(&mut self, listener: ListenerId) -> io::Result<Option<(ConnId, SocketAddr)>>;

    /// Starts to connect. [`Ready::Dialled`] follows when the connection is established, after any proxy and TLS
    /// handshakes, or when the attempt has failed.
    ///
    /// # Errors
    ///
    /// An error when the attempt cannot be started.
    fn dial(&mut self, to: &Dial<'_>) -> io::Result<ConnId>;

    /// The result of [`dial`](Host::dial): the address of the peer. After an error the caller must still close the
    /// connection.
    ///
    /// # Errors
    ///
    /// The error of the attempt; `WouldBlock` when the result is not known yet.
    fn dialled(&mut self, conn: ConnId) -> io::Result<SocketAddr>;

    /// The known facts about the peer, in addition to the address from [`accept`](Host::accept) or
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
    /// An error of the system. The connection can still be used.
    fn tune(&mut self, conn: ConnId, options: &SocketOptions) -> io::Result<()>;

    /// Reads received data. Returns the number of bytes, which is 0 at the end of the stream.
    ///
    /// # Errors
    ///
    /// `WouldBlock` when no data has arrived. Any other error ends the connection.
    fn read(&mut self, conn: ConnId, into: &mut [u8]) -> io::Result<usize>;

    /// Writes as many of the bytes as the connection accepts, and returns their number. After a partial write,
    /// [`Ready::Write`] follows.
    ///
    /// # Errors
    ///
    /// `WouldBlock` when the connection accepts nothing. Any other error ends the connection.
    fn write(&mut self, conn: ConnId, bytes: &[u8]) -> io::Result<usize>;

    /// Whether the system has accepted everything that was passed to [`write`](Host::write). With TLS, the system may
    /// not have accepted everything yet; [`Ready::Write`] follows when it has. A close before that drops the rest of
    /// the data.
    fn is_flushed(&self, conn: ConnId) -> bool {
        let _ = conn;
        true
    }

    /// Stops reporting a connection as readable until `held` is false again. Data that has arrived is reported then.
    /// A host may ignore this call; that only costs time.
    fn hold(&mut self, _conn: ConnId, _held: bool) {}

    /// Called after a message of a session was handled: the record of the message and its effects is committed, and
    /// nothing that it caused has been written yet. The messages that it caused are in the outbox from entry `from` on.
    /// This call is for hosts that measure.
    #[inline]
    fn handled(&mut self, _message: &Message<'_>, _outbox: &Outbox, _from: usize) {}

    /// As [`Host::handled`], for a frame of a link.
    #[inline]
    fn handled_frame(&mut self, _frame: &[u8], _outbox: &Outbox, _from: usize) {}

    /// Called when the engine has completed a step of the work on a message. This call is for hosts that measure; in
    /// other hosts it costs nothing.
    #[inline]
    fn mark(&mut self, _mark: Mark<'_>) {}

    /// Closes a connection after the data that was already written.
    fn close(&mut self, conn: ConnId);

    /// Collects what is ready in `ready`, which is cleared first. When nothing is ready, waits at most for the time
    /// `wait`.
    ///
    /// # Errors
    ///
    /// An error of the system. The engine cannot continue after it.
    fn poll(&mut self, wait: Nanos, ready: &mut Vec<Ready>) -> io::Result<()>;

    /// A function that ends the current or the next [`poll`](Host::poll) at once.
    fn wake_up(&self) -> WakeUp;
}
