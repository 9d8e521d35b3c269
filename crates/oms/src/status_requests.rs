//! Status requests of clients that go on to the venue.

use crate::core::Core;
use crate::transition::OrderState;
use crate::value::Number;

impl Core {
    /// Asks the venue of an order for its status, when its line group passes requests of clients on; whether it does.
    pub(crate) fn pass_on_status(&mut self, number: Number) -> bool {
        let Some(order) = self.state.orders().get(number) else {
            return false;
        };
        let is_there = order.state.is_open()
            && !order.state.is_unsent()
            && order.state != OrderState::Parent
            && self.state.is_ready(order.line);
        let group = self.lines.line(order.line).map(|line| line.group);
        let group = group.and_then(|group| self.rules.groups.get(group));
        let passes = is_there && group.is_some_and(|group| group.passes_status);
        if passes {
            self.work.ask(number);
        }
        passes
    }
}
