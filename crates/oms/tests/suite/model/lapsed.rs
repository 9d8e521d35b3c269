//! Model: orders of former trading days whose line is up again.

use super::{Fate, Fields, Model, SECOND, Why};

impl Model {
    fn is_lapsed(&self, number: u64) -> bool {
        let order = self.orders.get(&number);
        order.is_some_and(|it| it.fate == Fate::Lapsed && it.waiting.is_none())
    }

    /// A cancel of it is pending; with `lost`, one that the venue may not have.
    fn has_cancel(&self, number: u64, lost: bool) -> bool {
        let asked = self.orders.get(&number).and_then(|it| it.asked.as_ref());
        asked.is_some_and(|it| it.what == 'F' && (it.unknown || !lost))
    }

    /// No cancel of it is in flight, and it waits for no fills.
    fn may_be_cancelled(&self, number: u64) -> bool {
        self.is_lapsed(number) && !self.has_cancel(number, false)
    }

    /// The venue has not got the cancel of it: what it says next decides.
    pub fn lapsed_declined(&mut self, number: u64, why: &Why) {
        let order = self.orders.get(&number);
        if *why == Why::Other(0, 2) && order.is_some_and(|it| it.fate == Fate::Lapsed) {
            self.lapsed.entry(number).or_insert(None);
        }
    }

    /// The OMS gives up a cancel without any answer.
    pub fn lapsed_unanswered(&mut self, number: u64) {
        self.lapsed.remove(&number);
        self.cancel_lapsed(number);
    }

    /// The venue is to be asked about these.
    pub fn expect_lapsed(&mut self, asked: &[u64]) {
        for number in asked {
            let is_lost = self.is_lapsed(*number) && self.has_cancel(*number, true);
            if is_lost || self.may_be_cancelled(*number) {
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
        if self.lapsed.remove(&number).is_some() && !["2", "6"].contains(&status) {
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
        if self.has_cancel(number, true) {
            self.lapsed.insert(number, None);
        } else {
            self.lapsed_unanswered(number);
        }
        true
    }

    fn cancel_lapsed(&mut self, number: u64) {
        if self.may_be_cancelled(number) {
            self.cancel(number);
        }
    }
}
