//! Any bytes, split anywhere, become the same messages.
//!
//! Input: a byte for the splits, then the stream in lines. A line that begins with `!` is a whole message whose body,
//! from the value of MsgType on, is the rest of the line, with `|` for SOH; other lines are taken literally, also with
//! `|` for SOH.

use fixwire_protocol::frame::{self, Frame, Garbled};

use super::hold;
use super::input::{Input, message, show, with_soh};

/// The longest message, in bytes.
const MAX_LEN: usize = 600;
/// The most bytes of BeginString and BodyLength, which come before the length is known.
const BEFORE_BODY: usize = 40;

/// The items of the stream, with places in the whole stream.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Event {
    Whole { at: usize, bytes: Vec<u8> },
    Garbled(Garbled),
    TooLarge { at: usize, len: u64 },
}

/// Panics when the framer breaks its promises for these bytes.
pub fn run(data: &[u8]) {
    check(data, frame::next).unwrap_or_else(|what| panic!("{what}"));
}

/// [`run`] for any framer.
///
/// # Errors
///
/// The violated property.
pub fn check(data: &[u8], next: impl Fn(&[u8], usize) -> Frame) -> Result<(), String> {
    let mut input = Input::new(data);
    let splits = input.byte();
    let (stream, whole) = stream(input.rest());
    let at_once = read(&stream, |_| stream.len(), &next)?;
    if let Some(messages) = whole {
        let got: Vec<&[u8]> = bodies(&at_once);
        hold!(
            got == messages,
            "whole messages were not found: {at_once:?}"
        );
    }
    for event in &at_once {
        if let Event::Whole { at, bytes } = event {
            hold!(
                stream[*at..].starts_with(bytes),
                "not from the stream: {event:?}"
            );
            hold!(is_message(bytes), "not a message: {}", show(bytes));
        }
    }
    let step = usize::from(splits);
    let split = read(&stream, |n| 1 + (n * 31 + step) % (step + 1), &next)?;
    hold!(
        split == at_once,
        "steps of {step}: {split:?} is not {at_once:?}"
    );
    if stream.len() <= 512 {
        let single = read(&stream, |_| 1, &next)?;
        hold!(
            single == at_once,
            "byte by byte: {single:?} is not {at_once:?}"
        );
    }
    Ok(())
}

/// The stream, and its messages when it consists of nothing else.
fn stream(lines: &[u8]) -> (Vec<u8>, Option<Vec<Vec<u8>>>) {
    let mut stream = Vec::new();
    let mut messages = Some(Vec::new());
    for line in lines.split(|byte| *byte == b'\n') {
        match line.split_first() {
            Some((b'!', body)) if is_body(body) => {
                let bytes = message("FIX.4.4", body);
                stream.extend_from_slice(&bytes);
                if let Some(messages) = &mut messages {
                    messages.push(bytes);
                }
            }
            _ => {
                stream.extend(with_soh(line));
                messages = messages.filter(|_| line.is_empty());
            }
        }
    }
    (stream, messages)
}

/// Whether the text has a MsgType and fits into a message.
fn is_body(text: &[u8]) -> bool {
    let named = text.first().is_some_and(|byte| !b"|\x01".contains(byte));
    named && text.len() < MAX_LEN / 2
}

fn bodies(events: &[Event]) -> Vec<&[u8]> {
    let whole = events.iter().map(|event| match event {
        Event::Whole { bytes, .. } => &bytes[..],
        _ => &[],
    });
    whole.collect()
}

/// Reads as an engine does: after Partial it waits for `step(n)` more bytes.
fn read(
    stream: &[u8],
    step: impl Fn(usize) -> usize,
    next: &impl Fn(&[u8], usize) -> Frame,
) -> Result<Vec<Event>, String> {
    let (mut events, mut at, mut end, mut calls) = (Vec::new(), 0, 0, 0);
    loop {
        let buffer = &stream[at..end];
        calls += 1;
        hold!(calls <= 2 * stream.len() + 2, "it does not come to an end");
        let skipped = match next(buffer, MAX_LEN) {
            Frame::Partial { skip } => {
                hold!(skip <= buffer.len(), "skips {skip} of {}", buffer.len());
                let kept = buffer.len() - skip;
                hold!(kept < MAX_LEN + BEFORE_BODY, "keeps {kept} bytes and waits");
                if end == stream.len() {
                    return Ok(events);
                }
                at += skip;
                end = (end + step(calls)).min(stream.len());
                continue;
            }
            Frame::Whole { skip, len } => {
                hold!(
                    skip + len <= buffer.len(),
                    "{skip}+{len} of {}",
                    buffer.len()
                );
                hold!(len <= MAX_LEN, "a message of {len} bytes");
                let bytes = buffer[skip..skip + len].to_vec();
                events.push(Event::Whole {
                    at: at + skip,
                    bytes,
                });
                skip + len
            }
            Frame::Garbled { skip, why } => {
                hold!(skip <= buffer.len(), "skips {skip} of {}", buffer.len());
                events.push(Event::Garbled(why));
                skip
            }
            Frame::TooLarge { skip, len } => {
                hold!(len > MAX_LEN as u64, "{len} is not too large");
                events.push(Event::TooLarge { at: at + skip, len });
                return Ok(events);
            }
        };
        hold!(skipped > 0, "it takes nothing and does not wait");
        at += skipped;
    }
}

/// Whether bytes are a message, judged from the end: slow, and written only for this check.
fn is_message(bytes: &[u8]) -> bool {
    let mut fields = bytes.split(|byte| *byte == 1);
    let (Some(begin), Some(length), Some(body)) = (fields.next(), fields.next(), fields.next())
    else {
        return false;
    };
    let Some(sum) = bytes.len().checked_sub(7).map(|at| &bytes[at..]) else {
        return false;
    };
    let stated = std::str::from_utf8(&sum[3..6])
        .ok()
        .and_then(|text| text.parse::<u32>().ok());
    let counted: u32 = bytes[..bytes.len() - 7]
        .iter()
        .map(|byte| u32::from(*byte))
        .sum();
    let length = length.strip_prefix(b"9=").map(String::from_utf8_lossy);
    let before = begin.len() + 1 + length.as_ref().map_or(0, |text| text.len() + 2) + 1;
    begin.starts_with(b"8=FIX")
        && length.and_then(|text| text.parse().ok()) == Some(bytes.len() - 7 - before)
        && body.starts_with(b"35=")
        && sum.starts_with(b"10=")
        && sum.ends_with(b"\x01")
        && stated == Some(counted % 256)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: &[u8] = b"\x03!D|11=A|\nnoise\n!0|112=x|\n8=FIX.4.4|9=5|35=0|10=000|";

    #[test]
    fn the_framer_passes() {
        run(ORDERS);
    }

    #[test]
    fn a_framer_that_forgets_what_it_waits_for_is_found() {
        let forgets = |bytes: &[u8], limit: usize| match frame::next(bytes, limit) {
            Frame::Partial { .. } => Frame::Partial { skip: bytes.len() },
            other => other,
        };
        assert!(check(ORDERS, forgets).is_err());
    }

    #[test]
    fn a_framer_that_believes_the_checksum_is_found() {
        assert!(check(ORDERS, frame::next_unsummed).is_err());
    }

    #[test]
    fn a_framer_that_waits_for_ever_is_found() {
        let waits = |_: &[u8], _: usize| Frame::Partial { skip: 0 };
        assert!(check(ORDERS, waits).is_err() || check(&[b'8'; 900], waits).is_err());
    }

    #[test]
    fn a_framer_that_turns_round_is_found() {
        let stuck = |_: &[u8], _: usize| Frame::Garbled {
            skip: 0,
            why: Garbled::Trailer,
        };
        assert!(check(ORDERS, stuck).is_err());
    }
}
