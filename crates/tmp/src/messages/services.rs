//! Services besides orders: trading state, bulletins, subscriptions to reports, the kill switch.

use crate::codes::SystemType;
use crate::error::FrameError;
use crate::layout::{
    LayoutField, TmpLayout, TmpLayoutInfo, check_value, layouts, layouts_with_data,
};
use crate::status::TmpStatus;
use crate::wire::{TmpTime, WireField};

layouts! {
    /// Requests the trading state; the request type is 0, 1 or 2.
    R11 = 111, 23, broker {
        status: TmpStatus = 17,
        trade_req_id: u16 = 18,
        flow_group: u8 = 20,
        request_type: u8 = 21,
    }
    /// The trading state of a flow group; see [`crate::uncertain::TradeStatus`].
    R12 = 112, 23, exchange {
        status: TmpStatus = 17,
        trade_req_id: u16 = 18,
        flow_group: u8 = 20,
        trade_status: u8 = 21,
    }
    /// Subscribes to the reports of a target, from a report number on.
    R15 = 115, 25, broker {
        member: u16 = 17,
        target_id: u8 = 19,
        req_seq: u32 = 20,
    }
    /// The answer to R15.
    R16 = 116, 26, exchange {
        status: TmpStatus = 17,
        member: u16 = 18,
        target_id: u8 = 20,
        req_seq: u32 = 21,
    }
}

layouts_with_data! {
    /// Requests bulletins; at most one request in 10 s.
    R13 = 113, 27, broker {
        fcm_req_id: u32 = 17,
        bulletin_req_id: u32 = 21,
        system_type: SystemType = 25,
    } data = 26
    /// A bulletin.
    R14 = 114, 34, exchange {
        status: TmpStatus = 17,
        fcm_req_id: u32 = 18,
        bulletin_seq: u32 = 22,
        time: TmpTime = 26,
        system_type: SystemType = 32,
    } data = 33
    /// A command as text: `K101` is the kill switch, `K102` subscribes to expired orders.
    R17 = 117, 18, broker {} data = 17
    /// The answer to R17.
    R18 = 118, 19, exchange {
        status: TmpStatus = 17,
    } data = 18
}
