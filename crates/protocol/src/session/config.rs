//! Configuration of a session, set once before its first connection.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::sequence::Manner;
use crate::dictionary::validate::ValidationRules;
use crate::dictionary::{Dictionary, Version};
use crate::time::Precision;
use crate::{Nanos, Secret, Tag};

/// Who opens the connection and sends the first Logon.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    /// We connect and send the first Logon.
    Initiator,
    /// The peer connects and sends the first Logon.
    Acceptor,
}

/// BeginString(8): the version of the session layer, oldest first.
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
    /// `FIXT.1.1`, the transport of the FIX 5.0 family.
    Fixt11,
}

impl BeginString {
    /// All of them, oldest first.
    pub const ALL: [Self; 6] = [
        Self::Fix40,
        Self::Fix41,
        Self::Fix42,
        Self::Fix43,
        Self::Fix44,
        Self::Fixt11,
    ];

    /// As it appears on the wire.
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

    /// Parses a BeginString; `None` for a version without a session layer here.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|version| version.as_str().as_bytes() == text)
    }

    /// The EndSeqNo(16) that means "and all after it".
    #[must_use]
    pub const fn infinity(self) -> u64 {
        match self {
            Self::Fix40 | Self::Fix41 => 999_999,
            _ => 0,
        }
    }
}

/// ApplVerID(1128), DefaultApplVerID(1137): the version of the application messages under FIXT.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ApplVerId(u8);

impl ApplVerId {
    /// `7`: FIX 5.0.
    pub const FIX50: Self = Self(7);
    /// `8`: FIX 5.0 SP1.
    pub const FIX50_SP1: Self = Self(8);
    /// `9`: FIX 5.0 SP2.
    pub const FIX50_SP2: Self = Self(9);

    /// Parses `0` (FIX 2.7) to `10` (FIX Latest); `None` for an unknown version.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        match text {
            [digit @ b'0'..=b'9'] => Some(Self(digit - b'0')),
            b"10" => Some(Self(10)),
            _ => None,
        }
    }

    /// The value on the wire.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0 as u64
    }
}

/// One end of the session. An empty id is absent from the header.
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
    /// Bytes of messages kept above an open gap; messages that do not fit are asked for again.
    pub held_bytes: usize,
    /// Number of messages that are kept above an open gap.
    pub held_messages: usize,
    /// Number of ResendRequests of the peer that wait for their answer.
    pub waiting_resends: usize,
    /// ResendRequests from the same BeginSeqNo on, one after another within `resend_hold_down`, until
    /// we reject them instead of resending everything again.
    pub same_resend_requests: u32,
    /// How long a ResendRequest that was answered counts against the next one.
    pub resend_hold_down: Nanos,
    /// Our own ResendRequests for one gap that the peer may reject, or answer with nothing that fills
    /// it, until we end the session.
    pub resend_attempts: u32,
    /// How long a gap may make no progress before it is requested again; doubled each time.
    pub resend_patience: Nanos,
    /// HeartBtInt(108) of a Logon, in seconds.
    pub heart_bt_int_seconds: u32,
    /// How far MsgSeqNum may be above the expected one, inside a session. A Logon may show any gap.
    pub seq_num_jump: u64,
    /// Bytes of a TestReqID(112), which a Heartbeat echoes.
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

/// When the session resets its sequence numbers to 1 without being asked.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ResetOn {
    /// Before the Logon: an initiator sends ResetSeqNumFlag(141), and an acceptor resets without it.
    pub logon: bool,
    /// After both Logouts.
    pub logout: bool,
    /// When the connection is closed.
    pub disconnect: bool,
}

impl ResetOn {
    /// The sequence numbers do not outlive the session: missing messages are then lost.
    pub(super) fn at_the_end(self) -> bool {
        self.logout || self.disconnect
    }
}

/// What the session does after it has rejected a message of the peer.
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

/// Configuration of a session. [`Config::new`] fills in the usual values.
///
/// Texts that are written into messages contain no SOH; the texts of `logon_fields` are not empty.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// BeginString(8) of every message both ways.
    pub begin_string: BeginString,
    /// Who opens the connection.
    pub role: Role,
    /// Ourselves: SenderCompID of outbound messages.
    pub own: Party,
    /// The peer: TargetCompID of outbound messages.
    pub peer: Party,
    /// HeartBtInt(108) in seconds, for an initiator's Logon. An acceptor uses the peer's, unless `own_heart_bt_int` is
    /// set.
    pub heart_bt_int_seconds: u32,
    /// DefaultApplVerID(1137): needed with [`BeginString::Fixt11`], ignored otherwise.
    pub default_appl_ver_id: Option<ApplVerId>,
    /// Validates every message; under FIXT the application's over the transport's
    /// ([`Dictionary::over`]). `None`: only what the session itself needs is checked.
    pub dictionary: Option<Arc<Dictionary>>,
    /// Dictionaries of application messages of other versions, each over the transport's: a message
    /// with ApplVerID(1128), or a peer whose Logon has another DefaultApplVerID(1137), is checked by
    /// the one of that version. When there are any, other versions are rejected.
    pub appl_dictionaries: Vec<(ApplVerId, Arc<Dictionary>)>,
    /// The dictionary's rules that apply.
    pub rules: ValidationRules,
    /// Rejects messages that fail validation; `false` delivers the message nevertheless, unless
    /// its fields are ambiguous or the session itself cannot do without one of them.
    pub reject_invalid_message: bool,
    /// SenderCompID and TargetCompID of every message must match the session; so must SubIDs and LocationIDs that both
    /// the session and the message have.
    pub check_comp_id: bool,
    /// The peer may send on behalf of others, and to others: OnBehalfOfCompID(115) and DeliverToCompID(128).
    pub allow_on_behalf_of: bool,
    /// How far SendingTime(52) may be from our clock, either way; `None`: any distance.
    pub max_latency: Option<Nanos>,
    /// A possible duplicate (PossDupFlag) must have OrigSendingTime(122).
    pub require_orig_sending_time: bool,
    /// When the sequence numbers are reset by themselves.
    pub reset_on: ResetOn,
    /// Time from the connection to the peer's complete Logon.
    pub logon_timeout: Nanos,
    /// Time we wait for the answer to our Logout.
    pub logout_timeout: Nanos,
    /// Silence of the peer until we send a TestRequest, in percent of HeartBtInt.
    pub test_request_percent: u32,
    /// Silence of the peer until we disconnect, in percent of HeartBtInt.
    pub give_up_percent: u32,
    /// An acceptor uses its own `heart_bt_int_seconds`, whatever the peer's Logon asks for.
    pub own_heart_bt_int: bool,
    /// A silent peer gets a TestRequest, then is disconnected.
    pub check_heartbeats: bool,
    /// A first message that cannot be logged on with is answered with a Logout with the reason, where the
    /// connection would otherwise be closed without one. An acceptor does so for a Logon with the right CompIDs
    /// and password whose SendingTime(52) or DefaultApplVerID(1137) is at fault, an initiator for any answer to
    /// its Logon: no Logon, another CompID, BeginString or MsgSeqNum.
    pub logout_for_bad_logon: bool,
    /// Our Heartbeats go on while a TestRequest of ours is open.
    pub heartbeat_while_probing: bool,
    /// A Logout is written before a silent peer is disconnected.
    pub logout_before_give_up: bool,
    /// Messages asked for by one ResendRequest; `None`: all missing ones.
    pub resend_chunk: Option<u64>,
    /// EndSeqNo(16) of our ResendRequests is the last missing MsgSeqNum, not "and all after it".
    pub closed_resend: bool,
    /// Every message above a gap causes another ResendRequest.
    pub redundant_resend_requests: bool,
    /// Application messages are resent when the peer asks; otherwise they are gap-filled.
    pub resend_messages: bool,
    /// Our Rejects are resent when the peer asks; otherwise they are gap-filled.
    pub resend_rejects: bool,
    /// A ResendRequest that is itself a possible duplicate (PossDupFlag) is not answered.
    pub ignore_poss_dup_resend_requests: bool,
    /// Possible duplicates of application messages already received are given to the
    /// application as [`Verdict::Duplicate`](super::Verdict::Duplicate); otherwise they are dropped.
    pub deliver_poss_dups: bool,
    /// PossDupFlag(43) and OrigSendingTime(122) that an application writes in front of a message are
    /// kept; otherwise they are left out.
    pub keep_own_poss_dup: bool,
    /// A garbled message of ours whose MsgSeqNum can still be read is rejected and counted; otherwise
    /// it is ignored.
    pub reject_garbled: bool,
    /// The step after a Reject of a message of the peer.
    pub on_reject: OnReject,
    /// Order messages of ours older than this are gap-filled, never resent; `None`: no limit.
    pub max_order_age: Option<Nanos>,
    /// NextExpectedMsgSeqNum(789) is written in our Logon and used in the peer's.
    pub next_expected_msg_seq_num: bool,
    /// A Logout of the peer whose NextExpectedMsgSeqNum(789) is above our next MsgSeqNum sets the latter.
    pub next_expected_of_logout: bool,
    /// LastMsgSeqNumProcessed(369) is written in every message.
    pub last_msg_seq_num_processed: bool,
    /// DefaultApplVerID(1137) is echoed in a BusinessMessageReject, as QuickFIX (C++) does. No
    /// FIX dictionary has it there.
    pub appl_ver_id_in_business_reject: bool,
    /// Digits of SendingTime. [`Config::new`]: seconds up to FIX 4.1, milliseconds from 4.2 on.
    pub precision: Precision,
    /// Username(553): an initiator sends it, an acceptor requires it; empty: neither.
    pub username: Vec<u8>,
    /// Password(554): an initiator sends it, an acceptor requires it; empty: neither.
    pub password: Secret,
    /// Further fields of our Logon, in this order.
    pub logon_fields: Vec<(Tag, Secret)>,
    /// Limits on what the peer can make us keep.
    pub limits: SessionLimits,
}

impl Config {
    /// Whether application messages name their own version: FIX 5.0 and later.
    #[must_use]
    pub fn is_fixt(&self) -> bool {
        self.begin_string == BeginString::Fixt11
    }

    /// The version of its application messages: BeginString(8), or under FIXT DefaultApplVerID(1137), or FIX 5.0 SP2,
    /// which later versions extend.
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

    /// How we ask for missing messages.
    pub(super) fn manner(&self) -> Manner {
        Manner {
            chunk: self.resend_chunk,
            closed: self.closed_resend,
            redundant: self.redundant_resend_requests,
            patience: self.limits.resend_patience,
            attempts: self.limits.resend_attempts,
        }
    }

    /// The usual settings: CompIDs checked, SendingTime within 120 s, HeartBtInt 30 s, TestRequest
    /// after 1.2 and end after 2.4 intervals of silence, logon timeout 10 s, logout timeout 2 s,
    /// no dictionary, no resets.
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
