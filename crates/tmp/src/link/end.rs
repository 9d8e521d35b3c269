//! Why a link ends, what it warns of, and why it does not send.

use core::fmt;

use crate::error::FrameError;
use crate::status::TmpStatus;

/// Why the connection of a link is closed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum LinkEnd {
    /// The peer sent a link message with a status.
    Refused {
        /// The message.
        message: &'static str,
        /// Its status.
        status: TmpStatus,
    },
    /// The peer did not send the next message of the login in time.
    StepTimeout {
        /// The message that was due.
        awaited: &'static str,
    },
    /// The peer was silent for longer than heartbeats allow.
    HeartbeatTimeout,
    /// A frame with a wrong length, type or checksum.
    BadFrame(FrameError),
    /// A message that does not belong here.
    Unexpected {
        /// The message.
        message: &'static str,
        /// What was due.
        awaited: &'static str,
    },
    /// A message before the one of ours that it answers.
    TooEarly {
        /// The message.
        message: &'static str,
        /// Ours, which the flow limit still holds back.
        before: &'static str,
    },
    /// A MsgSeqNum above the next one, or at the exchange any other one.
    SequenceGap {
        /// The next one.
        expected: u32,
        /// The one received.
        found: u32,
    },
    /// The last L41 ended before the last message that L30 promised.
    RecoveryShort {
        /// The last MsgSeqNum received.
        last: u32,
        /// The last one promised.
        end: u32,
    },
    /// The last L41 ended inside a message.
    RecoveryCut {
        /// Bytes of the part.
        bytes: usize,
    },
    /// L30 names another market or trading session than the settings.
    OtherSystem {
        /// As configured.
        expected: u8,
        /// In L30.
        found: u8,
    },
    /// The exchange refused an L40.
    LoginRefused {
        /// The status of the wrong field.
        status: TmpStatus,
    },
    /// The header of a message names another broker or session than the settings of the exchange.
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
    /// The program refused the broker: [`crate::LinkExchange::refuse`].
    RefusedByProgram {
        /// The status that the broker got.
        status: TmpStatus,
    },
    /// The broker sent more than the flow limit allows.
    FlowExceeded {
        /// Messages in a second.
        limit: u16,
    },
    /// The session is locked.
    Locked,
    /// The store of the exchange has no message with this number.
    StoreMissing {
        /// MsgSeqNum.
        msg_seq_num: u32,
    },
    /// The peer ended the application: L70 from the exchange, L80 from the broker.
    EndOfApplication,
    /// The program closed the link.
    Stopped,
}

/// What is worth an event; the link goes on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum LinkWarning {
    /// The clocks differ by more than 0.5 s: the peer said so by status 200, or its msg_time does.
    ClockDifference {
        /// The peer's clock minus ours, in milliseconds.
        millis: i64,
    },
    /// The peer answered R04 with another status than 0 or 200, such as a flow warning.
    PeerStatus {
        /// The status.
        status: TmpStatus,
    },
    /// A message with a MsgSeqNum that was received before; it is not delivered.
    PossibleDuplicate {
        /// Its MsgSeqNum.
        msg_seq_num: u32,
    },
    /// The exchange has sent fewer messages than were received: the last inbound number is lowered to what L30 says.
    NumberLowered {
        /// The last MsgSeqNum received.
        from: u32,
        /// The one that L30 says.
        to: u32,
    },
}

/// What a login agreed on.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LinkReady {
    /// Heartbeat interval in seconds.
    pub heart_bt_int: u8,
    /// Messages that the broker may send within a second; 0 for no limit.
    pub max_flow_ctrl_cnt: u16,
    /// The broker's messages that are older than this are refused, in seconds; 0 for never.
    pub cancel_order_sec: u8,
}

/// Why a message was not sent. The caller keeps it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LinkSendError {
    /// The link is not ready.
    NotReady,
    /// The flow limit is reached.
    FlowLimit {
        /// Nanoseconds until the next message may be sent.
        wait_ns: u64,
    },
    /// This end does not send this message.
    OtherEnd {
        /// The message.
        message: &'static str,
    },
    /// The bytes are not a frame.
    Frame(FrameError),
    /// All sequence numbers are used.
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
