//! Random busts and corrections, and what operators make of breaks.

use super::Dice;
use crate::desk::Input;
use crate::model::busts::Fill;
use crate::model::{Model, Order};

impl Dice {
    /// One of the fills, the last one more often.
    fn fill<'a>(&mut self, fills: &'a [Fill]) -> Option<&'a Fill> {
        // An operator's have an ExecID that no venue knows.
        let of_venue = |it: &&Fill| !it.exec.contains(' ');
        let fills: Vec<&Fill> = fills.iter().filter(of_venue).collect();
        let count = fills.len() as u64;
        (count > 0).then(|| {
            let back = if self.once_in(3) {
                self.below(count)
            } else {
                0
            };
            fills[(count - 1 - back) as usize]
        })
    }

    /// ExecRefID(19): mostly that of the fill.
    fn reference(&mut self, fill: &Fill) -> String {
        match self.below(24) {
            0 => String::new(),
            1 => format!("19=E{}|", 1 + self.below(self.execs + 1)),
            _ => format!("19={}|", fill.exec),
        }
    }

    /// ExecType(150), up to FIX 4.2 ExecTransType(20).
    fn undone(&mut self, is_old: bool, is_correction: bool) -> &'static str {
        match (is_old && !self.once_in(12), is_correction) {
            (true, false) => "150=1|20=1|",
            (true, true) => "150=1|20=2|",
            (false, false) => "150=H|",
            (false, true) => "150=G|",
        }
    }

    /// Content of a bust or correction of a fill of an order.
    pub(super) fn bust(
        &mut self,
        order: &Order,
        is_old: bool,
        (symbol, lot): (&str, i128),
    ) -> Option<String> {
        let fill = self.fill(&order.fills)?;
        let is_correction = self.once_in(3);
        let (mut text, mut now) = (String::new(), 0);
        if is_correction {
            now = match self.below(4) {
                0 => fill.quantity + lot,
                1 => lot,
                _ => fill.quantity,
            };
            text = format!("32={now}|31={}|", self.last_price(symbol));
        } else if self.once_in(4) {
            let other = if self.once_in(6) { lot } else { 0 };
            text = format!("32={}|", fill.quantity + other);
        }
        let mut filled = order.filled - fill.quantity + now;
        if self.once_in(15) {
            filled += lot;
        }
        let status = match filled.max(0) {
            _ if self.once_in(8) => "4",
            0 => "0",
            filled if filled < order.quantity => "1",
            _ => "2",
        };
        text.push_str(self.undone(is_old, is_correction));
        text.push_str(&self.reference(fill));
        if !self.once_in(10) {
            text.push_str(&format!("14={}|", filled.max(0)));
        }
        Some(format!("{text}39={status}|"))
    }

    /// The same of a leg.
    pub(super) fn bust_of_leg(
        &mut self,
        order: &Order,
        (at, is_old): (usize, bool),
        symbol: &str,
    ) -> Option<String> {
        let fill = self.fill(&order.legs.fills[at])?;
        let is_correction = self.once_in(3);
        let mut text = self.undone(is_old, is_correction).to_owned();
        text.push_str(&self.reference(fill));
        if is_correction {
            let now = fill.quantity + i128::from(self.below(3));
            text.push_str(&format!("32={now}|31={}|", self.last_price(symbol)));
        } else if self.once_in(4) {
            let other = i128::from(self.below(6) / 5);
            text.push_str(&format!("32={}|", fill.quantity + other));
        }
        Some(format!("{text}39=1|"))
    }

    /// The bust of a fill of an order that is not known.
    pub(super) fn stray_bust(&mut self, model: &Model) -> Option<Input> {
        let strays = &model.stray_fills;
        if strays.is_empty() {
            return None;
        }
        let stray = self.any(strays);
        let symbol = model.world.symbols[stray.symbol].name;
        let side = if stray.side.0 { 1 } else { 2 };
        let is_old = model.world.old_lines.contains(&stray.line);
        let (exec, what) = (self.exec(), self.undone(is_old, false));
        let body = format!(
            "37=V0|11=none|17={exec}|19={}|55={symbol}|54={side}|39=4|{what}",
            stray.exec
        );
        Some(Input::Says(stray.line, "8", body))
    }

    /// An operator decides a break, as its venue says or not.
    pub(super) fn settle(&mut self, model: &Model) -> Option<Input> {
        let count = model.open_breaks().len() as u64;
        if count == 0 {
            return None;
        }
        let at = self.below(count);
        let who = self.any(&["venue", "venue", "ours"]);
        Some(Input::Command(format!("settle at={at} {who}")))
    }
}
