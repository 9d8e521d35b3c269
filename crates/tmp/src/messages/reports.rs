//! What the exchange answers: acknowledgements, fills, rejects.

use crate::codes::{
    TmpExecType, TmpOrdType, TmpPositionEffect, TmpSide, TmpSymbolType, TmpTimeInForce,
};
use crate::error::FrameError;
use crate::layout::{
    LayoutField, TmpLayout, TmpLayoutInfo, check_value, layouts, layouts_with_symbol,
};
use crate::status::TmpStatus;
use crate::wire::{TmpTime, WireField};

layouts_with_symbol! {
    /// An acknowledgement, a fill, or the state of an order.
    VenueExecution: R02 = 102, 133; R32 = 132, 153; exchange
    {
        status: TmpStatus = 17,
        exec_type: TmpExecType = 18,
        cm_id: u16 = 19,
        fcm_id: u16 = 21,
        order_no: [u8; 5] = 23,
        ord_id: u32 = 28,
        user_define: [u8; 8] = 32,
        symbol_type: TmpSymbolType = 40,
    }
    symbol = 41
    {
        price: i32 = 61,
        qty: u16 = 65,
        account: u32 = 67,
        account_flag: u8 = 71,
        side: TmpSide = 72,
        ord_type: TmpOrdType = 73,
        time_in_force: TmpTimeInForce = 74,
        position_effect: TmpPositionEffect = 75,
        last_px: i32 = 76,
        last_qty: u16 = 80,
        px_subtotal: i64 = 82,
        cum_qty: u16 = 90,
        leaves_qty: u16 = 92,
        before_qty: u16 = 94,
        leg_side: [u8; 2] = 96,
        leg_px: [i32; 2] = 98,
        leg_qty: [u16; 2] = 106,
        org_trans_time: TmpTime = 110,
        transact_time: TmpTime = 116,
        target_id: u8 = 122,
        uniq_id: u32 = 123,
        rpt_seq: u32 = 127,
        protocol_type: u8 = 131,
    }
    /// The answer to a price inquiry.
    InquiryReply: R08 = 108, 51; R38 = 138, 71; exchange
    {
        status: TmpStatus = 17,
        order_no: [u8; 5] = 18,
        ord_id: u32 = 23,
        fcm_id: u16 = 27,
        symbol_type: TmpSymbolType = 29,
    }
    symbol = 30
    {}
}

layouts! {
    /// A reject.
    R03 = 103, 44, exchange {
        status: TmpStatus = 17,
        exec_type: TmpExecType = 18,
        fcm_id: u16 = 19,
        order_no: [u8; 5] = 21,
        ord_id: u32 = 26,
        user_define: [u8; 8] = 30,
        rpt_seq: u32 = 38,
        side: TmpSide = 42,
    }
    /// A short report, on links with [`crate::ApCode::TRADING_SHORT`].
    R22 = 122, 76, exchange {
        status: TmpStatus = 17,
        exec_type: TmpExecType = 18,
        fcm_id: u16 = 19,
        order_no: [u8; 5] = 21,
        ord_id: u32 = 26,
        user_define: [u8; 8] = 30,
        side: TmpSide = 38,
        position_effect: TmpPositionEffect = 39,
        leaves_qty: u16 = 40,
        before_qty: u16 = 42,
        leg_px: [i32; 2] = 44,
        leg_qty: [u16; 2] = 52,
        transact_time: TmpTime = 56,
        uniq_id: u32 = 62,
        rpt_seq: u32 = 66,
        protocol_type: u8 = 70,
        price: i32 = 71,
    }
    /// A copy of an R02 for a clearing member or a drop copy, with the session that it was reported on.
    R06 = 106, 135, exchange {
        status: TmpStatus = 17,
        exec_type: TmpExecType = 18,
        cm_id: u16 = 19,
        fcm_id: u16 = 21,
        order_no: [u8; 5] = 23,
        ord_id: u32 = 28,
        user_define: [u8; 8] = 32,
        symbol_type: TmpSymbolType = 40,
        symbol: [u8; 20] = 41,
        price: i32 = 61,
        qty: u16 = 65,
        account: u32 = 67,
        account_flag: u8 = 71,
        side: TmpSide = 72,
        ord_type: TmpOrdType = 73,
        time_in_force: TmpTimeInForce = 74,
        position_effect: TmpPositionEffect = 75,
        last_px: i32 = 76,
        last_qty: u16 = 80,
        px_subtotal: i64 = 82,
        cum_qty: u16 = 90,
        leaves_qty: u16 = 92,
        before_qty: u16 = 94,
        leg_side: [u8; 2] = 96,
        leg_px: [i32; 2] = 98,
        leg_qty: [u16; 2] = 106,
        org_trans_time: TmpTime = 110,
        transact_time: TmpTime = 116,
        target_id: u8 = 122,
        uniq_id: u32 = 123,
        rpt_seq: u32 = 127,
        protocol_type: u8 = 131,
        rpt_session_id: u16 = 132,
    }
}
