use super::*;

use std::net::SocketAddr;

use fixwire::Connection;
use fixwire::host::{Dial, ListenerId, Ready, SocketOptions, WakeUp};
use fixwire::transport::Transport;
use fixwire_protocol::session::{BeginString, Config, Role};
use fixwire_protocol::{Nanos, Now};

const CONN: ConnId = ConnId(3);

/// A socket that accepts this number of bytes per write, and the bytes it accepted.
#[derive(Debug, Default)]
struct Socket {
    most: usize,
    is_full: bool,
    taken: Vec<u8>,
}

impl Host for Socket {
    fn now(&mut self) -> Now {
        Now::default()
    }

    fn listen(&mut self, at: SocketAddr, _: &Transport) -> io::Result<(ListenerId, SocketAddr)> {
        Ok((ListenerId(0), at))
    }

    fn accept(&mut self, _: ListenerId) -> io::Result<Option<(ConnId, SocketAddr)>> {
        Ok(None)
    }

    fn dial(&mut self, _: &Dial<'_>) -> io::Result<ConnId> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn dialled(&mut self, _: ConnId) -> io::Result<SocketAddr> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn tune(&mut self, _: ConnId, _: &SocketOptions) -> io::Result<()> {
        Ok(())
    }

    fn read(&mut self, _: ConnId, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::WouldBlock.into())
    }

    /// Accepts nothing every second time.
    fn write(&mut self, conn: ConnId, bytes: &[u8]) -> io::Result<usize> {
        assert_eq!(conn, CONN);
        self.is_full = !self.is_full && self.most < 1000;
        if !self.is_full && self.most < 1000 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let count = bytes.len().min(self.most);
        self.taken.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn close(&mut self, _: ConnId) {}

    fn poll(&mut self, _: Nanos, ready: &mut Vec<Ready>) -> io::Result<()> {
        ready.clear();
        Ok(())
    }

    fn wake_up(&self) -> WakeUp {
        Arc::new(|| {})
    }
}

/// A host for two members, with these faults, and a socket that accepts this many bytes at a time.
fn host(faults: &[&str], most: usize) -> FaultyHost<Socket> {
    let session = |name: &str| {
        let config = Config::new(BeginString::Fix44, Role::Acceptor, b"EX", name.as_bytes());
        let listen = SocketAddr::from(([127, 0, 0, 1], 1));
        SessionConfig::new(name, config, Connection::Acceptor { listen })
    };
    let wire = SharedWire::default();
    for words in faults {
        wire.change(&mut |faults| faults.add(words).unwrap());
    }
    let socket = Socket {
        most,
        ..Socket::default()
    };
    FaultyHost::new(socket, wire, &[session("OMS"), session("MAKER")])
}

/// A complete message; `|` for SOH.
fn message(msg_type: &str, to: &str, fields: &str) -> Vec<u8> {
    let rest = format!("35={msg_type}|34=2|49=EX|52=20260821-13:30:00|56={to}|{fields}");
    let text = format!("8=FIX.4.4|9={}|{rest}", rest.len()).replace('|', "\x01");
    let sum = text.bytes().fold(0_u8, u8::wrapping_add);
    format!("{text}10={sum:03}\x01").into_bytes()
}

/// Writes all bytes as the engine does; returns the bytes at the socket.
fn write(host: &mut FaultyHost<Socket>, messages: &[Vec<u8>]) -> io::Result<Vec<Vec<u8>>> {
    let bytes = messages.concat();
    let mut at = 0;
    while at < bytes.len() {
        match host.write(CONN, &bytes[at..]) {
            Ok(count) => at += count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    let taken = std::mem::take(&mut host.host.taken);
    let mut rest = &taken[..];
    let mut all = Vec::new();
    while !rest.is_empty() {
        let (one, behind) = rest.split_at(length(rest));
        all.push(one.to_vec());
        rest = behind;
    }
    Ok(all)
}

fn sum_is_right(message: &[u8]) -> bool {
    let (text, sum) = message.split_at(message.len() - TRAILER);
    let own = text.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    sum == format!("10={own:03}\x01").as_bytes()
}

#[test]
fn a_wrong_sum_and_a_lost_message_are_those_that_were_asked_for_however_little_the_socket_takes() {
    let report = |id: &str| message("8", "OMS", &format!("11={id}|"));
    let (a, b, c) = (report("A"), report("B"), report("C"));
    let other = message("8", "MAKER", "11=A|");
    let resent = message("8", "OMS", "43=Y|11=A|");
    let beat = message("0", "OMS", "");
    for most in [1, 2, 7, 50, 5000] {
        let mut host = host(
            &["checksum session=OMS count=1", "gap session=OMS count=1"],
            most,
        );
        let sent = [&other, &resent, &beat, &a, &b, &c].map(Clone::clone);
        let heard = write(&mut host, &sent).unwrap();
        let wrong = &heard[3];
        assert_eq!(heard.len(), 5, "{most}");
        assert!(!sum_is_right(wrong));
        assert_eq!(wrong[..wrong.len() - 2], a[..a.len() - 2]);
        let right = [&heard[..3], &heard[4..]].concat();
        assert_eq!(
            right,
            [other.clone(), resent.clone(), beat.clone(), c.clone()]
        );
        // The faults are used up.
        let again = std::slice::from_ref(&a);
        assert_eq!(write(&mut host, again).unwrap(), again);
    }
}

#[test]
fn a_fault_that_comes_in_the_middle_of_a_message_meets_the_next_one() {
    let mut host = host(&[], 30);
    let (a, b) = (message("8", "OMS", "11=A|"), message("8", "OMS", "11=B|"));
    let both = [a.clone(), b].concat();
    let count = host.write(CONN, &both).unwrap();
    assert_eq!(count, 30);
    host.wire.change(&mut |faults| faults.add("gap").unwrap());
    assert_eq!(write(&mut host, &[both[30..].to_vec()]).unwrap(), [a]);
}

#[test]
fn a_cut_connection_has_what_was_before_and_ends() {
    let mut host = host(&["disconnect type=9 count=1"], 5000);
    let (a, b) = (message("8", "OMS", "11=A|"), message("9", "OMS", "11=B|"));
    let error = write(&mut host, &[a.clone(), b.clone(), a.clone()]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionAborted);
    assert_eq!(std::mem::take(&mut host.host.taken), a);
    // The engine closes the connection; the next one works.
    host.close(CONN);
    assert_eq!(write(&mut host, &[b.clone(), a.clone()]).unwrap(), [b, a]);
}
