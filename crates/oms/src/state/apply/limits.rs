//! Applies events of operators, and of limits that activate a kill switch.

use crate::state::event::LimitEvent;
use crate::state::{ArmRequest, Expiry, OmsState, Stop};
use crate::values::limits::RiskControl;
use crate::values::value::{Text, Trading};

impl OmsState {
    pub(crate) fn apply_limit(&mut self, event: &LimitEvent<'_>) -> Option<()> {
        match *event {
            LimitEvent::Limit {
                scope,
                control,
                value,
                filed,
                ..
            } => {
                let control = RiskControl::of(control)?;
                let standing = self.standing_mut(scope)?;
                standing.limits.set(control, value);
                if filed {
                    standing.limits.set_filed(control, value);
                }
                if control.span().is_some() && value.is_some() {
                    standing.flow.get_or_insert_default();
                    self.has_flow = true;
                }
                if !filed {
                    self.pending_reload = None;
                }
                self.recent.is_on |= control == RiskControl::Repeated && value.is_some();
                self.expiries
                    .retain(|it| (it.scope, it.control) != (scope, control));
                Some(())
            }
            LimitEvent::LimitUntil {
                scope,
                control,
                before,
                until,
            } => {
                let control = RiskControl::of(control)?;
                self.standing(scope)?;
                self.expiries.push(Expiry {
                    scope,
                    control,
                    before,
                    until,
                });
                Some(())
            }
            LimitEvent::Trading {
                scope, state, who, ..
            } => {
                self.standing_mut(scope)?.limits.trading = state;
                self.stops.retain(|stop| stop.scope != scope);
                if state != Trading::Active {
                    self.stops.push(Stop {
                        scope,
                        by: Text::new(&who[..who.len().min(Text::MAX)]),
                        asked: None,
                    });
                }
                Some(())
            }
            LimitEvent::ArmAsked {
                scope, state, who, ..
            } => {
                let stop = self.stops.iter_mut().find(|stop| stop.scope == scope)?;
                stop.asked = Some(ArmRequest {
                    by: Text::new(&who[..who.len().min(Text::MAX)]),
                    state,
                });
                Some(())
            }
        }
    }
}
