//! What the operator of a gateway hears, and what is counted.

use core::fmt;

use fixwire_protocol::{BodyError, Message, SessionId, Tag};

use crate::convert::Unconvertible;
use crate::orders::{CheckpointError, OrdersError};
use crate::rules::Failure;

/// Something that the owner of a [`Gateway`](super::Gateway) hears while a message is handled.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'e> {
    /// `notify` in a rule.
    Notify {
        /// The rule's name.
        rule: &'e str,
        /// What it says.
        text: &'e [u8],
    },
    /// `connect` in a rule: the owner lets this session connect at once, also after it was logged out.
    Connect {
        /// The rule's name.
        rule: &'e str,
        /// The session.
        session: SessionId,
    },
    /// `disconnect` in a rule: the owner logs this session out and ends its connection.
    Disconnect {
        /// The rule's name.
        rule: &'e str,
        /// The session.
        session: SessionId,
    },
    /// A message did not get where it should.
    Trouble {
        /// The session that it came from.
        from: SessionId,
        /// The message.
        message: Message<'e>,
        /// The rule that sent it, by its name.
        rule: Option<&'e str>,
        /// Why.
        trouble: Trouble,
    },
    /// A message that was held is not delivered. Its source is answered, unless it was itself an answer
    /// or a copy, or went elsewhere too.
    Undelivered {
        /// The session that it came from; `None` when the file no longer has it.
        from: Option<SessionId>,
        /// The session that it was for; `None` when the file no longer has it.
        to: Option<SessionId>,
        /// The fields of the message that an answer reads, as it came.
        message: Message<'e>,
        /// Why.
        trouble: Trouble,
    },
    /// Most of a limit is taken. Told once, until much of it is given back.
    Room {
        /// The limit's key in the file: `max_orders`, `max_held` or `max_remembered`.
        limit: &'static str,
        /// The client that has taken it, or that has most; `None` when the file no longer has it.
        client: Option<SessionId>,
        /// Whether it is this client's share that is taken, not the whole limit.
        is_share: bool,
        /// What is taken: ids of orders, or bytes.
        taken: u64,
        /// What may be.
        of: u64,
    },
    /// A note of the journal could not be read, or not be followed.
    Note(NoteError),
}

/// Why a message did not get where it should.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Trouble {
    /// An action of a rule could not be done.
    Failed {
        /// The action, by its place in the rule.
        action: usize,
        /// Why.
        failure: Failure,
    },
    /// A script could not tell whether a condition of the rule holds, which then does not.
    Untold(Failure),
    /// `throttle` did not let it through.
    TooMany,
    /// It cannot be said in the target's version.
    Unconvertible(Unconvertible),
    /// There is no way from its version to the target's.
    NoConversion,
    /// Its ids cannot be remembered.
    Orders(OrdersError),
    /// Its client has an open order of this ClOrdID there.
    Duplicate,
    /// This session is not logged on, and the file says to reject then.
    Away(SessionId),
    /// The outbox has no room, or a value cannot be written.
    NotWritten(BodyError),
    /// No rule decided about it.
    Unmatched,
    /// It was sent to the very session that it comes from, which has it open.
    CameBack,
    /// It is an answer of the gateway's own to the session that it comes from.
    OwnAnswer,
    /// It was sent to the session that it comes from again and again.
    GoesRound,
    /// It answers nothing that is known.
    Unsolicited,
    /// It is for a client that the file no longer has.
    ClientGone,
    /// Its client has as many orders open as it may, or its messages that wait take as much memory.
    Share,
    /// Held messages take as much memory as they may.
    MaxHeld,
    /// What is to be remembered for its order takes more memory than all may.
    MaxRemembered,
    /// It was held longer than its time to live.
    Expired,
    /// The numbers of the session that it waited for have restarted: it is void.
    Void,
    /// It was held for a session that the file no longer has.
    TargetGone,
    /// It was sent, and its peer has rejected it with a Reject(3).
    Rejected,
    /// It may reach the orders of all clients at its target, and the rule does not name its type.
    ReachesAll,
}

/// Why a note has no effect.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum NoteError {
    /// It is none that a gateway writes.
    NotOurs,
    /// It speaks of a session that no note before it has introduced.
    UnknownSession,
    /// Orders cannot go on under these limits.
    Limits(CheckpointError),
    /// It speaks of a held message, and there is none.
    NothingHeld,
}

impl Trouble {
    /// The text for Text(58).
    pub(super) fn text(&self) -> &'static str {
        match self {
            Self::Failed { failure, .. } | Self::Untold(failure) => match failure {
                Failure::NotInTable(_) | Failure::NoSession(_) => "no destination for this message",
                _ => "message cannot be handled",
            },
            Self::TooMany => "too many messages",
            Self::Unconvertible(_) | Self::NoConversion => {
                "message has no equal at its destination"
            }
            Self::Orders(OrdersError::NoId) => "message without an id",
            Self::Orders(OrdersError::IdTooLong { .. }) => "id is too long",
            Self::Orders(OrdersError::UnknownOrder { .. }) => "unknown order",
            Self::ReachesAll => "request reaches orders of all clients",
            Self::Orders(_)
            | Self::NotWritten(_)
            | Self::Share
            | Self::MaxHeld
            | Self::MaxRemembered => "no room for this message now",
            Self::Duplicate => "duplicate ClOrdID",
            Self::Away(_) | Self::TargetGone => "destination is not available",
            Self::Void => "destination has reset its sequence numbers",
            Self::Expired => "destination was not available in time",
            Self::Unmatched => "no destination for this message",
            Self::CameBack => "message has come back to where it was sent",
            Self::OwnAnswer => "answer of the gateway has come back",
            Self::GoesRound => "message goes round",
            Self::Unsolicited | Self::ClientGone => "answer to nothing that is known",
            Self::Rejected => "destination has rejected this message",
        }
    }

    /// The field that the text speaks of, when there is one.
    pub(super) fn tag(&self) -> Option<Tag> {
        match self {
            Self::Failed {
                failure:
                    Failure::NoField(tag)
                    | Failure::NotInTable(tag)
                    | Failure::BadValue(tag)
                    | Failure::NotInEntry(tag)
                    | Failure::NotRemembered(tag)
                    | Failure::TooLong(tag)
                    | Failure::NoSession(tag),
                ..
            } => Some(*tag),
            Self::Unconvertible(Unconvertible::Homeless(tag) | Unconvertible::Missing(tag)) => {
                Some(*tag)
            }
            Self::Orders(OrdersError::IdTooLong { tag } | OrdersError::UnknownOrder { tag }) => {
                Some(*tag)
            }
            _ => None,
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { action, failure } => {
                write!(f, "action {} failed: {failure}", action + 1)
            }
            Self::Untold(failure) => write!(f, "a condition cannot be told: {failure}"),
            Self::Unconvertible(error) => error.fmt(f),
            Self::NoConversion => f.write_str("no conversion between these versions"),
            Self::Orders(error) => error.fmt(f),
            Self::NotWritten(error) => write!(f, "not written: {error}"),
            Self::Unmatched => f.write_str("no rule decided"),
            Self::ClientGone => f.write_str("its client is no longer in the file"),
            Self::TargetGone => f.write_str("its target is no longer in the file"),
            Self::Share => {
                f.write_str("this client has as much as it may: see max_orders and max_held")
            }
            Self::MaxHeld => f.write_str("held messages take max_held bytes"),
            Self::MaxRemembered => {
                f.write_str("what is to be remembered for one order takes more than max_remembered")
            }
            _ => f.write_str(self.text()),
        }
    }
}

impl fmt::Display for NoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOurs => f.write_str("note of the journal is none of a gateway"),
            Self::UnknownSession => f.write_str("note of the journal speaks of an unknown session"),
            Self::NothingHeld => {
                f.write_str("note of the journal speaks of a held message that is not there")
            }
            Self::Limits(error) => write!(f, "orders cannot go on under these limits: {error}"),
        }
    }
}

/// What a gateway counts, since it was made.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counters {
    /// Messages from sessions.
    pub received: u64,
    /// Messages to targets, each target counted.
    pub sent: u64,
    /// Copies.
    pub copied: u64,
    /// Answers that went back to clients.
    pub returned: u64,
    /// Rejects that sources were answered with.
    pub rejected: u64,
    /// Messages about which no rule decided.
    pub unmatched: u64,
    /// Answers to nothing that is known which a rule was to return.
    pub unsolicited: u64,
    /// Messages that came back to where they were sent.
    pub came_back: u64,
    /// How often a script failed, in a condition or as an action.
    pub scripts_failed: u64,
    /// Messages that the gateway's own queues held, each target counted; they are in `sent`, `copied` and
    /// `returned` too.
    pub held: u64,
    /// Those of them that were not delivered: expired, or their target is gone.
    pub undelivered: u64,
    /// How often a message did not get where it should, for whatever reason.
    pub troubles: u64,
}
