//! Configuration of a session. The configuration is set once, before the first connection.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::sequence::Manner;
use crate::dictionary::validate::ValidationRules;
use crate::dictionary::{Dictionary, Version};
use crate::time::Precision;
use crate::{Nanos, Secret, Tag};

/// The side that opens the connection and sends the first Logon.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// We connect and send the first Logon.
    Initiator,
    /// The peer connects and sends the first Logon.
    Acceptor,
}

/// BeginString(8): the version of the session layer. The order begins with the oldest version.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum BeginString {
    /// `FIX.4.0`
    Fix40,
    /// `FIX.4.1`
    Fix41,
    /// `FIX.4.2`
    Fix42,
    /// `FIX.4.3`
    Fix43,
    /// `FIX.4.4`
    Fix44,
    /// `FIXT.1.1`, the transport version of FIX 5.0 and later.
    Fixt11,
}

impl BeginString {
    /// All versions, beginning with the oldest.
    pub const ALL: [Self; 6] = [
        Self::Fix40,
        Self::Fix41,
        Self::Fix42,
        Self::Fix43,
        Self::Fix44,
        Self::Fixt11,
    ];

    /// The text of the version in a message.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fix40 => "FIX.4.0",
            Self::Fix41 => "FIX.4.1",
            Self::Fix42 => "FIX.4.2",
            Self::Fix43 => "FIX.4.3",
            Self::Fix44 => "FIX.4.4",
            Self::Fixt11 => "FIXT.1.1",
        }
    }

    /// Parses a BeginString. `None` for a version whose session layer is not supported.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|version| version.as_str().as_bytes() == text)
    }

    /// The EndSeqNo(16) that means "this message and all after it".
    #[must_use]
    pub const fn infinity(self) -> u64 {
        match self {
            Self::Fix40 | Self::Fix41 => 999_999,
            _ => 0,
        }
    }
}

/// ApplVerID(1128) or DefaultApplVerID(1137): the version of the application messages under FIXT.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ApplVerId(u8);

impl ApplVerId {
    /// `7`: FIX 5.0.
    pub const FIX50: Self = Self(7);
    /// `8`: FIX 5.0 SP1.
    pub const FIX50_SP1: Self = Self(8);
    /// `9`: FIX 5.0 SP2.
    pub const FIX50_SP2: Self = Self(9);

    /// Parses `0` (FIX 2.7) to `10` (FIX Latest). `None` for an unknown version.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        match text {
            [digit @ b'0'..=b'9'] => Some(Self(digit - b'0')),
            b"10" => Some(Self(10)),
            _ => None,
        }
    }

    /// The number of the version in a message.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0 as u64
    }
}

/// One side of a session. If an id is empty, the header does not have it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Party {
    /// SenderCompID(49) or TargetCompID(56).
    pub comp_id: Vec<u8>,
    /// SenderSubID(50) or TargetSubID(57).
    pub sub_id: Vec<u8>,
    /// SenderLocationID(142) or TargetLocationID(143).
    pub location_id: Vec<u8>,
}

/// Limits on what a peer can make the session keep or repeat.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SessionLimits {
    /// Maximum number of bytes of messages that are kept above an open gap. Messages for which there is no room are
    /// requested again.
    pub held_bytes: usize,
    /// Maximum number of messages that are kept above an open gap.
    pub held_messages: usize,
    /// Maximum number of the peer's ResendRequests that wait for their answer.
    pub waiting_resends: usize,
    /// Maximum number of consecutive ResendRequests with the same BeginSeqNo, each within `resend_hold_down` of the
    /// one before, that are answered. Further ones are rejected, so that not everything is resent again.
    pub same_resend_requests: u32,
    /// How long an answered ResendRequest counts against the next one.
    pub resend_hold_down: Nanos,
    /// Number of our ResendRequests for one gap that the peer may reject, or answer without filling the gap, before
    /// we end the session.
    pub resend_attempts: u32,
    /// How long a gap may make no progress before it is requested again. The time doubles with each request.
    pub resend_patience: Nanos,
    /// Maximum HeartBtInt(108) in a Logon, in seconds.
    pub heart_bt_int_seconds: u32,
    /// How far MsgSeqNum may be above the expected one within a session. In a Logon it may be any number.
    pub seq_num_jump: u64,
    /// Maximum number of bytes of a TestReqID(112), which a Heartbeat repeats.
    pub test_req_id_bytes: usize,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            held_bytes: 1 << 20,
            held_messages: 4096,
            waiting_resends: 16,
            same_resend_requests: 16,
            resend_hold_down: Nanos::from_secs(10),
            resend_attempts: 3,
            resend_patience: Nanos::from_secs(30),
            heart_bt_int_seconds: 3600,
            seq_num_jump: 1_000_000,
            test_req_id_bytes: 4096,
        }
    }
}

/// When the session resets its sequence numbers to 1 without a request of the peer.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ResetOn {
    /// Before the Logon. An initiator sends ResetSeqNumFlag(141). An acceptor resets even if the Logon does not have
    /// this flag.
    pub logon: bool,
    /// After both Logouts.
    pub logout: bool,
    /// When the connection is closed.
    pub disconnect: bool,
}

impl ResetOn {
    /// Whether the sequence numbers are reset when the session ends. Messages that are still missing then are lost.
    pub(super) fn at_the_end(self) -> bool {
        self.logout || self.disconnect
    }
}

/// The session's action after it has rejected a message of the peer.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum OnReject {
    /// The session continues.
    #[default]
    GoOn,
    /// The session ends with a Logout.
    LogOut,
    /// The session ends with a Logout, and the sequence numbers are reset to 1.
    Reset,
}

/// Configuration of a session. [`Config::new`] gives the usual values.
///
/// Texts that are written into messages must not contain SOH, and the texts of `logon_fields` must not be empty.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// BeginString(8) of every message in both directions.
    pub begin_string: BeginString,
    /// The side that opens the connection.
    pub role: Role,
    /// Our side: SenderCompID of outbound messages.
    pub own: Party,
    /// The peer's side: TargetCompID of outbound messages.
    pub peer: Party,
    /// HeartBtInt(108) in seconds, for the Logon of an initiator. An acceptor uses the value of the peer's Logon,
    /// unless `own_heart_bt_int` is set.
    pub heart_bt_int_seconds: u32,
    /// DefaultApplVerID(1137). [`BeginString::Fixt11`] needs it; other versions ignore it.
    pub default_appl_ver_id: Option<ApplVerId>,
    /// The dictionary against which every message is validated. Under FIXT it is the application dictionary combined
    /// with the transport dictionary ([`Dictionary::over`]). With `None`, only the fields that the session itself
    /// needs are checked.
    pub dictionary: Option<Arc<Dictionary>>,
    /// Dictionaries for application messages of other versions, each combined with the transport dictionary. Each of
    /// these dictionaries is used for messages with its ApplVerID(1128), and for a peer whose Logon has its
    /// DefaultApplVerID(1137). If there is any such dictionary, messages of all other versions are rejected.
    pub appl_dictionaries: Vec<(ApplVerId, Arc<Dictionary>)>,
    /// The rules of the dictionary that are applied.
    pub rules: ValidationRules,
    /// Whether messages that fail validation are rejected. With `false` such a message is delivered anyway, unless
    /// its fields cannot be separated or the session itself needs the wrong field.
    pub reject_invalid_message: bool,
    /// Whether SenderCompID and TargetCompID of every message must match the session. If set, SubIDs and LocationIDs
    /// must match too where both the session and the message have them.
    pub check_comp_id: bool,
    /// Whether the peer may send messages on behalf of others and to others: OnBehalfOfCompID(115) and
    /// DeliverToCompID(128).
    pub allow_on_behalf_of: bool,
    /// Maximum difference between SendingTime(52) and our clock, in both directions. With `None` any difference is
    /// allowed.
    pub max_latency: Option<Nanos>,
    /// Whether a possible duplicate (PossDupFlag) must have OrigSendingTime(122).
    pub require_orig_sending_time: bool,
    /// When the session resets the sequence numbers by itself.
    pub reset_on: ResetOn,
    /// Time from the connection until the peer's Logon must have arrived completely.
    pub logon_timeout: Nanos,
    /// Time for which we wait for the answer to our Logout.
    pub logout_timeout: Nanos,
    /// After how long a silence of the peer we send a TestRequest, in percent of HeartBtInt.
    pub test_request_percent: u32,
    /// After how long a silence of the peer we disconnect, in percent of HeartBtInt.
    pub give_up_percent: u32,
    /// Whether an acceptor uses its own `heart_bt_int_seconds`, whatever the peer's Logon has.
    pub own_heart_bt_int: bool,
    /// Whether a silent peer gets a TestRequest and is then disconnected.
    pub check_heartbeats: bool,
    /// Whether a first message with which the session cannot log on is answered with a Logout with the reason. If
    /// false, the connection is closed without a message. An acceptor answers a Logon with the right CompIDs and
    /// password whose SendingTime(52) or DefaultApplVerID(1137) is wrong. An initiator answers every wrong answer to
    /// its Logon: a message that is not a Logon, or one with another CompID, BeginString or MsgSeqNum.
    pub logout_for_bad_logon: bool,
    /// Whether we send Heartbeats while the peer has not answered our TestRequest.
    pub heartbeat_while_probing: bool,
    /// Whether a Logout is written before a silent peer is disconnected.
    pub logout_before_give_up: bool,
    /// Maximum number of messages that one ResendRequest asks for. With `None` it asks for all that are missing.
    pub resend_chunk: Option<u64>,
    /// Whether EndSeqNo(16) of our ResendRequests is the last missing MsgSeqNum. If false, EndSeqNo means "this message
    /// and all after it".
    pub closed_resend: bool,
    /// Whether every message above a gap causes another ResendRequest.
    pub redundant_resend_requests: bool,
    /// Whether application messages are resent when the peer requests them. Otherwise they are gap-filled.
    pub resend_messages: bool,
    /// Whether our Rejects are resent when the peer requests them. Otherwise they are gap-filled.
    pub resend_rejects: bool,
    /// Whether a ResendRequest that is itself a possible duplicate (PossDupFlag) is ignored.
    pub ignore_poss_dup_resend_requests: bool,
    /// Whether possible duplicates of application messages that were already received are given to the application,
    /// as [`Verdict::Duplicate`](super::Verdict::Duplicate). Otherwise they are dropped.
    pub deliver_poss_dups: bool,
    /// Whether PossDupFlag(43) and OrigSendingTime(122) are kept when an application writes them first in a message.
    /// Otherwise they are removed.
    pub keep_own_poss_dup: bool,
    /// Whether a garbled message is rejected, and its MsgSeqNum counted, if the message has our CompIDs and the
    /// expected MsgSeqNum. If false, a garbled message is ignored.
    pub reject_garbled: bool,
    /// What the session does after it has rejected a message of the peer.
    pub on_reject: OnReject,
    /// Our order messages that are older than this are gap-filled and never resent. With `None` they have no age
    /// limit.
    pub max_order_age: Option<Nanos>,
    /// Whether our Logon has NextExpectedMsgSeqNum(789), and whether we use this field of the peer's Logon.
    pub next_expected_msg_seq_num: bool,
    /// Whether a Logout of the peer sets our next MsgSeqNum, if its NextExpectedMsgSeqNum(789) is higher.
    pub next_expected_of_logout: bool,
    /// Whether every message has LastMsgSeqNumProcessed(369).
    pub last_msg_seq_num_processed: bool,
    /// Whether a BusinessMessageReject has DefaultApplVerID(1137), as in QuickFIX (C++). No FIX dictionary has this
    /// field in this message.
    pub appl_ver_id_in_business_reject: bool,
    /// The precision of SendingTime. [`Config::new`] sets seconds up to FIX 4.1, and milliseconds from FIX 4.2 on.
    pub precision: Precision,
    /// Username(553). An initiator sends this value, and an acceptor requires it. If the value is empty, it is
    /// neither sent nor required.
    pub username: Vec<u8>,
    /// Password(554). An initiator sends this value, and an acceptor requires it. If the value is empty, it is
    /// neither sent nor required.
    pub password: Secret,
    /// Further fields for our Logon, in this order.
    pub logon_fields: Vec<(Tag, Secret)>,
    /// Limits on what the peer can make us keep or repeat.
    pub limits: SessionLimits,
}

impl Config {
    /// Whether messages are of FIX 5.0 or later, where an application message can name its own version.
    #[must_use]
    pub fn is_fixt(&self) -> bool {
        self.begin_string == BeginString::Fixt11
    }

    /// The version of the application messages: BeginString(8), or under FIXT DefaultApplVerID(1137). FIX 5.0 SP2
    /// stands in for a version whose dictionary is not built in, because later versions extend FIX 5.0 SP2.
    #[must_use]
    pub fn appl_version(&self) -> Version {
        let named = if self.is_fixt() {
            let is_default = |version: &Version| {
                let id = version.appl_ver_id();
                let id = id.and_then(|id| ApplVerId::parse(id.as_bytes()));
                id.is_some() && id == self.default_appl_ver_id
            };
            Version::ALL.into_iter().find(is_default)
        } else {
            Version::from_name(self.begin_string.as_str())
        };
        named.unwrap_or(Version::Fix50Sp2)
    }

    /// How we request missing messages.
    /// Whether application messages of this version are checked against a dictionary other than the default one.
    pub(super) fn has_dictionary_for(&self, version: ApplVerId) -> bool {
        let mut others = self.appl_dictionaries.iter();
        others.any(|(other, _)| *other == version)
    }

    pub(super) fn manner(&self) -> Manner {
        Manner {
            chunk: self.resend_chunk,
            closed: self.closed_resend,
            redundant: self.redundant_resend_requests,
            patience: self.limits.resend_patience,
            attempts: self.limits.resend_attempts,
        }
    }

    /// The usual configuration. CompIDs are checked, and SendingTime must be within 120 s. HeartBtInt is 30 s; a
    /// TestRequest is sent after a silence of 1.2 intervals, and the session ends after 2.4 intervals. The logon
    /// timeout is 10 s and the logout timeout 2 s. There are no dictionary and no resets.
    #[must_use]
    pub fn new(begin_string: BeginString, role: Role, own: &[u8], peer: &[u8]) -> Self {
        let party = |comp_id: &[u8]| Party {
            comp_id: comp_id.to_vec(),
            ..Party::default()
        };
        Self {
            begin_string,
            role,
            own: party(own),
            peer: party(peer),
            heart_bt_int_seconds: 30,
            default_appl_ver_id: (begin_string == BeginString::Fixt11)
                .then_some(ApplVerId::FIX50_SP2),
            dictionary: None,
            appl_dictionaries: Vec::new(),
            rules: ValidationRules::default(),
            reject_invalid_message: true,
            check_comp_id: true,
            allow_on_behalf_of: true,
            max_latency: Some(Nanos::from_secs(120)),
            require_orig_sending_time: true,
            reset_on: ResetOn::default(),
            logon_timeout: Nanos::from_secs(10),
            logout_timeout: Nanos::from_secs(2),
            test_request_percent: 120,
            give_up_percent: 240,
            own_heart_bt_int: false,
            check_heartbeats: true,
            logout_for_bad_logon: false,
            heartbeat_while_probing: false,
            logout_before_give_up: false,
            resend_chunk: None,
            closed_resend: false,
            redundant_resend_requests: false,
            resend_messages: true,
            resend_rejects: false,
            ignore_poss_dup_resend_requests: false,
            deliver_poss_dups: false,
            keep_own_poss_dup: false,
            reject_garbled: false,
            on_reject: OnReject::GoOn,
            max_order_age: None,
            next_expected_msg_seq_num: false,
            next_expected_of_logout: false,
            last_msg_seq_num_processed: false,
            appl_ver_id_in_business_reject: false,
            precision: if begin_string < BeginString::Fix42 {
                Precision::Seconds
            } else {
                Precision::Millis
            },
            username: Vec::new(),
            password: Secret::default(),
            logon_fields: Vec::new(),
            limits: SessionLimits::default(),
        }
    }
}
