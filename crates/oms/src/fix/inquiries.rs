//! Price inquiries in messages. A client's QuoteRequest(R) is sent on to a venue. The client gets the venue's answer as
//! QuoteStatusReport(AI) or QuoteRequestReject(AG), in FIX 4.2 as QuoteAcknowledgement(b).

use fixwire_protocol::{
    Body, Indexed, Message, Outbox, Precision, Refusal, SessionId, Timestamp, tag, value,
};

use super::PutQuantity as _;
use super::clients::Client;
use super::names::{Named, NamingLine};
use super::requests::{byte, required};
use crate::decide::inquiries::NewInquiry;
use crate::decide::venue::cut;
use crate::state::OmsState;
use crate::state::event::{InquiryEvent, SentInquiry};
use crate::state::show::reason_text;
use crate::values::canary::{self, OmsPlantedFault};
use crate::values::ids::SessionNo;
use crate::values::reason::{Reason, Why};
use crate::values::units::Scales;
use crate::values::value::{Number, Side, Text};

/// QuoteRequestRejectReason(658) = 99, Other.
pub(crate) const OTHER: u64 = 99;

/// Reads a QuoteRequest(R).
///
/// # Errors
///
/// A field is missing, is not a number, or is too long.
pub(crate) fn inquiry<'a>(
    session: SessionNo,
    message: &Message<'a>,
) -> Result<NewInquiry<'a>, Refusal> {
    let fields = message.fields().iter();
    let symbols = fields.filter(|field| field.tag == tag::SYMBOL).count();
    let message = &Indexed::new(message);
    let id = required(message, tag::QUOTE_REQ_ID)?;
    if id.len() > NewInquiry::ID_MOST {
        return Err(Refusal::ValueOutOfRange(tag::QUOTE_REQ_ID));
    }
    let quantity = match message.decimal(tag::ORDER_QTY) {
        None => None,
        Some(Ok(quantity)) => Some(quantity),
        Some(Err(_)) => return Err(Refusal::IncorrectDataFormat(tag::ORDER_QTY)),
    };
    Ok(NewInquiry {
        session,
        id,
        account: message.get(tag::ACCOUNT).unwrap_or_default(),
        symbol: required(message, tag::SYMBOL)?,
        side: byte(message, tag::SIDE).and_then(Side::of),
        quantity,
        has_more: symbols > 1,
    })
}

/// Sends an inquiry to a venue over FIX.
#[cold]
pub(crate) fn send(
    state: &OmsState,
    inquiry: &SentInquiry<'_>,
    line: SessionId,
    has_group: bool,
    names: NamingLine<'_>,
    outbox: &mut Outbox,
) {
    if canary::is(OmsPlantedFault::InquireTwice) {
        let mut twice = outbox.begin(line, b"R");
        twice.uint(tag::QUOTE_REQ_ID, inquiry.number);
        let _ = twice.finish();
    }
    let mut out = outbox.begin(line, b"R");
    out.uint(tag::QUOTE_REQ_ID, inquiry.number);
    // FIX 4.0 and 4.1 have the symbol without a group.
    if has_group {
        out.uint(tag::NO_RELATED_SYM, 1);
    }
    let names = Named::of_instrument(state, inquiry.instrument, b"R", names);
    names.put_instrument(state, inquiry.instrument, &mut out);
    if let Some(side) = inquiry.side {
        out.char(tag::SIDE, side.byte());
    }
    if inquiry.quantity > 0 {
        let scale = state.scales(inquiry.instrument).quantity;
        out.quantity(tag::ORDER_QTY, inquiry.quantity, scale);
    }
    // The outbox has room: that was checked before the event.
    let _ = out.finish();
}

/// A venue's answer to a price inquiry, over FIX or TMP.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct InquiryAnswer<'a> {
    pub inquiry: Number,
    /// QuoteRequestRejectReason(658) if the venue refused the inquiry; `None` if it accepted it.
    pub refused: Option<u64>,
    /// Text(58).
    pub text: &'a [u8],
}

impl InquiryAnswer<'_> {
    /// Why the inquiry was refused; `None` if it was accepted.
    pub(crate) fn reason(&self) -> Option<Reason> {
        self.refused.map(|code| Reason {
            value: code.into(),
            ..Reason::of(Why::Venue)
        })
    }
}

/// Reads a venue's answer over FIX; `None` for a message that answers no inquiry.
pub(crate) fn answer<'a>(message: &Message<'a>) -> Option<InquiryAnswer<'a>> {
    let number = |tag| message.get(tag).and_then(|it| value::uint(it).ok());
    let (of, refused) = match message.msg_type() {
        b"AG" => (
            tag::QUOTE_REQ_ID,
            Some(number(tag::QUOTE_REQUEST_REJECT_REASON).unwrap_or(OTHER)),
        ),
        // A Quote(S) answers the inquiry whose QuoteReqID(131) it has.
        b"S" => (tag::QUOTE_REQ_ID, None),
        b"AI" | b"b" => {
            let refused = match number(tag::QUOTE_STATUS)? {
                // QuoteStatus(297): Accepted, or Active.
                0 | 16 => None,
                // QuoteStatus(297): Rejected, Expired, Quote Not Found, or Pass.
                5 | 7 | 9 | 11 => Some(match number(tag::QUOTE_REJECT_REASON) {
                    Some(reason @ 1..=4) => reason,
                    Some(8) => 5,
                    Some(9) => 6,
                    _ => OTHER,
                }),
                // QuoteStatus(297): Pending, or another value that does not answer the inquiry.
                _ => return None,
            };
            (tag::QUOTE_REQ_ID, refused)
        }
        _ => return None,
    };
    Some(InquiryAnswer {
        inquiry: number(of)?,
        refused,
        text: cut(message.get(tag::TEXT).unwrap_or_default()),
    })
}

/// Reports to a client that the OMS refused its inquiry.
#[cold]
pub(crate) fn report_refused(
    state: &OmsState,
    id: &[u8],
    reason: &Reason,
    message: Option<&Message<'_>>,
    client: Client,
    outbox: &mut Outbox,
) {
    let symbol = message.and_then(|message| message.get(tag::SYMBOL));
    let symbol = symbol.filter(|symbol| symbol.len() <= Text::MAX);
    let text = reason_text(state, reason, Scales::default());
    let said = (reason, text.bytes());
    let of = (id, symbol.unwrap_or(b"[N/A]"));
    refused(state, of, said, client, outbox);
}

/// Reports to a client that its venue accepted or refused its inquiry, or did not answer.
#[cold]
pub(crate) fn report(
    state: &OmsState,
    event: &InquiryEvent<'_>,
    client: Client,
    outbox: &mut Outbox,
) {
    match *event {
        InquiryEvent::InquiryAnswered {
            instrument,
            id,
            reason: Some(ref reason),
            text,
            ..
        } => {
            let sentence = reason_text(state, reason, Scales::default());
            let text = match text {
                b"" => sentence.bytes(),
                text => text,
            };
            let symbol = state.instruments().name(instrument);
            refused(state, (id, symbol), (reason, text), client, outbox);
        }
        InquiryEvent::InquiryAnswered {
            inquiry,
            instrument,
            id,
            reason: None,
            ..
        } => {
            let kind: &[u8] = if client.is_old() { b"b" } else { b"AI" };
            let mut answer = outbox.begin(client.session, kind);
            answer
                .field(tag::QUOTE_REQ_ID, id)
                .uint(tag::QUOTE_ID, inquiry);
            if !client.is_old() {
                answer.field(tag::SYMBOL, state.instruments().name(instrument));
            }
            answer.uint(tag::QUOTE_STATUS, 0);
            finish(state, client, answer);
        }
        InquiryEvent::Inquired { .. } => {}
    }
}

fn refused(
    state: &OmsState,
    (id, symbol): (&[u8], &[u8]),
    (reason, text): (&Reason, &[u8]),
    client: Client,
    outbox: &mut Outbox,
) {
    let code = reject_reason(reason);
    if client.is_old() {
        let mut answer = outbox.begin(client.session, b"b");
        answer
            .field(tag::QUOTE_REQ_ID, id)
            .uint(tag::QUOTE_STATUS, 5);
        // QuoteRejectReason(300), which has no value for other reasons in FIX 4.2.
        let code = match code {
            1..=4 => Some(code),
            5 => Some(8),
            6 => Some(9),
            _ => None,
        };
        if let Some(code) = code {
            answer.uint(tag::QUOTE_REJECT_REASON, code);
        }
        answer.field(tag::TEXT, text);
        return finish(state, client, answer);
    }
    let mut answer = outbox.begin(client.session, b"AG");
    answer
        .field(tag::QUOTE_REQ_ID, id)
        .uint(tag::QUOTE_REQUEST_REJECT_REASON, code)
        .uint(tag::NO_RELATED_SYM, 1)
        .field(tag::SYMBOL, symbol)
        .field(tag::TEXT, text);
    // The outbox has room: that was checked before the event.
    let _ = answer.finish();
}

fn finish(state: &OmsState, client: Client, mut answer: Body<'_>) {
    if !client.is_old() {
        let now = Timestamp(state.time());
        answer.time(tag::TRANSACT_TIME, now, Precision::Millis);
    }
    // The outbox has room: that was checked before the event.
    let _ = answer.finish();
}

/// QuoteRequestRejectReason(658) for a reason of the OMS.
fn reject_reason(reason: &Reason) -> u64 {
    match reason.why {
        Why::Symbol | Why::NoRoute | Why::TmpSymbol => 1,
        Why::DayEnds | Why::Market => 2,
        Why::Inquiries | Why::Busy => 3,
        Why::NotAllowed | Why::Account => 6,
        Why::Venue => match u64::try_from(reason.value) {
            Ok(code @ 1..=10) => code,
            _ => OTHER,
        },
        _ => OTHER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use fixwire_protocol::Decoder;

    #[test]
    fn answers_of_venues_are_taken_or_refused_or_none() {
        let mut decoder = Decoder::with_capacity(16);
        let mut read = |text: &str| {
            let bytes = format!("8=FIX.4.4|9=0|{text}|").replace('|', "\x01");
            let message = decoder.decode(bytes.as_bytes());
            answer(&message).map(|it| (it.inquiry, it.refused))
        };
        assert_eq!(read("35=AI|131=17|117=Q|297=0"), Some((17, None)));
        assert_eq!(read("35=AI|131=17|297=16"), Some((17, None)));
        assert_eq!(read("35=b|131=17|297=0"), Some((17, None)));
        assert_eq!(read("35=S|131=17|117=Q|132=1"), Some((17, None)));
        assert_eq!(read("35=AI|131=17|297=10"), None, "pending");
        assert_eq!(read("35=AI|131=17|297=6"), None);
        assert_eq!(read("35=b|131=17|297=5|300=9"), Some((17, Some(6))));
        assert_eq!(read("35=b|131=17|297=5|300=2"), Some((17, Some(2))));
        assert_eq!(read("35=b|131=17|297=5|300=8"), Some((17, Some(5))));
        assert_eq!(read("35=AI|131=17|297=11"), Some((17, Some(99))));
        assert_eq!(read("35=AG|131=17|658=8"), Some((17, Some(8))));
        assert_eq!(read("35=AG|131=17"), Some((17, Some(99))));
        assert_eq!(read("35=AG|131=X|658=8"), None, "it is not ours");
        assert_eq!(read("35=S|117=Q|132=1"), None, "it answers nothing");
        assert_eq!(read("35=8|131=17"), None);
    }
}
