//! The PROXY header that a load balancer puts at the start of a connection to announce the client.
//!
//! Version 1 of the header is a line of text, version 2 is binary. Exactly the header is removed from the stream; the
//! rest is from the client.
//!
//! ```text
//! 1   PROXY TCP4 192.0.2.1 198.51.100.2 56324 5001 CR LF            at most 107 bytes
//! 2   0D 0A 0D 0A 00 0D 0A 51 55 49 54 0A | version, command | family | length: 2 | addresses, TLVs
//! ```

use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Maximum length of a line of version 1, with its line end.
const LONGEST_LINE: usize = 107;
/// Maximum length of a header of version 2. The parts that the specification defines need 536 bytes.
pub const LONGEST: usize = 4096;
const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";

/// The meaning of the first bytes of a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Announced {
    /// The header is not complete yet.
    More,
    /// A header of this length, with the address of the client. `None` when the load balancer itself is the client or
    /// does not know the address.
    Client(usize, Option<SocketAddr>),
}

/// Why bytes are not a PROXY header.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum AnnounceFault {
    /// The connection begins with other data.
    Absent,
    /// The header is longer than a header may be.
    TooLong,
    /// The bytes begin like a header but are not a valid header.
    Malformed,
    /// The connection ended in the middle of the header.
    CutShort,
}

impl fmt::Display for AnnounceFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Absent => {
                "the load balancer sent no PROXY header; enable its PROXY protocol, or set UseTCPProxy=N"
            }
            Self::TooLong => "the load balancer's PROXY header is too long",
            Self::Malformed => "the load balancer's PROXY header is malformed",
            Self::CutShort => "connection closed within the load balancer's PROXY header",
        })
    }
}

impl std::error::Error for AnnounceFault {}

impl From<AnnounceFault> for io::Error {
    fn from(fault: AnnounceFault) -> Self {
        Self::new(ErrorKind::InvalidData, fault)
    }
}

/// Reads a PROXY header, version 1 or 2, from the first bytes of a connection.
///
/// # Errors
///
/// [`AnnounceFault`] as soon as it is clear that the bytes cannot become a valid header.
///
/// # Source
///
/// The PROXY protocol, HAProxy, versions 1 and 2.
pub fn parse(bytes: &[u8]) -> Result<Announced, AnnounceFault> {
    let begins = |with: &[u8]| bytes.iter().zip(with).all(|(byte, other)| byte == other);
    if begins(&SIGNATURE) {
        binary(bytes)
    } else if begins(b"PROXY ") {
        line(bytes)
    } else {
        Err(AnnounceFault::Absent)
    }
}

fn line(bytes: &[u8]) -> Result<Announced, AnnounceFault> {
    let part = &bytes[..bytes.len().min(LONGEST_LINE)];
    let Some(end) = part.windows(2).position(|pair| pair == b"\r\n") else {
        return match part.len() {
            LONGEST_LINE => Err(AnnounceFault::TooLong),
            _ => Ok(Announced::More),
        };
    };
    let text = std::str::from_utf8(&part[..end]).map_err(|_| AnnounceFault::Malformed)?;
    let mut words = text.split(' ').skip(1);
    let client = match words.next() {
        Some("UNKNOWN") => None,
        Some(family @ ("TCP4" | "TCP6")) => {
            let address = |text: Option<&str>| -> Option<IpAddr> {
                let address: IpAddr = text?.parse().ok()?;
                (address.is_ipv4() == (family == "TCP4")).then_some(address)
            };
            let port = |text: Option<&str>| text?.parse::<u16>().ok();
            let (from, to) = (address(words.next()), address(words.next()));
            let (from_port, to_port) = (port(words.next()), port(words.next()));
            let (Some(from), Some(_), Some(port), Some(_), None) =
                (from, to, from_port, to_port, words.next())
            else {
                return Err(AnnounceFault::Malformed);
            };
            Some(SocketAddr::new(from, port))
        }
        _ => return Err(AnnounceFault::Malformed),
    };
    Ok(Announced::Client(end + 2, client))
}

fn binary(bytes: &[u8]) -> Result<Announced, AnnounceFault> {
    let Some(fixed) = bytes.get(SIGNATURE.len()..SIGNATURE.len() + 4) else {
        return Ok(Announced::More);
    };
    let (version, command) = (fixed[0] >> 4, fixed[0] & 0xF);
    if version != 2 || command > 1 {
        return Err(AnnounceFault::Malformed);
    }
    let begin = SIGNATURE.len() + 4;
    let end = begin + usize::from(u16::from_be_bytes([fixed[2], fixed[3]]));
    if end > LONGEST {
        return Err(AnnounceFault::TooLong);
    }
    let Some(body) = bytes.get(begin..end) else {
        return Ok(Announced::More);
    };
    let port = |at: usize| Some(u16::from_be_bytes([*body.get(at)?, *body.get(at + 1)?]));
    // Only TCP and UDP over IPv4 and IPv6 have an IP address.
    let client = match (command, fixed[1] >> 4) {
        (0, _) => None,
        (_, 1) => {
            let octets: Option<[u8; 4]> = body.get(..4).and_then(|part| part.try_into().ok());
            let (Some(octets), Some(port), Some(_)) = (octets, port(8), port(10)) else {
                return Err(AnnounceFault::Malformed);
            };
            Some(SocketAddr::new(Ipv4Addr::from(octets).into(), port))
        }
        (_, 2) => {
            let octets: Option<[u8; 16]> = body.get(..16).and_then(|part| part.try_into().ok());
            let (Some(octets), Some(port), Some(_)) = (octets, port(32), port(34)) else {
                return Err(AnnounceFault::Malformed);
            };
            Some(SocketAddr::new(Ipv6Addr::from(octets).into(), port))
        }
        _ => None,
    };
    Ok(Announced::Client(end, client))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v2(command: u8, family: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = SIGNATURE.to_vec();
        bytes.extend([0x20 | command, family]);
        bytes.extend((body.len() as u16).to_be_bytes());
        bytes.extend(body);
        bytes
    }

    fn client(text: &str) -> Option<SocketAddr> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn every_beginning_of_a_header_waits_for_its_end_and_takes_no_more() {
        let v4 = [192, 0, 2, 1, 198, 51, 100, 2, 0xDC, 0x04, 0x13, 0x89];
        let mut v6 = [0; 36];
        v6[..16].copy_from_slice(&"2001:db8::7".parse::<Ipv6Addr>().unwrap().octets());
        v6[32..34].copy_from_slice(&7u16.to_be_bytes());
        let with_tlv = [&v4[..], &[4, 0, 3, 1, 2, 3]].concat();
        for (header, wanted) in [
            (
                b"PROXY TCP4 192.0.2.1 198.51.100.2 56324 5001\r\n".to_vec(),
                client("192.0.2.1:56324"),
            ),
            (
                b"PROXY TCP6 2001:db8::7 ::1 7 5001\r\n".to_vec(),
                client("[2001:db8::7]:7"),
            ),
            (b"PROXY UNKNOWN\r\n".to_vec(), None),
            (b"PROXY UNKNOWN ffff::1 ::1 1 2\r\n".to_vec(), None),
            (v2(1, 0x11, &v4), client("192.0.2.1:56324")),
            (v2(1, 0x11, &with_tlv), client("192.0.2.1:56324")),
            (v2(1, 0x21, &v6), client("[2001:db8::7]:7")),
            (v2(0, 0, &[]), None),
            (v2(1, 0x31, &[0; 216]), None),
        ] {
            for cut in 0..header.len() {
                assert_eq!(
                    parse(&header[..cut]),
                    Ok(Announced::More),
                    "{header:?} {cut}"
                );
            }
            let more = [&header[..], b"8=FIX.4.4\x019="].concat();
            assert_eq!(parse(&more), Ok(Announced::Client(header.len(), wanted)));
        }
    }

    #[test]
    fn what_is_no_header_is_told_from_what_is_a_bad_one() {
        let long = [b"PROXY TCP4 ".as_slice(), &[b'1'; 200]].concat();
        let mut old = v2(1, 0x11, &[0; 12]);
        old[12] = 0x11;
        for (bytes, fault) in [
            (b"8=FIX.4.4".to_vec(), AnnounceFault::Absent),
            (b"\x16\x03\x01".to_vec(), AnnounceFault::Absent),
            (b"PROXX".to_vec(), AnnounceFault::Absent),
            (long, AnnounceFault::TooLong),
            (v2(1, 0x11, &[0; LONGEST]), AnnounceFault::TooLong),
            (
                b"PROXY TCP4 1.2.3.4 5.6.7.8 1\r\n".to_vec(),
                AnnounceFault::Malformed,
            ),
            (
                b"PROXY TCP4 ::1 ::1 1 2\r\n".to_vec(),
                AnnounceFault::Malformed,
            ),
            (
                b"PROXY TCP4 1.2.3.4 5.6.7.8 1 65536\r\n".to_vec(),
                AnnounceFault::Malformed,
            ),
            (
                b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2 3\r\n".to_vec(),
                AnnounceFault::Malformed,
            ),
            (
                b"PROXY TCP5 1.2.3.4 5.6.7.8 1 2\r\n".to_vec(),
                AnnounceFault::Malformed,
            ),
            (b"PROXY \xFF\r\n".to_vec(), AnnounceFault::Malformed),
            (v2(1, 0x11, &[0; 11]), AnnounceFault::Malformed),
            (v2(1, 0x21, &[0; 35]), AnnounceFault::Malformed),
            (v2(2, 0x11, &[0; 12]), AnnounceFault::Malformed),
            (old, AnnounceFault::Malformed),
        ] {
            assert_eq!(parse(&bytes), Err(fault), "{bytes:?}");
        }
    }
}
