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

    pub(super) fn fill(&mut self, (buys, effect): (bool, char), (quantity, price): (i128, i128)) {
        let most = if effect == 'O' { 0 } else { quantity };
        if buys {
            let closed = most.min(self.short);
            self.short -= closed;
            self.long += quantity - closed;
            self.bought += quantity;
            self.paid += price * quantity;
        } else {
            let closed = most.min(self.long);
            self.long -= closed;
            self.short += quantity - closed;
            self.sold += quantity;
            self.received += price * quantity;
        }
    }

    /// Takes a fill back; one of an earlier day is the opposite trade of today.
    pub(super) fn undo(
        &mut self,
        (buys, effect): (bool, char),
        (quantity, price): (i128, i128),
        is_today: bool,
    ) {
        let worth = price * quantity;
        match (buys, is_today) {
            (true, true) => {
                self.bought = (self.bought - quantity).max(0);
                self.paid -= worth;
            }
            (false, true) => {
                self.sold = (self.sold - quantity).max(0);
                self.received -= worth;
            }
            (true, false) => {
                self.sold += quantity;
                self.received += worth;
            }
            (false, false) => {
                self.bought += quantity;
                self.paid += worth;
            }
        }
        let (this, other) = match buys {
            true => (&mut self.long, &mut self.short),
            false => (&mut self.short, &mut self.long),
        };
        let opened = if effect == 'C' {
            0
        } else {
            quantity.min(*this)
        };
        *this -= opened;
        *other += quantity - opened;
    }

    /// Changes it by a quantity and what was paid for it, each up or down.
    pub(super) fn adjust(&mut self, side: (bool, char), quantity: i128, worth: i128) {
        if quantity >= 0 {
            self.fill(side, (quantity, 0));
        } else {
            self.undo(side, (-quantity, 0), true);
        }
        match side.0 {
            true => self.paid += worth,
            false => self.received += worth,
        }
    }
}
