//! In-memory sockets, and a clock that advances when it is read.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use fixwire::Host;
use fixwire::host::{ConnId, Dial, ListenerId, Ready, SocketOptions, WakeUp};
use fixwire::transport::Transport;
use fixwire_protocol::{Frame, Mono, Nanos, Now, Timestamp, frame};

/// 2026-08-21T13:30:00.123Z, the wall-clock time of all events here.
pub(crate) const WALL: Timestamp = Timestamp(1_787_319_000_123_000_000);
/// The first peer's address; the others are consecutive.
const ADDRESS: u32 = 0x0A00_0001;

/// One peer's connection.
#[derive(Default)]
struct Wire {
    to_engine: Vec<u8>,
    hung_up: bool,
    /// Whether the connection is listed in [`Wires::news`].
    is_news: bool,
    /// Number of complete FIX messages that the engine wrote.
    messages: usize,
    /// Bytes that the engine wrote; `None` when no one reads them.
    kept: Option<Vec<u8>>,
    /// Whether this is the connection of a TMP link.
    is_link: bool,
}

/// The listening port of the TMP link; other ports belong to FIX sessions.
pub(crate) const LINK_PORT: u16 = 2;
/// The listener of the TMP link, and the listener of FIX sessions.
const OF_LINK: ListenerId = ListenerId(1);
const OF_SESSIONS: ListenerId = ListenerId(0);

/// The connections of the peers, in order.
#[derive(Default)]
pub(crate) struct Wires {
    peers: Vec<Wire>,
    /// Connections that the engine has not accepted yet.
    waiting: VecDeque<u32>,
    /// The peer of the TMP link that the engine has not accepted yet.
    link: Option<u32>,
    /// Connections that have bytes to read and were not reported to the engine yet.
    news: Vec<u32>,
    mono: Mono,
}

impl Wires {
    /// A peer connects and sends these bytes.
    pub(crate) fn connect(&mut self, number: usize, bytes: &[u8]) {
        if number >= self.peers.len() {
            self.peers.resize_with(number + 1, Wire::default);
        }
        self.peers[number].to_engine.extend_from_slice(bytes);
        self.waiting.push_back(number as u32);
    }

    /// The peer of a TMP link connects. Bytes that the engine writes to it are kept.
    pub(crate) fn connect_link(&mut self, number: usize) {
        if number >= self.peers.len() {
            self.peers.resize_with(number + 1, Wire::default);
        }
        self.keep(number);
        self.peers[number].is_link = true;
        self.link = Some(number as u32);
    }

    /// Bytes that the engine writes for this peer are kept from now on.
    pub(crate) fn keep(&mut self, number: usize) {
        self.peers[number].kept.get_or_insert_default();
    }

    /// Moves the bytes that were kept for a peer to the end of `to`.
    pub(crate) fn take_kept(&mut self, number: usize, to: &mut Vec<u8>) {
        if let Some(kept) = &mut self.peers[number].kept {
            to.append(kept);
        }
    }

    /// Advances the time.
    pub(crate) fn pass(&mut self, time: Nanos) {
        self.mono = self.mono + time;
    }

    /// The monotonic clock.
    pub(crate) fn mono(&self) -> Mono {
        self.mono
    }

    /// A connected peer sends these bytes.
    pub(crate) fn send(&mut self, number: usize, bytes: &[u8]) {
        self.peers[number].to_engine.extend_from_slice(bytes);
        self.note_news(number);
    }

    /// A peer closes its connection.
    pub(crate) fn hang_up(&mut self, number: usize) {
        self.peers[number].hung_up = true;
        self.note_news(number);
    }

    fn note_news(&mut self, number: usize) {
        if !std::mem::replace(&mut self.peers[number].is_news, true) {
            self.news.push(number as u32);
        }
    }

    /// Whether a peer has received this number of new messages. If so, they no longer count as new.
    pub(crate) fn took(&mut self, number: usize, count: usize) -> bool {
        let wire = &mut self.peers[number];
        let enough = wire.messages >= count;
        wire.messages -= if enough { count } else { 0 };
        enough
    }
}

impl Host for Wires {
    fn now(&mut self) -> Now {
        self.mono.0 += 1_000;
        Now {
            wall: WALL,
            mono: self.mono,
        }
    }

    fn listen(&mut self, at: SocketAddr, _: &Transport) -> io::Result<(ListenerId, SocketAddr)> {
        let is_of_link = at.port() == LINK_PORT;
        Ok((if is_of_link { OF_LINK } else { OF_SESSIONS }, at))
    }

    fn accept(&mut self, listener: ListenerId) -> io::Result<Option<(ConnId, SocketAddr)>> {
        let next = match listener {
            OF_LINK => self.link.take(),
            _ => self.waiting.pop_front(),
        };
        let Some(number) = next else {
            return Ok(None);
        };
        self.peers[number as usize].hung_up = false;
        self.note_news(number as usize);
        let address = Ipv4Addr::from_bits(ADDRESS + number);
        Ok(Some((ConnId(number), SocketAddr::from((address, 2)))))
    }

    fn dial(&mut self, _: &Dial<'_>) -> io::Result<ConnId> {
        Err(ErrorKind::Unsupported.into())
    }

    fn dialled(&mut self, _: ConnId) -> io::Result<SocketAddr> {
        Err(ErrorKind::Unsupported.into())
    }

    fn tune(&mut self, _: ConnId, _: &SocketOptions) -> io::Result<()> {
        Ok(())
    }

    fn read(&mut self, conn: ConnId, into: &mut [u8]) -> io::Result<usize> {
        let wire = &mut self.peers[conn.0 as usize];
        let arrived = &mut wire.to_engine;
        if arrived.is_empty() {
            return match wire.hung_up {
                true => Ok(0),
                false => Err(ErrorKind::WouldBlock.into()),
            };
        }
        let len = arrived.len().min(into.len());
        into[..len].copy_from_slice(&arrived[..len]);
        arrived.drain(..len);
        if !arrived.is_empty() || wire.hung_up {
            self.note_news(conn.0 as usize);
        }
        Ok(len)
    }

    fn write(&mut self, conn: ConnId, bytes: &[u8]) -> io::Result<usize> {
        let wire = &mut self.peers[conn.0 as usize];
        if let Some(kept) = &mut wire.kept {
            kept.extend_from_slice(bytes);
        }
        if wire.is_link {
            return Ok(bytes.len());
        }
        let mut left = bytes;
        while let Some(len) = length(left) {
            wire.messages += 1;
            left = &left[len..];
        }
        Ok(bytes.len())
    }

    fn close(&mut self, conn: ConnId) {
        self.peers[conn.0 as usize].hung_up = false;
    }

    fn poll(&mut self, _: Nanos, ready: &mut Vec<Ready>) -> io::Result<()> {
        ready.clear();
        if !self.waiting.is_empty() {
            ready.push(Ready::Accept(OF_SESSIONS));
        }
        if self.link.is_some() {
            ready.push(Ready::Accept(OF_LINK));
        }
        for number in &self.news {
            self.peers[*number as usize].is_news = false;
            ready.push(Ready::Read(ConnId(*number)));
        }
        self.news.clear();
        Ok(())
    }

    fn wake_up(&self) -> WakeUp {
        Arc::new(|| {})
    }
}

/// Length of the first message in these bytes, by BodyLength(9) alone. An engine writes complete messages, and
/// checking each byte would cost more than the engine does.
fn length(bytes: &[u8]) -> Option<usize> {
    const HEAD: usize = "8=FIX.4.2|9=".len();
    const TRAILER: usize = "10=000|".len();
    let digits = bytes.get(HEAD..)?;
    let count = digits.iter().position(|byte| *byte == 1)?;
    let body = digits[..count]
        .iter()
        .fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0'));
    let len = HEAD + count + 1 + body + TRAILER;
    debug_assert!(
        matches!(frame::next(bytes, 1 << 16), Frame::Whole { len: whole, .. } if whole == len)
    );
    Some(len)
}
