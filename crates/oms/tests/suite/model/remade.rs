//! Model: replaces that a venue does as Canceled and New.

use super::venue::numbers;
use super::{Fate, Fields, Model, SECOND, Waiting, Why};

/// What the venue has said of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Remade {
    /// Canceled, with this CumQty(14), and whether under the replace's id: the answer to the replace decides.
    Held(i128, bool),
    /// New in place of this number, at this time.
    Former(u64, i64),
    /// A cancel went out of this number, open at the venue and closed here.
    Stray(u64),
}

impl Model {
    pub fn is_held(&self, number: u64) -> bool {
        matches!(self.orders[&number].remade, Some(Remade::Held(..)))
    }

    pub fn replace_in_flight(&self, number: u64) -> Option<u64> {
        let order = &self.orders[&number];
        let asked = order.asked.as_ref().filter(|it| it.what == 'G');
        asked.filter(|_| !order.is_unsent()).map(|it| it.number)
    }

    /// A report of a replace that nobody waits for, of an order that is closed.
    pub fn is_after_end(&self, number: u64, request: u64) -> bool {
        let order = &self.orders[&number];
        let mut asked = self.orders.values().filter_map(|it| it.asked.as_ref());
        matches!(order.fate, Fate::Over(how) if how != '2')
            && request > order.current
            && !asked.any(|it| it.number == request)
    }

    pub fn live_after_end(&mut self, line: usize, number: u64, request: u64) {
        let order = self.orders.get_mut(&number).unwrap();
        let is_known = order.remade == Some(Remade::Stray(request));
        if is_known || request > self.last || !self.ready.contains(&line) {
            return;
        }
        order.remade = Some(Remade::Stray(request));
        self.last += 1;
        self.write_stray_cancel(line, number, request);
    }

    /// The venue has an order open under the id of a request; false when that says no more than that it has it.
    pub fn opened(&mut self, line: usize, number: u64, request: u64, fields: &Fields<'_>) -> bool {
        let order = &self.orders[&number];
        if request == number || request == order.current {
            return false;
        }
        let is_late = order
            .late
            .as_ref()
            .is_some_and(|it| it.given_up.contains(&request));
        let is_asked = order.asked.as_ref().is_some_and(|it| it.number == request);
        if self.replace_in_flight(number) != Some(request) {
            if self.is_after_end(number, request) {
                self.live_after_end(line, number, request);
                return true;
            }
            if !is_late || is_asked {
                return !matches!(order.fate, Fate::Sent | Fate::Unknown);
            }
        }
        let (former, was_held) = (order.current, self.is_held(number));
        self.replaced(number, request, fields);
        let now = self.now;
        let order = self.orders.get_mut(&number).unwrap();
        let is_new = fields[&150] == "0" && fields.get(&20) != Some(&"3");
        if order.current == request && order.is_open() && is_new && !was_held {
            order.remade = Some(Remade::Former(former, now));
        }
        true
    }

    /// Canceled of what the venue has made anew.
    pub fn former_cancelled(&mut self, number: u64, request: u64, fields: &Fields<'_>) -> bool {
        let mut asked = self.orders.values().filter_map(|it| it.asked.as_ref());
        let is_asked = asked.any(|it| it.number == request);
        let order = self.orders.get_mut(&number).unwrap();
        let Some(Remade::Former(former, at)) = order.remade else {
            return false;
        };
        let original = fields.get(&41).and_then(|id| numbers(id));
        let is_both = original == Some((number, former)) && request == order.current;
        if is_asked || !(request == former || is_both) {
            return false;
        }
        order.remade = None;
        if self.now - at > 5 * SECOND && !self.asking.contains(&number) {
            self.asking.push_back(number);
        }
        true
    }

    /// Canceled while a replace is in flight.
    pub fn hold_cancel(
        &mut self,
        number: u64,
        request: u64,
        filled: i128,
        fields: &Fields<'_>,
    ) -> bool {
        let Some(replace) = self.replace_in_flight(number) else {
            return false;
        };
        if self.orders[&number].fate == Fate::Lapsed {
            return false;
        }
        let is_status = fields[&150] == "I" || fields.get(&20) == Some(&"3");
        if self.is_held(number) {
            return !(is_status && request == replace);
        }
        if is_status || self.is_by_hand {
            return false;
        }
        self.orders.get_mut(&number).unwrap().remade =
            Some(Remade::Held(filled, request == replace));
        self.unanswered.retain(|it| it.1 != replace);
        self.wait(2 * SECOND, replace, false);
        true
    }

    /// Asks, or answers, before what waits longer.
    pub fn wait(&mut self, time: i64, request: u64, is_asked: bool) {
        let due = self.now + time;
        let place = self.unanswered.iter().take_while(|it| it.0 <= due).count();
        self.unanswered.insert(place, (due, request, is_asked));
    }

    /// The venue has received no replace of what it has cancelled.
    pub fn replace_not_there(&mut self, number: u64) -> bool {
        let replace = self.replace_in_flight(number);
        let Some(replace) = replace.filter(|_| self.is_held(number)) else {
            return false;
        };
        self.give_up(number, replace);
        self.decline(replace, &Why::Other(0, 2));
        self.settle_cancel(number);
        true
    }

    /// A report of a replace: Canceled under its id was that of the order as it is now.
    pub fn replace_reported(&mut self, number: u64, request: u64, fields: &Fields<'_>) {
        let held = self.orders[&number].remade;
        self.replaced(number, request, fields);
        if let Some(Remade::Held(filled, true)) = held
            && !self.is_held(number)
        {
            self.cancelled(number, filled);
        }
    }

    /// The request that an OrderCancelReject(9) is of: by ClOrdID(11), else the one in flight of the order that it names.
    pub fn refused_request(&self, fields: &Fields<'_>) -> Option<(u64, u64)> {
        let id = fields.get(&11).and_then(|id| numbers(id));
        let original = fields.get(&41).and_then(|id| numbers(id));
        let mut asked = self.orders.values().filter_map(|it| it.asked.as_ref());
        if id.is_some_and(|(_, request)| asked.any(|it| it.number == request)) {
            return id;
        }
        let of = |(number, _): (u64, u64)| self.orders.get(&number);
        let named = match (id.and_then(of), id) {
            (Some(order), Some((number, request)))
                if ![number, order.current].contains(&request) =>
            {
                return id;
            }
            (Some(order), _) => order,
            (None, _) => original.and_then(of)?,
        };
        let asked = named.asked.as_ref().filter(|_| !named.is_unsent())?;
        let what = if asked.what == 'F' { "1" } else { "2" };
        (fields.get(&434) == Some(&what)).then_some((named.number, asked.number))
    }

    /// The end of an order that was cancelled, when nothing that is in flight may say otherwise.
    pub fn settle_cancel(&mut self, number: u64) {
        let Some(order) = self.orders.get_mut(&number) else {
            return;
        };
        let Some(Remade::Held(filled, _)) = order.remade else {
            return;
        };
        if order.asked.is_none() {
            self.cancelled(number, filled);
        }
    }

    fn cancelled(&mut self, number: u64, filled: i128) {
        let due = self.now + 5 * SECOND;
        let order = self.orders.get_mut(&number).unwrap();
        if !order.is_open() {
            return;
        }
        if filled > order.filled && order.waiting.is_none() {
            order.remade = None;
            order.waiting = Some(Waiting {
                how: '4',
                request: None,
                filled,
                due,
            });
            return;
        }
        self.end(number, '4', None, "");
    }
}
