//! Busts and corrections of fills, also of former days: from the venue, by command and by file.

use std::collections::BTreeMap;

use fixwire_engine::protocol::dictionary::Version;

use crate::desk::{Desk, Input, Said, Setup};

mod doubts;
mod recalled;

const CLIENT: usize = 0;
const LINE: usize = 1;
const COPY: usize = 2;
const TCP: usize = 3;

const SETTINGS: &str = r#"
[oms]
day_begins = "00:00 UTC"
orders = 100
instruments = "instruments.csv"
limits = "limits.csv"
[[account]]
name = "A1"
[[user]]
session = "CLIENT"
accounts = ["A1"]
may = ["new", "replace", "cancel", "status", "reports"]
account = "A1"
[[line_group]]
name = "SIM"
lines = ["SIM-1"]
[[route]]
symbols = ["*"]
to = "SIM"
[[drop_copy]]
session = "COPY"
[[drop_copy]]
session = "OLD-COPY"
"#;

struct Office {
    desk: Desk,
    venue: Version,
    /// Quantities at the venue, by order and ExecID(17); of the whole order without one.
    there: BTreeMap<(u64, String), u64>,
}

impl Office {
    fn new(client: Version, venue: Version) -> Self {
        Self::with(client, venue, "")
    }

    fn with(client: Version, venue: Version, keys: &str) -> Self {
        let settings = SETTINGS.replace("orders = 100\n", &format!("orders = 100\n{keys}"));
        Self::of(client, venue, settings)
    }

    fn of(client: Version, venue: Version, settings: String) -> Self {
        let instruments = "symbol,tick,lot,reference\nXYZ,0.05,1,100\nABC,1,1,50\n".to_owned();
        let limits = "scope,control,limit\nfirm,RC6,1000\nfirm,RC7,1000000\nfirm,RC8,10\n\
                      firm,RC13,1000\nfirm,RC14,100000000\nfirm,RC15,5000\n";
        let setup = Setup {
            settings,
            files: vec![
                ("instruments.csv", instruments),
                ("limits.csv", limits.to_owned()),
            ],
            sessions: vec![
                ("CLIENT", client),
                ("SIM-1", venue),
                ("COPY", Version::Fix44),
                ("OLD-COPY", Version::Fix42),
            ],
        };
        let mut office = Self {
            desk: Desk::new(&setup),
            venue,
            there: BTreeMap::new(),
        };
        office.log_on();
        office
    }

    fn log_on(&mut self) {
        for session in [CLIENT, LINE, COPY, TCP] {
            self.desk.hear(&Input::Up(session, false));
        }
    }

    /// The next trading day, from the notes or from a checkpoint.
    fn next_day(&mut self, from_checkpoint: bool) {
        self.desk.hear(&Input::Restart(1, from_checkpoint));
        self.log_on();
        // The venue has not said that the open Day orders have ended: they lapse.
        for _ in 0..3 {
            self.desk.hear(&Input::Pass(70_000_000_000));
        }
    }

    fn is_old(&self) -> bool {
        self.venue == Version::Fix42
    }

    /// An order of 100 that the venue has accepted.
    fn order(&mut self, id: &str, tif: u8) -> u64 {
        let until = if tif == GTD { "432=20261122|" } else { "" };
        let body = format!(
            "11={id}|21=1|55=XYZ|54=1|38=100|40=2|44=100|59={tif}|{until}60=20261122-08:00:00|"
        );
        self.desk.says(CLIENT, "D", &body);
        let number = self.desk.state().orders().iter().map(|it| it.number).max();
        let number = number.expect("the order");
        self.report(number, "17=N|150=0|39=0|14=0|151=100|");
        number
    }

    fn report(&mut self, order: u64, what: &str) -> Vec<Said> {
        let old = if self.is_old() && !what.contains("|20=") {
            "20=0|"
        } else {
            ""
        };
        let body = format!("37=V{order}|11={order}|{what}55=XYZ|54=1|38=100|{old}");
        self.desk.says(LINE, "8", &body)
    }

    /// A fill, with what the order has afterwards; returns the client's report of it.
    fn fill(&mut self, order: u64, exec: &str, quantity: u64, cum: u64) -> Said {
        self.there.insert((order, exec.to_owned()), quantity);
        self.there.insert((order, String::new()), cum);
        let status = if cum == 100 { 2 } else { 1 };
        let kind = match self.is_old() {
            true => char::from(b'0' + status),
            false => 'F',
        };
        let what = format!(
            "17={exec}|150={kind}|39={status}|32={quantity}|31=100|14={cum}|151={}|",
            100 - cum
        );
        let said = self.report(order, &what);
        of(&said, CLIENT)
    }

    /// The venue cancels or corrects a fill.
    fn undo(
        &mut self,
        order: u64,
        (exec, of): (&str, &str),
        what: &str,
        status: char,
    ) -> Vec<Said> {
        let is_bust = what.is_empty();
        let kind = match (self.is_old(), is_bust) {
            (true, true) => "150=1|20=1|",
            (true, false) => "150=1|20=2|",
            (false, true) => "150=H|",
            (false, false) => "150=G|",
        };
        let now = what.strip_prefix("32=").map_or("0", |it| &it[..2]);
        let now = now.parse().expect("a quantity of two digits");
        let key = |exec: &str| (order, exec.to_owned());
        let mut cum = self.there[&key("")];
        if self.there.insert(key(exec), now).is_none() {
            let was = self.there.insert(key(of), 0).expect("the fill");
            cum = cum - was + now;
        }
        self.there.insert(key(""), cum);
        let leaves = if status == '4' { 0 } else { 100 - cum };
        self.report(
            order,
            &format!("17={exec}|19={of}|{kind}39={status}|14={cum}|151={leaves}|{what}"),
        )
    }

    fn command(&mut self, text: &str) -> (String, Vec<Said>) {
        let said = self.desk.hear(&Input::Command(text.to_owned()));
        let answer = self.desk.answer();
        let words = ["Ok(()) ", "Err(\"", "\") "];
        let answer = words
            .iter()
            .fold(answer.to_owned(), |answer, word| answer.replace(word, ""));
        (answer, said)
    }

    fn long(&self) -> u64 {
        let mut positions = self.desk.state().positions();
        positions.next().map_or(0, |(.., position)| position.long)
    }

    fn is_open(&self, order: u64) -> bool {
        let known = self.desk.state().orders().get(order);
        known.is_some_and(|it| it.state.is_open())
    }

    fn breaks(&self) -> Vec<String> {
        let list = self.desk.query("breaks");
        list.lines().skip(1).map(str::to_owned).collect()
    }
}

/// The only report to a session.
fn of(said: &[Said], to: usize) -> Said {
    let mut all = said.iter().filter(|it| it.to == to && it.msg_type == "8");
    let first = all.next().unwrap_or_else(|| panic!("no report: {said:?}"));
    assert!(all.next().is_none(), "{said:?}");
    first.clone()
}

fn fields(said: &Said, tags: &[u32]) -> String {
    let shown = tags.iter().map(|tag| said.get(*tag).unwrap_or("-"));
    shown.collect::<Vec<_>>().join(" ")
}

const DAY: u8 = 0;
const GTC: u8 = 1;
const GTD: u8 = 6;
const VERSIONS: [Version; 3] = [Version::Fix42, Version::Fix44, Version::Fix50Sp2];

#[test]
fn a_venue_busts_a_fill_of_the_day_before_and_a_day_order_stays_closed() {
    for client in VERSIONS {
        for (venue, tif) in [
            (Version::Fix42, DAY),
            (Version::Fix44, DAY),
            (Version::Fix44, GTD),
        ] {
            let mut office = Office::new(client, venue);
            let order = office.order("C1", tif);
            let fill = office.fill(order, "E1", 100, 100);
            let copied = office.desk.state().events();
            office.next_day(true);
            // Many venues write the OrdStatus of a partly filled order here.
            let said = office.undo(order, ("E2", "E1"), "", '1');
            let report = of(&said, CLIENT);
            assert_eq!(report.get(19), fill.get(17), "{client:?} {venue:?}");
            assert_ne!(report.get(17), fill.get(17));
            assert_eq!(fields(&report, &[39, 14, 151]), "4 0 0");
            match client {
                Version::Fix42 => assert_eq!(report.get(20), Some("1")),
                _ => assert_eq!(report.get(150), Some("H")),
            }
            for (copy, kind) in [(COPY, "H"), (TCP, "-")] {
                let report = of(&said, copy);
                assert_eq!(report.get(19), Some(copied.to_string().as_str()));
                if kind == "H" {
                    assert_eq!(report.get(150), Some(kind));
                } else {
                    assert_eq!(report.get(20), Some("1"));
                }
            }
            assert_eq!(office.long(), 0);
            assert!(!office.is_open(order));
            assert_eq!(office.breaks(), [""; 0]);
            assert_eq!(office.desk.state().violations(), 0);
            // Restarted, and the venue repeats it.
            office.desk.hear(&Input::Restart(0, false));
            office.log_on();
            let said = office.undo(order, ("E2", "E1"), "", '1');
            assert!(said.iter().all(|it| it.to != CLIENT), "{said:?}");
            assert_eq!((office.long(), office.breaks().len()), (0, 0));
        }
    }
}

#[test]
fn an_order_that_outlives_the_day_is_open_again_as_its_venue_says() {
    for status in ['1', '4'] {
        let mut office = Office::new(Version::Fix44, Version::Fix44);
        let order = office.order("C1", GTC);
        office.fill(order, "E1", 40, 40);
        office.fill(order, "E2", 60, 100);
        office.next_day(false);
        let said = office.undo(order, ("E3", "E2"), "", status);
        let wanted = if status == '1' { "1 40 60" } else { "4 40 0" };
        assert_eq!(fields(&of(&said, CLIENT), &[39, 14, 151]), wanted);
        assert_eq!(office.is_open(order), status == '1');
        assert_eq!(office.long(), 40);
        assert_eq!(office.desk.state().violations(), 0);
    }
}

#[test]
fn a_venue_corrects_a_fill_of_the_day_before() {
    for venue in [Version::Fix42, Version::Fix44] {
        let mut office = Office::new(Version::Fix44, venue);
        let order = office.order("C1", DAY);
        let fill = office.fill(order, "E1", 100, 100);
        office.next_day(true);
        let said = office.undo(order, ("E2", "E1"), "32=90|31=99.95|", '4');
        let report = of(&said, CLIENT);
        assert_eq!(report.get(19), fill.get(17));
        assert_eq!(
            fields(&report, &[150, 39, 14, 151, 32, 31, 6]),
            "G 4 90 0 90 99.95 99.95"
        );
        assert_eq!(office.long(), 90);
        // The correction is busted in turn.
        let said = office.undo(order, ("E3", "E2"), "", '4');
        assert_eq!(of(&said, CLIENT).get(19), report.get(17));
        assert_eq!(office.long(), 0);
    }
}

#[test]
fn an_operator_busts_a_fill_of_the_day_before_and_the_venue_confirms_it() {
    for name in ["1/E1", "client"] {
        let mut office = Office::new(Version::Fix44, Version::Fix44);
        let order = office.order("C1", DAY);
        let fill = office.fill(order, "E1", 40, 40);
        office.next_day(true);
        let name = if name == "client" {
            fill.get(17).unwrap()
        } else {
            name
        };
        let (answer, said) = office.command(&format!("bust fill={name}"));
        assert_eq!(
            answer,
            format!("fill {name} of order 1: is busted (was 40 at 100); CumQty(14) 0")
        );
        let report = of(&said, CLIENT);
        assert_eq!(report.get(19), fill.get(17));
        assert_eq!(fields(&report, &[150, 39, 14, 151]), "H C 0 0");
        assert_eq!(of(&said, COPY).get(150), Some("H"));
        assert_eq!(of(&said, TCP).get(20), Some("1"));
        assert_eq!(office.long(), 0);
        // Twice is refused, and the venue's own report is no news.
        let (answer, _) = office.command(&format!("bust fill={name}"));
        assert_eq!(answer, format!("fill {name} of order 1 is busted already"));
        office.desk.hear(&Input::Restart(0, true));
        office.log_on();
        let said = office.undo(order, ("E9", "E1"), "", '4');
        assert!(said.iter().all(|it| it.to == LINE), "{said:?}");
        assert_eq!(office.breaks(), [""; 0]);
        assert_eq!(office.desk.state().violations(), 0);
    }
}

#[test]
fn an_operator_corrects_a_fill_and_the_venue_confirms_or_differs() {
    for (now, long) in [("32=90|31=99.955|", 90), ("32=80|31=99.955|", 80)] {
        let mut office = Office::new(Version::Fix44, Version::Fix44);
        let order = office.order("C1", DAY);
        let fill = office.fill(order, "E1", 100, 100);
        office.next_day(false);
        let (answer, said) = office.command("correct fill=1/E1 quantity=90 price=99.95");
        assert_eq!(
            answer,
            "fill 1/E1 of order 1: is 90 at 99.95 (was 100 at 100); CumQty(14) 90"
        );
        assert_eq!(of(&said, CLIENT).get(19), fill.get(17));
        let (answer, _) = office.command("correct fill=1/E1 quantity=90 price=99.95");
        assert_eq!(
            answer,
            "fill 1/E1 of order 1 has this quantity and price already"
        );
        let (answer, _) = office.command("correct fill=1/E1 quantity=90 price=99.955");
        assert_eq!(
            answer,
            "fill 1/E1 of order 1: is 90 at 99.955 (was 90 at 99.95); CumQty(14) 90"
        );
        // What the venue says of the fill.
        let said = office.undo(order, ("E9", "E1"), now, '4');
        let is_news = said.iter().any(|it| it.to == CLIENT);
        assert_eq!(is_news, long != 90, "{said:?}");
        assert_eq!((office.long(), office.breaks().len()), (long, 0));
    }
}

#[test]
fn what_cannot_be_busted_is_refused_by_name() {
    let mut office = Office::new(Version::Fix44, Version::Fix44);
    let order = office.order("C1", DAY);
    office.fill(order, "E1", 40, 40);
    let events = office.desk.state().events();
    for (command, wanted) in [
        (
            "bust fill=7/E1",
            "no order 7 in memory: it is unknown, or was closed long ago",
        ),
        (
            "bust fill=1/E7",
            "order 1 has no fill 1/E7: fixwire oms history 1 lists its fills",
        ),
        (
            "bust fill=4711",
            "no fill 4711 in memory: it is unknown, or its order was closed long ago",
        ),
        (
            "bust fill=E1",
            "name the fill as order/ExecID(17) of the venue, 17/E1, or by the ExecID(17) that the client has",
        ),
        (
            "bust",
            "name the fill as order/ExecID(17) of the venue, 17/E1, or by the ExecID(17) that the client has",
        ),
        (
            "bust fill=1/E1 quantity=5",
            "unknown word quantity: the words are fill",
        ),
        (
            "correct fill=1/E1 quantity=5",
            "a correction needs the new quantity and price",
        ),
        (
            "correct fill=1/E1 quantity=0 price=100",
            "quantity must be a whole number above 0; 0 is a bust",
        ),
        (
            "correct fill=1/E1 quantity=101 price=100",
            "quantity is above what order 1 has for this fill, 100",
        ),
        (
            "correct fill=1/E1 quantity=x price=100",
            "quantity=x is not a number",
        ),
        (
            "report order=1 type=bust quantity=50 exec=E9 ref=E1",
            "quantity is not that of fill E1, 40: a bust takes the whole fill back, a correction a part",
        ),
        (
            "report order=1 type=bust ref=E1",
            "a bust needs exec, its ExecID(17), and ref, the ExecID(17) of the fill; it has no price",
        ),
        (
            "report order=1 type=fill quantity=1 price=1 exec=E9 ref=E1",
            "a fill needs quantity, price and exec, the ExecID(17) of the venue, and no ref",
        ),
    ] {
        assert_eq!(office.command(command).0, wanted, "{command}");
    }
    assert_eq!(office.long(), 40);
    assert_eq!(office.desk.state().events(), events);
}

#[test]
fn an_order_that_an_operator_takes_a_fill_from_stays_closed() {
    for tif in [DAY, GTC] {
        let mut office = Office::new(Version::Fix44, Version::Fix44);
        let order = office.order("C1", tif);
        office.fill(order, "E1", 100, 100);
        let (_, said) = office.command("bust fill=1/E1");
        assert_eq!(fields(&of(&said, CLIENT), &[39, 14, 151]), "4 0 0");
        assert!(!office.is_open(order));
        assert_eq!(office.breaks(), [""; 0]);
        office.report(order, "17=X|150=0|39=0|14=0|151=100|");
        assert_eq!(office.breaks().len(), 1);
        assert_eq!(office.desk.state().violations(), 0);
    }
}

#[test]
fn the_rows_of_a_file_are_checked_together() {
    let mut office = Office::new(Version::Fix44, Version::Fix44);
    let order = office.order("C1", DAY);
    office.fill(order, "E1", 40, 40);
    office.fill(order, "E2", 60, 100);
    office.next_day(true);
    let rows = [
        "order=1 type=bust exec=X1 ref=E1",
        "order=1 type=correct quantity=50 price=99.95 exec=X1 ref=E2",
        "order=1 type=bust exec=X2 ref=E1",
        "order=1 type=bust exec=E2 ref=E2",
        "order=1 type=bust exec=X3 ref=E5",
    ];
    assert_eq!(
        office
            .desk
            .query(&format!("check-reports {}", rows.join(";"))),
        "2\texec=X1 of order 1 is known already\n\
         3\tref=E1 of order 1 is in an earlier row too\n\
         4\texec=E2 of order 1 is known already\n\
         5\torder 1 has no fill E5: fixwire oms history 1 lists its fills\n"
    );
    let rows = [
        rows[0],
        "order=1 type=correct quantity=50 price=99.95 exec=X2 ref=E2",
    ];
    assert_eq!(
        office
            .desk
            .query(&format!("check-reports {}", rows.join(";"))),
        ""
    );
    for row in rows {
        office.command(&format!("report {row}"));
    }
    assert_eq!(office.long(), 50);
    // The venue's own reports follow.
    for (exec, of, what) in [("X1", "E1", ""), ("X2", "E2", "32=50|31=99.95|")] {
        let said = office.undo(order, (exec, of), what, '4');
        assert!(said.iter().all(|it| it.to == LINE), "{said:?}");
    }
    // The first has a CumQty(14) from before the second: that is a break.
    assert_eq!((office.long(), office.breaks().len()), (50, 1));
    assert_eq!(office.desk.state().violations(), 0);
}

#[test]
fn an_order_in_memory_uses_what_the_page_says() {
    let mut office = Office::new(Version::Fix44, Version::Fix44);
    let order = office.order("C1", DAY);
    let known = office.desk.state().orders().get(order);
    assert!(size_of_val(known.unwrap()) < 580);
}

#[test]
fn with_arming_of_two_people_one_operator_alone_busts_nothing() {
    let mut office = Office::with(Version::Fix44, Version::Fix44, "arming = \"two people\"\n");
    let order = office.order("C1", DAY);
    office.fill(order, "E1", 40, 40);
    assert_eq!(
        office.command("bust fill=1/E1").0,
        "fill 1/E1: requested, nothing is changed; another operator must request the same"
    );
    assert_eq!(
        office.command("bust fill=1/E1").0,
        "you already requested it: another operator must request the same"
    );
    let row = "report order=1 type=bust exec=E9 ref=E1";
    assert_eq!(
        office.command(row).0,
        "two operators must bust a fill: give fixwire oms bust with the fill 1/E1"
    );
    assert_eq!(office.long(), 40);
    let (_, said) = office.desk.command_of("bob", "bust fill=1/E1");
    assert_eq!(of(&said, CLIENT).get(150), Some("H"));
    assert_eq!(office.long(), 0);
    // The same values in other digits are the same request.
    office.fill(order, "E2", 40, 40);
    let requested = office.command("correct fill=1/E2 quantity=30 price=100").0;
    assert!(requested.contains("another operator"), "{requested}");
    let (_, said) = office
        .desk
        .command_of("bob", "correct fill=1/E2 quantity=30.0 price=100.00");
    assert_eq!(of(&said, CLIENT).get(150), Some("G"));
    assert_eq!(office.long(), 30);
}

/// The number of the only break.
fn number(breaks: &[String]) -> String {
    assert_eq!(breaks.len(), 1, "{breaks:?}");
    breaks[0].split('\t').next().unwrap().to_owned()
}

#[test]
fn a_bust_that_is_a_break_counts_once() {
    let mut office = Office::new(Version::Fix44, Version::Fix44);
    let order = office.order("C1", DAY);
    office.fill(order, "E1", 40, 40);
    office.fill(order, "E2", 60, 100);
    office.report(order, "17=E9|19=E1|150=H|39=4|32=40|14=30|151=0|");
    let found = number(&office.breaks());
    let row = "report order=1 type=bust exec=E9 ref=E1";
    let events = office.desk.state().events();
    assert_eq!(
        office.command("bust fill=1/E1").0,
        format!(
            "order 1 has the open break {found} about fills that its venue takes back: settle it first with fixwire oms breaks settle"
        )
    );
    assert_eq!(
        office.command(row).0,
        format!("exec=E9 of order 1 is break {found}: settle it with fixwire oms breaks settle")
    );
    assert_eq!(office.desk.state().events(), events);
    office.command(&format!("settle break={found} venue"));
    assert_eq!(office.long(), 60);
    assert_eq!(
        office.command("bust fill=1/E1").0,
        "CumQty(14) of order 1 was set by an operator, without fill 1/E1"
    );
    assert_eq!(
        office.command(row).0,
        format!("exec=E9 of order 1 is break {found}: which is settled")
    );
    assert_eq!((office.long(), office.breaks().len()), (60, 0));
}

#[test]
fn a_correction_without_room_for_its_price_is_refused_and_is_no_break() {
    let mut office = Office::new(Version::Fix44, Version::Fix44);
    let order = office.order("C1", DAY);
    office.fill(order, "E1", 40, 40);
    let events = office.desk.state().events();
    let (answer, said) = office.command("correct fill=1/E1 quantity=30 price=900000000000000000");
    assert!(answer.contains("price"), "{answer}");
    assert!(said.is_empty(), "{said:?}");
    assert_eq!(office.desk.state().events(), events);
    assert_eq!((office.long(), office.breaks().len()), (40, 0));
}

#[test]
fn a_fill_is_named_by_the_exec_id_that_its_client_has() {
    let settings = SETTINGS.replace(
        "name = \"SIM\"\n",
        "name = \"SIM\"\nvenue_exec_id = \"17\"\n",
    );
    let mut office = Office::of(Version::Fix44, Version::Fix44, settings);
    let (first, second) = (office.order("C1", DAY), office.order("C2", DAY));
    assert_eq!(office.fill(first, "E1", 40, 40).get(17), Some("E1"));
    let event = office.desk.state().events();
    let event = event.to_string();
    // The ExecID of the second fill is the number of the event of the first fill.
    let fill = office.fill(second, &event, 30, 30);
    assert_eq!(fill.get(17), Some(event.as_str()));
    let (answer, said) = office.command(&format!("bust fill={event}"));
    assert!(answer.contains("of order 2: is busted (was 30"), "{answer}");
    assert_eq!(of(&said, CLIENT).get(19), Some(event.as_str()));
    let (answer, _) = office.command(&format!("correct fill=OMS-{event} quantity=35 price=100"));
    assert!(
        answer.contains("of order 1: is 35 at 100 (was 40"),
        "{answer}"
    );
    office.fill(second, "E1", 20, 20);
    assert_eq!(
        office.command("bust fill=E1").0,
        "orders 1 and 2 both have a fill E1: name it as 1/E1 or 2/E1"
    );
    office.fill(second, "E5", 10, 30);
    let (answer, _) = office.command("bust fill=E5");
    assert!(answer.contains("of order 2: is busted (was 10"), "{answer}");
    assert_eq!(
        office.command("bust fill=E6").0,
        "no fill E6 in memory: it is unknown, or its order was closed long ago"
    );
}

#[test]
fn rows_that_do_not_fit_together_are_refused_before_any_is_applied() {
    let correct = |exec: &str, of: &str, quantity: u64| {
        format!("order=1 type=correct quantity={quantity} price=100 exec={exec} ref={of}")
    };
    let mut office = Office::new(Version::Fix44, Version::Fix44);
    let order = office.order("C1", DAY);
    office.fill(order, "E1", 40, 40);
    office.fill(order, "E2", 40, 80);
    office.undo(order, ("E7", "E1"), "32=30|31=100|", '1');
    let check = |rows: &[String]| {
        let rows = rows.join(";");
        office.desk.query(&format!("check-reports {rows}"))
    };
    assert_eq!(
        check(&[correct("X1", "E7", 50), correct("X2", "E2", 60)]),
        "2\tquantity is above what order 1 has for this fill after the earlier rows, 50\n"
    );
    let fill = "order=1 type=fill quantity=30 price=100 exec=X3".to_owned();
    assert_eq!(
        check(&[fill, correct("X1", "E7", 31)]),
        "2\tquantity is above what order 1 has for this fill after the earlier rows, 30\n"
    );
    let bust = |exec: &str, of: &str| format!("order=1 type=bust exec={exec} ref={of}");
    assert_eq!(
        check(&[bust("X1", "E1"), bust("X2", "E7")]),
        "2\tref=E7 of order 1 is in an earlier row too\n"
    );
    assert_eq!(
        check(&[correct("X1", "E7", 60), "order=1 type=cancelled".into()]),
        "2\torder 1 is closed\n"
    );
    assert_eq!(check(&[bust("X1", "E7"), correct("X2", "E2", 60)]), "");
}

#[test]
fn a_bust_of_a_closed_order_is_found_by_the_order_id_of_its_venue() {
    let mut office = Office::new(Version::Fix44, Version::Fix44);
    let order = office.order("C1", DAY);
    office.fill(order, "E1", 100, 100);
    office.next_day(true);
    let what = "37=V1|17=E2|19=E1|150=H|39=0|14=0|151=100|55=XYZ|54=1|38=100|";
    let said = office.desk.says(LINE, "8", what);
    assert_eq!(fields(&of(&said, CLIENT), &[150, 39, 14]), "H 4 0");
    assert_eq!((office.long(), office.breaks().len()), (0, 0));
}
