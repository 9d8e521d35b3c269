//! The other side of a session, with the minimum of FIX.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fixwire_protocol::time::{Precision, Timestamp, TimestampWriter};

/// One end of a session on a plain socket, FIX 4.2 by default.
pub struct Peer {
    socket: TcpStream,
    received: Vec<u8>,
    own: &'static str,
    other: &'static str,
    /// BeginString(8) of its messages.
    pub begin_string: &'static str,
    /// MsgSeqNum of the next message sent.
    pub next_out: u64,
}

impl Peer {
    pub fn connect(port: u16, own: &'static str, other: &'static str) -> Self {
        Self::on(TcpStream::connect(("127.0.0.1", port)).unwrap(), own, other)
    }

    pub fn on(socket: TcpStream, own: &'static str, other: &'static str) -> Self {
        socket
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        socket.set_nodelay(true).unwrap();
        Self {
            socket,
            received: Vec::new(),
            own,
            other,
            begin_string: "FIX.4.2",
            next_out: 1,
        }
    }

    /// Sends a message with the body `fields`, `|` for SOH.
    pub fn send(&mut self, msg_type: &str, fields: &str) {
        let separator = if fields.is_empty() { "" } else { "|" };
        let rest = format!(
            "35={msg_type}|34={}|49={}|52={}|56={}|{fields}{separator}",
            self.next_out,
            self.own,
            utc_now(),
            self.other
        );
        self.send_fields(&rest);
    }

    /// Sends a message with these fields between BodyLength(9) and CheckSum(10), each followed by `|` for SOH.
    pub fn send_fields(&mut self, fields: &str) {
        let message =
            format!("8={}|9={}|{fields}", self.begin_string, fields.len()).replace('|', "\x01");
        let sum = message.bytes().fold(0_u8, u8::wrapping_add);
        self.socket
            .write_all(format!("{message}10={sum:03}\x01").as_bytes())
            .unwrap();
        self.next_out += 1;
    }

    pub fn log_on(&mut self, heart_bt_int: u32) {
        self.send("A", &format!("98=0|108={heart_bt_int}"));
        self.expect("A");
    }

    /// The next message, which must have this type; `|` for SOH.
    pub fn expect(&mut self, msg_type: &str) -> String {
        let message = self
            .next()
            .expect("a message, not the end of the connection");
        assert!(
            message.contains(&format!("|35={msg_type}|")),
            "expected {msg_type}: {message}"
        );
        message
    }

    /// The connection ends without another message.
    pub fn closed(&mut self) {
        assert_eq!(self.next(), None);
    }

    /// The next message, `|` for SOH; `None` at the end of the connection.
    pub fn next(&mut self) -> Option<String> {
        loop {
            if let Some(at) = self
                .received
                .windows(4)
                .position(|bytes| bytes == b"\x0110=")
            {
                let end = at + b"|10=000|".len();
                if self.received.len() >= end {
                    let message: Vec<u8> = self.received.drain(..end).collect();
                    return Some(String::from_utf8(message).unwrap().replace('\x01', "|"));
                }
            }
            let mut bytes = [0; 4096];
            match self.socket.read(&mut bytes) {
                Ok(0) => return None,
                Ok(count) => self.received.extend_from_slice(&bytes[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("no answer: {error}"),
            }
        }
    }
}

/// The body of a NewOrderSingle.
pub fn order(cl_ord_id: &str) -> String {
    format!(
        "11={cl_ord_id}|21=3|55=LCOM1|54=1|60={}|38=1|40=2|44=200|59=0",
        utc_now()
    )
}

pub fn utc_now() -> String {
    utc(0)
}

/// The time this number of seconds from now.
pub fn utc(seconds: i64) -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let now = i64::try_from(since.as_nanos()).unwrap();
    let now = Timestamp(now + seconds * 1_000_000_000);
    String::from_utf8(
        TimestampWriter::new()
            .format(now, Precision::Millis)
            .to_vec(),
    )
    .unwrap()
}
