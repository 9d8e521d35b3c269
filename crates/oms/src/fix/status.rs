//! Writes answers to OrderStatusRequest(H).

use fixwire_protocol::{Indexed, Message, Outbox, Refusal, tag};

use super::clients::{Client, execution, not_there, scales_of};
use super::requests::id;
use crate::state::OmsState;
use crate::state::orders::Order;
use crate::state::orders::ids::RejectedFor;
use crate::state::show::{reason_text, why_text};
use crate::values::ids::SessionNo;
use crate::values::reason::{Reason, Why};

/// Writes a report of the present state of an order.
pub(crate) fn answer(state: &OmsState, order: &Order, client: Client, outbox: &mut Outbox) {
    execution(state, order, (b'I', b""), None, client, outbox);
}

/// Answers an OrderStatusRequest(H), or a NewOrderSingle(D) with PossResend(97) = Y whose ClOrdID(11) was used before:
/// ExecutionReport(8) with ExecType(150) = I, or OrdStatus(39) = 8 for a rejected or unknown order. The answer reports
/// no event, so its ExecID(17) is 0.
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
    let scales = scales_of(state, request);
    let (reason, text) = match (number, state.rejected_for(session, id)) {
        (_, Some(RejectedFor::Why(why))) => (Reason::of(why), why_text(why)),
        (_, Some(RejectedFor::Reason(reason))) => {
            let text = reason_text(state, &reason, scales);
            (reason, text)
        }
        (Some(1..), None) => (Reason::of(Why::Forgotten), why_text(Why::Forgotten)),
        (Some(0) | None, None) => (Reason::of(Why::UnknownOrder), why_text(Why::UnknownOrder)),
    };
    not_there(state, &reason, &text, request, client, None, outbox);
    Ok(())
}
