//! Writes answers to OrderStatusRequest(H).

use fixwire_protocol::{Indexed, Message, Outbox, Refusal, tag};

use super::clients::{Client, execution, refused_new};
use super::requests::id;
use crate::state::OmsState;
use crate::state::orders::Order;
use crate::values::ids::SessionNo;
use crate::values::reason::{Reason, Why};

/// Writes a report of the present state of an order.
pub(crate) fn answer(state: &OmsState, order: &Order, client: Client, outbox: &mut Outbox) {
    execution(state, order, (b'I', b""), None, client, outbox);
}

/// Answers an OrderStatusRequest(H): ExecutionReport(8) with ExecType(150) = I, or OrdStatus(39) = 8 for an unknown
/// order.
pub(crate) fn status(
    state: &OmsState,
    session: SessionNo,
    request: &Message<'_>,
    client: Client,
    outbox: &mut Outbox,
) -> Result<(), Refusal> {
    let id = id(&Indexed::new(request), tag::CL_ORD_ID)?;
    let number = state.used(session, id);
    if let Some(order) = number.and_then(|number| state.orders().get(number)) {
        answer(state, order, client, outbox);
        return Ok(());
    }
    let why = Reason::of(match number {
        Some(number) if number > 0 => Why::Forgotten,
        _ => Why::UnknownOrder,
    });
    refused_new(state, &why, request, client, outbox);
    Ok(())
}
