//! Any bytes are a PROXY header, the beginning of one, or none, however they arrive.
//!
//! Input: the first bytes of a connection.

use fixwire::host::{AnnounceFault, Announced, read_proxy_header};

use super::hold;
use super::input::show;

/// The longest header that is waited for, in bytes.
const LONGEST: usize = 4096;

/// Panics when reading a header breaks its promises for these bytes.
pub fn run(data: &[u8]) {
    check(data, read_proxy_header).unwrap_or_else(|what| panic!("{what}"));
}

/// [`run`] for any reader.
///
/// # Errors
///
/// The violated property.
pub fn check(
    data: &[u8],
    read: impl Fn(&[u8]) -> Result<Announced, AnnounceFault>,
) -> Result<(), String> {
    // Byte by byte: once there is an answer, no later byte changes it.
    let mut answer = None;
    for end in 0..=data.len() {
        let read = read(&data[..end]);
        match (&answer, &read) {
            (None, Ok(Announced::More)) => {
                hold!(end < LONGEST, "waits behind {end} bytes");
            }
            (None, Ok(Announced::Client(len, _))) => {
                hold!(
                    *len == end,
                    "a header of {len} bytes is seen at byte {end}: {}",
                    show(data)
                );
                answer = Some(read);
            }
            (None, Err(fault)) => {
                hold!(!fault.to_string().is_empty(), "a fault without a word");
                answer = Some(read);
            }
            (Some(first), later) => hold!(
                first == later,
                "{first:?} becomes {later:?} at byte {end} of {}",
                show(data)
            ),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &[u8] = b"PROXY TCP4 192.0.2.1 198.51.100.2 56324 5001\r\n8=FIX.4.4";

    #[test]
    fn the_reader_passes() {
        run(LINE);
        assert!(matches!(
            read_proxy_header(LINE),
            Ok(Announced::Client(46, Some(_)))
        ));
    }

    #[test]
    fn a_reader_that_takes_what_follows_is_found() {
        let takes = |bytes: &[u8]| match read_proxy_header(bytes) {
            Ok(Announced::Client(_, client)) => Ok(Announced::Client(bytes.len(), client)),
            other => other,
        };
        assert!(check(LINE, takes).is_err());
    }

    #[test]
    fn a_reader_that_waits_for_ever_is_found() {
        assert!(check(&[b'P'; 5000], |_| Ok(Announced::More)).is_err());
    }
}
