//! Reports of the legs of spreads: of their own, or in the fill of the spread.

use super::Dice;
use crate::desk::Input;
use crate::model::{Model, Order};
use crate::twin::floors::LINES;

impl Dice {
    /// A report of a leg of an order.
    pub(super) fn leg(&mut self, model: &Model, order: &Order) -> Option<Input> {
        let legs = model.legs_of(order.symbol)?;
        if self.once_in(3) {
            return None;
        }
        let at = self.below(2) as usize;
        let leg = legs[at];
        let symbol = &model.world.symbols[leg.symbol];
        let line = match order.line {
            usize::MAX => LINES[0],
            line => line,
        };
        let is_old = model.world.old_lines.contains(&line);
        let number = order.number;
        let request = order.again.as_ref().map(|again| again.attempt);
        let id = match request.filter(|_| !self.once_in(6)) {
            Some(request) => format!("{number}-{request}"),
            None => number.to_string(),
        };
        // Most of the time what the spread has filled.
        let missing = leg.ratio * order.filled - order.legs.filled[at];
        let quantity = match self.below(8) {
            0 => self.quantity(symbol.lot),
            1 => leg.ratio.to_string(),
            _ if missing > 0 => missing.to_string(),
            _ => (leg.ratio * i128::from(1 + self.below(5))).to_string(),
        };
        let buys = (order.buys() == leg.buys) != self.once_in(60);
        let side = if buys { 1 } else { 2 };
        let exec = self.exec();
        let mut body = format!("37=V{number}|11={id}|17={exec}|55={}|442=2|", symbol.name);
        if !self.once_in(30) {
            body.push_str(&format!("54={side}|"));
        }
        if !self.once_in(30) {
            body.push_str(&format!("1={}|", model.world.accounts[order.account].name));
        }
        if self.once_in(8)
            && let Some(what) = self.bust_of_leg(order, (at, is_old), symbol.name)
        {
            let input = Input::Says(line, "8", body + what.as_str());
            self.reports.push(input.clone());
            return Some(input);
        }
        let exec_type = match self.below(30) {
            0 => "0",
            1 => "4",
            2 => "I",
            3 => "H",
            _ if is_old => "1",
            _ => "F",
        };
        if is_old {
            body.push_str("20=0|");
        }
        let price = self.last_price(symbol.name);
        body.push_str(&format!("150={exec_type}|39=1|32={quantity}|31={price}|"));
        let input = Input::Says(line, "8", body);
        self.reports.push(input.clone());
        Some(input)
    }

    /// Both legs, behind the fields of a report of a spread.
    pub(super) fn legs_in_fill(&mut self, model: &Model, order: &Order) -> String {
        let legs = model.legs_of(order.symbol).unwrap();
        if !self.once_in(3) {
            return String::new();
        }
        let mut body = String::from("442=3|555=2|");
        let turned = self.once_in(5);
        for at in [0, 1] {
            let leg = legs[if turned { 1 - at } else { at }];
            let symbol = model.world.symbols[leg.symbol].name;
            let buys = (order.buys() == leg.buys) != self.once_in(60);
            let side = if buys { 1 } else { 2 };
            let price = self.last_price(symbol);
            body.push_str(&format!("600={symbol}|624={side}|637={price}|"));
        }
        body
    }
}
