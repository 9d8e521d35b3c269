//! Model: orders of former trading days whose line is up again.

use super::{Fate, Fields, Model, SECOND};

impl Model {
    /// No cancel of it is in flight, and it waits for no fills.
    fn may_be_cancelled(&self, number: u64) -> bool {
        let order = self.orders.get(&number);
        order.is_some_and(|order| {
            let is_cancelled = order.asked.as_ref().is_some_and(|it| it.what == 'F');
            order.fate == Fate::Lapsed && order.waiting.is_none() && !is_cancelled
        })
    }

    /// The venue is to be asked about these; it may not have got a cancel that is pending now.
    pub fn expect_lapsed(&mut self, asked: &[u64]) {
        for number in asked {
            let order = &self.orders[number];
            let cancel = order.asked.as_ref().filter(|it| it.what == 'F');
            match order.is_open() && cancel.is_some_and(|it| it.unknown) {
                true => self.lost.insert(*number),
                false => self.lost.remove(number),
            };
            if self.may_be_cancelled(*number) {
                self.lapsed.insert(*number, None);
            }
        }
    }

    /// The question is on its way.
    pub fn lapsed_asked(&mut self, number: u64) {
        let due = self.now + 5 * SECOND;
        if let Some(until) = self.lapsed.get_mut(&number) {
            until.get_or_insert(due);
        }
    }

    /// What the venue has open goes, unless it is filled or being cancelled there.
    pub fn lapsed_reported(&mut self, number: u64, fields: &Fields<'_>) {
        let status = fields.get(&39).copied().unwrap_or_default();
        let is_asked = self.lapsed.remove(&number).is_some() || self.lost.contains(&number);
        if is_asked && !["2", "6"].contains(&status) {
            self.cancel_lapsed(number);
        }
    }

    /// The venue says nothing of a cancel that was on its way when the line went down.
    pub fn is_lost_for_good(&self, number: u64) -> bool {
        self.lost.contains(&number) && self.orders[&number].fate == Fate::Lapsed
    }

    /// A lost cancel is sent once more.
    pub fn cancel_again(&mut self, number: u64) {
        if self.lost.contains(&number) {
            self.cancel_lapsed(number);
        }
    }

    /// One that the venue did not answer about; false without one.
    pub fn look_at_lapsed(&mut self) -> bool {
        let now = self.now;
        let due = self.lapsed.iter().filter_map(|(number, due)| {
            let due = due.filter(|due| *due <= now)?;
            Some((due, *number))
        });
        let Some((_, number)) = due.min() else {
            return false;
        };
        self.lapsed.remove(&number);
        self.cancel_lapsed(number);
        true
    }

    fn cancel_lapsed(&mut self, number: u64) {
        if self.may_be_cancelled(number) {
            self.cancel(number);
        }
    }
}
