//! Whether an OMS, its client and the simulated exchange agree in the evening, by the exchange's own book.
//!
//! Unlike [`agree`](super::books::agree) this believes no report: the exchange may have changed or lost some, and may
//! have cancelled trades.

use super::floor::{ACCOUNTS, Floor};
use super::heard::Heard;
use super::venue::{self, VenueOrder};
use serde_json::Value;
use std::collections::BTreeMap;

/// The books of client, OMS and exchange at the end of a day.
#[derive(Clone, Copy, Debug)]
pub struct Evening<'a> {
    /// The files and ports of the three.
    pub floor: &'a Floor,
    /// The session of the client.
    pub client: &'a str,
}

impl Evening<'_> {
    /// The open breaks of the OMS.
    ///
    /// # Errors
    ///
    /// The OMS does not answer.
    pub fn breaks(&self) -> Result<Vec<Value>, String> {
        self.floor.ask(&["breaks"])
    }

    /// The first order whose state differs and that is not among the breaks.
    ///
    /// # Errors
    ///
    /// There is one, or one of the three does not answer.
    pub fn is_found(&self) -> Result<(), String> {
        let breaks = self.breaks()?;
        let is_break = |of: &u64| breaks.iter().any(|it| it["order"].as_u64() == Some(*of));
        match self.differing()?.iter().find(|(of, _)| !is_break(of)) {
            Some((_, what)) => Err(format!("no break: {what}")),
            None => Ok(()),
        }
    }

    /// The exchange's own book.
    fn venue(&self) -> Result<BTreeMap<u64, VenueOrder>, String> {
        venue::orders(&self.floor.tell_exchange("command", "orders")?)
    }

    /// The orders as the client knows them.
    ///
    /// # Errors
    ///
    /// The client's journal cannot be read.
    pub fn heard(&self) -> Result<Heard, String> {
        Heard::of(&self.floor.store(self.client))
    }

    /// The OMS's orders, by number.
    fn orders(&self) -> Result<BTreeMap<u64, Value>, String> {
        let mut orders = BTreeMap::new();
        for account in ACCOUNTS {
            let rows = self.floor.ask(&["orders", "--account", account])?;
            orders.extend(rows.into_iter().map(|row| (row["order"].as_u64(), row)));
        }
        let numbered = orders.into_iter();
        Ok(numbered.filter_map(|(at, row)| Some((at?, row))).collect())
    }

    /// Orders whose state in the OMS differs from the exchange's book, with the difference.
    fn differing(&self) -> Result<Vec<(u64, String)>, String> {
        let (ours, venue) = (self.orders()?, self.venue()?);
        let mut found = Vec::new();
        for (number, there) in &venue {
            match ours.get(number) {
                Some(here) if stands(here, there) => {}
                here => found.push((*number, format!("{here:?}, the exchange has {there:?}"))),
            }
        }
        // The order ended before it was sent.
        let never = ours
            .iter()
            .filter(|(number, _)| !venue.contains_key(number));
        let never = never.filter(|(_, row)| !is_ended(row) || row["filled"] != 0);
        found.extend(never.map(|(number, row)| (*number, format!("{row}, not at the exchange"))));
        Ok(found)
    }

    /// Orders, positions, reservations and the client's knowledge; each of its requests has one answer.
    ///
    /// # Errors
    ///
    /// The first difference.
    pub fn agree(&self) -> Result<(), String> {
        if let Some((_, what)) = self.differing()?.first() {
            return Err(what.clone());
        }
        let (ours, venue) = (self.orders()?, self.venue()?);
        self.positions(&ours, &venue)?;
        let client = self.heard()?;
        client.is_answered()?;
        for (number, there) in &venue {
            let knows = client.last.get(number).copied();
            if knows != Some((there.filled, there.is_open())) {
                return Err(format!(
                    "the client knows {knows:?} of order {number}, the exchange has {there:?}"
                ));
            }
        }
        Ok(())
    }

    /// Quantities bought, sold, open to buy and open to sell, by account and symbol, computed from the exchange's
    /// orders.
    fn positions(
        &self,
        ours: &BTreeMap<u64, Value>,
        venue: &BTreeMap<u64, VenueOrder>,
    ) -> Result<(), String> {
        let mut wanted: BTreeMap<(String, String), (i64, [u64; 2])> = BTreeMap::new();
        for (number, there) in venue {
            let account = ours.get(number).map(|row| text(&row["account"]));
            let key = (account.unwrap_or_default(), there.symbol.clone());
            let (net, open) = wanted.entry(key).or_default();
            let filled = i64::try_from(there.filled).unwrap_or(i64::MAX);
            *net += if there.is_buy { filled } else { -filled };
            open[usize::from(!there.is_buy)] += there.leaves;
        }
        wanted.retain(|_, it| *it != (0, [0, 0]));
        let mut stands = BTreeMap::new();
        for row in self.floor.ask(&["positions"])? {
            let figure = |name: &str| row[name].as_u64().unwrap_or(0);
            let signed = |name: &str| i64::try_from(figure(name)).unwrap_or(i64::MAX);
            let open = [figure("open_to_buy"), figure("open_to_sell")];
            let position = (signed("long") - signed("short"), open);
            stands.insert((text(&row["account"]), text(&row["symbol"])), position);
        }
        stands.retain(|_, it| *it != (0, [0, 0]));
        match stands == wanted {
            true => Ok(()),
            false => Err(format!(
                "positions are {stands:?}, the exchange's orders make {wanted:?}"
            )),
        }
    }
}

/// Whether an order of the OMS has the same state at the exchange.
fn stands(here: &Value, there: &VenueOrder) -> bool {
    let is_open = matches!(&*text(&here["state"]), "working" | "partially filled");
    if !is_open && !is_ended(here) {
        // A request is not answered yet.
        return false;
    }
    let near = |price: f64| {
        text(&here["price"])
            .parse()
            .is_ok_and(|it: f64| (it - price).abs() < 1e-6)
    };
    let is_same = (here["filled"].as_u64(), is_open) == (Some(there.filled), there.is_open());
    let terms = here["quantity"].as_u64() == Some(there.quantity) && there.price.is_none_or(near);
    is_same && (terms || !is_open)
}

/// Whether an order of the OMS has ended.
fn is_ended(here: &Value) -> bool {
    let ends = ["filled", "cancelled", "rejected", "expired", "done for day"];
    ends.contains(&&*text(&here["state"]))
}

fn text(value: &Value) -> String {
    let text = value.as_str().map(str::to_owned);
    text.unwrap_or_else(|| value.to_string())
}
