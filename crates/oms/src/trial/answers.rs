//! The answers of a record to a client's requests.

use alloc::vec::Vec;

use fixwire_protocol::{Decimal, Message, Tag, tag};

/// The outcome that an answer reports for its request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum AnswerKind {
    /// The order was accepted.
    New,
    /// The order was filled, completely or in part.
    Fill,
    /// The order was cancelled.
    Canceled,
    /// The order was replaced.
    Replaced,
    /// The order expired.
    Expired,
    /// The order was rejected.
    Rejected(RejectedBy),
    /// The cancel or the replace was rejected.
    Declined(RejectedBy),
}

/// The party that rejected a request in the record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum RejectedBy {
    /// The OMS of the record. A rejected new order has OrderID(37) = NONE; a rejected cancel or replace has a control
    /// in Text(58).
    Oms,
    /// The venue of the record.
    Venue,
}

/// An answer with the values that the venue's report needs.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub kind: AnswerKind,
    /// LastQty(32) and LastPx(31) of a fill.
    pub last: Option<(Decimal, Decimal)>,
    /// OrderQty(38) and Price(44) of a replace.
    pub quantity: Option<Decimal>,
    pub price: Option<Decimal>,
    /// OrdRejReason(103) or CxlRejReason(102).
    pub code: Option<u64>,
    /// Text(58) of a reject.
    pub text: Vec<u8>,
}

impl Answer {
    /// Reads a report or a reject; `None` for a status, a pending request, a bust, a correction, and any other message
    /// that changes no order in the trial.
    pub fn of(message: &Message<'_>) -> Option<Self> {
        let mut last = None;
        let kind = match message.msg_type() {
            b"8" => report_kind(message, &mut last)?,
            b"9" => AnswerKind::Declined(match message.get(tag::TEXT) {
                Some([b'R', b'C', b'0'..=b'9', ..]) => RejectedBy::Oms,
                _ => RejectedBy::Venue,
            }),
            _ => return None,
        };
        let mut answer = Self {
            kind,
            last,
            quantity: None,
            price: None,
            code: None,
            text: Vec::new(),
        };
        match kind {
            AnswerKind::Replaced => {
                answer.quantity = decimal(message, tag::ORDER_QTY);
                answer.price = decimal(message, tag::PRICE);
            }
            AnswerKind::Rejected(_) | AnswerKind::Declined(_) => {
                let uint = |tag| message.uint(tag).and_then(Result::ok);
                answer.code = uint(tag::ORD_REJ_REASON).or_else(|| uint(tag::CXL_REJ_REASON));
                answer.text = message.get(tag::TEXT).unwrap_or_default().to_vec();
            }
            AnswerKind::New | AnswerKind::Fill | AnswerKind::Canceled | AnswerKind::Expired => {}
        }
        Some(answer)
    }
}

fn decimal(message: &Message<'_>, tag: Tag) -> Option<Decimal> {
    message.decimal(tag).and_then(Result::ok)
}

/// The kind of an ExecutionReport(8), by ExecType(150), or before FIX 4.1 by OrdStatus(39). `last` becomes LastQty(32) and
/// LastPx(31) of a fill.
fn report_kind(message: &Message<'_>, last: &mut Option<(Decimal, Decimal)>) -> Option<AnswerKind> {
    // ExecTransType(20) = 0 is a new execution. A status, or the cancel or correction of an execution, changes no order
    // in the trial.
    if message
        .get(tag::EXEC_TRANS_TYPE)
        .is_some_and(|it| it != b"0")
    {
        return None;
    }
    let kind = message.get(tag::EXEC_TYPE);
    Some(match kind.or_else(|| message.get(tag::ORD_STATUS))? {
        b"0" => AnswerKind::New,
        b"F" | b"1" | b"2" => {
            let traded = decimal(message, tag::LAST_QTY)?;
            let price = decimal(message, tag::LAST_PX)?;
            *last = (traded.mantissa != 0).then_some((traded, price));
            last.map(|_| AnswerKind::Fill)?
        }
        b"4" => AnswerKind::Canceled,
        b"5" => AnswerKind::Replaced,
        b"8" => AnswerKind::Rejected(match message.get(tag::ORDER_ID) {
            None | Some(b"NONE") => RejectedBy::Oms,
            Some(_) => RejectedBy::Venue,
        }),
        b"C" => AnswerKind::Expired,
        _ => return None,
    })
}
