//! The accepted orders, in memory. The oldest orders are removed first.

use std::collections::{HashMap, VecDeque};

use fixwire_protocol::SessionId;

/// Maximum number of orders kept.
const MOST: usize = 100_000;
/// Maximum length of a ClOrdID, Symbol or quantity that is kept, in bytes.
const LONGEST: usize = 128;

/// The fields of an order that reports on the order need.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EchoOrder {
    /// OrderID(37).
    pub id: u64,
    /// Symbol(55); empty when the order has none.
    pub symbol: Box<[u8]>,
    /// Side(54).
    pub side: Box<[u8]>,
    /// OrderQty(38).
    pub quantity: Box<[u8]>,
    /// State of the order.
    pub state: EchoState,
}

/// The state of an order; no order is ever filled.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EchoState {
    /// Accepted, as a new order or by a replace.
    Open,
    /// Canceled.
    Canceled,
    /// Replaced by an order with another ClOrdID.
    Replaced,
}

type Key = (SessionId, Box<[u8]>);

/// Orders by session and ClOrdID(11).
#[derive(Debug, Default)]
pub struct EchoBook {
    orders: HashMap<Key, EchoOrder>,
    /// Each key once, the oldest first. Some of these keys are no longer in `orders`.
    ages: VecDeque<Key>,
}

impl EchoBook {
    /// The order with this ClOrdID, if it is known.
    pub fn get(&self, session: SessionId, cl_ord_id: &[u8]) -> Option<&EchoOrder> {
        self.orders.get(&(session, cl_ord_id.into()))
    }

    /// The order with this ClOrdID(11), for a change.
    pub fn get_mut(&mut self, session: SessionId, cl_ord_id: &[u8]) -> Option<&mut EchoOrder> {
        self.orders.get_mut(&(session, cl_ord_id.into()))
    }

    /// Stores an order, replacing an order with the same ClOrdID.
    pub fn put(&mut self, session: SessionId, cl_ord_id: &[u8], order: EchoOrder) {
        let parts = [cl_ord_id, &order.symbol, &order.side, &order.quantity];
        if parts.iter().any(|part| part.len() > LONGEST) {
            return;
        }
        let key: Key = (session, cl_ord_id.into());
        if self.orders.insert(key.clone(), order).is_none() {
            self.ages.push_back(key);
        }
        while self.ages.len() > MOST {
            let oldest = self.ages.pop_front();
            oldest.map(|key| self.orders.remove(&key));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(id: u64) -> EchoOrder {
        EchoOrder {
            id,
            symbol: (*b"VOD").into(),
            side: (*b"1").into(),
            quantity: (*b"100").into(),
            state: EchoState::Open,
        }
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_order_goes_first() {
        let mut book = EchoBook::default();
        let session = SessionId(0);
        for n in 0..MOST as u64 + 10 {
            book.put(session, n.to_string().as_bytes(), order(n));
        }
        book.put(session, &[b'x'; LONGEST + 1], order(1));
        assert_eq!((book.orders.len(), book.ages.len()), (MOST, MOST));
        assert_eq!(book.get(session, b"9"), None);
        assert_eq!(book.get(session, b"10"), Some(&order(10)));
        assert_eq!(book.get(SessionId(1), b"10"), None, "of another session");
        book.put(session, b"10", order(11));
        assert_eq!(book.get(session, b"10"), Some(&order(11)));
        assert_eq!(book.ages.len(), MOST);
    }
}
