//! A FIX peer independent of the engine: raw messages over TCP.
//!
//! The rigs judge the engine by its bytes on the wire, so they share no code with it. This code is slow and obvious on
//! purpose.

use std::fmt::Write as _;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The byte after each field.
pub const SOH: u8 = 1;

/// The fields of a message in the order they have; a field without `=` has no value.
pub fn fields(raw: &[u8]) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
    raw.split(|byte| *byte == SOH)
        .filter(|part| !part.is_empty())
        .map(|part| match part.iter().position(|byte| *byte == b'=') {
            Some(at) => (&part[..at], Some(&part[at + 1..])),
            None => (part, None),
        })
}

/// Connects to GATE's session with this version and name, which takes a Logon with this number.
pub fn log_on(
    address: SocketAddr,
    version: &str,
    name: &str,
    number: u64,
    patience: Duration,
) -> Result<Wire, String> {
    let mut wire = Wire::connect(address).map_err(|error| error.to_string())?;
    let now = timestamp(0, true);
    let logon = format!("8={version}|35=A|34={number}|49={name}|52={now}|56=GATE|98=0|108=600|");
    let sent = wire.send(&message(&logon));
    sent.map_err(|error| error.to_string())?;
    let answer = wire.receive(patience).map_err(|error| error.to_string())?;
    match value(&answer, "35") {
        Some(b"A") => Ok(wire),
        _ => Err(format!("{name} got {}", show(&answer))),
    }
}

/// The first value of `tag`.
pub fn value<'a>(raw: &'a [u8], tag: &str) -> Option<&'a [u8]> {
    fields(raw)
        .find(|(name, _)| *name == tag.as_bytes())
        .and_then(|(_, value)| value)
}

/// The first value of `tag` as a number.
pub fn number(raw: &[u8], tag: &str) -> Option<u64> {
    std::str::from_utf8(value(raw, tag)?).ok()?.parse().ok()
}

/// A message for a person to read, with `|` for SOH.
pub fn show(raw: &[u8]) -> String {
    raw.iter()
        .map(|byte| if *byte == SOH { '|' } else { char::from(*byte) })
        .collect()
}

/// Sum of all bytes modulo 256, the value of CheckSum(10).
pub fn checksum(raw: &[u8]) -> u8 {
    raw.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}

/// The fault of a message's frame, or `None`.
pub fn frame_fault(raw: &[u8]) -> Option<String> {
    let mut parts = raw.splitn(4, |byte| *byte == SOH);
    let (Some(begin), Some(length), Some(kind)) = (parts.next(), parts.next(), parts.next()) else {
        return Some("has fewer than three fields".into());
    };
    if !begin.starts_with(b"8=FIX") || !length.starts_with(b"9=") {
        return Some("does not begin with BeginString(8), BodyLength(9)".into());
    }
    if !kind.starts_with(b"35=") {
        return Some("third field is not MsgType(35)".into());
    }
    let body = begin.len() + length.len() + 2;
    let Some(end) = raw.len().checked_sub(7).filter(|end| *end >= body) else {
        return Some("has no room for CheckSum(10)".into());
    };
    if !raw[end..].starts_with(b"10=") || raw.last() != Some(&SOH) || raw[end - 1] != SOH {
        return Some("does not end in a CheckSum(10) of three digits".into());
    }
    if number(raw, "9") != Some((end - body) as u64) {
        return Some(format!("BodyLength(9) should be {}", end - body));
    }
    let sum = format!("{:03}", checksum(&raw[..end]));
    (raw[end + 3..end + 6] != *sum.as_bytes()).then(|| format!("CheckSum(10) should be {sum}"))
}

/// Adds BodyLength(9) and CheckSum(10) to a message that lacks them.
///
/// Text that does not begin with `8=` stays unchanged, and so does a field that is already there, right or wrong.
pub fn complete(raw: &[u8]) -> Vec<u8> {
    let Some(end) = raw
        .iter()
        .position(|byte| *byte == SOH)
        .filter(|_| raw.starts_with(b"8="))
    else {
        return raw.to_vec();
    };
    let (head, rest) = raw.split_at(end + 1);
    let last = rest[..rest.len().saturating_sub(1)]
        .iter()
        .rposition(|byte| *byte == SOH);
    let last = last.map_or(0, |at| at + 1);
    let (body, trailer) = if rest[last..].starts_with(b"10=") {
        rest.split_at(last)
    } else {
        (rest, &rest[..0])
    };
    let mut message = head.to_vec();
    if !fields(body).any(|(tag, value)| tag == b"9" && value.is_some()) {
        message.extend_from_slice(format!("9={}\u{1}", body.len()).as_bytes());
    }
    message.extend_from_slice(body);
    if trailer.is_empty() {
        let sum = checksum(&message);
        message.extend_from_slice(format!("10={sum:03}\u{1}").as_bytes());
    } else {
        message.extend_from_slice(trailer);
    }
    message
}

/// A whole message from text with `|` for SOH.
pub fn message(text: &str) -> Vec<u8> {
    complete(
        &text
            .bytes()
            .map(|byte| if byte == b'|' { SOH } else { byte })
            .collect::<Vec<_>>(),
    )
}

/// The present time plus this number of seconds, as `UTCTimestamp` with or without milliseconds.
pub fn timestamp(offset_seconds: i64, with_milliseconds: bool) -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let seconds = now.as_secs() as i64 + offset_seconds;
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil(days);
    let mut text = format!(
        "{year:04}{month:02}{day:02}-{:02}:{:02}:{:02}",
        second / 3_600,
        second / 60 % 60,
        second % 60
    );
    if with_milliseconds {
        let _ = write!(text, ".{:03}", now.subsec_millis());
    }
    text
}

/// Year, month and day of a day counted from 1970-01-01.
fn civil(mut days: i64) -> (i64, i64, i64) {
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let mut year = 1970;
    while days >= 365 + i64::from(leap(year)) {
        days -= 365 + i64::from(leap(year));
        year += 1;
    }
    let lengths = [
        31,
        28 + i64::from(leap(year)),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    let mut month = 0;
    while days >= lengths[month] {
        days -= lengths[month];
        month += 1;
    }
    (year, month as i64 + 1, days + 1)
}

/// The reason why a peer got no message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Missing {
    /// The other side closed the connection.
    Closed,
    /// No whole message came within this time.
    Silent(Duration),
    /// The received bytes begin no message.
    NotFix(String),
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Closed => write!(f, "the engine closed the connection"),
            Self::Silent(time) => write!(f, "nothing received within {time:?}"),
            Self::NotFix(bytes) => write!(f, "bytes that are not FIX: {bytes}"),
        }
    }
}

/// One connection and the received bytes that were not taken yet.
#[derive(Debug)]
pub struct Wire {
    stream: TcpStream,
    received: Vec<u8>,
    start: usize,
    closed: bool,
}

impl Wire {
    /// Connects with TCP_NODELAY.
    pub fn connect(address: SocketAddr) -> std::io::Result<Self> {
        Self::over(TcpStream::connect_timeout(
            &address,
            Duration::from_secs(5),
        )?)
    }

    /// Talks over an existing connection.
    pub fn over(stream: TcpStream) -> std::io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(Duration::from_secs(10)))?;
        Ok(Self {
            stream,
            received: Vec::new(),
            start: 0,
            closed: false,
        })
    }

    /// Writes all bytes; an error means that the other side has gone or does not read.
    pub fn send(&mut self, raw: &[u8]) -> std::io::Result<()> {
        self.stream.write_all(raw)
    }

    /// Ends one direction or both, for every user of the connection.
    pub fn shut_down(&self, how: std::net::Shutdown) -> std::io::Result<()> {
        self.stream.shutdown(how)
    }

    /// The next whole message.
    pub fn receive(&mut self, patience: Duration) -> Result<Vec<u8>, Missing> {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(message) = self.take()? {
                return Ok(message);
            }
            if self.closed {
                return Err(Missing::Closed);
            }
            if !self.fill(deadline) {
                return Err(Missing::Silent(patience));
            }
        }
    }

    /// Waits until the other side has closed the connection without a further byte.
    pub fn expect_close(&mut self, patience: Duration) -> Result<(), String> {
        let deadline = Instant::now() + patience;
        while !self.closed && self.rest().is_empty() && self.fill(deadline) {}
        if !self.rest().is_empty() {
            return Err(format!(
                "expected a disconnect, received {}",
                show(self.rest())
            ));
        }
        if self.closed {
            Ok(())
        } else {
            Err(format!("connection still open after {patience:?}"))
        }
    }

    fn rest(&self) -> &[u8] {
        &self.received[self.start..]
    }

    /// Reads some bytes; false when the deadline has passed.
    fn fill(&mut self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || self.stream.set_read_timeout(Some(left)).is_err() {
            return false;
        }
        self.received.drain(..self.start);
        self.start = 0;
        let mut chunk = [0; 65_536];
        match self.stream.read(&mut chunk) {
            Ok(0) => self.closed = true,
            Ok(count) => self.received.extend_from_slice(&chunk[..count]),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut => return false,
                ErrorKind::Interrupted => {}
                _ => self.closed = true,
            },
        }
        true
    }

    /// One message from the received bytes, or `None` when it is not complete.
    fn take(&mut self) -> Result<Option<Vec<u8>>, Missing> {
        let bytes = &self.received[self.start..];
        let not_fix = || Missing::NotFix(show(&bytes[..bytes.len().min(200)]));
        let begins = bytes.len().min(2);
        if bytes[..begins] != b"8="[..begins] {
            return Err(not_fix());
        }
        let mut ends = bytes
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == SOH)
            .map(|(at, _)| at);
        let (Some(begin), Some(length)) = (ends.next(), ends.next()) else {
            return Ok(None);
        };
        let text = bytes[begin + 1..length]
            .strip_prefix(b"9=")
            .ok_or_else(not_fix)?;
        let body: usize = std::str::from_utf8(text)
            .ok()
            .filter(|text| text.len() <= 9)
            .and_then(|text| text.parse().ok())
            .ok_or_else(not_fix)?;
        let trailer = length + 1 + body;
        let Some(end) = bytes
            .get(trailer..)
            .and_then(|rest| rest.iter().position(|b| *b == SOH))
        else {
            return Ok(None);
        };
        let message = bytes[..trailer + end + 1].to_vec();
        self.start += message.len();
        Ok(Some(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_message_is_completed_and_its_frame_holds() {
        let raw = message("8=FIX.4.2|35=0|34=1|");
        assert_eq!(show(&raw), "8=FIX.4.2|9=10|35=0|34=1|10=163|");
        assert_eq!(frame_fault(&raw), None);
    }

    #[test]
    fn what_is_already_there_stays() {
        assert_eq!(
            show(&message("8=FIX.4.2|9=1|35=0|10=000|")),
            "8=FIX.4.2|9=1|35=0|10=000|"
        );
        assert_eq!(show(&message("garbage|")), "garbage|");
    }

    #[test]
    fn each_fault_of_a_frame_is_named() {
        for (text, fault) in [
            ("8=FIX.4.2|", "fewer than three"),
            ("8=FIX.4.2", "fewer than three"),
            ("9=5|8=FIX.4.2|35=0|10=000|", "begin with"),
            ("8=FIX.4.2|34=1|35=0|", "begin with"),
            ("8=FIX.4.2|9=5|34=1|", "third field"),
            ("8=FIX.4.2|9=6|35=0|10=161|", "BodyLength(9) should be 5"),
            ("8=FIX.4.2|9=5|35=0|10=000|", "CheckSum(10) should"),
            ("8=FIX.4.2|9=5|35=0|10=0000|", "three digits"),
        ] {
            let raw: Vec<u8> = text
                .bytes()
                .map(|b| if b == b'|' { SOH } else { b })
                .collect();
            let found = frame_fault(&raw).unwrap_or_default();
            assert!(found.contains(fault), "{text}: {found}");
        }
    }

    #[test]
    fn days_become_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(19_782), (2024, 2, 29));
        assert_eq!(civil(20_778), (2026, 11, 21));
    }

    #[test]
    fn messages_arrive_whole_at_any_split_then_the_end() -> std::io::Result<()> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let mut wire = Wire::connect(listener.local_addr()?)?;
        let (mut engine, _) = listener.accept()?;
        let raw = message("8=FIX.4.2|35=0|34=1|");
        for part in raw.chunks(3) {
            engine.write_all(part)?;
        }
        assert_eq!(wire.receive(Duration::from_secs(5)), Ok(raw));
        let short = Duration::from_millis(20);
        assert_eq!(wire.receive(short), Err(Missing::Silent(short)));
        assert!(wire.expect_close(short).is_err());
        drop(engine);
        assert_eq!(wire.expect_close(Duration::from_secs(5)), Ok(()));
        Ok(())
    }
}
