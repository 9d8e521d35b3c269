//! Encodes limits, usage and positions as bytes.

use alloc::vec::Vec;

use super::take_all;
use crate::state::Standing;
use crate::state::flow::Flow;
use crate::state::tally::Position;
use crate::values::limits::RiskControl;
use fixwire_ledger::Wire;

pub(super) fn put_standing(standing: &Standing, to: &mut Vec<u8>) {
    standing.tally.traded.put(to);
    standing.tally.gained.put(to);
    standing.limits.trading.put(to);
    for control in RiskControl::ALL {
        standing.limits.get(*control).put(to);
        standing.limits.filed(*control).put(to);
    }
    standing.flow.is_some().put(to);
    if let Some(flow) = &standing.flow {
        flow.put(to);
    }
}

pub(super) fn take_standing(from: &mut &[u8]) -> Option<Standing> {
    let mut standing = Standing::default();
    standing.tally.traded = Wire::take(from)?;
    standing.tally.gained = Wire::take(from)?;
    standing.limits.trading = Wire::take(from)?;
    for control in RiskControl::ALL {
        standing.limits.set(*control, Wire::take(from)?);
        standing.limits.set_filed(*control, Wire::take(from)?);
    }
    if bool::take(from)? {
        standing.flow = Some(Flow::take(from)?);
    }
    Some(standing)
}

pub(super) fn put_position(position: &Position, to: &mut Vec<u8>) {
    let Position {
        long,
        short,
        bought,
        sold,
        paid,
        received,
    } = *position;
    for quantity in [long, short, bought, sold] {
        quantity.put(to);
    }
    paid.put(to);
    received.put(to);
}

pub(super) fn take_position(from: &mut &[u8]) -> Option<Position> {
    let [long, short, bought, sold] = take_all(from)?;
    Some(Position {
        long,
        short,
        bought,
        sold,
        paid: Wire::take(from)?,
        received: Wire::take(from)?,
    })
}
