//! The handshake with a proxy: HTTP CONNECT, SOCKS 4, SOCKS 4a or SOCKS 5.
//!
//! The handshake works on bytes only: it gets the received data and returns the data to write. The handshake removes
//! exactly the replies of the proxy from the stream; the rest is from the peer.
//!
//! ```text
//! HTTP       CONNECT host:port ... ->  <- status line, header, empty line
//! SOCKS 4    address, port, user ->    <- 8 bytes
//! SOCKS 5    methods ->  <- method  [ name, password ->  <- status ]  host, port ->  <- status, address
//! ```

use std::io::{self, ErrorKind};
use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::transport::{Proxy, ProxyKind};

/// Maximum length of a proxy's reply, in bytes.
pub const LONGEST: usize = 8 << 10;

/// An exchange with a proxy.
#[derive(Debug)]
pub struct Tunnel {
    proxy: Proxy,
    host: String,
    port: u16,
    waits: Waits,
    /// Bytes that must be written before more is read.
    say: Vec<u8>,
}

/// The reply that is expected next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Waits {
    ForStatus,
    ForSocks4,
    ForMethod,
    ForConsent,
    ForSocks5,
}

/// The meaning of the received bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TunnelAnswer {
    /// The reply is not complete.
    More,
    /// The reply has this length, and the next request follows.
    Next(usize),
    /// The reply has this length, and the peer is connected.
    Through(usize),
}

impl Tunnel {
    /// The exchange that leads to a connection to this host.
    ///
    /// # Errors
    ///
    /// The host, user or password does not fit into the proxy's protocol.
    pub fn new(proxy: &Proxy, host: &str, port: u16) -> io::Result<Self> {
        let mut tunnel = Self {
            proxy: proxy.clone(),
            host: host.to_owned(),
            port,
            waits: Waits::ForStatus,
            say: Vec::new(),
        };
        let limits = [host.len(), proxy.user.len(), proxy.password.len()];
        if limits.iter().any(|length| *length > 255) {
            return Err(failure(
                "host, user and password must be at most 255 bytes each",
            ));
        }
        match proxy.kind {
            ProxyKind::Http10 | ProxyKind::Http11 => tunnel.ask_http(),
            ProxyKind::Socks4 | ProxyKind::Socks4a => tunnel.ask_socks4()?,
            ProxyKind::Socks5 => tunnel.greet_socks5(),
        }
        Ok(tunnel)
    }

    /// The proxy's address.
    pub fn proxy(&self) -> (&str, u16) {
        (&self.proxy.host, self.proxy.port)
    }

    /// Bytes to write. The caller removes the bytes that it has written.
    pub fn unsaid(&mut self) -> &mut Vec<u8> {
        &mut self.say
    }

    /// Reads a reply of the proxy from the received bytes.
    ///
    /// # Errors
    ///
    /// The proxy refuses the request, or uses another protocol.
    pub fn hear(&mut self, bytes: &[u8]) -> io::Result<TunnelAnswer> {
        match self.waits {
            Waits::ForStatus => self.status(bytes),
            Waits::ForSocks4 => socks4(bytes),
            Waits::ForMethod => self.method(bytes),
            Waits::ForConsent => self.consent(bytes),
            Waits::ForSocks5 => socks5(bytes),
        }
    }

    fn ask_http(&mut self) {
        let version = match self.proxy.kind {
            ProxyKind::Http10 => "1.0",
            _ => "1.1",
        };
        let to = match self.host.parse::<IpAddr>() {
            Ok(IpAddr::V6(address)) => format!("[{address}]:{}", self.port),
            _ => format!("{}:{}", self.host, self.port),
        };
        let mut text = format!("CONNECT {to} HTTP/{version}\r\nHost: {to}\r\n");
        if !self.proxy.user.is_empty() {
            let pair = format!("{}:{}", self.proxy.user, &*self.proxy.password);
            let pair = STANDARD.encode(pair);
            text.push_str(&format!("Proxy-Authorization: Basic {pair}\r\n"));
        }
        text.push_str("\r\n");
        self.say = text.into_bytes();
        self.waits = Waits::ForStatus;
    }

    fn status(&self, bytes: &[u8]) -> io::Result<TunnelAnswer> {
        let end = bytes.windows(4).position(|part| part == b"\r\n\r\n");
        let Some(end) = end else {
            // Data that is not HTTP is detected at once, not only after a timeout.
            let begins = bytes
                .iter()
                .zip(b"HTTP/1.")
                .all(|(byte, wanted)| byte == wanted);
            return match begins && bytes.len() < LONGEST {
                true => Ok(TunnelAnswer::More),
                false => Err(failure("the proxy's response is not that of an HTTP proxy")),
            };
        };
        let line = bytes[..end]
            .split(|byte| *byte == b'\r')
            .next()
            .unwrap_or_default();
        let line = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
        let mut words = line.split(' ');
        let is_http = words.next().is_some_and(|word| word.starts_with("HTTP/1."));
        match words.next() {
            Some(code) if is_http && code.len() == 3 && code.starts_with('2') => {
                Ok(TunnelAnswer::Through(end + 4))
            }
            Some("407") if is_http => Err(failure(
                "the proxy rejected the user and password, or requires them (ProxyUser, ProxyPassword)",
            )),
            Some(_) if is_http => Err(failure(&format!(
                "the proxy answers: {}",
                line.escape_debug()
            ))),
            _ => Err(failure("the proxy's response is not that of an HTTP proxy")),
        }
    }

    fn ask_socks4(&mut self) -> io::Result<()> {
        let address = match self.host.parse::<IpAddr>() {
            Ok(IpAddr::V4(address)) => Some(address.octets()),
            Ok(IpAddr::V6(_)) => {
                return Err(failure("SOCKS 4 does not support IPv6: use ProxyVersion=5"));
            }
            Err(_) if self.proxy.kind == ProxyKind::Socks4 => {
                return Err(failure(
                    "SOCKS 4 does not support host names: use an IPv4 address, or ProxyVersion=4a or 5",
                ));
            }
            Err(_) => None,
        };
        self.say = vec![4, 1];
        self.say.extend(self.port.to_be_bytes());
        // The address 0.0.0.x tells the proxy that the name follows.
        self.say.extend(address.unwrap_or([0, 0, 0, 1]));
        self.say.extend(self.proxy.user.bytes());
        self.say.push(0);
        if address.is_none() {
            self.say.extend(self.host.bytes());
            self.say.push(0);
        }
        self.waits = Waits::ForSocks4;
        Ok(())
    }

    fn greet_socks5(&mut self) {
        self.say = match self.proxy.user.is_empty() {
            true => vec![5, 1, NO_METHOD],
            false => vec![5, 2, NO_METHOD, PASSWORD],
        };
        self.waits = Waits::ForMethod;
    }

    fn method(&mut self, bytes: &[u8]) -> io::Result<TunnelAnswer> {
        let [version, method] = match bytes {
            [] => return Ok(TunnelAnswer::More),
            [version, ..] if *version != 5 => {
                return Err(failure(
                    "the proxy's response is not that of a SOCKS 5 proxy",
                ));
            }
            [_] => return Ok(TunnelAnswer::More),
            [version, method, ..] => [*version, *method],
        };
        debug_assert_eq!(version, 5);
        match method {
            NO_METHOD => self.ask_socks5(),
            PASSWORD if !self.proxy.user.is_empty() => {
                let password = &self.proxy.password;
                self.say = vec![1, self.proxy.user.len() as u8];
                self.say.extend(self.proxy.user.bytes());
                self.say.push(password.len() as u8);
                self.say.extend(password.bytes());
                self.waits = Waits::ForConsent;
            }
            _ if self.proxy.user.is_empty() => {
                return Err(failure(
                    "the proxy requires authentication: set ProxyUser and ProxyPassword",
                ));
            }
            _ => {
                return Err(failure(
                    "the proxy accepts no connection with or without user and password",
                ));
            }
        }
        Ok(TunnelAnswer::Next(2))
    }

    fn consent(&mut self, bytes: &[u8]) -> io::Result<TunnelAnswer> {
        match bytes {
            [_, 0, ..] => {
                self.ask_socks5();
                Ok(TunnelAnswer::Next(2))
            }
            [_, _, ..] => Err(failure(
                "the proxy rejected the user and password (ProxyUser, ProxyPassword)",
            )),
            _ => Ok(TunnelAnswer::More),
        }
    }

    fn ask_socks5(&mut self) {
        self.say = vec![5, 1, 0];
        match self.host.parse::<IpAddr>() {
            Ok(IpAddr::V4(address)) => {
                self.say.push(1);
                self.say.extend(address.octets());
            }
            Ok(IpAddr::V6(address)) => {
                self.say.push(4);
                self.say.extend(address.octets());
            }
            Err(_) => {
                self.say.extend([3, self.host.len() as u8]);
                self.say.extend(self.host.bytes());
            }
        }
        self.say.extend(self.port.to_be_bytes());
        self.waits = Waits::ForSocks5;
    }
}

const NO_METHOD: u8 = 0;
const PASSWORD: u8 = 2;

fn socks4(bytes: &[u8]) -> io::Result<TunnelAnswer> {
    match bytes {
        [0, 90, ..] if bytes.len() >= 8 => Ok(TunnelAnswer::Through(8)),
        [0, 92 | 93, ..] => Err(failure("the proxy cannot verify our user (ProxyUser)")),
        [0, 91, ..] => Err(failure("the proxy cannot or may not connect to the host")),
        [] | [0] | [0, 90, ..] => Ok(TunnelAnswer::More),
        _ => Err(failure(
            "the proxy's response is not that of a SOCKS 4 proxy",
        )),
    }
}

fn socks5(bytes: &[u8]) -> io::Result<TunnelAnswer> {
    let (Some([version, status]), rest) = (bytes.first_chunk::<2>(), bytes.get(4..)) else {
        return Ok(TunnelAnswer::More);
    };
    if *version != 5 {
        return Err(failure(
            "the proxy's response is not that of a SOCKS 5 proxy",
        ));
    }
    let note = match status {
        0 => None,
        2 => Some("the proxy's rules forbid this host"),
        3 => Some("the proxy cannot reach the host's network"),
        4 => Some("the proxy cannot reach the host or resolve its name"),
        5 => Some("the host refuses the connection from the proxy"),
        6 => Some("the proxy's connection to the host timed out"),
        8 => Some("the proxy does not support this address type"),
        _ => Some("the proxy failed"),
    };
    if let Some(note) = note {
        return Err(failure(note));
    }
    let Some([first, ..]) = rest else {
        return Ok(TunnelAnswer::More);
    };
    let address = match bytes[3] {
        1 => 4,
        4 => 16,
        3 => 1 + usize::from(*first),
        _ => {
            return Err(failure(
                "the proxy's response is not that of a SOCKS 5 proxy",
            ));
        }
    };
    let length = 4 + address + 2;
    match bytes.len() >= length {
        true => Ok(TunnelAnswer::Through(length)),
        false => Ok(TunnelAnswer::More),
    }
}

fn failure(note: &str) -> io::Error {
    io::Error::new(ErrorKind::ConnectionRefused, note.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Password;

    fn proxy(kind: ProxyKind, user: &str, password: &str) -> Proxy {
        Proxy {
            kind,
            host: "proxy".into(),
            port: 1080,
            user: user.into(),
            password: Password::from(password),
        }
    }

    /// Simulates a proxy: the requests it must receive and its replies, sent byte by byte.
    fn talk(kind: ProxyKind, user: &str, host: &str, play: &[(&[u8], &[u8])]) -> io::Result<()> {
        let mut tunnel = Tunnel::new(&proxy(kind, user, "pass"), host, 5001)?;
        for (index, (said, answer)) in play.iter().enumerate() {
            assert_eq!(std::mem::take(tunnel.unsaid()), *said);
            for cut in 0..answer.len() {
                assert_eq!(
                    tunnel.hear(&answer[..cut])?,
                    TunnelAnswer::More,
                    "{cut} of {answer:?}"
                );
            }
            let with_more = [answer, b"8=FIX".as_slice()].concat();
            let wanted = match index + 1 == play.len() {
                true => TunnelAnswer::Through(answer.len()),
                false => TunnelAnswer::Next(answer.len()),
            };
            assert_eq!(tunnel.hear(&with_more)?, wanted);
        }
        Ok(())
    }

    const OK: &[u8] = b"HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n";

    #[test]
    fn each_kind_of_proxy_is_asked_as_its_standard_says() {
        let http = b"CONNECT fix.example:5001 HTTP/1.1\r\nHost: fix.example:5001\r\n\r\n";
        talk(ProxyKind::Http11, "", "fix.example", &[(http, OK)]).unwrap();
        let basic = b"CONNECT [::1]:5001 HTTP/1.0\r\nHost: [::1]:5001\r\n\
                      Proxy-Authorization: Basic bWU6cGFzcw==\r\n\r\n";
        talk(ProxyKind::Http10, "me", "::1", &[(basic, OK)]).unwrap();
        let granted = &[0, 90, 0, 0, 0, 0, 0, 0];
        let four = b"\x04\x01\x13\x89\x0a\x00\x00\x01me\0";
        talk(ProxyKind::Socks4, "me", "10.0.0.1", &[(four, granted)]).unwrap();
        let four_a = b"\x04\x01\x13\x89\x00\x00\x00\x01\0fix.example\0";
        talk(ProxyKind::Socks4a, "", "fix.example", &[(four_a, granted)]).unwrap();
        let name = b"\x05\x01\x00\x03\x0bfix.example\x13\x89";
        let bound = b"\x05\x00\x00\x01\x7f\x00\x00\x01\x04\x38";
        talk(
            ProxyKind::Socks5,
            "me",
            "fix.example",
            &[
                (b"\x05\x02\x00\x02", b"\x05\x02"),
                (b"\x01\x02me\x04pass", b"\x01\x00"),
                (name, bound),
            ],
        )
        .unwrap();
        let named = b"\x05\x00\x00\x03\x05proxy\x04\x38";
        let address = b"\x05\x01\x00\x01\x7f\x00\x00\x01\x13\x89";
        talk(
            ProxyKind::Socks5,
            "",
            "127.0.0.1",
            &[(b"\x05\x01\x00", b"\x05\x00"), (address, named)],
        )
        .unwrap();
    }

    #[test]
    fn refusals_say_what_to_do() {
        let http = |answer: &[u8]| {
            let mut tunnel = Tunnel::new(&proxy(ProxyKind::Http11, "", ""), "h", 1).unwrap();
            tunnel.hear(answer).unwrap_err().to_string()
        };
        assert!(http(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n").contains("ProxyUser"));
        assert!(http(b"HTTP/1.1 403 Forbidden\r\n\r\n").contains("403 Forbidden"));
        assert!(http(b"HTTP/1.1 20\r\n\r\n").contains("20"));
        assert!(http(b"SSH-2.0-x").contains("HTTP proxy"));
        let endless = [b"HTTP/1.1 200 ".as_slice(), &[b'x'; LONGEST]].concat();
        assert!(http(&endless).contains("HTTP proxy"));
        let hides = http(b"HTTP/1.1 403 \x1b[31mred\r\n\r\n");
        assert!(!hides.contains('\u{1b}'), "{hides}");
        assert!(
            socks4(&[0, 91])
                .unwrap_err()
                .to_string()
                .contains("connect to the host")
        );
        assert!(
            socks4(&[0, 93])
                .unwrap_err()
                .to_string()
                .contains("ProxyUser")
        );
        assert!(socks5(&[5, 5]).unwrap_err().to_string().contains("refuses"));
        assert!(Tunnel::new(&proxy(ProxyKind::Socks4, "", ""), "fix.example", 1).is_err());
        assert!(Tunnel::new(&proxy(ProxyKind::Socks4a, "", ""), "::1", 1).is_err());
        let long = "x".repeat(256);
        assert!(Tunnel::new(&proxy(ProxyKind::Socks5, "", ""), &long, 1).is_err());
        let mut wrong = Tunnel::new(&proxy(ProxyKind::Socks5, "me", "x"), "h", 1).unwrap();
        wrong.hear(&[5, 2]).unwrap();
        assert!(
            wrong
                .hear(&[1, 1])
                .unwrap_err()
                .to_string()
                .contains("ProxyPassword")
        );
        let mut none = Tunnel::new(&proxy(ProxyKind::Socks5, "", ""), "h", 1).unwrap();
        assert!(none.hear(&[5, 0xFF]).is_err());
    }
}
