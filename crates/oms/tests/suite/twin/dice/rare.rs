//! Rare inputs.

use super::Dice;
use crate::desk::Input;
use crate::model::{Model, SECOND, date};
use crate::twin::floors::{CLIENTS, LINES};

impl Dice {
    pub(super) fn question(&mut self, model: &Model) -> Input {
        let client = self.below(3) as usize;
        let id = match self.order(model) {
            Some(order) if !self.once_in(5) => order.id,
            _ => format!("C{}", 1 + self.below(self.ids + 1)),
        };
        Input::Says(CLIENTS[client], "H", format!("11={id}|55=XYZ|54=1|"))
    }

    pub(super) fn mass(&mut self, model: &Model) -> Input {
        let kind = self.any(&["1", "7", "7", "3"]);
        let mut body = self.any(&["55=XYZ|", "55=ABC|", "55=NONE|"]).to_owned();
        if self.once_in(2) {
            body.push_str(self.any(&["1=A1|", "1=DESK|", "1=NONE|"]));
        }
        if self.once_in(3) {
            body.push_str(self.any(&["54=1|", "54=2|", "54=8|"]));
        }
        if self.once_in(2) {
            self.ids += 1;
            return Input::Says(
                CLIENTS[0],
                "AF",
                format!("584=S{}|585={kind}|{body}", self.ids),
            );
        }
        let id = self.id(model);
        let client = self.below(3) as usize;
        Input::Says(CLIENTS[client], "q", format!("11={id}|530={kind}|{body}"))
    }

    pub(super) fn line(&mut self, model: &Model) -> Input {
        let line = self.any(&LINES);
        if !model.ready.contains(&line) {
            return Input::Up(line, self.once_in(4));
        }
        match self.below(6) {
            0 => Input::Leaves(line),
            1 => {
                self.next.push(Input::Up(line, true));
                Input::Down(line, true)
            }
            _ => Input::Down(line, self.once_in(2)),
        }
    }

    pub(super) fn client(&mut self) -> Input {
        let client = CLIENTS[1];
        if self.once_in(2) {
            self.next.push(Input::Up(client, false));
        }
        if self.once_in(2) {
            self.next.push(Input::Pass(6 * SECOND));
        }
        Input::Down(client, self.once_in(3))
    }

    pub(super) fn command(&mut self) -> Input {
        let scope = self.any(&[
            "firm",
            "session=C1",
            "account=A1",
            "account=DESK",
            "symbol=XYZ",
            "account=A2 symbol=XYZ",
        ]);
        match self.below(12) {
            0 | 1 => {
                self.next.extend([
                    Input::Command(format!("arm {scope}")),
                    Input::Pass(6 * SECOND),
                ]);
                Input::Command(format!("kill {scope}"))
            }
            2 => {
                self.next.push(Input::Command(format!("arm {scope}")));
                Input::Command(format!("reducing {scope}"))
            }
            3 => Input::Command(format!("cancel {scope}")),
            4 | 5 => {
                let state = self.any(&["open", "open", "auction", "halted", "closed"]);
                Input::Command(format!("market symbol=XYZ {state}"))
            }
            6..9 => Input::Command(format!("arm {scope}")),
            _ => {
                let (code, values) = self.any(&[
                    ("RC6", ["100", "1000", "none"]),
                    ("RC7", ["20000", "150000.5", "none"]),
                    ("RC8", ["5", "99.9", "none"]),
                    ("RC13", ["5", "30", "none"]),
                    ("RC14", ["2000000", "30000000", "none"]),
                    ("RC15-long", ["300", "2000", "none"]),
                    ("RC5-1s", ["2", "5", "none"]),
                    ("RC9-value-60s", ["500000", "3000000", "none"]),
                    ("RC9-quantity-day", ["5000", "20000", "none"]),
                    ("RC10", ["4", "20", "none"]),
                    ("RC11-ratio", ["3", "30", "none"]),
                    ("RC12", ["5", "20", "none"]),
                    ("RC17", ["1000", "100000", "none"]),
                ]);
                let value = self.any(&values);
                let scope = if value == "none" && scope == "firm" {
                    "account=A1"
                } else {
                    scope
                };
                Input::Command(format!("limit {scope} {code}={value}"))
            }
        }
    }

    /// A report of an order at a venue, entered by an operator.
    pub(super) fn by_hand(&mut self, model: &Model) -> Input {
        let open = model.orders.values().filter(|it| it.is_open());
        let sent: Vec<_> = open.filter(|it| !it.is_unsent()).collect();
        if sent.is_empty() {
            return self.command();
        }
        let order = self.any(&sent);
        let left = order.quantity - order.filled;
        let what = match self.below(8) {
            0 if !order.is_answered() => "accepted".to_owned(),
            1 if !order.is_answered() => "rejected".to_owned(),
            2 => self.any(&["cancelled", "expired"]).to_owned(),
            _ if left > 0 => {
                self.execs += 1;
                let quantity = 1 + i128::from(self.below(left.min(1 << 40) as u64));
                let legs = model.legs_of(order.symbol).filter(|_| self.once_in(2));
                let open = legs.map(|legs| legs[0].ratio * order.quantity);
                let open = open.map_or(0, |all| all - order.legs.filled[0]);
                if open > 0 {
                    let quantity = 1 + i128::from(self.below(open.min(1 << 40) as u64));
                    format!("leg1 quantity={quantity} price=1 exec=E{}", self.execs)
                } else {
                    format!("fill quantity={quantity} price=1 exec=E{}", self.execs)
                }
            }
            _ => "cancelled".to_owned(),
        };
        Input::Command(format!("report order={} type={what}", order.number))
    }

    /// A child of an open parent, most of the time one that fits.
    pub(super) fn child(&mut self, model: &Model) -> Option<Input> {
        let parents = model.orders.values().filter(|it| it.is_parent);
        let parents: Vec<_> = parents.filter(|it| it.is_open()).collect();
        if parents.is_empty() {
            return None;
        }
        let back = self.below(3.min(parents.len() as u64)) as usize;
        let parent = parents[parents.len() - 1 - back];
        let symbol = &model.world.symbols[parent.symbol];
        let left = parent.quantity - parent.filled - model.held_by_children(parent.number);
        let lots = (left / symbol.lot).clamp(1, 1 << 40) as u64;
        let lots = match self.below(8) {
            0 => lots,
            1 => lots + 1,
            _ => 1 + self.below(lots.div_ceil(2)),
        };
        let id = self.id(model);
        let name = if self.once_in(40) { "ABC" } else { symbol.name };
        let side = if self.once_in(40) { '1' } else { parent.side };
        let kind = self.any(&["2", "2", "2", "2", "1", "J", "4"]);
        let quantity = i128::from(lots) * symbol.lot;
        let account = model.world.accounts[parent.account].name;
        let account = if self.once_in(40) { "A2" } else { account };
        let mut body = format!("11={id}|55={name}|54={side}|38={quantity}|40={kind}|1={account}|");
        if "24".contains(kind) {
            body.push_str(&format!("44={}|", self.price(symbol.name)));
        }
        if "4J".contains(kind) {
            body.push_str(&format!("99={}|", self.price(symbol.name)));
        }
        if parent.effect != '-' {
            body.push_str(&format!("77={}|", parent.effect));
        }
        if model.world.feed.is_some() {
            body.push_str(&self.terms(symbol.name));
        }
        let until = date(model.day + i64::from(self.below(3) as u32));
        let tif = self.below(8);
        match (tif, &parent.until) {
            (0, _) => body.push_str("59=1|"),
            (1, _) => body.push_str("59=3|"),
            (2, None) => body.push_str(&format!("59=6|432={until}|")),
            (2, Some(until)) => body.push_str(&format!("59=6|432={until}|")),
            _ => {}
        }
        let number = match self.below(40) {
            0 => model.last + 1,
            1 => 1 + self.below(model.last),
            _ => parent.number,
        };
        let client = match self.below(40) {
            0 => self.below(3) as usize,
            _ => parent.client,
        };
        body.push_str(&match self.below(2) {
            0 => format!("9705={number}|"),
            _ => format!("1080={number}|1081=1|"),
        });
        Some(Input::Says(CLIENTS[client], "D", body))
    }

    /// An order that a control rejected is run again, often without that control.
    pub(super) fn rerun(&mut self, model: &Model) -> Input {
        if model.rejected.is_empty() {
            return self.command();
        }
        let rejected = self.any(&model.rejected);
        let session = model.world.clients[rejected.order.client].session;
        let name = model.world.names[session];
        let mut without = self
            .any(&["RC8", "RC9", "RC18", "RC3", "RC16", "RC6,RC7"])
            .to_owned();
        if !rejected.code.is_empty() && !self.once_in(5) {
            without = format!("{},{without}", rejected.code);
        }
        let id = &rejected.order.id;
        Input::Command(format!("rerun order={name}/{id} without={without}"))
    }

    /// A condition, and how long the order is valid.
    pub(super) fn terms(&mut self, symbol: &str) -> String {
        let mut terms = String::new();
        if self.once_in(6) {
            let field = self.any(&["last", "last", "bid", "offer"]);
            let way = self.any(&[">=", "<="]);
            terms.push_str(&format!("9703={field}{way}{}|", self.price(symbol)));
        }
        if self.once_in(8) {
            terms.push_str(self.any(&["9702=10|", "9702=1000|", "9702=5000|", "9702=60000|"]));
        }
        terms
    }

    /// Prices of a symbol or two, of the feed or an operator.
    pub(super) fn market_data(&mut self, model: &Model) -> Input {
        let mut symbol = || {
            let at = self.below(6).min(4) as usize;
            let name = model.world.symbols[if self.once_in(2) { 0 } else { at }].name;
            let price = self.price(name);
            (name, price)
        };
        let ((name, price), (other, second)) = (symbol(), symbol());
        let kind = self.any(&["2", "2", "0", "1"]);
        let feed = model.world.feed.unwrap();
        match self.below(8) {
            0 => {
                let body = format!("55={name}|268=2|269=2|270={price}|269={kind}|270={price}|");
                Input::Says(feed, "W", body)
            }
            1 => Input::Says(feed, "W", format!("55={name}|268=0|")),
            2 => {
                let body = format!("268=1|279=2|269={kind}|55={name}|270={price}|");
                Input::Says(feed, "X", body)
            }
            // Of a session that is none.
            3 => Input::Says(LINES[1], "W", format!("55={name}|268=1|269=2|270={price}|")),
            4 => {
                let field = self.any(&["last", "bid", "offer"]);
                let price = self.any(&["100", "99", "101", "50"]);
                let name = self.any(&["XYZ", "ABC"]);
                Input::Command(format!("price symbol={name} {field}={price}"))
            }
            _ => {
                let body = format!(
                    "268=2|279=0|269=2|55={name}|270={price}|279=1|269={kind}|55={other}|270={second}|"
                );
                Input::Says(feed, "X", body)
            }
        }
    }

    pub(super) fn restart(&mut self) -> Input {
        if !self.once_in(3) {
            return Input::Pass(SECOND / 10);
        }
        // The last one comes first.
        self.next.extend(LINES.map(|line| Input::Up(line, false)));
        self.next.push(Input::Pass(6 * SECOND));
        if self.once_in(2) {
            self.next.push(Input::Up(CLIENTS[1], false));
        }
        Input::Restart(i64::from(self.once_in(2)), self.once_in(2))
    }
}
