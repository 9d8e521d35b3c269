use super::*;
use alloc::vec::Vec;

const PLAIN: Manner = Manner {
    chunk: None,
    closed: false,
    redundant: false,
    patience: Nanos(30),
    attempts: 9,
};
const CHUNKS: Manner = Manner {
    chunk: Some(5),
    ..PLAIN
};

fn ask(begin: u64, end: Option<u64>) -> Next {
    Next::Ask(ResendRequest { begin, end })
}

#[test]
fn a_gap_that_moves_is_not_asked_for_again_and_one_that_stands_ever_more_rarely() {
    let (mut gap, _) = Inbound::Steady.too_high(Mono(0), 10, 2, PLAIN);
    let mut asked = Vec::new();
    for at in 0..1000 {
        let expected = 2 + at.min(3);
        let (next, request) = gap.too_high(Mono(at), 11, expected, PLAIN);
        if let Next::Ask(request) = request {
            asked.push((at, request.begin));
        }
        gap = next;
    }
    assert_eq!(asked, [(33, 5), (93, 5), (213, 5), (453, 5), (933, 5)]);
}

#[test]
fn a_gap_that_never_moves_is_given_up() {
    let manner = Manner {
        attempts: 3,
        ..PLAIN
    };
    let (mut gap, _) = Inbound::Steady.too_high(Mono(0), 10, 2, manner);
    let mut asked = Vec::new();
    for at in 0..250 {
        let (next, what) = gap.too_high(Mono(at), 11, 2, manner);
        if what != Next::Wait {
            asked.push((at, what));
        }
        gap = next;
    }
    assert_eq!(
        asked[..3],
        [(30, ask(2, None)), (90, ask(2, None)), (210, Next::GiveUp)]
    );
}

#[test]
fn time_alone_asks_again_for_a_gap_that_stands() {
    let manner = Manner {
        attempts: 3,
        ..PLAIN
    };
    let (mut gap, _) = Inbound::Steady.too_high(Mono(0), 10, 2, manner);
    assert_eq!(
        gap.next_due(2, manner),
        Some(Mono(0)),
        "the wait begins now"
    );
    let mut asked = Vec::new();
    let mut now = Mono(5);
    while let Some(due) = gap.next_due(2, manner)
        && asked.last().is_none_or(|(_, what)| *what != Next::GiveUp)
    {
        now = now.max(due);
        let (next, what) = gap.elapse(now, 2, manner);
        if what != Next::Wait {
            asked.push((now.0, what));
        }
        gap = next;
    }
    assert_eq!(
        asked,
        [(35, ask(2, None)), (95, ask(2, None)), (215, Next::GiveUp)]
    );
    assert_eq!(Inbound::Steady.next_due(2, manner), None);
    assert_eq!(
        Inbound::Steady.too_high_request(9).next_due(2, manner),
        None
    );
}

#[test]
fn messages_that_were_dropped_above_a_gap_are_asked_for_when_the_kept_ones_are_done() {
    let (gap, _) = Inbound::Steady.too_high(Mono(0), 3, 2, PLAIN);
    let gap = gap.dropped(5).dropped(4);
    // 2 arrives, and 3 was kept.
    let (gap, next) = gap.advanced(3, PLAIN);
    assert_eq!((gap.is_draining(), next), (true, Next::Wait));
    let (gap, next) = gap.advanced(4, PLAIN);
    assert_eq!((gap.is_draining(), next), (true, Next::Wait));
    let (gap, next) = gap.drained(4, PLAIN);
    assert_eq!(next, ask(4, None));
    assert_eq!(gap.advanced(5, PLAIN), (gap, Next::Wait));
    assert_eq!(gap.advanced(6, PLAIN), (Inbound::Steady, Next::Wait));
}

#[test]
fn a_gap_is_asked_for_once() {
    let (gap, next) = Inbound::Steady.too_high(Mono(0), 9, 5, PLAIN);
    assert_eq!(next, ask(5, None));
    let (gap, next) = gap.too_high(Mono(0), 10, 5, PLAIN);
    assert_eq!(next, Next::Wait);
    let (gap, next) = gap.advanced(8, PLAIN);
    assert_eq!(next, Next::Wait);
    assert_ne!(gap, Inbound::Steady);
    assert_eq!(gap.advanced(9, PLAIN), (Inbound::Steady, Next::Wait));
}

#[test]
fn redundant_requests_are_written_when_they_are_wanted() {
    let manner = Manner {
        redundant: true,
        closed: true,
        ..PLAIN
    };
    let (gap, next) = Inbound::Steady.too_high(Mono(0), 9, 5, manner);
    assert_eq!(next, ask(5, Some(8)));
    let (_, next) = gap.too_high(Mono(0), 10, 5, manner);
    assert_eq!(next, ask(5, Some(9)));
}

#[test]
fn a_request_that_shows_a_gap_is_served_before_ours_is_written() {
    let gap = Inbound::Steady.too_high_request(9);
    let (gap, next) = gap.too_high(Mono(0), 10, 5, PLAIN);
    assert_eq!(next, Next::Wait);
    let (gap, next) = gap.resent(5, PLAIN);
    assert_eq!(next, ask(5, None));
    assert_eq!(gap.resent(5, PLAIN), (gap, Next::Wait));
    assert_eq!(gap.too_high_request(12), gap);
}

#[test]
fn chunks_follow_each_other_and_end_at_the_gap() {
    let (gap, next) = Inbound::Steady.too_high(Mono(0), 10, 2, CHUNKS);
    assert_eq!(next, ask(2, Some(6)));
    let (gap, next) = gap.advanced(6, CHUNKS);
    assert_eq!(next, Next::Wait);
    let (gap, next) = gap.advanced(7, CHUNKS);
    assert_eq!(next, ask(7, Some(9)));
    assert_eq!(gap.advanced(10, CHUNKS), (Inbound::Steady, Next::Wait));
}

#[test]
fn only_the_reject_of_our_request_counts() {
    let (gap, _) = Inbound::Steady.too_high(Mono(0), 10, 2, PLAIN);
    let gap = gap.sealed(7);
    assert_eq!(gap.rejected(6), (gap, None));
    let (refused, times) = gap.rejected(7);
    assert_eq!(times, Some(1));
    let (again, next) = refused.too_high(Mono(0), 11, 2, PLAIN);
    assert_eq!(next, ask(2, None));
    let (_, times) = again.sealed(8).rejected(8);
    assert_eq!(times, Some(2));
}

#[test]
fn numbers_are_digits_within_range() {
    assert_eq!(parse(b"0002"), Some(2));
    assert_eq!(parse(b"4294967298"), Some(4_294_967_298));
    assert_eq!(parse(b"999999999999999999"), Some(MAX_SEQ_NUM));
    for bad in [
        &b""[..],
        b"-2",
        b"+2",
        b"2.0",
        b" 2",
        b"1000000000000000000",
        b"18446744073709551618",
    ] {
        assert_eq!(parse(bad), None);
    }
}
