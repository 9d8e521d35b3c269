//! Model: requests of clients.

use super::checks::Wanted;
use super::family::Role;
use super::{
    Asked, At, Fate, Fields, Model, NO_LINE, NOT_ALLOWED, Number, Order, PENDING, Passed, TOO_LATE,
    UNKNOWN_ORDER, UNSUPPORTED, Why, date,
};

/// A new order, what same ones have in common, and the number of a pool that the client names.
pub type Accepted = (Order, String, Option<(usize, usize)>);

/// An OrderMassStatusRequest(AF): client, MassStatusReqID(584), orders.
#[derive(Clone, Debug)]
pub struct Listing {
    pub client: usize,
    pub id: String,
    pub orders: Vec<u64>,
    pub why: Option<Why>,
}

/// Which orders: of a client, an account with those below it, a symbol, a side.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub client: Option<usize>,
    pub account: Option<usize>,
    pub symbol: Option<usize>,
    pub side: Option<char>,
}

pub(super) fn one(fields: &Fields<'_>, tag: u32, known: &str) -> Option<char> {
    let mut chars = fields.get(&tag)?.chars();
    let first = chars.next().filter(|it| known.contains(*it));
    first.filter(|_| chars.next().is_none())
}

impl Model {
    pub fn client_says(&mut self, client: usize, msg_type: &str, fields: &Fields<'_>) {
        match msg_type {
            "D" if fields.get(&97) == Some(&"Y") && self.has_answered(client, fields[&11]) => {
                self.status(client, fields);
            }
            "D" => self.new_order(client, fields),
            "G" | "F" => self.change(client, msg_type.chars().next().unwrap(), fields),
            "H" => self.status(client, fields),
            "q" => self.mass_cancel(client, fields),
            "AF" => self.mass_status(client, fields),
            "S" => self.quote(client, fields),
            "Z" => self.quote_cancel(client, fields),
            other => panic!("{other}"),
        }
    }

    pub fn used(&self, client: usize, id: &str) -> Option<u64> {
        self.used.get(&(client, id.to_owned())).copied()
    }

    /// An order has the id, or a new order with it was refused.
    fn has_answered(&self, client: usize, id: &str) -> bool {
        self.used(client, id).is_some_and(|order| order > 0)
            || self.why_refused.contains_key(&(client, id.to_owned()))
    }

    pub(super) fn may(&self, client: usize, what: &str) -> Result<(), Why> {
        let may = self.world.clients[client].may.contains(&what);
        may.then_some(()).ok_or(NOT_ALLOWED)
    }

    /// A refused id is used all the same, unless it names an order.
    pub(super) fn refuse(&mut self, client: usize, id: &str, why: &Why, counts: bool) {
        if *why != Why::Rc("RC4", 6) {
            self.used.entry((client, id.to_owned())).or_insert(0);
        }
        if counts {
            let session = self.world.clients[client].session;
            let refused = Passed {
                refused: 1,
                ..Passed::default()
            };
            self.pass(&[At::Firm, At::Session(session)], refused);
            self.guard(&[At::Firm, At::Session(session)]);
        }
    }

    fn new_order(&mut self, client: usize, fields: &Fields<'_>) {
        let id = fields[&11];
        let (order, words, own_number) = match self.accept_new(client, fields) {
            Ok(accepted) => accepted,
            Err(why) => {
                self.write_refused_new(client, fields, &why);
                self.keep_rejected(client, fields, &why);
                if self.used(client, id).is_none() {
                    let key = (client, id.to_owned());
                    self.why_refused.insert(key, why.clone());
                }
                self.refuse(client, id, &why, true);
                return;
            }
        };
        let (number, scopes) = self.place(order, words);
        if let Some(own) = own_number {
            self.take_own_number(number, own);
        }
        let order = &self.orders[&number];
        let (symbol, is_held) = (order.symbol, order.fate == Fate::Held);
        if is_held {
            self.write_stage(number, "held:");
        }
        let line = if self.guard(&scopes) {
            Err(Why::Rc("RC1", 0))
        } else if self.orders[&number].is_parent {
            self.steps.push("accepted");
            return self.write_execution(number, '0', None, &[]);
        } else if is_held {
            return self.look_at_price(number);
        } else {
            self.line_for(symbol, None)
        };
        self.send_on(number, line);
    }

    /// An order gets its number, and counts at its scopes.
    pub fn place(&mut self, mut order: Order, words: String) -> (u64, Vec<At>) {
        self.last += 1;
        order.number = self.last;
        order.current = self.last;
        self.used
            .insert((order.client, order.id.clone()), self.last);
        if let Some(recent) = &mut self.recent {
            recent.push((self.now, words));
        }
        let (mut quantity, mut value) = self.reserved(&order);
        if let Some(parent) = order.parent {
            // The parent counted it.
            value = (value - self.released(parent, quantity).1).max(0);
            quantity = 0;
        }
        let scopes = self.scopes_of(&order);
        let passed = Passed {
            messages: 1,
            quantity,
            value,
            ..Passed::default()
        };
        self.pass(&scopes, passed);
        let number = order.number;
        self.orders.insert(number, order);
        (number, scopes)
    }

    /// A side of a quote, and what same ones have in common; RC16 does not see the order `beside`.
    pub fn accept_side(
        &self,
        client: usize,
        fields: &Fields<'_>,
        beside: Option<u64>,
    ) -> Result<(Order, String), Why> {
        let (order, words, _) = self.accept(client, fields, "quote", beside)?;
        Ok((order, words))
    }

    pub fn accept(
        &self,
        client: usize,
        fields: &Fields<'_>,
        right: &str,
        beside: Option<u64>,
    ) -> Result<Accepted, Why> {
        let (mut order, is_located) = self.proposal(client, fields, right)?;
        let wanted = self.wanted(&order, is_located, beside);
        self.check_child(&order)?;
        let words = wanted.words();
        order.hold = self.check(&wanted)?;
        let own_number = match order.is_parent {
            true => None,
            false => self.own_number((client, order.symbol), fields)?,
        };
        Ok((order, words, own_number))
    }

    /// A new order as the controls see it.
    pub fn wanted(&self, order: &Order, is_located: bool, beside: Option<u64>) -> Wanted<'_> {
        Wanted {
            session: self.world.clients[order.client].session,
            account: order.account,
            symbol: order.symbol,
            side: order.side,
            kind: order.kind,
            tif: order.tif,
            price: order.price,
            stop: order.stop,
            quantity: order.quantity,
            effect: order.effect,
            old: None,
            beside,
            is_located,
            is_held: order.condition.is_some() || order.is_parent,
            is_triggered: false,
            child_of: order.parent,
        }
    }

    /// A new order before the controls, and whether the stock is located.
    pub fn proposal(
        &self,
        client: usize,
        fields: &Fields<'_>,
        right: &str,
    ) -> Result<(Order, bool), Why> {
        if self.used(client, fields[&11]).is_some() {
            return Err(Why::Rc("RC4", 6));
        }
        self.may(client, right)?;
        let user = &self.world.clients[client];
        let side = one(fields, 54, "1256").ok_or(UNSUPPORTED)?;
        let kind = one(fields, 40, "1234J").ok_or(UNSUPPORTED)?;
        let tif = match fields.get(&59) {
            None => '0',
            Some(_) => {
                let supported = if right == "quote" { "034" } else { "01346" };
                one(fields, 59, supported).ok_or(UNSUPPORTED)?
            }
        };
        let account = match fields.get(&1) {
            None => user.default,
            Some(name) => self.account(name),
        };
        let account = account.filter(|it| user.accounts.contains(it));
        let account = account.ok_or(Why::Rc("RC2", 15))?;
        let symbol = self.symbol(fields[&55]).ok_or(Why::Rc("RC2", 1))?;
        let effect = self.effect(symbol, fields, right == "quote")?;
        let until = (tif == '6').then(|| fields[&432].to_owned());
        if until.as_ref().is_some_and(|until| *until < date(self.day)) {
            return Err(Why::Other(99, 2));
        }
        let scale = self.world.symbols[symbol].scale;
        let price = |wanted: &str, tag: u32| {
            if !wanted.contains(kind) {
                return Ok(0);
            }
            Number::read(fields[&tag]).unwrap().scaled(scale)
        };
        let (limit, stop) = (price("24", 44)?, price("34J", 99)?);
        let condition = self.condition(client, fields, (symbol, side, kind), stop)?;
        let role = self.role(client, fields, (kind, tif, condition.is_some()))?;
        let is_parent = role == Some(Role::Parent);
        let parent = match role {
            Some(Role::Child(parent)) => Some(parent),
            _ => None,
        };
        let quantity = Number::read(fields[&38]).unwrap().whole()?;
        let is_located = fields.get(&114) == Some(&"N") || fields.contains_key(&5700);
        let order = Order {
            number: 0,
            current: 0,
            client,
            account,
            symbol,
            side,
            kind,
            tif,
            until,
            effect,
            price: limit,
            stop,
            hold: 0,
            quantity,
            filled: 0,
            paid: 0,
            fate: if is_parent {
                Fate::Parent
            } else if condition.is_some() {
                Fate::Held
            } else {
                Fate::Sent
            },
            id: fields[&11].to_owned(),
            line: usize::MAX,
            asked: None,
            waiting: None,
            fills: Vec::new(),
            withdrawn: false,
            replaces: 0,
            again: None,
            pool_number: None,
            named_number: false,
            condition,
            is_parent,
            parent,
            triggered: false,
            valid_until: self.valid_until(fields),
            quote: None,
            legs: super::spreads::Legs::default(),
            late: None,
            remade: None,
            locate: super::fields::locate(fields),
        };
        Ok((order, is_located))
    }

    fn effect(&self, symbol: usize, fields: &Fields<'_>, is_quote: bool) -> Result<char, Why> {
        let has_effect = self.world.symbols[symbol].has_effect;
        match (fields.get(&77), one(fields, 77, "OC")) {
            (Some(_), Some(effect)) if has_effect => Ok(effect),
            (None, _) if !has_effect || is_quote => Ok('-'),
            _ => Err(Why::Other(99, 2)),
        }
    }

    pub fn account(&self, name: &str) -> Option<usize> {
        let mut accounts = self.world.accounts.iter();
        accounts.position(|account| account.name == name)
    }

    pub fn symbol(&self, name: &str) -> Option<usize> {
        let mut symbols = self.world.symbols.iter();
        symbols.position(|symbol| symbol.name == name)
    }

    fn change(&mut self, client: usize, what: char, fields: &Fields<'_>) {
        let (id, original) = (fields[&11], fields[&41]);
        let named = self.used(client, original);
        let known = named.and_then(|number| self.orders.get(&number));
        // By any ClOrdID of its chain.
        let found = known.map(|order| order.number);
        let refused = self.refused_at_once(client, &what.to_string(), fields);
        let taken = match found {
            _ if refused.is_some() => Err(refused.unwrap()),
            Some(number) => self.accept_change(client, what, fields, number),
            None if named.is_some_and(|it| it > 0) && known.is_none() => Err(TOO_LATE),
            None => Err(UNKNOWN_ORDER),
        };
        let (quantity, price, hold) = match taken {
            Ok(taken) => taken,
            Err(why) => {
                self.write_cancel_reject(client, what, (id, original), found, &why);
                self.refuse(client, id, &why, what == 'G');
                return;
            }
        };
        let number = found.unwrap();
        self.last += 1;
        self.used.insert((client, id.to_owned()), number);
        self.give_way(number);
        self.ask_for(number, what, (quantity, price, hold), id);
    }

    /// A request goes out: one of a client, or one of ours without an id.
    pub fn ask_for(&mut self, number: u64, what: char, new: (i128, i128, i128), id: &str) {
        let (quantity, price, hold) = new;
        let request = self.last;
        let order = &self.orders[&number];
        let (before, old_quantity) = (self.reserved(order).1, order.quantity);
        let parent = order
            .parent
            .filter(|parent| self.orders.contains_key(parent));
        let above = |it: &Self| parent.map_or(0, |parent| it.reserved(&it.orders[&parent]).1);
        let above_before = above(self);
        let scopes = self.scopes_of(order);
        let order = self.orders.get_mut(&number).unwrap();
        order.asked = Some(Asked {
            number: request,
            what,
            quantity,
            price,
            hold,
            unknown: false,
            id: id.to_owned(),
        });
        order.replaces += i128::from(what == 'G');
        let mut passed = Passed::default();
        if what == 'G' {
            passed.messages = 1;
            passed.quantity = (quantity - old_quantity).max(0);
            passed.value = self.reserved(&self.orders[&number]).1 - before;
            if parent.is_some() {
                let released = above_before - above(self);
                (passed.quantity, passed.value) = (0, (passed.value - released).max(0));
            }
        } else {
            passed.cancels = i128::from(!id.is_empty());
        }
        self.pass(&scopes, passed);
        if what == 'G' && self.guard(&scopes) {
            self.decline(request, &Why::Rc("RC1", 0));
            return;
        }
        if self.orders[&number].is_unsent() {
            self.change_here(number);
        } else {
            self.write_change(number);
        }
    }

    /// The venue does not have the order: what is asked for it is done here.
    fn change_here(&mut self, number: u64) {
        let order = self.orders.get_mut(&number).unwrap();
        let asked = order.asked.clone().unwrap();
        if asked.what == 'F' && order.is_parent {
            if !self.withdraw_children(number) {
                self.cancel_parent(number);
            }
            return;
        }
        if asked.what == 'F' {
            return self.end(number, '4', Some(asked.number), "");
        }
        order.asked = None;
        (order.quantity, order.price) = (asked.quantity, asked.price);
        order.hold = asked.hold.max(asked.price.abs());
        let original = std::mem::replace(&mut order.id, asked.id);
        let is_filled = order.is_parent && order.filled >= order.quantity;
        if is_filled {
            order.fate = Fate::Over('2');
        }
        self.write_execution(number, '5', Some(&original), &[]);
        if is_filled {
            self.over(number);
        }
    }

    /// Quantity, price and the price to reserve for.
    fn accept_change(
        &self,
        client: usize,
        what: char,
        fields: &Fields<'_>,
        number: u64,
    ) -> Result<(i128, i128, i128), Why> {
        const UNCHANGEABLE: Why = Why::Other(99, 2);
        let order = &self.orders[&number];
        let is_replace = what == 'G';
        self.may(client, if is_replace { "replace" } else { "cancel" })?;
        if !order.is_open() || (is_replace && order.fate == Fate::Lapsed) {
            return Err(TOO_LATE);
        }
        let leaves = order.withdrawn && is_replace;
        if self.is_busy(order, is_replace) || order.waiting.is_some() || leaves {
            return Err(PENDING);
        }
        if order.id != fields[&41] {
            return Err(Why::Other(99, 0));
        }
        let symbol = &self.world.symbols[order.symbol];
        let is = |tag: u32, known: &str| fields.get(&tag).is_none_or(|it| *it == known);
        if !is(55, symbol.name) || one(fields, 54, "1256").is_some_and(|it| it != order.side) {
            return Err(UNCHANGEABLE);
        }
        let user = &self.world.clients[client];
        if is_replace {
            let stop = fields.get(&99).map(|stop| Number::read(stop).unwrap());
            let stop = stop.map(|stop| stop.scaled(symbol.scale)).transpose()?;
            if !is(1, self.world.accounts[order.account].name)
                || !is(40, &order.kind.to_string())
                || !is(59, &order.tif.to_string())
                || !is(432, order.until.as_deref().unwrap_or("no date"))
                || !is(77, &order.effect.to_string())
                || stop.is_some_and(|stop| stop != order.stop)
            {
                return Err(UNCHANGEABLE);
            }
        }
        if !order.is_unsent() && !self.ready.contains(&order.line) {
            return Err(NO_LINE);
        }
        if !is_replace {
            self.check_cancel(&self.scopes_of(order))?;
            return Ok((0, 0, 0));
        }
        let quantity = match (fields.get(&38), fields.get(&9706)) {
            (Some(quantity), _) => Number::read(quantity).unwrap().whole()?,
            (None, Some(by)) => (order.quantity - by.parse::<i128>().unwrap()).max(0),
            _ => order.quantity,
        };
        let quantity = quantity.max(order.filled);
        let price = match fields.get(&44) {
            Some(price) if "24".contains(order.kind) => {
                Number::read(price).unwrap().scaled(symbol.scale)?
            }
            _ => order.price,
        };
        let wanted = Wanted {
            session: user.session,
            account: order.account,
            symbol: order.symbol,
            side: order.side,
            kind: order.sent_kind(),
            tif: order.tif,
            price,
            stop: order.stop,
            quantity,
            effect: order.effect,
            old: Some(order),
            beside: None,
            is_located: true,
            is_held: matches!(order.fate, Fate::Held | Fate::Parent),
            is_triggered: false,
            child_of: order.parent,
        };
        self.check_family(order, quantity, price)?;
        let hold = self.check(&wanted)?;
        Ok((quantity, price, hold))
    }

    fn status(&mut self, client: usize, fields: &Fields<'_>) {
        let named = self.used(client, fields[&11]);
        match named.filter(|number| self.orders.contains_key(number)) {
            Some(number) => self.write_execution(number, 'I', None, &[]),
            None if named.is_some_and(|number| number > 0) => {
                self.write_unknown(client, fields, &Why::Other(0, 0));
            }
            None if named == Some(0) => {
                let refused = self.why_refused.get(&(client, fields[&11].to_owned()));
                let why = refused.cloned().unwrap_or(UNKNOWN_ORDER);
                self.write_unknown(client, fields, &why);
            }
            None => self.write_unknown(client, fields, &UNKNOWN_ORDER),
        }
    }

    pub fn has(&self, filter: &Filter, order: &Order) -> bool {
        let is = |account| self.scopes_of(order).contains(&At::Account(account));
        filter.client.is_none_or(|it| it == order.client)
            && filter.account.is_none_or(is)
            && filter.symbol.is_none_or(|it| self.is_of(filter, order, it))
            && filter.side.is_none_or(|it| it == order.side)
    }

    pub fn open(&self, filter: &Filter) -> Vec<u64> {
        let open = self.orders.values().filter(|order| order.is_open());
        let open = open.filter(|order| self.has(filter, order));
        open.map(|order| order.number).collect()
    }

    /// Open orders are to leave their venues; how many.
    pub fn withdraw(&mut self, filter: &Filter) -> usize {
        let open = self.open(filter);
        for number in &open {
            self.orders.get_mut(number).unwrap().withdrawn = true;
        }
        self.cancelling.extend(&open);
        open.len()
    }
}
