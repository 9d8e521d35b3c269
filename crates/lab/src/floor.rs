//! The same bytes over TCP without FIX: what no engine on this machine can be faster than.
//!
//! The client writes an order of a known length, the server answers every so many bytes with a report
//! of a known length. Nothing is parsed, stored or looked at. A gateway passes orders on from one
//! connection to another, where no answer carries the acknowledgements: its floor does the same.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

use crate::clock::Clock;
use crate::load::{Load, State};

/// Bytes of the order at a six-digit MsgSeqNum; a test of `scenario` keeps it true.
pub const ORDER_BYTES: usize = 213;
/// Bytes of the report at a six-digit MsgSeqNum.
pub const REPORT_BYTES: usize = 218;

/// Where the server writes its reports.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Way {
    /// On the connection of the orders.
    Back,
    /// On a second one.
    Onward,
}

/// Both ends have a pipe for each [`Way`].
type Pipes = [Pipe; 2];

fn pipes([back, onward]: [TcpStream; 2]) -> io::Result<Pipes> {
    Ok([Pipe::new(back)?, Pipe::new(onward)?])
}

/// Most orders that leave in one write when the schedule is behind.
pub const BATCH: usize = 32;

/// A socket that never waits: bytes come and go as far as it takes them.
#[derive(Debug)]
struct Pipe {
    socket: TcpStream,
    input: Vec<u8>,
    output: Vec<u8>,
    written: usize,
}

impl Pipe {
    fn new(socket: TcpStream) -> io::Result<Self> {
        socket.set_nodelay(true)?;
        socket.set_nonblocking(true)?;
        Ok(Self {
            socket,
            input: vec![0; 256 << 10],
            output: Vec::with_capacity(256 << 10),
            written: 0,
        })
    }

    /// How many bytes came; 0 when none are there.
    #[inline]
    fn read(&mut self) -> io::Result<usize> {
        match self.socket.read(&mut self.input) {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => Ok(count),
            Err(error) if idle(&error) => Ok(0),
            Err(error) => Err(error),
        }
    }

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        while self.written < self.output.len() {
            match self.socket.write(&self.output[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if idle(&error) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        self.output.clear();
        self.written = 0;
        Ok(())
    }
}

fn idle(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Answers each order's worth of bytes with a report's worth.
#[derive(Debug)]
pub struct Server {
    pipes: Pipes,
    report: Vec<u8>,
    pending: usize,
}

impl Server {
    /// Takes two accepted connections.
    ///
    /// # Errors
    ///
    /// A socket refuses its options.
    pub fn new(sockets: [TcpStream; 2]) -> io::Result<Self> {
        Ok(Self {
            pipes: pipes(sockets)?,
            report: vec![b'r'; REPORT_BYTES],
            pending: 0,
        })
    }

    /// Looks once for bytes and answers them.
    ///
    /// # Errors
    ///
    /// The connection ended.
    #[inline]
    pub fn turn(&mut self, way: Way) -> io::Result<()> {
        self.pending += self.pipes[0].read()?;
        let out = &mut self.pipes[way as usize];
        while self.pending >= ORDER_BYTES {
            self.pending -= ORDER_BYTES;
            out.output.extend_from_slice(&self.report);
        }
        out.flush()
    }
}

/// Sends orders as a [`Load`] says and times the answers.
#[derive(Debug)]
pub struct Client {
    pipes: Pipes,
    order: Vec<u8>,
    pending: usize,
}

impl Client {
    /// Takes two connections to a [`Server`].
    ///
    /// # Errors
    ///
    /// A socket refuses its options.
    pub fn new(sockets: [TcpStream; 2]) -> io::Result<Self> {
        Ok(Self {
            pipes: pipes(sockets)?,
            order: vec![b'o'; ORDER_BYTES],
            pending: 0,
        })
    }

    /// Runs the load to its end; the server goes the same way. `pause` is called when nothing happened.
    ///
    /// # Errors
    ///
    /// The connection ended.
    pub fn run(
        &mut self,
        way: Way,
        load: &mut Load,
        clock: &Clock,
        pause: impl Fn(),
    ) -> io::Result<State> {
        load.begin(clock.now());
        loop {
            let now = clock.now();
            for _ in 0..BATCH {
                let Some(intended) = load.due(now) else { break };
                self.pipes[0].output.extend_from_slice(&self.order);
                load.sent(intended, now);
            }
            self.pipes[0].flush()?;
            let count = self.pipes[way as usize].read()?;
            if count == 0 {
                match load.state(now) {
                    State::Running => pause(),
                    end => return Ok(end),
                }
                continue;
            }
            let now = clock.now();
            self.pending += count;
            while self.pending >= REPORT_BYTES {
                self.pending -= REPORT_BYTES;
                match load.oldest() {
                    Some(intended) => load.answered(intended, now),
                    None => load.wrong(),
                }
            }
        }
    }
}
