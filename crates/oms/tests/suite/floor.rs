//! A client, an OMS and a venue.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use fixwire_engine::protocol::dictionary::Version;
use fixwire_engine::protocol::session::{BeginString, Config, Role};
use fixwire_engine::protocol::{Nanos, SessionId, Tag};
use fixwire_engine::{Connection, Durability, EngineConfig, Operator, SessionConfig};
use fixwire_harness::World;
use fixwire_oms::{Oms, OmsSession, OmsState, Order, OrderState};

pub use files::{Files, Slot};

use crate::desk::{conversions, dictionary};

mod files;
mod record;

pub const CLIENT: SessionId = SessionId(0);
pub const VENUE: SessionId = SessionId(1);
pub const COPY: SessionId = SessionId(2);

const SETTINGS: &str = r#"
[oms]
day_begins = "00:00 UTC"
orders = 100
instruments = "instruments.csv"
limits = "limits.csv"
[oms.own_tags]
condition = 9703
parent = 9705
report_filter = 9704
[[account]]
name = "A1"
[[user]]
session = "CLIENT"
accounts = ["A1"]
may = ["new", "replace", "cancel", "mass cancel", "status", "quote", "price inquiry"]
account = "A1"
[[line_group]]
name = "SIM"
lines = ["SIM-1"]
[[route]]
symbols = ["*"]
to = "SIM"
[[drop_copy]]
session = "COPY"
"#;

/// Settings of the line group for a venue that is sometimes busy and needs order numbers.
const BUSY: &str = r#"
queue = "60s"
number_pool = "P"
[[line_group.error]]
ord_rej_reason = 0
text = "busy*"
do = "retry"
times = 2
after = "200ms"
say = "the venue is busy"
[[number_pool]]
name = "P"
prefix = "T"
width = 3
"#;
const INSTRUMENTS: &str = "symbol,tick,lot,reference,positions,legs\nXYZ,0.05,10,100,,\nFUT,0.05,10,100,effect,\n\
     NEAR,0.05,10,100,,\nSPREAD,0.05,10,100,,buy 3 XYZ sell 1 NEAR\n";
const LIMITS: &str = "scope,control,limit\nfirm,RC6,1000\nfirm,RC7,1000000\nfirm,RC8,10\nfirm,RC13,100\n\
                      firm,RC14,100000000\nfirm,RC15,5000\n";

/// A venue that accepts each order, fills 30 of it, and carries out what it is asked.
#[derive(Default)]
pub struct Venue {
    /// Messages that it has read.
    read: usize,
    execs: u64,
    /// Side(54) and Symbol(55) of the message that it answers.
    side: String,
    symbol: String,
    /// Its orders by the number of ours.
    pub orders: BTreeMap<u64, VenueOrder>,
    /// Message types that it rejects, by MsgType(35).
    pub refuses: Vec<&'static str>,
    /// New orders that it drops without a word.
    pub drops: Vec<u64>,
    /// For new orders how often it is busy.
    pub busy: BTreeMap<u64, u32>,
    /// ClOrdIDs and numbers of a pool that new orders had, and QuoteReqIDs.
    used: BTreeSet<String>,
    /// It refuses every second inquiry, and answers those of these QuoteReqIDs with a Quote(S), or not.
    pub quotes_inquiries: Vec<u64>,
    pub drops_inquiries: Vec<u64>,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct VenueOrder {
    pub quantity: u64,
    pub filled: u64,
    pub is_open: bool,
    id: String,
}

pub struct Floor {
    pub files: Arc<Mutex<Files>>,
    pub slot: Slot,
    pub world: World<Oms>,
    pub venue: Venue,
    power: bool,
    venue_version: BeginString,
    pub crashes: u32,
    /// Parent orders and their children.
    pub families: BTreeMap<u64, Vec<u64>>,
    /// Net quantity of the positions that operators have set, less what they were before.
    pub moved: i128,
}

fn session(sender: &str, target: &str, begin: BeginString, port: u16) -> SessionConfig {
    let mut session = Config::new(begin, Role::Acceptor, sender.as_bytes(), target.as_bytes());
    session.max_latency = None;
    let listen = format!("127.0.0.1:{port}").parse().unwrap();
    let name = format!("{sender}->{target}");
    SessionConfig::new(name, session, Connection::Acceptor { listen })
}

impl Floor {
    pub fn new(durability: Durability, client: BeginString, venue: BeginString) -> Self {
        Self::of(durability, (client, venue), SETTINGS.to_owned())
    }

    /// One whose venue is busy at times, and wants order numbers.
    pub fn with_a_busy_venue(durability: Durability) -> Self {
        let lines = "lines = [\"SIM-1\"]";
        let settings = SETTINGS
            .replace(lines, &format!("{lines}{BUSY}"))
            .replace("[[user]]", "[[user]]\nown_numbers = true");
        Self::of(
            durability,
            (BeginString::Fix44, BeginString::Fix44),
            settings,
        )
    }

    /// One that holds orders until a price of the venue meets their condition.
    pub fn with_conditions(durability: Durability) -> Self {
        let settings = SETTINGS
            .replace("[[user]]", "[[user]]\nconditional = 10")
            .replace("name = \"SIM\"", "name = \"SIM\"\nqueue = \"60s\"")
            .replace("orders = 100", "orders = 100\nmarket_data = [\"SIM-1\"]");
        let versions = (BeginString::Fix44, BeginString::Fix44);
        Self::of(durability, versions, settings)
    }

    /// One whose client has parent orders.
    pub fn with_parents(durability: Durability) -> Self {
        let settings = SETTINGS.replace("[[user]]", "[[user]]\nparents = 10");
        let versions = (BeginString::Fix44, BeginString::Fix44);
        Self::of(durability, versions, settings)
    }

    /// The venue reports a trade.
    pub fn price(&mut self, last: &str) {
        let body = format!("262=P|55=XYZ|268=1|269=2|270={last}|271=10|");
        self.world.send(VENUE, "W", &body);
        self.settle();
    }

    /// One whose client has a language.
    pub fn with_a_language(client: BeginString) -> Self {
        let settings = SETTINGS
            .replace("[[user]]", "[[user]]\nlanguage = \"zh-TW\"")
            .replace("orders = 100", "orders = 100\ntexts = \"texts.csv\"");
        Self::of(Durability::Process, (client, BeginString::Fix44), settings)
    }

    /// One with something else in its settings.
    pub fn with(old: &str, new: &str) -> Self {
        assert!(SETTINGS.contains(old), "{old}");
        let versions = (BeginString::Fix44, BeginString::Fix44);
        Self::of(Durability::Process, versions, SETTINGS.replace(old, new))
    }

    fn of(
        durability: Durability,
        (client, venue): (BeginString, BeginString),
        settings: String,
    ) -> Self {
        let version = |begin| match begin {
            BeginString::Fix42 => Version::Fix42,
            _ => Version::Fix44,
        };
        let config = EngineConfig {
            durability,
            sessions: vec![
                session("OMS", "CLIENT", client, 5001),
                session("OMS", "SIM", venue, 5002),
                session("OMS", "COPY", BeginString::Fix44, 5003),
            ],
            ..EngineConfig::default()
        };
        let files = Arc::new(Mutex::new(Files {
            settings,
            instruments: INSTRUMENTS.to_owned(),
            limits: LIMITS.to_owned(),
            restricted: "symbol,account,from,to,what\n".to_owned(),
            texts: crate::texts::TEXTS.to_owned(),
            symbols: "symbol,venue_symbol\n".to_owned(),
            table: "from FIX.4.2\nto FIX.4.4\n".to_owned(),
        }));
        let slot = Slot::default();
        let (read, source) = (Arc::clone(&files), slot.clone());
        let make = move || {
            let rules = read.lock().unwrap().read().unwrap();
            let session = |name: &str, begin| OmsSession {
                name: name.to_owned(),
                version: version(begin),
                dictionary: dictionary(version(begin)),
                ids: Vec::new(),
            };
            let sessions = vec![
                session("CLIENT", client),
                session("SIM-1", venue),
                session("COPY", BeginString::Fix44),
            ];
            crate::canaries::plant();
            let mut oms = Oms::new(rules, sessions, 7, Box::new(|_| {}));
            oms.set_settings_source(Box::new(source.clone()));
            let versions = [client, venue, BeginString::Fix44].map(version);
            oms.use_conversions(conversions(&versions));
            oms
        };
        let mut floor = Self {
            files,
            slot,
            world: World::new(&config, 1, make),
            venue: Venue::default(),
            power: durability == Durability::Disk,
            venue_version: venue,
            crashes: 0,
            families: BTreeMap::new(),
            moved: 0,
        };
        floor.calm();
        floor
    }

    pub fn is_durable(&self) -> bool {
        self.power
    }

    pub fn venue_version(&self) -> BeginString {
        self.venue_version
    }

    /// Until everybody has said and heard all, over the end of the process.
    pub fn calm(&mut self) {
        for _ in 0..10 {
            match self.world.settle() {
                Ok(()) => return,
                Err(why) if why.contains("the engine ended") => {
                    self.crashes += 1;
                    if self.power {
                        self.world.cut_power();
                    } else {
                        self.world.kill();
                    }
                }
                Err(why) => panic!("{why}\n{}", self.world.trace().join("\n")),
            }
        }
        panic!("it ends again and again\n{}", self.world.trace().join("\n"));
    }

    /// Lets client and venue talk until nothing is left to say.
    pub fn settle(&mut self) {
        loop {
            self.calm();
            let said = self.venue.answers(&mut self.world);
            let waits = |order: &Order| order.state == OrderState::Queued;
            if said.is_empty() && self.state().orders().iter().any(waits) {
                self.world.pass(Nanos(100_000_000));
                continue;
            }
            if said.is_empty() {
                return;
            }
            for (msg_type, body) in said {
                self.world.send(VENUE, msg_type, &body);
            }
        }
    }

    pub fn send(&mut self, msg_type: &str, body: &str) {
        self.world.send(CLIENT, msg_type, body);
        self.settle();
    }

    pub fn order(&mut self, id: &str, side: u8, quantity: u64) {
        let body =
            format!("11={id}|55=XYZ|54={side}|38={quantity}|40=2|44=100|60=20261122-08:00:00|");
        self.send("D", &body);
    }

    /// An operator gives a command, again if the process died before its answer; that it was carried out before is
    /// an answer too.
    pub fn command(&mut self, text: &str) {
        for _ in 0..10 {
            self.settle();
            let operator = Operator::new("ann", "a test");
            let mut handle = self.world.handle().expect("it runs");
            let crashes = self.crashes;
            let answer = handle.command(text.as_bytes(), operator).unwrap();
            self.settle();
            match answer.try_recv() {
                // A process that died in this turn has not answered.
                _ if self.crashes > crashes => {}
                Ok(Ok(_)) => return,
                Ok(Err(why)) => {
                    let why = why.to_string();
                    assert!(why.contains("already"), "{why}");
                    return;
                }
                Err(_) => {}
            }
        }
        panic!("no answer to {text}");
    }

    pub fn state(&mut self) -> &OmsState {
        self.world.application().expect("it runs").state()
    }

    /// These fields of what the client has received.
    pub fn told(&mut self, tags: &[Tag]) -> Vec<String> {
        self.received(CLIENT, tags)
    }

    /// These fields of what a session has received.
    pub fn received(&mut self, session: SessionId, tags: &[Tag]) -> Vec<String> {
        let received = self.world.peer(session).received();
        let lines = received.map(|message| {
            let fields = tags.iter().map(|tag| message.get(*tag).unwrap_or("-"));
            fields.collect::<Vec<_>>().join(" ")
        });
        lines.collect()
    }

    /// Books of OMS and venue agree, order by order, and so do the reports that the client has.
    pub fn agrees(&mut self) {
        let (venue, moved) = (self.venue.orders.clone(), self.moved);
        let state = self.state();
        assert_eq!(state.violations(), 0);
        let mut net = 0;
        for (number, at_venue) in &venue {
            let order = state.orders().get(*number).expect("the OMS knows it");
            assert_eq!(order.filled, at_venue.filled, "order {number}");
            assert_eq!(order.quantity, at_venue.quantity, "order {number}");
            assert_eq!(order.state.is_open(), at_venue.is_open, "order {number}");
            assert_ne!(order.state, OrderState::Unknown, "order {number}");
            let mut filled = i128::from(at_venue.filled);
            if let Some(legs) = state.legs(order.instrument) {
                let of = state.legs_of(*number).expect("it has legs");
                let wanted = legs.map(|leg| at_venue.filled * u64::from(leg.ratio));
                assert_eq!(of.filled, wanted, "legs of order {number}");
                let sides = legs.map(|leg| {
                    let ratio = i128::from(leg.ratio);
                    if leg.side.is_buy() { ratio } else { -ratio }
                });
                filled *= sides[0] + sides[1];
            }
            net += if order.side.is_buy() { filled } else { -filled };
        }
        let held = state.positions().map(|(.., position)| position.net());
        let held = held.sum::<i128>();
        assert_eq!(held, net + moved);
        let open = venue.values().filter(|order| order.is_open).count();
        let sent = state.orders().iter();
        let sent = sent.filter(|it| it.state.is_open() && it.state != OrderState::Parent);
        assert_eq!(sent.count(), open);
        self.families_agree();
        // Each execution was reported once, and together they are what was filled.
        let mut execs: Vec<String> = self.told(&[17]);
        execs.retain(|exec| exec != "-" && exec != "0");
        let count = execs.len();
        execs.sort();
        execs.dedup();
        assert_eq!(execs.len(), count, "an ExecID twice");
        let mut fills = self.told(&[442, 32, 37]);
        // Those of legs are fills of the same order.
        fills.retain(|fill| !fill.starts_with("2 "));
        let fills = fills.iter().map(|fill| fill[2..].to_owned());
        let fills: Vec<String> = fills.collect();
        let parents: Vec<String> = self.families.keys().map(u64::to_string).collect();
        let of_parent = |order: &str| parents.iter().any(|parent| parent == order);
        // A drop copy has every execution, as the client has.
        let reports = |all: Vec<String>| -> Vec<String> {
            let is_execution = |it: &String| it.starts_with("8 ") && !it.contains(" NONE");
            all.into_iter().filter(is_execution).collect()
        };
        let fields = [35, 37, 17, 39, 14, 151];
        let mut client = reports(self.told(&fields));
        client.retain(|report| report.split(' ').nth(2) != Some("0"));
        client.retain(|report| !of_parent(report.split(' ').nth(1).unwrap()));
        assert_eq!(reports(self.received(COPY, &fields)), client);
        let fills = fills.iter().filter_map(|fill| fill.split_once(' '));
        let fills = fills.filter(|(_, order)| !of_parent(order));
        let told: u64 = fills.filter_map(|(it, _)| it.parse::<u64>().ok()).sum();
        assert_eq!(told, venue.values().map(|order| order.filled).sum::<u64>());
    }

    /// Parents have the fills of their children, and report each once.
    fn families_agree(&mut self) {
        let fills = self.told(&[37, 32]);
        for (parent, children) in self.families.clone() {
            let at_venue = children.iter().filter_map(|it| self.venue.orders.get(it));
            let filled: u64 = at_venue.map(|order| order.filled).sum();
            assert!(
                !self.venue.orders.contains_key(&parent),
                "{parent} was sent"
            );
            let its = fills.iter().filter_map(|it| it.split_once(' '));
            let its = its.filter(|(order, _)| *order == parent.to_string());
            let told: u64 = its.filter_map(|(_, fill)| fill.parse::<u64>().ok()).sum();
            assert_eq!(told, filled, "reported fills of parent {parent}");
            if let Some(order) = self.state().orders().get(parent) {
                assert_eq!(order.filled, filled, "parent {parent}");
            }
        }
    }
}

impl Venue {
    /// Its answers to the messages received since.
    fn answers(&mut self, world: &mut World<Oms>) -> Vec<(&'static str, String)> {
        let received: Vec<_> = world.peer(VENUE).received().cloned().collect();
        let new = received[self.read..].iter();
        let mut said = Vec::new();
        for message in new {
            if message.msg_type == "R" {
                let id = message.get(131).unwrap_or_default().to_owned();
                assert!(self.used.insert(format!("R{id}")), "{id} was sent twice");
                said.extend(self.quoted(&id));
                continue;
            }
            // The question for the state of trading.
            if message.msg_type == "g" {
                continue;
            }
            let id = message.get(11).unwrap_or_default().to_owned();
            let number = id.split('-').next().unwrap().parse().unwrap();
            self.side = message.get(54).unwrap_or("1").to_owned();
            self.symbol = message.get(55).unwrap_or("XYZ").to_owned();
            if let (Some(original), Some(order)) = (message.get(41), self.orders.get(&number)) {
                assert_eq!(original, order.id, "OrigClOrdID(41) of {id}");
            }
            if message.msg_type == "D" {
                let names = [Some(id.as_str()), message.get(526)];
                for name in names.into_iter().flatten() {
                    assert!(self.used.insert(name.to_owned()), "{name} was sent twice");
                }
            }
            self.answer(&message.msg_type, number, &id, message.get(38), &mut said);
        }
        self.read = received.len();
        said
    }

    /// Its answer to an inquiry.
    fn quoted(&self, id: &str) -> Option<(&'static str, String)> {
        let number: u64 = id.parse().unwrap();
        match number {
            _ if self.drops_inquiries.contains(&number) => None,
            _ if self.quotes_inquiries.contains(&number) => Some((
                "S",
                format!("131={id}|117=V{id}|55=XYZ|132=99.95|133=100.05|"),
            )),
            odd if odd % 2 == 1 => Some(("AI", format!("131={id}|117=V{id}|55=XYZ|297=0|"))),
            _ => {
                let body = format!("131={id}|658=9|146=1|55=XYZ|58=no market makers|");
                Some(("AG", body))
            }
        }
    }

    fn answer(
        &mut self,
        msg_type: &str,
        number: u64,
        id: &str,
        quantity: Option<&str>,
        said: &mut Vec<(&'static str, String)>,
    ) {
        let quantity = quantity.and_then(|text| text.parse().ok()).unwrap_or(0);
        match msg_type {
            "D" if self.drops.contains(&number) => {}
            "D" if self.busy.get(&number).is_some_and(|left| *left > 0) => {
                *self.busy.get_mut(&number).unwrap() -= 1;
                let body = self.report(number, id, "150=8|39=8|103=0|58=busy: later|", "");
                said.push(("8", body));
            }
            "D" if self.refuses.contains(&"D") => {
                let body = self.report(number, id, "150=8|39=8|58=not today|", "");
                said.push(("8", body));
            }
            "D" => {
                let order = VenueOrder {
                    quantity,
                    filled: 0,
                    is_open: true,
                    id: id.to_owned(),
                };
                let known = self.orders.insert(number, order);
                assert_eq!(known, None, "order {number} was sent twice");
                said.push(("8", self.report(number, id, "150=0|39=0|", "")));
                let filled = quantity.min(30);
                let order = self.orders.get_mut(&number).unwrap();
                (order.filled, order.is_open) = (filled, filled < quantity);
                let status = if filled < quantity { 1 } else { 2 };
                let what = format!("150=F|39={status}|32={filled}|31=100|");
                said.push(("8", self.report(number, id, &what, "")));
                if self.symbol == "SPREAD" {
                    self.legs(number, id, filled, said);
                }
            }
            "G" | "F" if self.refuses.contains(&msg_type) => {
                let original = self.orders[&number].id.clone();
                let to = if msg_type == "F" { 1 } else { 2 };
                let body = format!("37=V{number}|11={id}|41={original}|39=1|434={to}|102=0|58=no|");
                said.push(("9", body));
            }
            "G" => {
                let order = self.orders.get_mut(&number).unwrap();
                order.quantity = quantity;
                let original = format!("41={}|", std::mem::replace(&mut order.id, id.to_owned()));
                said.push((
                    "8",
                    self.report(number, id, "150=5|39=1|44=100|", &original),
                ));
            }
            "F" => {
                let order = self.orders.get_mut(&number).unwrap();
                order.is_open = false;
                let original = format!("41={}|", order.id);
                said.push(("8", self.report(number, id, "150=4|39=4|", &original)));
            }
            "H" => {
                let status = match self.orders.get(&number) {
                    None => "150=I|39=8|58=unknown order|",
                    Some(order) if order.is_open => "150=I|39=1|",
                    Some(_) => "150=I|39=4|",
                };
                said.push(("8", self.report(number, id, status, "")));
            }
            other => panic!("the venue was sent {other}"),
        }
    }

    /// The legs of a fill: three of XYZ on the side of the order, one of NEAR on the other.
    fn legs(&mut self, number: u64, id: &str, sets: u64, said: &mut Vec<(&'static str, String)>) {
        let (symbol, side) = (self.symbol.clone(), self.side.clone());
        let other = if side == "1" { "2" } else { "1" };
        for (leg, side, quantity) in [("XYZ", side.as_str(), 3 * sets), ("NEAR", other, sets)] {
            (self.symbol, self.side) = (leg.to_owned(), side.to_owned());
            let what = format!("150=F|39=1|32={quantity}|31=100|442=2|");
            said.push(("8", self.report(number, id, &what, "")));
        }
        (self.symbol, self.side) = (symbol, side);
    }

    fn report(&mut self, number: u64, id: &str, what: &str, original: &str) -> String {
        self.execs += 1;
        let order = self.orders.get(&number).cloned().unwrap_or_default();
        let leaves = if order.is_open {
            order.quantity - order.filled
        } else {
            0
        };
        format!(
            "37=V{number}|11={id}|{original}17=E{}|{what}55={}|54={}|38={}|151={leaves}|14={}|6=100|1=A1|",
            self.execs, self.symbol, self.side, order.quantity, order.filled
        )
    }
}
