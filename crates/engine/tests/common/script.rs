//! A world in memory: one peer that logs on and then sends orders as fast as they are read.

use std::io::{self, ErrorKind, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use fixwire::host::{ConnId, Dial, ListenerId, Ready, SocketOptions, WakeUp};
use fixwire::journal::{Directory, JournalError, Memory, OsDisk};
use fixwire::protocol::{Mono, Nanos, Now, Timestamp, frame};
use fixwire::transport::Transport;
use fixwire::{Durability, EngineConfig, Host};

/// 2026-08-21T13:30:00Z
const WALL: i64 = 1_787_319_000_000_000_000;
const PEER: ConnId = ConnId(0);

/// Sends `left` orders in batches and counts what comes back.
pub struct Script {
    pub left: u64,
    pub batch: usize,
    /// Bytes and messages that the engine wrote.
    pub bytes: u64,
    pub reports: u64,
    pub writes: u64,
    /// What the engine wrote, when a test wants it.
    pub output: Option<Vec<u8>>,
    /// Bytes that the peer's socket takes in each turn.
    pub allowance: usize,
    taken: usize,
    blocked: bool,
    next_seq: u64,
    connected: bool,
    mono: u64,
}

impl Script {
    pub fn new(batch: usize) -> Self {
        Self {
            left: 0,
            batch,
            bytes: 0,
            reports: 0,
            writes: 0,
            output: None,
            allowance: usize::MAX,
            taken: 0,
            blocked: false,
            next_seq: 1,
            connected: false,
            mono: 0,
        }
    }

    /// Writes the next message; its length.
    fn message(&mut self, mut into: &mut [u8], msg_type: &str, body: &str) -> usize {
        let room = into.len();
        let seq = self.next_seq;
        self.next_seq += 1;
        let digits = seq.ilog10() as usize + 1;
        let head = "35=|34=|49=BENCH|52=20260821-13:30:00.000|56=EXEC|";
        let len = head.len() + msg_type.len() + digits + body.len();
        write!(
            into,
            "8=FIX.4.2\x019={len}\x0135={msg_type}\x0134={seq}\x0149=BENCH\x01\
             52=20260821-13:30:00.000\x0156=EXEC\x01{body}10=000\x01"
        )
        .expect("room for a message");
        room - into.len()
    }
}

/// The order of the published benchmarks.
const ORDER: &str = "1=ABCTEST1\x0111=1787319000000000000\x0121=3\x0138=1\x0140=2\x0144=200.0\x01\
                     48=LCOM1\x0122=5\x0154=1\x0155=LCOM1\x0159=0\x01\
                     60=20260821-13:30:00.000\x01167=FUT\x01200=201106\x01";

impl Host for Script {
    type Disk = OsDisk;

    fn disk(&mut self, config: &EngineConfig) -> Result<OsDisk, JournalError> {
        Ok(match config.durability {
            Durability::Memory => OsDisk::Memory(Memory::new(3)),
            _ => OsDisk::Directory(Directory::open(PathBuf::from(&config.journal_dir))?),
        })
    }

    fn now(&mut self) -> Now {
        self.mono += 1_000;
        Now {
            wall: Timestamp(WALL),
            mono: Mono(self.mono),
        }
    }

    fn listen(&mut self, at: SocketAddr, _: &Transport) -> io::Result<(ListenerId, SocketAddr)> {
        Ok((ListenerId(0), at))
    }

    fn accept(&mut self, _: ListenerId) -> io::Result<Option<(ConnId, SocketAddr)>> {
        if self.connected {
            return Ok(None);
        }
        self.connected = true;
        Ok(Some((PEER, SocketAddr::from(([127, 0, 0, 1], 9)))))
    }

    fn dial(&mut self, _: &Dial<'_>) -> io::Result<ConnId> {
        Err(ErrorKind::Unsupported.into())
    }

    fn dialled(&mut self, _: ConnId) -> io::Result<SocketAddr> {
        Err(ErrorKind::WouldBlock.into())
    }

    fn tune(&mut self, _: ConnId, _: &SocketOptions) -> io::Result<()> {
        Ok(())
    }

    fn read(&mut self, _: ConnId, into: &mut [u8]) -> io::Result<usize> {
        let mut at = 0;
        if self.next_seq == 1 {
            at += self.message(into, "A", "98=0\x01108=30\x01");
            seal(&mut into[..at]);
        }
        for _ in 0..self.batch {
            if self.left == 0 || into.len() - at < 512 {
                break;
            }
            self.left -= 1;
            let len = self.message(&mut into[at..], "D", ORDER);
            seal(&mut into[at..at + len]);
            at += len;
        }
        if at == 0 {
            Err(ErrorKind::WouldBlock.into())
        } else {
            Ok(at)
        }
    }

    fn write(&mut self, _: ConnId, bytes: &[u8]) -> io::Result<usize> {
        assert!(!self.blocked, "a socket that is full is not written to");
        self.writes += 1;
        let count = bytes.len().min(self.allowance - self.taken);
        self.blocked = count < bytes.len();
        self.taken += if self.allowance == usize::MAX {
            0
        } else {
            count
        };
        let bytes = &bytes[..count];
        self.bytes += count as u64;
        if let Some(output) = &mut self.output {
            output.extend_from_slice(bytes);
        }
        let starts = bytes.windows(10).filter(|at| *at == b"8=FIX.4.2\x01");
        self.reports += starts.count() as u64;
        if count == 0 {
            Err(ErrorKind::WouldBlock.into())
        } else {
            Ok(count)
        }
    }

    fn close(&mut self, _: ConnId) {}

    fn poll(&mut self, _: Nanos, ready: &mut Vec<Ready>) -> io::Result<()> {
        ready.clear();
        self.taken = 0;
        if std::mem::take(&mut self.blocked) {
            ready.push(Ready::Write(PEER));
        }
        ready.push(if self.connected {
            Ready::Read(PEER)
        } else {
            Ready::Accept(ListenerId(0))
        });
        Ok(())
    }

    fn wake_up(&self) -> WakeUp {
        Arc::new(|| {})
    }
}

fn seal(message: &mut [u8]) {
    let at = message.len() - 7;
    let sum = frame::check_sum(&message[..at]);
    message[at + 3] = b'0' + sum / 100;
    message[at + 4] = b'0' + sum / 10 % 10;
    message[at + 5] = b'0' + sum % 10;
}
