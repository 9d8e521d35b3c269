use std::format;
use std::string::String;
use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::frame::{self, Frame};
use crate::{Decimal, Decoder, Precision, RepeatError, Timestamp};

const TIME: &[u8] = b"20260821-13:30:00.123";
const A: SessionId = SessionId(0);

fn header() -> HeaderTemplate {
    HeaderTemplate::new(b"FIX.4.4", b"US", b"THEM", &[(50, b"DESK"), (57, b"X")])
}

fn outbox(bytes: usize, messages: usize) -> Outbox {
    Outbox::new(bytes, messages, header().room())
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\x01', "|")
}

fn assert_whole(bytes: &[u8]) {
    let len = bytes.len();
    assert_eq!(
        frame::next(bytes, len),
        Frame::Whole { skip: 0, len },
        "{}",
        shown(bytes)
    );
}

fn seal_all(outbox: &mut Outbox, from: u64) {
    for (seq, index) in (from..).zip(outbox.unsealed()) {
        outbox.seal(index, &header(), seq, TIME);
    }
}

#[test]
fn a_message_gets_its_header_around_its_body() {
    let mut outbox = outbox(1000, 4);
    let mut body = outbox.begin(A, b"8");
    body.field(37, b"O1")
        .int(14, -7)
        .uint(151, 0)
        .char(54, b'1')
        .bool(43, true)
        .decimal(
            6,
            Decimal {
                mantissa: 11_010,
                scale: 2,
            },
        )
        .time(60, Timestamp(1), Precision::Nanos)
        .data(95, 96, b"a\x01b")
        .uint(20_001, u64::MAX)
        .int(123_456_789, i64::MIN);
    assert_eq!(body.finish(), Ok(()));
    assert_eq!(outbox.unsealed(), 0..1);
    assert_eq!(outbox.sealed(0), b"");
    assert!(shown(outbox.body(0)).starts_with("37=O1|14=-7|"));
    outbox.seal(0, &header(), 42, TIME);
    let body = "37=O1|14=-7|151=0|54=1|43=Y|6=110.10|60=19700101-00:00:00.000000001|95=3|96=a|b|\
                20001=18446744073709551615|123456789=-9223372036854775808|";
    let counted = format!("35=8|34=42|49=US|52=20260821-13:30:00.123|56=THEM|50=DESK|57=X|{body}");
    let wanted = format!("8=FIX.4.4|9={}|{counted}10=", counted.len());
    let got = shown(outbox.sealed(0));
    assert_eq!(&got[..got.len() - 4], wanted);
    assert_whole(outbox.sealed(0));
    assert_eq!(outbox.unsealed(), 1..1);
    assert_eq!(
        (outbox.entries()[0].seq, outbox.msg_type(0)),
        (42, &b"8"[..])
    );
}

#[test]
fn a_note_stands_beside_messages_with_its_time() {
    let mut outbox = outbox(1000, 4);
    assert_eq!(outbox.note(b"\0\x01any bytes"), Ok(()));
    outbox.begin(A, b"B").field(58, b"one");
    assert_eq!(outbox.note(b""), Ok(()));
    assert_eq!(outbox.note(&[b'x'; 900]), Err(BodyError::Full));
    let notes: Vec<_> = outbox.entries().iter().map(Entry::is_note).collect();
    assert_eq!(notes, [true, false, true]);
    outbox.seal_note(0, 7, Timestamp(-5));
    outbox.seal(1, &header(), 1, TIME);
    outbox.seal_note(2, 8, Timestamp(6));
    let first = stored_note(outbox.sealed(0));
    assert_eq!(first, Some((Timestamp(-5), &b"\0\x01any bytes"[..])));
    assert_whole(outbox.sealed(1));
    assert_eq!(
        stored_note(outbox.sealed(2)),
        Some((Timestamp(6), &b""[..]))
    );
    for cut in 0..NOTE_ROOM {
        assert_eq!(stored_note(&outbox.sealed(2)[..cut]), None);
    }
    assert_eq!((outbox.entries()[0].seq, outbox.entries()[2].seq), (7, 8));
    // A message for a session that does not exist is none.
    outbox.begin(SessionId(u32::MAX), b"note").field(58, b"x");
    assert!(!outbox.entries()[3].is_note());
}

#[test]
fn sealed_messages_touch() {
    let mut outbox = outbox(4000, 8);
    for text in [&b"one"[..], b"two", b"three"] {
        outbox.begin(A, b"B").field(58, text);
    }
    seal_all(&mut outbox, 9);
    outbox.begin_admin(A, b"0", MsgSeqNumSource::Next);
    outbox.begin(A, b"B").field(58, b"gone");
    outbox.begin(A, b"B").field(58, b"also gone");
    outbox.begin(A, b"LONGESTTYPE16byt").field(58, &[b'x'; 300]);
    outbox.discard(4);
    outbox.seal(3, &header(), 12, TIME);
    outbox.seal(6, &header(), 13, TIME);
    let joined: Vec<u8> = (0..7).flat_map(|i| outbox.sealed(i).to_vec()).collect();
    assert_eq!(outbox.bytes(0..7), joined);
    assert_eq!(outbox.bytes(0..8), b"");
    let mut rest = &joined[..];
    let mut numbers = Vec::new();
    let mut decoder = Decoder::with_capacity(32);
    while let Frame::Whole { skip: 0, len } = frame::next(rest, 4000) {
        numbers.push(decoder.decode(&rest[..len]).seq_num());
        rest = &rest[len..];
    }
    assert_eq!(rest, b"");
    assert_eq!(numbers, [9, 10, 11, 12, 13].map(|n| Some(Ok(n))));
    let gone: Vec<_> = outbox.entries().iter().map(Entry::is_discarded).collect();
    assert_eq!(gone, [false, false, false, false, true, true, false]);
}

#[test]
fn a_discarded_message_before_the_first_leaves_nothing() {
    let mut outbox = outbox(4000, 8);
    outbox.begin(A, b"B").field(58, b"gone");
    outbox.begin(A, b"B").field(58, b"stays");
    outbox.begin(A, b"B").field(58, b"gone too");
    outbox.discard(0);
    outbox.seal(1, &header(), 1, TIME);
    outbox.discard(2);
    assert_whole(outbox.bytes(0..3));
    assert_eq!(outbox.bytes(0..1), b"");
    assert_eq!(outbox.bytes(2..3), b"");
    assert_eq!(outbox.sealed(1), outbox.bytes(0..3));
    assert_eq!(outbox.unsealed(), 3..3);
}

#[test]
fn what_does_not_fit_leaves_no_trace() {
    let mut outbox = outbox(400, 2);
    let mut body = outbox.begin(A, b"B");
    body.field(58, &[b'x'; 500]).field(11, b"short");
    assert_eq!(body.finish(), Err(BodyError::Full));
    assert!(outbox.is_empty());
    assert_eq!(outbox.failures(), 1);
    outbox.begin(A, b"B").field(58, b"a");
    outbox.begin_admin(A, b"0", MsgSeqNumSource::Fixed(3));
    assert_eq!(outbox.begin(A, b"B").finish(), Err(BodyError::Full));
    // A session still finds room, for messages and for bytes.
    let mut body = outbox.begin_admin(A, b"3", MsgSeqNumSource::Next);
    body.field(58, &[b'r'; RESERVE / 2]);
    assert_eq!(body.finish(), Ok(()));
    let mut body = outbox.begin_admin(A, b"3", MsgSeqNumSource::Next);
    body.data(95, 96, &[b'r'; RESERVE]);
    assert_eq!(body.finish(), Err(BodyError::Full));
    seal_all(&mut outbox, 1);
    for index in 0..3 {
        assert_whole(outbox.sealed(index));
    }
    outbox.clear();
    assert_eq!(outbox.begin(A, b"B").finish(), Ok(()));
}

#[test]
fn every_byte_of_the_buffer_can_be_used_and_none_behind_it() {
    for len in 0..400 {
        let mut outbox = outbox(400, 2);
        let mut body = outbox.begin(A, b"B");
        body.field(58, &std::vec![b'x'; len.max(1)])
            .uint(1, 7)
            .decimal(44, Decimal::from_int(7));
        if body.finish().is_ok() {
            outbox.seal(0, &header(), u64::MAX, TIME);
            assert_whole(outbox.sealed(0));
        }
        let mut body = outbox.begin_admin(A, b"3", MsgSeqNumSource::Next);
        body.field(58, &std::vec![b'x'; RESERVE - 200 + len]);
        let _ = body.finish();
        seal_all(&mut outbox, 5);
    }
}

#[test]
fn values_that_would_break_the_message_are_refused() {
    let mut outbox = outbox(1000, 4);
    for value in [
        &b""[..],
        b"\x01",
        b"a\x0110=000",
        &[1; 40],
        b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\x01",
    ] {
        let mut body = outbox.begin(A, b"B");
        body.field(11, b"fine").field(58, value).field(55, b"fine");
        assert_eq!(body.finish(), Err(BodyError::Value(58)));
    }
    let mut body = outbox.begin(A, b"B");
    body.char(54, SOH);
    assert_eq!(body.finish(), Err(BodyError::Value(54)));
    for msg_type in [&b""[..], b"12345678901234567", b"a\x01b"] {
        assert_eq!(
            outbox.begin(A, msg_type).finish(),
            Err(BodyError::Value(35))
        );
    }
    outbox.begin(A, b"B").field(58, b"x").data(95, 96, b"");
    outbox.begin(A, b"B").field(58, b"y");
    assert_eq!(outbox.entries().len(), 2);
    assert_eq!(outbox.body(0), b"58=x\x01");
    let mut body = outbox.begin(A, b"B");
    body.field(58, b"taken back");
    body.abandon();
    assert_eq!(outbox.entries().len(), 2);
}

#[test]
fn truncating_makes_room_again() {
    let mut outbox = outbox(1200, 9);
    outbox.begin(A, b"B").field(58, b"kept");
    seal_all(&mut outbox, 1);
    for _ in 0..3 {
        outbox.begin(A, b"B").field(58, b"waits");
        outbox.begin(A, b"B").field(58, &[b'x'; 300]);
        outbox.truncate(2);
        assert_eq!(outbox.body(1), b"58=waits\x01");
        outbox.truncate(1);
    }
    outbox.begin(A, b"B").field(58, &[b'x'; 300]);
    seal_all(&mut outbox, 2);
    assert_eq!(outbox.entries().len(), 2);
    assert_whole(outbox.sealed(0));
    assert_whole(outbox.sealed(1));
    outbox.truncate(5);
}

#[test]
fn fields_are_copied_as_they_were() {
    let bytes = b"8=FIX.4.4\x019=9\x0135=D\x0111=A\x0195=3\x0196=a\x01b\x0158=\xff\x0110=000\x01";
    let mut decoder = Decoder::with_capacity(16);
    let message = decoder.decode(bytes);
    let mut outbox = outbox(1000, 4);
    outbox
        .begin(A, b"D")
        .copy(&message, 3..7)
        .copy(&message, 3..3);
    assert_eq!(outbox.body(0), b"11=A\x0195=3\x0196=a\x01b\x0158=\xff\x01");
    let mut body = outbox.begin(A, b"D");
    for _ in 0..200 {
        body.copy(&message, 3..7);
    }
    assert_eq!(body.finish(), Err(BodyError::Full));
}

#[test]
fn encoded_fields_are_whole_fields() {
    let mut outbox = outbox(1000, 4);
    outbox
        .begin(A, b"D")
        .encoded(b"11=A\x0155=B\x01")
        .encoded(b"");
    assert_eq!(outbox.body(0), b"11=A\x0155=B\x01");
    let mut body = outbox.begin(A, b"D");
    body.encoded(b"11=A\x0155=B");
    assert!(body.finish().is_err());
    let mut body = outbox.begin(A, b"D");
    body.encoded(&[SOH; 2000]);
    assert_eq!(body.finish(), Err(BodyError::Full));
    assert_eq!(outbox.entries().len(), 1);
}

#[test]
fn what_could_be_written_once_can_be_repeated() {
    let limit = 1000;
    let mut first = outbox(limit, 1);
    let longest = (0..limit).rev().find(|&len| {
        let mut body = first.begin(A, b"D");
        body.encoded(&[SOH].repeat(len));
        body.finish().is_ok()
    });
    let longest = longest.expect("something fits");
    let stored = |len: usize| {
        let text = format!(
            "8=FIX.4.4|9=1|35=D|34=1|49=S|52=T|56=T|58={}|",
            "x".repeat(len)
        );
        format!("{text}10=000|").replace('|', "\x01")
    };
    let mut again = outbox(limit, 1);
    let nanos = b"20260822-00:00:00.000000000";
    assert_eq!(
        again.repeat(A, 1, stored(longest).as_bytes(), nanos),
        Ok(())
    );
    // The outbox was larger when it was written: no waiting makes room for it.
    let mut again = outbox(limit, 1);
    let error = again.repeat(A, 1, stored(limit + RESERVE).as_bytes(), nanos);
    assert_eq!(error, Err(RepeatError::TooLong));
    assert_eq!(again.failures(), 1, "the operator is notified");
}

fn repeated(fields: &str) -> String {
    let text = format!("8=FIX.4.4|9={}|{fields}10=000|", fields.len()).replace('|', "\x01");
    let mut outbox = outbox(1000, 4);
    outbox.begin(A, b"B").field(58, b"before");
    outbox
        .repeat(A, 7, text.as_bytes(), b"20260822-00:00:00")
        .expect("it is a message");
    outbox.begin(A, b"B").field(58, b"after");
    seal_all(&mut outbox, 90);
    let (sealed, entry) = (outbox.sealed(1), outbox.entries()[1]);
    assert_whole(sealed);
    assert_eq!((entry.seq, entry.number), (7, MsgSeqNumSource::Fixed(7)));
    let joined: usize = (0..3).map(|i| outbox.sealed(i).len()).sum();
    assert_eq!(outbox.bytes(0..3).len(), joined);
    let shown = shown(sealed);
    let (from, to) = (
        shown.find("35=").unwrap_or(0),
        shown.rfind("10=").unwrap_or(0),
    );
    shown[from..to].into()
}

#[test]
fn a_repeated_message_changes_only_its_times_and_flags() {
    assert_eq!(
        repeated("35=8|34=7|49=A|52=20260821-13:30:00.1|56=B|50=S|37=O|58=43=N|122=body|"),
        "35=8|34=7|49=A|52=20260822-00:00:00|43=Y|122=20260821-13:30:00.1|56=B|50=S|37=O|58=43=N|122=body|"
    );
    assert_eq!(
        repeated("35=8|34=7|49=A|56=B|52=T2|43=N|97=Y|122=T1|37=O|"),
        "35=8|34=7|49=A|56=B|52=20260822-00:00:00|43=Y|122=T1|97=Y|37=O|"
    );
    assert_eq!(
        repeated("35=8|43=Y|122=T1|34=7|212=5|213=|52=x|52=T2|97=Y|37=O|"),
        "35=8|34=7|212=5|213=|52=x|52=20260822-00:00:00|43=Y|122=T1|97=Y|37=O|"
    );
    assert_eq!(
        repeated("35=LONG|34=7|122=T1|52=T2|43=Y|627=1|628=H|55=|a|"),
        "35=LONG|34=7|52=20260822-00:00:00|43=Y|122=T1|627=1|628=H|55=|a|"
    );
}

#[test]
fn bytes_that_are_no_message_are_not_repeated() {
    let mut outbox = outbox(300, 2);
    for text in [
        "",
        "10=000|",
        "8=F|10=000|",
        "8=F|9=1|35=D|10=000|",
        "8=F|35=D|9=1|52=T|10=000|",
        "8=F|9=1|52=T|10=000|",
        "8=F|9=1|34=1|35=D|52=T|10=000|",
        "8=F|9=1|35=D|52=T|10=0000",
        "8=F|9=1|35=D|212=999|213=a|52=T|10=000|",
        "8=F|9=1|35=D|212=18446744073709551615|213=a|52=T|10=000|",
        "8=F|9=1|35=12345678901234567|52=T|10=000|",
        "8=F|9=1|35=|52=T|10=000|",
    ] {
        let stored = text.replace('|', "\x01");
        let error = outbox.repeat(A, 1, stored.as_bytes(), TIME);
        assert_eq!(error, Err(RepeatError::NotAMessage), "{text}");
    }
    let long = format!("8=F|9=1|35=D|52=T|58={}|10=000|", "x".repeat(300)).replace('|', "\x01");
    outbox.begin(A, b"0");
    assert_eq!(
        outbox.repeat(A, 1, long.as_bytes(), TIME),
        Err(RepeatError::Full)
    );
    assert_eq!(outbox.entries().len(), 1);
}

#[test]
fn room_that_is_promised_is_there() {
    for messages in 0..6 {
        let mut outbox = outbox(1 << 10, 5);
        assert_eq!(outbox.begin(A, b"B").finish(), Ok(()));
        let (mut least, value) = (0, [b'x'; 2000]);
        while outbox.has_room(messages, least + 1) {
            least += 1;
        }
        assert_eq!(outbox.has_room(messages, least), messages < 5);
        if least > 0 && messages > 0 {
            for _ in 1..messages {
                assert_eq!(outbox.begin(A, b"B").finish(), Ok(()));
            }
            let text = |len: usize| [&b"58="[..], &value[..len - 4], b"\x01"].concat();
            let mut longer = outbox.begin(A, b"B");
            longer.encoded(&text(least + 1));
            assert_eq!(longer.finish(), Err(BodyError::Full));
            let mut body = outbox.begin(A, b"B");
            body.encoded(&text(least));
            assert_eq!(body.finish(), Ok(()));
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(
        messages in prop::collection::vec(prop::collection::vec((1_u32..99_999, "[ -~]{1,70}"), 0..9), 1..6),
        seq in any::<u64>(),
    ) {
        let mut outbox = outbox(1 << 16, 16);
        for fields in &messages {
            let mut body = outbox.begin(A, b"B");
            for (tag, value) in fields {
                body.field(*tag, value.as_bytes());
            }
            prop_assert_eq!(body.finish(), Ok(()));
        }
        for index in outbox.unsealed() {
            outbox.seal(index, &header(), seq, TIME);
        }
        let mut decoder = Decoder::with_capacity(64);
        for (index, fields) in messages.iter().enumerate() {
            let bytes = outbox.sealed(index);
            assert_whole(bytes);
            let at = bytes.windows(6).position(|w| w == b"\x0157=X\x01").unwrap_or(0) + 6;
            let wanted: Vec<u8> = fields.iter().flat_map(|(tag, value)| format!("{tag}={value}\x01").into_bytes()).collect();
            prop_assert_eq!(&bytes[at..bytes.len() - 7], &wanted[..]);
            prop_assert_eq!(decoder.decode(bytes).seq_num(), Some(Ok(seq)));
        }
    }

    #[test]
    fn no_stored_bytes_make_repeating_panic(
        text in "(8=F\\|9=1\\|35=D\\|)?((52|43|122|212|213|34|58|x|)=[0-9|]{0,3}\\|){0,8}(10=000\\|)?",
        noise in prop::collection::vec(any::<u8>(), 0..30),
    ) {
        let mut outbox = outbox(1000, 4);
        for stored in [text.replace('|', "\x01").as_bytes(), &noise] {
            if outbox.repeat(A, 1, stored, TIME).is_ok() {
                let index = outbox.unsealed().start;
                outbox.seal(index, &header(), 1, TIME);
                let sealed = outbox.sealed(index);
                let shape = shown(sealed);
                prop_assert!(shape.contains("|43=Y|122="), "{}", shape);
                prop_assert_eq!(frame::check_sum(&sealed[..sealed.len() - 7]), shape[shape.len() - 4..shape.len() - 1].parse::<u8>().unwrap_or(0));
            }
        }
    }
}

/// Messages of three sessions and notes, in any order: gathered, each session has one slice, with its messages in
/// the order of their writing, and the chosen session is the last.
#[test]
fn gathered_messages_of_a_session_stand_side_by_side() {
    proptest!(|(kinds in prop::collection::vec(0..5_u32, 1..60), last in 0..3_u32)| {
        let mut outbox = outbox(64 << 10, 100).with_gather();
        for (at, kind) in kinds.iter().enumerate() {
            match kind {
                0..3 => {
                    outbox.begin(SessionId(*kind), b"B").uint(58, at as u64);
                }
                3 => outbox.note(b"kept").unwrap(),
                _ => {
                    outbox.begin(A, b"B").uint(58, at as u64);
                }
            }
        }
        let mut plain: Vec<Vec<u8>> = (0..3).map(|_| Vec::new()).collect();
        for index in outbox.unsealed() {
            let entry = outbox.entries()[index];
            if entry.is_note() {
                outbox.seal_note(index, 1, Timestamp(0));
            } else if kinds[index] == 4 {
                outbox.discard(index);
            } else {
                outbox.seal(index, &header(), index as u64, TIME);
                plain[entry.session.0 as usize].extend_from_slice(outbox.sealed(index));
            }
        }
        outbox.gather(SessionId(last));
        let places = outbox.entries().iter().map(|entry| entry.session.0);
        let places = places.map(|session| (session == last, session));
        prop_assert!(places.is_sorted(), "the last session is not last");
        let mut found: Vec<Vec<u8>> = (0..3).map(|_| Vec::new()).collect();
        let mut start = 0;
        for run in outbox.entries().chunk_by(|one, other| one.session == other.session) {
            let slice = outbox.bytes(start..start + run.len());
            let found = &mut found[run[0].session.0 as usize];
            prop_assert!(found.is_empty(), "a session has two slices");
            found.extend_from_slice(slice);
            start += run.len();
        }
        prop_assert_eq!(found, plain);
        outbox.clear();
        outbox.begin(A, b"B").uint(58, 7);
        outbox.seal(0, &header(), 1, TIME);
        assert_whole(outbox.sealed(0));
    });
}

#[test]
fn a_message_leaves_room_for_its_header_and_for_a_resend() {
    let header = header();
    let mut outbox = Outbox::new(4096, 8, header.room()).with_max_message(512);
    let longest = outbox.max_body() - "58=|".len();
    assert!((200..512).contains(&longest), "{longest}");
    let mut write = |len: usize| {
        let mut body = outbox.begin(SessionId(0), b"B");
        body.field(58, &std::vec![b'x'; len]);
        body.finish()
    };
    assert_eq!(write(longest + 1), Err(BodyError::TooLong(512)));
    assert_eq!(write(longest), Ok(()));
    assert_eq!(outbox.failures(), 1);
    outbox.seal(0, &header, u64::MAX, b"20260821-13:30:00.123456789");
    let mut again = Vec::new();
    crate::repeat::repeat(outbox.sealed(0), b"20260821-13:30:01.123456789", &mut again).unwrap();
    assert!((420..=512).contains(&again.len()), "{}", again.len());
    // Neither notes nor the session's own messages have this limit.
    assert_eq!(outbox.note(&[0; 600]), Ok(()));
    let mut body = outbox.begin_admin(SessionId(0), b"5", MsgSeqNumSource::Next);
    body.field(58, &[b'x'; 600]);
    assert_eq!(body.finish(), Ok(()));
}
