//! Reject(3) and BusinessMessageReject(j) of venues: finds the order or request of the OMS to which each of them
//! refers.
//!
//! RefSeqNum(45) names the rejected message, which the engine has. BusinessRejectRefID(379) is optional.
//! BusinessRejectRefID counts if it names the same message as 45, or if 45 names none. RefMsgType(372) is compared with
//! the rejected message.

use fixwire_protocol::{Message, Outbox, tag, value};

use super::Oms;
use crate::decide::venue::rejects::VenueReject;
use crate::decide::venue::{ReportOutcome, VenueId, cut};
use crate::desk::notice::OmsEvent;
use crate::fix::inquiries;
use crate::values::ids::SessionNo;
use crate::values::reason::{Reason, Why};
use crate::values::rules::RejectCode;
use crate::values::value::Number;

/// The message that a reject refers to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Refused {
    /// A new order, or a request.
    Request(VenueId),
    /// A price inquiry, by its number.
    Inquiry(Number),
    /// OrderMassStatusRequest(AF).
    MassStatus,
    /// A status request, or another message that changes no order.
    Other,
    /// No message that the OMS knows, or two different messages.
    Unknown,
}

impl Oms {
    /// Handles a Reject(3) of a venue.
    #[cold]
    pub(super) fn session_reject(
        &mut self,
        at: i64,
        line: SessionNo,
        reject: &Message<'_>,
        refused: Option<&[u8]>,
        outbox: &mut Outbox,
    ) {
        self.count_report(None, reject);
        let refused = self.refused(reject, refused);
        self.reject(at, line, reject, (refused, None), outbox);
    }

    /// Handles a BusinessMessageReject(j) of a venue.
    #[cold]
    pub(super) fn business_reject(
        &mut self,
        at: i64,
        line: SessionNo,
        reject: &Message<'_>,
        refused: Option<&[u8]>,
        outbox: &mut Outbox,
    ) {
        let code = reject.get(tag::BUSINESS_REJECT_REASON);
        let code = code.and_then(|it| value::uint(it).ok());
        let refused = self.refused(reject, refused);
        let code = code.map(RejectCode::Business);
        self.reject(at, line, reject, (refused, code), outbox);
    }

    fn reject(
        &mut self,
        at: i64,
        line: SessionNo,
        reject: &Message<'_>,
        (refused, code): (Refused, Option<RejectCode>),
        outbox: &mut Outbox,
    ) {
        self.count_cut(reject);
        let text = cut(reject.get(tag::TEXT).unwrap_or_default());
        let (core, mut out) = self.parts(outbox, None);
        let heard = match refused {
            Refused::Request(id) if !core.may_reject(line, id.order) => {
                let what = b"BusinessMessageReject(j) or Reject(3)";
                core.foreign_message(at, line, id.order, what, &mut out)
            }
            Refused::Request(id) => core.refused(
                at,
                id,
                &VenueReject {
                    code,
                    status: 0,
                    text,
                },
                &mut out,
            ),
            Refused::Inquiry(inquiry) => {
                let reason = Reason {
                    value: inquiries::OTHER.into(),
                    ..Reason::of(Why::Venue)
                };
                core.inquiry_answered(at, line, inquiry, Some(reason), text, &mut out);
                ReportOutcome::Taken
            }
            Refused::MassStatus => core.mass_refused(at, line, &mut out),
            Refused::Other => ReportOutcome::Known,
            Refused::Unknown => ReportOutcome::Unknown,
        };
        if matches!(heard, ReportOutcome::Unknown | ReportOutcome::Unreadable) {
            let line = self.core.state().sessions().name(line);
            let number = reject.get(tag::REF_SEQ_NUM).unwrap_or(b"NONE");
            let id = reject.get(tag::BUSINESS_REJECT_REF_ID);
            let id = id.unwrap_or(b"NONE");
            (self.listener)(OmsEvent::StrayReject { line, number, id });
        }
    }

    /// The message to which a reject refers; `refused` is the message that the RefSeqNum(45) of the reject names.
    fn refused(&mut self, reject: &Message<'_>, refused: Option<&[u8]>) -> Refused {
        let named_type = reject.get(tag::REF_MSG_TYPE);
        let refused = refused.map(|bytes| self.decoder.decode(bytes));
        let is_meant = |it: &Message<'_>| named_type.is_none_or(|named| named == it.msg_type());
        if refused.as_ref().is_some_and(|it| !is_meant(it)) {
            return Refused::Unknown;
        }
        let msg_type = named_type.or(refused.as_ref().map(Message::msg_type));
        let named = reject.get(tag::BUSINESS_REJECT_REF_ID);
        let sent = |tag| refused.as_ref().and_then(|it| it.get(tag));
        match msg_type {
            Some(b"R") => {
                let id = sent(tag::QUOTE_REQ_ID).or(named);
                let inquiry = id.and_then(|id| value::uint(id).ok());
                inquiry.map_or(Refused::Unknown, Refused::Inquiry)
            }
            Some(b"D" | b"F" | b"G") => {
                let orders = self.core.state().orders();
                let known = |id: &VenueId| orders.get(id.order).is_some();
                let sent = sent(tag::CL_ORD_ID).and_then(VenueId::parse);
                let named = named.and_then(VenueId::parse).filter(known);
                match (sent, named) {
                    (Some(sent), Some(named)) if sent != named => Refused::Unknown,
                    (Some(id), _) | (None, Some(id)) => Refused::Request(id),
                    (None, None) => Refused::Unknown,
                }
            }
            Some(b"AF") => Refused::MassStatus,
            Some(_) => Refused::Other,
            // Only BusinessRejectRefID(379) names a message. It may be a status request, which has the ClOrdID(11) of
            // its order.
            None => match named.and_then(VenueId::parse) {
                Some(id) if self.core.was_asked(id) => Refused::Unknown,
                Some(id) => Refused::Request(id),
                None => Refused::Unknown,
            },
        }
    }
}
