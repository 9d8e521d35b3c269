//! Chooses and writes the report of an event for the client that receives it.

use fixwire_protocol::{Message, Outbox};

use super::before::Before;
use super::clients::{self, Client, plain};
use super::{changed, inquiries, leg_reports, mass, quotes};
use crate::state::OmsState;
use crate::state::event::{OrderEvent, QuoteEvent, RequestEvent};

/// Writes the report of an event, for the first time or again. `message` is the client message that caused the event.
/// The report of a rejected new order repeats fields of that message.
pub(crate) fn report(
    state: &OmsState,
    event: &OrderEvent<'_>,
    before: &Before,
    message: Option<&Message<'_>>,
    client: Client,
    outbox: &mut Outbox,
) {
    match event {
        OrderEvent::Request(event) => of_request(state, event, message, client, outbox),
        OrderEvent::Order(event) => clients::report(state, event, before, client, outbox),
        OrderEvent::Condition(event) => clients::condition(state, event, client, outbox),
        OrderEvent::Parent(event) => clients::parent(state, event, client, outbox),
        OrderEvent::Quote(QuoteEvent::QuoteRefused {
            kind: b'R',
            id,
            reason,
            ..
        }) => inquiries::report_refused(state, id, reason, message, client, outbox),
        OrderEvent::Quote(event) => quotes::report(state, event, message, client, outbox),
        OrderEvent::Inquiry(event) => inquiries::report(state, event, client, outbox),
        OrderEvent::Rejected(event) => clients::rerun(state, event, client, outbox),
        OrderEvent::Copy(event) => clients::copied(state, event, client, outbox),
        OrderEvent::Spread(event) => leg_reports::report(state, event, client, outbox),
        OrderEvent::Break(event) => changed::settled(state, event, client, outbox),
        OrderEvent::Undo(event) => changed::undone(state, event, client, outbox),
        OrderEvent::Setup(_)
        | OrderEvent::Day(_)
        | OrderEvent::Line(_)
        | OrderEvent::Limit(_)
        | OrderEvent::Reload(_)
        | OrderEvent::Pool(_)
        | OrderEvent::Remade(_)
        | OrderEvent::Stray(_) => {}
    }
}

/// Reports a request that was queued or refused, or a request that cancels many orders.
fn of_request(
    state: &OmsState,
    event: &RequestEvent<'_>,
    message: Option<&Message<'_>>,
    client: Client,
    outbox: &mut Outbox,
) {
    match *event {
        // A queued replace or cancel is reported only once it is sent.
        RequestEvent::Queued { number } => {
            let text = b"queued: waiting for a session to the venue";
            plain(state, number, (b'A', text, None), client, outbox);
        }
        RequestEvent::Refused {
            kind: None,
            ref reason,
            ..
        } => {
            if let Some(message) = message {
                clients::refused_new(state, reason, message, client, outbox);
            }
        }
        RequestEvent::Refused { .. } => clients::refused(state, event, client, outbox),
        RequestEvent::MassCancelTaken { id, orders, .. } => {
            if !id.is_empty() {
                mass::report(state, id, Ok(orders), message, client, outbox);
            }
        }
        RequestEvent::MassCancelRefused { id, ref reason, .. } => {
            mass::report(state, id, Err(reason), message, client, outbox);
        }
        RequestEvent::Taken { .. }
        | RequestEvent::ReplaceTaken { .. }
        | RequestEvent::CancelTaken { .. }
        | RequestEvent::Sent { .. }
        | RequestEvent::Marks { .. }
        | RequestEvent::Marked { .. }
        | RequestEvent::Located { .. }
        | RequestEvent::Routed { .. }
        | RequestEvent::Fields { .. }
        | RequestEvent::ValidUntil { .. } => {}
    }
}
