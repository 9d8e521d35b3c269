//! A venue behind a gateway: the requests it received, and its responses.

use std::collections::HashMap;

use super::Token;
use crate::random::Random;
use crate::simulation::peer::Peer;
use crate::wire::{number, show, value};

/// A request that reached a venue.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Arrived {
    pub(super) kind: u8,
    pub(super) quantity: u64,
    /// The rules that the gateway applied to it.
    pub(super) rules: u64,
}

/// A venue.
pub(super) struct Venue {
    pub(super) peer: Peer,
    place: usize,
    /// Whether the venue speaks FIX 4.4, not 4.2.
    is_new: bool,
    pub(super) arrived: HashMap<Token, Arrived>,
    /// The order that an id refers to.
    ids: HashMap<Vec<u8>, (char, usize)>,
    /// Whether an order is open.
    open: HashMap<(char, usize), bool>,
    /// The last order of each client.
    last: HashMap<char, usize>,
    /// ExecIDs of its reports, with the client that each is for.
    pub(super) reports: Vec<(String, char)>,
}

impl Venue {
    pub(super) fn new(mut peer: Peer, place: usize) -> Self {
        peer.inbox = Some(Vec::new());
        Self {
            is_new: peer.identity().begin == "FIX.4.4",
            peer,
            place,
            arrived: HashMap::new(),
            ids: HashMap::new(),
            open: HashMap::new(),
            last: HashMap::new(),
            reports: Vec::new(),
        }
    }

    /// Takes the received messages, and answers.
    ///
    /// # Errors
    ///
    /// Messages that no gateway may send to a venue.
    pub(super) fn step(&mut self, random: &mut Random) -> Result<(), String> {
        let came = self.peer.inbox.replace(Vec::new()).unwrap_or_default();
        came.iter().try_for_each(|raw| self.take(raw, random))
    }

    fn take(&mut self, raw: &[u8], random: &mut Random) -> Result<(), String> {
        let fault = |what: &str| Err(format!("{what}: {}", show(raw)));
        let kind = value(raw, "35").unwrap_or_default();
        let [kind @ (b'D' | b'F' | b'G')] = *kind else {
            return fault("G5: the gateway rejects what is right");
        };
        let token = value(raw, "58").and_then(Token::parse);
        let (Some(token), Some(id)) = (token, value(raw, "11")) else {
            return fault("G4: a request without its text or id");
        };
        let order = (token.client, token.order);
        if value(raw, "97").is_some() || value(raw, "1").is_some() {
            return fault("G4: a request with a field that it must not have");
        }
        let arrived = Arrived {
            kind,
            quantity: number(raw, "38").unwrap_or_default(),
            rules: number(raw, "107").unwrap_or(u64::MAX),
        };
        if self.arrived.insert(token, arrived).is_some() {
            return fault("G1: a request twice at its venue");
        }
        if self.ids.insert(id.to_vec(), order).is_some() {
            return fault("G3: two requests of one id");
        }
        if kind == b'D' {
            if self.last.insert(token.client, token.order) > Some(token.order) {
                return fault("G1: an order behind a later one");
            }
            self.open.insert(order, true);
            self.report(raw, token, "0", "0");
            if random.below(3) == 0 {
                self.open.insert(order, false);
                self.report(raw, token, if self.is_new { "F" } else { "2" }, "2");
            }
            return Ok(());
        }
        let named = value(raw, "41").and_then(|id| self.ids.get(id));
        if named.is_some_and(|named| *named != order) {
            return fault("G3: it names an order of something else");
        }
        let is_open = named.is_some() && self.open.get(&order) == Some(&true);
        match kind {
            _ if !is_open || random.below(6) == 0 => self.reject(raw, token, is_open),
            b'F' => {
                self.open.insert(order, false);
                self.report(raw, token, "4", "4");
            }
            _ => self.report(raw, token, "5", if self.is_new { "0" } else { "5" }),
        }
        Ok(())
    }

    fn report(&mut self, raw: &[u8], token: Token, exec_type: &str, status: &str) {
        let place = self.place;
        let exec_id = format!("E{place}-{}", self.reports.len());
        let text = |tag| String::from_utf8_lossy(value(raw, tag).unwrap_or_default()).into_owned();
        let mut body = format!("37=O{place}-{}{}|", token.client, token.order);
        for tag in ["11", "41"] {
            if value(raw, tag).is_some() {
                body += &format!("{tag}={}|", text(tag));
            }
        }
        body += &format!("17={exec_id}|");
        if !self.is_new {
            body += "20=0|";
        }
        body += &format!(
            "150={exec_type}|39={status}|55={}|54=1|151=0|14=0|6=0|58={token}|",
            text("55")
        );
        self.reports.push((exec_id, token.client));
        self.peer.say("8", &body);
    }

    fn reject(&mut self, raw: &[u8], token: Token, is_open: bool) {
        let text = |tag| String::from_utf8_lossy(value(raw, tag).unwrap_or_default()).into_owned();
        let asked = if value(raw, "35") == Some(b"F") { 1 } else { 2 };
        let body = format!(
            "37=O{}-{}{}|11={}|41={}|39={}|434={asked}|58={token}|",
            self.place,
            token.client,
            token.order,
            text("11"),
            text("41"),
            if is_open { "0" } else { "2" },
        );
        self.peer.say("9", &body);
    }
}
