//! The part of each limit that an accepted order uses, and the legs of its spread.

use fixwire_protocol::Timestamp;

use super::result::Findings;
use crate::decide::core::Core;
use crate::decide::risk;
use crate::state::proposal::Proposal;
use crate::state::tally::Tally;
use crate::values::value::{Number, RequestKind};

/// Records, for each limit at the scopes of an open order, the present use of the limit, including the order.
pub(super) fn measure(core: &Core, number: Number, at: Timestamp, findings: &mut Findings) {
    let state = core.state();
    let Some(order) = state.orders().get(number) else {
        return;
    };
    let Ok(rule) = core.rule(order.instrument) else {
        return;
    };
    let request = state.orders().request_of(order);
    let request = request.filter(|request| request.kind == RequestKind::Replace);
    let (quantity, price, hold) = request.map_or((order.quantity, order.price, order.hold), |it| {
        (
            it.quantity.max(order.quantity),
            it.price,
            it.hold.max(order.hold),
        )
    });
    let proposal = Proposal {
        session: order.session,
        account: order.account,
        instrument: order.instrument,
        side: order.side,
        kind: order.sent_kind(),
        price,
        stop: order.stop,
        quantity,
        filled: order.filled,
        counted: state.counted(order, request),
        held_at: hold,
        held: quantity,
        tif: order.tif,
        effect: order.effect,
        replaces: order.replaces + u16::from(request.is_some()),
        market_price: core.market_price(order.instrument, order.side),
        at: at.0,
    };
    risk::uses(
        state,
        rule,
        &proposal,
        &mut |scope, control, value, limit| {
            findings.used(scope, control, value, limit, at, number);
        },
    );
    let legs = state.spreads.legs(order.instrument).into_iter().flatten();
    let exposed = state.spreads.get(number).map_or([0, 0], |of| of.exposed);
    for (leg, exposed) in legs.zip(exposed) {
        let Ok(rule) = core.rule(leg.instrument) else {
            continue;
        };
        let side = leg.side_in(order.side);
        let of_leg = Proposal {
            instrument: leg.instrument,
            side,
            counted: Tally::open(side.is_buy(), exposed),
            ..proposal
        };
        risk::leg_uses(state, rule, &of_leg, &mut |scope, control, value, limit| {
            findings.used(scope, control, value, limit, at, number);
        });
    }
}
