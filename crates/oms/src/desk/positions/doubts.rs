//! Positions whose fills are in doubt, because a venue may have filled more or less than the OMS knows.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Place;
use crate::decide::core::Core;
use crate::state::OmsState;
use crate::state::orders::Order;
use crate::state::orders::transition::OrderState;
use crate::values::ids::{AccountNo, InstrumentNo};
use crate::values::show::text;

/// Maximum number of reasons that a text names.
const NAMED: usize = 5;

/// The reasons of doubt, by account and instrument.
pub(super) struct Doubts(BTreeMap<Place, Vec<String>>);

impl Doubts {
    pub(super) fn new(core: &Core) -> Self {
        let state = core.state();
        let mut doubts = Self(BTreeMap::new());
        for order in state.orders().iter() {
            if let Some(why) = of_order(core, order) {
                doubts.add(state, (order.account, order.instrument), why);
            }
        }
        for (number, found) in state.breaks.iter() {
            if let Some(order) = state.orders().get(found.order) {
                let why = format!("break {number} of order {} is open", order.number);
                doubts.add(state, (order.account, order.instrument), why);
            }
        }
        for (number, stray) in state.strays.iter() {
            let why = format!("break {number}, a fill of an unknown order, is open");
            doubts.add(state, (stray.account, stray.instrument), why);
        }
        for (number, undo) in &state.strays.undos {
            if let (Some(account), Some(instrument)) = (undo.account, undo.instrument) {
                let why = format!("break {number}, of a fill that is not in memory, is open");
                doubts.add(state, (account, instrument), why);
            }
        }
        for (number, found) in state.copies.breaks() {
            if let Some(of) = found.what.of {
                let why = format!("break {number} with the drop copy is open");
                doubts.add(state, (of.account, of.instrument), why);
            }
        }
        for ((order, _), awaited) in &state.copies.awaited {
            if awaited.ours.is_none()
                && awaited.copy.is_some()
                && let Some(of) = awaited.of
            {
                let why = format!(
                    "the drop copy has reported a fill of order {order} that its line has not"
                );
                doubts.add(state, (of.account, of.instrument), why);
            }
        }
        doubts
    }

    /// Why the fills of an account in an instrument are in doubt; `None` if they are not in doubt.
    pub(super) fn of(&self, place: Place) -> Option<String> {
        let all = self.0.get(&place)?;
        let mut text = all[..all.len().min(NAMED)].join(", ");
        if all.len() > NAMED {
            text += &format!(" and {} more", all.len() - NAMED);
        }
        Some(text)
    }

    /// Adds a reason. The reason for a spread is added for each of its legs.
    fn add(
        &mut self,
        state: &OmsState,
        (account, instrument): (AccountNo, InstrumentNo),
        why: String,
    ) {
        match state.legs(instrument) {
            Some(legs) => {
                for leg in legs {
                    let of = self.0.entry((account, leg.instrument)).or_default();
                    of.push(why.clone());
                }
            }
            None => self.0.entry((account, instrument)).or_default().push(why),
        }
    }
}

/// Why the fills of an open order are in doubt. Fills of a closed order are in doubt only while the order has an open
/// break.
fn of_order(core: &Core, order: &Order) -> Option<String> {
    let state = core.state();
    let number = order.number;
    if !order.state.is_open() {
        return None;
    }
    if order.pended.is_some() {
        return Some(format!("order {number} waits for missing fills"));
    }
    let is_unknown = |state: OrderState| state == OrderState::Unknown;
    let request = state.orders().request_of(order);
    if is_unknown(order.state) || request.is_some_and(|request| is_unknown(request.state)) {
        return Some(format!("the state of order {number} is unknown"));
    }
    let is_at_venue = match order.state {
        OrderState::Lapsed => {
            return Some(format!(
                "order {number} has expired here, and its venue has not confirmed that"
            ));
        }
        OrderState::Sent | OrderState::Working => true,
        OrderState::Parent
        | OrderState::Held
        | OrderState::Queued
        | OrderState::Unknown
        | OrderState::DoneForDay
        | OrderState::Ended(_) => false,
    };
    // Fills of an order placed elsewhere come from a drop copy session.
    let is_up = |line| match order.is_external() {
        true => core.copy_since.contains_key(&line),
        false => state.is_ready(line),
    };
    let line = order.line().filter(|line| is_at_venue && !is_up(*line))?;
    Some(format!(
        "order {number} is open on line {}, which is down",
        text(state.sessions().name(line))
    ))
}
