//! Quotes, and their cancels.

use super::Dice;
use crate::desk::Input;
use crate::model::Model;
use crate::twin::floors::CLIENTS;

impl Dice {
    /// Mostly a quote, which often replaces one.
    pub fn quote(&mut self, model: &Model) -> Input {
        let client = match self.below(40) {
            0 => 2,
            client => client as usize % 2,
        };
        self.ids += 1;
        let id = match self.below(12) {
            0 => format!("C{}", 1 + self.below(self.ids)),
            _ => format!("C{}", self.ids),
        };
        let at = self.below(9).min(5) as usize;
        let symbol = &model.world.symbols[if self.once_in(2) { 0 } else { at }];
        let name = if self.once_in(60) {
            "NONE"
        } else {
            symbol.name
        };
        if self.once_in(5) {
            return self.quote_cancel(client, &id, name);
        }
        let mut prices = [self.price(symbol.name), self.price(symbol.name)];
        let value = |price: &String| price.parse::<f64>().unwrap_or_default();
        if value(&prices[0]) > value(&prices[1]) && !self.once_in(20) {
            prices.swap(0, 1);
        }
        let [bid, offer] = prices;
        let (first, second) = (self.quantity(symbol.lot), self.quantity(symbol.lot));
        let mut body =
            format!("117={id}|55={name}|132={bid}|134={first}|133={offer}|135={second}|");
        let account = match (client, self.below(30)) {
            (_, 0) => Some("DESK"),
            (_, 1) => Some("NONE"),
            (0, 2..20) => None,
            (0, _) => Some("A2"),
            (_, 2) => None,
            (_, 3..16) => Some("A2"),
            _ => Some("B1"),
        };
        if let Some(account) = account {
            body.push_str(&format!("1={account}|"));
        }
        if self.once_in(10) {
            body.push_str(self.any(&["59=0|", "59=3|", "59=4|", "59=1|"]));
        }
        Input::Says(CLIENTS[client], "S", body)
    }

    fn quote_cancel(&mut self, client: usize, id: &str, name: &str) -> Input {
        let kind = self.any(&["1", "1", "1", "4", "5", "5", "2"]);
        // Of one that may be in the market.
        let id = match self.below(4) {
            0 => id.to_owned(),
            _ => format!("C{}", self.ids.saturating_sub(self.below(30)).max(1)),
        };
        let mut body = format!("117={id}|298={kind}|");
        if kind == "1" && !self.once_in(4) {
            body.push_str(&format!("55={name}|"));
        }
        Input::Says(CLIENTS[client], "Z", body)
    }
}
