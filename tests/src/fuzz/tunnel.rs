//! Any bytes are answers of a proxy, the beginning of one, or none, however they arrive.
//!
//! Input: a byte for the proxy's protocol and whether we have a user there, then the proxy's answers.

use std::io;

use fixwire::host::{Tunnel, TunnelAnswer};
use fixwire::transport::{Password, Proxy, ProxyKind};

use super::hold;
use super::input::show;

/// The longest answer that is waited for, in bytes.
const LONGEST: usize = 8 << 10;
const KINDS: [ProxyKind; 5] = [
    ProxyKind::Http10,
    ProxyKind::Http11,
    ProxyKind::Socks4,
    ProxyKind::Socks4a,
    ProxyKind::Socks5,
];

/// Panics when reading answers breaks its promises for these bytes.
pub fn run(data: &[u8]) {
    check(data, Tunnel::hear).unwrap_or_else(|what| panic!("{what}"));
}

/// The result of a talk.
#[derive(Debug, Eq, PartialEq)]
enum End {
    /// More bytes are needed.
    Waits,
    /// The peer's bytes begin here.
    Through(usize),
    Failed(String),
}

/// [`run`] for any reader.
///
/// # Errors
///
/// The invariant that does not hold.
pub fn check(
    data: &[u8],
    hear: impl Fn(&mut Tunnel, &[u8]) -> io::Result<TunnelAnswer>,
) -> Result<(), String> {
    let Some((first, answers)) = data.split_first() else {
        return Ok(());
    };
    let in_pieces = talk(*first, answers, 1, &hear)?;
    let at_once = talk(*first, answers, LONGEST, &hear)?;
    hold!(
        in_pieces == at_once,
        "{in_pieces:?} byte by byte, {at_once:?} at once: {}",
        show(data)
    );
    Ok(())
}

/// The bytes that we send, and the end of the talk, when this number of bytes arrives at a time.
fn talk(
    first: u8,
    answers: &[u8],
    step: usize,
    hear: &impl Fn(&mut Tunnel, &[u8]) -> io::Result<TunnelAnswer>,
) -> Result<(Vec<u8>, End), String> {
    let has_user = first >= 128;
    let proxy = Proxy {
        kind: KINDS[usize::from(first) % KINDS.len()],
        host: "proxy".into(),
        port: 1080,
        user: if has_user {
            "desk".into()
        } else {
            String::new()
        },
        password: Password::from("secret"),
    };
    let tunnel = Tunnel::new(&proxy, "192.0.2.1", 5001);
    let mut tunnel = tunnel.map_err(|error| format!("no talk: {error}"))?;
    let mut said = std::mem::take(tunnel.unsaid());
    let (mut at, mut arrived) = (0, 0);
    loop {
        match hear(&mut tunnel, &answers[at..arrived]) {
            Ok(TunnelAnswer::More) if arrived == answers.len() => return Ok((said, End::Waits)),
            Ok(TunnelAnswer::More) => {
                hold!(
                    arrived - at < LONGEST,
                    "waits behind {} bytes",
                    arrived - at
                );
                arrived = (arrived + step).min(at + LONGEST).min(answers.len());
            }
            Ok(TunnelAnswer::Next(length)) => {
                hold!(
                    length > 0 && at + length <= arrived,
                    "takes {length} bytes of others"
                );
                at += length;
                said.append(tunnel.unsaid());
            }
            Ok(TunnelAnswer::Through(length)) => {
                hold!(at + length <= arrived, "takes {length} bytes of others");
                return Ok((said, End::Through(at + length)));
            }
            Err(error) => {
                let text = error.to_string();
                let is_line = !text.is_empty() && !text.contains(char::is_control);
                hold!(is_line, "an error that is no line: {text:?}");
                return Ok((said, End::Failed(text)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HTTP: &[u8] = b"\x01HTTP/1.1 200 OK\r\n\r\n8=FIX.4.4";
    const SOCKS: &[u8] = b"\x81\x05\x02\x01\x00\x05\x00\x00\x01\xc0\x00\x02\x01\x13\x898=FIX.4.4";

    #[test]
    fn the_reader_passes() {
        for (data, through) in [(HTTP, 19), (SOCKS, 14)] {
            run(data);
            let (_, end) = talk(data[0], &data[1..], 1, &Tunnel::hear).unwrap();
            assert_eq!(end, End::Through(through));
        }
    }

    #[test]
    fn a_reader_that_takes_what_follows_is_found() {
        let takes = |tunnel: &mut Tunnel, bytes: &[u8]| match tunnel.hear(bytes) {
            Ok(TunnelAnswer::Through(_)) => Ok(TunnelAnswer::Through(bytes.len())),
            other => other,
        };
        assert!(check(HTTP, takes).is_err());
        assert!(check(SOCKS, takes).is_err());
    }

    #[test]
    fn a_reader_that_waits_for_ever_is_found() {
        assert!(check(&[b'H'; 10_000], |_, _| Ok(TunnelAnswer::More)).is_err());
    }
}
