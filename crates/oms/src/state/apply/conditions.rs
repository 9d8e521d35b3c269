//! Applies events of conditional orders, of locates, of the validity of requests, and of reports by hand.

use crate::state::OmsState;
use crate::state::conditions::{Condition, Stage};
use crate::state::event::ConditionEvent;
use crate::state::orders::transition::Transition;

impl OmsState {
    pub(crate) fn apply_condition(&mut self, event: &ConditionEvent<'_>) -> Option<()> {
        match *event {
            ConditionEvent::Held {
                order: number,
                field,
                rises,
                price,
            } => self.change(number, |state, place| {
                state.step(place, Transition::Hold)?;
                let order = state.orders.at(place)?;
                let condition = Condition {
                    session: order.session,
                    instrument: order.instrument,
                    field,
                    rises,
                    price,
                    stage: Stage::Waiting,
                };
                state.conditions.add(number, condition);
                Some(())
            }),
            ConditionEvent::Touched {
                instrument,
                field,
                price,
                ..
            } => {
                self.instruments.get(instrument)?;
                self.conditions.touch(instrument, field, price);
                Some(())
            }
            ConditionEvent::Triggered { order: number } => {
                self.conditions.trigger(number)?;
                self.change(number, |state, place| {
                    state.step(place, Transition::Trigger)?;
                    state.orders.at_mut(place)?.triggered = true;
                    Some(())
                })
            }
        }
    }
}
