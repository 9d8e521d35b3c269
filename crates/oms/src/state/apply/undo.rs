//! Applies busts and corrections of trades.

use crate::state::OmsState;
use crate::state::event::UndoEvent;
use crate::state::orders::Fill;
use crate::state::orders::transition::{OrderState, Transition};
use crate::state::tally::{Tally, Trade, TradeSide};
use crate::values::value::{Number, Price, Quantity};

/// A fill that is cancelled or corrected, and the execution that replaces the fill; 0 after a bust.
#[derive(Clone, Copy)]
struct Change {
    was: (Quantity, Price),
    now: (Quantity, Price),
    open: bool,
}

/// Whether an order is from a trading day that has ended, and ended with it: no report opens it again.
pub(crate) fn is_of_former_day(state: &OmsState, number: Number) -> bool {
    let order = state.orders().get(number);
    order.is_some_and(|it| number <= state.yesterday && !it.outlives(state.day()))
}

fn worth((quantity, price): (Quantity, Price)) -> i128 {
    i128::from(price) * i128::from(quantity)
}

impl OmsState {
    pub(crate) fn apply_undo(&mut self, event: &UndoEvent<'_>) -> Option<()> {
        match *event {
            UndoEvent::Busted {
                order,
                exec,
                by,
                quantity,
                price,
                open,
                ..
            } => {
                let change = Change {
                    was: (quantity, price),
                    now: (0, 0),
                    open,
                };
                self.undo(order, exec, by, change)
            }
            UndoEvent::Corrected {
                order,
                exec,
                by,
                was_quantity,
                was_price,
                quantity,
                price,
                open,
                ..
            } => {
                let change = Change {
                    was: (was_quantity, was_price),
                    now: (quantity, price),
                    open,
                };
                (quantity > 0).then_some(())?;
                self.undo(order, exec, by, change)
            }
            UndoEvent::ParentCorrected {
                order,
                was_quantity,
                was_price,
                quantity,
                price,
                open,
                ..
            } => {
                let change = Change {
                    was: (was_quantity, was_price),
                    now: (quantity, price),
                    open,
                };
                self.undo_parent(order, change)
            }
        }
    }

    fn undo(&mut self, number: u64, exec: u64, by: u64, change: Change) -> Option<()> {
        let Change { was, now, .. } = change;
        let number_of_event = self.events;
        self.change(number, |state, place| {
            let fill = *state.orders.fill(number, exec)?;
            let is_its = (fill.quantity, fill.price) == was && fill.undone == 0 && by != 0;
            // No fill takes another one back: each chain of corrections has an end.
            (is_its && !state.orders.has_fill(number, by)).then_some(())?;
            let order = state.orders.at(place)?;
            let filled = order.filled.checked_sub(was.0)?.checked_add(now.0)?;
            let all = filled >= order.quantity;
            let (party, instrument) = (order.party(), order.instrument);
            let side = order.trade_side();
            let happening = Self::undone(all, change.open);
            order.state.after(happening)?;
            if now.0 > 0 {
                let fill = Fill {
                    exec: by,
                    quantity: now.0,
                    price: now.1,
                    report: number_of_event,
                    undone: 0,
                };
                state.orders.add_fill(place, fill).then_some(())?;
            }
            state.orders.fill_mut(place, exec)?.undone = by;
            state.step(place, happening)?;
            let order = state.orders.at_mut(place)?;
            order.filled = filled;
            order.paid = order
                .paid
                .saturating_sub(worth(was))
                .saturating_add(worth(now));
            // For a spread, the fill traded the legs.
            if state.spreads.legs(instrument).is_some() {
                return Some(());
            }
            let is_today = !state.rejected.is_past(fill.report);
            let trade = |(quantity, price)| Trade {
                party,
                side,
                quantity,
                price,
            };
            state.untrade(&trade(was), is_today);
            if now.0 > 0 {
                state.trade(&trade(now));
            }
            Some(())
        })
    }

    /// The transition of an order after the bust or correction of a fill.
    fn undone(all: bool, open: bool) -> Transition {
        if all {
            Transition::Fill { all }
        } else {
            Transition::Undo { open }
        }
    }

    fn undo_parent(&mut self, number: u64, change: Change) -> Option<()> {
        let Change { was, now, open } = change;
        self.families.is_parent(number).then_some(())?;
        self.change(number, |state, place| {
            let order = state.orders.at_mut(place)?;
            let filled = order.filled.checked_sub(was.0)?.checked_add(now.0)?;
            let all = filled >= order.quantity;
            order.state = match order.state {
                OrderState::Parent if all => order.state.after(Transition::Fill { all })?,
                // The parent is open again because the child is open again.
                OrderState::Ended(crate::End::Filled) if !all && open => OrderState::Parent,
                OrderState::Ended(crate::End::Filled) if !all => {
                    OrderState::Ended(crate::End::Cancelled)
                }
                state => state,
            };
            order.filled = filled;
            order.paid = order
                .paid
                .saturating_sub(worth(was))
                .saturating_add(worth(now));
            Some(())
        })
    }

    /// Takes a trade back from position, profit and the value traded today.
    pub(crate) fn untrade(&mut self, trade: &Trade, is_today: bool) {
        let Trade {
            party,
            side: TradeSide { buys, effect },
            quantity,
            price,
        } = *trade;
        let (Some(account), Some(instrument)) = (party.account, party.instrument) else {
            return;
        };
        let holding = self.holding_mut(account, instrument);
        let before = holding.gained();
        holding
            .position
            .undo(buys, quantity, price, effect, is_today);
        let after = holding.gained();
        let traded = match is_today {
            true => self.worth_at_most(instrument, price, quantity),
            false => 0,
        };
        let old = Tally {
            traded,
            gained: self.gain(instrument, before),
            ..Tally::default()
        };
        let new = Tally {
            gained: self.gain(instrument, after),
            ..Tally::default()
        };
        self.count(party, &old, &new);
    }
}
