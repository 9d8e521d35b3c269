//! Inbound sequence numbers: in sequence, above a gap, or received before.

use crate::decimal::digits::four_to_eight;
use crate::{Mono, Nanos};

/// The largest MsgSeqNum(34) and NewSeqNo(36) that we accept. This maximum leaves enough higher numbers for counting
/// on.
pub const MAX_SEQ_NUM: u64 = 999_999_999_999_999_999;

/// Reads a sequence number. A sequence number consists of digits, may have zeros in front, and is at most
/// [`MAX_SEQ_NUM`].
#[must_use]
#[inline]
pub fn parse(text: &[u8]) -> Option<u64> {
    four_to_eight(text).or_else(|| parse_any(text))
}

/// As [`parse`], for any number of digits.
fn parse_any(text: &[u8]) -> Option<u64> {
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

/// An inbound MsgSeqNum compared with the expected one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SequencePlace {
    /// The next one.
    Expected,
    /// A message before this one is missing.
    TooHigh,
    /// This MsgSeqNum was received before.
    TooLow,
}

impl SequencePlace {
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

/// A ResendRequest to write. Both ends of the range are included. An `end` of `None` means "this message and all after
/// it".
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ResendRequest {
    /// BeginSeqNo(7).
    pub begin: u64,
    /// EndSeqNo(16).
    pub end: Option<u64>,
}

/// How we request missing messages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Manner {
    /// Maximum number of messages that one ResendRequest asks for; `None` for all that are missing.
    pub chunk: Option<u64>,
    /// Whether EndSeqNo(16) is the last missing MsgSeqNum. Otherwise it means "this message and all after it".
    pub closed: bool,
    /// Whether every MsgSeqNum above the gap causes another request.
    pub redundant: bool,
    /// How long a gap may make no progress before it is requested again. The time doubles with each request.
    pub patience: Nanos,
    /// Maximum number of requests that begin at the same MsgSeqNum.
    pub attempts: u32,
}

/// The action after a MsgSeqNum above the expected one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Next {
    /// Nothing: the missing messages were requested, or will be.
    Wait,
    /// Write this ResendRequest.
    Ask(ResendRequest),
    /// End the session, because the missing messages were requested often enough.
    GiveUp,
}

/// The gap in the messages of the peer. A gap has a meaning only while logged on.
///
/// ```text
///             a MsgSeqNum too high               the last missing one arrives
///   Steady ----------------------> Gap(Asked) ---------------------------------> Steady
///     |      send ResendRequest    |  ^  ^ \ a chunk is complete: send the next ResendRequest
///     |  the peer rejects it       v  |  |
///     |                 Gap(Refused) -'  | our resend is written: send ResendRequest
///     |        a MsgSeqNum too high: again
///     |                                  |
///     |   filled, but messages above it were dropped: Gap(Draining), then Gap(Asked)
///     '--------------------------> Gap(Owed)
///       a ResendRequest too high
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Inbound {
    /// Nothing is missing.
    Steady,
    /// Messages are missing.
    Gap(Gap),
}

/// The missing messages, from the expected MsgSeqNum up to `last`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Gap {
    /// The highest missing MsgSeqNum when the gap was noticed.
    last: u64,
    /// The highest MsgSeqNum above the gap that arrived and was dropped for lack of room; 0 for none.
    dropped: u64,
    /// Number of requests so far that begin at the same MsgSeqNum.
    attempts: u32,
    /// The expected MsgSeqNum at the last check of progress, and the time at which this MsgSeqNum was first the
    /// expected one. The MsgSeqNum is 0 when there was no check after our last request.
    stands_at: (u64, Mono),
    state: Asked,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Asked {
    /// NextExpectedMsgSeqNum(789) in our Logon announces the gap, and the peer resends the messages by itself.
    ByLogon,
    /// Our ResendRequest is written. The MsgSeqNum of the ResendRequest is known after the ResendRequest was sealed.
    Written { upto: u64, number: Option<u64> },
    /// The peer has rejected our ResendRequest.
    Refused,
    /// A ResendRequest of the peer showed the gap. The peer's ResendRequest is answered before we request the missing
    /// messages.
    Owed,
    /// The gap is filled, and the messages kept above it are being processed. The dropped messages after the gap are
    /// not requested yet.
    Draining,
}

impl Inbound {
    /// Handles a message with MsgSeqNum `number` that arrived at `now`, although `expected` is missing. Each gap is
    /// requested once. If the gap makes no progress for the `patience` of `manner`, it is requested again; this time
    /// doubles with each request.
    #[must_use]
    pub fn too_high(self, now: Mono, number: u64, expected: u64, manner: Manner) -> (Self, Next) {
        let Self::Gap(gap) = self else {
            return Gap::ask(number - 1, 0, expected, manner, 1);
        };
        if gap.state == Asked::Refused {
            let again = gap.attempts.saturating_add(1);
            Gap::ask(gap.last, gap.dropped, expected, manner, again)
        } else if manner.redundant && gap.state != Asked::Owed {
            let last = gap.last.max(number - 1);
            Gap::ask(last, gap.dropped, expected, manner, 1)
        } else {
            self.elapse(now, expected, manner)
        }
    }

    /// Handles the passage of time: if the gap makes no progress for the `patience` of `manner`, it is requested
    /// again. Call this when [`Inbound::next_due`] says so.
    #[must_use]
    pub fn elapse(self, now: Mono, expected: u64, manner: Manner) -> (Self, Next) {
        let Self::Gap(gap) = self else {
            return (self, Next::Wait);
        };
        let (stood_at, since) = gap.stands_at;
        if gap.state == Asked::Owed {
            (self, Next::Wait)
        } else if stood_at != expected {
            let attempts = if stood_at == 0 { gap.attempts } else { 1 };
            let stands_at = (expected, now);
            let gap = Gap {
                attempts,
                stands_at,
                ..gap
            };
            (Self::Gap(gap), Next::Wait)
        } else if now < since + gap.pause(manner.patience) {
            (self, Next::Wait)
        } else if gap.attempts >= manner.attempts {
            (self, Next::GiveUp)
        } else {
            let again = gap.attempts.saturating_add(1);
            let (asked, next) = Gap::ask(gap.last, gap.dropped, expected, manner, again);
            (asked.standing_at(expected, now), next)
        }
    }

    /// The time at which [`Inbound::elapse`] has something to do; `None` for never. The time is zero after progress,
    /// so that the wait begins now.
    #[must_use]
    pub fn next_due(self, expected: u64, manner: Manner) -> Option<Mono> {
        match self {
            Self::Steady => None,
            Self::Gap(gap) if gap.state == Asked::Owed => None,
            Self::Gap(gap) if gap.stands_at.0 == expected => {
                Some(gap.stands_at.1 + gap.pause(manner.patience))
            }
            Self::Gap(_) => Some(Mono(0)),
        }
    }

    /// Records that there was no room for a message above the gap. The dropped message is requested after the gap is
    /// filled and the kept messages are processed.
    #[must_use]
    pub fn dropped(self, number: u64) -> Self {
        match self {
            Self::Steady => self,
            Self::Gap(gap) => Self::Gap(Gap {
                dropped: gap.dropped.max(number),
                ..gap
            }),
        }
    }

    /// Whether the gap is filled, and dropped messages must be requested as soon as a message is neither kept nor
    /// received.
    #[must_use]
    pub fn is_draining(self) -> bool {
        matches!(self, Self::Gap(gap) if gap.state == Asked::Draining)
    }

    /// Requests the dropped messages from `expected` on, which is not among the kept messages.
    #[must_use]
    pub fn drained(self, expected: u64, manner: Manner) -> (Self, Next) {
        match self {
            Self::Gap(gap) if gap.state == Asked::Draining => {
                Gap::ask(gap.last, gap.dropped, expected, manner, 1)
            }
            Self::Steady | Self::Gap(_) => (self, Next::Wait),
        }
    }

    /// Handles a ResendRequest with MsgSeqNum `number` that arrived although a message before it is missing. The
    /// ResendRequest is answered first; [`Inbound::resent`] then asks for our own ResendRequest.
    #[must_use]
    pub fn too_high_request(self, number: u64) -> Self {
        match self {
            Self::Steady => Self::Gap(Gap {
                last: number - 1,
                dropped: 0,
                attempts: 0,
                stands_at: (0, Mono(0)),
                state: Asked::Owed,
            }),
            Self::Gap(_) => self,
        }
    }

    /// Called when the messages that the peer requested have been written. Now we can request the messages that we
    /// miss.
    #[must_use]
    pub fn resent(self, expected: u64, manner: Manner) -> (Self, Next) {
        match self {
            Self::Gap(Gap {
                last,
                dropped,
                state: Asked::Owed,
                ..
            }) => Gap::ask(last, dropped, expected, manner, 1),
            _ => (self, Next::Wait),
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

    /// The state after our Logon has announced to the peer which messages below `number` are missing.
    #[must_use]
    pub fn asked_by_logon(number: u64) -> Self {
        Self::Gap(Gap {
            last: number - 1,
            dropped: 0,
            attempts: 1,
            stands_at: (0, Mono(0)),
            state: Asked::ByLogon,
        })
    }

    /// Handles progress: `expected` is now the next MsgSeqNum. When one part of the gap is complete, the next part is
    /// requested.
    #[must_use]
    pub fn advanced(self, expected: u64, manner: Manner) -> (Self, Next) {
        match self {
            Self::Steady => (self, Next::Wait),
            Self::Gap(gap) if expected > gap.last.max(gap.dropped) => (Self::Steady, Next::Wait),
            Self::Gap(gap) if expected > gap.last => {
                let draining = Gap {
                    last: gap.dropped,
                    state: Asked::Draining,
                    ..gap
                };
                (Self::Gap(draining), Next::Wait)
            }
            Self::Gap(Gap {
                last,
                dropped,
                state: Asked::Written { upto, .. },
                ..
            }) if expected > upto => Gap::ask(last, dropped, expected, manner, 1),
            _ => (self, Next::Wait),
        }
    }

    /// The highest missing MsgSeqNum.
    #[must_use]
    pub fn last_missing(self) -> Option<u64> {
        match self {
            Self::Steady => None,
            Self::Gap(gap) => Some(gap.last),
        }
    }

    /// Records the MsgSeqNum that our ResendRequest got.
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

    /// Handles the peer's Reject of our message `number`. If this message was the ResendRequest for the gap, returns
    /// how many requests for it were made.
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
    /// How long the gap may make no progress after this number of requests.
    fn pause(self, patience: Nanos) -> Nanos {
        let doublings = self.attempts.saturating_sub(1).min(16);
        Nanos(patience.0.saturating_mul(1 << doublings))
    }

    fn ask(last: u64, dropped: u64, begin: u64, manner: Manner, attempts: u32) -> (Inbound, Next) {
        let chunk = |size: u64| last.min(begin.saturating_add(size.max(1)) - 1);
        let end = manner.chunk.map(chunk).or(manner.closed.then_some(last));
        let gap = Self {
            last,
            dropped,
            attempts,
            stands_at: (0, Mono(0)),
            state: Asked::Written {
                upto: end.unwrap_or(last),
                number: None,
            },
        };
        (Inbound::Gap(gap), Next::Ask(ResendRequest { begin, end }))
    }
}

#[cfg(test)]
mod tests;
