//! Model: two-sided quotes.

use std::collections::BTreeMap;

use super::{
    At, Fate, Fields, Model, NOT_ALLOWED, Number, Order, Passed, UNKNOWN_ORDER, UNSUPPORTED, Why,
};

/// A quote, by the number of its bid.
#[derive(Clone, Debug)]
pub struct Quote {
    pub client: usize,
    pub account: usize,
    pub symbol: usize,
    pub id: String,
}

/// Whether a number is less than another one.
fn is_below(one: Number, other: Number) -> bool {
    let scale = one.1.max(other.1);
    let units = |it: Number| it.0 * 10_i128.pow(scale - it.1);
    units(one) < units(other)
}

impl Model {
    fn in_memory(&self, bid: u64) -> bool {
        self.orders.contains_key(&bid) || self.orders.contains_key(&(bid + 1))
    }

    fn open_sides(&self, bid: u64) -> Vec<u64> {
        let is_open = |side: &u64| self.orders.get(side).is_some_and(Order::is_open);
        [bid, bid + 1].into_iter().filter(is_open).collect()
    }

    /// The fields of a side as those of a new order.
    fn side<'a>(fields: &Fields<'a>, id: &'a str, buys: bool) -> Fields<'a> {
        let (price, size, side) = if buys {
            (132, 134, "1")
        } else {
            (133, 135, "2")
        };
        let mut order = Fields::new();
        order.extend([(11, id), (54, side), (40, "2"), (55, fields[&55])]);
        order.extend([(44, fields[&price]), (38, fields[&size])]);
        for tag in [1, 59] {
            if let Some(value) = fields.get(&tag) {
                order.insert(tag, value);
            }
        }
        order
    }

    pub fn quote(&mut self, client: usize, fields: &Fields<'_>) {
        let id = fields[&117];
        let ids = [format!("{id}/B"), format!("{id}/O")];
        let sides = [
            Self::side(fields, &ids[0], true),
            Self::side(fields, &ids[1], false),
        ];
        let former = self.former(client, fields);
        // RC16 does not see what is about to be cancelled.
        let beside = [former.map(|it| it + 1), former];
        let both = sides.iter().zip(beside);
        let mut passed = both.map(|(side, not)| self.accept_side(client, side, not).map(|_| ()));
        let passed = passed.find(Result::is_err).unwrap_or(Ok(()));
        let number = |tag: u32| Number::read(fields[&tag]).unwrap();
        let crosses = passed.is_ok() && !is_below(number(132), number(133));
        if let Err(why) = passed.and(if crosses {
            Err(Why::Other(99, 2))
        } else {
            Ok(())
        }) {
            return self.refuse_quote(client, fields, &why);
        }
        let bid = self.last + 1;
        for (number, (side, not)) in (bid..).zip(sides.iter().zip(beside)) {
            match self.accept_side(client, side, not) {
                Ok((order, words)) => {
                    self.place(order, words);
                }
                Err(why) => {
                    if number > bid {
                        self.reject(bid, &why);
                    }
                    return self.refuse_quote(client, fields, &why);
                }
            }
        }
        let order = &self.orders[&bid];
        let quote = Quote {
            client,
            account: order.account,
            symbol: order.symbol,
            id: id.to_owned(),
        };
        self.quotes.insert(bid, quote);
        for side in [bid, bid + 1] {
            self.orders.get_mut(&side).unwrap().quote = Some(bid);
        }
        if !self.world.clients[client].is_old {
            self.write_quote(bid, 10, "");
        }
        let scopes = self.scopes_of(&self.orders[&bid]);
        if self.guard(&scopes) {
            return self.reject_both(bid, &Why::Rc("RC1", 0));
        }
        let line = former.and_then(|former| self.replace_quote(former));
        self.send_quote(bid, line);
    }

    /// The last quote for an account and symbol of those in memory.
    fn current(&self, client: usize, account: usize, symbol: usize) -> Option<u64> {
        let mut quotes = self.quotes.iter().rev();
        let is_its = |quote: &Quote| {
            (quote.client, quote.account, quote.symbol) == (client, account, symbol)
        };
        let found = quotes.find(|(bid, quote)| is_its(quote) && self.in_memory(**bid));
        found.map(|(bid, _)| *bid)
    }

    fn former(&self, client: usize, fields: &Fields<'_>) -> Option<u64> {
        let account = match fields.get(&1) {
            None => self.world.clients[client].default?,
            Some(name) => self.account(name)?,
        };
        let symbol = self.symbol(fields[&55])?;
        let former = self.current(client, account, symbol)?;
        (!self.open_sides(former).is_empty()).then_some(former)
    }

    fn refuse_quote(&mut self, client: usize, fields: &Fields<'_>, why: &Why) {
        self.write_quote_refused(client, fields, 5, why);
        let session = self.world.clients[client].session;
        let refused = Passed {
            refused: 1,
            ..Passed::default()
        };
        self.pass(&[At::Firm, At::Session(session)], refused);
        self.guard(&[At::Firm, At::Session(session)]);
    }

    fn reject_both(&mut self, bid: u64, why: &Why) {
        for side in [bid, bid + 1] {
            if self.orders[&side].is_open() {
                self.reject(side, why);
            }
        }
    }

    /// The line of the quote that is replaced.
    fn replace_quote(&mut self, former: u64) -> Option<usize> {
        let open = self.open_sides(former);
        let line = self.orders[open.first()?].line;
        self.withdraw_sides(&open);
        for side in open {
            self.cancel(side);
        }
        Some(line)
    }

    fn withdraw_sides(&mut self, sides: &[u64]) {
        for side in sides {
            self.orders.get_mut(side).unwrap().withdrawn = true;
        }
        self.cancelling.extend(sides);
    }

    /// Over the line of the former quote if that is possible; both sides or none.
    fn send_quote(&mut self, bid: u64, former: Option<usize>) {
        let symbol = self.orders[&bid].symbol;
        let is_ready = |line: &usize| {
            let lines = self.world.symbols[symbol].lines;
            lines.contains(line) && self.ready.contains(line) && !self.leaving.contains(line)
        };
        let line = match former.filter(is_ready) {
            Some(line) => Ok(line),
            None => self.line_for(symbol, None),
        };
        let line = match line {
            Ok(line) => line,
            Err(why) => return self.reject_both(bid, &why),
        };
        for side in [bid, bid + 1] {
            if let Err(why) = self.give_number(side) {
                self.reject(side, &why);
                return self.reject_both(bid, &Why::Other(0, 2));
            }
        }
        for side in [bid, bid + 1] {
            let order = self.orders.get_mut(&side).unwrap();
            (order.line, order.fate) = (line, Fate::Sent);
            self.went(line);
            self.write_new(side);
        }
    }

    pub fn quote_cancel(&mut self, client: usize, fields: &Fields<'_>) {
        match self.accept_quote_cancel(client, fields) {
            Ok(quotes) => {
                let sides = quotes.into_iter().flat_map(|bid| self.open_sides(bid));
                let sides: Vec<u64> = sides.collect();
                let session = self.world.clients[client].session;
                let cancel = Passed {
                    cancels: 1,
                    ..Passed::default()
                };
                self.pass(&[At::Firm, At::Session(session)], cancel);
                self.write_quotes_cancelled(client, fields, sides.len());
                self.withdraw_sides(&sides);
            }
            Err(why) => {
                let is_old = self.world.clients[client].is_old;
                let is_unknown = why == UNKNOWN_ORDER && !is_old;
                let status = if is_unknown { 9 } else { 5 };
                self.write_quote_refused(client, fields, status, &why);
            }
        }
    }

    fn accept_quote_cancel(&self, client: usize, fields: &Fields<'_>) -> Result<Vec<u64>, Why> {
        let user = &self.world.clients[client];
        if !user.may.contains(&"quote") {
            return Err(NOT_ALLOWED);
        }
        self.check_cancel(&[At::Firm, At::Session(user.session)])?;
        let its = self.quotes.iter();
        let its = its.filter(|(bid, quote)| quote.client == client && self.in_memory(**bid));
        let last = its.map(|(bid, quote)| ((quote.account, quote.symbol), *bid));
        let its: Vec<u64> = last.collect::<BTreeMap<_, _>>().into_values().collect();
        match (fields[&298], fields.get(&55)) {
            ("1", None) | ("5", _) => {
                let mut its = its.into_iter();
                let found = its.find(|bid| self.quotes[bid].id == fields[&117]);
                Ok(vec![found.ok_or(UNKNOWN_ORDER)?])
            }
            ("1", Some(name)) => {
                let symbol = self.symbol(name).ok_or(Why::Rc("RC2", 1))?;
                let mut its = its;
                its.retain(|bid| self.quotes[bid].symbol == symbol);
                Ok(its)
            }
            ("4", _) => Ok(its),
            _ => Err(UNSUPPORTED),
        }
    }

    /// The client gets the status of a quote when a report of a side changes it.
    pub fn side_changed(&mut self, number: u64, kind: char, last: i128) {
        let order = &self.orders[&number];
        let Some(bid) = order.quote else {
            return;
        };
        let other = if number == bid { bid + 1 } else { bid };
        let other = self.orders.get(&other);
        let fate = match other.map_or(Fate::Over('4'), |it| it.fate) {
            Fate::Lapsed => Fate::Over('C'),
            fate => fate,
        };
        let is_open = !matches!(fate, Fate::Over(_));
        let is_rejected = fate == Fate::Over('8');
        let is_answered = other.is_none_or(Order::is_answered);
        let was_last = order.fate == Fate::Over('2') && order.filled - last < order.quantity;
        let (status, text) = match kind {
            '0' if is_rejected => (0, "the other side was rejected"),
            '0' if is_answered => (0, ""),
            '8' if is_rejected => (5, "both sides were rejected"),
            '8' if is_open && is_answered => (0, "the other side was rejected"),
            'C' if fate == Fate::Over('C') => (7, ""),
            '8' | '4' | 'C' | '3' if !is_open => (6, ""),
            'F' if was_last && !is_open => (6, ""),
            _ => return,
        };
        if status <= 5 || !self.world.clients[order.client].is_old {
            self.write_quote(bid, status, text);
        }
    }
}
