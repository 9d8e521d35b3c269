//! Any bytes, split anywhere, become the same frames of a link, by its framing.
//!
//! Input: a byte that chooses the splits, seven that make the framing, then pieces: a byte for its kind, a byte for its
//! length, and its bytes. A piece is a frame, into which its length and checksum are written, or plain bytes.

use fixwire_protocol::framing::{BadFrame, FrameCheck, Framed, Framing, sum_of_bytes};

use super::hold;
use super::input::Input;

/// The items of the stream, with places in the whole stream.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Event {
    Whole { at: usize, len: usize },
    Bad { at: usize, why: BadFrame },
}

/// Panics when the framing breaks its promises for these bytes.
pub fn run(data: &[u8]) {
    check(data, Framing::next).unwrap_or_else(|what| panic!("{what}"));
}

/// [`run`] for any way to find frames.
///
/// # Errors
///
/// The violated property.
pub fn check(data: &[u8], next: impl Fn(&Framing, &[u8]) -> Framed) -> Result<(), String> {
    let mut input = Input::new(data);
    let splits = usize::from(input.byte());
    let framing = framing(&mut input);
    if framing.check().is_err() {
        // The engine refuses such a framing; even so the reader must not fail.
        let _ = next(&framing, input.rest());
        return Ok(());
    }
    let (stream, frames) = stream(&framing, &mut input);
    let at_once = read(&framing, &stream, |_| stream.len(), &next)?;
    for event in &at_once {
        hold!(is_true(&framing, &stream, event), "not so: {event:?}");
    }
    if let Some(frames) = frames {
        let found = at_once.iter().map(|event| match event {
            Event::Whole { len, .. } => *len,
            Event::Bad { .. } => 0,
        });
        let found: Vec<usize> = found.collect();
        hold!(
            found == frames,
            "frames of {frames:?} bytes, found {found:?}"
        );
    }
    let step = |n: usize| 1 + (n * 31 + splits) % (splits + 1);
    let split = read(&framing, &stream, step, &next)?;
    hold!(split == at_once, "split: {split:?} is not {at_once:?}");
    let single = read(&framing, &stream, |_| 1, &next)?;
    hold!(
        single == at_once,
        "byte by byte: {single:?} is not {at_once:?}"
    );
    Ok(())
}

fn framing(input: &mut Input<'_>) -> Framing {
    let [at, bytes, flags] = [input.byte(), input.byte(), input.byte()].map(usize::from);
    let (adds, least, most) = (input.byte(), input.byte(), input.short());
    let (at, bytes) = (at % 8, bytes % 6);
    let framing = match flags & 1 {
        0 => Framing::little_endian(at, bytes),
        _ => Framing::big_endian(at, bytes),
    };
    let framing = framing
        .adding(usize::from(adds) % 16)
        .within(usize::from(least) % 32, usize::from(most) % 700);
    match flags & 2 {
        0 => framing,
        _ => framing.with_sum_of_bytes(),
    }
}

/// The stream, and the lengths of its frames when it consists of nothing else.
fn stream(framing: &Framing, input: &mut Input<'_>) -> (Vec<u8>, Option<Vec<usize>>) {
    let (mut stream, mut frames) = (Vec::new(), Some(Vec::new()));
    while !input.is_empty() && stream.len() < 4096 {
        let kind = input.byte();
        let mut piece = input.piece(255).to_vec();
        let known = frames.as_mut().filter(|_| !kind.is_multiple_of(4));
        match known.filter(|_| make_frame(framing, &mut piece)) {
            Some(frames) => frames.push(piece.len()),
            None if piece.is_empty() => {}
            None => frames = None,
        }
        stream.extend(piece);
    }
    (stream, frames)
}

/// Writes length and checksum into bytes, if they can be a frame.
fn make_frame(framing: &Framing, bytes: &mut [u8]) -> bool {
    let fits = (framing.least..=framing.most).contains(&bytes.len());
    let Some(length) = bytes.len().checked_sub(framing.adds).filter(|_| fits) else {
        return false;
    };
    if framing.length_bytes < 4 && length >> (8 * framing.length_bytes) != 0 {
        return false;
    }
    for place in 0..framing.length_bytes {
        let power = match framing.big_endian {
            true => framing.length_bytes - 1 - place,
            false => place,
        };
        bytes[framing.length_at + place] = (length >> (8 * power)) as u8;
    }
    if let (FrameCheck::SumOfBytes, Some((last, summed))) = (framing.check, bytes.split_last_mut())
    {
        *last = sum_of_bytes(summed);
    }
    true
}

/// The length that the frame at a place states: slow, and written only for this check.
fn stated(framing: &Framing, stream: &[u8], at: usize) -> u64 {
    let digits = &stream[at + framing.length_at..][..framing.length_bytes];
    let places = digits.iter().enumerate();
    places.fold(0, |sum, (place, digit)| {
        let power = match framing.big_endian {
            true => framing.length_bytes - 1 - place,
            false => place,
        };
        sum + u64::from(*digit) * 256_u64.pow(power as u32)
    })
}

fn is_true(framing: &Framing, stream: &[u8], event: &Event) -> bool {
    let bounds = framing.least as u64..=framing.most as u64;
    let sum = |at: usize, len: usize| {
        let bytes = stream[at..at + len - 1].iter().map(|byte| u64::from(*byte));
        (bytes.sum::<u64>() % 256) as u8
    };
    match *event {
        Event::Whole { at, len } => {
            stated(framing, stream, at) + framing.adds as u64 == len as u64
                && bounds.contains(&(len as u64))
                && (framing.check == FrameCheck::None || stream[at + len - 1] == sum(at, len))
        }
        Event::Bad { at, why } => {
            let len = stated(framing, stream, at) + framing.adds as u64;
            match why {
                BadFrame::Length { stated, bytes, .. } => {
                    !bounds.contains(&len)
                        && bytes == len
                        && u64::from(stated) + framing.adds as u64 == len
                }
                BadFrame::CheckSum { stated, counted } => {
                    let len = len as usize;
                    framing.check == FrameCheck::SumOfBytes
                        && stream[at + len - 1] == stated
                        && sum(at, len) == counted
                        && stated != counted
                }
            }
        }
    }
}

/// Reads as an engine does: where more is needed, it waits for `step(n)` more bytes.
fn read(
    framing: &Framing,
    stream: &[u8],
    step: impl Fn(usize) -> usize,
    next: &impl Fn(&Framing, &[u8]) -> Framed,
) -> Result<Vec<Event>, String> {
    let (mut events, mut at, mut end, mut calls) = (Vec::new(), 0, 0, 0);
    loop {
        calls += 1;
        hold!(calls <= 2 * stream.len() + 2, "it does not come to an end");
        match next(framing, &stream[at..end]) {
            Framed::Whole(len) => {
                hold!(len > 0 && len <= end - at, "{len} of {} bytes", end - at);
                events.push(Event::Whole { at, len });
                at += len;
            }
            Framed::Bad(why) => {
                events.push(Event::Bad { at, why });
                return Ok(events);
            }
            Framed::More => {
                hold!(
                    end - at < framing.most,
                    "it has {} bytes and waits",
                    end - at
                );
                if end == stream.len() {
                    return Ok(events);
                }
                end = (end + step(calls)).min(stream.len());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A framing of TMP's shape, and two frames of 19 bytes.
    fn two_frames() -> Vec<u8> {
        let mut data = vec![5, 0, 2, 3, 3, 19, 187, 2];
        for _ in 0..2 {
            data.extend([1, 19]);
            data.extend([7; 19]);
        }
        data
    }

    #[test]
    fn the_framing_passes() {
        run(&two_frames());
    }

    #[test]
    fn one_that_finds_nothing_is_found() {
        assert!(check(&two_frames(), |_, _| Framed::More).is_err());
    }

    #[test]
    fn one_that_believes_the_check_sum_is_found() {
        let mut data = two_frames();
        let end = data.len();
        // The second frame as bytes with a wrong sum.
        data[end - 21] = 0;
        data[end - 19..end - 17].copy_from_slice(&[0, 16]);
        run(&data);
        let believes = |framing: &Framing, bytes: &[u8]| match framing.next(bytes) {
            Framed::Bad(BadFrame::CheckSum { .. }) => Framed::Whole(19),
            other => other,
        };
        assert!(check(&data, believes).is_err());
    }

    #[test]
    fn one_that_takes_part_of_a_frame_is_found() {
        let hasty = |framing: &Framing, bytes: &[u8]| match framing.next(bytes) {
            Framed::More if bytes.len() > 10 => Framed::Whole(10),
            other => other,
        };
        assert!(check(&two_frames(), hasty).is_err());
    }
}
