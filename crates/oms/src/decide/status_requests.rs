//! Whether the venue of a line is asked for the status of orders, and status requests of clients that go on to it.

use crate::decide::core::Core;
use crate::decide::work::is_unknown;
use crate::state::orders::transition::OrderState;
use crate::values::ids::SessionNo;
use crate::values::rules::{LineGroup, StatusRule};
use crate::values::value::Number;

impl Core {
    /// Asks the venue of an order for its status, when its line group passes requests of clients on; whether it does.
    pub(crate) fn pass_on_status(&mut self, number: Number) -> bool {
        let Some(order) = self.state.orders().get(number) else {
            return false;
        };
        let is_there = order.state.is_open()
            && !order.state.is_unsent()
            && order.state != OrderState::Parent
            && self.state.is_line_ready(order);
        let group = order.line().and_then(|line| self.group_of(line));
        let passes = is_there && group.is_some_and(|it| it.status == StatusRule::PassOn);
        if passes {
            self.work.ask_once(number);
        }
        passes
    }

    fn group_of(&self, line: SessionNo) -> Option<&LineGroup> {
        let group = self.lines.line(line)?.group;
        self.rules.groups.get(group)
    }

    /// Whether the venue of a line may be asked for the status of orders.
    pub(crate) fn answers_status(&self, line: SessionNo) -> bool {
        let group = self.group_of(line);
        group.is_none_or(|group| group.status != StatusRule::Never)
    }

    /// Whether the venue of a line is asked for all open orders at each logon.
    pub(crate) fn answers_mass_status(&self, line: SessionNo) -> bool {
        let group = self.group_of(line);
        group.is_some_and(|it| it.mass_status && !it.over_tmp && it.status != StatusRule::Never)
    }

    /// Orders of a line that is up whose state is unknown, and about which its venue is not asked.
    pub(crate) fn not_asked(&self, line: SessionNo) -> usize {
        if self.answers_status(line) {
            return 0;
        }
        let orders = self.state.orders().iter();
        let unknown = orders.filter(|it| it.line() == Some(line) && is_unknown(&self.state, it));
        unknown.count()
    }
}
