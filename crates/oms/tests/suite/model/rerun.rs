//! Model: orders that a control rejected, and an operator runs again.

use super::{Fate, Fields, Model, Order, Why};

/// One that was rejected today.
#[derive(Clone, Debug)]
pub struct Rejected {
    pub order: Order,
    is_located: bool,
    /// The control that rejected it; empty for a limit that is missing.
    pub code: &'static str,
    pub is_done: bool,
}

/// Of a locate, only that of a short sale is kept that needs nobody.
fn can_be_kept(order: &Order) -> bool {
    let is_located = order.locate == [(114, "N".to_owned())];
    order.locate.is_empty() || (is_located && matches!(order.side, '5' | '6'))
}

impl Model {
    /// A new order was rejected: one that a control rejected may be run again, unless it was to be held.
    pub fn keep_rejected(&mut self, client: usize, fields: &Fields<'_>, why: &Why) {
        let code = match why {
            Why::Rc("RC1" | "RC2" | "RC4", _) => return,
            Why::Rc(code, _) => *code,
            Why::Other(3, 2) => "",
            _ => return,
        };
        if let Ok((order, is_located)) = self.proposal(client, fields, "new")
            && order.fate == Fate::Sent
            && order.parent.is_none()
            && order.quantity > 0
            && can_be_kept(&order)
        {
            self.rejected.push(Rejected {
                order,
                is_located,
                code,
                is_done: false,
            });
        }
    }

    /// `C1/A7` is run again without `RC8,RC9`.
    pub fn rerun(&mut self, named: &str, without: &str) {
        let (session, id) = named.split_once('/').unwrap();
        let is_it = |it: &&Rejected| {
            let session_of = self.world.clients[it.order.client].session;
            self.world.names[session_of] == session && it.order.id == id && !it.is_done
        };
        let Some(rejected) = self.rejected.iter().find(is_it) else {
            return;
        };
        let Rejected {
            mut order,
            is_located,
            ..
        } = rejected.clone();
        let Ok(hold) = self
            .without(without)
            .check(&self.wanted(&order, is_located, None))
        else {
            return;
        };
        let again = format!("RERUN-{}", self.last + 1);
        if self.used(order.client, &again).is_some() {
            return;
        }
        let mut all = self.rejected.iter_mut();
        let rejected = all.find(|it| it.order.client == order.client && it.order.id == id);
        rejected.unwrap().is_done = true;
        (order.hold, order.id, order.valid_until) = (hold, again, None);
        let words = self.wanted(&order, is_located, None).words();
        let symbol = order.symbol;
        let (number, scopes) = self.place(order, words);
        let text = format!("placed by an operator for {id}, which was rejected; off: {without}");
        self.write_stage(number, &text);
        let line = if self.guard(&scopes) {
            Err(Why::Rc("RC1", 0))
        } else {
            self.line_for(symbol, None)
        };
        self.send_on(number, line);
    }

    /// The same without limits of these controls, and with those that must be there beyond reach.
    fn without(&self, codes: &str) -> Self {
        let mut model = self.clone();
        for code in codes.split(',') {
            let is_it = |known: &str| {
                let rest = known.strip_prefix(code);
                rest.is_some_and(|rest| {
                    rest.is_empty() || (rest.starts_with('-') && code != "RC10")
                })
            };
            model.limits.retain(|(_, known), _| !is_it(known));
            let required = [
                "RC6",
                "RC7",
                "RC8",
                "RC13",
                "RC14",
                "RC15-long",
                "RC15-short",
            ];
            for known in required.into_iter().filter(|known| is_it(known)) {
                model.limits.insert((super::At::Firm, known), i128::MAX / 4);
            }
            match code {
                "RC3" => model.world.restricted.clear(),
                "RC8" => {
                    for symbol in &mut model.world.symbols {
                        (symbol.lot, symbol.tick) = (1, 1);
                    }
                }
                "RC16" => model.world.rejects_self_trades = false,
                "RC18" => model.markets.clear(),
                _ => {}
            }
        }
        model
    }
}
