use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::*;

const MAX: usize = 4096;

fn message(body: &str) -> Vec<u8> {
    with_length(body, &std::format!("{}", body.len()))
}

/// A message with right CheckSum whatever its length says.
fn with_length(body: &str, length: &str) -> Vec<u8> {
    let mut text = std::format!("8=FIX.4.4|9={length}|{body}")
        .replace('|', "\x01")
        .into_bytes();
    let sum = check_sum(&text);
    text.extend(std::format!("10={sum:03}\x01").bytes());
    text
}

fn garbled(bytes: &[u8]) -> Garbled {
    match next(bytes, MAX) {
        Frame::Garbled { why, .. } => why,
        other => panic!("{other:?}"),
    }
}

/// The messages and faults that a reader gets from the bytes in these pieces.
#[derive(Debug, Eq, PartialEq)]
enum Seen {
    Message(Vec<u8>),
    Garbled(Garbled),
    TooLarge(u64),
}

fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Seen>, usize) {
    let mut seen = Vec::new();
    let mut buffer = Vec::new();
    for piece in pieces {
        buffer.extend_from_slice(piece);
        loop {
            match next(&buffer, MAX) {
                Frame::Whole { skip, len } => {
                    seen.push(Seen::Message(buffer[skip..skip + len].to_vec()));
                    buffer.drain(..skip + len);
                }
                Frame::Partial { skip } => {
                    buffer.drain(..skip);
                    assert!(buffer.len() < MAX + 64, "a partial message has a limit");
                    break;
                }
                Frame::Garbled { skip, why } => {
                    assert!(skip > 0, "it goes on");
                    seen.push(Seen::Garbled(why));
                    buffer.drain(..skip);
                }
                Frame::TooLarge { len, .. } => {
                    seen.push(Seen::TooLarge(len));
                    return (seen, buffer.len());
                }
            }
        }
    }
    (seen, buffer.len())
}

#[test]
fn a_whole_message_is_found_behind_garbage() {
    let good = message("35=0|34=1|");
    let len = good.len();
    assert_eq!(next(&good, MAX), Frame::Whole { skip: 0, len });
    let bytes = [b"noise 8=FX 8".as_slice(), &good, b"8="].concat();
    assert_eq!(next(&bytes, MAX), Frame::Whole { skip: 12, len });
    let fixt = message("35=0|")[9..].to_vec();
    let fixt = [b"8=FIXT.1.1".as_slice(), &fixt].concat();
    assert!(matches!(
        next_unsummed(&fixt, MAX),
        Frame::Whole { skip: 0, .. }
    ));
}

#[test]
fn garbage_is_dropped_and_never_kept() {
    assert_eq!(next(b"", MAX), Frame::Partial { skip: 0 });
    assert_eq!(next(&[b'x'; 9000], MAX), Frame::Partial { skip: 9000 });
    assert_eq!(
        next(b"GET / HTTP/1.1\r\n8=FI", MAX),
        Frame::Partial { skip: 16 }
    );
    assert_eq!(next(b"8888=8=8=F", MAX), Frame::Partial { skip: 7 });
}

#[test]
fn what_can_never_be_a_message_is_garbled_at_once() {
    for begin in [
        "8=FIXX",
        "8=FIX4",
        "8=FIX.A",
        "8=FIX.4,",
        "8=FIX.4.44",
        "8=FIXT1",
        "8=FIX.5.0SP2",
    ] {
        assert_eq!(garbled(begin.as_bytes()), Garbled::BeginString, "{begin}");
    }
    let long = [b"8=FIX".as_slice(), &vec![b'4'; 1 << 20]].concat();
    assert_eq!(garbled(&long), Garbled::BeginString);
    for length in [
        "-5",
        "+85",
        "abc",
        "5 ",
        "",
        "5.0",
        "0x10",
        "4",
        "0",
        "18446744073709551616",
        "18446744073709551701",
        "000000000000000000005",
    ] {
        let bytes = with_length("35=0|34=1|", length);
        assert_eq!(garbled(&bytes), Garbled::BodyLength, "{length}");
    }
    let endless = [b"8=FIX.4.4\x019=".as_slice(), &vec![b'0'; 1 << 20]].concat();
    assert_eq!(garbled(&endless), Garbled::BodyLength);
    assert_eq!(garbled(b"8=FIX.4.4\x0135=0\x01"), Garbled::BodyLength);
    assert_eq!(garbled(&message("34=1|35=0|")), Garbled::MsgType);
}

#[test]
fn the_trailer_must_stand_where_the_length_says() {
    let body = "35=0|34=1|58=ab|";
    for length in ["00016", "0000000000000000016"] {
        let bytes = with_length(body, length);
        let len = bytes.len();
        assert_eq!(next(&bytes, MAX), Frame::Whole { skip: 0, len });
    }
    for length in ["15", "17", "10", "5", "6"] {
        assert_eq!(
            garbled(&with_length(body, length)),
            Garbled::Trailer,
            "{length}"
        );
    }
    let good = message(body);
    for (at, byte) in [
        (1, b'='),
        (2, b'x'),
        (4, b'x'),
        (5, b'x'),
        (6, b'x'),
        (7, b'x'),
        (8, b'x'),
    ] {
        let mut bytes = good.clone();
        let from_end = bytes.len() - at;
        bytes[from_end] = byte;
        bytes.extend_from_slice(&good);
        assert_eq!(garbled(&bytes), Garbled::Trailer);
    }
    // 10= in the middle is not the end of the counted body.
    assert!(matches!(
        next(&message("35=0|10=000|58=a|"), MAX),
        Frame::Whole { .. }
    ));
}

#[test]
fn a_wrong_sum_skips_the_message_as_a_whole() {
    let inner = message("35=5|34=2|");
    let text = core::str::from_utf8(&inner).expect("it is text");
    let mut bytes = message(&std::format!("35=D|95={}|96={text}|", inner.len()));
    let len = bytes.len();
    let stated = next_unsummed(&bytes, MAX);
    assert_eq!(stated, Frame::Whole { skip: 0, len });
    bytes[len - 2] = if bytes[len - 2] == b'0' { b'1' } else { b'0' };
    bytes.extend_from_slice(&inner);
    match next(&bytes, MAX) {
        Frame::Garbled {
            skip,
            why: Garbled::CheckSum { stated, counted },
        } => {
            assert_eq!(skip, len);
            assert_ne!(stated, u16::from(counted));
        }
        other => panic!("{other:?}"),
    }
    let over = [&message("35=0|")[..21 - 4], b"999\x01"].concat();
    assert!(!matches!(next(&over, MAX), Frame::Whole { .. }));
}

#[test]
fn what_is_too_large_is_known_from_its_length() {
    for (length, expected) in [
        ("999999999", 999_999_999 + 29),
        ("4294967306", 4_294_967_306 + 30),
        ("18446744073709551615", u64::MAX),
    ] {
        let bytes = std::format!("8=FIX.4.4\x019={length}\x01");
        assert_eq!(
            next(bytes.as_bytes(), MAX),
            Frame::TooLarge {
                skip: 0,
                len: expected
            },
            "{length}"
        );
    }
    let good = message("35=0|34=1|");
    assert!(matches!(next(&good, good.len()), Frame::Whole { .. }));
    assert!(matches!(
        next(&good, good.len() - 1),
        Frame::TooLarge { .. }
    ));
}

#[test]
fn the_stream_goes_on_behind_garbled_bytes() {
    let good = message("35=0|34=2|");
    let wrong = [
        with_length("35=0|34=1|", "11"),
        with_length("35=0|34=1|", "9"),
        with_length("35=0|34=1|", "-5"),
        b"8=FIX.4.4\x01".to_vec(),
        [&message("35=0|34=1|")[..24], b"8=FIX"].concat(),
    ];
    for bytes in wrong {
        let (seen, left) = read([&bytes[..], &good, &good]);
        assert_eq!(left, 0, "{bytes:?}");
        assert_eq!(
            seen[seen.len() - 2..],
            [Seen::Message(good.clone()), Seen::Message(good.clone())],
            "{bytes:?}"
        );
        assert!(matches!(seen[0], Seen::Garbled(_)), "{seen:?}");
    }
}

#[test]
fn a_length_that_reaches_into_the_next_message_takes_it_along() {
    let good = message("35=0|34=2|");
    let too_long = with_length("35=0|34=1|", "30");
    let cut_off = message("35=0|34=1|")[..20].to_vec();
    for bytes in [too_long, cut_off] {
        let (seen, left) = read([&bytes[..], &good, &good]);
        assert_eq!(left, 0, "{bytes:?}");
        assert_eq!(seen[1..], [Seen::Message(good.clone())], "{bytes:?}");
        assert!(matches!(seen[0], Seen::Garbled(_)), "{seen:?}");
    }
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        6 => "[ -~|]{0,40}".prop_map(|text| message(&std::format!("35=D|{text}|"))),
        2 => ("[0-9|]{0,9}", "[+-]?[0-9]{0,22}").prop_map(|(text, length)| {
            with_length(&std::format!("35=D|{text}|"), &length)
        }),
        2 => (0_usize..60, any::<u8>()).prop_map(|(at, byte)| {
            let mut bytes = message("35=D|34=7|58=some words|60=now|");
            let at = at % bytes.len();
            bytes[at] = byte;
            bytes
        }),
        1 => "[8=FIXT.0-9|]{0,20}".prop_map(|text| text.replace('|', "\x01").into_bytes()),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn every_split_shows_the_same(bytes in stream(), size in 1_usize..50) {
        let (whole, left) = read([&bytes[..]]);
        let (single, single_left) = read(bytes.chunks(1));
        prop_assert_eq!(&whole, &single);
        if !whole.iter().any(|seen| matches!(seen, Seen::TooLarge(_))) {
            prop_assert_eq!(left, single_left);
        }
        prop_assert_eq!(&whole, &read(bytes.chunks(size)).0);
        for at in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(at);
            prop_assert_eq!(&whole, &read([head, tail]).0, "split at {}", at);
        }
    }

    #[test]
    fn a_usual_message_is_found_as_any_other_is(
        (begin, is_usual) in prop_oneof![
            4 => "FIX[.]4[.][0-9]|FIXT[.]1[.]1".prop_map(|begin| (begin, true)),
            1 => "FIX[.][0-9][.][0-9:]|FIXT[.][0-9][.][0-9]|FIX.4.44".prop_map(|begin| (begin, false)),
        ],
        body in "[ -~|]{60,160}",
        max in 90_usize..240,
        changes in prop::collection::vec((prop_oneof![0..26_usize, 1000..1010_usize, 26..1000_usize], any::<u8>()), 0..3),
        cut in 0_usize..12,
    ) {
        let body = std::format!("35=D|{body}|");
        let text = std::format!("8={begin}|9={}|{body}", body.len()).replace('|', "\x01");
        let text = std::format!("{text}10={:03}\x01", check_sum(text.as_bytes()));
        let mut bytes = text.into_bytes();
        let whole = (bytes.len() <= max && body.len() > 99).then_some(bytes.len());
        prop_assert!(!is_usual || usual(&bytes, max, true) == whole);
        for (at, byte) in changes {
            let place = if at < 1000 { at } else { bytes.len() - 1 - (at - 1000) };
            let place = place % bytes.len();
            bytes[place] = byte;
        }
        bytes.truncate(bytes.len() - cut);
        for summed in [false, true] {
            if let Some(len) = usual(&bytes, max, summed) {
                prop_assert_eq!(general(&bytes, max, summed), Frame::Whole { skip: 0, len });
            }
        }
    }

    #[test]
    fn a_sum_is_that_of_all_bytes(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        prop_assert_eq!(check_sum(&bytes), bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)));
    }
}
