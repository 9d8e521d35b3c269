//! Searches arbitrary bytes for messages.

use std::io::Cursor;

use crate::capture::CaptureInput;
use crate::entry::Hints;
use crate::feed::ReadFeed;
use crate::find::Kind;
use crate::input::{LogInput, Step};
use crate::left_out::LeftOuts;
use crate::scan::{Scan, Scanner};
use crate::zone::{Clock, LogZone};

/// The messages and skipped parts in `bytes`, with positions. The bytes are passed on in blocks of `block` bytes.
#[must_use]
pub fn scan(bytes: &[u8], block: usize, lines: bool) -> Vec<(u64, Vec<u8>)> {
    let kind = if lines { Kind::Lines } else { Kind::Stream };
    let mut scanner = Scanner::new(kind, 64);
    let mut found = Vec::new();
    let mut blocks = bytes.chunks(block.max(1)).peekable();
    if blocks.peek().is_none() {
        return found;
    }
    while let Some(block) = blocks.next() {
        scanner.push(block);
        loop {
            match scanner.next(blocks.peek().is_none()) {
                Scan::Message => {
                    found.push((scanner.found.offset, scanner.message().to_vec()));
                }
                Scan::LeftOut(at, len, why) => {
                    found.push((at, format!("{len} {why}").into_bytes()))
                }
                Scan::More => break,
            }
        }
    }
    found
}

/// Number of messages in a capture. The bytes may be truncated or arbitrary.
#[must_use]
pub fn capture(bytes: &[u8]) -> usize {
    let clock = Clock::new(LogZone::utc());
    let hints = Hints::new("capture", &[], clock, 0);
    let feed = ReadFeed(Cursor::new(bytes.to_vec()));
    let mut input = CaptureInput::new("capture".to_owned(), hints, Box::new(feed), "");
    let mut left_out = LeftOuts::default();
    let mut found = 0;
    while input.advance(&mut left_out) == Step::Message {
        // Access the message, to check that it can be read.
        found += usize::from(!input.entry().bytes.is_empty());
    }
    found
}
