//! The report of an event for the client that receives it.

use fixwire_protocol::{Message, Outbox};

use super::before::Before;
use super::clients::{self, Client};
use super::{changed, inquiries, leg_reports, mass, quotes};
use crate::state::OmsState;
use crate::state::event::OrderEvent;

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
            OrderEvent::Refused {
                kind: None, reason, ..
            },
            Some(message),
        ) => clients::refused_new(state, reason, message, client, outbox),
        (OrderEvent::MassCancelTaken { .. } | OrderEvent::MassCancelRefused { .. }, message) => {
            mass::report(state, event, message, client, outbox);
        }
        (
            OrderEvent::QuoteRefused { kind: b'R', .. } | OrderEvent::InquiryAnswered { .. },
            message,
        ) => inquiries::report(state, event, message, client, outbox),
        (
            OrderEvent::Quoted { .. }
            | OrderEvent::QuoteRefused { .. }
            | OrderEvent::QuotesWithdrawn { .. },
            message,
        ) => quotes::report(state, event, message, client, outbox),
        (
            OrderEvent::TermsSet { .. }
            | OrderEvent::Busted { .. }
            | OrderEvent::Corrected { .. }
            | OrderEvent::ParentCorrected { .. }
            | OrderEvent::TermsSettled { .. }
            | OrderEvent::TermsRestated { .. }
            | OrderEvent::FillsSettled { .. },
            _,
        ) => changed::report(state, event, before, client, outbox),
        (OrderEvent::LegFilled { .. } | OrderEvent::LegUndone { .. }, _) => {
            leg_reports::leg_fill(state, event, client, outbox)
        }
        _ => clients::report(state, event, before, client, outbox),
    }
}
