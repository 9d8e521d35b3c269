//! What must be true in the evening.

use std::collections::{BTreeMap, BTreeSet};

use fixwire_engine::protocol::Nanos;
use fixwire_oms::{Order, OrderState, Scope};

use super::Day;
use super::book::TrueOrder;
use crate::floor::CLIENT;

impl Day {
    /// How an order stands here: OrderQty, CumQty and whether it is open.
    pub fn ours(&mut self, number: u64) -> Option<(u64, u64, bool)> {
        let order = self.floor.state().orders().get(number)?;
        Some((order.quantity, order.filled, order.state.is_open()))
    }

    /// Orders that stand otherwise here than at the venue.
    pub fn differing(&mut self) -> Vec<u64> {
        let all: Vec<(u64, TrueOrder)> = self.orders.clone().into_iter().collect();
        let differs = |(number, order): (u64, TrueOrder)| {
            let ours = self.ours(number);
            let is_same = match ours {
                Some((quantity, filled, is_open)) => {
                    (filled, is_open) == (order.filled(), order.is_open())
                        && (!is_open || quantity == order.quantity)
                }
                None => false,
            };
            (!is_same).then_some(number)
        };
        all.into_iter().filter_map(differs).collect()
    }

    /// The venue says how every order stands.
    fn next_word(&mut self) {
        let all: Vec<(u64, String)> = self
            .orders
            .iter()
            .map(|(number, it)| (*number, it.id.clone()))
            .collect();
        for (number, id) in all {
            self.standing(number, &id);
        }
        self.talk();
    }

    /// The evening: nothing goes wrong any more.
    pub fn ends(&mut self) {
        self.wrong.clear();
        self.rest(3);
        if self.has_rolled {
            // The roll waits for the venue at most a minute.
            self.rest(12);
            let state = self.floor.state();
            let lapsed = |it: &Order| it.state == OrderState::Lapsed;
            if state.orders().iter().any(lapsed) {
                let _ = self.command("cancel account=A1");
                self.rest(3);
            }
        }
        self.note("the venue's next word");
        self.next_word();
        // What is not as the venue has it stands among the breaks.
        let differing = self.differing();
        let breaks = self.breaks();
        for number in differing {
            let is_told = breaks.iter().any(|(.., of)| *of == number);
            let (ours, venue) = (self.ours(number), self.orders[&number].clone());
            assert!(
                is_told,
                "order {number} is {ours:?} here, at the venue {venue:?}"
            );
        }
        self.settle_breaks();
        assert_eq!(self.differing(), Vec::<u64>::new(), "after all was settled");
        self.check_positions();
        self.check_reservations();
        self.check_answers();
        self.check_client();
    }

    /// Time passes in which nobody asks for anything.
    fn rest(&mut self, times: u32) {
        for _ in 0..times {
            self.talk();
            self.floor.world.pass(Nanos::from_secs(6));
        }
        self.talk();
    }

    fn settle_breaks(&mut self) {
        for _ in 0..60 {
            let breaks = self.breaks();
            // CumQty first: what it counts is then known.
            let is_count =
                |kind: &str| kind.contains("CumQty(14)") && !kind.starts_with("fill that");
            let first = breaks.iter().find(|it| is_count(&it.1)).or(breaks.first());
            let Some((number, kind, _)) = first else {
                return;
            };
            let is_ours = [
                "fill that",
                "fill of an order",
                "ExecID",
                "bust",
                "correction",
            ];
            let which = match is_ours.iter().any(|it| kind.starts_with(it)) {
                true => "ours",
                false => "venue",
            };
            let command = format!("settle break={number} {which}");
            let answer = self.command(&command);
            assert!(answer.is_some(), "{command}");
            self.next_word();
        }
        panic!("breaks that do not end: {:?}", self.breaks());
    }

    fn check_positions(&mut self) {
        let net = |it: &TrueOrder| match it.is_buy {
            true => i128::from(it.filled()),
            false => -i128::from(it.filled()),
        };
        let venue: i128 = self.orders.values().map(net).sum();
        let positions = self.floor.state().positions();
        let ours: i128 = positions.map(|(.., position)| position.net()).sum();
        assert_eq!(ours, venue, "position");
    }

    /// What limits count is what the venue's open orders may still trade.
    fn check_reservations(&mut self) {
        let open = |is_buy: bool| -> u64 {
            let of_side = self.orders.values().filter(|it| it.is_buy == is_buy);
            of_side.map(TrueOrder::leaves).sum()
        };
        let venue = (open(true), open(false));
        let state = self.floor.state();
        let firm = state.standing(Scope::Firm).unwrap().tally;
        assert_eq!((firm.buying, firm.selling), venue, "reserved");
        assert_eq!(state.violations(), 0);
    }

    /// Each request of the client has one answer.
    fn check_answers(&mut self) {
        let mut answers: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut known = BTreeSet::new();
        for message in self.floor.world.peer(CLIENT).received() {
            let get = |tag| message.get(tag).unwrap_or_default().to_owned();
            let answer = match message.msg_type.as_str() {
                "8" => get(150),
                "9" => "9".to_owned(),
                other => panic!("the client was sent {other}"),
            };
            known.extend([get(11), get(41)]);
            answers.entry(get(11)).or_default().push(answer);
        }
        for (id, what) in &self.requests {
            let its = answers.get(id).cloned().unwrap_or_default();
            let is_answer = |it: &&String| match *what {
                "D" => matches!(it.as_str(), "0" | "8"),
                "G" => matches!(it.as_str(), "5" | "9"),
                _ => matches!(it.as_str(), "4" | "9"),
            };
            let count = its.iter().filter(is_answer).count();
            if *what == "D" && count == 0 && known.contains(id) {
                // The venue's acknowledgement was lost: what came next is the answer.
                continue;
            }
            assert_eq!(count, 1, "answers to {what} {id}: {its:?}");
        }
    }

    /// The client's last report of each order is how it stands.
    fn check_client(&mut self) {
        let mut last: BTreeMap<u64, (u64, bool)> = BTreeMap::new();
        for message in self.floor.world.peer(CLIENT).received() {
            let Some(number) = message.number(37) else {
                continue;
            };
            let is_open = matches!(message.get(39), Some("0" | "1" | "5" | "6" | "A" | "E"));
            // A cancel reject has no CumQty(14).
            let before = last.get(&number).map_or(0, |it| it.0);
            last.insert(number, (message.number(14).unwrap_or(before), is_open));
        }
        for (number, order) in &self.orders {
            let told = last.get(number).copied();
            assert_eq!(
                told,
                Some((order.filled(), order.is_open())),
                "what the client knows of order {number}"
            );
        }
    }
}
