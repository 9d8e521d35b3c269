//! A venue's drop copy beside the reports of its line: what is equal is silent, what differs stays until somebody has
//! seen it; orders placed elsewhere count.

use std::collections::BTreeMap;

use fixwire_engine::protocol::dictionary::Version;
use fixwire_harness::Random;
use fixwire_oms::{OrderState, Scope};

use crate::desk::{Desk, Input, Said, Setup};
use crate::model::SECOND;

const CLIENT: usize = 0;
const OTHER: usize = 1;
const LINE: usize = 2;
const COPY: usize = 3;
const VENUE_COPY: usize = 4;

const SETTINGS: &str = r#"
[oms]
day_begins = "00:00 UTC"
orders = 100
instruments = "instruments.csv"
limits = "limits.csv"
copy_within = "3s"
[oms.own_tags]
report_filter = 9704
[[account]]
name = "A1"
[[account]]
name = "B1"
[[user]]
session = "CLIENT"
accounts = ["A1"]
may = ["new", "replace", "cancel", "status", "reports"]
account = "A1"
report_numbers = true
[[user]]
session = "OTHER"
accounts = ["B1"]
may = ["new", "reports"]
account = "B1"
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

struct Office {
    desk: Desk,
}

impl Office {
    fn new() -> Self {
        Self::of(SETTINGS.to_owned())
    }

    fn of(settings: String) -> Self {
        let instruments = "symbol,tick,lot,reference\nXYZ,0.05,1,100\nABC,1,1,50\n".to_owned();
        let limits = "scope,control,limit\nfirm,RC6,1000\nfirm,RC7,1000000\nfirm,RC8,10\nfirm,RC13,1000\n\
                      firm,RC14,100000000\nfirm,RC15,5000\n";
        let setup = Setup {
            settings,
            files: vec![
                ("instruments.csv", instruments),
                ("limits.csv", limits.to_owned()),
            ],
            sessions: vec![
                ("CLIENT", Version::Fix44),
                ("OTHER", Version::Fix42),
                ("SIM-1", Version::Fix44),
                ("COPY", Version::Fix44),
                ("SIM-DC", Version::Fix44),
            ],
        };
        let mut office = Self {
            desk: Desk::new(&setup),
        };
        office.log_on();
        office
    }

    fn log_on(&mut self) {
        for session in [CLIENT, OTHER, LINE, COPY, VENUE_COPY] {
            self.desk.hear(&Input::Up(session, false));
        }
    }

    fn says(&mut self, from: usize, msg_type: &'static str, body: &str) -> Vec<Said> {
        self.desk.says(from, msg_type, body)
    }

    /// An order of 100 that the venue has accepted, on both sides.
    fn order(&mut self, id: &str) -> u64 {
        let body = format!("11={id}|55=XYZ|54=1|38=100|40=2|44=100|60=20261122-08:00:00|");
        self.says(CLIENT, "D", &body);
        let number = self.desk.state().orders().iter().map(|it| it.number).max();
        let number = number.unwrap();
        for session in [LINE, VENUE_COPY] {
            let body = format!(
                "37=V{number}|11={number}|17=N{number}|150=0|39=0|55=XYZ|54=1|38=100|14=0|151=100|"
            );
            self.says(session, "8", &body);
        }
        number
    }

    fn fill(&mut self, on: usize, order: u64, exec: &str, (quantity, price): (u64, &str)) {
        let body = format!(
            "37=V{order}|11={order}|17={exec}|150=F|39=1|55=XYZ|54=1|38=100|32={quantity}|31={price}|"
        );
        self.says(on, "8", &body);
    }

    /// A report of an order that was placed elsewhere.
    fn elsewhere(&mut self, exec: &str, what: &str) -> Vec<Said> {
        let body = format!("37=X1|17={exec}|1=A1|55=XYZ|54=2|38=50|40=2|44=101|{what}");
        self.says(VENUE_COPY, "8", &body)
    }

    fn pass(&mut self, time: i64) {
        self.desk.hear(&Input::Pass(time));
    }

    /// Kind, order and both sides of each break.
    fn breaks(&self) -> Vec<String> {
        let list = self.desk.query("breaks");
        let rows = list.lines().skip(1).map(|row| {
            let cells: Vec<&str> = row.split('\t').collect();
            [cells[1], cells[2], cells[6], cells[7]].join(", ")
        });
        // Those with the line alone have tests of their own.
        rows.filter(|row| !row.starts_with("ExecID(17)")).collect()
    }

    /// The number of the only break.
    fn break_number(&self) -> String {
        let list = self.desk.query("breaks");
        let row = list.lines().nth(1).unwrap();
        row.split('\t').next().unwrap().to_owned()
    }

    fn restart(&mut self, from_checkpoint: bool) {
        self.desk.hear(&Input::Restart(0, from_checkpoint));
        self.log_on();
    }

    fn net(&self) -> i128 {
        let positions = self.desk.state().positions();
        positions.map(|(.., position)| position.net()).sum()
    }
}

#[test]
fn equal_reports_in_either_order_are_silent() {
    let mut office = Office::new();
    let order = office.order("C1");
    office.fill(LINE, order, "E1", (30, "100"));
    office.fill(VENUE_COPY, order, "E1", (30, "100"));
    office.fill(VENUE_COPY, order, "E2", (20, "99.95"));
    office.fill(VENUE_COPY, order, "E2", (20, "99.95"));
    office.fill(LINE, order, "E2", (20, "99.95"));
    office.fill(LINE, order, "E2", (20, "99.95"));
    office.fill(VENUE_COPY, order, "E1", (30, "100"));
    office.pass(60 * SECOND);
    assert_eq!(office.breaks(), [""; 0]);
    assert_eq!(office.net(), 50, "a copy is no second fill");
    assert_eq!(office.desk.state().violations(), 0);
}

#[test]
fn what_one_side_lacks_is_a_break_until_it_has_it() {
    for from_checkpoint in [false, true] {
        let mut office = Office::new();
        let order = office.order("C1");
        office.fill(LINE, order, "E1", (30, "100"));
        office.fill(VENUE_COPY, order, "E2", (20, "99.95"));
        office.pass(2 * SECOND);
        assert_eq!(office.breaks(), [""; 0], "there is time");
        office.restart(from_checkpoint);
        office.pass(2 * SECOND);
        assert_eq!(office.breaks(), [""; 0], "it begins anew with the sessions");
        office.pass(2 * SECOND);
        let wanted = [
            format!("fill without a copy, {order}, 30 at 100, -"),
            format!("copy without a fill, {order}, -, 20 at 99.95"),
        ];
        assert_eq!(office.breaks(), wanted);
        assert_eq!(office.net(), 30, "only what the line says counts");
        office.restart(from_checkpoint);
        assert_eq!(office.breaks(), wanted);
        office.fill(VENUE_COPY, order, "E1", (30, "100"));
        assert_eq!(office.breaks(), wanted[1..]);
        let report = format!("report order={order} type=fill quantity=20 price=99.95 exec=E2");
        office.desk.hear(&Input::Command(report));
        assert_eq!(office.breaks(), [""; 0]);
        assert_eq!(office.net(), 50);
    }
}

#[test]
fn another_quantity_or_price_is_a_break_at_once_until_an_operator_accepts_it() {
    let mut office = Office::new();
    let order = office.order("C1");
    office.fill(LINE, order, "E1", (30, "100"));
    office.fill(VENUE_COPY, order, "E1", (31, "100"));
    office.fill(VENUE_COPY, order, "E2", (10, "100"));
    office.fill(LINE, order, "E2", (10, "100.05"));
    assert_eq!(
        office.breaks(),
        [
            format!("fill and copy differ, {order}, 30 at 100, 31 at 100"),
            format!("fill and copy differ, {order}, 10 at 100.05, 10 at 100"),
        ]
    );
    for _ in 0..2 {
        let number = office.break_number();
        office
            .desk
            .hear(&Input::Command(format!("accept break={number}")));
        office.restart(false);
    }
    assert_eq!(office.breaks(), [""; 0]);
    office.pass(60 * SECOND);
    assert_eq!(office.breaks(), [""; 0]);
}

#[test]
fn an_order_that_only_the_copy_closes_is_a_break() {
    let mut office = Office::new();
    let (first, second) = (office.order("C1"), office.order("C2"));
    for order in [first, second] {
        let body = format!("37=V{order}|11={order}|17=X{order}|150=4|39=4|55=XYZ|54=1|14=0|151=0|");
        office.says(VENUE_COPY, "8", &body);
    }
    let body = format!("37=V{first}|11={first}|17=X{first}|150=4|39=4|55=XYZ|54=1|14=0|151=0|");
    office.says(LINE, "8", &body);
    office.pass(4 * SECOND);
    assert_eq!(
        office.breaks(),
        [format!("closed in the drop copy, {second}, open, closed")]
    );
}

#[test]
fn a_break_knows_account_and_symbol_after_its_order_has_left_memory() {
    let mut office = Office::of(SETTINGS.replace("orders = 100", "orders = 100\nremembered = 1"));
    let orders = ["C1", "C2", "C3"].map(|id| office.order(id));
    let [first, second, third] = orders;
    // One that only the line has, one that only the copy has, and one that both have, but not equally.
    office.fill(LINE, first, "E1", (30, "100.05"));
    office.fill(VENUE_COPY, second, "E2", (40, "100.05"));
    office.fill(LINE, third, "E3", (50, "100.05"));
    office.fill(VENUE_COPY, third, "E3", (50, "100.1"));
    for order in orders {
        for session in [LINE, VENUE_COPY] {
            let body = format!("37=V{order}|11={order}|17=X{order}|150=4|39=4|55=XYZ|54=1|151=0|");
            office.says(session, "8", &body);
        }
    }
    let last = office.order("C4");
    let body = format!("37=V{last}|11={last}|17=X{last}|150=4|39=4|55=XYZ|54=1|14=0|151=0|");
    office.says(LINE, "8", &body);
    let in_memory = |office: &Office, order| office.desk.state().orders().get(order).is_some();
    assert!(orders.iter().all(|order| !in_memory(&office, *order)));
    for from_checkpoint in [false, true] {
        office.restart(from_checkpoint);
        office.pass(4 * SECOND);
        let list = office.desk.query("breaks");
        let rows = list.lines().skip(1).map(|row| row.split('\t').collect());
        let rows: Vec<Vec<&str>> = rows.collect();
        let said = rows.iter().map(|row| row[2..8].join(", "));
        let said: Vec<String> = said.collect();
        let first = format!("{first}, SIM-1, A1, XYZ, 30 at 100.05, -");
        let second = format!("{second}, SIM-1, A1, XYZ, -, 40 at 100.05");
        let third = format!("{third}, SIM-1, A1, XYZ, 50 at 100.05, 50 at 100.1");
        assert_eq!(said.len(), 3, "{said:?}");
        for row in [first, second, third] {
            assert!(said.contains(&row), "{row} in {said:?}");
        }
    }
    let set = "position set account=A1 symbol=XYZ long=80 short=0";
    let (answer, _) = office.desk.command_of("ann", set);
    assert!(answer.contains("its fills are in doubt: break"), "{answer}");
    // The copy comes after all, and the line's report.
    office.fill(VENUE_COPY, first, "E1", (30, "100.05"));
    assert_eq!(office.breaks().len(), 2);
    for row in office.desk.query("breaks").lines().skip(1) {
        let number = row.split('\t').next().unwrap();
        office
            .desk
            .command_of("ann", &format!("accept break={number}"));
    }
    let (answer, _) = office.desk.command_of("ann", set);
    assert!(!answer.contains("in doubt"), "{answer}");
}

#[test]
fn nothing_is_missing_while_a_session_is_down() {
    let mut office = Office::new();
    let order = office.order("C1");
    office.desk.hear(&Input::Down(VENUE_COPY, false));
    office.fill(LINE, order, "E1", (30, "100"));
    office.pass(600 * SECOND);
    assert_eq!(office.breaks(), [""; 0]);
    office.desk.hear(&Input::Up(VENUE_COPY, false));
    office.fill(VENUE_COPY, order, "E1", (30, "100"));
    office.fill(LINE, order, "E2", (10, "100"));
    office.pass(4 * SECOND);
    assert_eq!(
        office.breaks(),
        [format!("fill without a copy, {order}, 10 at 100, -")]
    );
}

/// MsgType(35), receiver, and some fields of messages.
fn told(said: &[Said]) -> Vec<String> {
    let line = |said: &Said| {
        let fields = [11, 150, 39, 32, 151, 14].map(|tag| said.get(tag).unwrap_or("-"));
        format!("{} {}", said.to, fields.join(" "))
    };
    said.iter().map(line).collect()
}

#[test]
fn of_two_replaces_elsewhere_the_later_one_counts_in_each_order() {
    for turn in [[0, 1], [1, 0]] {
        let mut office = Office::new();
        office.elsewhere("N1", "150=0|39=0|14=0|151=50|");
        let replaced = [
            "38=60|44=102|60=20261122-08:00:05|",
            "38=70|44=103|60=20261122-08:00:07|",
        ];
        for at in turn {
            let terms = replaced[at];
            let body = format!("37=X1|17=R{at}|1=A1|55=XYZ|54=2|40=2|150=5|39=0|14=0|{terms}");
            office.says(VENUE_COPY, "8", &body);
        }
        let order = office.desk.state().orders().iter().next().unwrap();
        assert_eq!(order.quantity, 70, "{turn:?}");
        let firm = office.desk.state().standing(Scope::Firm).unwrap();
        assert_eq!((firm.tally.orders, firm.tally.selling), (1, 70));
        office.restart(true);
        // The older one again.
        let body = format!(
            "37=X1|17=R9|1=A1|55=XYZ|54=2|40=2|150=5|39=0|14=0|{}",
            replaced[0]
        );
        assert_eq!(office.says(VENUE_COPY, "8", &body).len(), 0);
        assert_eq!(
            office.desk.state().orders().iter().next().unwrap().quantity,
            70
        );
    }
}

#[test]
fn an_order_placed_elsewhere_counts_and_is_reported_by_account() {
    let mut office = Office::new();
    let new = office.elsewhere("N1", "150=0|39=0|14=0|151=50|");
    assert_eq!(
        told(&new),
        ["3 X1 0 0 - 50 0", "0 X1 0 0 - 50 0"],
        "the drop copy and the client of its account"
    );
    let held = |office: &Office| {
        let firm = office.desk.state().standing(Scope::Firm).unwrap();
        (firm.tally.orders, firm.tally.selling)
    };
    assert_eq!(held(&office), (1, 50));
    let replaced = office.elsewhere("R1", "150=5|39=0|14=0|").len();
    assert_eq!(replaced, 0, "it has changed nothing");
    let body = "37=X1|17=R2|1=A1|55=XYZ|54=2|38=60|40=2|44=102|150=5|39=0|14=0|";
    let replaced = office.says(VENUE_COPY, "8", body);
    assert_eq!(told(&replaced), ["3 X1 5 0 - 60 0", "0 X1 5 0 - 60 0"]);
    assert_eq!(held(&office), (1, 60));
    let fill = office.elsewhere("E1", "150=F|39=1|32=20|31=102|14=20|151=40|");
    assert_eq!(told(&fill), ["3 X1 F 1 20 40 20", "0 X1 F 1 20 40 20"]);
    assert_eq!(
        office
            .elsewhere("E1", "150=F|39=1|32=20|31=102|14=20|")
            .len(),
        0
    );
    // A line reports the same fill, of an order that it does not know.
    let body = "37=X1|11=T5|17=E1|1=A1|55=XYZ|54=2|150=F|39=1|32=20|31=102|14=20|";
    office.says(LINE, "8", body);
    assert_eq!(office.net(), -20);
    office.restart(true);
    let order = office.desk.state().orders().iter().next().unwrap();
    assert!(order.is_external() && order.quantity == 60 && order.filled == 20);
    // The client cannot change it, and it is not the OMS's to cancel.
    let said = office.says(CLIENT, "F", "11=C9|41=X1|55=XYZ|54=2|60=20261122-08:00:00|");
    assert_eq!(said[0].get(102), Some("1"));
    let killed = office.desk.hear(&Input::Command("kill account=A1".into()));
    assert!(killed.iter().all(|it| it.to != LINE && it.to != VENUE_COPY));
    let ended = office.elsewhere("C1", "150=4|39=4|14=20|151=0|");
    assert_eq!(told(&ended), ["3 X1 4 4 - 0 20", "0 X1 4 4 - 0 20"]);
    assert_eq!(held(&office), (0, 0));
    let again = |office: &mut Office, more: &str| {
        let body = format!("1346=Q|1347=0|1351=1|1355=OMS|1182=1|1183=0|{more}");
        let mut said = office.says(CLIENT, "BW", &body);
        for _ in 0..50 {
            said.extend(office.desk.hear(&Input::Pass(1_000_000)));
        }
        said.retain(|it| it.get(1352) == Some("Y") && it.get(11) == Some("X1"));
        told(&said).len()
    };
    assert_eq!(again(&mut office, ""), 4);
    assert_eq!(again(&mut office, "9704=no-external|"), 0);
    assert_eq!(office.breaks(), [""; 0]);
    assert_eq!(office.desk.state().violations(), 0);
}

#[test]
fn fields_of_reports_of_orders_placed_elsewhere_are_counted() {
    let mut office = Office::new();
    office.elsewhere("N1", "150=0|39=0|14=0|151=50|");
    let counts = |office: &Office| {
        let status = office.desk.query("status");
        let row = status.lines().nth(1).unwrap_or_default();
        row.split('\t').nth_back(2).map(str::to_owned)
    };
    assert_eq!(counts(&office).as_deref(), Some(""));
    let words = "30=XLON|47=A|5001=x|";
    let fill = format!("150=F|39=1|32=20|31=102|14=20|151=30|{words}");
    let said = office.elsewhere("E1", &fill);
    assert!(
        !said.is_empty() && said.iter().all(|it| it.get(30).is_none()),
        "{said:?}"
    );
    assert_eq!(counts(&office).as_deref(), Some("30: 1, 47: 1, 5001: 1"));
    // It is reported once.
    office.elsewhere("E1", &fill);
    assert_eq!(counts(&office).as_deref(), Some("30: 1, 47: 1, 5001: 1"));
    // The copy of a report of the line has no report of its own.
    let order = office.order("A1");
    office.fill(LINE, order, "F1", (10, "100"));
    let body =
        format!("37=V{order}|11={order}|17=F1|150=F|39=1|55=XYZ|54=1|38=100|32=10|31=100|{words}");
    office.says(VENUE_COPY, "8", &body);
    assert_eq!(counts(&office).as_deref(), Some("30: 1, 47: 1, 5001: 1"));
}

#[test]
fn a_day_order_placed_elsewhere_expires_with_its_day() {
    let mut office = Office::new();
    office.elsewhere("N1", "150=0|39=0|14=0|151=50|");
    office.elsewhere("E1", "150=F|39=1|32=20|31=101|14=20|151=30|");
    office.desk.hear(&Input::Restart(1, false));
    office.log_on();
    let state = office.desk.state().orders().iter().next().unwrap().state;
    assert!(matches!(state, OrderState::Ended(_)));
    // The number of another order there today.
    let new = office.elsewhere("N2", "150=0|39=0|14=0|151=50|");
    assert_eq!(new.len(), 2);
    assert_eq!(office.desk.state().orders().len(), 2);
}

#[test]
fn a_fill_of_an_unknown_account_stays_as_a_break() {
    let mut office = Office::new();
    let fill = "37=X7|17=E9|1=ZZ|55=XYZ|54=1|38=5|40=2|44=100|150=F|39=2|32=5|31=100|14=5|";
    for _ in 0..2 {
        office.says(VENUE_COPY, "8", fill);
    }
    assert_eq!(
        office.breaks(),
        ["fill of an unknown account or symbol, , -, -"]
    );
    assert!(
        office
            .desk
            .query("breaks")
            .contains("X7 E9: XYZ 5 at 100 for ZZ")
    );
    assert_eq!(office.net(), 0);
    office.restart(true);
    let number = office.break_number();
    office
        .desk
        .hear(&Input::Command(format!("accept break={number}")));
    assert_eq!(office.breaks(), [""; 0]);
}

#[test]
fn a_copy_with_another_symbol_or_side_than_its_order_is_a_break() {
    for what in ["55=XYZ|54=2|", "55=ABC|54=1|"] {
        let mut office = Office::new();
        let order = office.order("C1");
        office.fill(LINE, order, "E1", (10, "100"));
        let copy = format!("37=V1|11=1|17=E1|1=A1|150=F|39=1|{what}38=100|32=10|31=100|");
        for _ in 0..2 {
            office.says(VENUE_COPY, "8", &copy);
        }
        assert_eq!(
            office.breaks(),
            ["copy with another symbol or side, 1, -, -"],
            "{what}"
        );
        let text = match what {
            "55=XYZ|54=2|" => "V1 E1: sell XYZ 10 at 100",
            _ => "V1 E1: buy ABC 10 at 100",
        };
        let list = office.desk.query("breaks");
        assert!(list.contains(text), "{list}");
        assert_eq!(office.net(), 10, "{what}");
        office.restart(true);
        // The fill still has no copy.
        office.fill(VENUE_COPY, order, "E1", (10, "100"));
        office.pass(4_000_000_000);
        assert_eq!(
            office.breaks(),
            ["copy with another symbol or side, 1, -, -"],
            "{what}"
        );
        let number = office.break_number();
        office
            .desk
            .hear(&Input::Command(format!("accept break={number}")));
        assert_eq!(office.breaks(), [""; 0]);
    }
}

#[test]
fn a_bust_elsewhere_with_the_exec_id_of_its_fill_is_applied() {
    let mut office = Office::new();
    office.elsewhere("N", "150=0|39=0|14=0|151=50|");
    office.elsewhere("E1", "150=F|39=1|32=5|31=101|14=5|151=45|");
    assert_eq!(office.net(), -5);
    office.elsewhere("E1", "150=H|39=0|19=E1|32=5|14=0|151=50|");
    assert_eq!((office.net(), office.breaks().len()), (0, 0));
}

/// What a slow office says of each fill: both sides, and when the first of them was there.
#[derive(Clone, Debug, Default)]
struct Fill {
    order: u64,
    ours: Option<(u64, &'static str)>,
    copy: Option<(u64, &'static str)>,
}

/// Fills and copies in random order, some missing, some different, with restarts between: the breaks are those that
/// a table of both sides has, and the position is the sum of what counts.
#[test]
fn random_fills_and_copies_leave_the_breaks_of_a_slow_table() {
    for seed in 1..=60 {
        let mut dice = Random::new(seed);
        let mut office = Office::new();
        let orders: Vec<u64> = (0..4).map(|at| office.order(&format!("C{at}"))).collect();
        let mut table: BTreeMap<String, Fill> = BTreeMap::new();
        let mut elsewhere = 0;
        for step in 0..120 {
            let exec = format!("E{}", dice.below(40));
            let order = orders[exec.len() % 4];
            let terms = (1, ["100", "100", "100", "99.95"][dice.below(4) as usize]);
            match dice.below(12) {
                0..5 => {
                    let fill = table.entry(exec.clone()).or_default();
                    fill.order = order;
                    fill.ours = fill.ours.or(Some(terms));
                    office.fill(LINE, order, &exec, terms);
                }
                5..10 => {
                    let fill = table.entry(exec.clone()).or_default();
                    fill.order = order;
                    fill.copy = fill.copy.or(Some(terms));
                    office.fill(VENUE_COPY, order, &exec, terms);
                }
                10 if dice.below(2) == 0 => {
                    office.restart(dice.below(2) == 0);
                }
                11 if dice.below(2) == 0 => office.pass(4 * SECOND),
                _ => {
                    elsewhere += 1;
                    office.elsewhere(&format!("X{step}"), "150=F|39=1|32=1|31=101|");
                }
            }
        }
        office.pass(10 * SECOND);
        let said = |terms: Option<(u64, &str)>| {
            terms.map_or("-".to_owned(), |(quantity, price)| {
                format!("{quantity} at {price}")
            })
        };
        let open = table.values().filter(|fill| fill.ours != fill.copy);
        let mut wanted: Vec<String> = open
            .map(|it| format!("{}, {}, {}", it.order, said(it.ours), said(it.copy)))
            .collect();
        let found = office.breaks();
        let mut found: Vec<String> = found
            .iter()
            .map(|row| row.split_once(", ").unwrap().1.to_owned())
            .collect();
        found.sort();
        wanted.sort();
        assert_eq!(found, wanted, "seed {seed}");
        let ours = table.values().filter(|fill| fill.ours.is_some()).count();
        assert_eq!(office.net(), ours as i128 - elsewhere, "seed {seed}");
        assert_eq!(office.desk.state().violations(), 0, "seed {seed}");
    }
}
