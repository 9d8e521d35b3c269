//! Messages of the link: login, recovery, heartbeats.

use crate::codes::{ApCode, KeyValue, SystemType};
use crate::error::FrameError;
use crate::layout::{
    LayoutField, TmpLayout, TmpLayoutInfo, check_value, layouts, layouts_with_data,
};
use crate::status::TmpStatus;
use crate::wire::WireField;

layouts! {
    /// The first message of both ends. From the exchange with a status, it is the last message.
    L10 = 10, 23, both {
        status: TmpStatus = 17,
        start_in_bound_num: u32 = 18,
    }
    /// The broker asks to log in.
    L20 = 20, 19, broker {
        status: TmpStatus = 17,
    }
    /// The exchange asks for the proof of the password, and sends its last MsgSeqNum.
    L30 = 30, 27, exchange {
        status: TmpStatus = 17,
        append_no: u16 = 18,
        end_out_bound_num: u32 = 20,
        system_type: SystemType = 24,
        encrypt: u8 = 25,
    }
    /// The broker's identification, the proof of its password, and the last MsgSeqNum that it has received.
    L40 = 40, 33, broker {
        status: TmpStatus = 17,
        append_no: u16 = 18,
        fcm_id: u16 = 20,
        session_id: u16 = 22,
        system_type: SystemType = 24,
        ap_code: ApCode = 25,
        key_value: KeyValue = 26,
        request_start_seq: u32 = 27,
        cancel_order_sec: u8 = 31,
    }
    /// The broker confirms an L41.
    L42 = 42, 19, broker {
        status: TmpStatus = 17,
    }
    /// The exchange accepts the login: heartbeat interval in seconds, maximum number of messages a second.
    L50 = 50, 22, exchange {
        status: TmpStatus = 17,
        heart_bt_int: u8 = 18,
        max_flow_ctrl_cnt: u16 = 19,
    }
    /// The broker is ready; the login is complete.
    L60 = 60, 19, broker {
        status: TmpStatus = 17,
    }
    /// Are you alive?
    R04 = 104, 19, both {
        status: TmpStatus = 17,
    }
    /// The answer to an R04. Status 200 warns that the clocks differ.
    R05 = 105, 19, both {
        status: TmpStatus = 17,
    }
}

layouts_with_data! {
    /// A block of messages that the broker has missed: complete frames, one after the other.
    L41 = 41, 24, exchange {
        status: TmpStatus = 17,
        is_eof: u8 = 18,
        file_size: u32 = 19,
    } data = 23
}
