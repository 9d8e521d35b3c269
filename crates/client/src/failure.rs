//! Why a command was not carried out.

use alloc::string::String;
use core::fmt;

use fixwire_protocol::Tag;

/// Why a command failed, or was carried out only in part.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum CommandFailure {
    /// Unknown ClOrdID(11).
    UnknownOrder(String),
    /// The order with this ClOrdID(11) was finished before this run began.
    FinishedOrder {
        /// The ClOrdID(11).
        id: String,
        /// The last OrdStatus(39) of the order, in words.
        ord_status: String,
    },
    /// `last` refers to no order: none was sent in this run, and no order of an earlier run is open.
    NoOrder,
    /// No `set` has defined this template.
    UnknownTemplate(String),
    /// Nothing was sent in this group.
    UnknownGroup(String),
    /// Messages of this MsgType(35) have no ClOrdID(11), so their ids cannot begin with the name of a group.
    GroupWithoutId(String),
    /// `of GROUP` is allowed only for templates of messages that refer to an order.
    OfWithoutOrder(String),
    /// The template has no number that `+` could increment.
    NothingToRaise(String),
    /// The group has fewer open orders than requested.
    GroupEnds {
        /// The group.
        group: String,
        /// Number of messages that were sent.
        sent: u64,
        /// Messages requested.
        count: u64,
    },
    /// This ClOrdID(11) was used before.
    UsedId(String),
    /// The session did not log on before the timeout.
    NotLoggedOn {
        /// The timeout.
        seconds: u64,
    },
    /// The session logged out, or lost its connection, in the middle of a `send`.
    SessionLost {
        /// Number of messages that were sent.
        sent: u64,
        /// Messages requested.
        count: u64,
    },
    /// Messages were not answered.
    Unanswered {
        /// Number of messages without an answer.
        missing: u64,
        /// ClOrdID(11) of the first message without an answer.
        first: String,
        /// The timeout.
        seconds: u64,
    },
    /// Fewer answers were received than requested.
    TooFewReports {
        /// Answers received.
        came: u64,
        /// Answers requested.
        count: u64,
        /// The timeout.
        seconds: u64,
    },
    /// The value of this field cannot be sent.
    Value(Tag),
    /// The message is longer than the engine allows.
    TooLong,
    /// There are too many messages in memory; the value is the limit.
    TooMany(usize),
    /// The previous command has not finished.
    Busy,
    /// The text is not a command, or is a command that the engine does not carry out; with the reason.
    NotACommand(String),
}

impl fmt::Display for CommandFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownOrder(id) => write!(
                f,
                "no order with ClOrdID {id}: 'orders all' lists the orders that this client knows"
            ),
            Self::FinishedOrder { id, ord_status } => write!(
                f,
                "order {id} was {ord_status} in an earlier run, and the client no longer has its fields: 'orders' \
                 lists the open orders; with 'set' and 'send' you can send a request with fields of your own"
            ),
            Self::NoOrder => f.write_str(
                "no order was sent in this run, and no order of an earlier run is open: send an order with 'new'",
            ),
            Self::UnknownTemplate(name) => write!(
                f,
                "unknown template {name}: define it with 'set {name} MSGTYPE TAG=VALUE|TAG=VALUE'"
            ),
            Self::UnknownGroup(group) => write!(
                f,
                "no message was sent in group {group}: send messages in the group with 'send NAME N {group}'"
            ),
            Self::GroupWithoutId(msg_type) => write!(
                f,
                "messages of MsgType {msg_type} have no ClOrdID, which would begin with the name of the group: leave \
                 the group out, or put 11=X into the template"
            ),
            Self::OfWithoutOrder(msg_type) => write!(
                f,
                "messages of MsgType {msg_type} do not refer to an order: 'of' is for templates of MsgType F, G or H"
            ),
            Self::NothingToRaise(name) => write!(
                f,
                "'+' needs a number at the end of tag 11 or 41, and template {name} has no such number"
            ),
            Self::GroupEnds { group, sent, count } => write!(
                f,
                "group {group} has no more open orders: {sent} of {count} messages were sent"
            ),
            Self::UsedId(id) => write!(
                f,
                "ClOrdID {id} was used before: leave tag 11 out, or begin with an unused number and increment it with \
                    '+'"
            ),
            Self::NotLoggedOn { seconds } => write!(
                f,
                "the session is not logged on after {seconds} s: is the counterparty running, and are host, port and \
                 CompIDs right? --timeout changes the limit"
            ),
            Self::SessionLost { sent, count } => write!(
                f,
                "session lost after {sent} of {count} messages: 'wait all' shows whether these messages have responses"
            ),
            Self::Unanswered {
                missing,
                first,
                seconds,
            } => write!(
                f,
                "{missing} messages have no response after {seconds} s, the first is {first}: 'status {first}' \
                 requests its status; --timeout changes the limit"
            ),
            Self::TooFewReports {
                came,
                count,
                seconds,
            } => write!(
                f,
                "received {came} of {count} reports within {seconds} s; --timeout changes the limit"
            ),
            Self::Value(tag) => write!(f, "the value of tag {tag} cannot be sent"),
            Self::TooLong => f.write_str("the message is longer than MaxMessageSize"),
            Self::TooMany(most) => write!(
                f,
                "this run has sent {most} messages, the maximum that the client keeps in memory: start the client \
                    again"
            ),
            Self::Busy => f.write_str("the previous command is not finished"),
            Self::NotACommand(why) => f.write_str(why),
        }
    }
}

impl core::error::Error for CommandFailure {}
