//! Price inquiries of members: QuoteRequest(R) over FIX, R07 and R37 over TMP. The exchange accepts an inquiry when
//! the instrument trades. But there is no market maker that would answer with a quote, and nothing changes.

use fixwire_book::BookState;
use fixwire_protocol::{Message, Now, Outbox, Precision, Refusal, SessionId, tag};
use fixwire_tmp::messages::{InquiryReply, PriceInquiry};
use fixwire_tmp::uncertain::{WRONG_SOURCE, has_sources};
use fixwire_tmp::{TmpStatus, TmpSymbol};

use super::Exchange;
use crate::dialect::Dialect;

impl Exchange {
    /// Answers a QuoteRequest(R): QuoteStatusReport(AI) if accepted, QuoteRequestReject(AG) if rejected. In FIX
    /// 4.2 both are QuoteAcknowledgement(b).
    pub(super) fn quote_request(
        &self,
        now: Now,
        (from, dialect): (SessionId, Dialect),
        request: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let id = request.get(tag::QUOTE_REQ_ID).unwrap_or_default();
        let symbol = request.get(tag::SYMBOL).unwrap_or_default();
        let symbols = request.fields().iter();
        let refused = if symbols.filter(|field| field.tag == tag::SYMBOL).count() > 1 {
            // QuoteRequestRejectReason(658) = 3, Quote Request exceeds limit.
            Some((3, "One symbol a QuoteRequest"))
        } else {
            match self.inquiry_status(symbol) {
                TmpStatus::OK => None,
                TmpStatus::PRODUCT => Some((1, "Unknown symbol")),
                TmpStatus::CLOSED => Some((2, "The instrument is closed")),
                _ => Some((2, "The instrument is halted")),
            }
        };
        let is_old = dialect == Dialect::Fix42;
        let msg_type: &[u8] = match refused {
            _ if is_old => b"b",
            None => b"AI",
            Some(_) => b"AG",
        };
        let mut answer = outbox.begin(from, msg_type);
        answer.field(tag::QUOTE_REQ_ID, id);
        match refused {
            None => {
                answer.field(tag::QUOTE_ID, id);
                if !is_old {
                    answer.field(tag::SYMBOL, symbol);
                }
                answer.uint(tag::QUOTE_STATUS, 0);
            }
            Some((code, _)) if is_old => {
                answer
                    .uint(tag::QUOTE_STATUS, 5)
                    .uint(tag::QUOTE_REJECT_REASON, code);
            }
            Some((code, _)) => {
                answer
                    .uint(tag::QUOTE_REQUEST_REJECT_REASON, code)
                    .uint(tag::NO_RELATED_SYM, 1)
                    .field(tag::SYMBOL, symbol);
            }
        }
        if msg_type == b"AI" {
            answer.time(tag::TRANSACT_TIME, now.wall, Precision::Millis);
        }
        if let Some((_, text)) = refused {
            answer.field(tag::TEXT, text.as_bytes());
        }
        answer.finish().map_err(|_| Refusal::NotAvailable)
    }

    /// Answers an R07 or R37.
    pub(super) fn inquiry<const SYMBOL: usize>(
        &self,
        asked: &PriceInquiry<SYMBOL>,
        flow: TmpStatus,
        refusal: Option<TmpStatus>,
    ) -> InquiryReply<SYMBOL> {
        let status = match TmpSymbol::read(asked.symbol_type, &asked.symbol) {
            _ if !has_sources(asked.order_source, &asked.info_source) => WRONG_SOURCE,
            Ok(TmpSymbol::Text(symbol)) => self.inquiry_status(symbol),
            _ => TmpStatus::PRODUCT,
        };
        let status = if status == TmpStatus::OK {
            flow
        } else {
            status
        };
        InquiryReply {
            status: refusal.unwrap_or(status),
            order_no: asked.order_no,
            ord_id: asked.ord_id,
            fcm_id: asked.fcm_id,
            symbol_type: asked.symbol_type,
            symbol: asked.symbol,
        }
    }

    /// The status code for an inquiry about a symbol; 0 if the inquiry is accepted.
    fn inquiry_status(&self, symbol: &[u8]) -> TmpStatus {
        let Some(instrument) = self.market.instrument(symbol) else {
            return TmpStatus::PRODUCT;
        };
        match self.market.instruments[instrument].book.state() {
            BookState::Continuous | BookState::AuctionCall => TmpStatus::OK,
            BookState::Halted => TmpStatus::NOT_OPEN,
            BookState::Closed => TmpStatus::CLOSED,
        }
    }
}
