//! The numbers of what arrives: in order, above a gap, or already seen.

use crate::{Mono, Nanos};

/// The largest MsgSeqNum(34) and NewSeqNo(36) that we take: there is room to count on from it.
pub const MAX_SEQ_NUM: u64 = 999_999_999_999_999_999;

/// Reads a sequence number: digits only, leading zeros allowed, at most [`MAX_SEQ_NUM`].
#[must_use]
pub fn parse(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let mut value = 0u64;
    for &byte in text {
        if !byte.is_ascii_digit() || value > MAX_SEQ_NUM / 10 {
            return None;
        }
        value = value * 10 + u64::from(byte - b'0');
    }
    (value <= MAX_SEQ_NUM).then_some(value)
}

/// Where a number stands against the one we expect.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Place {
    /// The next one.
    Expected,
    /// Something before it is missing.
    TooHigh,
    /// We have had it.
    TooLow,
}

impl Place {
    /// Compares a MsgSeqNum with the expected one.
    #[must_use]
    pub fn of(number: u64, expected: u64) -> Self {
        match number.cmp(&expected) {
            core::cmp::Ordering::Equal => Self::Expected,
            core::cmp::Ordering::Greater => Self::TooHigh,
            core::cmp::Ordering::Less => Self::TooLow,
        }
    }
}

/// A ResendRequest to write: both ends inclusive; `end` is `None` for "and all after it".
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Request {
    /// BeginSeqNo(7).
    pub begin: u64,
    /// EndSeqNo(16).
    pub end: Option<u64>,
}

/// What is missing from the peer; meaningful only while logged on.
///
/// ```text
///             a number too high                  the last missing one arrives
///   Steady ----------------------> Gap(Asked) ---------------------------------> Steady
///            send ResendRequest    |  ^    \ a chunk is complete: send the next ResendRequest
///        the peer rejects it       v  | a number too high: ask again
///                                 Gap(Refused)
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Inbound {
    /// Nothing is missing.
    Steady,
    /// Messages are missing.
    Gap(Gap),
}

/// The missing messages: from the expected number up to `last`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Gap {
    /// The highest number that was missing when we noticed.
    last: u64,
    /// How often we have asked from the same number on.
    attempts: u32,
    /// The expected number at the last look at it, and when that number was first seen there; 0 when
    /// nobody has looked since we asked.
    stands_at: (u64, Mono),
    state: Asked,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Asked {
    /// The peer knows from our Logon (789), and resends by itself.
    ByLogon,
    /// Our ResendRequest is written; its MsgSeqNum is known once it is sealed.
    Written { upto: u64, number: Option<u64> },
    /// The peer has rejected our ResendRequest.
    Refused,
}

impl Inbound {
    /// A message numbered `number` arrived at `now` although `expected` is missing. Asks once per gap,
    /// and again when the gap has stood still for `patience`, doubled with each time.
    #[must_use]
    pub fn too_high(
        self,
        now: Mono,
        number: u64,
        expected: u64,
        chunk: Option<u64>,
        patience: Nanos,
    ) -> (Self, Option<Request>) {
        let Self::Gap(gap) = self else {
            return Gap::ask(number - 1, expected, chunk, 1);
        };
        let (stood_at, since) = gap.stands_at;
        let again = gap.attempts.saturating_add(1);
        if gap.state == Asked::Refused {
            Gap::ask(gap.last, expected, chunk, again)
        } else if stood_at != expected {
            let attempts = if stood_at == 0 { gap.attempts } else { 1 };
            let stands_at = (expected, now);
            let gap = Gap {
                attempts,
                stands_at,
                ..gap
            };
            (Self::Gap(gap), None)
        } else if now >= since + gap.pause(patience) {
            let (asked, request) = Gap::ask(gap.last, expected, chunk, again);
            (asked.standing_at(expected, now), request)
        } else {
            (self, None)
        }
    }

    fn standing_at(self, expected: u64, now: Mono) -> Self {
        match self {
            Self::Steady => self,
            Self::Gap(gap) => Self::Gap(Gap {
                stands_at: (expected, now),
                ..gap
            }),
        }
    }

    /// The peer has learnt from our Logon what is missing below `number`.
    #[must_use]
    pub fn asked_by_logon(number: u64) -> Self {
        Self::Gap(Gap {
            last: number - 1,
            attempts: 1,
            stands_at: (0, Mono(0)),
            state: Asked::ByLogon,
        })
    }

    /// `expected` is the next number now. A chunk that is complete asks for the next one.
    #[must_use]
    pub fn advanced(self, expected: u64, chunk: Option<u64>) -> (Self, Option<Request>) {
        match self {
            Self::Steady => (self, None),
            Self::Gap(gap) if expected > gap.last => (Self::Steady, None),
            Self::Gap(Gap {
                last,
                state: Asked::Written { upto, .. },
                ..
            }) if expected > upto => Gap::ask(last, expected, chunk, 1),
            _ => (self, None),
        }
    }

    /// Our ResendRequest got its number.
    #[must_use]
    pub fn sealed(self, request: u64) -> Self {
        match self {
            Self::Gap(
                gap @ Gap {
                    state: Asked::Written { upto, number: None },
                    ..
                },
            ) => Self::Gap(Gap {
                state: Asked::Written {
                    upto,
                    number: Some(request),
                },
                ..gap
            }),
            _ => self,
        }
    }

    /// The peer rejected our message `number`. Says how often it has refused to fill this gap, when
    /// that message was the ResendRequest for it.
    #[must_use]
    pub fn rejected(self, number: u64) -> (Self, Option<u32>) {
        match self {
            Self::Gap(
                gap @ Gap {
                    state:
                        Asked::Written {
                            number: Some(request),
                            ..
                        },
                    ..
                },
            ) if request == number => {
                let state = Asked::Refused;
                (Self::Gap(Gap { state, ..gap }), Some(gap.attempts))
            }
            _ => (self, None),
        }
    }
}

impl Gap {
    /// How long it may stand still after this many attempts.
    fn pause(self, patience: Nanos) -> Nanos {
        let doublings = self.attempts.saturating_sub(1).min(16);
        Nanos(patience.0.saturating_mul(1 << doublings))
    }

    fn ask(last: u64, begin: u64, chunk: Option<u64>, attempts: u32) -> (Inbound, Option<Request>) {
        let end = chunk.map(|size| last.min(begin.saturating_add(size.max(1)) - 1));
        let gap = Self {
            last,
            attempts,
            stands_at: (0, Mono(0)),
            state: Asked::Written {
                upto: end.unwrap_or(last),
                number: None,
            },
        };
        (Inbound::Gap(gap), Some(Request { begin, end }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const PATIENCE: Nanos = Nanos(30);

    #[test]
    fn a_gap_that_moves_is_not_asked_for_again_and_one_that_stands_ever_more_rarely() {
        let (mut gap, _) = Inbound::Steady.too_high(Mono(0), 10, 2, None, PATIENCE);
        let mut asked = Vec::new();
        for at in 0..1000 {
            let expected = 2 + at.min(3);
            let (next, request) = gap.too_high(Mono(at), 11, expected, None, PATIENCE);
            asked.extend(request.map(|request| (at, request.begin)));
            gap = next;
        }
        assert_eq!(asked, [(33, 5), (93, 5), (213, 5), (453, 5), (933, 5)]);
    }

    #[test]
    fn a_gap_is_asked_for_once() {
        let (gap, request) = Inbound::Steady.too_high(Mono(0), 9, 5, None, PATIENCE);
        assert_eq!(
            request,
            Some(Request {
                begin: 5,
                end: None
            })
        );
        let (gap, request) = gap.too_high(Mono(0), 10, 5, None, PATIENCE);
        assert_eq!(request, None);
        let (gap, request) = gap.advanced(8, None);
        assert_eq!(request, None);
        assert_ne!(gap, Inbound::Steady);
        assert_eq!(gap.advanced(9, None), (Inbound::Steady, None));
    }

    #[test]
    fn chunks_follow_each_other_and_end_at_the_gap() {
        let (gap, request) = Inbound::Steady.too_high(Mono(0), 10, 2, Some(5), PATIENCE);
        assert_eq!(
            request,
            Some(Request {
                begin: 2,
                end: Some(6)
            })
        );
        let (gap, request) = gap.advanced(6, Some(5));
        assert_eq!(request, None);
        let (gap, request) = gap.advanced(7, Some(5));
        assert_eq!(
            request,
            Some(Request {
                begin: 7,
                end: Some(9)
            })
        );
        assert_eq!(gap.advanced(10, Some(5)), (Inbound::Steady, None));
    }

    #[test]
    fn only_the_reject_of_our_request_counts() {
        let (gap, _) = Inbound::Steady.too_high(Mono(0), 10, 2, None, PATIENCE);
        let gap = gap.sealed(7);
        assert_eq!(gap.rejected(6), (gap, None));
        let (refused, times) = gap.rejected(7);
        assert_eq!(times, Some(1));
        let (again, request) = refused.too_high(Mono(0), 11, 2, None, PATIENCE);
        assert_eq!(
            request,
            Some(Request {
                begin: 2,
                end: None
            })
        );
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
}
