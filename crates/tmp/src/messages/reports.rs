//! What the exchange sends about orders: acknowledgements, fills and rejects.

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
    /// A copy of an R02, for a clearing member or a drop copy link, with the session on which the R02 was reported.
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

macro_rules! same_fields {
    ($($field:ident,)*) => {
        impl R06 {
            /// A copy of a report, for a subscription to `target_id`. The report went to session `rpt_session_id`.
            #[must_use]
            pub const fn of(report: &R02, target_id: u8, rpt_session_id: u16) -> Self {
                Self { $($field: report.$field,)* target_id, rpt_session_id }
            }

            /// The report of which this is a copy, with this target_id.
            #[must_use]
            pub const fn report(&self, target_id: u8) -> R02 {
                R02 { $($field: self.$field,)* target_id }
            }
        }
    };
}

same_fields! {
    status, exec_type, cm_id, fcm_id, order_no, ord_id, user_define, symbol_type, symbol, price, qty, account,
    account_flag, side, ord_type, time_in_force, position_effect, last_px, last_qty, px_subtotal, cum_qty, leaves_qty,
    before_qty, leg_side, leg_px, leg_qty, org_trans_time, transact_time, uniq_id, rpt_seq, protocol_type,
}

impl<const SYMBOL: usize> VenueExecution<SYMBOL> {
    /// The short form of the report. The short form has no last price: for a single product, the fill is in the fields
    /// of the first leg.
    #[must_use]
    pub const fn short(&self) -> R22 {
        let (leg_px, leg_qty) = match self.leg_side[0] {
            0 => ([self.last_px, 0], [self.last_qty, 0]),
            _ => (self.leg_px, self.leg_qty),
        };
        R22 {
            status: self.status,
            exec_type: self.exec_type,
            fcm_id: self.fcm_id,
            order_no: self.order_no,
            ord_id: self.ord_id,
            user_define: self.user_define,
            side: self.side,
            position_effect: self.position_effect,
            leaves_qty: self.leaves_qty,
            before_qty: self.before_qty,
            leg_px,
            leg_qty,
            transact_time: self.transact_time,
            uniq_id: self.uniq_id,
            rpt_seq: self.rpt_seq,
            protocol_type: self.protocol_type,
            price: self.price,
        }
    }
}
