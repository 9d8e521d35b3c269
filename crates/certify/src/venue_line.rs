//! [`VenueLine`]: the connection to the venue. It uses the engine's sockets, TLS and proxies.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fixwire_engine::config::LinkConfig;
use fixwire_engine::{Connection, SessionConfig};
use fixwire_net::transport::Transport;
use fixwire_net::{ConnId, Dial, Host, Os, Ready, SocketOptions, Wait, tls};
use fixwire_protocol::{Mono, Nanos, Now};

/// Interval at which a waiting player checks whether the run is stopped.
const SLICE: Nanos = Nanos::from_millis(50);
/// Read size, bytes.
const READ: usize = 64 << 10;
/// Time after which a venue that accepts no bytes counts as lost.
const WRITE_LIMIT: Duration = Duration::from_secs(10);

/// Result of a read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum LineRead {
    /// Bytes were added.
    Bytes,
    /// No message arrived in time.
    TimedOut,
    /// The connection is closed.
    Closed,
    /// The run was stopped.
    Stopped,
}

/// A connection, while it is open.
pub(crate) struct VenueLine {
    host: Os,
    connection: Connection,
    transport: Transport,
    options: SocketOptions,
    conn: Option<ConnId>,
    ready: Vec<Ready>,
    stop: Arc<AtomicBool>,
}

impl VenueLine {
    /// The connection of a FIX session.
    pub(crate) fn of_session(session: &SessionConfig, stop: Arc<AtomicBool>) -> io::Result<Self> {
        let options = SocketOptions {
            nodelay: session.nodelay,
            send_buffer: session.send_buffer,
            receive_buffer: session.receive_buffer,
            ..session.transport.socket_options()
        };
        Self::new((&session.connection, &session.transport), options, stop)
    }

    /// The connection of a link.
    pub(crate) fn of_link(link: &LinkConfig, stop: Arc<AtomicBool>) -> io::Result<Self> {
        let options = SocketOptions {
            nodelay: true,
            ..link.transport.socket_options()
        };
        Self::new((&link.connection, &link.transport), options, stop)
    }

    fn new(
        (connection, transport): (&Connection, &Transport),
        options: SocketOptions,
        stop: Arc<AtomicBool>,
    ) -> io::Result<Self> {
        Ok(Self {
            host: Os::new(Wait::Block)?,
            connection: connection.clone(),
            transport: transport.clone(),
            options,
            conn: None,
            ready: Vec::new(),
            stop,
        })
    }

    pub(crate) fn now(&mut self) -> Now {
        self.host.now()
    }

    pub(crate) fn is_open(&self) -> bool {
        self.conn.is_some()
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Connects to the first address of the session that responds.
    ///
    /// # Errors
    ///
    /// A sentence that says why no address could be connected.
    pub(crate) fn connect(&mut self) -> Result<String, String> {
        let Connection::Initiator { hosts, timeout, .. } = &self.connection else {
            return Err(
                "the settings are those of an acceptor: a certification needs an initiator"
                    .to_owned(),
            );
        };
        let (hosts, timeout) = (hosts.clone(), *timeout);
        let mut why = "the settings have no address to connect to".to_owned();
        for (place, (host, port)) in hosts.iter().enumerate() {
            match self.dial(place, host, *port, timeout) {
                Ok(()) => return Ok(format!("{host}:{port}")),
                Err(error) => why = format!("cannot connect to {host}:{port}: {error}"),
            }
        }
        Err(why)
    }

    fn dial(&mut self, place: usize, host: &str, port: u16, timeout: Duration) -> io::Result<()> {
        let (transport, options) = (&self.transport, self.options);
        let local = transport.local(place);
        let conn = self.host.dial(&Dial {
            host,
            port,
            local,
            transport,
            options: &options,
        })?;
        let until = self.host.now().mono + Nanos::from(timeout);
        let result = self.await_dialled(conn, until);
        match result {
            Ok(()) => self.conn = Some(conn),
            Err(_) => self.host.close(conn),
        }
        result?;
        self.host.tune(conn, &options)
    }

    fn await_dialled(&mut self, conn: ConnId, until: Mono) -> io::Result<()> {
        loop {
            match self.host.dialled(conn) {
                Ok(_) => break,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            if self.is_stopped() {
                return Err(ErrorKind::Interrupted.into());
            }
            if self.host.now().mono >= until {
                return Err(ErrorKind::TimedOut.into());
            }
            self.host.poll(SLICE, &mut self.ready)?;
        }
        let shown = self.host.peer(conn).certificate;
        if !tls::allowed(&self.transport.certificates, shown) {
            let why = "PeerCertificates does not allow the venue's certificate";
            return Err(io::Error::new(ErrorKind::PermissionDenied, why));
        }
        Ok(())
    }

    /// Writes all bytes. If the bytes cannot be written in time, the connection is closed, because the next message
    /// would begin in the middle of this one.
    pub(crate) fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let Some(conn) = self.conn else {
            return Err(ErrorKind::NotConnected.into());
        };
        let until = self.host.now().mono + Nanos::from(WRITE_LIMIT);
        loop {
            match self.host.write(conn, bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            if bytes.is_empty() && self.host.is_flushed(conn) {
                return Ok(());
            }
            if self.is_stopped() || self.host.now().mono >= until {
                self.close();
                return Err(ErrorKind::TimedOut.into());
            }
            self.host.poll(SLICE, &mut self.ready)?;
        }
    }

    /// Appends received data to `bytes`. Waits for data until this time at most; neither this limit nor a stop is
    /// delayed by a venue that sends without pauses.
    pub(crate) fn read(&mut self, until: Mono, bytes: &mut Vec<u8>) -> LineRead {
        let Some(conn) = self.conn else {
            return LineRead::Closed;
        };
        loop {
            if self.is_stopped() {
                return LineRead::Stopped;
            }
            let now = self.host.now().mono;
            if now >= until {
                return LineRead::TimedOut;
            }
            let length = bytes.len();
            bytes.resize(length + READ, 0);
            let count = self.host.read(conn, &mut bytes[length..]);
            bytes.truncate(length + *count.as_ref().unwrap_or(&0));
            match count {
                Ok(0) => break,
                Ok(_) => return LineRead::Bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => break,
            }
            if self
                .host
                .poll(SLICE.min(until - now), &mut self.ready)
                .is_err()
            {
                break;
            }
        }
        self.close();
        LineRead::Closed
    }

    pub(crate) fn close(&mut self) {
        if let Some(conn) = self.conn.take() {
            self.host.close(conn);
        }
    }
}
