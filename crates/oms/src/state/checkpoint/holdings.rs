//! Reads positions, and what they have gained.

use super::standing::{take_position, take_standing};
use super::take_all;
use crate::state::OmsState;
use fixwire_ledger::Wire;

impl OmsState {
    pub(super) fn take_holdings(&mut self, from: &mut &[u8]) -> Option<()> {
        for _ in 0..u32::take(from)? {
            let (account, instrument) = (Wire::take(from)?, Wire::take(from)?);
            self.accounts.get(account)?;
            self.instruments.get(instrument)?;
            if self.holding(account, instrument).is_some() {
                return None;
            }
            let position = take_position(from)?;
            let [mark, opened_at] = take_all(from)?;
            let standing = take_standing(from)?;
            let holding = self.holding_mut(account, instrument);
            (holding.position, holding.standing) = (position, standing);
            (holding.mark, holding.opened_at) = (mark, opened_at);
        }
        Some(())
    }
}
