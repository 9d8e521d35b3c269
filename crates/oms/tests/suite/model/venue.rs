//! Model: reports of venues.

use super::remade::Remade;
use super::writes_fills::Words;
use super::{At, Fate, Fields, MOST, Model, Number, Passed, SECOND, TOO_LATE, Waiting, Why};

/// Order and request of a ClOrdID(11) of ours.
pub fn numbers(id: &str) -> Option<(u64, u64)> {
    let (order, request) = id.split_once('-').unwrap_or((id, id));
    Some((order.parse().ok()?, request.parse().ok()?))
}

/// ExecType(150), or what FIX 4.2 says instead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    New,
    Fill,
    Replaced,
    Rejected,
    End(char),
    Restated,
    /// Other terms.
    Terms,
    Status(char),
    /// A trade is cancelled.
    Bust,
    /// A trade is corrected.
    Correct,
    Other,
}

pub fn number_of(fields: &Fields<'_>, tag: u32) -> Option<Number> {
    Number::read(fields.get(&tag)?)
}

pub fn whole(fields: &Fields<'_>, tag: u32) -> Option<i128> {
    number_of(fields, tag)?.whole().ok()
}

fn kind(fields: &Fields<'_>, is_old: bool) -> Kind {
    let first = |tag: u32| fields.get(&tag).and_then(|it| it.chars().next());
    let status = first(39).unwrap_or(' ');
    if is_old && first(20) == Some('3') {
        return Kind::Status(status);
    }
    match first(20).filter(|_| is_old) {
        Some('1') => return Kind::Bust,
        Some('2') => return Kind::Correct,
        _ => {}
    }
    let traded = number_of(fields, 32).is_some_and(|it| it.0 > 0);
    match first(150) {
        Some('I') => Kind::Status(status),
        Some('0') => Kind::New,
        Some('F') => Kind::Fill,
        Some('1' | '2') if traded => Kind::Fill,
        Some('5') => Kind::Replaced,
        Some('8') => Kind::Rejected,
        Some('D') if fields.get(&378) == Some(&"1") => Kind::Restated,
        Some('D') => Kind::Terms,
        Some('G') => Kind::Correct,
        Some('H') => Kind::Bust,
        Some(how @ ('3' | '4' | 'C')) => Kind::End(how),
        _ => Kind::Other,
    }
}

impl Model {
    pub fn venue_says(&mut self, line: usize, msg_type: &str, fields: &Fields<'_>) {
        match msg_type {
            "8" => self.report(line, fields),
            "9" => {
                if let Some((order, request)) = self.refused_request(fields)
                    && self.may_report(line, order)
                {
                    self.decline_of(order, request, fields);
                }
            }
            // By the message that 45 names; 379 is optional, and must not name another one.
            "j" | "3" => match self.rejected_id(fields) {
                Some((order, _)) if !self.may_report(line, order) => {}
                Some((order, request)) if "DFG".contains(fields[&372]) => {
                    let known = self.orders.get(&order);
                    let known = known.filter(|it| !self.is_acknowledged(it));
                    let known = known.map(|order| order.fate);
                    // A Reject(3) gives no such reason.
                    let mut fields = fields.clone();
                    if msg_type == "3" {
                        fields.remove(&380);
                    }
                    if self.attempt(order) != request {
                        self.decline_of(order, request, &fields);
                    } else if matches!(known, Some(Fate::Sent | Fate::Unknown | Fate::Lapsed)) {
                        self.rejected(order, &fields);
                    } else {
                        self.refused_late(order, request);
                    }
                }
                _ => {}
            },
            other => panic!("{other}"),
        }
    }

    /// Whether an order or replace that the venue has missed goes out again: nobody wants it gone.
    pub fn resends(&self, id: &str) -> bool {
        let (number, request) = numbers(id).unwrap();
        let Some(order) = self.orders.get(&number) else {
            return false;
        };
        let asked = order.asked.as_ref();
        let is_known =
            self.attempt(number) == request || asked.is_some_and(|asked| asked.number == request);
        let is_cancelled = asked.is_some_and(|asked| asked.what == 'F');
        let is_over = order.fate == Fate::Lapsed;
        is_known && order.is_open() && !is_over && !is_cancelled && !self.must_go(number)
    }

    pub fn report(&mut self, line: usize, fields: &Fields<'_>) {
        self.is_doubted = false;
        self.words = self.words_of(line, fields);
        self.report_with_words(line, fields);
        self.words = None;
    }

    fn report_with_words(&mut self, line: usize, fields: &Fields<'_>) {
        self.report_alone(line, fields);
        if self.is_doubted {
            return;
        }
        let is_fill = kind(fields, self.world.old_lines.contains(&line)) == Kind::Fill;
        if is_fill {
            let (number, request) = numbers(fields[&11]).unwrap_or((0, 0));
            self.legs_in_fill(line, number, request, fields);
        }
    }

    /// The Text(58) of a report of an order, and which reports to clients have it.
    fn words_of(&self, line: usize, fields: &Fields<'_>) -> Option<Words> {
        let id = |tag: u32| fields.get(&tag).and_then(|id| numbers(id));
        let (order, _) = id(11).or_else(|| id(41))?;
        let symbol = self.world.symbols[self.orders.get(&order)?.symbol].name;
        let has_spreads = (0..self.world.symbols.len()).any(|at| self.legs_of(at).is_some());
        let is_other = fields.get(&55).is_some_and(|it| *it != symbol);
        let said = kind(fields, self.world.old_lines.contains(&line));
        Some(Words {
            order,
            is_leg: has_spreads && is_other,
            is_fill: said == Kind::Fill,
            is_new: said == Kind::New,
            text: (*fields.get(&58)?).to_owned(),
        })
    }

    fn report_alone(&mut self, line: usize, fields: &Fields<'_>) {
        let kind = kind(fields, self.world.old_lines.contains(&line));
        let (number, request) = numbers(fields[&11]).unwrap_or((0, 0));
        let is = |tag: u32, known: &str| fields.get(&tag).is_none_or(|it| *it == known);
        let same = self.orders.get(&number).is_some_and(|order| {
            is(55, self.world.symbols[order.symbol].name) && is(54, &order.side.to_string())
        });
        if !same {
            let is_known = self.orders.contains_key(&number);
            if is_known && self.report_of_leg(line, (number, request), fields, (kind, false)) {
                return;
            }
            match kind {
                Kind::Fill => self.stray(line, fields),
                Kind::Bust => self.stray_undone(line, fields, false),
                Kind::Correct => self.stray_undone(line, fields, true),
                _ => {}
            }
            return;
        }
        if !self.may_report(line, number) {
            return;
        }
        let order = &self.orders[&number];
        if order.again.is_some() && request < self.attempt(number) {
            return self.past(line, number, kind, fields);
        }
        if order.is_unsent() {
            match kind {
                Kind::Fill => self.stray(line, fields),
                Kind::Bust => self.stray_undone(line, fields, false),
                Kind::Correct => self.stray_undone(line, fields, true),
                _ => {}
            }
            return;
        }
        let is_sent_so = self.attempt(number) == request;
        if self.contradicts(number, kind, is_sent_so, fields) {
            self.is_doubted = true;
            return;
        }
        let was = self.orders[&number].clone();
        let (mut refused, mut is_undone) = (false, false);
        match kind {
            Kind::New => {
                let is_own = request == number;
                if is_own || !self.opened(line, number, request, fields) {
                    self.accepted(number);
                }
            }
            Kind::Fill => self.filled(number, fields),
            Kind::Replaced if self.is_after_end(number, request) => {
                self.live_after_end(line, number, request);
            }
            Kind::Replaced => self.replace_reported(number, request, fields),
            Kind::Rejected if self.attempt(number) != request => {
                self.decline_of(number, request, fields);
                refused = true;
            }
            Kind::Rejected => {
                if self.orders[&number].is_open() {
                    self.rejected(number, fields);
                }
            }
            Kind::End(how) => self.ended(number, request, how, fields),
            Kind::Restated => self.restated(number, fields),
            Kind::Terms => self.terms_restated(number, fields),
            Kind::Status(status) => self.status_of((line, number, request), status, fields),
            Kind::Bust | Kind::Correct => {
                is_undone = self.undone(number, fields, kind == Kind::Correct);
            }
            Kind::Other => {}
        }
        if kind != Kind::Rejected {
            self.said_to_have_ended(number, request, fields);
        }
        if !self.is_doubted {
            let is_taken = is_undone || self.is_changed(number, &was, kind, fields);
            self.agree((number, request), kind, fields, is_taken);
        }
        self.settle(number);
        self.settle_cancel(number);
        if matches!(kind, Kind::Status(_)) {
            self.lapsed_reported(number, fields);
        }
        if !refused {
            self.look_again(number);
        }
    }

    pub fn accepted(&mut self, number: u64) {
        let order = self.orders.get_mut(&number).unwrap();
        if matches!(order.fate, Fate::Sent | Fate::Unknown) {
            order.fate = Fate::Working;
            // An operator who enters it gives no OrderID(37).
            let is_new = match self.is_by_hand {
                true => !self.acknowledged.contains(&number),
                false => self.acknowledged.insert(number),
            };
            if is_new {
                self.write_execution(number, '0', None, &[]);
            }
        }
    }

    /// Quantity and price of an execution, the price rounded to the digits of the symbol.
    pub fn execution(&self, symbol: usize, fields: &Fields<'_>) -> Option<(i128, i128)> {
        let quantity = whole(fields, 32).filter(|quantity| *quantity > 0)?;
        let scale = self.world.symbols[symbol].scale;
        let price = number_of(fields, 31)?;
        let price = match price.1.checked_sub(scale) {
            None => price.0 * 10_i128.pow(scale - price.1),
            Some(more) => {
                let one = 10_i128.pow(more);
                // Halves away from zero.
                (price.0.abs() + one / 2) / one * price.0.signum()
            }
        };
        (price.abs() <= MOST).then_some((quantity, price))
    }

    fn filled(&mut self, number: u64, fields: &Fields<'_>) {
        let order = &self.orders[&number];
        let Some((quantity, price)) = self.execution(order.symbol, fields) else {
            return;
        };
        let exec = self.fill_exec(number, fields, (quantity, price));
        let (_, request) = numbers(fields[&11]).unwrap_or((0, 0));
        if self.is_held(number) && self.replace_in_flight(number) == Some(request) {
            self.replaced(number, request, fields);
        }
        if self.is_doubtful(number, &exec, (quantity, price), fields) {
            return;
        }
        self.accepted(number);
        self.works(number, fields);
        self.fill_in(number, exec, (quantity, price));
    }

    /// What stands for the ExecID(17) of a fill: another one when CumQty(14) shows that a venue uses that of a fill of a
    /// former day again.
    fn fill_exec(&self, number: u64, fields: &Fields<'_>, fill: (i128, i128)) -> String {
        let order = &self.orders[&number];
        let find = |exec: &str| order.fills.iter().find(|it| it.exec == exec);
        let mut last = fields[&17].to_owned();
        let Some(mut known) = find(&last) else {
            return last;
        };
        let mut same = None;
        loop {
            if (known.quantity, known.price) == fill {
                same = Some(last.clone());
            }
            let next = super::busts::of_another_day(&last);
            match find(&next) {
                Some(fill) => (known, last) = (fill, next),
                None => break,
            }
        }
        let counted: i128 = order.fills.iter().map(|it| it.quantity).sum();
        let is_new = known.day != self.day
            && whole(fields, 14) == Some(order.filled + fill.0)
            && order.is_open()
            && self.venue_side("cum", number, "").is_none()
            && order.fills.iter().all(|it| it.undone.is_empty())
            && counted == order.filled;
        match (is_new, same) {
            (true, _) => super::busts::of_another_day(&last),
            (false, same) => same.unwrap_or(last),
        }
    }

    /// A fill that counts.
    pub fn fill_in(&mut self, number: u64, exec: String, (quantity, price): (i128, i128)) {
        let day = self.day;
        let order = self.orders.get_mut(&number).unwrap();
        let carried_out = order.waiting.as_ref().and_then(|it| it.request);
        order.fills.push(super::busts::Fill {
            exec,
            quantity,
            price,
            undone: String::new(),
            day,
        });
        order.filled += quantity;
        order.paid = order.paid.saturating_add(price * quantity);
        let was_open = order.is_open();
        let is_filled = was_open && order.filled >= order.quantity;
        if is_filled {
            order.fate = Fate::Over('2');
        }
        self.late_fills += u64::from(!was_open);
        let order = &self.orders[&number];
        let (account, symbol) = (order.account, order.symbol);
        let side = (order.buys(), order.effect);
        let scopes = self.scopes_of(order);
        if self.legs_of(symbol).is_none() {
            self.trade(&scopes, (account, symbol), side, (quantity, price));
        }
        self.write_execution(number, 'F', None, &[(32, quantity), (31, price)]);
        if is_filled {
            self.over(number);
        }
        self.parent_filled(number, quantity, price);
        if is_filled {
            // The venue cancelled it when nothing was left, and says no more of it.
            let asked = self.orders[&number].asked.as_ref().map(|it| it.number);
            if let Some(request) = asked.filter(|it| carried_out == Some(*it)) {
                self.decline(request, &TOO_LATE);
            }
        }
        self.guard(&scopes);
    }

    /// A fill of no order that is known goes to the position.
    pub fn stray(&mut self, line: usize, fields: &Fields<'_>) {
        let named = |tag: u32| fields.get(&tag).copied().unwrap_or_default();
        // What is not said is that of the order in memory.
        let number = numbers(fields[&11]).map_or(0, |it| it.0);
        let is_its = self.orders.contains_key(&number) && self.may_report(line, number);
        if is_its
            && self.orders[&number]
                .fills
                .iter()
                .any(|it| it.exec == fields[&17])
        {
            return;
        }
        let order = is_its.then(|| self.orders[&number].clone());
        let account = self.account(named(1));
        let account = account.or(order.as_ref().map(|it| it.account));
        let symbol = match (named(55), &order) {
            ("", Some(order)) => Some(order.symbol),
            (name, _) => self.symbol(name),
        };
        let (Some(account), Some(symbol)) = (account, symbol) else {
            return;
        };
        let of_order = order.map(|it| it.side.to_string());
        let side = match (named(54), &of_order) {
            (side @ ("1" | "2" | "5"), _) => side,
            (_, Some(side)) => side,
            (_, None) => return,
        };
        let effect = match fields.get(&77) {
            Some(&"O") if self.world.symbols[symbol].has_effect => 'O',
            Some(&"C") if self.world.symbols[symbol].has_effect => 'C',
            _ => '-',
        };
        self.stray_of(line, (account, symbol), (side == "1", effect), fields);
    }

    /// Of an order under a number that was rejected: whether it says that the order is there.
    fn past(&mut self, line: usize, number: u64, kind: Kind, fields: &Fields<'_>) {
        let is_over = matches!(
            kind,
            Kind::Rejected | Kind::End(_) | Kind::Other | Kind::Status('3' | '4' | '8' | 'C')
        );
        if is_over {
            return;
        }
        self.report_of_past(number);
        if kind == Kind::Fill {
            let order = &self.orders[&number];
            let of = (order.account, order.symbol);
            let side = (order.buys(), order.effect);
            self.stray_of(line, of, side, fields);
        }
        if matches!(kind, Kind::Bust | Kind::Correct) {
            self.stray_undone(line, fields, kind == Kind::Correct);
        }
    }

    fn stray_of(
        &mut self,
        line: usize,
        (account, symbol): (usize, usize),
        side: (bool, char),
        fields: &Fields<'_>,
    ) {
        let Some(execution) = self.execution(symbol, fields) else {
            return;
        };
        if self.legs_of(symbol).is_some() {
            return;
        }
        let exec = fields[&17].to_owned();
        let known = match self.is_leg(symbol) {
            true => super::spreads::key(&exec, symbol),
            false => exec.clone(),
        };
        if self.strays.contains(&exec) || !self.strays.insert(known.clone()) {
            return;
        }
        self.late_fills += 1;
        self.stray_fills.push(super::settled::StrayFill {
            line,
            account,
            symbol,
            side,
            exec,
            quantity: execution.0,
            price: execution.1,
        });
        let scopes = self.scopes(line, account, symbol);
        self.trade(&scopes, (account, symbol), side, execution);
        self.guard(&scopes);
    }

    pub fn trade(
        &mut self,
        scopes: &[At],
        (account, symbol): (usize, usize),
        side: (bool, char),
        (quantity, price): (i128, i128),
    ) {
        let holding = self.holdings.entry((account, symbol)).or_default();
        let before = holding.gained();
        let worth = price * quantity;
        holding.fill(side, (quantity, price));
        if (holding.mark, holding.opened_at) == (0, 0) {
            holding.opened_at = price;
        }
        holding.mark = price;
        let after = holding.gained();
        let traded = self.worth(symbol, worth.abs());
        let gained = self.gain(symbol, after) - self.gain(symbol, before);
        for scope in scopes {
            *self.traded.entry(*scope).or_default() += traded;
            *self.gained.entry(*scope).or_default() += gained;
        }
        let passed = Passed {
            executions: 1,
            ..Passed::default()
        };
        self.pass(scopes, passed);
    }

    pub fn replaced(&mut self, number: u64, request: u64, fields: &Fields<'_>) {
        if self.replaced_late(number, request, fields) {
            return;
        }
        let order = &self.orders[&number];
        let asked = order.asked.clone().filter(|asked| asked.number == request);
        let Some(asked) = asked.filter(|asked| asked.what == 'G') else {
            return;
        };
        if matches!(order.fate, Fate::Over(how) if how != '2') {
            return self.decline(request, &TOO_LATE);
        }
        // Other terms than those that were asked for are a break, but for a quantity that is filled by then.
        let (filled, cum) = (order.filled, whole(fields, 14));
        let is_amended = |it: &i128| asked.quantity < *it && (*it == filled || Some(*it) == cum);
        let quantity = whole(fields, 38).filter(is_amended);
        let (quantity, price) = (quantity.unwrap_or(asked.quantity), asked.price);
        self.accepted(number);
        self.acknowledged.insert(number);
        let order = self.orders.get_mut(&number).unwrap();
        let original = order.id.clone();
        let was_open = order.is_open();
        order.asked = None;
        order.remade = None;
        order.current = request;
        (order.quantity, order.price) = (quantity, price);
        order.hold = asked.hold.max(price.abs());
        if !asked.id.is_empty() {
            order.id = asked.id;
        }
        order.fate = match order.fate {
            _ if order.filled >= quantity => Fate::Over('2'),
            Fate::Done => Fate::Done,
            Fate::Lapsed => Fate::Lapsed,
            _ => Fate::Working,
        };
        let is_open = order.is_open();
        self.write_execution(number, '5', Some(&original), &[]);
        match (was_open, is_open) {
            (true, false) => self.over(number),
            (false, true) => self.ended.retain(|ended| *ended != number),
            _ => {}
        }
    }

    /// An order has ended: nothing waits for fills of it.
    pub fn over(&mut self, number: u64) {
        let order = self.orders.get_mut(&number).unwrap();
        (order.waiting, order.remade) = (None, None);
        self.ended.push(number);
        self.settle_later(number);
    }

    pub fn reject(&mut self, number: u64, why: &Why) {
        self.too_late(number);
        if self.orders[&number].fate == Fate::Lapsed {
            return self.end(number, '8', None, "");
        }
        self.orders.get_mut(&number).unwrap().fate = Fate::Over('8');
        self.write_rejected(number, why);
        self.over(number);
    }

    /// Rejects the request of an order that was closed otherwise.
    pub fn too_late(&mut self, number: u64) {
        if let Some(asked) = &self.orders[&number].asked {
            self.decline(asked.number, &TOO_LATE);
        }
    }

    pub fn ended(&mut self, number: u64, request: u64, how: char, fields: &Fields<'_>) {
        if !self.orders[&number].is_open() {
            return;
        }
        if how == '4' && self.former_cancelled(number, request, fields) {
            return;
        }
        if self.rests(number, how) {
            self.accepted(number);
        }
        let order = &self.orders[&number];
        let asked = order.asked.as_ref();
        // A cancel is done, whichever id the venue gives.
        let asked = asked.filter(|it| it.what == 'F' && (it.number == request || how == '4'));
        let asked = asked.map(|asked| asked.number);
        let filled = whole(fields, 14).unwrap_or(order.filled);
        if how == '4' && asked.is_none() && self.hold_cancel(number, request, filled, fields) {
            return;
        }
        let order = &self.orders[&number];
        if filled > order.filled {
            let due = self.now + 5 * SECOND;
            let order = self.orders.get_mut(&number).unwrap();
            if order.waiting.is_none() {
                order.remade = order.remade.filter(|it| !matches!(it, Remade::Held(..)));
            }
            order.waiting.get_or_insert(Waiting {
                how,
                request: asked,
                filled,
                due,
            });
            return;
        }
        if how == '3' && order.fate == Fate::Done {
            return;
        }
        let text = fields.get(&58).copied().unwrap_or_default();
        self.end(number, how, asked, text);
    }

    /// An order valid for longer than today is not closed when it is done for the day.
    pub fn rests(&self, number: u64, how: char) -> bool {
        how == '3' && self.orders[&number].outlives(self.day + 1)
    }

    pub fn renew(&mut self, number: u64) {
        let order = self.orders.get_mut(&number).unwrap();
        order.fate = Fate::Working;
        order.waiting.take_if(|it| it.how == '3');
        self.write_restated(number);
    }

    /// The venue trades it, or says that it works.
    fn works(&mut self, number: u64, fields: &Fields<'_>) {
        let order = &self.orders[&number];
        let is_done = order.fate == Fate::Done && order.waiting.is_none();
        if is_done && fields.get(&39).is_none_or(|it| *it != "3") {
            self.renew(number);
        }
    }

    fn restated(&mut self, number: u64, fields: &Fields<'_>) {
        let order = &self.orders[&number];
        let scale = self.world.symbols[order.symbol].scale;
        let quantity = number_of(fields, 38).map(Number::whole);
        let price = number_of(fields, 44).filter(|_| "24".contains(order.kind));
        let price = price.map(|price| price.scaled(scale));
        let is_other = quantity.is_some_and(|it| it != Ok(order.quantity))
            || price.is_some_and(|it| it != Ok(order.price));
        if order.is_open() {
            match is_other {
                true => self.terms_restated(number, fields),
                false => self.accepted(number),
            }
            if self.orders[&number].rests_until(self.day + 1) {
                self.renew(number);
            }
        }
    }

    fn status_of(
        &mut self,
        (line, number, request): (usize, u64, u64),
        status: char,
        fields: &Fields<'_>,
    ) {
        if "015".contains(status) {
            let is_open = self.replace_in_flight(number) == Some(request)
                || self.is_after_end(number, request);
            if request != number && is_open && self.opened(line, number, request, fields) {
                return;
            }
            if self.is_held(number) {
                self.orders.get_mut(&number).unwrap().remade = None;
            }
        }
        if status == '8' && self.replace_not_there(number) {
            return;
        }
        match status {
            '0' | '1' | '2' | '5' | '6' | '7' | '9' | 'A' | 'D' | 'E' => {
                if status != 'A' {
                    self.accepted(number);
                }
                if "015".contains(status) {
                    self.works(number, fields);
                }
                let asked = self.orders[&number].asked.as_ref();
                let lost = asked.filter(|asked| asked.unknown);
                if let Some(request) = lost.map(|it| it.number).filter(|_| "6E".contains(status)) {
                    // The venue has it, and answers later.
                    self.unanswered.retain(|it| it.1 != request);
                }
                let lost = lost.filter(|_| !"6E".contains(status));
                match lost.map(|asked| (asked.number, asked.what)) {
                    // The venue goes by the ClOrdID of the replace.
                    Some((asked, 'G')) if asked == request => {
                        self.replaced(number, request, fields);
                    }
                    Some((asked, what)) => {
                        if what == 'G' {
                            self.give_up(number, asked);
                        }
                        self.decline(asked, &Why::Other(0, 2));
                    }
                    None => {}
                }
            }
            '3' | '4' | 'C' => self.ended(number, request, status, fields),
            '8' => self.not_there(number, fields),
            _ => {}
        }
    }
}
