//! Checks of parent and child orders: who may place them, what a child may be, and what a replace may change.
//!
//! A parent ends when it has no quantity left to fill. It also ends when its last child has ended after a cancel of the
//! parent, a mass cancel, a kill switch or the end of its last day.

use crate::state::OmsState;
use crate::state::orders::Order;
use crate::state::orders::transition::OrderState;
use crate::state::parents::FamilyRole;
use crate::state::proposal::Proposal;
use crate::state::tally::Tally;
use crate::values::ids::SessionNo;
use crate::values::reason::{Reason, Why};
use crate::values::rules::UserRule;
use crate::values::value::{Number, OrderType, Price, Quantity, TimeInForce};

/// The reason for a child that does not fit its parent, with the tag of the field that does not fit.
fn unfit(tag: u32, parent: Number) -> Reason {
    Reason {
        value: tag.into(),
        limit: parent.into(),
        ..Reason::of(Why::ParentTerms)
    }
}

/// Whether the TimeInForce(59) and ExpireDate(432) of a child are allowed: a child must not outlive its parent.
fn fits_time(parent: &Order, tif: TimeInForce, until: Option<u32>) -> bool {
    match (tif, parent.tif) {
        (TimeInForce::GoodTillCancel, of) => of == TimeInForce::GoodTillCancel,
        (TimeInForce::GoodTillDate, TimeInForce::GoodTillDate) => until <= parent.until,
        (TimeInForce::GoodTillDate, of) => of == TimeInForce::GoodTillCancel,
        _ => true,
    }
}

/// Whether a price of a child is within the limit price of its parent.
fn is_within(parent: &Order, price: Price) -> bool {
    match parent.kind {
        OrderType::Limit if parent.side.is_buy() => price <= parent.price,
        OrderType::Limit => price >= parent.price,
        _ => true,
    }
}

/// Checks whether a client may place a parent or child order.
pub(crate) fn check_role(
    state: &OmsState,
    session: SessionNo,
    user: &UserRule,
    role: FamilyRole,
    kind: OrderType,
    tif: TimeInForce,
) -> Result<(), Reason> {
    let most = user.parents.ok_or(Reason::of(Why::NotParents))?;
    if role != FamilyRole::Parent {
        return Ok(());
    }
    let is_plain = matches!(kind, OrderType::Market | OrderType::Limit);
    let waits = !matches!(
        tif,
        TimeInForce::ImmediateOrCancel | TimeInForce::FillOrKill
    );
    if !is_plain || !waits {
        return Err(Reason::of(Why::Unsupported));
    }
    let open = state.families.open_of(session);
    if open >= most {
        return Err(Reason {
            value: open as i128 + 1,
            limit: most as i128,
            ..Reason::of(Why::Parents)
        });
    }
    Ok(())
}

/// The parent with this number, if it can get more children.
fn open_parent(state: &OmsState, number: Number, session: SessionNo) -> Result<&Order, Reason> {
    let orders = state.orders();
    let parent = orders.get(number).filter(|parent| {
        let is_of_today = number > state.yesterday || parent.outlives(state.day());
        let is_wanted = orders.request_of(parent).is_none() && !parent.withdrawn;
        parent.state == OrderState::Parent && parent.session == session && is_of_today && is_wanted
    });
    parent.ok_or(Reason {
        value: number.into(),
        ..Reason::of(Why::NoParent)
    })
}

/// Quantity of a parent that no child has taken over.
fn left_of(state: &OmsState, parent: &Order) -> Quantity {
    let left = parent.quantity.saturating_sub(parent.filled);
    left.saturating_sub(state.families.held(parent.number))
}

/// Checks a new child, and lets the child take over a quantity of its parent.
#[cold]
pub(crate) fn check_child(
    state: &OmsState,
    proposal: &mut Proposal,
    parent: Number,
    until: Option<u32>,
) -> Result<(), Reason> {
    let parent = open_parent(state, parent, proposal.session)?;
    let differs = [
        (1, proposal.account != parent.account),
        (55, proposal.instrument != parent.instrument),
        (54, proposal.side != parent.side),
        (77, proposal.effect != parent.effect),
        (40, parent.kind.has_price() && !proposal.kind.has_price()),
        (44, !is_within(parent, proposal.price)),
        (59, !fits_time(parent, proposal.tif, until)),
    ];
    if let Some((tag, _)) = differs.into_iter().find(|(_, differs)| *differs) {
        return Err(unfit(tag, parent.number));
    }
    let left = left_of(state, parent);
    if proposal.quantity > left {
        return Err(Reason {
            value: proposal.quantity.into(),
            limit: left.into(),
            ..Reason::of(Why::ParentQuantity)
        });
    }
    proposal.counted = state.released(parent, proposal.quantity);
    proposal.held = proposal.quantity;
    Ok(())
}

/// Checks a replace of a parent or child order.
#[cold]
pub(crate) fn check_family_change(
    state: &OmsState,
    order: &Order,
    proposal: &mut Proposal,
) -> Result<(), Reason> {
    if order.state == OrderState::Parent {
        let held = state.families.held(order.number);
        let least = order.filled.saturating_add(held);
        if proposal.quantity < least {
            return Err(Reason {
                value: proposal.quantity.into(),
                limit: least.into(),
                ..Reason::of(Why::ChildrenHold)
            });
        }
        proposal.filled = least;
        return Ok(());
    }
    let Some(number) = state.families.parent_of(order.number) else {
        return Ok(());
    };
    if proposal.price != order.price
        && let Some(parent) = state.orders().get(number)
        && !is_within(parent, proposal.price)
    {
        return Err(unfit(44, number));
    }
    let more = proposal.quantity.saturating_sub(order.quantity);
    if more == 0 {
        return Ok(());
    }
    let parent = open_parent(state, number, order.session)?;
    let left = left_of(state, parent);
    if more > left {
        return Err(Reason {
            value: proposal.quantity.into(),
            limit: order.quantity.saturating_add(left).into(),
            ..Reason::of(Why::ParentQuantity)
        });
    }
    let released = state.released(parent, more);
    let counted = &mut proposal.counted;
    *counted = Tally {
        buying: counted.buying.saturating_add(released.buying),
        selling: counted.selling.saturating_add(released.selling),
        reserved: counted.reserved.saturating_add(released.reserved),
        ..*counted
    };
    proposal.held = proposal.quantity;
    Ok(())
}
