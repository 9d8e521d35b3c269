//! Model: reports that an operator enters.

use super::venue::Kind;
use super::{Fate, Fields, Model, Why};

impl Model {
    /// A report that an operator enters.
    pub fn report_by_hand<'a>(&mut self, get: &impl Fn(&str) -> Option<&'a str>) {
        let number: u64 = get("order").unwrap().parse().unwrap();
        let Some(order) = self.orders.get(&number) else {
            return;
        };
        let (line, side) = (order.line, order.side.to_string());
        let is_done = order.fate == Fate::Done;
        let is_cancelled = get("type") == Some("cancelled");
        let asked = order.asked.as_ref();
        let asked = asked.filter(|asked| is_cancelled && asked.what == 'F');
        let request = asked.map_or(order.current, |asked| asked.number);
        let id = format!("{number}-{request}");
        let kind = match get("type").unwrap() {
            "fill" | "leg1" | "leg2" => "F",
            "accepted" => "0",
            "rejected" => return self.reject(number, &Why::Venue(String::new(), None)),
            "cancelled" => "4",
            _ => "C",
        };
        let mut fields: Fields<'_> = [(11, id.as_str()), (150, kind), (54, &side)].into();
        let leg = match get("type") {
            Some("leg1") => Some(0),
            Some("leg2") => Some(1),
            _ => None,
        };
        if let Some(at) = leg {
            let symbol = self.orders[&number].symbol;
            let leg = self.legs_of(symbol).unwrap()[at];
            fields.remove(&54);
            fields.insert(55, self.world.symbols[leg.symbol].name);
        }
        for (tag, key) in [(32, "quantity"), (31, "price"), (17, "exec")] {
            fields.insert(tag, get(key).unwrap_or_default());
        }
        if is_done {
            fields.insert(39, "3");
        }
        if leg.is_some() {
            // It counts beside those of the venue, however that reports them.
            let in_fill = self.orders[&number].legs.in_fills == Some(true);
            self.is_by_hand = true;
            self.report_of_leg(line, (number, request), &fields, (Kind::Fill, in_fill));
        } else {
            self.is_by_hand = true;
            self.report(line, &fields);
        }
        self.is_by_hand = false;
    }
}
