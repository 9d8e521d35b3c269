//! Applies order-number events to the state.

use crate::state::OmsState;
use crate::state::event::PoolEvent;
use crate::state::orders::ids::IdOwner;
use crate::state::pools::Pool;
use crate::values::ids::PoolNo;
use crate::values::value::{Number, Text};

impl OmsState {
    /// Whether an open order, or an order of today, has this number from a pool.
    pub(crate) fn has_number(&self, text: &[u8]) -> bool {
        self.ids.find(IdOwner::Pools, text).is_some()
    }

    pub(crate) fn apply_pool(&mut self, event: &PoolEvent<'_>) -> Option<()> {
        match *event {
            PoolEvent::Pool {
                index,
                form,
                tag,
                first,
                last,
                each_day,
                name,
            } => {
                let known = self.pool_names.find(name);
                if known.is_none() && self.pool_names.add(index, name) {
                    self.pools.push(Pool::default());
                } else if known != Some(index) {
                    return None;
                }
                let pool = self.pools.get_mut(index)?;
                let is_other = known.is_none() || pool.form != form;
                (pool.form, pool.tag, pool.each_day) = (form, tag, each_day);
                pool.bound(first, last);
                if is_other {
                    pool.begin();
                }
                Some(())
            }
            PoolEvent::Numbered {
                order,
                pool,
                number,
                own,
                text,
            } => self.numbered(order, pool, number, own, text),
            PoolEvent::NumbersLow { pool, .. } => {
                self.pools.get_mut(pool)?.is_low = true;
                Some(())
            }
        }
    }

    fn numbered(
        &mut self,
        order: Number,
        pool: PoolNo,
        number: u64,
        own: bool,
        text: &[u8],
    ) -> Option<()> {
        if self.has_number(text) {
            return None;
        }
        let of = self.pools.get_mut(pool)?;
        let known = self.orders.get_mut(order)?;
        of.used(number, own);
        known.pool_number = Text::new(text);
        (known.pool, known.own_number) = (Some(pool), own);
        self.ids.add(IdOwner::Pools, text, order);
        Some(())
    }
}
