//! Model: the position of an account in a symbol.

#[derive(Clone, Copy, Debug, Default)]
pub struct Holding {
    pub long: i128,
    pub short: i128,
    pub bought: i128,
    pub sold: i128,
    pub paid: i128,
    pub received: i128,
    pub(super) mark: i128,
    pub(super) opened_at: i128,
}

impl Holding {
    pub fn net(&self) -> i128 {
        self.long - self.short
    }

    /// Sold less bought today, and the change of the worth of what is held.
    pub(super) fn gained(&self) -> i128 {
        let before = self.net() - self.bought + self.sold;
        self.received - self.paid + self.net() * self.mark - before * self.opened_at
    }
}
