//! An answer of the counterparty, as a line of text.

use alloc::string::{String, ToString};
use core::fmt;

use fixwire_protocol::{Message, Precision, Tag, Timestamp, TimestampWriter, tag};

use crate::words;

/// Kind of an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum AnswerKind {
    /// ExecutionReport(8).
    Report,
    /// OrderCancelReject(9).
    CancelReject,
    /// BusinessMessageReject(j).
    BusinessReject,
    /// Reject(3) of the session.
    Reject,
    /// Any other application message.
    Other,
}

impl AnswerKind {
    /// The kind's name, in small letters.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::CancelReject => "cancel reject",
            Self::BusinessReject => "business reject",
            Self::Reject => "reject",
            Self::Other => "message",
        }
    }
}

/// An answer of the counterparty. Missing fields are empty.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReportLine {
    /// Kind of the answer.
    pub kind: AnswerKind,
    /// Arrival time.
    pub at: Timestamp,
    /// MsgType(35).
    pub msg_type: String,
    /// ClOrdID(11).
    pub cl_ord_id: String,
    /// OrigClOrdID(41).
    pub orig_cl_ord_id: String,
    /// OrderID(37).
    pub order_id: String,
    /// ExecType(150), in words.
    pub exec_type: String,
    /// OrdStatus(39), in words.
    pub ord_status: String,
    /// Side(54), in words.
    pub side: String,
    /// Symbol(55).
    pub symbol: String,
    /// OrderQty(38).
    pub quantity: String,
    /// Price(44).
    pub price: String,
    /// LastQty(32).
    pub last_quantity: String,
    /// LastPx(31).
    pub last_price: String,
    /// CumQty(14).
    pub cum: String,
    /// LeavesQty(151).
    pub leaves: String,
    /// CxlRejReason(102), BusinessRejectReason(380), SessionRejectReason(373) or OrdRejReason(103).
    pub reason: String,
    /// RefTagID(371).
    pub ref_tag: String,
    /// Text(58).
    pub text: String,
}

impl ReportLine {
    /// The line of a message.
    pub(crate) fn of(at: Timestamp, message: &Message<'_>) -> Self {
        let kind = match message.msg_type() {
            b"8" => AnswerKind::Report,
            b"9" => AnswerKind::CancelReject,
            b"j" => AnswerKind::BusinessReject,
            b"3" => AnswerKind::Reject,
            _ => AnswerKind::Other,
        };
        let text = |tag: Tag| {
            let value = message.get(tag).unwrap_or_default();
            String::from_utf8_lossy(value).into_owned()
        };
        let reason = match kind {
            AnswerKind::Report => tag::ORD_REJ_REASON,
            AnswerKind::CancelReject => tag::CXL_REJ_REASON,
            AnswerKind::BusinessReject => tag::BUSINESS_REJECT_REASON,
            _ => tag::SESSION_REJECT_REASON,
        };
        Self {
            kind,
            at,
            msg_type: String::from_utf8_lossy(message.msg_type()).into_owned(),
            cl_ord_id: text(tag::CL_ORD_ID),
            orig_cl_ord_id: text(tag::ORIG_CL_ORD_ID),
            order_id: text(tag::ORDER_ID),
            exec_type: words::exec_type(&text(tag::EXEC_TYPE)).to_string(),
            ord_status: match message.get(tag::ORD_STATUS) {
                Some(_) => words::ord_status(&text(tag::ORD_STATUS)).to_string(),
                None => String::new(),
            },
            side: words::side(&text(tag::SIDE)).to_string(),
            symbol: text(tag::SYMBOL),
            quantity: text(tag::ORDER_QTY),
            price: text(tag::PRICE),
            last_quantity: text(tag::LAST_QTY),
            last_price: text(tag::LAST_PX),
            cum: text(tag::CUM_QTY),
            leaves: text(tag::LEAVES_QTY),
            reason: text(reason),
            ref_tag: text(tag::REF_TAG_ID),
            text: text(tag::TEXT),
        }
        .without_missing_exec_type(message)
    }

    fn without_missing_exec_type(mut self, message: &Message<'_>) -> Self {
        if !message.has(tag::EXEC_TYPE) {
            self.exec_type.clear();
        }
        self
    }

    /// Each value with its name in JSON; without time and kind.
    #[must_use]
    pub fn values(&self) -> [(&'static str, &str); 17] {
        [
            ("msg_type", &self.msg_type),
            ("cl_ord_id", &self.cl_ord_id),
            ("orig_cl_ord_id", &self.orig_cl_ord_id),
            ("order_id", &self.order_id),
            ("exec_type", &self.exec_type),
            ("ord_status", &self.ord_status),
            ("side", &self.side),
            ("symbol", &self.symbol),
            ("qty", &self.quantity),
            ("price", &self.price),
            ("last_qty", &self.last_quantity),
            ("last_px", &self.last_price),
            ("cum", &self.cum),
            ("leaves", &self.leaves),
            ("reason", &self.reason),
            ("ref_tag", &self.ref_tag),
            ("text", &self.text),
        ]
    }
}

impl fmt::Display for ReportLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = time_of_day(self.at);
        write!(f, "{time} {}", self.kind.name())?;
        if self.kind == AnswerKind::Other {
            write!(f, " MsgType {}", self.msg_type)?;
        }
        if !self.cl_ord_id.is_empty() {
            write!(f, " {}", self.cl_ord_id)?;
        }
        for (name, value) in [
            ("of ", &self.orig_cl_ord_id),
            ("OrderID ", &self.order_id),
            ("ExecType ", &self.exec_type),
            ("OrdStatus ", &self.ord_status),
        ] {
            if !value.is_empty() {
                write!(f, " {name}{value}")?;
            }
        }
        let order = [&self.side, &self.quantity, &self.symbol];
        for value in order.into_iter().filter(|value| !value.is_empty()) {
            write!(f, " {value}")?;
        }
        for (name, value) in [
            ("@ ", &self.price),
            ("last ", &self.last_quantity),
            ("at ", &self.last_price),
            ("cum ", &self.cum),
            ("leaves ", &self.leaves),
            ("reason ", &self.reason),
            ("tag ", &self.ref_tag),
            ("text: ", &self.text),
        ] {
            if !value.is_empty() {
                write!(f, " {name}{value}")?;
            }
        }
        Ok(())
    }
}

/// The time of day: `13:30:00.123456`.
pub(crate) fn time_of_day(at: Timestamp) -> String {
    let mut stamp = TimestampWriter::new();
    let text = String::from_utf8_lossy(stamp.format(at, Precision::Micros)).into_owned();
    match text.split_once('-') {
        Some((_, time)) => time.to_string(),
        None => text,
    }
}
