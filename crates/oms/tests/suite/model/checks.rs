//! Model: the controls, in the order of docs/reference/oms.md.

use super::{At, Fate, Model, NO_LINE, Order, Passed, SECOND, Why};

/// An order as it would be.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    pub session: usize,
    pub account: usize,
    pub symbol: usize,
    pub side: char,
    pub kind: char,
    pub tif: char,
    pub price: i128,
    pub stop: i128,
    pub quantity: i128,
    pub effect: char,
    /// The order that is replaced.
    pub old: Option<&'a Order>,
    /// An order that is about to be cancelled: RC16 does not see it.
    pub beside: Option<u64>,
    pub is_located: bool,
    /// It waits for its condition: it cannot trade with another one.
    pub is_held: bool,
    /// Its condition is met: what counts messages has counted it.
    pub is_triggered: bool,
    /// Its parent, whose quantity it takes over.
    pub child_of: Option<u64>,
}

impl Wanted<'_> {
    fn prices(&self) -> Vec<i128> {
        let limit = "24".contains(self.kind).then_some(self.price);
        let stop = "34J".contains(self.kind).then_some(self.stop);
        limit.into_iter().chain(stop).collect()
    }

    /// The fields that identical orders share.
    pub fn words(&self) -> String {
        let Self {
            account,
            symbol,
            side,
            kind,
            price,
            quantity,
            child_of,
            ..
        } = self;
        let whose = if child_of.is_some() { "child" } else { "order" };
        format!("{whose} {account} {symbol} {side} {kind} {quantity} {price}")
    }
}

impl Passed {
    pub fn add(&mut self, more: &Self) {
        self.messages += more.messages;
        self.refused += more.refused;
        self.cancels += more.cancels;
        self.executions += more.executions;
        self.quantity += more.quantity;
        self.value += more.value;
    }
}

impl Model {
    /// The price to reserve for, when no control refuses.
    pub fn check(&self, new: &Wanted<'_>) -> Result<i128, Why> {
        self.restricted(new)?;
        let symbol = &self.world.symbols[new.symbol];
        let hold = if "24".contains(new.kind) {
            new.price.abs()
        } else {
            // As the reference price and a fifth, or the stop price when that is farther.
            let reference = symbol.reference.ok_or(Why::Rc("RC8", 99))?;
            let worst = reference.abs().max(new.stop.abs());
            worst + worst / 5
        };
        let old = new.old.map_or((0, 0, 0), |old| self.held_at(old));
        // What a bust may take back stays counted.
        let (old_held, old_reserved) = (old.0, self.worth(new.symbol, old.2 * old.0));
        let mut filled = new.old.map_or(0, |old| old.filled);
        if let Some(old) = new.old.filter(|old| old.fate == Fate::Parent) {
            filled += self.held_by_children(old.number);
        }
        let held = (new.quantity - filled).max(old_held);
        // A spread counts at least as its legs.
        let hold = hold.max(self.least_hold(new.symbol));
        let dearest = hold.max(old.2);
        let worth = self.money(new.symbol, dearest * held);
        let worth = worth.ok_or(Why::Other(99, 99))?;
        let more = (new.quantity - new.old.map_or(0, |old| old.quantity)).max(0);
        let released = new.child_of.map(|parent| self.released(parent, more));
        let released = released.unwrap_or((0, 0));
        let sets_released = released.0;
        let (old_held, old_reserved) = (old_held + released.0, old_reserved + released.1);
        let scopes = self.scopes(new.session, new.account, new.symbol);
        self.trading_allows(new, &scopes, held - old_held)?;
        if new.old.is_none() {
            let same = self.same(&new.words());
            self.limit(&scopes, "RC5-1s", |_| same + 1)?;
        }
        self.limit(&scopes, "RC6", |_| new.quantity)?;
        self.limit(&scopes, "RC7", |_| worth)?;
        self.increments(new)?;
        self.collar(new, &scopes)?;
        if !new.is_triggered {
            self.flow_allows(new, &scopes, worth - old_reserved)?;
        }
        self.sums(new, &scopes, (held - old_held, worth - old_reserved))?;
        self.market_allows(new)?;
        self.legs_allow(new, held, sets_released)?;
        if !new.is_held {
            self.self_trade(new)?;
        }
        Ok(hold)
    }

    /// RC9 to RC11: what passes in a time, and how many messages; `more` is what it would be reserved for more.
    fn flow_allows(&self, new: &Wanted<'_>, scopes: &[At], more: i128) -> Result<(), Why> {
        let more = more.max(0);
        let quantity = match new.child_of {
            // Its parent counted it.
            Some(_) => 0,
            None => (new.quantity - new.old.map_or(0, |old| old.quantity)).max(0),
        };
        let last = |scope| self.within(scope, 10, SECOND / 10);
        let minute = |scope| self.within(scope, 60, SECOND);
        self.limit(scopes, "RC9-value-1s", |it| last(it).value + more)?;
        self.limit(scopes, "RC9-value-60s", |it| minute(it).value + more)?;
        self.limit(scopes, "RC9-value-day", |it| self.today(it).value + more)?;
        self.limit(scopes, "RC9-quantity-1s", |it| last(it).quantity + quantity)?;
        self.limit(scopes, "RC9-quantity-60s", |it| {
            minute(it).quantity + quantity
        })?;
        self.limit(scopes, "RC9-quantity-day", |it| {
            self.today(it).quantity + quantity
        })?;
        self.limit(scopes, "RC10", |it| last(it).messages + 1)?;
        match new.old {
            Some(old) => self.limit(scopes, "RC11-replaces", |_| old.replaces + 1)?,
            None => self.limit(scopes, "RC11-unanswered", |it| {
                self.count(it, |order| i128::from(!order.is_answered())) + 1
            })?,
        }
        self.limit(scopes, "RC11-ratio", |it| {
            let Passed {
                messages,
                executions,
                ..
            } = self.today(it);
            let executions = executions.max(1);
            (messages + 1 + executions - 1) / executions
        })
    }

    /// What a leg of a spread has to pass; `more` is what it may trade more than it could.
    pub fn leg_allows(&self, leg: &Wanted<'_>, more: i128) -> Result<(), Why> {
        self.restricted(leg)?;
        let scopes = self.scopes(leg.session, leg.account, leg.symbol);
        self.trading_allows(leg, &scopes, more)?;
        self.position(leg, &scopes, more)?;
        self.market_allows(leg)
    }

    fn restricted(&self, new: &Wanted<'_>) -> Result<(), Why> {
        for (symbol, account, what) in &self.world.restricted {
            let applies = match *what {
                "all" => true,
                "buy" => new.side == '1',
                "sell" => new.side != '1',
                "short" => matches!(new.side, '5' | '6'),
                _ => matches!(new.side, '5' | '6') && !new.is_located,
            };
            let is_it = *symbol == new.symbol && account.is_none_or(|it| it == new.account);
            if is_it && applies {
                return Err(Why::Rc("RC3", 0));
            }
        }
        Ok(())
    }

    /// RC1; `more` is what the order may trade more than it could.
    fn trading_allows(&self, new: &Wanted<'_>, scopes: &[At], more: i128) -> Result<(), Why> {
        let (buying, selling) = self.open_of(At::Holding(new.account, new.symbol));
        let (long, short) = self.held(new.account, new.symbol);
        let reduces = if new.side == '1' {
            buying + more <= short
        } else {
            selling + more <= long
        };
        let reduces = reduces && new.effect != 'O';
        for scope in scopes {
            match self.trading.get(scope) {
                Some(&"reducing") if reduces => {}
                Some(_) => return Err(Why::Rc("RC1", 0)),
                None => {}
            }
        }
        Ok(())
    }

    /// Long and short position: separate, or the net.
    fn held(&self, account: usize, symbol: usize) -> (i128, i128) {
        let holding = self.holdings.get(&(account, symbol));
        let holding = holding.copied().unwrap_or_default();
        if self.world.symbols[symbol].has_effect {
            return (holding.long, holding.short);
        }
        (holding.net(), -holding.net())
    }

    /// Sums over open orders of a scope.
    pub fn count(&self, scope: At, of: impl Fn(&Order) -> i128) -> i128 {
        let open = self.orders.values().filter(|order| order.is_open());
        let open = open.filter(|order| self.scopes_of(order).contains(&scope));
        open.map(of).sum()
    }

    /// The same, with closed orders of which a venue says that they may trade.
    pub fn count_all(&self, scope: At, of: impl Fn(&Order) -> i128) -> i128 {
        let orders = self.orders.values();
        let orders = orders.filter(|it| it.is_open() || self.is_broken(it.number));
        let orders = orders.filter(|order| self.scopes_of(order).contains(&scope));
        orders.map(of).sum()
    }

    /// Possible buys and sells of the open orders of a scope.
    pub fn open_of(&self, scope: At) -> (i128, i128) {
        let sides = |order: &Order| {
            let (held, opposite, _) = self.held_at(order);
            if order.buys() {
                (held, opposite)
            } else {
                (opposite, held)
            }
        };
        let buying = self.count_all(scope, |it| sides(it).0);
        let selling = self.count_all(scope, |it| sides(it).1);
        let of_legs = self.exposed(scope);
        (buying + of_legs.0, selling + of_legs.1)
    }

    fn limit(
        &self,
        scopes: &[At],
        code: &'static str,
        value: impl Fn(At) -> i128,
    ) -> Result<(), Why> {
        let mut limited = false;
        for scope in scopes {
            if let Some(limit) = self.limits.get(&(*scope, code)) {
                limited = true;
                if value(*scope) > *limit {
                    // Both limits of RC15 have one name in Text(58).
                    let name = if code.starts_with("RC15") {
                        "RC15"
                    } else {
                        code
                    };
                    return Err(Why::Rc(name, if code == "RC8" { 99 } else { 3 }));
                }
            }
        }
        let required = [
            "RC6",
            "RC7",
            "RC8",
            "RC13",
            "RC14",
            "RC15-long",
            "RC15-short",
        ];
        if required.contains(&code) && !limited {
            return Err(Why::Other(3, 2));
        }
        Ok(())
    }

    fn same(&self, words: &str) -> i128 {
        let recent = self.recent.iter().flatten();
        let same = recent.filter(|(at, known)| self.now - at < SECOND && known == words);
        same.count() as i128
    }

    fn increments(&self, new: &Wanted<'_>) -> Result<(), Why> {
        let symbol = &self.world.symbols[new.symbol];
        if new.quantity == 0 || new.quantity % symbol.lot != 0 {
            return Err(Why::Rc("RC8", 13));
        }
        if new.prices().iter().any(|price| price % symbol.tick != 0) {
            return Err(Why::Rc("RC8", 99));
        }
        Ok(())
    }

    fn collar(&self, new: &Wanted<'_>, scopes: &[At]) -> Result<(), Why> {
        let percent = 1_000_000_000;
        let far = match self.world.symbols[new.symbol].reference {
            None => 100 * percent,
            Some(reference) => {
                let base = reference.abs().max(self.worth_of_legs(new.symbol)).max(1);
                let far = |price: i128| (price - reference).abs() * 100 * percent / base;
                new.prices().into_iter().map(far).max().unwrap_or(0)
            }
        };
        self.limit(scopes, "RC8", |_| far)
    }

    /// RC13 to RC15; `more` is what quantity and worth the order would be reserved for more.
    fn sums(&self, new: &Wanted<'_>, scopes: &[At], more: (i128, i128)) -> Result<(), Why> {
        let one = i128::from(new.old.is_none());
        self.limit(scopes, "RC13", |it| self.count(it, |_| 1) + one)?;
        self.limit(scopes, "RC14", |it| {
            let reserved = self.count_all(it, |order| self.reserved(order).1);
            reserved + more.1 + self.traded.get(&it).copied().unwrap_or(0)
        })?;
        if self.legs_of(new.symbol).is_some() {
            // Its legs have positions.
            return Ok(());
        }
        self.position(new, scopes, more.0)
    }

    /// RC15.
    fn position(&self, new: &Wanted<'_>, scopes: &[At], more: i128) -> Result<(), Why> {
        let (buying, selling) = self.open_of(At::Holding(new.account, new.symbol));
        let (long, short) = self.held(new.account, new.symbol);
        if new.side == '1' {
            self.limit(scopes, "RC15-long", |_| long + buying + more)
        } else {
            self.limit(scopes, "RC15-short", |_| short + selling + more)
        }
    }

    fn market_allows(&self, new: &Wanted<'_>) -> Result<(), Why> {
        match self.markets.get(&new.symbol) {
            None | Some(&"open") => Ok(()),
            Some(&"auction") if "016".contains(new.tif) && !"34J".contains(new.kind) => Ok(()),
            Some(_) => Err(Why::Rc("RC18", 2)),
        }
    }

    fn owner(&self, mut account: usize) -> usize {
        while let Some(parent) = self.world.accounts[account].parent {
            account = parent;
        }
        account
    }

    /// RC16: against every open order of the same owner, at what it is and what it may become.
    fn self_trade(&self, new: &Wanted<'_>) -> Result<(), Why> {
        if !self.world.rejects_self_trades {
            return Ok(());
        }
        let owner = self.owner(new.account);
        let price_of = |kind: char, price: i128| "24".contains(kind).then_some(price);
        let mine = price_of(new.kind, new.price);
        for order in self.orders.values().filter(|order| order.is_open()) {
            let is_this = new.old.is_some_and(|old| old.number == order.number)
                || new.beside == Some(order.number);
            let is_other = order.symbol != new.symbol || order.buys() == (new.side == '1');
            let is_held = matches!(order.fate, Fate::Held | Fate::Parent);
            if is_this || is_held || is_other || self.owner(order.account) != owner {
                continue;
            }
            let replace = order.asked.as_ref().filter(|asked| asked.what == 'G');
            let prices = [Some(order.price), replace.map(|it| it.price)];
            for price in prices.into_iter().flatten() {
                let crosses = match (mine, price_of(order.kind, price)) {
                    (Some(mine), Some(other)) if order.buys() => mine <= other,
                    (Some(mine), Some(other)) => mine >= other,
                    _ => true,
                };
                if crosses {
                    return Err(Why::Rc("RC16", 99));
                }
            }
        }
        Ok(())
    }

    /// RC10-cancel.
    pub fn check_cancel(&self, scopes: &[At]) -> Result<(), Why> {
        self.limit(scopes, "RC10-cancel", |it| {
            self.within(it, 10, SECOND / 10).cancels + 1
        })
    }

    /// Limits that kill; whether one did.
    pub fn guard(&mut self, scopes: &[At]) -> bool {
        let mut killed = 0;
        for scope in scopes {
            let over = |code, value: i128| {
                let limit = self.limits.get(&(*scope, code));
                limit.is_some_and(|limit| value > *limit)
            };
            let second = self.within(*scope, 10, SECOND / 10);
            let is_over = over("RC10-kill", second.messages + second.refused)
                || over("RC12", self.within(*scope, 60, SECOND).executions)
                || over("RC17", -self.gained.get(scope).copied().unwrap_or(0));
            // At most at four scopes for one message.
            if is_over && self.trading.get(scope) != Some(&"killed") && killed < 4 {
                killed += 1;
                self.set_trading(*scope, "killed");
            }
        }
        killed > 0
    }

    /// The line for a new order: the lines take turns.
    pub fn line_for(&self, symbol: usize, not_on: Option<usize>) -> Result<usize, Why> {
        let own = self.world.symbols[symbol].lines;
        let helpers = self.world.helpers.iter().filter(|(of, _)| *of == own);
        let mut groups = [own].into_iter().chain(helpers.map(|(_, helper)| *helper));
        groups
            .find_map(|lines| self.line_of(lines, not_on))
            .ok_or(NO_LINE)
    }

    fn line_of(&self, lines: &[usize], not_on: Option<usize>) -> Option<usize> {
        let next = self.next_line.get(&self.group_of(lines[0]));
        let next = next.copied().unwrap_or(0);
        let lines = (0..lines.len()).map(|step| lines[(next + step) % lines.len()]);
        let mut lines = lines.filter(|line| not_on != Some(*line));
        lines.find(|line| self.ready.contains(line) && !self.leaving.contains(line))
    }

    /// The group that a line belongs to.
    fn group_of(&self, line: usize) -> usize {
        let group = self.world.groups.iter().position(|it| it.contains(&line));
        group.unwrap()
    }

    /// An order has gone out on a line: it is the turn of the next one.
    pub fn went(&mut self, line: usize) {
        let group = self.group_of(line);
        let lines = self.world.groups[group];
        let at = lines.iter().position(|it| *it == line).unwrap();
        self.next_line.insert(group, (at + 1) % lines.len());
    }
}
