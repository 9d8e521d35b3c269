//! Model: rejects of a venue, and orders that are sent again.

use super::{At, Fate, Fields, Model, SECOND, Why};

/// Handling of rejects from the venue of a line group.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The reason, by the tag of its field.
    pub reason: Option<(u32, &'static str)>,
    /// Text(58) begins so.
    pub text: Option<&'static str>,
    /// It is sent again so often, after so many nanoseconds, and on another line or not.
    pub again: Option<(u32, i64, bool)>,
    pub say: Option<&'static str>,
}

/// An order that was rejected and is or was sent again.
#[derive(Clone, Copy, Debug)]
pub struct Again {
    pub attempt: u64,
    pub times: u32,
    pub due: i64,
    pub not_on: Option<usize>,
}

impl Model {
    /// The number under which an order was last sent as a new one.
    pub fn attempt(&self, number: u64) -> u64 {
        let again = self.orders.get(&number).and_then(|order| order.again);
        again.map_or(number, |again| again.attempt)
    }

    /// The venue has had it.
    pub fn is_acknowledged(&self, order: &super::Order) -> bool {
        self.acknowledged.contains(&order.number) || order.filled > 0
    }

    fn entry(&self, number: u64, fields: &Fields<'_>) -> Option<Entry> {
        let line = self.orders.get(&number)?.line;
        let mut groups = self.world.groups.iter();
        let group = groups.position(|lines| lines.contains(&line))?;
        let text = fields.get(&58).copied().unwrap_or_default();
        let mut entries = self.world.errors.get(group)?.iter();
        let fits = |entry: &&Entry| {
            entry
                .reason
                .is_none_or(|(tag, reason)| fields.get(&tag) == Some(&reason))
                && entry.text.is_none_or(|begins| text.starts_with(begins))
        };
        entries.find(fits).copied()
    }

    /// Why, for the client.
    pub fn why(&self, number: u64, fields: &Fields<'_>) -> Why {
        let say = self.entry(number, fields).and_then(|entry| entry.say);
        let text = say.or(fields.get(&58).copied()).unwrap_or_default();
        let code = |tag: u32| Some((tag, fields.get(&tag)?.parse::<u32>().ok()?));
        let code = [102, 103, 380].into_iter().find_map(code);
        Why::Venue(text.to_owned(), code)
    }

    /// A venue has rejected a new order.
    pub fn rejected(&mut self, number: u64, fields: &Fields<'_>) {
        if !self.is_sent_again(number, fields) {
            let why = self.why(number, fields);
            self.reject(number, &why);
        }
    }

    fn is_sent_again(&mut self, number: u64, fields: &Fields<'_>) -> bool {
        let again = self.entry(number, fields).and_then(|entry| entry.again);
        let Some((most, after, another)) = again else {
            return false;
        };
        let order = &self.orders[&number];
        let times = order.again.map_or(0, |again| again.times);
        let is_of_today = number > self.yesterday || order.outlives(self.day);
        // A duplicate is of one that lives.
        if times >= most
            || order.quote.is_some()
            || fields.get(&103) == Some(&"6")
            || !matches!(order.fate, Fate::Sent | Fate::Unknown)
            || self.is_acknowledged(order)
            || order.asked.is_some()
            || order.waiting.is_some()
            || self.must_go(number)
            || !is_of_today
            || order
                .valid_until
                .is_some_and(|until| self.now + after >= until)
        {
            return false;
        }
        self.last += 1;
        let (last, now) = (self.last, self.now);
        let order = self.orders.get_mut(&number).unwrap();
        order.again = Some(Again {
            attempt: last,
            times: times + 1,
            due: now + after,
            not_on: another.then_some(order.line),
        });
        (order.current, order.line, order.fate) = (last, usize::MAX, Fate::Waits);
        true
    }

    /// A report under a number that was rejected before: one that says that the order is there contradicts it.
    pub fn report_of_past(&mut self, number: u64) {
        if self.orders[&number].fate == Fate::Waits {
            self.reject(number, &Why::Other(0, 2));
        }
    }

    /// The first order that can be sent again, or has waited for a line for 5 s.
    fn next_again(&self) -> Option<(u64, Result<usize, Why>)> {
        let waiting = self.orders.values().filter(|it| it.fate == Fate::Waits);
        let due = waiting.filter_map(|it| Some((it.again?, it.number, it.symbol)));
        let is_over = |number: u64| {
            let until = self.orders[&number].valid_until;
            until.is_some_and(|until| until <= self.now)
        };
        let mut due: Vec<_> = due.filter(|(again, ..)| again.due <= self.now).collect();
        due.sort_by_key(|(again, number, _)| (again.due, *number));
        due.into_iter().find_map(|(again, number, symbol)| {
            let line = match is_over(number) {
                true => Err(Why::Rc("RC20", 8)),
                false => self.line_for(symbol, again.not_on),
            };
            let is_late = again.due + 5 * SECOND <= self.now || is_over(number);
            (line.is_ok() || is_late).then_some((number, line))
        })
    }

    pub fn has_again(&self) -> bool {
        self.next_again().is_some()
    }

    /// Sends an order again, or rejects it; false when none is due.
    pub fn send_again(&mut self) -> bool {
        let Some((number, line)) = self.next_again() else {
            return false;
        };
        let order = &self.orders[&number];
        let scopes = self.scopes_of(order);
        let is_stopped = |scope: &At| self.trading.contains_key(scope);
        let is_shut = |symbol| matches!(self.markets.get(&symbol), Some(&("halted" | "closed")));
        // Its own scopes, then its legs one after the other.
        let mut parts = vec![(scopes, order.symbol)];
        for leg in self.legs_of(order.symbol).into_iter().flatten() {
            let scopes = vec![
                At::Symbol(leg.symbol),
                At::Holding(order.account, leg.symbol),
            ];
            parts.push((scopes, leg.symbol));
        }
        let why = parts.iter().find_map(|(scopes, symbol)| {
            if scopes.iter().any(is_stopped) {
                Some(Why::Rc("RC1", 0))
            } else if is_shut(*symbol) {
                Some(Why::Rc("RC18", 2))
            } else {
                None
            }
        });
        let line = match why {
            Some(why) => Err(why),
            None => line,
        };
        self.send_on(number, line);
        true
    }

    /// An order goes out with the number of its pool, or is rejected.
    pub fn send_on(&mut self, number: u64, line: Result<usize, Why>) {
        let sent = line.and_then(|line| {
            self.give_number(number)?;
            Ok(line)
        });
        match sent {
            Ok(line) => {
                let order = self.orders.get_mut(&number).unwrap();
                (order.line, order.fate) = (line, Fate::Sent);
                self.went(line);
                self.write_new(number);
            }
            Err(why) => self.reject(number, &why),
        }
    }
}
