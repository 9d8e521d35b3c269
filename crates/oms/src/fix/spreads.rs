//! Spreads in messages: SecurityType(167), MultiLegReportingType(442), and legs in the report of a fill.

use fixwire_protocol::dictionary::Version;
use fixwire_protocol::tag;
use fixwire_protocol::{Body, Decimal, Message};

use crate::decide::venue::spreads::FillOfLeg;
use crate::state::OmsState;
use crate::state::orders::Order;
use crate::values::value::Side;

/// MultiLegReportingType(442) = 2, individual leg of a multi-leg security.
pub(super) const OF_LEG: u8 = b'2';
/// MultiLegReportingType(442) = 3, multi-leg security.
const OF_SPREAD: u8 = b'3';

/// Writes SecurityType(167) of a spread; FIX 4.2 has no value for it.
#[cold]
pub(super) fn put_security_type(
    state: &OmsState,
    order: &Order,
    version: Version,
    out: &mut Body<'_>,
) {
    if state.spreads.legs(order.instrument).is_some() && version > Version::Fix42 {
        out.field(tag::SECURITY_TYPE, b"MLEG");
    }
}

/// Writes into a report that it is about a spread.
#[cold]
pub(super) fn put_spread(state: &OmsState, order: &Order, version: Version, report: &mut Body<'_>) {
    if state.spreads.legs(order.instrument).is_some() {
        put_security_type(state, order, version, report);
        report.char(tag::MULTI_LEG_REPORTING_TYPE, OF_SPREAD);
    }
}

/// Whether a venue's report is about a leg of a spread.
pub(crate) fn is_of_leg(message: &Message<'_>) -> bool {
    message.get(tag::MULTI_LEG_REPORTING_TYPE) == Some(&[OF_LEG])
}

/// Reads the legs that have a price in the report of a spread's fill; returns them and their number.
#[cold]
pub(crate) fn legs<'a>(message: &Message<'a>) -> ([FillOfLeg<'a>; 2], usize) {
    let (mut legs, mut count) = ([FillOfLeg::default(); 2], 0_usize);
    let fields = message.fields().iter();
    let group = fields.skip_while(|field| field.tag != tag::NO_LEGS).skip(1);
    for field in group {
        let value = message.value(*field);
        if field.tag == tag::LEG_SYMBOL {
            count += 1;
            if let Some(leg) = legs.get_mut(count - 1) {
                leg.symbol = value;
            }
            continue;
        }
        let Some(leg) = count.checked_sub(1).and_then(|at| legs.get_mut(at)) else {
            continue;
        };
        match field.tag {
            tag::LEG_SIDE => {
                leg.side = match value {
                    [byte] => Side::of(*byte),
                    _ => None,
                }
            }
            tag::LEG_LAST_PX => leg.price = Decimal::parse(value).ok(),
            tag::LEG_LAST_QTY => leg.quantity = Decimal::parse(value).ok(),
            _ => {}
        }
    }
    // Legs without prices only say which legs the spread has.
    let is_told = count == 2 && legs.iter().all(|leg| leg.price.is_some());
    (legs, if is_told { 2 } else { 0 })
}
