//! The settings of a link, and the state that is kept when its connection ends.

use core::fmt;

use crate::codes::{ApCode, KeyValue, SystemType, TmpPositionEffect};
use crate::link::heartbeat::HeartbeatRule;
use crate::uncertain::SPLIT_MESSAGES_DEFAULT;

/// The two clocks, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LinkNow {
    /// Drives the timers. This clock never goes backwards.
    pub mono_ns: u64,
    /// The value of msg_time: nanoseconds since 1970-01-01T00:00:00Z.
    pub wall_ns: u64,
}

/// The last MsgSeqNums of a link. The caller stores them with each [`crate::LinkAction::Save`], and passes them to
/// the link at a restart. A new trading day begins with zeros.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LinkNumbers {
    /// The last MsgSeqNum received.
    pub inbound: u32,
    /// The last MsgSeqNum sent.
    pub outbound: u32,
}

/// The password of a session, which is a number. `Debug` masks it.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct TmpPassword(u32);

impl TmpPassword {
    /// A password.
    #[must_use]
    pub const fn new(password: u32) -> Self {
        Self(password)
    }

    /// The proof for an append_no: the thousands digit and the hundreds digit of the product of password and
    /// append_no.
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

/// Settings of the broker's end of a link.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientLinkSettings {
    /// The broker's number, from the exchange's file P06.
    pub fcm_id: u16,
    /// The number that the exchange gave to the link.
    pub session_id: u16,
    /// The session's password.
    pub password: TmpPassword,
    /// The purpose of the link.
    pub ap_code: ApCode,
    /// The market and trading session; L30 must have the same.
    pub system_type: SystemType,
    /// The exchange refuses requests that are older than this number of seconds, except cancels; 0 for no limit.
    pub cancel_order_sec: u8,
    /// Maximum duration of each step of the login, in nanoseconds.
    pub step_within_ns: u64,
    /// The rule for heartbeats.
    pub heartbeat: HeartbeatRule,
    /// Values in the requests that are not terms of an order.
    pub marks: OrderMarks,
}

/// Values in the requests of a link that are not terms of an order. An exchange refuses requests without
/// `order_source` and `info_source`, and new orders without `investor_flag`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OrderMarks {
    /// The clearing member; `None` if the broker clears itself.
    pub cm_id: Option<u16>,
    /// Where orders come from: one of [`crate::uncertain::ORDER_SOURCES`], or blank when not set.
    pub order_source: u8,
    /// The information vendor: 999 for none, blank when not set.
    pub info_source: [u8; 3],
    /// The kind of investor; blank when not set.
    pub investor_flag: u8,
    /// PositionEffect of orders that do not specify one.
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
    /// Settings of a trading link, with at most 10 s for each step of the login, and the heartbeat rule of the
    /// specification.
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

    /// PositionEffect of an order that does not specify one: the value in these settings, otherwise A (automatic) for
    /// options. Futures do not have A.
    #[must_use]
    pub fn effect_of_netting(&self) -> Option<TmpPositionEffect> {
        let of_options = self.system_type.is_options();
        let automatic = of_options.then_some(TmpPositionEffect::AUTOMATIC);
        self.marks.position_effect.or(automatic)
    }
}

/// Settings of the exchange's end of a link.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExchangeLinkSettings {
    /// The broker's number.
    pub fcm_id: u16,
    /// The link's number.
    pub session_id: u16,
    /// The session's password.
    pub password: TmpPassword,
    /// The purpose of the link.
    pub ap_code: ApCode,
    /// The market and trading session.
    pub system_type: SystemType,
    /// Heartbeat interval in seconds.
    pub heart_bt_int: u8,
    /// Messages that the broker may send within one second; 0 for no limit.
    pub max_flow_ctrl_cnt: u16,
    /// Maximum duration of each step of the login, in nanoseconds.
    pub step_within_ns: u64,
    /// The rule for heartbeats.
    pub heartbeat: HeartbeatRule,
    /// Maximum number of data bytes in an L41.
    pub block_bytes: u16,
    /// Whether an L41 may end in the middle of a message; see [`crate::uncertain::SPLIT_MESSAGES_DEFAULT`].
    pub split_messages: bool,
    /// Seed from which the append_no of each login is computed.
    pub seed: u64,
}

impl ExchangeLinkSettings {
    /// Settings of a trading link with a HeartBtInt of 30 s, 16 messages a second and blocks of 32 KiB.
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

/// Maximum duration of a step of the login: ten seconds.
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
