//! The book of the simulated exchange, as its operator sees it: faults change its reports, but never the book.

use std::collections::BTreeMap;

/// An order of the command `orders`.
#[derive(Clone, Debug, PartialEq)]
pub struct VenueOrder {
    /// Symbol(55).
    pub symbol: String,
    /// Side(54) is 1.
    pub is_buy: bool,
    /// OrderQty(38).
    pub quantity: u64,
    /// Price(44); none of a market order.
    pub price: Option<f64>,
    /// OrdStatus(39).
    pub status: char,
    /// CumQty(14).
    pub filled: u64,
    /// LeavesQty(151).
    pub leaves: u64,
    /// The newest ClOrdID(11) of the order.
    pub id: String,
}

impl VenueOrder {
    /// Whether the order may still trade.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self.status, '0' | '1' | '5' | 'A' | '6' | 'E')
    }
}

/// The orders that the command `orders` lists, by the OMS's number, with which their ClOrdIDs begin.
///
/// # Errors
///
/// A line that is not an order, or a second order with the same number.
pub fn orders(listing: &str) -> Result<BTreeMap<u64, VenueOrder>, String> {
    let mut orders = BTreeMap::new();
    for line in listing.lines() {
        let (number, order) = order(line).ok_or_else(|| format!("no order: {line}"))?;
        if orders.insert(number, order).is_some() {
            return Err(format!("order {number} is there twice: {line}"));
        }
    }
    Ok(orders)
}

/// `7: MEMBER, ClOrdID 3-1, VOD: buy 100 @ 12.50, OrdStatus 1, filled 40, left 60`.
fn order(line: &str) -> Option<(u64, VenueOrder)> {
    let mut parts = line.split(": ").skip(1);
    let (of, terms) = (parts.next()?, parts.next()?);
    let (head, symbol) = of.rsplit_once(", ")?;
    let (_, id) = head.rsplit_once("ClOrdID ")?;
    let words: Vec<&str> = terms
        .split([' ', ','])
        .filter(|it| !it.is_empty())
        .collect();
    let [
        side,
        quantity,
        "@",
        price,
        "OrdStatus",
        status,
        "filled",
        filled,
        "left",
        leaves,
    ] = words[..]
    else {
        return None;
    };
    let number = id.split('-').next()?.parse().ok()?;
    let order = VenueOrder {
        symbol: symbol.to_owned(),
        is_buy: side == "buy",
        quantity: quantity.parse().ok()?,
        price: price.parse().ok(),
        status: status.chars().next()?,
        filled: filled.parse().ok()?,
        leaves: leaves.parse().ok()?,
        id: id.to_owned(),
    };
    Some((number, order))
}

/// ExecID(17) and quantity of the trades that the command `fills` lists.
#[must_use]
pub fn fills(listing: &str) -> Vec<(String, u64)> {
    let fill = |line: &str| {
        let (exec_id, rest) = line.split_once(": ")?;
        let (_, terms) = rest.rsplit_once(": ")?;
        let (quantity, _) = terms.split_once(" at ")?;
        Some((exec_id.to_owned(), quantity.parse().ok()?))
    };
    listing.lines().filter_map(fill).collect()
}

#[test]
fn listings_are_read() {
    let line = "7: FIX.4.2:EXCHANGE->LINE1, ClOrdID 3-1, VOD: sell 100 @ 12.50, OrdStatus 1, filled 40, left 60\n";
    let read = orders(line).unwrap();
    let order = &read[&3];
    assert_eq!((order.symbol.as_str(), order.is_buy), ("VOD", false));
    assert_eq!((order.quantity, order.price), (100, Some(12.5)));
    assert_eq!(
        (order.filled, order.leaves, order.is_open()),
        (40, 60, true)
    );
    assert!(orders(&line.repeat(2)).is_err() && orders("none").is_err());
    let trade = "17: order 3 of FIX.4.2:EXCHANGE->LINE1, ClOrdID 3-1, VOD: 40 at 12.50\n";
    assert_eq!(fills(trade), [("17".to_owned(), 40)]);
}
