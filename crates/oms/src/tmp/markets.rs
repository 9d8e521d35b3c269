//! The state of trading over TMP. An R11 requests the state of a flow group; R12s report it, at once and after each
//! change.

use fixwire_tmp::messages::{R11, R12};
use fixwire_tmp::uncertain::{TRADE_REQUEST_UPDATES, TradeStatus};
use fixwire_tmp::{TmpFrame, TmpStatus};

use super::orders::RequestFrame;
use super::reports::TmpOutcome;
use crate::decide::core::{Core, Sink};
use crate::decide::venue::ReportOutcome;
use crate::values::ids::SessionNo;
use crate::values::value::Market;

/// The R11 that requests the state of a flow group now and after each change.
pub(crate) fn question(flow_group: u8) -> Option<RequestFrame> {
    let body = R11 {
        status: TmpStatus::OK,
        trade_req_id: u16::from(flow_group) + 1,
        flow_group,
        request_type: TRADE_REQUEST_UPDATES,
    };
    RequestFrame::of(&body)
}

impl Core {
    /// Handles an R12; `None` when the R12 does not give the state of a market.
    #[cold]
    pub(crate) fn tmp_market(
        &mut self,
        at: i64,
        line: SessionNo,
        frame: &TmpFrame<'_>,
        sink: &mut impl Sink,
    ) -> Option<TmpOutcome> {
        let said = frame.body::<R12>().ok()?;
        let state = match TradeStatus::of(said.trade_status) {
            Some(TradeStatus::PreOpen) => Market::Auction,
            Some(TradeStatus::Open) => Market::Open,
            Some(TradeStatus::Closed) => Market::Closed,
            None => return None,
        };
        let symbols = match said.status.is_success() {
            true => self.flow_group_market(at, line, said.flow_group, state, sink),
            false => 0,
        };
        Some(TmpOutcome {
            is_known: false,
            heard: ReportOutcome::Known,
            order_no: [0; 5],
            status: said.status,
            market: (symbols > 0).then_some((state, symbols)),
        })
    }
}
