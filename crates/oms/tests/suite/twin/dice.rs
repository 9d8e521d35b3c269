//! Random inputs: mostly normal operation, with every kind of failure.

mod busts;
mod quotes;
mod rare;
mod refusals;
mod spreads;

use fixwire_harness::Random;

use super::floors::{CLIENTS, LINES};
use crate::desk::Input;
use crate::model::remade::Remade;
use crate::model::{At, Model, Order, SECOND, date};

/// Random numbers, and what was said before.
pub struct Dice {
    random: Random,
    ids: u64,
    execs: u64,
    /// The last new order: session and body.
    placed: Option<(usize, String)>,
    /// Reports of venues, to be said again.
    reports: Vec<Input>,
    /// Inputs that come before others.
    next: Vec<Input>,
}

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self {
            random: Random::xorshift_star(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1),
            ids: 0,
            execs: 0,
            placed: None,
            reports: Vec::new(),
            next: LINES
                .into_iter()
                .chain(CLIENTS)
                .map(|it| Input::Up(it, false))
                .collect(),
        }
    }

    pub fn below(&mut self, most: u64) -> u64 {
        self.random.below(most)
    }

    fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    fn any<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize].clone()
    }

    pub fn input(&mut self, model: &Model) -> Input {
        if let Some(input) = self.next.pop() {
            return input;
        }
        if let Some(input) = self.repair(model) {
            return input;
        }
        if model.world.feed.is_some() && self.once_in(8) {
            return self.market_data(model);
        }
        if self.once_in(120)
            && let Some(input) = self.stray_bust(model)
        {
            return input;
        }
        if self.once_in(60)
            && let Some(input) = self.settle(model)
        {
            return input;
        }
        match self.below(100) {
            0..4 if self.once_in(2) => self.quote(model),
            0..22 => self.new_order(model),
            22..32 => self.change(model, "F"),
            32..44 => self.change(model, "G"),
            44..86 => self.report(model),
            86..88 => self.refusal(model),
            88..91 => match self.reports.len() {
                0 => self.new_order(model),
                count => {
                    let back = self.below(20.min(count as u64)) as usize;
                    without_filled(self.reports[count - 1 - back].clone())
                }
            },
            91 => self.question(model),
            92 => self.mass(model),
            93..95 => self.line(model),
            95 => self.client(),
            96 => Input::Pass(self.any(&[SECOND / 20, SECOND / 2, 6 * SECOND, 70 * SECOND])),
            97 | 98 if self.once_in(4) => self.by_hand(model),
            97 | 98 if self.once_in(3) => self.rerun(model),
            97 | 98 => self.command(),
            _ => self.restart(),
        }
    }

    /// Failures are temporary.
    fn repair(&mut self, model: &Model) -> Option<Input> {
        if !self.once_in(12) {
            return None;
        }
        let is_down = |line: &&usize| !model.ready.contains(line);
        if let Some(line) = LINES.iter().find(is_down) {
            return Some(Input::Up(*line, self.once_in(6)));
        }
        let mut stopped = model.trading.keys();
        if let Some(scope) = stopped.next() {
            let account = |at: usize| model.world.accounts[at].name;
            let symbol = |at: usize| model.world.symbols[at].name;
            let scope = match *scope {
                At::Firm => "firm".to_owned(),
                At::Session(at) => format!("session={}", model.world.names[at]),
                At::Account(at) => format!("account={}", account(at)),
                At::Symbol(at) => format!("symbol={}", symbol(at)),
                At::Holding(of, at) => format!("account={} symbol={}", account(of), symbol(at)),
            };
            return Some(Input::Command(format!("arm {scope}")));
        }
        let mut closed = model.markets.iter().filter(|(_, is)| **is != "open");
        closed.next().map(|(at, _)| {
            Input::Command(format!(
                "market symbol={} open",
                model.world.symbols[*at].name
            ))
        })
    }

    fn id(&mut self, model: &Model) -> String {
        if self.once_in(30)
            && let Some(order) = self.order(model)
        {
            return order.id;
        }
        self.ids += 1;
        format!("C{}", self.ids)
    }

    /// An order that is remembered, the open ones more often.
    fn order(&mut self, model: &Model) -> Option<Order> {
        let open: Vec<u64> = model
            .orders
            .values()
            .filter(|it| it.is_open())
            .map(|it| it.number)
            .collect();
        if !open.is_empty() && !self.once_in(6) {
            let back = self.below(12.min(open.len() as u64)) as usize;
            return model.orders.get(&open[open.len() - 1 - back]).cloned();
        }
        let count = model.orders.len() as u64;
        (count > 0).then(|| {
            let at = self.below(count) as usize;
            model.orders.values().nth(at).unwrap().clone()
        })
    }

    fn quantity(&mut self, lot: i128) -> String {
        match self.below(60) {
            0 => self
                .any(&[
                    "0",
                    "7",
                    "10.5",
                    "9007199254740990",
                    "9007199254740993",
                    "1000000000000000000",
                    "-10",
                ])
                .to_owned(),
            1 => (lot * i128::from(self.below(1 << 46))).to_string(),
            _ => (lot * i128::from(1 + self.below(40))).to_string(),
        }
    }

    fn price(&mut self, symbol: &str) -> String {
        let usual: &[&str] = match symbol {
            "XYZ" => &["99.95", "100", "100.05", "100.10", "101", "98.5"],
            "ABC" => &["50", "51", "49", "48.0"],
            "OLD1" => &["10", "10.001", "9.999", "10.5"],
            "FIN" => &["1", "1.00005", "0.99995", "1.1", "1.01"],
            "FUT" => &["20", "20.5", "19.5", "21", "19"],
            "NEAR" => &["100", "100.05", "99.5", "101"],
            "CAL" => &["5", "5.01", "4.5", "0", "6.25"],
            "OLDFLY" => &["-400", "-400.05", "-399.95", "1"],
            _ => &["5", "5.5", "0.5", "-1.5"],
        };
        match self.below(50) {
            0 => self
                .any(&[
                    "0",
                    "100.001",
                    "0.000001",
                    "9007199254740992",
                    "90071992547409920",
                    "-100",
                    "200",
                    "1000000000000.5",
                    "100.5000",
                ])
                .to_owned(),
            _ => self.any(usual).to_owned(),
        }
    }

    fn new_order(&mut self, model: &Model) -> Input {
        if self.once_in(7)
            && let Some((client, body)) = self.placed.clone()
        {
            // The same once more: with an id of its own, or as a possible resend.
            self.ids += 1;
            let (_, rest) = body.split_once('|').unwrap();
            let body = match self.below(6) {
                0 => format!("{body}97=Y|"),
                _ => format!("11=C{}|{rest}", self.ids),
            };
            return Input::Says(client, "D", body);
        }
        if self.once_in(3)
            && let Some(input) = self.child(model)
        {
            return input;
        }
        let client = if self.once_in(40) {
            2
        } else {
            self.below(2) as usize
        };
        let id = self.id(model);
        let at = self.any(&[0, 1, 2, 3, 4, 5, 5, 6, 7, 7, 7, 8, 8]);
        let symbol = &model.world.symbols[if self.once_in(2) { 0 } else { at }];
        let name = if self.once_in(60) {
            "NONE"
        } else {
            symbol.name
        };
        let quantity = self.quantity(symbol.lot);
        let side = match self.below(40) {
            0 => "5",
            1 => "8",
            side => ["1", "2"][side as usize % 2],
        };
        let kind = match self.below(20) {
            0 => "1",
            1 => "3",
            2 => "4",
            4 => "J",
            3 if self.once_in(4) => "K",
            _ => "2",
        };
        let mut body = format!("11={id}|55={name}|54={side}|38={quantity}|40={kind}|");
        let account = match (client, self.below(30)) {
            (_, 0) => Some("DESK"),
            (_, 1) => Some("NONE"),
            (0, 2..16) => None,
            (0, 16..24) => Some("A1"),
            (0, _) => Some("A2"),
            (_, 2..16) => Some("A2"),
            _ => Some("B1"),
        };
        if let Some(account) = account {
            body.push_str(&format!("1={account}|"));
        }
        if "24K".contains(kind) {
            body.push_str(&format!("44={}|", self.price(symbol.name)));
        }
        if "34J".contains(kind) {
            body.push_str(&format!("99={}|", self.price(symbol.name)));
        }
        if model.world.feed.is_some() {
            body.push_str(&self.terms(symbol.name));
        }
        match self.below(12) {
            0..3 => body.push_str("59=1|"),
            3 => body.push_str("59=3|"),
            4 => body.push_str("59=4|"),
            5 if self.once_in(4) => body.push_str("59=7|"),
            6 => {
                let until = model.day - 1 + i64::from(self.below(5) as u32);
                body.push_str(&format!("59=6|432={}|", date(until)));
            }
            _ => {}
        }
        let is_wrong = self.once_in(40);
        if is_wrong != symbol.has_effect {
            body.push_str(self.any(&["77=O|", "77=C|"]));
        } else if self.once_in(40) {
            body.push_str("77=R|");
        }
        if self.once_in(8) {
            body.push_str(self.any(&["114=N|", "114=Y|", "5700=X|"]));
        }
        if self.once_in(8) {
            body.push_str(&self.own_number());
        }
        if self.once_in(6) && !body.contains("9705") {
            body.push_str("21=3|");
        }
        self.placed = Some((CLIENTS[client], body.clone()));
        Input::Says(CLIENTS[client], "D", body)
    }

    /// A number of a pool, or none that is one.
    fn own_number(&mut self) -> String {
        let number = self.below(120);
        match self.below(6) {
            0 => format!("37={:X}|", number % 17),
            1 => format!("5001=U{number:03}|"),
            2 => "526=X|".to_owned(),
            _ => format!("526=N{number:02}|"),
        }
    }

    fn change(&mut self, model: &Model, what: &'static str) -> Input {
        let Some(order) = self.order(model) else {
            return self.new_order(model);
        };
        let client = if self.once_in(40) {
            self.below(3) as usize
        } else {
            order.client
        };
        let id = self.id(model);
        let original = match self.below(30) {
            0 => "NONE".to_owned(),
            1 => format!("C{}", 1 + self.below(self.ids + 1)),
            _ => order.id.clone(),
        };
        let symbol = &model.world.symbols[order.symbol];
        let name = if self.once_in(50) { "ABC" } else { symbol.name };
        let side = if self.once_in(50) { '2' } else { order.side };
        let mut body = format!("11={id}|41={original}|55={name}|54={side}|");
        if what == "G" {
            body.push_str(&format!("40={}|", order.kind));
            if !self.once_in(10) {
                let quantity = match self.below(4) {
                    0 => order.quantity.to_string(),
                    1 => (order.filled / 10 * 10 + 10 * i128::from(self.below(4))).to_string(),
                    _ => self.quantity(symbol.lot),
                };
                body.push_str(&format!("38={quantity}|"));
            } else if self.once_in(2) {
                let by = symbol.lot * i128::from(1 + self.below(3));
                body.push_str(&format!("9706={by}|"));
            }
            if "24".contains(order.kind) && !self.once_in(10) {
                body.push_str(&format!("44={}|", self.price(symbol.name)));
            }
            if self.once_in(40) {
                body.push_str(self.any(&["1=A2|", "59=3|", "99=7|", "99=0.000001|", "77=C|"]));
            }
            if order.tif == '6' && self.once_in(4) {
                let until = order.until.as_deref().filter(|_| !self.once_in(3));
                body.push_str(&format!("432={}|", until.unwrap_or("20261231")));
            }
        }
        Input::Says(CLIENTS[client], what, body)
    }

    fn exec(&mut self) -> String {
        if self.execs > 0 && self.once_in(40) {
            return format!("E{}", self.execs - self.below(self.execs.min(30)));
        }
        self.execs += 1;
        format!("E{}", self.execs)
    }

    /// A report about an order of ours, or of nobody's.
    fn report(&mut self, model: &Model) -> Input {
        let Some(order) = self.order(model) else {
            return self.new_order(model);
        };
        if !order.is_parent
            && let Some(input) = self.leg(model, &order)
        {
            return input;
        }
        // The venues know nothing of parents.
        if order.is_parent
            && !self.once_in(8)
            && let Some(input) = self.child(model)
        {
            return input;
        }
        let line = if order.line == usize::MAX {
            LINES[0]
        } else {
            order.line
        };
        let is_old = model.world.old_lines.contains(&line);
        let line = match self.below(40) {
            0 => self.any(&LINES),
            1 | 2 if !is_old => self.any(&LINES[..2]),
            _ => line,
        };
        let number = match self.below(50) {
            0 => 1 + self.below(model.last),
            1 => model.last + 1 + self.below(5),
            _ => order.number,
        };
        let asked = order.asked.as_ref();
        let given_up = order.late.as_ref().map(|late| late.given_up[..].to_vec());
        let given_up = given_up.filter(|_| self.once_in(2));
        let given_up = given_up.map(|all| self.any(&all));
        let request = match (asked, self.below(30)) {
            (_, 0) => Some(1 + self.below(model.last + 2)),
            (Some(asked), 1..24) => Some(asked.number),
            (None, 1..6) if order.current != order.number => Some(order.current),
            (_, 18..28) if given_up.is_some() => given_up,
            (_, 6..28) if order.again.is_some() => order.again.map(|again| again.attempt),
            _ => None,
        };
        let former = match order.remade {
            Some(Remade::Former(former, _)) if self.once_in(2) => Some(former),
            _ => None,
        };
        let id = match former.filter(|former| *former != number).or(request) {
            _ if former == Some(number) => number.to_string(),
            Some(request) => format!("{number}-{request}"),
            None => number.to_string(),
        };
        let symbol = &model.world.symbols[order.symbol];
        let name = if self.once_in(80) { "ABC" } else { symbol.name };
        let side = if self.once_in(80) { '1' } else { order.side };
        let mut body = format!(
            "37=V{number}|11={id}|17={}|55={name}|54={side}|",
            self.exec()
        );
        if !self.once_in(30) {
            body.push_str(&format!("1={}|", model.world.accounts[order.account].name));
        }
        if self.once_in(4) {
            body.push_str("58=v: so it is|");
        }
        if symbol.has_effect != self.once_in(30) {
            body.push_str(self.any(&["77=O|", "77=C|", "77=O|", "77=C|", "77=R|", ""]));
        }
        let mut what = match request {
            Some(_) if request == given_up => {
                format!("150=5|39=0|38={}|", self.quantity(symbol.lot))
            }
            _ if self.once_in(12) && !order.fills.is_empty() => {
                let bust = self.bust(&order, is_old, (symbol.name, symbol.lot));
                bust.unwrap_or_default()
            }
            _ => self.what(&order, is_old, name, symbol.lot),
        };
        if what.starts_with("150=5|") && self.once_in(2) {
            what.push_str(&format!("60=20261122-08:00:0{}|", self.below(8)));
        }
        if symbol.legs.is_some() {
            what.push_str(&self.legs_in_fill(model, &order));
        }
        let input = Input::Says(line, "8", body + what.as_str());
        if !what.starts_with("150=I") {
            self.reports.push(input.clone());
        }
        input
    }

    /// A price that its symbol can have.
    pub(super) fn last_price(&mut self, symbol: &str) -> String {
        let most = match symbol {
            "ABC" => 0,
            "OLD1" => 3,
            "FIN" => 5,
            "FUT" | "NOREF" => 1,
            _ => 2,
        };
        loop {
            let price = self.price(symbol);
            let part = price.split_once('.').map_or("", |(_, part)| part);
            if part.trim_end_matches('0').len() <= most {
                return price;
            }
        }
    }

    /// Content of the report: usually a valid one.
    fn what(&mut self, order: &Order, is_old: bool, symbol: &str, lot: i128) -> String {
        use crate::model::Fate;
        let asked = order
            .asked
            .as_ref()
            .map(|asked| (asked.what, asked.quantity));
        let kind = match (order.fate, asked, self.below(10)) {
            (_, _, 0) => self.any(&["0", "F", "5", "8", "4", "C", "3", "I", "D", "6", "A"]),
            (Fate::Sent | Fate::Unknown, _, 1..6) => self.any(&["0", "0", "0", "8", "8"]),
            (Fate::Waits, _, 1..9) => "8",
            (_, Some(('F', _)), 1..5) => "4",
            (_, Some(('G', _)), 1..4) => "5",
            (_, Some(('G', _)), 4) => self.any(&["0", "4"]),
            (Fate::Unknown, _, _) | (_, Some(_), 9) => "I",
            (Fate::Done, None, 4..6) => "D",
            (_, None, 8) if order.outlives(i64::MIN) => "3",
            (_, None, 9) => self.any(&["4", "C", "3", "I"]),
            _ => "F",
        };
        let mut filled = order.filled;
        let mut text = String::new();
        let mut exec_type = kind.to_owned();
        match kind {
            "F" => {
                let leaves = (order.quantity - order.filled).max(lot);
                let quantity = match self.below(12) {
                    0..3 => leaves.to_string(),
                    3 if self.once_in(4) => self.quantity(lot),
                    _ => (lot * i128::from(1 + self.below(4)))
                        .min(leaves)
                        .to_string(),
                };
                filled += quantity.parse::<i128>().unwrap_or(0);
                match self.below(60) {
                    // One before it was lost.
                    0 => filled += lot * i128::from(1 + self.below(3)),
                    // It is reported under a new ExecID(17) as well.
                    1 => filled = order.filled,
                    _ => {}
                }
                text = format!("32={quantity}|31={}|", self.last_price(symbol));
                if is_old {
                    exec_type = if filled >= order.quantity { "2" } else { "1" }.to_owned();
                }
            }
            "5" => {
                let quantity = asked.map_or(order.quantity, |(_, quantity)| quantity);
                if !self.once_in(20) {
                    text = format!("38={quantity}|");
                }
            }
            "D" => {
                text = self
                    .any(&["378=1|", "378=1|", "378=1|", "378=0|", ""])
                    .to_owned();
                // Other terms are a break unless all of them fit: venue-classes.txt has those.
                if self.once_in(4) {
                    text.push_str(&format!("38={}|", order.quantity));
                }
            }
            "8" if !self.once_in(3) => {
                text = format!("103={}|", self.any(&["0", "3", "3", "6"]));
            }
            _ => {}
        }
        let status = if kind == "I" {
            if self.once_in(2) || order.filled >= order.quantity {
                order.status()
            } else {
                self.any(&['0', '1', '3', '4', 'C', '8', '6', 'E'])
            }
        } else if "34C".contains(kind) {
            kind.chars().next().unwrap_or('4')
        } else if "F0D6EA".contains(kind) && filled >= order.quantity
            || kind == "5" && asked.is_some_and(|it| it.0 == 'G' && filled >= it.1)
        {
            '2'
        } else if self.once_in(5) {
            '3'
        } else {
            '0'
        };
        // Of an end alone: other reports that do not agree have a test of their own.
        if "34C".contains(kind) && self.once_in(6) {
            filled += lot * i128::from(self.below(4));
        }
        if is_old {
            let trans = match kind {
                "I" => '3',
                _ => '0',
            };
            text.push_str(&format!("20={trans}|"));
        }
        if !self.once_in(20) {
            text.push_str(&format!("14={filled}|"));
        }
        format!("150={exec_type}|39={status}|{text}")
    }
}

/// CumQty(14) of a report that comes late is not that of the order.
fn without_filled(input: Input) -> Input {
    let Input::Says(from, msg_type, body) = input else {
        return input;
    };
    let fields = body.split('|').filter(|field| !field.starts_with("14="));
    let body = fields.collect::<Vec<_>>().join("|");
    Input::Says(from, msg_type, body)
}
