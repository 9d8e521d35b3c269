//! Reports to clients after a venue or an operator changed the terms or the fills of an order.

use fixwire_protocol::Outbox;

use super::before::Before;
use super::clients::{Client, ExecRef, Extra, plain};
use crate::state::OmsState;
use crate::state::event::{BreakEvent, UndoEvent};
use crate::values::value::Number;

/// Reports an order that has got the values of its venue, by an operator's decision or by a restatement of the venue.
#[cold]
pub(super) fn settled(
    state: &OmsState,
    event: &BreakEvent<'_>,
    client: Client,
    outbox: &mut Outbox,
) {
    match *event {
        BreakEvent::TermsSettled { order, .. } | BreakEvent::FillsSettled { order, .. } => {
            let extra = Some(Extra::Restated(client.restated()));
            let text = b"set to what the venue says";
            plain(state, order, (b'D', text, extra), client, outbox);
        }
        BreakEvent::TermsRestated {
            order,
            reason,
            text,
            ..
        } => {
            let extra = Some(Extra::Restated(client.restated_for(reason)));
            plain(state, order, (b'D', text, extra), client, outbox);
        }
        BreakEvent::VenueBroken { .. }
        | BreakEvent::BreakAlarmed { .. }
        | BreakEvent::SettleAsked { .. }
        | BreakEvent::BreakSettled { .. } => {}
    }
}

/// Reports an order whose terms the venue has set: by a pending replace, by a replace that the OMS gave up, or without
/// a replace of the OMS.
#[cold]
pub(super) fn terms_set(
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

/// Reports a bust or correction of a trade; ExecRefID(19) is the ExecID(17) that the client got for the fill.
#[cold]
pub(super) fn undone(state: &OmsState, event: &UndoEvent<'_>, client: Client, outbox: &mut Outbox) {
    let report_of = |order, exec| match state.exec_ids.of(order, exec) {
        Some((_, id)) => ExecRef::Venue(id),
        None => ExecRef::Own(state.orders().fill(order, exec).map_or(0, |it| it.report)),
    };
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
        } => (order, ExecRef::Own(report), (quantity, price), &b""[..]),
    };
    let kind = if fill.0 == 0 { b'H' } else { b'G' };
    let extra = Some(Extra::Undone(reference, fill));
    plain(state, order, (kind, text, extra), client, outbox);
}
