//! The simulated wire between an exchange and its members. This wire is a host around the system's host, and can inject
//! faults.
//!
//! A fault changes the bytes of a message on the way to the socket, and only once. The journal has the correct message,
//! and a message that is resent (PossDupFlag(43) = Y) is not changed.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use fixwire::host::{ConnId, HostAround};
use fixwire::{Handle, Host, SessionConfig};
use fixwire_exchange::{WireControl, WireFault, WireFaults};
use fixwire_protocol::session::Party;
use fixwire_protocol::{SOH, SessionId};

/// Text(58) of the Logout(5) that a fault sends.
const TEXT: &str = "Logged out by an injected fault";
/// Length of `10=ddd` and SOH.
const TRAILER: usize = 7;
/// Offset of the last digit of the checksum, from the end.
const LAST_DIGIT: usize = 2;
/// Number of fields searched for the header.
const HEADER_FIELDS: usize = 24;

/// State shared by the exchange, its wire and the command that starts them.
#[derive(Clone, Debug, Default)]
pub struct SharedWire {
    faults: Arc<Mutex<WireFaults>>,
    engine: Arc<Mutex<Option<Handle>>>,
}

impl SharedWire {
    /// After this call, faults can log sessions out.
    pub fn give(&self, engine: Handle) {
        *self.engine.lock().unwrap_or_else(PoisonError::into_inner) = Some(engine);
    }

    fn log_out(&self, session: SessionId) {
        let mut engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(engine) = engine.as_mut() {
            // An engine that is busy or ending does not log the session out.
            let _ = engine.log_out(session, TEXT);
        }
    }
}

impl WireControl for SharedWire {
    fn change(&self, change: &mut dyn FnMut(&mut WireFaults)) {
        change(&mut self.faults.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// A member's identity in the headers of messages to it.
#[derive(Debug)]
struct Addressee {
    name: String,
    begin_string: &'static str,
    /// SenderCompID(49), SenderSubID(50), SenderLocationID(142), TargetCompID(56), TargetSubID(57),
    /// TargetLocationID(143).
    ids: [Vec<u8>; 6],
}

impl Addressee {
    fn of(config: &SessionConfig) -> Self {
        let ids = |party: &Party| {
            let party = party.clone();
            [party.comp_id, party.sub_id, party.location_id]
        };
        let ([a, b, c], [d, e, f]) = (ids(&config.session.own), ids(&config.session.peer));
        Self {
            name: config.name.clone(),
            begin_string: config.session.begin_string.as_str(),
            ids: [a, b, c, d, e, f],
        }
    }
}

/// The incomplete message of a connection.
#[derive(Debug, Default)]
struct Cable {
    /// Number of bytes that the message still has; 0 between two messages.
    left: usize,
    fault: Option<WireFault>,
    /// The id of the session.
    session: u32,
}

/// A host that applies injected faults to messages.
#[derive(Debug)]
pub struct FaultyHost<H> {
    host: H,
    wire: SharedWire,
    members: Vec<Addressee>,
    /// The cables, by connection.
    cables: Vec<Cable>,
}

impl<H: Host> FaultyHost<H> {
    /// Wraps `host`, for the sessions of an engine in the order of their ids.
    pub fn new(host: H, wire: SharedWire, sessions: &[SessionConfig]) -> Self {
        Self {
            host,
            wire,
            members: sessions.iter().map(Addressee::of).collect(),
            cables: Vec::new(),
        }
    }

    /// The fault for the message at the start of these bytes.
    fn meet(&self, bytes: &[u8]) -> (Option<WireFault>, u32) {
        let header = Header::of(bytes);
        let is_for = |it: &Addressee| {
            it.begin_string.as_bytes() == header.begin_string && it.ids.iter().eq(header.ids)
        };
        let member = self.members.iter().position(is_for);
        let Some(member) = member.filter(|_| !header.is_resent) else {
            return (None, 0);
        };
        let mut fault = None;
        self.wire.change(&mut |faults| {
            fault = faults.meet(&self.members[member].name, header.msg_type);
        });
        (fault, member as u32)
    }

    fn is_quiet(&self) -> bool {
        let mut is_quiet = true;
        self.wire.change(&mut |faults| is_quiet = faults.is_empty());
        is_quiet
    }

    /// Writes a part of one message.
    fn put(&mut self, conn: ConnId, cable: &Cable, part: &[u8]) -> io::Result<usize> {
        let written = match cable.fault {
            Some(WireFault::CheckSum) => {
                let mut wrong = part.to_vec();
                // The digit is at the end of the message, regardless of how much of the message was written before.
                let at = cable.left.checked_sub(LAST_DIGIT);
                if let Some(digit) = at.and_then(|at| wrong.get_mut(at)) {
                    *digit = if *digit == b'9' { b'0' } else { *digit + 1 };
                }
                self.host.write(conn, &wrong)
            }
            _ => self.host.write(conn, part),
        };
        match written {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            other => other,
        }
    }

    /// Writes message by message; returns the number of processed bytes.
    fn write_each(&mut self, conn: ConnId, cable: &mut Cable, bytes: &[u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < bytes.len() {
            let rest = &bytes[done..];
            if cable.left == 0 {
                cable.left = length(rest);
                (cable.fault, cable.session) = self.meet(rest);
            }
            let part = &rest[..cable.left.min(rest.len())];
            let count = match cable.fault {
                Some(WireFault::Disconnect) => return Err(io::ErrorKind::ConnectionAborted.into()),
                Some(WireFault::Gap) => part.len(),
                _ => self.put(conn, cable, part)?,
            };
            done += count;
            cable.left -= count;
            if cable.left == 0 && cable.fault == Some(WireFault::Logout) {
                self.wire.log_out(SessionId(cable.session));
            }
            if count < part.len() {
                break;
            }
        }
        if done == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(done)
    }
}

impl Cable {
    /// Records that this number of bytes was written unchanged.
    fn pass(&mut self, bytes: &[u8], count: usize) {
        let mut end = self.left;
        while end < count {
            end += length(&bytes[end..]);
        }
        self.left = end - count;
        self.fault = None;
    }
}

/// The header fields that identify the session of a message.
#[derive(Debug, Default)]
struct Header<'a> {
    begin_string: &'a [u8],
    msg_type: &'a [u8],
    is_resent: bool,
    ids: [&'a [u8]; 6],
}

impl<'a> Header<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        let mut header = Self::default();
        for field in bytes.split(|byte| *byte == SOH).take(HEADER_FIELDS) {
            let at = field.iter().position(|byte| *byte == b'=');
            let (tag, value) = field.split_at(at.unwrap_or(field.len()));
            let value = value.get(1..).unwrap_or_default();
            match tag {
                b"8" => header.begin_string = value,
                b"35" => header.msg_type = value,
                b"43" => header.is_resent = value == b"Y",
                b"49" => header.ids[0] = value,
                b"50" => header.ids[1] = value,
                b"142" => header.ids[2] = value,
                b"56" => header.ids[3] = value,
                b"57" => header.ids[4] = value,
                b"143" => header.ids[5] = value,
                b"10" => break,
                _ => {}
            }
        }
        header
    }
}

/// The length of the message at the start of these bytes. If it is unknown, the number of all bytes.
fn length(bytes: &[u8]) -> usize {
    let stated = || {
        let mut fields = bytes.split(|byte| *byte == SOH);
        let (begin, length) = (fields.next()?, fields.next()?);
        let body = str::from_utf8(length.strip_prefix(b"9=")?).ok()?;
        let body: usize = body.parse().ok()?;
        body.checked_add(begin.len() + length.len() + 2 + TRAILER)
    };
    stated().unwrap_or(bytes.len())
}

impl<H: Host> HostAround for FaultyHost<H> {
    type Within = H;

    fn within(&self) -> &H {
        &self.host
    }

    fn within_mut(&mut self) -> &mut H {
        &mut self.host
    }

    fn on_write(&mut self, conn: ConnId, bytes: &[u8]) -> io::Result<usize> {
        let index = conn.0 as usize;
        if index >= self.cables.len() {
            self.cables.resize_with(index + 1, Cable::default);
        }
        let mut cable = std::mem::take(&mut self.cables[index]);
        let written = if cable.fault.is_none() && self.is_quiet() {
            let written = self.host.write(conn, bytes);
            if let Ok(count) = written {
                cable.pass(bytes, count);
            }
            written
        } else {
            self.write_each(conn, &mut cable, bytes)
        };
        self.cables[index] = cable;
        written
    }

    fn on_close(&mut self, conn: ConnId) {
        if let Some(cable) = self.cables.get_mut(conn.0 as usize) {
            *cable = Cable::default();
        }
        self.host.close(conn);
    }
}

#[cfg(test)]
mod tests;
