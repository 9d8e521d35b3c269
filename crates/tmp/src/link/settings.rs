//! What a link is configured with, and what outlives its connection.

use core::fmt;

use crate::codes::{ApCode, KeyValue, SystemType, TmpPositionEffect};
use crate::link::heartbeat::HeartbeatRule;
use crate::uncertain::SPLIT_MESSAGES_DEFAULT;

/// The two clocks, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LinkNow {
    /// Drives timers; never steps back.
    pub mono_ns: u64,
    /// Stamps msg_time: since 1970-01-01T00:00:00Z.
    pub wall_ns: u64,
}

/// The last sequence numbers of a link. The caller stores them with each [`crate::LinkAction::Save`], and hands them
/// to the link at a restart. A new trading day begins with zeros.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LinkNumbers {
    /// The last MsgSeqNum received.
    pub inbound: u32,
    /// The last MsgSeqNum sent.
    pub outbound: u32,
}

/// The password of a session, a number. `Debug` masks it.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct TmpPassword(u32);

impl TmpPassword {
    /// A password.
    #[must_use]
    pub const fn new(password: u32) -> Self {
        Self(password)
    }

    /// The proof for an append_no: the digits of thousands and hundreds of their product.
    #[must_use]
    pub const fn key_value(self, append_no: u16) -> KeyValue {
        let product = self.0 as u64 * append_no as u64;
        KeyValue(((product / 100) % 100) as u8)
    }
}

impl fmt::Debug for TmpPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// The broker's end of a link.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientLinkSettings {
    /// The broker's number, from file P06.
    pub fcm_id: u16,
    /// The exchange's number of the link.
    pub session_id: u16,
    /// The session's password.
    pub password: TmpPassword,
    /// What the link is for.
    pub ap_code: ApCode,
    /// The market and trading session; L30 has to name the same.
    pub system_type: SystemType,
    /// The exchange refuses an order that is older than this, in seconds; 0 for never.
    pub cancel_order_sec: u8,
    /// How long each step of the login may take, in nanoseconds.
    pub step_within_ns: u64,
    /// When R04 is sent.
    pub heartbeat: HeartbeatRule,
    /// What its requests say beside the terms of their order.
    pub marks: OrderMarks,
}

/// What the requests of a link say beside the terms of their order. An exchange refuses requests without `order_source` and
/// `info_source`, and new orders without `investor_flag`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OrderMarks {
    /// The clearing member; the broker itself without it.
    pub cm_id: Option<u16>,
    /// Where orders come from, one of [`crate::uncertain::ORDER_SOURCES`]; blank when it is not set.
    pub order_source: u8,
    /// The information vendor, 999 for none; blank when it is not set.
    pub info_source: [u8; 3],
    /// The kind of investor; blank when it is not set.
    pub investor_flag: u8,
    /// PositionEffect of orders that say none themselves.
    pub position_effect: Option<TmpPositionEffect>,
}

impl Default for OrderMarks {
    fn default() -> Self {
        Self {
            cm_id: None,
            order_source: b' ',
            info_source: *b"   ",
            investor_flag: b' ',
            position_effect: None,
        }
    }
}

impl ClientLinkSettings {
    /// A trading link with steps of 10 s and heartbeats as the specification says.
    #[must_use]
    pub fn new(
        fcm_id: u16,
        session_id: u16,
        password: TmpPassword,
        system_type: SystemType,
    ) -> Self {
        Self {
            fcm_id,
            session_id,
            password,
            ap_code: ApCode::TRADING,
            system_type,
            cancel_order_sec: 0,
            step_within_ns: STEP_WITHIN_NS,
            heartbeat: HeartbeatRule::SilentPeer,
            marks: OrderMarks::default(),
        }
    }

    /// PositionEffect of an order that says none itself: that of the settings, or A for options. Futures have no A.
    #[must_use]
    pub fn effect_of_netting(&self) -> Option<TmpPositionEffect> {
        let of_options = self.system_type.is_options();
        let automatic = of_options.then_some(TmpPositionEffect::AUTOMATIC);
        self.marks.position_effect.or(automatic)
    }
}

/// The exchange's end of a link.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExchangeLinkSettings {
    /// The broker's number.
    pub fcm_id: u16,
    /// The link's number.
    pub session_id: u16,
    /// The session's password.
    pub password: TmpPassword,
    /// What the link is for.
    pub ap_code: ApCode,
    /// The market and trading session.
    pub system_type: SystemType,
    /// Heartbeat interval in seconds.
    pub heart_bt_int: u8,
    /// Messages that the broker may send within a second.
    pub max_flow_ctrl_cnt: u16,
    /// How long each step of the login may take, in nanoseconds.
    pub step_within_ns: u64,
    /// When R04 is sent.
    pub heartbeat: HeartbeatRule,
    /// Most bytes of data in an L41.
    pub block_bytes: u16,
    /// Whether an L41 may end inside a message, see [`crate::uncertain::SPLIT_MESSAGES_DEFAULT`].
    pub split_messages: bool,
    /// Makes the append_no of each login.
    pub seed: u64,
}

impl ExchangeLinkSettings {
    /// A trading link with HeartBtInt 30, 16 messages a second and blocks of 32 KiB.
    #[must_use]
    pub fn new(
        fcm_id: u16,
        session_id: u16,
        password: TmpPassword,
        system_type: SystemType,
    ) -> Self {
        Self {
            fcm_id,
            session_id,
            password,
            ap_code: ApCode::TRADING,
            system_type,
            heart_bt_int: 30,
            max_flow_ctrl_cnt: 16,
            step_within_ns: STEP_WITHIN_NS,
            heartbeat: HeartbeatRule::SilentPeer,
            block_bytes: 32_768,
            split_messages: SPLIT_MESSAGES_DEFAULT,
            seed: 0,
        }
    }
}

/// Ten seconds a step.
const STEP_WITHIN_NS: u64 = 10_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn a_key_is_two_digits_of_the_product() {
        // 123 * 4567 = 561,741: thousands 1, hundreds 7.
        assert_eq!(TmpPassword::new(4567).key_value(123), KeyValue(17));
        assert_eq!(TmpPassword::new(9999).key_value(999), KeyValue(90));
        assert_eq!(TmpPassword::new(u32::MAX).key_value(u16::MAX), KeyValue(78));
    }

    #[test]
    fn debug_masks_the_password() {
        let password = TmpPassword::new(4567);
        let client = ClientLinkSettings::new(1, 2, password, SystemType::FUTURES_DAY);
        let exchange = ExchangeLinkSettings::new(1, 2, password, SystemType::FUTURES_DAY);
        for text in [format!("{client:?}"), format!("{exchange:?}")] {
            assert!(text.contains("***") && !text.contains("4567"), "{text}");
        }
    }
}
