//! A closed order that has left memory and returns: its row is what the state had of the order when it left. The row
//! comes from a replay of the journal outside the OMS, and is part of the event that brings the order back, so that a
//! replay needs nothing else.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use fixwire_ledger::{Wire, record};
use fixwire_protocol::SOH;

use crate::state::OmsState;
use crate::state::orders::carried::Fields;
use crate::state::orders::{Fill, Order};
use crate::values::fields::carried::is_whole;
use crate::values::units::{MOST, Rescale, Scales};
use crate::values::value::{Number, Text};

/// An order of which nothing is pending.
#[derive(Clone, Debug)]
pub(crate) struct RecalledOrder {
    pub(crate) order: Order,
    /// Its fills, the first one first.
    fills: Vec<Fill>,
    /// ExecIDs(17) of the venue that its client has, by their hashes, with the ExecType(150) of their reports.
    exec_ids: Vec<(u64, (u8, Text))>,
    /// The fields that it carries.
    fields: Option<Fields>,
    /// Whether it is a parent order, and its children that were in memory.
    is_parent: bool,
    children: Vec<Number>,
    /// Its parent order, if it is a child.
    pub(crate) parent: Option<Number>,
}

record! { RecalledOrder { order, fills, exec_ids, fields, is_parent, children, parent } }

impl RecalledOrder {
    /// The closed order with this number; `None` when it is open or not in memory.
    pub(crate) fn of(state: &OmsState, number: Number) -> Option<Self> {
        let order = state.orders.get(number)?;
        if order.state.is_open() {
            return None;
        }
        let mut fills: Vec<Fill> = state.orders.fills_of(number).copied().collect();
        fills.reverse();
        let ids = state.exec_ids.all.range((number, 0)..=(number, u64::MAX));
        Some(Self {
            order: order.clone(),
            fills,
            exec_ids: ids.map(|((_, exec), id)| (*exec, id.clone())).collect(),
            fields: state.carried.fields.get(number).map(Fields::of),
            is_parent: state.families.is_parent(number),
            children: state.families.children(number).collect(),
            parent: state.families.parent_of(number),
        })
    }

    /// Reads a row; `None` when its bytes are no such order.
    pub(crate) fn read(mut row: &[u8]) -> Option<Self> {
        let order = Self::take(&mut row)?;
        row.is_empty().then_some(order)
    }

    /// The bytes of the row.
    pub(crate) fn row(&self) -> Vec<u8> {
        let mut row = Vec::new();
        let pen = &mut fixwire_ledger::Pen::new(&mut row);
        self.put(pen);
        pen.flush();
        row
    }

    /// Whether the order can be in memory: the state has the names to which it refers, and it is closed.
    pub(crate) fn fits(&self, state: &OmsState, number: Number) -> bool {
        let order = &self.order;
        order.number == number
            && number > 0
            && number <= state.last
            && order.attempt() <= state.last
            && order.current <= state.last
            && !order.state.is_open()
            && state.orders.get(number).is_none()
            && state.sessions.get(order.session).is_some()
            && order
                .line()
                .is_none_or(|it| state.sessions.get(it).is_some())
            && state.accounts.get(order.account).is_some()
            && state.instruments.get(order.instrument).is_some()
            && state.legs(order.instrument).is_none()
            && order.pool.is_none_or(|it| state.pools.get(it).is_some())
            && self
                .parent
                .is_none_or(|it| it < number && state.families.is_parent(it))
            && !(self.is_parent && self.parent.is_some())
            && state.quotes.may_have(order)
            && self.has_possible_fills()
            && self.has_possible_texts()
    }

    /// Whether the fills can be those of one order: each bust or correction is of an earlier fill.
    fn has_possible_fills(&self) -> bool {
        let is_price = |price: i64| price.unsigned_abs() <= MOST;
        let mut execs = BTreeSet::new();
        let mut counted = 0_u64;
        let are = self.fills.iter().all(|fill| {
            let counts = if fill.undone == 0 { fill.quantity } else { 0 };
            counted = counted.saturating_add(counts);
            let is_new = fill.exec != 0 && execs.insert(fill.exec);
            is_new && !execs.contains(&fill.undone) && fill.quantity <= MOST && is_price(fill.price)
        });
        let order = &self.order;
        are && counted <= MOST
            && order.filled <= MOST
            && order.quantity <= MOST
            && [order.price, order.stop, order.hold]
                .into_iter()
                .all(is_price)
    }

    /// Whether ids and fields can be values of FIX fields: no id contains SOH, and each field is whole.
    fn has_possible_texts(&self) -> bool {
        let Order {
            id,
            venue_id,
            pool_number,
            ..
        } = &self.order;
        let passed = self.exec_ids.iter().map(|(_, (_, id))| id);
        let mut texts = [id, venue_id, pool_number].into_iter().chain(passed);
        let fields = self.fields.as_ref();
        texts.all(|it| !it.bytes().contains(&SOH))
            && fields.is_none_or(|Fields { header, body, kept }| {
                [header, body, kept].into_iter().all(|it| is_whole(it))
            })
    }

    fn rescale(&mut self, by: Rescale) {
        self.order.rescale(by);
        for fill in &mut self.fills {
            by.price(&mut fill.price);
            by.quantity(&mut fill.quantity);
        }
    }

    /// Applies [`Recalled`](crate::event::StrayEvent::Recalled): the order is the last one that was closed. `scales` are
    /// the decimals of the row.
    pub(crate) fn enter(
        mut self,
        number: Number,
        scales: Scales,
        state: &mut OmsState,
    ) -> Option<()> {
        self.fits(state, number).then_some(())?;
        // The prices or quantities of the instrument may have more decimals by now.
        let instrument = self.order.instrument;
        self.rescale(Rescale::between(scales, state.scales(instrument))?);
        let session = self.order.session;
        let mut order = Order {
            pended: None,
            withdrawn: false,
            asked: 0,
            ..self.order
        };
        state.quotes.recall(&mut order);
        let place = state.orders.add(order);
        for fill in self.fills {
            state.orders.add_fill(place, fill);
        }
        state.orders.has_ended(number, false);
        state.strays.recalled.insert(number, None);
        if state.exec_ids.is_on() {
            let ids = self.exec_ids.into_iter();
            let ids = ids.map(|(exec, id)| ((number, exec), id));
            state.exec_ids.all.extend(ids);
        }
        if let Some(fields) = self.fields {
            state.carried.add(number, fields.get());
        }
        if self.is_parent {
            state.families.recall(number, session);
            let is_closed = |child: &Number| {
                state
                    .orders
                    .get(*child)
                    .is_some_and(|it| !it.state.is_open())
            };
            for child in self.children.into_iter().filter(is_closed) {
                state.families.link(child, number);
            }
        }
        let Some(parent) = self.parent else {
            return Some(());
        };
        // The parent leaves memory after its child, so that the child has it when it leaves.
        if !state.is_open(parent) {
            state.orders.is_open_again(parent);
            let stays = state.breaks.has_open(parent);
            state.orders.has_ended(parent, stays);
        }
        state.families.link(number, parent)
    }
}
