//! The orders of all members: open orders, and closed orders while they are remembered.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use hashbrown::HashMap;

use crate::dialect::Dialect;

/// A trade of an order.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Filled {
    /// ExecID(17) of the last report about the trade.
    pub(crate) exec_id: u64,
    pub(crate) lots: u64,
    pub(crate) ticks: i64,
}

/// An order with the data of its reports.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Order {
    /// OrderID(37), also the order's id in the book.
    pub(crate) id: u64,
    pub(crate) member: u32,
    pub(crate) instrument: u32,
    /// ClOrdIDs(11), the latest last.
    pub(crate) ids: Vec<Box<[u8]>>,
    pub(crate) account: Box<[u8]>,
    /// Side(54), OrdType(40) and TimeInForce(59) as sent by the member.
    pub(crate) side: u8,
    pub(crate) ord_type: u8,
    pub(crate) time_in_force: u8,
    /// OrderQty(38), in lots.
    pub(crate) quantity: u64,
    pub(crate) display: Option<u64>,
    /// Price(44), in ticks.
    pub(crate) price: Option<i64>,
    pub(crate) stop: Option<i64>,
    /// CumQty(14), in lots.
    pub(crate) filled: u64,
    /// Sum of ticks times lots of all trades.
    pub(crate) notional: i128,
    /// The trades of the order, without cancelled trades.
    pub(crate) fills: Vec<Filled>,
    /// OrdStatus(39) of a closed order; `None` while the order is open.
    pub(crate) closed: Option<u8>,
    /// OrdStatus(39) of an open scripted order, if the quantities do not determine it: A, 6 or E.
    pub(crate) pending: Option<u8>,
}

impl Order {
    /// The current ClOrdID of the order.
    pub(crate) fn cl_ord_id(&self) -> &[u8] {
        self.ids.last().map_or(b"", |id| id)
    }

    /// OrdStatus(39) for a member. FIX 4.2 and 4.3 have a value of their own for an order that was replaced and has
    /// not traded.
    pub(crate) fn status(&self, dialect: Dialect) -> u8 {
        match self.closed.or(self.pending) {
            Some(status) => status,
            None if self.filled > 0 => b'1',
            None if self.ids.len() > 1 && dialect == Dialect::Fix42 => b'5',
            None => b'0',
        }
    }

    /// LeavesQty(151), in lots: 0 for a closed order.
    pub(crate) fn leaves(&self) -> u64 {
        match self.closed {
            Some(_) => 0,
            None => self.quantity.saturating_sub(self.filled),
        }
    }
}

/// All orders: by OrderID, and by member with ClOrdID.
#[derive(Clone, Debug, Default)]
pub(crate) struct Orders {
    pub(crate) all: BTreeMap<u64, Order>,
    /// OrderIDs by member and ClOrdID. The maps are never iterated, because the order of a hash map differs from run
    /// to run.
    pub(crate) by_cl_ord_id: Vec<HashMap<Box<[u8]>, u64>>,
    /// Closed orders, the oldest first.
    pub(crate) closed: VecDeque<u64>,
    pub(crate) remembered_max: u32,
}

impl Orders {
    /// Sets the number of closed orders to remember. Orders above this number are kept until [`forget`](Self::forget)
    /// is called.
    pub(crate) fn set_remembered_max(&mut self, most: u32) {
        self.remembered_max = most;
    }

    pub(crate) fn remembered_max(&self) -> u32 {
        self.remembered_max
    }

    pub(crate) fn get(&self, id: u64) -> Option<&Order> {
        self.all.get(&id)
    }

    pub(crate) fn get_mut(&mut self, id: u64) -> Option<&mut Order> {
        self.all.get_mut(&id)
    }

    /// The OrderID of the order with this ClOrdID of a member.
    pub(crate) fn find(&self, member: u32, cl_ord_id: &[u8]) -> Option<u64> {
        self.by_cl_ord_id
            .get(member as usize)?
            .get(cl_ord_id)
            .copied()
    }

    pub(crate) fn insert(&mut self, order: Order) {
        for id in &order.ids {
            name(&mut self.by_cl_ord_id, order.member, id.clone(), order.id);
        }
        if order.closed.is_some() {
            self.closed.push_back(order.id);
        }
        self.all.insert(order.id, order);
    }

    /// Adds a ClOrdID to the order.
    pub(crate) fn rename(&mut self, id: u64, cl_ord_id: &[u8]) {
        if let Some(order) = self.all.get_mut(&id) {
            let member = order.member;
            order.ids.push(cl_ord_id.into());
            name(&mut self.by_cl_ord_id, member, cl_ord_id.into(), id);
        }
    }

    /// Closes the order.
    pub(crate) fn close(&mut self, id: u64, status: u8) {
        if let Some(order) = self.all.get_mut(&id)
            && order.closed.is_none()
        {
            order.closed = Some(status);
            self.closed.push_back(id);
        }
    }

    /// Opens or closes an order, after its filled quantity has changed.
    pub(crate) fn refill(&mut self, id: u64) {
        let Some(order) = self.all.get_mut(&id) else {
            return;
        };
        let is_filled = order.filled >= order.quantity;
        match order.closed {
            None if is_filled => self.close(id, b'2'),
            Some(b'2') if !is_filled => {
                order.closed = None;
                self.closed.retain(|closed| *closed != id);
            }
            _ => {}
        }
    }

    /// Closes an order with this OrdStatus(39), even if it is closed already.
    pub(crate) fn end(&mut self, id: u64, status: u8) {
        self.close(id, status);
        if let Some(order) = self.all.get_mut(&id) {
            order.closed = Some(status);
        }
    }

    /// Removes closed orders above the limit, the oldest first, and returns them. The ClOrdIDs of removed orders can be
    /// reused.
    pub(crate) fn forget(&mut self) -> Vec<u64> {
        let mut forgotten = Vec::new();
        while self.closed.len() > self.remembered_max as usize {
            let oldest = self.closed.pop_front();
            let order = oldest.and_then(|id| self.all.remove(&id));
            let names = order.as_ref().and_then(|order| {
                let names = self.by_cl_ord_id.get_mut(order.member as usize)?;
                Some((order, names))
            });
            if let Some((order, names)) = names {
                for id in &order.ids {
                    // The `order_no` of a TMP member's rejected order may belong to another order by now.
                    if names.get(id) == Some(&order.id) {
                        names.remove(id);
                    }
                }
            }
            forgotten.extend(oldest);
        }
        forgotten
    }

    /// All orders by OrderID.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Order> {
        self.all.values()
    }

    /// Builds the index of all orders by ClOrdID again, after the orders were copied.
    pub(crate) fn name_all(&mut self) {
        for (id, order) in &self.all {
            for cl_ord_id in &order.ids {
                name(&mut self.by_cl_ord_id, order.member, cl_ord_id.clone(), *id);
            }
        }
    }

    /// Number of open orders.
    pub(crate) fn open(&self) -> usize {
        self.all.len() - self.closed.len()
    }
}

fn name(names: &mut Vec<HashMap<Box<[u8]>, u64>>, member: u32, cl_ord_id: Box<[u8]>, id: u64) {
    let member = member as usize;
    if names.len() <= member {
        names.resize(member + 1, HashMap::new());
    }
    names[member].insert(cl_ord_id, id);
}
