//! The client of a control socket.

use std::fmt;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use crate::answer::Answer;
use crate::ask::Asked;
use crate::place;

/// A connection with a running engine.
#[derive(Debug)]
pub struct Client {
    stream: BufReader<UnixStream>,
    last: u64,
}

/// Why a request has no result.
#[derive(Debug)]
#[non_exhaustive]
pub enum ClientError {
    /// No engine listens at the socket.
    Nobody,
    /// The connection ended, or failed.
    Io(io::Error),
    /// No answer arrived before the timeout. The engine may still execute the request.
    Timeout,
    /// The engine has closed the connection, because it is stopping; or the socket is not that of an engine.
    HungUp,
    /// The answer is invalid.
    NoAnswer(String),
    /// The engine refused the request, for this reason.
    Refused(String),
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nobody => f.write_str("no engine responds here"),
            Self::Io(error) => write!(f, "cannot query the engine: {error}"),
            Self::Timeout => f.write_str(
                "no response in time: the engine may still execute the request, and raises an event if it does",
            ),
            Self::HungUp => f.write_str("the engine closed the connection before it responded"),
            Self::NoAnswer(why) => write!(f, "invalid response: {why}"),
            Self::Refused(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for ClientError {}

impl From<io::Error> for ClientError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::ConnectionRefused => Self::Nobody,
            ErrorKind::WouldBlock | ErrorKind::TimedOut => Self::Timeout,
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => Self::HungUp,
            _ => Self::Io(error),
        }
    }
}

impl Client {
    /// Connects to the engine that listens at this socket. `patience` is the timeout for each answer.
    ///
    /// # Errors
    ///
    /// No engine listens at the socket, or access is denied.
    pub fn connect(path: &Path, patience: Duration) -> Result<Self, ClientError> {
        let stream = place::connect(path)?;
        stream.set_read_timeout(Some(patience))?;
        stream.set_write_timeout(Some(patience))?;
        Ok(Self {
            stream: BufReader::new(stream),
            last: 0,
        })
    }

    /// Sends a request, and waits for the answer. Each request gets an id of its own.
    ///
    /// # Errors
    ///
    /// The engine refused the request, or did not answer.
    pub fn ask(&mut self, asked: &Asked) -> Result<Answer, ClientError> {
        self.last += 1;
        let asked = Asked {
            id: self.last,
            ..asked.clone()
        };
        // Ignore a write error for now: before it closed the connection, the server may have sent the reason.
        let written = self.stream.get_mut().write_all(asked.line().as_bytes());
        let mut line = Vec::new();
        let read = self.stream.read_until(b'\n', &mut line);
        if !line.ends_with(b"\n") {
            read?;
            written?;
            return Err(ClientError::HungUp);
        }
        let answer: Answer = serde_json::from_slice(&line)
            .map_err(|error| ClientError::NoAnswer(error.to_string()))?;
        match answer.error {
            Some(why) => Err(ClientError::Refused(why)),
            None => Ok(answer),
        }
    }
}
