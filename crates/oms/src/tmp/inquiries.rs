//! Price inquiries over TMP: the OMS sends an R07 or R37, and the exchange answers with an R08 or R38, or with an R03.

use core::fmt::Write as _;

use fixwire_tmp::messages::{PriceInquiry, R03, R08, R38};
use fixwire_tmp::{TmpFrame, TmpStatus, TmpSymbol};

use super::ids::ord_id;

use super::orders::{LONG_SYMBOL, LineMarks, RequestFrame, SHORT_SYMBOL};
use super::reports::{CODES, TmpOutcome};
use crate::decide::core::{Core, Sink};
use crate::decide::venue::ReportOutcome;
use crate::state::OmsState;
use crate::state::event::SentInquiry;
use crate::values::ids::SessionNo;
use crate::values::reason::{Reason, Why};
use crate::values::show::Sentence;
use crate::values::value::Number;

/// The frame of an inquiry; `None` when one of its values does not fit into TMP.
#[cold]
pub(crate) fn inquiry(
    state: &OmsState,
    inquiry: &SentInquiry<'_>,
    marks: &LineMarks,
) -> Option<RequestFrame> {
    if state.instruments().name(inquiry.instrument).len() <= SHORT_SYMBOL {
        frame::<SHORT_SYMBOL>(state, inquiry, marks)
    } else {
        frame::<LONG_SYMBOL>(state, inquiry, marks)
    }
}

fn frame<const SYMBOL: usize>(
    state: &OmsState,
    inquiry: &SentInquiry<'_>,
    marks: &LineMarks,
) -> Option<RequestFrame> {
    let of_user = state.sessions.get(inquiry.session)?.marks;
    let said = of_user.or(marks.of_requests);
    let symbol = TmpSymbol::Text(state.instruments().name(inquiry.instrument));
    let (symbol_type, symbol) = symbol.field::<SYMBOL>().ok()?;
    let body = PriceInquiry::<SYMBOL> {
        order_no: inquiry.order_no.try_into().ok()?,
        ord_id: ord_id(inquiry.number),
        fcm_id: marks.fcm_id,
        symbol_type,
        symbol,
        order_source: said.order_source,
        info_source: said.info_source,
    };
    RequestFrame::of(&body)
}

impl Core {
    /// Handles an R08 or R38; `None` for a message of another type.
    #[cold]
    pub(crate) fn tmp_answers(
        &mut self,
        at: i64,
        line: SessionNo,
        frame: &TmpFrame<'_>,
        sink: &mut impl Sink,
    ) -> Option<TmpOutcome> {
        let (order_no, ord_id, status) = if let Ok(said) = frame.body::<R08>() {
            (said.order_no, said.ord_id, said.status)
        } else {
            let said = frame.body::<R38>().ok()?;
            (said.order_no, said.ord_id, said.status)
        };
        // An answer to an inquiry that no longer waits changes nothing.
        let inquiry = self.tmp_inquiry(line, order_no, ord_id).unwrap_or(0);
        Some(TmpOutcome {
            is_known: false,
            heard: self.tmp_answered(at, line, inquiry, status, sink),
            order_no,
            status,
            market: None,
        })
    }

    /// Handles an R03 that refuses an inquiry; `None` when the R03 is about another request.
    #[cold]
    pub(crate) fn tmp_refuses(
        &mut self,
        at: i64,
        line: SessionNo,
        said: &R03,
        sink: &mut impl Sink,
    ) -> Option<ReportOutcome> {
        let inquiry = self.tmp_inquiry(line, said.order_no, said.ord_id)?;
        Some(self.tmp_answered(at, line, inquiry, said.status, sink))
    }

    /// The inquiry with this order_no and ord_id that waits for an answer on a line.
    fn tmp_inquiry(&self, line: SessionNo, order_no: [u8; 5], id: u32) -> Option<Number> {
        let mut all = self.state.quotes.inquiries.iter();
        let found = all.find(|(number, inquiry)| {
            inquiry.line == line && ord_id(*number) == id && inquiry.order_no.bytes() == order_no
        });
        found.map(|(number, _)| number)
    }

    fn tmp_answered(
        &mut self,
        at: i64,
        line: SessionNo,
        inquiry: Number,
        status: TmpStatus,
        sink: &mut impl Sink,
    ) -> ReportOutcome {
        let mut text = Sentence::new();
        let reason = (!status.is_success()).then(|| {
            let words = status.text().unwrap_or("rejected by the exchange");
            // The buffer is always long enough for the text.
            let _ = write!(text, "{words} ({})", CODES + u64::from(status.0));
            Reason {
                value: reject_reason(status),
                ..Reason::of(Why::Venue)
            }
        });
        match self.inquiry_answered(at, line, inquiry, reason, text.bytes(), sink) {
            true => ReportOutcome::Taken,
            false => ReportOutcome::Known,
        }
    }
}

/// QuoteRequestRejectReason(658) for a status of TMP.
fn reject_reason(status: TmpStatus) -> i128 {
    match status {
        TmpStatus::PRODUCT => 1,
        TmpStatus::CLOSED | TmpStatus::NOT_OPEN => 2,
        TmpStatus::FLOW_EXCEEDED => 3,
        TmpStatus::BROKER => 6,
        _ => 99,
    }
}
