//! Random histories of orders through a gateway, with the true result of each.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use fixwire_random::Random;

use super::world::{GatewayWorld, NAMES, Said};

/// Number of days of a world. Ids start over each day.
const DAYS: i64 = 3;

/// The true result for an order.
#[derive(Clone, Debug, Default)]
pub struct OrderTruth {
    pub said: Vec<Said>,
    /// Its ClOrdIDs and OrderIDs.
    pub ids: BTreeSet<String>,
}

impl OrderTruth {
    fn add(&mut self, said: Vec<Said>) {
        for one in said {
            let ids = [11, 41, 526, 37, 198].map(|tag| one.get(tag));
            let ids = ids.into_iter().flatten();
            self.ids.extend(ids.filter(|id| id != "NONE"));
            self.said.push(one);
        }
    }
}

/// A request without an answer from its venue.
#[derive(Clone, Debug)]
struct Request {
    kind: char,
    /// Its ClOrdID at the client, and at the venue.
    client_id: String,
    id: String,
    original: Option<String>,
    number: u64,
}

/// An order that is open, or may still be busted.
struct Open {
    truth: OrderTruth,
    client: usize,
    venue: usize,
    symbol: &'static str,
    /// ClOrdIDs that the order has at the client and at the venue.
    client_id: String,
    id: String,
    order_id: Option<String>,
    requests: Vec<Request>,
    /// Executions with their days.
    executions: Vec<(String, i64)>,
    filled: u32,
    /// Number of further messages that it may have.
    left: u32,
    has_ended: bool,
}

/// Creates the journal of a world with this number of orders, in this folder.
pub struct Lives {
    random: Random,
    world: GatewayWorld,
    day: i64,
    /// For each client.
    client_ids: [u32; 2],
    /// For each venue.
    order_ids: [u32; 2],
    executions: [u32; 2],
    /// OrderIDs of orders that are open or may still be busted, by venue.
    working: BTreeSet<(usize, String)>,
    open: Vec<(usize, Open)>,
    done: Vec<(usize, OrderTruth)>,
    pub kinds: HashMap<&'static str, u64>,
}

impl Lives {
    /// The true result for each order, in order of their start.
    pub fn play(
        seed: u64,
        orders: usize,
        folder: &Path,
    ) -> (Vec<OrderTruth>, HashMap<&'static str, u64>) {
        let mut random = Random::new(seed);
        let ids = ["always", "collision"][random.below(2) as usize];
        let mut lives = Self {
            world: GatewayWorld::new(folder, ids),
            random,
            day: 0,
            client_ids: [0; 2],
            order_ids: [0; 2],
            executions: [0; 2],
            working: BTreeSet::new(),
            open: Vec::new(),
            done: Vec::new(),
            kinds: HashMap::new(),
        };
        let mut begun = 0;
        for day in 0..DAYS {
            lives.begin_day(day);
            let until = orders * (day as usize + 1) / DAYS as usize;
            while begun < until || lives.open.len() > 8 {
                lives.world.wall += 1_000 + lives.random.below(50_000_000) as i64;
                if begun < until && (lives.open.len() < 4 || lives.one_in(3)) {
                    lives.order(begun);
                    begun += 1;
                } else {
                    lives.step();
                }
            }
        }
        while !lives.open.is_empty() {
            lives.world.wall += 1_000_000;
            lives.step();
        }
        let mut done = lives.done;
        done.sort_by_key(|(number, _)| *number);
        let truths = done.into_iter().map(|(_, truth)| truth);
        (truths.collect(), lives.kinds)
    }

    fn begin_day(&mut self, day: i64) {
        self.day = day;
        (self.client_ids, self.order_ids, self.executions) = ([0; 2], [0; 2], [0; 2]);
        // Open orders stay open; requests get no more answers.
        for (_, open) in &mut self.open {
            open.requests.clear();
        }
        self.world.begin_day(day);
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.random.below(count) == 0
    }

    fn count(&mut self, kind: &'static str) {
        *self.kinds.entry(kind).or_default() += 1;
    }

    /// A ClOrdID that is new today and differs from that of an open order at another venue, which would make the order
    /// of a request ambiguous.
    fn client_id(&mut self, client: usize, venue: usize) -> String {
        loop {
            self.client_ids[client] += 1;
            let id = self.client_ids[client].to_string();
            if self.is_clear(client, venue, &id) {
                return id;
            }
        }
    }

    fn is_clear(&self, client: usize, venue: usize, id: &str) -> bool {
        let mut open = self.open.iter().map(|(_, open)| open);
        !open
            .any(|open| open.client == client && open.venue != venue && open.truth.ids.contains(id))
    }

    /// A client sends an order.
    fn order(&mut self, number: usize) {
        let client = self.random.below(2) as usize;
        let venue = 2 + self.random.below(2) as usize;
        let symbol = ["SIE", "BAS"][venue - 2];
        // A client that uses an id twice.
        let twice = self.one_in(20) && self.client_ids[client] > 0;
        let used = 1 + self.random.below(u64::from(self.client_ids[client].max(1)));
        let used = used.to_string();
        let id = match twice && self.is_clear(client, venue, &used) {
            true => used,
            false => self.client_id(client, venue),
        };
        let routed = if self.one_in(25) { "ADS" } else { symbol };
        let body =
            format!("11={id}|21=1|55={routed}|54=1|60=20261120-08:00:00|38=100|40=2|44=1.5|");
        let mut truth = OrderTruth::default();
        if self.one_in(25) {
            self.count("invalid orders");
            truth.add(self.world.is_invalid(client, "D", &body));
            self.done.push((number, truth));
            return;
        }
        let said = match self.one_in(12) {
            true => self.world.arrives_early(client, "D", &body),
            false => self.world.arrives(client, "D", &body),
        };
        let request = self.sent_on(&said, venue, 'D', &id);
        if self.one_in(12) {
            let number = said[0].get(34).unwrap().parse().unwrap();
            let sent = said[0].get(52).unwrap();
            truth.add(said);
            self.world.wall += 1_000_000;
            let again = format!("122={sent}|{body}");
            truth.add(self.world.arrives_again(client, "D", &again, number));
        } else {
            truth.add(said);
        }
        let Some(request) = request else {
            self.count("orders that the gateway rejects");
            self.done.push((number, truth));
            return;
        };
        self.count("orders at a venue");
        let open = Open {
            truth,
            client,
            venue,
            symbol,
            client_id: id,
            id: request.id.clone(),
            order_id: None,
            requests: vec![request],
            executions: Vec::new(),
            filled: 0,
            left: 3 + self.random.below(18) as u32,
            has_ended: false,
        };
        self.open.push((number, open));
    }

    /// The request that the gateway forwarded to a venue.
    fn sent_on(&self, said: &[Said], venue: usize, kind: char, client_id: &str) -> Option<Request> {
        let mut sent = said.iter();
        let found = sent.find(|one| one.get(56).as_deref() == Some(NAMES[venue]))?;
        assert_eq!(found.get(35), Some(kind.to_string()));
        Some(Request {
            kind,
            client_id: client_id.to_owned(),
            id: found.get(11)?,
            original: found.get(41),
            number: found.get(34)?.parse().ok()?,
        })
    }

    /// An event of one of the open orders.
    fn step(&mut self) {
        let at = self.random.below(self.open.len() as u64) as usize;
        let (number, mut open) = self.open.swap_remove(at);
        open.left = open.left.saturating_sub(1);
        if !open.requests.is_empty() && !self.one_in(4) {
            self.answer(&mut open);
        } else if open.has_ended {
            self.look_back(&mut open);
        } else if open.order_id.is_none() || self.one_in(2) {
            self.change(&mut open);
        } else {
            self.fill(&mut open);
        }
        if open.left > 0 {
            self.open.push((number, open));
        } else {
            self.end(&mut open);
            // Its OrderID may be reused when no more messages mention the order.
            if let Some(id) = &open.order_id {
                self.working.remove(&(open.venue, id.clone()));
            }
            self.done.push((number, open.truth));
        }
    }

    fn end(&self, open: &mut Open) {
        open.has_ended = true;
        open.requests.clear();
    }

    /// The client requests a change.
    fn change(&mut self, open: &mut Open) {
        let kind = if self.one_in(3) { 'F' } else { 'G' };
        let own = self.client_id(open.client, open.venue);
        let order_id = open.order_id.clone().filter(|_| self.one_in(3));
        let order_id = order_id.map_or(String::new(), |id| format!("37={id}|"));
        let body = format!(
            "{order_id}11={own}|41={}|21=1|55={}|54=1|60=20261120-08:00:00|38=100|40=2|44=1.6|",
            open.client_id, open.symbol
        );
        let body = if kind == 'F' {
            body.replace("21=1|", "").replace("40=2|44=1.6|", "")
        } else {
            body
        };
        let said = match self.one_in(12) {
            true => self
                .world
                .arrives_early(open.client, &kind.to_string(), &body),
            false => self.world.arrives(open.client, &kind.to_string(), &body),
        };
        let request = self.sent_on(&said, open.venue, kind, &own);
        self.count(if request.is_some() {
            "changes at a venue"
        } else {
            "changes that the gateway rejects"
        });
        open.requests.extend(request);
        open.truth.add(said);
    }

    /// The venue answers the first request.
    fn answer(&mut self, open: &mut Open) {
        let request = open.requests.remove(0);
        let venue = open.venue;
        match self.random.below(12) {
            0 => {
                self.count("Rejects of a venue");
                open.truth.add(self.world.rejects(venue, request.number));
            }
            1 => {
                self.count("BusinessMessageRejects of a venue");
                let body = format!("45={}|372={}|380=4|", request.number, request.kind);
                open.truth.add(self.world.arrives(venue, "j", &body));
            }
            2 => self.refuse(open, &request),
            _ => {
                self.accept(open, &request);
                return;
            }
        }
        if request.kind == 'D' {
            self.end(open);
            open.left = 0;
        }
    }

    fn refuse(&mut self, open: &mut Open, request: &Request) {
        self.count("requests that a venue refuses");
        let (venue, id) = (open.venue, &request.id);
        let order_id = open.order_id.as_deref().unwrap_or("NONE");
        let said = match (request.kind, &request.original) {
            ('D', _) => {
                let execution = self.execution(venue);
                let body = format!(
                    "37=NONE|11={id}|17={execution}|150=8|39=8|103=1|55={}|54=1|151=0|14=0|6=0|",
                    open.symbol
                );
                self.world.arrives(venue, "8", &body)
            }
            (kind, original) => {
                let original = original.as_deref().unwrap_or_default();
                let to = if kind == 'F' { 1 } else { 2 };
                let body = format!("37={order_id}|11={id}|41={original}|39=0|434={to}|102=0|");
                self.world.arrives(venue, "9", &body)
            }
        };
        open.truth.add(said);
    }

    fn execution(&mut self, venue: usize) -> String {
        self.executions[venue - 2] += 1;
        format!("E{}", self.executions[venue - 2])
    }

    /// An OrderID that no open order of the venue has.
    fn order_id(&mut self, venue: usize) -> String {
        loop {
            self.order_ids[venue - 2] += 1;
            let id = format!("O{}", self.order_ids[venue - 2]);
            if self.working.insert((venue, id.clone())) {
                return id;
            }
        }
    }

    fn accept(&mut self, open: &mut Open, request: &Request) {
        if request.kind == 'D' && open.order_id.is_none() {
            open.order_id = Some(self.order_id(open.venue));
        }
        let (pending, exec_type, status) = match request.kind {
            'D' => ('A', '0', '0'),
            'G' => ('E', '5', '0'),
            _ => ('6', '4', '4'),
        };
        let original = request.original.as_ref();
        let original = original.map_or(String::new(), |id| format!("41={id}|"));
        if self.one_in(6) {
            self.count("pending reports");
            let ids = format!("11={}|{original}", request.id);
            self.report(open, &ids, pending, pending, "");
        }
        self.count("requests that a venue accepts");
        let ids = format!("11={}|{original}", request.id);
        self.report(open, &ids, exec_type, status, "");
        if request.kind == 'G' {
            open.client_id.clone_from(&request.client_id);
            open.id.clone_from(&request.id);
        }
        if request.kind == 'F' {
            self.end(open);
        }
    }

    fn report(
        &mut self,
        open: &mut Open,
        ids: &str,
        exec_type: char,
        status: char,
        more: &str,
    ) -> String {
        let execution = self.execution(open.venue);
        let order_id = open.order_id.clone().unwrap_or_else(|| "NONE".to_owned());
        let (symbol, filled) = (open.symbol, open.filled);
        let body = format!(
            "37={order_id}|{ids}17={execution}|{more}150={exec_type}|39={status}|55={symbol}|54=1|38=100|151={}|14={filled}|6=1.5|",
            100_u32.saturating_sub(filled)
        );
        self.world.wall += 1_000 + self.random.below(900_000) as i64;
        let said = match self.one_in(20) {
            true => self.world.arrives_early(open.venue, "8", &body),
            false => self.world.arrives(open.venue, "8", &body),
        };
        open.truth.add(said);
        execution
    }

    fn fill(&mut self, open: &mut Open) {
        self.count("fills");
        let quantity = 10 + self.random.below(60) as u32;
        open.filled = (open.filled + quantity).min(100);
        let status = if open.filled == 100 { '2' } else { '1' };
        let ids = format!("11={}|", open.id);
        let more = format!("32={quantity}|31=1.5|");
        let execution = self.report(open, &ids, 'F', status, &more);
        open.executions.push((execution, self.day));
        if open.filled == 100 {
            self.end(open);
        }
    }

    /// A bust or a correction of an execution, of today or an earlier day.
    fn look_back(&mut self, open: &mut Open) {
        let Some(at) = self.random.below(4).checked_sub(1) else {
            open.left = 0;
            return;
        };
        let Some((refers, day)) = open.executions.get(at as usize).cloned() else {
            open.left = 0;
            return;
        };
        self.count(if day == self.day {
            "busts and corrections"
        } else {
            "busts of another day"
        });
        let exec_type = if self.one_in(2) { 'H' } else { 'G' };
        let more = format!("19={refers}|32=10|31=1.4|");
        let ids = format!("11={}|", open.id);
        self.report(open, &ids, exec_type, '1', &more);
    }
}
