//! [`GatewayEvent`]s that a gateway reports to its listener, the reasons that they carry, and counters.

use core::fmt;

use fixwire_protocol::{BodyError, Message, SessionId, Tag};

use super::passage::Passage;
use crate::TransformFailure;
use crate::orders::{CheckpointError, KeptLimits, OrdersError};

/// An event that a [`Gateway`](super::Gateway) reports to its listener while it handles a message.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum GatewayEvent<'e> {
    /// `notify` in a rule.
    Notify {
        /// The rule's name.
        rule: &'e str,
        /// Text of the event.
        text: &'e [u8],
    },
    /// `connect` in a rule: the listener makes this session connect at once, even if it was logged out.
    Connect {
        /// The rule's name.
        rule: &'e str,
        /// The session.
        session: SessionId,
    },
    /// `disconnect` in a rule: the listener logs this session out and disconnects it.
    Disconnect {
        /// The rule's name.
        rule: &'e str,
        /// The session.
        session: SessionId,
    },
    /// A message was not delivered to one of its targets.
    Trouble {
        /// The session that the message came from.
        from: SessionId,
        /// The message.
        message: Message<'e>,
        /// Name of the rule that sent the message; `None` when no rule did.
        rule: Option<&'e str>,
        /// Why.
        trouble: Trouble,
    },
    /// A held message was not delivered. The source of the message receives a reject, unless the message was a
    /// response or a copy, or was delivered to another target.
    Undelivered {
        /// The session that the message came from; `None` when the file no longer has this session.
        from: Option<SessionId>,
        /// The session that the message was for; `None` when the file no longer has this session.
        to: Option<SessionId>,
        /// The fields of the message that the reject repeats, as received.
        message: Message<'e>,
        /// Why.
        trouble: Trouble,
    },
    /// Usage of a limit has reached 80 %. Reported again only after usage was below 60 %.
    Room {
        /// The limit's key in the file: `max_orders`, `max_held` or `max_remembered`.
        limit: &'static str,
        /// The client that has used 80 % of its share; for the whole limit, the client that uses most of it. `None`
        /// when this client is no longer configured.
        client: Option<SessionId>,
        /// True: the client has used 80 % of its own share. False: all clients together have used 80 % of the limit.
        is_share: bool,
        /// Usage: a number of ids for `max_orders`, otherwise bytes.
        taken: u64,
        /// The limit, in the same unit as `taken`.
        of: u64,
    },
    /// A journal note could not be read or applied.
    Note(NoteError),
}

/// Why a message was not delivered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Trouble {
    /// An action of a rule failed.
    Failed {
        /// The failed action, by its index in the rule.
        action: usize,
        /// Why.
        failure: TransformFailure,
    },
    /// A script failed to evaluate a condition of the rule. The condition then counts as false.
    Untold(TransformFailure),
    /// `throttle` stopped the message: the rate limit is exceeded.
    TooMany {
        /// The limit, in messages a second.
        rate: u32,
    },
    /// The message cannot be converted to the destination's version.
    Unconvertible(TransformFailure),
    /// No conversion exists from the version of the message to the destination's version.
    NoConversion,
    /// The ids of the message cannot be stored.
    Orders(OrdersError),
    /// The client already has an open order with this ClOrdID at the destination.
    Duplicate,
    /// This session is not logged on, and its `away` option is `"reject"`.
    Away(SessionId),
    /// The outbox has no room, or a value cannot be written.
    NotWritten(BodyError),
    /// No rule handles the message.
    Unmatched,
    /// Routing loop: the gateway sent the message's request to the session from which the message came, and the
    /// request is still open there.
    CameBack,
    /// Routing loop: a session sent back a message that the gateway had made for this session.
    OwnAnswer,
    /// Routing loop: the message came back from its target more often than allowed.
    GoesRound,
    /// Unsolicited: no matching request is known.
    Unsolicited,
    /// A rule with `return` handles a message that is not a response, so no client waits for it.
    NoResponse,
    /// The client of the message is no longer configured.
    ClientGone,
    /// The message would exceed a limit of the gateway.
    Limit(GatewayLimit),
    /// The gateway held the message longer than its time to live.
    Expired,
    /// The client cancelled the order of the message before it was sent.
    Cancelled,
    /// The message was held for a session that is no longer configured.
    TargetGone,
    /// The message was sent, and the peer rejected it with a Reject(3).
    Rejected,
    /// The message is a mass request that may affect the orders of all clients, but the rule does not name its
    /// MsgType(35).
    ReachesAll,
    /// The gateway's disk is full, and the message would open or change an order.
    DiskFull,
}

/// The limit that a message would exceed, with its value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum GatewayLimit {
    /// `max_orders`: open orders of all clients.
    Orders(u64),
    /// Limit `max_orders`: the number of order ids that this message's client may use at present.
    OrdersOfClient(u64),
    /// Limit `max_held`: the number of bytes that the held messages of all clients together may use.
    Held(u64),
    /// Limit `max_held`: the number of bytes that the held messages of this message's client may use at present.
    HeldOfClient(u64),
    /// Limit `max_remembered`: the number of bytes that the values remembered for one order may use.
    Remembered(u64),
}

/// Why a note in the journal has no effect.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum NoteError {
    /// The note was not written by a gateway.
    NotOurs,
    /// The note refers to a session number that no earlier note introduced.
    UnknownSession,
    /// The orders do not fit the limits in the note.
    Limits(CheckpointError),
    /// The orders exceed limits of the file, so that the earlier limits stay.
    KeptLimits(KeptLimits),
    /// The note refers to a held message, but no such message is held.
    NothingHeld,
}

impl Trouble {
    /// The reason for Text(58).
    pub(super) fn text(&self) -> &'static str {
        match self {
            Self::Failed { failure, .. } | Self::Untold(failure) => match failure {
                TransformFailure::NotInTable(_) | TransformFailure::NoSession(_) => {
                    "no destination for this message"
                }
                _ => "gateway could not process the message",
            },
            Self::TooMany { .. } => "rate limit exceeded",
            Self::Unconvertible(_) | Self::NoConversion => {
                "message cannot be converted to the destination's FIX version"
            }
            Self::Orders(OrdersError::NoId) => "required id is missing",
            Self::Orders(OrdersError::IdTooLong { .. }) => "id is too long",
            Self::Orders(OrdersError::UnknownOrder { .. }) => "unknown order",
            Self::ReachesAll => {
                "mass request not allowed: it would reach the orders of all clients"
            }
            Self::Orders(_) | Self::NotWritten(_) | Self::Limit(_) => {
                "gateway limit reached: message not accepted"
            }
            Self::Duplicate => "duplicate ClOrdID",
            Self::Away(_) | Self::TargetGone => "destination is not available",
            Self::Cancelled => "order cancelled before it was sent to the destination",
            Self::Expired => "time to live expired before the destination logged on",
            Self::Unmatched | Self::NoResponse => "no destination for this message",
            Self::DiskFull => "gateway's disk is full: only cancels are accepted",
            Self::CameBack => "routing loop: message came back from its destination",
            Self::OwnAnswer => "routing loop: response of the gateway came back",
            Self::GoesRound => "routing loop detected",
            Self::Unsolicited | Self::ClientGone => "unsolicited response: no matching request",
            Self::Rejected => "destination has rejected this message",
        }
    }

    /// The tag that caused the failure, if any.
    pub(super) fn tag(&self) -> Option<Tag> {
        match self {
            Self::Failed { failure, .. } | Self::Unconvertible(failure) => failure.tag(),
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
            Self::Untold(failure) => write!(
                f,
                "condition counts as false, since it could not be evaluated: {failure}"
            ),
            Self::Unconvertible(error) => error.fmt(f),
            Self::NoConversion => {
                f.write_str("no conversion between the FIX versions of source and destination")
            }
            Self::Orders(error) => error.fmt(f),
            Self::NotWritten(error) => write!(f, "message could not be written: {error}"),
            Self::Unmatched => f.write_str("no rule handles this message"),
            Self::NoResponse => {
                f.write_str("request not sent: only a response to a client can be returned")
            }
            Self::ClientGone => {
                f.write_str("the client session of the message is no longer configured")
            }
            Self::TargetGone => {
                f.write_str("the destination session of the message is no longer configured")
            }
            Self::TooMany { rate } => {
                write!(
                    f,
                    "rate limit exceeded: throttle allows {rate} messages per second"
                )
            }
            Self::Limit(limit) => limit.fmt(f),
            _ => f.write_str(self.text()),
        }
    }
}

impl fmt::Display for GatewayLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Orders(most) => write!(f, "open orders have reached max_orders ({most})"),
            Self::OrdersOfClient(most) => {
                write!(
                    f,
                    "this client has reached its share of max_orders ({most})"
                )
            }
            Self::Held(most) => write!(f, "held messages have reached max_held ({most} bytes)"),
            Self::HeldOfClient(most) => {
                write!(
                    f,
                    "this client has reached its share of max_held ({most} bytes)"
                )
            }
            Self::Remembered(most) => write!(
                f,
                "the values to remember for one order exceed max_remembered ({most} bytes)"
            ),
        }
    }
}

impl fmt::Display for NoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOurs => f.write_str(
                "journal contains an application note not written by a \
                                          gateway",
            ),
            Self::UnknownSession => f.write_str("journal note refers to an unknown session"),
            Self::NothingHeld => {
                f.write_str("journal note refers to a held message that does not exist")
            }
            Self::KeptLimits(kept) => {
                write!(f, "orders in the journal exceed limits of the file: {kept}")
            }
            Self::Limits(error) => write!(
                f,
                "orders in the journal exceed the configured limits: \
                                              {error}"
            ),
        }
    }
}

/// Counters of a gateway since it was created.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct GatewayCounters {
    /// Messages from sessions.
    pub received: u64,
    /// Messages sent to destinations, counted once for each destination.
    pub sent: u64,
    /// Copies.
    pub copied: u64,
    /// Responses returned to clients.
    pub returned: u64,
    /// Rejects sent to sources.
    pub rejected: u64,
    /// Messages that no rule handled.
    pub unmatched: u64,
    /// Unsolicited responses that a rule tried to return.
    pub unsolicited: u64,
    /// Messages that came back from the session to which the gateway had sent them.
    pub came_back: u64,
    /// Script failures in conditions and actions.
    pub scripts_failed: u64,
    /// Messages held in the gateway's queues, counted once for each target. After delivery a message also counts in
    /// `sent`, `copied` or `returned`.
    pub held: u64,
    /// Held messages that were not delivered: the message expired, the client cancelled its order, or the target was
    /// removed.
    pub undelivered: u64,
    /// Held messages whose client cancelled the order before the message was sent. A cancelled held message also counts
    /// in `undelivered`.
    pub cancelled: u64,
    /// Messages that were not delivered, for any reason.
    pub troubles: u64,
    /// Messages that were not sent because their client had used its share of `max_orders`. [`OrdersCounters`] does not
    /// count messages above a client's share.
    ///
    /// [`OrdersCounters`]: crate::orders::OrdersCounters
    pub over_share: u64,
}

impl GatewayCounters {
    /// Counts a delivered message.
    pub(super) fn passed(&mut self, passage: Passage) {
        match passage {
            Passage::Opens | Passage::Sent => self.sent += 1,
            Passage::Copied => self.copied += 1,
            Passage::Returned => self.returned += 1,
        }
    }
}
