//! The R03 that the link sends itself.

use crate::codes::TmpSide;
use crate::frame::TmpFrame;
use crate::layout::TmpLayout;
use crate::messages::{OrderEntry, QuoteEntry, R01, R03, R09, R31, R39};
use crate::status::TmpStatus;

/// The R03 that reject a request: one for an order, two for a quote, none for other messages.
pub(super) fn rejects(frame: &TmpFrame<'_>, status: TmpStatus) -> [Option<R03>; 2] {
    match frame.code() {
        R01::CODE => [frame.body().ok().map(|it: R01| order(&it, status)), None],
        R31::CODE => [frame.body().ok().map(|it: R31| order(&it, status)), None],
        R09::CODE => quote(frame.body::<R09>().ok().as_ref(), status),
        R39::CODE => quote(frame.body::<R39>().ok().as_ref(), status),
        _ => [None, None],
    }
}

fn order<const SYMBOL: usize>(order: &OrderEntry<SYMBOL>, status: TmpStatus) -> R03 {
    R03 {
        status,
        exec_type: order.exec_type,
        fcm_id: order.fcm_id,
        order_no: order.order_no,
        ord_id: order.ord_id,
        user_define: order.user_define,
        rpt_seq: 0,
        side: order.side,
    }
}

fn quote<const SYMBOL: usize>(
    quote: Option<&QuoteEntry<SYMBOL>>,
    status: TmpStatus,
) -> [Option<R03>; 2] {
    [TmpSide::BUY, TmpSide::SELL].map(|side| {
        quote.map(|quote| R03 {
            status,
            exec_type: quote.exec_type,
            fcm_id: quote.fcm_id,
            order_no: quote.order_no,
            ord_id: quote.ord_id,
            user_define: quote.user_define,
            rpt_seq: 0,
            side,
        })
    })
}
