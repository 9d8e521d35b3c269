//! Trading days in which a venue loses, changes or repeats a report, lines break and the process dies. Each difference
//! between the book of the OMS and that of the venue is found and told; after the venue's next word, and an operator's
//! where it is needed, books, positions and reservations agree, and each request of the client has one answer.
//!
//! `OMS_DAYS=10000` plays more of them; `OMS_DAY=N` plays one, with all that passed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fixwire_engine::protocol::Nanos;
use fixwire_engine::protocol::session::BeginString;
use fixwire_engine::{Durability, Operator};

use crate::floor::{CLIENT, Floor, VENUE};
use crate::proof::Proof;

use book::{Dice, Fate, TrueFill, TrueOrder, field, with_field};

mod book;
mod checks;

/// How many are played unless `OMS_DAYS` says otherwise.
const DAYS: u64 = 300;
/// What happens in each.
const STEPS: u64 = 50;

struct Day {
    dice: Dice,
    floor: Floor,
    orders: BTreeMap<u64, TrueOrder>,
    /// Messages of the OMS that the venue has read.
    read: usize,
    execs: u64,
    /// Reports until the next one that goes wrong, and how many of them are left.
    wrong: Vec<u64>,
    reports: u64,
    /// Requests of the client: the letter of the message by its ClOrdID(11).
    requests: BTreeMap<String, &'static str>,
    /// The trading day has changed.
    has_rolled: bool,
    log: String,
}

impl Day {
    fn begin(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let durability = match dice.below(2) {
            0 => Durability::Process,
            _ => Durability::Disk,
        };
        let version = match dice.below(3) {
            0 => BeginString::Fix42,
            _ => BeginString::Fix44,
        };
        let wrong = (0..=dice.below(3)).map(|_| 1 + dice.below(60)).collect();
        Self {
            dice,
            floor: Floor::new(durability, BeginString::Fix44, version),
            orders: BTreeMap::new(),
            read: 0,
            execs: 0,
            wrong,
            reports: 0,
            requests: BTreeMap::new(),
            has_rolled: false,
            log: String::new(),
        }
    }

    fn note(&mut self, what: &str) {
        let _ = writeln!(self.log, "{what}");
    }

    fn is_old(&self) -> bool {
        self.floor.venue_version() == BeginString::Fix42
    }

    /// The venue reports on an order: what happened, before how it stands.
    fn report(&mut self, number: u64, id: &str, what: &str) {
        self.reports += 1;
        let fate = match self.wrong.contains(&self.reports) {
            false => Fate::Arrives,
            true => {
                let all = [
                    Fate::Lost,
                    Fate::Lost,
                    Fate::Twice,
                    Fate::AgainAsNew,
                    Fate::Changed,
                ];
                self.dice.pick(&all).unwrap()
            }
        };
        let body = self.body(number, id, what);
        if fate != Fate::Arrives {
            self.note(&format!("{fate:?}: {body}"));
        }
        match fate {
            Fate::Arrives => self.say(&body),
            Fate::Lost => {}
            Fate::Twice => {
                self.say(&body);
                self.say(&body);
            }
            Fate::AgainAsNew => {
                self.say(&body);
                self.execs += 1;
                let exec = format!("17=N{}|", self.execs);
                let body = with_field(&body, "17", &exec);
                self.say(&body);
            }
            Fate::Changed => {
                let body = self.changed(number, &body);
                self.note(&format!("as:   {body}"));
                self.say(&body);
            }
        }
    }

    fn say(&mut self, body: &str) {
        self.floor.world.send(VENUE, "8", body);
    }

    fn body(&self, number: u64, id: &str, what: &str) -> String {
        let Some(order) = self.orders.get(&number) else {
            return format!("37=NONE|11={id}|{what}55=XYZ|54=1|38=0|151=0|14=0|6=0|");
        };
        let filled = order.filled();
        let paid: u64 = order.fills.iter().map(|it| it.quantity * it.price).sum();
        let average = paid as f64 / 100.0 / filled.max(1) as f64;
        let side = if order.is_buy { 1 } else { 2 };
        let kind = if self.is_old() { "20=0|" } else { "" };
        format!(
            "37=V{number}|11={id}|{kind}{what}39={}|55=XYZ|54={side}|38={}|44={}|151={}|14={filled}|6={average:.9}|1=A1|",
            order.status(),
            order.quantity,
            order.price as f64 / 100.0,
            order.leaves(),
        )
    }

    /// A report with one field that is not as the venue has it.
    fn changed(&mut self, number: u64, body: &str) -> String {
        let others: Vec<u64> = self
            .orders
            .keys()
            .copied()
            .filter(|it| *it != number)
            .collect();
        let tags = ["14", "32", "31", "38", "44", "151", "39", "6", "11"];
        let tag = self.dice.pick(&tags).unwrap();
        let Some(value) = field(body, tag) else {
            return with_field(body, "14", "14=10|");
        };
        let changed = match tag {
            "39" => "39=4|".to_owned(),
            "11" => match self.dice.pick(&others) {
                Some(other) => format!("11={}|", self.orders[&other].id),
                None => "11=999|".to_owned(),
            },
            "31" | "44" | "6" => format!("{tag}={}|", value.parse::<f64>().unwrap_or(0.0) + 0.05),
            _ => format!("{tag}={}|", value.parse::<u64>().unwrap_or(0) + 10),
        };
        with_field(body, tag, &changed)
    }

    /// The answers of the venue to what has come.
    fn answers(&mut self) -> bool {
        let received: Vec<_> = self.floor.world.peer(VENUE).received().cloned().collect();
        let new = received[self.read..].to_vec();
        self.read = received.len();
        for message in &new {
            let get = |tag| message.get(tag).unwrap_or_default().to_owned();
            let (id, original) = (get(11), get(41));
            let number: u64 = id.split('-').next().unwrap().parse().unwrap_or(0);
            match message.msg_type.as_str() {
                "D" => self.is_asked_new(number, &id, &get(54), &get(38), &get(44)),
                "G" | "F" => {
                    self.is_asked_to_change(number, (&id, &original), &message.msg_type, &get(38))
                }
                "H" => self.standing(number, &id),
                other => panic!("the venue was sent {other}"),
            }
        }
        !new.is_empty()
    }

    fn is_asked_new(&mut self, number: u64, id: &str, side: &str, quantity: &str, price: &str) {
        let order = TrueOrder {
            id: id.to_owned(),
            is_buy: side == "1",
            quantity: quantity.parse().unwrap(),
            price: (price.parse::<f64>().unwrap() * 100.0).round() as u64,
            fills: Vec::new(),
            ended: None,
        };
        assert!(self.orders.insert(number, order).is_none(), "{id} twice");
        if self.dice.below(12) == 0 {
            self.orders.get_mut(&number).unwrap().ended = Some('8');
            let exec = self.exec();
            return self.report(number, id, &format!("17={exec}|150=8|103=0|58=no|"));
        }
        let exec = self.exec();
        self.report(number, id, &format!("17={exec}|150=0|"));
    }

    fn exec(&mut self) -> String {
        self.execs += 1;
        format!("E{}", self.execs)
    }

    fn is_asked_to_change(
        &mut self,
        number: u64,
        (id, original): (&str, &str),
        what: &str,
        quantity: &str,
    ) {
        let refuses = self.dice.below(6) == 0;
        let order = self.orders.get_mut(&number);
        let Some(order) = order.filter(|it| it.is_open() && !refuses) else {
            let status = self.orders.get(&number).map_or('8', TrueOrder::status);
            let to = if what == "F" { 1 } else { 2 };
            let body =
                format!("37=V{number}|11={id}|41={original}|39={status}|434={to}|102=0|58=no|");
            self.reports += 1;
            if self.wrong.contains(&self.reports) {
                return self.note(&format!("Lost: 9 {body}"));
            }
            self.floor.world.send(VENUE, "9", &body);
            return;
        };
        let was = std::mem::replace(&mut order.id, id.to_owned());
        let exec_type = match what {
            "F" => {
                order.ended = Some('4');
                '4'
            }
            _ => {
                order.quantity = quantity.parse::<u64>().unwrap().max(order.filled());
                '5'
            }
        };
        let exec = self.exec();
        self.report(number, id, &format!("41={was}|17={exec}|150={exec_type}|"));
    }

    /// The venue says how an order stands.
    fn standing(&mut self, number: u64, id: &str) {
        let what = match (self.orders.contains_key(&number), self.is_old()) {
            (true, true) => "17=0|150=0|20=3|",
            (true, false) => "17=0|150=I|",
            (false, true) => "17=0|150=8|39=8|20=3|58=unknown order|",
            (false, false) => "17=0|150=I|39=8|58=unknown order|",
        };
        let mut body = self.body(number, id, what);
        if self.is_old() {
            body = body.replace("|20=0|", "|");
            if let Some(order) = self.orders.get(&number) {
                body = body.replace("150=0|", &format!("150={}|", order.status()));
            }
        }
        self.say(&body);
    }

    fn fill(&mut self) {
        let open: Vec<u64> = self.open().collect();
        let Some(number) = self.dice.pick(&open) else {
            return;
        };
        let order = &self.orders[&number];
        let quantity = (10 * (1 + self.dice.below(5))).min(order.leaves());
        let price = order.price - 5 * self.dice.below(2);
        let (id, exec) = (order.id.clone(), self.exec());
        let fill = TrueFill {
            exec: self.execs,
            quantity,
            price,
        };
        self.orders.get_mut(&number).unwrap().fills.push(fill);
        let kind = match self.is_old() {
            true => char::from(if self.orders[&number].is_open() {
                b'1'
            } else {
                b'2'
            }),
            false => 'F',
        };
        let what = format!(
            "17={exec}|150={kind}|32={quantity}|31={}|",
            price as f64 / 100.0
        );
        self.report(number, &id, &what);
    }

    /// The venue cancels a fill.
    fn bust(&mut self) {
        let with_fills = self.orders.iter().filter(|(_, it)| !it.fills.is_empty());
        let with_fills: Vec<u64> = with_fills.map(|(number, _)| *number).collect();
        let Some(number) = self.dice.pick(&with_fills) else {
            return;
        };
        let order = self.orders.get_mut(&number).unwrap();
        let at = self.dice.below(order.fills.len() as u64) as usize;
        let (fill, id) = (order.fills.remove(at), order.id.clone());
        let exec = self.exec();
        let (last, price) = (fill.quantity, fill.price as f64 / 100.0);
        let what = match self.is_old() {
            true => format!(
                "17={exec}|19=E{}|150={}|32={last}|31={price}|",
                fill.exec,
                self.orders[&number].status()
            ),
            false => format!("17={exec}|19=E{}|150=H|32={last}|31={price}|", fill.exec),
        };
        if !self.is_old() {
            return self.report(number, &id, &what);
        }
        // ExecTransType(20) is 1 for it.
        let body = self.body(number, &id, &what).replace("|20=0|", "|20=1|");
        self.say(&body);
    }

    /// The venue corrects the last fill of an order.
    fn correct(&mut self) {
        let with_fills = self.orders.iter().filter(|(_, it)| !it.fills.is_empty());
        let with_fills: Vec<u64> = with_fills.map(|(number, _)| *number).collect();
        let Some(number) = self.dice.pick(&with_fills) else {
            return;
        };
        let exec = self.exec();
        let order = self.orders.get_mut(&number).unwrap();
        let fill = order.fills.last_mut().unwrap();
        let was = std::mem::replace(&mut fill.exec, self.execs);
        fill.price += 5;
        if fill.quantity > 10 {
            fill.quantity -= 10;
        }
        let (last, price, id) = (fill.quantity, fill.price as f64 / 100.0, order.id.clone());
        let kind = match self.is_old() {
            true => self.orders[&number].status(),
            false => 'G',
        };
        let what = format!("17={exec}|19=E{was}|150={kind}|32={last}|31={price}|");
        if !self.is_old() {
            return self.report(number, &id, &what);
        }
        // ExecTransType(20) is 2 for it.
        let body = self.body(number, &id, &what).replace("|20=0|", "|20=2|");
        self.say(&body);
    }

    fn ends_unasked(&mut self) {
        let open: Vec<u64> = self.open().collect();
        let Some(number) = self.dice.pick(&open) else {
            return;
        };
        let order = self.orders.get_mut(&number).unwrap();
        order.ended = Some('4');
        let (id, exec) = (order.id.clone(), self.exec());
        self.report(number, &id, &format!("17={exec}|150=4|58=by the venue|"));
    }

    fn open(&self) -> impl Iterator<Item = u64> {
        let open = self.orders.iter().filter(|(_, order)| order.is_open());
        open.map(|(number, _)| *number)
    }

    fn client_asks(&mut self) {
        let at = self.requests.len() + 1;
        let id = format!("C{at}");
        let side = 1 + self.dice.below(2);
        let quantity = 10 * (1 + self.dice.below(10));
        let earlier: Vec<&String> = self.requests.keys().collect();
        let original = self.dice.pick(&earlier).cloned();
        let terms =
            |side| format!("55=XYZ|54={side}|38={quantity}|40=2|44=100|59=0|60=20261122-08:00:00|");
        let (what, body) = match (self.dice.below(10), original) {
            (0 | 1, Some(original)) => ("F", format!("11={id}|41={original}|{}", terms(side))),
            (2 | 3, Some(original)) => ("G", format!("11={id}|41={original}|{}", terms(side))),
            _ => ("D", format!("11={id}|{}", terms(side))),
        };
        let body = match what {
            "F" => body.replace("40=2|44=100|59=0|", ""),
            _ => body,
        };
        self.requests.insert(id, what);
        self.floor.world.send(CLIENT, what, &body);
    }

    fn step(&mut self) {
        match self.dice.below(20) {
            0..8 => self.client_asks(),
            8..12 => self.fill(),
            12 => self.correct(),
            13 => self.bust(),
            14 => self.ends_unasked(),
            15 => {
                self.note("kill");
                match self.floor.is_durable() {
                    true => self.floor.world.cut_power(),
                    false => self.floor.world.kill(),
                }
            }
            16 => {
                let session = self.dice.pick(&[CLIENT, VENUE]).unwrap();
                self.note(&format!("{session:?} breaks"));
                self.floor.world.disconnect(session);
            }
            17 => {
                let time = self.dice.below(8_000);
                self.floor.world.pass(Nanos(time * 1_000_000));
            }
            18 => {
                for _ in 0..self.dice.below(20) {
                    let _ = self.floor.world.turn().unwrap();
                }
            }
            _ if !self.has_rolled && self.dice.below(3) == 0 => {
                self.has_rolled = true;
                let _ = self.command("roll day=2026-03-03 cancel");
            }
            _ => {
                let _ = self.command("cancel account=A1");
            }
        }
        self.talk();
    }

    /// OMS and venue talk until nothing is left to say.
    fn talk(&mut self) {
        loop {
            self.floor.calm();
            if !self.answers() {
                return;
            }
        }
    }

    fn command(&mut self, text: &str) -> Option<String> {
        self.floor.calm();
        self.note(&format!("command {text}"));
        let mut handle = self.floor.world.handle().expect("it runs");
        let operator = Operator::new("ann", "a test");
        let answer = handle.command(text.as_bytes(), operator).unwrap();
        self.talk();
        let answer = answer.try_recv().expect("an answer");
        let answer = answer.map(|bytes| String::from_utf8(bytes).unwrap());
        self.note(&format!("{answer:?}"));
        answer.ok()
    }

    /// Number, kind and order of each open break.
    fn breaks(&mut self) -> Vec<(String, String, u64)> {
        self.floor.calm();
        let mut handle = self.floor.world.handle().expect("it runs");
        let answer = handle.query(b"breaks").unwrap();
        self.talk();
        let bytes = answer.try_recv().expect("an answer").unwrap();
        let list = String::from_utf8(bytes).unwrap();
        let rows = list.lines().skip(1).map(|row| {
            let cells: Vec<&str> = row.split('\t').collect();
            (
                cells[0].to_owned(),
                cells[1].to_owned(),
                cells[2].parse().unwrap(),
            )
        });
        rows.collect()
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn play(seed: u64, proof: &mut Proof) -> Result<(), String> {
    let mut day = Day::begin(seed);
    let played = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        for _ in 0..STEPS {
            day.step();
        }
        day.ends();
    }));
    if played.is_ok() {
        let mut recorder = proof.recorder(&seed.to_string());
        recorder.input(&day.log);
        day.floor.record(&mut recorder);
        proof.add(recorder);
    }
    if number("OMS_DAY").is_some() {
        println!("{}\n{}", day.floor.world.trace().join("\n"), day.log);
    }
    let said = |panic: Box<dyn std::any::Any + Send>| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|it| (*it).to_owned()))
    };
    played.map_err(|panic| {
        let why = said(panic).unwrap_or_default();
        format!("OMS_DAY={seed}: {why}\n{}", day.log)
    })
}

#[test]
fn what_a_venue_loses_changes_or_repeats_is_found_told_and_settled() {
    let mut proof = Proof::new("day");
    if let Some(seed) = number("OMS_DAY") {
        play(seed, &mut proof).unwrap();
        return proof.check(false);
    }
    let days = number("OMS_DAYS").unwrap_or(DAYS);
    let seeds = 1..=days;
    let failed = seeds.filter_map(|seed| play(seed, &mut proof).err());
    let failed: Vec<String> = failed.collect();
    assert!(
        failed.is_empty(),
        "{} of {days} days:\n{}",
        failed.len(),
        failed.join("\n")
    );
    proof.check(days == DAYS);
}
