//! Assigns order numbers from pools, and checks order numbers that clients choose.

use crate::decide::core::{Core, NewOrder, Sink};
use crate::state::event::{OrderEvent, PoolEvent};
use crate::state::pools::PoolNumber;
use crate::values::form::Written;
use crate::values::ids::{PoolNo, SessionNo};
use crate::values::reason::{Reason, Why};
use crate::values::value::Number;

impl Core {
    /// The tag in which the client of a new order may choose the order number; `None` when the client may not choose
    /// it.
    pub(crate) fn own_number_tag_of(&self, new: &NewOrder<'_>) -> Option<u32> {
        if self.pools.is_empty() {
            return None;
        }
        let instrument = self.state.instruments().find(new.symbol)?;
        self.own_number_tag(new.session, self.lines.group_by(new.route, instrument))
    }

    /// The tag in which a client may choose the numbers of orders for a line group.
    pub(crate) fn own_number_tag(&self, session: SessionNo, group: Option<usize>) -> Option<u32> {
        let pool = self.pools.of(session, group)?;
        self.state.pools.get(pool).map(|pool| pool.tag)
    }

    /// Checks an order number chosen by a client.
    pub(crate) fn check_own_number(
        &self,
        session: SessionNo,
        group: Option<usize>,
        text: &[u8],
    ) -> Result<PoolNumber, Reason> {
        let pool = self.pools.of(session, group);
        let pool = pool.filter(|_| self.user(session).is_ok_and(|user| user.own_numbers));
        let pool = pool.ok_or(Reason::of(Why::OwnNumber))?;
        let refused = |why| Reason {
            value: pool.place().into(),
            ..Reason::of(why)
        };
        let form = self.pools.form(pool);
        let known = self.state.pools.get(pool);
        let (Some(form), Some(known)) = (form, known) else {
            return Err(Reason::of(Why::OwnNumber));
        };
        let number = form
            .read(text)
            .filter(|it| (known.first..=known.last).contains(it));
        let number = number.ok_or_else(|| refused(Why::NumberForm))?;
        if number < known.next || known.own.contains(&number) || self.state.has_number(text) {
            return Err(refused(Why::NumberUsed));
        }
        Ok((pool, number))
    }

    /// Gives an order the number that its client chose.
    pub(crate) fn take_own_number(
        &mut self,
        at: i64,
        order: Number,
        (pool, number): PoolNumber,
        text: &[u8],
        sink: &mut impl Sink,
    ) {
        let event = OrderEvent::Pool(PoolEvent::Numbered {
            order,
            pool,
            number,
            own: true,
            text,
        });
        self.emit(at, &event, sink);
        self.look_at_pool(at, pool, sink);
    }

    /// Gives an order that is about to be sent a number of its pool. An order gets a new number each time it is sent.
    ///
    /// # Errors
    ///
    /// The pool is empty.
    pub(crate) fn give_number(
        &mut self,
        at: i64,
        order: Number,
        sink: &mut impl Sink,
    ) -> Result<(), Reason> {
        let Some(known) = self.state.orders().get(order) else {
            return Ok(());
        };
        let group = self.lines.group_of(&self.state, known);
        let pool = self.pools.of(known.session, group);
        let Some(pool) = pool.filter(|_| !known.own_number) else {
            return Ok(());
        };
        let Some((number, text)) = self.next_number(pool) else {
            return Err(Reason {
                value: pool.place().into(),
                ..Reason::of(Why::NoNumber)
            });
        };
        let event = OrderEvent::Pool(PoolEvent::Numbered {
            order,
            pool,
            number,
            own: false,
            text: text.bytes(),
        });
        self.emit(at, &event, sink);
        self.look_at_pool(at, pool, sink);
        Ok(())
    }

    pub(crate) fn next_number(&self, pool: PoolNo) -> Option<(u64, Written)> {
        let form = self.pools.form(pool)?;
        let known = self.state.pools.get(pool)?;
        let numbers = (known.next..=known.last).filter(|number| !known.own.contains(number));
        let mut numbers = numbers.map(|number| (number, form.write(number)));
        // An order of the day before may have this number, or a number of another pool may have the same text.
        numbers.find(|(_, text)| !self.state.has_number(text.bytes()))
    }

    /// Raises an event when few numbers of a pool are left.
    pub(crate) fn look_at_pool(&mut self, at: i64, pool: PoolNo, sink: &mut impl Sink) {
        let known = self.state.pools.get(pool);
        if let Some(known) = known.filter(|it| !it.is_low && it.is_nearly_used()) {
            let left = known.left();
            self.emit(
                at,
                &OrderEvent::Pool(PoolEvent::NumbersLow { pool, left }),
                sink,
            );
        }
    }
}
