//! A non-blocking socket: reads and writes as many bytes as it can.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use fixwire_protocol::{Decoder, Frame, Message, frame};

use crate::error::Error;

/// One end of a connection, with a buffer for each direction.
#[derive(Debug)]
pub struct Pipe {
    socket: TcpStream,
    input: Vec<u8>,
    start: usize,
    end: usize,
    /// Number of bytes at the end of the input that the kernel's buffer still has too.
    untaken: usize,
    /// Output buffer.
    pub output: Vec<u8>,
    written: usize,
}

const ROOM: usize = 256 << 10;
/// The longest message, bytes.
pub(crate) const MOST: usize = 4096;

impl Pipe {
    /// Takes a connection over. Without `nodelay`, Nagle's algorithm holds small writes back.
    ///
    /// # Errors
    ///
    /// The socket refuses its options.
    pub fn new(socket: TcpStream, nodelay: bool) -> io::Result<Self> {
        socket.set_nodelay(nodelay)?;
        socket.set_nonblocking(true)?;
        Ok(Self {
            socket,
            input: vec![0; ROOM],
            start: 0,
            end: 0,
            untaken: 0,
            output: Vec::with_capacity(ROOM),
            written: 0,
        })
    }

    /// Reads available bytes; returns their number, or 0. On a connection without replies, Linux acknowledges data
    /// within the read. With `one_way` it acknowledges in [`take`](Self::take), which must follow.
    ///
    /// # Errors
    ///
    /// The connection ended.
    #[inline]
    pub fn read(&mut self, one_way: bool) -> io::Result<usize> {
        self.take()?;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.input.len() {
            self.input.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let room = &mut self.input[self.end..];
        let result = match one_way {
            true => self.socket.peek(room),
            false => self.socket.read(room),
        };
        match result {
            Ok(0) => Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                self.end += count;
                self.untaken = if one_way { count } else { 0 };
                Ok(count)
            }
            Err(error) if idle(&error) => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Takes the data of a one-way read from the kernel, by reading the same bytes into the same place.
    ///
    /// # Errors
    ///
    /// The connection ended.
    #[inline]
    pub fn take(&mut self) -> io::Result<()> {
        if self.untaken > 0 {
            let from = self.end - std::mem::take(&mut self.untaken);
            self.socket.read_exact(&mut self.input[from..self.end])?;
        }
        Ok(())
    }

    /// Received bytes that are not consumed yet.
    #[inline]
    pub fn unread(&self) -> &[u8] {
        &self.input[self.start..self.end]
    }

    /// Consumes the first bytes.
    #[inline]
    pub fn consume(&mut self, count: usize) {
        self.start += count;
    }

    /// Writes as many bytes as the socket accepts.
    ///
    /// # Errors
    ///
    /// The connection ended.
    #[inline]
    pub fn flush(&mut self) -> io::Result<()> {
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

impl Pipe {
    /// Sends the output, waits for one complete message, and passes it to `take`. Between two reads `goes_on` does
    /// other work, and returns whether an answer can still arrive.
    pub(crate) fn exchange<T>(
        &mut self,
        decoder: &mut Decoder,
        patience: Duration,
        take: impl FnOnce(&Message<'_>) -> T,
        mut goes_on: impl FnMut() -> Result<bool, Error>,
    ) -> Result<T, Error> {
        let start = Instant::now();
        loop {
            self.flush().map_err(broken)?;
            self.read(false).map_err(broken)?;
            if let Frame::Whole { skip, len } = frame::next(self.unread(), MOST) {
                let taken = take(&decoder.decode(&self.unread()[skip..skip + len]));
                self.consume(skip + len);
                return Ok(taken);
            }
            if !goes_on()? || start.elapsed() > patience {
                return Err(Error::Session("no answer in time".to_owned()));
            }
        }
    }
}

/// The error for a connection that ended.
pub(crate) fn broken(error: io::Error) -> Error {
    Error::Session(format!("the connection ended: {error}"))
}

fn idle(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
