//! A client of a gateway: its requests, and the responses it received.

use std::collections::HashSet;

use super::Token;
use crate::simulation::peer::Peer;
use crate::wire::{number, show, value};

/// One request: an order, a replacement or a cancel.
#[derive(Debug)]
pub(super) struct Request {
    /// D, G or F.
    pub(super) kind: char,
    /// The ClOrdID; both clients use the same ones.
    id: String,
    pub(super) quantity: u64,
    /// The rules that held when it was sent.
    pub(super) rules: u64,
    /// Answers that accept or reject it.
    pub(super) answers: u64,
    /// The gateway has rejected it.
    pub(super) rejected_by_gateway: bool,
}

/// An order with all requests about it.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) venue: usize,
    pub(super) requests: Vec<Request>,
}

/// A client.
pub(super) struct Client {
    pub(super) peer: Peer,
    letter: char,
    next_id: u64,
    pub(super) orders: Vec<Order>,
    /// ExecIDs of the received reports.
    pub(super) reports: HashSet<String>,
}

impl Client {
    pub(super) fn new(mut peer: Peer) -> Self {
        peer.inbox = Some(Vec::new());
        Self {
            letter: peer.identity().letter,
            peer,
            next_id: 0,
            orders: Vec::new(),
            reports: HashSet::new(),
        }
    }

    /// Sends a new order.
    pub(super) fn order(&mut self, venue: usize, quantity: u64, rules: u64) {
        self.orders.push(Order {
            venue,
            requests: Vec::new(),
        });
        self.send(self.orders.len() - 1, 'D', quantity, rules);
    }

    /// Sends a replacement or cancel of the last state of an order, whether that state was answered or not.
    pub(super) fn change(&mut self, order: usize, kind: char, quantity: u64, rules: u64) {
        let requests = &self.orders[order].requests;
        let is_over = requests
            .iter()
            .any(|request| request.kind == 'F' || request.rejected_by_gateway);
        if !is_over {
            self.send(order, kind, quantity, rules);
        }
    }

    fn send(&mut self, at: usize, kind: char, quantity: u64, rules: u64) {
        self.next_id += 1;
        let id = self.next_id.to_string();
        let order = &mut self.orders[at];
        let symbol = super::SYMBOLS[order.venue];
        let token = Token {
            client: self.letter,
            order: at,
            request: order.requests.len(),
        };
        let named = match order.requests.last() {
            Some(last) => format!("41={}|", last.id),
            None => String::new(),
        };
        let time = self.peer.time();
        let mut body = format!("{named}11={id}|1=ACC-{}{at}|", self.letter);
        if kind != 'F' {
            body += "21=1|";
        }
        body += &format!("55={symbol}|54=1|60={time}|38={quantity}|");
        if kind != 'F' {
            body += "40=1|";
        }
        body += &format!("58={token}|");
        order.requests.push(Request {
            kind,
            id,
            quantity,
            rules,
            answers: 0,
            rejected_by_gateway: false,
        });
        self.peer.say(&kind.to_string(), &body);
    }

    /// Takes the received messages.
    ///
    /// # Errors
    ///
    /// Messages that no gateway may send to this client.
    pub(super) fn step(&mut self) -> Result<(), String> {
        let came = self.peer.inbox.replace(Vec::new()).unwrap_or_default();
        came.iter().try_for_each(|raw| self.take(raw))
    }

    fn take(&mut self, raw: &[u8]) -> Result<(), String> {
        let fault = |what: &str| Err(format!("{what}: {}", show(raw)));
        let kind = value(raw, "35").unwrap_or_default();
        if !matches!(kind, b"8" | b"9") {
            return fault("G5: the gateway rejects what is right");
        }
        let Some(token) = value(raw, "58").and_then(Token::parse) else {
            return self.take_reject(raw);
        };
        let request = self
            .orders
            .get(token.order)
            .filter(|_| token.client == self.letter)
            .and_then(|order| Some((order, order.requests.get(token.request)?)));
        let Some((order, request)) = request else {
            return fault("G2: a report for somebody else");
        };
        let named = token.request.checked_sub(1);
        let named = named.map(|before| order.requests[before].id.as_str());
        let text = |tag| value(raw, tag).and_then(|text| str::from_utf8(text).ok());
        if text("11") != Some(&request.id) || text("41").is_some_and(|id| Some(id) != named) {
            return fault("G3: a report with ids of something else");
        }
        if kind == b"8" {
            let account = format!("ACC-{}{}", self.letter, token.order);
            if text("1") != Some(&account) || text("55") != Some(super::SYMBOLS[order.venue]) {
                return fault("G4: a report with values of something else");
            }
            let known = format!("O{}-{}{}", order.venue, self.letter, token.order);
            if text("37") != Some(&known) {
                return fault("G4: a report with another OrderID");
            }
            if !self.reports.insert(text("17").unwrap_or_default().into()) {
                return fault("G2: a report twice");
            }
        }
        let is_answer = kind == b"9" || matches!(text("150"), Some("0" | "4" | "5"));
        let request = &mut self.orders[token.order].requests[token.request];
        request.answers += u64::from(is_answer);
        if request.answers > 1 {
            return fault("G2: an answer twice");
        }
        Ok(())
    }

    /// Whether the gateway has cancelled an order that it held, which answers both the order and the cancel.
    fn take_cancelled(&mut self, raw: &[u8]) -> bool {
        let (id, original) = (number(raw, "11"), number(raw, "41"));
        let of = |orders: &[Order]| {
            orders.iter().position(|order| {
                let has = |id| order.requests.iter().any(|it| it.id.parse().ok() == id);
                has(id) && has(original)
            })
        };
        let Some(order) = of(&self.orders) else {
            return false;
        };
        let requests = &mut self.orders[order].requests;
        let cancel = requests
            .iter()
            .position(|it| it.kind == 'F' && it.id.parse().ok() == id);
        let Some(cancel) = cancel.filter(|_| requests[0].kind == 'D') else {
            return false;
        };
        for at in [0, cancel] {
            if requests[at].answers > 0 {
                return false;
            }
            requests[at].answers += 1;
            requests[at].rejected_by_gateway = true;
        }
        true
    }

    /// A reject that the gateway has made itself.
    fn take_reject(&mut self, raw: &[u8]) -> Result<(), String> {
        if value(raw, "39") == Some(b"4")
            && value(raw, "35") == Some(b"8")
            && self.take_cancelled(raw)
        {
            return Ok(());
        }
        let id = number(raw, "11");
        let mut requests = self.orders.iter_mut().flat_map(|order| &mut order.requests);
        let found = requests.find(|request| request.id.parse().ok() == id);
        let is_new = value(raw, "35") == Some(b"8");
        match found {
            Some(request) if (request.kind == 'D') == is_new && request.answers == 0 => {
                request.answers += 1;
                request.rejected_by_gateway = true;
                Ok(())
            }
            _ => Err(format!(
                "G2: a reject of what was answered, or never asked: {}",
                show(raw)
            )),
        }
    }
}
