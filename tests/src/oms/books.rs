//! Whether client, OMS and exchange agree on every order.

use super::dialogue::{Dialogue, Standing, Told};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// An order as `fixwire oms orders --json` has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// ClOrdID(11) of the client.
    pub id: String,
    /// Account(1).
    pub account: String,
    symbol: String,
    is_buy: bool,
    /// The state of the order.
    pub standing: Standing,
}

/// A position as `fixwire oms positions --json` has it, by account and symbol.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Position {
    /// The quantity bought minus the quantity sold.
    pub net: i64,
    /// The quantity that open orders may still buy, and sell.
    pub open: [u64; 2],
}

/// The state by the OMS.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Books {
    /// By number.
    pub orders: BTreeMap<u64, Order>,
    /// By account and symbol.
    pub positions: BTreeMap<(String, String), Position>,
}

impl Books {
    /// Reads the rows of `orders` and `positions`.
    ///
    /// # Errors
    ///
    /// An order that is not settled, or a row that differs from an order.
    pub fn of(orders: &[Value], positions: &[Value]) -> Result<Self, String> {
        let mut books = Self::default();
        for row in orders {
            let number = row["order"].as_u64();
            let number = number.ok_or_else(|| format!("an order without number: {row}"))?;
            let order = order(row).ok_or_else(|| format!("the OMS has not settled {row}"))?;
            books.orders.insert(number, order);
        }
        for row in positions {
            let figure = |name: &str| row[name].as_u64().unwrap_or(0);
            let signed = |name: &str| i64::try_from(figure(name)).unwrap_or(i64::MAX);
            let position = Position {
                net: signed("long") - signed("short"),
                open: [figure("open_to_buy"), figure("open_to_sell")],
            };
            books
                .positions
                .insert((text(row, "account"), text(row, "symbol")), position);
        }
        Ok(books)
    }

    /// Positions follow from the orders and add up to nothing, since all traders here trade with each other.
    ///
    /// # Errors
    ///
    /// The first position that does not hold.
    pub fn add_up(&self) -> Result<(), String> {
        let mut wanted: BTreeMap<(String, String), Position> = BTreeMap::new();
        for order in self.orders.values() {
            let key = (order.account.clone(), order.symbol.clone());
            let position = wanted.entry(key).or_default();
            let filled = i64::try_from(order.standing.filled).unwrap_or(i64::MAX);
            position.net += if order.is_buy { filled } else { -filled };
            position.open[usize::from(!order.is_buy)] += order.standing.leaves;
        }
        let mut sums: BTreeMap<&str, i64> = BTreeMap::new();
        let keys: BTreeSet<_> = wanted.keys().chain(self.positions.keys()).collect();
        for key in keys {
            let wanted = wanted.get(key).copied().unwrap_or_default();
            let stands = self.positions.get(key).copied().unwrap_or_default();
            if wanted != stands {
                return Err(format!(
                    "the position of {key:?} is {stands:?}, its orders make {wanted:?}"
                ));
            }
            *sums.entry(&key.1).or_default() += stands.net;
        }
        match sums.into_iter().find(|(_, sum)| *sum != 0) {
            Some((symbol, sum)) => Err(format!("positions in {symbol} add up to {sum}")),
            None => Ok(()),
        }
    }
}

/// The three agree on every order, and each request has its answer.
///
/// # Errors
///
/// The first difference.
pub fn agree(clients: &[Dialogue], books: &Books, exchange: &Dialogue) -> Result<(), String> {
    for (whom, dialogue) in clients
        .iter()
        .map(|client| ("the OMS", client))
        .chain([("the exchange", exchange)])
    {
        if let Some(id) = dialogue.unanswered() {
            return Err(format!("{whom} never answered {id}"));
        }
        if let Some(id) = dialogue.uncancelled() {
            return Err(format!("a mass cancel has left order {id} open"));
        }
    }
    let mut known = BTreeSet::new();
    for (id, told) in clients.iter().flat_map(|client| &client.orders) {
        let number = told.order_id.parse().ok();
        let order = number.and_then(|number| books.orders.get(&number));
        match (order, told.standing.state) {
            // The order was refused before it had a number.
            (None, "rejected") if told.order_id == "NONE" => {}
            (None, _) => return Err(format!("the OMS has forgotten {id}: {told:?}")),
            (Some(order), _) if same(&order.standing, &told.standing) && order.id == told.id => {
                known.extend(number);
            }
            // The order ended with the trading day, and its venue reported its end later.
            (Some(order), "expired") if lapsed_as(order, told) => known.extend(number),
            (Some(order), _) => {
                return Err(format!(
                    "the client received another state of {id}: {told:?}, the OMS has {order:?}"
                ));
            }
        }
    }
    for (number, order) in &books.orders {
        if !known.contains(number) {
            return Err(format!(
                "no client received a report of order {number}: {order:?}"
            ));
        }
        match exchange.orders.get(&number.to_string()) {
            Some(there) if same(&there.standing, &order.standing) => {}
            Some(there) => {
                return Err(format!(
                    "the exchange has order {number} otherwise: {there:?}, the OMS {order:?}"
                ));
            }
            // No line was ready, or the exchange never had the order.
            None if order.standing.state == "rejected" => {}
            // The trading day ended before the order reached the exchange, which does not have it.
            None if order.standing.state == "expired" && order.standing.filled == 0 => {}
            None => {
                return Err(format!(
                    "the exchange does not know order {number}: {order:?}"
                ));
            }
        }
    }
    let mut there = exchange.orders.keys();
    match there.find(|id| !id.parse().is_ok_and(|id| books.orders.contains_key(&id))) {
        Some(id) => Err(format!(
            "the OMS has forgotten order {id}, which the exchange has"
        )),
        None => books.add_up(),
    }
}

/// Whether an order that ended with the trading day for its client has ended at its venue, and is the same in all else.
fn lapsed_as(order: &Order, told: &Told) -> bool {
    let lapsed = Standing {
        state: "expired",
        ..order.standing.clone()
    };
    order.standing.state != "open" && same(&lapsed, &told.standing) && order.id == told.id
}

/// Whether two sides have the same state of an order; averages may be cut at different digits.
#[must_use]
pub fn same(one: &Standing, other: &Standing) -> bool {
    let near = |one: f64, other: f64| (one - other).abs() < 0.000_01;
    let prices = match (one.price, other.price) {
        (Some(one), Some(other)) => near(one, other),
        (one, other) => one == other,
    };
    (one.state, one.quantity, one.filled, one.leaves)
        == (other.state, other.quantity, other.filled, other.leaves)
        && prices
        && near(one.average, other.average)
}

fn text(row: &Value, name: &str) -> String {
    let value = &row[name];
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// A row of `orders`; `None` for an order that the exchange has not answered.
fn order(row: &Value) -> Option<Order> {
    let state = text(row, "state");
    let state = match &*state {
        "working" | "partially filled" => "open",
        "filled" => "filled",
        "cancelled" => "cancelled",
        "rejected" => "rejected",
        "expired" => "expired",
        "done for day" => "done for day",
        _ => return None,
    };
    let (quantity, filled) = (row["quantity"].as_u64()?, row["filled"].as_u64()?);
    let leaves = quantity.saturating_sub(filled);
    Some(Order {
        id: text(row, "ClOrdID"),
        account: text(row, "account"),
        symbol: text(row, "symbol"),
        is_buy: text(row, "side") == "buy",
        standing: Standing {
            state,
            quantity,
            price: text(row, "price").parse().ok(),
            filled,
            leaves: if state == "open" { leaves } else { 0 },
            average: text(row, "average").parse().ok()?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// An order of A1 that is half filled, by one of A2; and a third one that was refused.
    fn said() -> [Vec<Value>; 2] {
        let order = |number: u64, account, side, quantity: u64, state| {
            json!({
                "order": number, "session": "CLIENT", "ClOrdID": format!("c{number}"), "account": account,
                "side": side, "symbol": "VOD", "quantity": quantity, "price": "12.5", "state": state,
                "filled": 50, "average": "12.5", "line": "LINE1"
            })
        };
        let position = |account, long, short, open: [u64; 2]| {
            json!({
                "account": account, "symbol": "VOD", "long": long, "short": short, "bought": 0, "sold": 0,
                "open_to_buy": open[0], "open_to_sell": open[1]
            })
        };
        [
            vec![
                order(1, "A1", "buy", 100, "partially filled"),
                order(2, "A2", "sell", 50, "filled"),
            ],
            vec![
                position("A1", 50, 0, [50, 0]),
                position("A2", 0, 50, [0, 0]),
            ],
        ]
    }

    fn dialogue(of: impl Fn(u64) -> [String; 2], refused: bool) -> Dialogue {
        let told = |at: u64| {
            let ([id, order_id], open) = (of(at), at == 1);
            let new = format!("35=D|34={at}|11={id}|");
            let head = format!("35=8|11={id}|37={order_id}|38={}|44=12.5|", 150 - 50 * at);
            let status = if open { '1' } else { '2' };
            [
                (true, new),
                (
                    false,
                    format!("{head}17=n{at}|150=0|39=0|14=0|151={}|6=0|", 150 - 50 * at),
                ),
                (
                    false,
                    format!(
                        "{head}17=f{at}|150=F|39={status}|32=50|31=12.5|14=50|151={}|6=12.5|",
                        if open { 50 } else { 0 }
                    ),
                ),
            ]
        };
        let refusal = [
            (true, "35=D|34=3|11=c3|".to_owned()),
            (
                false,
                "35=8|11=c3|37=NONE|17=r|150=8|39=8|38=1|14=0|151=0|6=0|".to_owned(),
            ),
        ];
        let refusal = refusal.into_iter().filter(|_| refused);
        Dialogue::tell(told(1).into_iter().chain(told(2)).chain(refusal)).unwrap()
    }

    fn client() -> Dialogue {
        dialogue(|at| [format!("c{at}"), at.to_string()], true)
    }

    fn exchange() -> Dialogue {
        dialogue(|at| [at.to_string(), format!("E{at}")], false)
    }

    fn judge(orders: &[Value], positions: &[Value]) -> Result<(), String> {
        agree(&[client()], &Books::of(orders, positions)?, &exchange())
    }

    #[test]
    fn three_that_say_the_same_agree() {
        let [orders, positions] = said();
        assert_eq!(judge(&orders, &positions), Ok(()));
    }

    #[test]
    fn each_planted_fault_is_found() {
        let spoilt = |at: usize, name: &str, value: Value| {
            let [mut orders, positions] = said();
            orders[at][name] = value;
            judge(&orders, &positions).unwrap_err()
        };
        assert!(spoilt(0, "state", "unknown".into()).contains("has not settled"));
        for (name, value) in [
            ("state", "cancelled".into()),
            ("filled", 40.into()),
            ("quantity", 120.into()),
            ("price", "12.6".into()),
            ("average", "12.4".into()),
            ("ClOrdID", "c9".into()),
        ] {
            assert!(
                spoilt(0, name, value).contains("received another state"),
                "{name}"
            );
        }
        assert!(spoilt(1, "account", "A1".into()).contains("the position of"));
        assert!(spoilt(1, "order", 7.into()).contains("has forgotten"));

        let [orders, mut positions] = said();
        let books = |positions: &[Value]| Books::of(&orders, positions).unwrap();
        let forgotten = agree(&[client()], &books(&positions), &Dialogue::default());
        assert!(forgotten.unwrap_err().contains("does not know order 1"));
        let untold = agree(&[Dialogue::default()], &books(&positions), &exchange());
        assert!(untold.unwrap_err().contains("no client received a report"));
        positions[0]["open_to_buy"] = 0.into();
        let reserved = agree(&[client()], &books(&positions), &exchange());
        assert!(reserved.unwrap_err().contains("the position of"));
    }
}
