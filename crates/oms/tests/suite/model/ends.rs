//! Model: how orders end.

use super::{Fate, Fields, Model};

impl Model {
    pub fn end(&mut self, number: u64, how: char, request: Option<u64>, text: &str) {
        if self.rests(number, how) {
            let order = self.orders.get_mut(&number).unwrap();
            (order.fate, order.waiting) = (Fate::Done, None);
            self.write_ended(number, how, None, text);
            return;
        }
        if request.is_none() {
            self.too_late(number);
        }
        let order = self.orders.get_mut(&number).unwrap();
        let is_told = order.fate == Fate::Lapsed;
        order.fate = Fate::Over(how);
        let mut original = None;
        let asked = order.asked.take();
        if let Some(asked) = asked.filter(|asked| !asked.id.is_empty()) {
            original = Some(std::mem::replace(&mut order.id, asked.id));
        }
        // Its client knows it, and asked for nothing.
        if !is_told || original.is_some() {
            self.write_ended(number, how, original.as_deref(), text);
        }
        self.over(number);
    }

    /// OrdStatus(39) of any report says of an order whose day is over that it has ended.
    pub fn said_to_have_ended(&mut self, number: u64, request: u64, fields: &Fields<'_>) {
        let how = match fields.get(&39) {
            Some(&"4") => '4',
            Some(&("C" | "8")) => 'C',
            _ => return,
        };
        let order = &self.orders[&number];
        if order.fate == Fate::Lapsed && order.waiting.is_none() {
            self.ended(number, request, how, fields);
        }
    }

    /// An end that waits happens when its fills are there.
    pub fn settle(&mut self, number: u64) {
        let order = &self.orders[&number];
        let Some(waiting) = order.waiting.clone() else {
            return;
        };
        if order.filled >= waiting.filled {
            let asked = order.asked.as_ref().map(|asked| asked.number);
            let request = waiting.request.filter(|it| asked == Some(*it));
            self.end(number, waiting.how, request, "");
        }
    }
}
