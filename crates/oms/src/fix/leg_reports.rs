//! Reports to clients about the legs of spreads.

use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{Outbox, Precision, Timestamp, tag};

use super::PutQuantity as _;
use super::clients::{Client, put_pool_number};
use super::spreads::OF_LEG;
use crate::state::OmsState;
use crate::state::event::SpreadEvent;
use crate::values::show::{average, price};
use crate::values::units::Scales;

/// Writes the ExecutionReport(8) for a fill of a leg, or for a bust or correction of such a fill. Quantities are those
/// of the leg.
#[cold]
pub(super) fn report(
    state: &OmsState,
    event: &SpreadEvent<'_>,
    client: Client,
    outbox: &mut Outbox,
) {
    let (order, leg, (quantity, last), exec) = match *event {
        SpreadEvent::LegFilled {
            order,
            leg,
            quantity,
            price,
            ..
        } => (order, leg, (quantity, price), None),
        SpreadEvent::LegUndone {
            order,
            leg,
            exec,
            quantity,
            price,
            ..
        } => (order, leg, (quantity, price), Some(exec)),
        SpreadEvent::SpreadLegs { .. } | SpreadEvent::LegsMissing { .. } => return,
    };
    // The client knows the fill by the ExecID(17) of an earlier report.
    let undone = exec.and_then(|exec| state.spreads.fills.get(order, exec));
    let Some(order) = state.orders().get(order) else {
        return;
    };
    let at = usize::from(leg);
    let legs = state.spreads.legs(order.instrument);
    let (Some(leg), Some(of)) = (
        legs.and_then(|legs| legs.get(at)),
        state.spreads.get(order.number),
    ) else {
        return;
    };
    let Scales {
        price: scale,
        quantity: parts,
    } = state.scales(leg.instrument);
    let (filled, paid) = (of.filled[at], of.paid[at]);
    let sets = order.leaves().saturating_add(order.filled);
    let left = leg.quantity(sets).saturating_sub(filled);
    let kind = match (client.is_old(), undone) {
        (false, None) => b'F',
        (false, Some(_)) if quantity == 0 => b'H',
        (false, Some(_)) => b'G',
        (true, Some(_)) => state.orders().status(order),
        (true, None) if left == 0 => b'2',
        (true, None) => b'1',
    };
    let trans = match undone {
        None => b'0',
        Some(_) if quantity == 0 => b'1',
        Some(_) => b'2',
    };
    let mut report = outbox.begin(client.session, b"8");
    report
        .uint(tag::ORDER_ID, order.number)
        .field(tag::CL_ORD_ID, order.id.bytes());
    put_pool_number(order, &mut report);
    let exec_ids = &state.exec_ids;
    exec_ids.put_own(tag::EXEC_ID, state.events(), &mut report);
    if let Some(fill) = undone {
        exec_ids.put_own(tag::EXEC_REF_ID, fill.report, &mut report);
    }
    if client.is_old() {
        report.char(tag::EXEC_TRANS_TYPE, trans);
    }
    report
        .char(tag::EXEC_TYPE, kind)
        .char(tag::ORD_STATUS, state.orders().status(order))
        .field(tag::ACCOUNT, state.accounts().name(order.account))
        .field(tag::SYMBOL, state.instruments().name(leg.instrument))
        .char(tag::SIDE, leg.side_in(order.side).byte())
        .quantity(tag::ORDER_QTY, leg.quantity(order.quantity), parts);
    if client.is_copy && client.version >= Version::Fix44 {
        report.char(tag::COPY_MSG_INDICATOR, b'Y');
    }
    client.put_effect(order.effect, &mut report);
    report
        .quantity(tag::LAST_QTY, quantity, parts)
        .decimal(tag::LAST_PX, price(last, scale))
        .quantity(tag::LEAVES_QTY, left, parts)
        .quantity(tag::CUM_QTY, filled, parts)
        .decimal(tag::AVG_PX, average(paid, filled, scale))
        .time(
            tag::TRANSACT_TIME,
            Timestamp(state.time()),
            Precision::Millis,
        )
        .char(tag::MULTI_LEG_REPORTING_TYPE, OF_LEG);
    client.put_number(state.events(), &mut report);
    // The outbox has room: that was checked before the first event.
    let _ = report.finish();
}
