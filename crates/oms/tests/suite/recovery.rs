//! Clients ask for their reports again: each gets what it missed, once, and nothing of others.

use std::collections::{BTreeMap, BTreeSet};

use fixwire_engine::protocol::dictionary::Version;

use crate::desk::{Desk, Input, Said, Setup};
use crate::twin::dice::Dice;

const CLIENT: usize = 0;
const OTHER: usize = 1;
const VENUE: usize = 2;
const COPY: usize = 3;

const SETTINGS: &str = r#"
[oms]
day_begins = "00:00 UTC"
roll_wait = "0s"
orders = 100
instruments = "instruments.csv"
limits = "limits.csv"
appl_id = "OMS-1"
[oms.own_tags]
report_filter = 9704
parent = 9705
[[account]]
name = "A1"
[[account]]
name = "A2"
[[account]]
name = "B1"
[[user]]
session = "CLIENT"
accounts = ["A*"]
may = ["new", "replace", "cancel", "mass cancel", "status", "reports"]
account = "A1"
report_numbers = true
[[user]]
session = "OTHER"
accounts = ["B1"]
may = ["new", "replace", "cancel", "reports"]
account = "B1"
report_numbers = true
[[line_group]]
name = "SIM"
lines = ["SIM-1"]
queue = "60s"
[[route]]
symbols = ["*"]
to = "SIM"
[[drop_copy]]
session = "COPY"
accounts = ["A*"]
report_numbers = true
"#;

fn setup(settings: &str) -> Setup {
    let instruments = "symbol,tick,lot,reference,positions\nXYZ,0.05,10,100,\n".to_owned();
    let limits = "scope,control,limit\nfirm,RC6,1000\nfirm,RC7,1000000\nfirm,RC8,10\nfirm,RC13,1000\n\
                  firm,RC14,100000000000\nfirm,RC15,5000000\n";
    Setup {
        settings: settings.to_owned(),
        files: vec![
            ("instruments.csv", instruments),
            ("limits.csv", limits.to_owned()),
        ],
        sessions: vec![
            ("CLIENT", Version::Fix44),
            ("OTHER", Version::Fix42),
            ("SIM-1", Version::Fix44),
            ("COPY", Version::Fix44),
        ],
    }
}

/// Reports by ApplSeqNum(1181), and their fields apart from ApplResendFlag(1352).
type Reports = BTreeMap<u64, Vec<(u32, String)>>;

/// An OMS, and every numbered report that it has sent for the first time.
struct Office {
    desk: Desk,
    sent: [Reports; 4],
    execs: u64,
}

fn number(said: &Said) -> Option<u64> {
    said.get(1181).map(|number| number.parse().unwrap())
}

fn fields(said: &Said) -> Vec<(u32, String)> {
    let mut fields = said.fields.clone();
    fields.retain(|(tag, _)| *tag != 1352);
    fields.push((35, said.msg_type.clone()));
    fields
}

impl Office {
    fn new(settings: &str) -> Self {
        let mut office = Self {
            desk: Desk::new(&setup(settings)),
            sent: Default::default(),
            execs: 0,
        };
        for session in [VENUE, CLIENT, OTHER, COPY] {
            office.hear(&Input::Up(session, false));
        }
        office
    }

    fn hear(&mut self, input: &Input) -> Vec<Said> {
        let said = self.desk.hear(input);
        for message in &said {
            let Some(number) = number(message) else {
                continue;
            };
            assert_eq!(message.get(1180), Some("OMS-1"));
            if message.get(1352).is_none() {
                let known = self.sent[message.to].insert(number, fields(message));
                assert_eq!(known, None, "{number} was sent live twice");
            }
        }
        said
    }

    fn says(&mut self, from: usize, msg_type: &'static str, body: &str) -> Vec<Said> {
        self.hear(&Input::Says(from, msg_type, body.to_owned()))
    }

    fn order(&mut self, from: usize, id: &str, more: &str) -> Vec<Said> {
        let more = format!("11={id}|55=XYZ|54=1|38=100|40=2|44=100|60=20261122-08:00:00|{more}");
        self.says(from, "D", &more)
    }

    /// The venue reports on an order.
    fn venue(&mut self, id: &str, what: &str) -> Vec<Said> {
        self.execs += 1;
        let body = format!("37=V{id}|11={id}|17=E{}|{what}|55=XYZ|54=1|", self.execs);
        self.says(VENUE, "8", &body)
    }

    fn ask(&mut self, from: usize, (first, last): (u64, u64), more: &str) -> Vec<Said> {
        let body = format!("1346=Q|1347=0|1351=1|1355=OMS-1|1182={first}|1183={last}|{more}");
        let mut said = self.says(from, "BW", &body);
        // Until it is completed or refused.
        for _ in 0..1000 {
            let is_over = |said: &Said| {
                said.msg_type == "BY" || said.get(1348).is_some_and(|response| response != "0")
            };
            if said.iter().any(is_over) {
                return said;
            }
            said.extend(self.hear(&Input::Pass(1)));
        }
        panic!("no end of it: {said:?}");
    }

    /// The numbers that are sent again for a request, and their fields: as they were the first time.
    fn again(&mut self, from: usize, range: (u64, u64), more: &str) -> Vec<u64> {
        let said = self.ask(from, range, more);
        let ack = said.iter().find(|it| it.msg_type == "BX").unwrap();
        assert_eq!(ack.get(1348), Some("0"), "{ack:?}");
        let resent: Vec<&Said> = said.iter().filter(|it| it.get(1352).is_some()).collect();
        let numbers = resent.iter().map(|it| {
            assert_eq!(it.to, from);
            assert_eq!(it.get(1352), Some("Y"));
            let number = number(it).unwrap();
            let first = self.sent[from].get(&number);
            assert_eq!(first, Some(&fields(it)), "report {number}");
            number
        });
        let numbers: Vec<u64> = numbers.collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        numbers
    }

    fn numbers(&self, of: usize) -> Vec<u64> {
        self.sent[of].keys().copied().collect()
    }

    /// Numbers of the reports with this value.
    fn with(&self, of: usize, tag: u32, value: &str) -> Vec<u64> {
        let has = |fields: &Vec<(u32, String)>| fields.contains(&(tag, value.to_owned()));
        let found = self.sent[of].iter().filter(|(_, fields)| has(fields));
        found.map(|(number, _)| *number).collect()
    }

    /// Orders of two clients in every state, rejects of each kind, a mass cancel.
    fn trade(&mut self) {
        self.order(CLIENT, "C1", "");
        self.venue("1", "150=0|39=0|");
        self.venue("1", "150=F|39=1|32=30|31=100|14=30|");
        self.order(OTHER, "O1", "");
        self.venue("2", "150=0|39=0|");
        self.order(CLIENT, "C2", "1=A2|");
        self.venue("3", "150=8|39=8|58=not today|");
        self.order(CLIENT, "C3", "1=B1|");
        self.order(CLIENT, "C4", "1=A2|59=1|");
        self.venue("4", "150=0|39=0|");
        let change = "55=XYZ|54=1|38=100|60=20261122-08:00:00|";
        self.says(CLIENT, "F", &format!("11=C5|41=C9|{change}"));
        self.says(CLIENT, "F", &format!("11=C6|41=C1|{change}"));
        self.says(VENUE, "9", "37=V1|11=1-5|41=1|39=1|434=1|102=0|58=no|");
        self.says(CLIENT, "q", "11=C7|530=1|55=NONE|60=20261122-08:00:00|");
        self.hear(&Input::Down(VENUE, true));
        self.order(CLIENT, "C8", "");
        self.hear(&Input::Up(VENUE, false));
    }
}

#[test]
fn reports_are_sent_again_from_any_number() {
    let mut office = Office::new(SETTINGS);
    office.trade();
    let all = office.numbers(CLIENT);
    assert_eq!(office.again(CLIENT, (1, 0), ""), all);
    let (middle, last) = (all[all.len() / 2], *all.last().unwrap());
    assert_eq!(office.again(CLIENT, (middle, 0), ""), all[all.len() / 2..]);
    assert_eq!(office.again(CLIENT, (middle, middle), ""), [middle]);
    assert_eq!(office.again(CLIENT, (last, u64::MAX), ""), [last]);
    let between = all.windows(2).find(|pair| pair[0] + 1 < pair[1]).unwrap()[0] + 1;
    assert_eq!(office.again(CLIENT, (between, between), ""), [0; 0]);
    // The reports that follow are live, and numbered from there on.
    let said = office.order(CLIENT, "C20", "1=B1|");
    assert!(number(&said[0]).unwrap() > last && said[0].get(1352).is_none());
}

#[test]
fn a_report_is_the_same_on_another_day_and_after_a_kill() {
    for from_checkpoint in [false, true] {
        let mut office = Office::new(SETTINGS);
        office.trade();
        let first = office.numbers(CLIENT);
        for days in [0, 1] {
            office.hear(&Input::Restart(days, from_checkpoint));
            for session in [VENUE, CLIENT, OTHER, COPY] {
                office.hear(&Input::Up(session, true));
            }
        }
        let all = office.numbers(CLIENT);
        assert!(all.len() > first.len(), "orders of the day have expired");
        assert_eq!(office.again(CLIENT, (1, 0), ""), all);
        assert_eq!(office.again(CLIENT, (1, *first.last().unwrap()), ""), first);
        let others = office.numbers(OTHER);
        assert_eq!(office.again(OTHER, (1, 0), ""), others);
    }
}

#[test]
fn requests_that_have_no_reports_are_answered_with_the_reason() {
    let mut office = Office::new(SETTINGS);
    office.trade();
    let last = office.desk.state().events();
    let mut refused = |range, more: &str| {
        let said = office.ask(CLIENT, range, more);
        let values = [1347, 1348, 1354, 1357, 58].map(|tag| said[0].get(tag).unwrap_or("-"));
        assert_eq!((said.len(), said[0].msg_type.as_str()), (1, "BX"));
        values.join(" ")
    };
    let above = "ApplBegSeqNum(1182) is above the last report";
    assert_eq!(refused((last + 1, 0), ""), format!("0 2 1 {last} {above}"));
    let empty = "ApplEndSeqNum(1183) is below ApplBegSeqNum(1182)";
    assert_eq!(refused((9, 3), ""), format!("0 2 1 {last} {empty}"));
    let body = "1346=Q|1347=0|1351=1|1355=OMS-2|1182=1|1183=0|";
    let said = office.says(CLIENT, "BW", body);
    let values = [1346, 1348, 1355, 1354].map(|tag| said[0].get(tag).unwrap_or("-"));
    assert_eq!(values, ["Q", "1", "OMS-2", "0"]);
    let said = office.says(CLIENT, "BW", "1346=R|1347=2|1351=1|1355=OMS-1|");
    let values = [1346, 1348, 1357].map(|tag| said[0].get(tag).unwrap_or("-"));
    assert_eq!(values, ["R", "0", &last.to_string()]);
}

#[test]
fn a_journal_that_begins_later_says_from_which_number_on() {
    let mut office = Office::new(SETTINGS);
    office.trade();
    let all = office.numbers(CLIENT);
    office.desk.remove(all[2] - 1);
    let said = office.ask(CLIENT, (1, 0), "");
    let values = [1348, 1354, 1182].map(|tag| said[0].get(tag).unwrap_or("-"));
    assert_eq!(values, ["2", "1", &all[2].to_string()]);
    assert_eq!(office.again(CLIENT, (all[2], 0), ""), all[2..]);
}

#[test]
fn nobody_sees_reports_of_accounts_that_he_may_not_see() {
    let mut office = Office::new(SETTINGS);
    office.trade();
    let copies = office.numbers(COPY);
    assert_eq!(office.again(COPY, (1, 0), ""), copies);
    let accounts: BTreeSet<&str> = office.sent[COPY]
        .values()
        .flatten()
        .filter(|(tag, _)| *tag == 1)
        .map(|(_, account)| account.as_str())
        .collect();
    assert_eq!(accounts, BTreeSet::from(["A1", "A2"]));
    let others = office.numbers(OTHER);
    assert_eq!(office.again(OTHER, (1, 0), ""), others);
    // The right is for A1 only: of the reject of C4's cancel nothing is shown either.
    let tables = "accounts = [\"A1\"]\nmay = [\"new\", \"replace\", \"cancel\", \"mass cancel\", \"reports\"]";
    let more = "[[user]]\nsession = \"CLIENT\"\naccounts = [\"A*\"]\nmay = [\"new\", \"cancel\"]\n[[line_group]]";
    let settings = SETTINGS
        .replace(
            "accounts = [\"A*\"]\nmay = [\"new\", \"replace\", \"cancel\", \"mass cancel\", \"status\", \"reports\"]",
            tables,
        )
        .replace("[[line_group]]", more);
    let mut office = Office::new(&settings);
    office.trade();
    let change = "55=XYZ|54=1|38=100|60=20261122-08:00:00|";
    office.says(CLIENT, "F", &format!("11=C30|41=C4|{change}"));
    let rejects = office.says(CLIENT, "F", &format!("11=C31|41=C4|{change}"));
    let reject = number(&rejects[0]).unwrap();
    let foreign: BTreeSet<u64> = office.with(CLIENT, 1, "A2").into_iter().collect();
    let mut wanted = office.numbers(CLIENT);
    wanted.retain(|number| !foreign.contains(number) && *number != reject);
    assert!(!foreign.is_empty() && rejects[0].msg_type == "9");
    assert_eq!(office.again(CLIENT, (1, 0), ""), wanted);
    // Without the right in any table nothing is answered.
    let mut office = Office::new(&settings.replace(", \"reports\"]", "]"));
    let said = office.ask(CLIENT, (1, 0), "");
    assert_eq!(
        (said[0].get(1348), said[0].get(1354)),
        (Some("2"), Some("2"))
    );
}

#[test]
fn filters_select_reports() {
    let mut office = Office::new(SETTINGS);
    office.trade();
    let fills = office.with(CLIENT, 150, "F");
    assert_eq!(fills.len(), 1);
    let mut filtered = |names: &str| office.again(CLIENT, (1, 0), &format!("9704={names}|"));
    assert_eq!(filtered("fills"), fills);
    let first = filtered("with-fills");
    let working = filtered("working");
    let last = filtered("last");
    let both = filtered("last working");
    let sent = filtered("no-pending");
    let executions = |office: &Office| {
        let mut orders: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for (number, fields) in &office.sent[CLIENT] {
            let get = |tag| fields.iter().find(|(known, _)| *known == tag);
            let order = get(37).filter(|(_, order)| order != "NONE" && get(150).is_some());
            if let Some((_, order)) = order {
                orders.entry(order.clone()).or_default().push(*number);
            }
        }
        orders
    };
    let orders = executions(&office);
    assert_eq!(first, orders["1"]);
    // Order 3 was rejected; 6 is the one that waited for the venue's session.
    let open: BTreeSet<&str> = orders
        .keys()
        .map(String::as_str)
        .filter(|it| *it != "3")
        .collect();
    assert_eq!(open, BTreeSet::from(["1", "4", "6"]));
    let mut of_open: Vec<u64> = open.iter().flat_map(|it| orders[*it].clone()).collect();
    of_open.sort_unstable();
    assert_eq!(working, of_open);
    let mut lasts: Vec<u64> = orders.values().map(|it| *it.last().unwrap()).collect();
    lasts.sort_unstable();
    assert_eq!(last, lasts);
    let mut wanted = lasts.clone();
    wanted.retain(|it| of_open.contains(it));
    assert_eq!(both, wanted);
    let pending = office.with(CLIENT, 150, "A");
    let mut wanted = office.numbers(CLIENT);
    wanted.retain(|number| !pending.contains(number));
    assert!(!pending.is_empty());
    assert_eq!(sent, wanted);
}

#[test]
fn reports_of_parents_are_sent_again_and_not_copied() {
    let user = "[[user]]\nsession = \"CLIENT\"";
    let settings = SETTINGS.replace(user, &format!("{user}\nparents = 5"));
    let mut office = Office::new(&settings);
    office.order(CLIENT, "P1", "21=3|");
    office.order(CLIENT, "A1", "9705=1|");
    office.venue("2", "150=0|39=0|");
    let said = office.venue("2", "150=F|39=1|32=30|31=100|14=30|");
    let to = |to: usize| {
        said.iter()
            .filter(move |it| it.to == to)
            .map(|it| it.get(37).unwrap())
    };
    assert!(to(CLIENT).eq(["2", "1"]) && to(COPY).eq(["2"]), "{said:?}");
    let change = "55=XYZ|54=1|38=100|60=20261122-08:00:00|";
    office.says(CLIENT, "F", &format!("11=P2|41=P1|{change}"));
    office.venue("2-4", "150=4|39=4|14=30|");
    assert_eq!(office.with(CLIENT, 39, "4").len(), 2, "child and parent");
    let all = office.numbers(CLIENT);
    assert_eq!(office.again(CLIENT, (1, 0), ""), all);
    let fills = office.with(CLIENT, 150, "F");
    assert_eq!(fills.len(), 2);
    assert_eq!(office.again(CLIENT, (1, 0), "9704=fills|"), fills);
    let copied = office.numbers(COPY);
    assert_eq!(office.with(COPY, 37, "1"), [0; 0]);
    assert_eq!(office.again(COPY, (1, 0), ""), copied);
}

#[test]
fn a_request_ends_with_its_connection_or_when_it_is_given_up() {
    let mut office = Office::new(SETTINGS);
    office.trade();
    let all = office.numbers(CLIENT);
    let body = "1346=Q|1347=0|1351=1|1355=OMS-1|1182=1|1183=0|";
    for id in 0..2 {
        office.says(CLIENT, "BW", body);
        if id == 0 {
            office.hear(&Input::Down(CLIENT, false));
            office.hear(&Input::Up(CLIENT, false));
        } else {
            office.says(CLIENT, "BW", &body.replace("1347=0", "1347=5"));
        }
        let later = (0..20).flat_map(|_| office.hear(&Input::Pass(1_000_000)));
        let later: Vec<Said> = later.collect();
        assert!(later.iter().all(|it| it.to != CLIENT), "{later:?}");
    }
    assert_eq!(office.again(CLIENT, (1, 0), ""), all);
}

/// A client as it knows its reports.
#[derive(Default)]
struct Reader {
    is_up: bool,
    /// It has all reports up to this number.
    upto: u64,
    /// It waits for the end of a request up to this number.
    waits: bool,
    got: Reports,
    /// Live reports of this connection.
    live: BTreeSet<u64>,
}

impl Reader {
    fn read(&mut self, said: &Said) {
        let Some(number) = number(said) else {
            if said.msg_type == "BY" {
                let last = said.get(1357).unwrap().parse().unwrap();
                self.upto = self.live.last().copied().unwrap_or(0).max(last);
                self.waits = false;
            }
            return;
        };
        let is_new = self.got.insert(number, fields(said)).is_none();
        if said.get(1352).is_some() {
            assert!(number > self.upto, "{number} was sent again twice");
            self.upto = number;
        } else {
            assert!(is_new, "{number} came twice");
            self.live.insert(number);
            if !self.waits {
                self.upto = number;
            }
        }
    }

    fn goes_down(&mut self, loses: bool) {
        (self.is_up, self.waits) = (false, false);
        self.live.clear();
        if loses {
            self.got.clear();
            self.upto = 0;
        } else {
            // What came live above a gap is asked for again.
            self.got = self
                .got
                .range(..=self.upto)
                .map(|(at, it)| (*at, it.clone()))
                .collect();
        }
    }
}

/// Messages to a session that is not connected are lost with its store.
fn deliver(readers: &mut BTreeMap<usize, Reader>, said: &[Said]) {
    for message in said {
        if let Some(reader) = readers.get_mut(&message.to).filter(|it| it.is_up) {
            reader.read(message);
        }
    }
}

fn world(seed: u64) {
    let mut dice = Dice::new(seed);
    let mut office = Office::new(SETTINGS);
    let mut readers = BTreeMap::new();
    for session in [CLIENT, OTHER, COPY] {
        let reader = Reader {
            is_up: true,
            ..Reader::default()
        };
        readers.insert(session, reader);
    }
    let mut sent: Vec<(String, u64)> = Vec::new();
    let mut ids = 0;
    for step in 0..400 {
        let session = [CLIENT, OTHER, COPY][dice.below(3) as usize];
        let ending = step >= 380;
        let is_up = readers[&session].is_up;
        let said = match dice.below(12) {
            _ if !is_up => {
                readers.get_mut(&session).unwrap().is_up = true;
                let mut said = office.hear(&Input::Up(session, true));
                let reader = readers.get_mut(&session).unwrap();
                reader.waits = true;
                let body = format!(
                    "1346=Q{step}|1347=0|1351=1|1355=OMS-1|1182={}|1183=0|",
                    reader.upto + 1
                );
                said.extend(office.says(session, "BW", &body));
                for message in &said {
                    // Nothing is behind what it has: then it has all.
                    if message.to == session && message.get(1354) == Some("1") {
                        readers.get_mut(&session).unwrap().waits = false;
                    }
                }
                said
            }
            0 | 1 if !ending => {
                readers
                    .get_mut(&session)
                    .unwrap()
                    .goes_down(dice.below(3) == 0);
                office.hear(&Input::Down(session, dice.below(2) == 0))
            }
            2 if !ending && dice.below(4) == 0 => {
                readers.values_mut().for_each(|it| it.goes_down(false));
                let days = i64::from(dice.below(3) == 0);
                let mut said = office.hear(&Input::Restart(days, dice.below(2) == 0));
                said.extend(office.hear(&Input::Up(VENUE, false)));
                said
            }
            3 | 4 if session != COPY => {
                ids += 1;
                let more = ["", "1=A2|", "1=B1|", "59=1|"][dice.below(4) as usize];
                office.order(session, &format!("N{ids}"), more)
            }
            5 if session != COPY => {
                ids += 1;
                let of = dice.below(ids) + 1;
                let change = "55=XYZ|54=1|38=50|60=20261122-08:00:00|";
                office.says(session, "F", &format!("11=N{ids}|41=N{of}|{change}"))
            }
            6..=9 if !sent.is_empty() => {
                let at = dice.below(sent.len() as u64) as usize;
                let (id, filled) = &mut sent[at];
                let id = id.clone();
                match dice.below(4) {
                    0 => office.venue(&id, "150=0|39=0|"),
                    1 => office.venue(&id, "150=4|39=4|"),
                    _ => {
                        *filled += 10;
                        let what = format!("150=F|39=1|32=10|31=100|14={filled}|");
                        office.venue(&id, &what)
                    }
                }
            }
            _ => office.hear(&Input::Pass(1_000_000)),
        };
        let orders = said
            .iter()
            .filter(|it| it.to == VENUE && it.msg_type == "D");
        sent.extend(orders.map(|it| (it.get(11).unwrap().to_owned(), 0)));
        deliver(&mut readers, &said);
    }
    for _ in 0..400 {
        let said = office.hear(&Input::Pass(1_000_000));
        deliver(&mut readers, &said);
    }
    for (session, reader) in readers.iter().filter(|(_, it)| it.is_up) {
        assert!(!reader.waits, "seed {seed}: session {session} waits");
        assert_eq!(reader.got, office.sent[*session], "seed {seed}: {session}");
    }
    assert!(readers.values().any(|it| it.is_up), "seed {seed}");
    assert!(!office.sent[CLIENT].is_empty() && !office.sent[COPY].is_empty());
}

#[test]
fn live_and_resent_reports_are_all_of_them_each_once() {
    let given = std::env::var("FIXWIRE_SEED").ok();
    let given = given.and_then(|seed| seed.parse().ok());
    match given {
        Some(seed) => world(seed),
        None => (1..=100).for_each(world),
    }
}
