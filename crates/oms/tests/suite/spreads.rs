//! Spreads: an order counts in sets, its legs in their own quantities and prices; whatever the order in which a venue reports
//! them, the positions are those of the legs.

use fixwire_engine::protocol::dictionary::Version;
use fixwire_oms::{AccountNo, InstrumentNo, OrderState, Scope};

use crate::desk::{Desk, Input, Said, Setup};
use crate::model::SECOND;

mod edges;
mod scales;
mod undone;

const CLIENT: usize = 0;
const LINE: usize = 1;
const COPY: usize = 2;
const VENUE_COPY: usize = 3;
const OLD: usize = 4;

/// The number of a leg in events.
const MAR: InstrumentNo = InstrumentNo::new(0);
const JUN: InstrumentNo = InstrumentNo::new(1);

const SETTINGS: &str = r#"
[oms]
day_begins = "00:00 UTC"
orders = 100
instruments = "instruments.csv"
limits = "limits.csv"
copy_within = "3s"
[oms.own_tags]
report_filter = 9704
parent = 9705
[[account]]
name = "A1"
[[user]]
session = "CLIENT"
accounts = ["A1"]
may = ["new", "replace", "cancel", "mass cancel", "status", "reports", "quote"]
account = "A1"
report_numbers = true
parents = 10
[[user]]
session = "OLD"
accounts = ["A1"]
may = ["new", "replace", "cancel", "status"]
account = "A1"
[[line_group]]
name = "SIM"
lines = ["SIM-1"]
[[route]]
symbols = ["*"]
to = "SIM"
[[drop_copy]]
session = "COPY"
[[drop_copy_in]]
session = "SIM-DC"
line_groups = ["SIM"]
"#;

const INSTRUMENTS: &str = "symbol,tick,lot,multiplier,reference,legs
MAR,0.5,1,10,100,
JUN,0.5,1,10,102,
JUN-MAR,0.5,1,10,2,buy 1 JUN sell 1 MAR
FLY,0.5,1,10,98,buy 1 MAR sell 2 JUN
";

const LIMITS: &str = "scope,control,limit\nfirm,RC6,1000\nfirm,RC7,10000000\nfirm,RC8,10\nfirm,RC13,1000\n\
                      firm,RC14,100000000\nfirm,RC15,100\n";

struct Office {
    desk: Desk,
}

impl Office {
    fn new() -> Self {
        Self::of(INSTRUMENTS, LIMITS)
    }

    fn of(instruments: &str, limits: &str) -> Self {
        Self::with(SETTINGS, instruments, limits)
    }

    fn with(settings: &str, instruments: &str, limits: &str) -> Self {
        let setup = Setup {
            settings: settings.to_owned(),
            files: vec![
                ("instruments.csv", instruments.to_owned()),
                ("limits.csv", limits.to_owned()),
            ],
            sessions: vec![
                ("CLIENT", Version::Fix44),
                ("SIM-1", Version::Fix44),
                ("COPY", Version::Fix44),
                ("SIM-DC", Version::Fix44),
                ("OLD", Version::Fix42),
            ],
        };
        let mut office = Self {
            desk: Desk::new(&setup),
        };
        office.log_on();
        office
    }

    fn log_on(&mut self) {
        for session in [CLIENT, LINE, COPY, VENUE_COPY, OLD] {
            self.desk.hear(&Input::Up(session, false));
        }
    }

    fn restart(&mut self, from_checkpoint: bool) {
        self.desk.hear(&Input::Restart(0, from_checkpoint));
        self.log_on();
    }

    fn says(&mut self, from: usize, msg_type: &'static str, body: &str) -> Vec<Said> {
        self.desk.says(from, msg_type, body)
    }

    fn last(&self) -> u64 {
        let orders = self.desk.state().orders().iter();
        orders.map(|it| it.number).max().unwrap_or(0)
    }

    /// A new order; its number and what is said.
    fn order(&mut self, id: &str, what: &str) -> (u64, Vec<Said>) {
        let body = format!("11={id}|40=2|60=20261122-08:00:00|{what}");
        let said = self.says(CLIENT, "D", &body);
        (self.last(), said)
    }

    /// An order that the venue has accepted.
    fn accepted(&mut self, id: &str, what: &str) -> u64 {
        let (number, _) = self.order(id, what);
        self.report(number, &format!("17=N{number}|150=0|39=0|14=0|"));
        number
    }

    fn report(&mut self, order: u64, what: &str) -> Vec<Said> {
        self.says(LINE, "8", &format!("37=V{order}|11={order}|1=A1|{what}"))
    }

    fn fill(&mut self, order: u64, symbol: &str, side: u8, said: (&str, u64, &str)) -> Vec<Said> {
        let (exec, quantity, price) = said;
        let kind = if symbol.contains('-') || symbol == "FLY" {
            3
        } else {
            2
        };
        self.report(
            order,
            &format!(
                "17={exec}|150=F|39=1|55={symbol}|54={side}|32={quantity}|31={price}|442={kind}|"
            ),
        )
    }

    fn long_short(&self, instrument: InstrumentNo) -> (u64, u64) {
        let position = self.desk.state().position(AccountNo::new(0), instrument);
        (position.long, position.short)
    }

    /// What open orders may buy and sell of an instrument.
    fn open(&self, instrument: InstrumentNo) -> (u64, u64) {
        let standing = self.desk.state().standing(Scope::Instrument(instrument));
        let tally = standing.unwrap().tally;
        let holding = self
            .desk
            .state()
            .standing(Scope::Holding(AccountNo::new(0), instrument));
        let held = holding.map(|it| it.tally).unwrap_or_default();
        assert_eq!((tally.buying, tally.selling), (held.buying, held.selling));
        (tally.buying, tally.selling)
    }

    fn state(&self, order: u64) -> OrderState {
        self.desk.state().orders().get(order).unwrap().state
    }

    fn filled(&self, order: u64) -> u64 {
        self.desk.state().orders().get(order).unwrap().filled
    }

    fn legs(&self, order: u64) -> [u64; 2] {
        self.desk.state().legs_of(order).unwrap().filled
    }

    fn history(&self, order: u64) -> String {
        let list = self.desk.query(&format!("order {order}"));
        list.lines().nth(1).unwrap().to_owned()
    }
}

fn to(said: &[Said], session: usize) -> Vec<&Said> {
    said.iter().filter(|it| it.to == session).collect()
}

fn has(said: &Said, fields: &str) {
    for field in fields.split('|') {
        let (tag, value) = field.split_once('=').unwrap();
        assert_eq!(
            said.get(tag.parse().unwrap()),
            Some(value),
            "{field} of {said:?}"
        );
    }
}

#[test]
fn an_order_of_a_spread_is_sent_as_its_symbol_and_filled_in_legs() {
    let mut office = Office::new();
    let (order, said) = office.order("C1", "55=JUN-MAR|54=1|38=10|44=2|");
    let sent = to(&said, LINE);
    assert_eq!(sent.len(), 1);
    has(sent[0], "55=JUN-MAR|167=MLEG|54=1|38=10|44=2");
    let said = office.report(order, "17=N|150=0|39=0|55=JUN-MAR|54=1|14=0|");
    has(
        to(&said, CLIENT)[0],
        "150=0|55=JUN-MAR|167=MLEG|442=3|38=10|151=10",
    );
    assert_eq!((office.open(JUN), office.open(MAR)), ((10, 0), (0, 10)));

    let said = office.fill(order, "JUN-MAR", 1, ("E1", 4, "2"));
    has(
        to(&said, CLIENT)[0],
        "150=F|39=1|442=3|32=4|31=2|14=4|151=6",
    );
    assert_eq!(
        office.long_short(JUN),
        (0, 0),
        "its legs come by themselves"
    );
    assert_eq!(office.open(JUN), (10, 0), "they are open until then");
    let said = office.fill(order, "JUN", 1, ("E2", 4, "102.5"));
    let report = to(&said, CLIENT)[0];
    has(
        report,
        "150=F|39=1|442=2|55=JUN|54=1|38=10|32=4|31=102.5|14=4|151=6|6=102.5|11=C1",
    );
    assert_eq!(report.get(1181), report.get(17), "it has a number");
    has(to(&said, COPY)[0], "442=2|55=JUN|32=4|31=102.5|797=Y");
    let said = office.fill(order, "MAR", 2, ("E3", 4, "100.5"));
    has(
        to(&said, CLIENT)[0],
        "442=2|55=MAR|54=2|32=4|31=100.5|14=4|151=6",
    );
    assert_eq!(
        (office.long_short(JUN), office.long_short(MAR)),
        ((4, 0), (0, 4))
    );
    assert_eq!((office.open(JUN), office.open(MAR)), ((6, 0), (0, 6)));
    assert!(
        office
            .history(order)
            .ends_with("buy 4 JUN at 102.5, sell 4 MAR at 100.5")
    );

    for from_checkpoint in [false, true] {
        office.restart(from_checkpoint);
        // All of it once more.
        office.fill(order, "JUN-MAR", 1, ("E1", 4, "2"));
        office.fill(order, "JUN", 1, ("E2", 4, "102.5"));
        office.fill(order, "MAR", 2, ("E3", 4, "100.5"));
        assert_eq!((office.filled(order), office.legs(order)), (4, [4, 4]));
        assert_eq!(
            (office.long_short(JUN), office.long_short(MAR)),
            ((4, 0), (0, 4))
        );
        assert_eq!((office.open(JUN), office.open(MAR)), ((6, 0), (0, 6)));
    }
    assert_eq!(office.desk.state().late_fills(), 0);
}

/// Reports of 10 sets in two fills with their legs, and a cancel of the rest, in every order of the fills.
#[test]
fn the_state_does_not_depend_on_the_order_of_the_reports() {
    // Symbol, side, ExecID, quantity, price.
    let reports = [
        ("JUN-MAR", 1, "E1", 4, "2"),
        ("JUN", 1, "L1", 4, "102"),
        ("MAR", 2, "L2", 4, "100"),
        ("JUN-MAR", 1, "E2", 3, "1.5"),
        ("JUN", 1, "L3", 3, "102"),
        ("MAR", 2, "L4", 3, "100.5"),
    ];
    let mut orders = vec![vec![]];
    for at in 0..reports.len() {
        orders = orders
            .into_iter()
            .flat_map(|known: Vec<usize>| {
                (0..=known.len()).map(move |place| {
                    let mut more = known.clone();
                    more.insert(place, at);
                    more
                })
            })
            .collect();
    }
    assert_eq!(orders.len(), 720);
    for (count, places) in orders.iter().enumerate() {
        let mut office = Office::new();
        let order = office.accepted("C1", "55=JUN-MAR|54=1|38=10|44=2|");
        for (at, place) in places.iter().enumerate() {
            let (symbol, side, exec, quantity, price) = reports[*place];
            office.fill(order, symbol, side, (exec, quantity, price));
            if at == count % 6 {
                // The end comes in between, and waits for the fills of the spread; one report comes twice.
                office.report(order, "17=X|150=4|39=4|55=JUN-MAR|54=1|14=7|");
                office.fill(order, symbol, side, (exec, quantity, price));
            }
            if at == (count / 6) % 6 {
                office.restart(count.is_multiple_of(2));
            }
        }
        let what = format!("{places:?}");
        assert_eq!(office.filled(order), 7, "{what}");
        assert_eq!(
            office.state(order),
            OrderState::Ended(fixwire_oms::End::Cancelled),
            "{what}"
        );
        assert_eq!(office.legs(order), [7, 7], "{what}");
        assert_eq!(
            (office.long_short(JUN), office.long_short(MAR)),
            ((7, 0), (0, 7)),
            "{what}"
        );
        assert_eq!(
            (office.open(JUN), office.open(MAR)),
            ((0, 0), (0, 0)),
            "{what}"
        );
        let paid = office.desk.state().legs_of(order).unwrap().paid;
        assert_eq!(paid, [7 * 1020, 4 * 1000 + 3 * 1005], "{what}");
        assert_eq!(office.desk.state().violations(), 0, "{what}");
        assert!(!office.desk.query("status").contains("legs"), "{what}");
    }
}

#[test]
fn the_legs_of_a_fill_may_be_in_its_own_report() {
    let mut office = Office::new();
    let order = office.accepted("C1", "55=FLY|54=2|38=5|44=98|");
    // Sold: sells 1 MAR and buys 2 JUN a set.
    assert_eq!((office.open(MAR), office.open(JUN)), ((0, 5), (10, 0)));
    let legs = "555=2|600=MAR|623=1|624=2|637=100|600=JUN|623=2|624=1|637=101.5|";
    let fill = format!("17=E1|150=F|39=1|55=FLY|54=2|32=3|31=98|442=3|{legs}");
    let said = office.report(order, &fill);
    let reports = to(&said, CLIENT);
    has(reports[0], "442=3|32=3");
    has(reports[1], "442=2|55=MAR|54=2|32=3|31=100|38=5|151=2");
    has(reports[2], "442=2|55=JUN|54=1|32=6|31=101.5|38=10|151=4");
    assert_eq!(
        (office.long_short(MAR), office.long_short(JUN)),
        ((0, 3), (6, 0))
    );
    office.report(order, &fill);
    // Reports of their own beside are the same fills.
    office.fill(order, "MAR", 2, ("E2", 3, "100"));
    office.fill(order, "JUN", 1, ("E3", 6, "101.5"));
    assert_eq!(
        (office.long_short(MAR), office.long_short(JUN)),
        ((0, 3), (6, 0))
    );
    assert_eq!((office.open(MAR), office.open(JUN)), ((0, 2), (4, 0)));
    // The other way round.
    let other = office.accepted("C2", "55=FLY|54=2|38=5|44=98|");
    office.fill(other, "MAR", 2, ("F2", 3, "100"));
    office.report(other, &fill.replace("17=E1", "17=F1"));
    office.fill(other, "JUN", 1, ("F3", 6, "101.5"));
    assert_eq!(office.legs(other), [3, 6]);
    assert_eq!(
        (office.long_short(MAR), office.long_short(JUN)),
        ((0, 6), (12, 0))
    );
}

#[test]
fn the_position_limits_of_both_legs_apply() {
    let mut office = Office::new();
    let rejected = |said: &[Said], text: &str| {
        let report = *to(said, CLIENT).last().unwrap();
        has(report, "150=8|39=8");
        let is = report.get(58).unwrap();
        assert!(is.starts_with(text), "{is}");
    };
    let first = office.accepted("C1", "55=JUN-MAR|54=1|38=60|44=2|");
    let (_, said) = office.order("C2", "55=JUN-MAR|54=1|38=41|44=2|");
    rejected(
        &said,
        "RC15: long position limit exceeded (101, at most 100 for account=A1 symbol=JUN)",
    );
    // 60 of MAR are sold by the first.
    let (_, said) = office.order("C3", "55=MAR|54=2|38=41|44=100|");
    rejected(&said, "RC15: short position limit exceeded (101");
    let (_, said) = office.order("C4", "55=MAR|54=2|38=40|44=100|");
    has(to(&said, LINE)[0], "38=40");
    let (_, said) = office.order("C5", "55=FLY|54=1|38=51|44=98|");
    rejected(
        &said,
        "RC15: short position limit exceeded (102, at most 100 for account=A1 symbol=JUN)",
    );
    // A replace counts once.
    let replace = "41=C1|55=JUN-MAR|54=1|40=2|44=2|60=20261122-08:00:00|";
    let said = office.says(CLIENT, "G", &format!("11=C6|38=61|{replace}"));
    assert_eq!(
        to(&said, CLIENT)[0].get(58).map(|it| &it[..4]),
        Some("RC15"),
        "MAR has 40 more"
    );
    let said = office.says(CLIENT, "G", &format!("11=C7|38=60|{replace}"));
    has(to(&said, LINE)[0], "55=JUN-MAR|167=MLEG|38=60");
    // A fill takes nothing away until its legs are there.
    office.fill(first, "JUN-MAR", 1, ("E1", 60, "2"));
    let (_, said) = office.order("C8", "55=JUN|54=1|38=41|44=100|");
    rejected(&said, "RC15: long position limit exceeded (101");
    // Short sales are no side of a spread.
    let (_, said) = office.order("C9", "55=FLY|54=5|38=1|44=98|114=N|");
    rejected(&said, "Side(54) of a spread must be 1 (Buy) or 2 (Sell)");
    for (command, undo, text) in [
        ("market symbol=MAR halted", "market symbol=MAR open", "RC18"),
        ("reducing symbol=JUN", "arm symbol=JUN", "RC1"),
    ] {
        office.desk.hear(&Input::Command(command.into()));
        let (_, said) = office.order(text, "55=FLY|54=1|38=1|44=98|");
        rejected(&said, text);
        office.desk.hear(&Input::Command(undo.into()));
    }
    // A tenth of 202, what both legs are, is 20.2.
    let (_, said) = office.order("C10", "55=JUN-MAR|54=1|38=1|44=22.5|");
    rejected(
        &said,
        "RC8: price is too far from the reference price (10.148514851 %",
    );
    // The value of the legs, a fifth above their references: 10 x (122.4 + 120) a set.
    let worth = office
        .desk
        .state()
        .standing(Scope::Firm)
        .unwrap()
        .tally
        .reserved;
    office.order("D1", "55=JUN-MAR|54=2|38=1|44=-2|");
    let more = office
        .desk
        .state()
        .standing(Scope::Firm)
        .unwrap()
        .tally
        .reserved
        - worth;
    assert_eq!(more, 2_424 * 1_000_000_000);
}

#[test]
fn a_kill_switch_of_a_leg_cancels_its_spreads() {
    let mut office = Office::new();
    let order = office.accepted("C1", "55=JUN-MAR|54=1|38=10|44=2|");
    // A client names its orders by their own symbol.
    let said = office.says(CLIENT, "q", "11=Q1|530=1|55=MAR|60=20261122-08:00:00|");
    has(to(&said, CLIENT)[0], "531=1|533=0");
    let said = office.desk.hear(&Input::Command("kill symbol=MAR".into()));
    let cancels = to(&said, LINE);
    assert_eq!(cancels.len(), 1);
    has(cancels[0], "55=JUN-MAR|167=MLEG|41=1");
    assert_eq!(cancels[0].msg_type, "F");
    office.report(order, "17=X|150=4|39=4|55=JUN-MAR|54=1|14=0|");
    assert_eq!((office.open(JUN), office.open(MAR)), ((0, 0), (0, 0)));
}

#[test]
fn legs_that_do_not_come_raise_an_alarm_once_and_can_be_entered() {
    let mut office = Office::new();
    let order = office.accepted("C1", "55=JUN-MAR|54=1|38=10|44=2|");
    office.fill(order, "JUN-MAR", 1, ("E1", 10, "2"));
    office.fill(order, "JUN", 1, ("E2", 10, "102"));
    let events = |office: &Office| office.desk.state().events();
    office.desk.hear(&Input::Pass(4 * SECOND));
    let before = events(&office);
    office.restart(true);
    office.desk.hear(&Input::Pass(2 * SECOND));
    let line_events = 3;
    assert!(events(&office) > before);
    let after = events(&office);
    office.desk.hear(&Input::Pass(60 * SECOND));
    assert_eq!(events(&office), after, "once");
    assert!(after - before <= line_events + 6);
    for (text, works) in [
        ("leg2 quantity=11 price=100 exec=H1", false),
        ("leg2 quantity=10 price=100.0000000001 exec=H1", false),
        ("leg1 quantity=1 price=100 exec=E2", false),
        ("leg2 quantity=10 price=100 exec=H1", true),
        ("leg2 quantity=10 price=100 exec=H1", false),
    ] {
        let row = format!("order={order} type={text}");
        let wrong = office.desk.query(&format!("check-reports {row}"));
        assert_eq!(wrong.is_empty(), works, "{row}: {wrong}");
        if works {
            let said = office.desk.hear(&Input::Command(format!("report {row}")));
            has(to(&said, CLIENT)[0], "442=2|55=MAR|54=2|32=10|31=100");
        }
    }
    assert_eq!(
        (office.long_short(JUN), office.long_short(MAR)),
        ((10, 0), (0, 10))
    );
    // The venue brings it after all, under the same ExecID.
    office.fill(order, "MAR", 2, ("H1", 10, "100"));
    assert_eq!(office.long_short(MAR), (0, 10));
}

#[test]
fn reports_of_legs_are_sent_again() {
    let mut office = Office::new();
    let order = office.accepted("C1", "55=JUN-MAR|54=1|38=10|44=2|");
    office.fill(order, "JUN-MAR", 1, ("E1", 4, "2"));
    let live: Vec<Said> = ["JUN", "MAR"]
        .into_iter()
        .zip([1, 2])
        .flat_map(|(leg, side)| office.fill(order, leg, side, (leg, 4, "101")))
        .filter(|it| it.to == CLIENT)
        .collect();
    assert_eq!(live.len(), 2);
    office.restart(false);
    let asked = "1346=R1|1347=0|1351=1|1355=OMS|1182=1|1183=0|9704=fills|";
    let mut said = office.says(CLIENT, "BW", asked);
    for _ in 0..20 {
        said.extend(office.desk.hear(&Input::Pass(SECOND / 100)));
    }
    let again: Vec<&Said> = to(&said, CLIENT)
        .into_iter()
        .filter(|it| it.msg_type == "8")
        .collect();
    assert_eq!(again.len(), 3, "the spread and both legs: {said:?}");
    for (live, again) in live.iter().zip(&again[1..]) {
        let without = |said: &Said| {
            let fields = said.fields.iter().filter(|(tag, _)| *tag != 1352);
            fields.cloned().collect::<Vec<_>>()
        };
        assert_eq!(without(live), without(again));
    }
}
