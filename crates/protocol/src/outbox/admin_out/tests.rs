use std::collections::VecDeque;
use std::format;
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::frame::{self, Frame};
use crate::{Decoder, MsgSeqNumSource, SessionId};

const TIME: &[u8] = b"20260821-13:30:00.123";
const A: SessionId = SessionId(0);

fn header() -> HeaderTemplate {
    HeaderTemplate::new(b"FIX.4.4", b"US", b"THEM", &[(50, b"DESK"), (57, b"X")])
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\x01', "|")
}

/// The body of a whole message.
fn body(sealed: &[u8]) -> String {
    let len = sealed.len();
    assert_eq!(frame::next(sealed, len), Frame::Whole { skip: 0, len });
    let text = shown(&sealed[..len - 7]);
    let at = text.find("|57=X|").expect("the end of the header") + 6;
    text[at..].into()
}

/// A Logon as a session writes one, changed.
fn changed(change: impl FnOnce(&mut AdminOut<'_>)) -> String {
    let mut outbox = Outbox::new(4096, 4, header().room());
    let mut logon = outbox.begin_admin(A, b"A", MsgSeqNumSource::Next);
    logon.uint(98, 0).uint(108, 30).field(553, b"me");
    assert_eq!(logon.finish(), Ok(()));
    outbox.change_admin(0, &header(), 7, TIME, change);
    outbox.seal(0, &header(), 7, TIME);
    body(outbox.sealed(0))
}

#[test]
fn the_header_is_known_before_it_is_written() {
    changed(|logon| {
        assert_eq!((logon.msg_type(), logon.seq_num()), (&b"A"[..], 7));
        assert_eq!(logon.begin_string(), b"FIX.4.4");
        assert_eq!(logon.sender_comp_id(), b"US");
        assert_eq!(logon.target_comp_id(), b"THEM");
        assert_eq!(logon.sending_time(), TIME);
        for (tag, value) in [
            (8, &b"FIX.4.4"[..]),
            (35, b"A"),
            (34, b"7"),
            (49, b"US"),
            (52, TIME),
            (56, b"THEM"),
            (50, b"DESK"),
            (57, b"X"),
            (98, b"0"),
            (553, b"me"),
        ] {
            assert_eq!(logon.get(tag), Some(value), "{tag}");
        }
        for tag in [9, 10, 554, 142] {
            assert_eq!(logon.get(tag), None, "{tag}");
        }
        assert!(!format!("{logon:?}").contains("me"), "no field is shown");
    });
}

#[test]
fn fields_are_put_in_their_place_or_behind_all_others() {
    let text = changed(|logon| {
        assert_eq!(logon.set(553, b"somebody"), Ok(()));
        assert_eq!(logon.set(554, b"secret"), Ok(()));
        assert_eq!(logon.data(95, 96, b"a\x01b"), Ok(()));
        assert_eq!(logon.set(5001, b"x"), Ok(()));
        assert_eq!(logon.get(96), Some(&b"a\x01b"[..]));
        assert_eq!(logon.get(5001), Some(&b"x"[..]));
        // A data field takes its length along, whatever it is set by.
        assert_eq!(logon.set(96, b"longer"), Ok(()));
        assert_eq!(logon.set(553, b"i"), Ok(()));
        assert!(logon.is_changed());
        assert_eq!(logon.refused(), []);
    });
    assert_eq!(text, "98=0|108=30|553=i|554=secret|95=6|96=longer|5001=x|");
}

#[test]
fn a_data_field_that_no_table_has_is_found_again() {
    let text = changed(|logon| {
        assert_eq!(logon.data(20_001, 20_002, b"\x01553=no\x01"), Ok(()));
        assert_eq!(logon.set(553, b"yes"), Ok(()));
        assert_eq!(logon.set(20_002, b"z"), Ok(()));
        assert_eq!(
            logon.set(20_001, b"9"),
            Err(AdminOutError::LengthAlone(20_001))
        );
    });
    assert_eq!(text, "98=0|108=30|553=yes|20001=1|20002=z|");
}

#[test]
fn what_belongs_to_the_session_is_refused_and_the_rest_stays() {
    let own = [
        8, 9, 10, 34, 35, 43, 49, 50, 52, 56, 57, 89, 90, 91, 93, 97, 115, 116, 122, 128, 129, 142,
        143, 144, 145, 212, 213, 347, 369, 627, 628, 1128, 1129, 1156, 7, 16, 36, 45, 112, 123,
        141, 98, 108, 789, 1137,
    ];
    for tag in own {
        let text = changed(|logon| {
            assert_eq!(logon.set(58, b"before"), Ok(()));
            let refused = logon.set(tag, b"1");
            // The lengths of secure data and signature have a data field.
            assert!(
                matches!(
                    refused,
                    Err(AdminOutError::OwnField(_) | AdminOutError::LengthAlone(_))
                ),
                "{tag}: {refused:?}"
            );
            assert_eq!(
                logon.data(5001, tag, b"1"),
                Err(AdminOutError::OwnField(tag))
            );
            assert_eq!(
                logon.data(tag, 5001, b"1"),
                Err(AdminOutError::OwnField(tag))
            );
            assert_eq!(logon.set(5002, b"behind"), Ok(()));
            assert_eq!(logon.refused().len(), 3);
        });
        assert_eq!(text, "98=0|108=30|553=me|58=before|5002=behind|", "{tag}");
    }
}

#[test]
fn what_a_logon_is_acted_by_is_free_elsewhere() {
    let mut outbox = Outbox::new(4096, 4, header().room());
    outbox.begin_admin(A, b"0", MsgSeqNumSource::Next);
    outbox.change_admin(0, &header(), 1, TIME, |heartbeat| {
        assert_eq!(heartbeat.set(108, b"5"), Ok(()));
        assert_eq!(heartbeat.set(112, b"T"), Err(AdminOutError::OwnField(112)));
    });
    outbox.seal(0, &header(), 1, TIME);
    assert_eq!(body(outbox.sealed(0)), "108=5|");
}

#[test]
fn values_that_would_break_the_message_are_refused() {
    let text = changed(|logon| {
        for value in [&b""[..], b"\x01", b"a\x0110=000"] {
            assert_eq!(logon.set(58, value), Err(AdminOutError::Value(58)));
        }
        assert_eq!(logon.set(96, b""), Err(AdminOutError::Value(96)));
        assert_eq!(logon.set(95, b"3"), Err(AdminOutError::LengthAlone(95)));
        assert_eq!(logon.set(0, b"x"), Err(AdminOutError::Tag(0)));
        assert_eq!(
            logon.set(1_000_000_000, b"x"),
            Err(AdminOutError::Tag(1_000_000_000))
        );
        assert_eq!(logon.data(96, 96, b"x"), Err(AdminOutError::Tag(96)));
        assert!(!logon.is_changed());
        for error in logon.refused() {
            assert!(
                error.to_string().contains(&error.tag().to_string()),
                "{error}"
            );
        }
        for _ in 0..100 {
            let _ = logon.set(0, b"x");
        }
        assert_eq!(logon.refused().len(), MAX_REFUSALS);
    });
    assert_eq!(text, "98=0|108=30|553=me|");
}

#[test]
fn without_room_the_message_stays_as_the_session_wrote_it() {
    let text = changed(|logon| {
        assert_eq!(logon.set(58, b"fits"), Ok(()));
        let long = vec![b'x'; 40_000];
        assert_eq!(logon.set(554, &long), Err(AdminOutError::NoRoom(554)));
        assert_eq!(logon.set(5001, b"x"), Err(AdminOutError::NoRoom(5001)));
        assert!(!logon.is_changed());
        assert_eq!(logon.refused().len(), 2);
    });
    assert_eq!(text, "98=0|108=30|553=me|");
}

#[test]
fn a_resent_message_and_one_that_nobody_changes_stay_as_they_are() {
    let stored =
        b"8=FIX.4.4\x019=1\x0135=3\x0134=1\x0149=US\x0152=T\x0156=THEM\x0145=2\x0110=000\x01";
    let mut outbox = Outbox::new(4096, 4, header().room());
    assert_eq!(outbox.repeat(A, 1, stored, TIME), Ok(()));
    outbox.change_admin(0, &header(), 1, TIME, |_| panic!("it is not asked for"));
    outbox.seal(0, &header(), 1, TIME);
    assert!(shown(outbox.sealed(0)).contains("|56=THEM|45=2|10="));
    assert_eq!(changed(|_| ()), "98=0|108=30|553=me|");
}

/// A change as a person would carry it out on a list of fields.
#[derive(Clone, Debug)]
enum Change {
    Set(Tag, Vec<u8>),
    Data(Tag, Tag, Vec<u8>),
}

type Fields = Vec<(Tag, Vec<u8>)>;

impl Change {
    fn carry_out(&self, fields: &mut Fields) {
        let put = |fields: &mut Fields, old: &[Tag], new: Fields| {
            let place = fields.iter().position(|(tag, _)| old.contains(tag));
            let mut seen = Vec::new();
            fields.retain(|(tag, _)| {
                let first = old.contains(tag) && !seen.contains(tag);
                seen.extend(first.then_some(*tag));
                !first
            });
            let place = place.unwrap_or(fields.len());
            fields.splice(place..place, new);
        };
        match self {
            Self::Set(tag, value) => put(fields, &[*tag], vec![(*tag, value.clone())]),
            Self::Data(length, data, bytes) => {
                let len = bytes.len().to_string().into_bytes();
                put(
                    fields,
                    &[*length, *data],
                    vec![(*length, len), (*data, bytes.clone())],
                );
            }
        }
    }

    fn apply(&self, message: &mut AdminOut<'_>) {
        let done = match self {
            Self::Set(tag, value) => message.set(*tag, value),
            Self::Data(length, data, bytes) => message.data(*length, *data, bytes),
        };
        assert_eq!(done, Ok(()));
    }
}

fn change() -> impl Strategy<Value = Change> {
    let value = || prop::collection::vec(2_u8..127, 1..60);
    let data = || prop::collection::vec(any::<u8>(), 1..60);
    prop_oneof![
        (
            prop_oneof![Just(58), Just(553), Just(554), Just(98), 5000_u32..5004],
            value()
        )
            .prop_map(|(tag, value)| Change::Set(tag, value)),
        data().prop_map(|data| Change::Data(95, 96, data)),
        data().prop_map(|data| Change::Data(354, 355, data)),
        data().prop_map(|data| Change::Data(20_001, 20_002, data)),
    ]
}

fn text_of(fields: &Fields) -> Vec<u8> {
    let each = fields
        .iter()
        .map(|(tag, value)| [format!("{tag}=").as_bytes(), value, b"\x01"].concat());
    each.collect::<Vec<_>>().concat()
}

/// A message of a batch: admin with its changes, or one of an application, or one that is discarded.
#[derive(Clone, Debug)]
enum Piece {
    Admin(Vec<Change>),
    Application(usize),
    Discarded,
}

fn piece() -> impl Strategy<Value = Piece> {
    prop_oneof![
        prop::collection::vec(change(), 0..6).prop_map(Piece::Admin),
        (1_usize..200).prop_map(Piece::Application),
        Just(Piece::Discarded),
    ]
}

proptest! {
    /// After any changes, and among any other messages, all messages leave as they were written, in their order, and
    /// the changed ones as the same changes to a list of fields would make them.
    #[test]
    fn changes_do_what_they_would_to_a_list_of_fields(
        pieces in prop::collection::vec(piece(), 1..8),
        bytes in 2000_usize..20_000,
    ) {
        let header = header();
        let mut outbox = Outbox::new(bytes, 8, header.room());
        let mut wanted: VecDeque<Vec<u8>> = VecDeque::new();
        for piece in &pieces {
            match piece {
                Piece::Admin(changes) => {
                    let mut fields: Fields = vec![(112, b"T".to_vec()), (58, b"text".to_vec())];
                    let mut body = outbox.begin_admin(A, b"0", MsgSeqNumSource::Next);
                    body.field(112, b"T").field(58, b"text");
                    prop_assert_eq!(body.finish(), Ok(()));
                    changes.iter().for_each(|change| change.carry_out(&mut fields));
                    wanted.push_back(text_of(&fields));
                }
                Piece::Application(len) => {
                    let mut body = outbox.begin_admin(A, b"B", MsgSeqNumSource::Next);
                    body.field(58, &vec![b'x'; *len]);
                    prop_assert_eq!(body.finish(), Ok(()));
                    wanted.push_back([b"58=", &vec![b'x'; *len][..], b"\x01"].concat());
                }
                Piece::Discarded => {
                    outbox.begin_admin(A, b"B", MsgSeqNumSource::Next).field(58, b"gone");
                    wanted.push_back(Vec::new());
                }
            }
        }
        for (index, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Discarded => {
                    outbox.discard(index);
                    continue;
                }
                Piece::Admin(changes) => {
                    outbox.change_admin(index, &header, 1, TIME, |message| {
                        changes.iter().for_each(|change| change.apply(message));
                    });
                }
                Piece::Application(_) => {}
            }
            outbox.seal(index, &header, 1, TIME);
        }
        let mut decoder = Decoder::with_capacity(64);
        for (index, wanted) in wanted.iter().enumerate() {
            let sealed = outbox.sealed(index);
            if wanted.is_empty() {
                prop_assert_eq!(sealed, b"");
                continue;
            }
            let len = sealed.len();
            prop_assert_eq!(frame::next(sealed, len), Frame::Whole { skip: 0, len });
            let at = sealed.windows(6).position(|w| w == b"\x0157=X\x01").unwrap_or(0) + 6;
            prop_assert_eq!(&sealed[at..len - 7], &wanted[..]);
            prop_assert_eq!(decoder.decode(sealed).seq_num(), Some(Ok(1)));
        }
    }
}
