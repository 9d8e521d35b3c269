//! Model: answers to requests, and requests without one.

use super::venue::numbers;
use super::{Fate, Fields, Model, SECOND, Why};

impl Model {
    /// The venue has five seconds for an answer.
    pub fn watch(&mut self, request: u64) {
        let due = self.now + 5 * SECOND;
        self.unanswered.push_back((due, request, false));
    }

    /// Whether a request of an order is in the way of another. A cancel goes over one of which nobody knows whether the
    /// venue has it.
    pub fn is_busy(&self, order: &super::Order, is_replace: bool) -> bool {
        let is_ready = self.ready.contains(&order.line);
        let asked = order.asked.as_ref();
        asked.is_some_and(|it| is_replace || !it.unknown || !is_ready)
    }

    /// Whether a line is of the venue of an order: of its group, or of one that helps it or that it helps.
    pub fn may_report(&self, line: usize, number: u64) -> bool {
        let Some(order) = self.orders.get(&number) else {
            return true;
        };
        let group = |line: usize| {
            let mut groups = self.world.groups.iter();
            groups.find(|group| group.contains(&line)).copied()
        };
        let routed = group(self.world.symbols[order.symbol].lines[0]);
        let Some(of) = group(line) else {
            return order.line == line;
        };
        let helps = |one, other| {
            let mut helpers = self.world.helpers.iter();
            helpers.any(|it| *it == (one, other) || *it == (other, one))
        };
        let mut its = [group(order.line), routed].into_iter().flatten();
        order.line == line || its.any(|it| it == of || helps(it, of))
    }

    /// Order and request that a reject is of.
    pub fn rejected_id(&self, fields: &Fields<'_>) -> Option<(u64, u64)> {
        let sent = fields.get(&45).and_then(|id| numbers(id));
        let named = fields.get(&379).and_then(|id| numbers(id));
        let named = named.filter(|(order, _)| self.orders.contains_key(order));
        match (sent, named) {
            (Some(sent), Some(named)) => (sent == named).then_some(sent),
            (one, other) => one.or(other),
        }
    }

    /// The venue refuses a request of an order; one of another order is nothing that it can refuse so.
    pub fn decline_of(&mut self, number: u64, request: u64, fields: &Fields<'_>) {
        let order = self.orders.get(&number);
        let asked = order.and_then(|order| order.asked.as_ref());
        let is_asked = asked.is_some_and(|asked| asked.number == request);
        let mut others = self.orders.values().filter(|it| it.number != number);
        if others.any(|it| it.asked.as_ref().is_some_and(|it| it.number == request)) {
            return;
        }
        if is_asked {
            let why = self.why(number, fields);
            self.decline(request, &why);
            self.settle_cancel(number);
            let is = |tag: u32, values: &[&str]| {
                fields.get(&tag).is_some_and(|value| values.contains(value))
            };
            // Too late, or unknown: it is not there any more.
            let is_gone = !fields.contains_key(&150)
                && !fields.contains_key(&380)
                && (is(102, &["0", "1"]) || is(39, &["4", "8", "C"]));
            if is_gone && self.orders[&number].fate == Fate::Lapsed {
                self.end(number, 'C', None, "");
            }
        }
        self.reject_agrees((number, request), is_asked, fields);
    }

    pub fn decline(&mut self, request: u64, why: &Why) {
        let of = |it: &&mut super::Order| it.asked.as_ref().is_some_and(|it| it.number == request);
        let order = self.orders.values_mut().find(of).unwrap();
        let asked = order.asked.take().unwrap();
        let (number, client, original) = (order.number, order.client, order.id.clone());
        if *why != Why::Other(0, 2) {
            self.lost.remove(&number);
        }
        if asked.id.is_empty() {
            self.later.push_back((self.now + 5 * SECOND, number));
            return;
        }
        let ids = (asked.id.as_str(), original.as_str());
        self.write_cancel_reject(client, asked.what, ids, Some(number), why);
        self.look_again(number);
    }

    /// The request of a client is answered, since another cancel goes out.
    pub fn give_way(&mut self, number: u64) {
        let order = self.orders.get_mut(&number).unwrap();
        let Some(asked) = order.asked.take() else {
            return;
        };
        if asked.what == 'G' {
            self.give_up(number, asked.number);
        }
        let order = &self.orders[&number];
        if !asked.id.is_empty() {
            let (client, original) = (order.client, order.id.clone());
            let ids = (asked.id.as_str(), original.as_str());
            let why = super::Why::Other(0, 3);
            self.write_cancel_reject(client, asked.what, ids, Some(number), &why);
        }
    }

    /// A request that the venue has not answered for 5 s is unknown, and the venue is asked; after 5 s more a cancel of
    /// the OMS is tried again, and a request of an order that has ended is answered.
    /// One at a time; false when none is due.
    pub fn look_at_unanswered(&mut self) -> bool {
        while let Some((due, request, is_asked)) = self.unanswered.front().copied() {
            let of = |it: &&super::Order| it.asked.as_ref().is_some_and(|it| it.number == request);
            let order = self.orders.values().find(of);
            // The venue has said that it has ended: only its fills are missing.
            let is_over = |order: &&super::Order| {
                let waiting = order.waiting.as_ref();
                waiting.is_some_and(|it| it.how != '3' || it.request == Some(request))
            };
            let order = order.filter(|it| self.ready.contains(&it.line) && !is_over(it));
            let Some((number, is_open)) = order.map(|it| (it.number, it.is_open())) else {
                self.unanswered.pop_front();
                continue;
            };
            if due > self.now {
                return false;
            }
            self.unanswered.pop_front();
            let asked = self
                .orders
                .get_mut(&number)
                .unwrap()
                .asked
                .as_mut()
                .unwrap();
            asked.unknown = true;
            let (what, is_own) = (asked.what, asked.id.is_empty());
            let is_held = self.is_held(number);
            if !is_asked {
                self.asking.push_back(number);
                if is_held {
                    self.wait(3 * SECOND, request, true);
                } else {
                    self.unanswered
                        .push_back((self.now + 5 * SECOND, request, true));
                }
            } else if is_own || !is_open || is_held || self.is_lost_for_good(number) {
                if what == 'G' {
                    self.give_up(number, request);
                }
                self.decline(request, &super::Why::Other(0, 2));
                self.settle_cancel(number);
                self.cancel_again(number);
            }
            return true;
        }
        false
    }

    /// The venue does not have it. One that it had acknowledged is unknown from now on.
    pub fn not_there(&mut self, number: u64, fields: &Fields<'_>) {
        let order = &self.orders[&number];
        let is_sent = matches!(order.fate, Fate::Sent | Fate::Unknown);
        if is_sent && !self.is_acknowledged(order) {
            let text = fields.get(&58).copied().unwrap_or_default();
            return self.reject(number, &Why::Venue(text.to_owned(), None));
        }
        let waits = order.waiting.is_some();
        if order.fate == Fate::Lapsed && !waits {
            return self.end(number, 'C', None, "");
        }
        let lost = order.asked.as_ref().filter(|it| it.unknown && !waits);
        if let Some((request, what)) = lost.map(|it| (it.number, it.what)) {
            if what == 'G' {
                self.give_up(number, request);
            }
            self.decline(request, &Why::Other(0, 2));
        }
        let order = self.orders.get_mut(&number).unwrap();
        if order.fate == Fate::Working && !waits {
            order.fate = Fate::Unknown;
        }
    }
}
