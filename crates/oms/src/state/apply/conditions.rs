//! Applies events of conditional orders, of locates, of the validity of requests, and of reports by hand.

use crate::state::OmsState;
use crate::state::conditions::{Condition, Stage};
use crate::state::event::{ConditionEvent, OrderEvent, OrderWord, RequestEvent};
use crate::state::orders::transition::{Happening, OrderState};
use crate::values::locate::Locate;

impl OmsState {
    #[cold]
    pub(crate) fn apply_condition(&mut self, event: &OrderEvent<'_>) -> Option<()> {
        match *event {
            OrderEvent::Request(RequestEvent::Located {
                order,
                reqd,
                broker,
            }) => {
                self.orders.get(order)?;
                self.locates.add(order, Locate { reqd, broker });
                Some(())
            }
            OrderEvent::Condition(ConditionEvent::Held {
                order: number,
                field,
                rises,
                price,
            }) => self.change(number, |state, place| {
                state.step(place, Happening::Hold)?;
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
            OrderEvent::Condition(ConditionEvent::Touched {
                instrument,
                field,
                price,
                ..
            }) => {
                self.instruments.get(instrument as usize)?;
                self.conditions.touch(instrument, field, price);
                Some(())
            }
            OrderEvent::Order(OrderWord::ReportEntered { order, .. }) => {
                self.orders.get(order).map(|_| ())
            }
            OrderEvent::Condition(ConditionEvent::Triggered { order: number }) => {
                self.conditions.trigger(number)?;
                self.change(number, |state, place| {
                    state.step(place, Happening::Trigger)?;
                    state.orders.at_mut(place)?.triggered = true;
                    Some(())
                })
            }
            OrderEvent::Request(RequestEvent::ValidUntil { number, until }) => {
                let fits = |state| until > 0 && state == OrderState::Queued;
                if let Some(order) = self.orders.get_mut(number) {
                    return fits(order.state).then(|| order.queued = -until);
                }
                let request = self.orders.request_mut(number)?;
                fits(request.state).then(|| request.queued = -until)
            }
            _ => self.apply_family(event),
        }
    }
}
