//! Model: spreads. An order of one counts in sets; its legs have quantities and positions of their own.

use super::checks::Wanted;
use super::clients::Filter;
use super::venue::Kind;
use super::{At, Fate, Fields, Model, Order, Why};

/// A leg of a spread: its symbol, whether it is bought with the spread, and its quantity in one set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Leg {
    pub symbol: usize,
    pub buys: bool,
    pub ratio: i128,
}

/// What the legs of an order have filled.
#[derive(Clone, Debug, Default)]
pub struct Legs {
    pub filled: [i128; 2],
    pub paid: [i128; 2],
    pub fills: [Vec<super::busts::Fill>; 2],
    /// Whether they come with the fills of the spread, or in reports of their own.
    pub in_fills: Option<bool>,
}

/// A leg in a report: symbol, Side(54), quantity and price.
struct Said<'a> {
    symbol: usize,
    side: Option<&'a str>,
    quantity: String,
    price: &'a str,
}

pub fn key(exec: &str, symbol: usize) -> String {
    format!("{exec} of {symbol}")
}

impl Model {
    pub fn legs_of(&self, symbol: usize) -> Option<[Leg; 2]> {
        self.world.symbols[symbol].legs
    }

    pub fn is_leg(&self, symbol: usize) -> bool {
        let legs = self.world.symbols.iter().filter_map(|it| it.legs);
        legs.flatten().any(|leg| leg.symbol == symbol)
    }

    pub fn has_leg(&self, spread: usize, symbol: usize) -> bool {
        let mut legs = self.legs_of(spread).into_iter().flatten();
        legs.any(|leg| leg.symbol == symbol)
    }

    /// An operator, unlike a client, also means the spreads with a leg.
    pub fn is_of(&self, filter: &Filter, order: &Order, symbol: usize) -> bool {
        symbol == order.symbol || (filter.client.is_none() && self.has_leg(order.symbol, symbol))
    }

    /// What the reference prices of the legs amount to; 0 for another symbol.
    pub fn worth_of_legs(&self, symbol: usize) -> i128 {
        let legs = self.legs_of(symbol).into_iter().flatten();
        legs.map(|leg| leg.ratio * self.world.symbols[leg.symbol].reference.unwrap())
            .sum()
    }

    /// The price that reserves at least what a set of the legs is worth, a fifth above their references.
    pub fn least_hold(&self, spread: usize) -> i128 {
        let Some(legs) = self.legs_of(spread) else {
            return 0;
        };
        let worth: i128 = legs
            .iter()
            .map(|leg| {
                let reference = self.world.symbols[leg.symbol].reference.unwrap();
                self.worth(leg.symbol, (reference + reference / 5) * leg.ratio)
            })
            .sum();
        let mut hold = worth / self.worth(spread, 1_000_000) * 1_000_000;
        while self.worth(spread, hold) < worth {
            hold += 1;
        }
        while hold > 0 && self.worth(spread, hold - 1) >= worth {
            hold -= 1;
        }
        hold
    }

    /// What a leg of an order may still trade, when the order may fill so many sets more.
    fn exposed_to(&self, order: &Order, at: usize, sets: i128) -> i128 {
        let leg = self.legs_of(order.symbol).unwrap()[at];
        // One that was rejected at once never became a parent.
        if order.is_parent && order.fate != Fate::Over('8') {
            return leg.ratio * sets;
        }
        (leg.ratio * (sets + order.filled) - order.legs.filled[at]).max(0)
    }

    /// Quantities that the legs of orders in memory may buy and sell at the scope of a symbol or a holding.
    pub fn exposed(&self, scope: At) -> (i128, i128) {
        let (mut buying, mut selling) = (0, 0);
        for order in self.orders.values() {
            for (at, leg) in self.legs_of(order.symbol).into_iter().flatten().enumerate() {
                let is_its = match scope {
                    At::Symbol(symbol) => symbol == leg.symbol,
                    At::Holding(account, symbol) => {
                        (account, symbol) == (order.account, leg.symbol)
                    }
                    _ => false,
                };
                if is_its {
                    let (held, opposite, _) = self.held_at(order);
                    let quantity = self.exposed_to(order, at, held + opposite);
                    let sum = match order.buys() == leg.buys {
                        true => &mut buying,
                        false => &mut selling,
                    };
                    *sum += quantity;
                }
            }
        }
        (buying, selling)
    }

    /// The controls of both legs; `held` are the sets that the order may fill, `released` those of its parent.
    pub fn legs_allow(&self, new: &Wanted<'_>, held: i128, released: i128) -> Result<(), Why> {
        let Some(legs) = self.legs_of(new.symbol) else {
            return Ok(());
        };
        if matches!(new.side, '5' | '6') {
            return Err(Why::Other(99, 2));
        }
        for (at, leg) in legs.into_iter().enumerate() {
            let before = new
                .old
                .map_or(0, |old| self.exposed_to(old, at, self.reserved(old).0));
            let after = match new.old {
                Some(old) => self.exposed_to(old, at, held),
                None => leg.ratio * held,
            };
            let more = after - before - leg.ratio * released;
            let side = if (new.side == '1') == leg.buys {
                '1'
            } else {
                '2'
            };
            let of_leg = Wanted {
                symbol: leg.symbol,
                side,
                is_located: true,
                ..*new
            };
            self.leg_allows(&of_leg, more)?;
        }
        Ok(())
    }

    /// Reports of legs: whether the report was one.
    pub fn report_of_leg(
        &mut self,
        line: usize,
        (number, request): (u64, u64),
        fields: &Fields<'_>,
        (kind, in_fill): (Kind, bool),
    ) -> bool {
        let Some(symbol) = fields.get(&55).and_then(|name| self.symbol(name)) else {
            return false;
        };
        if !self.has_leg(self.orders[&number].symbol, symbol) {
            return false;
        }
        if matches!(kind, Kind::Bust | Kind::Correct) && self.may_report(line, number) {
            self.bust_of_leg(number, fields, kind == Kind::Correct);
        }
        if kind == Kind::Fill {
            let said = Said {
                symbol,
                side: fields.get(&54).copied(),
                quantity: fields.get(&32).copied().unwrap_or_default().to_owned(),
                price: fields.get(&31).copied().unwrap_or_default(),
            };
            self.leg_said(line, (number, request), &said, fields, in_fill);
        }
        true
    }

    /// A bust or correction of a leg.
    fn bust_of_leg(&mut self, number: u64, fields: &Fields<'_>, is_correction: bool) {
        let order = &self.orders[&number];
        let symbol = fields.get(&55).and_then(|name| self.symbol(name));
        let legs = self.legs_of(order.symbol).unwrap();
        let at = legs.iter().position(|leg| Some(leg.symbol) == symbol);
        let at = at.unwrap();
        let buys = order.buys() == legs[at].buys;
        let said = fields.get(&54).map(|side| *side == "1");
        if said.is_none_or(|said| said == buys) {
            self.undo_leg(number, at, fields, is_correction);
        }
    }

    /// The legs that the report of a fill of a spread has.
    pub fn legs_in_fill(&mut self, line: usize, number: u64, request: u64, fields: &Fields<'_>) {
        let named = fields.get(&55).and_then(|name| self.symbol(name));
        let known = self.orders.get(&number).map(|order| order.symbol);
        let known = known.filter(|symbol| self.legs_of(*symbol).is_some());
        for (symbol, side, price, quantity) in self.said_legs(known.or(named), fields) {
            let said = Said {
                symbol,
                side: Some(side),
                quantity,
                price,
            };
            self.leg_said(line, (number, request), &said, fields, true);
        }
    }

    /// The legs of a report: symbol, side, price and quantity.
    pub fn said_legs<'a>(
        &self,
        spread: Option<usize>,
        fields: &Fields<'a>,
    ) -> Vec<(usize, &'a str, &'a str, String)> {
        let mut said = Vec::new();
        let Some(legs) = fields.get(&555).filter(|_| fields.get(&442) != Some(&"2")) else {
            return said;
        };
        let ratio = |symbol| {
            let legs = self.legs_of(spread?)?;
            Some(legs.iter().find(|leg| leg.symbol == symbol)?.ratio)
        };
        for leg in legs.split("600=").skip(1) {
            let (name, rest) = leg.split_once('|').unwrap();
            let rest = super::fields(rest);
            let symbol = self.symbol(name).unwrap();
            let sets = fields.get(&32).and_then(|it| super::Number::read(it));
            let quantity = ratio(symbol)
                .zip(sets)
                .map_or(String::new(), |(ratio, sets)| {
                    super::Number(sets.0 * ratio, sets.1).text()
                });
            said.push((symbol, rest[&624], rest[&637], quantity));
        }
        said
    }

    fn leg_said(
        &mut self,
        line: usize,
        (number, request): (u64, u64),
        said: &Said<'_>,
        fields: &Fields<'_>,
        in_fill: bool,
    ) {
        let order = self.orders.get(&number);
        let is_its = order.is_some_and(|order| self.has_leg(order.symbol, said.symbol));
        if is_its && !self.may_report(line, number) {
            return;
        }
        let mut of_leg = fields.clone();
        of_leg.insert(55, self.world.symbols[said.symbol].name);
        match said.side {
            Some(side) => of_leg.insert(54, side),
            None => of_leg.remove(&54),
        };
        of_leg.insert(32, &said.quantity);
        of_leg.insert(31, said.price);
        let order = self.orders.get(&number);
        let legs = order.and_then(|it| self.legs_of(it.symbol));
        let at = legs.and_then(|legs| legs.iter().position(|leg| leg.symbol == said.symbol));
        let (Some(order), Some(at)) = (order, at) else {
            return self.stray(line, &of_leg);
        };
        let leg = legs.unwrap()[at];
        let buys = order.buys() == leg.buys;
        let known_side = match said.side {
            Some("1") => Some(true),
            Some("2" | "5") => Some(false),
            _ => None,
        };
        let is_other = known_side.is_some_and(|it| it != buys);
        let is_past = order.again.is_some() && request < self.attempt(number);
        if is_other || is_past || order.is_unsent() {
            of_leg
                .entry(1)
                .or_insert(self.world.accounts[order.account].name);
            return self.stray(line, &of_leg);
        }
        self.leg_filled(number, (at, leg), &of_leg, in_fill);
        self.look_again(number);
    }

    fn leg_filled(
        &mut self,
        number: u64,
        (at, leg): (usize, Leg),
        fields: &Fields<'_>,
        in_fill: bool,
    ) {
        let Some((quantity, price)) = self.execution(leg.symbol, fields) else {
            return;
        };
        let order = &self.orders[&number];
        let exec = fields[&17].to_owned();
        let is_other_way = order.legs.in_fills.is_some_and(|it| it != in_fill);
        if is_other_way || order.legs.fills[at].iter().any(|it| it.exec == exec) {
            return;
        }
        self.accepted(number);
        let day = self.day;
        let order = self.orders.get_mut(&number).unwrap();
        order.legs.fills[at].push(super::busts::Fill {
            exec,
            quantity,
            price,
            undone: String::new(),
            day,
        });
        order.legs.in_fills = Some(in_fill);
        order.legs.filled[at] += quantity;
        order.legs.paid[at] += price * quantity;
        let order = &self.orders[&number];
        let (account, client) = (order.account, order.client);
        let side = (order.buys() == leg.buys, order.effect);
        let scopes = self.scopes(self.world.clients[client].session, account, leg.symbol);
        self.trade(&scopes, (account, leg.symbol), side, (quantity, price));
        self.write_leg_fill(number, (at, leg), (quantity, price));
        self.guard(&scopes);
    }
}
