//! Messages as lines of text: receiver, MsgType(35), and the compared fields in a fixed order.

use super::{Fields, Model, Order, Why};
use crate::desk::Said;

/// Fields that are compared, in this order; Text(58) as far as it is a control's code or the venue's.
const TAGS: [u32; 51] = [
    117, 297, 132, 134, 133, 135, 37, 198, 526, 5001, 11, 41, 150, 20, 39, 103, 102, 434, 1, 55,
    54, 38, 40, 44, 99, 59, 432, 77, 32, 31, 151, 14, 6, 378, 530, 531, 532, 533, 584, 911, 912,
    21, 58, 379, 372, 380, 45, 167, 442, 114, 5700,
];

/// A message of the OMS, as the model writes it.
pub fn line(name: &str, said: &Said) -> String {
    let mut line = format!("{name} {}", said.msg_type);
    for tag in TAGS {
        let Some(value) = said.get(tag) else {
            continue;
        };
        let code = value
            .split(':')
            .next()
            .filter(|code| code.starts_with("RC"));
        match (tag, code) {
            // The number of an event.
            (37, _) if said.msg_type == "r" => {}
            (58, Some(code)) => put(&mut line, tag, code),
            (58, _) if value.starts_with("placed by an operator") => put(&mut line, tag, value),
            (58, _) if value.starts_with("held:") => put(&mut line, tag, "held:"),
            (58, _) if value.starts_with("triggered:") => put(&mut line, tag, "triggered:"),
            (58, _)
                if ["the other side was", "both sides were", "orders being"]
                    .iter()
                    .any(|front| value.starts_with(front)) =>
            {
                put(&mut line, tag, value);
            }
            (58, _) if value.starts_with("v:") || value == "end of the trading day" => {
                put(&mut line, tag, value);
            }
            (58, _) => {}
            _ => put(&mut line, tag, value),
        }
    }
    line
}

fn put(line: &mut String, tag: u32, value: &str) {
    line.push_str(&format!(" {tag}={value}"));
}

/// A number with so many digits behind the point, without zeros at its end.
pub fn decimal(value: i128, scale: u32) -> String {
    let sign = if value < 0 { "-" } else { "" };
    let one = 10_u128.pow(scale);
    let (whole, part) = (value.unsigned_abs() / one, value.unsigned_abs() % one);
    if part == 0 {
        return format!("{sign}{whole}");
    }
    let part = format!("{part:0width$}", width = scale as usize);
    format!("{sign}{whole}.{}", part.trim_end_matches('0'))
}

/// AvgPx(6): four digits more than prices have, halves to the even one; fewer where that many do not fit.
pub fn average(paid: i128, filled: i128, scale: u32) -> String {
    for more in [4, 0] {
        let paid = paid.checked_mul(10_i128.pow(more));
        let average = paid.filter(|_| filled > 0).map(|paid| {
            let (whole, rest) = (paid.div_euclid(filled), 2 * paid.rem_euclid(filled));
            whole + i128::from(rest > filled || (rest == filled && whole % 2 != 0))
        });
        if let Some(average) = average.filter(|it| i64::try_from(*it).is_ok()) {
            return decimal(average, scale + more);
        }
    }
    "0".into()
}

/// A message being built.
#[derive(Default)]
pub struct Body(Vec<(u32, String)>);

impl Body {
    pub fn get(&self, tag: u32) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| *known == tag);
        found.map(|(_, value)| value.as_str())
    }

    pub fn put(&mut self, tag: u32, value: impl ToString) -> &mut Self {
        self.0.push((tag, value.to_string()));
        self
    }
}

/// How long an order is to stay.
fn put_validity(order: &Order, body: &mut Body) {
    body.put(59, order.tif);
    if let Some(until) = &order.until {
        body.put(432, until);
    }
}

pub fn put_effect(order: &Order, body: &mut Body) {
    if order.effect != '-' {
        body.put(77, order.effect);
    }
}

fn put_locate(order: &Order, body: &mut Body) {
    for (tag, value) in &order.locate {
        body.put(*tag, value);
    }
}

impl Model {
    fn write(&mut self, to: usize, msg_type: &str, body: Body) {
        let said = Said {
            to,
            msg_type: msg_type.into(),
            fields: body.0,
        };
        self.said.push(line(self.world.names[to], &said));
    }

    /// The fields that say what an order is.
    fn what(&self, number: u64, kind: char, body: &mut Body) {
        let order = &self.orders[&number];
        let symbol = self.symbol_of(number);
        body.put(1, self.world.accounts[order.account].name)
            .put(55, symbol.name)
            .put(54, order.side)
            .put(38, order.quantity)
            .put(40, kind);
        if "24".contains(kind) {
            body.put(44, decimal(order.price, symbol.scale));
        }
        if "34J".contains(kind) {
            body.put(99, decimal(order.stop, symbol.scale));
        }
        put_validity(order, body);
    }

    /// The ClOrdID(11) that the venue knows an order by.
    fn put_current(&self, number: u64, tag: u32, body: &mut Body) {
        match self.orders[&number].current {
            current if current == number => body.put(tag, number),
            current => body.put(tag, format!("{number}-{current}")),
        };
    }

    /// A venue gets the number of a pool in the field of the pool.
    fn put_pool_number(&self, number: u64, body: &mut Body) {
        if let Some((tag, text)) = self.pool_number(number) {
            body.put(tag, text);
        }
    }

    /// A client gets it in SecondaryOrderID(198).
    pub fn put_secondary(&self, number: u64, body: &mut Body) {
        if let Some((_, text)) = self.pool_number(number) {
            body.put(198, text);
        }
    }

    pub fn write_execution(
        &mut self,
        number: u64,
        kind: char,
        original: Option<&str>,
        more: &[(u32, i128)],
    ) {
        let mut body = Body::default();
        self.execution_body(number, kind, original, more, &mut body);
        self.write_to_client(number, body);
        let last = more.iter().find(|(tag, _)| *tag == 32);
        self.side_changed(number, kind, last.map_or(0, |(_, last)| *last));
    }

    fn quote_body(&self, client: usize, (id, symbol): (&str, &str), status: u32) -> Body {
        let mut body = Body::default();
        body.put(117, id);
        if !self.world.clients[client].is_old {
            body.put(55, symbol);
        }
        body.put(297, status);
        body
    }

    fn write_of_quote(&mut self, client: usize, body: Body) {
        let user = &self.world.clients[client];
        let msg_type = if user.is_old { "b" } else { "AI" };
        self.write(user.session, msg_type, body);
    }

    /// The status of a quote, with what is left of its sides.
    pub fn write_quote(&mut self, bid: u64, status: u32, text: &str) {
        let quote = self.quotes[&bid].clone();
        let symbol = &self.world.symbols[quote.symbol];
        let mut body = self.quote_body(quote.client, (&quote.id, symbol.name), status);
        if !self.world.clients[quote.client].is_old {
            body.put(1, self.world.accounts[quote.account].name);
            for (side, (price, size)) in [(bid, (132, 134)), (bid + 1, (133, 135))] {
                if let Some(order) = self.orders.get(&side) {
                    body.put(price, decimal(order.price, symbol.scale));
                    body.put(size, order.told_leaves());
                }
            }
        }
        if !text.is_empty() {
            body.put(58, text);
        }
        self.write_of_quote(quote.client, body);
    }

    pub fn write_quote_refused(
        &mut self,
        client: usize,
        fields: &Fields<'_>,
        status: u32,
        why: &Why,
    ) {
        let symbol = fields.get(&55).copied().unwrap_or("[N/A]");
        let mut body = self.quote_body(client, (fields[&117], symbol), status);
        if let Some(text) = why.text() {
            body.put(58, text);
        }
        self.write_of_quote(client, body);
    }

    pub fn write_quotes_cancelled(&mut self, client: usize, fields: &Fields<'_>, orders: usize) {
        let symbol = fields.get(&55).copied().unwrap_or("[N/A]");
        let status = match fields[&298] {
            "1" => 1,
            "4" => 4,
            _ => 17,
        };
        let mut body = self.quote_body(client, (fields[&117], symbol), status);
        body.put(58, format!("orders being cancelled: {orders}"));
        self.write_of_quote(client, body);
    }

    pub fn write_to_client(&mut self, number: u64, mut body: Body) {
        let parent = self.words.as_ref().and_then(|words| {
            let child = self.orders.get(&words.order)?;
            child.parent
        });
        if let Some(words) = &self.words
            && words.are_of(number, parent, &body)
        {
            body.put(58, &words.text);
        }
        let client = self.orders[&number].client;
        self.write(self.world.clients[client].session, "8", body);
    }

    pub fn execution_body(
        &self,
        number: u64,
        kind: char,
        original: Option<&str>,
        more: &[(u32, i128)],
        body: &mut Body,
    ) {
        let order = &self.orders[&number];
        let is_old = self.world.clients[order.client].is_old;
        let scale = self.symbol_of(number).scale;
        body.put(37, number).put(11, &order.id);
        self.put_secondary(number, body);
        if let Some(original) = original {
            body.put(41, original);
        }
        if is_old {
            let trans = match kind {
                'H' => '1',
                'G' => '2',
                'I' => '3',
                _ => '0',
            };
            body.put(20, trans);
        }
        let kind = match kind {
            'F' if is_old && order.filled >= order.quantity => '2',
            'F' if is_old => '1',
            'G' | 'H' | 'I' if is_old => order.status(),
            kind => kind,
        };
        body.put(150, kind).put(39, order.status());
        self.what(number, order.kind, body);
        put_effect(order, body);
        for (tag, value) in more {
            let scale = if *tag == 31 { scale } else { 0 };
            body.put(*tag, decimal(*value, scale));
        }
        if is_old && more.is_empty() {
            body.put(32, 0).put(31, 0);
        }
        body.put(151, order.told_leaves())
            .put(14, order.filled)
            .put(6, average(order.paid, order.filled, scale));
        if self.legs_of(order.symbol).is_some() {
            if !is_old {
                body.put(167, "MLEG");
            }
            body.put(442, 3);
        }
    }

    /// A venue learns that an order is of a spread.
    fn put_security_type(&self, number: u64, body: &mut Body) {
        let order = &self.orders[&number];
        let is_old = self.world.old_lines.contains(&order.line);
        if self.legs_of(order.symbol).is_some() && !is_old {
            body.put(167, "MLEG");
        }
    }

    pub fn write_rejected(&mut self, number: u64, why: &Why) {
        let mut body = Body::default();
        self.execution_body(number, '8', None, &[], &mut body);
        let client = self.orders[&number].client;
        body.put(103, self.ord_rej_reason(client, why));
        if let Some(text) = why.text() {
            body.put(58, text);
        }
        self.write_to_client(number, body);
        self.side_changed(number, '8', 0);
    }

    pub fn write_ended(&mut self, number: u64, how: char, original: Option<&str>, text: &str) {
        let mut body = Body::default();
        self.execution_body(number, how, original, &[], &mut body);
        if !text.is_empty() {
            body.put(58, text);
        }
        self.write_to_client(number, body);
        self.side_changed(number, how, 0);
    }

    /// It is held, or triggered.
    pub fn write_stage(&mut self, number: u64, text: &str) {
        let mut body = Body::default();
        self.execution_body(number, 'A', None, &[], &mut body);
        body.put(58, text);
        self.write_to_client(number, body);
    }

    /// It goes on unchanged.
    pub fn write_restated(&mut self, number: u64) {
        let mut body = Body::default();
        self.execution_body(number, 'D', None, &[], &mut body);
        body.put(378, 1);
        self.write_to_client(number, body);
    }

    /// The venue has set other terms; up to FIX 4.2 a reason is at most 5.
    pub fn write_terms(&mut self, number: u64, fields: &Fields<'_>) {
        let mut body = Body::default();
        self.execution_body(number, 'D', None, &[], &mut body);
        let reason = fields.get(&378).and_then(|it| it.parse().ok()).unwrap_or(0);
        let client = self.orders[&number].client;
        let is_old = self.world.clients[client].is_old;
        body.put(378, if is_old && reason > 5 { 4 } else { reason });
        if let Some(text) = fields.get(&58) {
            body.put(58, text);
        }
        self.write_to_client(number, body);
    }

    /// The venue has carried out a replace that was given up.
    pub fn write_late(&mut self, number: u64) {
        let mut body = Body::default();
        self.execution_body(number, 'D', None, &[], &mut body);
        let client = self.orders[&number].client;
        let is_old = self.world.clients[client].is_old;
        body.put(378, if is_old { 4 } else { 8 });
        body.put(
            58,
            "the venue has carried out a replace that was rejected as not received",
        );
        self.write_to_client(number, body);
    }

    fn ord_rej_reason(&self, client: usize, why: &Why) -> u32 {
        match why.ord_rej_reason() {
            9.. if self.world.clients[client].is_old => 0,
            reason => reason,
        }
    }

    pub fn write_cancel_reject(
        &mut self,
        client: usize,
        what: char,
        (id, original): (&str, &str),
        order: Option<u64>,
        why: &Why,
    ) {
        let user = &self.world.clients[client];
        let reason = match why.cxl_rej_reason() {
            4.. if user.is_old => 2,
            reason => reason,
        };
        let mut body = Body::default();
        let number = order.map_or("NONE".into(), |number| number.to_string());
        let status = order.map_or('8', |number| self.orders[&number].status());
        body.put(37, number)
            .put(11, id)
            .put(41, original)
            .put(39, status)
            .put(434, if what == 'F' { '1' } else { '2' })
            .put(102, reason);
        if let Some(number) = order {
            self.put_secondary(number, &mut body);
        }
        if let Some(text) = why.text() {
            body.put(58, text);
        }
        self.write(user.session, "9", body);
    }

    /// A new order that is refused comes back as it was said.
    pub fn write_refused_new(&mut self, client: usize, fields: &Fields<'_>, why: &Why) {
        self.write_none(client, fields, why, false);
    }

    /// The answer to a question about an order that nobody knows.
    pub fn write_unknown(&mut self, client: usize, fields: &Fields<'_>, why: &Why) {
        self.write_none(client, fields, why, true);
    }

    fn write_none(&mut self, client: usize, fields: &Fields<'_>, why: &Why, is_status: bool) {
        let is_old = self.world.clients[client].is_old;
        let kind = if is_status && !is_old { 'I' } else { '8' };
        let mut body = Body::default();
        body.put(37, "NONE")
            .put(11, fields[&11])
            .put(150, kind)
            .put(39, '8')
            .put(103, self.ord_rej_reason(client, why));
        if is_old {
            body.put(20, if is_status { '3' } else { '0' });
        }
        for tag in [1, 55, 54, 38, 40, 44] {
            if let Some(value) = fields.get(&tag) {
                body.put(tag, value);
            }
        }
        if is_old {
            body.put(32, 0).put(31, 0);
        }
        body.put(151, 0).put(14, 0).put(6, 0);
        if let Some(text) = why.text() {
            body.put(58, text);
        }
        self.write(self.world.clients[client].session, "8", body);
    }

    /// An order goes to its venue.
    pub fn write_new(&mut self, number: u64) {
        let mut body = Body::default();
        self.put_current(number, 11, &mut body);
        self.put_pool_number(number, &mut body);
        body.put(21, 1);
        let order = &self.orders[&number];
        self.what(number, order.sent_kind(), &mut body);
        put_effect(order, &mut body);
        put_locate(order, &mut body);
        self.put_security_type(number, &mut body);
        self.write(order.line, "D", body);
    }

    /// Sends a request for an order to its venue.
    pub fn write_change(&mut self, number: u64) {
        let request = self.orders[&number].asked.as_ref().map(|it| it.number);
        self.watch(request.unwrap());
        let order = &self.orders[&number];
        let asked = order.asked.as_ref().unwrap();
        let kind = order.sent_kind();
        let symbol = self.symbol_of(number);
        let mut body = Body::default();
        body.put(11, format!("{number}-{}", asked.number))
            .put(1, self.world.accounts[order.account].name)
            .put(55, symbol.name)
            .put(54, order.side);
        self.put_current(number, 41, &mut body);
        self.put_pool_number(number, &mut body);
        if asked.what == 'G' {
            body.put(21, 1).put(38, asked.quantity).put(40, kind);
            if "24".contains(kind) {
                body.put(44, decimal(asked.price, symbol.scale));
            }
            if "34J".contains(kind) {
                body.put(99, decimal(order.stop, symbol.scale));
            }
            put_validity(order, &mut body);
            put_effect(order, &mut body);
            put_locate(order, &mut body);
        } else {
            body.put(38, order.quantity);
        }
        self.put_security_type(number, &mut body);
        let msg_type = asked.what.to_string();
        self.write(order.line, &msg_type, body);
    }

    pub fn write_question(&mut self, number: u64) {
        let order = &self.orders[&number];
        let mut body = Body::default();
        let replace = self.replace_in_flight(number);
        match replace.filter(|_| self.is_held(number)) {
            Some(replace) => {
                body.put(11, format!("{number}-{replace}"));
            }
            None => self.put_current(number, 11, &mut body),
        }
        self.put_pool_number(number, &mut body);
        body.put(55, self.symbol_of(number).name)
            .put(54, order.side);
        self.write(order.line, "H", body);
    }

    /// A cancel of what a venue has open of an order that is closed.
    pub fn write_stray_cancel(&mut self, line: usize, number: u64, former: u64) {
        let order = &self.orders[&number];
        let mut body = Body::default();
        body.put(11, format!("{number}-{}", self.last))
            .put(41, format!("{number}-{former}"))
            .put(1, self.world.accounts[order.account].name)
            .put(55, self.symbol_of(number).name)
            .put(54, order.side)
            .put(38, order.quantity);
        self.put_pool_number(number, &mut body);
        self.put_security_type(number, &mut body);
        self.write(line, "F", body);
    }

    pub fn write_mass_cancel(
        &mut self,
        client: usize,
        fields: &Fields<'_>,
        done: Result<usize, &Why>,
    ) {
        let mut body = Body::default();
        body.put(11, fields[&11]).put(530, fields[&530]);
        match done {
            Ok(orders) => {
                body.put(531, fields[&530]).put(533, orders);
            }
            Err(why) => {
                let reason = match why {
                    Why::Other(11, 2) => 0,
                    Why::Rc("RC2", 1) => 1,
                    _ => 99,
                };
                body.put(531, 0).put(532, reason);
                if let Some(text) = why.text() {
                    body.put(58, text);
                }
            }
        }
        for tag in [55, 54] {
            if let Some(value) = fields.get(&tag) {
                body.put(tag, value);
            }
        }
        self.write(self.world.clients[client].session, "r", body);
    }

    /// Answers to mass status requests.
    pub fn list(&mut self) {
        for listing in std::mem::take(&mut self.listings) {
            let total = listing.orders.len();
            let last = listing.orders.last();
            for number in &listing.orders {
                // Some were closed and forgotten meanwhile.
                if self.orders.contains_key(number) {
                    let mut body = Body::default();
                    self.execution_body(*number, 'I', None, &[], &mut body);
                    body.put(584, &listing.id).put(911, total);
                    if last == Some(number) {
                        body.put(912, 'Y');
                    }
                    self.write_to_client(*number, body);
                }
            }
            if last.is_none_or(|number| !self.orders.contains_key(number)) {
                let mut body = Body::default();
                body.put(37, "NONE").put(584, &listing.id).put(911, total);
                body.put(912, 'Y').put(150, 'I').put(39, '8');
                body.put(55, "[N/A]").put(54, 1);
                body.put(151, 0).put(14, 0).put(6, 0);
                let why = listing.why.as_ref().and_then(Why::text);
                let closed = last.map(|_| "the order was closed meanwhile".to_owned());
                if let Some(text) = why.map(Into::into).or(closed) {
                    body.put(58, text);
                }
                self.write(self.world.clients[listing.client].session, "8", body);
            }
        }
    }
}
