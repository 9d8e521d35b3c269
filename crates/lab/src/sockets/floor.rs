//! The TCP floor: the same bytes over TCP, without FIX. No engine on this machine can be faster.
//!
//! The client writes an order of a known length; for each order the server writes a report of a known length. Nothing
//! is parsed or stored. A gateway forwards orders from one connection to another, so that no answer carries a TCP
//! acknowledgement; the floor of a gateway does the same.

use std::convert::Infallible;
use std::io;
use std::net::{TcpListener, TcpStream, ToSocketAddrs};

use fixwire_stamps::clock::Clock;
use fixwire_stamps::scenario::{ORDER_BYTES, REPORT_BYTES};

use crate::load::{Load, RunState};
use crate::machine::gaps::Watch;
use crate::sockets::client::{self, Speech};
use crate::sockets::pipe::Pipe;

/// Connection on which the server writes its reports.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ReportWay {
    /// On the connection of the orders.
    Back,
    /// On a second connection.
    Onward,
}

/// The pipes of one end, one for each [`ReportWay`].
type Pipes = [Pipe; 2];

fn pipes([back, onward]: [TcpStream; 2]) -> io::Result<Pipes> {
    Ok([Pipe::new(back, true)?, Pipe::new(onward, true)?])
}

/// Answers each received order with a report, by counting bytes.
#[derive(Debug)]
pub struct Server {
    pipes: Pipes,
    report: Vec<u8>,
}

impl Server {
    /// A server over two accepted connections.
    ///
    /// # Errors
    ///
    /// A socket refuses its options.
    pub fn new(sockets: [TcpStream; 2]) -> io::Result<Self> {
        Ok(Self {
            pipes: pipes(sockets)?,
            report: vec![b'r'; REPORT_BYTES],
        })
    }

    /// Reads once and answers; returns whether bytes were read.
    ///
    /// # Errors
    ///
    /// The connection ended.
    #[inline]
    pub fn turn(&mut self, way: ReportWay) -> io::Result<bool> {
        let came = self.pipes[0].read(way == ReportWay::Onward)? > 0;
        if came {
            while self.pipes[0].unread().len() >= ORDER_BYTES {
                self.pipes[0].consume(ORDER_BYTES);
                self.pipes[way as usize]
                    .output
                    .extend_from_slice(&self.report);
            }
        }
        self.pipes[way as usize].flush()?;
        self.pipes[0].take()?;
        Ok(came)
    }
}

/// Sends orders as a [`Load`] schedules them, and times the answers.
#[derive(Debug)]
pub struct FloorClient {
    pipes: Pipes,
    bytes: Bytes,
}

impl FloorClient {
    /// A client over two connections to a [`Server`].
    ///
    /// # Errors
    ///
    /// A socket refuses its options.
    pub fn new(sockets: [TcpStream; 2]) -> io::Result<Self> {
        Ok(Self {
            pipes: pipes(sockets)?,
            bytes: Bytes(vec![b'o'; ORDER_BYTES]),
        })
    }

    /// Runs the load to its end. The server must use the connections in the same way. `pause` is called after a turn
    /// in which nothing happened.
    ///
    /// # Errors
    ///
    /// The connection ended.
    pub fn run(
        &mut self,
        way: ReportWay,
        load: &mut Load,
        clock: &Clock,
        watch: &mut Watch,
        pause: impl Fn(),
    ) -> io::Result<RunState> {
        let pipes = &mut self.pipes[..=way as usize];
        client::run(pipes, &mut self.bytes, load, clock, watch, pause)
    }
}

/// Serves the floor to one connection after another, forever. The thread spins.
///
/// # Errors
///
/// No connection can be accepted.
pub fn serve(listener: &TcpListener) -> io::Result<Infallible> {
    loop {
        let (socket, _) = listener.accept()?;
        // The client closes its connection when done. A client that closes early does not stop the server.
        let server = socket
            .try_clone()
            .and_then(|same| Server::new([same, socket]));
        if let Ok(mut server) = server {
            while server.turn(ReportWay::Back).is_ok() {}
        }
    }
}

/// A connection to a floor that another process [serves](serve), here or on another host.
///
/// # Errors
///
/// The connection fails.
pub fn connect(to: impl ToSocketAddrs) -> io::Result<FloorClient> {
    let socket = TcpStream::connect(to)?;
    FloorClient::new([socket.try_clone()?, socket])
}

/// Bytes that are as long as an order.
#[derive(Debug)]
struct Bytes(Vec<u8>);

impl Speech for Bytes {
    fn order(&mut self, _intended: u64, output: &mut Vec<u8>) {
        output.extend_from_slice(&self.0);
    }

    fn answers(&mut self, bytes: &[u8], now: u64, load: &mut Load) -> usize {
        let answers = bytes.chunks_exact(REPORT_BYTES);
        let rest = answers.remainder().len();
        for _ in answers {
            match load.oldest() {
                Some(intended) => load.answered(intended, now),
                None => load.wrong(),
            }
        }
        bytes.len() - rest
    }
}
