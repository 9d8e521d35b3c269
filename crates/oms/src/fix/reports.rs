//! The report of an event for the client that receives it.

use fixwire_protocol::{Message, Outbox};

use super::before::Before;
use super::clients::{self, Client};
use super::{changed, inquiries, leg_reports, mass, quotes};
use crate::state::OmsState;
use crate::state::event::{
    BreakEvent, InquiryEvent, LifecycleEvent, OrderEvent, QuoteEvent, RequestEvent, SpreadEvent,
    UndoEvent,
};

/// Writes the report of an event, live or again. `message` is the client message that caused the event; the report of
/// a rejected new order repeats fields of it.
pub(crate) fn report(
    state: &OmsState,
    event: &OrderEvent<'_>,
    (before, message): (&Before, Option<&Message<'_>>),
    client: Client,
    outbox: &mut Outbox,
) {
    match (event, message) {
        (
            OrderEvent::Request(RequestEvent::Refused {
                kind: None, reason, ..
            }),
            Some(message),
        ) => clients::refused_new(state, reason, message, client, outbox),
        (
            OrderEvent::Request(RequestEvent::MassCancelTaken { .. })
            | OrderEvent::Request(RequestEvent::MassCancelRefused { .. }),
            message,
        ) => {
            mass::report(state, event, message, client, outbox);
        }
        (
            OrderEvent::Quote(QuoteEvent::QuoteRefused { kind: b'R', .. })
            | OrderEvent::Inquiry(InquiryEvent::InquiryAnswered { .. }),
            message,
        ) => inquiries::report(state, event, message, client, outbox),
        (
            OrderEvent::Quote(QuoteEvent::Quoted { .. })
            | OrderEvent::Quote(QuoteEvent::QuoteRefused { .. })
            | OrderEvent::Quote(QuoteEvent::QuotesWithdrawn { .. }),
            message,
        ) => quotes::report(state, event, message, client, outbox),
        (
            OrderEvent::Order(LifecycleEvent::TermsSet { .. })
            | OrderEvent::Undo(UndoEvent::Busted { .. })
            | OrderEvent::Undo(UndoEvent::Corrected { .. })
            | OrderEvent::Undo(UndoEvent::ParentCorrected { .. })
            | OrderEvent::Break(BreakEvent::TermsSettled { .. })
            | OrderEvent::Break(BreakEvent::TermsRestated { .. })
            | OrderEvent::Break(BreakEvent::FillsSettled { .. }),
            _,
        ) => changed::report(state, event, before, client, outbox),
        (
            OrderEvent::Spread(SpreadEvent::LegFilled { .. })
            | OrderEvent::Spread(SpreadEvent::LegUndone { .. }),
            _,
        ) => leg_reports::leg_fill(state, event, client, outbox),
        _ => clients::report(state, event, before, client, outbox),
    }
}
