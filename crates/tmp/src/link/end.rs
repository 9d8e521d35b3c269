//! Why a link ends, what it warns of, and why it refuses to send.

use core::fmt;

use crate::error::FrameError;
use crate::status::TmpStatus;

/// Why the connection of a link is closed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum LinkEnd {
    /// The peer sent a link message with a status that is not 0.
    Refused {
        /// The message.
        message: &'static str,
        /// Status in the message.
        status: TmpStatus,
    },
    /// The peer did not send the next message of the login in time.
    StepTimeout {
        /// The message that was due.
        awaited: &'static str,
    },
    /// The peer was silent for longer than the heartbeat rule allows.
    HeartbeatTimeout,
    /// A frame has a wrong length, type or checksum.
    BadFrame(FrameError),
    /// A message arrived that is not allowed in the current state.
    Unexpected {
        /// The message.
        message: &'static str,
        /// What was due.
        awaited: &'static str,
    },
    /// The peer sent a message before our message that it should answer.
    TooEarly {
        /// The message.
        message: &'static str,
        /// Our message, which the flow limit still holds back.
        before: &'static str,
    },
    /// A MsgSeqNum is higher than the next one. At the exchange's end: a MsgSeqNum is not the next one.
    SequenceGap {
        /// The next one.
        expected: u32,
        /// The one received.
        found: u32,
    },
    /// The last L41 ended before the last message that L30 announced.
    RecoveryShort {
        /// The last MsgSeqNum received.
        last: u32,
        /// The last MsgSeqNum that L30 announced.
        end: u32,
    },
    /// The last L41 ended in the middle of a message.
    RecoveryCut {
        /// Number of bytes of the incomplete message.
        bytes: usize,
    },
    /// L30 has another market or trading session than the settings.
    OtherSystem {
        /// As configured.
        expected: u8,
        /// In L30.
        found: u8,
    },
    /// The exchange refused an L40.
    LoginRefused {
        /// The status for the wrong field.
        status: TmpStatus,
    },
    /// The header of a message has another broker or session than the settings of the exchange.
    OtherHeader {
        /// The message.
        message: &'static str,
        /// `fcm_id` or `session_id`.
        field: &'static str,
        /// As configured.
        expected: u16,
        /// In the header.
        found: u16,
    },
    /// The program refused the broker by [`crate::LinkExchange::refuse`].
    RefusedByProgram {
        /// The status that was sent to the broker.
        status: TmpStatus,
    },
    /// The broker sent more messages than the flow limit allows.
    FlowExceeded {
        /// The limit, in messages a second.
        limit: u16,
    },
    /// The session is locked.
    Locked,
    /// The exchange's store lacks the message with this MsgSeqNum.
    StoreMissing {
        /// MsgSeqNum.
        msg_seq_num: u32,
    },
    /// The peer ended the application: the exchange by L70, or the broker by L80.
    EndOfApplication,
    /// The program closed the link.
    Stopped,
}

/// Something that deserves an event, but does not end the link.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum LinkWarning {
    /// The clocks differ by more than 0.5 s: according to the peer (status 200), or according to the msg_time of its
    /// message.
    ClockDifference {
        /// The peer's clock minus ours, in milliseconds.
        millis: i64,
    },
    /// The peer answered R04 with a status other than 0 or 200, such as a flow warning.
    PeerStatus {
        /// The status.
        status: TmpStatus,
    },
    /// A message has a MsgSeqNum that was received before. The message is not delivered.
    PossibleDuplicate {
        /// MsgSeqNum of the message.
        msg_seq_num: u32,
    },
    /// The exchange has sent fewer messages than this end has received, according to L30. The last inbound MsgSeqNum
    /// is lowered to the number in L30.
    NumberLowered {
        /// The last MsgSeqNum received.
        from: u32,
        /// The last MsgSeqNum that the exchange has sent, according to L30.
        to: u32,
    },
}

/// The values that a login has agreed on.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LinkReady {
    /// Heartbeat interval in seconds.
    pub heart_bt_int: u8,
    /// Messages that the broker may send within one second; 0 for no limit.
    pub max_flow_ctrl_cnt: u16,
    /// The exchange refuses requests of the broker that are older than this number of seconds, except cancels; 0 for
    /// no limit.
    pub cancel_order_sec: u8,
}

/// Why a message was not sent. The caller keeps the message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LinkSendError {
    /// The link is not ready.
    NotReady,
    /// The flow limit is reached.
    FlowLimit {
        /// Nanoseconds until the next message may be sent.
        wait_ns: u64,
    },
    /// The other end sends this message, not this end.
    OtherEnd {
        /// The message.
        message: &'static str,
    },
    /// The bytes are not a frame.
    Frame(FrameError),
    /// All MsgSeqNums are used.
    NumbersUsed,
}

impl fmt::Display for LinkEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { message, status } => write!(f, "peer sent {message} with {status}"),
            Self::StepTimeout { awaited } => write!(f, "no {awaited} received in time"),
            Self::HeartbeatTimeout => f.write_str("peer silent: no response to R04"),
            Self::BadFrame(error) => write!(f, "bad frame: {error}"),
            Self::Unexpected { message, awaited } => {
                write!(f, "{message} received, expected {awaited}")
            }
            Self::TooEarly { message, before } => {
                write!(f, "{message} received before our {before} was sent")
            }
            Self::SequenceGap { expected, found } => {
                write!(f, "MsgSeqNum {found} received, expected {expected}")
            }
            Self::RecoveryShort { last, end } => {
                write!(f, "recovery ended at MsgSeqNum {last}, L30 promised {end}")
            }
            Self::RecoveryCut { bytes } => {
                write!(
                    f,
                    "recovery ended inside a message, after {bytes} bytes of it"
                )
            }
            Self::OtherSystem { expected, found } => {
                write!(f, "L30 has system_type {found}, configured is {expected}")
            }
            Self::LoginRefused { status } => write!(f, "login refused with {status}"),
            Self::OtherHeader {
                message,
                field,
                expected,
                found,
            } => {
                write!(
                    f,
                    "header of {message} has {field} {found}, configured is {expected}"
                )
            }
            Self::RefusedByProgram { status } => {
                write!(f, "broker refused by the program with {status}")
            }
            Self::FlowExceeded { limit } => {
                write!(f, "more than {limit} messages within a second")
            }
            Self::Locked => f.write_str("session is locked: unlock it at the exchange"),
            Self::StoreMissing { msg_seq_num } => {
                write!(
                    f,
                    "MsgSeqNum {msg_seq_num} is missing in the store, cannot be resent"
                )
            }
            Self::EndOfApplication => {
                f.write_str("peer ended the application (L70 of the exchange, L80 of the broker)")
            }
            Self::Stopped => f.write_str("link closed by the program"),
        }
    }
}

impl fmt::Display for LinkWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClockDifference { millis } => {
                write!(f, "clock of the peer differs by {millis} ms")
            }
            Self::PeerStatus { status } => write!(f, "R05 received with {status}"),
            Self::PossibleDuplicate { msg_seq_num } => {
                write!(
                    f,
                    "MsgSeqNum {msg_seq_num} received before: possible duplicate dropped"
                )
            }
            Self::NumberLowered { from, to } => {
                write!(
                    f,
                    "last inbound MsgSeqNum lowered from {from} to {to}, as L30 says"
                )
            }
        }
    }
}

impl fmt::Display for LinkSendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReady => f.write_str("link is not ready"),
            Self::FlowLimit { wait_ns } => {
                write!(
                    f,
                    "flow limit reached: send again in {} ms",
                    wait_ns.div_ceil(1_000_000)
                )
            }
            Self::OtherEnd { message } => write!(f, "this end of the link does not send {message}"),
            Self::Frame(error) => write!(f, "not a frame: {error}"),
            Self::NumbersUsed => f.write_str("all sequence numbers are used: begin a new day"),
        }
    }
}

impl core::error::Error for LinkEnd {}
impl core::error::Error for LinkSendError {}
