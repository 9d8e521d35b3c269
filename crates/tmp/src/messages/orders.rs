//! What a broker sends: orders, quotes and price inquiries.

use crate::codes::{
    TmpExecType, TmpOrdType, TmpPositionEffect, TmpSide, TmpSymbolType, TmpTimeInForce,
};
use crate::error::FrameError;
use crate::layout::{LayoutField, TmpLayout, TmpLayoutInfo, check_value, layouts_with_symbol};
use crate::wire::WireField;

layouts_with_symbol! {
    /// A new order; or a change, a cancel or a query of an order.
    OrderEntry: R01 = 101, 80; R31 = 131, 100; broker
    {
        exec_type: TmpExecType = 17,
        cm_id: u16 = 18,
        fcm_id: u16 = 20,
        order_no: [u8; 5] = 22,
        ord_id: u32 = 27,
        user_define: [u8; 8] = 31,
        symbol_type: TmpSymbolType = 39,
    }
    symbol = 40
    {
        price: i32 = 60,
        qty: u16 = 64,
        account: u32 = 66,
        account_flag: u8 = 70,
        side: TmpSide = 71,
        ord_type: TmpOrdType = 72,
        time_in_force: TmpTimeInForce = 73,
        position_effect: TmpPositionEffect = 74,
        order_source: u8 = 75,
        info_source: [u8; 3] = 76,
    }
    /// A price inquiry: asks market makers for a quote.
    PriceInquiry: R07 = 107, 54; R37 = 137, 74; broker
    {
        order_no: [u8; 5] = 17,
        ord_id: u32 = 22,
        fcm_id: u16 = 26,
        symbol_type: TmpSymbolType = 28,
    }
    symbol = 29
    {
        order_source: u8 = 49,
        info_source: [u8; 3] = 50,
    }
    /// A quote with a bid and an offer. The quote is answered by two R02, or by two R03.
    QuoteEntry: R09 = 109, 84; R39 = 139, 104; broker
    {
        exec_type: TmpExecType = 17,
        cm_id: u16 = 18,
        fcm_id: u16 = 20,
        order_no: [u8; 5] = 22,
        ord_id: u32 = 27,
        user_define: [u8; 8] = 31,
        symbol_type: TmpSymbolType = 39,
    }
    symbol = 40
    {
        bid_px: i32 = 60,
        offer_px: i32 = 64,
        bid_size: u16 = 68,
        offer_size: u16 = 70,
        account: u32 = 72,
        account_flag: u8 = 76,
        time_in_force: TmpTimeInForce = 77,
        position_effect: TmpPositionEffect = 78,
        order_source: u8 = 79,
        info_source: [u8; 3] = 80,
    }
}
