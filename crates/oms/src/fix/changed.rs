//! Reports of what a venue or an operator changed in an order: its terms, its fills.

use fixwire_protocol::Outbox;

use super::before::Before;
use super::clients::{Client, Extra, plain};
use crate::state::OmsState;
use crate::state::event::{BreakEvent, LifecycleEvent, OrderEvent, UndoEvent};
use crate::values::value::Number;

/// Writes the report of an event of these.
#[cold]
pub(super) fn report(
    state: &OmsState,
    event: &OrderEvent<'_>,
    before: &Before,
    client: Client,
    outbox: &mut Outbox,
) {
    match *event {
        OrderEvent::Order(LifecycleEvent::TermsSet { order, .. }) => {
            terms_set(state, order, before, client, outbox)
        }
        OrderEvent::Break(BreakEvent::TermsSettled { order, .. })
        | OrderEvent::Break(BreakEvent::FillsSettled { order, .. }) => {
            settled(state, order, client, outbox);
        }
        OrderEvent::Break(BreakEvent::TermsRestated {
            order,
            reason,
            text,
            ..
        }) => {
            let extra = Some(Extra::Restated(client.restated_for(reason)));
            plain(state, order, (b'D', text, extra), client, outbox);
        }
        OrderEvent::Undo(ref event) => undone(state, event, client, outbox),
        OrderEvent::Setup(_)
        | OrderEvent::Day(_)
        | OrderEvent::Line(_)
        | OrderEvent::Limit(_)
        | OrderEvent::Reload(_)
        | OrderEvent::Pool(_)
        | OrderEvent::Request(_)
        | OrderEvent::Order(_)
        | OrderEvent::Remade(_)
        | OrderEvent::Stray(_)
        | OrderEvent::Condition(_)
        | OrderEvent::Parent(_)
        | OrderEvent::Quote(_)
        | OrderEvent::Inquiry(_)
        | OrderEvent::Rejected(_)
        | OrderEvent::Copy(_)
        | OrderEvent::Spread(_)
        | OrderEvent::Break(_) => {}
    }
}

/// The venue has set the terms of an order: by a pending replace, by one that was given up, or elsewhere.
#[cold]
fn terms_set(
    state: &OmsState,
    number: Number,
    before: &Before,
    client: Client,
    outbox: &mut Outbox,
) {
    let order = state.orders().get(number);
    if order.is_none_or(|order| order.is_external()) {
        return plain(state, number, (b'5', b"", None), client, outbox);
    }
    if before.order() == Some(number) {
        let extra = before.original().map(Extra::Original);
        return plain(state, number, (b'5', b"", extra), client, outbox);
    }
    let reason = client.restated();
    let text = b"the venue has carried out a replace that was rejected as not received";
    let extra = Some(Extra::Restated(reason));
    plain(state, number, (b'D', text, extra), client, outbox);
}

/// A trade was cancelled or corrected: the client has its fill by the ExecID(17) that it got.
#[cold]
fn undone(state: &OmsState, event: &UndoEvent<'_>, client: Client, outbox: &mut Outbox) {
    let report_of = |order, exec| state.orders().fill(order, exec).map_or(0, |it| it.report);
    let (order, reference, fill, text) = match *event {
        UndoEvent::Busted {
            order, exec, text, ..
        } => (order, report_of(order, exec), (0, 0), text),
        UndoEvent::Corrected {
            order,
            exec,
            quantity,
            price,
            text,
            ..
        } => (order, report_of(order, exec), (quantity, price), text),
        UndoEvent::ParentCorrected {
            order,
            report,
            quantity,
            price,
            ..
        } => (order, report, (quantity, price), &b""[..]),
    };
    let kind = if fill.0 == 0 { b'H' } else { b'G' };
    let extra = Some(Extra::Undone(reference, fill));
    plain(state, order, (kind, text, extra), client, outbox);
}

/// An operator set the order to what its venue says.
#[cold]
fn settled(state: &OmsState, order: Number, client: Client, outbox: &mut Outbox) {
    let extra = Some(Extra::Restated(client.restated()));
    let text = b"set to what the venue says";
    plain(state, order, (b'D', text, extra), client, outbox);
}
