//! Model: orders that are held until a price of the market meets their condition, and orders that are valid for a time.

use super::checks::Wanted;
use super::{Fate, Fields, Model, Number, Order, SECOND, Why};

/// A price to look at: MDEntryType(269); at least or at most this.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    pub field: char,
    pub rises: bool,
    pub price: i128,
}

impl Condition {
    fn is_met(&self, price: i128) -> bool {
        if self.rises {
            price >= self.price
        } else {
            price <= self.price
        }
    }
}

/// OrdType(40) once it is triggered.
pub fn triggered(kind: char) -> char {
    match kind {
        '3' | 'J' => '1',
        '4' => '2',
        kind => kind,
    }
}

impl Model {
    /// Condition of a new order, of tag 9703 or of its stop price.
    pub fn condition(
        &self,
        client: usize,
        fields: &Fields<'_>,
        (symbol, side, kind): (usize, char, char),
        stop: i128,
    ) -> Result<Option<Condition>, Why> {
        let buys = side == '1';
        let by_stop = |rises| Condition {
            field: '2',
            rises,
            price: stop,
        };
        let own = match kind {
            'J' => Some(by_stop(!buys)),
            '3' | '4' if self.holds_stops(symbol) => Some(by_stop(buys)),
            _ => None,
        };
        let condition = match fields.get(&9703) {
            None => own,
            Some(_) if "34J".contains(kind) => return Err(Why::Other(11, 2)),
            Some(text) => {
                let (field, price) = text.split_once("=").unwrap();
                let rises = field.ends_with('>');
                let field = match &field[..field.len() - 1] {
                    "bid" => '0',
                    "offer" => '1',
                    _ => '2',
                };
                let scale = self.world.symbols[symbol].scale;
                let price = Number::read(price).unwrap().scaled(scale)?;
                Some(Condition {
                    field,
                    rises,
                    price,
                })
            }
        };
        if condition.is_some() {
            let most = self.world.clients[client].conditional;
            let most = most.ok_or(Why::Rc("RC2", 0))?;
            let mut held = self.orders.values().filter(|it| it.client == client);
            let held = held.by_ref().filter(|it| it.fate == Fate::Held).count();
            if held >= most {
                return Err(Why::Other(3, 2));
            }
        }
        Ok(condition)
    }

    fn holds_stops(&self, symbol: usize) -> bool {
        let lines = self.world.symbols[symbol].lines;
        self.world.no_stops.contains(&lines)
    }

    /// When it must have been sent.
    pub fn valid_until(&self, fields: &Fields<'_>) -> Option<i64> {
        let millis: i64 = fields.get(&9702)?.parse().unwrap();
        Some(self.now + millis * SECOND / 1000)
    }

    /// A price that is known already may meet the condition of a new order.
    pub fn look_at_price(&mut self, number: u64) {
        let order = &self.orders[&number];
        let condition = order.condition.unwrap();
        let known = self.prices.get(&(order.symbol, condition.field));
        if let Some(price) = known.copied() {
            self.touch(order.symbol, condition.field, price);
        }
    }

    fn touch(&mut self, symbol: usize, field: char, price: i128) {
        for order in self.orders.values().filter(|it| it.fate == Fate::Held) {
            let condition = order.condition.unwrap();
            let is_it = order.symbol == symbol && condition.field == field;
            if is_it && condition.is_met(price) {
                self.touched.insert(order.number);
            }
        }
    }

    /// MarketDataSnapshotFullRefresh(W) or MarketDataIncrementalRefresh(X).
    pub fn market_data(&mut self, msg_type: &str, body: &str) {
        let fields: Vec<(&str, &str)> = body
            .split('|')
            .filter_map(|field| field.split_once('='))
            .collect();
        let mut symbol = None;
        // Type, price, deleted.
        let mut entries: Vec<(Option<usize>, char, Option<Number>, bool)> = Vec::new();
        for (tag, value) in fields {
            let first = if msg_type == "W" { "269" } else { "279" };
            if tag == first {
                entries.push((symbol, ' ', None, false));
            }
            match (tag, entries.last_mut()) {
                ("55", entry) => {
                    symbol = self.symbol(value);
                    if let Some(entry) = entry {
                        entry.0 = symbol;
                    }
                }
                ("269", Some(entry)) => entry.1 = value.chars().next().unwrap(),
                ("270", Some(entry)) => entry.2 = Number::read(value),
                ("279", Some(entry)) => entry.3 = value == "2",
                _ => {}
            }
        }
        if msg_type == "W" {
            let symbol = symbol.unwrap();
            for field in ['0', '1'] {
                if !entries.iter().any(|(_, kind, ..)| *kind == field) {
                    self.prices.remove(&(symbol, field));
                }
            }
            // Trades come first.
            entries.sort_by_key(|(_, kind, ..)| *kind != '2');
        }
        for (symbol, kind, price, is_deleted) in entries {
            let Some(symbol) = symbol else { continue };
            if is_deleted {
                if kind != '2' {
                    self.prices.remove(&(symbol, kind));
                }
                continue;
            }
            self.set_price(symbol, kind, price.unwrap());
        }
    }

    pub fn set_price(&mut self, symbol: usize, field: char, price: Number) {
        // One with more decimals than its symbol is no price.
        if let Ok(price) = price.scaled(self.world.symbols[symbol].scale) {
            self.prices.insert((symbol, field), price);
            self.touch(symbol, field, price);
        } else {
            self.prices.remove(&(symbol, field));
        }
    }

    /// Triggers the next order whose condition is met, or rejects it.
    pub fn trigger(&mut self) -> bool {
        let Some(number) = self.touched.pop_first() else {
            return false;
        };
        let Some(order) = self.orders.get(&number).cloned() else {
            return true;
        };
        if order.fate != Fate::Held {
            return true;
        }
        if order.valid_until.is_some_and(|until| until <= self.now) {
            self.end(number, 'C', None, "");
            return true;
        }
        match self.check_again(&order) {
            Ok(_) => {
                let known = self.orders.get_mut(&number).unwrap();
                (known.fate, known.triggered) = (Fate::Waits, true);
                self.write_stage(number, "triggered:");
                let line = self.line_for(order.symbol, None);
                self.send_on(number, line);
            }
            Err(why) => self.reject(number, &why),
        }
        true
    }

    fn check_again(&self, order: &Order) -> Result<i128, Why> {
        let wanted = Wanted {
            session: self.world.clients[order.client].session,
            account: order.account,
            symbol: order.symbol,
            side: order.side,
            kind: triggered(order.kind),
            tif: order.tif,
            price: order.price,
            stop: order.stop,
            quantity: order.quantity,
            effect: order.effect,
            old: Some(order),
            beside: None,
            is_located: true,
            is_held: false,
            is_triggered: true,
            child_of: None,
        };
        self.check(&wanted)
    }

    /// Closes the next held order that was not triggered in time.
    pub fn look_at_held(&mut self) -> bool {
        let held = self.orders.values().filter(|it| it.fate == Fate::Held);
        let due = held.filter_map(|it| Some((it.valid_until?, it.number)));
        let due = due.filter(|(until, _)| *until <= self.now).min();
        if let Some((_, number)) = due {
            self.end(number, 'C', None, "");
        }
        due.is_some()
    }
}
