//! Model: venue sessions, time, operators and trading days.

use super::clients::Filter;
use super::{At, DAY, Fate, Model, Order, Passed, SECOND, Symbol};

impl Model {
    pub fn is_killed(&self, scopes: &[At]) -> bool {
        let mut scopes = scopes.iter();
        scopes.any(|scope| self.trading.get(scope) == Some(&"killed"))
    }

    /// An order may not stay at its venue.
    pub fn must_go(&self, number: u64) -> bool {
        let order = &self.orders[&number];
        order.is_open() && (order.withdrawn || self.is_killed(&self.all_scopes_of(order)))
    }

    /// The scopes of an order, and those of the legs alone.
    pub fn all_scopes_of(&self, order: &Order) -> Vec<At> {
        let mut scopes = self.scopes_of(order);
        for leg in self.legs_of(order.symbol).into_iter().flatten() {
            scopes.extend([
                At::Symbol(leg.symbol),
                At::Holding(order.account, leg.symbol),
            ]);
        }
        scopes
    }

    pub fn look_again(&mut self, number: u64) {
        let is_later = self.later.iter().any(|(_, later)| *later == number);
        if !is_later && self.must_go(number) {
            self.cancelling.push_back(number);
        }
    }

    fn open_on(&self, line: usize, is: impl Fn(&Self, u64) -> bool) -> Vec<u64> {
        let open = self.orders.values().filter(|order| order.is_open());
        let here = open.filter(|order| order.line == line).map(|it| it.number);
        here.filter(|number| is(self, *number)).collect()
    }

    pub fn up(&mut self, session: usize, reset: bool) {
        if self.client_of(session).is_some() {
            self.gone.remove(&session);
            self.withdrawals.remove(&session);
            return;
        }
        if reset {
            self.reset.insert(session);
        }
        if !self.ready.insert(session) {
            return;
        }
        self.leaving.remove(&session);
        let all = self.reset.remove(&session);
        let orders = self.orders.values().filter(|order| order.line == session);
        let asked = orders.filter(|it| {
            let is_broken = self.is_broken(it.number);
            it.is_unknown() || it.fate == Fate::Lapsed || (all && it.is_open()) || is_broken
        });
        // Of one that has ended only a request is unknown, or the venue says something else of it.
        let is_lost = |it: &&Order| it.asked.as_ref().is_some_and(|asked| asked.unknown);
        let asked: Vec<u64> = asked
            .filter(|it| it.is_open() || is_lost(it) || self.is_broken(it.number))
            .map(|it| it.number)
            .collect();
        for number in &asked {
            if let Some(lost) = self.orders[number].asked.as_ref().filter(|it| it.unknown) {
                self.unanswered
                    .push_back((self.now + 5 * SECOND, lost.number, true));
            }
        }
        self.expect_lapsed(&asked);
        self.asking.extend(asked);
        let going = self.open_on(session, Self::must_go);
        self.cancelling.extend(going);
    }

    pub fn down(&mut self, session: usize, logged_out: bool) {
        if self.world.feed == Some(session) {
            self.prices.clear();
        }
        if let Some(client) = self.client_of(session) {
            if let Some((on_logout, on_disconnect)) = self.world.clients[client].cancels {
                self.gone.insert(session, logged_out);
                let grace = if logged_out { on_logout } else { on_disconnect };
                self.withdrawals.insert(session, self.now + grace);
            }
            return;
        }
        self.leaving.insert(session);
        if !self.ready.remove(&session) {
            return;
        }
        for order in self.orders.values_mut().filter(|it| it.line == session) {
            if order.fate == Fate::Sent {
                order.fate = Fate::Unknown;
            }
            if let Some(asked) = &mut order.asked {
                asked.unknown = true;
            }
        }
    }

    /// Clients that have not logged on yet count as disconnected.
    pub fn start(&mut self) {
        for client in self.world.clients.clone() {
            if client.cancels.is_some() {
                let logged_out = self.gone.get(&client.session).copied().unwrap_or(false);
                self.down(client.session, logged_out);
            }
        }
    }

    pub fn restart(&mut self) {
        for line in self.ready.clone() {
            self.down(line, false);
        }
        self.leaving.clear();
        self.reset.clear();
        self.next_line.clear();
        self.withdrawals.clear();
        self.cancelling.clear();
        self.asking.clear();
        self.later.clear();
        self.unanswered.clear();
        self.lapsed.clear();
        self.lost.clear();
        self.prices.clear();
        self.listings.clear();
        self.settle_all_later();
        self.start();
        let today = self.now / DAY;
        if today > self.day {
            // Orders to be cancelled are cancelled before they can expire.
            self.rolls_to = Some(today);
            self.look_at_clients();
            self.look_at_held();
            while self.settle_parent() {}
            while let Some(number) = self.cancelling.pop_front() {
                self.cancel(number);
                while self.settle_parent() {}
            }
            self.day = today;
            self.begin_day();
            self.rolls_to = None;
        }
    }

    /// Day orders that were never sent expire, and then those lapse that the venue may have; orders that are done for
    /// the day work again; then the new day starts.
    fn begin_day(&mut self) {
        for number in self.of_day() {
            let is_unsent = self.orders.get(&number).is_some_and(Order::is_unsent);
            if is_unsent && !self.waits_for_children(number) {
                self.end(number, 'C', None, "end of the trading day");
            }
            while self.settle_parent() {}
        }
        while self.settle_parent() || self.send_again() {}
        for number in self.of_day() {
            let known = self.orders.get(&number).filter(|it| it.is_open());
            let Some(is_unsent) = known.map(Order::is_unsent) else {
                continue;
            };
            if self.waits_for_children(number) {
                continue;
            }
            if is_unsent {
                self.end(number, 'C', None, "end of the trading day");
            } else {
                self.orders.get_mut(&number).unwrap().fate = Fate::Lapsed;
                self.write_ended(number, 'C', None, "end of the trading day");
            }
            while self.settle_parent() {}
        }
        let resting = self.orders.values().filter(|it| it.rests_until(self.day));
        let resting: Vec<u64> = resting.map(|order| order.number).collect();
        for number in resting {
            self.renew(number);
        }
        // The day begins when nothing else is to be done.
        while self.settle_parent() || self.send_again() {}
        self.forget();
        self.yesterday = self.last;
        self.begin_numbers();
        self.strays.clear();
        self.stray_undos.begin_day();
        self.used.clear();
        self.why_refused.clear();
        self.rejected.clear();
        for order in self.orders.values().filter(|order| order.is_open()) {
            let ids = order.asked.as_ref().map(|asked| asked.id.clone());
            let ids = ids.into_iter().filter(|id| !id.is_empty());
            for id in ids.chain([order.id.clone()]) {
                self.used.insert((order.client, id), order.number);
            }
        }
        self.traded.clear();
        self.gained.clear();
        for (today, _) in self.counts.values_mut() {
            *today = Passed::default();
        }
        for holding in self.holdings.values_mut() {
            holding.opened_at = holding.mark;
            (holding.bought, holding.sold) = (0, 0);
            (holding.paid, holding.received) = (0, 0);
        }
    }

    /// Open orders that end with the day that is over.
    fn of_day(&self) -> Vec<u64> {
        let open = self.orders.values().filter(|order| order.is_open());
        let of_day = open.filter(|it| !it.outlives(self.day) && it.fate != Fate::Lapsed);
        of_day.map(|order| order.number).collect()
    }

    /// Does what is to be done, until nothing is: what is due comes first.
    pub fn drain(&mut self) {
        loop {
            self.look_at_orders();
            let mut is_done = !self.look_at_unanswered();
            is_done &= !self.look_at_lapsed();
            is_done &= !self.look_at_clients();
            is_done &= !self.look_at_held();
            is_done &= self.touched.is_empty();
            is_done &= self.cancelling.is_empty() && self.asking.is_empty();
            is_done &= self.settling.is_empty();
            is_done &= !self.has_again();
            self.work();
            if is_done {
                return self.list();
            }
        }
    }

    fn look_at_orders(&mut self) {
        while self.later.front().is_some_and(|(due, _)| *due <= self.now) {
            let (_, number) = self.later.pop_front().unwrap();
            if self.orders.contains_key(&number) {
                self.look_again(number);
            }
        }
        let now = self.now;
        let waiting = self.orders.values_mut().filter_map(|order| {
            let waiting = order.waiting.as_mut()?;
            (waiting.due <= now).then_some((waiting, order.number))
        });
        let mut overdue = Vec::new();
        for (waiting, number) in waiting {
            overdue.push((waiting.due, number));
            waiting.due = now + 5 * SECOND;
        }
        overdue.sort_unstable();
        self.asking.extend(overdue.iter().map(|(_, number)| number));
    }

    /// Withdraws the orders of a client that has been disconnected long enough; false without one.
    fn look_at_clients(&mut self) -> bool {
        let now = self.now;
        let gone = self.withdrawals.iter().find(|(_, due)| **due <= now);
        let Some((session, _)) = gone.map(|(session, due)| (*session, *due)) else {
            return false;
        };
        self.withdrawals.remove(&session);
        let filter = Filter {
            client: self.client_of(session),
            ..Filter::default()
        };
        self.withdraw(&filter);
        true
    }

    fn work(&mut self) {
        loop {
            if self.settle_parent() {
                continue;
            }
            if let Some(number) = self.cancelling.pop_front() {
                self.cancel(number);
                continue;
            }
            if self.trigger() || self.send_again() {
                continue;
            }
            if let Some(number) = self.asking.pop_front() {
                let line = self.orders.get(&number).map(|order| order.line);
                if line.is_some_and(|line| self.ready.contains(&line)) {
                    self.write_question(number);
                    self.lapsed_asked(number);
                }
            } else {
                self.forget();
                return;
            }
        }
    }

    pub fn cancel(&mut self, number: u64) {
        let Some(order) = self.orders.get(&number).filter(|order| order.is_open()) else {
            return;
        };
        if order.is_parent {
            return self.cancel_parent(number);
        }
        if order.is_unsent() {
            return self.end(number, '4', None, "");
        }
        if !self.ready.contains(&order.line) {
            return;
        }
        // A cancel of its own is enough; it does not wait for the answer to a client.
        match order.asked.as_ref().map(|asked| asked.id.is_empty()) {
            Some(true) => return,
            Some(false) => self.give_way(number),
            None => {}
        }
        self.lost.remove(&number);
        self.last += 1;
        self.ask_for(number, 'F', (0, 0, 0), "");
    }

    /// Orders that have ended are forgotten, the first that ended first, but for those with a request that the
    /// venue has not answered, and a side of a quote whose other side is open.
    fn forget(&mut self) {
        while self.ended.len() > self.world.remembered {
            let settled = |number: &u64| {
                let order = &self.orders[number];
                let sides = order.quote.map_or([*number; 2], |bid| [bid, bid + 1]);
                let is_open = |side: &u64| self.orders.get(side).is_some_and(Order::is_open);
                order.asked.is_none() && !sides.iter().any(is_open) && !self.is_broken(*number)
            };
            let Some(at) = self.ended.iter().take(64).position(settled) else {
                return;
            };
            let number = self.ended.remove(at);
            let order = self.orders.remove(&number).unwrap();
            let legs = self.legs_of(order.symbol).into_iter().flatten();
            for (leg, fills) in legs.zip(order.legs.fills) {
                let of_leg = fills.into_iter();
                let of_leg = of_leg.map(|it| super::spreads::key(&it.exec, leg.symbol));
                self.strays.extend(of_leg);
            }
            if order.line != usize::MAX {
                for fill in &order.fills {
                    // A report may name a corrected fill by any ExecID(17) that it had.
                    let mut next = Some(fill).filter(|it| !it.undone.is_empty());
                    while let Some(undone) = next {
                        let by = &undone.undone;
                        self.stray_undos.settle(order.line, number, &fill.exec, by);
                        let mut fills = order.fills.iter();
                        next = fills.find(|it| it.exec == *by && !it.undone.is_empty());
                    }
                }
            }
            let fills = order.fills.into_iter();
            self.strays.extend(fills.map(|it| it.exec));
            self.breaks.retain(|it| it.order != number);
        }
    }

    pub fn set_trading(&mut self, scope: At, is: &'static str) {
        if is == "active" {
            self.trading.remove(&scope);
            return;
        }
        self.trading.insert(scope, is);
        if is == "killed" {
            let open = self.orders.values().filter(|order| order.is_open());
            let open = open.filter(|order| self.all_scopes_of(order).contains(&scope));
            let open: Vec<u64> = open.map(|order| order.number).collect();
            self.cancelling.extend(open);
        }
    }

    /// `verb scope what`: `limit account=A1 RC6=500`.
    pub fn command(&mut self, text: &str) {
        if text.starts_with("position ") || text.starts_with("load ") {
            return self.position_command(text);
        }
        if text.starts_with("bust ") || text.starts_with("correct ") {
            return self.undo_command(text);
        }
        let words: Vec<&str> = text.split(' ').collect();
        let get = |key: &str| {
            let words = words.iter().filter_map(|word| word.split_once('='));
            let mut found = words.filter(|(known, _)| *known == key);
            found.next().map(|(_, value)| value)
        };
        let account = get("account").map(|name| self.account(name).unwrap());
        let symbol = get("symbol").map(|name| self.symbol(name).unwrap());
        let session = get("session");
        let session = session.map(|name| self.world.names.iter().position(|it| *it == name));
        let scope = match (session.flatten(), account, symbol) {
            (Some(session), ..) => At::Session(session),
            (_, Some(account), Some(symbol)) => At::Holding(account, symbol),
            (_, Some(account), _) => At::Account(account),
            (_, _, Some(symbol)) => At::Symbol(symbol),
            _ => At::Firm,
        };
        match words[0] {
            "kill" => self.set_trading(scope, "killed"),
            "reducing" => self.set_trading(scope, "reducing"),
            "arm" => self.set_trading(scope, "active"),
            "cancel" => {
                let client = match scope {
                    At::Session(session) => self.client_of(session),
                    _ => None,
                };
                self.withdraw(&Filter {
                    client,
                    account,
                    symbol,
                    side: None,
                });
            }
            "report" => self.report_by_hand(&get),
            "settle" => {
                let at = get("at").unwrap().parse().unwrap();
                self.settle_break(at, words.contains(&"venue"));
            }
            "rerun" => self.rerun(get("order").unwrap(), get("without").unwrap()),
            "price" => {
                for (name, field) in [("last", '2'), ("bid", '0'), ("offer", '1')] {
                    if let Some(price) = get(name).and_then(super::Number::read) {
                        self.set_price(symbol.unwrap(), field, price);
                    }
                }
            }
            "market" => {
                let states = ["open", "auction", "halted", "closed"];
                let state = states.into_iter().find(|it| words.contains(it)).unwrap();
                self.markets.insert(symbol.unwrap(), state);
            }
            _ => {
                let limit = words.iter().find(|word| word.starts_with("RC")).unwrap();
                let (code, value) = limit.split_once('=').unwrap();
                self.set_limit(scope, code, (value != "none").then_some(value));
            }
        }
    }

    /// Of a file or an operator; money and percent have nine digits behind the point.
    pub fn set_limit(&mut self, scope: At, code: &str, value: Option<&str>) {
        const CODES: [&str; 22] = [
            "RC5-1s",
            "RC6",
            "RC7",
            "RC8",
            "RC9-value-1s",
            "RC9-value-60s",
            "RC9-value-day",
            "RC9-quantity-1s",
            "RC9-quantity-60s",
            "RC9-quantity-day",
            "RC10",
            "RC10-cancel",
            "RC10-kill",
            "RC11-replaces",
            "RC11-unanswered",
            "RC11-ratio",
            "RC12",
            "RC13",
            "RC14",
            "RC15-long",
            "RC15-short",
            "RC17",
        ];
        const MONEY: [&str; 4] = ["RC7", "RC8", "RC14", "RC17"];
        for known in CODES {
            if known != code && !(code == "RC15" && known.starts_with("RC15")) {
                continue;
            }
            let is_money = MONEY.contains(&known) || known.starts_with("RC9-value");
            let scale = if is_money { 9 } else { 0 };
            let units = |text: &str| {
                let number = super::Number::read(text).unwrap();
                number.0 * 10_i128.pow(scale - number.1)
            };
            match value {
                Some(value) => self.limits.insert((scope, known), units(value)),
                None => self.limits.remove(&(scope, known)),
            };
            let of_time = ["RC9", "RC10", "RC12", "RC11-ratio"];
            if value.is_some() && of_time.iter().any(|it| known.starts_with(it)) {
                self.counts.entry(scope).or_default();
            }
            if value.is_some() && known == "RC5-1s" {
                self.recent.get_or_insert_default();
            }
        }
    }

    /// An instrument by its row of the file.
    pub fn symbol_of(&self, number: u64) -> &Symbol {
        &self.world.symbols[self.orders[&number].symbol]
    }
}
