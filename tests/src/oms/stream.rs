//! A stream of orders that carry fields, and whether exchange, client, OMS and the files of its days have them as drawn.

use super::books::same;
use super::carried::{self, CarriedCounts, Versions, text_of};
use super::dialogue::{Carried, Dialogue, Standing, Told, plain};
use super::floor::Floor;
use super::trader::Trader;
use crate::random::Random;
use std::collections::{BTreeMap, BTreeSet};

/// What was drawn: the truth for all others.
#[derive(Debug)]
pub struct Stream {
    versions: Versions,
    /// The fields of orders and replaces.
    drawn: BTreeSet<String>,
    /// The terms of new orders, as [`Carried::terms`] has them, by their Text(58).
    terms: BTreeMap<String, String>,
    /// The number of requests.
    given: usize,
}

/// What a comparison has found.
#[derive(Clone, Copy, Debug, Default)]
pub struct StreamCounts {
    /// New orders of the client.
    pub orders: usize,
    /// Requests of every kind.
    pub requests: usize,
    /// Fills that were reported to the client.
    pub fills: usize,
    /// Requests with fields at the exchange.
    pub carried: CarriedCounts,
    /// Rows of orders in the files of the days.
    pub rows: usize,
    /// Orders that are open at the end.
    pub open: usize,
}

impl StreamCounts {
    /// Adds the counts of another comparison.
    pub fn add(&mut self, other: &Self) {
        self.orders += other.orders;
        self.requests += other.requests;
        self.fills += other.fills;
        self.carried.orders += other.carried.orders;
        self.carried.replaces += other.carried.replaces;
        self.carried.cancels += other.carried.cancels;
        self.rows += other.rows;
        self.open += other.open;
    }
}

/// An order as a table of the OMS has it.
type Row = BTreeMap<String, String>;

impl Stream {
    /// No order yet, between these versions.
    #[must_use]
    pub fn new(versions: Versions) -> Self {
        Self {
            versions,
            drawn: BTreeSet::new(),
            terms: BTreeMap::new(),
            given: 0,
        }
    }

    /// The number of new orders.
    #[must_use]
    pub fn orders(&self) -> usize {
        self.terms.len()
    }

    /// The number of requests.
    #[must_use]
    pub fn given(&self) -> usize {
        self.given
    }

    /// Gives the client one more random request.
    ///
    /// # Errors
    ///
    /// The client has ended.
    pub fn give(&mut self, client: &mut Trader, random: &mut Random) -> Result<(), String> {
        let drawn = carried::draw(random, self.versions);
        client.fields.clone_from(&drawn);
        let command = client.command(random)?;
        self.given += 1;
        if let Some(terms) = terms(&command) {
            self.terms.insert(text_of(&drawn).to_owned(), terms);
        }
        self.drawn.insert(drawn);
        Ok(())
    }

    /// Client, exchange, OMS and the files of these days have each order as it was drawn.
    ///
    /// # Errors
    ///
    /// The first difference.
    pub fn agree(
        &self,
        floor: &Floor,
        client: &Dialogue,
        exchange: &Dialogue,
        days: &[String],
    ) -> Result<StreamCounts, String> {
        for (whom, dialogue) in [("the OMS", client), ("the exchange", exchange)] {
            if let Some(id) = dialogue.unanswered() {
                return Err(format!("{whom} never answered {id}"));
            }
        }
        let carried = carried::compare((&self.drawn, self.versions), client, exchange)?;
        self.has_terms(client, exchange)?;
        stands(client, exchange)?;
        let open = floor.ask(&["orders", "--open"])?;
        let open = open
            .iter()
            .filter_map(serde_json::Value::as_object)
            .map(|row| {
                let cells = row.iter().map(|(name, cell)| {
                    let cell = cell
                        .as_str()
                        .map_or_else(|| cell.to_string(), str::to_owned);
                    (name.clone(), cell)
                });
                cells.collect::<Row>()
            });
        let open: Vec<Row> = open.collect();
        let is_open = |told: &&Told| told.standing.state == "open";
        let still = client.orders.values().filter(is_open).count();
        if open.len() != still {
            return Err(format!(
                "{} orders are open, the client has {still}",
                open.len()
            ));
        }
        let by_number = |rows: Vec<Row>| -> BTreeMap<String, Row> {
            rows.into_iter()
                .map(|row| (row["order"].clone(), row))
                .collect()
        };
        are_shown("oms orders", &by_number(open.clone()), client, true)?;
        let mut rows = BTreeMap::new();
        let mut count = 0;
        for day in days {
            let of_day = by_number(floor.day(day)?);
            count += of_day.len();
            // The newest day has the last state.
            rows.extend(of_day);
        }
        are_shown("the files of the days", &rows, client, false)?;
        Ok(StreamCounts {
            orders: self.orders(),
            requests: client.requests(),
            fills: client.fills,
            carried,
            rows: count,
            open: open.len(),
        })
    }

    /// Each order of the stream was sent once, with the terms that were drawn, and has them at the exchange.
    fn has_terms(&self, client: &Dialogue, exchange: &Dialogue) -> Result<(), String> {
        let is_new = |it: &&Carried| it.msg_type == "D";
        let sent = client.carried.values().filter(is_new);
        let there = exchange.carried.values().filter(is_new);
        let mut texts = BTreeSet::new();
        for order in sent {
            let text = text_of(&order.fields);
            if self.terms.get(text) != Some(&order.terms) || !texts.insert(text) {
                let drawn = self.terms.get(text);
                return Err(format!("the client sent {order:?}, of {drawn:?}"));
            }
        }
        if texts.len() != self.terms.len() {
            let missing = self.terms.keys().find(|text| !texts.contains(&***text));
            return Err(format!("the client never sent {missing:?}"));
        }
        for order in there {
            let text = text_of(&order.fields);
            if self.terms.get(text) != Some(&order.terms) || !texts.remove(text) {
                let drawn = self.terms.get(text);
                return Err(format!(
                    "the exchange got {order:?}, of {drawn:?}, or twice"
                ));
            }
        }
        Ok(())
    }
}

/// Rows of the OMS have the orders as the client knows them, with the fields as they were drawn.
fn are_shown(
    place: &str,
    rows: &BTreeMap<String, Row>,
    client: &Dialogue,
    only_open: bool,
) -> Result<(), String> {
    for (root, told) in &client.orders {
        let is_wanted = match only_open {
            true => told.standing.state == "open",
            false => told.order_id != "NONE",
        };
        let is_right = match rows.get(&told.order_id) {
            _ if !is_wanted => true,
            None => false,
            Some(row) => {
                let cell = |name: &str| row.get(name).map(String::as_str);
                let whole = |name: &str| cell(name).and_then(|it| it.parse::<u64>().ok());
                let is_it = |it: &&Carried| {
                    cell("fields") == Some(it.fields.trim_end_matches('|'))
                        && is_about(&it.terms, row)
                };
                requests(root, told, client).iter().any(is_it)
                    && whole("quantity") == Some(told.standing.quantity)
                    && whole("filled") == Some(told.standing.filled)
                    && cell("price").and_then(|it| it.parse().ok()) == told.standing.price
            }
        };
        if !is_right {
            let asked = requests(root, told, client);
            let row = rows.get(&told.order_id);
            return Err(format!(
                "{place}: order {} ({root}) carries or is something else: {row:?}, the client has {told:?} of {asked:?}",
                told.order_id
            ));
        }
    }
    Ok(())
}

/// The request that an order has its terms of; of a restated order, the replaces to its quantity.
fn requests<'a>(root: &str, told: &Told, client: &'a Dialogue) -> Vec<&'a Carried> {
    let quantity = told.standing.quantity.to_string();
    let is_its = |it: &&Carried| {
        it.msg_type == "G" && it.root == root && it.terms.split(' ').nth(3) == Some(&*quantity)
    };
    match &told.terms_of {
        Some(id) => client.carried.get(id).into_iter().collect(),
        None => client.carried.values().filter(is_its).collect(),
    }
}

/// Whether a row has the account, symbol and side of these terms.
fn is_about(terms: &str, row: &Row) -> bool {
    let mut words = terms.split(' ');
    let mut is = |name: &str| words.next() == row.get(name).map(String::as_str);
    let is_of = is("account") && is("symbol");
    let side = if words.next() == Some("1") {
        "buy"
    } else {
        "sell"
    };
    is_of && row.get("side").is_some_and(|it| it == side)
}

/// Client and exchange have the same state of each order.
fn stands(client: &Dialogue, exchange: &Dialogue) -> Result<(), String> {
    let mut known = BTreeSet::new();
    for (root, told) in &client.orders {
        let Some(there) = exchange.orders.get(&told.order_id) else {
            match (told.standing.state, told.standing.filled) {
                ("rejected" | "expired", 0) => continue,
                _ => return Err(format!("the exchange does not know {root}: {told:?}")),
            }
        };
        known.insert(&told.order_id);
        // An order that ended with the day ended at the exchange in its own way.
        let lapsed = Standing {
            state: "expired",
            ..there.standing.clone()
        };
        let has_lapsed = there.standing.state != "open" && same(&lapsed, &told.standing);
        if !same(&told.standing, &there.standing) && !has_lapsed {
            return Err(format!("{root} is {told:?}, the exchange has {there:?}"));
        }
    }
    match exchange.orders.keys().find(|id| !known.contains(id)) {
        Some(id) => Err(format!(
            "the client was never told of order {id} of the exchange"
        )),
        None => Ok(()),
    }
}

/// The terms of a new order, from the command for it.
fn terms(command: &str) -> Option<String> {
    let words: Vec<&str> = command.split(' ').collect();
    let [
        "new",
        side,
        quantity,
        symbol,
        "@",
        price,
        "tif",
        tif,
        "account",
        account,
    ] = words[..]
    else {
        return None;
    };
    let side = if side == "buy" { "1" } else { "2" };
    let tif = match tif {
        "gtc" => "1",
        "ioc" => "3",
        "fok" => "4",
        _ => "0",
    };
    let (kind, price) = match price {
        "market" => ("1", ""),
        price => ("2", price),
    };
    let terms = [account, symbol, side, quantity, kind, price, tif];
    Some(terms.map(|term| plain(term.to_owned())).join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terms_of_a_command_are_those_of_its_message() {
        let command = "new sell 7 VOD @ 12.50 tif ioc account 1000001";
        assert_eq!(terms(command).as_deref(), Some("1000001 VOD 2 7 2 12.5 3"));
        let market = command.replace("12.50", "market");
        assert_eq!(terms(&market).as_deref(), Some("1000001 VOD 2 7 1  3"));
        assert_eq!(terms("cancel 20261124-1"), None);
    }
}
